"""How often loops run, as polynomials in the sizes: by exact interpolation of counts at small sizes.

A count is asked of isl where every size has a value, as isl cannot count with sizes unknown; what comes out is
checked at further points and given up where it is no polynomial, as with `min(n, m)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, of_symbol
from loopwright.analysis.effort import LOCK, Effort, TooHard, together
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.sets import build, only, ordered, parameters
from loopwright.analysis.trace import LoopNote, trace
from loopwright.ir.nodes import Kernel

SMALLEST = 8
"""The first sample of every parameter: beyond the borders that kernels usually cut off."""
MOST_SAMPLES = 300
LIMIT = 5_000_000
"""How many of isl's operations one count may take."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial in sizes and scalar arguments. names: the variables as people call them. terms: coefficients by
    exponents, one exponent for each name."""

    names: tuple[str, ...]
    terms: Mapping[tuple[int, ...], Fraction]

    def value(self, values: Sequence[int]) -> Fraction:
        """The value at values of the names, in their order."""
        return sum(
            (c * prod(v**e for v, e in zip(values, powers, strict=True)) for powers, c in self.terms.items()),
            Fraction(0),
        )

    def __str__(self) -> str:
        factors, rest = _factored(self)
        text = _sum(rest)
        if not factors:
            return text
        if text != "1":
            factors = [text, *factors]
        return " * ".join(f"({part})" if " " in part else part for part in factors) if factors[1:] else factors[0]


@together()
def trip_counts(kernel: Kernel) -> dict[str, Polynomial | None]:
    """For each loop the number of its iterations in a whole call; None where it depends on data, or is no polynomial
    of the sizes (from size 8 on)."""
    names = parameter_texts(kernel)
    with LOCK:
        notes = trace(kernel)
        counts: dict[str, Polynomial | None] = {}
        for name, note in notes.loops.items():
            around = [notes.loops.get(outer) for outer in note.stack]
            counts[name] = None
            if all(loop is not None and loop.regular for loop in (*around, note)):
                chain = [loop for loop in (*around, note) if loop is not None]
                outer = counts[note.stack[-1]] if note.stack else None
                if outer is not None and _is_alike_in_each(note, chain[-2]):
                    inner = _iterations([replace(note, where=())], names)
                    counts[name] = None if inner is None else _times(outer, inner)
                else:
                    counts[name] = _iterations(chain, names)
        return counts


def _is_alike_in_each(note: LoopNote, outer: LoopNote) -> bool:
    """Whether a loop runs as often in each iteration of the one around it, and in all of them: that is soon counted."""
    used = {symbol for formula in note.domain for symbol in formula.symbols} - {note.symbol}
    return note.where == (*outer.where, *outer.domain) and not any(symbol.birth for symbol in used)


def _times(some: Polynomial, others: Polynomial) -> Polynomial:
    names = tuple(dict.fromkeys((*some.names, *others.names)))
    terms: dict[tuple[int, ...], Fraction] = {}
    for (mine, c), (theirs, d) in product(some.terms.items(), others.terms.items()):
        powers = dict.fromkeys(names, 0)
        for name, power in (*zip(some.names, mine, strict=True), *zip(others.names, theirs, strict=True)):
            powers[name] += power
        place = tuple(powers.values())
        terms[place] = terms.get(place, Fraction(0)) + c * d
    return Polynomial(names, {powers: c for powers, c in terms.items() if c})


def _iterations(loops: Sequence[LoopNote], names: Mapping[str, str]) -> Polynomial | None:
    where = [formula for loop in loops for formula in (*loop.where, *loop.domain)]
    if any(s.loose for s in ordered(s for formula in where for s in formula.symbols)):
        return None
    dims = [f"d{k}" for k in range(len(loops))]
    points = [
        Formula(f"{dim} = {of_symbol(loop.symbol).text()}", (loop.symbol,))
        for dim, loop in zip(dims, loops, strict=True)
    ]
    try:
        with Effort(LIMIT).bounded():
            return counted(build(where, dims, points), names, len(loops))
    except TooHard:
        return None


def counted(points: isl.Set, names: Mapping[str, str], degree: int) -> Polynomial | None:
    """The number of points as a polynomial of at most a degree in the parameters that have a name; other parameters
    are projected out."""
    try:
        with Effort(LIMIT).bounded():
            points = only(points, names)
            used = [name for name in sorted(parameters(points)) if _involves(points, name)]
            if (degree + 1) ** len(used) > MOST_SAMPLES:
                return None
            return _interpolated(points, used, names, degree)
    except TooHard:
        return None


def _involves(points: isl.Set, name: str) -> bool:
    return bool(points.involves_dims(isl.dim_type.param, points.find_dim_by_name(isl.dim_type.param, name), 1))


def _interpolated(points: isl.Set, used: list[str], names: Mapping[str, str], degree: int) -> Polynomial | None:
    samples = range(SMALLEST, SMALLEST + degree + 1)
    table = {grid: Fraction(_count(points, used, grid)) for grid in product(samples, repeat=len(used))}
    for axis in range(len(used)):
        table = _newton(table, axis, list(samples))
    terms = {tuple(x - SMALLEST for x in grid): c for grid, c in table.items() if c}
    found = Polynomial(tuple(names[name] for name in used), terms)
    far = [SMALLEST + degree + 2 + k for k in range(len(used))]
    for check in (far, far[::-1], [SMALLEST + degree + 5, *[SMALLEST + 1] * (len(used) - 1)]):
        if found.value(check[: len(used)]) != _count(points, used, check):
            return None
    return found


def _count(points: isl.Set, used: Sequence[str], values: Sequence[int]) -> int:
    for name, value in zip(used, values, strict=False):
        points = points.fix_val(isl.dim_type.param, points.find_dim_by_name(isl.dim_type.param, name), isl.Val(value))
    return int(points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param)).count_val().to_python())


def _newton(table: dict[tuple[int, ...], Fraction], axis: int, xs: list[int]) -> dict[tuple[int, ...], Fraction]:
    """Replace values along one axis by the coefficients of the powers, which take the places of the samples."""
    result: dict[tuple[int, ...], Fraction] = {}
    for grid in table:
        if grid[axis] != xs[0]:
            continue
        line = [table[(*grid[:axis], x, *grid[axis + 1 :])] for x in xs]
        for order in range(1, len(xs)):  # divided differences, in place
            for k in range(len(xs) - 1, order - 1, -1):
                line[k] = (line[k] - line[k - 1]) / (xs[k] - xs[k - order])
        powers = [Fraction(0)] * len(xs)
        for k in range(len(xs) - 1, -1, -1):  # Horner, over (x - xs[k])
            powers = [(powers[e - 1] if e else Fraction(0)) - xs[k] * powers[e] for e in range(len(xs))]
            powers[0] += line[k]
        for x, power in zip(xs, powers, strict=True):
            result[(*grid[:axis], x, *grid[axis + 1 :])] = power
    return result


# ---- text -----------------------------------------------------------------------------------------------------


def _factored(polynomial: Polynomial) -> tuple[list[str], Polynomial]:
    """Factors such as `(n - 2)`, and what is left."""
    factors: list[str] = []
    for axis, name in enumerate(polynomial.names):
        for root in (0, *(sign * k for k in range(1, 9) for sign in (1, -1))):
            while len(polynomial.terms) > 1 or any(powers[axis] for powers in polynomial.terms):
                divided = _divided(polynomial, axis, root)
                if divided is None:
                    break
                polynomial = divided
                factors.append(name if root == 0 else f"{name} {'-' if root > 0 else '+'} {abs(root)}")
    return factors, polynomial


def _divided(polynomial: Polynomial, axis: int, root: int) -> Polynomial | None:
    """The polynomial by (name - root), or None where that leaves a remainder."""
    lines: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for powers, c in polynomial.terms.items():
        rest = (*powers[:axis], 0, *powers[axis + 1 :])
        lines.setdefault(rest, {})[powers[axis]] = c
    terms: dict[tuple[int, ...], Fraction] = {}
    for rest, line in lines.items():
        carry = Fraction(0)
        for power in range(max(line), -1, -1):
            carry = line.get(power, Fraction(0)) + carry * root
            if power and carry:
                terms[(*rest[:axis], power - 1, *rest[axis + 1 :])] = carry
        if carry:
            return None
    return Polynomial(polynomial.names, terms)


def _sum(polynomial: Polynomial) -> str:
    text = ""
    for powers, c in sorted(polynomial.terms.items(), key=lambda term: (-sum(term[0]), [-p for p in term[0]])):
        names = zip(polynomial.names, powers, strict=True)
        factors = [name if power == 1 else f"{name}**{power}" for name, power in names if power]
        sign = "-" if c < 0 else "+"
        number = [] if abs(c) == 1 and factors else [str(abs(c))]
        part = " * ".join(number + factors)
        text += f" {sign} {part}" if text else (f"-{part}" if c < 0 else part)
    return text or "0"
