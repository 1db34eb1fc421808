"""Expressions of the user to Values. An index such as `a[i + 1, j]` becomes nodes only: nothing is added to it."""

from __future__ import annotations

import ast
import enum
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import arrays, grids, made_texts, number_texts, objects, operators
from loopwright.frontend.array_parts import part_of
from loopwright.frontend.calls import call
from loopwright.frontend.characters import character_at, part_of_text, text_of
from loopwright.frontend.comparisons import comparisons
from loopwright.frontend.context import Context
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import binary, kept_array, map_elements
from loopwright.frontend.inline import run_written
from loopwright.frontend.iteration import comprehension, item_of_range
from loopwright.frontend.keyed import is_keyed, item_of, keyed_literal
from loopwright.frontend.lazy import conditional, logical
from loopwright.frontend.list_methods import comprehension_list, list_by_operator
from loopwright.frontend.lists import index_list, new_list
from loopwright.frontend.manipulation import reshaped, transpose
from loopwright.frontend.named_tuples import refuse_object
from loopwright.frontend.numpy_functions import limit
from loopwright.frontend.object_class import FieldsOf, class_of
from loopwright.frontend.operands import kept, operands
from loopwright.frontend.outer_names import own_variable
from loopwright.frontend.products import product_of
from loopwright.frontend.record_arrays import has_parts, part_of_records
from loopwright.frontend.refusals import refuse_expression
from loopwright.frontend.table_methods import dict_literal, set_literal, set_operation, table_comprehension
from loopwright.frontend.tables import get_item
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Number,
    RangeValue,
    Records,
    SliceIndex,
    TableValue,
    Value,
    View,
    describe,
    from_object,
    is_none,
)
from loopwright.frontend.variables import assign_web, outside_value, read_name
from loopwright.frontend.views import is_array, is_plain
from loopwright.frontend.watched import Found, MethodError, UnwatchedError
from loopwright.ir.nodes import Checked
from loopwright.ir.walk import expressions, subexpressions

if TYPE_CHECKING:
    from loopwright.frontend import complex_functions, more
else:
    complex_functions, more = map(deferred, ("loopwright.frontend.complex_functions", "loopwright.frontend.more"))


def evaluate(cx: Context, node: ast.expr) -> Value:
    """The Value of an expression; what it needs done first is written to `cx.body`."""
    match node:
        case ast.Constant():
            return _constant(cx, node)
        case ast.Name():
            return read_name(cx, node)
        case ast.BinOp():
            return _binary(cx, node)
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(cx, op, cx.evaluate(operand), node)
        case ast.Compare():
            return comparisons(cx, node)
        case ast.BoolOp():
            return logical(cx, node)
        case ast.IfExp():
            return conditional(cx, node)
        case ast.Subscript():
            return _subscript(cx, node)
        case ast.Attribute(value=ast.Attribute(value=owner, attr="flags")) if node.attr in arrays.FLAGS:
            return arrays.flag_of_layout(cx, cx.evaluate(owner), node)
        case ast.Attribute():
            return _attribute(cx, node, cx.evaluate(node.value))
        case ast.Call():
            return call(cx, node)
        case ast.Tuple(elts=parts):
            return _tuple(cx, parts)
        case ast.List(elts=parts):
            return replace(_tuple(cx, parts), is_list=True)
        case ast.Slice():
            return _slice(cx, node)
        case ast.ListComp() | ast.GeneratorExp() if id(node) in cx.comprehensions:
            return comprehension(cx, node) or comprehension_list(cx, node, node)
        case ast.ListComp():
            return comprehension_list(cx, node, node)
        case ast.Set():
            return set_literal(cx, node)
        case ast.Dict(values=values) if is_keyed(node):
            return keyed_literal(cx, node, tuple(kept_array(cx, one, node) for one in operands(cx, values)))
        case ast.Dict():
            return dict_literal(cx, node)
        case ast.SetComp() | ast.DictComp():
            return table_comprehension(cx, node)
        case ast.JoinedStr():
            return number_texts.formatted(cx, node)
        case ast.NamedExpr(target=target, value=value):
            return _named(cx, target, value)
        case _:
            raise refuse_expression(cx, node)


