"""NumPy's functions along an axis: counted from either end, of arrays of one to four axes, and what is none."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import loopwright as lw

RANDOM = np.random.default_rng(9)
ARRAYS = {axes: RANDOM.random(shape) - 0.3 for axes, shape in enumerate([(5,), (3, 4), (2, 3, 4), (2, 3, 2, 3)], 1)}
FUNCTIONS = [text.strip() for text in """
    np.cumsum(x, axis=K); np.cumprod(x, axis=K); np.sort(x, axis=K); np.argsort(x, axis=K); np.median(x, axis=K)
    np.median(x, K); np.quantile(x, 0.3, axis=K); np.percentile(x, 30, K); np.nanmedian(x, axis=K); np.diff(x, axis=K)
    np.diff(x, n=2, axis=K); np.trapezoid(x, axis=K); np.trapezoid(x, x * x, axis=K); np.flip(x, K)
    np.roll(x, 1, axis=K); np.take(x, np.array([1, 0]), axis=K); np.nancumsum(x, K); x.cumsum(K)
    np.append(x, x, axis=K); np.max(x, axis=K, keepdims=True); np.argmin(x, K); np.linalg.norm(x, axis=K)
""".replace("\n", ";").split(";") if text.strip()]  # fmt: skip


def function_of(text: str) -> Any:
    """A function that returns the value of a text, whose source is known."""
    name, source = f"<axes {text}>", f"def along(x):\n    return {text}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    found: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), found)
    return found["along"]


@pytest.mark.parametrize("axes", ARRAYS)
@pytest.mark.parametrize("text", FUNCTIONS)
def test_every_axis(text: str, axes: int) -> None:
    x = ARRAYS[axes]
    numbers = sorted({-axes, -2, -1, 0, axes // 2} & set(range(-axes, axes)))
    together = ", ".join(text.replace("K", str(number)) for number in numbers)
    with lw.options(device="interpreter"):
        found = lw.kernel(function_of(f"({together},)"))(x)
    for one, number in zip(found, numbers, strict=True):
        wanted = function_of(text.replace("K", str(number)))(x)
        assert np.shape(one) == np.shape(wanted), number
        assert np.asarray(one).dtype == wanted.dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-13, err_msg=f"axis {number}")


@pytest.mark.parametrize("text", FUNCTIONS)
def test_what_is_no_axis(text: str) -> None:
    for number in 2, -3:
        with pytest.raises(lw.KernelError, match=f"axis {number} is out of bounds for an array of 2 axes"):
            lw.kernel(function_of(text.replace("K", str(number)))).specialise(ARRAYS[2])


@pytest.mark.parametrize(
    "text", ["np.cumsum(x, axis=1)", "np.cumsum(x, axis=0)", "np.cumsum(x)", "np.cumprod(x, axis=1)"]
)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float32", "float64", "complex128"])
def test_running_sums_of_every_type(text: str, dtype: str) -> None:
    x = (RANDOM.random((4, 6)) * 5).astype(dtype)
    for given in x, x[::-1, ::2], np.asfortranarray(x), x[:0], x[:, :0], x[:, :1]:
        found, wanted = lw.kernel(function_of(text))(given), function_of(text)(given)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_running_sum_begins_with_its_first_element() -> None:
    x = np.array([[-0.0, -0.0], [-0.0, 1.0]])
    for text in "np.cumsum(x)", "np.cumsum(x, axis=0)", "np.cumsum(x, axis=1)":
        found, wanted = lw.kernel(function_of(text))(x), function_of(text)(x)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
