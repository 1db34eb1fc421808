"""Arrays from outside the function (globals, closure cells, attributes of modules): arguments that the caller does not
write. Each call has the array that stands there then, with what it holds then."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.hidden import GLOBAL, Hidden, NeededError
from loopwright.frontend.outside import plain_function
from loopwright.frontend.values import Value
from loopwright.frontend.watched import Found
from loopwright.ir.captured import CapturedConstant, value_now

_TOGETHER = 32
"""Global arrays that are asked for at once, at most."""


def global_array(cx: Context, found: Found, node: ast.expr) -> Value:
    """The argument that stands for an array from outside. Raises NeededError where there is none yet."""
    fact, known = found.relies[-1], cx.session.source.outside
    for name, one in known.items():
        if (one.kind, one.key) == (fact.kind, fact.key) and one.namespace is fact.namespace:
            return cx.arguments[name]
    needed = NeededError("this function reads an array from outside", cx.at(node), remedy="call it once first")
    asked = {(one.kind, id(one.namespace), one.key) for one in known.values()}
    facts = [fact, *(one for one in _read_later(cx.frame.source.function, fact) if _question(one) not in asked)]
    texts = [ast.unparse(node), *(str(one.key) for one in facts[1:])]
    needed.hidden = _hidden({f"{GLOBAL}{len(known) + k}.{text}": facts[k] for k, text in enumerate(texts)})
    raise needed


def _question(fact: CapturedConstant) -> tuple[str, int, object]:
    return fact.kind, id(fact.namespace), fact.key


def _read_later(function: FunctionType, first: CapturedConstant) -> Iterator[CapturedConstant]:
    """The other global arrays of numbers that a function and those that it calls name, and that may be written where
    the first one may: they are asked for together, so that the function is not read again for each of them."""
    assert isinstance(first.value, np.ndarray)
    waiting, seen, found = [function], {function}, {_question(first)}
    while waiting and len(found) < _TOGETHER:
        one = waiting.pop()
        for name in _names_in(one.__code__):
            value = dict.get(one.__globals__, name)
            inner = plain_function(value)
            if isinstance(inner, FunctionType) and inner not in seen and inner.__module__ == function.__module__:
                seen.add(inner)
                waiting.append(inner)
            fact = CapturedConstant("item", one.__globals__, name, value)
            if type(value) is not np.ndarray or value.dtype.kind not in "biufc" or _question(fact) in found:
                continue
            if value.flags.writeable == first.value.flags.writeable:
                found.add(_question(fact))
                yield fact


def _names_in(code: CodeType) -> Iterator[str]:
    """The names that a function reads from its module, and the attributes it asks for."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


def _hidden(facts: Mapping[str, CapturedConstant]) -> Hidden:
    def now() -> tuple[object, ...]:
        return tuple(value_now(one.kind, one.namespace, one.key) for one in facts.values())

    def run(call: Callable[..., object], arguments: Sequence[object]) -> object:
        return call(*arguments, *now())

    first = next(iter(facts.values())).value
    assert isinstance(first, np.ndarray)
    return Hidden(tuple(facts), run, now, facts, first.flags.writeable)
