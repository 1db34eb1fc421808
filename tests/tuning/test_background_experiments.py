"""Experiments beside calls: two variants in a process apart, and what makes none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.explore import Experiment
from loopwright.config import current
from loopwright.ir.signature import Shape
from loopwright.ir.variant import PLAIN, Variant
from loopwright.memory.on_device import on_device
from loopwright.profile.journal import journal_of
from loopwright.profile.records import ANY, WORK
from loopwright.tuning import background_experiments
from loopwright.tuning.background_experiments import BackgroundExperiments
from loopwright.tuning.recorded_call import RecordedCall

N = 1000
SHAPE, DEFAULT = Shape((N,)), Variant("cpu", threads=1)


@pytest.fixture
def experiments(tmp_path: Path) -> Iterator[BackgroundExperiments]:
    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] = a[i] * 2.0

    with lw.options(store=tmp_path / "store.sqlite3", threads=1):
        one = twice.specialise(np.ones(N))
        yield BackgroundExperiments(RecordedCall(one, ("a",), (0,), current(), Shape(()), None))


def experiment(schedule: str, limit_ns: int = 10**11) -> Experiment:
    return Experiment(SHAPE, 1, Variant("cpu", schedule, 1), "prove", 10**7, limit_ns, "")


def test_both_are_timed_and_the_arguments_stay(experiments: BackgroundExperiments) -> None:
    form, a = experiments.work_form(journal_of(current())), np.ones(N)
    found = experiments.evidence(experiment(PLAIN), DEFAULT, form, (a,))
    assert found is not None and found.outcome == "ok"
    for times in (found.times_ns, found.beside_ns):
        assert len(times) == 3 and 0 < times[0] <= times[1] <= times[2]
    assert (a == 1).all()


def test_one_that_is_refused_says_why(experiments: BackgroundExperiments) -> None:
    form = experiments.work_form(journal_of(current()))
    found = experiments.evidence(experiment("vectorize nothing"), DEFAULT, form, (np.ones(N),))
    assert found is not None and found.outcome == "refused" and "nothing" in found.reason
    assert found.times_ns == () and found.beside_ns


def test_what_has_no_time_is_ended(experiments: BackgroundExperiments) -> None:
    form = experiments.work_form(journal_of(current()))
    found = experiments.evidence(experiment(PLAIN, 1), DEFAULT, form, (np.ones(N),))
    assert found is not None and found.outcome == "timeout"


def test_what_is_not_copied_is_not_tried(experiments: BackgroundExperiments, monkeypatch: pytest.MonkeyPatch) -> None:
    form = experiments.work_form(journal_of(current()))
    there = on_device(4096, (N,), np.dtype("f8"), None, "emulated", None)
    assert experiments.evidence(experiment(PLAIN), DEFAULT, form, (there,)) is None
    monkeypatch.setattr(background_experiments, "MOST_BYTES", 8 * N - 1)
    assert experiments.evidence(experiment(PLAIN), DEFAULT, form, (np.ones(N),)) is None


def test_the_form_of_the_work_is_kept(experiments: BackgroundExperiments) -> None:
    form = experiments.work_form(journal_of(current()))
    assert form.at(SHAPE).iterations == N
    kernel = experiments._call.fingerprint
    table = journal_of(current()).table(WORK, ANY, kernel)
    assert table is not None and table.name == kernel
