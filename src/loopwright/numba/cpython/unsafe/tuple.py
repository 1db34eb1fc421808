"""`numba.cpython.unsafe.tuple`: tuples with another item in them."""

from __future__ import annotations

from typing import Any


def tuple_setitem(given: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    """The tuple with this value at a place, counted from 0. Plain Python, which a kernel reads like any helper."""
    return tuple(value if number == place else item for number, item in enumerate(given))
