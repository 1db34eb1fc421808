"""The protocols: what whoever makes calls asks, which is what variant serves a call, and when to ask again; and what a
choice has to know of the code that it chooses from. It knows neither who calls nor what compiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from loopwright.config import Config
from loopwright.devices.base import Executable
from loopwright.ir.signature import Shape, Signature
from loopwright.ir.variant import Variant

if TYPE_CHECKING:
    from loopwright.choice.adapt import Decision, Standing
    from loopwright.profile.work_form import WorkForm


class Measured(Protocol):
    """A kernel made ready for one Signature, as far as its times are concerned. fingerprint: what they are kept under.
    executable: None where only the interpreter can run it."""

    @property
    def signature(self) -> Signature: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def executable(self) -> Executable | None: ...


class Chooser(Protocol):
    """For one kernel, kind of call and options. It is called under one lock."""

    @property
    def over(self) -> bool:
        """Whether there is nothing to choose any more, so that the default serves from now on, and nobody is asked."""

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        """What tells this call from others, for its time. Features of the data are those of the first call with these
        sizes."""

    def choose(self, shape: Shape) -> Variant:
        """The variant that serves calls of this shape until further notice. One that has failed is not named again."""

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int], calls: int) -> bool:
        """How long the last calls took, or some of them, oldest first. calls: how many there were since `choose` has
        named the variant. True: ask again."""

    def failed(self, variant: Variant, reason: str) -> None:
        """It cannot be made here."""

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        """After how many calls, or how many nanoseconds of calls, to tell of them."""

    def closely(self, shape: Shape) -> int:
        """Of how many of the next calls on a GPU the time is to be told at once, which is waited for: that of the last
        ones, from the beginning of the first to the end of the last, for each of them."""

    def due(self, shape: Shape) -> bool:
        """Whether something is worth an experiment that is paid for already."""

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        """Make one, with these arguments, which stay as they are."""

    def standings(self, shape: Shape) -> tuple[Decision, tuple[Standing, ...]]:
        """For reports: what `choose` says of this shape, and what is known of each candidate. It runs nothing."""


class Experience(Protocol):
    """What there is to know of one kernel. It never raises because of what it has, or has not, on disk."""

    def chooser(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        """None where there is nothing to choose from. compiled: the default variant. served_ns: for how long it has
        served, where that is so long that looking for something better may pay off; else 0. resident: all
        arrays of such calls are in a GPU's memory, and stay there."""

    def work_form(self, compiled: Measured, config: Config) -> WorkForm | None:
        """How much calls have to do, as a function of their sizes; None where nobody can say. It may take as long as an
        analysis."""

    def orders(self, compiled: Measured, config: Config) -> Chooser | None:
        """Who chooses whether the iterations of a kernel on a CPU, whose calls have taken a while, run by their paths;
        None where none do."""


class NoExperience:
    """Nothing is measured, nothing is tried."""

    def chooser(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        return None

    def work_form(self, compiled: Measured, config: Config) -> WorkForm | None:
        return None

    def orders(self, compiled: Measured, config: Config) -> Chooser | None:
        return None


ORDERS_NS = 1_000_000_000
"""For how long calls of a kernel on a CPU run before somebody glances at its loops: whether other orders of iterations
may pay."""
BEGIN_NS = 8_000_000_000
"""For how long the default variant of a kernel serves before anybody looks for a better one: a twentieth of it is what
looking for the first few candidates takes."""
