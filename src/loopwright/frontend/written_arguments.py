"""To which of their arguments functions of libraries write, from the text of their calls."""

from __future__ import annotations

import ast
import heapq
from collections.abc import Iterator
from types import FunctionType

import numpy as np

_FIRST: tuple[object, ...] = (
    np.copyto, np.put, np.place, np.putmask, np.fill_diagonal,
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop,
)  # fmt: skip
"""What writes to its first argument."""

_OUT_AT: tuple[tuple[object, int], ...] = ((np.round, 2), (np.around, 2), (np.clip, 3), (np.dot, 2))
"""What writes to an argument at this place, if it is given one."""


def written_by(callee: object, call: ast.Call) -> Iterator[ast.expr]:
    """The arguments that a call may write to."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
    if isinstance(callee, np.ufunc):
        yield from call.args[callee.nin :]
    for function, place in _OUT_AT:
        if callee is function:
            yield from call.args[place : place + 1]
    if _writes_to_first(callee) or (callee is np.nan_to_num and _stays_in_place(call)):
        yield from call.args[:1]


def _writes_to_first(callee: object) -> bool:
    shuffles = getattr(callee, "__name__", "") == "shuffle" and not isinstance(callee, FunctionType)
    adds = getattr(callee, "__name__", "") == "at" and isinstance(getattr(callee, "__self__", None), np.ufunc)
    return shuffles or adds or callee in _FIRST


def _stays_in_place(call: ast.Call) -> bool:
    """Whether `np.nan_to_num(x, copy=...)` may write to x."""
    told = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "copy")]
    return any(not isinstance(one, ast.Constant) or not one.value for one in told)
