"""`Planes`: what is kept beside an `lw.device_array` of records: planes of its fields, one for each, in the same GPU's
memory; or beside one of plain elements with two axes, the same with its axes turned. Kernels that use few fields of
each record run on these. Whoever looks at the array itself finds it up to date: what is newer in planes is written back
first.

It owns what is where, and what of it holds; when to convert is for `choice/array_layouts.py` to say. Versions of the
array (memory/device_array.py) tell whether a plane is out of date: nobody writes to the array without a new one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from loopwright.errors import DeviceMemoryError
from loopwright.forks import free_in_child
from loopwright.ir.types import from_dtype
from loopwright.memory.device_array import DeviceArray, DevicePart, note_writes

WHOLE = ""
"""The only field of an array of plain elements."""
WIDE = 8
"""A field with more elements in each record than this is turned by itself."""
NEIGHBOURS = 4
"""So many fields of one type that are neighbours are turned together, beside others."""
LARGE = 64
"""Records of so many bytes, of elements of 8, are turned in tiles."""
ALIGNED = 256
"""Bytes that each plane begins at multiples of."""
TOGETHER = 12
"""So many elements of a record are converted by one call at most."""
ROOM = 3
"""So many times the memory of planes has to be free before the first ones of a kind are made."""

Convert = Callable[[tuple[DeviceArray, ...], tuple[DeviceArray, ...]], object]
"""Copies each of several arrays to the one in the same place, which is of the same shape and has other strides: a
kernel."""

Pair = tuple[DeviceArray, DeviceArray]
Sides = tuple[tuple[DeviceArray, ...], tuple[DeviceArray, ...]]


class Planes:
    """Those of one array, used by one thread. ahead: the fields that are newer there than in the array."""

    def __init__(self, array: DeviceArray, convert: Convert) -> None:
        self._convert = convert
        self._fields = _fields_of(array.dtype, array.shape)
        self._planes: dict[str, DevicePart] = {}
        self._blocks: list[DevicePart] = []
        self._copies: dict[tuple[tuple[str, ...], bool], list[Sides]] = {}
        self._views: dict[tuple[str, ...], Any] = {}
        self._version = array.version
        self._valid: set[str] = set()
        self.ahead: set[str] = set()
        self.lock = free_in_child(threading.RLock())
        """Held while a call that uses planes is started."""
        self.filled = self.written_back = 0
        """How often that was done so far."""

    def missing(self, array: DeviceArray, fields: Collection[str]) -> tuple[str, ...]:
        """Those of these fields whose planes have to be filled before they are used."""
        if self._version != array.version and not self.ahead:
            self._valid.clear()
        return tuple(one for one in fields if one not in self._valid)

    def bring(self, array: DeviceArray, fields: Collection[str]) -> None:
        """Have planes of these fields that hold what the array does. Raises DeviceMemoryError where there is no room
        for them."""
        array.in_this_thread()
        with self.lock:
            if missing := self.missing(array, fields):
                self._make(array, [name for name in missing if name not in self._planes])
                version = array.version
                self._copy(array, missing, back=False)
                self._version = version
                self._valid |= set(missing)

    def written(self, array: DeviceArray, fields: Collection[str]) -> None:
        """These may be written from now on, in their planes."""
        if not fields:
            return
        with self.lock:
            note_writes((array,))
            self._version = array.version
            self.ahead |= set(fields)

    def settle(self, array: DeviceArray) -> None:
        """Write back what is newer here."""
        if not self.ahead:
            return
        with self.lock:
            if self.ahead:
                self._copy(array, tuple(sorted(self.ahead)), back=True)
                self.ahead.clear()

    def forget(self) -> None:
        """Nothing that is here counts any more: all of the array is written anew, or is newer."""
        with self.lock:
            self.ahead.clear()
            self._valid.clear()

    def forget_fields(self, fields: Collection[str]) -> None:
        """The planes of these have to be filled again."""
        self._valid -= set(fields) - self.ahead

    def view(self, array: DeviceArray, fields: tuple[str, ...]) -> Any:
        """The argument in the place of the array, for a kernel that uses these fields; `bring` them first."""
        if fields == (WHOLE,):
            return self._planes[WHOLE]
        found = self._views.get(fields)
        if found is None:
            kind = _class_of(array.dtype, fields, len(array.shape))
            found = self._views[fields] = kind({name: self._planes[name] for name in fields}, array.shape)
        return found

    def look_for_room(self, array: DeviceArray, fields: Collection[str]) -> None:
        """Raise DeviceMemoryError where planes of these fields would leave others little memory. It takes a while."""
        wanted = self.bytes_of([name for name in fields if name not in self._planes])
        if array.gpu.free_bytes() < ROOM * wanted:
            raise DeviceMemoryError(f"{array.gpu.name} has little room for planes")

    def bytes_of(self, fields: Collection[str]) -> int:
        """How many bytes planes of these fields have."""
        return sum(self._fields[name].nbytes for name in fields)

    def _make(self, array: DeviceArray, names: Sequence[str]) -> None:
        """Memory for planes, at equal distances for fields that are neighbours."""
        for run in self._runs(names, lambda first, second: True):
            fields = [self._fields[name] for name in run]
            pitch = fields[0].pitch
            block = DevicePart.made((pitch * len(run),), np.dtype(np.uint8), (1,), array)
            self._blocks.append(block)
            for k, (name, one) in enumerate(zip(run, fields, strict=True)):
                self._planes[name] = DevicePart.of(block, one.shape, one.dtype, one.strides, k * pitch)

    def _runs(self, names: Iterable[str], joins: Callable[[str, str], bool]) -> list[list[str]]:
        """Names of fields, in the order of the fields, those together that are neighbours of one kind."""
        found: list[list[str]] = []
        for name in sorted(names, key=lambda one: self._fields[one].offset):
            one = self._fields[name]
            if found and self._fields[found[-1][-1]].is_next(one) and joins(found[-1][-1], name):
                found[-1].append(name)
            else:
                found.append([name])
        return found

    def _copy(self, array: DeviceArray, fields: Sequence[str], back: bool) -> None:
        self.filled += not back
        self.written_back += back
        note_writes([self._planes[name] for name in fields if not back])
        sides = self._copies.get((tuple(fields), back))
        if sides is None:
            pairs = list(self._pairs(array, self._runs(fields, self._lie_together)))
            sides = [_sides(some, back) for some in _together(pairs)]
            self._copies[tuple(fields), back] = sides
        for sources, targets in sides:
            self._convert(sources, targets)
        note_writes([self._planes[name] for name in fields if not back])

    def _pairs(self, array: DeviceArray, runs: Sequence[Sequence[str]]) -> Iterator[Pair]:
        for run in runs:
            first = self._fields[run[0]]
            if len(run) >= (NEIGHBOURS if len(runs) > 1 else 2) and first.turns_well(array):
                yield first.together(array, self._planes[run[0]], len(run))
                continue
            for name in run:
                yield from self._fields[name].pairs(array, self._planes[name], len(runs) == 1)

    def _lie_together(self, first: str, second: str) -> bool:
        return self._planes[second].begins_behind(self._planes[first], self._fields[first].pitch)


class PlanesView:
    """What kernels are given: an array of records of which each field is an array of its own (frontend/structured.py).
    The class says which fields; others do not exist there."""

    dtype: np.dtype[Any]
    ndim: int
    fields_in_planes: tuple[str, ...]

    def __init__(self, planes: dict[str, DevicePart], shape: tuple[int, ...]) -> None:
        self.__dict__.update(planes)
        self.__dict__["_shape"], self.__dict__["_parts"] = shape, tuple(planes.values())

    def _leaves(self) -> tuple[DevicePart, ...]:
        """The planes, in the order of the fields. Its name is none that a field can have here."""
        leaves: tuple[DevicePart, ...] = self.__dict__["_parts"]
        return leaves

    def __len__(self) -> int:
        length: int = self.__dict__["_shape"][0]
        return length


def leaves_of(argument: object) -> tuple[object, ...]:
    """The arguments that stand for one: each plane, or itself."""
    return argument._leaves() if isinstance(argument, PlanesView) else (argument,)


@cache
def _class_of(dtype: np.dtype[Any], fields: tuple[str, ...], rank: int) -> type[PlanesView]:
    made = type("PlanesView", (PlanesView,), {"dtype": dtype, "ndim": rank, "fields_in_planes": fields})
    made.__qualname__ = f"PlanesView[{dtype}, {', '.join(fields)}, {rank}]"  # kept code is told apart by it
    return made


class _PlaneField:
    """One field. shape, strides: of its plane, as kernels see it."""

    def __init__(self, dtype: np.dtype[Any], offset: int, tail: tuple[int, ...], shape: tuple[int, ...]) -> None:
        self.dtype, self.offset, self._tail, self._records = dtype, offset, tail, shape
        self.shape = (*shape, *tail)
        self.nbytes = dtype.itemsize * int(np.prod(self.shape))
        self._turned = len(shape) == 1 and bool(tail)
        order = np.empty((*tail, *shape) if self._turned else self.shape, np.int8).strides
        order = (*order[len(tail) :], *order[: len(tail)]) if self._turned else order
        self.strides = tuple(dtype.itemsize * one for one in order)

    @property
    def pitch(self) -> int:
        """Bytes from its plane to that of its neighbour."""
        return -(-self.nbytes // ALIGNED) * ALIGNED

    def is_next(self, other: _PlaneField) -> bool:
        """Whether the other one follows in each record, and both are of one kind, without axes of their own."""
        alike = self.dtype == other.dtype and not self._tail and not other._tail
        return alike and self.offset + self.dtype.itemsize == other.offset

    def turns_well(self, array: DeviceArray) -> bool:
        """Whether tiles of several elements of each record are faster than one thread for each record: measured."""
        return self.dtype.itemsize >= 8 and array.nbytes // max(1, int(np.prod(self._records))) >= LARGE

    def together(self, array: DeviceArray, plane: DevicePart, several: int) -> Pair:
        """What is copied of so many neighbours, beginning with this one."""
        count, size = int(np.prod(self._records)), self.dtype.itemsize
        return (
            DevicePart.of(array, (count, several), self.dtype, (array.nbytes // count, size), self.offset),
            DevicePart.of(plane, (count, several), self.dtype, (size, self.pitch)),
        )

    def pairs(self, array: DeviceArray, plane: DevicePart, alone: bool) -> Iterator[Pair]:
        """What is copied, in the array and in the plane: of all records one element, or all of a wide field. alone:
        nothing else is copied."""
        count, width = int(np.prod(self._records)), int(np.prod(self._tail))
        size, record = self.dtype.itemsize, array.nbytes // max(1, count)
        near, far = (size, size * count) if self._turned else (size * width, size)
        if width > WIDE or (width > 1 and alone and self.turns_well(array)):
            yield (
                DevicePart.of(array, (count, width), self.dtype, (record, size), self.offset),
                DevicePart.of(plane, (count, width), self.dtype, (near, far)),
            )
            return
        for k in range(width):
            yield (
                DevicePart.of(array, (count,), self.dtype, (record,), self.offset + k * size),
                DevicePart.of(plane, (count,), self.dtype, (near,), k * far),
            )


@lru_cache(64)
def _fields_of(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Mapping[str, _PlaneField]:
    if dtype.names is None:
        return {WHOLE: _PlaneField(dtype, 0, shape[1:], shape[:1])}
    found: dict[str, _PlaneField] = {}
    for name in dtype.names:
        assert dtype.fields is not None
        field, offset = dtype.fields[name][:2]
        if field.base.names is None and from_dtype(field.base) is not None:
            found[name] = _PlaneField(field.base, offset, field.shape, shape)
    return found


def _sides(pairs: Sequence[Pair], back: bool) -> Sides:
    """Sources and targets."""
    inside, planes = zip(*pairs, strict=True)
    return (planes, inside) if back else (inside, planes)


def _together(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Those that one call copies: wide ones by themselves, all others so that a record is read once."""
    narrow = [pair for pair in pairs if len(pair[0].shape) == 1]
    yield from ([pair] for pair in pairs if len(pair[0].shape) == 2)
    parts = -(-len(narrow) // TOGETHER)
    for k in range(parts):
        yield narrow[k * len(narrow) // parts : (k + 1) * len(narrow) // parts]


def copied(sources, targets):  # type: ignore[no-untyped-def]
    """Convert: what kernels are made of. Of arrays with one axis, or of one with two."""
    for i in range(len(targets[0])):
        for source, target in zip(sources, targets):  # noqa: B905
            target[i] = source[i]


def turned(source, target):  # type: ignore[no-untyped-def]
    """The same of one array with two axes."""
    for i in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[i, k] = source[i, k]
