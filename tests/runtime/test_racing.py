"""What is expected of devices in a race, what is learned of them, and when it is known who serves."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.signature import Shape
from loopwright.placement.line_up import CLEARLY
from loopwright.profile.work_form import WorkForm
from loopwright.runtime.racing import LOOKS, MOST_SHAPES, READY_NS, TOO_LATE, Racing
from runtime.cuts import same

TWO = "cpu, emulated"
FORM = WorkForm(((1.0, ((0, 2),)),), ((1.0, ((0, 1),)),), None, ((8.0, ((0, 1),)),), ((8.0, ((0, 1),)),))
"""Of n ** 2 iterations, n of them in parallel, with n numbers copied each way."""
SHORT, LONG, LONGER = Shape((100,)), Shape((20_000,)), Shape((60_000,))


def racing(form: WorkForm | None = FORM, cores: int = 16) -> Racing:
    gpu: Any = object()
    cpu: Any = object()
    return Racing(cpu, {"cuda": gpu}, lambda name: None, lambda: form, cores)


def learned(form: WorkForm | None = FORM, cores: int = 16) -> Racing:
    found = racing(form, cores)
    found.learn()
    assert found._form is not None
    found._form.result(60)
    return found


def test_nothing_is_expected_before_it_is_known_how_much_calls_have_to_do() -> None:
    new = racing()
    assert new.work(LONG) is None and not new.is_quick(SHORT)
    cpu, gpu = new.bounds(LONG, ())
    assert 0 < cpu.low_ns < cpu.high_ns == float("inf") and gpu.low_ns > cpu.low_ns
    assert learned(None).work(LONG) is None
    assert learned(WorkForm(None, None, None, None, None)).work(LONG) is None


def test_bounds_are_in_order_and_grow_with_the_work() -> None:
    known = learned()
    work = known.work(LONG)
    assert work is not None and work.iterations == 4e8 and known.work(LONG) is work
    for shape in (SHORT, LONG, LONGER):
        for one in known.bounds(shape, ()):
            assert one.low_ns <= one.expected_ns <= one.high_ns
    for one, more in zip(known.bounds(LONG, ()), known.bounds(LONGER, ()), strict=True):
        assert one.expected_ns < more.expected_ns
    sequential = WorkForm(FORM.iterations, (), None, FORM.inputs_bytes, FORM.outputs_bytes)
    for one, alike in zip(learned(sequential).bounds(LONG, ()), known.bounds(LONG, ()), strict=True):
        assert one.expected_ns > alike.expected_ns


def test_what_was_measured_counts_also_for_other_shapes() -> None:
    known = learned()
    known.measured(LONG, 0, 5e6)
    known.measured(LONG, 0, 4e6)
    assert known.bounds(LONG, ())[0].is_known and known.bounds(LONG, ())[0].low_ns == 4e6
    more = known.bounds(LONGER, ())[0]
    assert 1e6 < more.low_ns <= 4e6 < more.expected_ns < 36e6 < more.high_ns


def test_who_serves() -> None:
    known = learned()
    assert known.decided(LONG, (), [0, 1]) is None  # nothing was measured
    known.measured(LONG, 0, 9e6)
    assert known.decided(LONG, (), [0, 1]) is None  # the GPU may be faster
    assert known.decided(LONG, (), [0]) == 0
    known.measured(LONG, 1, 3e6)
    assert known.decided(LONG, (), [0, 1]) == 1 == known.serves[LONG]
    other = learned(cores=1)
    other.measured(LONGER, 1, 5e6)  # a CPU with one core is far from that, though nobody knows for certain
    assert other.bounds(LONGER, ())[0].expected_ns > CLEARLY * 5e6
    assert other.decided(LONGER, (), [0, 1]) == 1


def test_a_gpu_that_never_begins_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine whose cores are all busy; a GPU without code could not begin."""
    known = learned()
    known.measured(LONG, 0, 9e6)
    assert all(known.decided(LONG, (), [0, 1]) is None for _ in range(2 * TOO_LATE))
    monkeypatch.setattr(Racing, "code", lambda self, name: "some")
    monkeypatch.setattr(Racing, "copied", lambda self, name, shape, arguments: None)
    assert [known.decided(LONG, (), [0, 1]) for _ in range(TOO_LATE)] == [None] * (TOO_LATE - 1) + [0]


