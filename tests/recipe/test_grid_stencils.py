"""Blocks of stencils by the default recipe of a GPU: they begin where what they write begins a sector of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.gpu import gpu_recipe
from loopwright.steps.schedule import print_schedule

PLANE = """
kernel plane(a: TYPE[2] C, b: TYPE[2] C):
    for i in 2 .. size(a, 0) - 2:
        for j in FIRST .. size(a, 1) - 2:
            b[i, WRITTEN] = a[i - 2, j] + a[i + 2, j] + a[i, j - 1] + a[i, j + 2]
"""


def schedule(first: str = "1", written: str = "j", element: str = "float64") -> str:
    text = PLANE.replace("FIRST", first).replace("WRITTEN", written).replace("TYPE", element)
    kernel = parse_kernel(text)
    return print_schedule(gpu_recipe(kernel, analyse(kernel), True).schedule)


@pytest.mark.parametrize(
    ("first", "written", "step"),
    [
        ("1", "j", "align j;"),
        ("3", "j", "align j;"),
        ("1", "j - 1", ""),
        ("256", "j", ""),
        ("2", "j + 1", "align j 1;"),
        ("2", "j - 1", "align j 255;"),
    ],
)
def test_where_blocks_begin(first: str, written: str, step: str) -> None:
    found = schedule(first, written)
    assert ("align" in found) == bool(step) and step in found


def box(dtype: Any, n: tuple[int, int, int]) -> tuple[Any, Any]:
    a = np.random.default_rng(1).integers(-9, 9, n).astype(dtype)
    return a, np.zeros_like(a)


@lw.kernel
def seven(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + 2 * a[i, j, k + 1]


@pytest.mark.parametrize("shape", [(2, 3, 9), (3, 3, 3), (6, 7, 34), (10, 6, 65), (7, 9, 67)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_boxes_of_any_size(shape: tuple[int, int, int], dtype: Any) -> None:
    a, b = box(dtype, shape)
    with lw.options(device="emulated"):
        own = lw.device_array(a), lw.device_array(b)  # else only what is to be written would come back
        seven(*own)
    right = np.zeros_like(b)
    mid = slice(1, -1)
    right[mid, mid, mid] = a[:-2, mid, mid] + a[2:, mid, mid] + a[mid, :-2, mid] + a[mid, 2:, mid] + 2 * a[mid, mid, 2:]
    np.testing.assert_array_equal(own[1].numpy(), right)


def test_a_row_of_threads_writes_as_many_bytes_whatever_the_elements() -> None:
    for dtype, columns in ((np.float64, 32), (np.float32, 64)):
        with lw.options(device="emulated"):
            text = str(seven.explain(*box(dtype, (6, 6, 6))))
        assert f"split k {columns}; align k" in text


@lw.kernel
def field(out, x, y, charge):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(x.shape[0]):
                out[i, j] += charge[k] / ((j - x[k]) * (j - x[k]) + (i - y[k]) * (i - y[k]))


def test_points_that_look_at_the_same_list_are_side_by_side() -> None:
    """Four points of a thread use what is loaded once; those at the edges run by themselves."""
    draw = np.random.default_rng(2)
    x, y, charge = draw.random(9) - 2, draw.random(9) - 2, draw.integers(1, 5, 9).astype(float)
    for shape in ((17, 65), (16, 64), (1, 1), (3, 70)):
        out, right = np.zeros(shape), np.zeros(shape)
        with lw.options(device="emulated"):
            field(out, x, y, charge)
            assert "unroll_and_jam" in str(field.explain(out, x, y, charge))
        i, j = np.mgrid[: shape[0], : shape[1]]
        for at in range(9):
            right += charge[at] / ((j - x[at]) ** 2 + (i - y[at]) ** 2)
        np.testing.assert_allclose(out, right, rtol=1e-12)


@lw.kernel
def weighted(a, w, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            o[i, j] = a[i, j] * w[i]


@lw.kernel
def coloured(picture, w, o):
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            for c in range(picture.shape[2]):
                o[y, x, c] = picture[y, x, c] * w[c]


@pytest.mark.parametrize("length", [0, 1, 3, 11, 12, 63, 64, 70])
def test_rows_of_any_length(length: int) -> None:
    a, w = box(np.float64, (131, length, 1))[0][:, :, 0], np.arange(131.0)
    o = np.zeros_like(a)
    with lw.options(device="emulated"):
        weighted(a, w, o)
    assert np.array_equal(o, a * w[:, None])
    for planes, rows in ((3, 70), (35, 4)):
        picture, v = box(np.float64, (planes, rows, length))[0], np.arange(float(length))
        p = np.zeros_like(picture)
        with lw.options(device="emulated"):
            coloured(picture, v, p)
        assert np.array_equal(p, picture * v)


def in_blocks_of(columns: str, read: str = "a[i, j]") -> str:
    head = "kernel k(a: float64[2] C, b: float64[2] C):\n    for i in 0 .. size(a, 0):\n"
    kernel = parse_kernel(f"{head}        for j in 0 .. {columns}:\n            b[i, j] = 2.0 * {read}\n")
    return print_schedule(gpu_recipe(kernel, analyse(kernel), True).schedule)


def test_short_rows_have_few_threads_each() -> None:
    unknown = in_blocks_of("size(a, 1)")
    assert "specialize a.1 >= 64 in i" in unknown and "specialize a.1 >= 12 in i.1" in unknown
    assert "tile i 128 j 8;" in in_blocks_of("7") and "tile i 64 j 16;" in in_blocks_of("20")
    assert "tile" not in in_blocks_of("64")
    assert ">=" not in in_blocks_of("size(a, 1) - 1", "(a[i, j] + a[i, j + 1])")  # rows of stencils are long


def test_rows_that_go_backwards_may_be_short_too() -> None:
    @lw.kernel
    def doubled(a, n):
        for i in range(a.shape[0]):
            for j in range(n - 1, -1, -1):
                a[i, j] = 2.0 * a[i, j]

    a = np.arange(7.0 * 20).reshape(7, 20)
    wanted = np.where(np.arange(20) < 13, 2.0, 1.0) * a
    with lw.options(device="emulated"):
        doubled(a, 13)
    assert np.array_equal(a, wanted)
