"""`@lw.kernel`: the object that a user calls. It owns a function's dispatch and answers questions about it."""

from __future__ import annotations

import functools
import inspect
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, overload

from loopwright.analysis.coalescing import Shape
from loopwright.analysis.counts import trip_counts
from loopwright.analysis.footprint import footprint
from loopwright.compiler import ASKED_FOR, analysed, space_for
from loopwright.config import Config, current
from loopwright.frontend.capture import Source, capture
from loopwright.ir.signature import Signature
from loopwright.memory.gpu_call import GpuExecutable
from loopwright.profile.journal import journal_of
from loopwright.recipe.recipe import Recipe
from loopwright.report.call_shape import shape_of
from loopwright.report.explain import Counted, explain
from loopwright.report.explanation import ChoiceReport, DecisionReport, Explanation, Generated, GridReport, Ran
from loopwright.report.grids import grid_reports
from loopwright.runtime.bind import bind
from loopwright.runtime.dispatch import Dispatch
from loopwright.runtime.in_use import Run
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.search.ranges import Ranges
from loopwright.search.space import MOST, Device, Space
from loopwright.specialisation import Specialisation, specialise
from loopwright.steps.schedule import as_run, print_schedule
from loopwright.toolchain.cc import find_compiler
from loopwright.tuning.choices import choice_of, choices_of
from loopwright.tuning.experience import KernelExperience
from loopwright.tuning.recording import Recording
from loopwright.tuning.tune import Budget, Tuned, parse_budget, tune

# Called with each new kernel: the command line reports on all that a script makes, local ones included.
WATCHERS: list[Callable[[LoopKernel], object]] = []


