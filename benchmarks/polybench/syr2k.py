"""PolyBench syr2k: C = alpha (A B' + B A') + beta C, in the lower triangle of C."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "syr2k"
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
        "C": (row * column + 3) % n / m,
        "A": (i * j + 1) % n / n,
        "B": (i * j + 2) % m / m,
    }


def kernel(n, m, alpha, beta, C, A, B):
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def kernel_prange(n, m, alpha, beta, C, A, B):
    for i in prange(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def reference(n, m, alpha, beta, C, A, B):
    product = A @ B.T
    return {"C": np.triu(C, 1) + np.tril(alpha * (product + product.T) + beta * C)}


def flops(m: int, n: int) -> int:
    return (6 * m + 1) * (n * (n + 1) // 2)


def bytes_min(m: int, n: int) -> int:
    return 8 * (2 * n * m + n * (n + 1))
