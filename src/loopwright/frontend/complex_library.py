"""Functions of complex numbers, written in the language: a call is read as that of any helper.

They are Python, and run as such: the tests compare them with cmath and NumPy. Formulas are those of CPython's
cmathmodule.c, and of C99, annex G, for what is not finite. `pair(x, y)` has parts of the type of x and y.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def pair(real: Any, imag: Any) -> Any:
    """The complex number of two parts of one type."""
    return np.result_type(real, np.complex64).type(complex(real, imag))


def exp(z: Any) -> Any:
    """`e ** z`."""
    x, y = z.real, z.imag
    size = np.exp(x)
    if y == 0:
        return pair(size, y)
    if size == 0 and not np.isfinite(y):
        return pair(size, size)
    if np.isinf(size) and np.isfinite(x):  # it may be finite in the end
        size = np.exp(x - 1)
        return pair(size * np.cos(y) * np.e, size * np.sin(y) * np.e)
    if np.isinf(size) and not np.isfinite(y):
        return pair(size, y - y)
    return pair(size * np.cos(y), size * np.sin(y))


def log(z: Any) -> Any:
    """The natural logarithm: the imaginary part is the angle."""
    x, y = abs(z.real), abs(z.imag)
    size, angle = np.hypot(x, y), np.arctan2(z.imag, z.real)
    if 0.71 <= size <= 1.73:
        most, least = max(x, y), min(x, y)
        return pair(np.log1p((most - 1) * (most + 1) + least * least) / 2, angle)
    if np.isinf(size) and np.isfinite(x) and np.isfinite(y):
        return pair(np.log(np.hypot(x / 2, y / 2)) + 0.6931471805599453, angle)
    return pair(np.log(size), angle)


def log10(z: Any) -> Any:
    """The logarithm to the base 10."""
    w = log(z)
    return pair(w.real * 0.4342944819032518, w.imag * 0.4342944819032518)


def sqrt(z: Any) -> Any:
    """The root whose real part is not negative."""
    x, y = abs(z.real), abs(z.imag)
    if np.isinf(y):
        return pair(y, z.imag)
    if np.isinf(x) or (x == 0 and y == 0):
        if z.real > 0:
            return pair(x, np.copysign(y if y != y else y * 0, z.imag))
        return pair(y if y != y else y * 0, np.copysign(x, z.imag))
    size = 2 * np.sqrt(x / 8 + np.hypot(x / 8, y / 8))
    other = y / (2 * size)
    if z.real >= 0:
        return pair(size, np.copysign(other, z.imag))
    return pair(other, np.copysign(size, z.imag))


def sinh(z: Any) -> Any:
    """The hyperbolic sine."""
    if z.imag == 0:
        return pair(np.sinh(z.real), z.imag)
    if z.real == 0:
        return pair(z.real, np.sin(z.imag))
    return pair(np.sinh(z.real) * np.cos(z.imag), np.cosh(z.real) * np.sin(z.imag))


def cosh(z: Any) -> Any:
    """The hyperbolic cosine."""
    if z.imag == 0:
        return pair(np.cosh(z.real), -z.imag if z.real < 0 else z.imag)
    return pair(np.cosh(z.real) * np.cos(z.imag), np.sinh(z.real) * np.sin(z.imag))


def tanh(z: Any) -> Any:
    """The hyperbolic tangent."""
    x, y = z.real, z.imag
    if abs(x) > 40:  # as near to 1 as it gets
        decay = np.exp(-2 * abs(x))
        return pair(np.sign(x), decay if np.isinf(x) and not np.isfinite(y) else 4 * np.sin(y) * np.cos(y) * decay)
    first, second, slope = np.tanh(x), np.tan(y), 1 / np.cosh(x)
    both = first * second
    divisor = 1 + both * both
    return pair(first * (1 + second * second) / divisor, second / divisor * slope * slope)


def sin(z: Any) -> Any:
    """The sine."""
    w = sinh(pair(-z.imag, z.real))
    return pair(w.imag, -w.real)


def cos(z: Any) -> Any:
    """The cosine."""
    return cosh(pair(-z.imag, z.real))


def tan(z: Any) -> Any:
    """The tangent."""
    w = tanh(pair(-z.imag, z.real))
    return pair(w.imag, -w.real)


def angle(z: Any) -> Any:
    """The angle of a number with the axis of positive reals."""
    return np.arctan2(z.imag, z.real)


def power(z: Any, w: Any) -> Any:
    """`z ** w` for powers that are known only when the code runs, or are no small integers."""
    one, nothing = w.real * 0 + 1, w.real * 0
    if w.real == 0 and w.imag == 0:
        return pair(one, nothing)
    if z.real == 0 and z.imag == 0:
        if w.real > 0:
            return pair(nothing, nothing)
        return pair(nothing / nothing, nothing / nothing)
    if w.imag == 0 and abs(w.real) < 100 and w.real == np.floor(w.real):
        left = abs(w.real)
        result, factor = pair(one, nothing), z
        while left >= 1:
            if left % 2 == 1:
                result = result * factor
            left = np.floor(left / 2)
            if left >= 1:
                factor = factor * factor
        return 1 / result if w.real < 0 else result
    return exp(w * log(z))
