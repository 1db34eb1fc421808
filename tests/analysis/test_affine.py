"""Linear forms and the ranges of what they stand for."""

from __future__ import annotations

from math import prod

import numpy as np

from loopwright.analysis.affine import (
    MAX_COEFFICIENT,
    SymbolTable,
    closure,
    combine,
    conjunction,
    constant,
    disjunction,
    of_symbol,
    relate,
    scale,
)
from loopwright.ir.types import INT8, INT32, INT64, UINT8


def test_forms_add_up_and_forget_what_cancels() -> None:
    table = SymbolTable()
    n, m = (of_symbol(table.argument("scalar", k, 0, INT64)) for k in range(2))
    form = combine(scale(n, 2), combine(m, constant(3)), -1)
    assert form.text() == "(2*v0 + -1*v1 + -3)"
    assert combine(form, scale(form, -1)) == constant(0)
    assert combine(form, n, -2).symbols == m.symbols


def test_a_size_may_need_no_limit() -> None:
    table = SymbolTable()
    size = of_symbol(table.argument("size", 0, 0, INT64))
    assert table.fits(combine(size, constant(-1)), INT64.minimum, INT64.maximum)
    assert table.demands == {}
    assert table.fits(combine(size, constant(1)), INT64.minimum, INT64.maximum)
    assert list(table.demands.values()) == [1]


def test_products_demand_smaller_arguments() -> None:
    table = SymbolTable()
    n, m, k = (table.argument("scalar", position, 0, INT64) for position in range(3))
    assert table.fits(of_symbol(table.product((n, m))), INT64.minimum, INT64.maximum)
    assert table.demands == {n: 2, m: 2}
    assert table.fits(of_symbol(table.product((n, m, k))), INT64.minimum, INT64.maximum)
    assert table.demands == {n: 4, m: 4, k: 4}


def test_narrow_arithmetic_does_not_fit() -> None:
    table = SymbolTable()
    small = of_symbol(table.argument("scalar", 0, 0, INT8))
    assert not table.fits(combine(small, constant(1)), INT8.minimum, INT8.maximum)
    assert table.fits(combine(small, constant(1)), INT32.minimum, INT32.maximum)
    assert table.demands == {}


def test_large_coefficients_are_no_forms() -> None:
    table = SymbolTable()
    small = of_symbol(table.argument("scalar", 0, 0, INT8))
    assert table.fits(scale(small, MAX_COEFFICIENT), INT64.minimum, INT64.maximum)
    assert not table.fits(scale(small, MAX_COEFFICIENT + 1), INT64.minimum, INT64.maximum)
    assert not table.fits(constant(2**50), INT64.minimum, INT64.maximum)


def test_a_loop_variable_is_between_its_bounds() -> None:
    table = SymbolTable()
    n = of_symbol(table.argument("scalar", 0, 0, INT8))
    up = table.loop(("i",), constant(2), n, 1)
    down = table.loop(("j",), n, constant(-1), -1)
    either = table.loop(("k",), constant(0), n, 0)
    assert (up.intervals[0], down.intervals[0], either.intervals[0]) == ((2, 126), (0, 127), (-128, 127))
    assert up.roots == frozenset(n.symbols)


def test_one_key_is_one_symbol() -> None:
    table = SymbolTable()
    n = of_symbol(table.argument("scalar", 0, 0, INT64))
    first = table.opaque(("load", n), [n], (0, 255), ("i",), True)
    assert table.opaque(("load", n), [n], (0, 255), ("i",), True) is first
    assert table.opaque(("load", constant(1)), [], (0, 255), ("i",), True) is not first
    assert first.birth == ("i",)
    assert first.rule == f"{first.name} >= 0 and {first.name} <= 255"
    assert first.data and first.loads and first.loose


def test_the_closure_holds_what_rules_use() -> None:
    table = SymbolTable()
    n = table.argument("scalar", 0, 0, INT64)
    half = table.defined("half", (n,), "2*@ <= v0 and v0 <= 2*@ + 1", [(0, 9)] * 4)
    assert closure([half]) == (n, half)
    assert not half.loose


def test_formulas_join() -> None:
    n = of_symbol(SymbolTable().argument("scalar", 0, 0, INT64))
    a, b = relate(n, ">", constant(1)), relate(n, "<", constant(9))
    assert conjunction((a, b)).text == "((v0) > (1) and (v0) < (9))"
    assert disjunction((a, b)).symbols == n.symbols
    assert (conjunction(()).text, disjunction(()).text) == ("true", "false")


def test_names_say_only_where_a_symbol_is_born() -> None:
    first, second = SymbolTable(), SymbolTable()
    before = second.loop(("k",), constant(0), constant(9), 1)  # what a nest before it needs changes nothing
    names = [
        [
            table.loop(("i",), constant(0), constant(9), 1).name,
            table.fresh(INT64, ("i",)).name,
            table.fresh(INT64, ("i",)).name,
            table.fresh(INT64, ("i", "i.o")).name,
            table.loop(("i", "i_o"), constant(0), constant(9), 1).name,  # for isl `i.o` and `i_o` are one word
            table.fresh(INT64, ("i", "i_o")).name,
            table.fresh(INT64, ()).name,
        ]
        for table in (first, second)
    ]
    assert names[0] == names[1]
    assert len({before.name, *names[0]}) == 8


def test_products_that_share_a_factor_reach_less_than_apart() -> None:
    table = SymbolTable()
    a, x, y = (table.argument("scalar", position, 0, UINT8) for position in range(3))
    ax, ay, aa = (of_symbol(table.product(factors)) for factors in ((a, x), (a, y), (a, a)))
    blend = combine(combine(scale(of_symbol(y), 255), ay, -1), ax)  # a*x + (255 - a)*y
    assert blend.interval(0) == (0, 255 * 255)
    more = combine(combine(scale(of_symbol(y), 256), ay, -1), ax)
    assert more.interval(0) == (0, 256 * 255)
    less = combine(combine(scale(of_symbol(y), 254), ay, -1), ax)
    assert less.interval(0) == (-255, 255 * 255)
    assert combine(ax, of_symbol(a), -1).interval(0) == (-255, 254 * 255)
    assert combine(aa, of_symbol(a), -1).interval(0) == (-255, 255 * 255)  # no corner says where a square is least


def test_ranges_of_products_hold_every_value() -> None:
    random = np.random.default_rng(2)
    table = SymbolTable()
    symbols = [table.argument("scalar", position, 0, (INT8, UINT8)[position % 2]) for position in range(4)]
    ends = [symbol.intervals[0] for symbol in symbols]
    for _ in range(60):
        form, parts = constant(int(random.integers(-99, 99))), []
        for _ in range(int(random.integers(1, 5))):
            chosen = sorted(random.choice(4, int(random.integers(1, 4)), replace=False).tolist())
            factor = int(random.integers(-9, 10))
            one = [symbols[place] for place in chosen]
            form = combine(form, of_symbol(table.product(tuple(one)) if len(one) > 1 else one[0]), factor)
            parts.append((chosen, factor))
        low, high = form.interval(0)
        for _ in range(40):
            values = [int(random.choice([*end, random.integers(end[0], end[1] + 1)])) for end in ends]
            value = form.constant + sum(c * prod(values[place] for place in chosen) for chosen, c in parts)
            assert low <= value <= high
