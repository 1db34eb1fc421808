"""Lists where NumPy takes anything like an array, `np.cumsum(x)`, `np.sin(x)`: the names of parameters tell where."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import materialised
from loopwright.frontend.values import ListValue, Value
from loopwright.frontend.written import may_give_view

ARRAYS = frozenset({"a", "b", "v", "m", "x", "y", "xp", "fp", "a1", "a2", "ar", "ar1", "ar2", "weights"})
"""Parameters of such functions that are arrays; others may be shapes and axes."""
_OF_NUMPY = ARRAYS | {"arr", "element", "elements", "test_elements", "prototype", "f", "p", "condition", "A"}
_OTHERS = (
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy,
    np.put, np.place, np.putmask, np.copyto, np.fill_diagonal,
)  # fmt: skip
"""What reads lists by itself, and gives something of its own; and what writes, for which NumPy takes no lists."""


def with_arrays_of_lists(cx: Context, function: object, call: Arguments) -> Arguments:
    """The call with arrays in the place of lists, where a function of NumPy's takes arrays."""
    is_numpys = isinstance(function, np.ufunc) or (getattr(function, "__module__", None) or "").startswith("numpy")
    if not is_numpys or any(function is one for one in _OTHERS) or not callable(function) or isinstance(function, type):
        return call
    if isinstance(function, np.ufunc):
        places = set(range(function.nin))
    else:
        places = {k for k, name in enumerate(_parameters(function)) if name in _OF_NUMPY}

    def taken(place: int, value: Value) -> Value:
        if place not in places or not isinstance(value, ListValue):
            return value
        array = as_array(cx, value, call.node, f"np.{call.name}()")
        return materialised(cx, array, call.node) if may_give_view(function) else array

    return replace(call, values=tuple(taken(k, value) for k, value in enumerate(call.values)))


def _parameters(function: object) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
