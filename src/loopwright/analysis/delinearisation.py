"""Arrays that a user laid out by hand: `a[i * w + j]` with `w` known only at run time, read as `a[i][j]`.

isl knows no products. But where 0 <= j < w for every access, different (i, j) are different elements, so i and j can
stand for the index; and the index stays below w * (greatest i + 1). The same holds of rows that get longer, or shorter,
by a constant each: those of a triangle, `a[i * (i - 1) // 2 + j]` with j < i, or all pairs in one array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd

from loopwright.analysis.affine import (
    Affine,
    Formula,
    Symbol,
    SymbolTable,
    combine,
    constant,
    of_symbol,
    relate,
    scale,
)
from loopwright.analysis.condition_text import Mentioned, form_text
from loopwright.analysis.corner import greatest
from loopwright.analysis.effort import TooHard
from loopwright.analysis.facts import Condition
from loopwright.analysis.proof import Digits, Proof, adopt, guardable
from loopwright.analysis.sets import ordered
from loopwright.analysis.trace import Access

MOST_DIGITS = 3


def split(proof: Proof) -> None:
    """Find the digits of every index that is a product, and of the other indices of the same axis of the array. Of an
    array that nothing writes to, different places need not be told apart: there the guard asks for nothing new, as
    windows that overlap, `a[i * hop + k]`, would fail it."""
    written = {access.array for access in proof.notes.accesses if access.is_write}
    groups: dict[tuple[str, int], list[Access]] = {}
    for access in proof.notes.accesses:
        for axis in range(len(access.index)):
            groups.setdefault((access.array, axis), []).append(access)
    for (array, axis), accesses in groups.items():
        symbols = [symbol for access in accesses for symbol in access.index[axis].symbols]
        if any(symbol.pairs_of or _is_square(symbol) for symbol in symbols):
            _split_triangles(proof, accesses, axis)
        if any(symbol.factors for symbol in symbols):
            _split(proof, accesses, axis, asks=array in written)


def _split_triangles(proof: Proof, accesses: Sequence[Access], axis: int) -> None:
    """The digits of indices into triangles: the row, and the place in it. Accesses whose rows are as long can be
    compared: of several lengths those that most of them have are taken, and of these the shortest."""
    found = {
        access.number: list(_rows_of_triangle(proof, access, access.index[axis]))
        for access in accesses
        if (access.number, axis) not in proof.digits
    }
    common = Counter((one.radices, one.slope) for choices in found.values() for one in choices)
    for number, choices in found.items():
        if choices:
            proof.digits[number, axis] = min(
                choices, key=lambda one: (-common[one.radices, one.slope], one.radices[0].constant)
            )


def _rows_of_triangle(proof: Proof, access: Access, form: Affine) -> Iterator[Digits]:
    """An index as `first * row + slope * row * (row - 1) / 2 + place`, where first is the length of row 0, and all rows
    that are reached are longer than their places. Where the row counts beside, that may be part of the length or of
    the place."""
    table = proof.notes.state.table
    form = _with_triangles(table, form)
    for triangle, row, slope in _rows_in(form):
        first, place = constant(0), combine(form, of_symbol(triangle), -slope)
        for symbol, count in form.terms:
            if row in symbol.factors:
                rest = _quotient(symbol, row)
                part = of_symbol(rest[0] if len(rest) == 1 else table.product(rest))
                first, place = combine(first, part, count), combine(place, of_symbol(symbol), -count)
        beside = place.coefficient(row)
        for left in dict.fromkeys((0, -1, 1, slope, -slope)):
            length = combine(first, constant(beside - left))
            inside = combine(place, of_symbol(row), left - beside)
            digits = Digits((of_symbol(row), inside), (length,), slope)
            if _is_triangle(proof, access, digits):
                yield digits


def _is_square(symbol: Symbol) -> bool:
    """Whether it is the product of a loop's variable by itself."""
    return len(symbol.factors) == 2 and symbol.factors[0] is symbol.factors[1] and symbol.factors[0].role == "loop"


def _with_triangles(table: SymbolTable, form: Affine) -> Affine:
    """The form with `2 * (i * (i - 1) / 2) + i` in place of `i * i`."""
    for symbol, count in form.terms:
        if _is_square(symbol):
            base = of_symbol(symbol.factors[0])
            half = of_symbol(table.triangle(symbol.factors[0]))
            form = combine(combine(combine(form, of_symbol(symbol), -count), half, 2 * count), base, count)
    return form


