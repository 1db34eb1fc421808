"""Tuning: for calls that were recorded, measure variants within a budget, and keep what was found in the store.

For each call: the default variants first, so that there is something to compare with; then, of as many members of the
space as can be made in a part of the budget, those that nothing else surpasses by what is known without running
(cost/); then, from the fastest of them, downhill; last, the fastest few at other sizes (neighbourhood.py). What was
measured before is not measured again, so that tuning goes on where it was ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from loopwright.cost.front import PARETO, front_content, front_from
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import Pruned
from loopwright.devices.gpus import devices_for, gpu_of
from loopwright.ir.signature import Shape
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant, default_variant
from loopwright.predict.model import trees_of
from loopwright.profile.copies import known_copies
from loopwright.profile.journal import Journal
from loopwright.profile.machine import Machine, machine_of
from loopwright.profile.measurement import Measurement, Outcome, Work
from loopwright.profile.records import ANY, TREE, WORK, FittedTable, KernelName
from loopwright.profile.stride import NoMeasurement as Stopped
from loopwright.profile.work_form import WorkForm
from loopwright.search.space import Point
from loopwright.search.strategies import FailedPoint, search
from loopwright.tuning.arguments import read, restore, write
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Setting, Trial, Tried, reference_path
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import TAKEN, Members
from loopwright.tuning.neighbourhood import UNIT, SizeScale, measure_around
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.scaled import scaled
from loopwright.tuning.transfers import measured_copies
from loopwright.tuning.work import sequential_places, work_form

START_S = 60.0
"""What the start of the process, the reference run and compiling may take in one trial, beyond running."""

PATIENCE = 20
"""A candidate that takes so many times as long as the default is given up."""

PLAIN_ITERATIONS = 2e8
"""Up to so many iterations the reference is the loops as they are written, in one thread."""

FIRST = 12
"""Candidates that are measured before the search goes on from the fastest."""

MAKING = 0.35
"""Of the time for a device, for looking at members of its space."""

FEW = 3
"""So many of the fastest are."""


class Budget:
    """Time that may be spent, in seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._end = clock, clock() + seconds

    @property
    def left_s(self) -> float:
        return max(0.0, self._end - self._clock())

    def spent(self) -> bool:
        return self.left_s <= 0.0

    def part(self, share: float) -> Budget:
        """Another one: a part of what is left."""
        return Budget(self.left_s * share, self._clock)


class Progress(Protocol):
    """Who is told how it goes."""

    def begun(self, call: RecordedCall) -> None: ...
    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None: ...


class Silent:
    """Nobody."""

    def begun(self, call: RecordedCall) -> None:
        pass

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        pass


