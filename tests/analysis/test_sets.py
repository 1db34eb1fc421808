"""isl sets from formulas."""

from __future__ import annotations

import random

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


WAYS = (
    "(n0) >= (2)", "(n0) < (n1 + 3)", "(n1) = (n2)", "(n2 + -1*n0) > (-5)", "2*n1 >= n0 + 1", "(n0) != (n2)",
    "(n1) mod 4 = 1", "(n0 > 70 or n2 < 20)", "4*n2 <= (n0) and (n0) <= 4*n2 + 3", "(n1) <= (90)", "(n0) >= (2 + n1)",
)  # fmt: skip
POINTS = ("e0 = (n0 + -2)", "e1 = (n2 + n1)", "((e0 = n0 and n0 >= 0) or (e0 = n0 + n1 and n0 < 0))")


def test_random_sets_are_those_of_the_texts() -> None:
    chance = random.Random(3)
    table = SymbolTable()
    names = [table.argument("scalar", number, 0, INT64) for number in range(3)]
    known = {symbol.name: f"n{number}" for number, symbol in enumerate(names)}

    def formula(text: str) -> Formula:
        for name, short in known.items():
            text = text.replace(short, name)
        return Formula(text, tuple(symbol for symbol in names if symbol.name in text))

    for _ in range(150):
        where = [formula(text) for text in chance.sample(WAYS, chance.randint(0, 6))]
        points = [formula(text) for text in chance.sample(POINTS, chance.randint(0, 2))]
        dims = ("e0", "e1") if points else ()
        found = build(where, dims, points)
        used = ordered(symbol for one in (*where, *points) for symbol in one.symbols)
        words = [*(one.text for one in (*where, *points)), *(symbol.rule for symbol in used if symbol.rule)]
        head = f"[{', '.join(symbol.name for symbol in used)}] -> {{ {'[e0, e1]' if dims else ''} : "
        assert found.is_equal(isl.Set(f"{head}{' and '.join(words) or 'true'} }}"))


def test_a_set_has_its_parameters_in_order_of_birth() -> None:
    table = SymbolTable()
    n = table.argument("size", 0, 0, INT64)
    i = table.loop(("i",), of_symbol(n), of_symbol(n), 1)
    found = build([relate(of_symbol(i), "<", of_symbol(n)), relate(of_symbol(i), ">=", of_symbol(n))])
    assert parameters(found) == [n.name, i.name]


def test_quotients_and_choices_come_last() -> None:
    """A set is the same in whatever order its conditions are met."""
    size = of_symbol(SymbolTable().argument("size", 0, 0, INT64)).symbols
    texts = "s0_0 mod 4 = 1", "s0_0 < 90", "(s0_0 > 70 or s0_0 < 20)", "s0_0 > 10"
    found = build([Formula(text, size) for text in texts])
    assert found.is_equal(isl.Set(f"[s0_0] -> {{ : {' and '.join(texts)} }}"))
    assert found.n_basic_set() == 2 and not found.is_empty()
    assert build([Formula(text, size) for text in (*texts, "s0_0 mod 4 = 2")]).is_empty()
