"""Arrays that a loop nest fills as a whole through one index for all rows: `t[i * w + j]`, or the rows of a triangle,
which get longer or shorter. isl knows no products: it is asked whether the nest goes through every place of every row,
and how many elements these rows have is compared with the size of the array, as a polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from loopwright.analysis.affine import Affine, Formula, combine, constant
from loopwright.analysis.corner import greatest
from loopwright.analysis.dependence import Elements
from loopwright.analysis.effort import kept
from loopwright.analysis.proof import Digits
from loopwright.analysis.sets import build, minus, ordered, without
from loopwright.analysis.trace import Access

Coefficients = dict[tuple[int, ...], int]
"""Of a polynomial, none of them zero, by the numbers of the symbols that are multiplied."""


def fills(elements: Elements, write: Access, depth: int, read: Access) -> bool:
    """Whether a write has touched all elements of its array, which has one axis, where a later read of it happens. They
    share the outermost loops, of which there are `depth`: all turns of the others around the write have run by then.
    Raises TooHard."""
    found = elements.proof.digits.get((write.number, 0))
    if found is None or len(write.index) != 1 or not write.exact:
        return False
    told = [symbol for where in write.where for symbol in where.symbols]
    told = ordered([*told, *(symbol for digit in found.digits for symbol in digit.symbols)])
    inner = {symbol.name for symbol in told if len(symbol.birth) > depth}
    if any(symbol.loose and symbol.name in inner for symbol in told):
        return False
    size = _twice(write.sizes[0])
    for rows in _numbers_of_rows(write, found):
        if _twice_the_elements(found, rows) == size and _are_counts(read, found, rows):
            written = without(elements.whole_of(write, (found.radices,)), inner)
            dims = [f"e{place}" for place in range(len(found.digits))]
            if minus(build(read.where, dims, list(_places(found, rows))), written).is_empty():
                return True
    return False


def _numbers_of_rows(write: Access, found: Digits) -> Iterator[Affine]:
    """How many rows there may be: behind the last one that is written may stand one that has no places."""
    key = "last row", id(write)
    _, last = kept(key, lambda: (write, greatest(write, found.digits[0])))  # which keeps its identity its own
    if last is not None:
        yield combine(last, constant(1))
        if found.slope:
            yield combine(last, constant(2))


def _are_counts(read: Access, found: Digits, rows: Affine) -> bool:
    """Whether the number of rows and their lengths are never negative where a read happens: the product of two negative
    numbers is positive."""
    negative = [Formula(f"{rows.text()} < 0", rows.symbols)]
    for radix in found.radices:
        here = f"0 <= e0 < {rows.text()} and {_length(found, radix)} < 0"
        negative.append(Formula(here, (*radix.symbols, *rows.symbols)))
    return all(build(read.where, ("e0",), [one]).is_empty() for one in negative)


def _places(found: Digits, rows: Affine) -> Iterator[Formula]:
    """Every place of every row."""
    yield Formula(f"0 <= e0 < {rows.text()}", rows.symbols)
    for place, radix in enumerate(found.radices, start=1):
        yield Formula(f"0 <= e{place} < {_length(found, radix)}", radix.symbols)


def _length(found: Digits, radix: Affine) -> str:
    """How long row e0 is, or each row of a rectangle."""
    return f"{radix.text()} + {found.slope}*e0" if found.slope else radix.text()


# ---- how many elements there are ------------------------------------------------------------------------------


def _twice_the_elements(found: Digits, rows: Affine) -> Coefficients:
    """Twice the number of elements that so many rows have."""
    count = _coefficients(rows)
    if not found.slope:
        return _sum(*[reduce(_times, map(_coefficients, found.radices), count)] * 2)
    pairs = _times(count, _coefficients(combine(rows, constant(-1))))
    first = _times(count, _coefficients(found.radices[0]))
    return _sum(first, first, _times(pairs, {(): found.slope}))


def _twice(form: Affine) -> Coefficients:
    """Twice a form."""
    total: Coefficients = {(): 2 * form.constant} if form.constant else {}
    for symbol, count in form.terms:
        if symbol.pairs_of is not None:
            base = symbol.pairs_of.number
            total = _sum(total, {(base, base): count, (base,): -count})
        else:
            factors = tuple(sorted(one.number for one in symbol.factors)) or (symbol.number,)
            total = _sum(total, {factors: 2 * count})
    return total


def _coefficients(form: Affine) -> Coefficients:
    """A form of sizes and arguments."""
    terms: Coefficients = {(symbol.number,): count for symbol, count in form.terms}
    return _sum(terms, {(): form.constant})


def _sum(*parts: Coefficients) -> Coefficients:
    total: Coefficients = {}
    for part in parts:
        for term, count in part.items():
            total[term] = total.get(term, 0) + count
    return {term: count for term, count in total.items() if count}


def _times(left: Coefficients, right: Coefficients) -> Coefficients:
    products = [{tuple(sorted((*a, *b))): m * n} for a, m in left.items() for b, n in right.items()]
    return _sum(*products)
