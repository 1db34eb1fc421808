"""Sparse loops: a matrix in compressed rows times a vector, and PageRank, both on a graph whose degrees follow a power
law, at sizes beyond most caches.

The graph is `scale_free` of the tour with a fixed seed. Each non-zero picks its row, independently of all others, with
a probability proportional to r**-0.6 for the row of popularity rank r = 1, 2, ...: the number of rows with at least d
non-zeros falls like d**(-1 / 0.6), the exponent of the density is about 2.7, and at LARGE (1,000,000 rows, 10,000,000
non-zeros) the longest row has some 40,000 and about one in two hundred has none. Columns are picked in proportion to
c**(-1 / 3). Rows and columns are numbered at random. The same element may be there twice.
"""

from __future__ import annotations

import numpy as np
from examples.programs.pagerank import scale_free

from benchmarks.polybench.annotations import prange

SIZES = {  # rows (pages), non-zeros (links)
    "MINI": (300, 2_000),
    "SMALL": (3_000, 20_000),
    "MEDIUM": (100_000, 1_000_000),
    "LARGE": (1_000_000, 10_000_000),
    "EXTRALARGE": (4_000_000, 40_000_000),
}
SEED = 7
SWEEPS = 5


def spmv(starts, columns, values, x, y):
    """y = A x: row i holds values[starts[i]:starts[i + 1]] in the columns columns[starts[i]:starts[i + 1]]."""
    for i in range(y.shape[0]):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e] * x[columns[e]]
        y[i] = total


def spmv_prange(starts, columns, values, x, y):
    """The same, annotated by hand."""
    for i in prange(y.shape[0]):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e] * x[columns[e]]
        y[i] = total


def spmv_arguments(size: str) -> dict[str, object]:
    """The arguments of `spmv`."""
    rows, entries = SIZES[size]
    starts, columns, _ = scale_free(rows, entries, SEED)
    random = np.random.default_rng(SEED)
    return {
        "starts": starts,
        "columns": columns,
        "values": random.random(entries),
        "x": random.random(rows),
        "y": np.zeros(rows),
    }


def spmv_bytes(size: str) -> float:
    """Every array once."""
    rows, entries = SIZES[size]
    return 12.0 * entries + 8.0 * (rows + 1) + 16.0 * rows


def pagerank_arguments(size: str) -> dict[str, object]:
    """The arguments of the tour's `pagerank`."""
    pages, links = SIZES[size]
    starts, sources, out = scale_free(pages, links, SEED)
    rank, share = np.full(pages, 1.0 / pages), np.zeros(pages)
    return {
        "starts": starts,
        "sources": sources,
        "links": out,
        "rank": rank,
        "share": share,
        "damping": 0.85,
        "sweeps": SWEEPS,
    }


def pagerank_bytes(size: str) -> float:
    """What the sweeps move when nothing stays in a cache from one loop to the next: links, rank (read and written),
    share (written, and read once whatever the gathers need) and starts, and sources."""
    pages, links = SIZES[size]
    return SWEEPS * (6 * 8.0 * pages + 4.0 * links)


def pagerank_bytes_min(size: str) -> float:
    """Every array once, rank twice."""
    pages, links = SIZES[size]
    return 5 * 8.0 * pages + 8.0 + 4.0 * links


def spmv_flops(size: str) -> float:
    """A product and a sum for each non-zero."""
    return 2.0 * SIZES[size][1]


def pagerank_flops(size: str) -> float:
    """A sum for each link, and five operations for each page."""
    pages, links = SIZES[size]
    return SWEEPS * (links + 5.0 * pages)


def spmv_reference(starts, columns, values, x, y) -> dict[str, np.ndarray]:
    """The outputs of `spmv`, by counting with weights."""
    rows = np.repeat(np.arange(len(y)), np.diff(starts))
    return {"y": np.bincount(rows, weights=values * x[columns], minlength=len(y))}
