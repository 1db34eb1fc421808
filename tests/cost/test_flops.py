"""Floating-point operations of a call."""

from __future__ import annotations

import numpy as np

import loopwright as lw
from loopwright.cost.flops import Flops, flops


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


@lw.kernel
def mixed(out, x, y):
    for i in range(len(x)):
        out[i] = x[i] * x[i] + y[i]


def of(kernel: lw.LoopKernel, *arguments: object) -> float | None:
    found = flops(kernel.specialise(*arguments).analysed.written, arguments)
    return None if found is None else found.count


def test_they_are_counted_as_people_do() -> None:
    assert of(product, np.zeros((5, 7)), np.ones((5, 11)), np.ones((11, 7))) == 2 * 5 * 7 * 11
    assert of(distances, np.zeros(9), np.zeros(10), 9) == 6 * 9


def test_those_on_float32_are_counted_apart() -> None:
    def both(of_x: type, of_y: type) -> Flops | None:
        arguments = np.zeros(9), np.ones(9, of_x), np.ones(9, of_y)
        return flops(mixed.specialise(*arguments).analysed.written, arguments)

    assert both(np.float32, np.float64) == Flops(18, 9)
    assert both(np.float32, np.float32) == Flops(18, 18)
    assert both(np.float64, np.float32) == Flops(18, 0)


def test_those_of_indices_and_what_data_decides_do_not_count() -> None:
    assert of(indices, np.zeros(8), np.ones(8)) == 0
    assert of(chosen, np.zeros(8), np.ones(8)) is None
