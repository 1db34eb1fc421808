"""The bytes that a grid moves at least between multiprocessors and the second cache: by sectors, for each warp.

The addresses are those of the first warp of the first block, in the first iteration of every loop: evaluated, thread by
thread, so that it does not matter how an index is written. What several accesses of one array at a constant distance
touch (the neighbours of a stencil) is counted once, as the first cache holds it, and so is what a thread reads again in
iterations that change nothing about the index. What several warps read counts for each of them. Where data decides
about an address, each thread has a sector of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from loopwright.analysis.coalescing import KnownSizes, byte_strides, warp_accesses
from loopwright.analysis.effort import LOCK
from loopwright.analysis.frequency import Frequencies
from loopwright.analysis.integers import KnownIntegers, value_of
from loopwright.analysis.trace import Access, Trace, traced
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.nodes import Allocate, Assign, Block, Body, For, If, Kernel, Load, Store
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import own_expressions, statements, subexpressions
from loopwright.steps.threads import THREADS, sharing_of


def bytes_moved(
    kernel: Kernel,
    nest: For,
    inside: Body,
    block: tuple[int, int, int],
    found: Frequencies,
    shape: KnownSizes,
    shared: frozenset[str],
    gpu: GpuTarget = CUDA,
) -> float:
    """Of all launches of one grid in a call. inside: what a block does. shared: its arrays in shared memory."""
    local = arrays_made(inside)
    places = _places(kernel, nest, block, shape, gpu.warp)
    loops = {stmt.name: stmt for stmt in statements(inside, For)}
    params = {param.name: param for param in kernel.arrays}
    groups: dict[object, float] = {}
    with LOCK:
        notes = traced(kernel)
        by_node = {id(access.node): access for access in notes.accesses}
        for one in warp_accesses(kernel, inside, block, shared, frozenset(local - shared), shape, gpu):
            access = by_node[id(one.node)]
            if one.memory == "shared":
                continue
            type_ = one.node.type if isinstance(one.node, Load) else one.node.value.type
            strides = byte_strides(access, params.get(access.array), type_, shape)
            at = places.get(id(one.node))
            if at:
                sectors, threads = _sectors(at, strides, one.bytes, type_.size_bytes, gpu.sector)
            else:  # in a branch, such as that of an edge, which the first block does not take
                sectors, threads = one.sectors or one.threads, max(1, one.threads)
            warps = _times(access, notes, loops, found) / threads / max(1, one.bytes // type_.size_bytes)
            key = _key(access)
            groups[key] = max(groups.get(key, 0.0), warps * sectors * gpu.sector)
    return sum(groups.values())


def _sectors(
    places: Sequence[tuple[int | None, ...]], strides: Sequence[int | None], width: int, element: int, sector: int
) -> tuple[int, int]:
    """How many sectors the threads of a warp touch at once, and how many of them take part."""
    starts = set()
    for place in places:
        parts = [i * s for i, s in zip(place, strides, strict=True) if i is not None and s is not None]
        if len(parts) < len(place):
            return len(places), len(places)
        starts.add(sum(parts))
    touched = {(start + byte) // sector for start in starts for byte in range(0, width, element)}
    return len(touched), len(places)


# ---- addresses --------------------------------------------------------------------------------------------------


def _places(
    kernel: Kernel, nest: For, block: tuple[int, int, int], shape: KnownSizes, warp: int
) -> dict[int, list[tuple[int | None, ...]]]:
    """The index of each access, by the identity of its node, for every thread of the first warp that comes to it."""
    x, y, z = block
    found: dict[int, list[tuple[int | None, ...]]] = {}
    for t in range(min(warp, x * y * z)):
        walk = _Thread(KnownIntegers.of(kernel, shape.sizes), (t % x, t // x % y, t // (x * y)), found)
        for stmt in statements(kernel.body):  # what stands outside: scalars, and the first iteration of loops
            if stmt is nest:
                break
            walk.enter(stmt)
        walk.body((nest,))
    return found


@dataclass(slots=True)
class _Thread:
    values: KnownIntegers
    place: tuple[int, int, int]
    found: dict[int, list[tuple[int | None, ...]]] = field(default_factory=dict)

    def enter(self, stmt: object) -> bool:
        """Take a statement's effect on scalars and loop variables; whether its body runs for this thread."""
        match stmt:
            case Assign():
                self.values.assign(stmt)
            case Allocate():
                self.values.allocate(stmt)
            case For():
                turns = self.values.turns(stmt)
                own = self.place["xyz".index(stmt.run[-1])] if stmt.run in THREADS else 0
                if turns is None or stmt.run not in THREADS:
                    first = None if turns is None else turns.start
                    self.values.numbers[stmt.name] = first
                    return turns is None or bool(turns)
                self.values.numbers[stmt.name] = turns.start + own * turns.step
                return own < min(len(turns), sharing_of(stmt))
        return True

    def body(self, body: Body) -> None:
        """Walk through what one thread does first."""
        for stmt in body:
            for expr in own_expressions(stmt):
                for part in subexpressions(expr, Load):
                    self._note(part)
            if isinstance(stmt, Store):
                self._note(stmt)
            runs = self.enter(stmt)
            if isinstance(stmt, If):
                taken = value_of(stmt.condition, self.values)
                for branch, wanted in ((stmt.then, 1), (stmt.otherwise, 0)):
                    if taken is None or taken == wanted:
                        self.body(branch)
            elif (isinstance(stmt, For) and runs) or isinstance(stmt, Block):
                self.body(stmt.body)

    def _note(self, node: Load | Store) -> None:
        self.found.setdefault(id(node), []).append(tuple(value_of(index, self.values) for index in node.index))


# ---- times ------------------------------------------------------------------------------------------------------


def _times(access: Access, notes: Trace, loops: Mapping[str, For], found: Frequencies) -> float:
    """How often threads touch an element, those times apart that change nothing about which one."""
    births = [symbol.birth for form in access.index for symbol in form.symbols]
    deepest = max(
        (access.stack.index(birth[-1]) for birth in births if birth and birth[-1] in access.stack), default=-1
    )
    again = [
        found.trips(name)
        for name in access.stack[deepest + 1 :]
        if name in loops and loops[name].run in ("sequential", "vector")
    ]
    return found.statements.get(id(access.stmt), 0.0) / max(1.0, prod(again))


def _key(access: Access) -> object:
    """The same for accesses at a constant distance."""
    return access.array, access.is_write, tuple(form.terms for form in access.index)
