"""PolyBench covariance: the covariance matrix of the columns of a table."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "covariance"
SIZES = {
    "MINI": {"m": 28, "n": 32},
    "SMALL": {"m": 80, "n": 100},
    "MEDIUM": {"m": 240, "n": 260},
    "LARGE": {"m": 1200, "n": 1400},
    "EXTRALARGE": {"m": 2600, "n": 3000},
}
OUTPUTS = ("cov",)
PARALLEL = {
    "j": "parallel",
    "i": "reduction",  # mean[j] += ...
    "i_2": "parallel",
    "j_2": "parallel",
    "i_3": "parallel",  # writes row i from the diagonal on and column i from the diagonal on
    "j_3": "parallel",
    "k": "reduction",  # cov[i, j] += ...
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :m]
    return {"m": m, "n": n, "float_n": float(n), "data": i * j / m, "cov": np.zeros((m, m)), "mean": np.zeros(m)}


def kernel(m, n, float_n, data, cov, mean):
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


def kernel_prange(m, n, float_n, data, cov, mean):
    for j in prange(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for i in prange(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in prange(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


def reference(m, n, float_n, data, cov, mean):
    return {"cov": np.cov(data, rowvar=False).reshape(m, m)}


def flops(m: int, n: int) -> int:
    return 2 * m * n + m + m * (m + 1) // 2 * (2 * n + 1)


def bytes_min(m: int, n: int) -> int:
    return 8 * (2 * m * n + m * m + m)
