"""Loops that add up, shared by devices: each part has totals of its own, each device its own elements."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.runtime import partial_copies, shared_call
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.partial_copies import PartialCopies
from runtime.cuts import Cuts, is_shared_alike, same, shared
from runtime.test_shared_call import Failing


@lw.kernel
def total(a):
    s = 0
    for i in range(len(a)):
        s += a[i]
    return s


@lw.kernel
def product(a):
    s = np.int32(1)
    for i in range(len(a)):
        s *= a[i]
    return s


@lw.kernel
def bits(a):
    every, some, odd = np.int64(-1), np.int64(0), np.int64(0)
    for i in range(len(a)):
        every &= a[i]
        some |= a[i]
        odd ^= a[i]
    return every, some, odd


@lw.kernel
def histogram(a, h):
    for i in range(len(a)):
        h[a[i]] += 1


@lw.kernel
def several(a, h, b):
    most = a[0]
    s = 0
    for i in range(len(a)):
        h[a[i]] += a[i]
        b[i] = 2 * a[i]
        s ^= a[i]
        if a[i] > most:
            most = a[i]
    return s, most


@lw.kernel
def first_largest(a):
    best, where = a[0], 0
    for i in range(1, len(a)):
        if a[i] > best:
            best, where = a[i], i
    return best, where


@lw.kernel
def last_smallest(a):
    best, where = a[0], 0
    for i in range(len(a)):
        if a[i] <= best:
            best, where = a[i], i
    return best, where


@lw.kernel
def sweeps(a, steps):
    largest = 0.0
    for _ in range(steps):
        largest = 0.0
        for i in range(len(a)):
            largest = max(largest, a[i])
        for i in range(len(a)):
            a[i] = a[i] / largest + 1.0 / (i + 1)
    return largest


@lw.kernel
def downwards(a, h):
    s = 0
    for i in range(len(a) - 1, -1, -2):
        h[a[i]] = min(h[a[i]], i)
        s += i * a[i]
    return s


@lw.kernel
def least_of_floats(a, x, h):
    for i in range(len(a)):
        if x[i] < h[a[i]]:
            h[a[i]] = x[i]


@lw.kernel
def made_here(a):
    h = np.zeros(8, np.int64)
    for i in range(len(a)):
        h[a[i]] += 1
    return h


@lw.kernel
def made_and_used(a, b):
    h = np.zeros(8, np.int64)
    for i in range(len(a)):
        h[a[i]] += 1
    for i in range(len(a)):
        b[i] = h[a[i]]


@lw.kernel
def of_columns(a, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j]


@lw.kernel
def of_all(a):
    s = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


RANDOM = np.random.default_rng(11)


def keys(size: int) -> Any:
    return RANDOM.integers(0, 8, size)


def with_nans(size: int) -> Any:
    found = RANDOM.random(size)
    found[::5] = np.nan
    return found


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "total": (total, (keys(50),)),
    "total of bytes": (total, (keys(700).astype(np.uint8),)),
    "total of nothing": (total, (keys(0),)),
    "total of one": (total, (keys(1),)),
    "total backwards": (total, (keys(50)[::-2],)),
    "product": (product, ((keys(40) + 1).astype(np.int32),)),
    "bits": (bits, (RANDOM.integers(-99, 99, 50),)),
    "histogram": (histogram, (keys(300), np.arange(8))),
    "histogram of nothing": (histogram, (keys(0), np.arange(8))),
    "histogram with gaps": (histogram, (keys(300), np.arange(16)[::2])),
    "several": (several, (keys(300), np.arange(8), np.zeros(300, np.int64))),
    "first largest": (first_largest, (keys(90),)),
    "last smallest": (last_smallest, (keys(90),)),
    "sweeps": (sweeps, (RANDOM.random(41), 3)),
    "downwards": (downwards, (keys(301), np.full(8, 9999))),
    "least of floats": (least_of_floats, (keys(90), with_nans(90), np.array([np.nan, 0.5, 1, 1, 1, np.inf, -0.0, 0]))),
    "made here": (made_here, (keys(70),)),
    "made and used": (made_and_used, (keys(70), np.zeros(70, np.int64))),
    "of columns": (of_columns, (RANDOM.integers(0, 9, (31, 6)), np.arange(6))),
    "of columns, Fortran's": (of_columns, (np.asfortranarray(RANDOM.integers(0, 9, (31, 6))), np.arange(6))),
    "of all": (of_all, (RANDOM.integers(0, 9, (31, 6)),)),
}
CUTS = ((0.3, 0.62), (0.0, 0.5), (0.33, 0.33), (1.0, 1.0), (0.05, 0.97))


@pytest.mark.parametrize("name", CASES)
def test_every_cut_gives_what_one_device_gives(name: str) -> None:
    kernel, arguments = CASES[name]
    for cut in CUTS:
        assert is_shared_alike(kernel, arguments, cut)


@lw.kernel
def counted_down(a, b):
    for i in range(len(a) - 1, -1, -3):
        b[i] = 2 * a[i]


@lw.kernel
def with_a_step(a, b, step):
    for i in range(0, len(a), step):
        b[i] = 2 * a[i]


@pytest.mark.parametrize("size", [0, 1, 3, 50])
def test_loops_that_count_down_are_cut_by_iterations(size: int) -> None:
    """Before, parts of it began where they should end."""
    for cut in CUTS:
        assert is_shared_alike(counted_down, (np.arange(size), np.zeros(size)), cut)


@pytest.mark.parametrize("step", [1, 3, 100])
def test_a_step_that_only_the_call_tells_is_not_cut(step: int) -> None:
    for cut in CUTS:
        assert not is_shared_alike(with_a_step, (np.arange(50), np.zeros(50), step), cut)


@lw.kernel
def mean(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s / len(a)


def test_sums_of_floats_keep_their_order_where_that_is_asked_for() -> None:
    a = RANDOM.random(1000)
    assert shared(mean, (a,), Cuts((0.3, 0.6))) is None  # strict=True
    with lw.options(devices="cpu, emulated, emulated:1", plan="split"):
        found = [mean(a) for _ in range(5)]
    np.testing.assert_allclose(found, a.mean(), rtol=1e-14)


@pytest.mark.parametrize("plan", ["auto", "split", "single", "race"])
def test_many_calls_are_right(plan: str) -> None:
    a = keys(4000)
    with lw.options(devices="cpu, emulated, emulated:1", plan=plan):
        for call in range(6):
            h = np.full(8, call)
            histogram(a, h)
            assert same(h, np.bincount(a, minlength=8) + call)
            assert total(a) == a.sum()
            assert first_largest(a) == (a.max(), a.argmax())


def test_large_arrays_have_no_copies_on_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_copies, "MOST_UPDATED", 63)
    made = []
    monkeypatch.setattr(PartialCopies, "made", lambda *given: made.append(given))

    @lw.kernel
    def counts(a, h):
        for i in range(len(a)):
            h[a[i]] += 1

    a, h = keys(4000), np.zeros(8, np.int64)
    with lw.options(devices="cpu, emulated", plan="split"):
        for _ in range(3):
            counts(a, h)
    assert same(h, 3 * np.bincount(a, minlength=8)) and not made


def test_arrays_that_stay_on_gpus() -> None:
    a, h = keys(4000), np.arange(8)
    with lw.options(devices="emulated, emulated:1", plan="split"):
        there, counts = lw.distributed_array(a), lw.distributed_array(h)
        for call in range(1, 4):
            assert total(there) == a.sum()
            histogram(there, counts)
            assert same(np.asarray(counts), h + call * np.bincount(a))


@pytest.mark.parametrize("after", range(4))
def test_what_a_lost_gpu_has_added_is_added_by_others(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Once, however much of it was done."""
    monkeypatch.setattr(shared_call, "PART_BYTES", 128)
    a, h, b = keys(300), np.arange(8), np.zeros(300, np.int64)
    given = copy.deepcopy((a, h, b))
    Failing(monkeypatch, "emulated1", after, DeviceError("the GPU is lost"))
    call: Any = shared(several, (a, h, b), Cuts((0.3, 0.6)))
    assert call.members[2].failure is not None
    assert same(call.result, several(*given))
    assert same((h, b), given[1:])


