"""Arguments that are in a GPU's memory: arrays in name only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from loopwright.memory.on_device import LEGACY_STREAM, dense, is_on_device, of_cuda_array, on_device


def test_an_argument_is_an_array_in_name_only() -> None:
    argument = on_device(1 << 40, (3, 4), np.dtype("f4"), (4, 12), "emulated", None)
    assert (argument.shape, argument.strides, argument.dtype) == ((3, 4), (4, 12), np.float32)
    assert argument.ctypes.data == 1 << 40
    assert repr(argument) == str(argument) == "<array (3, 4) of float32 in a GPU's memory>"
    assert is_on_device(argument) and not is_on_device(np.zeros(3))
    assert dense(argument) and not dense(on_device(1 << 40, (3,), np.dtype("f4"), (8,), "emulated", None))


def foreign(**more: Any) -> Any:
    told = {"version": 3, "data": (1 << 40, False), "shape": (5,), "typestr": "<f8", **more}
    return SimpleNamespace(__cuda_array_interface__=told)


def test_foreign_arrays() -> None:
    assert of_cuda_array(foreign()).stream == LEGACY_STREAM
    assert of_cuda_array(foreign(stream=7)).stream == 7
    assert of_cuda_array(foreign(strides=(16,))).strides == (16,)
    assert not of_cuda_array(foreign(data=(1 << 40, True))).flags.writeable
    assert of_cuda_array(foreign(data=(0, False), shape=(0,))).shape == (0,)


@pytest.mark.parametrize("device", [SimpleNamespace(id=1), SimpleNamespace(index=1, type="cuda")])
def test_an_array_on_another_gpu_is_used_there(device: SimpleNamespace) -> None:
    """CuPy's devices have an id, PyTorch's an index."""
    array = foreign()
    array.device = device
    assert of_cuda_array(array).where == "cuda1"
