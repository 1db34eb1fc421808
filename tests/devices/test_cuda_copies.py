"""Copies between arrays of the host and a GPU, over a stand-in for CUDA's driver (fake_cuda.c)."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from devices.cuda_table import HALF
from loopwright.devices.cuda import CudaGpu
from loopwright.errors import DeviceError


@pytest.mark.parametrize("size", [0, 1, HALF - 1, HALF, HALF + 1, 2 * HALF, 3 * HALF + 1, 9 * HALF, 50 * HALF + 77])
def test_copies_of_every_size(gpu, driver, size):
    values = np.random.default_rng(size).integers(0, 256, size, dtype="u1")
    kept = values.copy()
    address = gpu.allocate(size)
    gpu.upload(address, values)
    values[:] = 0  # it may be changed
    back = np.zeros_like(kept)
    gpu.download(back, address)
    assert np.array_equal(back, kept)
    assert driver.count("fake_copies") >= 2 * -(-size // HALF)
    assert driver.count("fake_pinned") == 2 * 2 * HALF * min(3, max(1, size // HALF)) * (size > 0)


@pytest.mark.parametrize("dtype", ["f8", "c16", "?", "i2", "S5", "datetime64[ns]", [("a", "i1"), ("b", "f8")], ">i4"])
def test_copies_of_every_kind(gpu, dtype):
    values = np.frombuffer(np.random.default_rng(1).bytes(60 * np.dtype(dtype).itemsize), dtype).reshape(3, 4, 5)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    back = np.empty_like(values)
    gpu.download(back, address)
    assert back.tobytes() == values.tobytes()


def test_what_cannot_be_copied_is_refused(gpu):
    address = gpu.allocate(800)
    with pytest.raises(ValueError, match="holds Python objects"):
        gpu.upload(address, np.zeros(3, object))
    values = np.zeros((10, 10))
    values.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gpu.download(values, address)


VIEWS = {
    "columns": lambda a: a[:, :, ::2],
    "inner": lambda a: a[1:-1, 2:, 1:-3],
    "turned": lambda a: a.T,
    "backwards": lambda a: a[::-1, :, ::-1],
    "repeated": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "number": lambda a: a[1, 2, 3, ...],
    "none": lambda a: a[:0],
    "one row": lambda a: a[:1, :, :],
    "whole": lambda a: a,
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(3, 4, 5), (5, 40, 300)])
def test_arrays_with_gaps(gpu, view, shape):
    values = VIEWS[view](np.random.default_rng(2).random(shape))
    values = np.asarray(values)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    flat = np.zeros(values.shape)
    gpu.download(flat, address)
    assert np.array_equal(flat, values)
    if view != "repeated":
        holder = np.full((2 * shape[0], *shape[1:]), 7.0)
        target = np.asarray(VIEWS[view](holder[::2]))
        before = holder.copy()
        gpu.download(target, address)
        VIEWS[view](before[::2])[...] = values
        assert np.array_equal(holder, before)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("box", [((0, 5), (1, 39), (1, 299)), ((2, 4), (0, 40), (0, 300)), ((1, 2), (3, 4), (7, 8))])
def test_only_a_box_comes_back(gpu, box, axes):
    values = np.random.default_rng(3).random((5, 40, 300)).transpose(axes)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    inside = [range(*box[axis]) for axis in axes]
    target = np.zeros((5, 40, 300)).transpose(axes)
    gpu.download(target, address, inside)
    expected, places = np.zeros_like(target), tuple(slice(one.start, one.stop) for one in inside)
    expected[places] = values[places]
    assert np.array_equal(target, expected)


BOXES = [
    ((5, 6, 7), (range(1, 4), range(1, 5), range(1, 6)), 1),  # the inside of a cube: planes of short rows are one copy
    ((5, 6, 7), (range(1, 4), range(1, 5), range(7)), 1),
    ((5, 6, 7), (range(1, 4), range(6), range(7)), 1),
    ((50, 6), (range(50), range(2, 3)), 1),  # a column
    ((3, 4, 5, 6), (range(1, 3), range(1, 3), range(1, 4), range(2, 5)), 2),
    ((9,), (range(2, 5),), 1),
    ((4, 9, 300), (range(1, 4), range(2, 8), range(3, 299)), 18),  # 2368 bytes: one row of them fits a half
    ((2, 1000), (range(2), range(1, 999)), 4),  # and here not even one does
    ((3, 5), (range(1, 1), range(5)), 0),
    ((0, 5), (range(0), range(5)), 0),
]


@pytest.mark.parametrize("view", ["whole", "columns", "turned", "backwards"])
@pytest.mark.parametrize(("shape", "box", "calls"), BOXES)
def test_a_box_is_copied_by_itself(driver, gpu, shape, box, calls, view):
    """As few copies as there are: not one for each stretch of memory; and what lies outside stays as it is."""
    gpu = CudaGpu(driver, 0, lanes=1, half_bytes=HALF)
    make = {"whole": lambda a: a, "columns": lambda a: np.repeat(a, 2, axis=-1)[..., ::2], "turned": np.asfortranarray,
            "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1]}[view]  # fmt: skip
    values = make(np.random.default_rng(4).random(shape))
    values.flags.writeable = False
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, np.full(shape, -1.0))
    before = driver.count("fake_copies")
    gpu.upload(address, values, "work", box)
    assert driver.count("fake_copies") - before == calls
    inside = tuple(slice(one.start, one.stop) for one in box)
    expected = np.full(shape, -1.0)
    expected[inside] = values[inside]
    back = np.zeros(shape)
    gpu.download(back, address)
    assert np.array_equal(back, expected)
    target = make(np.zeros(shape)) if view != "turned" else np.zeros(shape, order="F")
    gpu.download(target, address, box)
    expected = np.zeros(shape)
    expected[inside] = values[inside]
    assert np.array_equal(target, expected)


@pytest.mark.parametrize("seed", range(25))
def test_boxes_by_chance(driver, gpu, seed):
    """Of several lanes, and many halves."""
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 14, random.integers(1, 5)))
    values = random.integers(0, 99, shape).astype(random.choice(["f8", "u1", "f4"]))
    box = [range(*sorted(random.integers(0, size + 1, 2))) for size in shape]
    gpu = CudaGpu(driver, 0, lanes=3, half_bytes=HALF)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, np.zeros_like(values))
    gpu.wait("up", gpu.mark("work"))
    gpu.upload(address, values, "up", box)
    gpu.wait("down", gpu.mark("up"))
    inside = tuple(slice(one.start, one.stop) for one in box)
    expected = np.zeros_like(values)
    expected[inside] = values[inside]
    back = np.zeros_like(values)
    gpu.download(back, address, None, "down")
    assert np.array_equal(back, expected)
    back = np.zeros_like(values)
    gpu.download(back, address, box, "down")
    assert np.array_equal(back, expected)


def test_far_rows_are_copied_one_by_one(gpu, driver):
    """No pitch may have more than 31 bits."""
    room = np.lib.stride_tricks.as_strided(np.zeros(8), (3, 1 << 29), (8, 0), writeable=False)
    driver.fail("cuMemcpyHtoDAsync", 1)
    with pytest.raises(DeviceError, match="copying to the GPU failed"):
        gpu.upload(0, room, "work", (range(3), range(5, 6)))


@pytest.mark.parametrize("after", [0, 2])
def test_a_box_whose_copy_fails_says_so(gpu, driver, after):
    values = np.random.default_rng(4).random((40, 9, 30))
    box = (range(1, 39), range(1, 8), range(1, 29))
    address = gpu.allocate(values.nbytes)
    driver.fail("cuMemcpy3DAsync", 1, after)
    with pytest.raises(DeviceError, match=r"copying to the GPU failed: CUDA_ERROR_OTHER \(something else\)"):
        gpu.upload(address, values, "work", box)
    gpu.upload(address, values, "work", box)
    back = np.zeros_like(values)
    gpu.download(back, address, box)
    assert np.array_equal(back[1:39, 1:8, 1:29], values[1:39, 1:8, 1:29])


def test_queues_wait_for_one_another(gpu, driver, module):
    table, n = module(), 1000
    x, y = gpu.allocate(4000), gpu.allocate(4000)
    gpu.upload(y, np.ones(n, "f4"))
    gpu.wait("up", gpu.mark("work"))
    gpu.upload(x, np.arange(n, dtype="f4"), "up")
    gpu.wait("work", gpu.mark("up"))
    table.saxpy(n, 2, x, y)
    gpu.wait("down", gpu.mark("work"))
    back = np.zeros(n, "f4")
    gpu.download(back, y, None, "down")
    assert np.array_equal(back, 2 * np.arange(n) + 1)


def test_queues_that_do_not_wait_are_in_no_order(gpu, module):
    """Else the test above could not fail."""
    table, n = module(), 1000
    y = gpu.allocate(4000)
    gpu.upload(y, np.ones(n, "f4"))
    table.saxpy(n, 2, y, y)
    back = np.zeros(n, "f4")
    gpu.download(back, y, None, "down")
    assert not np.array_equal(back, np.full(n, 3))


def test_many_small_arrays_of_many_sizes(gpu):
    """They share the halves: none may be overwritten before the GPU has it."""
    random = np.random.default_rng(5)
    arrays = [random.integers(0, 256, size, dtype="u1") for size in random.integers(1, 3 * HALF, 200)]
    addresses = []
    for values in arrays:
        addresses.append(gpu.allocate(values.nbytes))
        gpu.upload(addresses[-1], values.copy())
    for values, address in zip(arrays, addresses, strict=True):
        back = np.zeros_like(values)
        gpu.download(back, address)
        assert np.array_equal(back, values)


def test_copies_of_several_threads(gpu, driver):
    wrong = []

    def work(number):
        values = np.full(40 * HALF + number, number, "u1")
        for _ in range(40):
            address = gpu.allocate(values.nbytes)
            gpu.upload(address, values)
            back = np.zeros_like(values)
            gpu.download(back, address)
            if not np.array_equal(back, values) or driver.library.fake_depth():
                wrong.append(number)
            gpu.release(address)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and driver.count("fake_used") == 0


def test_without_pinned_memory_copies_go_on(gpu, driver):
    driver.fail("cuMemHostAlloc", 2)
    values = np.arange(5000.0)
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    back = np.zeros_like(values)
    gpu.download(back, address)
    assert np.array_equal(back, values)


@pytest.mark.parametrize("function", ["cuMemcpyHtoDAsync", "cuEventRecord", "cuEventSynchronize", "cuCtxGetCurrent"])
@pytest.mark.parametrize("after", [0, 2])
def test_a_copy_that_fails_says_so_and_the_next_one_works(gpu, driver, function, after):
    values = np.arange(4 * HALF, dtype="u1")
    address = gpu.allocate(values.nbytes)
    driver.fail(function, 1, after)
    with pytest.raises(DeviceError, match=r"copying to the GPU failed: CUDA_ERROR_OTHER \(something else\)"):
        for _ in range(9):
            gpu.upload(address, values)
    gpu.upload(address, values)
    back = np.zeros_like(values)
    gpu.download(back, address)
    assert np.array_equal(back, values)


@pytest.mark.parametrize("after", [0, 1])
def test_a_download_that_fails_leaves_nothing_behind(gpu, driver, after):
    """What the GPU still writes to the halves is over before they are used again."""
    gpu = CudaGpu(driver, 0, lanes=1, half_bytes=HALF)
    one, two = np.full(2 * HALF, 1, "u1"), np.full(2 * HALF, 2, "u1")
    addresses = [gpu.allocate(2 * HALF) for _ in range(2)]
    gpu.upload(addresses[0], one)
    driver.fail("cuEventRecord", 1, after)
    with pytest.raises(DeviceError, match="copying from the GPU failed"):
        gpu.download(np.zeros_like(one), addresses[0])
    gpu.upload(addresses[1], two)
    back = np.zeros_like(two)
    gpu.download(back, addresses[1])
    assert np.array_equal(back, two)
