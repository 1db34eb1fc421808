"""Arrays that calls on a GPU return under `results="device"`: they stay there, in memory of the GPU's pool.

What becomes a list, a set or a dict is made on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopwright.devices import base
from loopwright.devices.gpu import Gpu
from loopwright.errors import check_failed
from loopwright.ir.boxes import Reach
from loopwright.memory.device_array import DeviceArray, DeviceView
from loopwright.memory.on_device import OnDevice, Where
from loopwright.memory.placing import part_of, rows_of, values_of

ResultKind = tuple[tuple[int, ...], Any, object]
"""Shape, dtype, and what fills it, None for nothing."""

FILL_BYTES = 1 << 20
"""A larger array is filled by copies on the GPU of what is there already."""


@dataclass(frozen=True, slots=True)
class KeptResults:
    """Makes the arrays that a call on a GPU returns. results: their kinds, from the arguments; kept: which of them stay
    there, by number; on_host: makes any other; reach: see GpuExecutable."""

    results: Callable[[Sequence[object]], Sequence[ResultKind]]
    kept: frozenset[int]
    gpu: Gpu
    where: Where
    reach: Mapping[int, Reach]
    on_host: Callable[..., object]

    def __call__(self, arguments: tuple[object, ...]) -> tuple[object, ...]:
        streams = {one.stream if isinstance(one, OnDevice) else 0 for one in arguments if isinstance(one, np.ndarray)}
        return self.made(self.results(arguments), arguments, min(streams) if len(streams) == 1 else 0)

    def made(self, kinds: Sequence[ResultKind], arguments: tuple[object, ...], stream: int) -> tuple[object, ...]:
        """Arrays of these kinds for a call in a stream of the driver. Raises DeviceMemoryError."""
        if any(size < 0 for shape, _, _ in kinds for size in shape):
            raise check_failed("negative_size", None)
        is_filled = any(fill is not None for _, _, fill in kinds)
        fresh = tuple(
            DeviceArray.empty(shape, dtype, self.gpu, self.where, 0 if is_filled else stream).argument()
            if k in self.kept
            else self.on_host(shape, dtype, fill)
            for k, (shape, dtype, fill) in enumerate(kinds)
        )
        if is_filled:
            values = values_of((*arguments, *fresh))
            for k, (one, (_, _, fill)) in enumerate(zip(fresh, kinds, strict=True)):
                if (
                    isinstance(one, OnDevice)
                    and fill is not None
                    and not self._is_written(one, len(arguments) + k, values)
                ):
                    fill_there(self.gpu, one, fill)
        return fresh

    def _is_written(self, array: OnDevice, position: int, values: Mapping[str, int]) -> bool:
        """Whether the call certainly writes every element before it reads it."""
        part = part_of(array, self.reach.get(position), values, True)
        if part.needed or part.written is None:
            return not array.size
        return all(len(one) == size for one, size in zip(part.written, rows_of(array).shape, strict=True))


def fill_there(gpu: Gpu, array: OnDevice, fill: object) -> None:
    """Every element of an array becomes this number."""
    first = min(array.size, FILL_BYTES // array.itemsize)
    address, done = array.ctypes.data, first * array.itemsize
    if first:
        gpu.upload(address, np.full(first, fill, array.dtype))
    while done < array.nbytes:
        size = min(done, array.nbytes - done)
        if not gpu.copy_from(gpu, address + done, address, size):
            gpu.upload(address, np.full(array.shape, fill, array.dtype))
            return
        done += size


def kept_of(values: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Which arrays that a call makes stay on a GPU, by number: those that nothing but an array is made of. values: see
    devices.base.Returns."""
    found: list[set[int]] = []
    used, on_host = set[int](), set[int]()
    for code, number in values:
        if code == base.FRESH:
            used.add(number)
            found.append({number})
        elif code in (base.ARGUMENT, base.NOTHING) or code >= base.PYTHON_SCALAR:
            found.append(set())
        else:
            taken = {
                base.TUPLE: number, base.ZIP: number, base.CUT: number + 1, base.VIEW: number + 1, base.DICT: 2,
                base.MAYBE: 2, base.COMPLEX: 2 if number == 2 else 1,
            }.get(code, 1)  # fmt: skip
            parts = set[int]().union(*found[len(found) - taken :])
            del found[len(found) - taken :]
            found.append(parts)
            on_host |= parts if code in (base.LIST, base.ZIP, base.SET, base.DICT) else set()
    return frozenset(used - on_host)


def as_complex_there(array: DeviceArray) -> DeviceArray:
    """An array of floats that nobody else has, with two along the last axis, as one of complex numbers."""
    return DeviceView(array, array.shape[:-1], np.result_type(array.dtype, np.complex64), None)


def cut(array: DeviceArray, sizes: Sequence[int]) -> DeviceArray:
    """The first elements along the first axes of an array that nobody else has. It is the array's own memory where that
    is mostly used, else a copy."""
    shape = (*sizes, *array.shape[len(sizes) :])
    if shape == array.shape:
        return array
    if shape[1:] != array.shape[1:]:
        whole = array.numpy()[tuple(slice(0, size) for size in sizes)]
        return DeviceArray(np.ascontiguousarray(whole), array.gpu, array.where)
    part = DeviceView(array, shape, array.dtype, None)
    if 2 * part.nbytes >= array.nbytes or array.stream:
        return part
    found = DeviceArray.empty(shape, array.dtype, array.gpu, array.where, 0)
    there, here = found.argument().ctypes.data, array.argument().ctypes.data
    if part.nbytes and not array.gpu.copy_from(array.gpu, there, here, part.nbytes):
        return part
    return found
