"""Trials of one call: each variant is made and run in a process apart, and what comes of it is stored at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.cost.front import PARETO, front_content, front_from
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import Pruned
from loopwright.devices.gpus import devices_for
from loopwright.ir.signature import Shape
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant, default_variant
from loopwright.profile.journal import Journal
from loopwright.profile.machine import Machine, machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import FittedTable
from loopwright.profile.work_form import WorkForm
from loopwright.tuning.arguments import read, restore
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.tuned import Progress, Tuned

START_S = 60.0
"""What the start of the process, the reference run and compiling may take in one trial, beyond running."""

PATIENCE = 20
"""A candidate that takes so many times as long as the default is given up."""

PLAIN_ITERATIONS = 2e8
"""Up to so many iterations the reference is the loops as they are written, in one thread."""

TURN_NS = (20_000_000, 200_000_000)
"""How long a turn is at least and at most, unless three runs take longer."""


TURNS = 11
"""So many turns the fastest and the default have at most."""


def setting_of(call: RecordedCall, form: WorkForm, resident: bool = False) -> Setting:
    """What the process that measures is told of a call."""
    config = replace(call.config, explore=False)
    first = default_variant(config)
    is_small = 0 < form.at(call.shape).iterations <= PLAIN_ITERATIONS
    reference = Variant("cpu", PLAIN, 1) if is_small or first.device != "cpu" else first
    text = print_kernel(call.one.analysed.written)
    return Setting(text, call.names, call.written, call.one.signature, config, str(call.saved), reference, resident)


class Trials:
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

    def __enter__(self) -> Trials:
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
        row = self.rows[variant] = self._row(variant, tried)
        self._journal.add(row)
        self._journal.flush()  # now, not some seconds later: a process that is killed loses the trial it is in, no more
        self.result.counts[tried.outcome] = self.result.counts.get(tried.outcome, 0) + 1
        now = self.best
        self._progress.tried(self.call, tried, now.time_ns if now else 0.0)
        return row

    def by_turns(self, variants: Sequence[Variant], goes_on: Callable[[int], bool]) -> dict[Variant, list[float]]:
        """Times in nanoseconds of each of these, which were measured before: one after the other, again and again, in
        the other direction each time. goes_on: told how many turns there were. A variant that fails now has none."""
        times: dict[Variant, list[float]] = {variant: [] for variant in variants}
        turn = 0
        while goes_on(turn) and len(times) == len(variants):
            for variant in list(times)[:: -1 if turn % 2 else 1]:
                row = self._turn(variant)
                if row.outcome == "ok":
                    times[variant].append(row.time_ns)
                else:
                    times.pop(variant)
            turn += 1
            self._progress.turned(self.call, turn, TURNS)
        return {variant: found for variant, found in times.items() if found}

    def _turn(self, variant: Variant) -> Measurement:
        run_ns = self.rows[variant].time_ns
        budget_ns = int(max(3 * run_ns, min(max(20 * run_ns, TURN_NS[0]), TURN_NS[1])))
        limit_s = START_S + PATIENCE * run_ns / 1e9 + 4 * budget_ns / 1e9
        tried = self._isolated.tried(Trial(variant, budget_ns, is_turn=True), limit_s)
        row = self._row(variant, tried)
        if row.outcome != "ok":
            self.rows[variant] = row
        self._journal.add(row)
        self._journal.flush()
        return row

    def _row(self, variant: Variant, tried: Tried) -> Measurement:
        return Measurement(
            self.call.fingerprint, self.machines[variant.device].fingerprint, variant, self.shape, self.work,
            tried.outcome, tried.time_ns, tried.spread, tried.runs, "warm", "tune", time.time(), tried.reason,
        )  # fmt: skip

    def concluded(self, variant: Variant) -> Measurement:
        """What is known of a variant now, from all that was measured of it."""
        machine = self.machines[variant.device].fingerprint
        rows = self._journal.measurements(self.call.fingerprint, machine)
        mine = [row for row in rows if (row.variant, row.shape, row.source) == (variant, self.shape, "tune")]
        self.rows[variant] = mine[0] if mine else self.rows[variant]
        return self.rows[variant]

    def keep_judged(self, device: str, judged: Mapping[str, Metrics], pruned: Pruned) -> None:
        """What was known of members without running them, and what was made of it, for reports."""
        if not any(metrics.names for metrics in judged.values()):
            return
        content = front_content(front_from(judged, pruned, self.shape.sizes))
        machine = self.machines[device].fingerprint
        self._journal.put(FittedTable(PARETO, machine, self.call.fingerprint, content, time.time()))

    def others(self, setting: Setting, shape: Shape) -> Trials:
        """The same for another shape."""
        result = Tuned(self.call)
        return Trials(self.call, setting, self.form, self._journal, self._progress, result, shape)
