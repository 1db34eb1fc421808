"""`Problem`: a kernel, the data it runs on, and an independent NumPy version to check and time it against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """kernel and with_numpy take the same parameters and write the same arrays, named in outputs.

    arguments makes the data, in the order of the parameters. size says how large they are, in words. tolerance: the
    largest difference allowed between two results, relative to the largest magnitude in them; 0 means exactly equal.
    """

    title: str
    kernel: Callable[..., object]
    with_numpy: Callable[..., None]
    arguments: Callable[[], Arguments]
    size: Callable[[Arguments], str]
    outputs: tuple[str, ...]
    tolerance: float


def fresh(problem: Problem, arguments: Arguments) -> Arguments:
    """The same arguments with copies of the arrays that a run writes."""
    return {name: value.copy() if name in problem.outputs else value for name, value in arguments.items()}


def largest_difference(problem: Problem, one: Arguments, other: Arguments) -> float:
    """The largest difference between two results, relative to the largest magnitude; NaN where a value is."""
    worst = 0.0
    for name in problem.outputs:
        first, second = np.asarray(one[name], np.float64), np.asarray(other[name], np.float64)
        scale = max(float(np.max(np.abs(second))), np.finfo(np.float64).tiny)
        worst = float(np.maximum(worst, np.max(np.abs(first - second)) / scale))
    return worst


def agrees(problem: Problem, difference: float) -> bool:
    """Is a difference (see largest_difference) within the tolerance? NaN never is."""
    return difference <= problem.tolerance
