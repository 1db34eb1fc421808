"""Calls on a GPU: which bytes move, and what is left when something fails half-way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright import specialisation
from loopwright.devices.emulated import EmulatedGpu, EmulatedModule, Fault
from loopwright.errors import BoundsError, DeviceError, DeviceMemoryError
from loopwright.memory.offload import GpuExecutable, bring_back, place
from loopwright.memory.on_device import on_device


class Watched(EmulatedGpu):
    """Notes what moves and what is still allocated; does not do what it is told not to."""

    def __init__(self, memory_bytes: int = 1 << 30) -> None:
        super().__init__(memory_bytes)
        self.moved: list[tuple[str, int]] = []
        self.waits = 0
        self.held: set[int] = set()
        self.refuses: dict[int, BaseException] = {}  # by the number of the upload from now on

    def allocate(self, size_bytes: int) -> int:
        address = super().allocate(size_bytes)
        self.held.add(address)
        return address

    def release(self, address: int) -> None:
        super().release(address)
        self.held.remove(address)

    def upload(self, address: int, source: Any) -> None:
        self.moved.append(("up", source.nbytes))
        error = self.refuses.get(len(self.moved))
        if error is not None:
            raise error
        super().upload(address, source)

    def synchronize(self) -> None:
        self.waits += 1
        super().synchronize()

    def download(self, target: Any, address: int) -> None:
        self.moved.append(("down", target.nbytes))
        super().download(target, address)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """The GPU of all kernels that are compiled in the test."""
    watched = Watched()
    monkeypatch.setattr(specialisation, "gpu_of", lambda _: watched)
    with lw.options(device="emulated"):
        yield watched


def add(a, b):
    for i in range(a.shape[0]):
        a[i] += b[i]


def gather(a, idx, b):
    for i in range(a.shape[0]):
        b[i] = a[idx[i]]


def ready(gpu: Watched, function: Any, *arguments: Any) -> Any:
    """The kernel, compiled for such arguments by a call, and what it keeps on the GPU."""
    kernel = lw.kernel(function)
    kernel(*arguments)
    kept = set(gpu.held)
    gpu.moved.clear()
    return kernel, kept


def test_all_is_uploaded_and_what_may_be_written_comes_back(gpu: Watched) -> None:
    kernel, kept = ready(gpu, add, np.zeros(10), np.ones(10))
    a = np.arange(10.0)
    kernel(a, np.ones(10))
    assert [move for move in gpu.moved if move[1] == 80] == [("up", 80), ("up", 80), ("down", 80)]
    assert gpu.held == kept
    np.testing.assert_array_equal(a, np.arange(1.0, 11.0))


def test_what_stands_between_the_elements_stays(gpu: Watched) -> None:
    whole = np.zeros((8, 8))
    lw.kernel(add)(whole[::2, 3], np.ones(4))
    assert whole.sum() == whole[::2, 3].sum() == 4


@pytest.mark.parametrize("error", [DeviceError("the bus is gone"), KeyboardInterrupt()])
def test_an_upload_that_fails_in_the_middle_releases_everything(gpu: Watched, error: BaseException) -> None:
    """Found: what had been allocated for this upload stayed."""
    kernel, kept = ready(gpu, add, np.zeros(10), np.ones(10))
    for number in (1, 2):
        gpu.moved.clear()
        gpu.refuses = {number: error}
        a = np.arange(10.0)
        with pytest.raises(type(error)):
            kernel(a, np.ones(10))
        assert gpu.held == kept
        np.testing.assert_array_equal(a, np.arange(10.0))
    gpu.refuses = {}
    kernel(a, np.ones(10))
    np.testing.assert_array_equal(a, np.arange(1.0, 11.0))


def test_more_than_the_gpu_has(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Watched(100_000)
    monkeypatch.setattr(specialisation, "gpu_of", lambda _: small)
    with lw.options(device="emulated"):
        kernel, kept = ready(small, add, np.zeros(10), np.ones(10))
        a = np.zeros(9000)
        with pytest.raises(DeviceMemoryError, match="72,000 bytes"):
            kernel(a, np.ones(9000))
        assert small.held == kept and not a.any()
        kernel(a[:10], np.ones(10))
        assert a.sum() == 10


def test_a_fault_arrives_as_it_is_and_leaves_nothing_behind(gpu: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, kept = ready(gpu, gather, np.zeros(4), np.zeros(4, np.int64), np.zeros(4))
    faults = EmulatedModule.faults
    monkeypatch.setattr(EmulatedModule, "faults", lambda _: (Fault("race", "k", "a race, say", 719),))
    b = np.zeros(4)
    with pytest.raises(DeviceError, match="a race, say"):
        kernel(np.ones(4), np.array([0, 1, 2, 9]), b)  # a failed check besides
    assert gpu.held == kept and not b.any()
    monkeypatch.setattr(EmulatedModule, "faults", faults)
    kernel(np.ones(4), np.arange(4), b)
    assert b.all()


def test_a_failed_check_keeps_earlier_writes_and_releases(gpu: Watched) -> None:
    kernel, kept = ready(gpu, gather, np.zeros(4), np.zeros(4, np.int64), np.zeros(4))
    b = np.zeros(4)
    with pytest.raises(BoundsError):
        kernel(np.ones(4), np.array([0, 1, 2, 9]), b)
    assert gpu.held == kept
    np.testing.assert_array_equal(b, [1, 1, 1, 0])


def test_two_threads_at_once(gpu: Watched) -> None:
    """One fails, the other does not, under options that differ in the number of threads: one program, two entries."""
    kernel, kept = ready(gpu, gather, np.zeros(4), np.zeros(4, np.int64), np.zeros(4))
    barrier = threading.Barrier(2)

    def good() -> int:
        right = 0
        barrier.wait()
        with lw.options(device="emulated", threads=1):
            for number in range(30):
                b = np.zeros(4)
                kernel(np.full(4, float(number)), np.arange(4), b)
                right += bool((b == number).all())
        return right

    def bad() -> int:
        failed = 0
        barrier.wait()
        with lw.options(device="emulated", threads=2):
            for _ in range(30):
                try:
                    kernel(np.ones(4), np.array([0, 1, 2, 9]), np.zeros(4))
                except BoundsError:
                    failed += 1
        return failed

    with ThreadPoolExecutor(2) as pool:
        counts = [pool.submit(good), pool.submit(bad)]
        assert [count.result() for count in counts] == [30, 30]
    assert gpu.held == kept


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (2, 3)])
def test_there_and_back(shape: tuple[int, ...]) -> None:
    gpu, array = Watched(), np.full(shape, 5.0)
    placed = place(array, gpu, True, True)
    array[...] = 0
    bring_back(placed, gpu)
    assert (array == 5).all()


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_there_and_back_with_gaps(axes: tuple[int, ...]) -> None:
    gpu = Watched()
    whole = np.arange(240.0).reshape(4, 6, 10).transpose(axes)
    part = whole[:3, 1:4, :2]
    assert not part.flags.c_contiguous
    placed, expected, ends = place(part, gpu, True, True), part.copy(), whole[-1, -1, -1]
    assert sorted(placed.strides)[0] == 8
    if part.strides[0] == 8:
        assert placed.strides[0] == 8  # what the program was made for
    part[...] = 0
    bring_back(placed, gpu)
    np.testing.assert_array_equal(part, expected)
    assert whole[-1, -1, -1] == ends


@pytest.mark.parametrize(("streams", "waits"), [((0, 0), 0), ((7, 7), 0), ((0, 7), 1), ((7, 8), 1)])
def test_arrays_of_several_streams_are_waited_for(gpu: Watched, streams: tuple[int, int], waits: int) -> None:
    """Found: a kernel was in order with the stream of its first array only, and what it wrote with that alone."""
    arrays = []
    for stream in streams:
        address = gpu.allocate(80)
        gpu.upload(address, np.ones(10))
        arrays.append(on_device(address, (10,), np.dtype("f8"), None, "emulated", None))
        arrays[-1].stream = stream
    kernel = lw.kernel(add)
    kernel(*arrays)
    gpu.waits = 0
    started: list[int] = []
    asked: list[bool] = []
    (one,) = kernel.specialisations()
    assert isinstance(one.executable, GpuExecutable)
    module = one.executable.module
    start, fault = module.started, module.fault
    module.started = lambda stream: started.append(stream) or start(stream)
    module.fault = lambda: asked.append(True) or fault()
    kernel(*arrays)
    assert (gpu.waits, started, len(asked) > 1) == (waits, [max(streams)], waits > 0)
