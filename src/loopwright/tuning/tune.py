"""Tuning: for calls that were recorded, measure variants within a budget, and keep what was found in the store.

For each call: the default variants first, so that there is something to compare with; then, of as many members of the
space as can be made in a part of the budget, those that nothing else surpasses by what is known without running
(cost/); then, from the fastest of them, downhill; then the fastest and the default by turns, which says what the gain
is (comparison.py); last, the fastest few at other sizes (neighbourhood.py). What was measured before is not measured
again, but for these turns, so that tuning goes on where it was ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

from loopwright.config import Config
from loopwright.cost.flops import flops
from loopwright.cost.prune import Pruned
from loopwright.devices.gpu import Gpu
from loopwright.devices.gpus import devices_for, gpu_of
from loopwright.errors import CompilerError
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant
from loopwright.predict.model import trees_of
from loopwright.profile.arithmetic_rate import ARITHMETIC, measured_peak
from loopwright.profile.copies import known_copies
from loopwright.profile.gpu_peak import peak_bytes_per_s, peak_flop_per_s
from loopwright.profile.journal import Journal
from loopwright.profile.machine import machine_of
from loopwright.profile.memory_rate import LIMITS, MEMORY, last_cache, measured_rate
from loopwright.profile.records import ANY, OPERATIONS, TREE, WORK, FittedTable, KernelName
from loopwright.profile.stride import NoMeasurement as Stopped
from loopwright.profile.work_form import WorkForm
from loopwright.search.space import Point
from loopwright.search.strategies import FailedPoint, search
from loopwright.tuning.arguments import read, write
from loopwright.tuning.comparison import PairedTimes
from loopwright.tuning.jobs import reference_path
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import TAKEN, Members
from loopwright.tuning.neighbourhood import UNIT, SizeScale, measure_around
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.scaled import scaled
from loopwright.tuning.transfers import measured_copies
from loopwright.tuning.trials import TURNS, Trials, setting_of
from loopwright.tuning.tuned import Progress, Silent, Tuned
from loopwright.tuning.work import sequential_places, work_form

LEAST_SHARE = 0.02
"""Of the budget, what a call has at least, if there are not very many of them."""

FIRST = 12
"""Candidates that are measured before the search goes on from the fastest."""

MAKING = 0.35
"""Of the time for a device, for looking at members of its space."""

FEW = 3
"""So many of the fastest are."""

HEATS = 2
"""So many turns each of the fastest few has, to find the fastest of them."""

FEWEST_TURNS = 3
"""So many of them there are even where the budget is spent: without them nothing can be claimed."""


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


def tune(
    calls: Sequence[RecordedCall], journal: Journal, budget: Budget, folder: Path, progress: Progress | None = None
) -> list[Tuned]:
    """Tune each of these calls, with a share of the budget by the time it took in the program. folder: for files that
    nobody needs afterwards. What was measured is in the store even where this ends with an exception, ctrl-C too."""
    told = progress or Silent()
    found: list[Tuned] = []
    try:
        _measure_copies(calls, journal)
        if calls and not budget.spent():
            _measure_limits(calls[0].config, journal)
        for call, part in zip(calls, shares([call.total_ns for call in calls]), strict=True):
            told.begun(call)
            found.append(_tuned(call, journal, budget.part(part), folder, told))
    finally:
        journal.flush()
    return found


def shares(times_ns: Sequence[int]) -> list[float]:
    """Of what is left of the budget when its turn comes, the part for each call: by the time it took in the program,
    but as if that were LEAST_SHARE of all at least."""
    least = max(1.0, LEAST_SHARE * sum(times_ns))
    weights = [max(float(time_ns), least) for time_ns in times_ns]
    return [weight / sum(weights[number:]) for number, weight in enumerate(weights)]


def _measure_copies(calls: Sequence[RecordedCall], journal: Journal) -> None:
    """Of every GPU that some call may run on; and what it does at most."""
    for device in dict.fromkeys(device for call in calls for device in devices_for(call.config)):
        gpu = None if device == "cpu" else gpu_of(device)
        machine = None if gpu is None else machine_of(device, calls[0].config)
        if gpu is not None and machine is not None and machine.fingerprint:
            measured_copies(gpu, journal, machine.fingerprint)
            keep_gpu_limits(gpu, machine.fingerprint, journal)


def keep_gpu_limits(gpu: Gpu, machine: str, journal: Journal) -> None:
    """What its memory moves and its multiprocessors compute at most, where its driver tells. machine: its
    fingerprint."""
    bytes_per_s, (float64, float32) = peak_bytes_per_s(gpu.clocks), peak_flop_per_s(gpu.limits, gpu.clocks)
    found = {MEMORY: {"bytes_per_s": bytes_per_s}, ARITHMETIC: {"flop_per_s": float64, "float32_flop_per_s": float32}}
    for name, content in found.items():
        if all(content.values()) and journal.table(LIMITS, machine, name) is None:
            journal.put(FittedTable(LIMITS, machine, name, content, time.time()))


def _measure_limits(config: Config, journal: Journal) -> None:
    """Once on each machine: what its memory moves and its cores compute at most."""
    machine = machine_of("cpu", config)
    if machine is None or not machine.fingerprint:
        return

    def put(name: str, what: str, measure: Callable[[], float]) -> None:
        if journal.table(LIMITS, machine.fingerprint, name) is None:
            content = {what: measure(), "threads": config.threads}
            journal.put(FittedTable(LIMITS, machine.fingerprint, name, content, time.time()))

    with suppress(MemoryError):
        put(MEMORY, "bytes_per_s", lambda: measured_rate(config.threads, last_cache(machine.limits)))
    with suppress(CompilerError, OSError):
        put(ARITHMETIC, "flop_per_s", lambda: measured_peak(config.threads, config.tools))


def _tuned(call: RecordedCall, journal: Journal, budget: Budget, folder: Path, progress: Progress) -> Tuned:
    result = Tuned(call, share_s=budget.left_s)
    if call.saved is None:
        result.why_not = "its arguments were not kept: too large, on a GPU, or sharing memory"
    elif call.config.schedule or call.config.variant or call.config.recipe != "auto" or call.config.checks == "all":
        result.why_not = "options in force decide how it runs"
    elif call.config.device == "interpreter" or call.one.executable is None:
        result.why_not = "it runs in the interpreter"
    else:
        form = work_form(call.one.analysed.written, call.one.analysed.facts, call.one.signature)
        put_kernel(journal, call, form)  # first: what is measured until this is ended is of use, and has a name
        with Trials(call, setting_of(call, form), form, journal, progress, result) as trials:
            _put_operations(trials, journal)
            _search(trials, budget.part(0.7))
            _compare(trials, budget.part(0.4))
            if result.best is None and result.default is not None:
                result.why_not = f"no variant ran to its end: {result.default.reason}"
            result.measured = tuple(trials.rows.values())
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


def _search(trials: Trials, budget: Budget) -> None:
    trials.result.default = trials.measured(trials.default)
    trials.result.stage = "default"
    for variant in _defaults(trials):
        if budget.spent():
            return
        trials.result.stage = "others"
        trials.measured(variant)
    for device in trials.machines:
        if budget.spent():
            return
        trials.result.stage = "space"
        _search_on(device, trials, budget.part(0.5 if device == "cpu" and len(trials.machines) > 1 else 1.0))


def _compare(trials: Trials, budget: Budget) -> None:
    """Find the best: the fastest few by turns, then the fastest of them and the default. It is the default where the
    other one is not faster for sure."""
    result = trials.result
    result.best = trials.best
    if result.best is None or result.default is None or result.default.outcome != "ok":
        return
    rivals = [variant for variant in trials.fastest(FEW + 1) if variant != trials.default][:FEW]
    if not rivals or result.best.variant == trials.default:
        return
    if len(rivals) > 1 and not budget.spent():
        heats = trials.by_turns(rivals, lambda turn: turn < HEATS)
        rivals = sorted(heats, key=lambda variant: median(heats[variant]))
    if rivals:
        pair = trials.default, rivals[0]
        times = trials.by_turns(pair, lambda turn: turn < FEWEST_TURNS or (turn < TURNS and not budget.spent()))
        if all(variant in times for variant in pair):
            result.compared = PairedTimes(tuple(times[pair[0]]), tuple(times[pair[1]]))
    is_clear = result.compared is not None and result.compared.is_clear
    result.default = trials.concluded(trials.default)
    result.best = trials.concluded(rivals[0]) if is_clear else result.default


def _defaults(trials: Trials) -> Iterator[Variant]:
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


def _search_on(device: str, trials: Trials, budget: Budget) -> None:
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


def _looked(candidates: Members, trials: Trials, device: str, budget: Budget) -> Pruned:
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


def _around(trials: Trials, budget: Budget, folder: Path) -> None:
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


def _put_operations(trials: Trials, journal: Journal) -> None:
    """Keep how many floating-point operations an iteration has, where sizes tell: reports give rates by it."""
    call, iterations = trials.call, trials.work.iterations
    found = flops(call.one.analysed.written, trials.arguments) if iterations else None
    if found is not None and found.count:
        content = {"flop_per_iteration": found.count / iterations, "float32_share": found.float32 / found.count}
        journal.put(FittedTable(OPERATIONS, ANY, call.fingerprint, content, time.time()))


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
