"""Gains of paired times: what is claimed, and how sure it is."""

from __future__ import annotations

import random
from statistics import median

import pytest

from loopwright.tuning.comparison import PairedTimes


def test_a_gain_is_the_median_over_pairs_and_not_over_all() -> None:
    slower = (1.0, 1.0, 10.0, 10.0, 10.0)  # the machine, from the third pair on
    found = PairedTimes(tuple(2.0 * one for one in slower), slower)
    assert (found.gain, found.interval, found.is_clear, found.pairs) == (2.0, (2.0, 2.0), True, 5)
    assert (found.before_ns, found.after_ns) == (20.0, 10.0)


@pytest.mark.parametrize(("pairs", "outside"), [(3, 0), (7, 0), (8, 1), (10, 1), (11, 2)])
def test_the_interval_leaves_out_as_many_on_each_side(pairs: int, outside: int) -> None:
    before = tuple(float(k + 1) for k in range(pairs))
    assert PairedTimes(before, (1.0,) * pairs).interval == (before[outside], before[-1 - outside])


def test_one_pair_that_is_off_decides_nothing() -> None:
    found = PairedTimes((2.0,) * 11, (1.0,) * 9 + (40.0, 0.001))
    assert found.gain == 2.0 and found.is_clear and found.interval == (2.0, 2.0)


@pytest.mark.parametrize("pairs", [5, 6, 7, 8, 9, 10, 11])
def test_the_true_gain_lies_in_the_interval_as_often_as_is_said(pairs: int) -> None:
    rng, inside = random.Random(pairs), 0
    for _ in range(2000):
        after = tuple(rng.lognormvariate(0.0, 0.2) for _ in range(pairs))
        found = PairedTimes(tuple(1.3 * rng.lognormvariate(0.0, 0.2) for _ in range(pairs)), after)
        low, high = found.interval
        inside += low <= 1.3 <= high
    assert inside / 2000 > 0.91


def test_of_variants_that_are_equally_fast_hardly_any_is_called_faster() -> None:
    """The fastest of 50 by a first look is compared: what is claimed rests on new times alone."""
    rng, claimed = random.Random(1), 0
    for _ in range(400):
        looks = [rng.lognormvariate(0.0, 0.1) for _ in range(50)]
        assert min(looks) < median(looks)
        pairs = [(rng.lognormvariate(0.0, 0.1), rng.lognormvariate(0.0, 0.1)) for _ in range(11)]
        claimed += PairedTimes(tuple(a for a, _ in pairs), tuple(b for _, b in pairs)).is_clear
    assert claimed / 400 < 0.07