@dataclass(slots=True)
class Tuned:
    """What came of tuning one call. default, best: None where nothing ran. counts: trials by outcome. known: how many
    variants had been measured before. dropped: members that were not run, and why. why_not: why it was not tuned."""

    call: RecordedCall
    default: Measurement | None = None
    best: Measurement | None = None
    counts: dict[Outcome, int] = field(default_factory=dict)
    known: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    why_not: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as the default the best one is; 1 where one of them did not run."""
        if self.default is None or self.best is None or self.default.outcome != "ok":
            return 1.0
        return self.default.time_ns / self.best.time_ns


def tune(
    calls: Sequence[RecordedCall], journal: Journal, budget: Budget, folder: Path, progress: Progress | None = None
) -> list[Tuned]:
    """Tune each of these calls, with a share of the budget by the time it took in the program. folder: for files that
    nobody needs afterwards. What was measured is in the store even where this ends with an exception, ctrl-C too."""
    told = progress or Silent()
    found: list[Tuned] = []
    try:
        _measure_copies(calls, journal)
        for number, call in enumerate(calls):
            weight = sum(one.total_ns for one in calls[number:]) or 1
            told.begun(call)
            found.append(_tuned(call, journal, budget.part(call.total_ns / weight), folder, told))
    finally:
        journal.flush()
    return found


def _measure_copies(calls: Sequence[RecordedCall], journal: Journal) -> None:
    """Of every GPU that some call may run on."""
    for device in dict.fromkeys(device for call in calls for device in devices_for(call.config)):
        gpu = None if device == "cpu" else gpu_of(device)
        machine = None if gpu is None else machine_of(device, calls[0].config)
        if gpu is not None and machine is not None and machine.fingerprint:
            measured_copies(gpu, journal, machine.fingerprint)


def _tuned(call: RecordedCall, journal: Journal, budget: Budget, folder: Path, progress: Progress) -> Tuned:
    result = Tuned(call)
    if call.saved is None:
        result.why_not = "its arguments were not kept: too large, on a GPU, or sharing memory"
    elif call.config.schedule or call.config.variant or call.config.recipe != "auto" or call.config.checks == "all":
        result.why_not = "options in force decide how it runs"
    elif call.config.device == "interpreter" or call.one.executable is None:
        result.why_not = "it runs in the interpreter"
    else:
        form = work_form(call.one.analysed.written, call.one.analysed.facts, call.one.signature)
        put_kernel(journal, call, form)  # first: what is measured until this is ended is of use, and has a name
        with _Trials(call, setting_of(call, form), form, journal, progress, result) as trials:
            _search(trials, budget.part(0.75))
            result.best = trials.best
            if result.best is None and result.default is not None:
                result.why_not = f"no variant ran to its end: {result.default.reason}"
            _around(trials, budget, folder)
        _keep_trees(call, journal)
    return result


def _keep_trees(call: RecordedCall, journal: Journal) -> None:
    """Of a kernel whose time depends on more than its sizes, a tree over features for each variant, where there is
    enough to train one and scikit-learn is there."""
    for device in devices_for(call.config):
        machine = machine_of(device, call.config)
        if machine is None or not machine.fingerprint:
            continue
        alike = len(call.shape.features)
        rows = journal.measurements(call.fingerprint, machine.fingerprint)
        bus = None if device == "cpu" else known_copies(journal, machine.fingerprint)
        try:
            # Without copies where those are known: whoever predicts adds them.
            trees = trees_of(
                (row for row in rows if len(row.shape.features) == alike), {device: bus} if bus is not None else None
            )
        except ModuleNotFoundError:  # one line through all points does then
            return
        if trees:
            content = {str(variant): str(tree) for variant, tree in trees.items()}
            journal.put(FittedTable(TREE, machine.fingerprint, call.fingerprint, content, time.time()))


def setting_of(call: RecordedCall, form: WorkForm, resident: bool = False) -> Setting:
    """What the process that measures is told of a call."""
    config = replace(call.config, explore=False)
    first = default_variant(config)
    is_small = 0 < form.at(call.shape).iterations <= PLAIN_ITERATIONS
    reference = Variant("cpu", PLAIN, 1) if is_small or first.device != "cpu" else first
    text = print_kernel(call.one.analysed.written)
    return Setting(text, call.names, call.written, call.one.signature, config, str(call.saved), reference, resident)


class _Trials:
    """Trials of one call under one shape, each of which is made once, ever."""

    def __init__(
        self,
        call: RecordedCall,
        setting: Setting,
        form: WorkForm,
        journal: Journal,
        progress: Progress,
        result: Tuned,
        shape: Shape | None = None,
    ) -> None:
        self.call, self.form, self.result = call, form, result
        self.shape = shape or call.shape
        self.work: Work = form.at(self.shape)
        self.setting, self._journal, self._progress = setting, journal, progress
        self._isolated = Isolated(setting)
        self.machines: dict[str, Machine] = {}
        for device in devices_for(call.config):
            machine = machine_of(device, call.config)
            if machine is not None:
                self.machines[device] = machine
                journal.put_machine(machine)
        known = [
            row for one in self.machines.values() for row in journal.measurements(call.fingerprint, one.fingerprint)
        ]
        self.rows = {row.variant: row for row in known if row.shape == self.shape and row.source == "tune"}
        self.default = default_variant(call.config)

    def __enter__(self) -> _Trials:
        return self

    def __exit__(self, *error: object) -> None:
        self._isolated.end()

    @property
    def arguments(self) -> tuple[object, ...]:
        """Of the call, for those who ask for sizes."""
        return restore(read(Path(self.setting.saved))).arguments

    @property
    def best(self) -> Measurement | None:
        """The fastest so far."""
        return min((row for row in self.rows.values() if row.outcome == "ok"), key=lambda r: r.time_ns, default=None)

    def fastest(self, count: int) -> list[Variant]:
        """So many, the fastest first."""
        found = sorted((row for row in self.rows.values() if row.outcome == "ok"), key=lambda row: row.time_ns)
        return [row.variant for row in found[:count]]

    def measured(self, variant: Variant) -> Measurement:
        """Of a variant, now or from before."""
        known = self.rows.get(variant)
        if known is not None:
            self.result.known += 1
            return known
        best = self.best
        run_s = (best.time_ns if best else self.call.min_ns) / 1e9
        budget_ns = int(min(2e9, max(2e7, 15 * run_s * 1e9)))
        tried = self._isolated.tried(Trial(variant, budget_ns), START_S + PATIENCE * run_s + 4 * budget_ns / 1e9)
        machine = self.machines[variant.device].fingerprint
        row = Measurement(
            self.call.fingerprint, machine, variant, self.shape, self.work, tried.outcome,
            tried.time_ns, tried.spread, tried.runs, "warm", "tune", time.time(), tried.reason,
        )  # fmt: skip
        self.rows[variant] = row
        self._journal.add(row)
        self._journal.flush()  # now, not some seconds later: a process that is killed loses the trial it is in, no more
        self.result.counts[tried.outcome] = self.result.counts.get(tried.outcome, 0) + 1
        now = self.best
        self._progress.tried(self.call, tried, now.time_ns if now else 0.0)
        return row

    def keep_judged(self, device: str, judged: Mapping[str, Metrics], pruned: Pruned) -> None:
        """What was known of members without running them, and what was made of it, for reports."""
        if not any(metrics.names for metrics in judged.values()):
            return
        content = front_content(front_from(judged, pruned, self.shape.sizes))
        machine = self.machines[device].fingerprint
        self._journal.put(FittedTable(PARETO, machine, self.call.fingerprint, content, time.time()))

    def others(self, setting: Setting, shape: Shape) -> _Trials:
        """The same for another shape."""
        result = Tuned(self.call)
        return _Trials(self.call, setting, self.form, self._journal, self._progress, result, shape)


def _search(trials: _Trials, budget: Budget) -> None:
    trials.result.default = trials.measured(trials.default)
    for variant in _defaults(trials):
        if budget.spent():
            return
        trials.measured(variant)
    for device in trials.machines:
        _search_on(device, trials, budget.part(0.5 if device == "cpu" and len(trials.machines) > 1 else 1.0))


def _defaults(trials: _Trials) -> Iterator[Variant]:
    """The default of each device, other numbers of threads, and loops as they are written."""
    for device in trials.machines:
        if device != "cpu":
            yield Variant(device)
    threads = trials.call.config.threads
    if "cpu" in trials.machines:
        yield Variant("cpu", PLAIN, threads)
        while threads > 1:
            threads //= 2
            yield Variant("cpu", threads=threads)


def _search_on(device: str, trials: _Trials, budget: Budget) -> None:
    """The space of one device: what pruning leaves, then downhill from the best of it."""
    judge = judge_for(trials.call.one, device, trials.call.config, trials.arguments)
    candidates = Members(trials.call.one, device, trials.call.config, judge)
    threads = trials.call.config.threads if device == "cpu" else 0
    pruned = _looked(candidates, trials, device, budget)
    trials.result.dropped |= dict(pruned.dropped)
    trials.keep_judged(device, candidates.judged, pruned)

    def evaluate(point: Point) -> float | FailedPoint:
        schedule = candidates.schedule(point)
        if isinstance(schedule, FailedPoint):
            return schedule
        row = trials.measured(Variant(device, schedule, threads))
        return row.time_ns if row.outcome == "ok" else FailedPoint(row.reason)

    fastest = trials.best
    start = None if fastest is None else candidates.point_of(fastest.variant.schedule)
    search(candidates.downhill(start), evaluate, "local", spent=budget.spent)


def _looked(candidates: Members, trials: _Trials, device: str, budget: Budget) -> Pruned:
    """Look at more and more of the members, and measure the most promising ones each time."""
    threads = trials.call.config.threads if device == "cpu" else 0
    left_s, done = MAKING * budget.left_s, set[str]()

    def measured(schedules: Sequence[str]) -> None:
        for schedule in schedules:
            if schedule not in done and not budget.spent():
                done.add(schedule)
                trials.measured(Variant(device, schedule, threads))

    for upto in (*candidates.looks(), None):
        before_s = budget.left_s
        making = budget.part(min(1.0, left_s / before_s) if before_s else 0.0)
        pruned = candidates.pruned(making.spent, FIRST, upto)
        left_s = max(0.0, left_s - (before_s - budget.left_s))
        measured(pruned.measure if upto is None else pruned.measure[:TAKEN])
    return pruned


def _around(trials: _Trials, budget: Budget, folder: Path) -> None:
    """The fastest variants, and the default, at other sizes, where those can be made up (tuning/neighbourhood.py)."""
    if trials.best is None or trials.call.saved is None or not trials.work.iterations:
        return
    chosen = list(dict.fromkeys([trials.default, *trials.fastest(FEW)]))
    saved, one = read(trials.call.saved), trials.call.one
    deep = sequential_places(trials.form, one.analysed.facts, one.signature)
    alone = [Variant("cpu", threads=1)] if "cpu" in trials.machines and trials.call.config.threads > 1 else []

    def at(scale: SizeScale, again: bool = False) -> float | Stopped:
        """Nanoseconds an iteration of the default takes; the others beside it."""
        made = None if budget.spent() else scaled(saved, scale.grid / UNIT, deep, scale.depth / UNIT)
        if made is None:
            return Stopped("no time is left, or no such arguments can be made")
        path = folder / f"{saved.size_bytes}x{scale.grid}x{scale.depth}"
        try:
            write(made[0], path)
            with trials.others(replace(trials.setting, saved=str(path)), made[1]) as others:
                if again:
                    others.rows.clear()
                # Of small calls, one thread may be the fastest.
                variants = dict.fromkeys([*chosen, *(alone if scale.grid < UNIT else [])])
                rows = [others.measured(variant) for variant in variants if not budget.spent()]
        except OSError as error:
            return Stopped(f"the arguments cannot be kept: {error}")
        finally:
            path.unlink(missing_ok=True)
            reference_path(str(path)).unlink(missing_ok=True)
        if not rows or rows[0].outcome != "ok":
            return Stopped("the default did not run")
        return rows[0].time_ns / max(1.0, others.work.iterations)

    measure_around(at, bool(deep))


def put_kernel(journal: Journal, call: RecordedCall, form: WorkForm) -> None:
    """Keep what the kernel is called, and the form of its work."""
    written = call.one.analysed.written
    journal.put(KernelName(call.fingerprint, written.name, written.file, print_kernel(replace(written, body=()))))
    journal.put(FittedTable(WORK, ANY, call.fingerprint, form.as_json(), time.time()))


def parse_budget(text: str) -> float:
    """Seconds of `90`, `60s`, `5min`, `1.5h`. Raises ValueError for anything else, and for what is below zero."""
    units = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "": 1.0}
    number = text.strip().rstrip("smihn ")
    unit = text.strip()[len(number) :].strip()
    try:
        seconds = float(number) * units[unit]
    except (ValueError, KeyError):
        raise ValueError(f"a budget reads 60s, 5min or 1h, not {text!r}") from None
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"a budget is a time from 0 on, not {text!r}")
    return seconds
