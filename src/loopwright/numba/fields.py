"""The fields of a `jitclass`: each has a type, which what is assigned gets. A number that some code assigns lies in an
array of one element: code that has the array can change it."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopwright.frontend.object_class import class_of
from loopwright.numba.types import NumbaArray, NumbaType, ScalarType

HELD = " "
"""What stands before a field's name where an object holds it: an attribute, but only for the launcher."""
_PLAIN = {np.dtype(kind) for kind in (np.bool_, np.int64, np.float64, np.complex128)}


def kept(value: Any, name: str) -> Any:
    """What a field of an object holds. Of a number that changes, the array that it lies in from now on."""
    try:
        found = value.__dict__[HELD + name]
    except KeyError:
        raise AttributeError(f"{type(value).__name__}.__init__ gives the field {name!r} no value") from None
    known = class_of(type(value))
    assert known is not None
    if name in known.numbers and (name in known.changing) != isinstance(found, np.ndarray):
        lies = isinstance(found, np.ndarray)  # in an array that came from another process
        found = _as_python(found[0]) if lies else np.array([found], known.types[name][0])
        value.__dict__[HELD + name] = found
    return found


def elements_of(kind: Any) -> tuple[np.dtype[Any], int] | None:
    """The type of the elements, and how many axes there are, of a field that is a number or an array."""
    if isinstance(kind, ScalarType):
        return kind.dtype, 0
    if isinstance(kind, NumbaArray) and isinstance(kind.element, ScalarType):
        return kind.element.dtype, kind.rank
    return None


def field(name: str, kind: Any) -> property:
    """The field as a property: what is assigned gets its type."""
    is_number, key = isinstance(kind, ScalarType), HELD + name

    def read(self: object) -> object:
        held = self.__dict__.get(key, self)
        if held is self:
            return kept(self, name)
        return _as_python(held[0]) if is_number and isinstance(held, np.ndarray) else held

    def write(self: Any, value: object) -> None:
        new, held = _converted(value, name, kind), self.__dict__.get(key)
        if is_number and isinstance(held, np.ndarray):
            held[0] = new
        elif is_number and (known := class_of(type(self))) is not None and name in known.changing:
            self.__dict__[key] = np.array([new], known.types[name][0])  # as calls take it: see `kept`
        else:
            self.__dict__[key] = new

    return property(read, write)


def _converted(value: object, name: str, kind: Any) -> object:
    if isinstance(kind, ScalarType):
        return _as_python(kind.dtype.type(value))
    if isinstance(kind, NumbaArray) and isinstance(kind.element, ScalarType):
        is_one = isinstance(value, np.ndarray) and value.dtype == kind.element.dtype and value.ndim == kind.rank
        if not is_one:
            what = f"{value.dtype} with {value.ndim} axes" if isinstance(value, np.ndarray) else type(value).__name__
            raise TypeError(f"the field {name!r} is a {kind}, and is given {what}")
        return value
    if isinstance(kind, type) and not isinstance(kind, NumbaType) and not isinstance(value, kind):
        raise TypeError(f"the field {name!r} is a {kind.__name__}, and is given {type(value).__name__}")
    return value


def _as_python(value: np.generic) -> object:
    return value.item() if value.dtype in _PLAIN else value
