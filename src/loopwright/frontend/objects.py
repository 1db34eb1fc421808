"""Objects with fields, of classes whose methods are read as helpers: what numba's `jitclass` makes.

An object is an argument for each of its fields. A number that a method assigns lies in an array of one element, so that
who has the object sees it change; every other number is a number. Fields that are arrays are written element by
element: no code gives them another array.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from loopwright.errors import FieldError
from loopwright.frontend import arrays
from loopwright.frontend.context import Context
from loopwright.frontend.object_class import class_of
from loopwright.frontend.values import Array, Items, Number, Value, View, describe
from loopwright.ir.nodes import Const
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64


def field_value(cx: Context, base: Items, name: str, node: ast.AST) -> Value:
    """`object.name`, and the field of a tuple or a dataclass."""
    item, known = base.items[base.names.index(name)], class_of(base.kind)
    if known is None or name not in known.changing or not isinstance(item, Array):
        return item
    read = arrays.element(cx, _only_element(item), cx.at(node))
    assert isinstance(read, Number)
    return Number(read.expr, weak=item.element in (BOOL, INT64, FLOAT64, COMPLEX128))


def field_place(cx: Context, base: Value, target: ast.Attribute) -> Array | View:
    """Where an assignment to a field of an object goes. Raises KernelError for one that nothing can be assigned to."""
    known = class_of(base.kind) if isinstance(base, Items) else None
    if known is None or not isinstance(base, Items):
        return arrays.place_of_field(cx, base, target)
    if target.attr not in known.fields:
        raise cx.error(target, f"an object of this class has no field '{target.attr}'",
                       remedy="name it, and its type, in the list that the decorator is given")  # fmt: skip
    item = base.items[known.fields.index(target.attr)]
    if target.attr in known.changing and isinstance(item, Array):
        return _only_element(item)
    if isinstance(item, Array | View) and isinstance(target.ctx, ast.Store):
        name = ast.unparse(target)
        raise cx.error(target, f"the field '{target.attr}' cannot be given another array",
                       remedy=f"write into the one that it has: {name}[:] = ...")  # fmt: skip
    if target.attr in known.numbers:
        known.changing.add(target.attr)
        raise FieldError(f"the field '{target.attr}' was a number that stays", cx.at(target), remedy="call it again")
    raise cx.error(target, f"the field '{target.attr}' cannot be assigned", f"it holds {describe(item)}",
                   "only numbers are assigned, and elements of arrays")  # fmt: skip


def with_numbers(cx: Context, value: Value, node: ast.AST, seen: list[Value] | None = None) -> Value:
    """What is returned, with the numbers that the objects in it hold now. Raises KernelError for an object that is in
    it twice, which would become two."""
    if not isinstance(value, Items):
        return value
    seen, items = [] if seen is None else seen, value.items
    if value.is_made:
        if any(value is one for one in seen):
            raise cx.error(node, "an object is returned twice", "each of the two would be another one",
                           "return it once")  # fmt: skip
        seen.append(value)
        read = [field_value(cx, value, name, node) for name in value.names]
        items = tuple(
            replace(one, expr=cx.once(one.expr, cx.at(node))) if isinstance(one, Number) else one for one in read
        )
    return replace(value, items=tuple(with_numbers(cx, one, node, seen) for one in items))


def _only_element(item: Array) -> Array:
    return Array(item.name, item.element, item.sizes, (Const(0, INT64),))
