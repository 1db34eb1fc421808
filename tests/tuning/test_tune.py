"""Tuning a call: what is tried, what is kept, what happens when it is ended early."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.devices.clocks import Clocks
from loopwright.devices.gpus import gpu_of
from loopwright.devices.limits import Limits
from loopwright.ir.signature import Shape, shape_of
from loopwright.ir.variant import PLAIN, Variant
from loopwright.predict.model import models_of
from loopwright.profile.arithmetic_rate import ARITHMETIC
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.memory_rate import LIMITS, MEMORY
from loopwright.profile.records import ANY, OPERATIONS, WORK, FittedTable
from loopwright.profile.store import ProfileStore
from loopwright.tuning.arguments import Saved, read, restore
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.recording import Recording
from loopwright.tuning.tune import Budget, keep_gpu_limits, parse_budget, tune
from loopwright.tuning.tuned import Silent, Tuned
from loopwright.tuning.work import work_form


@lw.kernel
def multiplied(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@lw.kernel
def added(y, x):
    for i in range(len(y)):
        y[i] += x[i]


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> Iterator[Path]:
    with lw.options(store=tmp_path / "store.sqlite3", threads=2):
        yield tmp_path / "store.sqlite3"


def arrays(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((n, n)), np.ones((n, n)), np.full((n, n), 2.0)


def rows(kernel: lw.LoopKernel, *arguments: object) -> tuple[Measurement, ...]:
    machine = machine_of("cpu", current())
    assert machine is not None
    return journal_of(current()).measurements(kernel.specialise(*arguments).fingerprint, machine.fingerprint)


def tuned(kernel: lw.LoopKernel, folder: Path, steps: int, *given: object) -> Tuned:
    """Tune a call with a clock that moves on by one with every trial."""
    recording = Recording(folder)
    kernel.record(recording)
    try:
        kernel(*given)
    finally:
        kernel._dispatch.call = kernel._dispatch._first_call
    trials = Trials()
    budget = Budget(steps, lambda: float(len(trials.made)))
    (found,) = tune(recording.calls, journal_of(current()), budget, folder, trials)
    return found


class Trials(Silent):
    """Counts them."""

    def __init__(self) -> None:
        self.made: list[Tried] = []

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        assert best_ns >= 0
        self.made.append(tried)


def test_variants_are_measured_and_kept(tmp_path: Path) -> None:
    given = arrays(40)
    found = tuned(multiplied, tmp_path, 9, *given)
    assert found.default is not None and found.best is not None
    assert found.best.time_ns <= found.default.time_ns and found.gain >= 1
    assert found.counts["ok"] >= 4 and set(found.counts) <= {"ok", "refused"}
    kept = {str(row.variant): row for row in rows(multiplied, *given) if row.shape.sizes == (40,) * 6}
    assert {"cpu 2: recipe", "cpu 1: recipe", "cpu 2: plain"} <= kept.keys()
    assert len(kept) > 4
    default = kept["cpu 2: recipe"]
    assert default.work.iterations == 40**3 and default.runs >= 1
    machine = machine_of("cpu", current())
    assert machine is not None
    limits = [journal_of(current()).table(LIMITS, machine.fingerprint, name) for name in (MEMORY, ARITHMETIC)]
    assert all(one is not None and one.content["threads"] == current().threads for one in limits)
    operations = journal_of(current()).table(OPERATIONS, ANY, multiplied.specialise(*given).fingerprint)
    assert operations is not None and operations.content == {"flop_per_iteration": 2.0, "float32_share": 0.0}


def test_what_a_gpu_does_at_most_is_kept_once_and_of_real_ones_alone() -> None:
    class Real:
        limits = Limits((9, 0), 132, 80 << 30)
        clocks = Clocks(10**9, 2 * 10**9, 5120)

    journal = journal_of(current())
    emulated = gpu_of("emulated")
    assert emulated is not None
    keep_gpu_limits(emulated, "e", journal)
    assert journal.table(LIMITS, "e", MEMORY) is journal.table(LIMITS, "e", ARITHMETIC) is None
    real: Any = Real()
    keep_gpu_limits(real, "m", journal)
    found = [journal.table(LIMITS, "m", name) for name in (MEMORY, ARITHMETIC)]
    assert [one.content for one in found if one is not None] == [
        {"bytes_per_s": 2.56e12},
        {"flop_per_s": 132 * 64 * 2e9, "float32_flop_per_s": 132 * 128 * 2e9},
    ]
    Real.clocks = Clocks(1, 1, 1)
    keep_gpu_limits(real, "m", journal)
    assert [journal.table(LIMITS, "m", name) for name in (MEMORY, ARITHMETIC)] == found
    Real.clocks = Clocks(memory_hz=10**9, bus_bits=512)  # of the multiprocessors nothing is told
    keep_gpu_limits(real, "other", journal)
    assert journal.table(LIMITS, "other", MEMORY) is not None and journal.table(LIMITS, "other", ARITHMETIC) is None


def test_each_trial_is_in_the_file_when_it_is_told(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the kernel's name and what it has to do: whatever ends the process then, it is of use."""
    monkeypatch.setattr("loopwright.tuning.trials.Isolated", Simulated)
    given = arrays(32)
    fingerprint = multiplied.specialise(*given).fingerprint
    machine = machine_of("cpu", current())
    assert machine is not None
    told: list[int] = []

    def tried(trials: Trials, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        trials.made.append(tried)
        with ProfileStore.open(store, readonly=True) as file:
            told.append(len(file.of_kernel(fingerprint, machine.fingerprint)))
            assert [kernel.name for kernel in file.kernels()] == ["multiplied"]
            assert file.table(WORK, ANY, fingerprint) is not None

    monkeypatch.setattr(Trials, "tried", tried)
    tuned(multiplied, tmp_path, 5, *given)
    assert len(told) >= 4 and told == [*range(1, len(told) + 1)]


def test_a_call_that_raises_is_not_tuned_and_the_reason_is_told() -> None:
    @lw.kernel
    def beyond(a):
        for i in range(4):
            a[int(a[i])] = 1.0

    found = beyond.tune(np.full(5, 9.0), budget=0)
    assert found.best is None and found.gain == 1.0
    assert "no variant ran to its end" in found.why_not and "out of bounds" in found.why_not


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    given = np.zeros(300), np.ones(300)
    first = tuned(added, tmp_path, 4, *given)
    (tmp_path / "again").mkdir()
    again = tuned(added, tmp_path / "again", 0, *given)
    assert sum(first.counts.values()) > 1 and not again.counts
    assert again.known == 1 and again.default is not None and again.default.outcome == "ok"


def test_sizes_around_are_measured_too(tmp_path: Path) -> None:
    given = np.zeros(300), np.ones(300)
    tuned(added, tmp_path, 16, *given)
    assert {(150, 150), (300, 300), (600, 600)} <= {row.shape.sizes for row in rows(added, *given)}
    assert not list(tmp_path.glob("*x*x*"))  # neither made-up arguments nor what came of them


class Simulated:
    """In place of a process that measures: a device whose iterations take longer the more of them are in one row, and
    which stumbles over the first call of one shape."""

    stumbled: ClassVar[set[Variant]] = set()

    def __init__(self, setting: Setting) -> None:
        sizes = shape_of(restore(read(Path(setting.saved))).arguments).sizes
        self.m, self.n, self.k = sizes[0], sizes[1], sizes[3]

    def tried(self, trial: Trial, limit_s: float) -> Tried:
        time_ns = (2000.0 + self.m * self.n * self.k * (1.0 + self.k / 1000)) * (2 if trial.variant.threads == 1 else 1)
        if (self.m, self.k) == (32, 128) and trial.variant not in self.stumbled:
            self.stumbled.add(trial.variant)
            time_ns *= 7
        return Tried(trial.variant, "ok", "", time_ns, 0.01, 5)

    def end(self) -> None:
        pass


def test_a_ranking_table_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row, its column and its diagonal, though all sizes of the call are equal; a bad measurement does not steer,
    and calls of other proportions are predicted well."""

    def default_alone(trials: Any, budget: Budget) -> None:
        trials.result.default = trials.measured(trials.default)

    monkeypatch.setattr("loopwright.tuning.tune._search", default_alone)
    monkeypatch.setattr("loopwright.tuning.trials.Isolated", Simulated)
    monkeypatch.setattr(Simulated, "stumbled", set())
    tuned(multiplied, tmp_path, 60, *arrays(32))
    found = [row for row in rows(multiplied, *arrays(32)) if row.variant.threads == 2]
    made = {(row.shape.sizes[0], row.shape.sizes[3]): row for row in found}
    assert {depth for grid, depth in made if grid == 32} == {8, 16, 32, 64, 128}
    assert {8, 32, 128} == {grid for grid, depth in made if depth == 32}
    assert {(8, 8), (16, 16), (64, 64), (128, 128)} <= made.keys()
    assert made[32, 128].time_ns == pytest.approx(2000.0 + 32 * 32 * 128 * 1.128) and made[32, 128].spread == 0.01
    assert len(Simulated.stumbled) == 1
    alone = {row.shape.sizes[0] for row in rows(multiplied, *arrays(32)) if row.variant.threads == 1}
    assert {8, 16} <= alone == {grid for grid, _ in made if grid < 32}
    models = models_of(found)
    for grid, depth in ((24, 100), (100, 24), (100, 50), (16, 40)):
        sizes = (grid, grid, grid, depth, depth, grid)
        one = multiplied.specialise(*arrays(32))
        form = work_form(one.analysed.written, one.analysed.facts, one.signature)
        (predicted,) = models.predict(Shape(sizes), form.at(Shape(sizes)))
        assert predicted.time_ns == pytest.approx(2000.0 + grid * grid * depth * (1 + depth / 1000), rel=0.05)


def test_sizes_that_cannot_be_kept_are_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(saved: Saved, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("loopwright.tuning.trials.Isolated", Simulated)
    monkeypatch.setattr("loopwright.tuning.tune.write", full)
    found = tuned(multiplied, tmp_path, 6, *arrays(32))
    assert found.best is not None and {row.shape.sizes for row in rows(multiplied, *arrays(32))} == {(32,) * 6}


def test_no_budget_measures_the_default_alone_and_leaves_the_arrays_alone() -> None:
    given = arrays(16)
    found = multiplied.tune(*given, budget=0)
    assert found.counts == {"ok": 1} and found.best == found.default
    assert not given[0].any()


def test_what_options_decide_is_not_tuned() -> None:
    with lw.options(schedule="parallelize i"):
        found = multiplied.tune(*arrays(16), budget=1)
    assert "options in force" in found.why_not and found.best is None
    with lw.options(device="interpreter"):
        assert "interpreter" in multiplied.tune(*arrays(4), budget=1).why_not


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5min", 300), ("1.5h", 5400), ("90", 90), (" 2 m ", 120)])
def test_budgets(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "fast", "-1s", "5 days", "nan", "inf", "1s2"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(ValueError, match="budget"):
        parse_budget(text)


def test_a_budget_runs_out() -> None:
    now = [0.0]
    budget = Budget(10, lambda: now[0])
    part = budget.part(0.5)
    now[0] = 5.0
    assert part.spent() and budget.left_s == 5 and not budget.spent()


def test_what_was_found_serves_later_calls(tmp_path: Path) -> None:
    """Whatever was measured fastest is what the next call runs, and a store with nonsense in it fails no call."""
    given = np.zeros(300), np.ones(300)
    found = tuned(added, tmp_path, 6, *given)
    assert found.best is not None
    added._dispatch.forget()
    added(*given)
    (choice,) = added.explain(*given).choices
    assert choice.serves in {str(row.variant) for row in rows(added, *given)}
    machine = machine_of("cpu", current())
    assert machine is not None
    fingerprint = added.specialise(*given).fingerprint
    journal_of(current()).put(FittedTable(WORK, ANY, fingerprint, {"iterations": "many"}, 2e9))
    odd, plain = Shape((1, 1), (5.0,)), Variant("cpu", PLAIN, 2)
    row = Measurement(fingerprint, machine.fingerprint, plain, odd, Work(), "ok", 1.0, 0.0, 1, made_at=2e9)
    journal_of(current()).add(row)
    added._dispatch.forget()
    before = given[0].copy()
    added(*given)
    assert (given[0] == before + 1).all()
