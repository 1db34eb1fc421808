"""Arrays, views and records: what an index or an attribute of one means, and reading and writing an element."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loopwright.frontend.chosen_texts import may_be_long, meets_texts, number_of_text
from loopwright.frontend.complex_pairs import part_of
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert, default_type, literal, product, stored
from loopwright.frontend.promote import NumberType, common
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Character,
    Elementwise,
    Fixed,
    Items,
    Literal,
    Number,
    Records,
    Value,
    View,
    describe,
)
from loopwright.frontend.views import clipped, element_at, in_range, place_of, rows_of, shape_of
from loopwright.frontend.views import size_of as expr_of
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Binary,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Load,
    Location,
    Logical,
    Select,
    Store,
    Unary,
)
from loopwright.ir.signature import ArrayArgument, Field
from loopwright.ir.types import BOOL, INT64, Scalar

_LARGEST_TABLE = 1024
_MOST_CHOSEN = 32


def index_value(cx: Context, base: Value, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.expr) -> Value:
    """`base[indices]`: an element, a view, a field or an item. `nodes` are the indices' own places."""
    match base:
        case Array():
            return element(cx, view(cx, base, indices, nodes, at), cx.at(at))
        case Records():
            return _index_records(cx, base, indices, nodes, at)
        case Items():
            return _index_items(cx, base, indices, nodes, at)
        case Literal() | Number():
            raise cx.error(at, "a number has no elements", f"this is {describe(base)}")
        case _:
            raise cx.error(at, f"{describe(base)} cannot be indexed here")


def view(cx: Context, base: Array, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.expr) -> Array:
    """The view that some more indices leave. Raises KernelError for too many indices and for what is no index."""
    added = tuple(as_index(cx, value, node) for value, node in zip(indices, nodes, strict=True))
    if len(added) > len(base.shape):
        raise cx.error(at, f"too many indices: {len(added)} for {_axes(len(base.shape))}")
    result = replace(base, index=base.index + added)
    if cx.session.handles and added and result.shape:
        added = tuple(cx.once(one, cx.at(at)) for one in added)
        result = replace(base, index=base.index + added)
        check_range(cx, result, cx.at(at))
    return result


def check_range(cx: Context, view: Array | Records, at: Location) -> None:
    """Test the indices of a view that is made and never looked at: elsewhere reading an element tests them."""
    for index, size in zip(view.index, view.sizes, strict=False):
        index = cx.once(index, at)
        end = Const(int(size.value), INT64) if isinstance(size, Literal) else size.expr
        inside = Logical("and", Compare("ge", index, Unary("neg", end)), Compare("lt", index, end))
        cx.temporary(Checked(index, inside, "index", at=at), at)


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


def element(cx: Context, array: Array, at: Location) -> Value:
    """The element where every axis has its index, else the view itself."""
    if array.shape:
        return array
    return Number(Load(array.name, array.index, array.element, at=at), array.weak)


def refuse_read_only(cx: Context, target: Array, at: ast.AST) -> None:
    """Raise KernelError for a table made of a tuple, and for a view that NumPy lets nobody write."""
    if target.weak:
        raise cx.error(at, "a tuple cannot be written")
    if target.is_read_only:
        raise cx.error(at, "a view of this kind cannot be written",
                       "several of its elements may be one: NumPy raises ValueError",
                       "append .copy() where it is made")  # fmt: skip


def store(cx: Context, target: Array, value: Literal | Number, at: ast.AST, value_node: ast.AST) -> None:
    """Write one element; the value is converted as the options say, or as NumPy does it."""
    refuse_read_only(cx, target, at)
    converted = stored(cx, value, target.element, value_node)
    cx.emit(Store(target.name, target.index, converted, at=cx.at(at)))


# ---- records --------------------------------------------------------------------------------------------------


def _index_records(
    cx: Context, base: Records, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.expr
) -> Value:
    place = place_in_records(cx, base, indices, nodes, at)
    return element(cx, place, cx.at(at)) if isinstance(place, Array) else place


