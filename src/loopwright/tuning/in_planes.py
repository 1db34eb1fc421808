"""What `choice/array_layouts.py` asks about a kernel on a GPU before its arrays are kept in planes: which fields of
each array of records it uses and writes, and how many of the bytes that its warps move for them they use. From the text
alone, of the kernel as it is run; a trial decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from math import gcd, prod
from typing import Any

import numpy as np

from loopwright.analysis.coalescing import KnownSizes, WarpAccess, warp_accesses
from loopwright.choice.array_layouts import PlaneUse
from loopwright.codegen.bound_nest import BoundNest
from loopwright.config import current
from loopwright.ir.nodes import ArrayParam, Body, Const, For, Kernel, ReturnedScalar
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.ir.walk import bodies
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.planes import WHOLE, WIDE, copied, turned
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.records import PLANES, FittedTable
from loopwright.runtime.plane_calls import PlaneCompiler
from loopwright.specialisation import Specialisation
from loopwright.steps.grids import is_bound
from loopwright.steps.schedule import print_schedule

KernelOf = Callable[[Callable[..., object], None, Mapping[str, Any]], Callable[..., object]]

SECTOR = 32
WARP = 32
SHORT, OF_SHORT = 64, 0.25
"""Rows of so few elements are shared by few threads, if at all: what is taken to be saved where each has its own."""
OF_WIDE = 0.5
"""What is taken to be saved where the threads of a warp each go through a row of their own."""


def plane_compiler(specialise: Callable[..., Specialisation], kernel_of: KernelOf) -> PlaneCompiler:
    """What the calls of a kernel ask. specialise: the kernel's; kernel_of: makes one of a function, with options."""

    def uses(args: tuple[object, ...], arrays: Mapping[int, DeviceArray]) -> tuple[PlaneUse, ...]:
        one = specialise(*args)
        if not one.takes_device_arrays:
            return ()
        return plane_uses(one, {position: array.argument() for position, array in arrays.items()})

    def why_not(args: tuple[object, ...], given: tuple[object, ...]) -> str:
        one, other = specialise(*args), specialise(*given)
        if not other.takes_device_arrays:
            return other.why_not_gpu or "the GPU would not run it"
        if not _adds_alike(one, other):
            return "sums would be added up in another order"
        return ""

    names: dict[str, tuple[str, str, str]] = {}

    def recall(args: tuple[object, ...], name: str) -> Any:
        one = specialise(*args)
        here = machine_of(one.compilation.device, current()) if current().store_path is not None else None
        if here is None or not here.fingerprint:
            return None
        names[name] = PLANES, here.fingerprint, f"{one.fingerprint} {name}"
        known = journal_of(current()).table(*names[name])
        return None if known is None else known.content

    def keep(name: str, content: Any) -> None:
        if name in names:
            journal_of(current()).put(FittedTable(*names[name], content, time.time()))

    return PlaneCompiler(uses, why_not, _Conversion(kernel_of), recall, keep)


def _adds_alike(one: Specialisation, other: Specialisation) -> bool:
    """Whether the other code adds floats up in the same order, or in the one that is written down."""
    loops = [loop for loop in one.analysed.facts.loops.values() if not all(sum_.exact for sum_ in loop.reductions)]
    if one.compilation.semantics.strict or not loops:
        return True
    ours, theirs = (print_schedule(each.analysed.recipe.schedule) for each in (one, other))
    touched = set(theirs.replace(";", " ").replace(".", " ").split())
    return ours == theirs or touched.isdisjoint(loop.name for loop in loops)


class _Conversion:
    """See memory.planes.Convert. Whatever options are in force, they are not for conversions."""

    def __init__(self, kernel_of: KernelOf) -> None:
        self._kernel_of = kernel_of

    def __call__(self, sources: tuple[DeviceArray, ...], targets: tuple[DeviceArray, ...]) -> object:
        where, is_wide = sources[0].where, len(sources[0].shape) == 2
        if is_wide:
            return _kernel(self._kernel_of, turned, where)(sources[0], targets[0])
        return _kernel(self._kernel_of, copied, where)(sources, targets)


@cache
def _kernel(kernel_of: KernelOf, function: Callable[..., object], where: str) -> Callable[..., object]:
    plain = {"layout": "off", "remap": "off", "schedule": "", "variant": "", "devices": (), "plan": "auto"}
    return kernel_of(function, None, {**plain, "device": where, "checks": "auto", "recipe": "auto", "explore": False})


