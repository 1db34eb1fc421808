"""More draws of NumPy's global generator, written in the language: functions of uniform, normal and gamma numbers.

Sources: legacy-distributions.c and distributions.c in numpy/random/src of NumPy 2 (M. D. Johnk, Erzeugung von
betaverteilten und gammaverteilten Zufallszahlen, 1964; D. J. Best and N. I. Fisher, Efficient simulation of the von
Mises distribution, 1979; L. Devroye, Non-uniform random variate generation, 1986, for Zipf's and logarithmic numbers).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from loopwright.frontend.draw_functions import normal, standard_exponential, standard_normal, unit
from loopwright.frontend.legacy_draws import chisquare, standard_gamma


def lognormal(key: Any, gauss: Any, mean: Any, sigma: Any) -> Any:
    """A number whose logarithm is normal."""
    if sigma == sigma and np.signbit(float(sigma)):
        raise ValueError("sigma < 0")
    return math.exp(normal(key, gauss, mean, sigma))


def weibull(key: Any, gauss: Any, a: Any) -> Any:
    """A Weibull number of this shape, with scale 1."""
    if a == a and np.signbit(float(a)):
        raise ValueError("a < 0")
    found = 0.0
    if a != 0.0:
        found = standard_exponential(key, gauss) ** (1.0 / float(a))
    return found


def pareto(key: Any, gauss: Any, a: Any) -> Any:
    """A Pareto number of this shape, from 0 on."""
    if not a > 0.0:
        raise ValueError("a <= 0")
    return math.exp(standard_exponential(key, gauss) / float(a)) - 1.0


def power(key: Any, gauss: Any, a: Any) -> Any:
    """A number from 0 to 1 with a density that grows like a power."""
    if not a > 0.0:
        raise ValueError("a <= 0")
    return (1.0 - math.exp(-standard_exponential(key, gauss))) ** (1.0 / float(a))


def rayleigh(key: Any, gauss: Any, scale: Any) -> Any:
    """The length of a vector of two normal numbers."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(scale) * math.sqrt(-2.0 * math.log1p(-unit(key, gauss)))


def laplace(key: Any, gauss: Any, loc: Any, scale: Any) -> Any:
    """A Laplace number: exponential on both sides."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    u = 0.0
    while u == 0.0:
        u = unit(key, gauss)
    if u >= 0.5:
        found = float(loc) - float(scale) * math.log(2.0 - u - u)
    else:
        found = float(loc) + float(scale) * math.log(u + u)
    return found


def gumbel(key: Any, gauss: Any, loc: Any, scale: Any) -> Any:
    """A Gumbel number: the limit of extremes."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    u = 1.0
    while u == 1.0:
        u = 1.0 - unit(key, gauss)
    return float(loc) - float(scale) * math.log(-math.log(u))


def logistic(key: Any, gauss: Any, loc: Any, scale: Any) -> Any:
    """A logistic number."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    u = 0.0
    while u == 0.0:
        u = unit(key, gauss)
    return float(loc) + float(scale) * math.log(u / (1.0 - u))


def triangular(key: Any, gauss: Any, left: Any, mode: Any, right: Any) -> Any:
    """A number whose density is a triangle."""
    if left > mode:
        raise ValueError("left > mode")
    if mode > right:
        raise ValueError("mode > right")
    if left == right:
        raise ValueError("left == right")
    low, middle, high = float(left), float(mode), float(right)
    base = high - low
    u = unit(key, gauss)
    if u <= (middle - low) / base:
        found = low + math.sqrt(u * ((middle - low) * base))
    else:
        found = high - math.sqrt((1.0 - u) * ((high - middle) * base))
    return found


def beta(key: Any, gauss: Any, a: Any, b: Any) -> Any:
    """A beta number."""
    if not a > 0.0:
        raise ValueError("a <= 0")
    if not b > 0.0:
        raise ValueError("b <= 0")
    found = 0.0
    if a <= 1.0 and b <= 1.0:
        found = _beta_below_one(key, gauss, float(a), float(b))
    else:
        first = standard_gamma(key, gauss, float(a))
        found = first / (first + standard_gamma(key, gauss, float(b)))
    return found


def _beta_below_one(key: Any, gauss: Any, a: Any, b: Any) -> Any:
    u, v, x, y = 0.0, 0.0, 2.0, 2.0
    while x + y > 1.0:
        u = unit(key, gauss)
        v = unit(key, gauss)
        x = u ** (1.0 / a)
        y = v ** (1.0 / b)
    found = 0.0
    if x + y > 0.0:
        found = x / (x + y)
    else:
        first, second = math.log(u) / a, math.log(v) / b
        most = first if first > second else second
        found = math.exp(first - most - math.log(math.exp(first - most) + math.exp(second - most)))
    return found


def standard_t(key: Any, gauss: Any, df: Any) -> Any:
    """A number of Student's distribution."""
    if not df > 0.0:
        raise ValueError("df <= 0")
    number = standard_normal(key, gauss)
    return math.sqrt(df / 2.0) * number / math.sqrt(standard_gamma(key, gauss, df / 2.0))