def place_in_records(
    cx: Context, base: Records, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.expr
) -> Array | View | Records:
    """`records[indices]`: a field where the index is a string, else the records or the record at these indices."""
    if len(indices) == 1 and isinstance(indices[0], Fixed) and isinstance(indices[0].value, str):
        return field_array(cx, base, indices[0].value, at)
    if len(indices) > len(base.shape):
        what = f"too many indices: {len(indices)} for {_axes(len(base.shape))}"
        raise cx.error(at, what if base.shape else "a record is indexed by the name of a field")
    added = tuple(as_index(cx, value, node) for value, node in zip(indices, nodes, strict=True))
    return replace(base, index=base.index + added)


def field_array(cx: Context, records: Records, name: str, at: ast.expr) -> Array | View:
    """`records["name"]`, as a view."""
    for field, plane in zip(records.fields, records.planes, strict=False):
        if field.name == name:
            return replace(plane, index=records.index) if isinstance(plane, Array) else _row(cx, plane, records, at)
    for field in () if records.planes else records.fields:
        if field.name == name:
            parameter = field_parameter(cx, records, field)
            tail = tuple(Literal(size) for size, _ in field.tail)
            return Array(parameter.name, field.element, (*records.sizes, *tail), records.index)
    names = ", ".join(repr(field.name) for field in records.fields)
    raise cx.error(at, f"'{records.name}' has no field {name!r} that can be used", f"there are {names or 'none'}")


def place_of_field(cx: Context, base: Value, target: ast.Attribute) -> Array | View:
    """`records.name`, to be assigned to. Raises KernelError for attributes of anything else."""
    if not isinstance(base, Records):
        raise cx.error(target, f"an attribute of {describe(base)} cannot be assigned",
                       remedy="write into the elements of an array")  # fmt: skip
    return field_array(cx, base, target.attr, target)


def _row(cx: Context, plane: View, records: Records, at: ast.expr) -> Array | View:
    """What the indices of records leave of a field that is part of an array."""
    found = plane
    for index in records.index:
        place = in_range(cx, index, found.shape[0], at)
        if len(found.shape) == 1:
            return replace(plane.array, index=place_of(found, [place]))
        row = rows_of(cx, found, place, at)
        assert isinstance(row, View)
        found = row
    return found


def fields_to_copy(cx: Context, target: Records, value: Value, at: ast.expr) -> list[tuple[Array | View, Array | View]]:
    """Of `target[...] = value` for records the fields of both, in pairs. Raises KernelError where these are not all
    that a record consists of, or not the same on both sides."""
    if not isinstance(value, Records) or len(value.shape) > len(target.shape):
        raise cx.error(at, "a whole record cannot be assigned", f"this is {describe(value)}, and no record",
                       "assign its fields one by one")  # fmt: skip
    kinds = [[(field.name, field.element, [size for size, _ in field.tail]) for field in one.fields]
             for one in (target, value)]  # fmt: skip
    if kinds[0] != kinds[1] or not all(is_complete(cx, one) for one in (target, value)):
        raise cx.error(at, "a whole record cannot be assigned", "the fields of the two differ, or some cannot be used",
                       "assign its fields one by one")  # fmt: skip
    names = [field.name for field in target.fields]
    return [(field_array(cx, target, name, at), field_array(cx, value, name, at)) for name in names]


def is_complete(cx: Context, records: Records) -> bool:
    """Whether all that a record consists of can be used."""
    if records.is_whole:
        return True
    argument = cx.session.signature.arguments[records.position] if records.position >= 0 else None
    return isinstance(argument, ArrayArgument) and not argument.partial


def dtype_of(cx: Context, records: Records) -> np.dtype[np.void] | None:
    """That of an array of records; None where it is not known."""
    argument = cx.session.signature.arguments[records.position] if records.position >= 0 else None
    return argument.dtype if isinstance(argument, ArrayArgument) and records.dtype is None else records.dtype


def records_of(planes: Sequence[Value], names: Sequence[str], kind: type) -> Records:
    """An array of records of which each field is an argument of its own. kind: the class of the argument."""
    found = [plane for plane in planes if isinstance(plane, Array)]
    assert len(found) == len(names)
    rank: int = kind.ndim  # type: ignore[attr-defined]
    fields = tuple(Field(name, plane.element, 0) for name, plane in zip(names, found, strict=True))
    return Records(found[0].name.rpartition(".")[0], -1, fields, found[0].sizes[:rank], planes=tuple(found))


