"""What code relies on outside the function that it was made of: single facts that cost next to nothing to check again.
It reads them, and finds nothing by itself: that is the front end's."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, Literal

Kind = Literal["item", "own", "cell", "type", "mro", "dict", "slot", "code", "defaults", "keywords"]
"""Of what the value is: `item` of a dict under a key; `own` attribute of a class, without its bases; contents of a
`cell`; an object's `type`; a class's `mro`; an object's own `dict`; its `slot`, the key being the descriptor; a
function's `code`, `defaults`, and `keywords`, the dict of defaults of its keyword-only parameters."""


class _Absent(enum.Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""The value where there is nothing."""


Outside = tuple[object, object]
"""A dict and a key of it, or a cell and anything."""
Drawn = tuple[object, object, object, object, object, int]
"""A module, its global random generator `_rand`, the `_bit_generator` of that, its lock, the array of its numbers, and
the address of the normal number that is left over: an int that tells whether there is one, and the number."""
Found = tuple[tuple[Outside, ...], Drawn | None]
"""What the launcher finds behind the arguments of a call."""


@dataclass(frozen=True, slots=True)
class CapturedConstant:
    """A fact that code relies on: what stood at `key` (where the kind has keys, else '') of `namespace`. The check, in
    devices/launcher_constants.c, compares objects with what `value_now` gives."""

    kind: Kind
    namespace: Any = field(repr=False)  # of a module, it leads to everything
    key: Any
    value: object


def value_now(kind: Kind, namespace: Any, key: Any) -> object:
    """What a fact of this kind says now."""
    return _READ[kind](namespace, key)


def defaults_of(function: FunctionType) -> dict[str, object]:
    """The defaults of a function's parameters now, by name."""
    code, values = function.__code__, function.__defaults__ or ()
    last = zip(reversed(code.co_varnames[: code.co_argcount]), reversed(values), strict=False)
    return {**dict(last), **(function.__kwdefaults__ or {})}


_own_dict: Callable[[type], dict[str, object]] = type.__dict__["__dict__"].__get__
_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__


def _cell(cell: Any, key: object) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def _slot(owner: object, descriptor: Any) -> object:
    try:
        return descriptor.__get__(owner, type(owner))
    except AttributeError:
        return ABSENT


_READ: dict[Kind, Callable[[Any, Any], object]] = {
    "item": lambda space, key: dict.get(space, key, ABSENT),
    "own": lambda kind, name: _own_dict(kind).get(name, ABSENT),
    "cell": _cell,
    "type": lambda owner, key: type(owner),
    "mro": lambda kind, key: _mro(kind),
    "dict": lambda owner, key: object.__getattribute__(owner, "__dict__"),
    "slot": _slot,
    "code": lambda function, key: function.__code__,
    "defaults": lambda function, key: function.__defaults__,
    "keywords": lambda function, key: function.__kwdefaults__,
}
