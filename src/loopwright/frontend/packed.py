"""Lists, dicts, bytes and long texts as arguments: what they hold, put into arrays for one call. Where the call writes
these, the lists get what they hold afterwards.

Lists hold numbers, tuples of numbers, arrays, or lists of numbers, and dicts have numbers as keys and as values: all of
one type each. The elements of the arrays or lists in a list come one behind another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from typing import Literal as Choice

import numpy as np

from loopwright.ir.types import from_dtype

_PYTHON: dict[type, type] = {bool: np.bool_, int: np.int64, float: np.float64}


@dataclass(frozen=True, slots=True)
class Packed:
    """A list or a dict, by what it holds. weak: for each array of numbers, whether these are Python's. axes: of the
    arrays in a list. arrays: how many arrays there are. may_change: whether it is a list that can get others. grows:
    whether it is one that can get another length."""

    holds: Choice["numbers", "tuples", "lists", "arrays", "keys", "letters"]
    weak: tuple[bool, ...]
    arrays: int
    axes: int = 1
    may_change: bool = False
    grows: bool = False

    @property
    def changing(self) -> tuple[int, ...]:
        """Which of the arrays hold what a call may change."""
        return (0, 3) if self.holds == "lists" else tuple(range(self.arrays))


def packed(value: Sequence[Any] | dict[Any, Any]) -> Packed | None:
    """What a list, a dict, bytes or a text hold; None where they are of no such kind."""
    if isinstance(value, str):
        return Packed("letters", (True,), 1)
    if isinstance(value, bytes):
        return Packed("numbers", (True,), 1)
    if isinstance(value, dict):
        kinds = [_kind_of_numbers(list(part)) for part in (value.keys(), value.values())]
        return None if None in kinds else Packed("keys", (kinds[0] == "python", kinds[1] == "python"), 2)
    kind = _kind_of_numbers(value)
    if kind is not None:
        return Packed("numbers", (kind == "python",), 1, may_change=True)
    first = value[0] if value else None
    if isinstance(first, np.ndarray):
        return _of_arrays(value, first)
    if type(first) is tuple:
        return _of_tuples(value, len(first))
    if isinstance(first, list) and all(isinstance(one, list) for one in value):
        kind = _kind_of_numbers([x for one in value for x in one])
        return None if kind is None else Packed("lists", (kind == "python",), 4, may_change=True)
    return None


class KeysAndValues:
    """Stands for the class of a dict with other values than numbers: its keys are a list, and its values another."""


def packed_dict(value: dict[Any, Any]) -> tuple[Packed, Packed] | None:
    """What the keys of a dict and its values are, as two lists that nobody changes; None for dicts of numbers, and
    where one of the two is no such list."""
    if packed(value) is not None:
        return None
    parts = [packed(list(part)) for part in (value.keys(), value.values())]
    keys, values = (None if one is None else replace(one, may_change=False) for one in parts)
    if keys is None or values is None or keys.holds not in ("numbers", "tuples"):
        return None
    return keys, values


def _kind_of_numbers(values: Sequence[Any]) -> str | None:
    """Whose numbers these are, "python" or "numpy", all of one type; None for anything else. No numbers count as ints:
    what a list without elements holds shows in nothing."""
    if not values:
        return "python"
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
    return (
        None if None in kinds else Packed("tuples", tuple(kind == "python" for kind in kinds), count, may_change=True)
    )


def _array(values: Sequence[Any]) -> Any:
    """Numbers of one type as an array. Raises OverflowError for one that 64 bits do not hold."""
    if isinstance(values, bytes):
        return np.frombuffer(values, np.uint8).astype(np.int64)
    try:
        return np.array(values, _PYTHON.get(type(values[0]))) if len(values) else np.empty(0, np.int64)
    except OverflowError:
        large = next(one for one in values if not -(1 << 63) <= one < 1 << 63)
        raise OverflowError(f"an element of a list or a dict: the Python int {large} does not fit int64") from None


def arrays_of(value: Any, known: Packed) -> Iterator[Any]:
    """The arrays of a list or a dict: of a list with arrays or lists in it, their numbers, where each begins, the sizes
    of its axes, and the elements."""
    match known.holds:
        case "letters":
            yield np.frombuffer(value.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
        case "numbers" if known.arrays:
            yield _array(value)
        case "tuples":
            yield from (_array(column) for column in zip(*value, strict=True))
        case "keys" if known.arrays:
            yield _array(list(value.keys()))
            yield _array(list(value.values()))
        case "lists":
            rows = _each_once(value)
            lengths = np.array([len(one) for one in rows.values()], np.int64)
            places = dict(zip(rows, range(len(rows)), strict=True))
            yield np.array([places[id(one)] for one in value], np.int64)
            yield np.cumsum(lengths) - lengths
            yield lengths
            yield _array([x for one in rows.values() for x in one])
        case "arrays":
            lengths = np.array([one.size for one in value], np.int64)
            yield np.arange(len(value))
            yield np.cumsum(lengths) - lengths
            yield from (np.array([one.shape[axis] for one in value], np.int64) for axis in range(known.axes))
            yield np.concatenate([one.ravel() for one in value])


def _each_once(rows: Sequence[list[Any]]) -> dict[int, list[Any]]:
    """The lists in a list, each once, by their identity: two places may hold the very same list."""
    return {id(one): one for one in rows}


def put_back(value: Any, known: Packed, arrays: Sequence[Any]) -> None:
    """Give a list what its arrays hold: Python's numbers where it held these. Lists in it are the same objects as
    before, in the places where they are now."""
    columns = [one.tolist() if weak else list(one) for one, weak in zip(arrays, known.weak, strict=False)]
    if known.holds == "numbers":
        value[:] = columns[0]
    elif known.holds == "tuples":
        value[:] = zip(*columns, strict=True)
    else:
        numbers, starts, lengths, items = arrays
        rows, elements = list(_each_once(value).values()), items.tolist() if known.weak[0] else list(items)
        for row, begin, length in zip(rows, starts.tolist(), lengths.tolist(), strict=True):
            row[:] = elements[begin : begin + length]
        value[:] = [rows[number] for number in numbers.tolist()]


def lists_in(value: Any, known: Packed) -> set[int]:
    """The identities of the list and the lists in it."""
    inner = map(id, value) if known.holds == "lists" else ()
    return {id(value), *inner}


def shares_memory(value: Any, known: Packed, others: Sequence[Any]) -> bool:
    """Whether an array in a list lies in the memory of one of these."""
    if known.holds != "arrays":
        return False
    return any(np.may_share_memory(one, other) for other in others for one in value)
