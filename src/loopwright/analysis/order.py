"""Whether a restructured kernel still does everything in an order that gives the same results: the judge of steps.

Both kernels consist of the same statements (the same nodes; in the new one each name that was a loop variable may also
be a scalar that is assigned there). Every instance must run just once in the new kernel, and of two instances that
touch the same element, one of them writing, the earlier one must stay the earlier one. Left out are updates whose
order does not matter, and values that belong to one iteration, provided that iterations do not get mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula, combine, constant, of_symbol, relate
from loopwright.analysis.bounds import prove
from loopwright.analysis.changed import Changed, changed
from loopwright.analysis.dependence import Elements
from loopwright.analysis.effort import LOCK, Effort, TooHard
from loopwright.analysis.facts import Known
from loopwright.analysis.instances import (
    Leaf,
    Touch,
    domain_of,
    fixed_in,
    leaves_of,
    order_of,
    own_depth,
    touches_of,
)
from loopwright.analysis.proof import Proof
from loopwright.analysis.scalars import Names, live_after
from loopwright.analysis.sets import build, parameters, without
from loopwright.analysis.trace import Access, LoopNote, Trace, glance, traced
from loopwright.ir.nodes import For, Kernel, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements

LIMIT = 1_500_000
"""How many of isl's operations one judgement may take: a second or so."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """Pairs of instances, the earlier one first, that touch the same element of `place`; `own`: how many of the outer
    loops the two share, where each of their iterations has a value of its own."""

    place: str
    pairs: isl.UnionMap
    own: int
    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of a kernel as instances: its statements, when each instance runs, and what must stay in order."""

    kernel: Kernel
    part: Changed
    notes: Trace
    leaves: tuple[Leaf, ...]
    fixed: frozenset[str]
    order: isl.UnionMap
    dependences: tuple[Dependence, ...]


def scene_of(kernel: Kernel, strict: bool, part: Changed | None = None) -> Scene:
    """The instances and dependences of a kernel, or of a part of it: then of one iteration of the loops around that
    part, whose variables are parameters."""
    part = part or Changed((), kernel.body, kernel.body)
    return _scene(kernel, _proof(kernel, traced(kernel), part), strict, part)


def _proof(kernel: Kernel, notes: Trace, part: Changed, known: Known | None = None) -> Proof:
    """Where the indices of a part are. What it takes for granted is in the kernel's guard, as everything `known` is:
    where an index counts from the end for some sizes, all accesses are looked at, as they are for the guard; one alone
    might get a condition that has no room beside the others."""
    inside = {id(stmt) for stmt in statements(part.before)}
    accesses = [access for access in notes.accesses if id(access.stmt) in inside]
    if known and all((access.node.key, access.array) in known for access in accesses):
        return prove(kernel, notes, {id(access.node) for access in accesses}, known)
    proof = prove(kernel, notes, {id(access.node) for access in accesses})
    with proof.effort.bounded():
        alone = all(_from_start(proof, access) for access in accesses)
    return proof if alone else prove(kernel, notes)


def _from_start(proof: Proof, access: Access) -> bool:
    """Whether no index is negative, whatever the guard says; or the proof takes nothing for granted."""
    for index, bounds in zip(access.index, proof.bounds[id(access.node)], strict=True):
        rests = bounds.kind == "proven" and bounds.condition and not bounds.may_be_negative
        if rests and not build((*access.where, relate(index, "<", constant(0)))).is_empty():
            return False
    return True


def _scene(kernel: Kernel, proof: Proof, strict: bool, part: Changed) -> Scene:
    leaves = leaves_of(part.before, proof.notes)
    fixed = fixed_in(proof.notes, part.stack)
    order = order_of(leaves, fixed)
    inside = {id(stmt) for stmt in statements(part.before)}
    nodes = {id(access.node) for access in proof.notes.accesses if id(access.stmt) in inside}
    touches = touches_of(leaves, Elements(proof), nodes, fixed, strict)
    live = live_after(kernel)
    times = _Times(order)
    found = [_dependence(place, some, times, live) for place, some in touches.items()]
    return Scene(kernel, part, proof.notes, tuple(leaves), fixed, order, tuple(one for one in found if one is not None))


