"""`Specialisation`: a function compiled for one kind of call, with everything that the runtime, `explain` and the
command line want to know of it. It joins the compiler's results and makes none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.config import Tools
from loopwright.deferred import deferred
from loopwright.devices.base import Executable, Returns, returns_of
from loopwright.devices.cpu import load
from loopwright.errors import LoopwrightError, ScheduleError, warn_once
from loopwright.frontend.capture import Source
from loopwright.frontend.outside import Outside, Way
from loopwright.frontend.parse import refuse_generator
from loopwright.ir.captured import CapturedConstant
from loopwright.ir.program import Program
from loopwright.ir.signature import Signature
from loopwright.ir.variant import PLAIN, RECIPE, Compilation
from loopwright.remembered import Ready, fingerprint_of, ready_of, recall, remember
from loopwright.toolchain.cc import MAKE_ROOM, Artifact, UnwritableError, build, find_compiler
from loopwright.toolchain.library import made_and_loaded

if TYPE_CHECKING:
    from loopwright import built, compiler, region_code
    from loopwright.analysis import bounds
    from loopwright.analysis.facts import Facts
    from loopwright.built import Ahead
    from loopwright.codegen import gpu_writer, openmp
    from loopwright.compiler import Analysed, Reading, Regions
    from loopwright.devices import gpus
    from loopwright.devices.gpu import Gpu
    from loopwright.ir import interp, nodes, size_programs, walk
    from loopwright.ir.gpu_target import GpuTarget
    from loopwright.ir.nodes import ArrayParam, Kernel, ScalarParam
    from loopwright.memory import gpu_call, offload
    from loopwright.memory.gpu_call import GpuExecutable, InParts
    from loopwright.memory.region_call import RegionProgram
    from loopwright.search.ranges import Ranges
    from loopwright.search.space import Space
    from loopwright.steps import schedule
else:  # what a remembered kernel's first call does without
    built = deferred("loopwright.built")
    compiler = deferred("loopwright.compiler")
    region_code = deferred("loopwright.region_code")
    bounds = deferred("loopwright.analysis.bounds")
    gpu_writer = deferred("loopwright.codegen.gpu_writer")
    openmp = deferred("loopwright.codegen.openmp")
    gpu_call = deferred("loopwright.memory.gpu_call")
    gpus = deferred("loopwright.devices.gpus")
    offload = deferred("loopwright.memory.offload")
    schedule = deferred("loopwright.steps.schedule")
    interp = deferred("loopwright.ir.interp")
    nodes = deferred("loopwright.ir.nodes")
    size_programs = deferred("loopwright.ir.size_programs")
    walk = deferred("loopwright.ir.walk")


WATCHERS: list[Callable[[Source, Specialisation, Mapping[Way, object]], object]] = []
"""Told of each function that was compiled for a CPU, and of all that was asked of what is outside of it."""

BUILT = "chosen when it was built ahead of time"
"""Why a step of such code was taken."""

FreshArrays = Callable[[Sequence[object]], Sequence[tuple[tuple[int, ...], Any, object]]]


@dataclass(frozen=True)
class Specialisation:
    """One function for one Compilation. `ready`, `artifact`, `executable` are None where it runs in the
    interpreter: by option, or because there is no compiler. It is what `runtime.compiled.Compiled` asks for.

    `why_not_gpu`: where a GPU was asked for and the CPU runs it. `reading`: what the interpreter runs.

    `analyse` gives the same each time, whatever has changed outside the function: where the program was remembered, or
    the interpreter runs, or every access is checked, nothing is analysed before somebody asks."""

    compilation: Compilation
    analyse: Callable[[], Analysed]
    ready: Ready | None
    artifact: Artifact | None
    executable: Executable | None
    why_not_gpu: str = ""
    reading: Reading | None = None

    @property
    def signature(self) -> Signature:
        return self.compilation.signature

    @property
    def analysed(self) -> Analysed:
        kept = self.__dict__
        # With setdefault, two threads that ask at once get the same one: facts are about the nodes of their kernel.
        return kept["found"] if "found" in kept else kept.setdefault("found", self.analyse())  # type: ignore[no-any-return]

    @property
    def written(self) -> Kernel:
        """As the user wrote it."""
        return self.analysed.written if self.reading is None else self.reading.written

    @property
    def program(self) -> Program | None:
        return None if self.ready is None else self.ready.program

    @cached_property
    def fingerprint(self) -> str:
        """Of the kernel as it was written, for these types: measurements are kept under it. Under `strict` other
        schedules are legal, and times are others."""
        found = fingerprint_of(self.written) if self.ready is None else self.ready.fingerprint
        return f"{found} strict" if self._strict else found

    @property
    def _strict(self) -> bool:
        return self.compilation.semantics.strict

    def regions(self, device: str) -> RegionProgram | None:
        """Its parallel regions on the CPU or on a GPU, each loaded by itself; None where it has none that devices could
        share. It is that of the CPU. Raises CompilerError."""
        wanted = self.compilation._replace(device=device)
        if self.executable is None or self.takes_device_arrays or wanted.semantics.checks == "all":
            return None
        gpu = gpus.gpu_of(device) if wanted.on_gpu else None
        cut = self._regions(None if gpu is None else gpu.limits.target, wanted)
        if cut is None:
            return None
        if gpu is None:
            return region_code.region_program(self.analysed, cut, wanted, lambda _, one: _loaded(one, wanted.tools)[1])
        return region_code.region_program(
            self.analysed, cut, wanted, lambda found, one: _loaded_on(gpu, found, one, wanted.tools, lambda: None)[1]
        )

    def _regions(self, target: GpuTarget | None, wanted: Compilation) -> Regions | None:
        """The same for each device of a kind, analysed."""
        known = self._regions_by_target
        if target not in known:
            found = self.analysed
            if target is not None:
                found = replace(found, facts=replace(found.facts, gpu=target))
            known[target] = region_code.regions(found, wanted)
        return known[target]

    @cached_property
    def _regions_by_target(self) -> dict[GpuTarget | None, Regions | None]:
        return {}

    @property
    def takes_device_arrays(self) -> bool:
        """Whether the code finds its arrays in a GPU's memory."""
        return self.executable is not None and self.executable.takes_device_arrays

    @property
    def kernel(self) -> Kernel:
        """After its schedule."""
        return self.analysed.recipe.kernel

    @property
    def facts(self) -> Facts:
        """Of the kernel after its schedule."""
        return self.analysed.recipe.facts

    @property
    def c_text(self) -> str:
        if self.program is None:
            return ""
        device = self.program.device
        return self.program.text if device is None else f"{self.program.text}\n/* ---- CUDA ---- */\n{device.text}"

    @property
    def constants(self) -> tuple[CapturedConstant, ...]:
        known = self.ready or self.reading
        return self.analysed.constants if known is None else known.constants

    def scheduled(self, steps: str) -> Scheduled:
        """The kernel as it was written after another schedule, given as text. Raises ScheduleError."""
        written = self.analysed
        kernel, facts = schedule.apply_schedule(
            written.written, written.facts, schedule.parse_schedule(steps), self._strict
        )
        return Scheduled(self, kernel, facts)

    def space(self, ranges: Ranges | None = None) -> Space:
        """What tuning may choose from."""
        return compiler.space_for(self.analysed, self.compilation, ranges)

    @cached_property
    def returns(self) -> Returns:
        return returns_of(self.written) if self.ready is None else self.ready.returns

    @cached_property
    def interpret(self) -> Callable[[Sequence[object]], object]:
        """Run through the interpreter; takes the arguments of a call in order."""
        return interp.prepare(self.written)

    @cached_property
    def results(self) -> FreshArrays | None:
        """From the arguments to shape, dtype and fill of each array that the call allocates."""
        kernel = self.written if self.ready is None else self.ready.results
        if kernel is None or not kernel.results:
            return None
        parts = [part for one in kernel.results for size in one.shape for part in walk.subexpressions(size)]
        used = {
            part.array if isinstance(part, nodes.Dim) else part.name
            for part in parts
            if isinstance(part, nodes.Dim | nodes.Var)
        }
        params = tuple(param for param in kernel.params if param.name in used)
        shapes = [[interp.evaluation(size) for size in result.shape] for result in kernel.results]
        fills = [None if result.fill is None else result.fill.value for result in kernel.results]
        dtypes = [result.element.dtype for result in kernel.results]

        def fresh(arguments: Sequence[object]) -> Sequence[tuple[tuple[int, ...], Any, object]]:
            state = _outside(params, arguments)
            with np.errstate(all="ignore"):  # what cannot be is said by the kernel, which tests for it
                sizes = [tuple(int(size(state)) for size in shape) for shape in shapes]
            return tuple(zip(sizes, dtypes, fills, strict=True))

        fresh.results = size_programs.results_of(kernel)  # type: ignore[attr-defined]
        return fresh

    def on_guard_failure(self, arguments: Sequence[object]) -> Exception | None:
        """The BoundsError that these arguments are certain to run into, or None where they may not."""
        values: dict[str, int] = {}
        for name, (source, argument, axis) in self.analysed.facts.guard.parameters:
            value: Any = arguments[argument]
            values[name] = int(value.shape[axis] if source == "size" else value)
        return self._violations.of(values)

    @cached_property
    def _violations(self) -> bounds.Violations:
        """Asked wherever the condition on the sizes fails."""
        return bounds.Violations(self.written)


