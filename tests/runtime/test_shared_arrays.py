"""What GPUs do in regions whose arrays are on GPUs: planned once for the same marks, and as right as ever."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedGpu, EmulatedModule
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import Marks
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.region_plans import RegionPlans
from loopwright.runtime.shared_arrays import SharedArrays
from runtime.cuts import alone, resident, same
from runtime.test_shared_call import CASES, CUTS

FOUR = "emulated, emulated:1, emulated:2, emulated:3"


@lw.kernel
def sweeps(steps, u, v):
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i - 1, j] + u[i + 1, j] - u[i, j]
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = v[i, j - 1] - v[i - 1, j] - v[i + 1, j]


@lw.kernel
def growing(steps, u, v):
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i - 1] + t * u[i + 1]
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i - 1] - t * v[i + 1]


@lw.kernel
def two_of_one(a, b, c):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]
    for i in range(a.shape[0]):
        c[i] = a[i] + 1.0


def devices_of(count: int) -> str:
    return ", ".join(f"emulated:{k}" for k in range(count))


def even(count: int) -> list[float]:
    return [k / count for k in range(1, count)]


def pieces_of(arguments: Any) -> tuple[Any, ...]:
    return tuple(lw.distributed_array(one) if isinstance(one, np.ndarray) else one for one in arguments)


@pytest.mark.parametrize("name", CASES)
def test_every_cut_of_resident_arrays_gives_what_one_device_gives(name: str) -> None:
    """Also where nothing is left for a device, and in the second call, which finds everything where it was left."""
    kernel, arguments = CASES[name]
    for cut in CUTS:
        theirs = tuple(np.array(one, order="C") if isinstance(one, np.ndarray) else one for one in arguments)
        pieces, known = pieces_of(theirs), RegionPlans()
        for _ in range(2):
            call = resident(kernel, pieces, cut, "emulated, emulated:1, emulated:2", known)
            assert call is not None
            expected = alone(kernel, theirs)
            for mine, one in zip(pieces, theirs, strict=True):
                assert not isinstance(one, np.ndarray) or same(mine.numpy(), one)
            if not isinstance(expected, np.ndarray | tuple):
                assert same(call.result, expected)  # type: ignore[attr-defined]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often devices are asked for what."""
    found: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            found[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(owner, name, call)

    for name in ("copy_from", "mark", "wait", "timer", "upload", "download", "synchronize", "exchange"):
        counted(EmulatedGpu, name)
    counted(EmulatedModule, "_launch")
    counted(GpuRegion, "check")
    counted(SharedArrays, "_planned")
    yield found


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_region_is_a_launch_for_each_device_and_a_copy_for_each_neighbour(count: int, calls: Counter[str]) -> None:
    n, steps = 8 * count + 3, 30
    given = np.random.default_rng(3).integers(-9, 9, (n, 7)).astype(float)
    theirs = given.copy(), np.zeros_like(given)
    pieces, known = pieces_of(theirs), RegionPlans()
    for _ in range(2):
        resident(sweeps, (2, *pieces), even(count), devices_of(count), known)
        alone(sweeps, (2, *theirs))
    calls.clear()
    resident(sweeps, (steps, *pieces), even(count), devices_of(count), known)
    alone(sweeps, (steps, *theirs))
    regions, asked = 2 * steps, dict(calls)
    assert (asked["_launch"], asked["copy_from"]) == (count * regions, 2 * (count - 1) * regions)
    assert "exchange" not in asked, "what comes after the same region was made in a call before"
    assert asked["timer"] <= 2 * 3 * count, "some are timed"
    assert asked["check"] <= 2 * count, "nobody waits before the end of the call"
    assert not set(asked) & {"mark", "wait", "upload", "download", "synchronize", "_planned"}
    assert all(same(mine.numpy(), one) for mine, one in zip(pieces, theirs, strict=True))


def test_numbers_that_parts_do_not_depend_on_make_no_other_plans(calls: Counter[str]) -> None:
    given = np.random.default_rng(3).integers(-3, 3, 50).astype(float)
    theirs = given.copy(), np.zeros(50)
    pieces = pieces_of(theirs)
    resident(growing, (12, *pieces), even(3), devices_of(3))
    alone(growing, (12, *theirs))
    assert all(same(mine.numpy(), one) for mine, one in zip(pieces, theirs, strict=True))
    assert calls["_planned"] <= 8


def test_plans_are_for_marks(calls: Counter[str]) -> None:
    """What somebody has changed meanwhile is copied anew."""
    given = np.random.default_rng(3).integers(-9, 9, (40, 7)).astype(float)
    theirs = given.copy(), np.zeros_like(given)
    pieces, known = pieces_of(theirs), RegionPlans()
    for k in range(4):
        resident(sweeps, (3, *pieces), even(3), devices_of(3), known)
        alone(sweeps, (3, *theirs))
        if k % 2:
            pieces[0].copy_from(given)
            theirs[0][...] = given
        resident(sweeps, (1, *pieces), (0.5, 0.6), devices_of(3), known)
        alone(sweeps, (1, *theirs))
        assert all(same(mine.numpy(), one) for mine, one in zip(pieces, theirs, strict=True))


def test_marks_that_say_the_same_are_one() -> None:
    known = RegionPlans()
    one, other = (Marks((("cpu", ((range(3),),)),), ()) for _ in range(2))
    assert one != other
    assert known.same(one) is known.same(other)
    assert known.same(Marks((), one.valid)) is not known.same(one)


class FailsAt:
    """Lets the second region of a call fail on a device."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        real, started = GpuRegion.start, [0]

        def start(region: GpuRegion, *given: Any, **named: Any) -> Exception | None:
            if region._executable.gpu is gpus.gpu_of("emulated1"):  # type: ignore[attr-defined]
                started[0] += 1
                if started[0] == 2:
                    raise error
            return real(region, *given, **named)

        monkeypatch.setattr(GpuRegion, "start", start)


@pytest.mark.parametrize("error", [DeviceError("the GPU is lost"), DeviceMemoryError("it has no room")], ids=str)
def test_a_part_that_cannot_be_started_is_done_by_the_host(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """In a region that others have begun already, of arrays that the host has, too."""
    a = np.random.default_rng(1).random(60)
    pieces = pieces_of((a, np.zeros(60), np.zeros(60)))
    FailsAt(monkeypatch, error)
    call = resident(two_of_one, pieces, (0.3, 0.6), devices_of(3))
    assert call is not None
    assert [member.failure for member in call.members] == [None, error, None]
    assert same(pieces[2].numpy(), a + 1.0)
    assert "cpu" in pieces[2].parts()
    if isinstance(error, DeviceMemoryError):
        assert same(pieces[1].numpy(), 2.0 * a)
    else:
        with pytest.raises(LookupError):
            pieces[1].numpy()  # some of it only the lost GPU had


def test_a_copy_that_fails_loses_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has begun then: what is on others is still good, and what only it had is lost."""
    theirs = np.random.default_rng(3).random((40, 7)), np.zeros((40, 7))
    pieces = pieces_of(theirs)
    resident(sweeps, (2, *pieces), even(3), devices_of(3))
    real = EmulatedGpu.copy_from

    def copy_from(gpu: EmulatedGpu, *given: Any) -> bool:
        if gpu is gpus.gpu_of("emulated1"):
            raise DeviceError("the link is down")
        return real(gpu, *given)

    monkeypatch.setattr(EmulatedGpu, "copy_from", copy_from)
    with pytest.raises(DeviceError, match="what only it had computed is lost: the link is down"):
        resident(sweeps, (2, *pieces), even(3), devices_of(3))


def test_arrays_without_room_on_a_gpu_are_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.random.default_rng(1).random(60)
    pieces = pieces_of((a, np.zeros(60), np.zeros(60)))
    resident(two_of_one, copy.copy(pieces), (0.3, 0.6), devices_of(3))  # code has its memory
    fresh = (pieces[0], pieces[1], lw.distributed_array(np.zeros(60)))

    def no_room(*_: object) -> int:
        raise DeviceMemoryError("it has no room")

    monkeypatch.setattr(gpus.gpu_of("emulated1"), "allocate", no_room)
    call = resident(two_of_one, fresh, (0.3, 0.6), devices_of(3))
    assert call is not None
    assert [type(member.failure) for member in call.members] == [type(None), DeviceMemoryError, type(None)]
    assert same(fresh[2].numpy(), a + 1.0)


@lw.kernel
def gathered(a, b, where):
    for i in range(where.shape[0]):
        a[i] = b[where[i]]


def test_all_are_started_before_one_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a region may end with an error: else one GPU works after the other."""
    told: list[str] = []
    for name in ("start", "check"):
        real = getattr(GpuRegion, name)

        def call(*given: Any, real: Any = real, name: str = name, **named: Any) -> Any:
            told.append(name)
            return real(*given, **named)

        monkeypatch.setattr(GpuRegion, name, call)
    fetch = EmulatedModule._fetch

    def fetched(*given: Any) -> int:
        told.append("wait")
        return fetch(*given)

    monkeypatch.setattr(EmulatedModule, "_fetch", fetched)
    pieces = pieces_of((np.zeros(40), np.arange(9.0), np.arange(40) % 9))
    for _ in range(2):
        told.clear()
        assert resident(gathered, pieces, (0.3, 0.6), devices_of(3)) is not None
    assert told == ["start"] * 3 + ["check"] * 3
    pieces[2].copy_from(np.where(np.arange(40) == 30, 9, 0))
    with pytest.raises(lw.BoundsError, match="index 9 is out of bounds for axis 0 of 'b' with size 9"):
        for _ in range(2):
            resident(gathered, pieces, (0.3, 0.6), devices_of(3))
