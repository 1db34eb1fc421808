"""Trials of one call, and what is claimed of them: the default and its rivals by turns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement
from loopwright.report.tune_report import TuneReport
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.recording import Recording
from loopwright.tuning.trials import TURNS
from loopwright.tuning.tune import Budget, shares, tune
from loopwright.tuning.tuned import Silent, Tuned


@lw.kernel
def added(y, x):
    for i in range(len(y)):
        y[i] += x[i]


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> Iterator[None]:
    with lw.options(store=tmp_path / "store.sqlite3", threads=2):
        yield


def rows(kernel: lw.LoopKernel, *arguments: object) -> tuple[Measurement, ...]:
    machine = machine_of("cpu", current())
    assert machine is not None
    return journal_of(current()).measurements(kernel.specialise(*arguments).fingerprint, machine.fingerprint)


class Made(Silent):
    """Counts trials, without those by turns."""

    count = 0

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        self.count += 1


def tuned(kernel: lw.LoopKernel, folder: Path, steps: int, *given: object) -> Tuned:
    """Tune a call with a clock that moves on by one with every trial."""
    recording = Recording(folder)
    kernel.record(recording)
    try:
        kernel(*given)
    finally:
        kernel._dispatch.call = kernel._dispatch._first_call
    made = Made()
    budget = Budget(steps, lambda: float(made.count))
    (found,) = tune(recording.calls, journal_of(current()), budget, folder, made)
    return found


class Lucky:
    """In place of a process that measures: on a machine that becomes slower with every trial, everything takes as long
    as the default, but for the factors of some schedules, of the first trial and of all later ones."""

    factors: ClassVar[dict[str, tuple[float, float]]] = {}
    seen: ClassVar[list[str]] = []
    fails_later: ClassVar[set[str]] = set()

    def __init__(self, setting: Setting) -> None:
        pass

    def tried(self, trial: Trial, limit_s: float) -> Tried:
        name = str(trial.variant)
        first, later = self.factors.get(name, (1.0, 1.0))
        is_later = name in self.seen
        self.seen.append(name)
        if is_later and name in self.fails_later:
            return Tried(trial.variant, "crashed", "lost")
        return Tried(
            trial.variant, "ok", "", 1e6 * (later if is_later else first) * (1 + 0.003 * len(self.seen)), 0.01, 5
        )

    def end(self) -> None:
        pass


def judged(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    factors: dict[str, tuple[float, float]],
    fails_later: frozenset[str] = frozenset(),
) -> Tuned:
    """Tune under these."""
    monkeypatch.setattr("loopwright.tuning.trials.Isolated", Lucky)
    monkeypatch.setattr(Lucky, "factors", factors)
    monkeypatch.setattr(Lucky, "seen", [])
    monkeypatch.setattr(Lucky, "fails_later", fails_later)
    return tuned(added, folder, 5, np.zeros(300), np.ones(300))


def test_a_variant_that_was_lucky_once_is_no_gain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, tmp_path, {"cpu 1: recipe": (0.5, 1.0)})
    assert found.compared is not None and found.compared.gain == pytest.approx(1.0, abs=0.01)
    assert found.gain == 1.0 and found.best == found.default and not found.compared.is_clear


def test_the_default_is_measured_as_often_as_its_rival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, tmp_path, {"cpu 1: recipe": (0.9, 0.5), "cpu 2: plain": (0.7, 0.8)})
    assert found.best is not None and str(found.best.variant) == "cpu 1: recipe"
    assert found.compared is not None and found.compared.pairs == TURNS
    assert found.gain == found.compared.gain == pytest.approx(2.0, rel=0.02)  # whatever the machine does meanwhile
    last = Lucky.seen[-2 * TURNS :]
    assert last.count("cpu 2: recipe") == last.count("cpu 1: recipe") == TURNS
    assert {last[k] for k in range(0, 2 * TURNS, 2)} == {"cpu 1: recipe", "cpu 2: recipe"}  # each goes first at times


def test_a_rival_that_fails_in_its_turn_is_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = frozenset({"cpu 1: recipe"})
    found = judged(monkeypatch, tmp_path, {"cpu 1: recipe": (0.5, 0.5), "cpu 2: plain": (0.8, 0.8)}, fails)
    assert found.best is not None and str(found.best.variant) == "cpu 2: plain"
    assert found.gain == pytest.approx(1.25, rel=0.02)
    kept = {str(row.variant): row for row in rows(added, np.zeros(300), np.ones(300))}
    assert kept["cpu 1: recipe"].outcome == "crashed"


def test_every_call_has_its_share_and_small_ones_a_little() -> None:
    def of_all(times_ns: list[int]) -> list[float]:
        left, found = 1.0, []
        for part in shares(times_ns):
            found.append(left * part)
            left -= found[-1]
        return found

    assert of_all([300, 100]) == pytest.approx([0.75, 0.25])
    assert of_all([0, 0]) == pytest.approx([0.5, 0.5])
    (first, *rest) = of_all([1_000_000, 1, 1, 1])
    assert rest == pytest.approx([0.02 / 1.06] * 3, rel=1e-4) and first + sum(rest) == pytest.approx(1.0)


def test_how_far_it_came_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.tuning.trials.Isolated", Lucky)
    monkeypatch.setattr(Lucky, "factors", {})
    monkeypatch.setattr(Lucky, "fails_later", frozenset())
    given = np.zeros(300), np.ones(300)
    found = [tuned(added, tmp_path, steps, *given) for steps in (0, 2)]
    assert [(one.stage, one.is_reached) for one in found] == [("default", False), ("others", False)]
    assert "not reached: its share of the budget was 0 s; only the default" in repr(TuneReport.of(found[0]))
    whole = tuned(added, tmp_path, 40, *given)
    assert whole.stage == "space" and whole.is_reached and "not reached" not in repr(TuneReport.of(whole))