class _Times:
    """When instances run. Statements are compared by twos, once, where some pairs are asked about: most never meet."""

    def __init__(self, order: isl.UnionMap) -> None:
        self._times = {one.get_tuple_name(isl.dim_type.in_): one for one in maps_of(order)}
        self._found: dict[tuple[str, str, bool], isl.Map] = {}

    def in_order(self, pairs: isl.UnionMap) -> isl.UnionMap:
        """The pairs whose first instance runs earlier."""
        return self._those(pairs, True)

    def turned(self, pairs: isl.UnionMap) -> isl.UnionMap:
        """Those whose first instance runs later."""
        return self._those(pairs, False)

    def _those(self, pairs: isl.UnionMap, earlier: bool) -> isl.UnionMap:
        found = isl.UnionMap("{ }")
        for some in maps_of(pairs):
            first, second = (some.get_tuple_name(side) or "" for side in (isl.dim_type.in_, isl.dim_type.out))
            if first in self._times and second in self._times:
                found = found.union(isl.UnionMap.from_map(some.intersect(self._compared(first, second, earlier))))
        return found

    def _compared(self, first: str, second: str, earlier: bool) -> isl.Map:
        key = (first, second, earlier)
        if key not in self._found:
            one, other = self._times[first], self._times[second]
            self._found[key] = one.lex_lt_map(other) if earlier else one.lex_gt_map(other)
        return self._found[key]


def _dependence(place: str, touches: Sequence[Touch], times: _Times, live: Mapping[str, Names]) -> Dependence | None:
    if not any(touch.is_write for touch in touches):
        return None
    pairs = isl.UnionMap("{ }")
    classes = sorted({touch.group for touch in touches})
    for left in classes:
        for right in classes:
            if left and left == right:
                continue
            here = [touch for touch in touches if touch.group == left]
            there = [touch for touch in touches if touch.group == right]
            pairs = pairs.union(_meeting(here, there))
    pairs = times.in_order(pairs)
    own = own_depth(touches, live)
    if own:
        pairs = pairs.intersect(same_iteration([touch.leaf for touch in touches], own))
    return None if pairs.is_empty() else Dependence(place, pairs, own, tuple(touches))


def _meeting(here: Sequence[Touch], there: Sequence[Touch]) -> isl.UnionMap:
    """Pairs that touch the same element, one of them writing."""

    def union(some: Sequence[Touch]) -> isl.UnionMap:
        total = isl.UnionMap("{ }")
        for touch in some:
            total = total.union(isl.UnionMap.from_map(touch.map))
        return total

    everything = union(there).reverse()
    writes = union([touch for touch in there if touch.is_write]).reverse()
    found = union([touch for touch in here if touch.is_write]).apply_range(everything)
    return found.union(union([touch for touch in here if not touch.is_write]).apply_range(writes))


def same_iteration(leaves: Sequence[Leaf], depth: int) -> isl.UnionMap:
    """Pairs of instances of the leaves in one and the same iteration of the outer loops."""
    known = {leaf.number: leaf for leaf in leaves}
    text = [
        f"{one.space} -> {other.space.replace('x', 'y')} : " + " and ".join(f"x{k} = y{k}" for k in range(depth))
        for one in known.values()
        for other in known.values()
    ]
    return isl.UnionMap("{ " + "; ".join(text) + " }")


# ---- the judgement ---------------------------------------------------------------------------------------------


def broken_by(kernel: Kernel, after: Kernel, strict: bool, known: Known | None = None) -> str | None:
    """None where `after` gives the same results as `kernel` in every call for which the guards of both hold, else the
    reason why it may not, in the user's words."""
    with LOCK:
        part = changed(kernel, after)
        if (marked := _marked(part)) is not None:
            return f"'{marked.name}' is marked to run {marked.run} already: that comes last in a schedule"
        try:
            notes = traced(kernel)
            if _repeats(kernel, part):
                return "an iteration would run more than once"
            if notes.state.overlap:
                return "arguments or fields overlap in memory, so that any write may change any of them"
            proof = _proof(kernel, notes, part, known)  # before the limit below: it has limits of its own
            with Effort(LIMIT, patient=True).bounded():
                scene = _scene(kernel, proof, strict, part)
                return _judge(scene, order_in(scene, after))
        except (isl.Error, TooHard):
            return "whether the order of the iterations may change is too hard to tell"


