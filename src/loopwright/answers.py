"""What a kernel answers when it is asked about itself: what was made of it and why, and what tuning may choose from. It
puts together what others know; no call needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from loopwright.analysis.coalescing import KnownSizes
from loopwright.analysis.counts import trip_counts
from loopwright.analysis.effort import together
from loopwright.analysis.footprint import footprint
from loopwright.compiler import ASKED_FOR, analysed, space_for
from loopwright.config import Config
from loopwright.cost.call_shape import shape_of
from loopwright.devices.gpus import target_of
from loopwright.frontend.capture import Source
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.signature import Signature
from loopwright.ir.user_text import user_name
from loopwright.ir.variant import compilation_of
from loopwright.memory.gpu_call import GpuExecutable
from loopwright.recipe.recipe import Recipe
from loopwright.report.explain import CountTexts, explain
from loopwright.report.explanation import ChoiceReport, DecisionReport, Explanation, Generated, GridReport, Ran
from loopwright.report.grids import grid_reports
from loopwright.runtime.in_use import Run
from loopwright.search.ranges import Ranges
from loopwright.search.space import MOST, Device, Space
from loopwright.specialisation import Specialisation
from loopwright.steps.schedule import as_run, print_schedule
from loopwright.toolchain.cc import find_compiler

FOR_EXPLAIN = 8_000_000
"""How many of isl's operations all that is told of one specialisation may take: nobody's call waits for it."""


@together(FOR_EXPLAIN)
def explained(
    one: Specialisation,
    arguments: tuple[object, ...] | None,
    choices: tuple[ChoiceReport, ...],
    runs: Sequence[Run],
    plan: str = "",
) -> Explanation:
    """All that is told of one specialisation. arguments: of the call that is asked about, None where it is about all of
    them; runs: of the whole kernel; plan: of that call."""
    mine = [run for run in runs if run.compiled is one]
    written, facts = one.analysed.written, one.analysed.facts
    counts = {name: str(count) for name, count in trip_counts(written).items() if count is not None}
    touched = {name: str(count) for name, count in footprint(written).items() if count is not None}
    recipe = one.analysed.recipe
    return explain(
        as_run(written, one.kernel),
        facts,
        print_schedule(recipe.schedule),
        _generated(one, arguments),
        _ran(one, mine),
        CountTexts(counts, touched),
        _decided(recipe, choices),
        choices,
        plan,
    )


def space(
    source: Source,
    signature: Signature,
    config: Config,
    ranges: Ranges | None,
    device: Device | None = None,
    most: int | None = None,
) -> Space:
    """The variants that tuning may choose from for such calls: those of the schedule of the options, where it has
    ranges, else of these ranges, else those that the recipe makes. Raises KernelError, ScheduleError."""
    asked = Ranges(config.schedule) if "{" in config.schedule else ranges
    wanted = compilation_of(signature, replace(config, schedule="", variant=""))
    gpu = target_of(config.device if wanted.on_gpu else "cuda") if wanted.on_gpu or device == "cuda" else CUDA
    return space_for(analysed(source, wanted, gpu=gpu), wanted, asked, device, MOST if most is None else most)


def _decided(recipe: Recipe, choices: tuple[ChoiceReport, ...]) -> tuple[DecisionReport, ...]:
    """Neighbouring steps with one reason together; how loops run is told with the loops. The schedule of a variant that
    was chosen was given to the compiler, but not by the user."""
    chosen = dict.fromkeys(one.why for one in choices if one.serves and not one.pinned)
    given = ASKED_FOR if not chosen else f"chosen: {'; or '.join(chosen)}"
    groups = groupby((one for one in recipe.decisions if one.why), key=lambda one: one.why)
    taken = (
        DecisionReport("; ".join(str(one.step) for one in group), given if why == ASKED_FOR else why)
        for why, group in groups
    )
    alone = (DecisionReport(f"'{user_name(loop)}' in one thread", why) for loop, why in recipe.alone.items())
    return (*taken, *alone)


def _generated(one: Specialisation, arguments: tuple[object, ...] | None) -> Generated | None:
    if one.program is None or one.artifact is None:
        return None
    compiler = find_compiler(one.compilation.tools)
    artifact = one.artifact
    return Generated(
        lines=one.program.text.count("\n"),
        source_path=str(artifact.source_path),
        seconds=artifact.seconds,
        from_cache=artifact.from_cache,
        compiler="" if compiler is None else compiler.version,
        notes=one.program.notes,
        grids=_grids(one, arguments),
        not_on_gpu=one.why_not_gpu,
    )


def _grids(one: Specialisation, arguments: tuple[object, ...] | None) -> tuple[GridReport, ...]:
    executable = one.executable
    if not isinstance(executable, GpuExecutable) or executable.program.device is None:
        return ()
    written = one.analysed.written
    shape = KnownSizes({}, {}) if arguments is None else shape_of(written, arguments)
    return grid_reports(one.kernel, written, executable.program.device, executable.gpu, one.compilation.tools, shape)


def _ran(one: Specialisation, runs: list[Run]) -> Ran | None:
    """The runs of one specialisation together; the threads are those of the last one that was started."""
    if not runs:
        return None
    calls = sum(run.calls for run in runs)
    parallel = one.program is not None and bool(one.program.parallel)
    return Ran(
        device=_device(one, runs[-1]),
        calls=calls,
        last_ns=runs[-1].last_ns,
        min_ns=min(run.min_ns for run in runs),
        total_ns=sum(run.total_ns for run in runs),
        threads=0 if one.takes_device_arrays else runs[-1].threads if parallel else 1,
    )


def _device(one: Specialisation, run: Run) -> str:
    if isinstance(one.executable, GpuExecutable):
        return f"{one.executable.gpu.name} GPU"
    return "interpreter" if run.how == "interpreter" else "cpu"
