"""Modulo and floor division of floats, which are computed without the C library wherever that is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw

SPECIAL = [0.0, 1.0, 0.5, 3.0, 0.1, 360.0, 1e17, 2.0**53, 2.0**53 + 2, 2.0**24 + 1, 1e300, 5e-324, 2.3e-308]
SPECIAL += [np.inf, np.nan, np.nextafter(1.0, 0.0), np.nextafter(3.0, 9.0), 1e-40, 3.4e38]


def both(mod: Any, floor: Any, unit: Any, a: Any, b: Any) -> None:
    for i in range(a.size):
        mod[i] = a[i] % b[i]
        floor[i] = a[i] // b[i]
        unit[i] = a[i] % 1.0


def pairs(element: Any) -> tuple[Any, Any]:
    """All pairs of special values, and random ones: close to multiples, far apart, and of any bits."""
    rng = np.random.default_rng(7)
    special = np.array([sign * value for value in SPECIAL for sign in (1, -1)])
    x, y = (one.ravel() for one in np.meshgrid(special, special))
    by = rng.uniform(-9, 9, 4000)
    near = by * rng.integers(-(10**6), 10**6, 4000)
    near = np.nextafter(near, rng.choice([-np.inf, np.inf], 4000))
    far = rng.normal(size=4000) * 2.0 ** rng.integers(-60, 60, 4000)
    bits = rng.integers(0, 2**63, (2, 4000)).view(np.float64)
    return np.concatenate([x, near, far, bits[0]]).astype(element), np.concatenate([y, by, by, bits[1]]).astype(element)


@pytest.mark.parametrize("element", [np.float64, np.float32])
def test_as_numpy(element: Any) -> None:
    with np.errstate(all="ignore"):
        a, b = pairs(element)
        found = [np.zeros(a.size, element) for _ in range(3)]
        lw.kernel(both)(*found, a, b)
        expected = np.mod(a, b), np.floor_divide(a, b), np.mod(a, element(1))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        known = ~np.isnan(other)
        np.testing.assert_array_equal(np.signbit(one)[known], np.signbit(other)[known])
