"""Arrays that calls return under `results="device"`, on the emulated GPU."""

from __future__ import annotations

import gc
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import base
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpus import gpu_of
from loopwright.memory import device_results
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.device_results import as_complex_there, cut, fill_there, kept_of


class Pair(NamedTuple):
    values: Any
    count: int


def several(x, n):
    counted = np.full(n, 3.0)
    for i in range(len(x)):
        counted[i] += x[i]
    return x, x * 2.0, float(n), Pair(counted, n), x[1:]


def above(x, limit):
    return x[x > limit], [x[0], x[1]]


def picked(x, places):
    found = np.empty(len(places))
    for i in range(len(places)):
        found[i] = x[places[i]]
    return found


@pytest.fixture
def memory() -> Any:
    """The emulated GPU's, and how much of it is in use."""
    gpu = gpu_of("emulated")
    assert isinstance(gpu, EmulatedGpu)
    gc.collect()
    return gpu.memory


def there(array: Any) -> DeviceArray:
    with lw.options(device="emulated"):
        return lw.device_array(array)


def test_they_are_what_python_returns_and_stay_where_they_are() -> None:
    kernel, x = lw.kernel(results="device")(several), np.linspace(0, 1, 40)
    for argument in (there(x), x):
        for n in (50, 50, 60):  # a repeated call, and one whose numbers ask for other sizes
            with lw.options(device="emulated" if argument is x else "auto"):
                same, twice, number, pair, part = kernel(argument, n)
            assert same is argument
            assert (type(number), type(pair), pair.count) == (float, Pair, n)
            assert isinstance(twice, DeviceArray) and twice.where == "emulated"
            np.testing.assert_array_equal(twice.numpy(), x * 2)
            np.testing.assert_array_equal(pair.values.numpy(), several(x, n)[3].values)
            assert isinstance(part, np.ndarray if argument is x else DeviceArray)
            np.testing.assert_array_equal(np.asarray(part), x[1:])
    assert "stay on the GPU, as results='device' says" in str(kernel.explain(there(x), 50))


def test_a_part_of_an_argument_is_its_memory() -> None:
    kernel, doubled = lw.kernel(results="device")(several), lw.kernel(doubled_in_place)
    x = there(np.arange(12.0))
    part = kernel(x, 20)[4]
    version = x.version
    doubled(part)
    doubled(part)
    np.testing.assert_array_equal(x.numpy(), [0, *range(4, 48, 4)])
    assert x.version != version and part.version == x.version
    part.copy_from(np.ones(11))
    assert x.numpy().sum() == 11
    del x
    gc.collect()
    assert part.numpy().sum() == 11


def doubled_in_place(a):
    for i in range(len(a)):
        a[i] *= 2.0


def test_sizes_that_data_decide_and_lists() -> None:
    kernel, x = lw.kernel(results="device")(above), np.random.default_rng(1).random(300)
    for limit in (0.1, 0.99, 2.0):
        found, items = kernel(there(x), limit)
        assert isinstance(found, DeviceArray)
        np.testing.assert_array_equal(found.numpy(), x[x > limit])
        assert items == [x[0], x[1]] and type(items) is list


def test_errors_threads_and_memory(memory: Any) -> None:
    kernel, x, places = lw.kernel(results="device")(picked), there(np.arange(30.0)), there(np.array([3, 29, 4]))
    wrong = there(np.array([3, 30, 4]))
    with pytest.raises(IndexError):
        kernel(x, wrong)
    kernel(x, places)
    gc.collect()
    used = memory.used_bytes
    for _ in range(50):
        kept = kernel(x, places)
        with pytest.raises(IndexError):
            kernel(x, wrong)
    gc.collect()  # errors keep the frames that they went through
    assert memory.used_bytes == used + kept.nbytes
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(kernel(x, places) for _ in range(10))) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len({id(one) for one in (kept, *found)}) == 21
    assert all(one.numpy().tolist() == [3, 29, 4] for one in (kept, *found))


def test_what_one_kernel_returns_is_what_another_one_takes() -> None:
    kernel = lw.kernel(results="device", strict=True)(total_of_exp)
    x = np.random.default_rng(2).random((7, 9))
    y = kernel(kernel(there(x)))
    np.testing.assert_allclose(y.numpy(), total_of_exp(total_of_exp(x)), rtol=1e-14)


def total_of_exp(x):
    return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)


def test_large_arrays_are_filled_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_results, "FILL_BYTES", 64)
    gpu = EmulatedGpu()
    for shape, fill in (((100,), 3.5), ((3, 0), 1.0), ((5,), -0.0), ((), 2.0)):
        array = DeviceArray.empty(shape, np.dtype(np.float64), gpu, "emulated", 0)
        fill_there(gpu, array.argument(), fill)  # type: ignore[arg-type]
        assert array.numpy().tobytes() == np.full(shape, fill).tobytes()


@pytest.mark.parametrize("sizes", [(9,), (2,), (0,), (9, 2), (3, 4)])
def test_only_the_first_elements_of_an_array(sizes: tuple[int, ...]) -> None:
    source = np.arange(36.0).reshape(9, 4)
    found = cut(DeviceArray(source, EmulatedGpu(), "emulated"), sizes)
    np.testing.assert_array_equal(found.numpy(), source[tuple(slice(0, size) for size in sizes)])


def test_complex_numbers_are_the_same_memory() -> None:
    found = as_complex_there(DeviceArray(np.arange(6.0).reshape(3, 2), EmulatedGpu(), "emulated"))
    np.testing.assert_array_equal(found.numpy(), [1j, 2 + 3j, 4 + 5j])


def test_which_ones_stay() -> None:
    number = base.PYTHON_SCALAR
    for values, kept in (
        ([(base.FRESH, 0), (base.ARGUMENT, 1), (number, 0)], {0}),
        ([(base.FRESH, 0), (number, 0), (base.CUT, 1), (base.LIST, 0)], set()),
        ([(base.FRESH, 0), (base.FRESH, 1), (base.ZIP, 2), (base.FRESH, 2), (base.TUPLE, 2)], {2}),
        ([(base.FRESH, 0), (base.FRESH, 1), (base.DICT, 0), (base.NOTHING, 0), (base.TUPLE, 2)], set()),
        ([(base.FRESH, 0), (base.COMPLEX, 1), (number, 0), (base.MAYBE, 0)], {0}),
        ([(base.FRESH, 0), (base.FRESH, 0), (base.SET, 0), (base.TUPLE, 2)], set()),
    ):
        assert kept_of(values) == kept
