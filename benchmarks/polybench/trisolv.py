"""PolyBench trisolv: solve L x = b for a lower triangular L."""

import numpy as np

NAME = "trisolv"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("x",)
PARALLEL = {
    "i": "sequential",  # x[i] needs the x before it
    "j": "reduction",  # x[i] -= ..., and j < i never reads x[i] itself
}


def initialise(n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    return {
        "n": n,
        "L": np.where(j <= i, (i + n - j + 1) * 2.0 / n, 0.0),
        "x": np.full(n, -999.0),
        "b": np.arange(n, dtype=np.float64),
    }


def kernel(n, L, x, b):
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


# Only the dot product over j could be annotated: too short to start threads for each.
kernel_prange = kernel


def reference(n, L, x, b):
    return {"x": np.linalg.solve(np.tril(L), b)}


def flops(n: int) -> int:
    return n * (n - 1) + n


def bytes_min(n: int) -> int:
    return 8 * (n * (n + 1) // 2 + 2 * n)
