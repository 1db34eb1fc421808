"""Which iterations of a loop inspections look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loopwright.analysis.path_inspector import PathInspector
from loopwright.cost.divergence import WARP
from loopwright.ir.nodes import For, While
from loopwright.ir.queries import contains

WARPS = 96
"""So many of a loop's warps are looked at, evenly apart."""


def is_quick(found: PathInspector) -> bool:
    """Whether the interpreter may run it: with no loop in it but the one over the sample."""
    *before, last = found.kernel.body
    return (
        found.has_key
        and not found.written
        and isinstance(last, For)
        and not contains((*before, *last.body), For, While)
    )


def sample_of(count: int) -> NDArray[np.int64]:
    """Iterations of whole warps, evenly apart, all where there are few."""
    warps = count // WARP
    chosen = np.unique(np.linspace(0, warps - 1, min(WARPS, warps)).astype(np.int64))
    return (chosen[:, None] * WARP + np.arange(WARP)).reshape(-1)
