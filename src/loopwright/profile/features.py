"""What the time of an irregular kernel depends on besides sizes: how long rows are and how unlike each other. Cheap
enough for every call: of a long row pointer, runs of neighbouring rows all over it are looked at, 4096 rows in all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 4096
RUN = 64
"""Rows that are looked at side by side: eight cache lines, and enough to see a pattern that repeats."""

PER_ARRAY = 3


def row_features(arguments: Sequence[object], row_pointers: Sequence[int]) -> tuple[float, ...]:
    """Three numbers for each row pointer, in the order of row_pointers, which are positions in arguments: the mean
    length of a row, the standard deviation over that mean, and the longest row over it. The mean is of all rows, the
    others of those looked at. Zeros where there is no row, or no row pointer in the host's memory to look at: every
    call of a kernel has as many features."""
    found: list[float] = []
    for position in row_pointers:
        pointers = arguments[position] if 0 <= position < len(arguments) else None
        if isinstance(pointers, np.ndarray) and pointers.ndim == 1 and pointers.dtype.kind in "iu":
            found += lengths_of_rows(pointers)
        else:
            found += [0.0] * PER_ARRAY
    return tuple(found)


def lengths_of_rows(pointers: NDArray[np.integer]) -> tuple[float, float, float]:
    """Mean, standard deviation over the mean, longest over the mean. Row i goes from pointers[i] to pointers[i + 1];
    one that would be negative is empty."""
    count = pointers.size - 1
    if count < 1:
        return 0.0, 0.0, 0.0
    bounds = pointers[_looked_at(count)] if count > MOST_ROWS else pointers[None, :]
    lengths = np.maximum(np.diff(bounds.astype(np.float64), axis=1), 0.0)
    mean_here = float(lengths.mean())
    if mean_here == 0.0:
        return max((float(pointers[-1]) - float(pointers[0])) / count, 0.0), 0.0, 0.0
    mean = max((float(pointers[-1]) - float(pointers[0])) / count, 0.0)
    return mean, float(lengths.std()) / mean_here, float(lengths.max()) / mean_here


@lru_cache(maxsize=16)
def _looked_at(count: int) -> NDArray[np.intp]:
    """Positions of the bounds of runs of rows, one run in each line."""
    starts = np.linspace(0, count - RUN, MOST_ROWS // RUN).astype(np.intp)
    return starts[:, None] + np.arange(RUN + 1, dtype=np.intp)
