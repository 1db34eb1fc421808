"""`analyse`: everything that can be proven about a kernel, in one straight line. It owns the verdict of each loop."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.bounds import prove
from loopwright.analysis.decimation import is_decimated
from loopwright.analysis.dependence import Elements, apart, carried, meetings
from loopwright.analysis.effort import LOCK, TooHard
from loopwright.analysis.extremes import extremes
from loopwright.analysis.facts import Bounds, Conflict, Facts, Known, LoopFacts, Reduction, ReductionKind, Verdict
from loopwright.analysis.guard import both, guard_of
from loopwright.analysis.irregular import access_facts
from loopwright.analysis.local_arrays import is_private
from loopwright.analysis.pairs import in_pairs
from loopwright.analysis.reductions import (
    NotAReduction,
    array_updates,
    flag_reduction,
    is_exact,
    one_op,
    scalar_reduction,
)
from loopwright.analysis.same_value import set_alike
from loopwright.analysis.scalars import Names, Scalars, live_after, scalars_of
from loopwright.analysis.shifted_indices import shifted_apart
from loopwright.analysis.trace import Access, LoopNote, Trace, escapes, keep, trace
from loopwright.analysis.wording import conflict_of, reason_of, trip_count
from loopwright.ir.nodes import Allocate, Break, Checked, Continue, For, Kernel, Load, Store, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements


def analyse(kernel: Kernel) -> Facts:
    """The facts of a kernel: a verdict for each loop, bounds of each access and check, and the guard they rest on.

    The verdicts rest on the guard too: where it does not hold, every loop must run in order.
    """
    with LOCK:
        notes = trace(kernel)
        proof = prove(kernel, notes)  # first, because it knows which indices never count from the end
        scene = _LoopQuestions(kernel, notes, Elements(proof), live_after(kernel))
        verdicts = {name: _verdict(scene, loop) for name, loop in loops(kernel).items()}
        known = _by_key(kernel, proof.bounds)
        guard = guard_of(proof)
        return Facts(verdicts, access_facts(kernel, notes), guard, proof.bounds, known)


def analyse_restructured(kernel: Kernel, facts: Facts) -> Facts:
    """The facts of a kernel made by steps from another one, whose `facts` these are: the steps run every access of it
    for the same values, so that bounds hold on, and with them the guard; what is new in the kernel adds to it. Verdicts
    are found when they are asked for."""
    with LOCK:
        notes = trace(kernel)
        proof = prove(kernel, notes, known=facts.known, given=facts.guard.passing)
        scene = _LoopQuestions(kernel, notes, Elements(proof), live_after(kernel))
        guard = both(facts.guard, guard_of(proof))
        keep(kernel, notes)
        known = _by_key(kernel, proof.bounds)
        return replace(
            facts,
            loops=_Verdicts(scene),
            accesses=access_facts(kernel, notes),
            guard=guard,
            bounds=proof.bounds,
            known=known,
        )


def apart_from(kernel: Kernel, facts: Facts, loop: For, values: Collection[str], arrays: Collection[str]) -> LoopFacts:
    """What would be known of a loop of a kernel, whose `facts` these are, if each iteration were given the values of
    these scalars at its beginning, and no two wrote the same element of these arrays."""
    with LOCK:
        notes = trace(kernel)
        proof = prove(kernel, notes, known=facts.known)
        scene = _LoopQuestions(kernel, notes, Elements(proof), live_after(kernel), frozenset(values), frozenset(arrays))
        return _verdict(scene, loop)


def _by_key(kernel: Kernel, bounds_of: Mapping[int, tuple[Bounds, ...]]) -> Known:
    """The bounds of a kernel's accesses and checks by their keys; where several have one key, only if all agree."""
    found: dict[tuple[object, str], tuple[Bounds, ...]] = {}
    differing: set[tuple[object, str]] = set()
    for node in (*expressions(kernel.body, Load, Checked), *statements(kernel.body, Store)):
        if id(node) in bounds_of:
            key = (node.key, "" if isinstance(node, Checked) else node.array)
            bounds = bounds_of[id(node)]
            if found.setdefault(key, bounds) != bounds:
                differing.add(key)
    return {key: bounds for key, bounds in found.items() if key not in differing}


class _Verdicts(Mapping[str, LoopFacts]):
    """The verdict of each loop, found when it is first asked for: of many copies of a loop few are looked at."""

    def __init__(self, scene: _LoopQuestions) -> None:
        self._scene = scene
        self._loops = loops(scene.kernel)
        self._found: dict[str, LoopFacts] = {}

    def __getitem__(self, name: str) -> LoopFacts:
        if name not in self._found:
            with LOCK:
                self._found[name] = _verdict(self._scene, self._loops[name])
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._loops

    def __iter__(self) -> Iterator[str]:
        return iter(self._loops)

    def __len__(self) -> int:
        return len(self._loops)


