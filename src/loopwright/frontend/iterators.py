"""Iterators that have a name: `places = np.ndindex(a.shape)`, `next(places)`, and loops over what is left of one."""

from __future__ import annotations

import ast

import numpy as np

from loopwright.frontend.array_variables import replaced_later
from loopwright.frontend.context import Context
from loopwright.frontend.iteration import function_of, sequence_of, write_generators
from loopwright.frontend.values import Fixed, IteratorValue, Value, describe
from loopwright.frontend.variables import read_variable, store_variable
from loopwright.frontend.views import ZERO, add, size_of
from loopwright.ir.nodes import Assign, Block, Checked, Compare, Const, Var
from loopwright.ir.types import BOOL, INT64

_MAKERS = (np.ndindex, np.ndenumerate, enumerate, zip, reversed, iter)


def iterator_of(cx: Context, name: str, node: ast.expr) -> IteratorValue | None:
    """The iterator that a name is given; None for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    callee = function_of(cx, node)
    made = callee.value if isinstance(callee, Fixed) else None
    if not any(made is one for one in _MAKERS):
        return None
    if made is iter and (len(node.args) != 1 or node.keywords):
        raise cx.error(node, "iter() takes one sequence here")
    sequence = sequence_of(cx, node.args[0] if made is iter else node)
    if sequence.after is not None:
        raise cx.error(node, "a set or a dict has no iterator with a name here", remedy="write a loop over it")
    loads = cx.frame.webs.loads
    for web in (loads[id(part)] for part in ast.walk(node) if id(part) in loads):
        if replaced_later(cx, [web], node):
            raise cx.error(node, f"'{web.name}' is assigned again while an iterator goes over it",
                           "the iterator goes over the elements of the array that it began with",
                           f"make it of a copy: {web.name}.copy()")  # fmt: skip
    position = cx.new_name(f"{cx.frame.prefix}{name}.position")
    cx.emit(Assign(position, ZERO, at=cx.at(node)))
    return IteratorValue(sequence, position, (cx.frame.number, *cx.frame.loops))


def _first_of(cx: Context, made: ast.GeneratorExp, node: ast.Call) -> Value:
    """`next(x for ... if ...)`, and with what it gives where there is none."""
    key, at, block = (*cx.frame.path, "next", id(node)), cx.at(node), cx.new_name("next")
    given = cx.evaluate(node.args[1]) if len(node.args) > 1 else None
    name = f"{cx.frame.prefix}next"
    if given is not None:
        store_variable(cx, key, name, given, node, node.args[1])

    def found() -> None:
        store_variable(cx, key, name, cx.evaluate(made.elt), node, made.elt)
        cx.leave(block, node)

    with cx.inner_body() as body:
        write_generators(cx, made.generators, node, found)
        if given is None:
            cx.temporary(Checked(ZERO, Const(False, BOOL), "raised", "StopIteration", at=at), at)
    cx.emit(Block(block, tuple(body), at=at))
    return read_variable(cx, key, node, name)


def next_of(cx: Context, node: ast.Call) -> Value:
    """`next(iterator)`, `next(x for ... if ...)`."""
    if node.args and isinstance(made := node.args[0], ast.GeneratorExp) and len(node.args) < 3 and not node.keywords:
        return _first_of(cx, made, node)
    if len(node.args) != 1 or node.keywords:
        raise cx.error(node, "next() takes an iterator here", remedy="test whether there is one more before")
    given = cx.evaluate(node.args[0])
    if not isinstance(given, IteratorValue):
        raise cx.error(node, f"next() of {describe(given)} is outside the language",
                       "it takes an iterator that has a name", "it = iter(x)")  # fmt: skip
    at = cx.at(node)
    place = cx.temporary(Var(given.position, INT64), at)
    cx.natural.add(place.name)
    inside = Compare("lt", place, size_of(given.sequence.size))
    tested = cx.temporary(Checked(place, inside, "raised", "StopIteration", at=at), at)
    cx.natural.add(tested.name)
    cx.emit(Assign(given.position, add(place, Const(1, INT64)), at=at))
    item: Value = given.sequence.item(cx, tested)
    return item
