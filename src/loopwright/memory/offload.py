"""A call on a GPU: arrays of the host are moved there and back, arrays that are there already are used in place.

`OffloadEntry` is the `Entry` of such a call.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from loopwright.devices import base, by_ctypes
from loopwright.devices.base import NOT_DONE, Executable
from loopwright.devices.by_ctypes import Slot, fill_slot
from loopwright.devices.gpu import Gpu, Module
from loopwright.devices.gpus import gpu_of
from loopwright.errors import DeviceError, DeviceMemoryError, LoopwrightError
from loopwright.ir.boxes import Reach
from loopwright.ir.plan import Move
from loopwright.memory.arrays import Array
from loopwright.memory.cut_results import cuts_of, seen_box
from loopwright.memory.device_array import DeviceArray, base_of, version_of
from loopwright.memory.device_results import KeptResults, ResultKind, as_complex_there, cut
from loopwright.memory.gpu_call import (
    FAILURE_BYTES,
    BoundsLeft,
    GpuCall,
    GpuCallStruct,
    GpuExecutable,
    InParts,
    NoRoom,
    no_failure,
    parts_of,
    raise_failure,
)
from loopwright.memory.kept_orders import KeptOrders
from loopwright.memory.on_device import OnDevice, dense, is_lent, is_on_device
from loopwright.memory.overlap import extent
from loopwright.memory.placing import ArrayPart, Placed, bring_back, give_back, room_for, send, values_of
from loopwright.memory.sampled import NOT_TIMED, Sampled


def on_gpu(
    host: Executable,
    gpu: Gpu,
    module: Module,
    written: frozenset[int],
    reach: Mapping[int, Reach],
    find_parts: Callable[[], InParts | None] = lambda: None,
) -> GpuExecutable:
    """What is needed to call a program whose two texts are loaded."""
    failures = gpu.allocate(FAILURE_BYTES)
    told = module.told(failures)
    no_failure(gpu, failures, told)
    return GpuExecutable(
        host.program,
        host.library,
        host.entry,
        host.guard,
        gpu,
        module,
        written,
        reach,
        failures,
        told,
        OffloadEntry,
        KeptOrders(gpu, () if host.program.device is None else host.program.device.kept),
        find_parts,
    )


def through_host(
    arguments: tuple[object, ...],
    written: Collection[int],
    run: Callable[[tuple[object, ...]], object],
    gpu: Gpu | None = None,
) -> object:
    """Run on copies in the host's memory of the arrays that are on a GPU; written ones are copied back, whatever
    happens. Copies of an `lw.device_array` that the call does not write are kept until somebody writes it."""
    devices = [value for value in arguments if isinstance(value, OnDevice)]
    gpu = gpu or (gpu_of(devices[0].where) if devices else None)
    changing = [base for position in written if (base := base_of(arguments[position])) is not None]
    fetched = {id(one): copy for one in devices if base_of(one) not in changing and (copy := _kept(one)) is not None}
    missing = [value for value in devices if id(value) not in fetched]
    if missing:
        versions = [version_of(value) for value in missing]  # as they are before
        fetched |= _fetched(missing, gpu)
        for value, version in zip(missing, versions, strict=True):
            if (base := base_of(value)) is not None and base not in changing:
                base.keep(value, version, fetched[id(value)])
    try:
        return run(tuple(fetched.get(id(value), value) for value in arguments))
    finally:
        for position in written:
            if isinstance(there := arguments[position], OnDevice):
                _return(fetched[id(there)], there, gpu)


def copies_on_host(arguments: tuple[object, ...], read: Collection[int]) -> tuple[object, ...]:
    """The arguments of a call for somebody on the CPU who reads elements of some of them, by position, and the sizes of
    all. In place of the others in a GPU's memory stand arrays of zeros that take no memory. Raises DeviceError."""
    wanted = [value for k, value in enumerate(arguments) if isinstance(value, OnDevice) and k in read]
    copies = _fetched(wanted, gpu_of(wanted[0].where) if wanted else None) if wanted else {}
    return tuple(
        copies.get(id(value), np.broadcast_to(np.zeros((), value.dtype), value.shape))
        if isinstance(value, OnDevice)
        else value
        for value in arguments
    )


