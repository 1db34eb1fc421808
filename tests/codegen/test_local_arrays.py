"""Memory of local arrays: large ones in large pages, the same contents whatever their size."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw


@lw.kernel
def twice_copied(a):
    b = a.copy()
    c = b * 2.0
    return c + b[::-1]


@pytest.mark.parametrize("size", [0, 1, 1000, (4 << 20) // 8 - 1, (4 << 20) // 8, (4 << 20) // 8 + 1, 700_001])
def test_sizes_around_that_of_large_pages(size: int) -> None:
    a = np.random.default_rng(size).random(size)
    assert (twice_copied(a) == a * 2.0 + a[::-1]).all()


@lw.kernel
def growing(sizes):
    total = 0.0
    for k in range(sizes.shape[0]):
        work = np.ones(sizes[k])
        work[0] = k
        total += work.sum()
    return total


def test_one_array_that_is_made_again_and_again_in_several_sizes() -> None:
    sizes = np.array([10, 1 << 20, 5, 3 << 19, 1 << 10, 1 << 21])
    assert growing(sizes) == sizes.sum() - 6 + 15
