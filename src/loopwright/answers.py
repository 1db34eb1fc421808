"""What a kernel answers when it is asked about itself: what was made of it and why, and what tuning may choose from. It
puts together what others know; no call needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from loopwright.analysis.coalescing import KnownSizes
from loopwright.analysis.counts import trip_counts
from loopwright.analysis.effort import together
from loopwright.analysis.footprint import footprint
from loopwright.compiler import ASKED_FOR, analysed, space_for
from loopwright.config import PLANS, Config, Semantics, current
from loopwright.cost.call_shape import shape_of
from loopwright.devices.base import FRESH
from loopwright.devices.gpus import target_of
from loopwright.devices.launcher import most_threads
from loopwright.frontend.capture import Source
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.plan import Plan
from loopwright.ir.signature import Signature
from loopwright.ir.signature import shape_of as shared_shape
from loopwright.ir.user_text import user_name
from loopwright.ir.variant import Compilation, Variant, compilation_of
from loopwright.memory.device_results import kept_of
from loopwright.memory.gpu_call import GpuExecutable
from loopwright.memory.in_pieces import InPieces
from loopwright.memory.on_device import OnDevice
from loopwright.recipe.layouts import unused
from loopwright.recipe.recipe import Recipe
from loopwright.report.devices import devices_report
from loopwright.report.explain import CountTexts, explain
from loopwright.report.explanation import (
    ChoiceReport,
    CodeRan,
    DecisionReport,
    Explanation,
    Generated,
    GridReport,
    Ran,
    ServedBy,
)
from loopwright.report.grids import grid_reports
from loopwright.runtime.compiled import Compiled
from loopwright.runtime.considered import FailedGuard
from loopwright.runtime.in_use import Run
from loopwright.runtime.sharing import SharedKind, on_one
from loopwright.search.ranges import Ranges
from loopwright.search.space import MOST, Device, Space
from loopwright.specialisation import Specialisation
from loopwright.steps.relayout import Relayout
from loopwright.steps.schedule import as_run, print_schedule
from loopwright.toolchain.cc import find_compiler

OF_THE_CPU = "loops and code are told as the CPU runs them; devices have their own code for their parts"

FOR_EXPLAIN = 8_000_000
"""How many of isl's operations all that is told of one specialisation may take: nobody's call waits for it."""


CAREFUL = "which checks what data say, and proves the rest"


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that an explanation is about. threads: so many it may use. failed: where its sizes fail the
    condition that the code for such calls relies on, in words; default: that code."""

    arguments: tuple[object, ...]
    plan: Plan
    threads: int
    failed: FailedGuard | None = None
    condition: str = ""
    default: Specialisation | None = None


def with_notes(found: Explanation, notes: Sequence[str]) -> Explanation:
    """The same with more notes, before the others."""
    return replace(found, notes=(*notes, *found.notes)) if notes else found


@together(FOR_EXPLAIN)
def explained(
    one: Specialisation,
    choices: tuple[ChoiceReport, ...],
    runs: Sequence[Run],
    shared: Mapping[Compilation, int],
    asked: AskedCall | None = None,
) -> Explanation:
    """All that is told of one specialisation. runs: of the whole kernel; shared: how many calls several devices have
    shared, by what the CPU had for its part. asked: the call that it is about; None where it is about all that this
    code has run."""
    same = [run for run in runs if run.compiled is one]
    if asked is not None:  # calls of this kind, whatever code ran them
        same = [run for run in runs if run.compilation.signature == one.signature]
    many = shared.get(one.compilation, 0)
    if asked is not None:
        many = sum(calls for code, calls in shared.items() if code.signature == one.signature)
    ran = _ran(one, same)
    written, facts = one.analysed.written, one.analysed.facts
    counts = {name: str(count) for name, count in trip_counts(written).items() if count is not None}
    touched = {name: str(count) for name, count in footprint(written).items() if count is not None}
    recipe = one.analysed.recipe
    found = explain(
        as_run(written, one.kernel),
        facts,
        print_schedule(recipe.schedule),
        _generated(one, None if asked is None else asked.arguments),
        ran,
        CountTexts(counts, touched),
        _decided(recipe, choices),
        choices,
        "" if asked is None else str(asked.plan),
        _served_by(one, asked, ran),
        tuple(_notes(one, asked, same)),
    )
    return replace(found, shared_calls=many)


