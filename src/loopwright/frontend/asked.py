"""Functions of ours without arguments whose answer is an int that each call of a kernel finds out anew, such as how
many threads serve loops: a hidden argument."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from loopwright.frontend.context import Context
from loopwright.frontend.hidden import ASKED_NAME, Hidden, NeededError
from loopwright.frontend.values import Value


def answer(cx: Context, function: Any, node: ast.Call) -> Value:
    """What a function says when the call begins. Raises NeededError where no argument stands for that yet."""
    if node.args or node.keywords:
        raise cx.error(node, f"{ast.unparse(node.func)}() takes no arguments")
    name = f"{ASKED_NAME}{function.__name__}"
    if name in cx.arguments:
        return cx.arguments[name]

    def run(call: Callable[..., object], arguments: Sequence[object]) -> object:
        return call(*arguments, function())

    needed = NeededError(f"this function asks {function.__name__}()", cx.at(node), remedy="call it once first")
    needed.hidden = Hidden((name,), run, lambda: (function(),), written=False)
    raise needed
