"""What chooses for one kernel: measurements from the store become choices, calls become measurements, and where a
kernel has run for long, other variants are tried beside it, in a process apart.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loopwright.choice.adapt import Adaptive, Decision, Standing
from loopwright.choice.explore import Evidence, Experiment
from loopwright.choice.variants import default_variant
from loopwright.config import Config
from loopwright.deferred import deferred
from loopwright.errors import warn_once
from loopwright.ir.signature import ArrayArgument, ScalarArgument, Signature
from loopwright.memory.on_device import is_on_device
from loopwright.memory.sampled import APART_NS
from loopwright.profile.features import PER_ARRAY, row_features
from loopwright.profile.journal import Journal
from loopwright.profile.measurement import Measurement, Shape, Variant, Work, shape_of
from loopwright.profile.records import ANY, WORK, Choice
from loopwright.profile.work_form import WorkForm
from loopwright.tuning.predictors import Predictors
from loopwright.tuning.recorded_call import RecordedCall

if TYPE_CHECKING:
    from loopwright.tuning import arguments as files
    from loopwright.tuning import isolated, jobs, looking, scratch, work
    from loopwright.tuning import tune as tuning
    from loopwright.tuning.jobs import Setting, Tried
    from loopwright.tuning.looking import Looking
else:  # what a choice among known variants does without
    files = deferred("loopwright.tuning.arguments")
    isolated = deferred("loopwright.tuning.isolated")
    jobs = deferred("loopwright.tuning.jobs")
    looking = deferred("loopwright.tuning.looking")
    scratch = deferred("loopwright.tuning.scratch")
    tuning = deferred("loopwright.tuning.tune")
    work = deferred("loopwright.tuning.work")

OBSERVING_NS = 200_000
"""What telling of calls is taken to cost before it was measured."""

OBSERVING_SHARE = 0.01
"""Of the time of calls, what telling of them may cost."""

MAKING_NS = 1_000_000_000
"""What an experiment takes beside running, until one was made: to start a process, and to compile."""

LOOKING_NS = 400_000_000
"""What has to be earned to look for candidates once, and what that may take: to make a space and the first few of its
members. A call waits for it."""

MOST_BYTES = 1 << 30
"""Arguments larger than this are not copied for experiments."""

NEVER = 2**62
MOST_FEATURED = 512


def chooser_of(
    call: RecordedCall,
    journal: Journal,
    machines: Mapping[str, str],
    rows: Sequence[Measurement],
    resident: bool,
    look_ns: int | None,
) -> KernelChooser | None:
    """For calls like this one; None where there is nothing to choose by. machines: fingerprints by device; rows: all
    that was measured of the kernel there; resident: its arrays are on a GPU. look_ns: nobody has tuned this kernel, so
    that candidates have to be found first: for how long the default has served, which pays for it."""
    form = _form(call, journal)
    alike = [row for row in rows if len(row.shape.features) == PER_ARRAY * len(form.row_pointers)]
    if resident and not form.knows_copies:  # times with copies and without could not be told apart
        return None
    found = KernelChooser(call, form, journal, machines, alike, resident)
    if look_ns is not None:
        found.look(look_ns)
    return found


class KernelChooser:
    """See runtime.choosing.Chooser: an `Adaptive` with all that it needs from the world."""

    def __init__(
        self,
        call: RecordedCall,
        form: WorkForm,
        journal: Journal,
        machines: Mapping[str, str],
        rows: Sequence[Measurement],
        resident: bool = False,
    ) -> None:
        self._resident = resident
        self._call, self._form, self._journal, self._machines = call, form, journal, machines
        self._default = default_variant(call.config)
        self._predictors = Predictors(call.fingerprint, journal, machines, rows, self._default, call.config.threads)
        # The default of these options comes first: with other numbers of threads there are more like it.
        self._variants = tuple(dict.fromkeys((self._default, *self._predictors.measured, *_simple(call.config))))
        self._predictors.put_in_order(self._variants)
        self._looking: Looking | None = None
        self._looked = False
        self._observing_ns = float(OBSERVING_NS)
        self._pending: Experiment | None = None
        self._featured: dict[tuple[int, ...], Shape] = {}
        self._decisions: dict[Shape, Decision] = {}
        self.adaptive = Adaptive(
            call.fingerprint,
            machines,
            self._variants,
            self._predictors.predict,
            now=time.time,
            history=[row if self._is_alike(row) else replace(row, runs=0) for row in rows],
            sink=lambda found: journal.add(*found),
            share=0.05 if call.config.explore else 0.0,
            make_ns=MAKING_NS,
        )

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        """See Chooser."""
        shape = shape_of(arguments)
        pointers = self._form.row_pointers
        if not pointers:
            return shape
        known = self._featured.get(shape.sizes)
        if known is None:
            if len(self._featured) >= MOST_FEATURED:
                self._featured.clear()
            known = self._featured[shape.sizes] = Shape(shape.sizes, row_features(arguments, pointers))
        return known

    def choose(self, shape: Shape) -> Variant:
        """See Chooser."""
        decision = self.adaptive.choose(shape, self._work(shape))
        if self._decisions.get(shape) is not decision:
            self._decisions[shape] = decision
            self._tell(decision)
        return decision.variant

    def _work(self, shape: Shape) -> Work:
        work = self._form.at(shape)
        return replace(work, inputs_bytes=0.0, outputs_bytes=0.0) if self._resident else work

    def _is_alike(self, row: Measurement) -> bool:
        """Whether its time is one of such calls: with copies, or without. It is evidence in any case."""
        if row.variant.threads or not self._form.knows_copies:
            return True
        return (row.work.inputs_bytes + row.work.outputs_bytes > 0) != self._resident

    def _tell(self, decision: Decision) -> None:
        """Keep a choice, for reports."""
        time_ns = decision.predicted_ns if math.isfinite(decision.predicted_ns) else 0.0
        error = decision.error if math.isfinite(decision.error) else 1.0
        machine = self._machines[decision.variant.device]
        what = (self._call.fingerprint, machine, decision.shape, decision.variant, decision.why)
        self._journal.put(Choice(*what, time_ns, error, time.time()))

    def standings(self, shape: Shape) -> tuple[Decision, tuple[Standing, ...]]:
        """For reports: what is chosen, and what is known of each candidate."""
        self.choose(shape)
        return self._decisions[shape], self.adaptive.standings(shape)

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int]) -> bool:
        """See Chooser."""
        decision = self._decisions.get(shape)
        if decision is None or decision.variant != variant:
            return True
        begun = time.perf_counter_ns()
        opened = self.adaptive.observe(decision, times_ns)
        self._observing_ns += (time.perf_counter_ns() - begun - self._observing_ns) / 8
        # What was learned under one shape may open the choice under others.
        return opened or self.choose(shape) != variant or self.due(shape)

    def failed(self, variant: Variant, reason: str) -> None:
        """See Chooser."""
        self.adaptive.prove(variant, "refused", reason)

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        """See Chooser."""
        apart_ns = int(self._observing_ns / OBSERVING_SHARE)
        if self._resident:  # one call is timed for each stretch of this length, however short it is
            return -(-apart_ns // APART_NS), NEVER
        return NEVER, apart_ns

    def look(self, served_ns: int) -> None:
        """From now on, look for candidates. served_ns: how long the default has served, which pays for it."""
        self._looking = looking.Looking(self._call.one, tuple(self._machines), self._call.config)
        self.adaptive.account.total_ns += served_ns

    def due(self, shape: Shape) -> bool:
        """See Chooser."""
        if self._resident:  # its arguments are not copied
            return False
        if self._wants_more(shape):
            return self.adaptive.account.credit_ns >= LOOKING_NS
        if self._pending is None or self._pending.shape != shape:
            if self._pending is not None:
                self.adaptive.abandon(self._pending)
            self._pending = self.adaptive.explore(shape)
        return self._pending is not None

    def _wants_more(self, shape: Shape) -> bool:
        """Whether candidates are to be looked for: at first, and when none of those found is worth a trial any more."""
        if self._looking is None or self._looking.over or self._pending is not None:
            return False
        return not self._looked or not self.adaptive.wants(shape)

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        """See Chooser."""
        if self._looking is not None and self._wants_more(shape):
            self._look(self._looking, arguments)
            return
        experiment, self._pending = self._pending, None
        if experiment is None:
            return
        begun = time.perf_counter_ns()
        try:
            evidence = self._evidence(experiment, shape, arguments)
        except (OSError, MemoryError):
            evidence = None
        except BaseException:
            self.adaptive.abandon(experiment, time.perf_counter_ns() - begun)
            raise
        spent_ns = time.perf_counter_ns() - begun
        if evidence is None:
            self.adaptive.abandon(experiment, spent_ns)
        else:
            self.adaptive.finish(experiment, replace(evidence, spent_ns=spent_ns))

    def _evidence(self, experiment: Experiment, shape: Shape, arguments: tuple[object, ...]) -> Evidence | None:
        """In a process apart, on copies of the arguments; beside the variant that serves."""
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        if any(map(is_on_device, arrays)) or sum(one.nbytes for one in arrays) > MOST_BYTES:
            return None
        end = time.monotonic() + experiment.limit_ns / 1e9
        with scratch.working_folder() as folder:
            saved = folder / "arguments"
            files.write(files.save(arguments), saved)
            with isolated.Isolated(self._setting(shape, saved)) as process:
                budget_ns = max(1_000_000, experiment.expected_ns // 4)
                beside = process.tried(jobs.Trial(self._decisions[shape].variant, budget_ns), end - time.monotonic())
                if beside.outcome != "ok":  # nothing to compare with; where time ran out, it gets more the next time
                    return Evidence("timeout", reason=beside.reason) if beside.outcome == "timeout" else None
                tried = process.tried(jobs.Trial(experiment.variant, budget_ns), end - time.monotonic())
        return Evidence(tried.outcome, _times(tried), 0, _times(beside), tried.reason)

    def _setting(self, shape: Shape, saved: Path) -> Setting:
        call = replace(self._call, shape=shape, saved=saved)
        return replace(tuning.setting_of(call, self._form), reference=self._default)

    def _look(self, looking: Looking, arguments: tuple[object, ...]) -> None:
        """More candidates: the most promising members of the space of each device."""
        self._looked = True
        begun = time.perf_counter_ns()
        self.adaptive.account.reserve(LOOKING_NS)
        try:
            found = looking.more(arguments, LOOKING_NS)
        except Exception as error:  # the call that is about to be made has nothing to do with it
            warn_once("looking", f"no candidates for '{self._call.fingerprint[:8]}' are looked for: {error!r}")
            looking.over, found = True, ()
        finally:
            self.adaptive.account.settle(LOOKING_NS, time.perf_counter_ns() - begun)
        self._variants = tuple(dict.fromkeys((*self._variants, *found)))
        self._predictors.put_in_order(self._variants)
        self.adaptive.refresh(self._predictors.predict, self._variants)


def _form(call: RecordedCall, journal: Journal) -> WorkForm:
    """What such calls have to do: as the store knows it, else by analysis."""
    table = journal.table(WORK, ANY, call.fingerprint)
    if table is not None:
        try:
            known = WorkForm.from_json(table.content)
            known.at(Shape((1,) * _size_count(call.one.signature)))  # it speaks of no size that there is not
            return known
        except (ArithmeticError, LookupError, TypeError, ValueError):  # written by hand, or by another version
            pass
    form = work.work_form(call.one.analysed.written, call.one.analysed.facts, call.one.signature)
    tuning.put_kernel(journal, call, form)
    return form


def _size_count(signature: Signature) -> int:
    """How many numbers a Shape of such calls has: lengths of arrays, and integer arguments."""
    ranks = (one.rank for one in signature.arguments if isinstance(one, ArrayArgument))
    return sum(ranks) + sum(
        isinstance(one, ScalarArgument) and one.type.kind in ("int", "uint") for one in signature.arguments
    )


def _simple(config: Config) -> tuple[Variant, ...]:
    """Candidates that are there without looking for any."""
    if default_variant(config).device != "cpu":
        return ()
    return (Variant("cpu", threads=1),) if config.threads > 1 else ()


def _times(tried: Tried) -> tuple[int, ...]:
    half = tried.time_ns * tried.spread
    return tuple(int(tried.time_ns + half * side) for side in (-1, 0, 1)) if tried.outcome == "ok" else ()
