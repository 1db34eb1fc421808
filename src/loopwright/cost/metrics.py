"""`Metrics`: what is known of a compiled variant without running it, as numbers of which more is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metrics:
    """values: one for each of `names`, finite, positive and greater for a variant that is better in this respect; NaN
    where it cannot be told. They mean something beside those of other variants of the same kernel for the same sizes,
    nothing by themselves. notes: for people, what was assumed."""

    values: tuple[float, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.values) != len(self.names):
            raise ValueError(f"{len(self.values)} values for {len(self.names)} names")
