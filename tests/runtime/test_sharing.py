"""Calls under `lw.options(devices=...)`: who takes part, what is decided, and what is told to whom asks too much."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.division import Assignment
from loopwright.devices import gpus
from loopwright.errors import ArgumentTypeError, DeviceError, PlanError
from loopwright.ir.plan import Plan
from loopwright.runtime.energy_goal import EnergyGoal
from loopwright.runtime.part_sources import EvenParts, FixedParts, GuidedParts, PlannedParts
from loopwright.runtime.quiet import Quiet

TWO = "cpu, emulated"


@lw.kernel
def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


@lw.kernel
def chain(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


def planned(text: str) -> PlannedParts:
    return PlannedParts(Plan.parse(text), ("cpu", "emulated", "emulated1"))


@pytest.fixture(autouse=True)
def _anew() -> None:
    for kernel in (doubled, chain):
        kernel._dispatch.learn_anew()


@pytest.mark.parametrize("plan", ["auto", "split", "single"])
@pytest.mark.parametrize("devices", [TWO, "emulated, emulated:1", "cpu, emulated, emulated:1", "cpu", "emulated:1"])
def test_many_calls_are_right(devices: str, plan: str) -> None:
    a = np.random.default_rng(1).random(700)
    with lw.options(devices=devices, plan=plan, threads=2):
        for _ in range(6):
            b = np.zeros(700)
            doubled(a, b)
            assert (b == 2 * a).all()


def division(kernel: Any, number: int = 0) -> Any:
    (kind,) = list(kernel._dispatch.sharing._kinds.values())[number : number + 1]
    (found,) = kind.divisions.values()
    return found


def test_the_slower_device_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each copy to the GPU takes a thousand times as long as all of the call."""
    gpu: Any = gpus.gpu_of("emulated")
    real = gpu.upload

    def slowly(*given: Any) -> None:
        time.sleep(0.01)
        real(*given)

    monkeypatch.setattr(gpu, "upload", slowly)
    a, b = np.ones(5000), np.zeros(5000)
    with lw.options(devices=TWO, threads=1):
        for _ in range(8):
            doubled(a, b)
        decision = division(doubled).decide()
    assert (decision.kind, decision.devices) == ("single", (0,))


def test_split_keeps_all_devices() -> None:
    a, b = np.ones(5000), np.zeros(5000)
    with lw.options(devices="emulated, emulated:1", plan="split"):
        for _ in range(4):
            doubled(a, b)
        assert division(doubled).decide().kind == "split"


def test_loops_that_nobody_can_share_are_made_by_one() -> None:
    with lw.options(devices=TWO):
        for _ in range(4):
            a = np.ones(50)
            chain(a)
            assert (a == np.arange(1, 51)).all()
    told = "this call cannot be shared: cpu: its loops cannot be shared"
    plan = "0:9 on cpu: recipe\n9:50 on emulated: recipe"
    with lw.options(devices=TWO, plan=plan), pytest.raises(PlanError, match=told):
        chain(np.ones(50))


def test_a_gpu_that_is_not_there_is_left_out() -> None:
    """With a warning, as for the option `device`."""
    if gpus.gpu_of("cuda9") is not None:
        pytest.skip("ten GPUs")
    b = np.zeros(9)
    left_out = pytest.warns(lw.LoopwrightWarning, match="devices: 'cuda9' is left out")
    with lw.options(devices="cpu, cuda:9, emulated", plan="split"), left_out:
        doubled(np.ones(9), b)
        (kind,) = doubled._dispatch.sharing._kinds.values()
    assert (b == 2).all()
    assert list(kind.programs) == ["cpu", "emulated"]
    assert kind.why["cuda9"]


def test_none_of_the_devices_is_there() -> None:
    """The CPU runs it, as where `device` names a GPU that is not there."""
    if gpus.gpu_of("cuda8") is not None:
        pytest.skip("nine GPUs")
    b = np.zeros(9)
    seven, eight = (pytest.warns(lw.LoopwrightWarning, match=f"'cuda{n}' is left out") for n in (7, 8))
    with lw.options(devices="cuda:7, cuda:8"), seven, eight:
        doubled(np.ones(9), b)
    assert (b == 2).all()