def test_nothing_is_found_out_after_a_first_call() -> None:
    """What takes a core for a while begins when there is a second one."""
    new = racing()
    new.measured(LONG, 0, 9e6)
    assert new.decided(LONG, (), [0, 1]) is None and new._form is None
    assert new.decided(LONG, (), [0, 1]) is None and new._form is not None
    new._form.result(60)
    assert new.decided(LONG, (), [0, 1]) is None and new.is_asked("cuda")
    assert new.ask("cuda") is new.ask("cuda") and new.code("cuda") is None


def test_quick_calls_are_looked_at_now_and_then() -> None:
    known = learned()
    assert known.is_quick(SHORT) and not known.is_quick(LONG)
    known.was_quick(SHORT, 1000)
    assert SHORT not in known.took_ns
    known.was_quick(SHORT, 5_000_000)  # it was not short, after all
    assert known.took_ns[SHORT] == {0: 5e6} and not known.is_quick(SHORT)
    known.serves[SHORT] = 0
    assert [known.is_quick(SHORT) for _ in range(LOOKS)].count(False) == 1
    known.serves[SHORT] = 1
    assert not known.is_quick(SHORT)


def test_a_gpu_without_code_gets_it_late_and_holds_nobody() -> None:
    known = learned()
    found = known.line_up(LONGER, ())
    entrants = known.entrants(found, LONGER, ())
    assert [one.name for one in entrants] == ["cpu", "cuda"]
    assert entrants[1].starts_ns >= READY_NS and not entrants[1].holds and not known.is_asked("cuda")
    assert known.line_up(LONGER, (), failed=[1]).entrants == (0,)


@lw.kernel
def products(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            for k in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


def test_calls_that_repeat_are_served_by_one() -> None:
    """Sizes that change, results that are right throughout, and no more races once it is known who serves."""
    products._dispatch.learn_anew()
    random = np.random.default_rng(1)
    with lw.options(devices=TWO, plan="race", strict=True):
        for size in (20, 60):
            a, b = random.integers(-9, 9, (2, size, size)).astype(float)
            until = time.monotonic() + 60
            served = False
            while not served:
                assert time.monotonic() < until
                c = np.ones((size, size))
                products(a, b, c)
                assert same(c, 1 + a @ b)
                (kind,) = products._dispatch.sharing._kinds.values()
                racing = kind.racing
                assert racing is not None
                served = any(shape.sizes[0] == size for shape in racing.serves) or (size == 20 and racing._calls > 9)
        again = [products(a, b, np.ones((60, 60))) for _ in range(2 * LOOKS)]
    assert again == [None] * len(again)


def test_a_gpu_that_is_lost_leaves_calls_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from loopwright.devices import gpus
    from loopwright.errors import DeviceError

    gpu: Any = gpus.gpu_of("emulated")

    def lost(*_: object, **__: object) -> None:
        raise DeviceError("it is lost")

    products._dispatch.learn_anew()
    a = np.ones((30, 30))
    with lw.options(devices=TWO, plan="race", strict=True):
        products(a, a, a.copy())
        (kind,) = products._dispatch.sharing._kinds.values()
        assert kind.racing is not None
        kind.racing.learn()
        kind.racing.ask("emulated").result(60)
        monkeypatch.setattr(gpu, "upload", lost)
        for _ in range(6):
            c = np.ones((30, 30))
            products(a, a, c)
            assert (c == 31).all()


def test_of_few_shapes_is_known_what_they_took() -> None:
    known = learned()
    for n in range(2 * MOST_SHAPES):
        known.measured(Shape((n,)), 0, 1e6)
        known.serves[Shape((n,))] = 0
    assert len(known.took_ns) <= MOST_SHAPES >= len(known.serves)
    assert known.took_ns[Shape((2 * MOST_SHAPES - 1,))] == {0: 1e6}
