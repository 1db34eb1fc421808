"""Calls of one loop that GPUs in virtual time share: the product cuts the loop into regions, divides their iterations
and says what is copied (`SharedCall`, `Division`), at any size, since arrays have shapes here and no elements."""

from __future__ import annotations

import mmap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count as numbers_from
from math import prod
from statistics import median
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.many_cases import ENTRIES, ManyCase, length_of
from benchmarks.part_work import RegionWork
from benchmarks.virtual_gpus import Machine, Rates, VirtualRegion, together
from loopwright import region_code
from loopwright.choice.division import Assignment, Division
from loopwright.compiler import Analysed
from loopwright.devices.base import Executable
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.program import Program
from loopwright.memory.array_copies import ArrayCopies
from loopwright.memory.region_call import RegionProgram
from loopwright.runtime.part_sources import EvenParts, FixedParts
from loopwright.runtime.participants import Participant
from loopwright.runtime.region_plans import RegionPlans
from loopwright.runtime.shared_call import SharedCall

PROBED = 16
"""Lengths at which it is seen how the axes of a case's arguments depend on them."""
TINY = 0.004
"""The scale at which loops are compiled: the code is the same for all sizes."""
LEARNED_IN = 40
"""Calls in which a Division learns before what it decides counts."""


def hollow(shape: Sequence[int], dtype: Any) -> Any:
    """An array that nobody can write to, and whose memory is therefore only promised."""
    size = max(1, prod(shape) * np.dtype(dtype).itemsize)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    return np.frombuffer(memory, dtype, count=prod(shape)).reshape(shape)


def hollow_arguments(case: ManyCase, scale: float) -> tuple[Any, ...]:
    """The arguments of a case, without elements. Axes and whole numbers are sums of multiples of its lengths, which
    are found with small ones. Raises ValueError where they are not."""
    wholes: list[int] = []

    def probe(more: Mapping[int, int]) -> list[list[int]]:
        place = numbers_from()
        wholes.clear()

        def length(whole: int) -> int:
            wholes.append(whole)
            return PROBED + more.get(next(place), 0)

        found = case.arguments(length)
        return [list(one.shape) if isinstance(one, np.ndarray) else [one] for one in found]

    base = probe({})
    ones = [probe({k: 1}) for k in range(len(wholes))]

    def told(more: Sequence[int]) -> list[list[Any]]:
        return [
            [
                value + sum((one[p][axis] - value) * by for one, by in zip(ones, more, strict=True))
                if isinstance(value, int)
                else value
                for axis, value in enumerate(values)
            ]
            for p, values in enumerate(base)
        ]

    other = [k + 2 for k in range(len(wholes))]
    if told(other) != probe(dict(enumerate(other))):
        raise ValueError(f"{case.name}: its axes are not sums of multiples of its lengths")
    values = told([length_of(scale, whole) - PROBED for whole in wholes])
    kinds = case.arguments(lambda whole: PROBED)
    return tuple(
        hollow(value, kind.dtype) if isinstance(kind, np.ndarray) else value[0]
        for value, kind in zip(values, kinds, strict=True)
    )


