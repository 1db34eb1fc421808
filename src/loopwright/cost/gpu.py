"""Metrics of a variant for a GPU, from its CUDA text, the machine code made of it, its loops and the sizes of a call.

1. `efficiency` and `utilisation` of Ryoo et al. 2008 (cost/ryoo.py). Threads are those that multiprocessors are busy
   with: where blocks do not go round, as if the idle ones worked too. The blocks of a multiprocessor are no more than
   there are for it.
2. `roofline`: the reciprocal of the cycles that the call takes at least: to issue its instructions, or to move bytes
   (cost/gpu_bytes.py), whichever is more, and to start its kernels. The first two say nothing of kernels that memory
   holds up, as their authors point out; for others it goes with efficiency, and so adds no candidate of its own.

Where a program has several kernels, instructions add up, and utilisation is the mean over instructions. Without
nvdisasm, instructions are counted from the loops instead, and registers still from the cubin; a note says so. Of a
kernel whose loops are not those of the schedule (rows in equal parts) nothing is known: the metrics are NaN, and it is
for a measurement to judge it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, prod

from loopwright.analysis.coalescing import KnownSizes
from loopwright.analysis.frequency import Frequencies, frequencies
from loopwright.codegen.bound_nest import BoundNest
from loopwright.config import Config
from loopwright.cost.control_flow import loops_of
from loopwright.cost.dynamic import counted
from loopwright.cost.gpu_bytes import bytes_moved
from loopwright.cost.metrics import Metrics
from loopwright.cost.occupancy import occupancy
from loopwright.cost.regions import regions_of
from loopwright.cost.ryoo import efficiency, utilisation
from loopwright.devices.limits import Limits
from loopwright.ir.code import CodeRegion, DeviceFunction
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Body, For, Kernel
from loopwright.ir.program import DeviceText
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.steps.grids import is_bound
from loopwright.toolchain.cubin import KernelResources
from loopwright.toolchain.device_text import DEVICE_HEADER, of_width
from loopwright.toolchain.nvrtc import build
from loopwright.toolchain.sass import Instruction, instructions

NAMES = ("efficiency", "utilisation", "roofline")

ISSUED_PER_CYCLE = 128
"""Instructions of threads that a multiprocessor issues per cycle: of a warp for each of four schedulers."""
L2_BYTES_PER_CYCLE, MEMORY_BYTES_PER_CYCLE = 32, 16
"""For each multiprocessor, from the second cache and from memory: of data-centre GPUs since 2020, within a third."""

LAUNCH_CYCLES = 4000
"""What it costs to start a kernel: two or three microseconds."""


@dataclass(frozen=True, slots=True)
class GridWork:
    """One kernel of a program, over a whole call. instructions, regions: of one thread, on average, NaN where they are
    not known; regions 0 where the code was not read. threads: of a block. blocks: of all launches. launches: how many.
    bytes: that move at least between multiprocessors and the second cache."""

    name: str
    instructions: float
    regions: float
    threads: int
    blocks: float
    launches: float
    bytes: float
    resources: KernelResources
    notes: tuple[str, ...] = ()


def gpu_metrics(
    kernel: Kernel, text: DeviceText, limits: Limits, shape: KnownSizes, config: Config, least_bytes: float = 0.0
) -> Metrics:
    """The metrics of a variant. kernel: after its schedule, of which `text` was made. shape: of the call. least_bytes:
    what any variant moves to and from memory (`analysis.traffic`), 0 where it is not known. It compiles the kernels
    that such a call starts, or takes them from the cache. Raises CompilerError."""
    return metrics_of(grid_works(kernel, text, limits, shape, config), limits, least_bytes)


def metrics_of(works: tuple[GridWork, ...], limits: Limits, least_bytes: float = 0.0) -> Metrics:
    """The same from what is known of its kernels."""
    total = utilised = moved = 0.0
    notes: dict[str, None] = {}
    for work in works:
        fits = occupancy(work.threads, work.resources.registers, work.resources.shared_bytes, limits)
        of_launch = work.blocks / work.launches if work.launches else 0.0
        rounds = ceil(of_launch / limits.multiprocessors)
        executed = work.instructions * work.threads * rounds * limits.multiprocessors * work.launches
        warps = -(-work.threads // limits.warp)
        hidden = utilisation(work.instructions, work.regions, warps, min(fits.blocks, rounds)) if work.regions else 0.0
        total += executed
        utilised += executed * hidden
        moved += work.bytes
        notes |= dict.fromkeys(work.notes)
        if fits.blocks == 0:
            notes |= {f"{work.name}: no block fits into a multiprocessor": None}
    issue = total / (limits.multiprocessors * ISSUED_PER_CYCLE)
    move = max(moved / L2_BYTES_PER_CYCLE, least_bytes / MEMORY_BYTES_PER_CYCLE) / limits.multiprocessors
    if move > issue:
        notes |= {"memory holds it up: the least bytes take longer than the instructions": None}
    bound = max(issue, move) + LAUNCH_CYCLES * sum(work.launches for work in works)
    values = (efficiency(total, 1), utilised / total if total else 0.0, 1 / bound if bound else math.inf)
    if math.isnan(total):
        values = (math.nan,) * 3
    return Metrics(values, NAMES, tuple(notes))


def grid_works(
    kernel: Kernel, text: DeviceText, limits: Limits, shape: KnownSizes, config: Config
) -> tuple[GridWork, ...]:
    """What each kernel does in a call, in the order of the text. Raises CompilerError."""
    chosen = of_width(text, 32 if _is_small(kernel, shape) else 64)
    made = build(replace(chosen, text=DEVICE_HEADER + chosen.text), limits.capability, config, lines=True)
    code = instructions(made.path, config) or {}
    found = frequencies(kernel, shape.sizes)
    about = _ProgramFacts(kernel, found, shape, limits.target, {nest.name: nest for nest in _nests(kernel.body)})
    works = []
    for function in chosen.functions:
        entry = next(one.name for one in function.entries if one.name in chosen.kernels)
        needs = made.kernels[entry]
        needs = replace(needs, shared_bytes=needs.shared_bytes + function.asked_shared_bytes)
        works.append(about.work(function, code.get(entry, ()), needs))
    return tuple(works)


@dataclass(frozen=True, slots=True)
class _ProgramFacts:
    """What is known of a whole program."""

    kernel: Kernel
    found: Frequencies
    shape: KnownSizes
    gpu: GpuTarget
    nests: Mapping[str, For]

    def work(self, function: DeviceFunction, code: tuple[Instruction, ...], needs: KernelResources) -> GridWork:
        nest, place, threads = self.nests.get(function.loop), function.region, function.threads
        shown = function.shown
        if nest is None:
            return self._without_nest(GridWork(shown, math.nan, math.nan, threads, 1, 1, 0.0, needs), place, code)
        grid = BoundNest.of(nest)
        inside = grid.body
        launches = self.found.entries.get(nest.name, 0.0)
        times = self.found.iterations.get(grid.blocks[-1].name, 0.0) if grid.blocks else launches
        shared = frozenset(one.array for one in function.shared)
        moved = bytes_moved(self.kernel, nest, inside, grid.size, self.found, self.shape, shared, self.gpu)
        if not code:
            executed = self._from_loops(inside) / max(1.0, times * threads)
            note = (f"{shown}: instructions are counted from its loops, as nvdisasm is missing",)
            return GridWork(shown, executed, 0.0, threads, times, launches, moved, needs, note)
        counts = counted(code, place, inside, self.found, DEVICE_HEADER.count("\n"), self.gpu.warp)
        notes = tuple(f"{shown}: the loop in line {line} counts once" for line in counts.unmatched)
        data = [loop for loop in self.found.assumed if loop and loop in {s.name for s in _loops(inside)}]
        notes += tuple(f"only data tells how often '{loop}' runs" for loop in data)
        executed = sum(counts.weights)
        return GridWork(
            shown, executed, regions_of(code, counts.weights), threads, times, launches, moved, needs, notes
        )

    def _without_nest(self, work: GridWork, place: CodeRegion, code: tuple[Instruction, ...]) -> GridWork:
        """A kernel that is no nest of bound loops. What one thread does alone has the loops of the kernel; where loops
        are others (rows in equal parts), nothing is known of how often they run, and nothing is claimed."""
        if not code or (work.threads > 1 and loops_of(code)):
            return replace(work, notes=(f"{work.name}: its loops are not known, so it cannot be judged",))
        counts = counted(code, place, self.kernel.body, self.found, DEVICE_HEADER.count("\n"), self.gpu.warp)
        outer = [self.found.around[one.name] for one in place.within() if one.name in self.found.around]
        launches = self.found.iterations[outer[0]] if outer and outer[0] else 1.0
        regions = regions_of(code, counts.weights)
        return replace(work, instructions=sum(counts.weights), regions=regions, blocks=launches, launches=launches)

    def _from_loops(self, inside: Body) -> float:
        """Operations of all threads together, each part of an expression being one."""
        return sum(
            self.found.statements.get(id(stmt), 0.0)
            * sum(1 for expr in own_expressions(stmt) for _ in subexpressions(expr))
            for stmt in statements(inside)
        )


def _loops(body: Body) -> Iterator[For]:
    return (stmt for stmt in statements(body, For))


def _nests(body: Body) -> Iterator[For]:
    """The nests that are kernels."""
    for stmt in body:
        if is_bound(stmt):
            assert isinstance(stmt, For)
            if stmt.run not in ("balanced", "sorted", "off_gpu"):  # those become kernels of other names
                yield stmt
        else:
            for below in bodies(stmt):
                yield from _nests(below)


def _is_small(kernel: Kernel, shape: KnownSizes) -> bool:
    """Whether distances between elements take 32 bits, as far as is known."""
    for param in kernel.arrays:
        sizes = [shape.sizes.get(f"s{param.argument}_{axis}", 1) for axis in range(param.rank - len(param.tail))]
        unit = prod(size for size, _ in param.tail) * (param.element.size_bytes if param.tail or param.offset else 1)
        if prod(sizes) * unit >= 2**31 // 2:
            return False
    return True