@dataclass(frozen=True)
class Scheduled:
    """A kernel after a schedule that somebody asked to see."""

    one: Specialisation
    kernel: Kernel
    facts: Facts

    @property
    def c_text(self) -> str:
        """The C that would be generated."""
        return openmp.generate(self.kernel, self.facts, False, self.one.compilation.semantics.strict).text

    def scheduled(self, steps: str) -> Scheduled:
        """Another schedule of the same kernel."""
        return self.one.scheduled(steps)

    def space(self, ranges: Ranges | None = None) -> Space:
        """What tuning may choose from, whatever this schedule is."""
        return self.one.space(ranges)


def _outside(params: Sequence[ScalarParam | ArrayParam], arguments: Sequence[object]) -> dict[str, Any]:
    """The values of parameters as the interpreter keeps them; of plain arrays only the shape will be asked."""
    state: dict[str, Any] = {}
    for param in params:
        value: Any = arguments[param.argument]
        if isinstance(param, nodes.ArrayParam):
            state[param.name] = interp.window(param, value) if param.tail else value
        else:
            state[param.name] = param.type.dtype.type(value)
    return state


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known already, as a function."""

    found: Analysed

    def __call__(self) -> Analysed:
        return self.found


def _analysed(source: Source, wanted: Compilation, outside: Outside) -> Analysed:
    """Here, so that the compiler is loaded only where somebody asks."""
    return compiler.analysed(source, wanted, outside)


def _artifact_of(program: Program, tools: Tools) -> Artifact:
    artifact = build(program.text, program.flags, tools)
    if "times" in tools.debug:
        cached = " (from the cache)" if artifact.from_cache else ""
        compiler.say(f"compiled in {artifact.seconds:.3f} s{cached}: {artifact.path}")
    return artifact


def _loaded(program: Program, tools: Tools) -> tuple[Artifact, Executable]:
    return made_and_loaded(lambda: _artifact_of(program, tools), lambda artifact: load(artifact, program))


def _on_gpu(source: Source, wanted: Compilation) -> Specialisation:
    gpu = gpus.gpu_of(wanted.device)
    if gpu is None:
        warn_once("no GPU", f"device={wanted.device!r}: {gpus.why_no_gpu(wanted.device)}. Kernels run on the CPU")
        raise gpu_writer.NotOnGpu("there is no GPU")
    return _made_for(gpu, compiler.analysed(source, wanted, gpu=gpu.limits.target), wanted)


def _made_for(gpu: Gpu, found: Analysed, wanted: Compilation) -> Specialisation:
    ready = ready_of(compiler.program_of(found, wanted), found.written, found.constants)
    find_parts = cache(partial(_in_parts, gpu, found, wanted))
    artifact, executable = _loaded_on(gpu, found, ready.program, wanted.tools, find_parts)
    return Specialisation(wanted, _Known(found), ready, artifact, executable)


def specialise_kernel(kernel: Kernel, facts: Facts, wanted: Compilation) -> Specialisation:
    """The same for a kernel and what is known of it, without the function that it comes from. Raises ScheduleError,
    CompilerError, NotOnGpu."""
    gpu = gpus.gpu_of(wanted.device) if wanted.on_gpu else None
    if gpu is not None:
        facts = replace(facts, gpu=gpu.limits.target)
    elif wanted.on_gpu:
        raise gpu_writer.NotOnGpu("there is no GPU")
    made = replace(compiler.scheduled(kernel, facts, wanted), launch_bounds=())  # nobody would run it elsewhere
    found = compiler.Analysed(kernel, facts, made, (), 0.0)
    if gpu is not None:
        return _made_for(gpu, found, wanted)
    ready = ready_of(compiler.program_of(found, wanted), kernel, ())
    return Specialisation(wanted, _Known(found), ready, *_loaded(ready.program, wanted.tools))


def _loaded_on(
    gpu: Gpu, found: Analysed, program: Program, tools: Tools, find_parts: Callable[[], InParts | None]
) -> tuple[Artifact, GpuExecutable]:
    assert program.device is not None
    artifact, on_host = _loaded(program, tools)
    return artifact, offload.on_gpu(
        on_host,
        gpu,
        gpu.module(program.device, tools),
        _written(found.written),
        found.reach,
        find_parts,
    )


def _in_parts(gpu: Gpu, found: Analysed, wanted: Compilation) -> InParts | None:
    """What runs a call in parts, made when a call first moves so much that it may pay off."""
    try:
        parts = compiler.analysed_in_parts(found, wanted)
        if parts is None:
            return None
        some, iterations = parts
        program = compiler.program_of(some, wanted)
    except (gpu_writer.NotOnGpu, ScheduleError):
        return None
    first = found.written.results_from
    return gpu_call.InParts(_loaded_on(gpu, some, program, wanted.tools, lambda: None)[1], iterations, first)


def _written(kernel: Kernel) -> frozenset[int]:
    stored = {stmt.array for stmt in walk.statements(kernel.body) if isinstance(stmt, nodes.Store)}
    return frozenset(param.argument for param in kernel.arrays if param.name in stored)


def load_compiler() -> None:
    """Import what a first call needs. Where that fails, the call itself says so."""
    with suppress(Exception):
        compiler.analysed  # noqa: B018 (deferred: asking is importing)


def specialise(source: Source, wanted: Compilation) -> Specialisation:
    """Compile `source` for one kind of call, with no more work than nobody did before. A mistake of ours in what makes
    a program faster is told, and a simpler program runs. Raises KernelError, CompilerError."""
    refuse_generator(source.function, source.definition)  # which other kernels may read
    may_be_built = wanted.device == "cpu" and wanted.tools.built_folder is not None
    if may_be_built and (ahead := built.ahead_of_time(source, wanted)) is not None:
        return _from_ahead(source, wanted, ahead)
    if wanted.device == "interpreter" or find_compiler(wanted.tools) is None:
        return _interpreted(source, wanted)
    if wanted.on_gpu:
        try:
            return _on_gpu(source, wanted)
        except gpu_writer.NotOnGpu as error:
            why = str(error)
        except _MISTAKES as error:
            if not _is_mistake(error, wanted):
                raise
            why = _told(source, error, "a GPU", "It runs on the CPU")
        # Blocks and threads are no use there, nor is a sort that one thread makes.
        steps = RECIPE if "bind " in wanted.schedule or wanted.first else wanted.schedule
        return replace(specialise(source, wanted._replace(device="cpu", schedule=steps)), why_not_gpu=why)
    try:
        return _on_cpu(source, wanted)
    except _MISTAKES as error:
        if wanted.schedule == PLAIN or not _is_mistake(error, wanted):
            raise
        try:
            found = _on_cpu(source, wanted._replace(schedule=PLAIN))
        except _MISTAKES:
            raise error from None
        _told(source, error, "this machine", "Its loops run in the order in which they are written")
        return found


_MISTAKES = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ZeroDivisionError)
"""What nothing but a mistake of ours raises while code is made, as it is no LoopwrightError."""


def _is_mistake(error: Exception, wanted: Compilation) -> bool:
    """Whether it is one that another program makes up for. Whoever debugs gets the error itself."""
    return not isinstance(error, LoopwrightError) and not wanted.tools.debug


def _told(source: Source, error: Exception, where: str, instead: str) -> str:
    """Warn of a mistake of ours; in one sentence what it was."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    text = f"Loopwright made a mistake as it compiled '{source.name}' for {where} ({what})"
    report = "please report it: LOOPWRIGHT_DEBUG=times gives the traceback"
    warn_once(text, f"{text}. {instead}; results are right; {report}")
    return text


