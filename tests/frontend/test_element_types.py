"""NumPy's functions of arrays of all element types: the types and the values that NumPy gives, at ends of ranges."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, refusal, same
from loopwright.ir.interp import interpret

INTEGERS = np.array([3, -7, 100, -128, 127], np.int8)
FLOATS = np.array([1.5, -2.0, 0.0, 7.0, 3.0], np.float32)
LARGE = np.array([2**63 - 2, 5, -(2**63), 7, 1])
TWO = np.stack([FLOATS, FLOATS[::-1]]) * 1.0
BYTES, SHORT, UNSIGNED = INTEGERS.view(np.uint8), INTEGERS.astype(np.int16), LARGE.view(np.uint64)

CASES: list[tuple[str, tuple[object, ...]]] = [
    ("np.gcd(a, 2)", (INTEGERS,)), ("np.lcm(a, b)", (INTEGERS, SHORT)), ("np.gcd(a, b)", (LARGE // 3, BYTES)),
    ("np.ldexp(a, b)", (FLOATS, INTEGERS)), ("np.ldexp(a, b)", (TWO[0], SHORT)), ("np.ldexp(a, 3000)", (TWO[0] * 0,)),
    ("np.logaddexp(a, b).dtype == np.float32", (SHORT, FLOATS)), ("np.logaddexp(a, 2.0)", (LARGE,)),
    ("np.heaviside(a, 0.5)", (FLOATS,)), ("np.heaviside(a, b)", (SHORT, SHORT)), ("np.logaddexp(2, 3)", ()),
    ("np.nan_to_num(a)", (LARGE,)), ("np.nan_to_num(a)", (UNSIGNED,)), ("np.nan_to_num(a)", (INTEGERS > 0,)),
    ("np.nan_to_num(a)", (3,)), ("np.nan_to_num(a)", (np.int8(3),)), ("np.nan_to_num(a)", (float("nan"),)),
    ("np.mean(a, dtype=np.int32)", (LARGE // 2**40,)), ("np.mean(a, dtype=np.int8)", (INTEGERS,)),
    ("np.mean(a, axis=0, dtype=np.uint8)", (np.stack([BYTES, BYTES]),)), ("a.mean(dtype=np.int64)", (FLOATS,)),
    ("np.mean(a, axis=0, dtype=np.int64, keepdims=True)", (TWO,)),
    ("np.mean(a, dtype=np.complex64)", (FLOATS,)), ("np.mean(a, axis=0, dtype=np.complex128)", (TWO,)),
    ("np.angle(a)", (FLOATS,)), ("np.angle(a)", (SHORT,)), ("np.angle(a)", (LARGE,)), ("np.angle(a)", (-3.0,)),
    ("np.angle(a)", (FLOATS + 1j,)),
    ("np.clip(a, -1, 100)", (BYTES,)), ("np.clip(a, b, 5)", (BYTES, -3)), ("np.clip(a, b, 2.5)", (BYTES, -3)),
    ("np.clip(a, b, 2.5)", (BYTES, 300)), ("np.clip(a, 0, 1000)", (INTEGERS,)), ("np.clip(a, 0, b)", (INTEGERS, 1000)),
    ("np.clip(a, b, 2000)", (INTEGERS, 1000)), ("np.clip(a, b, 2**62)", (UNSIGNED, -1)), ("a.clip(0, 3)", (BYTES,)),
    ("np.clip(a, -5, 5)", (INTEGERS > 0,)), ("np.clip(3, 0, 2)", ()), ("np.clip(a, b, c)", (INTEGERS, BYTES, SHORT)),
    ("np.select([a > 1, a < 0], [a, b], 5)", (INTEGERS.astype(np.int32), BYTES > 3)),
    ("np.select([a > 1, a < 0], [1, 2], 5)", (FLOATS,)), ("np.select([a > 1], [a], 0.5)", (INTEGERS,)),
    ("np.argmax(a, axis=1, keepdims=True)", (TWO,)), ("np.argmin(a, keepdims=True)", (TWO,)),
    ("np.cumsum(a, dtype=np.int8)", (FLOATS,)), ("np.cumsum(a, axis=0, dtype=np.uint8)", (np.stack([LARGE, LARGE]),)),
    ("a.cumprod(axis=1, dtype=np.int32)", (np.stack([BYTES, BYTES]),)), ("np.cumsum(a, dtype=np.int32)", (FLOATS > 1,)),
    ("a.dtype == 'float32'", (FLOATS,)), ("a.dtype in ('float32', 'int8')", (INTEGERS,)), ("a.dtype != 'f4'", (TWO,)),
    ("np.issubdtype(a.dtype, np.floating)", (FLOATS,)), ("np.issubdtype(a.dtype, np.floating)", (SHORT,)),
    ("np.interp(a, np.sort(a), b)", (UNSIGNED, FLOATS)), ("np.interp(a, b, c)", (FLOATS, np.arange(5), FLOATS)),
    ("np.interp(a, np.arange(3), b[:3], left=-1, right=0.5)", (TWO[0], FLOATS)),
    ("np.interp(a, b, c, 7)", (-2.5, np.arange(5.0), FLOATS)),
    ("np.arange(0, 5, a)", (0,)), ("np.arange(0, 5, a[0])", (LARGE * 0,)), ("np.arange(0.0, 5.0, a)", (0.0,)),
    ("np.arange(a, 5.0, a)", (np.float64(0.0),)), ("np.arange(5, a, a)", (-2,)),
    ("np.linalg.inv(a[:, :2])", (TWO * 0,)), ("np.linalg.solve(a[:, :2], a[0, :2])", (TWO * 0,)),
    ("np.linalg.cholesky(-a[:, :2] @ a[:, :2].T)", (TWO,)),
    ("np.put(a, [1, 3, 0], [5.0, 6.0])", (FLOATS,)), ("np.put(a, [1, -1], a[::-1].copy())", (FLOATS,)),
    ("np.put(a, 2, 7.0)", (FLOATS,)), ("np.put(a, [2, 0], 7.0)", (FLOATS,)),
    ("np.partition(a, 7)", (FLOATS,)), ("np.argpartition(a, -6)", (FLOATS,)), ("np.partition(a, 2)[2]", (FLOATS,)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arguments"), CASES)
def test_of_all_types(text, arguments):
    names = ", ".join("abc"[: len(arguments)])
    same(define(f"def f({names}):\n    return {text}\n"), *arguments)


@pytest.mark.parametrize(
    ("text", "array"),
    [
        ("np.gcd(a, 2.0)", FLOATS), ("np.lcm(a, a)", FLOATS), ("np.ldexp(a, a)", FLOATS),
        ("np.gradient(a)", FLOATS > 0), ("np.max(a, initial=1)", FLOATS + 1j),
        ("np.ldexp(a, a)", UNSIGNED), ("np.logaddexp(a, a)", INTEGERS), ("np.angle(a)", INTEGERS),
        ("np.maximum(a, np.int8(1), out=a)", UNSIGNED), ("np.add(a, 0.5, out=a)", SHORT),
        ("np.argmax(a, axis=(0, 1))", TWO), ("np.mean(a, dtype=np.bool_)", FLOATS),
    ],
)  # fmt: skip
def test_what_numpy_refuses_or_computes_in_16_bits_is_refused(text, array):
    assert "KernelError" in refusal(define(f"def f(a):\n    return {text}\n"), array)


def test_an_error_in_a_function_of_numpys_shows_the_users_line():
    function = define("def f(a, p):\n    b = np.take(a, p)\n    return b\n", "users.py")
    with pytest.raises(IndexError, match=r"users.py:2:9: BoundsError: index 9 is out(.*\n)*.*np.take\(a, p\)"):
        interpret(kernel_of(function, FLOATS, np.array([1, 9])), [FLOATS, np.array([1, 9])])
    function = lw.kernel(define("def g(a):\n    return np.bincount(-a)\n", "users.py"))
    with pytest.raises(ValueError, match="no negative elements") as caught:
        function(np.arange(3))
    assert "users.py:2:12: raised here" in caught.value.__notes__[0]