def field_parameter(cx: Context, records: Records, field: Field) -> ArrayParam:
    """The array that a field is; made when it is first used."""
    key = f"{records.position}.{field.name}"
    known = cx.parameters.get(key)
    if isinstance(known, ArrayParam):
        return known
    argument = cx.session.signature.arguments[records.position]
    assert isinstance(argument, ArrayArgument)
    name = cx.new_name(f"{records.name}." + re.sub(r"\W", "_", field.name))
    parameter = ArrayParam(
        name, field.element, records.position, argument.rank + len(field.tail), argument.layout,
        argument.aligned, field.offset, field.tail,
    )  # fmt: skip
    cx.parameters[key] = parameter
    return parameter


def record_sizes(cx: Context, name: str, position: int, fields: tuple[Field, ...], rank: int) -> tuple[Number, ...]:
    """The sizes of an array of records: those of its first field."""
    if not fields:
        return ()
    parameter = field_parameter(cx, Records(name, position, fields, ()), fields[0])
    return tuple(Number(Dim(parameter.name, axis), weak=True) for axis in range(rank))


# ---- tuples ---------------------------------------------------------------------------------------------------


def _index_items(cx: Context, base: Items, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.expr) -> Value:
    if len(indices) != 1:
        raise cx.error(at, "a tuple takes one index")
    match indices[0]:
        case Literal(value=bool() | int() as index):
            if not -len(base.items) <= index < len(base.items):
                raise cx.error(at, f"index {index} is out of range for a tuple of {len(base.items)}")
            return base.items[index]
        case Literal():
            raise cx.error(at, "an index must be an integer")
        case index if (columns := _columns(base)) is not None:
            place = Number(cx.once(as_index(cx, index, nodes[0]), cx.at(at)), weak=True)
            return replace(columns, items=tuple(_index_items(cx, Items(one.items), [place], nodes, at)
                                                for one in columns.items if isinstance(one, Items)))  # fmt: skip
        case index if 0 < len(base.items) <= _MOST_CHOSEN and all(_is_only_read(cx, one) for one in base.items):
            return _chosen_array(cx, base.items, as_index(cx, index, nodes[0]), at)  # type: ignore[arg-type]
        case index if meets_texts(cx, *base.items):
            codes = Items(tuple(number_of_text(cx, one, at) for one in base.items))
            found = _index_items(cx, codes, [index], nodes, at)
            assert isinstance(found, Number)
            return Character(cx.temporary(found.expr, cx.at(at)), any(map(may_be_long, base.items)))
        case index if 0 < len(base.items) <= _MOST_CHOSEN and not all(map(_is_constant, base.items)):
            return _chosen(cx, base, as_index(cx, index, nodes[0]), at)
        case index:
            table = _table(cx, base, at)
            return element(cx, view(cx, table, [index], nodes, at), cx.at(at))


def _columns(base: Items) -> Items | None:
    """Of a tuple of tuples of one length and class: for each place, what stands there in each of them."""
    first = base.items[0] if base.items else None
    if not isinstance(first, Items) or not first.items:
        return None
    kinds = {
        (len(one.items), one.names, one.is_list, one.kind) if isinstance(one, Items) else None for one in base.items
    }
    if len(kinds) != 1:
        return None
    rows = [one.items for one in base.items if isinstance(one, Items)]
    return replace(first, items=tuple(Items(column) for column in zip(*rows, strict=True)))


def _is_only_read(cx: Context, value: Value) -> bool:
    """Whether this is an array, or a part of one, that nobody writes during the call."""
    if not isinstance(value, Array | View) or not value.shape:
        return False
    array = value if isinstance(value, Array) else value.array
    return array.name in cx.arguments and array.name not in cx.session.source.written and not array.weak


