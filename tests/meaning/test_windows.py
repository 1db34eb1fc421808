"""Windows of any width, at borders too, counted from 0 and gone through side by side, against CPython."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def spread(a: Any, o: Any, r: int) -> None:
    for y in range(r, a.shape[0] - r):
        for x in range(r, a.shape[1] - r):
            s = q = 0
            for i in range(y - r, y + r + 1):
                for j in range(x - r, x + r + 1):
                    s += a[i, j]
                    q += a[i, j] * a[i, j]
            o[y, x] = q * (2 * r + 1) ** 2 - s * s


def ring(a: Any, o: Any, r: int) -> int:
    found = 0
    for y in range(r, a.shape[0] - r):
        for x in range(r, a.shape[1] - r):
            s = n = 0
            for i in range(y - r, y + r + 1):
                for j in range(x - r, x + r + 1):
                    if abs(i - y) > 1 or abs(j - x) > 1:
                        s += a[i, j]
                        n += 1
            o[y, x] = s * 100 + n
            if a[y, x] * n > s:
                found += 1
    return found


def at_borders(a: Any, o: Any, r: int) -> None:
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            s = n = 0
            for i in range(max(0, y - r), min(h, y + r + 1)):
                for j in range(max(0, x - r), min(w, x + r + 1)):
                    s += a[i, j]
                    n += 1
            o[y, x] = s * 1000 + n


def greatest(a: Any, o: Any, r: int) -> None:
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            m = a[y, x]
            for i in range(max(0, y - r), min(a.shape[0], y + r + 1)):
                for j in range(max(0, x - r), min(a.shape[1], x + r + 1)):
                    if a[i, j] > m:
                        m = a[i, j]
            o[y, x] = m


def ahead(a: Any, o: Any, r: int) -> None:
    for y in range(a.shape[0]):
        for x in range(a.shape[1] - r):
            n = 0
            for j in range(x, x + r):
                if a[y, j] > 0:
                    n += 1
            o[y, x] = n


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("run", [spread, ring, at_borders, greatest, ahead])
def test_windows(run: Callable[[Any, Any, int], Any], kind: type) -> None:
    kernel, random = lw.kernel(run, threads=2), np.random.default_rng(11)
    for shape, r in (((0, 3), 1), ((1, 1), 0), ((3, 5), 4), ((2, 7), 1), ((9, 70), 3), ((7, 140), 1), ((12, 33), 30)):
        a = random.integers(-9, 10, shape).astype(kind)
        mine, pythons = np.zeros((2, *shape))
        assert kernel(a, mine, r) == run(a, pythons, r)
        np.testing.assert_array_equal(mine, pythons)
