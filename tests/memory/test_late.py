"""Calls whose kernels are compiled when they start, that are interrupted meanwhile, and that wait or do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedModule
from loopwright.memory import offload
from loopwright.memory.on_device import OnDevice, on_device
from memory.watched import Watched

LATE_NS = 10**12


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """The GPU of all kernels that are compiled in the test."""
    watched = Watched()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: watched)
    with lw.options(device="emulated"):
        yield watched


def there(gpu: Watched, values: Any, shape: tuple[int, ...] = (), strides: tuple[int, ...] | None = None) -> OnDevice:
    array = np.asarray(values)
    address = gpu.allocate(array.nbytes)
    gpu.upload(address, array)
    return on_device(address, shape or array.shape, array.dtype, strides, "emulated", None)


def back(gpu: Watched, array: OnDevice) -> np.ndarray:
    found = np.empty(array.shape, array.dtype)
    gpu.download(found, array.ctypes.data)
    return found


def scaled(a, b, factor):
    for i in range(a.shape[0]):
        b[i] = factor * a[i]


def test_what_a_compiler_takes_in_a_repeated_call_is_no_time_of_it(
    gpu: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is only told that a compiler took 1000 s: what a call is said to have taken is less than nothing then."""
    launch, late_ns = EmulatedModule._launch, 0

    def launched(module: EmulatedModule, *arguments: Any) -> int:
        module.late_ns += late_ns
        return launch(module, *arguments)

    monkeypatch.setattr(EmulatedModule, "_launch", launched)
    kernel, a, b = lw.kernel(scaled), lw.device_array(np.ones(10)), lw.device_array(np.zeros(10))
    for factor in (1.0, 2.0, 3.0):
        kernel(a, b, factor)
    before_ns = sum(run.total_ns for run in kernel._dispatch.runs())  # type: ignore[attr-defined]
    assert before_ns > 0
    late_ns = LATE_NS
    kernel(a, b, 4.0)
    after_ns = sum(run.total_ns for run in kernel._dispatch.runs())  # type: ignore[attr-defined]
    assert -LATE_NS < after_ns - before_ns < 0
    assert b.numpy().tolist() == [4.0] * 10


def two_kernels(a, index, b):
    for i in range(a.shape[0]):
        b[i] = a[index[i]] * 2.0
    for i in range(a.shape[0]):
        a[i] = b[a.shape[0] - 1 - i] + 1.0


def test_a_failure_before_an_interrupted_compiler_is_not_told_by_the_next_call(
    gpu: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first kernel finds a wrong index; the compiler of the second one is interrupted."""
    launch, stops = EmulatedModule._launch, False

    def launched(module: EmulatedModule, table: int, kernel: int, *arguments: Any) -> int:
        return 1 if stops and kernel else launch(module, table, kernel, *arguments)

    def interrupted(module: EmulatedModule) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EmulatedModule, "_launch", launched)
    kernel, index = lw.kernel(two_kernels), np.arange(10)
    good = np.ones(10), index, np.zeros(10)
    bad = np.ones(10), np.where(index == 3, 99, index), np.zeros(10)
    kernel(*good)
    stops = True
    with monkeypatch.context() as patched:
        patched.setattr(EmulatedModule, "fault", interrupted)
        patched.setattr(EmulatedModule, "started", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            kernel(*bad)
    stops = False
    kernel(*good)
    with pytest.raises(lw.BoundsError, match="index 99"):
        kernel(*bad)


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def shares(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    for i in range(a.shape[0]):
        b[i] = a[i] / s
    return s


def counted(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0
    return a.shape[0]


def sometimes(a, b, n):
    if n > 5:
        for i in range(a.shape[0]):
            b[i] = a[i] + 1.0
        return 0.0
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@pytest.mark.parametrize(
    ("function", "more", "has_to"),
    [(total, (), False), (shares, (10,), True), (counted, (10,), True), (sometimes, (10, 3), True)],
)
def test_a_call_with_a_result_ends_when_all_its_kernels_have(
    gpu: Watched, monkeypatch: pytest.MonkeyPatch, function: Any, more: tuple[int, ...], has_to: bool
) -> None:
    """Where the number that is returned was fetched last of all, nothing is left to wait for."""
    asked = list[int]()
    known = offload.raise_failure
    monkeypatch.setattr(offload, "raise_failure", lambda *about: (asked.append(1), known(*about))[1])
    arrays = [lw.device_array(np.ones(10)), *(lw.device_array(np.zeros(size)) for size in more[:1])]
    kernel = lw.kernel(function)
    for calls in range(1, 5):  # the long way, and repeated
        kernel(*arrays, *more[1:])
        assert len(asked) == (calls if has_to else 0)


def by_number(pointer, data, y):
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += data[k] * k
        y[row] = s


@pytest.mark.parametrize(
    ("first", "schedule"), [(0, ""), (0, "balance row k 4096 32"), ((1 << 31) + 7, "balance row k 4096 32")]
)
def test_elements_without_a_stride_are_counted_in_64_bits(gpu: Watched, first: int, schedule: str) -> None:
    """More than two thousand million of them take no more room than one. (By default a block of many threads starts
    for each 2048 that there may be, which takes the emulated GPU half a minute.)"""
    pointer = first + np.array([0, 3, 5, 5, 9])
    data, y = there(gpu, np.ones(1), (first + 20,), (0,)), there(gpu, np.zeros(4))
    with lw.options(schedule=schedule):
        lw.kernel(by_number)(there(gpu, pointer), data, y)
    assert back(gpu, y).tolist() == [sum(range(*pointer[row : row + 2])) for row in range(4)]
