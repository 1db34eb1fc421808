"""The sizes, scalars and strides of one call, as analyses name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loopwright.analysis.coalescing import KnownSizes
from loopwright.ir.nodes import ArrayParam, Kernel
from loopwright.memory.on_device import OnDevice, dense


def shape_of(kernel: Kernel, arguments: Sequence[object]) -> KnownSizes:
    """What is known where these are the arguments. Strides are those that the array has on the GPU: what is copied
    there loses its gaps."""
    sizes: dict[str, int] = {}
    strides: dict[int, tuple[int, ...]] = {}
    for param in kernel.params:
        value: Any = arguments[param.argument]
        if isinstance(param, ArrayParam):
            sizes |= {f"s{param.argument}_{axis}": int(size) for axis, size in enumerate(value.shape)}
            strides[param.argument] = _strides(value, param)
        elif isinstance(value, int | np.integer):
            sizes[f"v{param.argument}"] = int(value)
    return KnownSizes(sizes, strides)


def _strides(array: Any, param: ArrayParam) -> tuple[int, ...]:
    if isinstance(array, OnDevice) or dense(array):
        return tuple(array.strides)
    axes = range(array.ndim) if param.layout == "first" else reversed(range(array.ndim))
    found, distance = [0] * array.ndim, int(array.itemsize)
    for axis in axes:
        found[axis] = distance
        distance *= int(array.shape[axis])
    return tuple(found)