def _interpreted(source: Source, wanted: Compilation) -> Specialisation:
    """Loops run as they are written: what is proven of them is found where somebody asks. Of a given schedule it has to
    be said at once where it is not legal."""
    reading = compiler.read(source, wanted)
    analyse: Callable[[], Analysed] = partial(compiler.analysed_further, source, reading, wanted)
    if wanted.steps or wanted.first or _shows_passes(wanted):
        analyse = _Known(analyse())
    return Specialisation(wanted, analyse, None, None, None, reading=reading)


def _shows_passes(wanted: Compilation) -> bool:
    """Whether somebody debugs, and wants to see what every pass makes."""
    return bool(wanted.tools.debug) or wanted.tools.dump is not None


def _on_cpu(source: Source, wanted: Compilation) -> Specialisation:
    ready, place = recall(source, wanted)
    analyse: Callable[[], Analysed] = partial(_analysed, source, wanted, place.outside)
    is_new = ready is None
    if ready is None and wanted.semantics.checks == "all" and not _shows_passes(wanted):
        reading = compiler.read(source, wanted, place.outside)
        analyse = partial(compiler.analysed_further, source, reading, wanted)
        ready = ready_of(compiler.checked_program_of(reading, wanted), reading.written, reading.constants)
    elif ready is None:
        found = analyse()
        analyse = _Known(found)
        ready = ready_of(compiler.program_of(found, wanted), found.written, found.constants)
    try:
        artifact, executable = _loaded(ready.program, wanted.tools)
    except UnwritableError as error:
        warn_once("nothing can be written", f"{error.args[0]}: kernels run in the slow interpreter. {MAKE_ROOM}")
        return Specialisation(wanted, analyse, None, None, None)
    if is_new:  # last: what the compiler refuses is not worth remembering
        remember(ready, place, wanted.tools)
    made = Specialisation(wanted, analyse, ready, artifact, executable)
    for told in WATCHERS:
        told(source, made, place.outside.asked)
    return made


def _from_ahead(source: Source, wanted: Compilation, ahead: Ahead) -> Specialisation:
    """What is told of its loops are the steps that they were given where they were compiled."""

    def analyse() -> Analysed:
        found = _analysed(source, wanted._replace(schedule=ahead.schedule or wanted.schedule), ahead.place.outside)
        decisions = tuple(replace(one, why=one.why and BUILT) for one in found.recipe.decisions)
        return replace(found, recipe=replace(found.recipe, decisions=decisions))

    return Specialisation(wanted, analyse, ahead.ready, ahead.artifact, ahead.executable)
