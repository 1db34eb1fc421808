"""`while` loops that count: which become `for` loops, and that they do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loopwright.ir.counted_whiles import whiles_that_count
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import While
from loopwright.ir.queries import contains, names_of
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

KERNEL = """
kernel f(p: int64[1] C, o: int64[1] C):
    var s: int64
    var n: int64
    var m: int64
    n = 0
    m = 5
    for i in 0 .. 6:
        o[i] = 0
    for i.1 in 0 .. size(p, 0) - 1:
        n = n + 1
        {lines}
"""


def kernel(lines: str) -> Any:
    return parse_kernel(KERNEL.format(lines="\n".join(_indented(lines)).lstrip()))


def _indented(lines: str) -> list[str]:
    """A line for each part; one that ends in a colon has what follows inside, up to a part that is `end`."""
    depth, made = 8, []
    for part in lines.split("; "):
        if part == "end":
            depth -= 4
            continue
        while ": " in part:
            head, part = part.split(": ", 1)
            made.append(" " * depth + head + ":")
            depth += 4
        made.append(" " * depth + part)
    return made


@pytest.mark.parametrize(
    "lines",
    [
        "s = 0; while s < m named w: o[s] = n; s = s + 1",
        "s = m; while s >= 0 named w: o[s] = n; s = s - 1",
        "s = 0; while s <= 4 named w: o[s] = n; s = s + 2; o[s - 1] = s",  # read behind the step
        "s = 0; while m > s named w: o[s] = n; s = s + 1; end; o[0] = s",  # read behind the loop
        "s = 9; while s < m named w: o[s] = n; s = s + 1; end; o[0] = s",  # of no iterations
        "s = 4; while s > n named w: o[s] = n; s = -1 + s; end; o[0] = s",
        "while m > 1 named w: o[m] = n; m = m - 1",  # from where it was: once
        "s = p[i.1]; while s < p[i.1 + 1] named w: o[s] = o[s] + n; s = s + 1",
        "s = 0; while s < 5 named w: if p[s] > 2: break w; end; o[s] = n; s = s + 1; end; o[0] = s",
        "s = 0; while s < 5 named w: s = s + 1; if p[s - 1] > 2: continue w; end; o[s] = n",
        "s = 0; while s < 3 named w: m = 0; while m < 2 named v: o[s + m] = n; m = m + 1; end; s = s + 1",
        "s = 0; while s < 5 and m >= 2 named w: o[s] = m; s = s + 1; m = m - 1; end; o[7] = s * 10 + m",
        "s = 9; while s < 5 and m >= 2 named w: o[s] = m; s = s + 1; m = m - 1; end; o[7] = s * 10 + m",
        # left past its `else`, where the number is given another value
        "s = 0; block b: while s < 5 named w: s = s + 1; if p[s - 1] > 1: leave b; end; end; s = -5; end; o[0] = s",
        "s = 0; while s < m named w: o[s] = p[s]; o[m] = n; s = s + 1; m = m - 1; end; o[7] = s",  # until they meet
        "s = 0; while m > s and 2 * s <= 5 named w: s = s + 1; o[s] = m; m = m - 2; end; o[7] = s",
        "s = 0; while s < 3 named w: s = s + 1; end; s = 0; while s < 2 named v: o[s] = n; s = s + 1",
    ],
)
def test_which_count(lines: str) -> None:
    before = kernel(lines)
    after = whiles_that_count(before)
    verify(after)
    assert not contains(after.body, While)
    assert print_kernel(parse_kernel(print_kernel(after))) == print_kernel(after)
    found, expected = np.zeros((2, 8), np.int64)
    for one, out in ((after, found), (before, expected)):
        interpret(one, [np.array([0, 2, 1, 3, 5]), out])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "lines",
    [
        "s = 0; while s != m named w: s = s + 1",
        "s = 0; while s < m named w: s = s - 1",
        "s = 0; while s < m named w: s = s + n",  # by what may be negative
        "s = 1; while s < m named w: s = s * 2",
        "s = 0; while s < p[0] named w: p[s] = 0; s = s + 1",
        "s = 0; while s < m named w: if p[s] > 1: s = s + 1",  # not always
        "s = 0; while s < m named w: if p[s] > 1: continue w; end; s = s + 1",
        "s = 0; while s < m named w: s = s + 2; end; o[0] = s",  # no bound tells where it ends
        "s = 0; while s < m or n < 3 named w: s = s + 1; n = n + 1",
        "s = 0; while s < 3 and m > 0 named w: s = s + 1; if p[s] > 1: break w; end; m = m - 1",
        "s = 0; while s < m named w: s = s + 1; m = m + 1",  # as far apart
        "s = 0; while s < m and p[s] > 0 named w: s = s + 1",  # mostly short, and in order
    ],
)
def test_which_stay(lines: str) -> None:
    before = kernel(lines)
    assert whiles_that_count(before) is before


def test_names() -> None:
    """A loop has the name of its number, unless something is left of that."""
    dropped, kept = (
        whiles_that_count(kernel("s = 0; while s < m named w: o[s] = n; s = s + 1" + more))
        for more in ("", "; end; o[0] = s")
    )
    assert "for s in 0 .. m" in print_kernel(dropped) and "for s.1 in 0 .. m" in print_kernel(kept)
    assert "w" not in names_of(dropped)
