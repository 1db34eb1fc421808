"""What is loaded for calls on a GPU, `GpuExecutable`, and the struct of one call, `GpuCallStruct`."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from loopwright.devices import base
from loopwright.devices.base import Executable
from loopwright.devices.by_ctypes import CallStruct, FailureStruct, Slot, fill_slot
from loopwright.devices.gpu import Gpu, Module
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.forks import free_in_child
from loopwright.ir.boxes import Box, Reach
from loopwright.memory.kept_orders import KeptOrders
from loopwright.memory.on_device import is_on_device
from loopwright.memory.placing import ArrayPart, Placed, part_of, whole_part

NO_FAILURE = (-1, 0, 0)
FAILURE_BYTES = 32  # of lw_failure on the device: it knows where else to tell of it


class GpuCall(ctypes.Structure):
    """struct lw_call of codegen/loopwright.h, with what only a GPU's programs have."""

    _fields_ = (
        *CallStruct._fields_, ("gpu", ctypes.c_void_p), ("device_failure", ctypes.c_void_p), ("kept", ctypes.c_void_p)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GpuExecutable(Executable):
    """A loaded program whose arrays are on a GPU. written: positions of arguments that it may write to; reach: which
    part of each array it is about, by position. `failures`: the address of an lw_failure there, and `told` that of the
    same on the host, or 0. entry_maker: what calls it. orders: those of iterations that outlast calls. find_parts: what
    runs a call in parts, made when first asked for; None where that cannot be."""

    takes_device_arrays: ClassVar[bool] = True

    gpu: Gpu
    module: Module
    written: frozenset[int]
    reach: Mapping[int, Reach]
    failures: int
    told: int
    entry_maker: Callable[..., base.Entry]
    orders: KeptOrders
    find_parts: Callable[[], InParts | None] = lambda: None
    lock: AbstractContextManager[bool] = field(
        default_factory=lambda: free_in_child(threading.RLock()), compare=False, repr=False
    )

    @property
    def may_end_early(self) -> bool:
        """Whether a call may end with an error before it has written all that it would write."""
        return any(site.is_of_program for site in self.program.sites)

    @property
    def waits(self) -> bool:
        """Whether a call that has gone well has waited for all its kernels."""
        return self.program.device is not None and self.program.device.waits

    def entry_type(self, other: Callable[..., base.Entry]) -> Callable[..., base.Entry]:
        return self.entry_maker


@dataclass(frozen=True, slots=True)
class InParts:
    """A program like another one, whose outermost loop runs from one iteration to before another: numbers that follow
    the arguments, `first` being the position of the first of the two. iterations: all that there are."""

    executable: GpuExecutable
    iterations: Box
    first: int


def no_failure(gpu: Gpu, failures: int, told: int) -> None:
    """Nothing has failed, in the eyes of kernels that start in whatever stream, and of the host."""
    gpu.upload(failures, np.array((*NO_FAILURE, told), np.int64))
    gpu.synchronize()
    if told:
        ctypes.memmove(told, (ctypes.c_int64 * 3)(*NO_FAILURE), 24)


class GpuCallStruct:
    """The struct of one call, and what it points to."""

    def __init__(self, everything: tuple[object, ...], results: int, threads: int, executable: GpuExecutable) -> None:
        count = len(everything)
        pointers = ctypes.c_void_p * max(1, count)
        self._data, self._shape, self._strides = pointers(), pointers(), pointers()
        self._scalars, self.returned = (Slot * max(1, count))(), (Slot * max(1, results))()
        self.failure, self._keep, self._kept_strides = FailureStruct(*NO_FAILURE), list[object](), dict[int, object]()
        for position, value in enumerate(everything):
            if isinstance(value, np.ndarray):
                self._lay(position, value.shape, value.strides)
            else:
                fill_slot(self._scalars[position], value)
        parts = (self._data, self._shape, self._strides, self._scalars, self.returned)
        self.call = GpuCall(
            *(ctypes.addressof(part) for part in parts),
            threads,
            ctypes.addressof(self.failure),
            executable.gpu.watch,
            executable.module.table,
            executable.failures,
            executable.orders.address,
        )

    def slot(self, position: int) -> Slot:
        """Where a number is."""
        return self._scalars[position]

    def put(self, position: int, placed: Placed) -> None:
        """An array is now where the program finds it."""
        self._data[position] = placed.address
        axes = ctypes.c_int64 * max(1, len(placed.strides))
        strides = axes(*placed.strides)
        self._kept_strides[position] = strides
        self._strides[position] = ctypes.addressof(strides)

    def move(self, position: int, array: np.ndarray[Any, Any]) -> None:
        """Another array of the same sizes is in the place of one."""
        self._data[position] = array.ctypes.data

    def _lay(self, position: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        axes = ctypes.c_int64 * max(1, len(shape))
        sizes, steps = axes(*shape), axes(*strides)
        self._keep += [sizes, steps]
        self._shape[position], self._strides[position] = ctypes.addressof(sizes), ctypes.addressof(steps)


class BoundsLeft(Exception):
    """A check failed in the middle: what was written until then is the caller's, as on the CPU."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class NoRoom(Exception):
    """Not all arrays of a call fit the GPU's memory at once; nothing has been done. error: what says so to people."""

    def __init__(self, error: DeviceMemoryError) -> None:
        super().__init__()
        self.error = error


def raise_failure(failed: int, call: GpuCallStruct, executable: GpuExecutable, fault: Exception | None) -> None:
    """Raise what went wrong, on the host or in a kernel: first what makes all else meaningless."""
    try:
        fault = fault or executable.module.fault()
    except BaseException:  # what interrupts a compiler: kernels before the one that it was for may still fail
        with suppress(DeviceError):
            executable.gpu.synchronize()
            no_failure(executable.gpu, executable.failures, executable.told)
        raise
    if fault is not None:
        with suppress(DeviceError):  # where later calls are possible, a failure beside the fault is not theirs
            no_failure(executable.gpu, executable.failures, executable.told)
        raise fault
    if failed and not (site := executable.program.sites[call.failure.site]).is_of_program:
        if site.kind == "device_memory":
            raise DeviceMemoryError(f"{executable.gpu.name} has no room for partial results of the call")
        raise DeviceError("the GPU does not do what it was asked, and does not say why")
    found = np.array(NO_FAILURE, np.int64)
    if executable.program.device is not None and executable.program.device.checks:
        executable.gpu.download(found, executable.failures)
    if found[0] >= 0:
        no_failure(executable.gpu, executable.failures, executable.told)
        raise BoundsLeft(executable.failure(*(int(value) for value in found)))
    if failed:
        raise BoundsLeft(executable.failure(call.failure.site, call.failure.index, call.failure.size))


def parts_of(
    executable: GpuExecutable, everything: Sequence[object], results_from: int, values: Mapping[str, int]
) -> dict[int, ArrayPart]:
    """Which part of each array a call is about, by position. values: sizes and numbers; results are all written. Arrays
    that are on a GPU do not move: that takes no analysis of what is used of them."""
    all_of_it = executable.may_end_early  # of results nobody sees anything then
    found: dict[int, ArrayPart] = {}
    for position, value in enumerate(everything):
        if isinstance(value, np.ndarray):
            is_written = position in executable.written or position >= results_from
            found[position] = (
                whole_part(value, is_written)
                if is_on_device(value)
                else part_of(
                    value, executable.reach.get(position), values, is_written, all_of_it and position < results_from
                )
            )
    return found
