"""PolyBench syrk: C = alpha A A' + beta C, in the lower triangle of C."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "syrk"
SIZES = {
    "MINI": {"m": 20, "n": 30},
    "SMALL": {"m": 60, "n": 80},
    "MEDIUM": {"m": 200, "n": 240},
    "LARGE": {"m": 1000, "n": 1200},
    "EXTRALARGE": {"m": 2000, "n": 2600},
}
OUTPUTS = ("C",)
PARALLEL = {
    "i": "parallel",
    "j": "parallel",
    "k": "reduction",  # row i of C += ...
    "j_2": "parallel",
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :m]
    row, column = np.ogrid[:n, :n]
    return {
        "n": n,
        "m": m,
        "alpha": 1.5,
        "beta": 1.2,
        "C": (row * column + 2) % m / m,
        "A": (i * j + 1) % n / n,
    }


def kernel(n, m, alpha, beta, C, A):
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def kernel_prange(n, m, alpha, beta, C, A):
    for i in prange(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def reference(n, m, alpha, beta, C, A):
    return {"C": np.triu(C, 1) + np.tril(alpha * (A @ A.T) + beta * C)}


def flops(m: int, n: int) -> int:
    return (3 * m + 1) * (n * (n + 1) // 2)


def bytes_min(m: int, n: int) -> int:
    return 8 * (n * m + n * (n + 1))
