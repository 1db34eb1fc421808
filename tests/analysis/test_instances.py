from __future__ import annotations

import islpy as isl

from loopwright.analysis.instances import fixed_in, is_regular, leaves_of, order_of
from loopwright.analysis.trace import trace
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

TEXT = """
kernel f(a: float64[1] C, h: int64[1] C, n: int64):
    a[0] = 1.0
    for i in n - 1 .. -1 step -2:
        a[i] = 2.0
        if a[i] > 3.0:
            a[i] = 4.0
        for j in 0 .. h[i]:
            a[j] = 5.0
    for k in 0 .. n:
        if a[k] > 6.0:
            break k
"""


def _known() -> tuple[Kernel, dict[str, bool], list[str]]:
    kernel = parse_kernel(TEXT)
    notes = trace(kernel)
    regular = {
        name: is_regular(loop, notes.loops[name]) for name, loop in loops(kernel).items() if isinstance(loop, For)
    }
    leaves = leaves_of(kernel.body, notes)
    return kernel, regular, [f"{type(leaf.stmt).__name__} {leaf.space}" for leaf in leaves]


def test_loops_whose_iterations_are_known_beforehand() -> None:
    assert _known()[1] == {"i": True, "j": False, "k": False}


def test_everything_else_is_a_leaf_in_one_piece() -> None:
    assert _known()[2] == ["Store S0[]", "Store S1[x0]", "If S2[x0]", "For S3[x0]", "For S4[]"]


def test_the_order_in_time() -> None:
    kernel = parse_kernel(TEXT)
    notes = trace(kernel)
    leaves = leaves_of(kernel.body, notes)
    order = order_of(leaves, fixed_in(notes, ()))
    backwards = order.intersect(isl.UnionMap("{ S1[x0] -> [t0, t1, t2] : t0 = 1 and t1 = -x0 and t2 = 0 }"))
    assert not backwards.is_empty()
    assert order.subtract(isl.UnionMap("{ S1[x0] -> [t0, t1, t2] : t1 != -x0 }")).is_equal(order)
    assert order.is_single_valued()


def test_what_follows_from_other_symbols_is_not_fixed() -> None:
    notes = trace(parse_kernel("kernel f(a: float64[1] C, n: int64):\n    for i in 0 .. n // 2:\n        a[i] = 1.0\n"))
    fixed = fixed_in(notes, ())
    opaque = [s for s in notes.state.table.symbols if s.role == "opaque" and not s.loose]
    assert opaque and not {s.name for s in opaque} & fixed
    assert {s.name for s in notes.state.table.symbols if s.role == "scalar"} <= fixed
    inner = next(s for s in notes.state.table.symbols if s.role == "loop")
    assert inner.name not in fixed and inner.name in fixed_in(notes, ("i",))
