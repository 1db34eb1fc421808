"""What `explain` says of calls that several devices may share: it is what they do."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.division import Assignment, Division
from loopwright.devices import gpus
from loopwright.errors import DeviceError
from loopwright.ir.plan import Plan
from loopwright.report.devices import covered_ns
from loopwright.report.shared_report import DevicesReport, SpanReport

TWO = "cpu, emulated"
PARTS = "0:500 on cpu: recipe\n500:700 on emulated: recipe"


@lw.kernel
def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


@lw.kernel
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@lw.kernel
def swept(steps, u, v):
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i]


@pytest.fixture(autouse=True)
def _anew() -> None:
    for kernel in (doubled, total, swept):
        kernel._dispatch.learn_anew()
        kernel._dispatch.shared_calls.clear()


def arrays(size: int = 700) -> tuple[Any, Any]:
    return np.arange(float(size)), np.zeros(size)


def devices_of(kernel: Any, *arguments: Any) -> DevicesReport:
    found = kernel.explain(*arguments).devices
    assert isinstance(found, DevicesReport)
    return found


def test_before_the_first_call() -> None:
    with lw.options(devices=TWO, threads=2):
        found = doubled.explain(*arrays())
    assert found.devices is not None and found.devices.last is None
    assert (found.devices.kind, found.plan, found.devices.alternatives) == ("guided", "", ())
    assert found.devices.sharing == ("cpu", "emulated")
    text = str(found)
    assert "devices       cpu, emulated can share such a call\n" in text
    assert "next call: chunks for each free device: nothing was measured yet" in text
    assert "plan  " not in text and "note: loops and code are told as the CPU runs them" in text
    assert text.endswith("ran           not yet, in this process")


def test_a_call_by_parts_of_the_user() -> None:
    a, b = arrays()
    with lw.options(devices=TWO, plan=PARTS):
        before = doubled.explain(a, b)
        doubled(a, b)
        doubled(a, b)
        found = doubled.explain(a, b)
    assert before.plan == found.plan == PARTS
    report = found.devices
    assert report is not None and report.last is not None
    assert (report.kind, report.last.kind, report.last.calls) == ("planned", "planned", 2)
    cpu, gpu = report.last.members
    assert (cpu.iterations, gpu.iterations) == (500, 200)
    moved = {(one.source, one.target): one.size_bytes for one in report.last.moved}
    assert moved == {("cpu", "emulated"): 1600, ("emulated", "cpu"): 1600}
    assert 0 < gpu.copies_ns < report.last.total_ns and cpu.copies_ns == 0
    for one in report.last.members:
        assert 0 < one.computes_ns <= report.last.total_ns and 0 <= one.waits_ns < report.last.total_ns
    assert 0 <= report.last.imbalance < 1
    assert "ran           2 calls that several devices shared" in str(found)
    assert "copied cpu to emulated 1.56 KiB in 1 copy; emulated to cpu 1.56 KiB in 1 copy" in str(found)
    assert '"img"' in found._repr_html_()


def test_what_is_told_of_the_next_call_is_what_it_does() -> None:
    a, b = arrays(3000)
    with lw.options(devices="emulated, emulated:1", plan="split"):
        for _ in range(6):
            told = doubled.explain(a, b)
            doubled(a, b)
            last = devices_of(doubled, a, b).last
            assert last is not None and told.devices is not None
            assert told.devices.kind == last.kind
            if told.plan:
                shares = Plan.parse(told.plan).shares
                assert {one.variant.device: len(one.box[0]) for one in shares} == {
                    one.name: one.iterations for one in last.members if one.iterations
                }
        assert told.devices.predicted_ns is not None
        ways = [one.how for one in told.devices.alternatives]
    assert ways == ["emulated alone", "emulated1 alone", "parts for all"]


def test_parts_that_hardly_changed_are_told_as_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = arrays(3000)
    decide = Division.decide

    def moved(self: Division, by: int) -> Assignment:
        cut = 1500 + by
        return replace(decide(self), kind="split", parts=(range(cut), range(cut, 3000)))

    with lw.options(devices="emulated, emulated:1", plan="split"):
        doubled(a, b)
        for by, first in ((0, 1500), (40, 1500), (-40, 1500), (80, 1580)):
            for name in ("decide", "foreseen"):
                monkeypatch.setattr(Division, name, lambda self, by=by: moved(self, by))
            told = Plan.parse(doubled.explain(a, b).plan)
            doubled(a, b)
            last = devices_of(doubled, a, b).last
            assert last is not None
            assert [len(one.box[0]) for one in told.shares] == [one.iterations for one in last.members]
            assert last.members[0].iterations == first


def test_the_plan_that_is_told_can_be_asked_for() -> None:
    a, b = arrays()
    with lw.options(devices="emulated, emulated:1", plan="split"):
        for _ in range(4):
            doubled(a, b)
        plan = doubled.explain(a, b).plan
    b[:] = 0
    with lw.options(devices="emulated, emulated:1", plan=plan):
        doubled(a, b)
    assert (b == 2 * a).all()


def test_explaining_changes_nothing_and_runs_nothing() -> None:
    a, b = arrays()
    with lw.options(devices=TWO):
        for _ in range(3):
            doubled(a, b)
        b[:] = 7
        one, other = doubled.explain(a, b), doubled.explain(a, b)
        assert (b == 7).all()
    assert one.devices == other.devices


def test_a_call_that_nobody_shares() -> None:
    a, _ = arrays()
    with lw.options(devices=TWO, strict=True):
        total(a)
        found = total.explain(a)
    assert found.devices is not None
    assert found.devices.unshared == "its loops cannot be shared"
    assert "devices       one of cpu, emulated makes such a call: its loops cannot be shared\n" in str(found)
    assert found.plan.startswith("all on ")
    assert "1 call on the" in str(found)


def test_one_device_alone_is_explained_as_it_runs() -> None:
    a, b = arrays()
    with lw.options(devices="emulated"):
        doubled(a, b)
        found = doubled.explain(a, b)
    assert found.devices is None
    assert found.served_by.device == "emulated GPU" and "on emulated: recipe" in found.plan


def test_several_loops_get_even_parts_first() -> None:
    u, v = arrays()
    with lw.options(devices=TWO, plan="split"):
        assert devices_of(swept, 2, u, v).kind == "even"
        swept(2, u, v)
        last = devices_of(swept, 2, u, v).last
        assert "the last one, even parts, took" in str(swept.explain(2, u, v))
    assert last is not None and last.kind == "even"
    assert sum(one.iterations for one in last.members) == 4 * 698


def test_a_device_that_is_not_there() -> None:
    if gpus.gpu_of("cuda6") is not None:
        pytest.skip("seven GPUs")
    with lw.options(devices="cpu, emulated, cuda:6"), pytest.warns(lw.LoopwrightWarning, match="'cuda6' is left out"):
        found = devices_of(doubled, *arrays())
    assert [one.name for one in found.devices if one.why_not] == ["cuda6"]


def test_a_failed_condition_is_told() -> None:
    a = np.zeros(9)
    with lw.options(devices=TWO):
        found = doubled.explain(a, np.zeros(5))
    assert found.devices is not None and "fail the condition" in found.devices.unshared
    assert any("fail the condition" in note for note in found.notes)


def test_an_error_in_a_part_is_told() -> None:
    @lw.kernel
    def gather(a, index, b):
        for i in range(b.shape[0]):
            b[i] = a[index[i]]

    arguments = np.arange(9.0), np.arange(100) % 12, np.zeros(100)
    with lw.options(devices=TWO, plan="0:50 on cpu: recipe\n50:100 on emulated: recipe"):
        with pytest.raises(lw.BoundsError):
            gather(*arguments)
        last = devices_of(gather, *arguments).last
    assert last is not None and last.ended_early


def test_a_gpu_that_failed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Any = gpus.gpu_of("emulated")

    def lost(*_: object, **__: object) -> int:
        raise DeviceError("it is lost")

    u, v = arrays()
    with lw.options(devices=TWO):
        swept.explain(1, u, v)  # which loads the code
        monkeypatch.setattr(real, "allocate", lost)
        swept(1, u, v)
        found = devices_of(swept, 1, u, v)
    assert [one.why_not for one in found.devices] == ["", "it has failed: it is lost"]
    assert found.last is not None and [one.failed for one in found.last.members] == [False, True]


def test_arrays_that_stay() -> None:
    a, b = (lw.distributed_array(one) for one in arrays())
    with lw.options(devices="emulated, emulated:1", plan="0:350 on emulated: recipe\n350:700 on emulated1: recipe"):
        doubled(a, b)
        doubled(a, b)
        last = devices_of(doubled, a, b).last
    assert last is not None and last.moved == ()


def test_arrays_on_two_gpus() -> None:
    with lw.options(device="emulated"):
        a = lw.device_array(arrays()[0])
    with lw.options(device="emulated:1"):
        b = lw.device_array(arrays()[1])
    with lw.options(devices="emulated, emulated:1", plan="split"):
        doubled(a, b)
        last = devices_of(doubled, a, b).last
    assert last is not None
    assert {(one.source, one.target) for one in last.moved} <= {("emulated", "emulated1"), ("emulated1", "emulated")}


def test_explanations_have_the_last_shared_call() -> None:
    a, b = arrays()
    with lw.options(devices=TWO, plan=PARTS):
        doubled(a, b)
        told = [one for one in doubled.explanations() if one.devices is not None]
    with lw.options(device="cpu"):
        total(a)
    assert [one.devices.last.calls for one in told if one.devices and one.devices.last] == [1]
    assert told[0].devices is not None and told[0].devices.kind == "planned"
    assert "1 call that several devices shared" in str(told[0])
    assert {one.devices for one in total.explanations()} == {None}


def test_time_that_is_covered_twice_counts_once() -> None:
    spans = [SpanReport("cpu", "copies", start, end) for start, end in ((5, 9), (0, 4), (3, 6), (20, 22))]
    assert covered_ns(spans) == 11
    assert covered_ns([]) == 0


def test_all_calls_that_devices_shared_are_counted_whatever_their_sizes_and_options() -> None:
    """104 of them, and those that one device made beside them; tuning in between forgets none."""

    @lw.kernel
    def tripled(a, b):
        for i in range(a.shape[0]):
            b[i] = 3.0 * a[i]

    for size, times in ((700, 40), (70, 30)):
        a, b = arrays(size)
        with lw.options(devices=TWO, plan=f"0:{size // 2} on cpu: recipe\n{size // 2}:{size} on emulated: recipe"):
            for _ in range(times):
                tripled(a, b)
    tripled._dispatch.learn_anew()
    a, b = arrays(300)
    with lw.options(devices=TWO):
        for _ in range(29):
            tripled(a, b)
        text = str(tripled.explain(a, b))
    with lw.options(devices=TWO, plan="race"):
        for _ in range(5):
            tripled(a, b)
        raced = tripled.explain(a, b)
    with lw.options(device="cpu"):
        alone = tripled.explain(a, b)
    shared, ran = alone.shared_calls, alone.ran
    assert shared >= 72 and raced.shared_calls == shared and raced.ran == ran
    assert f"{shared} calls that several devices shared\n" in str(alone)
    assert shared + (ran.calls if ran else 0) == 104
    assert "calls that several devices shared" in text
    assert repr(tripled).endswith("104 calls>")
    assert f"and {shared} calls that several devices shared" in tripled._repr_html_()
    told = tripled.explanations()
    assert sum(one.shared_calls + (one.ran.calls if one.ran else 0) for one in told) == 104


@pytest.mark.parametrize("plan", ["race", "single"])
def test_other_plans(plan: str) -> None:
    a, b = arrays()
    with lw.options(devices=TWO, plan=plan):
        first = devices_of(doubled, a, b)
        for _ in range(100):  # in a race, what tells who serves is made in other threads
            doubled(a, b)
            found = doubled.explain(a, b)
            if found.devices is not None and found.devices.kind == "single":
                break
            time.sleep(0.05)
    assert first.kind == plan and not first.unshared
    assert found.devices is not None and found.devices.kind == "single"
    assert found.plan.startswith("all on ")
    last = found.devices.last
    assert (last is not None and last.kind == "race") is (plan == "race")
    assert all(not one.learned for one in found.devices.devices)
    assert "ran           " in str(found)


def test_watts_are_told_where_joules_count() -> None:
    a, b = arrays()
    with lw.options(devices=TWO, goal="energy", watts="cpu 90/40, emulated 300/40"):
        for _ in range(4):
            doubled(a, b)
        found = doubled.explain(a, b)
        told = found.devices
        doubled(a, b)
    assert told is not None
    assert told.watts == ("cpu: 90 W at work, 40 W idle", "emulated: 300 W at work, 40 W idle")
    assert told.why.startswith("goal energy: ") and "for energy" in str(found)
    with lw.options(devices=TWO):
        assert devices_of(doubled, a, b).watts == ()


def test_each_device_by_itself_once_is_foreseen() -> None:
    """Of several loops: which device comes next is told, and telling it does not take its turn."""
    u, v = arrays()
    with lw.options(devices=TWO, threads=1):
        swept(1, u, v)
        for device in ("cpu", "emulated"):
            plans = [swept.explain(1, u, v).plan for _ in range(2)]
            assert all(plan.startswith(f"all on {device}") for plan in plans)
            swept(1, u, v)
            assert swept.explain(1, u, v).ran is not None
