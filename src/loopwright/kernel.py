"""`@lw.kernel`: the object that a user calls. It owns a function's dispatch and answers questions about it."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from loopwright.choice.base import Measured
from loopwright.choice.experience import KernelExperience
from loopwright.config import CURRENT, Config, KernelOptions, changed, current
from loopwright.deferred import deferred
from loopwright.devices.base import Own
from loopwright.errors import ArgumentTypeError, FieldError, KernelError, describe
from loopwright.frontend.capture import Source, capture, capture_helper
from loopwright.ir.signature import Shape, Signature
from loopwright.ir.variant import Compilation
from loopwright.runtime.dispatch import Dispatch, Prepared, known_kinds
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.specialisation import Specialisation, load_compiler, specialise

if TYPE_CHECKING:
    from loopwright import answers, tracebacks
    from loopwright.frontend import hidden, structured
    from loopwright.frontend.hidden import Hidden
    from loopwright.frontend.structured import Structure
    from loopwright.profile import journal
    from loopwright.report import (
        explanation,
        kernel_summary,
        layout_report,
        path_reports,
        stored_choices,
        stored_timelines,
        tune_progress,
        tune_report,
    )
    from loopwright.report.explanation import Explanation, Explanations
    from loopwright.report.irregular import IrregularReport
    from loopwright.report.layout_report import LayoutReport
    from loopwright.report.tune_report import TuneReport
    from loopwright.runtime.in_use import Run
    from loopwright.search import ranges as search_ranges
    from loopwright.search.ranges import Ranges
    from loopwright.search.space import Device, Space
    from loopwright.tuning import background_experiments, in_planes, recorded_call, recording, remap_inspection, scratch
    from loopwright.tuning import tune as tuning
    from loopwright.tuning.background_experiments import BackgroundExperiments
    from loopwright.tuning.recording import Recording
else:  # what calls do without
    answers = deferred("loopwright.answers")
    tracebacks = deferred("loopwright.tracebacks")
    hidden = deferred("loopwright.frontend.hidden")
    structured = deferred("loopwright.frontend.structured")
    journal = deferred("loopwright.profile.journal")
    explanation = deferred("loopwright.report.explanation")
    kernel_summary = deferred("loopwright.report.kernel_summary")
    layout_report = deferred("loopwright.report.layout_report")
    path_reports = deferred("loopwright.report.path_reports")
    stored_choices = deferred("loopwright.report.stored_choices")
    stored_timelines = deferred("loopwright.report.stored_timelines")
    tune_progress = deferred("loopwright.report.tune_progress")
    tune_report = deferred("loopwright.report.tune_report")
    search_ranges = deferred("loopwright.search.ranges")
    background_experiments = deferred("loopwright.tuning.background_experiments")
    remap_inspection = deferred("loopwright.tuning.remap_inspection")
    in_planes = deferred("loopwright.tuning.in_planes")
    recorded_call = deferred("loopwright.tuning.recorded_call")
    recording = deferred("loopwright.tuning.recording")
    scratch = deferred("loopwright.tuning.scratch")
    tuning = deferred("loopwright.tuning.tune")

# Called with each new kernel: the command line reports on all that a script makes, local ones included.
WATCHERS: list[Callable[[LoopKernel], object]] = []

Answer = TypeVar("Answer")
MOST_STRUCTURES = 64  # ways in which arguments hold others, of one kernel


class _Called:
    """What calls a kernel is in `_call`, and type(self).__call__ is that slot itself: between a call and the launcher
    stands no frame of Python."""

    __slots__ = ("_call",)
    _call: Callable[..., Any]

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


if not TYPE_CHECKING:
    _Called.__call__ = _Called._call


class LoopKernel(_Called):
    """A Python function of loops over arrays, run by compiled code. Made by `@lw.kernel`.

    Call it as the function itself: arrays are changed in place, results are Python's. Raises KernelError where the
    function is outside the language, ArgumentTypeError and ArgumentValueError for arguments it cannot take,
    BoundsError for an index outside its array.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def scale(a, by):
        ...     for i in range(len(a)):
        ...         a[i] *= by
        >>> a = np.arange(4.0)
        >>> scale(a, 2.0)
        >>> a
        array([0., 2., 4., 6.])
        >>> [(loop.source_name, loop.verdict) for loop in scale.explain(a, 2.0).loops]
        [('i', 'parallel')]
        >>> len(scale.explanations())  # one kind of call so far
        1
        >>> with lw.options(store="off"):  # measured, and forgotten at the end of the process
        ...     found = scale.tune(a, 1.0, budget="0s")
        >>> found.gain  # a budget of 0 measures the default variant alone
        1.0
        >>> scale.py_func(a, 0.5)  # Python itself
        >>> scale.name, scale.line
        ('scale', 2)
    """

    def __init__(self, function: Callable[..., Any], ranges: Ranges | None = None) -> None:
        self._is_static = isinstance(function, staticmethod)
        function = function.__func__ if isinstance(function, staticmethod) else function
        self._set_up(capture_helper(function), ranges)
        for told in WATCHERS if not str(function.__module__).startswith("loopwright.") else ():
            told(self)

    def _set_up(self, source: Source, ranges: Ranges | None) -> None:
        self.ranges, self._source = ranges, source
        self._expanded: dict[tuple[Structure, ...], LoopKernel] = {}
        self._holds_objects = False  # some arguments were objects with fields
        self._wider: tuple[LoopKernel, Hidden] | None = None  # the same, with arguments that callers do not write
        functools.update_wrapper(self, source.function)
        self._dispatch = Dispatch(
            self.name,
            tuple(parameter.name for parameter in self._source.parameters),
            {} if self._source.structures else self._source.function,
            self._source.written,
            self._specialise,
            KernelExperience(self._experimenter, source.name, source.file, lambda c: remap_inspection.remapping_of(c)),
            self._refused_as_method,
            self._call_by_structure,
            self._source.indices,
            load_compiler,
            self._after,
            self._own_options(),
            lambda *shared: stored_timelines.keep(source.name, source.file, self._dispatch.parameters, *shared),
            lambda: in_planes.plane_compiler(self.specialise, kernel_with),
        )
        self._call = self._called
        self._dispatch.call = self._dispatch.call if source.variadic is None else self._variadic_call
        args = source.definition.tree.args
        self._is_restricted = not source.structures and bool(args.kwonlyargs or args.posonlyargs)

    def _refuse_other_ways(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Raise TypeError, as the function would, for an argument that must not be given by position, or by name."""
        written = self._source.definition.tree.args
        most = len(written.posonlyargs) + len(written.args)
        if len(args) > most and written.vararg is None:
            raise TypeError(f"{self.name}() takes {most} positional arguments but {len(args)} were given")
        if named := ", ".join(sorted({one.arg for one in written.posonlyargs} & kwargs.keys())):
            raise TypeError(f"{self.name}() got positional-only arguments passed as keyword arguments: '{named}'")

    def _variadic_call(self, *args: object, **kwargs: object) -> object:
        call, leaves = self._call_by_structure(self._bound(args, kwargs))  # type: ignore[misc]  # `*args` holds others
        return call(*leaves)

    def _bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """The value of each parameter; that of `*args` is a tuple. Raises TypeError as the function would."""
        if (place := self._source.variadic) is None:
            return self._dispatch.bound(args, kwargs)
        several = self._source.parameters[place].name
        if several in kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{several}'")
        return self._dispatch.bound(args[:place], {**kwargs, several: tuple(args[place:])})

    def _by_structure(self, given: Sequence[object]) -> tuple[LoopKernel, Sequence[object]] | None:
        """For a call in which arguments hold others: the kernel with a parameter for each, and its arguments."""
        structures = structured.structures_of(self._source, given)
        if not any(structures):
            return None
        if (known := self._expanded.get(structures)) is None:
            found = zip((one.name for one in self._source.parameters), structures, strict=True)
            known = self._like(structured.expanded(self._current(), dict(found)))
            if len(self._expanded) >= MOST_STRUCTURES:
                self._expanded.clear()
            self._expanded[structures] = known
            self._holds_objects |= any(map(structured.holds_object, structures))
            with suppress(ValueError):
                if self._source.variadic is None:
                    self._dispatch.expand(structured.for_launcher(known._source, given, structures), known)
        pairs = list(zip(given, structures, strict=True))
        structured.refuse_shared(known._source, pairs)
        return known, [leaf for value, structure in pairs for leaf in structured.leaves(value, structure)]

    def _call_by_structure(self, given: Sequence[object]) -> tuple[Callable[..., object], Sequence[object]] | None:
        found = self._by_structure(given)
        return None if found is None else (structured.giving_back(found[0], found[0]._source, given), found[1])

    def _serving(
        self, args: Sequence[object], kwargs: Mapping[str, object], compiles: bool = False
    ) -> tuple[LoopKernel, Sequence[object]] | None:
        is_plain = self._source.variadic is None and known_kinds(args, kwargs)
        found = None if is_plain else self._by_structure(self._bound(args, kwargs))
        if found is None and self._wider is None and compiles:
            try:
                self._dispatch.prepare(args, kwargs)
            except hidden.NeededError as needed:
                self._with_hidden(needed.hidden)
        if found is None and self._wider is not None:
            made, more = self._wider
            arguments = (*self._dispatch.bound(args, kwargs), *more.sample())
            return made._serving(arguments, {}) or (made, arguments)
        return found

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """A call until the launcher answers them by itself, and those that it cannot."""
        if self._is_restricted:
            self._refuse_other_ways(args, kwargs)
        try:
            return self._dispatch.call(*args, **kwargs)
        except Exception as error:
            call = self._after(error)
            if isinstance(call, Exception):
                raise call from error.__cause__
        finally:
            direct = (None if self._is_restricted else self._dispatch.direct) or self._called
            self._call = structured.with_fields(self._variadic_call, direct) if self._holds_objects else direct
        return call(*args, **kwargs)

    def _after(self, error: Exception) -> Exception | Callable[..., object]:
        """What is raised in the place of an error, or what makes the call after all."""
        if isinstance(error, FieldError):  # for who has the objects, and not their fields, it is another call now
            return error if self._source.structures else structured.with_fields(self._variadic_call)
        return self._with_hidden(error.hidden) if isinstance(error, hidden.NeededError) else tracebacks.for_user(error)

    def _like(self, source: Source) -> LoopKernel:
        """The kernel of another function, with the same options."""
        made = LoopKernel.__new__(type(self))
        vars(made).update((k, v) for k, v in vars(self).items() if k in ("_is_static", "_changes", "_found"))
        made._set_up(source, self.ranges)
        return made

    def _own_options(self) -> Own | None:
        return None

    def _with_hidden(self, more: Hidden) -> Callable[..., object]:
        """From now on calls are those of a kernel that takes these arguments too."""
        made = self._like(hidden.expanded(self._current(), more))

        def call(*args: object, **kwargs: object) -> object:
            return more.run(made, self._dispatch.bound(args, kwargs))

        self._wider, self._call = (made, more), self._called
        self._dispatch.complete(call, made, self._called, hidden.found_by_launcher(more, self._source))
        return call

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

    @property
    def py_func(self) -> FunctionType:
        """The Python function itself."""
        return self._source.function

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What is proven about each loop and array for a call with these arguments, what was generated, which variant
        serves it and why, and what ran so far. It compiles what such a call needs, and runs nothing."""
        args, told = self._dispatch.laid_out(args)
        return answers.with_notes(self._explained(args, kwargs), told)

    def _explained(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Explanation:
        if (other := self._serving(args, kwargs, compiles=True)) is not None:
            return other[0].explain(*other[1])
        prepared = self._dispatch.prepare(args, kwargs)
        considered = self._dispatch.considered(prepared)
        one, told = _own(considered.compiled), stored_choices.choice_of(considered, time.time())
        threads = considered.plan.shares[0].variant.threads or considered.config.threads
        default = _own(considered.default)
        relied = "" if considered.failed is None else default.analysed.facts.guard.text
        asked = answers.AskedCall(prepared.arguments, considered.plan, threads, considered.failed, relied, default)
        found = answers.explained(one, (told,), self._dispatch.runs(), self._dispatch.shared_calls, asked)
        if len(current().devices) < 2:
            return found
        shared, _ = self._dispatch.sharing.told(prepared.arguments, prepared.signature, current())
        return answers.of_devices(found, shared, asked, current())

    def explanations(self) -> Explanations:
        """One explanation for all that was compiled so far: for each kind of call, and for each way to run it."""
        served, config, now = self._dispatch.served(), current(), time.time()
        runs, shared = self._dispatch.runs(), self._dispatch.shared_calls
        own = [
            answers.explained(one, stored_choices.choices_of(one, served, config, now), runs, shared)
            for one in map(_own, self._dispatch.compiled())
        ]
        own = answers.with_shared_calls(own, self._dispatch.compiled(), self._dispatch.shared(), config)
        return explanation.Explanations(own + [told for other in self._others() for told in other.explanations()])

    def irregular(self, *args: Any, **kwargs: Any) -> IrregularReport:
        """How the iterations of each loop depend on data in a call with these arguments, and what that costs a GPU's
        warps, as they stand and sorted by their paths. It looks at all of them, on the CPU; no argument changes."""
        if (other := self._serving(args, kwargs, compiles=True)) is not None:
            return other[0].irregular(*other[1])
        return _irregular(self._dispatch.prepare(args, kwargs))

    def layouts(self, *args: Any, **kwargs: Any) -> LayoutReport:
        """The fraction of the moved bytes that a call with these arguments uses, for each array as it lies and in other
        layouts (docs/layouts.md): counted in some iterations, on the CPU, and no argument changes."""
        if (other := self._serving(args, kwargs, compiles=True)) is not None:
            return other[0].layouts(*other[1])
        prepared = self._dispatch.prepare(args, kwargs)
        one = _own(prepared.compiled)
        record_bytes = one.compilation.signature.record_bytes
        return layout_report.layout_report(one.analysed.written, prepared.arguments, record_bytes)

    def specialise(self, *args: Any, **kwargs: Any) -> Specialisation:
        """Compile for a call with these arguments, without running it."""
        if (other := self._serving(args, kwargs, compiles=True)) is not None:
            return other[0].specialise(*other[1])
        return _own(self._dispatch.prepare(args, kwargs).compiled)

    def specialisations(self) -> list[Specialisation]:
        """The kinds of calls that are compiled so far, in the order of their first calls."""
        own = [_own(compiled) for compiled in self._dispatch.compiled()]
        return own + [made for other in self._others() for made in other.specialisations()]

    def _others(self) -> list[LoopKernel]:
        """The kernels that make calls for this one: those with a parameter for each item that arguments hold, and the
        one that takes arguments which callers do not write."""
        return [*self._expanded.values(), *([] if self._wider is None else [self._wider[0]])]

    def tune(self, *args: Any, budget: str | float = "60s", **kwargs: Any) -> TuneReport:
        """Measure variants for calls with such arguments, which do not change. budget: about how long, in seconds or
        as a text such as `90s`, `5min`. The results are kept in the store, and serve calls from now on, in later
        processes too. Tuning again continues where it ended. Raises what the call itself would raise before it runs,
        and ValueError for an invalid budget, and under `deterministic=True`, where only the default variant serves."""
        if (other := self._serving(args, kwargs)) is not None:
            return other[0].tune(*other[1], budget=budget)
        seconds = tuning.parse_budget(budget if isinstance(budget, str) else f"{budget}s")
        if current().deterministic:
            raise ValueError(
                f"{self.name}.tune under deterministic=True: other variants may round otherwise, so none but the "
                "default one serves such calls, and there is nothing to tune"
            )
        prepared = self._dispatch.prepare(args, kwargs)
        with scratch.working_folder() as folder:
            recorded = recording.Recording(folder)
            with recorded.of(self._dispatch.parameters, sorted(self._dispatch.written), prepared):
                pass
            store, budgeted = journal.journal_of(prepared.config), tuning.Budget(seconds)
            with tune_progress.tune_bar(seconds) as bar:
                (found,) = tuning.tune(recorded.calls, store, budgeted, folder, bar)
        self._dispatch.learn_anew()
        return tune_report.TuneReport.of(found)

    def record(self, recording: Recording) -> None:
        """From now on keep every call that is made in a recording."""
        written = sorted(self._dispatch.written)
        self._dispatch.record(lambda prepared: recording.of(self._dispatch.parameters, written, prepared))
        self._call = self._called

    def look_at_calls(self, told: Callable[[IrregularReport], object]) -> None:
        """From now on tell what `irregular` says of the first call of each kind, before it is made."""
        seen: set[tuple[Signature, str]] = set()

        def look(prepared: Prepared) -> AbstractContextManager[None]:
            if (kind := (prepared.signature, prepared.config.device)) not in seen:
                seen.add(kind)
                told(_irregular(prepared))
            return nullcontext()

        self._dispatch.record(look)
        self._call = self._called

    def space(self, *args: Any, device: Device | None = None, most: int | None = None, **kwargs: Any) -> Space:
        """The variants that tuning may choose from for calls with such arguments: those of a schedule with ranges, in
        the options or given to `@lw.kernel`, or those that the recipe makes. It compiles and runs nothing. Raises what
        such a call would raise before it runs. most: of their points (search.space.MOST)."""
        if (other := self._serving(args, kwargs)) is not None:
            return other[0].space(*other[1], device=device, most=most)
        names = self._dispatch.parameters
        arguments = as_arguments(self._dispatch.bound(args, kwargs), names)
        signature = signature_of(arguments, sorted(self._dispatch.written), names, self._dispatch.indices)
        return answers.space(self._current(), signature, current(), self.ranges, device, most)

    def __get__(self, instance: object, owner: type | None = None) -> LoopKernel | MethodType:
        """In a class it is bound as a function would be: what it is asked for through is its first argument, which only
        an array can be. Below or above `@staticmethod` it stays what it is."""
        return self if instance is None or self._is_static else MethodType(self, instance)

    def __reduce__(self) -> str:
        return self._source.function.__qualname__

    def __repr__(self) -> str:
        return kernel_summary.kernel_line(*self._summary())

    def _repr_html_(self) -> str:
        return kernel_summary.kernel_html(*self._summary())

    def _summary(self) -> tuple[str, str, list[Compilation], list[Run], int]:
        """The name, the parameters, what is compiled, what ran, and how many calls several devices have shared."""
        dispatches = [self._dispatch, *(other._dispatch for other in self._others())]
        compiled = [code.compilation for one in dispatches for code in one.codes]
        runs = [run for one in dispatches for run in one.runs()]
        shared = sum(one.shared_calls.total() for one in dispatches)
        return self.name, str(inspect.signature(self._source.function)), compiled, runs, shared

    def _refused_as_method(self, args: Sequence[object], error: TypeError) -> TypeError:
        """A better error for a call through an object whose class has this kernel, where the object was the trouble."""
        owner = args[0] if args else None
        kind, parameters = owner if isinstance(owner, type) else type(owner), self._source.parameters
        held = [one for base in kind.__mro__ for one in vars(base).values()]
        if hasattr(owner, "dtype") or not any(getattr(one, "__func__", one) is self for one in held):
            return error  # an array, or no method
        what = f"'{self.name}' is called as a method of '{kind.__name__}': {error}"
        at = self._source.definition.at_name()
        if isinstance(error, ArgumentTypeError):
            name = parameters[0].name
            if not str(error).startswith(f"argument '{name}':"):
                return error
            whose = "the class" if kind is owner else "an object of class"
            what, at = f"'{name}' is {whose} '{kind.__name__}', and no array", self._source.at_parameter(0)
        why = "a kernel takes arrays and numbers, no objects"
        remedy = f"write @staticmethod above it, or '{self.name}' outside the class, and pass it its arrays"
        return ArgumentTypeError(describe("ArgumentTypeError", what, at, why, remedy))

    # ---- what the dispatch needs ------------------------------------------------------------------------------

    def _specialise(self, wanted: Compilation) -> Specialisation:
        return specialise(self._current(), wanted)

    def _experimenter(self, default: Measured, config: Config) -> BackgroundExperiments:
        names, written = self._dispatch.parameters, tuple(sorted(self._dispatch.written))
        call = recorded_call.RecordedCall(_own(default), names, written, config, Shape(()), None)
        return background_experiments.BackgroundExperiments(call)

    def _current(self) -> Source:
        """The function as it is now: its code may have been replaced. Raises KernelError where that cannot be told
        from outside: its parameters are others, or it writes others."""
        old = self._source
        if old.function.__code__ is not old.code:
            new = capture(old.function)
            new = structured.expanded(new, old.structures) if old.structures else new
            new = hidden.again(new, old) if old.structures else new
            if [one.name for one in new.parameters] != [one.name for one in old.parameters] or (
                (new.written, new.indices) != (old.written, old.indices)
            ):
                raise KernelError(
                    f"the code of '{old.name}' was replaced by code with other parameters",
                    new.definition.at_name(),
                    "a kernel knows from the start which parameters it has, and which of them it writes",
                    "make a kernel of the new function",
                )
            self._source = new
        return self._source


class KernelWithOptions(LoopKernel):
    """A kernel that has options of its own: they hold in each of its calls, whatever is in force where it is called."""

    def __init__(self, function: Callable[..., Any], ranges: Ranges | None, changes: Mapping[str, Any]) -> None:
        self._changes = dict(changes)
        self._found = (here := current()), changed(here, self._changes)
        super().__init__(function, ranges)

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of this kernel, by their names."""
        return dict(self._changes)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        return self._here(super()._called, *args, **kwargs)

    def _own_options(self) -> Own:
        return self._own_config

    def _own_config(self, here: Config) -> Config:
        found = self._found
        if found[0] is not here:
            found = self._found = here, changed(here, self._changes)
        return found[1]

    def _here(self, asked: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        def answer() -> Answer:
            CURRENT.set(self._own_config(current()))
            return asked(*args, **kwargs)

        return copy_context().run(answer)  # interrupted anywhere, no option stays behind

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        return self._here(super().explain, *args, **kwargs)

    def explanations(self) -> Explanations:
        return self._here(super().explanations)

    def irregular(self, *args: Any, **kwargs: Any) -> IrregularReport:
        return self._here(super().irregular, *args, **kwargs)

    def layouts(self, *args: Any, **kwargs: Any) -> LayoutReport:
        return self._here(super().layouts, *args, **kwargs)

    def specialise(self, *args: Any, **kwargs: Any) -> Specialisation:
        return self._here(super().specialise, *args, **kwargs)

    def tune(self, *args: Any, budget: str | float = "60s", **kwargs: Any) -> TuneReport:
        return self._here(super().tune, *args, budget=budget, **kwargs)

    def space(self, *args: Any, device: Device | None = None, most: int | None = None, **kwargs: Any) -> Space:
        return self._here(super().space, *args, device=device, most=most, **kwargs)


@overload
def kernel(function: Callable[..., Any]) -> LoopKernel:
    """`@lw.kernel`."""


@overload
def kernel(
    *, schedule: Ranges | None = None, **options: Unpack[KernelOptions]
) -> Callable[[Callable[..., Any]], LoopKernel]:
    """`@lw.kernel(schedule=lw.tunable(...))`, `@lw.kernel(threads=4, strict=True)`."""


def kernel(
    function: Callable[..., Any] | None = None, *, schedule: Ranges | None = None, **options: Any
) -> LoopKernel | Callable[[Callable[..., Any]], LoopKernel]:
    """Decorate a function of plain loops over arrays: from then on, calls run compiled code on every core.
    `@lw.kernel(schedule=lw.tunable(...))` gives tuning the schedules to choose from. All options of `lw.options` can be
    set for one kernel, `@lw.kernel(threads=4, strict=True)`: in its calls they take precedence over all others.

    Raises KernelError at once for problems that show without a call (a lambda, no source text), and at the
    first call for those that depend on types; TypeError for an unknown option, ValueError for an impossible value.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def smooth(a, b):
        ...     for i in range(1, len(a) - 1):
        ...         b[i] = 0.5 * (a[i - 1] + a[i + 1])
        >>> b = np.zeros(5)
        >>> smooth(np.arange(5.0) ** 2, b)
        >>> b
        array([ 0.,  2.,  5., 10.,  0.])
        >>> @lw.kernel(threads=4, strict=True)
        ... def total(a):
        ...     s = 0.0
        ...     for x in a:
        ...         s += x
        ...     return s
        >>> total.options
        {'threads': 4, 'strict': True}
    """
    if schedule is not None and not isinstance(schedule, search_ranges.Ranges):
        raise TypeError(
            f"schedule is lw.tunable(...), not {schedule!r}: one schedule goes into lw.options(schedule=...)"
        )
    if options:
        changed(current(), options)  # raises at once, not where the decorator is used
    if function is None:
        return lambda function: kernel_with(function, schedule, options)
    return kernel_with(function, schedule, options)


def kernel_with(function: Callable[..., Any], schedule: Ranges | None, options: Mapping[str, Any]) -> LoopKernel:
    """The kernel of a function with options of its own, maybe none."""
    return KernelWithOptions(function, schedule, options) if options else LoopKernel(function, schedule)


def _irregular(prepared: Prepared) -> IrregularReport:
    found = _own(prepared.compiled).analysed
    return path_reports.irregular(found.written, found.facts, prepared.arguments)


def _own(compiled: object) -> Specialisation:
    assert isinstance(compiled, Specialisation)
    return compiled
