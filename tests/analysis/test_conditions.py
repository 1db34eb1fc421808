"""Sets that are put together from text are those that isl reads."""

from __future__ import annotations

import random

import pytest

from loopwright.analysis import isl
from loopwright.analysis.conditions import comparisons_in, set_of
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


def test_a_name_that_is_no_parameter_is_a_fault() -> None:
    with pytest.raises(isl.Error):
        set_of("(i) < (n)", ("i",))


def test_a_parameter_that_is_named_twice_is_one() -> None:
    assert str(set_of("(i) < (n)", ("i", "n", "i"))) == str(read("(i) < (n)", ("i", "n"), ()))
