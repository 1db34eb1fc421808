"""Lists and dicts of the caller's, as the kernel sees them: packed.py has put them into arrays.

Elements of a list may be changed: what its arrays hold after the call is put back into it. It keeps its length."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from loopwright.errors import KernelError
from loopwright.frontend.capture import Source
from loopwright.frontend.context import Context
from loopwright.frontend.given_back import CHANGED, EMPTY, EMPTY_LIST
from loopwright.frontend.lists import GIVEN
from loopwright.frontend.packed import KeysAndValues, Packed
from loopwright.frontend.promote import NumberType
from loopwright.frontend.tables import given_table, new_table
from loopwright.frontend.values import Array, Items, Keyed, ListValue, RowTable, TableValue, Value
from loopwright.frontend.views import as_view, size_of
from loopwright.ir.types import INT64


def given_list(source: Source, known: Packed, parts: Sequence[Value], of_dict: bool = False) -> Value:
    """The list in these arrays; a dict's are a tuple until `with_tables`. Raises KernelError where one is changed that
    must not be."""
    arrays = [one for one in parts if isinstance(one, Array)]
    assert len(arrays) == known.arrays
    if known == EMPTY:
        return Items((), kind=Packed)
    if known == EMPTY_LIST:
        return Items((), is_list=True)
    if arrays[0].name in source.written and not known.may_change:
        what = {"keys": "dict", "arrays": "list of arrays", "letters": "text"}.get(known.holds, "bytes object")
        name = arrays[0].name.rpartition(".")[0]
        if of_dict:
            what, name = "dict", name.rpartition(".")[0]
        raise KernelError(
            f"'{name}' is a {what} of the caller, and is changed here",
            source.definition.at_name(),
            "it is copied for the call, and the caller would not see the change",
            "pass an array, or make a new one and return it",
        )
    key = (GIVEN, arrays[0].name)
    length = size_of(arrays[0].shape[0])
    if known.holds == "keys":
        pair = tuple(replace(one, weak=weak) for one, weak in zip(arrays, known.weak, strict=True))
        return Items(pair, CHANGED if known.may_change else (), kind=Packed)
    if known.holds == "letters":
        return ListValue((as_view(replace(arrays[0], weak=True)),), length, key, holds_texts=True, is_text=True)
    if known.holds in ("numbers", "tuples"):
        views = tuple(as_view(replace(one, weak=weak)) for one, weak in zip(arrays, known.weak, strict=True))
        return ListValue(views, length, key, is_tuple=known.holds == "tuples")
    numbers, starts, *sizes, items = arrays
    table = RowTable((as_view(replace(items, weak=known.weak[0])),), starts, starts, tuple(sizes), None,
                     (*key, "row"), holds_arrays=known.holds == "arrays")  # fmt: skip
    return ListValue((as_view(replace(numbers, weak=True)),), length, key, rows=table)


def with_tables(cx: Context, value: Value, node: ast.AST) -> Value:
    """An argument with the dicts in it made, and the elements of lists of the types that they get."""
    match value:
        case Items(items=(), kind=kind) if kind is Packed:
            return new_table(cx, True, node)
        case Items(items=(Array() as keys, Array() as values), names=names, kind=kind) if kind is Packed:
            return given_table(cx, keys, values, node, names == CHANGED)
        case Items(items=(ListValue() as keys, ListValue() as values), names=names, kind=kind) if kind is KeysAndValues:
            return given_table(cx, _of_all_kinds(cx, keys), _of_all_kinds(cx, values), node, names == CHANGED)
        case Items(items=items):
            return replace(value, items=tuple(with_tables(cx, item, node) for item in items))
        case Keyed(items=items):
            return replace(value, items=tuple(with_tables(cx, item, node) for item in items))
        case ListValue():
            if value.is_text:
                cx.session.meets_texts = True
                cx.session.text_names.setdefault(value.key, False)
            return _of_all_kinds(cx, value)
        case _:
            return value


_UNKNOWN = TableValue((), (), None, None, Array("", INT64, ()), (), is_dict=True)


def without_tables(value: Value) -> Value:
    """An argument as far as it is known before its dicts are made: nothing is known of what is in these."""
    match value:
        case Items(kind=kind) if kind is Packed or kind is KeysAndValues:
            return _UNKNOWN
        case Items(items=items) | Keyed(items=items):
            return replace(value, items=tuple(map(without_tables, items)))
        case _:
            return value


def _of_all_kinds(cx: Context, value: ListValue) -> ListValue:
    """A list whose elements are NumPy's numbers where the function puts some into it, else Python's if these were."""
    key, parts = (value.key, value.parts) if value.rows is None else (value.rows.key, value.rows.parts)
    found = []
    for k, part in enumerate(parts):
        own = NumberType(part.element, part.array.weak)
        kind = cx.session.types.assign((*key, k), own)
        found.append(replace(part, array=replace(part.array, weak=kind.weak)) if isinstance(kind, NumberType) else part)
    if value.rows is None:
        return replace(value, parts=tuple(found))
    return replace(value, rows=replace(value.rows, parts=tuple(found)))
