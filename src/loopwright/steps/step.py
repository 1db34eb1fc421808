"""The protocol of a step: one restructuring decision, a frozen value with a text, that refuses instead of breaking.

A schedule is a sequence of steps; its text form (`parallelize i; vectorize j`) is in `steps/schedule.py`. Steps name
loops; they never hold nodes of a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from loopwright.analysis.facts import Facts, LoopFacts
from loopwright.ir.nodes import Kernel


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a step is not legal on a kernel, in the user's words."""

    reason: str


class Step(Protocol):
    """`name` is the step's word in a schedule, its file's name and, capitalised, its class's."""

    name: ClassVar[str]

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        """None where the step keeps the kernel's meaning (to the last bit, under strict), else the reason."""

    def apply(self, kernel: Kernel) -> Kernel:
        """The restructured kernel: a new tree that shares what did not change."""

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        """Every legal choice of this step on this kernel."""

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        """The step from the words after its name. Raises ValueError saying what is wanted."""

    def __str__(self) -> str:
        """The text that `parse` reads back, name included."""


def order_needed(loop: LoopFacts, asserted: bool, strict: bool) -> Rejection | None:
    """Why the iterations of a loop have to run one after the other, or None where they need not."""
    match loop.verdict:
        case "parallel":
            return None
        case "reduction":
            inexact = [reduction.target for reduction in loop.reductions if not reduction.exact]
            if strict and inexact:
                targets = ", ".join(f"'{name}'" for name in inexact)
                return Rejection(f"strict keeps the order of the floating-point reduction into {targets}")
            return None
        case "undecided" if asserted:
            return None
        case _:
            return Rejection(loop.reason)


def signed_number(word: str, what: str) -> int:
    """The whole number other than 0, maybe negative, that a word of a schedule is. Raises ValueError."""
    if not word.removeprefix("-").isdecimal() or not int(word):
        raise ValueError(f"{what} is a whole number other than 0, not '{word}'")
    return int(word)


def whole_number(word: str, what: str, least: int = 1) -> int:
    """The whole number that a word of a schedule is. Raises ValueError."""
    if not word.isdecimal() or int(word) < least:
        raise ValueError(f"{what} is a whole number from {least} on, not '{word}'")
    return int(word)
