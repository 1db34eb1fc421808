from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, If
from loopwright.ir.walk import loops, statements
from steps.before_after import after
from steps.orders import SWEEP


def test_arrays_that_are_only_read_are_not_copied_back() -> None:
    names = loops(after(SWEEP, "renumber p in t"))
    assert {"x.in0", "y.in0", "y.back0"} <= names.keys()
    assert "x.back0" not in names


def test_a_table_that_is_only_a_table_has_no_copy_of_its_elements() -> None:
    changed = after(SWEEP, "renumber p in t")
    assert {one.array for one in statements(changed.body, Allocate)} == {"p.place", "p.order", "p.m", "x.r", "y.r"}
    asks = SWEEP.replace("            y[i] = s\n", "            if p[i, 0] > 2:\n                y[i] = s\n")
    assert "p.r" in {one.array for one in statements(after(asks, "renumber p in t").body, Allocate)}


def test_the_loop_as_it_stands_is_left_for_all_other_calls() -> None:
    changed = after(SWEEP, "renumber p in t")
    last = changed.body[-1]
    assert isinstance(last, If)
    (otherwise,) = last.otherwise
    assert isinstance(otherwise, For) and [one.name for one in statements((otherwise,), For)] == ["t.1", "i", "k.2"]
