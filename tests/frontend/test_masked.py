"""What a mask chooses, changed and put back under the same mask: one loop, with NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, refusal, same
from loopwright.ir.text import print_kernel

ONE_LOOP = [
    "a[m] = a[m] * 2.0 + b[m]", "a[m] += b[m]", "a[m] *= 3", "a[m] = -a[m]", "a[a < 0] = -a[a < 0]", "a[a > x] -= x",
    "a[m] = np.sqrt(np.abs(b[m])) + x", "a[m] = abs(b[m]) ** 2", "a[m] = np.maximum(a[m], b[m])", "a[~m] = b[~m] * x",
    "z[m] = z[m] ** 2 + b[m]", "z[m] *= 1j", "k[m] += k[m]", "m[m] = ~n[m]", "a[m & n] = b[m & n] + 1",
]  # fmt: skip
GATHERED = [
    "a[m] = a[m][::-1]", "a[m] = np.cumsum(a[m])", "a[m] = a[m] - a[m].sum()", "a[m] = c[:m.sum()] + a[m]",
    "a[m] = np.sort(a[m]) * 2", "v = a[::-1]; a[m] = v[m] + a[m]",
    "v = a[1:]; w = a[:-1]; q = m[1:]; v[q] = v[q] + w[q]", "a[m] = np.where(b > 0, a, b)[m] * a[m]",
    "v = a[:-1]; w = a[1:]; q = m[1:]; v[q] += w[q]", "p = np.arange(3); a[p] = a[p] * 2", "a[2] = a[2] * 2",
]  # fmt: skip


def arguments():
    """Numbers of each type, two masks, and a number."""
    random = np.random.default_rng(2)
    a, b, c, d = (random.normal(size=11).round(3) for _ in range(4))
    a[3] = np.nan
    return [
        a,
        b,
        c,
        np.round(4 * d) + 1j * np.round(4 * b),
        random.integers(-9, 9, 11),
        random.random(11) < 0.5,
        random.random(11) < 0.5,
        0.25,
    ]


@pytest.mark.parametrize("text", [*ONE_LOOP, *GATHERED])
def test_what_a_mask_chooses_is_changed(text):
    body = "\n".join(f"    {line}" for line in text.split("; "))
    function = define(f"def f(a, b, c, z, k, m, n, x):\n{body}\n")
    given = arguments()
    same(function, *given)
    if text in ONE_LOOP:
        found = print_kernel(kernel_of(function, *given))
        assert "total" not in found and "position" not in found
    for filled in (np.zeros, np.ones):
        given[5] = filled(11, bool)
        same(function, *given)


def test_several_axes_and_none():
    function = define("def f(a, b, m):\n    a[m] = a[m] - b[m]\n    a[m] *= 0.5\n")
    random = np.random.default_rng(3)
    for shape in ((4, 5), (2, 3, 4), (0, 3), (1, 1)):
        same(function, random.random(shape), random.random(shape), random.random(shape) < 0.5)
    rows = define("def f(a, b, m):\n    a[m] = a[m] - b[m]\n")
    same(rows, random.random((4, 3)), random.random((4, 3)), np.array([True, False, True, True]))


@pytest.mark.parametrize(("n", "m"), [(3, 4), (4, 3), (1, 4)])
def test_other_shapes_are_errors(n, m):
    def function(a, b, m):
        a[m] = a[m] - b[m]
        return a

    given = np.zeros(4), np.zeros(n), np.ones(m, bool)
    for run in (function, lw.kernel(function)):
        with pytest.raises((ValueError, IndexError)):
            run(*given)


def test_a_type_that_does_not_go_into_the_array_is_refused_as_before():
    text = "def f(k, m):\n    k[m] += 0.5\n"
    assert "float64 elements do not go into an array of int64 in place" in str(
        refusal(define(text), np.arange(4), np.ones(4, bool))
    )
