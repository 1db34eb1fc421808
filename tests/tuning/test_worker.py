"""What the process that measures does with a trial, here in this process: right results, wrong ones, and what cannot be
made. That it is a process of its own is test_isolated.py's."""

from __future__ import annotations

import io
import queue
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated import EmulatedModule
from loopwright.devices.gpus import gpu_of
from loopwright.ir.variant import Variant
from loopwright.tuning import worker
from loopwright.tuning.jobs import Setting, Trial, receive, reference_path
from loopwright.tuning.worker import Bench, serve
from tuning.settings import scaled, setting_of, trial


@lw.kernel
def swapped(y, x):
    for i in range(len(y)):
        y[i], x[i] = x[i], y[i]
    return y


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return setting_of(scaled, tmp_path, np.arange(10.0)[::2], np.ones(5), 3)


def test_a_time_is_told_with_its_runs(setting: Setting) -> None:
    found = Bench(setting).tried(trial("plain"))
    assert (found.outcome, found.reason, found.variant) == ("ok", "", trial("plain").variant)
    assert found.time_ns > 0 and found.runs >= 3 and found.spread >= 0 and found.compile_ns > 0


def test_arguments_are_what_they_were_before_each_run(setting: Setting) -> None:
    bench = Bench(setting)
    run = bench._made(trial("plain").variant)
    run.reset()
    for _ in range(2):
        run()
    [y] = run.outputs()
    assert isinstance(y, np.ndarray) and y.tolist() == [6, 8, 10, 12, 14]
    run.reset()
    assert y.tolist() == [0, 2, 4, 6, 8] and y is bench.host.arguments[0]
    [copy] = run.outputs(copied=True)
    assert copy is not y and np.array_equal(copy, y)  # type: ignore[arg-type]


