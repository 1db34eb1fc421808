"""What irregular loops cost the warps of a GPU, from what their iterations do: how many warps diverge, how long they
run and how much memory they touch, as iterations stand or in the order of a mapping. Pure functions of NumPy arrays,
which hold for vector lanes and cache lines too, with another number of lanes and another segment.

Thread t runs iteration t, or the t-th of a mapping; warps are as many neighbouring threads, the last one maybe fewer
(Zhang and others, 2010, section 2.1; Zhang's thesis, sections 2.2 and 3.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WARP = 32
SECTOR_BYTES = 32
IDLE = -1
"""In place of an address: the thread makes no such access."""

Numbers = NDArray[np.int64]


def divergence_ratio(paths: NDArray[Any], warp: int = WARP) -> float:
    """The part of the warps that diverge: two of their threads have different path vectors. paths: (threads,) or
    (threads, entries); 0.0 where there are no threads."""
    if not len(paths):
        return 0.0
    rows = paths.reshape(len(paths), -1)
    first = np.repeat(rows[::warp], warp, axis=0)[: len(rows)]
    differs = (rows != first).any(axis=1)
    return float(np.add.reduceat(differs, _starts(len(rows), warp)).astype(bool).mean())


def loop_cost(trips: NDArray[Any], warp: int = WARP) -> int:
    """The iterations of an inner loop that all warps together go through: of each warp those of its longest thread.
    trips: (threads,)."""
    if not len(trips):
        return 0
    return int(np.maximum.reduceat(trips.astype(np.int64), _starts(len(trips), warp)).sum())


def least_loop_cost(trips: NDArray[Any], warp: int = WARP) -> int:
    """The least that any mapping can make of `loop_cost`: threads sorted by their trips, the longest first, so that the
    last warp, which may have fewer threads, has the shortest."""
    return loop_cost(np.sort(trips)[::-1], warp)


def branch_cost(taken: NDArray[Any], reached: NDArray[Any], first: float, second: float, warp: int = WARP) -> float:
    """What all warps together spend on the two sides of a branch: each warp on both where its threads differ, each
    side once. taken, reached: (threads,), whether the condition holds, and whether control comes there; first, second:
    what a thread spends where the condition holds, and where it does not."""
    sides = ((taken & reached, first), (~taken & reached, second))
    return float(sum(cost * loop_cost(side, warp) for side, cost in sides))


def transactions(addresses: NDArray[Any], width: int, warp: int = WARP, segment: int = SECTOR_BYTES) -> int:
    """How many segments of memory the warps touch with one access: for each warp the different ones. addresses:
    (threads,), in bytes (or elements, with a segment counted in elements), `IDLE` for a thread that does not access;
    width: how much a thread touches from there on."""
    places = addresses.astype(np.int64)
    numbers = np.arange(len(places)) // warp
    there = places != IDLE
    first, last = places[there] // segment, (places[there] + width - 1) // segment
    warps = numbers[there]
    touched = [np.stack((warps, first + k), axis=1)[first + k <= last] for k in range((width - 2) // segment + 2)]
    pairs = np.concatenate(touched) if touched else np.empty((0, 2), np.int64)
    return len(np.unique(pairs, axis=0))


def least_transactions(addresses: NDArray[Any], width: int, warp: int = WARP, segment: int = SECTOR_BYTES) -> int:
    """What `transactions` comes to where each thread finds its element beside that of the thread before: as after the
    data was duplicated in the order of the threads (Zhang's thesis, section 3.3)."""
    return transactions(np.where(addresses == IDLE, IDLE, np.arange(len(addresses)) * width), width, warp, segment)


def _starts(threads: int, warp: int) -> Numbers:
    """Where each warp begins."""
    return np.arange(0, threads, warp)
