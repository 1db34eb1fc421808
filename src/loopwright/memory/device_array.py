"""`lw.device_array`: an array that stays in a GPU's memory between calls."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np

from loopwright.config import current
from loopwright.deferred import deferred
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.ir.signature import part_of
from loopwright.ir.types import from_dtype
from loopwright.ir.variant import is_gpu
from loopwright.memory.arrays import Array, as_numpy, refusal
from loopwright.memory.on_device import OnDevice, Where, on_device
from loopwright.memory.overlap import extent
from loopwright.memory.records import alignment_of

if TYPE_CHECKING:
    from loopwright.devices import gpus
    from loopwright.devices.gpu import Gpu
else:
    gpus = deferred("loopwright.devices.gpus")


Version = int | Literal["unknown"]
"""Of the elements of an array: a number that is another one, never to come again, whenever they may have been written
since; or that nobody knows, since others may write them without a word."""

_WRITES = itertools.count(1)  # `next` of it is one step for threads
_HAVE_MORE: weakref.WeakSet[DeviceArray] = weakref.WeakSet()
"""Arrays with something beside them."""
_NONE_KEPT: tuple[Version, Array | None] = (0, None)


def version_of(array: object) -> Version:
    """Of anything that kernels take as an array. Unknown but for an `lw.device_array` that no other library has seen:
    any code may write to a NumPy array, or to those of other libraries."""
    base = base_of(array)
    return "unknown" if base is None else base.version


def base_of(array: object) -> DeviceArray | None:
    """Whose memory it is: of a view, or an argument that stands for it."""
    array = array.owner if isinstance(array, OnDevice) else array
    return array if isinstance(array, DeviceArray) else None


def note_writes(arrays: Sequence[DeviceArray]) -> None:
    """They may be written from now on, or may have been until now. Whoever writes says so before and after: so what
    another thread finds meanwhile is about a version that is gone in the end, and a signal cannot hide a write."""
    for array in arrays:
        root = array.root
        root._version, root._kept = next(_WRITES), _NONE_KEPT


def device_array(source: Any) -> DeviceArray:
    """Copy an array to the GPU and keep it there: kernels called with it use it in place, and run on that GPU.

    source: anything with elements that kernels know (shape and dtype stay; the layout is C). The GPU is the first one,
    the one that `lw.options(device="cuda:1")` names, or the emulated one under `lw.options(device="emulated")`. Raises
    DeviceError where there is no such GPU, DeviceMemoryError where it has no room, ArgumentTypeError for another kind
    of array.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> with lw.options(device="emulated"):  # on a machine with a GPU this line is not needed
        ...     a = lw.device_array(np.arange(3.0))
        >>> a.copy_from(np.ones(3))
        >>> a.numpy(), a.shape, a.dtype
        (array([1., 1., 1.]), (3,), dtype('float64'))
    """
    device = current().device
    where: Where = device if is_gpu(device) else "cuda"
    gpu = gpus.gpu_of(where)
    if gpu is None:
        remedy = "lw.options(device='emulated') does on the CPU what a GPU would do, slowly"
        raise DeviceError(f"{gpus.why_no_gpu(where)}\n  try: {remedy}")
    array = as_numpy(np.asarray(source), "source")
    if array.dtype.names is None and from_dtype(array.dtype) is None:
        raise refusal("source", f"dtype {array.dtype} is not supported", "")
    return DeviceArray(array, gpu, where)


class Beside(Protocol):
    """What is kept beside an array, and may be newer (memory/planes.py)."""

    def settle(self, array: DeviceArray) -> None:
        """Write back to the array what is newer here."""

    def forget(self) -> None:
        """Nothing here counts any more."""


class DeviceArray:
    """An array in a GPU's memory. Kernels use it in place; `numpy()` copies it to the host, `copy_from` the other way.

    shape, dtype: as of a NumPy array; its layout is C. token: what tells it from others. beside: None where there is
    nothing. Made by `lw.device_array`."""

    beside: Beside | None = None
    may_be_turned = False
    """Whether another layout could be kept beside it."""
    account: Any = None
    """Whoever decides about that keeps here what he knows of the array."""
    touched = False
    """Whether somebody has used its memory since that was set back."""
    stream = 0
    """The stream of the driver in which its elements are written, 0 for the GPU's own."""
    _is_shown = False
    _thread = 0
    _is_shared = False
    _version: Version
    _kept: tuple[Version, Array | None]
    _strides: tuple[int, ...] | None = None
    """Its strides in bytes; None for C layout."""

    def __init__(self, source: Array, gpu: Gpu, where: Where) -> None:
        self._describe(source.shape, source.dtype, gpu, where)
        self._take(_allocated(gpu, max(source.nbytes, 1)))
        self.copy_from(source)
        self.may_be_turned = _may_be_turned(source)
        self._thread = 0  # who makes it may be another one than who works with it

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: np.dtype[Any], gpu: Gpu, where: Where, stream: int) -> DeviceArray:
        """A new one whose elements are anything, for what runs in a stream of the driver. Raises DeviceMemoryError."""
        one = cls.__new__(cls)
        one._describe(shape, np.dtype(dtype), gpu, where)
        one._take(_allocated(gpu, max(one.nbytes, 1), stream), stream)
        note_writes((one,))
        return one

    def _describe(self, shape: tuple[int, ...], dtype: np.dtype[Any], gpu: Gpu, where: Where) -> None:
        self.shape, self.dtype, self.where, self._gpu = shape, dtype, where, gpu
        self.nbytes = dtype.itemsize * prod(shape)

    def _take(self, address: int, stream: int = 0) -> None:
        """This memory is its own."""
        self._address, self.stream = address, stream
        self.token: tuple[object, ...] = ("device_array", address, self.shape, self.dtype, stream)
        self._finalizer = weakref.finalize(self, _release, self._gpu, address, stream)

    @property
    def root(self) -> DeviceArray:
        """Whose memory it is: its own, or that of the array that it is a part of."""
        return self

    def _show(self) -> None:
        """Another library will use its memory, in streams that nobody here knows."""
        self.used()
        self._gpu.synchronize()  # not all of them look at who wrote last
        if not self._is_shown:
            self._is_shown = True
            self._finalizer.detach()
            self._finalizer = weakref.finalize(self, _release, self._gpu, self._address, self.stream, True)

    def put_beside(self, what: Beside) -> None:
        """Keep something there, until memory is short."""
        self.beside = what
        _HAVE_MORE.add(self)

    def used(self) -> None:
        """Its memory is about to be used, in this thread: what is newer beside it is written back."""
        self.in_this_thread()
        self.touched = True
        if self.beside is not None:
            self.beside.settle(self)

    def in_this_thread(self) -> None:
        """It is used, or what is beside it."""
        here = threading.get_ident()
        if here != self._thread:
            self._is_shared = self._is_shared or self._thread != 0
            self._thread = here

    @property
    def gpu(self) -> Gpu:
        """Where it is."""
        return self._gpu

    @property
    def is_seen(self) -> bool:
        """Whether another library was shown its memory, or several threads use it."""
        return self._is_shown or self._is_shared or self._thread not in (0, threading.get_ident())

    @property
    def version(self) -> Version:
        """A number that changes with each call and each `copy_from` that may have written to it, even one that failed;
        "unknown" for good once another library was shown its memory."""
        return "unknown" if self._is_shown else self._version

    def kept(self, view: OnDevice) -> Array | None:
        """The elements on the host, if a copy of just this view was kept and is not out of date. Not to be written."""
        version, array = self._kept
        if array is None or version != self.version or not self._is_all(view):
            return None
        return array

    def keep(self, view: OnDevice, version: Version, array: Array) -> None:
        """Keep a copy of this view until the next write, which was begun when the version was this one."""
        if version != "unknown" and self._is_all(view):
            self._kept = version, array

    def _is_all(self, view: OnDevice) -> bool:
        same = (view.ctypes.data, view.shape, view.dtype) == (self._address, self.shape, self.dtype)
        return same and view.flags.c_contiguous

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        return f"<lw.device_array {self.shape} of {self.dtype} on {self._gpu.name}>"

    def copy_from(self, source: Any) -> None:
        """Copy the elements of a NumPy array of this shape and dtype to the GPU. Raises ValueError for another one."""
        array = self._fitting(source)
        self.in_this_thread()
        note_writes([self])
        if self.beside is not None:
            self.beside.forget()
        try:
            if array.nbytes:
                self._settled()
                self._gpu.upload(self._address, np.ascontiguousarray(array).reshape(-1))
                self._settled()
        finally:
            note_writes([self])

    def _fitting(self, source: Any) -> Array:
        """A NumPy array of this shape and dtype. Raises ValueError for another one."""
        array = np.asarray(source)
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(f"{array.shape} of {array.dtype} does not fit {self.shape} of {self.dtype}")
        return array

    def _settled(self) -> None:
        """What another stream does to it is over, or what our own has done."""
        if self.stream:
            self._gpu.synchronize()

    def numpy(self) -> Array:
        """A copy of the elements in a new NumPy array. It waits for kernels that were called before."""
        array = np.empty(self.shape, self.dtype)
        self.used()
        if array.nbytes:
            self._gpu.synchronize()
            self._gpu.download(array.reshape(-1), self._address)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array in a GPU's memory cannot be seen by NumPy without a copy")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def argument(self) -> Array:
        """What kernels are given."""
        self.used()
        found = on_device(self._address, self.shape, self.dtype, self._strides, self.where, self.root)
        found.stream = self.stream
        return found

    def part(self, numbers: Sequence[Any]) -> DeviceArray:
        """A part of it that a call returns; numbers as `ir.signature.part_of` takes them."""
        if not self.nbytes:
            axes = numbers[len(self.shape) :: len(self.shape) + 1]
            return DeviceView(self, tuple(map(int, axes)), self.dtype, None)
        found = part_of(np.asarray(self.argument()), numbers)
        assert isinstance(found, np.ndarray)
        return DeviceView(self.root, found.shape, self.dtype, found.strides, found.ctypes.data)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        if not self.where.startswith("cuda"):
            raise AttributeError("other libraries reach nothing but memory of CUDA's GPUs in this way")
        self.root._show()
        told = {"version": 3, "data": (self._address, False), "shape": self.shape, "typestr": self.dtype.str,
                "strides": self._strides, "stream": None}  # fmt: skip
        return told if self.dtype.names is None else {**told, "descr": self.dtype.descr}


