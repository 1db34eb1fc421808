"""Operands from left to right: what keeps its value by itself, and what needs a temporary."""

from __future__ import annotations

import numpy as np

from frontend.judge import define, same, text_of
from loopwright.frontend.operands import fresh
from loopwright.frontend.values import Items, Literal, Number
from loopwright.frontend.variables import survives
from loopwright.ir.nodes import Assign, Binary, Checked, Compare, Const, Load, Store, Var
from loopwright.ir.types import BOOL, FLOAT64, INT64

LOAD = Load("a", (Const(0, INT64),), FLOAT64)
X = Var("x", FLOAT64)


def test_what_survives_statements():
    store = Store("a", (Const(0, INT64),), X)
    assign = Assign("x", Const(1.0, FLOAT64))
    other = Assign("y", Const(1.0, FLOAT64))
    assert survives(Number(LOAD, False), [other])
    assert not survives(Number(LOAD, False), [store])
    assert not survives(Number(X, False), [assign])
    assert survives(Number(X, False), [store, other])
    assert not survives(Number(Binary("add", X, LOAD), False), [other, store])
    assert not survives(Items((Literal(1), Number(X, False))), [assign])
    assert survives(Literal(1), [assign, store])


def test_fresh_copies():
    checked = Checked(Binary("add", LOAD, X), Compare("ge", X, X), "overflow")
    copy = fresh(checked)
    assert copy == checked
    assert copy is not checked
    assert copy.value.left is not LOAD
    assert fresh(X) is X
    assert fresh(Const(True, BOOL)) == Const(True, BOOL)


HELPERS = """
    def f(a, i):
        def pure(x):
            return x * 2 + i

        def stores(k):
            a[k] += 1
            return a[k]

        p = a[i] + pure(a[1])
        q = a[i] + stores(0) + a[i]
        r = pure(stores(1)) - pure(stores(1)) * stores(0)
        a[stores(2) % 3] = stores(0)
        return p, q, r, (a[0], stores(0), a[0])[0]
    """


def test_order_of_evaluation():
    function = define(HELPERS)
    same(function, np.zeros(3, np.int64), 0)
    same(function, np.zeros(3, np.int32), 1)


def test_a_load_before_pure_statements_stays_where_it_is():
    function = define("def f(a, i):\n    return a[i] + int(a[1] * 2)\n")
    assert "return a[i] + " in text_of(function, np.zeros(3), 1)
