"""Rows of different lengths as one array, so that what is fitted to each is fitted to all at once: an array operation
on ten numbers takes as long as one on a thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.estimates import Floats

ROWS = 64
"""So many are fitted together: what that takes for the moment stays below 100 MB."""

_Each = TypeVar("_Each")


def padded(rows: Sequence[Floats], repeat: bool = False) -> Floats:
    """Of arrays that differ in length along their first axis: each with zeros behind it, or with its first element
    again and again."""
    longest = max(len(row) for row in rows)
    found = np.zeros((len(rows), longest, *rows[0].shape[1:]))
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
        if repeat:
            found[place, len(row) :] = row[0]
    return found


def present(rows: Sequence[Floats]) -> NDArray[np.bool_]:
    """Where `padded` has an element of a row."""
    lengths = np.array([len(row) for row in rows])
    return np.arange(lengths.max())[None, :] < lengths[:, None]


def parts(rows: Sequence[_Each]) -> Iterator[Sequence[_Each]]:
    """So many at a time as are fitted together."""
    return (rows[start : start + ROWS] for start in range(0, len(rows), ROWS))
