"""Cycles that the execution units of a core need for the instructions of a nest, were all its data in registers and in
the first cache: from the loops, as a compiler that keeps to them would translate them.

What counts is the innermost loop and the short loops of constant length in it, which are written out. There, an element
that does not change from one iteration to the next stays in a register, while there are enough of these; a load that
several of the copies share is made once; the loop that is vectorised (marked so, or proven to need no order) does
`lanes` iterations at once where it goes by ones, or not at all, through memory, and the rest one by one.

A core issues four instructions per cycle, of these two loads, one store and two arithmetic ones, and an addition to a
sum waits four cycles for the one before it. A division or root holds its unit for six.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from loopwright.analysis.collapse import collapsed_with
from loopwright.analysis.facts import Facts
from loopwright.analysis.frequency import Frequencies
from loopwright.cost.operations import value_operations
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Assign, Body, Expr, For, Load, Stmt, Store, Var, While
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.recipe.target import CpuTarget
from loopwright.steps.extent import trip_of

ISSUED, LOADS, STORES, ARITHMETIC = 4, 2, 1, 2
"""Per cycle."""
LATENCY, SPECIAL = 4, 6
"""Cycles of an addition until the next one may use it; of a division or root, until the next one may begin."""
SHORT, WRITTEN_OUT = 64, 1024
"""Iterations of a loop that may be written out, and of all such loops together."""
OVERHEAD = 2
"""Instructions of a loop itself, for each iteration."""
ENTRY_CYCLES = 20
"""What it costs to come to an innermost loop and to leave it: setting up lanes, and a branch that is mispredicted."""
START_CYCLES = 5000
"""What it costs to start threads and to wait for the last one: a microsecond or two."""


def cycles(body: Body, facts: Facts, target: CpuTarget, threads: int, found: Frequencies) -> float:
    """Of the slowest thread, for the whole call."""
    return _Cycles(facts, target, threads, found).body(body, 1.0)


def share_of(loop: For, facts: Facts, threads: int, found: Frequencies) -> float:
    """Which part of a parallel loop's iterations the thread with the most of them has."""
    both = collapsed_with(loop, facts)
    trips = found.trips(loop.name) * (1.0 if both is None else found.trips(both.inner.name))
    return min(1.0, ceil(trips / threads) / trips) if trips > 0 else 1.0


@dataclass(frozen=True, slots=True)
class _Cycles:
    facts: Facts
    target: CpuTarget
    threads: int
    found: Frequencies

    def body(self, body: Body, share: float) -> float:
        return sum(self._statement(stmt, share) for stmt in body)

    def _statement(self, stmt: Stmt, share: float) -> float:
        times = self.found.statements.get(id(stmt), 0.0) * share
        if not isinstance(stmt, For | While):
            return times * self._alone(stmt) + sum(self.body(below, share) for below in bodies(stmt))
        iterations = self.found.iterations.get(stmt.name, 0.0) * share
        starts = 0.0
        if isinstance(stmt, For) and stmt.run == "parallel" and share == 1.0:
            share = share_of(stmt, self.facts, self.threads, self.found)
            iterations *= share
            starts = times * START_CYCLES * (self.threads > 1)
        if isinstance(stmt, For) and (inner := _written_out(stmt)) is not None:
            entries = times * (share_of(stmt, self.facts, self.threads, self.found) if starts else 1.0)
            return starts + entries * ENTRY_CYCLES + iterations * _Inner.of(stmt, inner, self).per_iteration()
        return starts + iterations * OVERHEAD / ISSUED + self.body(stmt.body, share)

    def _alone(self, stmt: Stmt) -> float:
        """A statement outside of all innermost loops."""
        loads = sum(1 for expr in own_expressions(stmt) for _ in subexpressions(expr, Load))
        operations = value_operations(stmt)
        arithmetic, special = operations.arithmetic, operations.special
        return (loads + isinstance(stmt, Store) + arithmetic) / ISSUED + special * SPECIAL


def _written_out(loop: For) -> list[For] | None:
    """The loops inside, where each is short and of constant length; None where one is not."""
    inner = list(statements(loop.body, For, While))
    trips = [trip_of(stmt) if isinstance(stmt, For) else None for stmt in inner]
    if any(trip is None or trip > SHORT for trip in trips):
        return None
    deepest = max((prod(trip_of(one) or 1 for one in chain) for chain in _chains(loop.body)), default=1)
    return [stmt for stmt in inner if isinstance(stmt, For)] if deepest <= WRITTEN_OUT else None


def _chains(body: Body) -> Iterator[tuple[For, ...]]:
    """Loops in one another."""
    for stmt in body:
        below = [chain for part in bodies(stmt) for chain in _chains(part)]
        if isinstance(stmt, For):
            yield from ((stmt, *chain) for chain in below or [()])
        else:
            yield from below


