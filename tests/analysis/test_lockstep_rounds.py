from __future__ import annotations

import pytest

from loopwright.analysis.lockstep_rounds import LockstepRounds, lockstep_rounds
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel

HEAD = """
kernel f(a: float64[1] C, b: int64[1] C, c: int8[1] C, tab: float64[1] C, f: float64):
    var x: float64
    var y: float64
    var t: float64
    var n: int64
    for i in 0 .. size(a, 0):
"""


def parted(*lines: str) -> LockstepRounds | str:
    loop = parse_kernel(HEAD + "\n".join("        " + line for line in lines) + "\n").body[0]
    assert isinstance(loop, For)
    return lockstep_rounds(loop)


def test_who_hands_what_to_whom() -> None:
    found = parted(
        "y = a[i]", "x = 0.0", "while x < f * y named w:", "    t = x + tab[n]", "    x = t * tab[i]",
        "    n = n + i", "a[i] = x",
    )  # fmt: skip
    assert not isinstance(found, str)
    assert (len(found.before), len(found.skipped), len(found.after), found.block) == (2, 0, 1, "")
    assert found.own == {"t", "x", "n"}
    assert found.handed_on == {"x", "n"}  # each round sets t before it reads it
    assert (found.kept, found.lanes) == ({"x"}, {"y", "i"})
    assert [load.array for load in found.loads] == ["tab"]  # not what a round chooses
    assert (found.wide, found.repeatable) == (8, False)


def test_a_block_that_is_left_skips_the_rest_of_it() -> None:
    found = parted(
        "block body:", "    x = a[i]", "    for k in 0 .. 9:", "        if x > 1.0:", "            n = k",
        "            leave body", "        x = x + 1.0", "    n = 9", "b[i] = n",
    )  # fmt: skip
    assert not isinstance(found, str)
    assert (len(found.before), len(found.skipped), len(found.after), found.block) == (1, 1, 1, "body")
    assert found.own == {"x", "n", "k"} and found.handed_on == {"x", "k"} and found.kept == {"n"}
    assert found.repeatable


@pytest.mark.parametrize(
    ("lines", "needed"),
    [
        (["if x > 1.0:", "    y = 2.0", "else:", "    y = 3.0", "x = y"], {"x"}),
        (["if x > 1.0:", "    y = 2.0", "x = y"], {"x", "y"}),
        (["if x > 1.0:", "    break w", "else:", "    y = 3.0", "x = y"], {"x"}),
        (["t = x", "x = t"], {"x"}),
    ],
)
def test_what_a_round_needs(lines: list[str], needed: set[str]) -> None:
    found = parted("x = a[i]", "y = 1.0", "while True named w:", *(f"    {line}" for line in lines), "a[i] = x")
    assert not isinstance(found, str) and found.handed_on == needed


ROUND = ("while x < 1.0 named w:", "    x = x + 1.0")


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (["a[i] = 1.0"], "does not hold one loop"),
        ([*ROUND, *(line.replace("named w", "named v") for line in ROUND)], "does not hold one loop"),
        (["for k in 0 .. 9:", "    x = x + 1.0"], "does not hold one loop"),
        ([*ROUND[:1], "    for k in 0 .. 9:", "        x = x + 1.0"], "holds other loops"),
        (["for k in 0 .. 9 step 2:", "    if x > 1.0:", "        break k"], "other steps than one"),
        (["for k in 0 .. n:", "    n = n - 1", "    if x > 1.0:", "        break k"], "bounds of 'k' change"),
        (["for k in int64(a[0]) .. 9:", "    if x > 1.0:", "        break k"], "data say where 'k' begins"),
        ([*ROUND, "    n = b[b[n]]"], "where to look up"),
        ([*ROUND, "    n = int64(c[n])"], "type int8"),
    ],
)
def test_what_is_refused(lines: list[str], word: str) -> None:
    found = parted("x = a[i]", "n = 3", *lines)
    assert isinstance(found, str) and word in found
