"""Which way an `if` goes where the call decides it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from frontend.judge import define, kernel_of, lowered, refusal, same
from loopwright.frontend.decide import decide
from loopwright.frontend.values import Fixed, Items, Literal, Number
from loopwright.ir.nodes import If, Var
from loopwright.ir.types import FLOAT64
from loopwright.ir.walk import statements

KNOWN = {
    "none": Fixed(None),
    "mode": Fixed("fast"),
    "three": Literal(3),
    "pair": Items((Literal(1), Literal(2))),
    "empty": Items(()),
    "x": Number(Var("x", FLOAT64), weak=False),
}
TESTS = {
    "none is None": True, "x is None": False, "x is not None": True, "mode == 'fast'": True, "mode != 'slow'": True,
    "mode in ('slow', 'fast')": True, "mode not in ('fast',)": False, "three": True, "three == 3": True,
    "not none": True,
    "none": False, "pair": True, "empty": False, "none is None and x > 0": None, "none is not None and x > 0": False,
    "none is None or x > 0": True, "x": None, "x > 0": None, "three == x": None, "missing is None": None,
    "three and pair": True, "none or empty": False, "three < 4": True, "three >= 4": False, "three < x": None,
    "mode is None": False, "True": True, "0": False, "pair == pair": None, "x in pair": None, "mode == none": False,
    "x and none is not None": False, "x > 0 and not three": False, "x < 0 or three": True, "x and three": None,
    "x[0] and none": None, "x() or three": None, "x and x[0] and none": None,
}  # fmt: skip


@pytest.mark.parametrize("test", TESTS)
def test_decide(test):
    assert decide(ast.parse(test, mode="eval").body, KNOWN.get) is TESTS[test]


def test_a_global_that_decides_is_recorded():
    function = define("def f(x):\n    if FLAG:\n        return x\n    return -x\n", FLAG=False)
    same(function, 3)
    assert [(c.key, c.value) for c in lowered(function, 3).constants if c.kind == "item"] == [("FLAG", False)]


def test_the_other_branch_is_not_read():
    function = define("""
        def f(x, weight=None, mode="fast"):
            if weight is None:
                weight = 1.0
            if mode == "fast":
                y = x * weight
            elif mode == "slow":
                y = [x]
            else:
                y = unknown(x)
            return y if weight is not None else None
        """)
    same(function, 3.0, None, "fast")
    same(function, 3.0, 2, "fast")
    kernel = kernel_of(function, 3.0, 2, "fast")
    assert not any(isinstance(stmt, If) for stmt in statements(kernel.body))


def asks(a, x):
    if isinstance(a, np.ndarray) and not isinstance(x, (tuple, list)):
        kind = 1 if isinstance(x, float) else 2 if isinstance(x, (bool, np.bool_)) else 3
    elif len(a) == 2:
        kind = len(x)
    else:
        kind = x
    return kind, isinstance(x, (int, np.floating))


def test_isinstance():
    for x in (1, 1.5, True, np.int32(1), np.float32(1.0), np.float64(1.0), np.True_):
        same(asks, np.zeros(3), x)
        same(asks, (1, 2, 3), x)
    same(asks, (1, 2), (1, 2, 3))


def test_is_true():
    for x in (True, False, 1, 0.0):
        same(define("def f(x):\n    return x is True, x is not False, (x > 0) is True\n"), x)
    same(define("def f(a):\n    return a[0] is True, a is False, (a[0] > 1) is not True\n"), np.array([True, False]))


def largest(a):
    if hasattr(a, "max"):
        return a.max()
    is_called = hasattr(a, "mro"), hasattr((a, a), "mro")  # which their class has, and they have not
    return a, hasattr(a, "real"), hasattr((a, a), "index"), hasattr(a, "no_such_name"), is_called


def test_hasattr():
    same(largest, np.arange(3.0))
    same(largest, np.float64(2.0))
    same(largest, 3)
    same(largest, 2.5)
    assert "known at compile time" in refusal(define("def f(a, n):\n    return hasattr(a, n)\n"), np.ones(2), 1)