def _release(gpu: Gpu, address: int, stream: int, is_shown: bool = False) -> None:
    """Give memory back, after those who were shown it are done."""
    if is_shown:
        with suppress(DeviceError):
            gpu.synchronize()
    if stream:
        gpu.release(address, stream)
    else:
        gpu.release(address)


def _allocated(gpu: Gpu, size_bytes: int, stream: int = 0) -> int:
    """Memory for an array, if need be by giving back what is kept beside others. Raises DeviceMemoryError."""
    try:
        return gpu.allocate(size_bytes, 0, stream) if stream else gpu.allocate(size_bytes)
    except DeviceMemoryError:
        here = threading.get_ident()
        others = [one for one in list(_HAVE_MORE) if one._gpu is gpu and one._thread == here]
        if not gc.collect() and not others:  # errors keep what was theirs until then
            raise
    for one in others:
        one.used()
        one.beside = None
        _HAVE_MORE.discard(one)
    gpu.synchronize()
    return gpu.allocate(size_bytes, 0, stream) if stream else gpu.allocate(size_bytes)


def _may_be_turned(array: Array) -> bool:
    names = array.dtype.names
    if names is None:
        return array.ndim == 2 and min(array.shape) > 1
    is_named = all(one.isidentifier() and one[0] != "_" for one in names)
    return array.ndim > 0 and array.size > 0 and is_named and alignment_of(array.dtype) > 0


