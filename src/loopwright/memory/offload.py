"""A call on a GPU: arrays of the host are moved there and back, arrays that are there already are used in place.

`OffloadEntry` is the `Entry` of such a call, and `GpuExecutable` what is loaded for it.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from loopwright.analysis.reach import Reach
from loopwright.devices import base, by_ctypes
from loopwright.devices.base import Executable
from loopwright.devices.by_ctypes import Call, Slot, fill_slot
from loopwright.devices.gpu import Gpu, Module
from loopwright.devices.gpus import gpu_of
from loopwright.errors import DeviceError
from loopwright.memory.arrays import Array
from loopwright.memory.on_device import OnDevice, dense, is_on_device
from loopwright.memory.placing import Part, Placed, bring_back, part_of, place, values_of

NO_FAILURE = (-1, 0, 0)


class GpuCall(ctypes.Structure):
    """struct lw_call of codegen/loopwright.h, with what only a GPU's programs have."""

    _fields_ = (*Call._fields_, ("gpu", ctypes.c_void_p), ("device_failure", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class GpuExecutable(Executable):
    """A loaded program whose arrays are on a GPU. written: positions of arguments that it may write to; reach: which
    part of each array it is about, by position. `failures`: the address of an lw_failure there."""

    gpu: Gpu
    module: Module
    written: frozenset[int]
    reach: Mapping[int, Reach]
    failures: int
    lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def may_end_early(self) -> bool:
        """Whether a call may end with an error before it has written all that it would write."""
        return any(site.kind != "device" for site in self.program.sites)

    def entry_type(self, other: Callable[..., base.Entry]) -> Callable[..., base.Entry]:
        return OffloadEntry


def on_gpu(
    host: Executable, gpu: Gpu, module: Module, written: frozenset[int], reach: Mapping[int, Reach]
) -> GpuExecutable:
    """What is needed to call a program whose two texts are loaded."""
    failures = gpu.allocate(24)
    _no_failure(gpu, failures)
    return GpuExecutable(host.program, host.library, host.entry, host.guard, gpu, module, written, reach, failures)


def _no_failure(gpu: Gpu, failures: int) -> None:
    """Nothing has failed, in the eyes of kernels that start in whatever stream."""
    gpu.upload(failures, np.array(NO_FAILURE, np.int64))
    gpu.synchronize()


def through_host(
    arguments: tuple[object, ...],
    written: Collection[int],
    run: Callable[[tuple[object, ...]], object],
    gpu: Gpu | None = None,
) -> object:
    """Run on copies in the host's memory of the arrays that are on a GPU; written ones are copied back, whatever
    happens."""
    there: list[object] = []
    for value in arguments:
        if isinstance(value, OnDevice):
            gpu = gpu or gpu_of(value.where)
            there.append(_fetched(value, gpu))
        else:
            there.append(value)
    try:
        return run(tuple(there))
    finally:
        for position, (value, copy) in enumerate(zip(arguments, there, strict=True)):
            if isinstance(value, OnDevice) and isinstance(copy, np.ndarray) and position in written:
                _return(copy, value, gpu)


def _fetched(value: OnDevice, gpu: Gpu | None) -> Array:
    if gpu is None or not dense(value):
        raise DeviceError(
            "this call runs on the CPU, which cannot reach an array with gaps between its elements in a GPU's memory"
        )
    gpu.synchronize()
    flat = np.empty(value.size, value.dtype)
    if flat.nbytes:
        gpu.download(flat, value.ctypes.data)
    return np.ndarray(value.shape, value.dtype, flat, strides=value.strides)


def _return(copy: Array, value: OnDevice, gpu: Gpu | None) -> None:
    if gpu is not None and copy.nbytes:
        gpu.upload(value.ctypes.data, copy.reshape(-1, order="A"))
        gpu.synchronize()  # whoever owns the array may look at it in another stream


class OffloadEntry(by_ctypes.Entry):
    """See devices.base.Entry. Calls of one program run one after the other: they share what its kernels report to."""

    FUNCTION: ClassVar[Any] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(GpuCall))  # releases the GIL

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...] | None = None) -> object:
        originals = arguments if originals is None else originals
        fresh = tuple(self._fresh(arguments)) if self._fresh is not None else ()
        with self.payload.lock:
            return self._run(arguments, fresh, originals)

    def _run(self, arguments: tuple[object, ...], fresh: tuple[object, ...], originals: tuple[object, ...]) -> object:
        executable: GpuExecutable = self.payload
        call = _Prepared((*arguments, *fresh), len(self._values), self.threads, executable)
        if self._guard is not None and not self._guard(ctypes.byref(call.call)):
            return self._left_to_others(arguments, originals)
        started = time.perf_counter_ns()
        placed: list[Placed] = []
        parts = self._parts((*arguments, *fresh), len(arguments))
        try:
            streams = self._place((*arguments, *fresh), parts, placed, call)
            stream = max(streams, default=0)
            if len(streams) > 1:
                executable.gpu.synchronize()  # a kernel is in order with one stream only
            fault = executable.module.started(stream)
            failed = 1 if fault is not None else self._entry(ctypes.byref(call.call))
            waits = failed or self._values or len(streams) > 1 or any(one.owned for one in placed)
            if waits or executable.program.device is None or executable.program.device.checks:
                self.fail(failed, call, executable, fault)
            self._bring_back(placed, parts)
        except BoundsLeft as left:
            self._bring_back(placed, parts)
            raise left.error from None
        finally:
            give_back(placed, executable.gpu)
        self.record(time.perf_counter_ns() - started)
        return self.result(originals, fresh, call.returned)

    def _parts(self, everything: tuple[object, ...], count: int) -> dict[int, Part]:
        """Which part of each array the call is about, by position. Results follow `count` arguments."""
        executable: GpuExecutable = self.payload
        values, all_of_it = values_of(everything), executable.may_end_early
        return {
            position: part_of(
                value,
                executable.reach.get(position),
                values,
                position in executable.written or position >= count,
                all_of_it,
            )
            for position, value in enumerate(everything)
            if isinstance(value, np.ndarray)
        }

    def _bring_back(self, placed: Sequence[Placed], parts: Mapping[int, Part]) -> None:
        gpu = self.payload.gpu
        for one, part in zip(placed, parts.values(), strict=True):
            if one.owned and part.written is not None:
                bring_back(one, part.written, gpu)

    @property
    def returns_something(self) -> bool:
        """Whether the result of a call has to be waited for."""
        return bool(self._values)

    def again(self, arguments: tuple[object, ...]) -> Again | None:
        """What repeats a call with just these arrays, all of them on the GPU, at little cost. None where a call has
        to make arrays, or where kernels may find an index outside of one."""
        executable: GpuExecutable = self.payload
        device = executable.program.device
        only_scalars = all(code >= base.PYTHON_SCALAR for code, _ in self._values)
        if self._fresh is not None or not only_scalars or device is None or device.checks:
            return None
        call = _Prepared(arguments, len(self._values), self.threads, executable)
        if not all(is_on_device(one) for one in arguments if isinstance(one, np.ndarray)):
            return None
        streams = self._place(arguments, self._parts(arguments, len(arguments)), [], call)
        if len(streams) > 1:
            return None
        return Again(self, self._entry, self._guard, executable, call, max(streams, default=0), arguments)

    def _place(
        self, everything: tuple[object, ...], parts: Mapping[int, Part], placed: list[Placed], call: _Prepared
    ) -> set[int]:
        """Put every array where kernels find it; the streams that arrays are written and read in, 0 for the GPU's own:
        there are all copies, and all arrays that nobody else works with."""
        streams: set[int] = set()
        for position, part in parts.items():
            value = everything[position]
            assert isinstance(value, np.ndarray)
            placed.append(place(value, self.payload.gpu, part))
            call.put(position, placed[-1])
            streams.add(value.stream if isinstance(value, OnDevice) else 0)
        return streams

    def _left_to_others(self, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
        """The guard is false: an error that is certain, or a run on the CPU with every access checked."""
        if not any(map(is_on_device, arguments)):
            return self._guard_failed(arguments, originals)
        executable: GpuExecutable = self.payload
        return through_host(
            arguments, executable.written, lambda there: self._guard_failed(there, originals), executable.gpu
        )

    def fail(self, failed: int, call: _Prepared, executable: GpuExecutable, fault: Exception | None) -> None:
        """Raise what went wrong, on the host or in a kernel: first what makes all else meaningless."""
        fault = fault or executable.module.fault()
        if fault is not None:
            with suppress(DeviceError):  # where later calls are possible, a failure beside the fault is not theirs
                _no_failure(executable.gpu, executable.failures)
            raise fault
        if failed and executable.program.sites[call.failure.site].kind == "device":
            raise DeviceError("the GPU does not do what it was asked, and does not say why")
        found = np.array(NO_FAILURE, np.int64)
        if executable.program.device is not None and executable.program.device.checks:
            executable.gpu.download(found, executable.failures)
        if found[0] >= 0:
            _no_failure(executable.gpu, executable.failures)
            raise BoundsLeft(self._fail(*(int(value) for value in found)))
        if failed:
            raise BoundsLeft(self._fail(call.failure.site, call.failure.index, call.failure.size))


NOT_DONE = object()


class Again:
    """A call that is repeated with the same arrays, and maybe other numbers. It keeps no array: whoever repeats it has
    some that lie just there."""

    def __init__(
        self,
        entry: OffloadEntry,
        function: Callable[[Any], int],
        guard: Callable[[Any], int] | None,
        executable: GpuExecutable,
        call: _Prepared,
        stream: int,
        arguments: tuple[object, ...],
    ) -> None:
        self._entry, self._function, self._guard, self._executable = entry, function, guard, executable
        self._call, self._stream = call, stream
        self._reference = ctypes.byref(call.call)
        self._numbers = [k for k, value in enumerate(arguments) if not isinstance(value, np.ndarray)]
        self._module, self._lock = executable.module, executable.lock
        self._waits = bool(entry.returns_something)

    def run(self, arguments: tuple[object, ...]) -> object:
        """Repeat the call with these arguments, whose tokens are those of the first ones; what it returns. NOT_DONE,
        and nothing done, where it has to be done the long way: the condition on the sizes does not hold, or the GPU is
        in trouble."""
        with self._lock:
            for position in self._numbers:
                fill_slot(self._call.slot(position), arguments[position])
            if self._guard is not None and self._numbers and not self._guard(self._reference):
                return NOT_DONE
            started = time.perf_counter_ns()
            if self._module.started(self._stream) is not None:
                return NOT_DONE
            self._call.failure.site = -1
            if (failed := self._function(self._reference)) or self._waits:
                try:
                    self._entry.fail(failed, self._call, self._executable, None)
                except BoundsLeft as left:
                    raise left.error from None
            self._entry.record(time.perf_counter_ns() - started)
            return self._entry.result(arguments, (), self._call.returned) if self._waits else None


def give_back(placed: Sequence[Placed], gpu: Gpu) -> None:
    """Give back what was taken for arrays."""
    for one in placed:
        if one.owned:
            gpu.release(one.owned)


class BoundsLeft(Exception):
    """A check failed in the middle: what was written until then is the caller's, as on the CPU."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Prepared:
    """The struct of one call, and what it points to."""

    def __init__(self, everything: tuple[object, ...], results: int, threads: int, executable: GpuExecutable) -> None:
        count = len(everything)
        pointers = ctypes.c_void_p * max(1, count)
        self._data, self._shape, self._strides = pointers(), pointers(), pointers()
        self._scalars, self.returned = (Slot * max(1, count))(), (Slot * max(1, results))()
        self.failure, self._keep = _Failure(*NO_FAILURE), list[object]()
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
            executable.module.table,
            executable.failures,
        )

    def slot(self, position: int) -> Slot:
        """Where a number is."""
        return self._scalars[position]

    def put(self, position: int, placed: Placed) -> None:
        """An array is now where the program finds it."""
        self._data[position] = placed.address
        axes = ctypes.c_int64 * max(1, len(placed.strides))
        strides = axes(*placed.strides)
        self._keep.append(strides)
        self._strides[position] = ctypes.addressof(strides)

    def _lay(self, position: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        axes = ctypes.c_int64 * max(1, len(shape))
        sizes, steps = axes(*shape), axes(*strides)
        self._keep += [sizes, steps]
        self._shape[position], self._strides[position] = ctypes.addressof(sizes), ctypes.addressof(steps)


class _Failure(ctypes.Structure):
    """struct lw_failure of codegen/loopwright.h."""

    _fields_ = (("site", ctypes.c_int64), ("index", ctypes.c_int64), ("size", ctypes.c_int64))
