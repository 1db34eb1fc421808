"""Whole-array arithmetic: NumPy's broadcasting and types, targets that are read, arrays of their own."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, refusal, same, same_made
from loopwright.ir.nodes import Allocate
from loopwright.ir.queries import contains

EXPRESSIONS = [
    "a + b", "a - 2", "1.5 * a", "a ** 2 / b", "-a", "abs(a)", "a // 2", "a % 3", "a < b", "a == 1",
    "(a > 0) & (b > 0)", "~(a > b)", "np.sqrt(abs(a))", "np.maximum(a, b)", "np.exp(a * 0)", "np.isnan(a / b)",
    "a * True", "np.float32(2) * a", "np.where(a > b, a, b)", "np.where(a > 0, 1, 0)", "np.clip(a, 0, 2)",
    "np.round(a / 3)", "np.round(a / 3, 2)", "np.hypot(a, b)",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_each_element_is_numpys(text):
    function = define(f"def f(a, b):\n    return {text}\n")
    a, b = np.array([-3.0, 0.0, 1.0, 2.5]), np.array([2.0, -1.0, 1.0, np.nan])
    for one, other in ((a, b), (a.astype(np.float32), b.astype(np.float32)), (a.astype(np.float32), b), (a[:0], b[:0]),
                       (a[:1], b[:1]), (a[::-1], b[::2].repeat(2))):  # fmt: skip
        same(function, one, other)


def test_a_power_of_a_half_is_a_root():
    """NumPy computes it so: the sign of a zero stays, and there is none of -inf. Its `power` does not."""
    function = define("""
        def f(a, b):
            b **= 0.5
            return a ** 0.5, np.power(a, 0.5), a[0] ** 0.5, a ** -0.5
        """)
    for kind in (np.float64, np.float32):
        a = np.array([-0.0, -np.inf, 0.0, 4.0, np.nan], kind)
        same(function, a, a.copy())


INTEGERS = [
    "k + k", "k - 1", "k * 2.5", "k / 2", "k // 2", "k % 3", "k & 1", "k << 1", "~k", "-k", "k > 1", "abs(k)",
    "k ** 2",
]  # fmt: skip


@pytest.mark.parametrize("text", INTEGERS)
def test_types_of_integers_are_numpys(text):
    function = define(f"def f(k):\n    return {text}\n")
    for kind in (np.int8, np.uint8, np.int32, np.int64):
        if not (kind == np.uint8 and text == "-k"):
            same(function, np.array([0, 1, 2, 100], kind))


SHAPES = [
    ((3, 4), (4,)),
    ((3, 4), (3, 1)),
    ((3, 1), (1, 4)),
    ((2, 3, 4), (3, 4)),
    ((3, 4), ()),
    ((1,), (5,)),
    ((0, 4), (4,)),
]


@pytest.mark.parametrize(("one", "other"), SHAPES)
def test_broadcasting(one, other):
    """An axis of size 1 is stretched where the text says that it has this size."""

    def ones(shape):
        return ", ".join("0:1" if size == 1 else ":" for size in shape)

    function = define(f"""
        def f(a, b):
            return a[{ones(one) or '...'}] * b[{ones(other) or '...'}] + 1
        """ if other else "def f(a, b):\n    return a * b + 1\n")  # fmt: skip
    rng = np.random.default_rng(1)
    b = rng.integers(0, 9, other).astype(float) if other else 2.0
    same(function, rng.integers(0, 9, one).astype(float), b)


def sums(a, b):
    return a + b


def into(a, b):
    a[:] = b
    a += b


def test_sizes_that_do_not_go_together():
    for function in (sums, into):
        same(function, np.arange(3.0), np.arange(3.0))
        same(function, np.arange(3.0), np.arange(4.0))
        same(function, np.arange(3.0), np.zeros(0))
    function = define("def f():\n    return np.zeros(3) + np.zeros(4)\n")
    assert "operands of sizes 3 and 4" in refusal(function)


def assigned(a, m):
    a[:] = 2
    a[1:] = a[:-1] + 1.0
    m[:] = a
    m[:, 0] = -1
    m[1] = m[0]
    m[:, 1:] = m[:, :-1]
    m[::-1] += a
    m *= 2


def test_assignments_mean_what_they_mean_in_numpy():
    same(assigned, np.arange(4.0), np.zeros((3, 4)))
    same(assigned, np.arange(1.0), np.zeros((3, 1)))
    same(assigned, np.arange(4, dtype=np.int32), np.zeros((2, 4), np.float32))
    same_made(assigned, lambda: (np.arange(8.0)[::-2], np.zeros((4, 3)).T))


def stored(k, a):
    k[:] = a
    k[0] = 300.7


def test_what_is_stored_takes_the_type_of_the_target():
    same(stored, np.zeros(3, np.int64), np.array([1.9, -1.9, 0.0]))
    same(stored, np.zeros(3, np.float32), np.array([0.1, 1e300, np.nan]))


def test_operations_in_place_refuse_another_kind():
    function = define("def f(k, a):\n    k += a\n")
    assert "KernelError" in refusal(function, np.zeros(3, np.int64), np.zeros(3))


def names_of_one(a):
    b = c = a + 1.0
    b[0] = 5.0
    return b, c


def test_one_array_for_two_names():
    same(names_of_one, np.arange(3.0))
    first, second = names_of_one(np.arange(3.0))
    assert first is second


def computed_once(a):
    n = 0
    while n < 3:
        b = a * n
        a = b + 1.0
        n += 1
    return a, b


@pytest.mark.parametrize("size", [0, 1, 4])
def test_expressions_in_loops(size):
    same(computed_once, np.arange(float(size)))


def of_rank_zero(z, a):
    a[:] = z + a
    return z[()] * 2.0


def test_an_array_without_axes():
    same(of_rank_zero, np.array(3.0), np.arange(3.0))


ROWS = [
    ("a[i] -= 2 * a[k]", False),
    ("a[i, 1:] += a[k, 1:]", False),
    ("a[:, i] *= a[:, k]", False),
    ("a[i] = a[k] * a[k, 0]", False),
    ("a[i, 1:] += a[k, :-1]", True),
    ("a[i] = a[k, ::-1]", True),
    ("a[a[i, 0] % 3] = a[k] + a[i]", False),
]


@pytest.mark.parametrize(("statement", "is_copied"), ROWS)
def test_rows_are_the_same_or_have_nothing_in_common(statement, is_copied):
    """What a row gets from another one needs no copy, whichever rows they are, as long as columns do not move."""
    function = define(f"def f(a, i, k):\n    {statement}\n")
    for i, k in ((0, 1), (2, 2), (-1, 2), (1, -3)):
        same(function, np.arange(1, 13).reshape(3, 4), i, k)
    assert contains(kernel_of(function, np.zeros((3, 4), np.int64), 0, 1).body, Allocate) == is_copied