@dataclass(frozen=True, slots=True)
class CompiledLoop:
    """A loop in regions for a GPU, without machine code. Raises ValueError where the host itself has a part in it."""

    program: RegionProgram
    work: tuple[RegionWork, ...]
    rates: Rates

    @classmethod
    def of(cls, case: ManyCase, rates: Rates) -> CompiledLoop:
        given = case.arguments(TINY)
        with lw.options(devices="cpu, emulated"):
            compiled: Any = case.kernel._dispatch.prepare(given, {}).compiled
        wanted = compiled.compilation._replace(device="cuda")
        found = replace(compiled.analysed, facts=replace(compiled.analysed.facts, gpu=CUDA))
        regions = region_code.regions(found, wanted)
        if regions is None or any(region.loop is None for region in regions.cut.regions.values()):
            raise ValueError(f"{case.name}: GPUs cannot share it by themselves")
        made: dict[int, Analysed] = {}

        def load(analysed: Analysed, program: Program) -> Executable:
            executable = Executable(program, None, 0, 0)  # type: ignore[arg-type]
            made[id(executable)] = analysed
            return executable

        program = region_code.region_program(found, regions, wanted, load)
        if None in program.codes:
            raise ValueError(f"{case.name}: a region of it cannot run on a GPU")
        first = program.first + program.numbers - 2
        codes = [code for code in program.codes if code is not None]
        return cls(
            program, tuple(RegionWork(made[id(one.executable)], one, rates, first, ENTRIES) for one in codes), rates
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call. busy_ns: as the product has it; computes_ns, copies_ns, waits_ns, done: of each GPU. moved: bytes, and
    how many copies, by source and target, the host being 'cpu'. shared_s: process time of the product, for real."""

    total_ns: float
    busy_ns: tuple[int, ...]
    computes_ns: tuple[float, ...]
    copies_ns: tuple[float, ...]
    waits_ns: tuple[float, ...]
    done: tuple[int, ...]
    moved: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    python_ns: float = 0.0
    shared_s: float = 0.0

    def turned(self, place: int) -> Outcome:
        """The same of another GPU, where one did all."""
        busy, done = list(self.busy_ns), list(self.done)
        busy[0], busy[place], done[0], done[place] = busy[place], busy[0], done[place], done[0]
        return replace(self, busy_ns=tuple(busy), done=tuple(done))

    @property
    def imbalance(self) -> float:
        """As reports have it."""
        busy = [time for time, part in zip(self.busy_ns, self.done, strict=True) if part]
        return 1 - min(busy) / max(busy) if busy and max(busy) else 0.0


class SimulatedLoop:
    """One loop of one size on so many GPUs. resident: arrays stay with them between calls, and are on all of them at
    first; else they are the host's."""

    def __init__(self, loop: CompiledLoop, arguments: Sequence[Any], count: int, resident: bool) -> None:
        self.machine = Machine(loop.rates, count)
        self._loop, self.arguments, self.resident = loop, tuple(arguments), resident
        self._copies: dict[int, ArrayCopies] = {}
        if resident and count > 1:
            arrays = [(k, one) for k, one in enumerate(arguments) if isinstance(one, np.ndarray)]
            self._copies = {position: ArrayCopies(one, None) for position, one in arrays}
            for copies in self._copies.values():
                for gpu in self.machine.gpus:
                    copies.valid[f"gpu{gpu.number}"].add(copies.whole)
        self._known = RegionPlans()
        self._takes: dict[tuple[object, ...], float] = {}

    def on_one(self) -> Outcome:
        """How the product makes the call on one GPU: in pieces where it has one region, and arrays are the host's."""
        return self.alone() if self.resident or len(self._loop.work) > 1 else Calls(self).even

    @property
    def size_bytes(self) -> int:
        """Of all arrays: each GPU has memory for all of each."""
        return sum(one.nbytes for one in self.arguments if isinstance(one, np.ndarray))

    def takes_ns(self, number: int, everything: Sequence[Any]) -> float:
        """What a part of a region takes once its kernel has begun."""
        key = number, *(one if isinstance(one, int) else None for one in everything)
        if key not in self._takes:
            work = self._loop.work[number]
            found = list(everything)
            for position, one in work.code.partial.items():
                found[position] = np.empty(1, one.dtype) if one.update is None else found[position]
            self._takes[key] = work.of(found).takes_ns(self._loop.rates)
        return self._takes[key]

    def alone(self) -> Outcome:
        """On one GPU: the code of the host starts one kernel after the other. Arrays of the host are copied there
        before, and those that are written back after."""
        machine, program = self.machine, self._loop.program
        (gpu,) = machine.gpus
        machine.forget()
        machine.ask(machine.rates.call_us)
        codes = [code for code in program.codes if code is not None]
        used = {k: self.arguments[k] for code in codes for k in code.reach if k < len(self.arguments)}
        written = {k for code in codes for k in code.written} & set(used)
        up = [] if self.resident else [one for one in used.values() if isinstance(one, np.ndarray)]
        down = [] if self.resident else [used[k] for k in written]
        for array in up:
            gpu.upload(0, array)
        program.run(self.arguments, OneAfterTheOther(self))
        for array in down:
            gpu.download(array, 0)
        gpu.synchronize()
        ways = {("cpu", "gpu0"): up, ("gpu0", "cpu"): down}
        moved = {way: (sum(one.nbytes for one in some), len(some)) for way, some in ways.items() if some}
        return replace(self._outcome((round(machine.now_ns),), (1,)), moved=moved)

    def call(self, parts: Any, users: int) -> Outcome:
        """Shared in these parts. users: so many GPUs have any."""
        machine, program = self.machine, self._loop.program
        machine.forget()
        members = [
            Participant(f"gpu{gpu.number}", program, gpu, stands_in=self._regions(gpu).__getitem__)
            for gpu in machine.gpus
        ]
        host = Participant("cpu", replace(program, codes=(None,) * len(program.codes)))
        for gpu in machine.gpus:
            gpu.sharing = users
        call = SharedCall(members, host, self.arguments, parts, self._copies, known=self._known)
        began = time.process_time()
        with machine.in_charge():
            machine.ask(machine.rates.call_us)
            call.run()
        shared_s = time.process_time() - began
        moved: dict[tuple[str, str], tuple[int, int]] = {}
        for event in call.events:
            if event.what == "copies":
                size, copies = moved.get((event.source, event.target), (0, 0))
                moved[event.source, event.target] = size + event.size_bytes, copies + 1
        busy, done = (tuple(getattr(member, what) for member in members) for what in ("busy_ns", "done"))
        return replace(self._outcome(busy, done), moved=moved, shared_s=shared_s)

    def _outcome(self, busy_ns: tuple[int, ...], done: tuple[int, ...]) -> Outcome:
        did, total = [gpu.did for gpu in self.machine.gpus], self.machine.now_ns
        return Outcome(
            total,
            busy_ns,
            tuple(sum(end - begin for begin, end in one.computed) for one in did),
            tuple(sum(end - begin for begin, end in one.copied) for one in did),
            tuple(total - together([*one.computed, *one.copied]) for one in did),
            done,
            python_ns=self.machine.python.total_ns,
        )

    def _regions(self, gpu: Any) -> dict[int, Any]:
        return {n: VirtualRegion(gpu, partial(self.takes_ns, n)) for n in range(len(self._loop.work))}


class OneAfterTheOther:
    """See Performs: whole regions on the only GPU, as code in C starts them."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def region(
        self, number: int, iterations: range | None, numbers: Sequence[object], made: Sequence[Any]
    ) -> Sequence[Mapping[int, Any]]:
        """See Performs."""
        assert iterations is not None
        gpu = self._loop.machine.gpus[0]
        gpu.run(
            self._loop.takes_ns(number, (*self._loop.arguments, *numbers, iterations.start, iterations.stop, *made))
        )
        return ()


@dataclass(frozen=True, slots=True)
class Served:
    """What a Division has come to: the last call. decided_ms: process time of deciding and learning, in the median of
    all calls. region_ms: process time of the product for a region of a call in even parts, the simulation included."""

    outcome: Outcome
    devices: int
    why: str
    decided_ms: float
    region_ms: float


class Calls:
    """Calls as runtime/sharing.py makes and measures them, of which a Division learns. What is decided again takes what
    it took when a call like it was made twice in a row, and nothing had to move any more; and each GPU by itself what
    the first one takes. Where the product gives out chunks, parts are even here, as in calls of several regions."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        count = len(loop.machine.gpus)
        parts = EvenParts(count)
        self.even = self._lasting(parts, count)
        self.whole = max(parts.ranges, key=len)
        self.region_ms = 1e3 * self.even.shared_s / (len(parts.ranges) // (2 if loop.resident else 1))
        self._known = {tuple(parts.fixed(0, self.whole)): self.even}

    def served(self, plan: Any, calls: int = LEARNED_IN) -> Served:
        """Let it learn from so many."""
        count = len(self.loop.machine.gpus)
        division = Division([f"gpu{k}" for k in range(count)], self.whole, plan=plan, models=["alike"] * count)
        spent: list[float] = []
        for _ in range(calls):
            began = time.process_time()
            decision = division.decide()
            decided = time.process_time()
            outcome = self._of(decision)
            total = sum(outcome.done)
            scaled = [round(one * len(self.whole) / total) for one in outcome.done]
            after = time.process_time()
            division.measured(decision, outcome.busy_ns, scaled, outcome.total_ns)
            spent.append(time.process_time() - after + decided - began)
        used = sum(map(bool, outcome.done))
        return Served(outcome, used, decision.why, 1e3 * median(spent), self.region_ms)

    def _of(self, decision: Assignment) -> Outcome:
        if decision.kind == "guided":
            return self.even
        if decision.kind == "single":
            (place,) = decision.devices
            found = self._in(tuple(self.whole if k == 0 else self.whole[:0] for k in range(len(decision.parts))))
            return found.turned(place)
        return self._in(decision.parts)

    def _in(self, parts: tuple[range, ...]) -> Outcome:
        if parts not in self._known:
            self._known[parts] = self._lasting(FixedParts(self.whole, parts), sum(map(bool, parts)))
        return self._known[parts]

    def _lasting(self, parts: FixedParts, users: int) -> Outcome:
        if self.loop.resident:
            self.loop.call(parts, users)
        return self.loop.call(parts, users)