def moves_through_host(arguments: Sequence[object], names: Sequence[str], written: Collection[int]) -> Iterator[Move]:
    """What that copies."""
    for position, (value, name) in enumerate(zip(arguments, names, strict=True)):
        if isinstance(value, OnDevice):
            box = tuple(map(range, value.shape))
            if position in written or _kept(value) is None:
                yield Move("in", name, box)
            if position in written:
                yield Move("out", name, box)


def _kept(value: OnDevice) -> Array | None:
    base = base_of(value)
    return None if base is None else base.kept(value)


def _fetched(values: Sequence[OnDevice], gpu: Gpu | None) -> dict[int, Array]:
    """Copies, by the id of the array. Arrays that share memory on the GPU do so here."""
    if gpu is None or not all(map(dense, values)):
        raise DeviceError(
            "this call runs on the CPU, which cannot reach an array with gaps between its elements in a GPU's memory"
        )
    gpu.synchronize()
    stretches: list[tuple[int, int]] = []
    for low, high in sorted(map(extent, values)):
        if stretches and low < stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(high, stretches[-1][1])
        else:
            stretches.append((low, high))
    copies: dict[int, Array] = {}
    for start, end in stretches:
        stretch = np.empty(end - start, np.uint8)
        if stretch.nbytes:
            gpu.download(stretch, start)
        for value in values:
            low, high = extent(value)
            if start <= low and high <= end:
                copies[id(value)] = np.ndarray(value.shape, value.dtype, stretch, low - start, value.strides)
    return copies


def _return(copy: Array, value: OnDevice, gpu: Gpu | None) -> None:
    if gpu is not None and copy.nbytes:
        gpu.upload(value.ctypes.data, copy.reshape(-1, order="A"))
        gpu.synchronize()  # whoever owns the array may look at it in another stream


