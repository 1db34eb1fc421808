"""Sums that many iterations compute alike are computed once: against CPython, and with the steps that were taken."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.gpu import gpu_recipe
from loopwright.steps.schedule import print_schedule


def cosines(x, o):
    n, d = x.shape
    for i in range(n):
        for j in range(n):
            s = 0.0
            a = 0.0
            b = 0.0
            for k in range(d):
                s += x[i, k] * x[j, k]
                a += x[i, k] * x[i, k]
                b += x[j, k] * x[j, k]
            o[i, j] = s / math.sqrt(a * b)


def correlations(x, o, n, d):
    for i in range(n):
        for j in range(n):
            si = 0.0
            sj = 0.0
            for k in range(d):
                si += x[i, k]
                sj += x[j, k]
            si /= d
            sj /= d
            s = 0.0
            for k in range(d):
                s += (x[i, k] - si) * (x[j, k] - sj)
            o[i, j] = s


def matches(f, t, o):
    h, w = t.shape
    for y in range(f.shape[0] - h + 1):
        for x in range(f.shape[1] - w + 1):
            s = 0.0
            st = 0.0
            for dy in range(h):
                for dx in range(w):
                    s += f[y + dy, x + dx] * t[dy, dx]
                    st += t[dy, dx] * t[dy, dx]
            o[y, x] = s / st


def later_pairs(x, o):
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            a = 0.0
            for k in range(x.shape[1]):
                if x[i, k] > 0.5:
                    a += x[i, k]
            o[i, j] = a * j


def sums_that_change(x, o):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            a = 0.0
            for k in range(x.shape[1]):
                a += x[i, k]
            x[j, 0] = a
            o[i, j] = a


def steps_in_time(x, o):
    for t in range(3):
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                a = 0.0
                for k in range(x.shape[1]):
                    a += x[i, k]
                o[i, j] = a * j + t
        for i in range(x.shape[0]):
            x[i, 0] = 0.5 * o[i, i]


def given(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n + d).random((n, d))


def two(n: int, d: int) -> tuple[object, ...]:
    return given(n, d), np.zeros((n, n))


CASES: list[tuple[Callable[..., None], Callable[[int, int], tuple[object, ...]], tuple[str, ...]]] = [
    (cosines, two, ("hoist a i;", "hoist b i.1;")),
    (correlations, lambda n, d: (*two(n, d), n, d), ("hoist si i;", "hoist sj i.1;")),
    (matches, lambda n, d: (given(n + 4, n + 3), given(min(n, 5) + 1, 2), np.zeros((n + 4, n + 3))), ("hoist st y;",)),
    (later_pairs, two, ("hoist a i",)),
    (steps_in_time, two, ("hoist a i",)),
    (sums_that_change, two, ()),
]


@pytest.mark.parametrize(("function", "arguments", "steps"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_alike_is_computed_once(
    function: Callable[..., None], arguments: Callable[[int, int], tuple[object, ...]], steps: tuple[str, ...]
) -> None:
    kernel = lw.kernel(function)
    for n, d in ((9, 6), (0, 3), (1, 1), (2, 7)):
        wanted, found = arguments(n, d), arguments(n, d)
        function(*wanted)
        kernel(*found)
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12)
    text = str(kernel.explain(*arguments(9, 6)))
    assert all(step in text for step in steps) and (steps or "hoist " not in text)


def test_on_a_gpu_what_is_left_is_a_product() -> None:
    kernel = parse_kernel("""
kernel cosines(x: float32[2] C, o: float32[2] C):
    var s: float32
    var a: float32
    for i in 0 .. size(x, 0):
        for j in 0 .. size(x, 0):
            s = float32(0)
            a = float32(0)
            for k in 0 .. size(x, 1):
                s = s + x[i, k] * x[j, k]
                a = a + x[j, k] * x[j, k]
            o[i, j] = s / a
""")
    steps = print_schedule(gpu_recipe(kernel, analyse(kernel), True).schedule)
    assert "hoist a i; forward a;" in steps and "promote s.x" in steps


def test_arrays_that_do_not_fit_fail_as_before() -> None:
    """No row is read where there are no pairs, though its sum is computed before them."""
    kernel = lw.kernel(correlations)
    kernel(np.zeros((0, 0)), np.zeros((0, 0)), 0, 5)
    with pytest.raises(IndexError):
        kernel(np.zeros((2, 3)), np.zeros((4, 4)), 4, 3)


def back_projection(x, angle, image):
    n = image.shape[0]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for a in range(angle.shape[0]):
                t = i * math.cos(angle[a]) + j * math.sin(angle[a])
                if 0.0 <= t < n:
                    s += x[a, int(t)]
            image[i, j] = s


def window(x, angle, image):
    for i in range(3, x.shape[0] - 3):
        for j in range(3, x.shape[1] - 3):
            s = 0.0
            for p in range(-3, 4):
                for q in range(-3, 4):
                    s += math.exp(-(p * p + q * q) * angle[0]) * x[i + p, j + q]
            image[i, j] = s


def scaled(x, angle, image):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            image[i, j] = x[i, j] * math.exp(angle[j])


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(
    ("function", "found"), [(back_projection, ["cos.1", "sin.1"]), (window, ["exp.1"]), (scaled, [])]
)
def test_dear_functions_that_many_iterations_have_in_common(function, found, device) -> None:
    for n, m in ((0, 3), (1, 1), (20, 9)):
        x, angle = np.random.default_rng(n).random((n + m, n + m)), np.arange(float(n + m)) / 9
        image = np.zeros((n + m, n + m))
        wanted = image.copy()
        function(x, angle, wanted)
        with lw.options(device=device):
            kernel = lw.kernel(function)
            kernel(x, angle, image)
            steps = str(kernel.explain(x, angle, image).schedule)
        np.testing.assert_allclose(image, wanted, rtol=1e-12, atol=1e-12)
    if function is scaled and device != "cpu":  # each thread of a GPU computes that while it waits for memory
        found = []
    assert [one for one in ("cos.1", "sin.1", "exp.1") if f"hoist {one}" in steps] == found
