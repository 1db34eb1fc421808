"""Calls that a CPU and two emulated GPUs share give what one CPU gives, to the last bit, wherever they are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from benchmarks import polybench
from loopwright.devices import gpus
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.runtime import shared_call
from loopwright.runtime.region_plans import RegionPlans
from polybench.data import shaken, sizes
from runtime.cuts import Cuts, is_shared_alike, same, shared

CUTS = [(0.34, 0.67), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (0.05, 0.93)]

NOT_SHARED = {
    "cholesky": "each row needs those before it",
    "durbin": "one recurrence",
    "floyd-warshall": "its loops over rows need what they write",
    "gramschmidt": "a sum is a number that the host would have to wait for",
    "nussinov": "each row needs those behind it",
    "seidel-2d": "each element needs those before it",
    "trisolv": "one recurrence",
}


@lw.kernel
def columns(a, b):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] = a[i - 1, j] + b[i, j]


@lw.kernel
def triangle(a):
    b = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            b[i, j] = a[i, j] * 2.0
    return b


@lw.kernel
def sweeps(steps, u, v):
    n = u.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


@lw.kernel
def red_and_black(steps, u):
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1, 2):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
        for i in range(2, u.shape[0] - 1, 2):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])


@lw.kernel
def wide_reads(a, b):
    for i in range(b.shape[0]):
        b[i] = a[i] + a[i + 1] + a[i + 7] + a[2 * i]


@lw.kernel
def between(a, b, scale):
    """What stands between regions is done by the host: numbers, borders, arrays of the call."""
    twice = 2.0 * scale
    t = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        t[i] = a[i] * twice
    b[0] = t[0]
    b[-1] = t[-1]
    if scale > 1.0:
        for i in range(1, b.shape[0] - 1):
            b[i] = t[i - 1] + t[i + 1]
    return b, twice


@lw.kernel
def half_written(a, b):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i]


@lw.kernel
def gathered(a, b, where):
    for i in range(where.shape[0]):
        a[i] = b[where[i]]


@lw.kernel
def with_scratch(a, b):
    """Each iteration fills the local array anew: every device has its own, and none waits for another."""
    t = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[j] = 2.0 * a[i, j]
        for j in range(a.shape[1]):
            b[i, j] = t[j] + t[a.shape[1] - 1 - j]


@lw.kernel
def kept_in_steps(steps, a, b):
    """A local array that the next step reads is not a part's own."""
    t = np.zeros(a.shape[0])
    for _ in range(steps):
        for i in range(a.shape[0]):
            t[i] = t[i] + a[i]
        for i in range(a.shape[0]):
            b[i] = t[a.shape[0] - 1 - i]


@lw.kernel
def kept_by_one(steps, a):
    t = np.zeros(a.shape[0])
    for _ in range(steps):
        for i in range(a.shape[0]):
            t[i] = t[i] + a[i]
            a[i] = a[i] + t[i]


RANDOM = np.random.default_rng(4)
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "columns": (columns, (RANDOM.random((9, 17)), RANDOM.random((9, 17)))),
    "columns of Fortran's": (columns, (np.asfortranarray(RANDOM.random((9, 17))), RANDOM.random((9, 17)))),
    "triangle": (triangle, (RANDOM.random((19, 19)),)),
    "sweeps": (sweeps, (5, RANDOM.random((20, 20)), RANDOM.random((20, 20)))),
    "red and black": (red_and_black, (4, RANDOM.random(41))),
    "wide reads": (wide_reads, (RANDOM.random(80), np.zeros(33))),
    "between": (between, (RANDOM.random(30), np.zeros(30), 1.5)),
    "between, without the last": (between, (RANDOM.random(30), np.zeros(30), 0.5)),
    "half written": (half_written, (RANDOM.random(50), RANDOM.random(50))),
    "gathered": (gathered, (np.zeros(40), RANDOM.random(9), RANDOM.integers(-9, 9, 40))),
    "with scratch": (with_scratch, (RANDOM.random((17, 6)), np.zeros((17, 6)))),
    "kept in steps": (kept_in_steps, (3, RANDOM.random(23), np.zeros(23))),
    "kept by one": (kept_by_one, (3, RANDOM.random(23))),
    "strided": (half_written, (RANDOM.random(100)[::2], RANDOM.random((50, 2))[:, 1])),
    "backwards": (half_written, (RANDOM.random(50)[::-1], RANDOM.random(50)[::-1])),
    "nothing": (half_written, (np.zeros(0), np.zeros(0))),
    "one": (half_written, (np.ones(1), np.zeros(1))),
    "two": (half_written, (np.ones(2), np.zeros(2))),
}