def standard_cauchy(key: Any, gauss: Any) -> Any:
    """A Cauchy number: the quotient of two normal ones."""
    first = standard_normal(key, gauss)
    return first / standard_normal(key, gauss)


def f(key: Any, gauss: Any, dfnum: Any, dfden: Any) -> Any:
    """A number of Fisher's distribution."""
    if not dfnum > 0.0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0.0:
        raise ValueError("dfden <= 0")
    above = chisquare(key, gauss, dfnum) * float(dfden)
    return above / (chisquare(key, gauss, dfden) * float(dfnum))


def wald(key: Any, gauss: Any, mean: Any, scale: Any) -> Any:
    """An inverse Gaussian number."""
    if not mean > 0.0:
        raise ValueError("mean <= 0")
    if not scale > 0.0:
        raise ValueError("scale <= 0")
    m, s = float(mean), float(scale)
    y = standard_normal(key, gauss)
    y = m * y * y
    x = m + m / (2.0 * s) * (y - math.sqrt(4.0 * s * y + y * y))
    return x if unit(key, gauss) <= m / (m + x) else m * m / x


def vonmises(key: Any, gauss: Any, mu: Any, kappa: Any) -> Any:
    """An angle around mu."""
    if kappa == kappa and np.signbit(float(kappa)):
        raise ValueError("kappa < 0")
    return math.pi * (2.0 * unit(key, gauss) - 1.0) if kappa < 1e-8 else _angle(key, gauss, float(mu), float(kappa))


def _angle(key: Any, gauss: Any, mu: Any, kappa: Any) -> Any:
    s = 1.0 / kappa + kappa
    if kappa >= 1e-5:
        r = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - math.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    w = 0.0
    is_found = False
    while not is_found:
        z = math.cos(math.pi * unit(key, gauss))
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = unit(key, gauss)
        is_found = y * (2.0 - y) - v >= 0.0 or np.log(y / v) + 1.0 - y >= 0.0
    angle = math.acos(w)
    if unit(key, gauss) < 0.5:
        angle = -angle
    angle += mu
    found = math.fmod(abs(angle) + math.pi, 2.0 * math.pi) - math.pi
    return -found if angle < 0.0 else found


def zipf(key: Any, gauss: Any, a: Any) -> Any:
    """A number of Zipf's distribution."""
    if not a > 1.0:
        raise ValueError("a <= 1 or a is NaN")
    less = float(a) - 1.0
    b = 2.0**less
    x = 0.0
    is_found = False
    while not is_found:
        u = 1.0 - unit(key, gauss)
        v = unit(key, gauss)
        x = float(np.floor(u ** (-1.0 / less)))
        if 1.0 <= x <= 9223372036854774784.0:
            t = (1.0 + 1.0 / x) ** less
            is_found = v * x * (t - 1.0) / (b - 1.0) <= t / b
    return int(x)


def logseries(key: Any, gauss: Any, p: Any) -> Any:
    """A number of the logarithmic series."""
    if not 0.0 <= p < 1.0:
        raise ValueError("p < 0, p >= 1 or p is NaN")
    r = math.log(1.0 - p)
    found = 0
    while found < 1:
        v = unit(key, gauss)
        if v >= p:
            found = 1
        else:
            q = 1.0 - math.exp(r * unit(key, gauss))
            if v > q * q:
                found = 1 if v >= q else 2
            elif v != 0.0:
                found = math.floor(1.0 + math.log(v) / math.log(q))
    return found
