"""`try` and `except`: the body goes on at the handler where it would fail (caught_failures.py).

    try:                               try: {
        x = a[k]                           except: {
    except IndexError:          ->             if not -n <= k < n: leave except
        x = 0                                  x = a[k]
                                               leave try
                                           }
                                           x = 0
                                       }

`finally` has become handlers that raise again (desugared.py). Refused are the exception as a value, and statements that
may have written a part of an array when they fail, where NumPy has written nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend.capture import is_ours
from loopwright.frontend.caught_failures import Caught, Handler, fails_inside
from loopwright.frontend.context import Context, Restart
from loopwright.frontend.reraised import Reraised
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Fixed, Items, Value
from loopwright.ir.jumps import always_jumps
from loopwright.ir.nodes import Block, For, Stmt, Store, While
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import statements

_COMPOUND = ast.For | ast.While | ast.If | ast.Try | ast.FunctionDef
_UNCAUGHT = (MemoryError, KeyboardInterrupt, SystemExit)


def try_statement(cx: Context, node: ast.Try) -> None:
    """A `try` with handlers, and perhaps an `else`."""
    _refuse(cx, node)
    if not cx.session.handles:  # views that were made before have to be tested where they are made
        cx.session.handles = True
        raise Restart
    frame, at = cx.frame, cx.at(node)
    end = cx.new_name(f"{frame.prefix}try")
    handlers = [Handler(_kinds(cx, one), cx.new_name(f"{frame.prefix}except")) for one in node.handlers]
    again = {
        handler.block: Reraised(cx.new_name(f"{frame.prefix}raised"), cx.new_name)
        for handler, part in zip(handlers, node.handlers, strict=True)
        if any(isinstance(one, ast.Raise) and one.exc is None for stmt in part.body for one in ast.walk(stmt))
    }
    caught = Caught(handlers, reraised=again)
    tail, frame.tail = frame.tail, False
    with cx.inner_body() as inner:
        cx.catching.append(tuple(kind for one in handlers for kind in one.kinds))
        try:
            cx.execute(node.body)
        finally:
            cx.catching.pop()
        inner[:] = caught.body(inner)
        cx.execute(node.orelse)
    whole = tuple(inner)
    for handler, part in zip(handlers, node.handlers, strict=True):
        if handler.block not in caught.left:  # it says what types names have
            with cx.inner_body():
                _handle(cx, part, again.get(handler.block))
            continue
        with cx.inner_body() as outer:
            if not always_jumps(whole):
                with cx.resumed(inner := list(whole)):
                    cx.leave(end, node)
                whole = tuple(inner)
            cx.emit(Block(handler.block, whole, at=at))
            _handle(cx, part, again.get(handler.block))
        whole = tuple(outer)
    frame.tail = tail
    for stmt in (stmt for one in again.values() for stmt in one.begun()):
        cx.emit(stmt)
    cx.emit(Block(end, whole, at=at))


def _handle(cx: Context, handler: ast.ExceptHandler, again: Reraised | None) -> None:
    cx.handling.append(again)
    cx.execute(handler.body)
    cx.handling.pop()


def catches(cx: Context, *kinds: type[Exception]) -> bool:
    """Whether a handler around catches one of these exceptions: where a float operation of Python's raises it, it has
    to be tested."""
    return any(issubclass(kind, one) for kind in kinds for one in cx.catching)


def refuse_partial(cx: Context, written: Sequence[Stmt], node: ast.stmt) -> None:
    """Raise KernelError for a statement in the body of a `try` whose loops may fail after they have written elements.
    written: what the statement became."""
    if not cx.catching or is_ours(cx.frame.source.function):
        return
    loops = [one for one in written if isinstance(one, For | While) and id(one) not in cx.own_loops]
    if isinstance(node, _COMPOUND):
        cx.own_loops |= {id(one): one for one in loops}
        return
    new = arrays_made(tuple(written))
    for loop in loops:
        writes = any(one.array not in new for one in statements((loop,), Store))
        if writes and fails_inside((loop,), cx.catching):
            raise cx.error(node, "this statement may fail after it has written some elements",
                           "NumPy tests all of them before it writes, and the handler would see the difference",
                           "write the loop out, or test the indices before")  # fmt: skip


def _refuse(cx: Context, node: ast.Try) -> None:
    if node.finalbody:
        raise cx.error(node, "a 'finally' that jumps is outside the language", "it would hide an exception",
                       "write its 'return', 'break' or 'continue' after it")  # fmt: skip
    if cx.frame.calls_again is not None:
        raise cx.error(node, "'try' in a function that calls itself is outside the language",
                       remedy="test the condition with 'if' before the operation")  # fmt: skip
    nodes = own_nodes(cx.frame.tree)
    for one in node.handlers:
        if one.name is not None and any(isinstance(part, ast.Name) and part.id == one.name for part in nodes):
            raise cx.error(one, f"the exception '{one.name}' is used as a value",
                           "only its class is known", "write one handler for each class")  # fmt: skip
    for part in ast.walk(node):
        if isinstance(part, ast.Yield | ast.YieldFrom):
            raise cx.error(part, "'yield' inside of a 'try' is outside the language",
                           remedy="give the value after the 'try'")  # fmt: skip


def _kinds(cx: Context, handler: ast.ExceptHandler) -> tuple[type[BaseException], ...]:
    """The classes that a handler catches."""
    if handler.type is None:
        return (BaseException,)
    value = cx.evaluate(handler.type)
    found = [_class_of(one) for one in (value.items if isinstance(value, Items) else (value,))]
    if any(one is None for one in found):
        raise cx.error(handler.type, "this is not an exception class", remedy="name classes: except ValueError")
    if any(one in _UNCAUGHT for one in found):
        raise cx.error(handler.type, "this exception cannot be caught here", "it always ends the whole call")
    return tuple(one for one in found if one is not None)


def _class_of(value: Value) -> type[BaseException] | None:
    found = value.value if isinstance(value, Fixed) else None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
