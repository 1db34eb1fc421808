"""Loops that nobody tuned Loopwright for: how one is registered, and how its arguments are made from their names.

Of the Test Suite for Vectorizing Compilers (Callahan, Dongarra and Levine, 1988; TSVC-2 of Maleki and others, 2011)
this folder has the formulas, written anew as Python functions under the suite's numbers. Where C jumps, there are `if`s
and `return`s; where it makes a second pointer into an array, there is a view; exit() is a `return`; a function that C
cannot see into is one in Python's module. Each function gets all that it reads as arguments, so that no size is
known."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Maker = Callable[[np.random.Generator, int, int], Any]
SMALL, LARGE = (157, 13), (32_000, 256)
"""Elements of a vector and rows of a square matrix: for tests, and for times."""


@dataclass(frozen=True)
class FieldLoop:
    """One loop: `given` makes the arguments whose names do not say all of them."""

    function: Callable[..., Any]
    category: str
    given: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The suite's number."""
        return self.function.__name__

    def arguments(self, size: tuple[int, int] = SMALL) -> tuple[Any, ...]:
        """Of vectors of size[0] elements and matrices of size[1] x size[1], float64 between -1 and 1, the same ones
        for each call. Names of one letter are vectors, of two equal ones matrices, `flat` is a matrix as a vector."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        code = self.function.__code__
        return tuple(self._made(name, random, *size) for name in code.co_varnames[: code.co_argcount])

    def _made(self, name: str, random: np.random.Generator, n: int, m: int) -> Any:
        if name in self.given:
            value = self.given[name]
            return value(random, n, m) if callable(value) else value
        if name == "ip":
            return random.permutation(n)
        if name == "flat":
            return random.uniform(-1.0, 1.0, m * m)
        if len(name) == 1:
            return random.uniform(-1.0, 1.0, n)
        if len(name) == 2 and name[0] == name[1]:
            return random.uniform(-1.0, 1.0, (m, m))
        raise KeyError(f"{self.name}: nothing says what '{name}' is")


LOOPS: list[FieldLoop] = []


def loop(category: str, **given: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function; `given` has numbers, or makers of what a generator and the two sizes give."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        LOOPS.append(FieldLoop(function, category, given))
        return function

    return register


def between(low: float, high: float) -> Maker:
    """A vector of numbers between two."""
    return lambda random, n, m: random.uniform(low, high, n)


def short(random: np.random.Generator, n: int, m: int) -> Array:
    """A vector as long as a matrix has rows."""
    return random.uniform(-1.0, 1.0, m)


def matrix_between(low: float, high: float) -> Maker:
    """A matrix of numbers between two."""
    return lambda random, n, m: random.uniform(low, high, (m, m))


def last_is(value: float) -> Maker:
    """A vector of numbers between 0 and 1, the last but one of another value: what is looked for is found late."""

    def made(random: np.random.Generator, n: int, m: int) -> Array:
        found = random.uniform(0.0, 1.0, n)
        found[-2] = value
        return found

    return made
