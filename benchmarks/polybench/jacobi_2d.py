"""PolyBench jacobi-2d: the average of five neighbours, two steps at a time between two arrays."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "jacobi-2d"
SIZES = {
    "MINI": {"tsteps": 20, "n": 30},
    "SMALL": {"tsteps": 40, "n": 90},
    "MEDIUM": {"tsteps": 100, "n": 250},
    "LARGE": {"tsteps": 500, "n": 1300},
    "EXTRALARGE": {"tsteps": 1000, "n": 2800},
}
OUTPUTS = ("A", "B")
PARALLEL = {
    "t": "sequential",  # each step starts from the result of the one before
    "i": "parallel",
    "j": "parallel",
    "i_2": "parallel",
    "j_2": "parallel",
}


def initialise(tsteps: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    return {"tsteps": tsteps, "n": n, "A": (i * (j + 2.0) + 2.0) / n, "B": (i * (j + 3.0) + 3.0) / n}


def kernel(tsteps, n, A, B):
    for _t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def kernel_prange(tsteps, n, A, B):
    for _t in range(tsteps):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def reference(tsteps, n, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(tsteps):
        for old, new in ((A, B), (B, A)):
            rows = old[:-2, 1:-1] + old[1:-1, 1:-1] + old[2:, 1:-1]
            new[1:-1, 1:-1] = (rows + old[1:-1, :-2] + old[1:-1, 2:]) / 5.0
    return {"A": A, "B": B}


def flops(tsteps: int, n: int) -> int:
    return 10 * tsteps * (n - 2) * (n - 2)


def bytes_min(tsteps: int, n: int) -> int:
    return 8 * (3 * (n - 2) ** 2 + 8 * (n - 2))
