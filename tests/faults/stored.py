"""Measurements for the tests of the store. (Not beside them: Python has a module `profile` of its own.)"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.machine import Machine
from loopwright.profile.measurement import Measurement, Work

HERE = Machine("cpu", "Some CPU", limits=(("cores", 2),), instructions="avx2", compiler="gcc 12", text="abc")
THERE = replace(HERE, name="Another CPU")


def measured(time_ns: float = 100.0, **changes: object) -> Measurement:
    """A measurement as many are; `tile` and `n` vary its variant and shape."""
    tile, n = changes.pop("tile", 32), changes.pop("n", 10)
    one = Measurement(
        "kernel1", HERE.fingerprint, Variant("cpu", f"tile i {tile}", 2), Shape((n, n)), Work(n * n, n, n), "ok",
        time_ns, 0.01, 5, made_at=1000.0,
    )  # fmt: skip
    return replace(one, **changes)
