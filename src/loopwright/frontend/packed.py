"""Lists, dicts and bytes as arguments: what they hold, put into arrays for one call, which nobody writes.

Lists hold numbers, tuples of numbers, arrays, or lists of numbers, and dicts have numbers as keys and as values: all of
one type each. The elements of the arrays or lists in a list come one behind another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal as Choice

import numpy as np

from loopwright.ir.types import from_dtype

_PYTHON: dict[type, type] = {bool: np.bool_, int: np.int64, float: np.float64}


@dataclass(frozen=True, slots=True)
class Packed:
    """A list or a dict, by what it holds. weak: for each array of numbers, whether these are Python's. axes: of the
    arrays in a list. arrays: how many arrays there are."""

    holds: Choice["numbers", "tuples", "lists", "arrays", "keys"]
    weak: tuple[bool, ...]
    arrays: int
    axes: int = 1


def packed(value: Sequence[Any] | dict[Any, Any]) -> Packed | None:
    """What a list, a dict or bytes hold; None where they are of no such kind, or empty."""
    if isinstance(value, bytes):
        return Packed("numbers", (True,), 1)
    if isinstance(value, dict):
        kinds = [_kind_of_numbers(list(part)) for part in (value.keys(), value.values())]
        return None if None in kinds else Packed("keys", (kinds[0] == "python", kinds[1] == "python"), 2)
    kind = _kind_of_numbers(value)
    if kind is not None:
        return Packed("numbers", (kind == "python",), 1)
    first = value[0] if value else None
    if isinstance(first, np.ndarray):
        return _of_arrays(value, first)
    if type(first) is tuple:
        return _of_tuples(value, len(first))
    if isinstance(first, list) and all(isinstance(one, list) for one in value):
        kind = _kind_of_numbers([x for one in value for x in one])
        return None if kind is None else Packed("lists", (kind == "python",), 4)
    return None


def _kind_of_numbers(values: Sequence[Any]) -> str | None:
    """Whose numbers these are, "python" or "numpy", all of one type; None for anything else."""
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind in _PYTHON:
        return "python"
    return "numpy" if issubclass(kind, np.generic) and from_dtype(values[0].dtype) is not None else None


def _of_arrays(values: Sequence[Any], first: Any) -> Packed | None:
    same = all(
        type(one) is np.ndarray and one.dtype == first.dtype and one.ndim == first.ndim for one in values
    )  # fmt: skip
    if not same or not first.ndim or from_dtype(first.dtype) is None:
        return None
    return Packed("arrays", (False,), 3 + first.ndim, first.ndim)


def _of_tuples(values: Sequence[Any], count: int) -> Packed | None:
    if not count or not all(type(one) is tuple and len(one) == count for one in values):
        return None
    kinds = [_kind_of_numbers(column) for column in zip(*values, strict=True)]
    return None if None in kinds else Packed("tuples", tuple(kind == "python" for kind in kinds), count)


def _array(values: Sequence[Any]) -> Any:
    """Numbers of one type as an array. Raises OverflowError for one that 64 bits do not hold."""
    if isinstance(values, bytes):
        return np.frombuffer(values, np.uint8).astype(np.int64)
    try:
        return np.array(values, _PYTHON.get(type(values[0]))) if len(values) else np.empty(0)
    except OverflowError:
        large = next(one for one in values if not -(1 << 63) <= one < 1 << 63)
        raise OverflowError(f"an element of a list or a dict: the Python int {large} does not fit int64") from None


def arrays_of(value: Any, known: Packed) -> Iterator[Any]:
    """The arrays of a list or a dict: of a list with arrays or lists in it, their numbers, where each begins, the sizes
    of its axes, and the elements."""
    match known.holds:
        case "numbers":
            yield _array(value)
        case "tuples":
            yield from (_array(column) for column in zip(*value, strict=True))
        case "keys":
            yield _array(list(value.keys()))
            yield _array(list(value.values()))
        case "lists" | "arrays":
            lengths = np.array([len(one) if known.holds == "lists" else one.size for one in value], np.int64)
            yield np.arange(len(value))
            yield np.cumsum(lengths) - lengths
            if known.holds == "lists":
                yield lengths
                yield _array([x for one in value for x in one])
            else:
                yield from (np.array([one.shape[axis] for one in value], np.int64) for axis in range(known.axes))
                yield np.concatenate([one.ravel() for one in value])


def shares_memory(value: Any, known: Packed, others: Sequence[Any]) -> bool:
    """Whether an array in a list lies in the memory of one of these."""
    if known.holds != "arrays":
        return False
    return any(np.may_share_memory(one, other) for other in others for one in value)