def _rows_in(form: Affine) -> Iterator[tuple[Symbol, Symbol, int]]:
    """The triangles of loops' variables in a form: each one, the variable, and how often it is counted."""
    for triangle, slope in form.terms:
        if triangle.pairs_of is not None and triangle.pairs_of.role == "loop":
            yield triangle, triangle.pairs_of, slope


def _is_triangle(proof: Proof, access: Access, found: Digits) -> bool:
    (row, place), (first,) = found.digits, found.radices
    if any(symbol.factors or symbol.role not in ("size", "scalar") for symbol in first.symbols):
        return False
    is_plain = not any(symbol.factors or symbol.pairs_of for symbol in place.symbols)
    never = [relate(row, "<", constant(0)), relate(first, "<", constant(0))]
    length = combine(first, row, found.slope)
    return is_plain and _never(proof, access, never) and _always(proof, access, place, length)


def split_by_force(proof: Proof, access: Access, axis: int) -> None:
    """The digits of an index where they need conditions, too."""
    same = [one for one in proof.notes.accesses if one.array == access.array]
    _split(proof, same, axis, asks=True)


def _split(proof: Proof, accesses: Sequence[Access], axis: int, *, asks: bool) -> None:
    table = proof.notes.state.table
    accesses = [one for one in accesses if next(_rows_in(_with_triangles(table, one.index[axis])), None) is None]
    forms = [access.index[axis] for access in accesses]
    for access, digits in _digits(proof, accesses, forms, asks=asks):
        proof.digits.setdefault((access.number, axis), digits)


def _digits(
    proof: Proof, accesses: Sequence[Access], forms: Sequence[Affine], *, asks: bool
) -> Iterator[tuple[Access, Digits]]:
    """The accesses whose index has digits. asks: perhaps by new conditions in the guard."""
    table = proof.notes.state.table
    for access, form in zip(accesses, forms, strict=True):
        digits: tuple[Affine, ...] = ()
        radices: tuple[Affine, ...] = ()
        high, group = form, list(forms)
        while len(digits) < MOST_DIGITS:
            tried = ((radix, _peeled(proof, access, high, radix, asks=asks)) for radix in _radices(group))
            radix, found = next((pair for pair in tried if pair[1] is not None), (None, None))
            if radix is None or found is None:
                break
            high, low = found
            digits, radices = (low, *digits), (radix, *radices)
            group = [_peel(table, other, radix)[0] for other in group]
        is_plain = not any(symbol.factors for symbol in high.symbols)
        if radices and is_plain and _holds(proof, access, high, None, asks=asks):
            yield access, Digits((high, *digits), radices)


