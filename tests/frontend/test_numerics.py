"""NumPy's functions that compute with whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, same
from frontend.numpy_table import expressions, judge

EXPRESSIONS = """
np.cumsum(a); np.cumsum(m); np.cumsum(m, axis=0); np.cumsum(m, axis=1); np.cumsum(m, 0); np.cumprod(a)
np.cumprod(m, axis=1); np.bartlett(5); np.blackman(5); np.hamming(5); np.hanning(5); np.corrcoef(m); np.corrcoef(a, b)
np.correlate(a, b[:3]); np.correlate(a, b, mode='full'); np.correlate(a, b, 'same'); np.cov(m); np.cov(a, b)
np.cov(m, rowvar=False); np.cross(q[0], q[1]); np.cross(q, q[::-1]); np.diff(a); np.diff(a, n=2); np.diff(m, axis=0)
np.diff(a, 2); np.digitize(a, s); np.digitize(a, s, right=True); np.digitize(x, s); np.digitize(a, s[::-1])
np.ediff1d(a); np.logspace(0.0, 2.0, 5); np.gradient(a); np.gradient(a, 0.5); np.iscomplex(z); np.isreal(z)
np.isneginf(a); np.isposinf(a); np.kron(q, q); np.kron(a, b); np.lexsort((a, i)); np.linalg.matrix_power(q, 3)
np.linalg.slogdet(q)[0]; np.nanargmax(n); np.nanargmin(n); np.nancumsum(n); np.nancumprod(n); np.nanmedian(n)
np.nanpercentile(n, 30); np.nanquantile(n, 0.3); np.nan_to_num(n); np.nan_to_num(x); np.nan_to_num(n, nan=3.0)
np.percentile(a, 30); np.percentile(a, [25, 75]); np.quantile(a, 0.3); np.quantile(a, s / 10)
np.percentile(m, 50, axis=0); np.polyadd(a, b[:3]); np.polyval(b[:3], x); np.polyval(b[:3], a); np.polymul(a, b[:3])
np.fix(a); np.sinc(a); np.sinc(x); np.trapezoid(a); np.trapezoid(a, dx=0.5); np.trapezoid(a, b)
np.trapezoid(m, axis=0); np.vander(a); np.vander(a, 3); np.vander(a, 3, increasing=True); np.gcd(i, 6); np.lcm(i, 4)
np.ldexp(a, i); np.heaviside(a, 0.5); np.logaddexp(a, b); np.logaddexp2(a, b); np.nanmedian(nm, axis=0)
np.polyfit(s, s * s + s, 2); np.linalg.norm(a, 3); np.linalg.norm(m, np.inf); np.diff(m, n=2, axis=0)
np.cumsum(c3, axis=2); np.cumprod(m, axis=0); np.unwrap(9 * a); np.unwrap(9 * m, axis=0); np.unwrap(9 * m, 4.0)
np.unwrap(n, period=1.5); np.geomspace(1.0, 8.0, 4); np.geomspace(-x, -2.0, num=3); np.geomspace(5, 1, 1)
"""


@pytest.mark.parametrize("text", expressions(EXPRESSIONS))
def test_as_numpy(text):
    judge(text)


def test_covariances_of_no_observations_are_not_numbers():
    function = define("def f(m):\n    return np.cov(m.T)\n")
    for size in (0, 1, 2, 5):
        same(function, np.arange(5.0 * 3).reshape(5, 3)[:size] ** 2)


def test_numbers_in_the_place_of_nan_where_they_are():
    function = define("""
        def f(a, c):
            y = np.nan_to_num(a[1:], copy=False, nan=3.0)
            y[0] = 5.0
            np.clip(a, 0.0, 4.0, c)
            np.nan_to_num(c, False)
            return np.dot(a, c)
        """)
    same(function, np.array([np.nan, np.nan, 1.0, np.inf]), np.zeros(4))
