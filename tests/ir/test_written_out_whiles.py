"""`while` loops of which it is known how often they run: which are written out, and that they do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import While
from loopwright.ir.queries import contains
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify
from loopwright.ir.written_out_whiles import whiles_written_out

KERNEL = """
kernel f(x: int64[1] C, o: int64[1] C, y: float64[1] C):
    var s: int64
    var n: int64
    var z: float64
    n = 0
    z = 0.0
    for i in 0 .. size(x, 0):
        s = {start}
        {before}
        while {condition} named w:
            {body}
        o[i] = n * 1000 + s
"""
COUNT = "if (x[i] & s) != 0: n = n + s; s = s // 2"


def kernel(start: str, condition: str, body: str, before: str = "n = 0") -> Any:
    lines = body.replace(": ", ":\n                ").replace("; ", "\n            ")
    text = KERNEL.format(start=start, condition=condition, body=lines, before=before)
    return parse_kernel(text)


@pytest.mark.parametrize(
    ("start", "condition", "body"),
    [
        ("32768", "s > 0", COUNT),
        ("1", "s < 1024", "n = n + s * x[i]; s = s * 2"),
        ("1", "s != 16", "s = s << 1; n = n + s"),  # read behind the change
        ("10", "s >= -3", "o[i] = s; n = n + o[i]; s = s - 4"),
        ("5", "s > 9", "n = n + 1; s = s - 1"),  # never
    ],
)
def test_what_is_written_out(start: str, condition: str, body: str) -> None:
    before = kernel(start, condition, body)
    after = whiles_written_out(before)
    verify(after)
    assert not contains(after.body, While)
    x = np.array([0, 1, 5, 1023, -7, 2**40 + 12345])
    found, expected = np.zeros((2, 6), np.int64)
    interpret(after, [x, found, np.zeros(6)])
    interpret(before, [x, expected, np.zeros(6)])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("start", "condition", "body", "before"),
    [
        ("x[i]", "s > 0", COUNT, "n = 0"),
        ("32768", "s > 0", COUNT, "s = s + i"),  # another number by then
        ("32768", "s > 0 and n < 3", COUNT, "n = 0"),
        ("32768", "s > n", COUNT, "n = 0"),
        ("1", "s != 0", "n = n + 1; s = s + 1", "n = 0"),  # too often
        ("1", "s > 0", "n = n + 1; s = s * 2", "n = 0"),  # it wraps
        ("32768", "s > 0", f"{COUNT}; s = s - 1", "n = 0"),
        ("32768", "s > 0", "n = n + 1; if x[i] > n: s = s // 2", "n = 0"),  # not always
        ("32768", "s > 0", "n = n + 1; if x[i] > n: break w; s = s // 2", "n = 0"),
        ("32768", "s > 0", "z = z * y[i]; s = s // 2", "n = 0"),  # floats wait for each other
        ("4096", "s > 0", f"{'n = n + 1; ' * 40}s = s // 2", "n = 0"),  # too long
    ],
)
def test_what_stays(start: str, condition: str, body: str, before: str) -> None:
    made = kernel(start, condition, body, before)
    assert whiles_written_out(made) is made


def test_not_outside_of_loops() -> None:
    made = parse_kernel(
        "kernel f(o: int64[1] C):\n    var s: int64\n    s = 8\n"
        "    while s > 0 named w:\n        o[s] = s\n        s = s - 1\n"
    )
    assert whiles_written_out(made) is made


def along_hilbert(x: Any, y: Any, out: Any) -> None:
    for i in range(len(x)):
        a, b = x[i], y[i]
        d = 0
        s = 1 << 15
        while s > 0:
            right = 1 if a & s else 0
            up = 1 if b & s else 0
            d += s * s * ((3 * right) ^ up)
            if up == 0:
                if right == 1:
                    a, b = s - 1 - a, s - 1 - b
                a, b = b, a
            s //= 2
        out[i] = d


def test_as_in_python() -> None:
    x, y = np.random.default_rng(3).integers(0, 2**16, (2, 100))
    mine, right = np.zeros((2, 100), np.int64)
    lw.kernel(along_hilbert)(x, y, mine)
    along_hilbert(x, y, right)
    np.testing.assert_array_equal(mine, right)
