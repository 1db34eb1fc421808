"""The nouns of measuring: the `Shape` of a call and the `Work` in it, and what was measured.

They are plain values. What they are kept in is profile/store.py's; what is concluded from them, predict/'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant

Outcome = Literal["ok", "wrong", "crashed", "timeout", "memory", "refused"]
"""What became of a candidate: it ran and agreed with the reference; its result was another one; its process died; it
took too long; it asked for more memory than there was; it could not be compiled or is not legal."""

Source = Literal["tune", "call"]
CacheState = Literal["warm", "cold"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Work:
    """How much a call has to do, whatever the variant. iterations: of all innermost statements (0: not known).
    units: how many of the outer parallel iterations there are. depth: iterations one after another in each, on
    average. footprint_bytes: of all elements that are touched. inputs_bytes, outputs_bytes: what has to move to a
    device with a memory of its own, and back."""

    iterations: float = 0.0
    units: float = 1.0
    depth: float = 1.0
    footprint_bytes: float = 0.0
    inputs_bytes: float = 0.0
    outputs_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """One candidate under one Shape on one machine. kernel: fingerprint of the function and the types of its arguments.
    machine: fingerprint of the device and all that compiles for it. time_ns: median of `runs` runs (0 where it did not
    run). spread: half the distance of the quartiles, over the median. cache: whether the data was in the caches when
    each run began. source: an experiment, or calls that somebody made. made_at: seconds since 1970. reason: what went
    wrong, in words."""

    kernel: str
    machine: str
    variant: Variant
    shape: Shape
    work: Work
    outcome: Outcome
    time_ns: float = 0.0
    spread: float = 0.0
    runs: int = 0
    cache: CacheState = "warm"
    source: Source = "tune"
    made_at: float = 0.0
    reason: str = ""
