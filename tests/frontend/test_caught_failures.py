"""Failures that a handler catches: the tests that stand before a statement, and what is left of it."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, text_of
from loopwright.frontend.caught_failures import Caught, Handler, fails_inside, is_ours
from loopwright.ir.location import Location
from loopwright.ir.nodes import Assign, Checked, Const, Load, Store, Var
from loopwright.ir.types import BOOL, FLOAT64, INT64

IN_A = "if not (k >= -size(a, 0) and k < size(a, 0)): leave `except`"
CASES = {
    ("x = a[k]", "IndexError"): f"{IN_A} x = a[k]",
    ("x = a[k]", "LookupError"): f"{IN_A} x = a[k]",
    ("x = a[k]", "ValueError"): "x = a[k]",
    ("a[k] = 1.0", "Exception"): f"{IN_A} a[k] = 1.0",
    ("a[-1] = 1.0", "Exception"): "if not -1 >= -size(a, 0): leave `except` a[-1] = 1.0",
    ("x = 7 // k", "ZeroDivisionError"): "if not k != 0: leave `except` x = 7 // k",
    ("x = 7 // k", "IndexError"): "x = checked(7 // k, k != 0, zero_division)",
    ("x = a[k] if k > 3 else 0.5", "Exception"):
        f"if k > 3: {IN_A} x = a[k] if k > 3 else 0.5",
    ("if k > 3 and a[k] > 0: x = 1", "Exception"): f"if k > 3: {IN_A} if k > 3 and a[k] > 0.0: pass",
    ("while a[k] > 0: k = 1", "Exception"):
        "while True named `while`: if not (k.2 >= -size(a, 0) and k.2 < size(a, 0)): leave `except` "
        "if not a[k.2] > 0.0: break `while` k.2 = 1",
    ("x = np.zeros(k)", "ValueError"): "if not k >= 0: leave `except` allocate x: float64[k] = 0.0",
    ("x = int(y)", "ValueError"):
        "if isnan(y): leave `except` x = checked(int64(y), y >= -9.223372036854776e+18 and "
        "y < 9.223372036854776e+18, not_finite)",
    ("raise KeyError('k')", "LookupError"): "leave `except` t.1 = 0",
}  # fmt: skip


@pytest.mark.parametrize(("statement", "kind"), CASES)
def test_what_is_tested(statement, kind):
    function = define(f"def f(a, k, y):\n    try:\n        {statement}\n    except {kind}:\n        a[0] = 2.0\n")
    text = text_of(function, np.zeros(3), 1, 2.0)
    body = " ".join(text[text.index("`except`:") if "`except`:" in text else text.index("`try`:") :].split())
    for end in ("leave `try`", "return", "a[0] = 2.0"):
        body = body.partition(f" {end}")[0]
    assert body.partition(": ")[2] == CASES[statement, kind]


def test_several_handlers_and_what_no_handler_catches():
    at = Location("example.py", 1, 0, 1)
    zero = Checked(Const(1, INT64), Var("c", BOOL), "zero_division", at=at)
    room = Checked(Const(1, INT64), Var("c", BOOL), "memory", at=at)
    caught = Caught([Handler((KeyError,), "first"), Handler((ArithmeticError,), "second")])
    body = caught.body([Assign("x", room), Assign("x", zero)])
    assert caught.left == {"second"} and body[0] == Assign("x", room) and len(body) == 3
    assert Caught([Handler((MemoryError,), "first")]).body([Assign("x", room)]) == [Assign("x", room)]


def test_loops_that_fail_in_the_middle():
    there, ours = Location("example.py", 1, 0, 1), Location(define.__code__.co_filename, 1, 0, 1)
    inner = Load("p", (Var("i", INT64),), INT64, at=there)
    plain, chosen = Store("a", (Var("i", INT64),), Const(0.0, FLOAT64)), Store("a", (inner,), Const(0.0, FLOAT64))
    assert fails_inside((chosen,), [(IndexError,)]) and not fails_inside((plain,), [(IndexError,)])
    assert not fails_inside((chosen,), [(ValueError,)]) and not is_ours(ours)
    assert is_ours(Location(Caught.__module__.replace(".", "/"), 1, 0, 1)) is False