def _chosen_array(cx: Context, arrays: Sequence[Array | View], index: Expr, at: ast.expr) -> Elementwise:
    """One of a few arrays of one type and number of axes, to be read."""
    if len({(one.element, len(one.shape)) for one in arrays}) != 1:
        raise cx.error(at, "this tuple can only be indexed by a constant", "its arrays are of several kinds",
                       "write a loop over the tuple")  # fmt: skip
    place = in_range(cx, index, Literal(len(arrays)), at)

    def chosen(parts: Sequence[Expr]) -> Expr:
        result = parts[-1]
        for number in range(len(parts) - 2, -1, -1):
            result = Select(Compare("eq", place, Const(number, INT64)), parts[number], result)
        return result

    def element_of(cx: Context, where: Sequence[Expr]) -> Number:
        numbers = [element_at(cx, one, where, at) for one in arrays]
        return Number(chosen([one.expr for one in numbers if isinstance(one, Number)]), weak=False)

    shape: list[Literal | Number] = []
    for sizes in zip(*(one.shape for one in arrays), strict=True):
        size = sizes[0] if len(set(sizes)) == 1 else None
        if size is None:
            variable = cx.temporary(chosen([expr_of(clipped(cx, one)) for one in sizes]), cx.at(at))
            cx.natural.add(variable.name)
            size = Number(variable, weak=True)
        shape.append(size)
    reads = frozenset(one.name if isinstance(one, Array) else one.array.name for one in arrays)
    return Elementwise(tuple(shape), arrays[0].element, element_of, reads)


def _table(cx: Context, base: Items, at: ast.expr) -> Array:
    """A constant array, filled once at the start, for a tuple of constants that is indexed by a run-time value."""
    known = cx.tables.get(base)
    if isinstance(known, Array):
        return known
    constants = [item for item in base.items if isinstance(item, Literal | Number) and _is_constant(item)]
    if len(constants) != len(base.items) or not 0 < len(constants) <= _LARGEST_TABLE:
        raise cx.error(
            at,
            "this tuple can only be indexed by a constant",
            f"a tuple of up to {_LARGEST_TABLE} constants can be indexed by a variable",
            "put the values into an array",
        )
    kind = _table_type(constants)
    name = cx.new_name("table")
    array = Array(name, kind.type, (Literal(len(constants)),), weak=kind.weak)
    place = cx.at(at)
    cx.prologue.append(Allocate(name, kind.type, (Const(len(constants), INT64),), None, at=place))
    for number, item in enumerate(constants):
        value = convert(cx, item, kind.type, at)
        cx.prologue.append(Store(name, (Const(number, INT64),), value, at=place))
    cx.tables[base] = array
    return array


def _chosen(cx: Context, base: Items, index: Expr, at: ast.expr) -> Number:
    """An item of a tuple of a few numbers: `a.shape[k]`."""
    numbers = [item for item in base.items if isinstance(item, Literal | Number)]
    if len(numbers) != len(base.items):
        raise cx.error(at, "this tuple can only be indexed by a constant", "not all of its items are numbers",
                       "write a loop over the tuple, or put the values into an array")  # fmt: skip
    place, kind = cx.once(in_range(cx, index, Literal(len(numbers)), at), cx.at(at)), _table_type(numbers)
    *others, result = (convert(cx, number, kind.type, at) for number in numbers)
    for k, value in reversed(list(enumerate(others))):
        result = Select(Compare("eq", place, Const(k, INT64)), value, result)
    return Number(result, kind.weak)


def largest_table() -> int:
    """How many constants a tuple may have that is indexed by a variable."""
    return _LARGEST_TABLE


def _is_constant(item: Value) -> bool:
    return isinstance(item, Literal) or (isinstance(item, Number) and isinstance(item.expr, Const))


def _table_type(items: list[Literal | Number]) -> NumberType:
    kind = items[0].number_type
    for item in items[1:]:
        kind = common(kind, item.number_type)
    return kind


# ---- attributes -----------------------------------------------------------------------------------------------

_INSTEAD = {
    "T": "swap the indices where the element is used: a[j, i]",
    "sum": "write a loop that adds the elements up",
    "mean": "write a loop that adds the elements up, and divide",
    "min": "write a loop with min(best, a[i])",
    "max": "write a loop with max(best, a[i])",
    "dot": "write a loop that adds up the products",
    "fill": "write a loop that assigns each element",
    "copy": "make an array with np.empty and write a loop that assigns each element",
    "astype": "make an array with np.empty(shape, dtype) and write a loop that assigns each element",
    "reshape": "index with the arithmetic of the new shape",
    "flat": "write one loop for each axis",
    "ravel": "write one loop for each axis",
    "flatten": "write one loop for each axis",
    "strides": "sizes and a.itemsize tell where elements of an array in C order lie; test the layout before the call",
    "append": "make an array that is large enough, and count how much of it is used",
}


