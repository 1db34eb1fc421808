"""What is predicted of all variants for one call, as arrays: a choice compares these, and makes a Prediction of few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import get_args, overload

import numpy as np
from numpy.typing import NDArray

from loopwright.predict.prediction import How, Prediction

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]

HOWS: tuple[How, ...] = get_args(How)
"""What the numbers in `Estimates.hows` stand for."""

CODES = {how: np.int8(code) for code, how in enumerate(HOWS)}
MEASURED, INTERPOLATED, EXTRAPOLATED, TREE, LIMITS = (CODES[how] for how in HOWS)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates(Sequence[Prediction]):
    """Of all variants, in their order: times in nanoseconds, errors, and how each was found, as a number of HOWS. It
    reads as a sequence of Predictions, each made when it is asked for."""

    times_ns: Floats
    errors: Floats
    hows: Codes

    def __len__(self) -> int:
        return self.times_ns.size

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> Estimates: ...
    def __getitem__(self, index: int | slice) -> Prediction | Estimates:
        if isinstance(index, slice):
            return Estimates(self.times_ns[index], self.errors[index], self.hows[index])
        return Prediction(self.times_ns.item(index), self.errors.item(index), HOWS[self.hows.item(index)])

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self.predictions())

    def predictions(self) -> tuple[Prediction, ...]:
        """One for each variant: made at once, which takes about as long as finding the arrays does."""
        values = zip(
            self.times_ns.tolist(), self.errors.tolist(), map(HOWS.__getitem__, self.hows.tolist()), strict=True
        )
        # What Prediction._make does, without a call of Python for each.
        return tuple(map(tuple.__new__, repeat(Prediction), values))

    def at(self, places: NDArray[np.intp]) -> Estimates:
        """Those at these places, in that order."""
        return Estimates(self.times_ns[places], self.errors[places], self.hows[places])


def estimates_of(found: Sequence[Prediction]) -> Estimates:
    """The same as arrays; nothing is copied where they are arrays already."""
    if isinstance(found, Estimates):
        return found
    return Estimates(
        np.array([one.time_ns for one in found], np.float64),
        np.array([one.error for one in found], np.float64),
        np.array([CODES[one.how] for one in found], np.int8),
    )


def joined(found: Sequence[Estimates]) -> Estimates:
    """One after another."""
    if len(found) == 1:
        return found[0]
    if not found:
        return estimates_of(())
    return Estimates(
        np.concatenate([one.times_ns for one in found]),
        np.concatenate([one.errors for one in found]),
        np.concatenate([one.hows for one in found]),
    )
