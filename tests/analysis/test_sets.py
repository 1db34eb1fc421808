"""isl sets from formulas, and how much work they may be."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.analysis.affine import Formula, SymbolTable, of_symbol, relate
from loopwright.analysis.sets import Effort, TooHard, build, only, ordered, parameters, parsed, renamed, without
from loopwright.ir.types import INT64


def test_symbols_are_ordered_by_birth() -> None:
    table = SymbolTable()
    n = table.argument("scalar", 0, 0, INT64)
    i = table.loop(("i",), of_symbol(n), of_symbol(n), 1)
    loaded = table.opaque("x", [], (0, 9), ("i",), True)
    size = table.argument("size", 1, 0, INT64)
    assert ordered((loaded, i, size, n)) == [n, size, i, loaded]


def test_rules_are_part_of_a_set() -> None:
    size = of_symbol(SymbolTable().argument("size", 0, 0, INT64))
    assert build((relate(size, "<", of_symbol(SymbolTable().argument("size", 0, 0, INT64))),)).is_empty()
    points = build((), ("e",), (Formula("e = s0_0", size.symbols),))
    assert points.is_equal(isl.Set("[s0_0] -> { [s0_0] : s0_0 >= 0 }"))


def test_projections() -> None:
    points = isl.Set("[n, i, m, j] -> { : 0 <= i < n and j = m }")
    assert parameters(only(points, ["n", "m"])) == ["n", "m"]
    assert only(points, ["n"]).is_equal(isl.Set("[n] -> { : n > 0 }"))
    assert parameters(without(points, {"i", "j"})) == ["n", "m"]
    assert parameters(renamed(points, "i", "other")) == ["n", "other", "m", "j"]


def test_effort_is_bounded_and_isl_works_afterwards() -> None:
    effort = Effort(limit=2000, least=1000)
    hard = "(n >= 3 and m <= n or k >= 2*l) and (p mod 3 = 1 or l <= m) and p != n and m != k"
    with pytest.raises(TooHard), effort.bounded():
        isl.Set(f"[n, m, k, l, p] -> {{ : {hard} }}").complement().coalesce()
    assert effort.limit == 1000
    assert not isl.Set("[n] -> { : n > 0 }").complement().is_empty()


def test_other_errors_of_isl_are_not_hidden() -> None:
    with pytest.raises(isl.Error), Effort().bounded():
        isl.Set("[n] -> { : n > }")


def test_a_text_is_parsed_once() -> None:
    assert parsed("n > 0", ("n",)) is parsed("n > 0", ("n",))
