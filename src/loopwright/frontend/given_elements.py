"""What is put into a list of the caller's: it has to be of the kinds that the list had when the call began."""

from __future__ import annotations

import ast

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import Items, ListValue, Literal, Number, Value, describe
from loopwright.ir.types import BOOL, Scalar


def refuse_other_kind(cx: Context, value: ListValue, item: Value, items: tuple[Value, ...], node: ast.AST) -> None:
    """Raise KernelError for an element that a list of the caller's has no room for: its types are those of the call."""
    if value.rows is not None:
        if not isinstance(item, ListValue) or item.home is None or item.home[0].key != value.rows.key:
            raise cx.error(node, "a list of the caller's gets another list here",
                           "the lists in it may change, and change places, but it gets no new ones",
                           "assign the elements one by one, or make a list of your own and return it")  # fmt: skip
        return
    if len(items) != len(value.parts) or isinstance(item, Items) != value.is_tuple:
        raise cx.error(node, "a list of the caller's gets an element of another kind here",
                       remedy="make a list of your own, and return it")  # fmt: skip
    for k, (part, one) in enumerate(zip(value.parts, items, strict=True)):
        kind = NumberType(part.element, part.array.weak)
        if not isinstance(one, Literal | Number):
            raise cx.error(node, f"a list of the caller's gets {describe(one)} here")
        fits = np.can_cast(one.number_type.type.dtype, part.element.dtype, "safe")
        fits = fits and (one.number_type.type == BOOL) == (part.element == BOOL)  # a True among ints is shown as one
        joined = cx.session.types.assign((*value.key, k), one.number_type) if fits else None
        if not isinstance(joined, NumberType) or joined.type != part.element:
            raise cx.error(node, f"a list of the caller's holds {kind} where it gets {one.number_type}",
                           "what it holds keeps its type",
                           f"convert it, as in {_conversion_to(part.element)}, "
                           "or make a list of your own and return it")  # fmt: skip


def _conversion_to(element: Scalar) -> str:
    return "x != 0" if element == BOOL else "int(x)" if element.is_integer else "float(x)"
