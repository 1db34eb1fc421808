"""When the order of a loop's iterations serves the next call too, on the emulated device."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.gpus import gpu_of
from loopwright.memory.gpu_call import GpuExecutable
from loopwright.memory.kept_orders import KeptOrders

BOUND = (
    "redirect i; split i.a 64; bind i.a.o block.x; bind i.a thread.x; "
    "split i.t 32; bind i.t.o block.x; bind i.t thread.x"
)


def work(t, x, more, out):
    for i in range(out.shape[0]):
        s = x[i]
        for _k in range(t[i] + more):
            s = s * 0.5 + 1.0
        out[i] = s


@pytest.fixture(autouse=True)
def on_emulated() -> Iterator[None]:
    with lw.options(device="emulated", schedule=BOUND):
        yield


class Calls:
    """Calls of one kernel, each compared with Python's."""

    def __init__(self, n: int = 100) -> None:
        draw = np.random.default_rng(n)
        self.host = [draw.integers(0, 9, n), draw.random(n), np.zeros(n)]
        self.arrays: list[Any] = [lw.device_array(one) for one in self.host]
        self.kernel = lw.kernel(work)
        self.launched: list[int] = []

    def __call__(self, more: int = 0) -> bool:
        """Whether the order of an earlier call served."""
        t, x, out = self.host
        work(t, x, more, out)
        before = self._orders.found if self.kernel.specialisations() else 0
        self.kernel(self.arrays[0], self.arrays[1], more, self.arrays[2])
        np.testing.assert_array_equal(self.arrays[2].numpy(), out)
        return self._orders.found == before

    @property
    def _orders(self) -> KeptOrders:
        executable = self.kernel.specialisations()[0].executable
        assert isinstance(executable, GpuExecutable)
        return executable.orders


def test_an_order_is_found_once() -> None:
    call = Calls()
    assert [call() for _ in range(4)] == [False, True, True, True]


def test_it_is_found_again_when_an_array_changes() -> None:
    call = Calls()
    call(), call()
    call.host[0][:] = call.host[0][::-1].copy()
    call.arrays[0].copy_from(call.host[0])
    assert [call(), call()] == [False, True]
    call.host[1][:] = 2.0  # which decides nothing
    call.arrays[1].copy_from(call.host[1])
    assert call()


def test_it_is_found_again_for_another_number() -> None:
    call = Calls()
    assert [call(0), call(0), call(3), call(3), call(0)] == [False, True, False, True, False]


def test_it_is_found_again_for_other_sizes() -> None:
    call, other = Calls(100), Calls(170)
    other.kernel = call.kernel
    assert [call(), other(), other(), call(), call()] == [False, False, True, False, True]


def test_nobody_knows_of_numpy_arrays_whether_they_are_the_same() -> None:
    call = Calls()
    call.arrays = call.host = [one.copy() for one in call.host]
    t, x, out = call.host
    for trips in (t, t[::-1].copy(), t):
        wanted = np.zeros(100)
        work(trips, x, 0, wanted)
        call.kernel(trips, x, 0, out)
        np.testing.assert_array_equal(out, wanted)
    assert call._orders.found == 3


def test_after_a_call_that_failed_it_is_found_again() -> None:
    call = Calls()
    call(), call()
    short = lw.device_array(np.zeros(3))
    with pytest.raises(lw.BoundsError):
        call.kernel(call.arrays[0], short, 0, call.arrays[2])
    call()
    assert call()


def test_inside_a_loop_over_time_it_is_found_once() -> None:
    def steps(t, a):
        for _step in range(3):
            for i in range(a.shape[0]):
                for _k in range(t[i]):
                    a[i] = a[i] * 0.5 + 1.0

    t, a = np.arange(77) % 8, np.zeros(77)
    wanted = a.copy()
    steps(t, wanted)
    kernel = lw.kernel(steps)
    kernel(t, a)
    np.testing.assert_array_equal(a, wanted)
    executable = kernel.specialisations()[0].executable
    assert isinstance(executable, GpuExecutable) and executable.orders.found == 1


def test_what_is_forgotten_is_found_again() -> None:
    """As before each share of a call in parts, which has other iterations."""
    call = Calls()
    call(), call()
    call._orders.forget()
    assert [call(), call()] == [False, True]


def test_memory_is_given_back_with_the_program() -> None:
    gpu = gpu_of("emulated")
    assert gpu is not None
    call = Calls(3000)
    call()
    del call.arrays
    before = gpu.free_bytes()
    call.kernel._dispatch.forget()
    gc.collect()
    assert gpu.free_bytes() >= before + 8 * 3000
