"""Floating-point operations of a call."""

from __future__ import annotations

import numpy as np

import loopwright as lw
from loopwright.cost.flops import flops


@lw.kernel
def product(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@lw.kernel
def distances(out, x, n):
    for i in range(n):
        out[i] = (x[i] * x[i] + x[i + 1] / 2.0) ** 0.5 - np.exp(x[i])


@lw.kernel
def chosen(out, x):
    for i in range(len(x)):
        if x[i] > 0.5:
            out[i] = x[i] * 2.0


@lw.kernel
def indices(out, x):
    for i in range(len(x)):
        out[(3 * i + 1) % len(x)] = x[i]


def of(kernel: lw.LoopKernel, *arguments: object) -> float | None:
    return flops(kernel.specialise(*arguments).analysed.written, arguments)


def test_they_are_counted_as_people_do() -> None:
    assert of(product, np.zeros((5, 7)), np.ones((5, 11)), np.ones((11, 7))) == 2 * 5 * 7 * 11
    assert of(distances, np.zeros(9), np.zeros(10), 9) == 6 * 9


def test_those_of_indices_and_what_data_decides_do_not_count() -> None:
    assert of(indices, np.zeros(8), np.ones(8)) == 0
    assert of(chosen, np.zeros(8), np.ones(8)) is None
