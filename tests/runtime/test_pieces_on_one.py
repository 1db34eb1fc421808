"""Calls with arrays in pieces that one GPU makes by itself: the results are those of all devices, wherever elements
were, and whatever goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated import EmulatedGpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import ArrayCopies
from loopwright.runtime.pieces_on_one import OnOneGpu
from loopwright.runtime.shared_call import SharedCall

TWO = "emulated, emulated:1"


@lw.kernel
def step(u, v, by):
    for i in range(1, u.shape[0] - 1):
        v[i] = (u[i - 1] + u[i] + u[i + 1]) * by


@lw.kernel
def added(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@lw.kernel
def counted(a, h):
    for i in range(a.shape[0]):
        h[a[i]] += 1


@lw.kernel
def taken(u, places, v):
    for i in range(v.shape[0]):
        v[i] = u[places[i]] + v[i]


KERNELS = (step, added, counted, taken)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """By which GPUs calls were made alone."""
    found: list[str] = []
    run = OnOneGpu.run

    def told(self: OnOneGpu, *given: Any) -> object:
        found.append(self.place)
        return run(self, *given)

    monkeypatch.setattr(OnOneGpu, "run", told)
    for kernel in KERNELS:
        kernel._dispatch.learn_anew()
    yield found
    for kernel in KERNELS:
        kernel._dispatch.learn_anew()


def stepped(u: np.ndarray, v: np.ndarray, by: float) -> None:
    v[1:-1] = (u[:-2] + u[1:-1] + u[2:]) * by


def numbers(size: int = 50) -> np.ndarray:
    return np.random.default_rng(size).integers(-9, 9, size).astype(float)


def test_arrays_come_and_go(alone: list[str]) -> None:
    u, v = numbers(), np.zeros(50)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    for k in range(24):
        with lw.options(devices=TWO, plan="single" if k % 8 < 6 else "split"):
            step(*mine, by := 1.0 + k % 3)
        stepped(u, v, by)
        if k % 5 == 4:
            assert all(np.array_equal(one.numpy(), its) for one, its in zip(mine, (u, v), strict=True))
        if k % 7 == 3:
            mine[0].copy_from(u := numbers() + k)
        v %= 97.0
        mine[1].copy_from(v)
        mine, (u, v) = mine[::-1], (v, u)
    assert all(np.array_equal(one.numpy(), its) for one, its in zip(mine, (u, v), strict=True))
    assert len(alone) >= 12


def test_a_total_and_elements_that_are_updated(alone: list[str]) -> None:
    a, given = lw.distributed_array(numbers()), numbers()
    keys, h = np.arange(60) % 7, np.zeros(7, np.int64)
    mine = lw.distributed_array(keys), lw.distributed_array(h)
    with lw.options(devices=TWO, plan="single"):
        for _ in range(8):
            assert added(a) == given.sum()
            a.copy_from(given := given * 2 + 1)
            counted(*mine)
            counted(keys, h)
    assert np.array_equal(mine[1].numpy(), h) and alone


def test_an_index_outside_leaves_what_was_written_until_then(alone: list[str]) -> None:
    u, places, v = numbers(8), np.arange(40) % 8, np.zeros(40)
    mine = [lw.distributed_array(one) for one in (u, places, v)]
    with lw.options(devices=TWO, plan="single"):
        for _ in range(5):
            taken(*mine)
        mine[1].copy_from(np.where(np.arange(40) == 30, 99, places))
        with pytest.raises(IndexError):
            taken(*mine)
        part = mine[2].numpy()
        assert set((part - 5 * u[places]).tolist()) <= set(u.tolist()) | {0.0}
        mine[1].copy_from(places)
        taken(*mine)
        assert np.array_equal(mine[2].numpy(), part + u[places])
    assert len(alone) >= 3


def lost(monkeypatch: pytest.MonkeyPatch, error: DeviceError) -> list[int]:
    """The next wait for a GPU on which a call was made alone fails."""
    count: list[int] = []
    settle = EmulatedGpu.settle

    def fails(self: EmulatedGpu, queue: Any) -> None:
        if queue == "work" and not count:
            count.append(1)
            raise error
        settle(self, queue)

    monkeypatch.setattr(EmulatedGpu, "settle", fails)
    return count


@pytest.mark.parametrize("is_there", [True, False])
def test_another_device_makes_the_call_of_one_that_is_lost(
    alone: list[str], monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """As long as anybody has the elements."""
    u, v = numbers(), np.zeros(50)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    with lw.options(devices=TWO, plan="single"):
        for _ in range(6):
            step(*mine, 2.0)
        if is_there:
            mine[0].numpy()
            mine[1].numpy()
        else:
            mine[0], mine[1] = mine[1], mine[0]
        count = lost(monkeypatch, DeviceError("lost"))
        if not is_there:
            with pytest.raises(DeviceError):
                step(*mine, 2.0)
            assert count
            return
        step(*mine, 2.0)
        assert count
    stepped(u, v, 2.0)
    assert np.array_equal(mine[1].numpy(), v)


def test_where_there_is_no_room_devices_share_the_call(alone: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = numbers(), np.zeros(50)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    stepped(u, v, 2.0)

    def full(self: ArrayCopies, *given: Any) -> Any:
        if sys._getframe(1).f_code.co_filename.endswith("pieces_on_one.py"):
            raise DeviceMemoryError("no room")
        return room(self, *given)

    room = ArrayCopies.room
    monkeypatch.setattr(ArrayCopies, "room", full)
    shared: list[SharedCall] = []
    run = SharedCall.run
    monkeypatch.setattr(SharedCall, "run", lambda self, *given: shared.append(self) or run(self, *given))
    with lw.options(devices=TWO, plan="single"):
        for _ in range(4):
            step(*mine, 2.0)
    assert alone and len(shared) == 4 and np.array_equal(mine[1].numpy(), v)


def test_empty_arrays_and_numbers_of_numpy_go_another_way(alone: list[str]) -> None:
    mine = [lw.distributed_array(np.zeros(0)), lw.distributed_array(np.zeros(0))]
    with lw.options(devices=TWO, plan="single"):
        for _ in range(4):
            step(*mine, 2.0)
        assert added(lw.distributed_array(np.zeros(0))) == 0.0
    assert not alone


def test_what_is_interrupted_keeps_its_elements(alone: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = numbers(), np.zeros(50)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    stepped(u, v, 2.0)
    settle = EmulatedGpu.settle
    asked: list[int] = []

    def interrupted(self: EmulatedGpu, queue: Any) -> None:
        asked.append(1)
        if len(asked) == 1:
            raise KeyboardInterrupt
        settle(self, queue)

    with lw.options(devices=TWO, plan="single"):
        for _ in range(4):
            step(*mine, 2.0)
        mine[1].copy_from(np.zeros(50))
        monkeypatch.setattr(EmulatedGpu, "settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            step(*mine, 2.0)
    assert np.array_equal(mine[1].numpy(), v) and np.array_equal(mine[0].numpy(), u)
