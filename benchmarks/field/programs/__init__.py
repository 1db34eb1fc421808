"""Programs as their users write them: plain loops after benchmark suites and textbooks, written without a look at what
Loopwright does with them, and since then used to find where it is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.field.loops import LARGE, SMALL
from benchmarks.field.programs import accelerators, integers, learning, livermore, science, sequences, windows

Cases = Callable[[bool], Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]]


@dataclass(frozen=True)
class FieldProgram:
    """One function. cases: of its module, which gives each function with its arguments, large ones or small ones."""

    function: Callable[..., Any]
    category: str
    cases: Cases

    @property
    def name(self) -> str:
        """The function's."""
        return self.function.__name__

    def arguments(self, size: tuple[int, int] = SMALL) -> tuple[Any, ...]:
        """The same ones for each call: large for LARGE, else small."""
        return next(arguments for function, arguments in self.cases(size == LARGE) if function is self.function)


PROGRAMS = tuple(
    FieldProgram(function, module.__name__.rpartition(".")[2], module.cases)
    for module in (livermore, accelerators, learning, science, sequences, windows, integers)
    for function, _ in module.cases(False)
)
