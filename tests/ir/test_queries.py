from __future__ import annotations

from loopwright.ir.nodes import Allocate, Assign, Block, Checked, For, If, Load, Select, Store, Var, While
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_stored,
    contains,
    has,
    loops_around,
    names_assigned,
    names_in,
    names_read,
    types_assigned,
)
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import FLOAT64, INT64
from loopwright.ir.walk import expressions, statements, subexpressions

KERNEL = parse_kernel("""
kernel f(a: float64[1] C, b: float64[1] C, p: int64[1] C, n: int64):
    var s: float64
    var k: int64
    s = 0.0
    for i in 0 .. n:
        allocate t: float64[i + 1] = 0.0
        k = p[i]
        if a[i] > s:
            t[i] = a[k]
            s = t[i]
    b[0] = s
""")
BODY = KERNEL.body


def test_names() -> None:
    assert names_assigned(BODY) == {"s", "k"}
    assert types_assigned(BODY) == {"s": FLOAT64, "k": INT64} and list(types_assigned(BODY)) == ["s", "k"]
    assert names_read(BODY) == {"n", "i", "s", "k"}
    last = BODY[-1]
    assert isinstance(last, Store) and names_in(last.value) == {"s"}


def test_arrays() -> None:
    assert arrays_stored(BODY) == {"t", "b"}
    assert arrays_loaded(BODY) == {"p", "a", "t"}
    assert arrays_made(BODY) == {"t"}


def test_kinds() -> None:
    assert contains(BODY, If) and contains(BODY, While, Allocate) and not contains(BODY, While, Block)
    branch = next(statements(BODY, If))
    assert has(branch.condition, Load) and has(branch.condition, Checked, Var)
    assert not has(branch.condition, Checked, Select)


def test_only_nodes_of_the_kinds_come_in_the_order_of_the_text() -> None:
    assert [type(stmt) for stmt in statements(BODY, Store, For)] == [For, Store, Store]
    assert list(statements(BODY, Assign)) == [stmt for stmt in statements(BODY) if isinstance(stmt, Assign)]
    assert [part.array for part in expressions(BODY, Load)] == ["p", "a", "a", "t"]
    branch = next(statements(BODY, If))
    assert [part.name for part in subexpressions(branch.condition, Var)] == ["i", "s"]


def test_loops_around_statements() -> None:
    stores = list(statements(BODY, Store))
    assert loops_around(KERNEL, stores[:1]) == {"i"} and loops_around(KERNEL, stores[1:]) == set()
    loop = next(statements(BODY, For))
    assert loops_around(KERNEL, [loop]) == set() and loops_around(KERNEL, [loop, loop.body[-1]]) == {"i"}