@pytest.mark.parametrize("name", CASES)
def test_every_cut_gives_what_one_device_gives(name: str) -> None:
    kernel, arguments = CASES[name]
    for cut in CUTS:
        assert is_shared_alike(kernel, arguments, cut)


@pytest.mark.parametrize("module", polybench.MODULES, ids=lambda module: module.NAME)
def test_polybench_is_shared_alike(module: Any) -> None:
    given = tuple(shaken(module.initialise(**sizes(module))).values())
    assert is_shared_alike(lw.kernel(module.kernel), given, (0.4,), "cpu, emulated") == (module.NAME not in NOT_SHARED)


def test_all_devices_take_part_where_each_has_its_own_scratch() -> None:
    call = shared(with_scratch, (RANDOM.random((17, 6)), np.zeros((17, 6))), Cuts((0.4, 0.7)))
    assert call is not None
    assert [member.done for member in call.members] == [7, 5, 5]


def test_only_gpus_share_too() -> None:
    kernel, arguments = CASES["sweeps"]
    assert is_shared_alike(kernel, arguments, (0.4,), "emulated, emulated:1")


def test_the_error_is_that_of_the_earliest_iteration() -> None:
    """Also where a device that has later ones has failed first; all writes before it are there."""
    where = np.arange(40)
    where[[12, 35]] = 100
    for cut in CUTS[:4]:
        a = np.zeros(40)
        with pytest.raises(lw.BoundsError, match="index 100 is out of bounds for axis 0 of 'b' with size 40"):
            shared(gathered, (a, np.arange(40.0), where), Cuts(cut))
        assert (a[:12] == np.arange(12)).all()


class Failing:
    """Lets a GPU fail when its kernels were started so often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, after: int, error: Exception) -> None:
        self.left, self.error = after, error
        gpu: Any = gpus.gpu_of(name)
        real = gpu.mark

        def mark(queue: str) -> int:
            if queue == "up":
                self.left -= 1
                if self.left < 0:
                    raise self.error
            return int(real(queue))

        def copy_from(*given: Any) -> bool:
            mark("up")
            return bool(copied(*given))

        copied = gpu.copy_from
        monkeypatch.setattr(gpu, "mark", mark)
        monkeypatch.setattr(gpu, "copy_from", copy_from)


@pytest.mark.parametrize("after", [0, 1])
def test_the_part_of_a_gpu_that_is_lost_is_done_by_others(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    a, b = np.random.default_rng(1).random((2, 60))
    expected = np.where(a > 0.5, a, b)
    Failing(monkeypatch, "emulated1", after, DeviceError("the GPU is lost"))
    for _ in range(2):  # with `after` = 1 it fails in the second call
        mine = b.copy()
        call = shared(half_written, (a, mine), Cuts((0.3, 0.6)))
        assert call is not None
        assert same(mine, expected)
    assert [member.failure is not None for member in call.members] == [False, False, True]
    assert any(event.what == "fails" for event in call.events)


@pytest.mark.parametrize("after", range(6))
def test_what_has_come_home_before_a_gpu_is_lost_is_not_done_again(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """In pieces, of which the first ones have added to the caller's elements already."""

    @lw.kernel
    def added(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i] + b[i]

    monkeypatch.setattr(shared_call, "PART_BYTES", 128)
    a, b = np.random.default_rng(1).random((2, 300))
    expected = a + b
    Failing(monkeypatch, "emulated1", after, DeviceError("the GPU is lost"))
    call = shared(added, (a, b), Cuts((0.2, 0.4)))
    assert call is not None
    assert same(b, expected)
    assert call.members[2].failure is not None


