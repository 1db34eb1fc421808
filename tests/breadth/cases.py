"""Functions as users of numba write them, each with a maker of small arguments, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]
Maker = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A function, what makes its arguments, and the constructs of the language that it needs."""

    function: Function
    make: Maker
    needs: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"


CASES: list[Case] = []


def case(make: Maker, *needs: str) -> Callable[[Function], Function]:
    """Register a function; `needs` names constructs, none for explicit loops over elements only."""

    def register(function: Function) -> Function:
        CASES.append(Case(function, make, needs))
        return function

    return register


@dataclass(frozen=True)
class Outcome:
    """What a call returned or raised, and its arguments afterwards."""

    result: Any
    error: type[BaseException] | None
    arguments: tuple[Any, ...]


def outcome(function: Function, arguments: tuple[Any, ...]) -> Outcome:
    with np.errstate(all="ignore"):
        try:
            return Outcome(function(*arguments), None, arguments)
        except (ValueError, IndexError, AssertionError, ArithmeticError, RuntimeError, TypeError, UnboundLocalError) as error:
            return Outcome(None, type(error), arguments)


def same_error(expected: type[BaseException] | None, actual: type[BaseException] | None) -> bool:
    """Whether what catches the one catches the other."""
    return expected is actual or (expected is not None and actual is not None and issubclass(actual, expected))


def differences(expected: Any, actual: Any, where: str = "result") -> list[str]:
    """What differs between two values: kinds, dtypes, shapes, numbers (floats up to the order of a sum)."""
    if isinstance(expected, tuple | list):
        if type(expected) is not type(actual) or len(expected) != len(actual):
            return [f"{where}: {expected!r} is now {actual!r}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [text for k, (a, b) in pairs for text in differences(a, b, f"{where}[{k}]")]
    if isinstance(expected, np.ndarray):
        if not isinstance(actual, np.ndarray) or (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
            return [f"{where}: {expected.dtype}{expected.shape} is now {_kind(actual)}"]
    elif type(expected) is not type(actual):
        return [f"{where}: {_kind(expected)} {expected!r} is now {_kind(actual)} {actual!r}"]
    if isinstance(expected, np.ndarray) and expected.dtype.names:
        return [
            text for name in expected.dtype.names
            for text in differences(expected[name], actual[name], f"{where}.{name}")
        ]  # fmt: skip
    if not isinstance(expected, np.ndarray | np.generic | int | float | complex):
        return [] if expected == actual else [f"{where}: {expected!r} is now {actual!r}"]
    if np.allclose(expected, actual, *_tolerance(np.asarray(expected)), equal_nan=True):
        return []
    return [f"{where}: {expected!r} is now {actual!r}"]


def _tolerance(value: np.ndarray[Any, Any]) -> tuple[float, float]:
    if value.dtype.kind not in "fc":
        return 0.0, 0.0
    return (2e-5, 1e-6) if value.dtype in (np.float32, np.complex64) else (1e-10, 1e-12)


def _kind(value: Any) -> str:
    return f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
