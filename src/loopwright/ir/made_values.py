"""What a call returns besides numbers, arrays and lists of these: arrays of records, dicts with texts as keys, texts,
lists of named tuples.

Each is made by a class that is named in `Kernel.packing`, and whose name says all that is known before the call: the
fields of records, the keys of a dict, a text. What is called gives the thing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from loopwright.errors import class_named, name_of_class

OF_FIELDS = "__loopwright_of_fields__"
"""What a class has that makes an object of it of its fields, in order."""


def name_of_records(dtype: np.dtype[Any]) -> str:
    """The name of the class that makes an array of these records of an array for each field."""
    return _name("Records", np.lib.format.dtype_to_descr(dtype))


def name_of_keyed(keys: tuple[str, ...]) -> str:
    """The name of the class that makes a dict of its values."""
    return _name("Keyed", keys)


def name_of_text(text: str) -> str:
    """The name of the class that gives a text."""
    return _name("Text", text)


def name_of_choice(texts: tuple[str, ...], in_list: bool = False, is_joined: bool = False) -> str:
    """The name of the class that gives the text of a number: a character's code, or beyond these the place of one of
    these texts. in_list: a list of them, of a list of numbers. is_joined: one text of all these."""
    return _name("Joined" if is_joined else "Choices" if in_list else "Choice", texts)


def name_of_object(name: str) -> str:
    """The name of the class that makes an object of the class of this name of its fields, and does not run its
    `__init__`."""
    return _name("Object", name)


Form = tuple[Any, ...]
"""Of a tuple with tuples in it: for each place, None for a number, or the form of the tuple there."""


def nested_class(form: Form) -> type:
    """The class that makes a tuple of this form of all its numbers."""
    found = class_named(_name("Nested", form))
    assert found is not None
    return found


def name_of_each(name: str, depth: int) -> str:
    """The name of the class that makes objects of the class of this name of all tuples in a list, or, at a depth of 2,
    in the lists in a list."""
    return _name("Each", (name, depth))


def _name(kind: str, known: object) -> str:
    return f"{__name__}:{kind}_{repr(known).encode().hex()}"


def __getattr__(name: str) -> type:
    kind, _, known = name.partition("_")
    if kind not in _KINDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = ast.literal_eval(bytes.fromhex(known).decode())
    if kind == "Each":
        return _each(*value)
    globals()[name] = made = type(name, (_KINDS[kind],), {"known": value})
    return made


class _Records:
    """An array of records, from an array for each field. The launcher makes them by itself once it finds their dtype
    in the class."""

    known: Any
    __loopwright_records__: Any = None

    def __new__(cls, *planes: Any) -> Any:
        if cls.__loopwright_records__ is None:
            cls.__loopwright_records__ = np.lib.format.descr_to_dtype(cls.known)
        dtype = cls.__loopwright_records__
        tail = len(dtype[dtype.names[0]].shape)
        records = np.empty(planes[0].shape[: planes[0].ndim - tail], dtype)
        for name, plane in zip(dtype.names, planes, strict=True):
            records[name] = plane
        return records


class _Keyed:
    """A dict, from its values."""

    known: tuple[str, ...]

    def __new__(cls, *values: Any) -> dict[str, Any]:  # type: ignore[misc]
        return dict(zip(cls.known, values, strict=True))


class _Text:
    """A text."""

    known: str

    def __new__(cls) -> str:  # type: ignore[misc]
        return cls.known


class _Object:
    """An object of a `jitclass`, from its fields."""

    known: str

    def __new__(cls, *values: Any) -> Any:
        kind: Any = class_named(cls.known)
        return getattr(kind, OF_FIELDS)(values)


class _TextOfNumber:
    """A text, from its number."""

    known: tuple[str, ...]

    def __new__(cls, number: int) -> str:  # type: ignore[misc]
        return chr(number) if number < 0x110000 else cls.known[number - 0x110000]


class _TextsOfNumbers(_TextOfNumber):
    """A list of texts, from their numbers."""

    def __new__(cls, *numbers: int) -> list[str]:  # type: ignore[misc]
        one = super().__new__
        return [one(cls, number) for number in numbers]


class _JoinedTexts(_TextOfNumber):
    """One text, from the numbers of its characters."""

    def __new__(cls, *numbers: int) -> str:  # type: ignore[misc]
        one = super().__new__
        return "".join(one(cls, number) for number in numbers)


def _each(name: str, depth: int) -> type:
    """The class for objects of the class that has this name now. Raises AttributeError where there is none."""
    kind = class_named(name)
    if kind is None:
        raise AttributeError(f"{name} is gone")
    return _each_of(kind, depth)


@cache
def _each_of(kind: type, depth: int) -> type:
    return type(name_of_each(name_of_class(kind), depth).rpartition(":")[2], (_Each,), {"known": (kind, depth)})


class _Each:
    """A list of objects of a class of the user's; lists that stand in the list twice are one list."""

    known: tuple[Any, int]

    def __new__(cls, *items: Any) -> list[Any]:  # type: ignore[misc]
        kind, depth = cls.known
        if depth == 1:
            return [kind(*one) for one in items]
        made = {id(one): [kind(*item) for item in one] for one in items}
        return [made[id(one)] for one in items]


class _Nested:
    """A tuple with tuples in it."""

    known: Form

    def __new__(cls, *numbers: Any) -> tuple[Any, ...]:  # type: ignore[misc]
        return _nested(cls.known, iter(numbers))


def _nested(form: Form, numbers: Iterator[Any]) -> tuple[Any, ...]:
    return tuple(next(numbers) if one is None else _nested(one, numbers) for one in form)


def form_of(kind: type | None) -> Form | None:
    """The form of the tuples that a class makes; None for every other class."""
    return kind.known if kind is not None and issubclass(kind, _Nested) else None


_KINDS: dict[str, type] = {
    "Nested": _Nested, "Records": _Records, "Keyed": _Keyed, "Text": _Text, "Each": _Each, "Object": _Object,
    "Choice": _TextOfNumber, "Choices": _TextsOfNumbers, "Joined": _JoinedTexts,
}  # fmt: skip