class DevicePart(DeviceArray):
    """A part of an array's memory, or memory beside it, with strides of its own, in bytes: for kernels alone."""

    _strides: tuple[int, ...]

    @classmethod
    def made(cls, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...], beside: DeviceArray) -> Self:
        """New memory of the same GPU, whose elements are anything. Raises DeviceMemoryError."""
        one = cls._new(shape, dtype, strides, beside)
        one._take(beside._gpu.allocate(max(one.nbytes, 1)))
        one.token = ("part", one._address, shape, dtype, strides)
        return one

    @classmethod
    def of(
        cls, array: DeviceArray, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...], offset: int = 0
    ) -> Self:
        """Elements of this array, the first one so many bytes behind its beginning. It does not keep the memory."""
        one = cls._new(shape, dtype, strides, array)
        one._address = array._address + offset
        one.token = ("part", one._address, shape, dtype, strides)
        return one

    def begins_behind(self, other: DevicePart, distance: int) -> bool:
        """Whether it begins so many bytes behind the beginning of another one."""
        return self._address - other._address == distance

    @classmethod
    def _new(cls, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...], like: DeviceArray) -> Self:
        one = cls.__new__(cls)
        one._describe(shape, dtype, like._gpu, like.where)
        one._strides = strides
        note_writes((one,))
        return one

    def argument(self) -> OnDevice:
        return on_device(self._address, self.shape, self.dtype, self._strides, self.where, self)


class DeviceView(DeviceArray):
    """A part of an array that a call has returned, over the same memory. steps: strides in bytes, None for C layout;
    address: of its first element, None for that of the array."""

    def __init__(
        self,
        array: DeviceArray,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        steps: tuple[int, ...] | None,
        address: int | None = None,
    ) -> None:
        self._root = array.root
        self._describe(shape, dtype, self._root._gpu, self._root.where)
        self._address = self._root._address if address is None else address
        self._strides, self.stream = steps, self._root.stream
        self.token = ("view", self._address, shape, dtype, steps, self.stream)

    @property
    def root(self) -> DeviceArray:
        return self._root

    @property
    def version(self) -> Version:
        return self._root.version

    @property
    def is_seen(self) -> bool:
        return self._root.is_seen

    def used(self) -> None:
        self._root.used()

    def numpy(self) -> Array:
        _, _, elements = self._stretch()
        return elements.copy()

    def copy_from(self, source: Any) -> None:
        array = self._fitting(source)
        note_writes([self])
        try:
            low, stretch, elements = self._stretch()
            elements[...] = array
            if array.nbytes:
                self._gpu.upload(low, stretch)
                self._settled()
        finally:
            note_writes([self])

    def _stretch(self) -> tuple[int, Array, Array]:
        """The address of its first byte, a copy of the memory from there to its last one, and its elements in that."""
        low, high = extent(self.argument())
        stretch = np.empty(high - low, np.uint8)
        if self.nbytes:
            self._gpu.synchronize()
            self._gpu.download(stretch, low)
        return low, stretch, np.ndarray(self.shape, self.dtype, stretch, self._address - low, self._strides)
