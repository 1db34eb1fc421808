"""PolyBench jacobi-1d: the average of three neighbours, two steps at a time between two arrays."""

import numpy as np

NAME = "jacobi-1d"
SIZES = {
    "MINI": {"tsteps": 20, "n": 30},
    "SMALL": {"tsteps": 40, "n": 120},
    "MEDIUM": {"tsteps": 100, "n": 400},
    "LARGE": {"tsteps": 500, "n": 2000},
    "EXTRALARGE": {"tsteps": 1000, "n": 4000},
}
OUTPUTS = ("A", "B")
PARALLEL = {
    "t": "sequential",  # each step starts from the result of the one before
    "i": "parallel",
    "i_2": "parallel",
}


def initialise(tsteps: int, n: int) -> dict[str, object]:
    i = np.arange(n)
    return {"tsteps": tsteps, "n": n, "A": (i + 2.0) / n, "B": (i + 3.0) / n}


def kernel(tsteps, n, A, B):
    for _t in range(tsteps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


# Both loops over i are parallel, but under a microsecond long: less than it costs to start threads for each.
kernel_prange = kernel


def reference(tsteps, n, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(tsteps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return {"A": A, "B": B}


def flops(tsteps: int, n: int) -> int:
    return 6 * tsteps * (n - 2)


def bytes_min(tsteps: int, n: int) -> int:
    return 8 * (3 * n - 2)