PLANS = {
    "0:3 on cpu: recipe\n4:9 on emulated: recipe": "leaves out iterations 3 to 3, between those on cpu and on emulated",
    "0:5 on cpu: recipe\n4:9 on emulated: recipe": "has iteration 4 twice: on cpu and on emulated",
    "0:5 on cpu: recipe\n5:8 on emulated: recipe": "has iterations 0:8, and the loop has 0:9",
    "1:5 on cpu: recipe\n5:9 on emulated: recipe": "has iterations 1:9, and the loop has 0:9",
    "0:5 on cpu: recipe\n5:9 on cuda3: recipe": "names 'cuda3', and devices are cpu, emulated",
    "0:5 on cpu: recipe\n5:9 on cpu: recipe": "does not give 'cpu' one range",
    "all on cpu: recipe": "does not give 'cpu' one range",
}


@pytest.mark.parametrize("text", PLANS)
def test_a_plan_that_does_not_fit(text: str) -> None:
    b = np.zeros(9)
    with lw.options(devices=TWO, plan=text), pytest.raises(PlanError, match=PLANS[text]):
        doubled(np.ones(9), b)
    assert not b.any()


FIT = ["0:5 on cpu: recipe\n5:9 on emulated: recipe", "5:9 on cpu: recipe\n0:5 on emulated: recipe"]


@pytest.mark.parametrize("text", FIT)
def test_a_plan_that_fits(text: str) -> None:
    b = np.zeros(9)
    with lw.options(devices=TWO, plan=text):
        doubled(np.ones(9), b)
        (kind,) = doubled._dispatch.sharing._kinds.values()
    (timeline,) = kind.timelines.values()
    assert (b == 2).all()
    assert sorted(timeline.done) == [4, 5]
    assert dict(zip(timeline.devices, timeline.done, strict=True))["cpu"] == (5 if text.startswith("0") else 4)


def test_arrays_on_gpus() -> None:
    with lw.options(device="emulated:1"):
        a, b = lw.device_array(np.arange(900.0)), lw.device_array(np.zeros(900))
    version = b.version
    with lw.options(devices="cpu, emulated, emulated:1"):
        for _ in range(5):
            doubled(a, b)
    assert (b.numpy() == 2 * np.arange(900)).all()
    assert (a.numpy() == np.arange(900)).all()
    assert b.version != version
    with lw.options(devices=TWO), pytest.raises(ArgumentTypeError, match="the array is on emulated1, and devices are"):
        doubled(a, b)


def test_what_is_returned_is_what_was_given() -> None:
    @lw.kernel
    def filled(a):
        for i in range(a.shape[0]):
            a[i] = 1.0
        return a

    a = np.zeros(40)
    with lw.options(devices=TWO, plan="split"):
        assert filled(a) is a


def test_a_failed_guard_runs_checked_code() -> None:
    @lw.kernel
    def shifted(a, n):
        for i in range(n):
            a[i] = a[i + n] + 1.0

    a = np.zeros(10)
    with lw.options(devices=TWO, plan="split"):
        shifted(a, 5)
        with pytest.raises(lw.BoundsError):
            shifted(a, 6)


def test_read_only_arrays_and_wrong_arguments_are_refused_as_ever() -> None:
    b = np.zeros(9)
    b.flags.writeable = False
    with lw.options(devices=TWO):
        with pytest.raises(lw.ArgumentValueError, match="read-only"):
            doubled(np.ones(9), b)
        with pytest.raises(TypeError):
            doubled(np.ones(9))


