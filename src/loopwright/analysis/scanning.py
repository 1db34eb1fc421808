"""Bounds for the loops of a nest in another order, or in tiles, where bounds depend on loops of the nest.

The iterations of the nest are an isl set; the bounds of each new loop are read off the constraints of its projection
onto the loops outside it. Outer loops may get wider bounds than needed, where the exact ones are not convex; loops
inside then run no iteration there. It proves nothing: `order.broken_by` sees whether just the same iterations run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, Symbol, of_symbol, relate
from loopwright.analysis.effort import LOCK, Effort, TooHard
from loopwright.analysis.sets import build, parameters, without
from loopwright.analysis.trace import LoopNote, Trace, trace
from loopwright.ir.linear import Linear, plus
from loopwright.ir.nodes import Binary, Cast, Const, Dim, Expr, For, Kernel, Var
from loopwright.ir.printing import print_expr
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.types import INT64

LIMIT = 5_000_000
"""How many of isl's operations one nest may take."""


class Inexpressible(Exception):
    """Bounds that no expression of sizes and outer loops gives; the text says which, in the user's words."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One loop of the new nest. It runs over the iterations of `loop`, or, with a `size`, over stretches of that many
    of them."""

    name: str
    loop: str
    size: int = 0


Bounds = tuple[Expr, Expr]


def scanned(kernel: Kernel, band: Sequence[For], order: Sequence[Stop]) -> list[Bounds]:
    """Lower and upper bound for each loop of the new order. The loops of the band are a perfect nest, outermost first,
    with constant steps. Raises Inexpressible."""
    kept = _kept(band, order)
    if len(kept) == len(order):
        return [_as_before(band, order, stop) for stop in order]
    with LOCK:
        try:
            with Effort(LIMIT, LIMIT, patient=True).bounded():
                return _Scan(kernel, band, order).bounds()
        except TooHard:
            raise Inexpressible("the bounds of the loops in that order are too hard to compute") from None


def _kept(band: Sequence[For], order: Sequence[Stop]) -> set[Stop]:
    """The new loops that can have the bounds that the loop had in the band: what its bounds read is outside, and what
    depends on it is inside."""
    names = {loop.name for loop in band}
    needs = {loop.name: (names_in(loop.lower) | names_in(loop.upper)) & names for loop in band}
    kept: set[Stop] = set()
    for position, stop in enumerate(order):
        outside = order[:position]
        there = needs[stop.loop] <= {one.loop for one in outside if not one.size}
        free = not any(stop.loop in needs[one.loop] for one in outside)
        tiles = [one for one in outside if one.loop == stop.loop]
        if there and free and all(tile in kept for tile in tiles):
            kept.add(stop)
    return kept


def _as_before(band: Sequence[For], order: Sequence[Stop], stop: Stop) -> Bounds:
    """The bounds that a loop had, or inside its own tile those of the tile."""
    loop = next(loop for loop in band if loop.name == stop.loop)
    tile = next((one for one in order if one.size and one.loop == stop.loop), None)
    if stop.size or tile is None:
        return loop.lower, loop.upper
    assert isinstance(loop.step, Const)
    reach = tile.size * int(loop.step.value)
    start = Var(tile.name, INT64)
    return start, Binary("min" if reach > 0 else "max", plus(start, reach), loop.upper)


