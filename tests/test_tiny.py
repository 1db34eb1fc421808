"""The tour: ten programs from end to end, the first file to read. Each is plain Python; NumPy says what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


def numbers(*shape: int, seed: int = 1) -> np.ndarray:
    """Small whole numbers as floats: sums of them are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float64)


def verdicts(kernel: Any, *arguments: object) -> dict[str, str]:
    """What was proven about each loop, by the name of its variable."""
    return {loop["source_name"]: loop["verdict"] for loop in kernel.explain(*arguments).to_dict()["loops"]}


def test_a_stencil_runs_in_parallel() -> None:
    @lw.kernel
    def smooth(a, b):  # type: ignore[no-untyped-def]
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])

    a, b = numbers(30, 40), np.zeros((30, 40))
    smooth(a, b)
    inside = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    assert np.array_equal(b[1:-1, 1:-1], inside)
    assert np.all(b[[0, -1]] == 0) and np.all(b[:, [0, -1]] == 0)
    assert verdicts(smooth, a, b) == {"i": "parallel", "j": "parallel"}


def test_a_matrix_product_collects_its_sums() -> None:
    @lw.kernel
    def multiply(a, b, c):  # type: ignore[no-untyped-def]
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                c[i, j] = total

    a, b, c = numbers(7, 9), numbers(9, 5, seed=2), np.full((7, 5), np.nan)
    multiply(a, b, c)
    assert np.array_equal(c, a @ b)
    assert verdicts(multiply, a, b, c) == {"i": "parallel", "j": "parallel", "k": "reduction"}


def test_a_dot_product_returns_a_numpy_scalar_in_any_number_of_threads() -> None:
    @lw.kernel
    def dot(x, y):  # type: ignore[no-untyped-def]
        s = 0.0
        for i in range(len(x)):
            s += x[i] * y[i]
        return s

    x, y = numbers(100_000), numbers(100_000, seed=2)
    for threads in (1, 2, 5):
        with lw.options(threads=threads):
            result = dot(x, y)
        assert result == x @ y and type(result) is np.float64
    assert verdicts(dot, x, y) == {"i": "reduction"}


def test_a_histogram_scatters() -> None:
    @lw.kernel
    def histogram(values, counts):  # type: ignore[no-untyped-def]
        for i in range(values.shape[0]):
            counts[values[i]] += 1

    values = np.random.default_rng(3).integers(0, 17, 50_000).astype(np.uint8)
    counts = np.zeros(17, np.int32)
    with lw.options(threads=3):
        histogram(values, counts)
    assert np.array_equal(counts, np.bincount(values, minlength=17))
    assert verdicts(histogram, values, counts) == {"i": "reduction"}


def test_a_sparse_product_follows_its_pointers() -> None:
    @lw.kernel
    def product(start, column, entry, x, y):  # type: ignore[no-untyped-def]
        for row in range(len(y)):
            total = 0.0
            for at in range(start[row], start[row + 1]):
                total += entry[at] * x[column[at]]
            y[row] = total

    dense = numbers(20, 30) * (np.random.default_rng(4).random((20, 30)) < 0.2)
    rows, columns = np.nonzero(dense)
    start = np.searchsorted(rows, np.arange(21)).astype(np.int32)
    x, y = numbers(30, seed=5), np.zeros(20)
    product(start, columns.astype(np.int32), dense[rows, columns], x, y)
    assert np.array_equal(y, dense @ x)
    assert verdicts(product, start, columns.astype(np.int32), dense[rows, columns], x, y)["row"] == "parallel"


def test_a_while_loop_inside_parallel_loops() -> None:
    def rounds(out, limit):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                re, im, count = 0.0, 0.0, 0
                while re * re + im * im <= 4.0 and count < limit:
                    re, im = re * re - im * im + (j * 0.25 - 2.0), 2.0 * re * im + (i * 0.25 - 1.0)
                    count += 1
                out[i, j] = count

    fast, slow = np.zeros((9, 13), np.int16), np.zeros((9, 13), np.int16)
    mandelbrot = lw.kernel(rounds)
    with lw.options(strict=True, threads=2):
        mandelbrot(fast, 50)
    rounds(slow, 50)
    assert np.array_equal(fast, slow)
    assert verdicts(mandelbrot, fast, 50)["i"] == "parallel"


def test_records_are_updated_in_place() -> None:
    @lw.kernel
    def step(p, dt):  # type: ignore[no-untyped-def]
        for i in range(len(p)):
            p[i]["x"] += dt * p[i]["v"]
            if p[i]["x"] > 10.0:
                p["bounces"][i] += 1
                p["v"][i] = -p["v"][i]

    particle = np.dtype([("x", "f8"), ("v", "f8"), ("bounces", "i2")])
    p = np.zeros(50, particle)
    p["x"], p["v"] = np.arange(50) % 11, np.arange(50) % 3
    x = p["x"] + 0.5 * p["v"]
    v = np.where(x > 10.0, -p["v"], p["v"])
    step(p, 0.5)
    assert np.array_equal(p["x"], x) and np.array_equal(p["v"], v)
    assert np.array_equal(p["bounces"], (x > 10.0).astype(np.int16))
    assert verdicts(step, p, 0.5) == {"i": "parallel"}


def test_points_find_their_nearest_centre() -> None:
    @lw.function
    def distance(a, i, b, j):  # type: ignore[no-untyped-def]
        total = 0.0
        for k in range(a.shape[1]):
            total += (a[i, k] - b[j, k]) ** 2
        return total

    @lw.kernel
    def assign(points, centres, nearest):  # type: ignore[no-untyped-def]
        for i in range(points.shape[0]):
            best, where = math_inf, 0
            for j in range(centres.shape[0]):
                d = distance(points, i, centres, j)
                if d < best:
                    best, where = d, j
            nearest[i] = where

    math_inf = float("inf")
    points, centres = numbers(200, 3), numbers(6, 3, seed=7)
    nearest = np.full(200, -1)
    assign(points, centres, nearest)
    apart = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    assert np.array_equal(nearest, apart.argmin(axis=1))
    assert verdicts(assign, points, centres, nearest)["i"] == "parallel"


def test_a_local_array_belongs_to_each_iteration() -> None:
    @lw.kernel
    def medians(image, out):  # type: ignore[no-untyped-def]
        for i in range(1, len(image) - 1):
            window = np.empty(3, dtype=np.int32)
            for k in range(3):
                window[k] = image[i + k - 1]
            for a in range(2):
                for b in range(2 - a):
                    if window[b] > window[b + 1]:
                        window[b], window[b + 1] = window[b + 1], window[b]
            out[i] = window[1]

    image = np.random.default_rng(8).integers(-100, 100, 500).astype(np.int32)
    out = np.zeros_like(image)
    with lw.options(threads=3):
        medians(image, out)
    assert np.array_equal(out[1:-1], np.median([image[:-2], image[1:-1], image[2:]], axis=0))
    assert verdicts(medians, image, out)["i"] == "parallel"


def test_an_index_outside_its_array_names_the_line_and_leaves_everything_alone() -> None:
    @lw.kernel
    def shift(a, b):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            b[i] = a[i + 1]

    a, b = numbers(5), np.zeros(5)
    with pytest.raises(lw.BoundsError) as caught:
        shift(a, b)
    error = caught.value
    assert isinstance(error, IndexError) and error.before_run and np.all(b == 0)
    assert (error.array, error.axis, error.index, error.size) == ("a", 0, 5, 5)
    assert "b[i] = a[i + 1]" in str(error) and "test_tiny.py" in str(error)
