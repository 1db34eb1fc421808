"""Arrays in order: by comparisons, by digits, and the bits that digits are read from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import same
from loopwright.frontend import sorting


def ordered(a, q):
    return np.sort(a), np.argsort(a), np.median(a), np.percentile(a, q), np.quantile(a, np.array([0.1, 0.5, 0.9]))


@pytest.mark.parametrize("kind", ["random", "few", "sorted", "falling", "nan", "all nan", "float32", "uint8", "int64"])
def test_orders_of_many_elements(kind):
    draw = np.random.default_rng(len(kind))
    for size in (1, 2, 15, 16, 17, 33, 64, 65, 1025):
        values = {
            "random": draw.random(size), "few": draw.integers(0, 3, size).astype(float),
            "sorted": np.arange(float(size)), "falling": -np.arange(float(size)),
            "nan": np.where(draw.random(size) < 0.1, np.nan, draw.random(size)),
            "all nan": np.full(size, np.nan), "float32": draw.random(size).astype(np.float32),
            "uint8": draw.integers(0, 200, size).astype(np.uint8), "int64": draw.integers(-(2**62), 2**62, size),
        }[kind]  # fmt: skip
        places = np.argsort(values, kind="stable")
        found = compiled_order(values, 30.0)
        assert found[0].tobytes() == np.sort(values).tobytes()
        assert (found[1] == places).all()
        assert np.array_equal(found[2], np.median(values), equal_nan=True)
        for mine, theirs in zip(found[3:], ordered(values, 30.0)[3:], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6 if kind == "float32" else 1e-14)


compiled_order = lw.kernel(ordered)


def quantiles(a, m, q, p):
    return np.quantile(a, q), np.percentile(a, p), np.quantile(m, q, axis=1)


def test_quantiles_outside_0_to_1_are_errors():
    a, m = np.arange(4.0), np.arange(6.0).reshape(2, 3)
    for q, p in ((0.5, (50.0, 100.0)), (1.5, (1.0, 2.0)), (-0.1, (1.0, 2.0)), (np.nan, (1, 2.0)), (0.0, (0.0, 101.0))):
        same(quantiles, a, m, q, np.array(p))


@lw.kernel
def places_and_values(a: Any) -> Any:
    values = a.copy()
    values.sort()
    return np.sort(a), np.argsort(a), values, np.unique(a), np.unique(a, return_inverse=True)[1]


TYPES = ["float64", "float32", "int64", "int16", "uint64", "uint32", "bool"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("size", [399, 400, 3000])
def test_orders_by_digits(name: str, size: int) -> None:
    draw, dtype = np.random.default_rng(size), np.dtype(name)
    if dtype.kind == "f":
        wide = (
            draw.integers(0, 2 ** (8 * dtype.itemsize) - 1, size, np.uint64)
            .astype(f"uint{8 * dtype.itemsize}")
            .view(dtype)
        )
        narrow = draw.integers(-3, 4, size).astype(dtype)
        zeros = np.where(draw.random(size) < 0.5, -0.0, 0.0).astype(dtype)
        some = np.where(draw.random(size) < 0.1, np.inf, -narrow)
        drawn = [np.where(np.isnan(wide), dtype.type(np.nan), wide), narrow, zeros, some.astype(dtype)]
    elif dtype.kind == "b":
        drawn = [draw.random(size) < 0.5]
    else:
        info = np.iinfo(dtype)
        drawn = [
            draw.integers(info.min, info.max, size, dtype, endpoint=True), draw.integers(0, 3, size, dtype),
            np.full(size, info.max, dtype), np.arange(size, 0, -1).astype(dtype), np.full(size, 7, dtype),
        ]  # fmt: skip
    for values in drawn:
        for a in (values, np.repeat(values, 2)[::-2]) if name == "float64" else (values,):
            ordered, places, in_place, unique, inverse = places_and_values(a)
            np.testing.assert_array_equal(ordered, np.sort(a))
            np.testing.assert_array_equal(in_place, np.sort(a))
            np.testing.assert_array_equal(places, np.argsort(a, kind="stable"))
            wanted, back = np.unique(a, return_inverse=True)
            np.testing.assert_array_equal(unique, wanted)
            np.testing.assert_array_equal(inverse, back)


def bits(x: Any, y: Any, k: Any) -> Any:
    wide, narrow, same = np.empty(len(x), np.int64), np.empty(len(x), np.uint32), np.empty(len(x), np.uint16)
    for i in range(len(x)):
        wide[i], narrow[i], same[i] = x[i].view(np.int64), y[i].view(np.uint32), k[i].view(np.uint16)
    return wide, narrow, same, x[0].view(np.float64)


@pytest.mark.parametrize("device", ["interpreter", "cpu", "emulated"])
def test_the_bits_of_numbers(device: Any) -> None:
    x = np.array([0.0, -0.0, 1.5, -np.inf, np.nan, -np.nan, 5e-324, -1e308])
    given = x, np.clip(x, -1e38, 1e38).astype(np.float32), np.arange(-4, 4, dtype=np.int16)
    with np.errstate(all="ignore"), lw.options(device=device):
        for mine, right in zip(lw.kernel(bits)(*given), bits(*given), strict=True):
            np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("to", [np.int32, np.float32, np.bool_])
def test_views_of_numbers_have_as_many_bits(to: Any) -> None:
    def viewed(x: Any) -> Any:
        return x[0].view(to)

    with pytest.raises(lw.KernelError, match="it gives numbers of as many bits"):
        lw.kernel(viewed)(np.ones(2))


def test_unlucky_pivots_end_in_a_sort():
    """M. D. McIlroy's adversary (A killer adversary for quicksort, 1999): values are chosen as they are compared."""
    size = 3000
    values = [float("inf")] * size
    solid = 0

    class Gas:
        def __init__(self, place):
            self.place = place

        def __lt__(self, other):
            nonlocal solid
            if values[self.place] == values[other.place] == float("inf"):
                values[self.place], solid = float(solid), solid + 1
            return values[self.place] < values[other.place]

        def __gt__(self, other):
            return other < self

    items = np.array([Gas(place) for place in range(size)], dtype=object)
    sorting._put_in_place(items, size // 2)
    killer = np.array(values)
    assert compiled_order(killer, 50.0)[2] == np.median(killer)


def test_a_heap_puts_what_is_between_two_places_in_order():
    random = np.random.default_rng(8)
    for size in range(12):
        items = random.integers(0, 5, size + 3)
        expected = items.copy()
        expected[1 : size + 1].sort()
        sorting._sort_in_heap(items, 1, size)
        np.testing.assert_array_equal(items, expected)


@pytest.mark.parametrize("name", ["sort", "argsort", "unique"])
def test_few_elements_need_no_condition_on_sizes(name: str) -> None:
    def ordered_by(a: Any) -> Any:
        return np.sort(a)

    def places(a: Any) -> Any:
        return np.argsort(a)

    def unique(a: Any) -> Any:
        return np.unique(a)

    kernel = lw.kernel({"sort": ordered_by, "argsort": places, "unique": unique}[name])
    for size in (0, 1, 30):
        a = np.arange(float(size))[::-1].copy()
        kernel(a)
        assert "nothing is chosen for sizes" not in str(kernel.explain(a))
