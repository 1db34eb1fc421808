"""Names, temporaries and what may be evaluated anywhere."""

from __future__ import annotations

import pytest

from frontend.judge import define
from loopwright.frontend.capture import capture
from loopwright.frontend.context import Context, Session
from loopwright.frontend.expressions import evaluate
from loopwright.frontend.made_texts import own_text
from loopwright.frontend.outside import Outside
from loopwright.frontend.statements import assign_to, execute
from loopwright.frontend.table_variables import kept_table, store_table
from loopwright.ir.nodes import Assign, Binary, Cast, Const, Dim, Load, Unary, Var
from loopwright.ir.signature import Signature
from loopwright.ir.types import FLOAT64, INT32, INT64

K, J, F = Var("i", INT64), Var("j", INT64), Var("f", FLOAT64)
ONE = Const(1, INT64)


@pytest.fixture
def cx():
    source = capture(define("def f():\n    pass\n"))
    session = Session(source, Signature(()), Outside(source))
    context = Context(session, evaluate, execute, assign_to, store_table, kept_table, own_text)
    context.stable |= {"i", "f"}
    return context


def test_names_are_unique(cx):
    assert [cx.new_name("x"), cx.new_name("x"), cx.new_name("x.2"), cx.new_name("x")] == ["x", "x.2", "x.2.2", "x.3"]
    assert [cx.temporary_name(), cx.temporary_name()] == ["t.1", "t.2"]


def test_what_is_stable(cx):
    index = Binary("sub", Binary("mul", K, Const(2, INT64)), Dim("a", 0))
    for expr in (ONE, K, F, index, Unary("neg", index), Cast(Var("i", INT64), INT32)):
        assert cx.is_stable(expr)
    for expr in (J, Binary("add", K, J), Load("a", (K,), FLOAT64), Binary("add", F, F), Binary("pow", K, K)):
        assert not cx.is_stable(expr)
    long = K
    for _ in range(10):
        long = Binary("add", long, K)
    assert not cx.is_stable(long)


def test_what_is_evaluated_once(cx):
    assert cx.once(J, None) is J
    load = Load("a", (K,), FLOAT64)
    variable = cx.once(load, None)
    assert cx.body == [Assign(variable.name, load)]
    assert variable.name in cx.stable


def test_bodies(cx):
    cx.emit(Assign("x", ONE))
    with cx.inner_body() as body:
        cx.emit(Assign("y", ONE))
        assert cx.depth == 1
    with cx.inner_body(nested=False):
        assert cx.depth == 0
    with cx.resumed(body):
        cx.emit(Assign("z", ONE))
    assert ([s.name for s in cx.body], [s.name for s in body], cx.depth) == (["x"], ["y", "z"], 0)
    with pytest.raises(ZeroDivisionError), cx.inner_body():
        raise ZeroDivisionError
    assert [s.name for s in cx.body] == ["x"]
