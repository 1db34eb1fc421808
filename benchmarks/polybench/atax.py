"""PolyBench atax: y = A' (A x)."""

import numpy as np

NAME = "atax"
SIZES = {
    "MINI": {"m": 38, "n": 42},
    "SMALL": {"m": 116, "n": 124},
    "MEDIUM": {"m": 390, "n": 410},
    "LARGE": {"m": 1900, "n": 2100},
    "EXTRALARGE": {"m": 1800, "n": 2200},
}
OUTPUTS = ("y",)
PARALLEL = {
    "i": "parallel",
    "i_2": "reduction",  # the whole of y += ...; tmp[i] is this iteration's own
    "j": "reduction",  # tmp[i] += ...
    "j_2": "parallel",
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:m, :n]
    return {
        "m": m,
        "n": n,
        "A": (i + j) % n / (5 * m),
        "x": 1.0 + np.arange(n) / n,
        "y": np.zeros(n),
        "tmp": np.zeros(m),
    }


def kernel(m, n, A, x, y, tmp):
    for i in range(n):
        y[i] = 0.0
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp[i]


# prange over the rows would be a race on y (Numba reduces into whole arrays only), and the loops inside are a few
# microseconds long, less than it costs to start threads for each: no loop here gains from it.
kernel_prange = kernel


def reference(m, n, A, x, y, tmp):
    return {"y": A.T @ (A @ x)}


def flops(m: int, n: int) -> int:
    return 4 * m * n


def bytes_min(m: int, n: int) -> int:
    return 8 * (m * n + 2 * n + m)
