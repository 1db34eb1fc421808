"""Candidates that are looked for while a kernel serves: a little at a time, on somebody else's clock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.ir.variant import RECIPE
from loopwright.tuning import background_search
from loopwright.tuning.background_search import EACH, BackgroundSearch
from loopwright.tuning.members import Members


@lw.kernel
def product(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


class Clock:
    """Time goes by only where a member is made."""

    def __init__(self) -> None:
        self.now_ns, self.each_ns = 0, 10

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock, made = Clock(), Members._metrics

    def slow(self, point):
        clock.now_ns += clock.each_ns
        return made(self, point)

    monkeypatch.setattr(Members, "_metrics", slow)
    with lw.options(threads=2, device="cpu"):
        yield clock


ARGUMENTS = tuple(np.ones((40, 40)) for _ in range(3))


def looked_for(clock: Clock) -> BackgroundSearch:
    return BackgroundSearch(product.specialise(*ARGUMENTS), ("cpu",), current(), clock)


def test_it_keeps_within_its_budget_and_goes_on_from_there(clock: Clock) -> None:
    some = looked_for(clock)
    first = some.more(ARGUMENTS, 45)
    assert clock.now_ns == 40 and not some.over  # a fifth would have ended at 50
    assert 1 <= len(first) <= EACH and RECIPE in {one.schedule for one in first}
    assert all(one.device == "cpu" and one.threads == 2 for one in first)
    some.more(ARGUMENTS, 45)
    assert clock.now_ns == 80  # what was made before is not made again
    assert some.more(ARGUMENTS, 5) and clock.now_ns == 80  # one more would take too long


def test_it_ends_when_enough_was_looked_at(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_search, "ENOUGH", 3)
    some = looked_for(clock)
    some.more(ARGUMENTS, 10**9)
    assert some.over and clock.now_ns == 30


def test_a_budget_of_nothing_finds_at_most_one(clock: Clock) -> None:
    assert len(looked_for(clock).more(ARGUMENTS, 0)) <= 1 and clock.now_ns <= 10
