"""The Mersenne Twister as Python: NumPy's numbers and its state."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.frontend import draw_functions as d


def _seeded(number):
    key, gauss = np.zeros(625, np.uint32), np.zeros(2)
    d.seed(key, gauss, number)
    return key, gauss


@pytest.mark.parametrize("number", [0, 1, 12345, 2**32 - 1])
@pytest.mark.filterwarnings("ignore:overflow")
def test_the_state(number):
    key, gauss = _seeded(number)
    theirs = np.random.RandomState(number)
    for _ in range(700):
        assert d.unit(key, gauss) == theirs.random_sample()
    state = theirs.get_state(legacy=False)["state"]
    assert (key[:624] == state["key"]).all()
    assert key[624] == state["pos"]


def test_what_is_left_over():
    key, gauss = _seeded(5)
    theirs = np.random.RandomState(5)
    for _ in range(5):
        assert d.normal(key, gauss, 1.0, 2.0) == theirs.normal(1.0, 2.0)
        assert [d.integer(key, gauss, -3, high) for high in (0, 5, 2**31)] == [
            theirs.randint(-3, high) for high in (0, 5, 2**31)
        ]
    assert gauss[0] == theirs.get_state(legacy=False)["has_gauss"] == 1.0
    assert gauss[1] == theirs.get_state(legacy=False)["gauss"]


def test_orders():
    key, gauss = _seeded(8)
    theirs = np.random.RandomState(8)
    assert list(d.permutation_of(key, gauss, 20)) == list(theirs.permutation(20))
    a, b = np.arange(9), np.arange(9)
    d.shuffle(key, gauss, a)
    theirs.shuffle(b)
    assert list(a) == list(b)
