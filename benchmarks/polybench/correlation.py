"""PolyBench correlation: the correlation matrix of the columns of a table."""

import math

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "correlation"
SIZES = {
    "MINI": {"m": 28, "n": 32},
    "SMALL": {"m": 80, "n": 100},
    "MEDIUM": {"m": 240, "n": 260},
    "LARGE": {"m": 1200, "n": 1400},
    "EXTRALARGE": {"m": 2600, "n": 3000},
}
OUTPUTS = ("corr",)
PARALLEL = {
    "j": "parallel",
    "i": "reduction",  # mean[j] += ...
    "j_2": "parallel",
    "i_2": "reduction",  # stddev[j] += ...
    "i_3": "parallel",
    "j_3": "parallel",
    "i_4": "parallel",  # writes row i right of the diagonal and column i below it: no other i comes there
    "j_4": "parallel",
    "k": "reduction",  # corr[i, j] += ...
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :m]
    return {
        "m": m,
        "n": n,
        "float_n": float(n),
        "data": i * j / m + i,
        "corr": np.zeros((m, m)),
        "mean": np.zeros(m),
        "stddev": np.zeros(m),
    }


def kernel(m, n, float_n, data, corr, mean, stddev):
    eps = 0.1
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for j in range(m):
        stddev[j] = 0.0
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = math.sqrt(stddev[j])
        # A column that hardly varies would be divided by almost zero.
        stddev[j] = 1.0 if stddev[j] <= eps else stddev[j]
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(float_n) * stddev[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


def kernel_prange(m, n, float_n, data, corr, mean, stddev):
    eps = 0.1
    for j in prange(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for j in prange(m):
        stddev[j] = 0.0
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = math.sqrt(stddev[j])
        stddev[j] = 1.0 if stddev[j] <= eps else stddev[j]
    for i in prange(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(float_n) * stddev[j]
    for i in prange(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


def reference(m, n, float_n, data, corr, mean, stddev):
    deviation = data.std(axis=0)
    scaled = (data - data.mean(axis=0)) / np.where(deviation <= 0.1, 1.0, deviation)
    expected = scaled.T @ scaled / float_n
    np.fill_diagonal(expected, 1.0)
    return {"corr": expected}


def flops(m: int, n: int) -> int:
    return 8 * m * n + 4 * m + m * (m - 1) * n


def bytes_min(m: int, n: int) -> int:
    return 8 * (2 * m * n + m * m + 2 * m)
