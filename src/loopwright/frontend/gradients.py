"""`np.gradient`, written in the language: along one axis, or along all of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def gradient(f: Any, varargs: Any = 1.0, second: Any = None, third: Any = None, axis: Any = None) -> Any:
    """Slopes along each axis, an array for each; or along one axis. varargs, second, third: the steps of the axes, or
    where their elements are; one step is that of all axes."""
    if axis is not None:
        slopes = np.moveaxis(_along_first(np.moveaxis(f, axis, 0), varargs), 0, axis)
    elif np.ndim(f) == 1:
        slopes = _along_first(+f, varargs)
    else:
        other = varargs if second is None else second
        last = varargs if third is None else third
        if np.ndim(f) == 2:
            slopes = (_along_first(+f, varargs), _along_first(f.T, other).T)
        else:
            slopes = (
                _along_first(+f, varargs),
                np.moveaxis(_along_first(np.moveaxis(f, 1, 0), other), 0, 1),
                np.moveaxis(_along_first(np.moveaxis(f, 2, 0), last), 0, 2),
            )
    return slopes


def _along_first(f: Any, by: Any) -> Any:
    n = len(f)
    if n < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    slopes = np.empty(f.shape, (f[:1] / 2.0).dtype)
    if np.ndim(by) == 0:
        slopes[1:-1] = (f[2:] * 1.0 - f[:-2]) / (2.0 * by)
        slopes[0] = (f[1] * 1.0 - f[0]) / by
        slopes[-1] = (f[-1] * 1.0 - f[-2]) / by
    else:
        for i in range(1, n - 1):
            left, right = by[i] - by[i - 1], by[i + 1] - by[i]
            a = -right / (left * (left + right))
            b = (right - left) / (left * right)
            c = left / (right * (left + right))
            slopes[i] = a * f[i - 1] + b * f[i] + c * f[i + 1]
        slopes[0] = (f[1] * 1.0 - f[0]) / (by[1] - by[0])
        slopes[-1] = (f[-1] * 1.0 - f[-2]) / (by[-1] - by[-2])
    return slopes


FUNCTIONS: dict[Any, Any] = {np.gradient: gradient}