def _radices(forms: Sequence[Affine]) -> Iterator[Affine]:
    """What may be the radix of the last digit of several indices: a factor of each of their products, times what
    divides all their coefficients, plus a constant that goes with it: `i * w + i` is `i * (w + 1)`."""
    terms = [(form, s, c) for form in forms for s, c in form.terms if s.factors]
    if not terms:
        return
    common = [f for f in terms[0][1].factors if f.role != "loop" and all(f in s.factors for _, s, _ in terms)]
    number = gcd(*(c for _, _, c in terms))
    for symbol in dict.fromkeys(common):
        form, product, c = terms[0]
        rest = _quotient(product, symbol)
        beside = form.coefficient(rest[0]) if len(rest) == 1 else 0
        for extra in dict.fromkeys((0, beside * number // c if beside * number % c == 0 else 0)):
            yield combine(scale(of_symbol(symbol), number), constant(extra))


def _quotient(product: Symbol, factor: Symbol) -> tuple[Symbol, ...]:
    position = product.factors.index(factor)
    return product.factors[:position] + product.factors[position + 1 :]


def _peel(table: SymbolTable, form: Affine, radix: Affine) -> tuple[Affine, Affine]:
    """(high, low) with form = high * radix + low."""
    symbol, number = radix.terms[0]
    high, low = constant(0), form
    for s, c in form.terms:
        if s is symbol and c % number == 0:
            part = constant(c // number)
        elif symbol in s.factors and c % number == 0:
            rest = _quotient(s, symbol)
            part = scale(of_symbol(rest[0] if len(rest) == 1 else table.product(rest)), c // number)
        else:
            continue
        high = combine(high, part)
        low = combine(combine(low, of_symbol(s), -c), part, -radix.constant)
    return high, low


def _peeled(proof: Proof, access: Access, form: Affine, radix: Affine, *, asks: bool) -> tuple[Affine, Affine] | None:
    """The two parts where the lower one is within the radix, perhaps after carrying one."""
    high, low = _peel(proof.notes.state.table, form, radix)
    if any(symbol.factors for symbol in low.symbols):
        return None
    for carry in (0, 1, -1):
        moved = combine(low, radix, carry)
        if _always(proof, access, moved, radix):
            return combine(high, constant(carry), -1), moved
    return (high, low) if asks and _holds(proof, access, low, radix, asks=True) else None


def _always(proof: Proof, access: Access, form: Affine, below: Affine) -> bool:
    """Whether 0 <= form < below wherever the access happens."""
    return _never(proof, access, (relate(form, "<", constant(0)), relate(form, ">=", below)))


def _never(proof: Proof, access: Access, conditions: Iterable[Formula]) -> bool:
    """Whether none of these holds wherever the access happens."""
    try:
        with proof.effort.bounded():
            return all(guardable((*access.where, one)).is_empty() for one in conditions)
    except TooHard:
        return False


def _holds(proof: Proof, access: Access, form: Affine, below: Affine | None, *, asks: bool) -> bool:
    """Whether 0 <= form (< below) wherever the access happens, or where it `asks`, can be made so by the guard."""
    sides = [relate(form, "<", constant(0))]
    if below is not None:
        sides.append(relate(form, ">=", below))
    try:
        with proof.effort.bounded():
            if not asks:
                return all(guardable((*access.where, side)).is_empty() for side in sides)
            return adopt(proof, access.stack, access.where, sides) is not None
    except TooHard:
        return False


def limit(proof: Proof, access: Access, digits: Digits, size: Affine) -> str | None:
    """Make it part of the guard that an index of digits stays below a size, and say so in words; None where the
    greatest first digit is not simple."""
    state = proof.notes.state
    known = all(s.role in ("size", "scalar") for form in (*digits.radices, size) for s in form.symbols)
    # Of a quotient by something that only a call tells it is known roughly how large it is.
    symbols = [symbol for formula in access.where for symbol in formula.symbols]
    rough = any(symbol in state.table.quotients for symbol in ordered((*symbols, *digits.digits[0].symbols)))
    if not known or rough or state.guard == "none":
        return None
    try:
        with proof.effort.bounded():
            ends = [_end(access, digit) for digit in digits.digits]
    except TooHard:
        return None
    if ends[0] is None:
        return None
    own, rows = Mentioned(), ends[0]
    c, words = (
        f"{_triangle(rows, digits, names) if digits.slope else _product(ends, digits.radices, names)} <= "
        f"{form_text(size, names)}"
        for names in (own, proof.names)
    )
    proof.products[Condition(c, (tuple(own),))] = words
    proof.relied.add(access.stack[0] if access.stack else None)
    return words


def _triangle(rows: Affine, digits: Digits, names: Mapping[str, str]) -> str:
    """How many elements so many rows have."""
    count, before, first = (_factor(one, names) for one in (rows, combine(rows, constant(-1)), digits.radices[0]))
    times = "" if abs(digits.slope) == 1 else f"{abs(digits.slope)} * "
    least = {"0": "", "1": count}.get(first, f"{first} * {count}")
    sign = "-" if digits.slope < 0 else "+" if least else ""
    return f"{least} {sign} {times}({count} * {before} / 2)".strip()


def _product(ends: Sequence[Affine | None], radices: Sequence[Affine], names: Mapping[str, str]) -> str:
    """One more than the greatest index, where each digit but the first may go up to its radix less one."""
    form, text, is_sum = ends[0], "", False
    for end, radix in zip(ends[1:], radices, strict=True):
        last = radix if end is None else end
        if form is not None and form.is_constant:
            form = combine(scale(radix, form.constant - 1), last)
        elif last == radix:
            before = f"({text})" if is_sum else text
            text, is_sum = f"{before if form is None else _factor(form, names)} * {_factor(radix, names)}", False
            form = None
        else:
            before = f"({text} - 1)" if form is None else _factor(combine(form, constant(-1)), names)
            text, is_sum = f"{before} * {_factor(radix, names)} + {form_text(last, names)}", True
            form = None
    return text if form is None else form_text(form, names)


def _factor(form: Affine, names: Mapping[str, str]) -> str:
    text = form_text(form, names)
    return f"({text})" if len(form.terms) + bool(form.constant) > 1 else text


def _end(access: Access, digit: Affine) -> Affine | None:
    """One more than the greatest value of a digit, as one form of sizes and scalar arguments."""
    found = greatest(access, digit)
    return None if found is None else combine(found, constant(1))
