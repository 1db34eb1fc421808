"""The time of a loop on a GPU with its iterations in the order of their keys (`redirect`), from its time as they stand
and from what its inspector has measured on a sample. The model is additive, so that it says too much rather than too
little:

    with the order known = time as they stand * work of warps after / before + bytes touched in addition / bandwidth,
                           at least what the host needs for a call
    finding the order    = four launches + bytes of keys, tables and order / bandwidth

What the loop touches in addition counts in full, although much of it is hidden behind the work of other warps.
"""

from __future__ import annotations

from dataclasses import dataclass

BYTES_PER_S = 1.5e12
"""What scattered sectors get of the memory of a GPU for computing. Measured times take the place of what follows."""
CACHED_BYTES_PER_S = 3.5e12
"""The same of what lies in its second-level cache."""
CACHE_BYTES = 40_000_000
CALL_NS = 21_000.0
"""Of a call in order, one after the other, however little it does: the host asks whether the order is still the one
(7000 ns), and starts a kernel."""
LAUNCH_NS = 7_500.0
LAUNCHES = 4
"""Of the kernel that finds the keys, and of those that sort them."""
KEY_BYTES, ORDER_BYTES = 1, 8
SORT_BYTES = 3 * KEY_BYTES + 4 * ORDER_BYTES
"""Of each iteration: its key is written once and read twice; its place in the order is written, scattered, as a sector
of 32 bytes."""


@dataclass(frozen=True, slots=True)
class RemapMeasures:
    """Of one call. iterations: of all loops that have an order. before, after: the work of their warps in the order in
    which they stand, and in that of the keys; only the ratio says something. touched_before, touched_after: bytes of
    the sectors that their warps touch with accesses that are known. key_bytes: what finding the keys reads; footprint:
    of all arrays."""

    iterations: int
    before: float
    after: float
    touched_before: float
    touched_after: float
    key_bytes: float
    footprint: float

    @property
    def ratio(self) -> float:
        """Of the work of the warps, after to before."""
        return self.after / self.before if self.before > 0 else 1.0

    def predicted(self, plain_ns: float, correction: float = 1.0) -> RemapPrediction:
        """See `remapped`."""
        return remapped(self, plain_ns, correction)

    def told(self) -> str:
        """In words."""
        touched = self.touched_after / max(self.touched_before, 1.0)
        return f"warps would do {100 * self.ratio:.0f} % of their work and touch {touched:.1f} times the memory"


@dataclass(frozen=True, slots=True)
class RemapPrediction:
    """plain_ns: of a call as iterations stand; kept_ns: of one whose order is known; sort_ns: of finding an order."""

    plain_ns: float
    kept_ns: float
    sort_ns: float

    def mean_ns(self, changes: float) -> float:
        """Of a call where such a part of all calls finds the order anew."""
        return self.kept_ns + changes * self.sort_ns


def remapped(measures: RemapMeasures, plain_ns: float, correction: float = 1.0) -> RemapPrediction:
    """What is predicted for calls that take so long as iterations stand. correction: by what factor predictions of this
    kernel's kept times have been too short so far."""
    rate = CACHED_BYTES_PER_S if measures.footprint <= CACHE_BYTES else BYTES_PER_S
    more = max(0.0, measures.touched_after + ORDER_BYTES * measures.iterations - measures.touched_before)
    kept_ns = plain_ns * min(1.0, measures.ratio) + more / rate * 1e9
    moved = measures.key_bytes + SORT_BYTES * measures.iterations
    return RemapPrediction(plain_ns, max(CALL_NS, kept_ns * correction), LAUNCHES * LAUNCH_NS + moved / rate * 1e9)
