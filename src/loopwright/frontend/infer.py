"""The types of variables, over the rounds in which a function is read.

Reading is repeated while an assignment shows that a variable's type is too narrow. The types then hold for every
assignment, but may be wider than needed: an early round may have seen the type of an operand before it was known
whole. So what the last round found by itself is tried in its place, a few times at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loopwright.frontend.promote import NumberType, join
from loopwright.ir.types import Scalar

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """The type of the elements of an array, and how many axes it has."""

    element: Scalar
    rank: int


Kind = NumberType | int | ArrayKind  # the type of a number, the length of a tuple, an array

_MOST_ROUNDS = 200
_MOST_TRIALS = 3


@dataclass
class Types:
    """`known`: what reads see. `found`: what the assignments of this round give by themselves."""

    known: dict[Key, Kind] = field(default_factory=dict)
    found: dict[Key, Kind] = field(default_factory=dict)
    grown: bool = False
    rounds: int = 0
    trials: int = 0

    def begin(self) -> None:
        """A new round begins."""
        self.found, self.grown = {}, False
        self.rounds += 1

    def grow_without_end(self) -> bool:
        """Whether so many rounds have found wider types that no more of them will help."""
        return self.grown and self.rounds >= _MOST_ROUNDS

    def are_settled(self) -> bool:
        """At the end of a round: whether its result may be kept. Else the next round sees other types."""
        if self.grown:
            return False
        if self.found == self.known or self.trials == _MOST_TRIALS:
            return True
        self.known, self.trials = self.found, self.trials + 1
        return False

    def of(self, key: Key) -> Kind | None:
        """The type of a variable, None where nothing was assigned to it so far."""
        return self.known.get(key)

    def assign(self, key: Key, new: Kind) -> Kind | None:
        """The type of a variable to which a value of type `new` is assigned; None where no type holds both."""
        found, known = _join(self.found.get(key), new), _join(self.known.get(key), new)
        if found is not None:
            self.found[key] = found
        if known is not None and known != self.known.get(key):
            self.known[key] = known
            self.grown = True
        return known


def _join(old: Kind | None, new: Kind) -> Kind | None:
    if old is None:
        return new
    if isinstance(old, NumberType) and isinstance(new, NumberType):
        return join(old, new)
    return old if old == new else None
