"""Statistics: moments, distances, resampling, small models."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case


@case(lambda rng: (rng.normal(size=30), rng.normal(size=30)), "reductions", "whole-array arithmetic")
def pearson(x, y):
    dx = x - np.mean(x)
    dy = y - np.mean(y)
    return np.sum(dx * dy) / np.sqrt(np.sum(dx**2) * np.sum(dy**2))


@case(lambda rng: (rng.normal(size=(20, 4)),), "reductions", "axis", "dot", ".T")
def covariance(data):
    centered = data - data.sum(axis=0) / data.shape[0]
    return centered.T @ centered / (data.shape[0] - 1)


@case(lambda rng: (rng.normal(size=25), rng.normal(size=25)))
def kendall_tau(x, y):
    n = len(x)
    concordant = 0
    discordant = 0
    for i in range(n - 1):
        for j in range(i + 1, n):
            s = (x[i] - x[j]) * (y[i] - y[j])
            if s > 0:
                concordant += 1
            elif s < 0:
                discordant += 1
    return (concordant - discordant) / (0.5 * n * (n - 1))


@case(lambda rng: (rng.integers(0, 6, 20).astype(np.float64),), "argsort", "while")
def rank_average(x):
    n = x.shape[0]
    order = np.argsort(x)
    ranks = np.empty(n)
    i = 0
    while i < n:
        j = i
        while j + 1 < n and x[order[j + 1]] == x[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = 0.5 * (i + j) + 1
        i = j + 1
    return ranks


@case(
    lambda rng: (rng.normal(size=(15, 3)), rng.integers(0, 3, 15)), "assignment to a row", "slice read", "a[i] += row"
)
def class_means(data, labels):
    k = labels.max() + 1
    means = np.zeros((k, data.shape[1]))
    counts = np.zeros(k)
    for i in range(data.shape[0]):
        means[labels[i], :] += data[i, :]
        counts[labels[i]] += 1
    for c in range(k):
        if counts[c] > 0:
            means[c, :] /= counts[c]
    return means


@case(lambda rng: (rng.normal(size=(15, 3)), rng.normal(size=(4, 3))), "argmin", "slice read", "axis")
def assign_clusters(points, centers):
    labels = np.empty(points.shape[0], dtype=np.int64)
    inertia = 0.0
    for i in range(points.shape[0]):
        dist = np.sum((centers - points[i]) ** 2, axis=1)
        labels[i] = np.argmin(dist)
        inertia += dist[labels[i]]
    return labels, inertia


@case(lambda rng: (rng.normal(size=40), np.linspace(-3, 3, 9), 0.4), "loop over array", "reductions")
def gaussian_kde(samples, grid, bandwidth):
    density = np.zeros(grid.shape)
    norm = len(samples) * bandwidth * math.sqrt(2 * math.pi)
    for i, g in enumerate(grid):
        density[i] = np.exp(-0.5 * ((g - samples) / bandwidth) ** 2).sum() / norm
    return density


@case(lambda rng: (rng.normal(size=50), 10, -3.0, 3.0))
def histogram(values, bins, low, high):
    counts = np.zeros(bins, np.int64)
    width = (high - low) / bins
    for v in values:
        if v < low or v > high:
            continue
        k = int((v - low) / width)
        if k == bins:
            k = bins - 1
        counts[k] += 1
    return counts


@case(lambda rng: (rng.normal(size=20), rng.normal(size=24)), "sort", "concatenate", "searchsorted")
def kolmogorov_smirnov(a, b):
    a = np.sort(a)
    b = np.sort(b)
    both = np.concatenate((a, b))
    cdf_a = np.searchsorted(a, both, side="right") / len(a)
    cdf_b = np.searchsorted(b, both, side="right") / len(b)
    return np.max(np.abs(cdf_a - cdf_b))


@case(lambda rng: (rng.normal(size=60), 10), "slice read", "dot")
def autocorrelation(x, max_lag):
    n = len(x)
    centered = x - x.mean()
    var = np.dot(centered, centered)
    acf = np.empty(max_lag + 1)
    acf[0] = 1.0
    for lag in range(1, max_lag + 1):
        acf[lag] = np.dot(centered[: n - lag], centered[lag:]) / var
    return acf


@case(
    lambda rng: (np.column_stack((np.ones(20), rng.normal(size=(20, 2)))), rng.normal(size=20)),
    "dot",
    ".T",
    "linalg.solve",
)
def least_squares(x, y):
    xtx = x.T @ x
    xty = x.T @ y
    beta = np.linalg.solve(xtx, xty)
    residual = y - x @ beta
    return beta, (residual**2).sum()


@case(
    lambda rng: (rng.normal(size=(20, 3)), rng.integers(0, 2, 20).astype(np.float64), 0.1, 15),
    "dot",
    "whole-array arithmetic",
    "names assigned in loop",
)
def logistic_gradient(x, y, rate, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1.0 / (1.0 + np.exp(-np.dot(x, w)))
        grad = np.dot(x.T, p - y) / y.size
        w = w - rate * grad
    return w


@case(lambda rng: (rng.normal(size=30), 1.345), "median", "masks")
def huber_location(x, k):
    mu = np.median(x)
    scale = np.median(np.abs(x - mu)) / 0.6745
    for _ in range(20):
        r = (x - mu) / scale
        w = np.where(np.abs(r) <= k, 1.0, k / np.abs(r))
        new = np.sum(w * x) / np.sum(w)
        if abs(new - mu) < 1e-10:
            break
        mu = new
    return mu


@case(lambda rng: (rng.normal(size=(12, 3)),), "slice read", "linalg.norm")
def pairwise(points):
    n = points.shape[0]
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            d[i, j] = d[j, i] = np.linalg.norm(points[i, :] - points[j, :])
    return d


@case(lambda rng: (rng.uniform(size=20),), "copy", "masks", "argsort")
def benjamini_hochberg(p):
    n = p.size
    order = np.argsort(p)
    q = np.empty(n)
    smallest = 1.0
    for i in range(n - 1, -1, -1):
        value = p[order[i]] * n / (i + 1)
        smallest = min(smallest, value)
        q[order[i]] = smallest
    return q, np.sum(q < 0.3)


@case(lambda rng: (rng.uniform(0.1, 5.0, 12),), "helper function")
def log_gamma(x):
    coefficients = (
        76.18009172947146,
        -86.50532032941677,
        24.01409824083091,
        -1.231739572450155,
        0.1208650973866179e-2,
        -0.5395239384953e-5,
    )
    out = np.empty_like(x)
    for i in range(len(x)):
        y = x[i]
        tmp = x[i] + 5.5
        tmp -= (x[i] + 0.5) * math.log(tmp)
        ser = 1.000000000190015
        for c in coefficients:
            y += 1
            ser += c / y
        out[i] = -tmp + math.log(2.5066282746310005 * ser / x[i])
    return out


@case(lambda rng: (np.array([1.0, np.nan, 3.0, 4.0, np.nan]),), "masks", "reductions")
def nan_standardise(x):
    good = x[~np.isnan(x)]
    return (x - good.mean()) / good.std()


@case(lambda rng: (5,), "np.random")
def bootstrap_seeded(n):
    np.random.seed(3)
    total = 0.0
    for _ in range(n):
        total += np.random.normal(0.0, 1.0)
    return total


@case(lambda rng: (rng.normal(size=(6, 6)), 2), "raise")
def lower_cholesky(a, extra):
    if a.shape[0] != a.shape[1]:
        raise ValueError("matrix is not square")
    m = a @ a.T + extra * np.eye(a.shape[0])
    n = m.shape[0]
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = m[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                if s <= 0:
                    raise ValueError("matrix is not positive definite")
                low[i, i] = np.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@case(lambda rng: (rng.normal(size=40), None), "None")
def weighted_variance(x, weights):
    total = 0.0
    norm = 0.0
    for i in range(x.size):
        w = 1.0 if weights is None else weights[i]
        total += w * x[i]
        norm += w
    mean = total / norm
    var = 0.0
    for i in range(x.size):
        w = 1.0 if weights is None else weights[i]
        var += w * (x[i] - mean) ** 2
    return mean, var / norm
