"""Draws of NumPy's global generator that count trials, written in the language: binomial, multinomial, geometric and
negative binomial numbers.

Sources: legacy-distributions.c and distributions.c in numpy/random/src of NumPy 2 (V. Kachitvichyanukul and B. W.
Schmeiser, Binomial random variate generation, Communications of the ACM 31, 1988: BTPE for large numbers of trials,
inversion for small ones).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from loopwright.frontend.draw_functions import unit
from loopwright.frontend.legacy_draws import poisson, standard_gamma


def binomial(key: Any, gauss: Any, n: Any, p: Any) -> Any:
    """How many of n trials of probability p succeed."""
    if not 0.0 <= p <= 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    if n < 0:
        raise ValueError("n < 0")
    return trials(key, gauss, int(n), float(p))


def trials(key: Any, gauss: Any, n: Any, p: Any) -> Any:
    """The same for numbers that are known to be ones of that kind."""
    rare = p if p <= 0.5 else 1.0 - p
    found = _by_inversion(key, gauss, n, rare) if rare * n <= 30.0 else _by_btpe(key, gauss, n, rare)
    return found if p <= 0.5 else n - found


def _by_inversion(key: Any, gauss: Any, n: Any, p: Any) -> Any:
    q = 1.0 - p
    none = math.exp(n * math.log(q))
    mean = n * p
    bound = min(float(n), mean + 10.0 * math.sqrt(mean * q + 1.0))
    found = 0
    chance = none
    u = unit(key, gauss)
    while u > chance:
        found += 1
        if found > bound:
            found = 0
            chance = none
            u = unit(key, gauss)
        else:
            u -= chance
            chance = ((n - found + 1) * p * chance) / (found * q)
    return found


def _by_btpe(key: Any, gauss: Any, n: Any, p: Any) -> Any:
    """By a triangle, two parallelograms and two exponential tails around the mode."""
    q = 1.0 - p
    top = n * p + p
    mode = math.floor(top)
    p1 = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    xm = mode + 0.5
    xl, xr = xm - p1, xm + p1
    c = 0.134 + 20.5 / (15.3 + mode)
    a = (top - xl) / (top - xl * p)
    left = a * (1.0 + a / 2.0)
    a = (xr - top) / (xr * q)
    right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / left
    p4 = p3 + c / right
    y = 0
    is_found = False
    while not is_found:
        u = unit(key, gauss) * p4
        v = unit(key, gauss)
        is_tried = True
        if u <= p1:
            y = math.floor(xm - p1 * v + u)
            is_found = True
        elif u <= p2:
            x = xl + (u - p1) / c
            v = v * c + 1.0 - abs(mode - x + 0.5) / p1
            is_tried = v <= 1.0
            y = math.floor(x)
        elif v == 0.0:
            is_tried = False
        elif u <= p3:
            y = math.floor(xl + math.log(v) / left)
            is_tried = y >= 0
            v = v * (u - p2) * left
        else:
            y = math.floor(xr - math.log(v) / right)
            is_tried = y <= n
            v = v * (u - p3) * right
        if is_tried and not is_found:
            is_found = _is_below(n, p, q, mode, xm, y, v)
    return y


def _is_below(n: Any, p: Any, q: Any, mode: Any, xm: Any, y: Any, v: Any) -> Any:
    """Whether v is below the probability of y, where that of the mode is 1."""
    variance = n * p * q
    k = abs(y - mode)
    found = False
    if k > 20 and k < variance / 2.0 - 1.0:
        rho = (k / variance) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5)
        t = -k * k / (2.0 * variance)
        log_of_v = np.log(v)
        if log_of_v < t - rho:
            found = True
        elif log_of_v <= t + rho:
            x1, f1, z, w = y + 1.0, mode + 1.0, n + 1.0 - mode, n - y + 1.0
            first = xm * math.log(f1 / x1) + (n - mode + 0.5) * math.log(z / w)
            first = first + (y - mode) * math.log(w * p / (x1 * q))
            found = log_of_v <= first + _tail(f1) + _tail(z) + _tail(x1) + _tail(w)
    else:
        s = p / q
        a = s * (n + 1)
        chance = 1.0
        for i in range(mode + 1, y + 1):
            chance *= a / i - s
        for i in range(y + 1, mode + 1):
            chance /= a / i - s
        found = v <= chance
    return found


def _tail(x: Any) -> Any:
    """What Stirling's series adds to the logarithm of a factorial."""
    square = x * x
    series = 13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square
    return series / x / 166320.0


def multinomial(key: Any, gauss: Any, n: Any, pvals: Any) -> Any:
    """How many of n trials end in each way."""
    count = len(pvals)
    found = np.zeros(count, np.int64)
    total = 0.0
    lost = 0.0
    for k in range(count - 1):
        if not 0.0 <= pvals[k] <= 1.0:
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
        y = pvals[k] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    if total > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    if n < 0:
        raise ValueError("n < 0")
    rest = 1.0
    left = int(n)
    for k in range(count - 1):
        if left > 0 and pvals[k] != 0.0:
            found[k] = trials(key, gauss, left, pvals[k] / rest)
            left -= found[k]
            rest -= pvals[k]
    if left > 0:
        found[count - 1] = left
    return found


def geometric(key: Any, gauss: Any, p: Any) -> Any:
    """How many trials it takes to the first that succeeds."""
    if not 0.0 < p <= 1.0:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    found = 1
    u = unit(key, gauss)
    if p >= 0.333333333333333333333333:
        total = float(p)
        chance = float(p)
        while u > total:
            chance *= 1.0 - p
            total += chance
            found += 1
    else:
        found = math.ceil(math.log1p(-u) / math.log(1.0 - p))
    return found


def negative_binomial(key: Any, gauss: Any, n: Any, p: Any) -> Any:
    """How many trials fail before the n-th that succeeds."""
    if not n > 0.0:
        raise ValueError("n <= 0")
    if not 0.0 <= p <= 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    return poisson(key, gauss, (1.0 - p) / p * standard_gamma(key, gauss, float(n)))
