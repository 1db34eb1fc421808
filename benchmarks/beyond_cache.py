"""Stencils whose grids do not fit into the caches: PolyBench's loops on arrays of which each is at least twice as large
as the last-level cache of this machine, for few time steps. Here a loop over the whole grid runs at the speed of the
memory, and only one that takes several time steps through a part of the grid is faster.

MINI and SMALL are PolyBench's own (to compile, and for tests); MEDIUM has the large grid and 8 steps, too few for tiles
in time to gain much; LARGE and EXTRALARGE have 64.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from benchmarks.polybench import fdtd_2d, heat_3d, jacobi_2d

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNKNOWN_CACHE = 32 << 20
STEPS = {"MEDIUM": 8, "LARGE": 64, "EXTRALARGE": 64}

# How many times a step of the loops as they are written goes over all of an array, reading or writing.
PASSES = {"jacobi-2d": 4, "heat-3d": 4, "fdtd-2d": 10}
MODULES = (jacobi_2d, heat_3d, fdtd_2d)


def last_level_cache(caches: Path = CACHES) -> int:
    """Bytes of the largest cache of the first core; 32 MiB where the system does not say."""
    sizes = [0]
    for path in caches.glob("index*/size"):
        found = re.fullmatch(r"(\d+)([KMG]?)", path.read_text().strip())
        if found:
            sizes.append(int(found.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[found.group(2)])
    return max(sizes) or UNKNOWN_CACHE


def sizes(module: Any, size: str, cache: int | None = None) -> dict[str, int]:
    """The arguments of the module's `initialise`. cache: bytes of the last-level cache, or this machine's."""
    if size not in STEPS:
        return dict(module.SIZES[size])
    elements = 2 * (last_level_cache() if cache is None else cache) / 8
    steps = STEPS[size]
    if module is heat_3d:
        return {"tsteps": steps, "n": math.ceil(elements ** (1 / 3))}
    edge = math.ceil(math.sqrt(elements))
    return {"tsteps": steps, "n": edge} if module is jacobi_2d else {"tmax": steps, "nx": edge, "ny": edge}


def untiled_bytes(module: Any, size: str) -> float:
    """What the loops as written move when the grid leaves the cache between two loops over it."""
    match sizes(module, size):
        case {"tsteps": steps, "n": n}:
            elements = n ** (3 if module is heat_3d else 2)
        case {"tmax": steps, "nx": nx, "ny": ny}:
            elements = nx * ny
        case unknown:
            raise ValueError(f"{module.NAME} has sizes {unknown}")
    return 8.0 * PASSES[module.NAME] * steps * elements
