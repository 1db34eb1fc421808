"""Keywords of functions: each is followed or refused, and none is left out of account."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define

A = np.array([4.0, 1.0, 3.0, 2.0])

REFUSED = [
    "min(a, key=lambda v: -v)",
    'np.reshape(a.reshape(2, 2), 4, order="F")',
    'a.reshape(2, 2).reshape(4, order="F")',
    'a.reshape(2, 2).ravel(order="F").copy()',
    'a.reshape(2, 2).flatten("F")',
    "np.array(a, ndmin=2)",
    "np.std(a, dtype=np.float32)",
    "np.sum(a, where=a > 2)",
    "np.any(a, initial=1)",
    "np.dot(a, 2.0, out=a)",
]
FOLLOWED = [
    "max(a, default=3.0)",
    "np.max(a, initial=100.0)",
    "np.round(a, decimals=1, out=a)",
    "np.mean(a, dtype=np.float32)",
    "a.mean(dtype=np.float64)",
    "np.ptp(a, keepdims=True)",
    'np.reshape(a, (2, 2), order="C")',
    'np.sort(a, kind="stable")',
    "np.linspace(0, 1, 5, endpoint=False)",
    "sorted(a, key=lambda v: -v)",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    function = define(f"def f(a):\n    return {text}\n")
    with lw.options(device="interpreter"), pytest.raises(lw.KernelError):
        lw.kernel(function)(A.copy())


@pytest.mark.parametrize("text", FOLLOWED)
def test_followed(text: str) -> None:
    function = define(f"def f(a):\n    return {text}\n")
    with lw.options(device="interpreter"):
        found = lw.kernel(function)(A.copy())
    wanted = function(A.copy())
    assert type(found) is type(wanted)
    np.testing.assert_allclose(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype and np.shape(found) == np.shape(wanted)


def test_a_product_into_an_array() -> None:
    @lw.kernel
    def product(a: Any, b: Any, c: Any) -> Any:
        np.dot(a, b, out=c)
        return np.dot(a, b, c)

    a, b, c = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2), np.zeros((2, 2))
    product(a, b, c)
    assert c.tolist() == (a @ b).tolist()