def _marked(part: Changed) -> For | None:
    """A loop with a mark (`parallel`, `vector`) that is not just as it was: the mark was proven for the loop there."""
    same = {id(stmt) for stmt in statements(part.after)}
    for stmt in statements(part.before, For):
        if stmt.run != "sequential" and id(stmt) not in same:
            return stmt
    return None


def _repeats(kernel: Kernel, part: Changed) -> bool:
    """Whether what stands around the part, and stays there, stands in it too."""
    inside = {id(stmt) for stmt in statements(part.before)}
    around = {id(stmt) for stmt in statements(kernel.body)} - inside
    return any(id(stmt) in around for stmt in statements(part.after))


def order_in(scene: Scene, after: Kernel) -> isl.UnionMap:
    """When the instances of a scene run in another kernel of the same statements."""
    inside = {loop.name for loop in statements(scene.part.after, For, While)}
    notes = glance(after, inside.union(scene.part.stack), scene.notes.state.table)
    by_stmt = {id(leaf.stmt): leaf for leaf in scene.leaves}
    written = {id(stmt) for stmt in statements(scene.part.before)}
    leaves = [leaf for leaf in leaves_of(scene.part.after, notes, written) if id(leaf.stmt) in by_stmt]
    fixed = fixed_in(notes, scene.part.stack)
    outer = {
        notes.loops[name].symbol.name: scene.notes.loops[name].symbol.name
        for name in scene.part.stack
        if name in notes.loops
    }
    length = max((len(leaf.path) for leaf in leaves), default=0)
    total = isl.UnionMap("{ }")
    for leaf in leaves:
        moved = _moved(by_stmt[id(leaf.stmt)], leaf, length, fixed)
        for new, old in outer.items():
            position = moved.find_dim_by_name(isl.dim_type.param, new)
            moved = moved if position < 0 else moved.set_dim_name(isl.dim_type.param, position, old)
        total = total.union(isl.UnionMap.from_map(moved))
    return total


def _moved(old: Leaf, new: Leaf, length: int, fixed: frozenset[str]) -> isl.Map:
    """The instances of a leaf -> when they run in the new kernel."""
    sources = [f"x{k}" for k in range(len(old.loops))]
    points = [_equal(x, new.values[note.loop.name]) for x, note in zip(sources, old.loops, strict=True)]
    times: list[str] = []
    for part in new.path:
        dim = f"t{len(times)}"
        times.append(dim)
        points.append(_when(dim, part) if isinstance(part, LoopNote) else Formula(f"{dim} = {part}", ()))
    times += [f"t{k}" for k in range(len(times), length)]
    points += [Formula(f"{dim} = 0", ()) for dim in times[len(new.path) :]]
    domain = [*(formula for note in new.loops for formula in note.domain), *new.where]
    whole = build(domain, [*sources, *times], points)
    whole = without(whole, set(parameters(whole)) - fixed)
    moved = isl.Map.from_range(whole).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, len(sources))
    return moved.set_tuple_name(isl.dim_type.in_, f"S{old.number}")


def _when(dim: str, note: LoopNote) -> Formula:
    """The time at which an iteration of a loop runs. In a loop with a stride its number, which orders the iterations as
    their values do: of two strides that begin at one value known only at run time, isl would make one remainder."""
    value = of_symbol(note.symbol)
    if abs(note.step) == 1:
        return _equal(dim if note.step > 0 else f"-{dim}", value)
    return _equal(f"{note.step}*{dim}", combine(value, note.lower, -1))


def _equal(dim: str, value: Affine) -> Formula:
    form = relate(value, "=", value)
    return Formula(f"{dim} = {value.text()}", form.symbols)