def array_attribute(cx: Context, base: ArrayLike | Records, name: str, node: ast.expr) -> Value:
    """`a.shape`, `a.ndim`, `a.size`, `a.dtype`, or a field of records."""
    match name:
        case "shape":
            return Items(shape_of(cx, base))
        case "ndim":
            return Literal(len(base.shape))
        case "size":
            return size_of(cx, base, node)
        case _:
            pass
    if isinstance(base, Records):
        if name == "dtype" and (dtype := dtype_of(cx, base)) is not None:
            return Fixed(dtype)
        if name in {field.name for field in base.fields}:
            found = field_array(cx, base, name, node)
            return element(cx, found, cx.at(node)) if isinstance(found, Array) else found
    elif name == "dtype":
        return Fixed(base.element.dtype)
    elif name == "itemsize":
        return Literal(base.element.size_bytes)
    elif name == "nbytes":
        size = size_of(cx, base, node)
        of_each = base.element.size_bytes
        if isinstance(size, Literal):
            return Literal(int(size.value) * of_each)
        return Number(Binary("mul", size.expr, Const(of_each, INT64)), weak=True)
    remedy = _INSTEAD.get(name, "arrays have shape, ndim, size and dtype here; write loops over their elements")
    raise cx.error(node, f"'.{name}' of an array is outside the language", remedy=remedy)


FLAGS = {"c_contiguous": "C", "contiguous": "C", "f_contiguous": "F"}
"""By attribute of `a.flags`: a layout."""


def flag_of_layout(cx: Context, base: Value, node: ast.Attribute) -> Literal | Number:
    """`a.flags.c_contiguous` of an argument, which code is made for. Raises KernelError for other arrays: those of
    NumPy may lie in memory as ours do not."""
    param = cx.parameters.get(base.name) if isinstance(base, Array) and not base.index else None
    if not isinstance(base, Array) or param is None or not isinstance(param, ArrayParam) or "." in base.name:
        raise cx.error(node, f"'.flags.{node.attr}' is known of arrays that are arguments only",
                       remedy="copy the array: what np.ascontiguousarray() gives is in C order")  # fmt: skip
    if param.layout == FLAGS[node.attr] or (param.layout == "C" and len(base.shape) < 2):
        return Literal(True)
    if param.layout != "C":
        return Literal(False)
    sizes = [size_expr(cx, size, node) for size in shape_of(cx, base)]
    count: Expr = Const(0, INT64)  # in C order, it is in Fortran's too if one axis at most is longer than 1
    for size in sizes:
        count = Binary("add", count, Cast(Compare("ne", size, Const(1, INT64)), INT64))
    is_empty = Compare("eq", product(sizes), Const(0, INT64))
    return Number(Binary("or", Compare("le", count, Const(1, INT64)), is_empty), weak=True)


def size_of(cx: Context, base: ArrayLike | Records, node: ast.AST) -> Literal | Number:
    """`a.size`."""
    shape = shape_of(cx, base)
    if all(isinstance(size, Literal) for size in shape):
        return Literal(int(np.prod([size.value for size in shape if isinstance(size, Literal)])))
    return Number(product([size_expr(cx, size, node) for size in shape]), weak=True)


def size_expr(cx: Context, size: Literal | Number, node: ast.AST) -> Expr:
    """A size as an int64 expression."""
    return default_type(cx, size, node)


def fill_constant(cx: Context, value: Literal | Number | None, element: Scalar, node: ast.AST) -> Const | None:
    """The fill value of a new array where it is known now, converted to the array's type."""
    if isinstance(value, Literal):
        found = literal(cx, value.value, element, node)
    elif isinstance(value, Number) and isinstance(value.expr, Const):
        if value.type.is_complex and not element.is_complex:
            convert(cx, value, element, node)  # an error, but for bool
        with np.errstate(all="ignore"):
            known = element.dtype.type(value.expr.type.dtype.type(value.expr.value))
        found = Const(bool(known) if element == BOOL else known.item(), element)
    else:
        return None
    if element.is_complex and part_of(found, imaginary=False) != part_of(found, imaginary=True):
        return None  # no one number fills both parts
    return found
