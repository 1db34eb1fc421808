"""The small inputs that the tests run: PolyBench's own, and the same shaken so that no symmetry hides a mistake."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

SIZES = (11, 9, 7, 13, 5)
TIMES = {"tsteps": 3, "tmax": 3}


def sizes(module: ModuleType, chosen: tuple[int, ...] = SIZES) -> dict[str, int]:
    """The chosen sizes in the order of the module's own, three time steps."""
    places = iter(chosen)
    return {name: TIMES[name] if name in TIMES else next(places) for name in module.SIZES["MINI"]}


def shaken(given: dict[str, Any]) -> dict[str, Any]:
    """Small random numbers added to every array, other bases for nussinov; an integer array of zeros stays one.

    What is well conditioned stays so, what is positive stays so, and what is symmetric does not.
    """
    random = np.random.default_rng(20)

    def shake(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or (value.dtype == np.int32 and not value.any()):
            return value
        if value.dtype == np.int8:
            return random.integers(0, 4, value.shape).astype(np.int8)
        if value.dtype == np.int32:
            return value + random.integers(0, 9, value.shape).astype(np.int32)
        return value + (0.01 * random.random(value.shape)).astype(value.dtype)

    return {name: shake(value) for name, value in given.items()}
