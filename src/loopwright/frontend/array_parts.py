"""Subscripts of arrays with slices, masks and arrays of indices: what they read, and assignments through them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import assign_elements, materialised, require_same
from loopwright.frontend.selection import assign_gathered, assign_where, chosen_by_mask, gathered, nonzero
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    SliceIndex,
    Value,
    View,
)
from loopwright.frontend.views import as_view, element_at, expanded, in_range, is_array, is_plain, sliced, steady


def part_of(cx: Context, base: ArrayLike, indices: Sequence[Value], nodes: Sequence[ast.expr], node: ast.expr) -> Value:
    """`base[indices]`: an element, a view, or what masks and arrays of indices choose."""
    indices = _with_arrays(cx, indices, node)
    if isinstance(base, Elementwise) and len(indices) == len(base.shape) and is_plain(list(indices)):
        index = [as_index(cx, one, place) for one, place in zip(indices, nodes, strict=True)]
        return base.at(cx, [in_range(cx, one, size, node) for one, size in zip(index, base.shape, strict=True)])
    if isinstance(base, Elementwise):
        base = materialised(cx, base, node)
    base = steady(cx, base, node)
    whole = as_view(base) if isinstance(base, Array) else base
    assert isinstance(whole, View)
    if _is_mask(indices):
        mask = indices[0]
        assert isinstance(mask, ArrayLike)
        if len(indices) == 1 and len(mask.shape) <= len(whole.shape):
            return chosen_by_mask(cx, whole, mask, node)
    plain, tables = _split(cx, whole, indices, nodes, node)
    if any(table is not None for table in tables):
        return gathered(cx, plain, tables, node)
    return plain if plain.shape else element_at(cx, plain, [], node)


def assign_part(
    cx: Context, base: ArrayLike, indices: Sequence[Value], nodes: Sequence[ast.expr], value: Value,
    target: ast.expr, value_node: ast.AST,
) -> None:  # fmt: skip
    """`base[indices] = value` where not every axis has a number as its index."""
    indices = _with_arrays(cx, indices, target)
    value = as_array(cx, value, value_node, "an assignment") if isinstance(value, Items | ListValue) else value
    if isinstance(base, Elementwise):
        raise cx.error(target, "the result of an expression cannot be assigned to")
    base = steady(cx, base, target)
    whole = as_view(base) if isinstance(base, Array) else base
    assert isinstance(whole, View)
    if _is_mask(indices) and len(indices) == 1:
        mask = indices[0]
        assert isinstance(mask, ArrayLike)
        assign_where(cx, whole, mask, value, target, value_node)
        return
    plain, tables = _split(cx, whole, indices, nodes, target)
    if any(table is not None for table in tables):
        assign_gathered(cx, plain, tables, value, target, value_node)
    else:
        assign_elements(cx, plain, value, target, value_node)


def _with_arrays(cx: Context, indices: Sequence[Value], node: ast.AST) -> list[Value]:
    return [
        as_array(cx, index, node, "an index") if isinstance(index, Items | ListValue) else index for index in indices
    ]


def _is_mask(indices: Sequence[Value]) -> bool:
    first = indices[0]
    return is_array(first) and isinstance(first, ArrayLike) and first.element.kind == "bool"


def _split(
    cx: Context, whole: View, indices: Sequence[Value], nodes: Sequence[ast.expr], node: ast.expr
) -> tuple[View, list[Value | None]]:
    """The view that numbers, slices and None choose; and for each axis that it has, the table that chooses along it.
    With a table, numbers are tables of their own."""
    whole_indices = expanded(cx, len(whole.shape), indices, node)
    has_table = any(is_array(index) for index in whole_indices)
    if not has_table:
        plain = sliced(cx, whole, whole_indices, nodes, node)
        return plain, [None] * len(plain.shape)
    kept: list[Value] = []
    tables: list[Value | None] = []
    axis = 0  # of the whole array
    for index in whole_indices:
        if is_array(index) and isinstance(index, ArrayLike) and index.element.kind == "bool":
            if len(index.shape) > 1:
                raise cx.error(node, "a mask of several axes beside other indices is outside the language",
                               remedy="write the indices that np.nonzero(mask) gives in its place")  # fmt: skip
            require_same(cx, whole.shape[axis], index.shape[0], node, is_mask=True)
            index = nonzero(cx, index, node).items[0]
        axis += not (isinstance(index, Fixed) and index.value is None)
        if isinstance(index, SliceIndex) or (isinstance(index, Fixed) and index.value is None):
            kept.append(index)
            tables.append(None)
        else:
            assert isinstance(index, Literal | Number) or is_array(index)
            kept.append(SliceIndex(None, None, None))
            tables.append(index)
    return sliced(cx, whole, kept, nodes, node), tables
