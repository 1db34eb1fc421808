"""isl sets from formulas."""

from __future__ import annotations

import islpy as isl

from loopwright.analysis.affine import Formula, SymbolTable, of_symbol, relate
from loopwright.analysis.sets import build, only, ordered, parameters, parsed, renamed, without
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


def test_a_text_is_parsed_once() -> None:
    assert parsed("n > 0", ("n",)) is parsed("n > 0", ("n",))


def test_quotients_and_choices_come_last() -> None:
    """A set is the same in whatever order its conditions are met."""
    size = of_symbol(SymbolTable().argument("size", 0, 0, INT64)).symbols
    texts = "s0_0 mod 4 = 1", "s0_0 < 90", "(s0_0 > 70 or s0_0 < 20)", "s0_0 > 10"
    found = build([Formula(text, size) for text in texts])
    assert found.is_equal(isl.Set(f"[s0_0] -> {{ : {' and '.join(texts)} }}"))
    assert found.n_basic_set() == 2 and not found.is_empty()
    assert build([Formula(text, size) for text in (*texts, "s0_0 mod 4 = 2")]).is_empty()
