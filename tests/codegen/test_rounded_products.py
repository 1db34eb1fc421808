"""Whole numbers of sums of products are Python's own: such code has no fused multiply-adds."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import kernel_of
from loopwright.codegen.rounded_products import rounds_products


def turned(img, m, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            u = m[0] * x + m[1] * y + m[2]
            v = m[3] * x + m[4] * y + m[5]
            i, j = int(np.floor(v)), int(np.floor(u))
            if 0 <= i < img.shape[0] and 0 <= j < img.shape[1]:
                out[y, x] = img[i, j]


def by_arrays(x, m):
    u = m[0] * x + m[1]
    return np.floor(u).astype(np.int64)


def by_the_name_of_a_product(x, m):
    total = 0
    for k in range(len(x)):
        p = x[k] * m[0]
        total += int(-p + m[1])
    return total


def bins(x, m):
    count = np.zeros(100, np.int64)
    for one in x:
        count[int((one - m[1]) * m[0]) % 100] += 1
    return count


def levels(x, m, out):
    for k in range(len(x)):
        out[k] = np.uint8(x[k] * m[0] + 0.5)


def summed(x, m):
    total = 0.0
    for one in x:
        total += one * m[0]
    return total


@pytest.mark.parametrize(("function", "rounds"), [
    (by_arrays, True), (by_the_name_of_a_product, True), (bins, False), (summed, False),
])  # fmt: skip
def test_what_becomes_a_whole_number(function, rounds):
    assert rounds_products(kernel_of(function, np.arange(3.0), np.ones(6))) == rounds


def test_a_level_is_no_place():
    assert not rounds_products(kernel_of(levels, np.arange(3.0), np.ones(6), np.zeros(3, np.uint8)))


def test_places_in_a_turned_picture_are_pythons():
    m = np.array([0.9, 0.1, 3.0, -0.1, 0.9, 5.0])
    img = np.arange(14400.0).reshape(120, 120)
    expected, found = np.zeros_like(img), np.zeros_like(img)
    turned(img, m, expected)
    lw.kernel(turned)(img, m, found)
    np.testing.assert_array_equal(found, expected)
