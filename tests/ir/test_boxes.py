"""Boxes of indices: their ends are read as Python would read them, and nothing else is."""

from __future__ import annotations

import pytest

from loopwright.ir.boxes import Box, Reach, value_of

VALUES = {"s0_0": 7, "s0_1": 0, "v2": -3, "v10": 5}
TEXTS = (
    "0", "-1", "s0_0 - 1", "-v2 + 3", "-(v2 - 1)", "2 * s0_0 - 5 * v2", "s0_0 - (v10 - 1)", "v2 // 2", "(v2 + 1) % 4",
    "min(s0_0, v10 + 1)", "max(min(v2, s0_1), -2)", "s0_0 > 0 and s0_1 > 0", "s0_0 == 7 or s0_1 > 0 and v2 >= 0",
    "(s0_0 > 0 or v2 > 0) and v10 <= 5", "(s0_0 if v2 < 0 else v10)", "(1 if s0_1 >= 1 else (2 if v2 == -3 else 3))",
    "v2 > 0 and s0_0 > 0 and v10 > 0",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_an_end_is_what_python_says(text: str) -> None:
    assert value_of(text)(VALUES) == eval(text, {}, VALUES)


@pytest.mark.parametrize(
    "text", ["open('x')", "s0_0.real", "1 < v2 < 3", "v2 ** 2", "min(1, 2, 3)", "v2 / 2", "[1]", "0.5"]
)
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(ValueError, match="no end of a box"):
        value_of(text)


def test_a_box_in_an_array() -> None:
    box = Box("s0_0 > 2", (("1", "s0_0 - 2"), ("v2", "v10 + 9")))
    assert box.at(VALUES, (7, 12)) == (range(1, 6), range(12))
    assert box.at(VALUES, (7, 0)) is None
    assert box.at({**VALUES, "s0_0": 2}, (2, 12)) is None


def test_a_box_without_conditions_or_axes() -> None:
    assert Box("", (("0", "v2"),)).at(VALUES, (4,)) is None
    assert Box("", ()).at(VALUES, ()) == ()


def test_the_names_that_decide_about_a_box() -> None:
    box = Box("v3 < s0_1", [("0", "s0_0 - 1"), ("max(v1, 0)", "v12 + 1")])
    assert box.names == {"v3", "s0_1", "s0_0", "v1", "v12"}
    assert Reach(box, None, Box("", [("0", "v4")])).names == {*box.names, "v4"}
    assert Reach(None, None, None).names == frozenset()
