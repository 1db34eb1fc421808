"""Facts: bounds are found by node, and by key for copies; the guard is one expression."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Condition, Facts, SizeGuard
from loopwright.ir.nodes import Kernel, Load, Store
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import expressions, statements

TEXT = """kernel k(n: int64, a: float64[1] C, at: int64[1] C, b: float64[1] C):
  for i in 0 .. n:
    b[i] = a[at[i]] + a[i]
"""


def analysed() -> tuple[Kernel, Facts]:
    kernel = parse_kernel(TEXT)
    return kernel, analyse(kernel)


def test_bounds_of_each_access() -> None:
    kernel, facts = analysed()
    kinds = {}
    for load in expressions(kernel.body):
        if isinstance(load, Load):
            (bounds,) = facts.bounds_of(load)
            kinds[load.array, isinstance(load.index[0], Load)] = bounds.kind
    assert kinds == {("a", True): "checked", ("at", False): "proven", ("a", False): "proven"}
    (store,) = (stmt for stmt in statements(kernel.body) if isinstance(stmt, Store))
    assert [bounds.kind for bounds in facts.bounds_of(store)] == ["proven"]


def test_a_copy_has_the_bounds_of_what_it_is_a_copy_of() -> None:
    kernel, facts = analysed()
    (store,) = (stmt for stmt in statements(kernel.body) if isinstance(stmt, Store))
    copy = replace(store)
    assert id(copy) not in facts.bounds and facts.bounds_of(copy) == facts.bounds_of(store)
    with pytest.raises(KeyError):
        facts.bounds_of(replace(store, array="a"))


def test_the_guard_holds_where_all_its_conditions_do() -> None:
    one, other = Condition("(v0 <= s1_0)", (("v0", "s1_0"),)), Condition("(v0 <= s2_0)", (("v0", "s2_0"),))
    assert SizeGuard((), "", ()).c_text == ""
    assert SizeGuard((one,), "", ()).c_text == one.c_text
    assert SizeGuard((one, other), "", ()).c_text == "(v0 <= s1_0) && (v0 <= s2_0)"
    _, facts = analysed()
    compared = {name for condition in facts.guard.conditions for names in condition.compared for name in names}
    assert compared == {name for name, _ in facts.guard.parameters} == {"v0", "s1_0", "s2_0", "s3_0"}