def of_devices(found: Explanation, kind: SharedKind, asked: AskedCall, config: Config) -> Explanation:
    """The explanation of a call that several devices may share. found: of the CPU, if it made the call by itself."""
    failed = "its sizes fail the condition: the CPU runs it, and checks" if asked.failed is not None else ""
    on_host = not any(isinstance(one, OnDevice | InPieces) for one in asked.arguments)
    report, plan = devices_report(kind, shared_shape(asked.arguments), config, failed, on_host)
    if asked.failed is not None:
        return replace(found, devices=report)
    return replace(found, devices=report, plan=str(plan or ""), notes=(*found.notes, OF_THE_CPU))


def with_shared_calls(
    found: Sequence[Explanation],
    compiled: Sequence[Compiled],
    kinds: Sequence[tuple[Signature, Config, SharedKind]],
    config: Config,
) -> list[Explanation]:
    """Explanations of all that each code has run, with the last call that devices shared of the same kind."""
    return [_with_shared_call(told, code, kinds, config) for told, code in zip(found, compiled, strict=False)]


def _with_shared_call(
    found: Explanation, code: Compiled, kinds: Sequence[tuple[Signature, Config, SharedKind]], config: Config
) -> Explanation:
    for signature, asked, kind in reversed(kinds):
        if kind.timelines and compilation_of(signature, on_one(asked, "cpu")) == code.compilation:
            here = config if config.devices == asked.devices and config.plan not in PLANS else asked
            report, _ = devices_report(kind, list(kind.timelines)[-1], here)
            return replace(found, devices=report, notes=(*found.notes, OF_THE_CPU))
    return found


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
        ways=one.program.ways if one.program.device is None else None,
    )


def _grids(one: Specialisation, arguments: tuple[object, ...] | None) -> tuple[GridReport, ...]:
    executable = one.executable
    if not isinstance(executable, GpuExecutable) or executable.program.device is None:
        return ()
    written = one.analysed.written
    shape = KnownSizes({}, {}) if arguments is None else shape_of(written, arguments)
    return grid_reports(one.kernel, written, executable.program.device, executable.gpu, one.compilation.tools, shape)


def _ran(one: Specialisation, runs: Sequence[Run]) -> Ran | None:
    if not runs:
        return None
    runs = sorted(runs, key=lambda run: -run.ended_ns)
    parts = tuple(_code_ran(one, run) for run in runs)
    return Ran(
        device=parts[0].device,
        calls=sum(run.calls for run in runs),
        last_ns=runs[0].last_ns,
        min_ns=min(run.min_ns for run in runs),
        total_ns=sum(run.total_ns for run in runs),
        threads=parts[0].threads,
        parts=parts,
    )


def _code_ran(one: Specialisation, run: Run) -> CodeRan:
    """What some code ran, told beside an explanation of `one`."""
    code, wanted = run.compiled, run.compilation
    assert code is None or isinstance(code, Specialisation)
    threads = run.threads if code is None else _threads(code, run.threads)
    device = _device(code, run.how == "interpreter") if code is not None else wanted.device
    is_other = wanted.schedule != one.compilation.schedule
    return CodeRan(
        variant=str(Variant(wanted.device, wanted.schedule, 0 if wanted.on_gpu else run.threads)) if is_other else "",
        device=device,
        threads=threads,
        calls=run.calls,
        last_ns=run.last_ns,
        min_ns=run.min_ns,
        total_ns=run.total_ns,
        checked=wanted.semantics.checks == "all" and run.how != "interpreter",
        options=_options(one.compilation.semantics, wanted.semantics),
        kept=code is not None,
        early=run.early,
    )


