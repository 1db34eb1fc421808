"""What each kernel of a GPU's program needs, how much of it fits, and what it does to memory: from the CUDA text, the
cubin and the loops. Numbers for the sizes of a call where one is given, formulas otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopwright.analysis.affine import Affine, combine
from loopwright.analysis.coalescing import KnownSizes, number, warp_accesses
from loopwright.analysis.effort import LOCK
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.trace import LoopNote, traced
from loopwright.analysis.traffic import traffic
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.scatter import BLOCKS as PARTED
from loopwright.config import Tools
from loopwright.cost.occupancy import occupancy
from loopwright.devices.gpu import Gpu
from loopwright.errors import CompilerError
from loopwright.ir.code import DeviceFunction
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Body, For, Kernel, Load, Location, Store, While
from loopwright.ir.program import DeviceText
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, expressions, statements
from loopwright.report.explanation import GridReport
from loopwright.report.warps import Lines, warp_reports
from loopwright.steps.grids import is_bound
from loopwright.toolchain.cubin import KernelResources
from loopwright.toolchain.device_text import complete, likely, only
from loopwright.toolchain.nvrtc import build, find_nvrtc


@dataclass(frozen=True, slots=True)
class GridNest:
    """A nest of bound loops, and the loops around it, which run on the host."""

    loop: For
    around: tuple[str, ...]

    @property
    def keys(self) -> frozenset[object]:
        """Those of its accesses."""
        nodes = (*expressions((self.loop,)), *statements((self.loop,)))
        return frozenset(node.key for node in nodes if isinstance(node, Load | Store))


def grid_reports(
    kernel: Kernel, written: Kernel, text: DeviceText, gpu: Gpu, config: Tools, shape: KnownSizes
) -> tuple[GridReport, ...]:
    """One for each kernel, in the order of the text. kernel: after its schedule; written: before. Where NVRTC is
    missing or fails, without registers."""
    resources: dict[str, KernelResources] = {}
    fault = ""
    if find_nvrtc() is not None:
        try:
            entries = {entry.name: (function.name, entry) for function in text.functions for entry in function.entries}
            even = [name for name, (_, entry) in entries.items() if entry.even]
            for kernels in filter(None, (likely(text), *((name,) for name in even))):
                made = build(complete(only(text, kernels)), gpu.limits.capability, config)
                resources |= {entries[name][0]: needs for name, needs in made.kernels.items()}
        except CompilerError as error:
            fault = f"CUDA: {str(error).splitlines()[0]}"
    nests = {nest.loop.name: nest for nest in _nests(kernel.body, ())}
    uses = Counter(key for nest in nests.values() for key in nest.keys)
    about = _GridFacts(kernel, written, shape, uses, gpu.limits.target)
    return tuple(
        about.report(_resources(one, resources.get(one.name), gpu, fault), one, nests.get(one.loop))
        for one in text.functions
    )


def _nests(body: Body, around: tuple[str, ...]) -> Iterator[GridNest]:
    for stmt in body:
        if is_bound(stmt):
            assert isinstance(stmt, For)
            yield GridNest(stmt, around)
            continue
        inner = (*around, stmt.name) if isinstance(stmt, For | While) else around
        for below in bodies(stmt):
            yield from _nests(below, inner)


def _resources(function: DeviceFunction, found: KernelResources | None, gpu: Gpu, fault: str) -> GridReport:
    shown, threads = function.shown, function.threads
    if found is None:
        return GridReport(shown, threads, lowered=function.lowered, fault=fault)
    shared_bytes = found.shared_bytes + function.asked_shared_bytes
    fits = occupancy(threads, found.registers, shared_bytes, gpu.limits)
    return GridReport(
        shown,
        threads,
        registers=found.registers,
        shared_bytes=shared_bytes,
        spilled_bytes=found.spill_store_bytes or 0,
        at_once=fits.blocks,
        occupancy=fits.fraction,
        limiter=fits.limiter,
        lowered=function.lowered,
    )


@dataclass(frozen=True, slots=True)
class _GridFacts:
    """What the loops of a program say. uses: in how many nests an access is."""

    kernel: Kernel
    written: Kernel
    shape: KnownSizes
    uses: Counter[object]
    gpu: GpuTarget

    def report(self, report: GridReport, function: DeviceFunction, nest: GridNest | None) -> GridReport:
        """The report with what its nest says; as it is for kernels that are no nest of the user's."""
        if nest is None:
            return replace(report, blocks=1) if function.threads == 1 else report
        grid = BoundNest.of(nest.loop)
        blocks, blocks_words = self._blocks(grid)
        if any(one.part == "chunks" for one in function.region.within()):
            blocks = None if blocks is None else min(blocks, PARTED)
            blocks_words = f"min({blocks_words}, {PARTED})" if blocks_words else ""
        least, words, unknown, repeated = self._traffic(nest)
        shared = frozenset(one.array for one in function.shared) & grid.local
        found = warp_accesses(
            self.kernel, grid.body, grid.size, shared, frozenset(grid.local - shared), self.shape, self.gpu
        )
        return replace(
            report,
            block=grid.size,
            blocks=blocks,
            blocks_words=blocks_words,
            bytes_least=least,
            bytes_words=words,
            unknown=unknown,
            around=nest.around,
            repeated=repeated,
            accesses=warp_reports(found, self._lines()),
        )

    def _lines(self) -> Lines:
        nodes = (*expressions(self.written.body), *statements(self.written.body))
        return tuple(node for node in nodes if isinstance(node, Load | Store) and isinstance(node.at, Location))

    # ---- blocks

    def _blocks(self, nest: BoundNest) -> tuple[int | None, str]:
        """How many of them: a number, or words where a call decides; '' where it takes more than sizes."""
        with LOCK:
            notes = traced(self.kernel)
            trips = [notes.loops[loop.name] for loop in nest.blocks]
            numbers = [self._trip(note) for note in trips]
            words = [self._trip_words(note) for note in trips]
        total = 1
        for one in numbers:
            if one is None:
                return None, " x ".join(words) if all(words) else ""
            total *= one
        return total, ""

    def _trip(self, note: LoopNote) -> int | None:
        distance = number(combine(note.upper, note.lower, -1), self.shape.sizes)
        return None if distance is None or not note.step else len(range(0, distance, note.step))

    def _trip_words(self, note: LoopNote) -> str:
        words = self._words(combine(note.upper, note.lower, -1))
        if note.step < 1 or not words:
            return ""
        inner = f"({words})" if " " in words else words
        return inner if note.step == 1 else f"ceil({inner} / {note.step})"

    def _words(self, form: Affine) -> str:
        """A form as people write it; '' where it has something without a name."""
        names = parameter_texts(self.kernel)
        text = ""
        for symbol, c in form.terms:
            loop = symbol.birth[-1] if symbol.role == "loop" else ""
            name = user_name(loop) if loop else names.get(symbol.name, "")
            if not name:
                return ""
            part = name if abs(c) == 1 else f"{abs(c)} * {name}"
            text += f" {'-' if c < 0 else '+'} {part}" if text else f"{'-' if c < 0 else ''}{part}"
        if form.constant or not text:
            sign = "-" if form.constant < 0 else "+"
            text += f" {sign} {abs(form.constant)}" if text else str(form.constant)
        return text

    # ---- memory

    def _traffic(self, nest: GridNest) -> tuple[int | None, str, tuple[str, ...], tuple[str, ...]]:
        """The least number of bytes, as a number or in words; arrays that are not in it; loops whose iterations move as
        much each."""
        if any(self.uses[key] > 1 for key in nest.keys if self._is_users(key)):
            return None, "", (), ()  # what several kernels do together says nothing about one of them
        found = traffic(self.written, nest.keys, nest.around)
        names = parameter_texts(self.written)
        known = {names[name]: value for name, value in self.shape.sizes.items() if name in names}
        value = found.value(known) if found.parts else None
        words = " + ".join(str(part) for part in found.parts) if found.parts and value is None else ""
        return value, words, found.unknown, found.repeated

    def _is_users(self, key: object) -> bool:
        return any(node.key is key for node in self._lines())