def test_a_gpu_that_is_lost_while_its_results_come_home_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some may be there, and nobody knows which."""
    a, b = np.random.default_rng(1).random((2, 60))

    def lost(*_: object, **__: object) -> None:
        raise DeviceError("the bus is gone")

    assert shared(half_written, (a, b.copy()), Cuts((0.3, 0.6))) is not None
    monkeypatch.setattr(gpus.gpu_of("emulated1"), "download", lost)
    with pytest.raises(DeviceError, match="failed while its results were copied to the host: the bus is gone"):
        shared(half_written, (a, b), Cuts((0.3, 0.6)))


def test_arrays_whose_sizes_elements_say() -> None:
    """What parts touch of them is another matter in each call."""

    @lw.kernel
    def rows(labels, b):
        t = np.zeros((6, labels[0]))
        for i in range(6):
            for j in range(t.shape[1]):
                t[i, j] = 1.0 + i + j
        for i in range(6):
            for j in range(b.shape[1]):
                b[i, j] = t[i, j % t.shape[1]]
        return t

    known = RegionPlans()
    for wide in (3, 6, 2, 8):
        b = np.zeros((6, 9))
        call = shared(rows, (np.array([wide]), b), Cuts((0.3, 0.6)), known=known)
        assert call is not None
        expected = 1.0 + np.arange(6)[:, None] + np.arange(wide)
        assert same(call.result, expected)  # type: ignore[attr-defined]
        assert same(b, np.ascontiguousarray(expected[:, np.arange(9) % wide]))


def test_what_only_a_lost_gpu_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Failing(monkeypatch, "emulated1", 3, DeviceError("the GPU is lost"))
    u, v = np.random.default_rng(1).random((2, 20, 20))
    with pytest.raises(DeviceError, match="what only it had computed is lost: the GPU is lost"):
        shared(sweeps, (6, u, v), Cuts((0.3, 0.6)))


def test_the_part_of_a_gpu_without_room_is_done_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.random.default_rng(1).random((2, 60))
    expected = np.where(a > 0.5, a, b)

    def no_room(*_: object) -> int:
        raise DeviceMemoryError("it has no room")

    assert shared(half_written, (a, b.copy()), Cuts((0.3, 0.6))) is not None  # what is loaded has its room
    monkeypatch.setattr(gpus.gpu_of("emulated"), "allocate", no_room)
    call = shared(half_written, (a, b), Cuts((0.3, 0.6)))
    assert call is not None
    assert same(b, expected)
    assert [type(member.failure) for member in call.members] == [type(None), DeviceMemoryError, type(None)]


def test_what_happened_is_told() -> None:
    call = shared(half_written, (np.ones(300), np.zeros(300)), Cuts((0.5, 0.75)))
    assert call is not None
    computed = {event.device: event.part for event in call.events if event.what == "computes"}
    assert computed == {"cpu": range(150), "emulated": range(150, 225), "emulated1": range(225, 300)}
    copied = [event for event in call.events if event.what == "copies"]
    assert {event.device for event in copied} == {"emulated", "emulated1"}
    assert sum(event.size_bytes for event in copied) == 2 * (75 * 8 * 3)  # a and b there, b back
    assert [member.done for member in call.members] == [150, 75, 75]


def test_no_memory_of_a_gpu_is_kept() -> None:
    gpu: Any = gpus.gpu_of("emulated")
    before = gpu.memory.used_bytes
    assert is_shared_alike(*CASES["sweeps"], (0.2, 0.6))
    assert gpu.memory.used_bytes - before < 4096  # failures that kernels report
