"""How programs of this suite are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """make: gives the arguments of a size. small: a size that CPython manages; large: one for a GPU."""

    name: str
    function: Callable[..., Any]
    make: Callable[[int], Arguments]
    small: int
    large: int

    @property
    def middle(self) -> int:
        """A size for one thread of a CPU."""
        return round((self.small * self.large) ** 0.5)


PROGRAMS: dict[str, Program] = {}


def program(name: str, make: Callable[[int], Arguments], small: int, large: int) -> Callable[[Any], Any]:
    """Keep the function that follows."""

    def kept(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[name] = Program(name, function, make, small, large)
        return function

    return kept


def f8(*shape: int) -> Any:
    """Numbers from 0 to 1."""
    return np.random.default_rng(1).random(shape)


def f4(*shape: int) -> Any:
    """The same in float32."""
    return np.random.default_rng(2).random(shape, dtype=np.float32)


def whole(most: int, *shape: int) -> Any:
    """Whole numbers below `most`."""
    return np.random.default_rng(3).integers(0, most, shape)


def zeros(*shape: Any) -> Any:
    """As NumPy's."""
    return np.zeros(*shape)