def test_what_is_expected_is_not_overwritten_by_the_next_run(tmp_path: Path) -> None:
    setting = replace(setting_of(swapped, tmp_path, np.zeros(3), np.ones(3)), written=(0, 1))
    bench = Bench(setting)
    expected = bench._reference()
    assert [one.tolist() for one in expected] == [[1] * 3, [1] * 3, [0] * 3]  # type: ignore[attr-defined]
    assert not any(np.shares_memory(one, two) for one in expected for two in bench.host.arguments)  # type: ignore[arg-type]
    assert bench.tried(trial("recipe")).outcome == "ok"


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [("vectorize q", "'vectorize q' is not legal"), ("split i", "split"), ("fly i 3", "fly")],
)
def test_what_cannot_be_made_is_refused_in_one_line(setting: Setting, schedule: str, reason: str) -> None:
    found = Bench(setting).tried(trial(schedule))
    assert found.outcome == "refused" and reason in found.reason and "\n" not in found.reason
    assert (found.time_ns, found.runs) == (0.0, 0)


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (MemoryError(), "memory", "MemoryError: MemoryError"),
        (lw.DeviceMemoryError("no room\nfor 3 GB"), "memory", "no room"),
        (ZeroDivisionError("by zero"), "crashed", "ZeroDivisionError: by zero"),
        (lw.CompilerError("cc1: error\nmore"), "refused", "cc1: error"),
    ],
)
def test_whatever_happens_while_one_is_made_is_an_answer(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, error: Exception, outcome: str, reason: str
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(Bench, "_made", failing)
    found = Bench(setting).tried(trial("plain"))
    assert (found.outcome, found.reason) == (outcome, reason)


def test_whatever_happens_while_one_runs_is_an_answer(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise MemoryError("no room")

    bench = Bench(setting)
    monkeypatch.setattr(worker.Runnable, "__call__", failing)
    found = bench.tried(trial("plain"))
    assert (found.outcome, found.reason) == ("memory", "MemoryError: no room") and found.compile_ns > 0


def test_one_that_is_compiled_only_does_not_run_and_is_kept_for_one_trial(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Variant] = []
    whole = Bench._made
    monkeypatch.setattr(Bench, "_made", lambda bench, variant: (made.append(variant), whole(bench, variant))[1])
    bench = Bench(setting)
    first = bench.tried(trial("recipe", compile_only=True))
    assert (first.outcome, first.runs, first.time_ns) == ("ok", 0, 0.0) and not reference_path(setting.saved).exists()
    assert bench.tried(trial("recipe")).compile_ns == first.compile_ns
    assert made == [trial("recipe").variant, setting.reference]
    bench.tried(trial("recipe"))
    assert made == [trial("recipe").variant, setting.reference, trial("recipe").variant]


def test_trials_are_answered_in_turn_and_none_before_a_setting(setting: Setting) -> None:
    commands: queue.Queue[Any] = queue.Queue()
    answers = Answers()
    for message in (trial("recipe"), setting, trial("vectorize q"), trial("plain", compile_only=True)):
        commands.put(message)
    threading.Thread(target=serve, args=(commands, answers), daemon=True).start()
    assert answers.several.wait(60)
    answers.seek(0)
    assert [receive(answers).outcome for _ in range(2)] == ["refused", "ok"]
    assert answers.read() == b""


class Answers(io.BytesIO):
    """What a worker writes; `several` is set after two answers."""

    def __init__(self) -> None:
        super().__init__()
        self.several, self._count = threading.Event(), 0

    def flush(self) -> None:
        self._count += 1
        if self._count == 2:
            self.several.set()


def test_a_wrong_result_is_told(tmp_path: Path) -> None:
    """The reference is made another kernel's, as if code generation had erred."""
    y = np.zeros(10)
    setting = setting_of(scaled, tmp_path, y, np.ones(10), 3)

    bench = Bench(setting)
    bench._expected = (np.float64(10), np.full(10, 4.0))
    found = bench.tried(trial("plain"))
    assert found.outcome == "wrong"
    assert found.reason == "value 1: 3.0 instead of 4.0 at [0], and 10 of 10 in all"


def test_what_a_compiler_takes_at_a_launch_is_no_time_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels may be compiled when they are first started. Here it is only told that a compiler took 1000 s then."""
    launch, gpu = EmulatedModule._launch, gpu_of("emulated")

    def launched(module: EmulatedModule, *arguments: Any) -> int:
        monkeypatch.setattr(gpu, "late_ns", gpu.late_ns + 10**12)  # type: ignore[union-attr]
        return launch(module, *arguments)

    monkeypatch.setattr(EmulatedModule, "_launch", launched)
    with lw.options(device="emulated"):
        bench = Bench(setting_of(scaled, tmp_path, np.zeros(10), np.ones(10), 3))
        found = bench.tried(Trial(Variant("emulated"), 1000))
    assert found.outcome == "ok" and found.compile_ns >= 10**12


def test_the_reference_is_computed_once_for_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(scaled, tmp_path, np.zeros(10), np.ones(10), 3)
    assert Bench(setting).tried(trial("plain")).outcome == "ok"
    made = Bench._made
    asked: list[Variant] = []

    def watched(bench: Bench, variant: Variant) -> worker.Runnable:
        asked.append(variant)
        return made(bench, variant)

    monkeypatch.setattr(Bench, "_made", watched)
    assert Bench(setting).tried(trial("recipe")).outcome == "ok"
    assert asked == [trial("recipe").variant]
    other = replace(setting, reference=Variant("cpu", "plain", 2))
    assert Bench(other).tried(trial("recipe")).outcome == "ok"
    assert asked[1:] == [trial("recipe").variant, other.reference]


def test_a_reference_that_cannot_be_kept_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(scaled, tmp_path, np.zeros(10), np.ones(10), 3)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(worker, "write", full)
    for _ in range(2):
        assert Bench(setting).tried(trial("plain")).outcome == "ok"
    assert [path.name for path in tmp_path.iterdir() if "expected" in path.name] == []


def test_a_first_run_alone_shows_what_is_beyond_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(setting_of(scaled, tmp_path, np.arange(1000.0), np.arange(1000.0), 3))

    def again(*_: object) -> None:
        raise AssertionError("it is run again")

    monkeypatch.setattr(worker, "measure", again)
    tried = bench.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1))
    assert (tried.outcome, tried.runs, tried.spread) == ("ok", 1, 0.0)
    monkeypatch.setattr(worker, "BEYOND_DOUBT", 10**12)
    assert "it is run again" in bench.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1)).reason