class OffloadEntry(by_ctypes.Entry):
    """See devices.base.Entry. Calls of one program run one after the other: they share what its kernels report to. Only
    the handler of a signal may make one while its thread waits in another: its kernels run behind those."""

    FUNCTION: ClassVar[Any] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(GpuCall))  # releases the GIL
    sampled: Sampled | None = None  # while somebody watches
    early = 0
    """Calls that returned before their kernels had run."""
    late_in_parts_ns = 0
    """How long compilers have taken for kernels of calls in parts."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        executable: GpuExecutable = self.payload
        self._entry = executable.gpu.function(executable.entry)
        kept = self._fresh.kept if isinstance(self._fresh, KeptResults) else frozenset[int]()
        made = {number for code, number in self._values if code == base.FRESH}
        self._stay = isinstance(self._fresh, KeptResults) and made <= kept
        self._cuts = cuts_of(self._values) if self._returns == 3 else {}
        self._looks = any(code >= base.PYTHON_SCALAR for code, _ in self._values) if self._stay else bool(self._values)

    def watch(self, observer: base.Observer | None, calls: int, spent_ns: int) -> None:
        """See Entry. Of calls that return before their kernels have run, some are told, as the GPU has timed them."""
        super().watch(observer, calls, spent_ns)
        if observer is None:
            self.sampled = None
        elif self.sampled is None:
            self.sampled = Sampled(self.payload.gpu)

    def time_last(self, calls: int) -> None:
        """Time the last of so many calls from now on, together, while somebody watches."""
        if self.sampled is not None:
            self.sampled.time_last(calls)

    def failed(self, error: Exception, started_ns: int) -> None:
        """A call that began at this time has ended with an error. It ran, unless the GPU was to blame."""
        if not isinstance(error, DeviceError):
            self.count(time.perf_counter_ns() - started_ns)

    def made(self, spent_ns: int, is_over: bool, is_quiet: bool = False) -> None:
        """A call has been made. is_over: its kernels have run, too. is_quiet: nobody asks about it."""
        self.count(spent_ns)
        if is_over:
            self.note(spent_ns)
        else:
            self.early += 1
            if self.sampled is not None and not is_quiet:
                self.sampled.made(time.perf_counter_ns())

    def look_back(self, now_ns: int) -> None:
        """Note the time of earlier calls, if they have ended."""
        ended_ns = None if self.sampled is None else self.sampled.ended_ns(now_ns)
        if ended_ns is not None:
            self.note(ended_ns)

    def look_closely(self) -> None:
        """Note the time of the calls that have just been made, where that is asked for."""
        if self.sampled is not None and self.sampled.closely and (ended_ns := self.sampled.waited_ns()) is not None:
            self.note(ended_ns)

    def run(
        self,
        arguments: tuple[object, ...],
        originals: tuple[object, ...] | None = None,
        make: Callable[[OffloadCall], bool] | None = None,
    ) -> object:
        """See Entry. make: makes the call, and says whether the GPU is done with it; None: as a whole."""
        originals = arguments if originals is None else originals
        fresh = self.fresh_arrays(arguments)
        with self.payload.lock:
            result = self._run(arguments, fresh, originals, make or OffloadCall.at_once)
        self.tell()
        return result

    def _run(
        self,
        arguments: tuple[object, ...],
        fresh: tuple[object, ...],
        originals: tuple[object, ...],
        make: Callable[[OffloadCall], bool],
    ) -> object:
        executable: GpuExecutable = self.payload
        everything = (*arguments, *fresh)
        struct = GpuCallStruct(everything, len(self._values), self.threads, executable)
        if self._guard is not None and not self._guard(ctypes.byref(struct.call)):
            return self._left_to_others(arguments, originals)
        started, late_ns = time.perf_counter_ns(), self._late_ns()
        self.look_back(started)
        parts = parts_of(executable, everything, len(arguments), values_of(everything))
        try:
            is_over = make(OffloadCall(self, arguments, fresh, struct, parts))
        except NoRoom as full:
            raise full.error from None
        except LoopwrightError as error:
            self.failed(error, started)
            raise
        late_ns = self._late_ns() - late_ns  # what compilers took says nothing of other calls
        if late_ns and self.sampled is not None:
            self.sampled.forget()
        spent_ns = time.perf_counter_ns() - started - late_ns
        self.made(spent_ns, is_over)
        if not is_over:
            self.look_closely()
        return self.result(originals, fresh, struct.returned)

    def _late_ns(self) -> int:
        """How long compilers have taken so far in calls of this program."""
        return int(self.payload.module.late_ns) + self.late_in_parts_ns

    def at_once(self, made: OffloadCall) -> bool:
        """Make a call as a whole; whether the GPU is done with it. Raises NoRoom, and nothing is done, where not all
        arrays fit the GPU's memory."""
        executable: GpuExecutable = self.payload
        everything, call, parts = (*made.arguments, *made.fresh), made.struct, made.parts
        placed: list[Placed] = []
        try:
            streams = _place(everything, parts, placed, call, executable.gpu)
            stream = max(streams, default=0)
            if len(streams) > 1:
                executable.gpu.synchronize()  # a kernel is in order with one stream only
            fault = executable.module.started(stream)
            has_to = len(streams) > 1 or any(one.owned or is_lent(one.rows) for one in placed)
            has_to = has_to or executable.program.device is None
            waits = has_to or self._looks
            has_to |= waits and not executable.waits
            sampled = None if waits else self.sampled
            with (
                NOT_TIMED if sampled is None else sampled.around(stream, time.perf_counter_ns()),
                executable.orders.of_call(everything, stream),
            ):
                failed = 1 if fault is not None else self._entry(ctypes.byref(call.call))
                if has_to or failed:
                    raise_failure(failed, call, executable, fault)
            self._bring_back(made, placed)
            return waits
        except BoundsLeft as left:
            self._bring_back(made, placed)
            raise left.error from None
        finally:
            give_back(placed, executable.gpu)

    def _bring_back(self, made: OffloadCall, placed: Sequence[Placed]) -> None:
        for one, (position, part) in zip(placed, made.parts.items(), strict=True):
            self.bring_back(one, part, position - len(made.arguments), made.struct)

    def bring_back(self, placed: Placed, part: ArrayPart, result: int, call: GpuCallStruct) -> None:
        """Copy to where the caller sees it what a call has written to an array. result: which of those that the call
        made, below 0 for an argument."""
        box = part.written if placed.owned else None
        if box is not None and result in self._cuts:
            box = seen_box(box, placed, self._cuts[result], call.returned)
        if box is not None:
            bring_back(placed, box, self.payload.gpu)

    def fresh_arrays(self, arguments: tuple[object, ...]) -> tuple[Any, ...]:
        """The arrays that a call makes."""
        return tuple(self._fresh(arguments)) if self._fresh is not None else ()

    def start(self, call: Any) -> int:
        """Have the program start its kernels for a reference to an lw_call; not 0 where that failed."""
        return int(self._entry(call))

    @property
    def count_of_results(self) -> int:
        """How many values a call gives back."""
        return len(self._values)

    @property
    def returns_something(self) -> bool:
        """Whether the result of a call has to be waited for."""
        return self._looks

    def result(self, originals: Sequence[object], fresh: Sequence[object], returned: ctypes.Array[Slot]) -> object:
        """See by_ctypes.Entry. What stays on the GPU is the array that keeps its memory."""
        owners = [one.owner if isinstance(one, OnDevice) else one for one in fresh]
        return super().result(originals, owners, returned)

    def cut(self, array: Any, sizes: Sequence[Any]) -> object:
        return cut(array, sizes) if isinstance(array, DeviceArray) else super().cut(array, sizes)

    def complex_of(self, real: Any, imag: Any) -> object:
        return as_complex_there(real) if isinstance(real, DeviceArray) else super().complex_of(real, imag)

    def part(self, array: object, numbers: Sequence[Any]) -> object:
        return array.part(numbers) if isinstance(array, DeviceArray) else super().part(array, numbers)

    def again(self, arguments: tuple[object, ...]) -> Again | None:
        """What repeats a call with just these arrays, all of them on the GPU, at little cost. None where a call has
        to make arrays on the host."""
        executable: GpuExecutable = self.payload
        device = executable.program.device
        only_scalars = all(code >= base.PYTHON_SCALAR for code, _ in self._values)
        if device is None or not (self._stay or (self._fresh is None and only_scalars)):
            return None
        if not all(is_on_device(one) for one in arguments if isinstance(one, np.ndarray)):
            return None
        made = FreshAgain.of(self._fresh, arguments) if isinstance(self._fresh, KeptResults) else None
        fresh = () if made is None else made.fresh(arguments)
        if fresh is None:
            return None
        everything = (*arguments, *fresh)
        call = GpuCallStruct(everything, len(self._values), self.threads, executable)
        if self._guard is not None and not self._guard(ctypes.byref(call.call)):
            return None  # what is repeated would not test it: sizes stay the same
        parts = parts_of(executable, everything, len(arguments), values_of(everything))
        streams = _place(everything, parts, [], call, executable.gpu)
        if len(streams) > 1:
            return None
        return Again(self, self._entry, self._guard, executable, call, max(streams, default=0), arguments, made)

    def _left_to_others(self, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
        """The guard is false: an error that is certain, or a run on the CPU with every access checked."""
        if not any(map(is_on_device, arguments)):
            return self._guard_failed(arguments, originals)
        executable: GpuExecutable = self.payload
        return through_host(
            arguments, executable.written, lambda there: self._guard_failed(there, originals), executable.gpu
        )


class FreshAgain(NamedTuple):
    """Makes the arrays that a repeated call returns. stand_ins: what has the sizes of its arrays, and takes no memory;
    kinds: of what the first call returned, which is what the code of the repeated one finds."""

    made: KeptResults
    stand_ins: tuple[object, ...]
    kinds: Sequence[ResultKind]
    stream: int

    @classmethod
    def of(cls, made: KeptResults, arguments: tuple[object, ...]) -> FreshAgain:
        """Of calls with arrays like these, which are all on the GPU."""
        streams = {one.stream for one in arguments if isinstance(one, OnDevice)}
        stand_ins = tuple(
            np.broadcast_to(np.zeros((), one.dtype), one.shape) if isinstance(one, np.ndarray) else one
            for one in arguments
        )
        return cls(made, stand_ins, made.results(stand_ins), max(streams, default=0))

    def fresh(self, arguments: tuple[object, ...]) -> tuple[Any, ...] | None:
        """Arrays for one call. None where its numbers ask for other sizes."""
        kinds = self.kinds
        if any(not isinstance(one, np.ndarray) for one in self.stand_ins):
            pairs = zip(self.stand_ins, arguments, strict=True)
            given = tuple(stand_in if isinstance(stand_in, np.ndarray) else one for stand_in, one in pairs)
            kinds = self.made.results(given)
            if [shape for shape, _, _ in kinds] != [shape for shape, _, _ in self.kinds]:
                return None
        else:
            given = self.stand_ins
        return self.made.made(kinds, given, self.stream)


class OffloadCall(NamedTuple):
    """A call whose guard holds, and of which nothing is done. struct: what its program is given; parts: what of each
    array it is about, by position."""

    entry: OffloadEntry
    arguments: tuple[object, ...]
    fresh: tuple[object, ...]
    struct: GpuCallStruct
    parts: Mapping[int, ArrayPart]

    def at_once(self) -> bool:
        """See OffloadEntry."""
        return self.entry.at_once(self)


def _place(
    everything: tuple[object, ...], parts: Mapping[int, ArrayPart], placed: list[Placed], call: GpuCallStruct, gpu: Gpu
) -> set[int]:
    """Put every array where kernels find it; the streams that arrays are written and read in, 0 for the GPU's own:
    there are all copies, and all arrays that nobody else works with. Raises NoRoom before anything is copied."""
    streams: set[int] = set()
    for position, part in parts.items():
        value = everything[position]
        assert isinstance(value, np.ndarray)
        try:
            placed.append(room_for(value, part, gpu))
        except DeviceMemoryError as error:
            raise NoRoom(error) from None
        call.put(position, placed[-1])
        streams.add(value.stream if isinstance(value, OnDevice) else 0)
    for one, part in zip(placed, parts.values(), strict=True):
        if one.owned:
            send(one, part.needed, gpu)
    return streams


class Again:
    """A call that is repeated with the same arrays, and maybe other numbers. It keeps no array: whoever repeats it has
    some that lie just there."""

    def __init__(
        self,
        entry: OffloadEntry,
        function: Callable[[Any], int],
        guard: Callable[[Any], int] | None,
        executable: GpuExecutable,
        call: GpuCallStruct,
        stream: int,
        arguments: tuple[object, ...],
        made: FreshAgain | None = None,
    ) -> None:
        self._made = made
        self._entry, self._function, self._guard, self._executable = entry, function, guard, executable
        self._call, self._stream = call, stream
        self._reference = ctypes.byref(call.call)
        self._numbers = [k for k, value in enumerate(arguments) if not isinstance(value, np.ndarray)]
        self._module, self._lock = executable.module, executable.lock
        device = executable.program.device
        self._orders = executable.orders if device is not None and device.kept else None
        self._waits = bool(entry.returns_something)
        self._has_to_wait = self._waits and not executable.waits

    def run(self, arguments: tuple[object, ...]) -> object:
        """Repeat the call with these arguments, whose tokens are those of the first ones; what it returns. NOT_DONE,
        and nothing done, where it has to be done the long way: the condition on the sizes does not hold, or the GPU is
        in trouble."""
        with self._lock:
            for position in self._numbers:
                fill_slot(self._call.slot(position), arguments[position])
            if self._guard is not None and self._numbers and not self._guard(self._reference):
                return NOT_DONE
            fresh = () if self._made is None else self._made.fresh(arguments)
            if fresh is None:
                return NOT_DONE
            for k, one in enumerate(fresh):
                self._call.move(len(arguments) + k, one)
            started = time.perf_counter_ns()
            if self._module.started(self._stream) is not None:
                return NOT_DONE
            self._call.failure.site = -1
            late_ns = self._module.late_ns
            sampled = self._entry.sampled
            if is_quiet := sampled is not None and not self._waits and started < sampled.quiet_ns:
                sampled = None
            if self._orders is None:
                self._make(started, sampled)
            else:
                with self._orders.of_call(arguments, self._stream):
                    self._make(started, sampled)
            late_ns = self._module.late_ns - late_ns
            if late_ns and sampled is not None:
                sampled.forget()
            spent_ns = time.perf_counter_ns() - started - late_ns
            self._entry.made(spent_ns, self._waits, is_quiet)
            if sampled is not None and not self._waits:
                self._entry.look_closely()
            returns = self._waits or fresh
            result = self._entry.result(arguments, fresh, self._call.returned) if returns else None
        if sampled is not None:  # somebody watches
            self._entry.tell()
        return result

    def _make(self, now_ns: int, sampled: Sampled | None) -> None:
        if (failed := self._started(now_ns, sampled)) or self._has_to_wait:
            try:
                raise_failure(failed, self._call, self._executable, None)
            except BoundsLeft as left:
                self._entry.failed(left.error, now_ns)
                raise left.error from None
            except LoopwrightError as error:
                self._entry.failed(error, now_ns)
                raise

    def _started(self, now_ns: int, sampled: Sampled | None) -> int:
        if sampled is None or self._waits:
            return self._function(self._reference)
        self._entry.look_back(now_ns)
        with sampled.around(self._stream, now_ns):
            return self._function(self._reference)
