"""How much a call has to do, as a function of its numbers: what analysis found once, kept as plain polynomials, so that
a later process needs no analysis to know it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Work

Term = tuple[float, tuple[tuple[int, int], ...]]
"""A coefficient, and factors: a place in `Shape.sizes` and its power."""

MOST_POWER = 15
"""With sizes of 64 bits the largest that a float can hold."""

PARTS = ("iterations", "units", "footprint_bytes", "inputs_bytes", "outputs_bytes")


@dataclass(frozen=True, slots=True)
class WorkForm:
    """Each part is a sum of terms; None where data decides. Below sizes of 8 the sums need not be exact. row_pointers:
    positions of arguments whose data is looked at, for what the time of irregular loops depends on."""

    iterations: tuple[Term, ...] | None
    units: tuple[Term, ...] | None
    footprint_bytes: tuple[Term, ...] | None
    inputs_bytes: tuple[Term, ...] | None
    outputs_bytes: tuple[Term, ...] | None
    row_pointers: tuple[int, ...] = ()

    @property
    def knows_copies(self) -> bool:
        """Whether it is known how much has to move to a device with a memory of its own, and back."""
        return bool(self.inputs_bytes or self.outputs_bytes)

    def at(self, shape: Shape) -> Work:
        """The work of a call of this shape."""
        iterations = _value(self.iterations, shape.sizes)
        units = max(1.0, _value(self.units, shape.sizes))
        return Work(
            iterations,
            units,
            max(1.0, iterations / units),
            *(_value(part, shape.sizes) for part in (self.footprint_bytes, self.inputs_bytes, self.outputs_bytes)),
        )

    def as_json(self) -> dict[str, Any]:
        """As lists and numbers; `from_json` reads it back."""
        return {name: getattr(self, name) for name in (*PARTS, "row_pointers")}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> WorkForm:
        """Raises KeyError, TypeError or ValueError where this is no such form."""
        iterations, units, footprint, inputs, outputs = (_terms(found[name]) for name in PARTS)
        return cls(iterations, units, footprint, inputs, outputs, tuple(int(k) for k in found["row_pointers"]))


def _terms(found: Any) -> tuple[Term, ...] | None:
    if found is None:
        return None
    terms = tuple((float(c), tuple((int(place), int(power)) for place, power in factors)) for c, factors in found)
    if any(place < 0 or not 0 <= power <= MOST_POWER for _, factors in terms for place, power in factors):
        raise ValueError("a place or a power is one that no form has")
    return terms


def _value(terms: Sequence[Term] | None, sizes: Sequence[int]) -> float:
    if any(place >= len(sizes) for _, factors in terms or () for place, _ in factors):
        return 0.0  # the form of another kernel: a store may say anything
    total = 0.0
    for coefficient, factors in terms or ():
        product = coefficient
        for place, power in factors:
            product *= float(sizes[place]) ** power
        total += product
    return max(0.0, total)
