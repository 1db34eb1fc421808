"""What `explain` says of the choice of a real kernel, from a store that was filled by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.cost.front import PARETO
from loopwright.ir.signature import Shape
from loopwright.ir.variant import PLAIN, Variant
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import FittedTable
from loopwright.report.choice import NOTHING_KNOWN
from loopwright.report.stored_choices import ELSEWHERE

DEFAULT = Variant("cpu", threads=1)
SPLIT = Variant("cpu", "split i 4; parallelize i.o", 1)
ILLEGAL = Variant("cpu", "vectorize nothing", 1)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[lw.LoopKernel]:
    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] = a[i] * 2.0

    with lw.options(store=tmp_path / "store.sqlite3", threads=1):
        yield twice


def measured(kernel: lw.LoopKernel, times: dict[Variant, float], n: int = 100) -> str:
    """Put times into the store. Returns the machine."""
    machine = machine_of("cpu", current())
    assert machine is not None
    fingerprint = kernel.specialise(np.ones(n)).fingerprint
    journal = journal_of(current())
    for variant, time_ns in times.items():
        one = Measurement(
            fingerprint, machine.fingerprint, variant, Shape((n,)), Work(n, n, 1, 8 * n), "ok", time_ns, 0.01, 5,
            made_at=1000.0,
        )  # fmt: skip
        journal.add(one)
    points = [["split i 8", [1.0], False, "dominated by another"]]
    journal.put(FittedTable(PARETO, machine.fingerprint, fingerprint, {"names": ["x"], "points": points}, 1000.0))
    assert journal.flush()
    return machine.fingerprint


def test_nothing_was_tuned(kernel: lw.LoopKernel) -> None:
    [choice] = kernel.explain(np.ones(100)).choices
    assert (choice.why, choice.serves, choice.candidates) == (NOTHING_KNOWN, "", ())


def test_the_variant_that_serves_is_explained_and_nothing_runs(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, SPLIT: 1e6})
    a = np.ones(100)
    explanation = kernel.explain(a)
    [choice] = explanation.choices
    assert choice.serves == str(SPLIT) and explanation.schedule == SPLIT.schedule
    assert {one.variant: one.status for one in choice.candidates} == {
        str(SPLIT): "serves",
        str(DEFAULT): "slower",
        "cpu: split i 8": "pruned",
    }
    assert a.tolist() == [1.0] * 100 and explanation.ran is None
    told = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))["choices"]
    assert told[0]["candidates"][1]["measured_ns"] == 9e6
    kernel(a)
    assert kernel.explain(a).ran is not None and a.tolist() == [2.0] * 100


def test_what_calls_were_served_with_is_told_of_each_shape(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, SPLIT: 1e6})
    measured(kernel, {DEFAULT: 1e3, SPLIT: 1e6}, n=4)
    [default] = kernel.explanations()
    assert [choice.why for choice in default.choices] == [NOTHING_KNOWN]
    kernel(np.ones(100))
    default, split = kernel.explanations()
    assert [choice.why for choice in default.choices] == [ELSEWHERE]
    assert [(choice.sizes, choice.serves) for choice in split.choices] == [((100,), str(SPLIT))]
    kernel(np.ones(4))
    told = {choice.sizes: choice.serves for one in kernel.explanations() for choice in one.choices if choice.sizes}
    assert told == {(4,): str(DEFAULT), (100,): str(SPLIT)}


def test_a_variant_that_cannot_be_made_says_so(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, ILLEGAL: 1e6})
    [choice] = kernel.explain(np.ones(100)).choices
    assert choice.serves == str(DEFAULT)
    illegal = next(one for one in choice.candidates if one.variant == str(ILLEGAL))
    assert illegal.status == "refused" and "vectorize" in illegal.why


def test_what_options_decide(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, SPLIT: 1e6})
    with lw.options(variant=f"cpu 1: {PLAIN}"):
        [choice] = kernel.explain(np.ones(100)).choices
    assert (choice.serves, choice.pinned) == ("cpu 1: plain", "variant")
    assert [one.measured_ns for one in choice.candidates] == [None, 1e6, 9e6]
    with lw.options(store="off"):
        [choice] = kernel.explain(np.ones(100)).choices
    assert choice.pinned == "store" and not choice.serves
    with lw.options(device="interpreter"):
        [choice] = kernel.explain(np.ones(100)).choices
    assert choice.pinned == "device"


def test_to_ask_changes_nothing(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, SPLIT: 1e6})
    first = kernel.explain(np.ones(100)).choices[0]
    again = kernel.explain(np.ones(100)).choices[0]
    assert [(one.variant, one.why) for one in first.candidates] == [(one.variant, one.why) for one in again.candidates]


def test_steps_of_a_variant_that_was_chosen_were_not_asked_for(kernel: lw.LoopKernel) -> None:
    measured(kernel, {DEFAULT: 9e6, SPLIT: 1e6})
    a = np.ones(100)
    [decision] = kernel.explain(a).decisions
    assert (decision.steps, decision.why) == (SPLIT.schedule, "chosen: predicted fastest")
    kernel(a)
    assert [one.why for one in kernel.explanations()[1].decisions] == ["chosen: predicted fastest"]
    for asked in ({"variant": str(SPLIT)}, {"schedule": SPLIT.schedule}):
        with lw.options(**asked):
            assert [one.why for one in kernel.explain(a).decisions] == ["asked for"]
