"""Tables as JSON text: one object with its kind and version, and numbers that parse back to the last bit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

VERSION = 1


def to_text(kind: str, fields: Mapping[str, Any]) -> str:
    """One line of JSON. Raises ValueError for a number that is not finite."""
    return json.dumps({"kind": kind, "version": VERSION, **fields}, allow_nan=False)


def from_text(kind: str, text: str) -> dict[str, Any]:
    """The fields of what `to_text` wrote. Raises ValueError where it is no such text, with what it is instead."""
    try:
        fields = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"a {kind} is a JSON object, and this is no JSON: {error}") from None
    if not isinstance(fields, dict) or fields.pop("kind", None) != kind:
        raise ValueError(f'a {kind} is a JSON object with "kind": "{kind}", not {text[:60]!r}')
    if (version := fields.pop("version", None)) != VERSION:
        raise ValueError(f"this {kind} has version {version!r}; this Loopwright reads version {VERSION}")
    return fields


def number(value: object) -> float:
    """Raises ValueError unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a finite number is needed, not {value!r}")
    return float(value)


def rows(value: object, width: int) -> list[list[float]]:
    """A list of lists of `width` numbers. Raises ValueError where it is none."""
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == width for row in value):
        raise ValueError(f"rows of {width} numbers are needed, not {value!r:.60}")
    return [[number(entry) for entry in row] for row in value]
