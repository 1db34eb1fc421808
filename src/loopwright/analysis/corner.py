"""Indices that are sums of products, such as `a[block * b + i + d]` with `block` known only at run time, where they are
no digits: `i + d` may go beyond `block`; and indices of loops as long as a quotient, `for i in range(n // block)`.

isl knows no products. But where no factor is negative, an index is greatest where each factor is; and where all factors
can be greatest at once, in a corner of the iteration domain, that place is truly reached: to ask that it is inside the
array refuses no call that Python would run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula, Symbol, SymbolTable, combine, constant, of_symbol, relate
from loopwright.analysis.condition_text import Mentioned, form_text
from loopwright.analysis.effort import TooHard
from loopwright.analysis.facts import Condition
from loopwright.analysis.proof import Proof, adopt, guardable
from loopwright.analysis.sets import brief, build, only, ordered
from loopwright.analysis.trace import Access


def below(proof: Proof, access: Access, index: Affine, size: Affine, surely: bool = True) -> str | None:
    """Make it part of the guard that an index with products stays below a size, and that arguments in it are not
    negative, and say so in words; None where it cannot be told by its greatest value, or might be negative. surely:
    only of accesses that every call comes to."""
    table = proof.notes.state.table
    if any(symbol in table.quotients for symbol in index.symbols):
        access, surely = _wherever(access), False
    if proof.notes.state.guard == "none" or not _is_sum_of_products(table, access, index, size, surely):
        return None
    factors = ordered(factor for symbol in index.symbols for factor in symbol.factors or (symbol,))
    factors = [factor for factor in factors if any(factor in (s.factors or (s,)) for s in index.symbols)]
    try:
        with proof.effort.bounded():
            if guardable((*access.where, relate(index, ">=", size))).is_empty():
                return None  # nothing needs to be asked
            signed = [factor for factor in factors if not _never_negative(access, factor)]
            if not all(factor.role == "scalar" for factor in signed):
                return None
            ends = {factor: _end_of(access, factor, table) for factor in factors}
            known = {factor: end[1] for factor, end in ends.items() if end is not None}
            if len(known) < len(ends) or not _meet(access, [end[0] for end in ends.values() if end is not None]):
                return None
            quotients = list(_quotients_in(table, known.values()))
            if not all(_is_known(table, end) for end in known.values()):
                return None
            if not quotients and not any(symbol.factors for symbol in index.symbols):
                return None
            negative = [relate(of_symbol(factor), "<", constant(0)) for factor in signed]
            if negative and adopt(proof, access.stack, access.where, negative) is None:
                return None
    except TooHard:
        return None
    own = Mentioned()
    c, words = (
        f"{_sum(index, known, _with_quotients(table, quotients, names, is_c))} < {form_text(size, names)}"
        for names, is_c in ((own, True), (proof.names, False))
    )
    # C must not divide by zero, whatever else is asked.
    told = _with_quotients(table, quotients, own, True)
    divisors = dict.fromkeys(form_text(table.quotients[one][1], told) for one in quotients)
    c = " && ".join([*(f"{divisor} >= 1" for divisor in divisors), c])
    proof.products[Condition(c, (tuple(own),))] = words
    proof.relied.add(access.stack[0] if access.stack else None)
    return words


def _wherever(access: Access) -> Access:
    """The access as if it happened whatever data tell: only the range of a quotient is known to isl, in which it is as
    large as what is divided. To ask for its greatest value asks for less."""
    free = tuple(formula for formula in access.where if not any(symbol.data for symbol in formula.symbols))
    return access if len(free) == len(access.where) else replace(access, where=free, exact=True)


def _is_sum_of_products(table: SymbolTable, access: Access, index: Affine, size: Affine, surely: bool) -> bool:
    """Whether all of it grows with the values of loops, sizes and arguments, and is reached in every call, if that is
    wanted."""
    symbols = ordered((*index.symbols, *size.symbols, *(s for formula in access.where for s in formula.symbols)))
    quotients = [symbol for symbol in symbols if symbol in table.quotients]
    return (
        access.exact
        # A divisor is tested before: the guard asks that it is positive, too.
        and (access.sure or not surely or bool(quotients))
        and (any(symbol.factors for symbol in index.symbols) or bool(quotients))
        and index.constant >= 0
        and all(count > 0 for _, count in index.terms)
        and not any(
            symbol.data or (symbol.role == "opaque" and not symbol.factors and symbol not in quotients)
            for symbol in symbols
        )
        and all(symbol.role in ("size", "scalar") for symbol in size.symbols)
        and all(_is_known(table, table.quotients[symbol][1]) for symbol in quotients)
    )


def _is_known(table: SymbolTable, form: Affine) -> bool:
    """Whether sizes and arguments tell it, or quotients of these."""
    return all(
        symbol.role in ("size", "scalar")
        or (symbol in table.quotients and all(_is_known(table, part) for part in table.quotients[symbol]))
        for symbol in form.symbols
    )


Corner = tuple[Affine, Affine]
"""A form, and what it is where it is greatest."""


def _end_of(access: Access, factor: Symbol, table: SymbolTable) -> tuple[Corner, Affine] | None:
    """Where a factor is greatest, and what it is there; None where that cannot be told. The quotient of a form that
    moves is greatest where the form is."""
    if factor not in table.quotients or _is_known(table, of_symbol(factor)):
        end = greatest(access, of_symbol(factor), table.quotients)
        return None if end is None else ((of_symbol(factor), end), end)
    form, divisor = table.quotients[factor]
    end = greatest(access, form, table.quotients)
    if end is None or not guardable((*access.where, relate(form, "<", constant(0)))).is_empty():
        return None
    return (form, end), of_symbol(table.quotient(end, divisor))


def _quotients_in(table: SymbolTable, forms: Iterable[Affine]) -> Iterator[Symbol]:
    """The quotients that forms are made of, each behind those that it is made of itself."""
    seen: dict[Symbol, None] = {}

    def visit(form: Affine) -> None:
        for symbol in form.symbols:
            if symbol in table.quotients and symbol not in seen:
                for part in table.quotients[symbol]:
                    visit(part)
                seen[symbol] = None

    for form in forms:
        visit(form)
    yield from seen


def _with_quotients(
    table: SymbolTable, quotients: Iterable[Symbol], names: Mapping[str, str], is_c: bool
) -> Mapping[str, str]:
    """The names, and in the place of quotients what they are: C rounds to zero what Python rounds down, so that there
    they are no smaller."""
    known = dict[str, str]()
    for one in quotients:
        above, below = (form_text(form, _Named(names, known)) for form in table.quotients[one])
        is_plain = known.values()  # these are in brackets already
        above, below = (f"({text})" if " " in text and text not in is_plain else text for text in (above, below))
        known[one.name] = f"({above} {'/' if is_c else '//'} {below})"
    return _Named(names, known)


class _Named(dict[str, str]):
    """Names, some of which are known and the others asked for."""

    def __init__(self, names: Mapping[str, str], known: Mapping[str, str]) -> None:
        super().__init__(known)
        self._names = names

    def get(self, name: str, default: str = "", /) -> str:  # type: ignore[override]
        """The name."""
        return self[name] if name in self else self._names.get(name, default)


def _never_negative(access: Access, factor: Symbol) -> bool:
    return bool(guardable((*access.where, relate(of_symbol(factor), "<", constant(0)))).is_empty())


def _meet(access: Access, ends: Iterable[Corner]) -> bool:
    """Whether all factors are greatest at once, wherever the access happens at all."""
    corner = (relate(form, "=", end) for form, end in ends)
    return bool(guardable(access.where).is_subset(guardable((*access.where, *corner))))


def greatest(access: Access, form: Affine, quotients: Collection[Symbol] = ()) -> Affine | None:
    """The greatest value of a form where an access happens, as one form of sizes, scalar arguments and quotients."""
    here = Formula(f"d = {form.text()}", form.symbols)
    symbols = ordered(symbol for formula in (*access.where, here) for symbol in formula.symbols)
    known = {s.name: s for s in symbols if s.role in ("size", "scalar") or s in quotients}
    points = only(build(access.where, ("d",), (here,)), known)
    if not points.dim_has_upper_bound(isl.dim_type.set, 0):
        return None
    try:
        with brief(points):
            pieces = points.dim_max(0).get_pieces()
    except isl.Error:  # it has a bound for each call, but none that isl can write down
        return None
    if len(pieces) != 1:
        return None
    found = pieces[0][1]
    if found.dim(isl.dim_type.div) or found.get_denominator_val() != 1:
        return None
    total = constant(found.get_constant_val().to_python())
    for position in range(found.dim(isl.dim_type.param)):
        name = found.get_dim_name(isl.dim_type.param, position) or ""
        number = found.get_coefficient_val(isl.dim_type.param, position).to_python()
        if number < 0 and known[name] in quotients:
            return None  # C has it too large
        if number:
            total = combine(total, of_symbol(known[name]), number)
    return total


def _sum(index: Affine, ends: Mapping[Symbol, Affine], names: Mapping[str, str]) -> str:
    """The index with the greatest value of each factor in place of it, in the syntax that C and Python share."""
    plain, text = constant(index.constant), ""
    for symbol, count in index.terms:
        if not symbol.factors:
            plain = combine(plain, ends[symbol], count)
            continue
        parts = [] if count == 1 else [str(count)]
        for factor in symbol.factors:
            part = form_text(ends[factor], names)
            parts.append(f"({part})" if " " in part else part)
        text += f"{' + ' if text else ''}{' * '.join(parts)}"
    rest = form_text(plain, names)
    if not text:
        return rest
    if rest == "0":
        return text
    return f"{text} - {rest[1:]}" if rest.startswith("-") else f"{text} + {rest}"
