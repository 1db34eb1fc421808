"""`a[m] = a[m] * 2 + b[m]`: what is chosen by a mask, changed element by element, and put back where the same mask is
true. That is one loop over all elements with a condition: nothing is gathered, counted or scattered.
"""

from __future__ import annotations

import ast

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.elementwise import as_bool, meets_itself, nest, reader, require_same, store_element
from loopwright.frontend.values import Array, ArrayLike, Fixed, View
from loopwright.frontend.views import as_view, element_at, is_array, steady
from loopwright.ir.nodes import Expr, If


def update_where(cx: Context, target: ast.Subscript, value_node: ast.expr, augmented: bool = False) -> bool:
    """Write `target = value` in one loop, where the target is chosen by a mask, and all arrays in the value are chosen
    by the same. False, and nothing written, for all else. augmented: the type has to be one that NumPy puts there."""
    key = ast.dump(target.slice)
    if not isinstance(target.value, ast.Name) or not is_pure(target.slice) or key not in _masks(value_node):
        return False
    start, names = len(cx.body), set(cx.names)
    mask = cx.evaluate(target.slice)
    chosen: list[ast.Name] = [target.value]
    if isinstance(mask, ArrayLike) and is_array(mask) and mask.element.kind == "bool":
        whole = _whole(cx, value_node, key, chosen)
        if whole is not None and _write(cx, target, mask, chosen, whole, value_node, augmented):
            return True
    del cx.body[start:]
    cx.names = names
    return False


def update_chosen(cx: Context, target: ast.Subscript, node: ast.AugAssign) -> bool:
    """The same for `a[m] += b[m]`."""
    old = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    new = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
    return update_where(cx, target, new, augmented=True)


def is_pure(node: ast.expr) -> bool:
    """Whether an expression may be evaluated at any time, as long as nothing is assigned."""
    operations = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.cmpop)
    kinds = (*operations, ast.Name, ast.Constant, ast.Load)
    return all(isinstance(part, kinds) for part in ast.walk(node))


def _masks(node: ast.expr) -> set[str]:
    return {ast.dump(part.slice) for part in ast.walk(node) if isinstance(part, ast.Subscript)}


def _whole(cx: Context, node: ast.expr, key: str, chosen: list[ast.Name]) -> ast.expr | None:
    """The expression for all elements in place of those that the mask chooses, whose arrays are added to `chosen`; None
    where an element of the result depends on several, or on an array that is not chosen."""

    def inner(*parts: ast.expr) -> list[ast.expr] | None:
        found = [_whole(cx, part, key, chosen) for part in parts]
        return None if any(part is None for part in found) else [part for part in found if part is not None]

    new: ast.expr
    match node:
        case ast.Subscript(value=ast.Name() as array, slice=index) if ast.dump(index) == key:
            chosen.append(array)
            return array
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            if (both := inner(left, right)) is None:
                return None
            new = ast.BinOp(both[0], op, both[1])
        case ast.UnaryOp(op=sign, operand=operand) if not isinstance(sign, ast.Not):
            if (one := inner(operand)) is None:
                return None
            new = ast.UnaryOp(sign, one[0])
        case ast.Call(func=func, args=args, keywords=[]) if _is_elementwise(cx, func):
            if (parts := inner(*args)) is None:
                return None
            new = ast.Call(func, parts, [])
        case ast.Constant():
            return node
        case ast.Name():
            return None if is_array(cx.evaluate(node)) else node
        case _:
            return None
    return ast.copy_location(new, node)


def _is_elementwise(cx: Context, func: ast.expr) -> bool:
    """Whether a function is one of NumPy's that go element by element."""
    if not isinstance(func, ast.Name | ast.Attribute):
        return False
    if isinstance(func, ast.Attribute) and not (
        isinstance(func.value, ast.Name) and isinstance(cx.evaluate(func.value), Fixed)
    ):
        return False
    found = cx.evaluate(func)
    return isinstance(found, Fixed) and (found.value is abs or isinstance(found.value, np.ufunc))


def _write(
    cx: Context, target: ast.Subscript, mask: ArrayLike, chosen: list[ast.Name], whole: ast.expr, value_node: ast.expr,
    augmented: bool,
) -> bool:  # fmt: skip
    found = [cx.evaluate(name) for name in chosen]
    arrays = [one for one in found if isinstance(one, Array | View)]
    rank = len(mask.shape)
    if len(arrays) < len(found) or any(len(one.shape) != rank for one in arrays):
        return False
    place = steady(cx, arrays[0], target)
    base = as_view(place) if isinstance(place, Array) else place
    value = cx.evaluate(whole)
    if not isinstance(base, View) or base.array.weak or not isinstance(value, ArrayLike) or len(value.shape) != rank:
        return False
    if augmented and not np.can_cast(value.element.dtype, base.element.dtype, "same_kind"):
        return False
    for one in arrays:
        for own, given in zip(one.shape, mask.shape, strict=True):
            require_same(cx, own, given, target, is_mask=True)
    read = reader(cx, value, rank, value_node)
    start = len(cx.body)

    def body(index: list[Expr]) -> None:
        condition = as_bool(cx, element_at(cx, mask, index, target))
        with cx.inner_body() as then:
            store_element(cx, base, index, read(cx, index), target, value_node)
        cx.emit(If(condition, tuple(then), at=cx.at(target)))

    nest(cx, mask.shape, body, target)
    return not meets_itself(cx, base, cx.body[start:])
