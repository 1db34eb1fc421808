"""Calls on a GPU: which bytes move, and what is left when something fails half-way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import even_in_one_thread
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedModule, Fault
from loopwright.errors import BoundsError, DeviceError, DeviceMemoryError
from loopwright.memory import offload
from loopwright.memory.gpu_call import GpuExecutable
from loopwright.memory.on_device import on_device
from memory.watched import Watched


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """The GPU of all kernels that are compiled in the test."""
    watched = Watched()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: watched)
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


def prefix(a, b):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] + b[i]


def test_more_than_the_gpu_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a call cannot be made in parts."""
    small = Watched(100_000)
    monkeypatch.setattr(gpus, "gpu_of", lambda _: small)
    with lw.options(device="emulated"), even_in_one_thread():
        kernel, kept = ready(small, prefix, np.zeros(10), np.ones(10))
        a = np.zeros(9000)
        with pytest.raises(DeviceMemoryError, match="72,000 bytes"):
            kernel(a, np.ones(9000))
        assert small.held == kept and not a.any() and not small.moved
        kernel(a[:10], np.ones(10))
        assert a.sum() == 45


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


# ---- what moves -------------------------------------------------------------------------------------------------


def plus(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + 2.0 * b[i]


def smooth(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def shifted(a, b, first, last):
    for i in range(first, last):
        for j in range(a.shape[1]):
            b[i, j] = a[i + 1, j]


def sums(a, b):
    for i in range(b.shape[0]):
        b[i] = 0.0
        for j in range(a.shape[1]):
            b[i] += a[i, j]


def some(a, b):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i]


def test_what_is_only_written_is_not_uploaded(gpu: Watched) -> None:
    a, b, c = np.arange(20.0), np.ones(20), np.full(20, 7.0)
    kernel, kept = ready(gpu, plus, a, b, c.copy())
    kernel(a, b, c)
    assert gpu.moved == [("up", 160), ("up", 160), ("down", 160)] and gpu.held == kept
    np.testing.assert_array_equal(c, a + 2)


def test_what_is_not_written_in_between_stays(gpu: Watched) -> None:
    """The border is not uploaded, and does not come back."""
    a, b = np.random.default_rng(1).random((20, 30)), np.full((20, 30), 7.0)
    kernel, _ = ready(gpu, smooth, a, b.copy())
    kernel(a, b)
    assert gpu.moved == [("up", a.nbytes), ("down", 18 * 30 * 8)]
    expected = np.full((20, 30), 7.0)
    smooth(a, expected)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [(0, 39), (3, 5), (7, 8), (5, 5), (9, 2)])
def test_only_rows_that_are_touched_move(gpu: Watched, rows: tuple[int, int], order: Any) -> None:
    a = np.asarray(np.random.default_rng(1).random((40, 50)), order=order)
    b = np.full_like(a, 7.0)
    kernel, kept = ready(gpu, shifted, a, b.copy(order="K"), 0, 4)
    kernel(a, b, *rows)
    count = max(0, rows[1] - rows[0])
    if order == "C":
        assert sum(size for _, size in gpu.moved) == 2 * count * 400
    assert gpu.held == kept
    expected = np.full((40, 50), 7.0)
    shifted(a, expected, *rows)
    np.testing.assert_array_equal(b, expected)


def test_what_is_set_before_it_is_summed_is_not_uploaded(gpu: Watched) -> None:
    a, b = np.ones((5, 6)), np.full(5, 7.0)
    kernel, _ = ready(gpu, sums, a, b.copy())
    kernel(a, b)
    assert gpu.moved == [("up", 240), ("down", 40)] and (b == 6).all()


def test_no_room_for_partial_sums_changes_nothing(gpu: Watched) -> None:
    a, b = np.ones((5, 6)), np.full(5, 7.0)
    kernel, kept = ready(gpu, sums, a, b.copy())
    gpu.memory.limit_bytes = gpu.memory.used_bytes + 10_000  # 8192 partial results of each sum do not fit
    with pytest.raises(lw.DeviceMemoryError, match="no room for partial results"):
        kernel(a, b)
    assert (b == 7.0).all() and gpu.held == kept
    gpu.memory.limit_bytes = 1 << 30
    kernel(a, b)
    assert (b == 6.0).all()


def test_what_only_data_tells_is_uploaded(gpu: Watched) -> None:
    a, b = np.array([0.0, 1.0, 0.0, 1.0]), np.full(4, 7.0)
    kernel, _ = ready(gpu, some, a, b.copy())
    kernel(a, b)
    assert sorted(gpu.moved) == [("down", 32), ("up", 32), ("up", 32)] and b.tolist() == [7, 1, 7, 1]


def test_a_check_may_fail_so_that_old_values_count(gpu: Watched) -> None:
    b = np.full(4, 7.0)
    with pytest.raises(BoundsError):
        lw.kernel(gather)(np.ones(4), np.array([0, 9, 2, 9]), b)
    assert b.tolist() == [1, 7, 1, 7]


def test_results_are_not_uploaded(gpu: Watched) -> None:
    def doubled(a):
        b = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            b[i] = 2.0 * a[i]
        return b

    kernel, _ = ready(gpu, doubled, np.ones(6))
    assert (kernel(np.ones(6)) == 2).all() and gpu.moved == [("up", 48), ("down", 48)]


def test_an_argument_that_is_not_used_does_not_move(gpu: Watched) -> None:
    def fill(a, b):
        for i in range(a.shape[0]):
            a[i] = 1.0

    kernel, _ = ready(gpu, fill, np.zeros(4), np.zeros(4))
    kernel(np.zeros(4), np.zeros(4))
    assert gpu.moved == [("down", 32)]


@pytest.mark.parametrize("view", [np.s_[::2, 1:-1], np.s_[::-1, ::-1], np.s_[:, 5]])
def test_views_move_as_they_are(gpu: Watched, view: Any) -> None:
    whole, out = np.random.default_rng(1).random((12, 14)), np.full((12, 14), 7.0)
    expected = out.copy()
    function = smooth if whole[view].ndim == 2 else add
    lw.kernel(function)(*((whole[view], out[view]) if function is smooth else (out[view], whole[view])))
    function(*((whole[view], expected[view]) if function is smooth else (expected[view], whole[view])))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_that_is_there_comes_back_from_the_cpu_as_it_lies(
    gpu: Watched, order: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offload, "gpu_of", lambda _: gpu)

    def count_down(a, b):
        while b[0] > 0:
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    a[i, j] += 10 * i + j
            b[0] -= 1

    values = np.array(np.arange(12.0).reshape(3, 4), order=order)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values.ravel("K"))
    there = on_device(address, values.shape, values.dtype, values.strides, "emulated", None)
    lw.kernel(count_down)(there, np.array([2]))
    count_down(values, np.array([2]))
    back = np.zeros(12)
    gpu.download(back, address)
    np.testing.assert_array_equal(back, values.ravel("K"))