class LoopKernel:
    """A Python function of loops over arrays, run by compiled code. Made by `@lw.kernel`.

    Call it as the function itself: arrays are changed in place, results are Python's. Raises KernelError where the
    function is outside the language, ArgumentTypeError and ArgumentValueError for arguments it cannot take,
    BoundsError for an index outside its array.
    """

    def __init__(self, function: Callable[..., Any], ranges: Ranges | None = None) -> None:
        self.ranges = ranges
        self._source: Source = capture(function)
        functools.update_wrapper(self, function)
        names = tuple(parameter.name for parameter in self._source.parameters)
        defaults = {one.name: one.default for one in self._source.parameters if one.has_default}
        written = [place for place, name in enumerate(names) if name in self._source.written]
        experience = KernelExperience(names, written)
        self._dispatch = Dispatch(self.name, names, defaults, self._source.written, self._specialise, experience)
        for told in WATCHERS:
            told(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._dispatch.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The function's own name."""
        return self._source.name

    @property
    def file(self) -> str:
        """The file that the function stands in."""
        return self._source.file

    @property
    def line(self) -> int:
        """The line of its `def`, from 1."""
        return self._source.line

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What is proven about each loop and array for a call with these arguments, what was generated, which variant
        serves it and why, and what ran so far. It compiles what such a call needs, and runs nothing."""
        prepared = self._dispatch.prepare(args, kwargs)
        considered = self._dispatch.considered(prepared)
        choices = (choice_of(considered, time.time()),)
        return self._explained(_own(considered.compiled), prepared.arguments, choices)

    def explanations(self) -> list[Explanation]:
        """One explanation for each kind of call made so far."""
        served, now = self._dispatch.served(), time.time()
        return [self._explained(one, None, choices_of(one, served, current(), now)) for one in self.specialisations()]

    def specialise(self, *args: Any, **kwargs: Any) -> Specialisation:
        """Compile for a call with these arguments, without running it."""
        return _own(self._dispatch.prepare(args, kwargs).compiled)

    def specialisations(self) -> list[Specialisation]:
        """What is compiled so far, in the order of the first calls."""
        return [_own(compiled) for compiled in self._dispatch.compiled()]

    def tune(self, *args: Any, budget: str | float = "60s", **kwargs: Any) -> Tuned:
        """Measure variants for calls with such arguments, which stay as they are, for about so long: seconds, or a text
        such as `90s`, `5min`. What is found is kept in the store, and serves calls from now on, in later processes too.
        Tuning the same again goes on where it ended. Raises what the call itself would raise before it runs, and
        ValueError for a budget that is none."""
        seconds = parse_budget(budget) if isinstance(budget, str) else parse_budget(f"{budget}s")
        prepared = self._dispatch.prepare(args, kwargs)
        with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
            recording = Recording(Path(folder))
            with recording.of(self._dispatch.parameters, sorted(self._dispatch.written), prepared):
                pass
            (call,) = recording.calls
            (found,) = tune((call,), journal_of(prepared.config), Budget(seconds), Path(folder))
        self._dispatch.learn_anew()
        return found

    def record(self, recording: Recording) -> None:
        """From now on keep every call that is made in a recording."""
        written = sorted(self._dispatch.written)
        self._dispatch.record(lambda prepared: recording.of(self._dispatch.parameters, written, prepared))

    def space(self, *args: Any, device: Device | None = None, most: int = MOST, **kwargs: Any) -> Space:
        """The variants that tuning may choose from for calls with such arguments: those of a schedule with ranges, in
        the options or given to `@lw.kernel`, or those that the recipe makes. It compiles and runs nothing. Raises what
        such a call would raise before it runs."""
        parameters = self._source.parameters
        names = tuple(one.name for one in parameters)
        defaults = {one.name: one.default for one in parameters if one.has_default}
        arguments = as_arguments(bind(self.name, names, defaults, args, kwargs), names)
        config = current()
        ranges = Ranges(config.schedule) if "{" in config.schedule else self.ranges
        written = [position for position, name in enumerate(names) if name in self._source.written]
        signature = signature_of(arguments, written, names)
        found = analysed(self._source, signature, replace(config, schedule=""))
        return space_for(found, config, ranges, device, most)

    def __get__(self, instance: object, owner: type | None = None) -> LoopKernel:
        """A kernel is no method: in a class it stays what it is."""
        return self

    def __reduce__(self) -> str:
        return self._source.function.__qualname__

    def __repr__(self) -> str:
        return f"<loopwright kernel {self.name}{inspect.signature(self._source.function)}>"

    # ---- what the dispatch and the reports need ---------------------------------------------------------------

    def _specialise(self, signature: Signature, config: Config) -> Specialisation:
        return specialise(self._source, signature, config)

    def _explained(
        self, one: Specialisation, arguments: tuple[object, ...] | None, choices: tuple[ChoiceReport, ...]
    ) -> Explanation:
        runs = [run for run in self._dispatch.runs() if run.compiled is one]
        written, facts = one.analysed.written, one.analysed.facts
        counts = {name: str(count) for name, count in trip_counts(written).items() if count is not None}
        touched = {name: str(count) for name, count in footprint(written).items() if count is not None}
        recipe = one.analysed.recipe
        return explain(
            as_run(written, one.kernel),
            facts,
            print_schedule(recipe.schedule),
            _generated(one, arguments),
            _ran(one, runs),
            Counted(counts, touched),
            _decided(recipe, choices),
            choices,
        )


@overload
def kernel(function: Callable[..., Any]) -> LoopKernel:
    """`@lw.kernel`."""


@overload
def kernel(*, schedule: Ranges) -> Callable[[Callable[..., Any]], LoopKernel]:
    """`@lw.kernel(schedule=lw.tunable(...))`."""


def kernel(
    function: Callable[..., Any] | None = None, *, schedule: Ranges | None = None
) -> LoopKernel | Callable[[Callable[..., Any]], LoopKernel]:
    """Decorate a function of plain loops over arrays: from then on, calls run compiled code on every core.
    `@lw.kernel(schedule=lw.tunable(...))` says what tuning is to choose from.

    Raises KernelError at once for what can be told without a call (a lambda, a generator, no source), and at the
    first call for what depends on its types."""
    if schedule is not None and not isinstance(schedule, Ranges):
        raise TypeError(
            f"schedule is lw.tunable(...), not {schedule!r}: one schedule goes into lw.options(schedule=...)"
        )
    if function is None:
        return lambda function: LoopKernel(function, schedule)
    return LoopKernel(function, schedule)


def _own(compiled: object) -> Specialisation:
    assert isinstance(compiled, Specialisation)
    return compiled


def _decided(recipe: Recipe, choices: tuple[ChoiceReport, ...]) -> tuple[DecisionReport, ...]:
    """Neighbouring steps with one reason together; how loops run is told with the loops. The schedule of a variant that
    was chosen was given to the compiler, but not by the user."""
    chosen = dict.fromkeys(one.why for one in choices if one.serves and not one.pinned)
    given = ASKED_FOR if not chosen else f"chosen: {'; or '.join(chosen)}"
    groups = groupby((one for one in recipe.decisions if one.why), key=lambda one: one.why)
    return tuple(
        DecisionReport("; ".join(str(one.step) for one in group), given if why == ASKED_FOR else why)
        for why, group in groups
    )


def _generated(one: Specialisation, arguments: tuple[object, ...] | None) -> Generated | None:
    if one.program is None or one.artifact is None:
        return None
    compiler = find_compiler(one.config)
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
    shape = Shape({}, {}) if arguments is None else shape_of(written, arguments)
    return grid_reports(one.kernel, written, executable.program.device, executable.gpu, one.config, shape)


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