def _constant(cx: Context, node: ast.Constant) -> Value:
    match node.value:
        case bool() | int() | float() as number:
            return Literal(number)
        case None | str():
            return Fixed(node.value)
        case complex():
            return from_object(node.value)
        case type() | FieldsOf():  # in what is read instead of a text (made_objects.py)
            return Fixed(node.value)
        case other if other is ...:
            return Fixed(...)
        case other:
            raise cx.error(node, f"{other!r} is outside the language")


def _binary(cx: Context, node: ast.BinOp) -> Value:
    left, right = operands(cx, [node.left, node.right])
    for one in (left, right):
        refuse_object(cx, one, node)
    if isinstance(node.op, ast.MatMult):
        return product_of(cx, left, right, node)
    if (text := _known_text(node.op, left, right)) is not None:
        return Fixed(text)
    if (joined := made_texts.by_operator(cx, left, node.op, right, node)) is not None:
        return joined
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        if bool(left.is_list) is bool(right.is_list):
            return Items(left.items + right.items, is_list=left.is_list)
        raise cx.error(node, "a list and a tuple cannot be added", "Python raises TypeError")
    if is_array(left) is not is_array(right):  # NumPy makes arrays of lists and tuples beside an array
        left, right = (
            as_array(cx, one, node, "an operand") if isinstance(one, Items | ListValue) else one
            for one in (left, right)
        )
    if (made := list_by_operator(cx, left, node.op, right, node)) is not None:
        return made
    if isinstance(left, TableValue) and isinstance(right, TableValue):
        return set_operation(cx, operators.BINARY[type(node.op)], left, right, node)
    return binary(cx, operators.BINARY[type(node.op)], left, right, node)


def _known_text(op: ast.operator, left: Value, right: Value) -> str | None:
    """`text + text` and `text * n` of what is known when the function is read; None for all else."""
    match left, op, right:
        case Fixed(value=str() as first), ast.Add(), Fixed(value=str() as second):
            return first + second
        case Fixed(value=str() as text), ast.Mult(), Literal(value=int() as times):
            return text * times
        case _:
            return None


def _unary(cx: Context, op: ast.unaryop, value: Value, node: ast.expr) -> Value:
    if is_array(value) and not isinstance(op, ast.Not):
        return map_elements(cx, lambda cx, x: operators.unary_operation(cx, op, x, node), [value], node)
    return operators.unary_operation(cx, op, value, node)


def _slice(cx: Context, node: ast.Slice) -> SliceIndex:
    nodes = [part for part in (node.lower, node.upper, node.step) if part is not None]
    values = iter(operands(cx, nodes))
    parts = (None if part is None else next(values) for part in (node.lower, node.upper, node.step))
    return SliceIndex(*parts)


def _tuple(cx: Context, parts: list[ast.expr]) -> Items:
    """`(a, *b, c)`."""
    inner = [part.value if isinstance(part, ast.Starred) else part for part in parts]
    items: list[Value] = []
    for part, value in zip(parts, operands(cx, inner), strict=True):
        if not isinstance(part, ast.Starred):
            items.append(value)
        elif isinstance(value, Items):
            refuse_object(cx, value, part)
            items += value.items
        else:
            raise cx.error(part, "'*' takes a tuple here", f"this is {describe(value)}")
    return Items(tuple(items))


def _named(cx: Context, target: ast.Name, value_node: ast.expr) -> Value:
    """`(name := value)`."""
    frame = cx.frame
    web = own_variable(cx, target)
    assign_web(cx, web, cx.evaluate(value_node), target, value_node)
    frame.webs = replace(frame.webs, loads={**frame.webs.loads, id(target): web})
    return read_name(cx, target)


