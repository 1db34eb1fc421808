"""Predictions of all variants as arrays: the same values, made only where they are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loopwright.predict.estimates import HOWS, Estimates, estimates_of, joined
from loopwright.predict.prediction import Prediction

SOME = tuple(Prediction(10.0 * k, 0.1 * k, how) for k, how in enumerate(HOWS))


def test_it_reads_as_the_predictions_that_it_was_made_of() -> None:
    found = estimates_of(SOME)
    assert (len(found), tuple(found), found.predictions()) == (5, SOME, SOME)
    assert [found[k] for k in range(5)] == list(SOME) and found[-1] == SOME[-1]
    assert tuple(found[1:3]) == SOME[1:3]
    assert [type(one) for one in found[2]] == [float, float, str]
    assert estimates_of(found) is found
    with pytest.raises(IndexError):
        found[5]


def test_none_and_what_is_no_number() -> None:
    assert (len(estimates_of(())), tuple(estimates_of(())), tuple(joined(()))) == (0, (), ())
    odd = estimates_of([Prediction(math.nan, math.inf, "limits")])[0]
    assert math.isnan(odd.time_ns) and odd.error == math.inf


def test_one_after_another_and_picked() -> None:
    first, rest = estimates_of(SOME[:2]), estimates_of(SOME[2:])
    assert tuple(joined((first, rest))) == SOME
    assert joined((first,)) is first
    picked = estimates_of(SOME).at(np.array([3, 3, 0]))
    assert isinstance(picked, Estimates) and tuple(picked) == (SOME[3], SOME[3], SOME[0])
