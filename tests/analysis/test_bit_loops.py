"""`while` loops that end with the bits of a number: which ones, and that they do what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from codegen.on_gpu import agree
from codegen.scheduled import after, host_text
from loopwright.analysis.analyse import analyse
from loopwright.analysis.bit_loops import counted_bits, most_iterations
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
    inside = host_text(text, "").split("lw_kernel(", 1)[1].split("x_ = a_[", 1)[1].split("out_[", 1)[0]
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


@pytest.mark.parametrize(
    ("condition", "step", "is_counted"),
    [
        ("x != 0", "x = x & (x - 1)", True),
        ("x != 0", "x = (x - 1) & x", True),
        ("x > 0", "x = x & (x - 1)", False),  # no bit of a negative number
        ("x != 0 and t < 3", "x = x & (x - 1)", False),
        ("x != 0", "x = x & (x - 1)\n            t = t + 1", False),
        ("x > 0", "x = x >> 1", False),
    ],
)
@pytest.mark.parametrize("kind", ["int64", "int32", "int8", "uint16", "uint64"])
def test_which_only_count(condition: str, step: str, is_counted: bool, kind: str, tmp_path: Path) -> None:
    if kind != "int64":
        step = step.replace("- 1", f"- {kind}(1)").replace(">> 1", f">> {kind}(1)")
        condition = condition.replace("0", f"{kind}(0)", 1)
    found = simplify(parse_kernel(kernel(condition, step, kind)))
    [loop] = statements(found.body, While)
    assert (counted_bits(loop) is not None) == is_counted
    ends = np.iinfo(kind)
    a = np.array([0, 1, 2, 3, 7, 99, 127, ends.max, ends.max - 1, ends.min, ends.min // 2, ends.max // 3], kind)
    mine, expected = np.zeros((2, len(a)), "int64")
    interpret(found, [a.copy(), expected])
    compiled(found, tmp_path, analyse(found), check_all=False, strict=False, threads=1).run((a.copy(), mine))
    np.testing.assert_array_equal(mine, expected)


HALVED = {
    ("x > 0", "t = t + (x & 1)", "x = x >> 1"): True,
    ("x > 0", "t = t + x % 2", "x = x // 2"): True,
    ("x > 0", "if (x & 1) != 0:\n                t = t + 1", "x = x >> 1"): True,
    ("x > 0", "if (x & 1) == 1:\n                t = t + 1", "x = x >> 1"): True,
    ("x > 0", "x = x >> 1", "t = t + (x & 1)"): False,  # not the lowest one
    ("x > 0", "t = t + (x & 1)", "x = x >> 2"): False,
    ("x > 0", "t = t + (x & 3)", "x = x >> 1"): False,
    ("x > 1", "t = t + (x & 1)", "x = x >> 1"): False,
    ("x > 0", "if (x & 1) == 0:\n                t = t + 1", "x = x >> 1"): False,
    ("x > 0", "if (x & 1) != 0:\n                t = t + 2", "x = x >> 1"): False,
    ("x > 0 and t < 3", "t = t + (x & 1)", "x = x >> 1"): False,
}


@pytest.mark.parametrize(("condition", "first", "second"), HALVED)
def test_which_halve_and_only_count(condition: str, first: str, second: str, tmp_path: Path) -> None:
    text = (
        kernel(condition, first)
        .replace("            t = t + 1\n", "", 1)
        .replace("        out", f"            {second}\n        out")
    )
    text = text.replace("        out[i] = t", "        out[i] = t + x * 1000")
    found = simplify(parse_kernel(text))
    [loop] = statements(found.body, While)
    assert (counted_bits(loop) is not None) == HALVED[condition, first, second]
    a = np.array([0, 1, 2, 3, 7, 99, 2**62, 2**63 - 1, -1, -2, -(2**63)])
    mine, expected = np.zeros((2, len(a)), "int64")
    interpret(found, [a.copy(), expected])
    compiled(found, tmp_path, analyse(found), check_all=False, strict=False, threads=1).run((a.copy(), mine))
    np.testing.assert_array_equal(mine, expected)


def halved_bits(a: Any, out: Any) -> None:
    for i in range(len(a)):
        x = a[i]
        n = 0
        while x > 0:
            n += x & 1
            x >>= 1
        out[i] = n


def test_bits_that_an_instruction_counts_are_counted_one_iteration_at_a_time() -> None:
    a = np.random.default_rng(4).integers(-(2**63), 2**63 - 1, 3000)
    mine, expected = np.zeros_like(a), np.zeros_like(a)
    found = lw.kernel(halved_bits)
    found(a, mine)
    halved_bits(a, expected)
    np.testing.assert_array_equal(mine, expected)
    assert "lockstep" not in str(found.explain(a, mine).schedule)


def bits_that_differ(a: Any, b: Any, out: Any) -> None:
    for i in range(len(a)):
        x = a[i] ^ b[i]
        while x != 0:
            x &= x - 1
            out[i, 0] += 1
        n = 0
        y = a[i]
        while y > 0:
            n += y & 1
            y >>= 1
        out[i, 1] = n
        x = a[i] ^ b[i]
        n = 0
        while x:
            x &= x - 1
            n += 1
        out[i, 2] = n


def test_an_instruction_of_a_gpu_counts_bits_too() -> None:
    a, b = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, (2, 70))
    a[:5], b[:3] = [0, -1, 1, -(2**63), 2**63 - 1], 0
    found = agree(bits_that_differ, a, b, np.zeros((70, 3), np.int64))
    assert found.ready.program.device.text.count("LW_ONES_64(") == 2


def set_bits(a: Any) -> int:
    total = 0
    for i in range(len(a)):
        x = a[i]
        while x:
            x &= x - 1
            total += 1
    return total


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_of_bits(threads: int) -> None:
    a = np.random.default_rng(3).integers(-(2**63), 2**63 - 1, 3000)
    with lw.options(threads=threads):
        assert lw.kernel(set_bits)(a) == sum(int(x).bit_count() for x in a.view(np.uint64))