def test_a_gpu_that_fails_by_itself_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is made by another device, which serves from then on."""
    real: Any = gpus.gpu_of("emulated")

    def lost(*_: object, **__: object) -> int:
        raise DeviceError("it is lost")

    a, b = np.ones(50), np.zeros(50)
    with lw.options(devices=TWO, plan="single"):
        doubled(a, b)
        monkeypatch.setattr(real, "allocate", lost)
        for _ in range(3):
            b[:] = 0
            doubled(a, b)
            assert (b == 2).all()
        assert division(doubled).failures == {1: "it is lost"}


def test_a_gpu_that_fails_before_it_has_begun_leaves_its_part_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    @lw.kernel
    def twice(a, b):
        for i in range(a.shape[0]):
            b[i] = 2.0 * a[i]
        for i in range(a.shape[0]):
            b[i] = b[i] + 1.0

    real: Any = gpus.gpu_of("emulated")

    def lost(*_: object, **__: object) -> int:
        raise DeviceError("it is lost")

    a, b = np.ones(50), np.zeros(50)
    with lw.options(devices=TWO, plan="split"):
        twice.explain(a, b)  # which loads the code
        monkeypatch.setattr(real, "allocate", lost)
        twice(a, b)
    assert (b == 3).all()


def test_parts_of_other_loops_lie_at_the_same_places() -> None:
    parts = FixedParts(range(100), (range(40), range(40, 100)))
    assert parts.fixed(0, range(100)) == [range(40), range(40, 100)]
    assert parts.fixed(1, range(1, 99)) == [range(1, 40), range(40, 99)]
    assert parts.fixed(2, range(10)) == [range(4), range(4, 10)]
    assert parts.fixed(3, range(1000, 1100)) == [range(1000, 1040), range(1040, 1100)]
    assert parts.fixed(4, range(5, 5)) == [range(5, 5), range(5, 5)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
def test_even_parts_are_all_iterations(count: int) -> None:
    found = EvenParts(3).fixed(0, range(5, 5 + count))
    assert [k for part in found for k in part] == list(range(5, 5 + count))


def test_chunks_are_all_iterations() -> None:
    parts = GuidedParts([0, 1])
    parts.fixed(0, range(3, 90))
    taken = [parts.take(0, None), parts.take(1, None), parts.take(1, 3.0), *parts.left()]
    seen = [k for part in taken if part is not None for k in part]
    assert sorted(seen) == list(range(3, 90))


def test_a_plan_for_several_loops() -> None:
    parts = planned("0:5 on emulated1: recipe\n5:9 on cpu: recipe")
    assert parts.fixed(0, range(9)) == [range(5, 9), range(9, 9), range(5)]
    assert parts.fixed(1, range(1, 8)) == [range(5, 8), range(8, 8), range(1, 5)]


def test_calls_that_were_decided_alike_are_made_without_asking() -> None:
    """More and more of them from time to time; what is decided otherwise ends that."""
    quiet = Quiet()
    parts = (range(500), range(500, 1000))
    asked = 0
    for _ in range(300):
        if quiet.next() is None:
            asked += 1
            assert quiet.decided(Assignment("split", parts, "")).parts == parts
    assert 10 < asked < 20
    while quiet.next() is not None:
        pass
    near = Assignment("split", (range(510), range(510, 1000)), "")
    assert quiet.decided(near).parts == parts  # nothing moves for ten iterations
    while quiet.next() is not None:
        pass
    other = Assignment("split", (range(700), range(700, 1000)), "")
    assert quiet.decided(other) is other
    assert quiet.next() is None
    alone = Assignment("split", (range(1000), range(1000, 1000)), "")
    assert quiet.decided(alone) is alone


def test_threads_have_their_own_errors() -> None:
    """Kernels of one program report to one place: calls of two threads come one after the other."""

    @lw.kernel
    def gathered(a, b, where):
        for i in range(where.shape[0]):
            a[i] = b[where[i]]

    good, bad = np.arange(200), np.arange(200)
    bad[150] = 999
    told: list[str] = []

    def run(where: Any, is_right: bool) -> None:
        for _ in range(12):
            a = np.zeros(200)
            try:
                with lw.options(devices="emulated, emulated:1", plan="split"):
                    gathered(a, np.arange(200.0), where)
            except lw.BoundsError:
                told.append("wrong" if is_right else "")
            else:
                told.append("" if is_right and (a == where).all() else "wrong")

    threads = [threading.Thread(target=run, args=one) for one in ((good, True), (bad, False), (good, True))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [""] * 36


FACTOR = 2.0


@lw.kernel
def with_a_constant(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * FACTOR


def test_a_constant_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code was made for its value."""
    b = np.zeros(40)
    with lw.options(devices="emulated, emulated:1", plan="split"):
        for factor in (2.0, 5.0, 2.0):
            monkeypatch.setitem(globals(), "FACTOR", factor)
            for _ in range(3):
                with_a_constant(np.ones(40), b)
                assert (b == factor).all()


def test_deterministic_calls_are_made_by_one_device() -> None:
    """Devices may round otherwise, and who does which part changes from call to call."""
    doubled._dispatch.learn_anew()
    b = np.zeros(40)
    with lw.options(devices=TWO, deterministic=True):
        doubled(np.ones(40), b)
        assert doubled._dispatch._sharing is None
    assert (b == 2).all()


def test_who_takes_the_fewest_joules_is_not_worked_out_for_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    best = EnergyGoal.best

    def counted(self: EnergyGoal, *given: Any) -> Any:
        asked.append(given)
        return best(self, *given)

    monkeypatch.setattr(EnergyGoal, "best", counted)
    a, b = np.ones(60), np.zeros(60)
    with lw.options(devices=TWO, goal="energy", watts="cpu 90/40, emulated 900/40"):
        for _ in range(60):
            doubled(a, b)
    assert 0 < len(asked) < 30
    assert (b == 2.0).all()
