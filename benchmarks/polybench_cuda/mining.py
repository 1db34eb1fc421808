"""Data mining by hand: correlation and covariance."""

from __future__ import annotations

import math

from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane


@cuda.jit
def mean_of_columns(m, n, float_n, data, mean):
    j = cuda.grid(1)
    if j < m:
        total = 0.0
        for i in range(n):
            total += data[i, j]
        mean[j] = total / float_n


@cuda.jit
def deviation_of_columns(m, n, float_n, data, mean, stddev):
    j = cuda.grid(1)
    if j < m:
        total = 0.0
        for i in range(n):
            total += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        total = math.sqrt(total / float_n)
        stddev[j] = 1.0 if total <= 0.1 else total


@cuda.jit
def centre(m, n, data, mean):
    j, i = cuda.grid(2)
    if i < n and j < m:
        data[i, j] -= mean[j]


@cuda.jit
def centre_and_scale(m, n, float_n, data, mean, stddev):
    j, i = cuda.grid(2)
    if i < n and j < m:
        data[i, j] = (data[i, j] - mean[j]) / (math.sqrt(float_n) * stddev[j])


@cuda.jit
def correlate(m, n, data, corr):
    j, i = cuda.grid(2)
    if i < m and j < m:
        if i == j:
            corr[i, i] = 1.0
        elif i < j:
            total = 0.0
            for k in range(n):
                total += data[k, i] * data[k, j]
            corr[i, j] = total
            corr[j, i] = total


@cuda.jit
def covary(m, n, float_n, data, cov):
    j, i = cuda.grid(2)
    if i < m and i <= j < m:
        total = 0.0
        for k in range(n):
            total += data[k, i] * data[k, j]
        total /= float_n - 1.0
        cov[i, j] = total
        cov[j, i] = total


def correlation(m, n, float_n, data, corr, mean, stddev):
    mean_of_columns[line(m)](m, n, float_n, data, mean)
    deviation_of_columns[line(m)](m, n, float_n, data, mean, stddev)
    centre_and_scale[plane(n, m)](m, n, float_n, data, mean, stddev)
    correlate[plane(m, m)](m, n, data, corr)


def covariance(m, n, float_n, data, cov, mean):
    mean_of_columns[line(m)](m, n, float_n, data, mean)
    centre[plane(n, m)](m, n, data, mean)
    covary[plane(m, m)](m, n, float_n, data, cov)
