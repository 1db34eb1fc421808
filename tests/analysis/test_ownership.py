"""Which thread owns an element: parts in one piece, parts that come again, and what several threads touch."""

from __future__ import annotations

import pytest

from loopwright.analysis.ownership import OwnedRange, shares
from loopwright.ir.text import parse_kernel

FRAME = """
kernel some(a: float64[2] C):
    for q in 0 .. size(a, 0) block.x:
        allocate s: float64[32]
"""


def found(*lines: str) -> tuple[OwnedRange | None, ...] | None:
    return shares(parse_kernel(FRAME + "".join(f"        {line}\n" for line in lines)), "s")


def test_one_piece_each() -> None:
    written = "for t in 0 .. 32 step 4 thread.x:", "    for i in t .. t + 4:", "        s[i] = a[q, i]"
    assert found(*written) == (OwnedRange("thread.x", 4),)


SPREAD = "for t in 0 .. 16 step 4 thread.x:", "    for g in 0 .. 32 step 16:", "        for i in t + g .. t + g + 4:"


def test_pieces_that_come_again() -> None:
    assert found(*SPREAD, "            s[i] = a[q, i]") == (OwnedRange("thread.x", 4, 16),)


@pytest.mark.parametrize("index", ["i - 1", "31 - i", "i // 2"])
def test_elements_of_other_threads(index: str) -> None:
    assert found(*SPREAD, f"            s[{index}] = 1.0") is None


@pytest.mark.parametrize("index", ["i + 1", "i - 1", "2 * i - t"])
def test_a_piece_and_one_element_more(index: str) -> None:
    lines = "for t in 0 .. 28 step 4 thread.x:", "    for i in t .. t + 4:", f"        s[{index}] = 1.0"
    assert found(*lines) is None


def test_where_pieces_come_again_the_loop_that_shares_them_decides() -> None:
    """After 8 threads of 16 the first one has the next piece, too: elements 0, 8, 16 and 24 are its own."""
    lines = "for t in 0 .. 8 thread.x:", "    for g in 0 .. 32 step 8:", "        s[t + g] = a[q, t]"
    assert found(*lines) == (OwnedRange("thread.x", 1, 8),)
    assert (
        found(*lines, "for u in 0 .. 16 thread.x:", "    for h in 0 .. 32 step 16:", "        s[u + h] = 0.0") is None
    )