def index_nodes(node: ast.Subscript) -> list[ast.expr]:
    """The indices of `a[i, j]`, one by one."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def places_of(node: ast.Subscript, indices: Sequence[Value]) -> list[ast.expr]:
    """The same, one for each index: those of a tuple that has a name are all at one place."""
    nodes = index_nodes(node)
    return nodes if len(nodes) == len(indices) else [node.slice] * len(indices)


def index_of(indices: Sequence[Value]) -> Value:
    """What stands in a subscript: `a[i, j]` has a tuple there."""
    return indices[0] if len(indices) == 1 else Items(tuple(indices))


def indexed(cx: Context, node: ast.Subscript, base: Value | None = None) -> tuple[Value, list[Value]]:
    """What is indexed, and the indices. `base`: what is indexed, where it was read before."""
    base = cx.evaluate(node.value) if base is None else base
    start = len(cx.body)
    nodes = index_nodes(node)
    is_written_out = not any(isinstance(one, ast.Starred) for one in nodes)
    indices = operands(cx, nodes) if is_written_out else list(_tuple(cx, nodes).items)  # a[i, *rest]
    base = kept(cx, base, start, node)
    if isinstance(base, ArrayLike | Records) and any(isinstance(one, RangeValue) for one in indices):
        pairs = zip(indices, places_of(node, indices), strict=True)
        indices = [_index_of_range(cx, one, place) for one, place in pairs]
    match indices:
        case [Items(items=items, is_list=is_list)] if isinstance(base, ArrayLike | Records) and not is_list:
            if is_list is None:
                raise cx.error(node.slice, "this index is a tuple or a list, which mean different things",
                               remedy="write the indices out: a[i, j]")  # fmt: skip
            indices = list(items)
    if isinstance(base, Array | Records) and base.index:
        base = _range_before(cx, base, start, indices, node)
    return base, indices


def _index_of_range(cx: Context, index: Value, node: ast.expr) -> Value:
    if not isinstance(index, RangeValue):
        return index
    return run_written(cx, more.numbers_of_range, index.bounds, node)


def _range_before(
    cx: Context, view: Array | Records, start: int, indices: list[Value], node: ast.expr
) -> Array | Records:
    """Of `a[i][j]`, test i before what may fail in j in another way, as Python does."""
    found = [index.expr for index in indices if isinstance(index, Number)]
    parts = [part for expr in (*found, *expressions(tuple(cx.body[start:]))) for part in subexpressions(expr)]
    if not any(isinstance(part, Checked) for part in parts):
        return view
    later = cx.body[start:]
    del cx.body[start:]
    view = replace(view, index=tuple(cx.once(index, cx.at(node)) for index in view.index))
    arrays.check_range(cx, view, cx.at(node))
    cx.body.extend(later)
    return view


def _subscript(cx: Context, node: ast.Subscript) -> Value:
    read = cx.evaluate(node.value)
    refuse_object(cx, read, node.value)
    if isinstance(node.slice, ast.Slice) and isinstance(read, Items):
        return _slice_of_items(cx, read, node)
    text = text_of(read)
    if text is not None and isinstance(node.slice, ast.Slice):
        return part_of_text(cx, text, _slice(cx, node.slice), node)
    base, indices = indexed(cx, node, read)
    if text is not None and len(indices) == 1:
        return character_at(cx, text, indices[0], index_nodes(node), node)
    if isinstance(base, Keyed):
        return item_of(cx, base, index_of(indices), node)
    if isinstance(base, TableValue):
        return get_item(cx, base, index_of(indices), node)
    if isinstance(base, Fixed) and any(base.value is one for one in grids.GRIDS):
        return grids.grid(cx, base.value, indices, node)
    if isinstance(base, ListValue) and len(indices) == 1:
        return index_list(cx, base, indices[0], node)
    if isinstance(base, RangeValue) and is_plain(indices) and len(indices) == 1:
        return item_of_range(cx, base, indices[0], node)
    if isinstance(base, Records) and has_parts(indices):
        return part_of_records(cx, base, indices, places_of(node, indices), node)
    if isinstance(base, ArrayLike) and not (isinstance(base, Array) and is_plain(indices)):
        return part_of(cx, base, indices, places_of(node, indices), node)
    return arrays.index_value(cx, base, indices, places_of(node, indices), node)


def _slice_of_items(cx: Context, base: Items, node: ast.Subscript) -> Value:
    """`tuple[a:b]`; of numbers, with bounds that are found by the run, a list that nobody changes."""
    index = cx.evaluate(node.slice)
    assert isinstance(index, SliceIndex)
    bounds = [None if one is None or is_none(one) else one for one in (index.lower, index.upper, index.step)]
    known: list[Any] = [one.value if isinstance(one, Literal) else None for one in bounds]
    if all(one is None or isinstance(one, Literal) for one in bounds):
        return Items(base.items[slice(*known)], is_list=base.is_list)
    kinds = {one.number_type if isinstance(one, Literal | Number) else None for one in base.items}
    if len(kinds) != 1 or None in kinds or base.names:
        raise cx.error(node, "a slice of this tuple needs constant bounds", "its items are not numbers of one type")
    chosen = index_list(cx, new_list(cx, base.items, node), index, node)
    assert isinstance(chosen, ListValue)
    return replace(chosen, is_of_tuple=not base.is_list)


_OF_NUMBERS: dict[str, Value] = {"shape": Items(()), "ndim": Literal(0), "size": Literal(1)}
"""What NumPy's numbers have because arrays have it."""


