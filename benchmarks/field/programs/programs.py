"""How a program is registered, and how its arguments are made."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.field.loops import LARGE, SMALL

Maker = Callable[[np.random.Generator, bool], tuple[Any, ...]]
"""Gives the arguments of a program: from a generator, large ones or small ones."""


@dataclass(frozen=True)
class FieldProgram:
    """One function; `category` is its module's name."""

    function: Callable[..., Any]
    category: str
    make: Maker

    @property
    def name(self) -> str:
        """The function's."""
        return self.function.__name__

    def arguments(self, size: tuple[int, int] = SMALL) -> tuple[Any, ...]:
        """The same ones for each call: large for LARGE, else small."""
        return self.make(np.random.default_rng(zlib.crc32(self.name.encode())), size == LARGE)


PROGRAMS: list[FieldProgram] = []


def program(make: Maker) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function, with what makes its arguments."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(FieldProgram(function, function.__module__.rpartition(".")[2], make))
        return function

    return register
