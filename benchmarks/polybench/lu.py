"""PolyBench lu: A = L U without pivoting, both written over A."""

import numpy as np

from benchmarks.polybench.annotations import prange
from benchmarks.polybench.matrices import positive_definite

NAME = "lu"
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
    "j_2": "parallel",  # A[i, j], j >= i, needs only A[i, k], k < i, and rows above
    "k_2": "reduction",  # A[i, j] -= ...
}


def initialise(n: int) -> dict[str, object]:
    return {"n": n, "A": positive_definite(n)}


def kernel(n, A):
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def kernel_prange(n, A):
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in prange(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def reference(n, A):
    factors = A.copy()
    for k in range(n):  # right-looking: every later row is updated as soon as row k is done
        factors[k + 1 :, k] /= factors[k, k]
        factors[k + 1 :, k + 1 :] -= np.outer(factors[k + 1 :, k], factors[k, k + 1 :])
    return {"A": factors}


def flops(n: int) -> int:
    return n * (n - 1) * (n - 2) // 3 + n * (n - 1) // 2 + n * (n - 1) * (n + 1) // 3


def bytes_min(n: int) -> int:
    return 8 * (2 * n * n - n)
