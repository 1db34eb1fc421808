"""PolyBench durbin: the Yule-Walker equations T y = -r, for the Toeplitz matrix T of 1, r[0], r[1], ..."""

import numpy as np

NAME = "durbin"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("y",)
TOLERANCE = 1e-4  # PolyBench's r makes T nearly singular: at LARGE another order of summation moves y by up to 1e-5
PARALLEL = {
    "k": "sequential",  # alpha, beta and y go from one k to the next
    "i": "reduction",  # total += ...
    "i_2": "parallel",
    "i_3": "parallel",
}


def initialise(n: int) -> dict[str, object]:
    return {"n": n, "r": n + 1.0 - np.arange(n), "y": np.zeros(n)}


def kernel(n, r, y):
    z = np.empty(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


# Every loop inside k is at most n long: too short to start threads for each of the three, n times.
kernel_prange = kernel


def reference(n, r, y):
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return {"y": np.linalg.solve(np.concatenate(([1.0], r))[distance], -r)}


def flops(n: int) -> int:
    return 2 * n * (n - 1) + 5 * (n - 1)


def bytes_min(n: int) -> int:
    return 8 * 2 * n
