"""Products that stay out of multiply-adds: which ones, and that the results are those of the loops as written, but for
what fused operations round otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

MARK = "lw_apart_float64("
HEAD = "kernel f(a: float64[1] C, b: float64[1] C, k: float64):\n    var s: float64\n    s = 0.0\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("        a[i] = k * b[i] + (1.0 - k) * a[i - 1]\n", ["k_ * b_[i_]"]),
        ("        a[i] = (1.0 - k) * a[i - 1] - k * b[i]\n", ["k_ * b_[i_]"]),
        ("        s = s + b[i] * b[i]\n        a[i] = s\n", ["b_[i_] * b_[i_]"]),
        ("        s = b[i] + s * k\n        a[i] = s\n", []),  # the product is what waits
        ("        a[i] = k * b[i] + b[i - 1]\n", []),  # nothing waits
        ("        a[i] = k * b[i] + a[i]\n", []),
        ("        a[i] = k * b[i] + a[i + 1]\n", []),  # of an iteration to come
        (
            "        if b[i] > 0.0:\n            a[i] = k * b[i] + a[i - 1]\n",
            [],
        ),  # only some iterations, without a jump
        ("        a[i] = (a[i - 1] + b[i] * k) if b[i] > 0.0 else a[i]\n", []),
    ],
)
def test_which_products(body: str, found: list[str]) -> None:
    text = host_text(f"{HEAD}    for i in 1 .. size(b, 0) - 1:\n{body}", "").split("lw_kernel(", 1)[1]
    assert [part.split(")")[0] for part in text.split(MARK)[1:]] == found
    assert (
        MARK
        not in host_text(f"{HEAD}    for i in 1 .. size(b, 0) - 1:\n{body}", "", strict=True).split("lw_kernel(")[1]
    )


def smoothed(x: Any, alpha: float, out: Any) -> float:
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1.0 - alpha) * out[i - 1]
    total = 0.0
    for i in range(1, len(x)):
        total = 0.5 * total + x[i] * out[i - 1]
    return total


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_recurrences(size: int, kind: type, strict: bool) -> None:
    x = np.random.default_rng(size).normal(size=size).astype(kind)
    x[size // 2] = np.inf if size == 1000 else x[size // 2]
    mine, pythons = np.zeros((2, size), kind)
    with lw.options(strict=strict), np.errstate(all="ignore"):
        found, wanted = lw.kernel(smoothed)(x, 0.25, mine), smoothed(x, 0.25, pythons)
    if strict:
        np.testing.assert_array_equal(mine, pythons)
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(mine, pythons, rtol=1e-12 if kind is np.float64 else 2e-5, atol=1e-6)
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if kind is np.float64 else 2e-5, atol=1e-6)


def test_none_in_a_loop_of_constant_length() -> None:
    """The C compiler writes it out, and does iterations of the loop around it side by side."""
    inner = "        s = 0.0\n        for j in LOWER .. UPPER:\n            s = s + b[i + j] * b[j]\n        a[i] = s\n"
    around = f"{HEAD}    for i in 0 .. size(a, 0):\n{inner}"
    for lower, upper, found in (("0", "5", False), ("i", "i + 5", False), ("0", "i", True)):
        text = host_text(around.replace("LOWER", lower).replace("UPPER", upper), "").split("lw_kernel(", 1)[1]
        assert (MARK in text) == found


STATES = """
kernel states(v: float64[1] C, y: float64[1] C, b: float64, c: float64, d: float64):
    var o: float64
    var u: float64
    var w: float64
    u = 0.0
    w = 0.0
    for i in 0 .. size(v, 0):
        o = b * v[i] + u
        u = c * v[i] - d * o + w
        w = b * v[i] - c * o
        y[i] = o
"""


def test_states_that_wait_for_each_other() -> None:
    text = host_text(STATES, "").split("lw_kernel(", 1)[1]
    assert [part.split(")")[0] for part in text.split(MARK)[1:]][:3] == ["b_ * v_[i_]", "c_ * v_[i_]", "b_ * v_[i_]"]
    free = host_text(STATES.replace("- d * o", "- d").replace("+ w\n", "+ 2.0\n"), "").split("lw_kernel(", 1)[1]
    assert MARK not in free  # nothing of an iteration goes into the next


def two_poles(v: Any, y: Any, b: float, c: float, d: float) -> float:
    first = second = 0.0
    for i in range(len(v)):
        out = b * v[i] + first
        first = c * v[i] - d * out + second
        second = b * v[i] - c * out
        y[i] = out
    return first - second


def test_filters() -> None:
    v = np.random.default_rng(3).normal(size=997)
    mine, pythons = np.zeros((2, 997))
    assert lw.kernel(two_poles)(v, mine, 0.2, -0.5, 0.3) == pytest.approx(two_poles(v, pythons, 0.2, -0.5, 0.3))
    np.testing.assert_allclose(mine, pythons, rtol=1e-12, atol=1e-14)
