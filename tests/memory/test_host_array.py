"""What calls on the CPU return under `results="device"`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import loopwright as lw
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.host_array import HostArray


class Pair(NamedTuple):
    values: Any
    count: int


def several(x, n):
    return x, x * 2.0, float(n), Pair(np.full(n, 3.0), n), x[1:], [x[0], 1.0], {"a": 1}


def scaled(x, by):
    for i in range(len(x)):
        x[i] *= by


@pytest.mark.parametrize("device", ["cpu", "interpreter"])
def test_results_are_of_the_same_class_as_on_a_gpu(device: Any) -> None:
    x = np.arange(5.0)
    with lw.options(device=device, results="device"):
        kernel = lw.kernel(several)
        for _ in range(2):
            same, twice, number, pair, part, items, named = kernel(x, 4)
    assert same is x and part.base is not None and np.shares_memory(part, x)
    assert (type(number), type(pair), items, named) == (float, Pair, [0.0, 1.0], {"a": 1})
    for found, wanted in ((twice, x * 2), (pair.values, np.full(4, 3.0))):
        assert isinstance(found, DeviceArray) and "on the host" in repr(found)
        np.testing.assert_array_equal(np.asarray(found), wanted)
    with lw.options(device=device):
        assert isinstance(kernel(x, 4)[1], np.ndarray)


def test_kernels_take_them_without_a_copy() -> None:
    array = HostArray(np.arange(4.0))
    kernel, other = lw.kernel(scaled), lw.kernel(several)
    for _ in range(2):
        kernel(array, 2.0)
    assert array.numpy().tolist() == [0, 4, 8, 12]
    found = other(array, 2)
    assert found[0] is array and isinstance(found[1], np.ndarray) and isinstance(found[4], HostArray)
    kernel(found[4], 0.0)
    assert array.numpy().sum() == 0
    with lw.options(device="emulated"):
        kernel(array, 2.0)  # as an array of the host's
        array.copy_from(np.ones(4))
        kernel(array, 3.0)
    assert array.numpy().tolist() == [3, 3, 3, 3]


def test_it_is_as_one_on_a_gpu() -> None:
    array = HostArray(np.ones((2, 3)))
    array.numpy()[...] = 5
    assert (array.shape, array.dtype, len(array), array.nbytes, array.version) == (
        (2, 3), np.float64, 2, 48, "unknown",
    )  # fmt: skip
    assert np.asarray(array).sum() == 6 and not hasattr(array, "__cuda_array_interface__")
    with pytest.raises(ValueError, match="does not fit"):
        array.copy_from(np.ones(6))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(array, copy=False)


def test_calls_that_devices_share() -> None:
    kernel, x = lw.kernel(several), np.arange(50.0)
    with lw.options(devices="cpu, emulated", results="device"):
        found = kernel(x, 4)
    assert found[0] is x and isinstance(found[1], DeviceArray)
    np.testing.assert_array_equal(found[1].numpy(), 2 * x)


def test_the_option() -> None:
    with pytest.raises(ValueError, match="results='gpu': choose one of host, device"), lw.options(results="gpu"):  # type: ignore[arg-type]
        pass
