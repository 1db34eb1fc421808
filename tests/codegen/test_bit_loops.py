"""`while` loops that end with the bits of a number: which ones, and that they do what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import after, host_text
from loopwright.codegen.bit_loops import most_iterations
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import While
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements


def kernel(condition: str, step: str, kind: str = "int64") -> str:
    return f"""
kernel bits(a: {kind}[1] C, out: int64[1] C):
    var x: {kind}
    var t: int64
    for i in 0 .. size(a, 0):
        x = a[i]
        t = 0
        while {condition} named w:
            t = t + 1
            {step}
        out[i] = t
"""


ENDS = {
    ("x != 0", "x = x & (x - 1)"): 64,
    ("x > 0", "x = (x - 1) & x"): 64,
    ("x > 0", "x = x >> 1"): 64,
    ("x > 0 and t < 20", "x = x // 2"): 64,
    ("x > 0", "x = x // 10"): 64,
}
OTHERS = [
    ("x != 0 and t < 99", "x = x >> 1"),  # -1 >> 1 is -1: without the second test it would not end
    ("x >= 0 and t < 99", "x = x // 2"),
    ("x > 0", "x = x - 1"),
    ("x > 0 and t < 99", "x = x // 1"),
    ("x != 0 and t < 99", "x = x & (x - 2)"),
    ("x > 0", "x = x >> 1\n            if t == 3:\n                x = x + 3"),
    ("x > 0 and t < 99", "if t > 5:\n                x = x >> 1"),
    ("t < 9", "x = x >> 1"),
]


@pytest.mark.parametrize(("condition", "step"), [*ENDS, *OTHERS])
def test_which_are_short(condition: str, step: str, tmp_path: Path) -> None:
    text = kernel(condition, step)
    [loop] = statements(parse_kernel(text).body, While)
    assert most_iterations(loop) == ENDS.get((condition, step))
    inside = host_text(text, "").split("lw_kernel(", 1)[1].split("while (", 1)[1].split("out_[", 1)[0]
    assert ("LW_SPEND" in inside) == ((condition, step) not in ENDS)
    a = np.array([0, 1, 2, 3, 7, 8, 1023, 99, 100, 12345])
    if "- 1" not in step or "&" in step:
        a = np.concatenate([a, [2**62, 2**63 - 1]])
    if "!=" in condition:
        a = np.concatenate([a, [-1, -8, -(2**63)]])
    mine, expected = np.zeros((2, len(a)), "int64")
    interpret(parse_kernel(text), [a.copy(), expected])
    made, facts = after(text, "", strict=False)
    compiled(made, tmp_path, facts, check_all=False, strict=False, threads=1).run((a.copy(), mine))
    np.testing.assert_array_equal(mine, expected)


def test_numbers_without_a_sign_end_at_zero() -> None:
    found = simplify(parse_kernel(kernel("x != uint16(0)", "x = x >> uint16(1)", "uint16")))
    [loop] = statements(found.body, While)
    assert most_iterations(loop) == 16
