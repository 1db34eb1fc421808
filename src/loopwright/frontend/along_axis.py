"""Arrays of several axes as rows along one of them, and back, written in the language: for functions of NumPy's that
are written for one axis or two (numerics.py, sorting.py, library.py)."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_rows(a: Any, axis: Any) -> Any:
    """An array of two axes: what lies along `axis`, in the order of the other axes."""
    count = 1
    for size in np.moveaxis(a, axis, -1).shape[:-1]:
        count *= size
    return np.moveaxis(a, axis, -1).reshape(count, a.shape[axis])


def as_before(rows: Any, a: Any, axis: Any) -> Any:
    """Rows of the same lengths, or of others, as an array with the axes of `a`."""
    shape = (*np.moveaxis(a, axis, -1).shape[:-1], rows.shape[1])
    return np.moveaxis(rows.reshape(shape), -1, axis)


def of_rows(values: Any, a: Any, axis: Any) -> Any:
    """A value for each row, as an array with the other axes of `a`."""
    return values.reshape(np.moveaxis(a, axis, -1).shape[:-1])
