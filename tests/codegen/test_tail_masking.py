"""Sums of few iterations in masked registers: that nothing beyond the end counts, or is read, and which loops."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text


def row_sums(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i] += x[i, k]


def moments(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        s = out[i]
        q = 0.0
        for k in range(x.shape[1]):
            d = x[i, k] - s
            s -= d * 2.0
            q += d / 4.0
        out[i] = s + q


def weighted(x: Any, out: Any) -> None:
    n = x.shape[1]
    for i in range(x.shape[0]):
        s = 0.0
        q = 0.0
        for k in range(n):
            d = x[i, k] * x[0, k] - (-x[i, k])
            s += d * out[0]
            q -= d
        out[i] = s + 2.0 * q


@pytest.fixture(params=["native", "haswell", "x86-64"])
def processor(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param != "native":
        monkeypatch.setenv("LOOPWRIGHT_CFLAGS", f"-march={request.param}")
    yield request.param


@pytest.mark.parametrize("function", [row_sums, weighted])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_as_in_python(function: Callable[..., None], kind: Any, processor: str) -> None:
    kernel, rng = lw.kernel(function, threads=1), np.random.default_rng(2)
    for size in (0, 1, 15, 16, 17, 18, 19, 20, 31, 33, 39, 62, 64, 127, 128, 300):
        x = rng.integers(-4, 5, (5, size)).astype(kind)  # any order of additions is exact
        out, expected = np.ones(5, kind), np.ones(5, kind)
        kernel(x, out)
        function(x, expected)
        np.testing.assert_array_equal(out, expected)


def test_sums_that_are_read_meanwhile_stay_in_order() -> None:
    x, out, expected = np.random.default_rng(3).random((4, 40)), np.zeros(4), np.zeros(4)
    lw.kernel(moments, threads=1)(x, out)
    moments(x, expected)
    np.testing.assert_allclose(out, expected)


@pytest.mark.parametrize("size", [17, 18, 19, 21])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_nothing_is_read_behind_the_last_element(size: int, kind: Any) -> None:
    """The array ends where the memory of the process does."""
    page = mmap.PAGESIZE
    with mmap.mmap(-1, 2 * page) as memory:
        whole = np.frombuffer(memory, np.uint8)
        protect(whole.ctypes.data + page, page)
        x = whole[page - 3 * size * np.dtype(kind).itemsize : page].view(kind).reshape(3, size)
        x[:] = np.arange(3 * size).reshape(3, size)
        out = np.zeros(3, kind)
        lw.kernel(row_sums, threads=1)(x, out)
        np.testing.assert_array_equal(out, x.sum(axis=1))
        protect(whole.ctypes.data + page, page, 3)
        del x, whole


def protect(address: int, size: int, rights: int = 0) -> None:
    """Take the rights to some pages away, or give some back (3: to read and to write)."""
    assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), rights) == 0


def test_nan_and_signs_of_zero() -> None:
    kernel = lw.kernel(row_sums, threads=1)
    for value in (np.nan, np.inf, -0.0, 0.0):
        x, out = np.full((2, 21), value), np.full(2, -0.0)
        kernel(x, out)
        np.testing.assert_array_equal(out, np.full(2, value))
        assert (np.signbit(out) == np.signbit(value)).all() or np.isnan(value)


def extremes(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        most = x[i, 0]
        least = x[i, 0]
        for k in range(x.shape[1]):
            if x[i, k] > most:
                most = x[i, k]
        for k in range(x.shape[1]):
            least = min(least, x[i, k])
        total = np.max(x[i]) + 2 * (x[i] - x[0]).min()
        out[i] = total + 4 * most + 8 * least


def in_order(x: Any, out: Any) -> None:
    last = x[0, 0]
    for i in range(x.shape[0]):
        last = max(last * 0.5, np.max(x[i]) - np.min(x[i]))
        out[i] = last


@pytest.mark.parametrize("function", [extremes, in_order])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_extremes_as_in_python(function: Callable[..., None], kind: Any, processor: str) -> None:
    kernel, rng = lw.kernel(function, threads=1), np.random.default_rng(5)
    for size in (1, 15, 16, 17, 20, 31, 33, 64, 127, 128, 300):
        for special in (None, np.nan, np.inf, -np.inf):
            x = rng.integers(-40, 50, (5, size)).astype(kind)
            if special is not None:
                x[2, size // 2] = x[3, -1] = x[4, 0] = special
            out, expected = np.ones(5, kind), np.ones(5, kind)
            kernel(x, out)
            with np.errstate(invalid="ignore"):
                function(x, expected)
            np.testing.assert_array_equal(out, expected)


HEAD = """
kernel f(a: float64[2] C, b: float32[1] C, n: int64[1] C, s: float64[1] C):
    var d: float64
    for i in 0 .. size(a, 0):
        for k in 0 .. size(a, 1):
"""


@pytest.mark.parametrize(
    ("body", "is_masked"),
    [
        ("s[i] = s[i] + a[i, k]", True),
        ("s[i] = s[i] - a[i, k] * (a[0, k] + 2.0)", True),
        ("d = a[i, k] - 1.0; s[i] = s[i] + d * d", True),
        ("s[i] = s[i] * a[i, k]", False),
        ("s[i] = s[i] + a[k, i]", False),
        ("s[i] = s[i] + float64(b[k])", False),
        ("s[i] = s[i] + sqrt(a[i, k])", False),
        ("s[i] = s[i] + a[i, n[k]]", False),
        ("s[i] = max(s[i], a[i, k])", False),
        ("d = maximum(d, a[i, k])", True),
        ("d = minimum(d, a[i, k] * a[0, k])", True),
        ("d = max(d, a[i, k])", True),
        ("d = fmax(d, a[i, k])", False),
    ],
)
def test_which_loops(body: str, is_masked: bool) -> None:
    text = host_text(HEAD + "".join(f"            {line}\n" for line in body.split("; ")), "vectorize k")
    assert ("LW_MASKS && " in text) == is_masked


@lw.kernel(threads=1)
def by_places(x, p, out):
    """Sums that threads could share, in a loop that has to run in order, with indices that are looked up."""
    last = 0
    for i in range(len(p)):
        s = x[0, 0] * 0
        for k in range(x.shape[1]):
            s += x[p[i], k] * x[p[last], k]
        out[i] = s
        if s > 3:
            last = i
    return last


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sums_that_threads_could_share_and_places_that_are_looked_up(kind: Any) -> None:
    rng, p = np.random.default_rng(4), np.array([3, -1, 0, 3, 1, 2])
    for size in (1, 15, 16, 17, 40, 127, 128, 129, 400):
        x = rng.integers(-3, 4, (5, size)).astype(kind)
        out, expected = np.zeros(6, kind), np.zeros(6, kind)
        assert by_places(x, p, out) == by_places.py_func(x, p, expected)
        np.testing.assert_array_equal(out, expected)
        with pytest.raises(IndexError):
            by_places(x[:3], p, out)


def test_loops_that_threads_could_share_are_masked_where_they_stand_in_another_one() -> None:
    text = """
kernel f(a: float64[2] C, p: int64[1] C, s: float64[1] C):
    var d: float64
    for i in 0 .. size(a, 0):
        d = 0.0
        for k in 0 .. size(a, 1):
            d = d + a[p[i], k]
        s[0] = s[0] * 2.0 + d
"""
    found = host_text(text, "parallelize k")
    assert "else { if (LW_MASKS && lw_count < 128) {" in found and "lw_total_float64(d_sum)" in found