@dataclass(frozen=True, slots=True)
class _LoopQuestions:
    """What the questions about every loop share. given: scalars whose values at the beginning of each iteration are
    known; distinct: arrays of which no two iterations write the same element."""

    kernel: Kernel
    notes: Trace
    elements: Elements
    live: Mapping[str, Names]
    given: frozenset[str] = frozenset()
    distinct: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """Why a loop cannot simply be parallel."""

    verdict: Verdict
    reason: str
    conflict: Conflict | None = None


def _verdict(scene: _LoopQuestions, loop: For | While) -> LoopFacts:
    scalars = scalars_of(loop, scene.live[loop.name])
    local = [stmt.array for stmt in statements(loop.body, Allocate)]
    reductions = list(_extremes(scene, loop, scalars))
    done = {reduction.target for reduction in reductions}
    flags = {name: flag_reduction(scene.kernel, loop, name) for name in scalars.flags if name not in done}
    reductions += [found for found in flags.values() if found is not None]
    alike: list[str] = []
    obstacles = [*_form_obstacles(scene, loop), *_scalar_obstacles(scene, loop, scalars, reductions)]
    obstacles += [_not_each_time(name) for name, found in flags.items() if found is None]
    independent = isinstance(loop, For) and loop.asserted == "independent"
    if isinstance(loop, For) and not independent and all(obstacle.verdict != "sequential" for obstacle in obstacles):
        obstacles += _array_obstacles(scene, loop, local, reductions, alike)
    worst = min(obstacles, key=lambda obstacle: obstacle.verdict != "sequential", default=None)
    private = (*scalars.private, *local)
    if worst is None:
        verdict: Verdict = "reduction" if reductions else "parallel"
        worst = _Obstacle(verdict, _praise(loop, reductions, alike))
    return LoopFacts(
        loop.name,
        worst.verdict,
        worst.reason,
        private,
        scalars.last,
        () if worst.verdict == "sequential" else tuple(reductions),
        worst.conflict,
        trip_count(loop),
        loop.at,
        loop,
        () if worst.verdict == "sequential" else tuple(alike),
    )


def _praise(loop: For | While, reductions: Sequence[Reduction], alike: Sequence[str]) -> str:
    if not reductions and alike:
        targets = " and ".join(f"'{user_name(name)}'" for name in alike)
        return f"iterations meet only in {targets}, whose elements they all set to the same value"
    if not reductions:
        return "no iteration touches what another one writes"
    targets = " and ".join(f"'{name}'" for name in dict.fromkeys(user_name(r.target) for r in reductions))
    return f"iterations meet only in {targets}, where the order does not matter"


def _form_obstacles(scene: _LoopQuestions, loop: For | While) -> Iterator[_Obstacle]:
    """What the form of the loop alone forbids."""
    if isinstance(loop, While):
        yield _Obstacle("sequential", "a while loop finds out only after each iteration whether there is another")
        return
    for stmt in loop.body:
        for jump in escapes(stmt):
            if not (isinstance(jump, Continue) and jump.loop == loop.name):
                word = "break" if isinstance(jump, Break) else "return"
                yield _Obstacle("sequential", f"'{word}' can end the loop before its last iteration")
    params = {array.name for array in scene.kernel.arrays}
    stores = (s for s in statements(loop.body, Store) if s.array in params)
    if scene.notes.state.overlap and any(stores):
        yield _Obstacle("sequential", "arguments overlap in memory, so that a write may change any of them")


def _scalar_obstacles(
    scene: _LoopQuestions, loop: For | While, scalars: Scalars, reductions: list[Reduction]
) -> Iterator[_Obstacle]:
    """Scalars that tie iterations together; those that are reductions are added to the list instead."""
    done = {reduction.target for reduction in reductions} | scene.given
    for name in (name for name in scalars.carried if name not in done):
        try:
            reductions.append(scalar_reduction(loop, name, scene.notes.state.types[name]))
        except NotAReduction as why:
            yield _Obstacle("sequential", f"each iteration needs '{user_name(name)}' of the one before, which {why}")
    yield from (_not_each_time(name) for name in scalars.kept if name not in done)


def _not_each_time(name: str) -> _Obstacle:
    return _Obstacle(
        "sequential", f"'{user_name(name)}' is read after the loop, but not every iteration gives it a value"
    )


