"""Which statements of a nest have to share loops, and which can have loops of their own, in which order: the strongly
connected components of the dependence graph, loop by loop from outside (Allen and Kennedy, Optimizing Compilers for
Modern Architectures, 2.5).

At a loop two statements need one another where each depends on the other one in some iteration of the loops from there
on; what is carried by a loop around is in order whatever happens inside. A scalar that belongs to one iteration ties
all statements that use it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopwright.analysis import isl
from loopwright.analysis.changed import Changed
from loopwright.analysis.effort import LOCK, Effort, TooHard
from loopwright.analysis.instances import Leaf
from loopwright.analysis.order import LIMIT, Scene, same_iteration, scene_of
from loopwright.ir.nodes import Assign, For, Kernel, Stmt, Store


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop, and what has to stay in it, in an order that keeps all dependences."""

    loop: For
    parts: tuple[SharedLoop | Stmt, ...]


Edges = Mapping[int, frozenset[int]]
"""For each statement, by number, those that must come after it."""


Parts = tuple[SharedLoop | Stmt, ...]

_LAST: list[tuple[Kernel, For, tuple[str, ...], Parts | None]] = []
"""The last answer: whether a step is legal is asked before it is applied."""


def distributed(kernel: Kernel, loop: For, around: tuple[str, ...], targets: tuple[str, ...]) -> Parts | None:
    """The nest as loops that share nothing they need not share, where sums keep their order; None where that is too
    hard to tell. around: the names of the loops around it, outermost first; targets: what sets none of these scalars
    and arrays shares loops as far as it can; () where nothing does."""
    with LOCK:
        for known, asked, apart, found in _LAST:
            if known is kernel and asked is loop and apart == targets:
                return found
        found = _distributed(kernel, loop, around, targets)
        _LAST[:] = [(kernel, loop, targets, found)]
        return found


def _distributed(kernel: Kernel, loop: For, around: tuple[str, ...], targets: tuple[str, ...]) -> Parts | None:
    try:
        with Effort(LIMIT, patient=True).bounded():
            scene = scene_of(kernel, strict=True, part=Changed(around, (loop,), (loop,)))
            return _parts(scene, scene.leaves, targets, 0)
    except (isl.Error, TooHard):
        return None


def _parts(scene: Scene, leaves: Sequence[Leaf], targets: tuple[str, ...], level: int) -> Parts | None:
    found: list[SharedLoop | Stmt] = []
    edges = _edges(scene, leaves, level)
    groups = components([leaf.number for leaf in leaves], edges)
    if targets:
        rest = {leaf.number for leaf in leaves if not _sets(leaf, targets)}
        groups = together(groups, edges, rest)
    for numbers in groups:
        group = [leaf for leaf in leaves if leaf.number in numbers]
        while group:  # those that stand together, but not in one loop, follow one another
            first = group[0]
            if len(first.loops) == level:
                found.append(first.stmt)
                group = group[1:]
                continue
            note = first.loops[level]
            same = [leaf for leaf in group if len(leaf.loops) > level and leaf.loops[level] is note]
            inside = _parts(scene, same, targets, level + 1)
            if inside is None or group[: len(same)] != same:
                return None
            found.append(SharedLoop(note.loop, inside))
            group = group[len(same) :]
    return tuple(found)


def _sets(leaf: Leaf, targets: tuple[str, ...]) -> bool:
    match leaf.stmt:
        case Assign(name=name) | Store(array=name):
            return name in targets
    return False


def _edges(scene: Scene, leaves: Sequence[Leaf], level: int) -> Edges:
    """What must come after what within one iteration of the outer loops."""
    numbers = {leaf.number for leaf in leaves}
    found: dict[int, set[int]] = {number: set() for number in numbers}
    here = same_iteration(leaves, level) if level else None
    for one in scene.dependences:
        pairs: list[tuple[int, int]] = []
        if one.own > level:
            using = sorted({touch.leaf.number for touch in one.touches} & numbers)
            pairs = [(first, second) for first in using for second in using]
        else:
            maps = (one.pairs if here is None else one.pairs.intersect(here)).get_map_list()
            for at in range(maps.n_map()):
                if not (pair := maps.get_at(at)).is_empty():
                    sides = (isl.dim_type.in_, isl.dim_type.out)
                    first, second = (int(pair.get_tuple_name(side)[1:]) for side in sides)
                    pairs.append((first, second))
        for first, second in pairs:
            if first != second:
                found[first].add(second)
    return {number: frozenset(after) for number, after in found.items()}


def components(numbers: Sequence[int], edges: Edges) -> list[frozenset[int]]:
    """The strongly connected components of a graph, each before those that come after it; of several that might come
    next, the one with the least number."""
    reached = {number: _reached(number, edges) for number in numbers}
    groups = {frozenset({one, *(other for other in reached[one] if one in reached[other])}) for one in numbers}
    found: list[frozenset[int]] = []
    while groups:
        free = [group for group in groups if not any(_leads(other, group, edges) for other in groups - {group})]
        found.append(min(free, key=min))
        groups.remove(found[-1])
    return found


def together(groups: Sequence[frozenset[int]], edges: Edges, rest: Collection[int]) -> list[frozenset[int]]:
    """The groups, in an order that edges allow, with those that consist of the rest united where nothing that stays
    apart has to come between them."""
    found: list[set[int]] = []
    for group in groups:
        behind = max((at for at, one in enumerate(found) if _leads(one, group, edges)), default=-1)
        here = next((one for one in found[max(behind, 0) :] if one <= set(rest)), None)
        if group <= set(rest) and here is not None:
            here |= group
        else:
            found.append(set(group))
    return [frozenset(one) for one in found]


def _reached(number: int, edges: Edges) -> frozenset[int]:
    seen: set[int] = set()
    waiting = [*edges[number]]
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            waiting += edges[one]
    return frozenset(seen)


def _leads(one: Iterable[int], other: Collection[int], edges: Edges) -> bool:
    return any(not edges[number].isdisjoint(other) for number in one)
