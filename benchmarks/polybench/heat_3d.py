"""PolyBench heat-3d: heat flow in three dimensions, two steps at a time between two arrays.

PolyBench starts from values that do not change at all in a step. Here a term is added that does.
"""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "heat-3d"
SIZES = {
    "MINI": {"tsteps": 20, "n": 10},
    "SMALL": {"tsteps": 40, "n": 20},
    "MEDIUM": {"tsteps": 100, "n": 40},
    "LARGE": {"tsteps": 500, "n": 120},
    "EXTRALARGE": {"tsteps": 1000, "n": 200},
}
OUTPUTS = ("A", "B")
PARALLEL = {
    "t": "sequential",  # each step starts from the result of the one before
    "i": "parallel",
    "j": "parallel",
    "k": "parallel",
    "i_2": "parallel",
    "j_2": "parallel",
    "k_2": "parallel",
}


def initialise(tsteps: int, n: int) -> dict[str, object]:
    i, j, k = np.ogrid[:n, :n, :n]
    start = (i + j + (n - k)) * 10.0 / n + i * j * k % 7
    return {"tsteps": tsteps, "n": n, "A": start, "B": start.copy()}


def kernel(tsteps, n, A, B):
    for _t in range(1, tsteps + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def kernel_prange(tsteps, n, A, B):
    for _t in range(1, tsteps + 1):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def reference(tsteps, n, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(tsteps):
        _step(A, B)
        _step(B, A)
    return {"A": A, "B": B}


def _step(old, new):
    inner = old[1:-1, 1:-1, 1:-1]
    around = old[2:, 1:-1, 1:-1] + old[:-2, 1:-1, 1:-1] + old[1:-1, 2:, 1:-1] + old[1:-1, :-2, 1:-1]
    around = around + old[1:-1, 1:-1, 2:] + old[1:-1, 1:-1, :-2]
    new[1:-1, 1:-1, 1:-1] = 0.25 * inner + 0.125 * around


def flops(tsteps: int, n: int) -> int:
    return 30 * tsteps * (n - 2) ** 3


def bytes_min(tsteps: int, n: int) -> int:
    return 8 * (3 * (n - 2) ** 3 + 12 * (n - 2) ** 2)
