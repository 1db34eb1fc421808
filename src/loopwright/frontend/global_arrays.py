"""Arrays from outside the function (globals, closure cells, attributes of modules): arguments that the caller does not
write. Each call has the array that stands there then, with what it holds then."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.hidden import GLOBAL, Hidden, NeededError
from loopwright.frontend.values import Value
from loopwright.frontend.watched import Found
from loopwright.ir.captured import CapturedConstant, value_now


def global_array(cx: Context, found: Found, node: ast.expr) -> Value:
    """The argument that stands for an array from outside. Raises NeededError where there is none yet."""
    fact, known = found.relies[-1], cx.session.source.outside
    for name, one in known.items():
        if (one.kind, one.key) == (fact.kind, fact.key) and one.namespace is fact.namespace:
            return cx.arguments[name]
    needed = NeededError("this function reads an array from outside", cx.at(node), remedy="call it once first")
    needed.hidden = _hidden(f"{GLOBAL}{len(known)}.{ast.unparse(node)}", fact)
    raise needed


def _hidden(name: str, fact: CapturedConstant) -> Hidden:
    def now() -> object:
        return value_now(fact.kind, fact.namespace, fact.key)

    def run(call: Callable[..., object], arguments: Sequence[object]) -> object:
        return call(*arguments, now())

    assert isinstance(fact.value, np.ndarray)
    return Hidden((name,), run, lambda: (now(),), {name: fact}, fact.value.flags.writeable)