def plane_uses(one: Specialisation, arrays: Mapping[int, np.ndarray]) -> tuple[PlaneUse, ...]:
    """Of those of these arguments, by position, that could be in planes. None where arrays overlap, as they lie
    elsewhere then."""
    kernel = one.kernel
    returned = kernel.returned or ()
    if kernel.overlap or kernel.packing or not all(isinstance(value, ReturnedScalar) for value in returned):
        return ()  # what is returned may be an argument, or a part of one
    accesses = list(_accesses(kernel, arrays))
    stored = arrays_stored(one.written.body)
    touched = stored | arrays_loaded(one.written.body)
    found = (_use(kernel, position, array, accesses, stored, touched) for position, array in arrays.items())
    return tuple(use for use in found if use is not None)


def _accesses(kernel: Kernel, arrays: Mapping[int, np.ndarray]) -> Iterator[WarpAccess]:
    named = {f"s{at}_{axis}": size for at, array in arrays.items() for axis, size in enumerate(array.shape)}
    sizes = KnownSizes(named, {position: array.strides for position, array in arrays.items()})
    for loop in _nests(kernel.body):
        nest = BoundNest.of(loop)
        yield from warp_accesses(kernel, nest.body, nest.size, frozenset(), frozenset(nest.local), sizes)


def _nests(body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and is_bound(stmt):
            yield stmt
            continue
        for below in bodies(stmt):
            yield from _nests(below)


def _use(
    kernel: Kernel,
    position: int,
    array: np.ndarray,
    accesses: Collection[WarpAccess],
    stored: Collection[str],
    touched: Collection[str],
) -> PlaneUse | None:
    params = {param.name: param for param in kernel.arrays if param.argument == position and param.name in touched}
    names = {param.name: _field_of(array.dtype, param) for param in params.values()}
    if not params or None in names.values():
        return None
    own = [access for access in accesses if access.node.array in params]
    fields = tuple(sorted({name for name in names.values() if name is not None}))
    written = tuple(sorted({name for param, name in names.items() if name is not None and param in stored}))
    saved = _saved(array, params, own)
    return PlaneUse(position, fields, written, saved or 0.0, saved is not None)


def _field_of(dtype: np.dtype, param: ArrayParam) -> str | None:
    """The field of the records that an array of the kernel is; None where it is a part of one."""
    if dtype.names is None:
        return WHOLE
    for name in dtype.names:
        assert dtype.fields is not None
        field, offset = dtype.fields[name][:2]
        if offset == param.offset:
            return name if field.base == param.element.dtype and name.isidentifier() else None
    return None


def _saved(array: np.ndarray, params: Mapping[str, ArrayParam], accesses: Collection[WarpAccess]) -> float | None:
    """Part of the bytes that are moved for an array as it lies; None where planes may be a loss."""
    record = array.strides[-1] if array.dtype.names is not None else array.strides[0]
    parted = [access for access in accesses if access.apart != 0]
    if any(isinstance(access.apart, str) or abs(access.apart) % record for access in parted):
        is_data = any(isinstance(access.apart, str) for access in parted)
        is_short = array.dtype.names is None and array.shape[-1] <= SHORT
        return OF_SHORT if is_short and not is_data else None  # or threads go along other axes than planes do
    used: set[int] = set()
    is_wide = False
    for access in parted:
        param = params[access.node.array]
        bytes_used, wide = _bytes_used(array, param, access)
        used |= bytes_used
        is_wide = is_wide or wide
    if not used:
        return None  # threads read the same elements
    around = SECTOR // gcd(record, SECTOR)
    sectors = len({(turn * record + byte) // SECTOR for turn in range(around) for byte in used})
    saved = 1.0 - around * len(used) / (SECTOR * sectors)
    return max(saved, OF_WIDE) if is_wide else saved


def _bytes_used(array: np.ndarray, param: ArrayParam, access: WarpAccess) -> tuple[set[int], bool]:
    """Of a record, by an access; and whether that is a whole row of many elements."""
    size, index = param.element.size_bytes, access.node.index
    if array.dtype.names is None:
        column = index[-1]
        if isinstance(column, Const):
            first = int(column.value) % array.shape[-1] * size
            return set(range(first, first + size)), False
        row = array.shape[-1] * size
        return set(range(min(row, 1 << 12))), array.shape[-1] > WIDE
    tail = [count for count, _ in param.tail]
    places = index[len(index) - len(tail) :]
    if all(isinstance(one, Const) for one in places):
        place = 0
        for one, count in zip(places, tail, strict=True):
            assert isinstance(one, Const)
            place = place * count + int(one.value) % count
        first = param.offset + place * size
        return set(range(first, first + size)), False
    return set(range(param.offset, param.offset + size * prod(tail))), prod(tail) > WIDE
