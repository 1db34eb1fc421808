"""Which variants of a kernel may serve: evidence, and the lack of it. It knows no times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.placement.single import default_of
from loopwright.profile.measurement import Outcome, Work


@dataclass(frozen=True, slots=True)
class FailedVariant:
    """Why a variant does not serve, and the call for which it was found."""

    outcome: Outcome
    reason: str
    shape: Shape
    work: Work


@dataclass(slots=True)
class Candidates:
    """The variants in their order, and what became of each. The default variant is the reference and serves without
    evidence. A failure is for good, but for `memory`, which holds from that footprint on. Raises ValueError where no
    variant is a default one, or one stands there twice."""

    variants: tuple[Variant, ...]
    default: int = field(init=False)
    proven: set[int] = field(init=False)
    failures: dict[int, FailedVariant] = field(default_factory=dict)
    _serving: tuple[int, ...] = field(init=False)
    _places: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        default = default_of(self.variants)
        if default is None:
            raise ValueError("a kernel has a default variant, and none of these is one")
        if len(set(self.variants)) != len(self.variants):
            raise ValueError("a variant stands among the candidates twice")
        self.default, self.proven = default, {default}
        self._settle()

    def tell(self, index: int, outcome: Outcome, reason: str, shape: Shape, work: Work) -> None:
        """Evidence of one variant. That against the default is kept, but it serves on: there is nothing to compare."""
        self._take(index, outcome, reason, shape, work)
        self._settle()

    def _settle(self) -> None:
        self._serving = tuple(sorted(self.proven))
        self._places = np.array(self._serving, np.intp)

    def _take(self, index: int, outcome: Outcome, reason: str, shape: Shape, work: Work) -> None:
        if outcome == "ok":
            failure = self.failures.get(index)
            if failure is None or failure.outcome == "memory":
                self.proven.add(index)
            return
        known = self.failures.get(index)
        smaller = known is not None and work.footprint_bytes < known.work.footprint_bytes
        if known is None or outcome != "memory" or (known.outcome == "memory" and smaller):
            self.failures[index] = FailedVariant(outcome, reason, shape, work)
        if outcome != "memory" and index != self.default:
            self.proven.discard(index)

    def failed(self, index: int, work: Work) -> FailedVariant | None:
        """Why this one is out of the question for such a call."""
        failure = self.failures.get(index)
        if failure is not None and failure.outcome == "memory" and failure.work.footprint_bytes > work.footprint_bytes:
            return None
        return failure

    def serving(self, work: Work) -> tuple[int, ...]:
        """The indices of those that may serve such a call, ascending."""
        if not self.failures:
            return self._serving
        return tuple(one for one in self._serving if one == self.default or self.failed(one, work) is None)

    def places(self, work: Work) -> NDArray[np.intp]:
        """The same as an array, which is not to be changed."""
        return np.array(self.serving(work), np.intp) if self.failures else self._places

    def untried(self, work: Work) -> list[int]:
        """The indices of those of which nothing is known, ascending."""
        return [
            index
            for index in range(len(self.variants))
            if index not in self.proven and self.failed(index, work) is None
        ]

    def extend(self, variants: Sequence[Variant]) -> None:
        """More candidates, after those there are. Raises ValueError where these do not begin with them."""
        if tuple(variants[: len(self.variants)]) != self.variants:
            raise ValueError("new candidates come after those there are, which keep their order")
        if len(set(variants)) != len(variants):
            raise ValueError("a variant stands among the candidates twice")
        self.variants = tuple(variants)
