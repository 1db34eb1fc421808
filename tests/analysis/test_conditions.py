"""Sets that are put together from text are those that isl reads."""

from __future__ import annotations

import random

import pytest

from loopwright.analysis import isl
from loopwright.analysis.conditions import Comparison, comparisons_in, points_of, set_of
from loopwright.ir.types import INT64

PLAIN = [
    ("true", ("n", "m"), ()),
    ("(i) < (n)", ("i", "n"), ()),
    ("(2*i + -1*n + 3) <= (m)", ("i", "n", "m"), ()),
    ("(i + -1) > (0)", ("n", "i"), ()),
    ("(i) = (3*n + 1)", ("i", "n"), ()),
    ("q >= 0 and q <= 15", ("q",), ()),
    ("16*q <= (n + 4*i) and (n + 4*i) <= 16*q + 15", ("q", "n", "i"), ()),
    ("((i) >= (0) and (i) < (n))", ("i", "n"), ()),
    ("e0 = (i + -1) and e1 = (n)", ("i", "n"), ("e0", "e1")),
    ("-t0 = (i)", ("i",), ("t0",)),
    ("e0 <= (i)", ("i",), ("e0",)),
    ("(i + i) > (i + n + n + n)", ("i", "n"), ()),
    ("(n) >= (i) and (n) >= (i) and (i) >= (n)", ("i", "n"), ()),
    ("(i) < (2147483647)", ("i",), ()),
]
LEFT_TO_ISL = [
    ("(0) < (0)", ("n",), ()),
    ("(1) > (0)", ("n",), ()),
    ("(i) < (i)", ("i",), ()),
    ("(2*i) <= (4*n + 3)", ("i", "n"), ()),
    ("(2*i) = (4*n + 3)", ("i", "n"), ()),
    ("(i) != (n)", ("i", "n"), ()),
    ("(i) mod 4 = 0", ("i",), ()),
    ("((i) < (n) or (i) > (m))", ("i", "n", "m"), ()),
    ("((i) < (n) and (i) > (m)) or (i) = (3)", ("i", "n", "m"), ()),
    ("d = 1*(other - i)", ("other", "i"), ("d",)),
    ("0 <= i and i < n and ((i) < (m) and ((n) > (3)))", ("i", "n", "m"), ()),
    (f"(i) <= ({INT64.maximum})", ("i",), ()),
    ("(4294967296*i + n) >= (0)", ("i", "n"), ()),
    ("0 <= i <= n", ("i", "n"), ()),
    ("(i) < (n) and false", ("i", "n"), ()),
]


def read(text: str, names: tuple[str, ...], dims: tuple[str, ...]) -> isl.Set:
    return isl.Set(f"[{', '.join(names)}] -> {{ {'[' + ', '.join(dims) + ']' if dims else ''} : {text} }}")


@pytest.mark.parametrize(("text", "names", "dims"), PLAIN)
def test_plain_comparisons_need_no_parser(text: str, names: tuple[str, ...], dims: tuple[str, ...]) -> None:
    assert comparisons_in(text) is not None
    is_same(text, names, dims)


@pytest.mark.parametrize(("text", "names", "dims"), LEFT_TO_ISL)
def test_everything_else_is_left_to_isl(text: str, names: tuple[str, ...], dims: tuple[str, ...]) -> None:
    assert comparisons_in(text) is None
    is_same(text, names, dims)


def is_same(text: str, names: tuple[str, ...], dims: tuple[str, ...]) -> None:
    found, expected = set_of(text, names, dims), read(text, names, dims)
    assert found.plain_is_equal(expected) and str(found) == str(expected)
    assert found.get_var_names(isl.dim_type.param) == list(names)


def test_sums_of_any_kind_are_the_same() -> None:
    chance = random.Random(5)
    names = ("n", "i_1", "q2", "s0_0")
    for _ in range(300):
        sides = [
            [f"{chance.choice(('', '-', '2*', '-3*', '7*'))}{chance.choice(names)}" for _ in range(3)] for _ in "ab"
        ]
        left, right = (" + ".join([*side, str(chance.randint(-9, 9))][chance.randint(0, 3) :]) for side in sides)
        is_same(f"({left}) {chance.choice(('<', '<=', '=', '>=', '>'))} ({right})", names, ())


def test_any_comparisons_at_once_are_the_text_with_all_of_them() -> None:
    chance = random.Random(6)
    names, dims = ("n", "i_1", "q2", "s0_0"), ("e0", "e1")
    for count in range(200):
        some = [random_comparison(chance, (*names, *dims)) for _ in range(count % 12)]
        text = " and ".join(map(as_text, some)) or "true"
        found, expected = points_of(some, names, dims), read(text, names, dims)
        assert found.is_equal(expected) and found.get_var_names(isl.dim_type.param) == list(names)
        assert found.n_basic_set() == expected.n_basic_set()


def random_comparison(chance: random.Random, names: tuple[str, ...]) -> Comparison:
    """Of numbers that are small, so that few leave nothing."""
    terms = tuple((name, chance.choice((-2, -1, 1, 1, 3))) for name in chance.sample(names, chance.randint(1, 3)))
    return Comparison(terms, chance.randint(-4, 9), chance.random() < 0.15)


def as_text(one: Comparison) -> str:
    total = " + ".join(f"{factor}*{name}" for name, factor in one.terms)
    return f"{total} + {one.constant} {'=' if one.is_equation else '>='} 0"


def test_a_name_that_is_no_parameter_is_a_fault() -> None:
    with pytest.raises(isl.Error):
        set_of("(i) < (n)", ("i",))


def test_a_parameter_that_is_named_twice_is_one() -> None:
    assert str(set_of("(i) < (n)", ("i", "n", "i"))) == str(read("(i) < (n)", ("i", "n"), ()))
