"""Candidates in a process of their own: right ones, wrong ones, and those that break it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.variant import Variant
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Trial
from tuning.settings import scaled, setting_of, trial


@lw.kernel
def endless(y, n):
    while n > 0:
        y[0] += 1.0


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Isolated]:
    y, x = np.arange(1000.0)[::-2], np.arange(500.0)
    with Isolated(setting_of(scaled, tmp_path_factory.mktemp("saved"), y, x, 3)) as one:
        yield one


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


def test_one_that_is_made_ahead_is_not_made_again(isolated: Isolated) -> None:
    first = isolated.tried(trial("split i 16; parallelize i.o", compile_only=True), 60)
    then = isolated.tried(trial("split i 16; parallelize i.o"), 60)
    assert (first.outcome, first.runs, then.outcome) == ("ok", 0, "ok")
    assert then.compile_ns == first.compile_ns and then.runs > 0


def test_one_that_is_hopeless_is_not_measured_any_better(isolated: Isolated) -> None:
    found = isolated.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=1), 60)
    assert (found.outcome, found.runs) == ("ok", 1) and found.time_ns > 1
    assert isolated.tried(Trial(Variant("cpu", "recipe", 1), 50_000_000, hopeless_ns=10**12), 60).runs >= 3
