"""The state of NumPy's global generator around a call: that of NumPy's own draws, also where NumPy does not tell where
the normal number is that is left over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.frontend import random_state


@pytest.fixture(params=["found", "asked for"], autouse=True)
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    before = np.random.get_state(legacy=False)
    if request.param == "asked for":
        monkeypatch.setattr(random_state, "_place", lambda: None)
    yield request.param
    np.random.set_state(before)


def normals(n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += np.random.normal(0.0, 1.0)
    return total


def seeded(n: int) -> float:
    np.random.seed(3)
    total = 0.0
    for _ in range(n):
        total += np.random.normal(0.0, 1.0)
    return total


def same(one: Any, other: Any) -> bool:
    keys = (one["state"]["key"] == other["state"]["key"]).all() and one["state"]["pos"] == other["state"]["pos"]
    return bool(keys) and (one["has_gauss"], one["gauss"]) == (other["has_gauss"], other["gauss"])


@pytest.mark.parametrize("function", [normals, seeded])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("before", [0, 1])
def test_calls_draw_from_where_numpy_stands_and_numpy_goes_on(function: Any, count: int, before: int) -> None:
    np.random.seed(11)
    np.random.normal(size=before)
    wanted, after = function(count), np.random.get_state(legacy=False)
    kernel = lw.kernel(function)
    for _ in range(3):  # from the second call on, the launcher finds the state
        np.random.seed(11)
        np.random.normal(size=before)
        assert kernel(count) == wanted
        assert same(np.random.get_state(legacy=False), after)


def failing(n: int) -> float:
    total = 0.0
    for k in range(n):
        total += np.random.normal(0.0, 1.0)
        if k == 2:
            raise ValueError("enough")
    return total


def test_numpy_goes_on_where_a_call_failed(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    kernel = lw.kernel(failing)
    for n in (2, 2, 9, 2, 9):
        np.random.seed(1)
        with pytest.raises(ValueError, match="enough") if n > 2 else nullcontext():
            failing(n)
        after = np.random.get_state(legacy=False)
        np.random.seed(1)
        with pytest.raises(ValueError, match="enough") if n > 2 else nullcontext():
            kernel(n)
        assert same(np.random.get_state(legacy=False), after)
    if how == "found":  # and without Python
        monkeypatch.setattr(random_state, "with_state", None)
        monkeypatch.setattr(type(kernel), "_called", None)
        np.random.seed(1)
        assert kernel(1) == np.random.RandomState(1).normal()


def test_where_the_number_left_over_is(how: str) -> None:
    state = np.random.mtrand._rand
    left = random_state._left_over(state)
    assert (left is not None) == (how == "found")  # on CPython, with the NumPy that tests have
    for _ in range(3):
        np.random.normal()
        if left is not None:
            assert (left.there, left.number) == random_state._asked(state)