_OF_RANGES = ("start", "stop", "step")


def _attribute(cx: Context, node: ast.Attribute, base: Value) -> Value:
    match base:
        case Array() | View() | Elementwise() if node.attr == "T":
            return transpose(cx, base, None, node)
        case Array() | View() | Elementwise() if node.attr == "flat":
            return reshaped(cx, base, Literal(-1), node, shows=True)
        case Array() | View() | Elementwise() if node.attr in ("real", "imag"):
            return complex_functions.part_of_array(cx, base, node.attr == "imag", node)
        case Literal() | Number() if node.attr in ("real", "imag"):
            return complex_functions.part(base, node.attr == "imag")
        case Array() | View() | Elementwise() | Records():
            return arrays.array_attribute(cx, base, node.attr, node)
        case RangeValue(bounds=bounds) if node.attr in _OF_RANGES:
            return bounds[_OF_RANGES.index(node.attr)]
        case SliceIndex(lower=lower, upper=upper, step=step) if node.attr in _OF_RANGES:
            return (lower, upper, step)[_OF_RANGES.index(node.attr)] or Fixed(None)
        case Items(names=names) if node.attr in names:
            return objects.field_value(cx, base, node.attr, node)
        case Items(kind=kind) if (made := class_of(kind)) is not None and node.attr in made.properties:
            return run_written(cx, made.properties[node.attr], (base,), node)
        case Literal() if (member := _member_of(cx, node.value)) is not None and node.attr in ("value", "name"):
            return from_object(getattr(member, node.attr))
        case Number(weak=False) if node.attr == "dtype":
            return Fixed(base.type.dtype)
        case Number(weak=False) if node.attr in _OF_NUMBERS:
            return _OF_NUMBERS[node.attr]
        case Fixed(value=np.iinfo() | np.finfo() as owner) if (known := limit(owner, node.attr)) is not None:
            return known
        case Fixed(value=owner) if owner is not None and (found := _outside(cx, node, owner)):
            return outside_value(cx, found, node)
        case Fixed(value=ModuleType() as module):
            raise cx.error(node, f"module '{module.__name__}' has no '{node.attr}'")
        case _:
            raise cx.error(node, f"'.{node.attr}' of {describe(base)} is outside the language")


def _member_of(cx: Context, node: ast.expr) -> enum.Enum | None:
    """The member of an Enum that a number is: `Color.RED`, of an IntEnum."""
    owner = cx.evaluate(node.value) if isinstance(node, ast.Attribute) else None
    kind = owner.value if isinstance(owner, Fixed) else None
    if not isinstance(node, ast.Attribute) or not isinstance(kind, enum.EnumType):
        return None
    found = _outside(cx, node, kind)
    return found.value if found is not None and isinstance(found.value, enum.Enum) else None


def _outside(cx: Context, node: ast.Attribute, owner: object) -> Found | None:
    try:
        return cx.session.outside.attribute(owner, node.attr)
    except MethodError as why:
        remedy = "write a function with `def`, outside any class, and pass arrays and numbers to it"
        raise cx.error(node, f"'{ast.unparse(node)}' is outside the language", str(why), remedy) from None
    except UnwatchedError as why:
        raise cx.error(
            node,
            f"'{ast.unparse(node)}' can change without notice",
            str(why),
            "pass the value as an argument, or keep it in a global",
        ) from None