def _array_obstacles(
    scene: _LoopQuestions, loop: For, local: list[str], reductions: list[Reduction], alike: list[str]
) -> Iterator[_Obstacle]:
    """Arrays that tie iterations together; those that are private, reductions or set alike are added to the lists
    instead."""
    note = scene.notes.loops[loop.name]
    for array, accesses in _by_array(scene.notes, loop.name).items():
        if array in local or array in scene.distinct or not any(access.is_write for access in accesses):
            continue
        obstacle = _array_obstacle(scene, note, accesses)
        if obstacle is None or _is_exchanged(scene, note, array) or _is_told_by_indices(scene, note, accesses):
            continue
        if _is_private(scene, loop, array):
            local.append(array)
            continue
        if set_alike(loop, array):
            alike.append(array)
            continue
        try:
            reductions.append(_array_reduction(scene, note, accesses))
        except (NotAReduction, TooHard):
            yield obstacle
            if obstacle.verdict == "sequential":
                return  # nothing that others say can change that


def _is_exchanged(scene: _LoopQuestions, note: LoopNote, array: str) -> bool:
    try:
        with scene.elements.proof.effort.bounded():
            return in_pairs(scene.notes, note, array)
    except TooHard:
        return False


def _is_told_by_indices(scene: _LoopQuestions, note: LoopNote, accesses: Sequence[Access]) -> bool:
    def never_from_end(access: Access, axis: int) -> bool:
        bounds = scene.elements.proof.bounds[id(access.node)][axis]
        return bounds.kind == "proven" or not bounds.may_be_negative

    try:
        with scene.elements.proof.effort.bounded():
            return shifted_apart(scene.notes, note, accesses, never_from_end) or is_decimated(
                note, accesses, never_from_end
            )
    except TooHard:
        return False


def _is_private(scene: _LoopQuestions, loop: For, array: str) -> bool:
    if not any(isinstance(stmt, Allocate) and stmt.array == array for stmt in statements(scene.kernel.body)):
        return False
    accesses = [access for access in scene.notes.accesses if access.array == array]
    try:
        with scene.elements.proof.effort.bounded():
            return is_private(scene.elements, scene.notes, loop.name, accesses)
    except TooHard:
        return False


def _array_obstacle(scene: _LoopQuestions, note: LoopNote, accesses: Sequence[Access]) -> _Obstacle | None:
    try:
        with scene.elements.proof.effort.bounded():
            if not carried(scene.elements, note, accesses):
                return None
            meeting = next(meetings(scene.elements, note, accesses))
    except TooHard:
        array = accesses[0].array
        return _Obstacle(
            "undecided",
            f"which elements of '{user_name(array)}' an iteration touches is too hard to tell within the budget of the "
            "analysis",
        )
    verdict: Verdict = "sequential" if meeting.certain else "undecided"
    return _Obstacle(verdict, reason_of(meeting, note.loop.name, note.step), conflict_of(meeting))


def _array_reduction(scene: _LoopQuestions, note: LoopNote, accesses: Sequence[Access]) -> Reduction:
    """The reduction into an array. Raises NotAReduction, TooHard."""
    store = next(access.node for access in accesses if isinstance(access.node, Store))
    array, type_ = store.array, store.value.type
    updates = array_updates(note.loop, array, type_)
    nodes = {id(node) for update in updates for node in (update.stmt, *update.reads)}
    ours = [access for access in accesses if id(access.node) in nodes]
    others = [access for access in accesses if id(access.node) not in nodes]
    if others:
        with scene.elements.proof.effort.bounded():
            if not apart(scene.elements, note, ours, others):
                raise NotAReduction("is updated and also read")
            if any(access.is_write for access in others) and carried(scene.elements, note, others):
                raise NotAReduction("is updated and also written")
    indices = {access.node.index for access in ours if access.is_write}
    varying = any(note.loop.name in s.birth for access in ours for form in access.index for s in form.symbols)
    op = one_op(updates)
    kind: ReductionKind = "scatter" if varying or len(indices) > 1 else "element"
    return Reduction(array, op, kind, is_exact(op, type_), not others)


def _by_array(notes: Trace, loop: str) -> dict[str, list[Access]]:
    groups: dict[str, list[Access]] = {}
    for access in notes.accesses:
        if loop in access.stack:
            groups.setdefault(access.array, []).append(access)
    return groups


def _extremes(scene: _LoopQuestions, loop: For | While, scalars: Scalars) -> Iterator[Reduction]:
    """Extremes with what goes along, of which something is read after the loop."""
    bounds = scene.elements.proof.bounds
    for found in extremes(loop):
        parts = (part for part in expressions(found.stmt.then, Load, Checked))
        if any(one.kind != "proven" for part in parts for one in bounds[id(part)]):
            continue
        tie = found.tie if not found.position else "least" if found.tie == "first" else "greatest"
        for name in (found.best, *found.others):
            if name not in scalars.private:
                yield Reduction(name, found.op, "scalar", True, by=found.best, tie=tie, position=found.position)
