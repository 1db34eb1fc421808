"""`x.view(t)`: the bits of numbers and of arrays as numbers of another type."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
NUMBERS = np.array([0.0, -0.0, 1.5, -2.25, 1e30, np.inf, 3.5e-38, 7.0])


@pytest.mark.parametrize("kind", TYPES)
def test_arrays(kind):
    if kind.startswith("float"):
        x = NUMBERS.astype(kind)
    else:
        x = np.arange(-60, 68, 16).astype("int64").astype(kind) * np.dtype(kind).type(3)
    for to in TYPES:
        function = define(f"def f(x):\n    y = x.view(np.{to})\n    return y, y.dtype == np.{to}\n")
        same(function, x)


def test_shapes_and_numbers():
    function = define("""
        def f(x, m, k):
            whole = x.view(np.uint16)
            exponent = (x.view(np.int64)[0] >> 52) & 0x7FF
            flags = (x > 0).view(np.uint8)
            part = x[::2].view(np.uint64)
            back = np.int64(k).view(np.float64)
            wide, narrow = m.copy().view(np.float64), np.float32(k).view("i4")
            return whole, exponent, flags, part, back, m.view(np.uint8), wide, narrow
    """)
    same(function, NUMBERS, np.arange(12, dtype=np.int32).reshape(3, 4), 4607182418800017408)
    same(function, NUMBERS[1:3], np.zeros((0, 2), np.int32), -1)
    odd = define("def f(m):\n    return m.view(np.float64)\n")
    assert same(odd, np.zeros((3, 3), np.float32)) is ValueError


@lw.kernel
def halved(x):
    y = np.empty_like(x)
    bits = x.view(np.int64)
    for i in range(len(x)):
        guess = (np.int64(0x5FE6EB50C7B537A9) - (bits[i] >> 1)).view(np.float64)
        y[i] = guess * (1.5 - 0.5 * x[i] * guess * guess)
    return y, x.astype(np.float32).view(np.uint32), x.view(np.uint8)


def test_compiled():
    for n in (0, 1, 13):
        x = 1.5 + np.arange(float(n))
        for ours, theirs in zip(halved(x), halved.__wrapped__(x), strict=True):
            assert ours.dtype == theirs.dtype and np.allclose(ours, theirs, rtol=1e-15)


def test_refused():
    for text, what in [
        ("y = x.view(np.int64)\n    y[0] = 1\n    return x[0]", "another name may be a view"),
        ("y = x.view(np.int64)\n    x[0] = 1\n    return y[0]", "another name may be a view"),
        ("return x[::2].view(np.int32)", "may lie apart"), ("return x.view(np.complex128)", "as complex128"),
        ("return x.view(np.bool_)", "as bool"),
    ]:  # fmt: skip
        assert what in refusal(define(f"def f(x):\n    {text}\n"), np.ones(4))
