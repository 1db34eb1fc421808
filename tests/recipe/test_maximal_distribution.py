from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe.maximal_distribution import products_apart
from loopwright.recipe.register_blocking import in_registers
from loopwright.recipe.target import CpuTarget
from recipe.planning import GEMM, MATMUL_BY_ELEMENTS, PATHS, TRMM, check_same, plan_of, planned, reasons, steps

SYMMETRIC = """
kernel symm(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            for k in 0 .. i:
                c[k, j] = c[k, j] + b[i, j] * a[i, k]
                s = s + b[k, j] * a[i, k]
            c[i, j] = 3.0 * c[i, j] + b[i, j] * a[i, i] + s
"""
SYMMETRIC_SHAPES = {"a": "nn", "b": "nm", "c": "nm"}
TWO_SUMS = """
kernel sums(a: float64[2] C, b: float64[2] C, c: float64[2] C, d: float64[2] C):
    var s: float64
    var t: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            t = 1.0
            for k in 0 .. size(a, 1):
                s = s + a[i, k] * b[k, j]
                t = t - a[i, k] * a[j, k]
            c[i, j] = s
            d[i, j] = t * s
"""
NORM_OF_ROWS = """
kernel norms(a: float64[2] C, b: float64[2] C, c: float64[2] C, d: float64[1] C):
    var s: float64
    for i in 0 .. size(c, 0):
        s = 0.0
        for k in 0 .. size(a, 1):
            s = s + a[i, k] * a[i, k]
            for j in 0 .. size(c, 1):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
        d[i] = s
"""
GRADIENT = """
kernel gradient(a: float64[2] C, b: float64[2] C, c: float64[2] C, d: float64[1] C):
    var e: float64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            e = 2.0 * a[i, j]
            d[j] = d[j] + e
            for k in 0 .. size(b, 1):
                c[k, j] = c[k, j] + b[i, k] * e
"""
ROOTS = GRADIENT.replace("2.0 * a[i, j]", "floor(a[i, j])")
FIRST_OF_MANY = """
kernel many(a: float64[2] C, c: float64[2] C):
    var s: float64
    var t: float64
    var u: float64
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            s = 0.0
            t = 0.0
            u = 0.0
            for k in 0 .. size(a, 1):
                s = s + a[i, k] * a[j, k]
                t = t + a[i, k]
                u = u + a[j, k]
            c[i, j] = s - t * u
"""
ONE_OF_ALL = """
kernel near(a: float64[2] C, d: float64[1] C):
    var s: float64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 0):
            s = 0.0
            for k in 0 .. size(a, 1):
                s = s + a[i, k] * a[j, k]
            d[i] = d[i] + s * s
"""
IN_TURN = SYMMETRIC.replace("a[i, i] + s", "a[i, i] + s\n            b[i, j] = c[i, j]")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        (SYMMETRIC, SYMMETRIC_SHAPES, "expand s i j; distribute i c s.x"),
        (
            TWO_SUMS,
            {"a": "nl", "b": "ln", "c": "nn", "d": "nn"},
            "expand s i j; expand t i j; distribute i s.x t.x",
        ),
        (NORM_OF_ROWS, {"a": "nl", "b": "lm", "c": "nm", "d": "n"}, "distribute i c"),
        (GRADIENT, {"a": "lm", "b": "ln", "c": "nm", "d": "m"}, "forward e"),
        (ROOTS, {"a": "lm", "b": "ln", "c": "nm", "d": "m"}, "expand e i j"),
    ],
    ids=["symmetric", "two_sums", "norm_of_rows", "gradient", "roots"],
)
def test_products_get_nests_of_their_own(text: str, shapes: Mapping[str, str], expected: str, strict: bool) -> None:
    partial = plan_of(text, strict)
    written = partial.kernel
    products_apart(partial)
    assert steps(partial) == expected
    check_same(written, partial.kernel, shapes)


@pytest.mark.parametrize(
    "text", [GEMM, MATMUL_BY_ELEMENTS, TRMM, PATHS, FIRST_OF_MANY, ONE_OF_ALL, IN_TURN],
    ids=["gemm", "matmul", "trmm", "paths", "first_of_many", "one_of_all", "in_turn"],
)  # fmt: skip
def test_others_stay_as_they_are(text: str) -> None:
    assert not planned(products_apart, text).decisions


def test_they_are_blocked_then() -> None:
    partial = plan_of(TWO_SUMS)
    products_apart(partial)
    in_registers(partial, CpuTarget())
    assert "promote s.x " in steps(partial) and "promote t.x " in steps(partial)


def test_the_reasons() -> None:
    partial = plan_of(SYMMETRIC)
    products_apart(partial)
    assert reasons(partial) == ["'c' and 's': a product in a nest of its own can stay in registers block by block"]
    partial = plan_of(GRADIENT)
    products_apart(partial)
    assert reasons(partial) == ["'e' is computed where it is read: it ties nothing together then"]


def test_calls_agree_with_numpy() -> None:
    def symm(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                s = 0.0
                for k in range(i):
                    c[k, j] += 2 * b[i, j] * a[i, k]
                    s += b[k, j] * a[i, k]
                c[i, j] = 3 * c[i, j] + 2 * b[i, j] * a[i, i] + 2 * s

    kernel = lw.kernel(symm)
    random = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (150, 37)):
        a, b, c = random.random((n, n)), random.random((n, m)), random.random((n, m))
        expected = 3 * c + 2 * (np.tril(a) + np.tril(a, -1).T) @ b
        kernel(a, b, c)
        np.testing.assert_allclose(c, expected, rtol=1e-12)


def styles(a):
    loss = 0.0
    for s in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(a.shape[1]):
                one = 0.0
                for y in range(a.shape[2]):
                    for x in range(a.shape[3]):
                        one += a[s, i, y, x] * a[s, j, y, x]
                loss += (one - i * j) ** 2
    return loss


@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (1, 1, 1, 1), (0, 3, 2, 2), (2, 70, 2, 30), (1, 2, 0, 3)])
def test_products_that_go_into_one_number_are_apart_where_they_are_few(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(5).integers(-4, 5, shape).astype(float)
    kernel = lw.kernel(styles)
    with lw.options(device="emulated"):
        assert kernel(a) == styles(a)
        schedule = str(kernel.explain(a).schedule)
    assert schedule.startswith("specialize s*i*j >= 134217728 in s; expand one.1 s.1 i.1 j.1; distribute s.1 one.1.x")
    assert "stage a" in schedule
    with lw.options(device="emulated", strict=True):
        assert "expand" not in str(kernel.explain(a).schedule)
