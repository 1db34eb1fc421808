"""Arrays of records as wholes: parts of them, and those that a kernel makes, which keep each field in an array of its
own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from loopwright.frontend import arrays
from loopwright.frontend.array_parts import part_of
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.elementwise import assign_elements, materialised, new_array
from loopwright.frontend.selection import nonzero
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Literal,
    Number,
    Records,
    SliceIndex,
    Value,
    View,
)
from loopwright.frontend.variables import freeze
from loopwright.frontend.views import as_view, clipped, is_array
from loopwright.ir.nodes import Const
from loopwright.ir.signature import Field
from loopwright.ir.types import from_dtype


def has_parts(indices: Sequence[Value]) -> bool:
    """Whether a subscript of records names several of them."""
    return any(isinstance(one, SliceIndex) or is_array(one) or one == Fixed(...) for one in indices)


def part_of_records(
    cx: Context, base: Records, indices: Sequence[Value], nodes: Sequence[ast.expr], node: ast.expr
) -> Records:
    """`records[indices]` for slices, masks and arrays of indices: the same part of each field."""
    kept = [_kept(cx, index, node) for index in indices]
    planes: list[Array | View] = []
    for field in base.fields:
        plane = part_of(cx, arrays.field_array(cx, base, field.name, node), kept, nodes, node)
        planes.append(_in_memory(cx, plane, node))
    tail = len(base.fields[0].tail) if base.fields else 0
    shape = planes[0].shape[: len(planes[0].shape) - tail] if planes else ()
    sizes = tuple(clipped(cx, size) for size in shape)
    is_whole, is_copy = arrays.is_complete(cx, base), any(map(is_array, indices))
    dtype = arrays.dtype_of(cx, base) if is_copy else base.dtype  # a view of an argument cannot be returned
    return Records(base.name, -1, base.fields, sizes, (), tuple(planes), is_whole, dtype)


def _kept(cx: Context, index: Value, node: ast.expr) -> Value:
    """An index that is evaluated once for all fields; a mask as the places where it holds."""
    if isinstance(index, SliceIndex):
        bounds = (index.lower, index.upper, index.step)
        return SliceIndex(*(None if one is None else freeze(cx, one, cx.at(node)) for one in bounds))
    if is_array(index) and isinstance(index, ArrayLike):
        if index.element.kind == "bool" and len(index.shape) == 1:
            return nonzero(cx, index, node).items[0]
        return _in_memory(cx, index, node)
    return freeze(cx, index, cx.at(node))


def _in_memory(cx: Context, value: Value, node: ast.expr) -> Array | View:
    found = materialised(cx, value, node) if isinstance(value, Elementwise) else value
    assert isinstance(found, Array | View)
    return found


def copied(cx: Context, records: Records, node: ast.Call) -> Records:
    """`records.copy()`."""
    planes: list[Array | View] = []
    for field in records.fields:
        of = arrays.field_array(cx, records, field.name, node)
        to = new_array(cx, of.shape, field.element, node, f"{cx.target_names.get(id(node), 'records')}.{field.name}")
        assign_elements(cx, as_view(to), of, node, node)
        planes.append(to)
    is_whole = arrays.is_complete(cx, records)
    dtype = arrays.dtype_of(cx, records)
    return Records(records.name, -1, records.fields, records.shape, (), tuple(planes), is_whole, dtype)


def assign_records(
    cx: Context, base: Records, indices: Sequence[Value], nodes: Sequence[ast.expr], value: Value,
    target: ast.expr, value_node: ast.expr,
) -> None:  # fmt: skip
    """`records[1:3] = others[:2]`: field by field. Raises KernelError where the two have other fields."""
    part = part_of_records(cx, base, indices, nodes, target)
    for to, of in arrays.fields_to_copy(cx, part, value, target):
        number = arrays.element(cx, of, cx.at(value_node)) if isinstance(of, Array) else of
        assign_elements(cx, as_view(to) if isinstance(to, Array) else to, number, target, value_node)


def new_records(
    cx: Context, dtype: np.dtype[np.void], sizes: Sequence[Literal | Number], fill: float | None, node: ast.Call
) -> Records:
    """An array of records of the kernel's own. Raises KernelError for fields of types that the language has not."""
    hint = cx.target_names.get(id(node), "records")
    fields, planes = list[Field](), list[Array | View]()
    assert dtype.names is not None and dtype.fields is not None
    for name in dtype.names:
        found = dtype.fields[name][0]
        element = from_dtype(found.base)
        if element is None:
            raise cx.error(node, f"field '{name}' is no type of the language", f"it is {found}",
                           "make an array for each field, or pass the array of records")  # fmt: skip
        constant = None if fill is None else convert(cx, Literal(fill), element, node)
        assert constant is None or isinstance(constant, Const)
        shape = (*sizes, *map(Literal, found.shape))
        planes.append(new_array(cx, shape, element, node, f"{hint}.{name}", constant))
        fields.append(Field(name, element, 0, tuple((size, 0) for size in found.shape)))
    return Records(hint, -1, tuple(fields), tuple(sizes), (), tuple(planes), is_whole=True, dtype=dtype)
