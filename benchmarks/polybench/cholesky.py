"""PolyBench cholesky: A = L L', L written over the lower triangle of A."""

import math

import numpy as np

from benchmarks.polybench.matrices import positive_definite

NAME = "cholesky"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("A",)
PARALLEL = {
    "i": "sequential",  # row i needs the finished rows above it
    "j": "sequential",  # A[i, j] needs the finished A[i, k], k < j
    "k": "reduction",  # A[i, j] -= ...
    "k_2": "reduction",  # A[i, i] -= ...
}


def initialise(n: int) -> dict[str, object]:
    return {"n": n, "A": positive_definite(n)}


def kernel(n, A):
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])


# In this order only the dot products over k could be annotated: too short to start threads for each.
kernel_prange = kernel


def reference(n, A):
    return {"A": np.linalg.cholesky(A) + np.triu(A, 1)}


def flops(n: int) -> int:
    return n * (n - 1) * (n - 2) // 3 + 3 * n * (n - 1) // 2 + n


def bytes_min(n: int) -> int:
    return 8 * n * (n + 1)