@pytest.mark.parametrize("after", range(10))
@pytest.mark.parametrize("error", [DeviceError("the GPU is lost"), DeviceMemoryError("no room")])
@pytest.mark.parametrize("what", ["allocate", "upload", "download", "start", "check"])
def test_where_all_is_on_gpus_one_of_which_fails(
    what: str, error: DeviceError, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each result is right, or it is an error; and what other calls find there is right, too."""
    a, h = keys(400), np.arange(8)
    with lw.options(devices="emulated, emulated:1", plan="split"):
        there, counts = lw.distributed_array(a), lw.distributed_array(h)
        for _ in range(3):
            assert total(there) == a.sum()
            histogram(there, counts)
        gpu: Any = gpus.gpu_of("emulated1")
        of: Any = GpuRegion if what in ("start", "check") else gpu
        real, done = getattr(of, what), []

        def some(*given: Any, **named: Any) -> Any:
            if of is gpu or given[0]._executable.gpu is gpu:
                done.append(1)
                if len(done) > after:
                    raise error
            return real(*given, **named)

        monkeypatch.setattr(of, what, some)
        try:
            for call in range(4, 6):
                assert total(there) == a.sum()
                histogram(there, counts)
                assert same(np.asarray(counts), h + call * np.bincount(a))
        except DeviceError as failed:
            assert str(error) in str(failed)
    monkeypatch.undo()


def test_all_gpus_begin_before_one_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    for name in ("start", "check"):
        real = getattr(GpuRegion, name)
        monkeypatch.setattr(
            GpuRegion, name, lambda *given, real=real, name=name, **how: (told.append(name), real(*given, **how))[1]
        )
    a, h = keys(4000), np.arange(8)
    plan = "0:1500 on emulated: recipe\n1500:4000 on emulated1: recipe"
    with lw.options(devices="emulated, emulated:1", plan=plan):
        there, counts = lw.distributed_array(a), lw.distributed_array(h)
        for _ in range(3):
            total(there)
            histogram(there, counts)
        told.clear()
        total(there)
        histogram(there, counts)
    assert told == ["start", "start", "check", "check"] * 2


def lost(*_: object, **__: object) -> None:
    raise DeviceError("the bus is gone")


def test_what_is_lost_on_its_way_home_is_added_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    a, h = keys(300), np.arange(8)
    assert shared(histogram, (a, h.copy()), Cuts((0.3, 0.6))) is not None
    monkeypatch.setattr(gpus.gpu_of("emulated1"), "download", lost)
    call: Any = shared(histogram, (a, h), Cuts((0.3, 0.6)))
    assert call.members[2].failure is not None
    assert same(h, np.arange(8) + np.bincount(a, minlength=8))


@pytest.mark.parametrize("after", range(8))
def test_what_is_lost_later_is_an_error_or_done_again(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Never is a part added twice, or not at all."""
    given = (keys(300), np.arange(8), np.zeros(300, np.int64))
    expected = copy.deepcopy(given)
    result = several(*expected)
    assert shared(several, copy.deepcopy(given), Cuts((0.3, 0.6))) is not None
    gpu: Any = gpus.gpu_of("emulated1")
    download, done = gpu.download, []

    def some(*given: Any, **named: Any) -> None:
        done.append(1)
        if len(done) > after:
            lost()
        download(*given, **named)

    monkeypatch.setattr(gpu, "download", some)
    try:
        call: Any = shared(several, given, Cuts((0.3, 0.6)))
    except DeviceError as error:
        assert "the bus is gone" in str(error)
    else:
        assert same((call.result, given), (result, expected))


def test_a_gpu_without_room_leaves_its_part_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise DeviceMemoryError("no room")

    a, h = keys(300), np.zeros(8, np.int64)
    assert shared(histogram, (a, h.copy()), Cuts((0.3, 0.6))) is not None
    monkeypatch.setattr(gpus.gpu_of("emulated"), "allocate", full)
    assert shared(histogram, (a, h), Cuts((0.3, 0.6))) is not None
    assert same(h, np.bincount(a, minlength=8))


def test_no_memory_of_a_gpu_is_kept() -> None:
    gpu: Any = gpus.gpu_of("emulated")
    for kernel, arguments in (CASES["several"], CASES["sweeps"]):
        assert is_shared_alike(kernel, arguments, (0.3, 0.6))
        before = gpu.memory.used_bytes
        assert is_shared_alike(kernel, arguments, (0.3, 0.6))
        assert gpu.memory.used_bytes == before


def test_an_index_outside_is_an_error() -> None:
    a, h = keys(300), np.zeros(8, np.int64)
    a[170] = 8
    with pytest.raises(IndexError), lw.options(devices="cpu, emulated", plan="split"):
        histogram(a, h)
