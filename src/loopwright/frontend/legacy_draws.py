"""More draws of NumPy's global generator, written in the language: gamma, chi-square and Poisson numbers.

Sources: legacy-distributions.c and distributions.c in numpy/random/src of NumPy 2 (G. Marsaglia and W. W. Tsang, A
simple method for generating gamma variables, 2000; W. Hoermann, The transformed rejection method for generating Poisson
random variables, 1993).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from loopwright.frontend.draw_functions import standard_exponential, standard_normal, unit

_STIRLING = (
    8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
    8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
    1.796443723688307e-01, -1.39243221690590e00,
)  # fmt: skip


def standard_gamma(key: Any, gauss: Any, shape: Any) -> Any:
    """A gamma number of this shape, with scale 1."""
    if shape == shape and np.signbit(float(shape)):
        raise ValueError("shape < 0")
    found = 0.0
    if shape == 1.0:
        found = standard_exponential(key, gauss)
    elif shape < 1.0 and shape != 0.0:
        found = _gamma_below_one(key, gauss, float(shape))
    elif shape != 0.0:
        found = _gamma_above_one(key, gauss, float(shape))
    return found


def _gamma_below_one(key: Any, gauss: Any, shape: Any) -> Any:
    x = 0.0
    is_found = False
    while not is_found:
        u = unit(key, gauss)
        v = standard_exponential(key, gauss)
        if u <= 1.0 - shape:
            x = u ** (1.0 / shape)
            is_found = x <= v
        else:
            y = -math.log((1.0 - u) / shape)
            x = (1.0 - shape + shape * y) ** (1.0 / shape)
            is_found = x <= v + y
    return x


def _gamma_above_one(key: Any, gauss: Any, shape: Any) -> Any:
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    v = 0.0
    is_found = False
    while not is_found:
        v = 0.0
        x = 0.0
        while v <= 0.0:
            x = standard_normal(key, gauss)
            v = 1.0 + c * x
        v = v * v * v
        u = unit(key, gauss)
        is_found = u < 1.0 - 0.0331 * (x * x) * (x * x) or math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v))
    return b * v


def gamma(key: Any, gauss: Any, shape: Any, scale: Any) -> Any:
    """A gamma number of this shape and scale."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(scale) * standard_gamma(key, gauss, shape)


def chisquare(key: Any, gauss: Any, df: Any) -> Any:
    """A chi-square number with these degrees of freedom."""
    if df <= 0.0:
        raise ValueError("df <= 0")
    return 2.0 * standard_gamma(key, gauss, df / 2.0)


def poisson(key: Any, gauss: Any, lam: Any) -> Any:
    """A Poisson number with this mean."""
    if not lam >= 0.0 or np.signbit(float(lam)):
        raise ValueError("lam < 0 or lam is NaN")
    if lam > 9.223372006484771e18:
        raise ValueError("lam value too large")
    found = 0
    if lam >= 10.0:
        found = _poisson_of_large(key, gauss, float(lam))
    elif lam != 0.0:
        least = math.exp(-lam)
        product = unit(key, gauss)
        while product > least:
            found += 1
            product *= unit(key, gauss)
    return found


def _poisson_of_large(key: Any, gauss: Any, lam: Any) -> Any:
    root = math.sqrt(lam)
    log_of_lam = math.log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    bound = 0.9277 - 3.6224 / (b - 2.0)
    k = 0
    is_found = False
    while not is_found:
        u = unit(key, gauss) - 0.5
        v = unit(key, gauss)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= bound:
            is_found = True
        elif k >= 0 and (us >= 0.013 or v <= us):
            left = math.log(v) + math.log(inverse) - math.log(a / (us * us) + b)
            is_found = left <= -lam + k * log_of_lam - _log_of_gamma(k + 1.0)
    return k


def _log_of_gamma(x: Any) -> Any:
    """The logarithm of the gamma function, as NumPy computes it here: by Stirling's series above 7."""
    steps = int(7.0 - x) if x < 7.0 else 0
    x0 = x + steps
    square = (1.0 / x0) * (1.0 / x0)
    series = _STIRLING[9]
    for k in range(8, -1, -1):
        series = series * square + _STIRLING[k]
    result = series / x0 + 0.5 * 1.8378770664093453e00 + (x0 - 0.5) * math.log(x0) - x0
    for _ in range(steps):
        result -= math.log(x0 - 1.0)
        x0 -= 1.0
    return 0.0 if x == 1.0 or x == 2.0 else result
