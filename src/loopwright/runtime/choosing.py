"""What the dispatch asks of whoever knows what was measured: which variant serves a call, and when to ask again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from loopwright.config import Config
from loopwright.ir.signature import Signature
from loopwright.profile.measurement import Shape, Variant
from loopwright.runtime.compiled import Compiled

if TYPE_CHECKING:
    from loopwright.runtime.adapt import Decision, Standing


class Chooser(Protocol):
    """For one kernel, kind of call and options. It is called under the dispatch's lock."""

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        """What tells this call from others, for its time. Features of the data are those of the first call with these
        sizes."""

    def choose(self, shape: Shape) -> Variant:
        """The variant that serves calls of this shape until further notice. One that has failed is not named again."""

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int]) -> bool:
        """How long the last calls took, oldest first. True: ask again."""

    def failed(self, variant: Variant, reason: str) -> None:
        """It cannot be made here."""

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        """After how many calls, or how many nanoseconds of calls, to tell of them."""

    def due(self, shape: Shape) -> bool:
        """Whether something is worth an experiment that is paid for already."""

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        """Make one, with these arguments, which stay as they are."""

    def standings(self, shape: Shape) -> tuple[Decision, tuple[Standing, ...]]:
        """For reports: what `choose` says of this shape, and what is known of each candidate. It runs nothing."""


class Experience(Protocol):
    """What there is to know of one kernel. It never raises because of what it has, or has not, on disk."""

    def chooser(self, compiled: Compiled, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        """None where there is nothing to choose from. compiled: the default variant. served_ns: for how long it has
        served, where that is so long that looking for something better may pay off; else 0. resident: see Kind."""


class NoExperience:
    """Nothing is measured, nothing is tried."""

    def chooser(self, compiled: Compiled, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        return None


def shape_of(arguments: Sequence[object]) -> Shape:
    """Lengths of all axes and integer arguments, as in devices/launcher_key.c."""
    sizes: list[int] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            sizes += value.shape
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            sizes.append(int(value))
    return Shape(tuple(sizes))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of call: what one Chooser is for. resident: all its arrays are in a GPU's memory, and stay there."""

    signature: Signature
    config: Config
    resident: bool = False


@dataclass(frozen=True, slots=True)
class Considered:
    """What serves calls of a shape under some options. compiled: the variant that does; default: the one that does
    where nothing is known. decision: None where there is nothing to choose from; standings: of all candidates."""

    config: Config
    compiled: Compiled
    default: Compiled
    shape: Shape
    decision: Decision | None = None
    standings: tuple[Standing, ...] = ()


BEGIN_NS = 8_000_000_000
"""For how long the default variant of a kernel serves before anybody looks for a better one: a twentieth of it is what
looking for the first few candidates takes."""
