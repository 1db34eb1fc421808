"""A new order for all the instances of a kernel, from isl's scheduler (a variant of Pluto's), tiled and skewed.

It owns isl's schedule trees: bands of loops that may be interchanged and tiled, each member under a mark that says
which loop of the user's it stands for. Everything here may be wrong without harm: `analysis/order.py` judges the
loops that come of it.
Source: Bondhugula et al., PLDI 2008; Verdoolaege and Janssens, "Scheduling for PPCG", 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Self

from loopwright.analysis import isl
from loopwright.analysis.effort import Effort
from loopwright.analysis.instances import Leaf
from loopwright.analysis.isl_rows import Counts, coefficients, numbers_of, rows_of
from loopwright.analysis.isl_wavefronts import in_front
from loopwright.analysis.order import Scene
from loopwright.ir.nodes import Load, Store
from loopwright.ir.walk import own_expressions, statements, subexpressions

Fusion = Literal["min", "smart", "max"]
OPTIONS = {
    "min": {"serialize_sccs": 1},
    "smart": {"whole_component": 0},
    "max": {"whole_component": 1},
}

MOST = 120
"""Of how many pieces dependences, and the constraints made of them, may be: isl's scheduler does not count operations,
so that nothing else bounds its time. The benchmarks' kernels have at most 32; 690, of a loop nest unrolled by 4, took
minutes."""

MOST_FOR_FRONTS = 32
"""The same where `inner` is wanted, which takes several schedules. The benchmarks' kernels have at most 27; 59 took
seconds."""

DIRECT = 1_000_000
"""How many of isl's operations it may take to leave out paths of several steps; a tenth where there are quotients, over
which each operation takes longer."""

TOO_HARD = "a new order is too hard to find"
TOO_MANY = "it has too many dependences for a new order to be looked for"


class NoSchedule(Exception):
    """There is no new order, and why, in the user's words."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """fusion: how much of what could run in one loop is to run in one. sizes: the lengths of tiles, for each loop of a
    band in turn; one alone is for all of them. wavefront: tiles along a diagonal are to run at once. inner: as many
    loops as possible inside the outermost one are to need no order, and it may be any."""

    fusion: Fusion
    sizes: tuple[int, ...] = ()
    wavefront: bool = False
    inner: bool = False


def schedule_of(scene: Scene, wanted: Wanted) -> isl.Schedule:
    """The new order as a schedule tree. Raises NoSchedule; TooHard, isl.Error where it takes too much work."""
    if not any(leaf.loops for leaf in scene.leaves):
        raise NoSchedule("no loop has bounds that are known before it runs")
    if sum(_pieces(dependence.pairs) for dependence in scene.dependences) > MOST:
        raise NoSchedule(TOO_MANY)
    direct = Constraints.of(scene)
    if _pieces(direct.order) + _pieces(direct.apart) > MOST:
        raise NoSchedule(TOO_MANY)
    with _options(OPTIONS[wanted.fusion]):
        if wanted.inner:
            if _pieces(direct.order) > MOST_FOR_FRONTS:
                raise NoSchedule("it has too many dependences for fronts to be looked for")
            found = in_front(direct.domain, direct.order, partial(_part, direct))
            return _shaped(scene, wanted, direct, found)
        found = _computed(direct.without_bounds())
        if (
            found is None
            or found.get_root().child(0).get_type() != isl.schedule_node_type.band
            or (found.get_root().child(0).band_n_member() < max(len(leaf.loops) for leaf in scene.leaves))
        ):
            found = _computed(direct) or found
    return _shaped(scene, wanted, direct, found)


def _shaped(scene: Scene, wanted: Wanted, direct: Constraints, found: isl.Schedule | None) -> isl.Schedule:
    if found is None:
        raise NoSchedule(TOO_HARD)
    shaped = _Shape(scene, wanted, direct.order)
    return shaped.visit(found.get_root().child(0)).get_schedule()


def _part(whole: Constraints, domain: isl.UnionSet, order: isl.UnionMap, apart: bool) -> isl.Schedule | None:
    """See isl_fronts.Computed."""
    flow, mixed = (pairs.intersect_domain(domain).intersect_range(domain) for pairs in (whole.flow, whole.apart))
    with _options(OPTIONS["min"] if apart else {}):
        return _computed(Constraints(domain, order.coalesce(), flow, mixed))


def _computed(wanted: Constraints) -> isl.Schedule | None:
    try:
        return wanted.for_isl().compute_schedule()
    except isl.Error:
        return None


def _pieces(pairs: isl.UnionMap) -> int:
    found: list[int] = []
    pairs.foreach_map(lambda part: found.append(part.n_basic_map()))
    return sum(found)


@contextmanager
def _options(values: dict[str, int]) -> Iterator[None]:
    context = isl.DEFAULT_CONTEXT
    values = {"maximize_band_depth": 1, **values}
    before = {name: getattr(context, f"get_schedule_{name}")() for name in values}
    for name, value in values.items():
        getattr(context, f"set_schedule_{name}")(value)
    try:
        yield
    finally:
        for name, value in before.items():
            getattr(context, f"set_schedule_{name}")(value)


@dataclass(frozen=True, slots=True)
class Constraints:
    """What must stay in order: `order`, direct steps only. Where each iteration has a value of its own (`flow`), the
    iterations (`apart`) are free to change places as long as those that use the value do not mix."""

    domain: isl.UnionSet
    order: isl.UnionMap
    flow: isl.UnionMap
    apart: isl.UnionMap

    @classmethod
    def of(cls, scene: Scene) -> Self:
        """The constraints of a kernel."""
        domain = _fixed(scene, scene.order.domain())
        order, flow, apart = (isl.UnionMap("{ }") for _ in range(3))
        is_long = any(symbol.laborious for symbol in scene.notes.state.table.symbols)
        most = DIRECT // 10 if is_long else DIRECT
        for dependence in scene.dependences:
            pairs = _fixed(scene, dependence.pairs)
            # Between two neighbours there is nothing else: a path of several steps says no more than its steps.
            with Effort(most, patient=True).bounded():
                order = order.union(pairs.subtract(pairs.apply_range(pairs)))
            if dependence.own:
                inside = isl.UnionSet("{ }")
                for touch in dependence.touches:
                    inside = inside.union(isl.UnionSet(f"{{ {touch.leaf.space} }}"))
                every = inside.intersect(domain)
                before = _fixed(scene, scene.order.lex_lt_union_map(scene.order))
                mixed = isl.UnionMap.from_domain_and_range(every, every).intersect(before)
                apart = apart.union(mixed.subtract(pairs))
                flow = flow.union(pairs)
        return cls(domain, order.coalesce(), flow, apart)

    def without_bounds(self) -> Self:
        """The same for loops that never end, a hundred times easier: stencils need no more."""
        order = self.order.gist_domain(self.domain).gist_range(self.domain).coalesce()
        return replace(self, order=order)

    def for_isl(self) -> isl.ScheduleConstraints:
        """For isl's scheduler."""
        found = isl.ScheduleConstraints.on_domain(self.domain)
        found = found.set_validity(self.order).set_coincidence(self.order).set_proximity(self.order)
        return found if self.apart.is_empty() else found.set_conditional_validity(self.flow, self.apart)


