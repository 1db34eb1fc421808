"""`tuple(x - 1 for x in a.shape)`, `tuple(row)`: tuples of what can be gone over, if the number of items is known."""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context
from loopwright.frontend.iteration import Sequence, bind_names, sequence_of
from loopwright.frontend.lazy import condition_of
from loopwright.frontend.values import Items, Literal, Value
from loopwright.frontend.variables import freeze
from loopwright.ir.nodes import Const
from loopwright.ir.types import INT64

_MOST_ITEMS = 64


def tuple_of(cx: Context, node: ast.expr) -> Items:
    """The tuple of what an expression or a comprehension gives. Raises KernelError where only the run knows how long it
    is."""
    if not isinstance(node, ast.ListComp | ast.GeneratorExp):
        return Items(tuple(freeze(cx, item, cx.at(node)) for item in _items(cx, sequence_of(cx, node), node)))
    if len(node.generators) != 1 or node.generators[0].is_async:
        raise cx.error(node, "a comprehension in tuple() has one 'for' here", remedy="write the items out")
    part = node.generators[0]
    found: list[Value] = []
    for item in _items(cx, sequence_of(cx, part.iter), part.iter):
        scope: dict[str, Value] = {}
        cx.frame.scopes.append(scope)
        try:
            bind_names(cx, scope, part.target, item)
            if all(_holds(cx, test) for test in part.ifs):
                found.append(freeze(cx, cx.evaluate(node.elt), cx.at(node.elt)))
        finally:
            cx.frame.scopes.pop()
    return Items(tuple(found))


def _items(cx: Context, sequence: Sequence, node: ast.expr) -> list[Value]:
    size = sequence.size
    count = int(size.value) if isinstance(size, Literal) else None
    if count is None or count > _MOST_ITEMS:
        shown = "only known when the code runs" if count is None else str(count)
        why = f"it must be known at compile time, and at most {_MOST_ITEMS}"
        raise cx.error(node, f"the length of this tuple is {shown}", why, "make an array: np.array(x)")
    if sequence.fixed is not None:
        return list(sequence.fixed[:count])
    return [sequence.item(cx, Const(k, INT64)) for k in range(count)]


def _holds(cx: Context, test: ast.expr) -> bool:
    known = condition_of(cx, test)
    if not isinstance(known, bool):
        raise cx.error(test, "which items this tuple has must be known at compile time",
                       remedy="make an array, or write the items out")  # fmt: skip
    return known