class _Scan:
    """The computation for one band. Dimension k of every set is the variable of the k-th new loop."""

    def __init__(self, kernel: Kernel, band: Sequence[For], order: Sequence[Stop]) -> None:
        notes = trace(kernel)
        self.band = {loop.name: loop for loop in band}
        self.notes = {loop.name: notes.loops[loop.name] for loop in band}
        self.order = order
        self.kept = _kept(band, order)
        self.point = {stop.loop: k for k, stop in enumerate(order) if not stop.size}
        self.tile = {stop.loop: k for k, stop in enumerate(order) if stop.size}
        self.values = expressions_of(kernel, notes, band[0])
        outer = [notes.loops[name] for name in self.notes[band[0].name].stack if name in notes.loops]
        self.around = self._known(build([f for note in outer for f in note.domain]))
        self.whole = self._points(len(order), list(self.notes.values()))

    def _known(self, points: isl.Set) -> isl.Set:
        """The set without what no expression can tell."""
        return without(points, set(parameters(points)) - self.values.keys())

    def _points(self, depth: int, notes: Sequence[LoopNote]) -> isl.Set:
        """The values of the outermost new loops that the domains of some loops allow."""
        points: list[Formula] = []
        for name, note in self.notes.items():
            symbol = of_symbol(note.symbol)
            k, tile = self.point[name], self.tile.get(name, depth)
            if k < depth:
                points.append(_equals(f"d{k}", note.symbol))
            elif tile < depth and note in notes:
                points.append(_equals(f"d{tile}", note.symbol))
            if max(k, tile) < depth:
                reach = (self.order[tile].size - 1) * note.step
                low, high = (f"d{tile}", f"d{tile} + {reach}") if reach > 0 else (f"d{tile} + {reach}", f"d{tile}")
                points.append(Formula(f"{low} <= {symbol.text()} and {symbol.text()} <= {high}", symbol.symbols))
        formulas = [formula for note in notes for formula in note.domain]
        return self._known(build(formulas, [f"d{k}" for k in range(depth)], points))

    def bounds(self) -> list[Bounds]:
        """Bounds of every new loop."""
        result: list[Bounds] = []
        given = isl.Set.from_params(self.around)  # what the loops outside have made sure
        for depth, stop in enumerate(self.order):
            given = given.add_dims(isl.dim_type.set, 1)
            if stop in self.kept:
                result.append(_as_before(list(self.band.values()), self.order, stop))
                given = given.intersect(self._points(depth + 1, [self.notes[stop.loop]]))
                continue
            limits = self._limits(stop, depth, given)
            result.append(self._new(stop, depth, limits))
            given = given.intersect(isl.Set.from_basic_set(limits))
        return result

    def _limits(self, stop: Stop, depth: int, given: isl.Set) -> isl.BasicSet:
        """The constraints on a loop's variable, where the loops outside run; its dimension is the last one."""
        if abs(self.notes[stop.loop].step) != 1:
            raise Inexpressible(f"the bounds of '{stop.loop}' depend on other loops, and its step is not 1")
        here = self.point[stop.loop]
        points = self.whole
        for k in reversed(range(depth, len(self.order))):
            if k != here:
                points = points.project_out(isl.dim_type.set, k, 1)
        hull = points.remove_divs().coalesce().simple_hull()
        shorter = isl.Set.from_basic_set(hull).gist(given).simple_hull().remove_divs()
        return shorter.drop_constraints_not_involving_dims(isl.dim_type.set, depth, 1).remove_redundancies()

    def _new(self, stop: Stop, depth: int, limits: isl.BasicSet) -> Bounds:
        lows: list[Expr] = []
        highs: list[Expr] = []
        up = self.notes[stop.loop].step > 0
        for constraint in limits.get_constraints():
            factor = constraint.get_coefficient_val(isl.dim_type.set, depth).to_python()
            terms, rest = self._rest(constraint, depth)
            if factor > 0 or constraint.is_equality():
                sign = -1 if factor > 0 else 1
                whole = [(value, sign * c) for value, c in terms]  # factor * x >= whole + rest
                lows.append(_quotient(whole, sign * rest + abs(factor) - 1, abs(factor), 0 if up else -1))
            if factor < 0 or constraint.is_equality():
                sign = 1 if factor < 0 else -1
                whole = [(value, sign * c) for value, c in terms]  # factor * x <= whole + rest
                highs.append(_quotient(whole, sign * rest, abs(factor), 1 if up else 0))
        if not lows or not highs:
            raise Inexpressible(f"the bounds of '{stop.loop}' cannot be told from the loops outside it")
        low, high = _extreme("max", lows), _extreme("min", highs)
        return (low, high) if up else (high, low)

    def _rest(self, constraint: isl.Constraint, depth: int) -> tuple[list[tuple[Expr, int]], int]:
        """The constraint without its last dimension: factors of expressions, and a number."""
        terms: list[tuple[Expr, int]] = []
        for k in range(depth):
            terms.append(
                (Var(self.order[k].name, INT64), constraint.get_coefficient_val(isl.dim_type.set, k).to_python())
            )
        for k in range(constraint.space.dim(isl.dim_type.param)):
            value = self.values[constraint.space.get_dim_name(isl.dim_type.param, k) or ""]
            terms.append((value, constraint.get_coefficient_val(isl.dim_type.param, k).to_python()))
        return [(value, c) for value, c in terms if c], constraint.get_constant_val().to_python()


def _equals(dim: str, symbol: Symbol) -> Formula:
    form = of_symbol(symbol)
    return Formula(f"{dim} = {form.text()}", relate(form, "=", form).symbols)


# ---- expressions -----------------------------------------------------------------------------------------------


def expressions_of(kernel: Kernel, notes: Trace, at: For) -> Mapping[str, Expr]:
    """What symbols of isl are called in the kernel, at and in a loop; those that have a name there, or are products
    of some that have one."""
    changed = names_assigned(at.body)
    found: dict[str, Expr] = {}
    known = next(values for stmt, values in notes.values if stmt is at)
    for name, form in known.items():
        type_ = notes.state.types[name]
        symbol = _alone(form.terms, form.constant)
        wide = type_.kind not in ("int", "uint") or type_.maximum > INT64.maximum
        if symbol is None or name in changed or wide or (symbol.role == "loop" and symbol.birth[-1] != name):
            continue
        value = Var(name, type_)
        found.setdefault(symbol.name, value if type_ == INT64 else Cast(value, INT64))
    given = {array.name for array in kernel.arrays}
    for (array, axis), size in notes.state.sizes.items():
        symbol = _alone(size.terms, size.constant)
        if symbol is not None and array in given:
            found.setdefault(symbol.name, Dim(array, axis))
    for symbol in notes.state.table.symbols:
        factors = [found[factor.name] for factor in symbol.factors if factor.name in found]
        if factors and len(factors) == len(symbol.factors):
            found.setdefault(symbol.name, reduce(lambda left, right: Binary("mul", left, right), factors))
    return found


def _alone(terms: tuple[tuple[Symbol, int], ...], constant: int) -> Symbol | None:
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 and not constant else None


def _quotient(terms: Sequence[tuple[Expr, int]], constant: int, divisor: int, more: int) -> Expr:
    """(terms + constant) // divisor + more."""
    if not terms:
        return Const(constant // divisor + more, INT64)
    total = Linear(tuple(terms), constant + more * divisor).expr
    return total if divisor == 1 else Binary("floordiv", total, Const(divisor, INT64))


def _extreme(op: Literal["max", "min"], values: Sequence[Expr]) -> Expr:
    """The greatest or least of some expressions."""
    return reduce(lambda left, right: Binary(op, left, right), sorted(set(values), key=print_expr))
