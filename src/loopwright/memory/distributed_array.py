"""`lw.distributed_array`: an array of which each device keeps the part that it works on, between calls too."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.devices.gpu import Gpu
from loopwright.ir.plan import Box
from loopwright.ir.types import from_dtype
from loopwright.memory.array_copies import HOST, ArrayCopies, make
from loopwright.memory.arrays import Array, as_numpy, refusal
from loopwright.memory.in_pieces import InPieces, KeptInPieces
from loopwright.memory.on_device import OnDevice, on_device
from loopwright.memory.placing import Placed, give_back

if TYPE_CHECKING:
    from loopwright.devices import gpus
else:
    gpus = deferred("loopwright.devices.gpus")


class DistributedArray(KeptInPieces):
    """An array of which each device keeps the part that it works on. `numpy()` copies all of it to the host,
    `copy_from` the other way; `parts()` says which device has which part. Made by `lw.distributed_array`.

    shape, dtype: as of a NumPy array; its layout is C. token: tells it from others, those that are gone too."""

    def __init__(self, source: Array) -> None:
        self._host = np.array(source, order="C")
        self.shape, self.dtype, self.nbytes = self._host.shape, self._host.dtype, self._host.nbytes
        self.copies = ArrayCopies(self._host, None)
        self.token = object()
        self._views: dict[str, OnDevice] = {}
        self._finalizer = weakref.finalize(self, _give_back, self.copies.placed)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        return f"<lw.distributed_array {self.shape} of {self.dtype} on {', '.join(self.parts()) or 'cpu'}>"

    def argument(self) -> InPieces:
        """What kernels are given."""
        found = self._host.view(InPieces)
        found.owner = self
        return found

    def on_one(self, place: str) -> OnDevice:
        """What kernels of a GPU are given that has memory for it, and all elements."""
        address, known = self.copies.placed[place].address, self._views.get(place)
        if known is None or known.stated != address:
            known = self._views[place] = on_device(address, self.shape, self.dtype, None, place, None)
            known.stated = address
        return known

    def parts(self) -> Mapping[str, Sequence[Box]]:
        """Which boxes each device has the newest elements of, by its name; several may have the same ones."""
        return {place: tuple(there.boxes) for place, there in self.copies.valid.items() if there}

    def numpy(self) -> Array:
        """A copy of the elements in a new NumPy array."""
        self.bring_to_host()
        return self._host.copy()

    def copy_from(self, source: Any) -> None:
        """Take the elements of a NumPy array of this shape and dtype; devices get theirs when they need them. Raises
        ValueError for another one."""
        array = np.asarray(source)
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(f"{array.shape} of {array.dtype} does not fit {self.shape} of {self.dtype}")
        self._host[...] = array
        self.changed_on_host()

    def bring_to_host(self) -> None:
        """The host has the newest elements from now on, as others may. Raises DeviceError where they are lost."""
        for copy in list(self.copies.wanted(HOST, self.copies.whole)):
            make(copy, self.gpus(), "down")

    def changed_on_host(self) -> None:
        """Only the host has the newest elements."""
        self.copies.wrote(HOST, self.copies.whole)

    def gpus(self) -> dict[str, Gpu]:
        """Those that have memory for it, by name."""
        found = {name: gpus.gpu_of(name) for name in self.copies.placed}
        return {name: gpu for name, gpu in found.items() if gpu is not None}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array in pieces cannot be seen by NumPy without a copy")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)


def distributed_array(source: Any) -> DistributedArray:
    """Let devices that share calls (`lw.options(devices=...)`) keep their parts of an array between calls: the part
    that a device works on stays there, and moves only when another device needs it. Kernels take it like any array;
    calls with it run one at a time, whichever threads make them.

    source: anything with elements that kernels know; shape and dtype stay, the layout is C. Nothing is copied before a
    call. Raises ArgumentTypeError for another kind of array.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def double(a):
        ...     for i in range(len(a)):
        ...         a[i] *= 2.0
        >>> a = lw.distributed_array(np.ones(8))
        >>> parts = "0:5 on emulated: recipe\\n5:8 on emulated1: recipe"
        >>> with lw.options(devices="emulated, emulated:1", plan=parts):
        ...     double(a)
        >>> {name: [str(box[0]) for box in boxes] for name, boxes in a.parts().items()}
        {'emulated': ['range(0, 5)'], 'emulated1': ['range(5, 8)']}
        >>> a.numpy()
        array([2., 2., 2., 2., 2., 2., 2., 2.])
    """
    array = as_numpy(np.asarray(source), "source")
    if array.dtype.names is None and from_dtype(array.dtype) is None:
        raise refusal("source", f"dtype {array.dtype} is not supported", "")
    return DistributedArray(array)


def _give_back(placed: dict[str, Placed]) -> None:
    for name, one in placed.items():
        gpu = gpus.gpu_of(name)
        if gpu is not None:
            give_back([one], gpu)
    placed.clear()
