"""Calls whose time on a GPU would be that of launches: a loop of the host that starts grids of little work, again and
again. Whether a call is one is told by its sizes, as polynomials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

Polynomial = Mapping[tuple[str, ...], float]
"""The coefficient of each product of sizes; () for the number."""

SizeSource = tuple[Literal["size", "scalar"], int, int]
"""As those of a SizeGuard: ('size', argument position, axis) or ('scalar', argument position, 0)."""

ROUNDS = 1024
"""From how many launches on it matters: together they take some milliseconds."""
WORK = 512
"""Statements that a core of the CPU runs in a good deal less time than a launch takes (two or three microseconds)."""
REST = 1024
"""So many statements elsewhere in the kernel, for each launch, take a CPU no longer than that."""


@dataclass(frozen=True, slots=True)
class LaunchBound:
    """loop: by name. sizes: what the polynomials are about. rounds: how often its body runs; launches: grids that each
    round starts; work: statements of a round; rest: those of all other loops."""

    loop: str
    sizes: tuple[tuple[str, SizeSource], ...]
    rounds: Polynomial
    launches: int
    work: Polynomial
    rest: Polynomial

    def holds(self, arguments: Sequence[Any]) -> bool:
        """Whether a call with these arguments is one."""
        values = {
            name: float(arguments[argument].shape[axis] if source == "size" else arguments[argument])
            for name, (source, argument, axis) in self.sizes
        }
        rounds, work, rest = (
            sum(prod((values[name] for name in names), start=count) for names, count in one.items())
            for one in (self.rounds, self.work, self.rest)
        )
        return rounds >= ROUNDS and work < WORK * self.launches and rest < REST * self.launches * rounds

    @property
    def c_text(self) -> str:
        """The same as a C expression."""
        rounds, work, rest = map(_text, (self.rounds, self.work, self.rest))
        return (
            f"({rounds}) >= {ROUNDS}.0 && ({work}) < {WORK * self.launches}.0"
            f" && ({rest}) < {REST * self.launches}.0 * ({rounds})"
        )

    @property
    def c_lines(self) -> Iterable[str]:
        """Declarations of what it is about."""
        for name, (source, argument, axis) in self.sizes:
            value = f"call->shape[{argument}][{axis}]" if source == "size" else f"call->scalars[{argument}].i"
            yield f"const double lw_{name} = (double){value};"


def _text(polynomial: Polynomial) -> str:
    terms = (" * ".join([repr(count), *(f"lw_{name}" for name in names)]) for names, count in polynomial.items())
    return " + ".join(terms) or "0.0"