def _judge(scene: Scene, order: isl.UnionMap) -> str | None:
    if not order.is_single_valued():
        return "an iteration would run more than once"
    if not order.domain().is_equal(scene.order.domain()):
        return "not every iteration would run"
    times = _Times(order)
    for dependence in scene.dependences:
        turned = times.turned(dependence.pairs)
        if not turned.is_empty():
            return _turned(scene, dependence, turned)
        if dependence.own and _mixed(scene, dependence, order):
            return (
                f"'{user_name(dependence.place)}' holds a value for one iteration at a time, and iterations would mix"
            )
    return None


def _mixed(scene: Scene, dependence: Dependence, order: isl.UnionMap) -> bool:
    """Whether a value of one iteration may be overwritten by another iteration before its last use."""
    touches = dependence.touches
    writers = isl.UnionMap("{ }")
    for touch in touches:
        if touch.is_write:
            writers = writers.union(isl.UnionMap.from_map(touch.map))
    inside = order.intersect_domain(_instances(scene, touches))
    writing = order.intersect_domain(writers.domain().intersect(scene.order.domain()))
    same = same_iteration([touch.leaf for touch in touches], dependence.own)
    if _in_one_go(dependence.pairs, inside, writing, same):
        return False
    others = inside.lex_lt_union_map(writing).subtract(same)
    return not others.apply_range(writing.lex_lt_union_map(inside)).intersect(dependence.pairs).is_empty()


def _in_one_go(pairs: isl.UnionMap, inside: isl.UnionMap, writing: isl.UnionMap, same_iteration: isl.UnionMap) -> bool:
    """Whether all pairs agree on how their times begin, and whatever writes at a time that begins so belongs to the
    same iteration: only that runs between them then. True in most cases that are legal, and a hundred times faster to
    see than whether anything else runs between any two."""
    length = max((part.dim(isl.dim_type.out) for part in maps_of(inside)), default=0)
    for shared in range(length, 0, -1):
        times = [f"t{k}" for k in range(length)]
        begin = isl.UnionMap(f"{{ [{', '.join(times)}] -> [{', '.join(times[:shared])}] }}")
        begun = inside.apply_range(begin)
        if pairs.is_subset(begun.apply_range(begun.reverse())):
            return bool(begun.apply_range(writing.apply_range(begin).reverse()).is_subset(same_iteration))
    return False


def maps_of(pairs: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, one for each two spaces."""
    found: list[isl.Map] = []
    pairs.foreach_map(found.append)
    return found


def _instances(scene: Scene, touches: Sequence[Touch]) -> isl.UnionSet:
    total = isl.UnionSet("{ }")
    for leaf in {touch.leaf.number: touch.leaf for touch in touches}.values():
        total = total.union(isl.UnionSet.from_set(domain_of(leaf, scene.fixed)))
    return total


def _turned(scene: Scene, dependence: Dependence, turned: isl.UnionMap) -> str:
    """The two statements and two of their iterations, in the user's words."""
    pair = turned.sample()
    space = pair.get_space()
    numbers = [int(space.get_tuple_name(side)[1:]) for side in (isl.dim_type.in_, isl.dim_type.out)]
    first, second = (scene.leaves[number] for number in numbers)
    ends = [_point(isl.Set.from_basic_set(part)) for part in (pair.domain(), pair.range())]
    what = "elements of " if dependence.touches[0].map.dim(isl.dim_type.out) else ""
    return (
        f"{_where(first, ends[0])} and {_where(second, ends[1])} touch the same {what}'{user_name(dependence.place)}', "
        "and would change places"
    )


def _point(points: isl.Set) -> list[int]:
    point = points.sample_point()
    return [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(points.dim(isl.dim_type.set))]


def _where(leaf: Leaf, at: Sequence[int]) -> str:
    place = leaf.stmt.at
    line = f"line {place.line}" if place is not None else "a statement"
    names = [f"{user_name(note.loop.name)} = {value}" for note, value in zip(leaf.loops, at, strict=True)]
    return f"{line} at {', '.join(names)}" if names else line
