"""A step: one restructuring decision, a frozen value with a text, that refuses instead of breaking.

A schedule is a sequence of steps; its text form (`parallelize i; vectorize j`) is in `steps/schedule.py`. Steps name
loops; they never hold nodes of a kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from loopwright.analysis.facts import Facts, LoopFacts
from loopwright.ir.nodes import Asserted, Kernel
from loopwright.ir.walk import loops
from loopwright.steps.grammar import parsed, printed

S = TypeVar("S", bound="Step")


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a step is not legal on a kernel, in the user's words."""

    reason: str


class Step(ABC):
    """`name` is the step's word in a schedule, its file's name and, capitalised, its class's. `grammar` is what follows
    the name in a schedule: see `steps/grammar.py`."""

    __slots__ = ()
    name: ClassVar[str]
    grammar: ClassVar[str]

    @abstractmethod
    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        """None where the step keeps the kernel's meaning (to the last bit, under strict), else the reason."""

    @abstractmethod
    def apply(self, kernel: Kernel) -> Kernel:
        """The restructured kernel: a new tree that shares what did not change."""

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        """The same with what is known of the kernel, for steps that ask for more than its text tells."""
        return self.apply(kernel)

    @property
    def looks_around(self) -> bool:
        """Whether it also depends on what stands before or after the nests of the loops that it names."""
        return False

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        """The choices of this step that are worth a look, legal or not; unless it says otherwise, each loop alone."""
        return (cls.parse((name,)) for name in loops(kernel))

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        """The legal ones among its candidates."""
        return legal(cls.candidates(kernel), kernel, facts, strict)

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        """The step from the words after its name. Raises ValueError saying what is wanted."""
        return parsed(cls, words)

    def __str__(self) -> str:
        """The text that `parse` reads back, name included."""
        return printed(self)


def legal(steps: Iterable[S], kernel: Kernel, facts: Facts, strict: bool) -> tuple[S, ...]:
    """Those of the steps that are legal on a kernel."""
    return tuple(step for step in steps if step.illegal(kernel, facts, strict) is None)


def order_needed(loop: LoopFacts, asserted: Asserted, strict: bool) -> Rejection | None:
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
