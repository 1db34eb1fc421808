"""What chooses for one kernel: measurements from the store become choices, calls become measurements, and where a
kernel has run for long, other variants are tried beside it by an Experimenter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from loopwright.choice.adapt import Adaptive, Decision, Standing
from loopwright.choice.base import Measured
from loopwright.choice.experimenter import CandidateSearch, Experimenter
from loopwright.choice.explore import Experiment
from loopwright.choice.predictors import Predictors
from loopwright.config import Config
from loopwright.errors import is_of_a_handler, warn_once
from loopwright.ir.signature import ArrayArgument, ScalarArgument, Shape, Signature, shape_of
from loopwright.ir.variant import Variant, default_variant
from loopwright.memory.sampled import APART_NS
from loopwright.profile.features import PER_ARRAY, row_features
from loopwright.profile.journal import Journal
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import ANY, WORK, ChoiceRecord
from loopwright.profile.work_form import WorkForm

OBSERVING_NS = 200_000
"""What telling of calls is taken to cost before it was measured."""

OBSERVING_SHARE = 0.01
"""Of the time of calls, what telling of them may cost."""

MAKING_NS = 1_000_000_000
"""What an experiment takes beside running, until one was made: to start a process, and to compile."""

SEARCH_NS = 400_000_000
"""What has to be earned to look for candidates once, and what that may take: to make a space and the first few of its
members. A call waits for it."""

NEVER = 2**62
MOST_FEATURED = 512


def chooser_of(
    default: Measured,
    config: Config,
    journal: Journal,
    machines: Mapping[str, str],
    rows: Sequence[Measurement],
    resident: bool,
    experimenter: Callable[[], Experimenter],
    look_ns: int | None,
) -> KernelChooser | None:
    """For calls of this kernel under these options; None where there is nothing to choose by. machines: fingerprints by
    device; rows: all that was measured of the kernel there; resident: its arrays are on a GPU. experimenter: asked for
    only where it is needed. look_ns: nobody has tuned this kernel, so that candidates have to be found first: for how
    long the default has served, which pays for it."""
    form = form_of(default, journal, experimenter)
    alike = [row for row in rows if len(row.shape.features) == PER_ARRAY * len(form.row_pointers)]
    if resident and not form.knows_copies:  # times with copies and without could not be told apart
        return None
    found = KernelChooser(default.fingerprint, config, form, journal, machines, alike, experimenter, resident)
    if look_ns is not None:
        found.search(look_ns)
    return found


class KernelChooser:
    """See choice.base.Chooser: an `Adaptive` with all that it needs from the world."""

    over = False

    def __init__(
        self,
        kernel: str,
        config: Config,
        form: WorkForm,
        journal: Journal,
        machines: Mapping[str, str],
        rows: Sequence[Measurement],
        experimenter: Callable[[], Experimenter],
        resident: bool = False,
    ) -> None:
        self._resident = resident
        self._kernel, self._form, self._journal, self._machines = kernel, form, journal, machines
        self._experimenter = experimenter
        default = default_variant(config)
        self._predictors = Predictors(kernel, journal, machines, rows, default, config.threads)
        # The default of these options comes first: with other numbers of threads there are more like it.
        self._variants = tuple(dict.fromkeys((default, *self._predictors.measured, *_simple(config))))
        self._predictors.put_in_order(self._variants)
        self._search: CandidateSearch | None = None
        self._has_searched = False
        self._observing_ns = float(OBSERVING_NS)
        self._pending: Experiment | None = None
        self._featured: dict[tuple[int, ...], Shape] = {}
        self._decisions: dict[Shape, Decision] = {}
        self.adaptive = Adaptive(
            kernel,
            machines,
            self._variants,
            self._predictors.predict,
            now=time.time,
            history=[row if self._is_alike(row) else replace(row, runs=0) for row in rows],
            sink=lambda found: journal.add(*found),
            share=0.05 if config.explore else 0.0,
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
        what = (self._kernel, machine, decision.shape, decision.variant, decision.why)
        self._journal.put(ChoiceRecord(*what, time_ns, error, time.time()))

    def standings(self, shape: Shape) -> tuple[Decision, tuple[Standing, ...]]:
        """For reports: what is chosen, and what is known of each candidate."""
        self.choose(shape)
        return self._decisions[shape], self.adaptive.standings(shape)

    def closely(self, shape: Shape) -> int:
        """See Chooser."""
        return 0

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int], calls: int) -> bool:
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

    def search(self, served_ns: int) -> None:
        """From now on, look for candidates. served_ns: how long the default has served, which pays for it."""
        self._search = self._experimenter().search(tuple(self._machines))
        self.adaptive.account.total_ns += served_ns

    def due(self, shape: Shape) -> bool:
        """See Chooser."""
        if self._resident:  # its arguments are not copied
            return False
        if self._wants_more(shape):
            return self.adaptive.account.credit_ns >= SEARCH_NS
        if self._pending is None or self._pending.shape != shape:
            if self._pending is not None:
                self.adaptive.abandon(self._pending)
            self._pending = self.adaptive.explore(shape)
        return self._pending is not None

    def _wants_more(self, shape: Shape) -> bool:
        """Whether candidates are to be looked for: at first, and when none of those found is worth a trial any more."""
        if self._search is None or self._search.over or self._pending is not None:
            return False
        return not self._has_searched or not self.adaptive.wants(shape)

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        """See Chooser."""
        if self._search is not None and self._wants_more(shape):
            self._look(self._search, arguments)
            return
        experiment, self._pending = self._pending, None
        if experiment is None:
            return
        begun = time.perf_counter_ns()
        try:
            serving = self._decisions[shape].variant
            evidence = self._experimenter().evidence(experiment, serving, self._form, arguments)
        except BaseException as error:
            if not isinstance(error, OSError | MemoryError) or is_of_a_handler(error):
                self.adaptive.abandon(experiment, time.perf_counter_ns() - begun)
                raise
            evidence = None
        spent_ns = time.perf_counter_ns() - begun
        if evidence is None:
            self.adaptive.abandon(experiment, spent_ns)
        else:
            self.adaptive.finish(experiment, replace(evidence, spent_ns=spent_ns))

    def _look(self, search: CandidateSearch, arguments: tuple[object, ...]) -> None:
        """More candidates: the most promising members of the space of each device."""
        self._has_searched = True
        begun = time.perf_counter_ns()
        self.adaptive.account.reserve(SEARCH_NS)
        try:
            found = search.more(arguments, SEARCH_NS)
        except Exception as error:  # the call that is about to be made has nothing to do with it
            if is_of_a_handler(error):
                raise
            warn_once("looking", f"no candidates for '{self._kernel[:8]}' are looked for: {error!r}")
            search.over, found = True, ()
        finally:
            self.adaptive.account.settle(SEARCH_NS, time.perf_counter_ns() - begun)
        self._variants = tuple(dict.fromkeys((*self._variants, *found)))
        self._predictors.put_in_order(self._variants)
        self.adaptive.refresh(self._predictors.predict, self._variants)


def form_of(default: Measured, journal: Journal, experimenter: Callable[[], Experimenter]) -> WorkForm:
    """What such calls have to do: as the store knows it, else by analysis."""
    table = journal.table(WORK, ANY, default.fingerprint)
    if table is not None:
        try:
            known = WorkForm.from_json(table.content)
            known.at(Shape((1,) * _size_count(default.signature)))  # it speaks of no size that there is not
            return known
        except (ArithmeticError, LookupError, TypeError, ValueError):  # written by hand, or by another version
            pass
    return experimenter().work_form(journal)


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
