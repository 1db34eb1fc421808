"""Arguments, shapes and types of NumPy's functions that gave other results than NumPy: value, type and shape."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.frontend.test_axes import function_of

import loopwright as lw

NAN, INF = np.nan, np.inf
GRID = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24).reshape(2, 3, 4)
SMALL = np.array([100, -100, 127, -128], np.int8)
BYTES = np.array([200, 100, 3, 250], np.uint8)
SINGLE = np.array([1.5, 2.5, 3.0], np.float32)
ODD = np.array([1.0, NAN, INF, -INF, 0.0])
HOLES = np.array([[NAN, NAN, -INF], [1.0, NAN, NAN]])
VECTOR = np.array([3.0, 1.0, 2.0])
SQUARE = np.arange(9).reshape(3, 3)
CASES: list[tuple[str, np.ndarray]] = [
    ("np.isclose(x, x)", ODD), ("np.isclose(x, np.inf)", ODD), ("np.allclose(x, x)", np.array([1.0, INF])),
    ("np.allclose(x, np.inf)", VECTOR), ("np.array_equal(x, x[:, :1])", np.ones((3, 3))),
    ("np.array_equal(x, x[:, :2])", GRID), ("np.heaviside(x, 0.5)", ODD), ("np.logaddexp(x, x[::-1])", ODD),
    ("np.logaddexp(x, x)", SINGLE), ("np.nan_to_num(x)", ODD.astype(np.float32)),
    ("np.ldexp(x, 2000)", np.array([1e-300])), ("np.ldexp(x, 3)", SINGLE),
    ("np.digitize(np.array([0.0, 2.0, 2.5, 9.0]), x)", np.array([5.0, 3.0, 2.0, 2.0, 1.0])),
    ("np.digitize(np.array([0.0, 2.0, 2.5, 9.0]), x, right=True)", np.array([5.0, 3.0, 2.0, 2.0, 1.0])),
    ("np.interp(1.5, np.arange(3), x)", SINGLE), ("np.interp(np.array([0.5, 1.5]), np.arange(4), x)", SMALL),
    ("np.interp(np.array([0.5, 1.5]), np.arange(3.0), x)", np.array([INF, 1.0, 1.0])),
    ("np.histogram(x, 3)", SINGLE), ("np.histogram(x, 3)", np.zeros(0)), ("np.histogram(x, bins=[0, 2, 5])", VECTOR),
    ("np.histogram(x, bins=3, range=(0, 6))", VECTOR),
    ("np.median(x)", np.zeros(0)), ("np.nanmedian(x, axis=0)", HOLES), ("np.nanpercentile(x, 50)", HOLES[:1, :2]),
    ("np.nanmax(x, axis=0)", HOLES), ("np.nanmin(x, axis=1)", HOLES), ("np.nanmax(x)", HOLES[:1, :2]),
    ("np.nanmax(x, axis=1, keepdims=True)", HOLES), ("np.nancumsum(x)", SMALL), ("np.nancumprod(x)", SMALL),
    ("np.quantile(x, [0.3, 0.5])", SINGLE), ("np.average(x, weights=x)", BYTES), ("np.average(x, weights=x)", SINGLE),
    ("np.sort(x, axis=None)", GRID[::-1].copy()), ("np.argsort(x, axis=None)", GRID[::-1].copy()),
    ("np.concatenate((x, x), axis=None)", GRID), ("np.delete(x, 2)", GRID), ("np.insert(x, 1, 5)", GRID),
    ("np.resize(x, (2, 5))", GRID), ("np.resize(x, (3, 2, 4))", GRID), ("np.tril(x)", CUBE), ("np.triu(x, 1)", CUBE),
    ("np.unique(x, return_inverse=True)", CUBE[0] % 5),
    ("np.outer(x, x)", GRID), ("np.vdot(x, x)", GRID), ("np.dot(x, 2)", SINGLE),
    ("np.cross(x, x[::-1])", np.arange(27).reshape(3, 3, 3)), ("np.cross(x, x[1])", np.arange(9.0).reshape(3, 3) ** 2),
    ("np.correlate(x[:2], x, 'same')", VECTOR), ("np.correlate(x, x * 1j, 'full')", np.array([1 + 2j, 3, -1j])),
    ("np.polyval(x, x)", SMALL), ("np.polyval(x, 2)", SMALL), ("np.polyval([1, 2, 3], x)", BYTES),
    ("np.polymul(np.array([0, 1, 2]), x)", VECTOR), ("np.polyadd(x, x)", SMALL), ("np.vander(x)", SMALL),
    ("np.vander(x, 3)", ODD), ("np.gradient(x)", SMALL), ("np.linalg.norm(x, 1)", SMALL),
    ("np.linalg.norm(x, np.inf)", SMALL), ("np.cov(x) + 0", np.array([1 + 2j, 3, -1j])), ("np.cov(x) + 0", SINGLE),
    ("np.einsum('i,i', x, x)", np.array([True, True])), ("np.gcd(x, x[::-1])", SMALL), ("np.lcm(x, 2)", SMALL),
    ("np.add.accumulate(x)", BYTES), ("np.multiply.accumulate(x)", SMALL), ("sum(x)", BYTES), ("sum(x, 0.0)", SMALL),
    ("np.linspace(-5, 5, len(x), dtype=np.int64)", np.zeros(4)),
    ("np.arange(0, len(x), 0.5, np.int64)", np.zeros(4)), ("np.arange(0.5, len(x), 1.5, np.int64)", np.zeros(4)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "x"), CASES, ids=[f"{text}-{x.dtype}-{x.shape}" for text, x in CASES])
def test_the_same_as_numpy(text: str, x: np.ndarray) -> None:
    wanted, found = both(text, x)
    parts = list(zip(found, wanted, strict=True)) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in parts:
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=2e-6 if np.asarray(other).dtype == np.float32 else 1e-12)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("np.digitize(x, x)", VECTOR), ("np.bincount(x)", np.array([1, -1])),
        ("np.bincount(x, np.ones(5))", np.array([1, 2])), ("np.interp(1.5, x, np.ones(5))", VECTOR),
        ("np.interp(1.5, x[:0], x[:0])", VECTOR), ("np.interp(x, x[:0], x[:0])", VECTOR),
        ("np.histogram(x, 3)", ODD), ("np.histogram(x, [3, 2, 1])", VECTOR), ("np.cov(x)", CUBE),
    ],
)  # fmt: skip
def test_what_numpy_refuses(text: str, x: np.ndarray) -> None:
    function = function_of(text)
    with pytest.raises(ValueError):
        function(x)
    with lw.options(device="interpreter"), pytest.raises(ValueError):
        lw.kernel(function)(x)


def test_products_of_matrices_take_no_numbers() -> None:
    for text, why in ("np.matmul(x, 2)", "np.matmul.. takes two arrays"), ("np.vdot(x, 2)", "np.vdot.. takes two arr"):
        with pytest.raises(lw.KernelError, match=why):
            lw.kernel(function_of(text)).specialise(VECTOR)


def test_inverse_powers_of_integers_are_refused() -> None:
    with lw.options(device="interpreter"), pytest.raises(NotImplementedError, match=r"matrix_power.. of integers"):
        lw.kernel(function_of("np.linalg.matrix_power(x, -1)"))(SQUARE + np.eye(3, dtype=np.int64))


def both(text: str, x: np.ndarray) -> tuple[Any, Any]:
    """What NumPy gives, and what we give."""
    function = function_of(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = function(x.copy())
        with lw.options(device="interpreter"):
            return wanted, lw.kernel(function)(x.copy())
