"""PolyBench ludcmp: solve A x = b through A = L U without pivoting, L y = b and U x = y."""

import numpy as np

from benchmarks.polybench.annotations import prange
from benchmarks.polybench.matrices import positive_definite

NAME = "ludcmp"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("x",)
PARALLEL = {
    "i": "sequential",  # row i needs the finished rows above it
    "j": "sequential",  # A[i, j] needs the finished A[i, k], k < j
    "k": "reduction",  # w -= ...
    "j_2": "parallel",  # A[i, j], j >= i, needs only A[i, k], k < i, and rows above; w is private
    "k_2": "reduction",  # w -= ...
    "i_2": "sequential",  # y[i] needs the y before it
    "j_3": "reduction",  # w -= ...
    "i_3": "sequential",  # x[i] needs the x after it
    "j_4": "reduction",  # w -= ...
}


def initialise(n: int) -> dict[str, object]:
    return {
        "n": n,
        "A": positive_definite(n),
        "b": (np.arange(n) + 1) / n / 2.0 + 4.0,
        "x": np.zeros(n),
        "y": np.zeros(n),
    }


def kernel(n, A, b, x, y):
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def kernel_prange(n, A, b, x, y):
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in prange(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def reference(n, A, b, x, y):
    return {"x": np.linalg.solve(A, b)}


def flops(n: int) -> int:
    factorisation = n * (n - 1) * (n - 2) // 3 + n * (n - 1) // 2 + n * (n - 1) * (n + 1) // 3
    return factorisation + 2 * n * (n - 1) + n


def bytes_min(n: int) -> int:
    return 8 * (2 * n * n + 3 * n)