def _options(here: Semantics, there: Semantics) -> str:
    """What of the options differs, but for the checks, which are told apart."""
    found = [f"strict={there.strict}"] if there.strict != here.strict else []
    found += ["no condition on the sizes"] if there.checks == "unguarded" != here.checks else []
    found += [f"deterministic={there.deterministic}"] if there.deterministic != here.deterministic else []
    if there.narrowing_raises != here.narrowing_raises and there.strict == here.strict:  # which strict decides, too
        found.append(f"narrowing={'raise' if there.narrowing_raises else 'wrap'!r}")
    return " and ".join(found)


def _threads(one: Specialisation, threads: int) -> int:
    """How many threads code uses at most, where it is allowed so many; 0 on a GPU."""
    if one.takes_device_arrays:
        return 0
    parallel = one.program is not None and bool(one.program.parallel)
    return min(threads, most_threads()) if parallel else 1


def _served_by(one: Specialisation, asked: AskedCall | None, ran: Ran | None) -> ServedBy:
    if asked is not None:
        allowed = asked.threads
    else:
        allowed = ran.parts[0].threads if ran is not None else 0
    checked = one.compilation.semantics.checks == "all" and one.executable is not None
    interpreted = one.executable is None
    return ServedBy(_device(one, interpreted), _threads(one, allowed) if allowed else 0, checked)


def _notes(one: Specialisation, asked: AskedCall | None, runs: Sequence[Run]) -> Iterator[str]:
    """What is unusual about it."""
    if asked is not None and (loop := _launch_bound(asked)):
        yield f"each iteration of '{loop}' would be launches of little work: the CPU is done sooner with these sizes"
    elif asked is not None and asked.failed is not None:
        if asked.failed.error is not None:
            what = str(asked.failed.error).splitlines()[0]
            then = f"it would raise {what}"
        elif one.compilation.semantics.checks == "all":
            then = "code runs it that checks every access"
        elif one.compilation.semantics.checks == "data":
            then = f"other code runs it, {CAREFUL}"
        else:
            then = "other code runs it, which relies on none"
        fail = f"fail the condition {asked.condition}" if asked.condition else "are no room for all that data may say"
        yield f"the sizes of this call {fail}: {then}"
    elif one.compilation.semantics.checks == "data" and asked is None:
        yield f"this code runs the calls whose sizes are no room for all that data may say: {CAREFUL}"
    elif any(run.how == "checked" for run in runs) and asked is None and one.compilation.semantics.checks == "all":
        condition = one.analysed.facts.guard.text
        yield f"this code runs the calls whose sizes fail the condition {condition}: it checks every access"
    elif one.compilation.semantics.checks == "unguarded" and asked is None:
        yield "this code runs calls whose sizes fail the condition that other code relies on"
    recipe = one.analysed.recipe
    if not any(isinstance(step, Relayout) for step in recipe.schedule):
        compilation = one.compilation
        strict, records = compilation.semantics.strict, compilation.signature.record_bytes
        yield from unused(one.analysed.written, one.analysed.facts, strict, records) if records else ()
    if asked is not None and one.takes_device_arrays and one.returns.values:
        yield from _results_told(one)
    if most_threads() == 1 and one.program is not None and one.program.parallel:
        yield "this process was forked from one that had used several threads: kernels use one here"


def _launch_bound(asked: AskedCall) -> str:
    """The loop for whose launches a GPU would not run the call; '' where that is not why."""
    program = None if asked.failed is None or asked.default is None else asked.default.program
    bounds = () if program is None else program.launch_bounds
    return next((user_name(one.loop) for one in bounds if one.holds(asked.arguments)), "")


def _results_told(one: Specialisation) -> Iterator[str]:
    if current().results == "device" and kept_of(one.returns.values):
        yield "arrays that it makes and returns stay on the GPU, as results='device' says"
    elif any(code == FRESH for code, _ in one.returns.values):
        yield "arrays that it makes and returns are copied to the host; results='device' leaves them on the GPU"


def _device(one: Specialisation, interpreted: bool) -> str:
    if interpreted:
        return "interpreter"
    return f"{one.executable.gpu.name} GPU" if isinstance(one.executable, GpuExecutable) else "cpu"
