"""Arrays of which mostly little is used, such as those of lists: room for what nobody can count before."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 2**27
"""RESERVED of nodes.py, which calls do without."""
LEAST_BYTES = 1 << 26
"""From there on an array may be such room."""
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)  # and MAP_NORESERVE


def empty_array(shape: tuple[int, ...], dtype: Any, most: int = MOST) -> npt.NDArray[Any]:
    """As np.empty. A large array takes addresses alone, until it is written to: malloc writes to what it gives where
    MALLOC_PERTURB_ says so, and there are systems that refuse what they might not have. One of more than `most`
    elements is NumPy's, which says early what no machine has. Raises MemoryError."""
    kind = np.dtype(dtype)
    elements = 1
    for size in shape:
        elements *= int(size)
    if elements > most or elements * kind.itemsize < LEAST_BYTES:
        return np.empty(shape, kind)
    try:
        room = mmap.mmap(-1, elements * kind.itemsize, flags=_FLAGS)
    except (OSError, ValueError) as error:
        raise MemoryError(f"no memory for {elements:,} elements of {kind}") from error
    return np.frombuffer(room, kind).reshape(shape)
