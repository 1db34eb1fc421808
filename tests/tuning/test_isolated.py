"""Candidates in a process of their own: right ones, wrong ones, and those that break it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.devices.emulated import EmulatedModule
from loopwright.devices.gpus import gpu_of
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant
from loopwright.tuning import worker
from loopwright.tuning.arguments import save, write
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Setting, Trial
from loopwright.tuning.worker import Bench


@lw.kernel
def scaled(y, x, a):
    total = 0.0
    for i in range(len(y)):
        y[i] += a * x[i]
        total += x[i]
    return total


@lw.kernel
def endless(y, n):
    while n > 0:
        y[0] += 1.0


def setting_of(kernel: lw.LoopKernel, folder: Path, *arguments: object) -> Setting:
    one = kernel.specialise(*arguments)
    path = folder / "arguments"
    write(save(arguments), path)
    names = tuple(f"p{k}" for k in range(len(arguments)))
    text = print_kernel(one.analysed.written)
    return Setting(text, names, (0,), one.signature, current(), str(path), Variant("cpu", PLAIN, 1))


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Isolated]:
    y, x = np.arange(1000.0)[::-2], np.arange(500.0)
    with Isolated(setting_of(scaled, tmp_path_factory.mktemp("saved"), y, x, 3)) as one:
        yield one


def trial(schedule: str, threads: int = 1, **changes: bool) -> Trial:
    return Trial(Variant("cpu", schedule, threads), 50_000_000, **changes)


def test_variants_that_agree_have_a_time(isolated: Isolated) -> None:
    for schedule in ("recipe", "plain", "split i 8; parallelize i.o"):
        found = isolated.tried(trial(schedule), 60)
        assert (found.outcome, found.reason) == ("ok", "")
        assert found.time_ns > 0 and found.runs >= 3 and found.compile_ns > 0


def test_one_that_is_not_legal_is_refused_with_the_reason(isolated: Isolated) -> None:
    found = isolated.tried(trial("vectorize q"), 60)
    assert found.outcome == "refused" and "'vectorize q' is not legal" in found.reason


def test_only_compiled(isolated: Isolated) -> None:
    found = isolated.tried(trial("split i 16; parallelize i.o", compile_only=True), 60)
    assert (found.outcome, found.runs) == ("ok", 0)


def test_a_device_that_is_not_there_is_refused(isolated: Isolated) -> None:
    found = isolated.tried(Trial(Variant("cuda"), 50_000_000), 60)
    assert found.outcome in ("refused", "ok")  # ok where there is a GPU


def test_a_process_that_dies_is_an_answer_and_the_next_trial_gets_another(isolated: Isolated) -> None:
    isolated.tried(trial("plain"), 60)
    assert isolated._process is not None
    os.kill(isolated._process.pid, signal.SIGSEGV)
    found = isolated.tried(trial("plain"), 60)
    assert found.outcome == "crashed" and ("SIGSEGV" in found.reason or "cannot be started" in found.reason)
    assert isolated.tried(trial("plain"), 60).outcome == "ok"
    assert isolated._process is not None
    os.kill(isolated._process.pid, signal.SIGKILL)
    assert isolated.tried(trial("plain"), 60).outcome in ("memory", "crashed")


def test_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    with Isolated(setting_of(endless, tmp_path, np.zeros(1), 1)) as one:
        found = one.tried(trial("plain"), 2.5)
        assert found.outcome == "timeout"
        assert one._process is None


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


def test_one_that_is_made_ahead_is_not_made_again(isolated: Isolated) -> None:
    first = isolated.tried(trial("split i 16; parallelize i.o", compile_only=True), 60)
    then = isolated.tried(trial("split i 16; parallelize i.o"), 60)
    assert (first.outcome, first.runs, then.outcome) == ("ok", 0, "ok")
    assert then.compile_ns == first.compile_ns and then.runs > 0


def test_one_that_is_hopeless_is_not_measured_any_better(isolated: Isolated) -> None:
    found = isolated.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1), 60)
    assert (found.outcome, found.runs) == ("ok", 1) and found.time_ns > 1
    assert isolated.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=10**12), 60).runs >= 3


def test_a_first_run_alone_shows_what_is_beyond_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(setting_of(scaled, tmp_path, np.arange(1000.0), np.arange(1000.0), 3))

    def again(*_: object) -> None:
        raise AssertionError("it is run again")

    monkeypatch.setattr(worker, "measure", again)
    tried = bench.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1))
    assert (tried.outcome, tried.runs, tried.spread) == ("ok", 1, 0.0)
    monkeypatch.setattr(worker, "BEYOND_DOUBT", 10**12)
    assert "it is run again" in bench.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1)).reason
