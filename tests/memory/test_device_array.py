"""Arrays that stay in a GPU's memory, on the emulated one."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated import EmulatedGpu
from loopwright.memory.device_array import DeviceArray


def kept(array: Any) -> DeviceArray:
    return DeviceArray(np.asarray(array), EmulatedGpu(), "emulated")


def test_there_and_back() -> None:
    source = np.arange(12.0).reshape(3, 4)
    array = kept(source)
    source[...] = 0
    assert (array.shape, array.dtype, len(array), array.nbytes) == ((3, 4), np.float64, 3, 96)
    np.testing.assert_array_equal(array.numpy(), np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(np.asarray(array, np.int32), np.arange(12).reshape(3, 4))
    array.copy_from(np.ones((4, 3)).T)
    assert array.numpy().sum() == 12
    assert "(3, 4) of float64 on emulated" in repr(array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_of_one_element_and_of_none(shape: tuple[int, ...]) -> None:
    array = kept(np.full(shape, 5, np.int16))
    np.testing.assert_array_equal(array.numpy(), np.full(shape, 5, np.int16))


def test_what_does_not_fit() -> None:
    array = kept(np.zeros(4))
    for wrong in (np.zeros(5), np.zeros(4, np.float32), np.zeros((4, 1))):
        with pytest.raises(ValueError, match="does not fit"):
            array.copy_from(wrong)
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(array, copy=False)


def test_its_memory_goes_with_it() -> None:
    gpu = EmulatedGpu(1000)
    for _ in range(5):
        array = DeviceArray(np.zeros(100), gpu, "emulated")
        del array
        gc.collect()
    argument = DeviceArray(np.arange(100.0), gpu, "emulated").argument()
    gc.collect()
    found = np.zeros(100)
    gpu.download(found, argument.ctypes.data)  # the argument keeps it
    assert found[99] == 99


def test_the_emulated_memory_is_not_shown_to_others() -> None:
    assert not hasattr(kept(np.zeros(3)), "__cuda_array_interface__")


def test_kernels_use_it_in_place() -> None:
    def kernel(a, b):
        for i in range(a.shape[0]):
            b[i] += a[i]

    with lw.options(device="emulated"):
        a, b, host = lw.device_array(np.arange(5.0)), lw.device_array(np.zeros(5)), np.zeros(5)
        compiled = lw.kernel(kernel)
        for _ in range(3):
            compiled(a, b)
        compiled(b, host)
        np.testing.assert_array_equal(b.numpy(), 3 * np.arange(5.0))
        np.testing.assert_array_equal(host, 3 * np.arange(5.0))
        compiled(b, b)
        np.testing.assert_array_equal(b.numpy(), 6 * np.arange(5.0))


def test_a_failed_check_is_told_by_the_call() -> None:
    def kernel(a, idx, b):
        for i in range(a.shape[0]):
            b[i] = a[idx[i]]

    with lw.options(device="emulated"):
        a, b = lw.device_array(np.arange(4.0)), lw.device_array(np.zeros(4))
        compiled = lw.kernel(kernel)
        with pytest.raises(lw.BoundsError, match="index 9"):
            compiled(a, lw.device_array(np.array([0, 1, 2, 9])), b)
        compiled(a, lw.device_array(np.array([3, 2, 1, 0])), b)
        np.testing.assert_array_equal(b.numpy(), [3, 2, 1, 0])
