"""What GPUs are asked for in a region is made once for arrays that are where they are, and kept for later calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated import EmulatedGpu
from loopwright.errors import DeviceError
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.planned_step import PlannedStep

TWO = "emulated, emulated:1"


@lw.kernel
def step(u, v):
    for i in range(1, u.shape[0] - 1):
        v[i] = u[i - 1] + u[i] + u[i + 1]


@lw.kernel
def taken(u, places, v):
    for i in range(v.shape[0]):
        v[i] = u[places[i]]


@lw.kernel
def added(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[PlannedStep]]:
    """The steps that are made."""
    found: list[PlannedStep] = []
    of = PlannedStep.of

    def kept(*given: Any) -> PlannedStep:
        found.append(of(*given))
        return found[-1]

    monkeypatch.setattr(PlannedStep, "of", staticmethod(kept))
    for kernel in (step, taken, added):
        kernel._dispatch.learn_anew()
    yield found
    for kernel in (step, taken, added):
        kernel._dispatch.learn_anew()


def alone(u: np.ndarray, v: np.ndarray) -> None:
    v[1:-1] = u[:-2] + u[1:-1] + u[2:]


def test_arrays_that_change_places_have_a_step_each(made: list[PlannedStep]) -> None:
    u = np.random.default_rng(1).integers(-9, 9, 40).astype(float)
    v = np.zeros(40)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    with lw.options(devices=TWO, plan="1:20 on emulated: recipe\n20:39 on emulated1: recipe"):
        for k in range(12):
            step(*mine)
            alone(u, v)
            mine, (u, v) = mine[::-1], (v, u)
            if k == 5:
                before = len(made)
    assert all(np.array_equal(one.numpy(), its) for one, its in zip(mine, (u, v), strict=True))
    assert 2 <= len(made) == before


def test_other_arrays_of_the_same_shape_are_other_ones(made: list[PlannedStep]) -> None:
    with lw.options(devices=TWO, plan="split"):
        for k in range(4):
            u, v = np.arange(40.0) * (k + 1), np.zeros(40)
            mine = [lw.distributed_array(u), lw.distributed_array(v)]
            for _ in range(3):
                step(*mine)
            alone(u, v)
            assert np.array_equal(mine[1].numpy(), v)


def test_a_part_that_fails_to_start_is_done_by_others(made: list[PlannedStep], monkeypatch: pytest.MonkeyPatch) -> None:
    start = GpuRegion.start
    asked: list[object] = []

    def fails(self: GpuRegion, *given: Any, **more: Any) -> Exception | None:
        asked.append(self)
        if len(asked) == 2:
            raise DeviceError("lost")
        return start(self, *given, **more)

    u, v = np.arange(40.0), np.zeros(40)
    mine = [lw.distributed_array(u), lw.distributed_array(v)]
    alone(u, v)
    with lw.options(devices="cpu, emulated, emulated:1", plan="split"):
        for k in range(4):
            if k == 3:
                monkeypatch.setattr(GpuRegion, "start", fails)
            mine[1].copy_from(np.zeros(40))
            step(*mine)
            assert np.array_equal(mine[1].numpy(), v)


def test_an_error_of_the_program_is_that_of_the_first_part(made: list[PlannedStep]) -> None:
    u, places = np.arange(8.0), np.zeros(40, np.int64)
    mine = [lw.distributed_array(one) for one in (u, places, np.zeros(40))]
    with lw.options(devices=TWO, plan="split"):
        for _ in range(3):
            taken(*mine)
        mine[1].copy_from(wrong := np.where(np.arange(40) % 7 == 5, 99, 0))
        for _ in range(2):
            with pytest.raises(IndexError):
                taken(*mine)
        assert wrong.max() == 99
        mine[1].copy_from(np.full(40, 3))
        taken(*mine)
    assert np.array_equal(mine[2].numpy(), np.full(40, 3.0))


def test_calls_of_which_nothing_is_measured_are_not_timed(
    made: list[PlannedStep], monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[object] = []
    timer = EmulatedGpu.timer
    monkeypatch.setattr(EmulatedGpu, "timer", lambda self, *given: timed.append(self) or timer(self, *given))
    a = lw.distributed_array(np.arange(64.0))
    counts = []
    with lw.options(devices=TWO, plan="split"):
        for _ in range(40):
            assert added(a) == 2016.0
            counts.append(len(timed))
    assert counts[-1] < 40 and 0 in np.diff(counts[4:]), "in most calls nothing is timed"


def test_memory_for_totals_is_asked_for_once(made: list[PlannedStep], monkeypatch: pytest.MonkeyPatch) -> None:
    a = lw.distributed_array(np.arange(64.0))
    asked: list[int] = []
    allocate = EmulatedGpu.allocate

    def counted(self: EmulatedGpu, size_bytes: int, before_bytes: int = 0) -> int:
        asked.append(size_bytes)
        return allocate(self, size_bytes, before_bytes)

    with lw.options(devices=TWO, plan="split"):
        for _ in range(3):
            added(a)
        monkeypatch.setattr(EmulatedGpu, "allocate", counted)
        for _ in range(3):
            assert added(a) == 2016.0
    assert not asked
