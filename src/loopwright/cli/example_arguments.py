"""`float64[:, :], int` as arguments: small arrays and scalars of those types, to specialise a kernel without a run."""

from __future__ import annotations

import re

import numpy as np

_PYTHON: dict[str, object] = {"int": 0, "float": 0.0, "bool": False, "None": None}
_ARRAY = re.compile(r"(?P<element>\{.*\}|[\w.]+)\s*\[(?P<axes>[:,\s]*)\]\s*(?P<layout>\w*)")
_FIELD = re.compile(r"(?P<name>\w+)\s*:\s*(?P<dtype>\w+)")
_SIZE = 2  # with one element, every array would be contiguous in every order
FORM = "float64[:, :], int32[:] F, {x: float64, id: int64}[:] strided, int, float32"


class TypesError(ValueError):
    """The text of `--args` is not one; the message says what is wanted."""


def example_arguments(text: str) -> tuple[object, ...]:
    """One argument for each type of the text: Python's int, float, bool, None; NumPy's scalar types by name; arrays as
    a dtype and one `:` for each axis, in C order unless `F` or `strided` follows. Raises TypesError."""
    return tuple(_argument(part) for part in _split(text))


def _split(text: str) -> list[str]:
    """At the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in [*parts, text[start:]]] if text.strip() else []


def _argument(text: str) -> object:
    if text in _PYTHON:
        return _PYTHON[text]
    found = _ARRAY.fullmatch(text)
    if found is None:
        return _dtype(text).type(0)
    dtype = _record(found["element"]) if found["element"].startswith("{") else _dtype(found["element"])
    shape = (_SIZE,) * found["axes"].count(":")
    match found["layout"]:
        case "" | "C":
            return np.zeros(shape, dtype)
        case "F":
            return np.zeros(shape, dtype, order="F")
        case "strided":
            return np.zeros(tuple(3 * size for size in shape), dtype)[(slice(None, None, 3),) * len(shape)]
        case other:
            raise TypesError(f"no layout {other!r} in {text!r}: C, F or strided")


def _dtype(name: str) -> np.dtype[np.generic]:
    try:
        return np.dtype(name.removeprefix("np."))
    except TypeError:
        raise TypesError(f"no type {name!r}: --args is written like '{FORM}'") from None


def _record(text: str) -> np.dtype[np.generic]:
    found = [_FIELD.fullmatch(part) for part in _split(text[1:-1])]
    if not found or None in found:
        raise TypesError(f"no record {text!r}: fields are written like {{x: float64, id: int64}}")
    return np.dtype([(field["name"], _dtype(field["dtype"])) for field in found if field], align=True)
