"""What the kernel returns: scalars with one type for all returns, arrays that are its own or its arguments."""

from __future__ import annotations

import ast

from loopwright.errors import KernelError
from loopwright.frontend import promote
from loopwright.frontend.context import Context
from loopwright.frontend.convert import in_type
from loopwright.frontend.elementwise import materialised
from loopwright.frontend.values import (
    Array,
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
from loopwright.frontend.variables import grow
from loopwright.ir.nodes import (
    Expr,
    Location,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    ScalarParam,
    Stmt,
    Var,
)
from loopwright.ir.walk import subexpressions

Returned = tuple[ReturnedScalar | ReturnedArray, ...]


def return_from_kernel(cx: Context, node: ast.Return) -> None:
    """`return`, `return x`, `return x, y` of the kernel itself."""
    value: Value = Fixed(None) if node.value is None else cx.evaluate(node.value)
    if isinstance(value, Fixed) and value.value is None:
        _agree(cx, node, (), False, nothing=True)
        cx.emit(Return((), at=cx.at(node)))
        return
    value = _own(cx, value, node)
    items = value.items if isinstance(value, Items) else (value,)
    _agree(cx, node, items, isinstance(value, Items), nothing=False)
    values = [_returned(cx, number, item, node) for number, item in enumerate(items)]
    cx.emit(Return(tuple(expr for expr in values if expr is not None), at=cx.at(node)))


def _own(cx: Context, value: Value, node: ast.Return) -> Value:
    """What is returned, with arrays of their own for expressions and for parts of local arrays: nobody else has these."""
    place = node.value or node
    match value:
        case Items(items=items):
            return Items(tuple(_own(cx, item, node) for item in items))
        case Elementwise():
            return materialised(cx, value, place)
        case View() if value.array.name in cx.allocations:
            return materialised(cx, value, place)
        case Array(index=index) if index and value.shape and value.name in cx.allocations:
            return materialised(cx, value, place)
        case _:
            return value


def _agree(cx: Context, node: ast.Return, items: tuple[Value, ...], is_tuple: bool, nothing: bool) -> None:
    """Every return gives as many values, and arrays in the same places."""
    kinds = None if nothing else tuple(_kind(cx, item, node) for item in items)
    if cx.returns and cx.returns[0] != (kinds, is_tuple):
        raise cx.error(
            node,
            "this return does not agree with the others",
            "a function returns as many values, and the same arrays, on every path",
            "return the same kinds of values everywhere",
        )
    cx.returns.append((kinds, is_tuple))


def _kind(cx: Context, item: Value, node: ast.Return) -> str | None:
    """The name of a returned array, or None for a scalar."""
    match item:
        case Literal() | Number():
            return None
        case Array(index=(), weak=False):
            return item.name
        case Array() | View():
            raise cx.error(node.value or node, "a view of an array cannot be returned",
                           remedy="return the whole array, or copy the elements into one of its own")  # fmt: skip
        case Records():
            raise cx.error(node.value or node, "an array of records cannot be returned",
                           remedy="leave the return out: the caller has the array")  # fmt: skip
        case Items():
            raise cx.error(
                node.value or node, "a tuple inside a tuple cannot be returned", remedy="return one flat tuple"
            )
        case _:
            raise cx.error(
                node.value or node, f"{describe(item)} cannot be returned", remedy="return numbers and arrays"
            )


def _returned(cx: Context, number: int, item: Value, node: ast.Return) -> Expr | None:
    if not isinstance(item, Literal | Number):
        return None
    kind = grow(cx, ("return", number), "the returned value", item.number_type, node.value or node)
    return in_type(cx, item, kind, node.value or node)


def check_end(cx: Context, falls_through: bool, end: Location) -> None:
    """Raise KernelError where some path returns a value and another comes to the end of the function."""
    gives = [kinds for kinds, _ in cx.returns if kinds is not None]
    if gives and falls_through:
        raise KernelError(
            "the function returns a value on some paths only",
            end,
            "at its end there is no return",
            "end every path with a return",
        )


def returned_values(cx: Context) -> tuple[Returned | None, bool]:
    """`Kernel.returned` and `Kernel.returns_tuple`."""
    if not cx.returns or cx.returns[0][0] is None:
        return None, False
    kinds, is_tuple = cx.returns[0]
    assert kinds is not None
    result: list[ReturnedScalar | ReturnedArray] = []
    for number, name in enumerate(kinds):
        kind = cx.session.types.of(("return", number))
        if name is not None:
            result.append(ReturnedArray(name))
        elif isinstance(kind, promote.NumberType):
            result.append(ReturnedScalar(kind.type, kind.weak))
    return tuple(result), is_tuple


def result_arrays(cx: Context, body: tuple[Stmt, ...]) -> tuple[tuple[ResultArray, ...], tuple[Stmt, ...]]:
    """The local arrays that are returned, made before the body runs; and the body without their Allocates."""
    parameters = {param.name for param in cx.parameters.values()}
    names = {name for kinds, _ in cx.returns for name in kinds or () if name is not None and name not in parameters}
    results = []
    for name in sorted(names, key=list(cx.allocations).index):
        allocate, depth = cx.allocations[name]
        if depth or not all(_is_known_at_call(cx, size) for size in allocate.shape):
            raise KernelError(
                f"the array '{name}' cannot be returned",
                allocate.at,
                "it is made inside a loop or a branch" if depth else "its size is computed while the function runs",
                "pass an array that is large enough, and return how much of it is used",
            )
        results.append(ResultArray(name, allocate.element, allocate.shape, allocate.fill, at=allocate.at))
    moved = {id(cx.allocations[name][0]) for name in names}
    return tuple(results), tuple(stmt for stmt in body if id(stmt) not in moved)


def _is_known_at_call(cx: Context, size: Expr) -> bool:
    scalars = {param.name for param in cx.parameters.values() if isinstance(param, ScalarParam)}
    return all(part.name in scalars for part in subexpressions(size, Var))
