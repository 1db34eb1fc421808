"""PolyBench floyd-warshall: the length of the shortest path between every two nodes, in place."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "floyd-warshall"
SIZES = {
    "MINI": {"n": 60},
    "SMALL": {"n": 180},
    "MEDIUM": {"n": 500},
    "LARGE": {"n": 2800},
    "EXTRALARGE": {"n": 5600},
}
OUTPUTS = ("path",)
# Row k and column k are read by every iteration of i and j, and written when i or j is k. They keep their values as
# long as path[k, k] >= 0, which the data promise but the source does not: in the source order nothing is parallel.
PARALLEL = {
    "k": "sequential",
    "i": "sequential",
    "j": "sequential",
}


def initialise(n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return {"n": n, "path": np.where(far, 999, i * j % 7 + 1).astype(np.int32)}


def kernel(n, path):
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def kernel_prange(n, path):
    for k in range(n):
        # A promise beyond the source: no length is negative, so row k is rewritten with the values it has.
        for i in prange(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def reference(n, path):
    """Paths of at most 1, 2, 4, ... edges, by squaring in the (min, +) sense."""
    nearest = path.copy()
    np.fill_diagonal(nearest, np.minimum(np.diag(path), 0))
    edges = 1
    while edges < n:
        nearest = np.min(nearest[:, :, None] + nearest[None, :, :], axis=1)
        edges *= 2
    # A node's way back to itself is the shortest cycle, not 0.
    around = np.min(nearest + path.T, axis=1)
    np.fill_diagonal(nearest, np.minimum(np.diag(path), around))
    return {"path": nearest}


def flops(n: int) -> int:
    return 2 * n * n * n


def bytes_min(n: int) -> int:
    return 4 * 2 * n * n