def _fixed(scene: Scene, points: Any) -> Any:
    """The same without parameters that are neither sizes nor scalar arguments; their rules are part of the points."""
    for symbol in scene.notes.state.table.symbols:
        if symbol.role == "opaque" and symbol.name in scene.fixed:
            position = points.get_space().find_dim_by_name(isl.dim_type.param, symbol.name)
            if position >= 0:
                points = points.project_out(isl.dim_type.param, position, 1)
    return points


# ---- tiles and diagonals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Member:
    """One loop of a band: its schedule, the loop of the user's it is named after, and whether it needs no order."""

    row: isl.UnionPwAff
    name: str
    coincident: bool


class _Shape:
    """Walks a schedule tree from outside to inside and shapes each band: the loop along the rows of arrays comes last,
    statements that need not share it get loops of their own, and tiles and diagonals are put around."""

    def __init__(self, scene: Scene, wanted: Wanted, order: isl.UnionMap) -> None:
        self.scene = scene
        self.wanted = wanted
        self.order = order

    def visit(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The node with everything below it shaped; at the same place of the tree."""
        if node.get_type() == isl.schedule_node_type.band:
            return self._band(node)
        for child in range(node.n_children()):
            node = self.visit(node.child(child)).parent()
        return node

    def _band(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        outer = [coefficients(row) for row in rows_of(node.get_prefix_schedule_multi_union_pw_aff())]
        rows = rows_of(node.band_get_partial_schedule())
        is_free = bool(node.band_get_permutable()) and len(rows) > 1
        is_innermost = not _has_bands(node.child(0))
        if is_free and is_innermost:
            rows = _with_last(rows, self._alongrows_of(outer, rows))
        names = self._names(outer, rows)
        coincident = {str(row): bool(node.band_member_get_coincident(k))
                      for k, row in enumerate(rows_of(node.band_get_partial_schedule()))}  # fmt: skip
        members = [_Member(row, name, coincident[str(row)]) for row, name in zip(rows, names, strict=True)]
        node = node.delete()
        points, tiles = members, []
        if is_free:
            tiles = self._tiles(members)
            points = members if tiles or not self.wanted.wavefront else _diagonal(members)
        if not is_innermost:
            return _around([*tiles, *points], self.visit(node))
        if points is members and len(members) > 1:
            apart = _around(points[:-1], self._at_leaves(node, points[-1], outer, rows))
            if self._is_legal(apart):
                return _around(tiles, apart)
        return _around([*tiles, *points], node)

    def _names(self, outer: Sequence[Counts], rows: Sequence[isl.UnionPwAff]) -> list[str]:
        """Each row is named after the innermost loop that it counts and no row before it is named after."""
        used: set[str] = set()
        for counts in outer:
            used.add(self._name(counts, used))
        names: list[str] = []
        for row in rows:
            names.append(self._name(coefficients(row), used))
            used.add(names[-1])
        return names

    def _name(self, counts: Counts, used: set[str]) -> str:
        leaves = sorted((leaf for leaf in self.scene.leaves if leaf.number in counts), key=lambda one: -len(one.loops))
        for leaf in leaves:
            loops = [note.loop.name for note, c in zip(leaf.loops, counts[leaf.number], strict=True) if c]
            for name in reversed(loops):
                if name not in used:
                    return name
        return next((leaf.loops[-1].loop.name for leaf in leaves if leaf.loops), "r")

    def _tiles(self, members: Sequence[_Member]) -> list[_Member]:
        sizes = self.wanted.sizes
        sizes = sizes * len(members) if len(sizes) == 1 else sizes
        tiles = [_Member(_floor(one.row, size), f"{one.name}.o", one.coincident)
                 for one, size in zip(members, sizes, strict=False)]  # fmt: skip
        if len(tiles) > 1 and self.wanted.wavefront:
            return _diagonal(tiles)
        return tiles

    # ---- the innermost loop

    def _alongrows_of(self, outer: Sequence[Counts], rows: Sequence[isl.UnionPwAff]) -> int:
        """The row that is best innermost: along it, most accesses go to neighbouring elements, or stay."""
        counts = [coefficients(row) for row in rows]
        scores = []
        for last in range(len(rows)):
            order = [*outer, *(one for k, one in enumerate(counts) if k != last), counts[last]]
            scores.append(sum(self._score(leaf, _direction(order, leaf)) for leaf in self.scene.leaves))
        return max((score, k) for k, score in enumerate(scores))[1]

    def _score(self, leaf: Leaf, direction: Sequence[Fraction] | None) -> int:
        """What walking in a direction is worth for the accesses of a statement."""
        if direction is None:
            return 0
        nodes = {id(e) for stmt in statements((leaf.stmt,)) for own in own_expressions(stmt)
                 for e in subexpressions(own, Load)}  # fmt: skip
        nodes |= {id(stmt) for stmt in statements((leaf.stmt,), Store)}
        score = 0
        for access in self.scene.notes.accesses:
            if id(access.node) in nodes and access.index:
                moves: list[Fraction | int] = [
                    sum(form.coefficient(note.symbol) * step for note, step in zip(leaf.loops, direction, strict=True))
                    for form in access.index
                ]
                near = not any(moves[:-1]) and moves[-1] in (-1, 0, 1)
                score += (2 if near else -4) if any(moves) else 1
        return score

    def _at_leaves(
        self, node: isl.ScheduleNode, last: _Member, outer: Sequence[Counts], rows: Sequence[isl.UnionPwAff]
    ) -> isl.ScheduleNode:
        """The node with the last loop around each statement alone."""
        if node.get_type() != isl.schedule_node_type.leaf:
            for child in range(node.n_children()):
                node = self._at_leaves(node.child(child), last, outer, rows).parent()
            return node
        numbers = numbers_of(node.get_domain())
        if len(numbers) == 1:
            order = [*outer, *(coefficients(row) for row in rows)]
            leaf = self.scene.leaves[numbers[0]]
            return _around([_own_variable(last, leaf, _direction(order, leaf))], node, whole=False)
        filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(numbers))
        for number in numbers:
            filters = filters.add(isl.UnionSet(f"{{ {self.scene.leaves[number].space} }}"))
        node = node.insert_sequence(filters)
        for child in range(node.n_children()):
            node = self._at_leaves(node.child(child).child(0), last, outer, rows).parent().parent()
        return node

    def _is_legal(self, node: isl.ScheduleNode) -> bool:
        """Whether the order is kept, and no two statements share a value that each iteration has of its own."""
        inside = set(numbers_of(node.get_domain()))
        for dependence in self.scene.dependences:
            if dependence.own and len(inside & {touch.leaf.number for touch in dependence.touches}) > 1:
                return False
        order = node.get_schedule().get_map()
        return bool(self.order.intersect(order.lex_ge_union_map(order)).is_empty())


# ---- pieces of schedules -----------------------------------------------------------------------------------------


def _with_last(rows: Sequence[isl.UnionPwAff], last: int) -> list[isl.UnionPwAff]:
    return [*rows[:last], *rows[last + 1 :], rows[last]]


def _floor(row: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    return row.scale_down_val(isl.Val(size)).floor()


def _diagonal(members: Sequence[_Member]) -> list[_Member]:
    """Where every loop needs its order: the sum of the first two around the second, which then needs none."""
    if any(one.coincident for one in members):
        return sorted(members, key=lambda one: not one.coincident)
    first, second, *rest = members
    name = first.name.removesuffix(".o") + ".w"
    return [_Member(first.row.add(second.row), name, False), replace(second, coincident=True), *rest]


def _direction(rows: Sequence[Counts], leaf: Leaf) -> list[Fraction] | None:
    """How the loops of a statement go on from one iteration of the last row to the next, all rows before unchanged;
    None where they do not, or the rows do not tell."""
    size = len(leaf.loops)
    matrix = [[*row[leaf.number], Fraction(0)] for row in rows[:-1] if leaf.number in row]
    matrix.append([*rows[-1].get(leaf.number, [Fraction(0)] * size), Fraction(1)])
    rank = 0
    for column in range(size):
        found = next((k for k in range(rank, len(matrix)) if matrix[k][column]), None)
        if found is None:
            return None
        matrix[rank], matrix[found] = matrix[found], matrix[rank]
        matrix[rank] = [value / matrix[rank][column] for value in matrix[rank]]
        for k, row in enumerate(matrix):
            if k != rank and row[column]:
                matrix[k] = [a - row[column] * b for a, b in zip(row, matrix[rank], strict=True)]
        rank += 1
    return None if any(row[-1] for row in matrix[rank:]) else [row[-1] for row in matrix[:size]]


def _own_variable(last: _Member, leaf: Leaf, direction: Sequence[Fraction] | None) -> _Member:
    """The last loop of a statement that has it alone: simply the one variable of the user's that changes along it."""
    moving = [k for k, step in enumerate(direction or ()) if step]
    if direction is None or len(moving) != 1 or direction[moving[0]] != 1:
        return last
    row = isl.UnionPwAff(f"{{ {leaf.space} -> [(x{moving[0]})] }}")
    return replace(last, row=row, name=leaf.loops[moving[0]].loop.name)


def _around(members: Sequence[_Member], node: isl.ScheduleNode, whole: bool = True) -> isl.ScheduleNode:
    """The loops, outermost first, around what is at the node; at the same place of the tree. whole: each is one loop
    in the code, with tests inside, and not several for parts of it (of diagonals, the bounds would be long)."""
    for member in reversed(members):
        rows = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, 1).add(member.row)
        space = member.row.get_space().params().set_from_params().add_dims(isl.dim_type.set, 1)
        node = node.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff_list(space, rows))
        if whole and not member.name.endswith(".w"):
            node = node.band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic)
        node = node.insert_mark(isl.Id(member.name))
    return node


def _has_bands(node: isl.ScheduleNode) -> bool:
    if node.get_type() == isl.schedule_node_type.band:
        return True
    return any(_has_bands(node.child(child)) for child in range(node.n_children()))
