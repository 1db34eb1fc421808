"""PolyBench trmm: B = alpha A' B for a lower triangular A with ones on its diagonal."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "trmm"
SIZES = {
    "MINI": {"m": 20, "n": 30},
    "SMALL": {"m": 60, "n": 80},
    "MEDIUM": {"m": 200, "n": 240},
    "LARGE": {"m": 1000, "n": 1200},
    "EXTRALARGE": {"m": 2000, "n": 2600},
}
OUTPUTS = ("B",)
PARALLEL = {
    "i": "sequential",  # row i reads the rows below it before later iterations overwrite them
    "j": "parallel",  # each j stays in its column
    "k": "reduction",  # B[i, j] += ..., and k > i never reads B[i, j] itself
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:m, :n]
    row, column = np.ogrid[:m, :m]
    return {
        "m": m,
        "n": n,
        "alpha": 1.5,
        "A": np.where(column < row, (row + column) % m / m, 0.0) + np.eye(m),
        "B": (n + (i - j)) % n / n,
    }


def kernel(m, n, alpha, A, B):
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def kernel_prange(m, n, alpha, A, B):
    for i in range(m):
        for j in prange(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def reference(m, n, alpha, A, B):
    unit_lower = np.tril(A, -1) + np.eye(m)
    return {"B": alpha * (unit_lower.T @ B)}


def flops(m: int, n: int) -> int:
    return m * (m - 1) * n + m * n


def bytes_min(m: int, n: int) -> int:
    return 8 * (m * (m - 1) // 2 + 2 * m * n)