@dataclass(frozen=True, slots=True)
class _Touch:
    """An access in an innermost loop. loops: those of the group that its index depends on. around: those of the group
    around it."""

    node: Load | Store
    loops: frozenset[str]
    around: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Inner:
    """An innermost loop and the loops written out in it. vector: the one that is done in lanes, or ''. trips: of each,
    those of the innermost loop itself being the mean. touches: each element once; all: every statement with the loops
    around it."""

    loop: str
    vector: str
    lanes: int
    trips: dict[str, float]
    touches: tuple[_Touch, ...]
    all: tuple[tuple[Stmt, frozenset[str]], ...]
    registers: int

    @classmethod
    def of(cls, loop: For, inner: Sequence[For], about: _Cycles) -> _Inner:
        trips = {one.name: float(trip_of(one) or 1) for one in inner}
        trips[loop.name] = max(1.0, about.found.trips(loop.name))
        every = tuple(_with_loops(loop.body, frozenset((loop.name,))))
        depends: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in trips}
        touches: dict[object, _Touch] = {}
        for stmt, around in every:
            if isinstance(stmt, Assign):
                depends[stmt.name] = depends.get(stmt.name, frozenset()) | _loops((stmt.value,), depends)
            for node in _accesses(stmt):
                key = node.array, node.index, isinstance(node, Store)
                touches.setdefault(key, _Touch(node, _loops(node.index, depends) & around, around))
        sizes = [_element_bytes(touch.node) for touch in touches.values()] or [8]
        lanes = max(1, about.target.vector_bytes // max(sizes))
        vector = _vector(loop, inner, about.facts)
        return cls(loop.name, vector, lanes, trips, tuple(touches.values()), every, about.target.registers)

    def per_iteration(self) -> float:
        """Cycles for one iteration of the innermost loop."""
        # An element that is read and written is in one register; operands on their way take three more.
        same = {(touch.node.array, touch.node.index): touch.loops for touch in self.touches}
        kept = sum(self._copies(loops) for loops in same.values() if self.loop not in loops)
        held = min(1.0, max(0.0, self.registers - 3.0) / kept) if kept else 1.0  # the others go through the first cache
        loads = self._moves(Load, held)
        stores = self._moves(Store, held)
        arithmetic = special = waiting = 0.0
        for stmt, around in self.all:
            operations, copies = value_operations(stmt), self._copies(around)
            arithmetic += operations.arithmetic * copies
            special += operations.special * copies
            waiting = max(waiting, self._chain(stmt, around))
        issued = (loads + stores + arithmetic + special + OVERHEAD * self._copies(frozenset((self.loop,)))) / ISSUED
        return max(issued, loads / LOADS, stores / STORES, arithmetic / ARITHMETIC, special * SPECIAL, waiting)

    def _copies(self, loops: frozenset[str]) -> float:
        """How many instructions it takes for what differs in each iteration of these loops, per iteration of the
        innermost one."""
        total = 1.0
        for name in loops:
            trips = self.trips[name]
            turns = trips // self.lanes + trips % self.lanes if name == self.vector else trips
            total *= turns / trips if name == self.loop else turns
        return total

    def _moves(self, kind: type[Load] | type[Store], held: float) -> float:
        """Loads or stores per iteration. held: the part of what stays in one place that a register has."""
        total = 0.0
        for touch in self.touches:
            if isinstance(touch.node, kind):
                copies = self._copies(touch.loops)
                if self.vector in touch.loops and not self._by_ones(touch.node):
                    copies *= self.lanes  # each lane for itself
                if self.loop not in touch.loops:
                    copies *= 1 - held + held / self.trips[self.loop]  # before the loop, and after it
                total += copies
        return total

    def _by_ones(self, node: Load | Store) -> bool:
        slopes = [coefficient(index, self.vector, converted=True) for index in node.index]
        return slopes[-1] in (1, -1) and not any(slopes[:-1])

    def _chain(self, stmt: Stmt, around: frozenset[str]) -> float:
        """Cycles that updates of one element wait for one another, in one iteration."""
        match stmt:
            case Store():
                own = list(subexpressions(stmt.value, Load))
                if not any(part.array == stmt.array and part.index == stmt.index for part in own):
                    return 0.0
                loops = next(touch.loops for touch in self.touches if touch.node.array == stmt.array
                             and touch.node.index == stmt.index)  # fmt: skip
            case Assign():
                if not any(isinstance(part, Var) and part.name == stmt.name for part in subexpressions(stmt.value)):
                    return 0.0
                loops = frozenset()
            case _:
                return 0.0
        return 0.0 if self.loop in loops else LATENCY * self._copies(around - loops)


def _with_loops(body: Body, around: frozenset[str]) -> Iterator[tuple[Stmt, frozenset[str]]]:
    for stmt in body:
        if not isinstance(stmt, For):
            yield stmt, around
        for below in bodies(stmt):
            yield from _with_loops(below, around | {stmt.name} if isinstance(stmt, For) else around)


def _accesses(stmt: Stmt) -> Iterator[Load | Store]:
    for expr in own_expressions(stmt):
        yield from (part for part in subexpressions(expr, Load))
    if isinstance(stmt, Store):
        yield stmt


def _loops(exprs: Sequence[Expr], depends: dict[str, frozenset[str]]) -> frozenset[str]:
    parts = (part for expr in exprs for part in subexpressions(expr, Var))
    return frozenset().union(*(depends.get(part.name, frozenset()) for part in parts))


def _element_bytes(node: Load | Store) -> int:
    return (node.type if isinstance(node, Load) else node.value.type).size_bytes


def _vector(loop: For, inner: Sequence[For], facts: Facts) -> str:
    """The loop that is done in lanes: one marked so, or a last one that is proven to need no order."""
    marked = [one for one in (*inner, loop) if one.run == "vector"]
    if marked:
        return marked[0].name
    last = inner[-1] if inner else loop
    found = facts.loops.get(last.name)
    return last.name if found is not None and found.verdict == "parallel" else ""
