"""Decisions of the program generator, drawn from a seed, so that every run on every machine makes the same ones.

(Hypothesis' draws differ with the modules that happen to be imported; and small programs come from reduce.py.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """What to do next."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low if high <= low else self._random.randint(low, high)

    def chance(self, percent: int) -> bool:
        """True in about `percent` of 100 cases."""
        return self.number(0, 99) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(0, len(options) - 1)]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of the options with the given weights (whole numbers)."""
        rest = self.number(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            if rest < weight:
                return option
            rest -= weight
        raise AssertionError("the weights were summed above")

    def repeatedly(self, step: Callable[[int], None], most: int, percent: int) -> None:
        """Take a step (it is told its number, from 0), and with this chance another, up to so many."""
        step(0)
        for number in range(1, most):
            if not self.chance(percent):
                return
            step(number)
