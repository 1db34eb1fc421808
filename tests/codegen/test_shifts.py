"""Shifts by amounts that stay inside are plain ones; all others are Python's, and both give the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import after, host_text
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel

HEAD = """
kernel f(a: {kind}[1] C, out: {kind}[2] C, n: int64):
    for i in 0 .. size(a, 0):
        for k in {bounds}:
            out[i, k & 127] = {value}
"""


@pytest.mark.parametrize(
    ("bounds", "value", "is_plain"),
    [
        ("0 .. 64", "a[i] >> k", True),
        ("0 .. 64", "a[i] << k", True),
        ("0 .. 65", "a[i] >> k", False),
        ("0 .. 8", "(a[i] >> (7 - k)) & 1", True),
        ("0 .. 9", "(a[i] >> (7 - k)) & 3", False),
        ("63 .. -1 step -1", "a[i] << k", True),
        ("63 .. -2 step -1", "a[i] << k", False),
        ("0 .. 16", "a[i] << (4 * k)", True),
        ("0 .. 17", "a[i] << (4 * k)", False),
        ("0 .. n", "a[i] << k", False),
        ("0 .. n", "a[i] >> (k % 64)", True),
        ("0 .. n", "a[i] >> (k & 63)", True),
        ("0 .. n", "a[i] >> (k & 64)", False),
        ("0 .. 64", "a[i] >> (k // 2 + 32)", True),
        ("0 .. 64", "a[i] >> a[i]", False),
    ],
)
def test_which_are_plain(bounds: str, value: str, is_plain: bool, tmp_path: Path) -> None:
    text = HEAD.format(kind="int64", bounds=bounds, value=value)
    assert ("lw_sh" not in host_text(text, "").split(" lw_kernel(", 1)[1]) == is_plain
    a = np.array([0, 1, -1, 5, -77, 2**40, -(2**40), 2**63 - 1, -(2**63), 63, 64, 65])
    mine, expected = np.zeros((2, len(a), 128), "int64")
    interpret(parse_kernel(text), [a.copy(), expected, 100])
    kernel, facts = after(text, "", strict=False)
    compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=1).run((a.copy(), mine, 100))
    np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize(
    ("bounds", "value", "is_unsigned"),
    [
        ("0 .. 64", "(a[i] >> k) & 1", True),
        ("0 .. 62", "7 & (a[i] >> k)", True),
        ("0 .. 63", "(a[i] >> k) & 7", False),
        ("0 .. 64", "(a[i] >> k) & -2", False),
        ("0 .. 64", "(a[i] >> k) & 0", False),
        ("-3 .. 70", "(a[i] >> k) & 1", True),
        ("-3 .. 70", "(a[i] >> k) & 3", False),
        ("-3 .. 70", "a[i] >> k", False),
        ("0 .. n", "1 & (a[i] >> a[i])", True),
    ],
)
def test_few_bits_need_no_sign(bounds: str, value: str, is_unsigned: bool, tmp_path: Path) -> None:
    text = HEAD.format(kind="int64", bounds=bounds, value=value)
    written = host_text(text, "").split(" lw_kernel(", 1)[1]
    assert ("(uint64_t)a_" in written or "lw_bit_" in written) == is_unsigned
    a = np.array([0, 1, -1, 5, -77, 2**40, -(2**40), 2**63 - 1, -(2**63), 63, 64, 65])
    mine, expected = np.zeros((2, len(a), 128), "int64")
    interpret(parse_kernel(text), [a.copy(), expected, 100])
    kernel, facts = after(text, "", strict=False)
    compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=1).run((a.copy(), mine, 100))
    np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_other_widths(kind: str, op: str, tmp_path: Path) -> None:
    bits = np.iinfo(kind).bits
    text = HEAD.format(kind=kind, bounds=f"0 .. {bits}", value=f"a[i] {op} {kind}(k)")
    assert ("lw_sh" not in host_text(text, "").split(" lw_kernel(", 1)[1]) == (bits >= 32)
    ends = np.iinfo(kind)
    a = np.array([ends.min, ends.max, 0, 1, 77, ends.max // 3], kind)
    mine, expected = np.zeros((2, len(a), 128), kind)
    interpret(parse_kernel(text), [a.copy(), expected, 100])
    kernel, facts = after(text, "", strict=False)
    compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=1).run((a.copy(), mine, 100))
    np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("((a[i] >> 5) & 3) << 9", "<< 4) & 1536L)"),
        ("((a[i] >> 9) & 3) << (1 + 2 * 2)", ">> 4) & 96L)"),
        ("((a[i] >> 5) & 3) << 5", ">> 0) & 96L)"),
        ("((a[i] >> 61) & 3) << 2", ">> 59) & 12L)"),
        ("((a[i] >> 62) & 3) << 2", None),  # of the sign there would be copies
        ("((a[i] >> 5) & 3) << 62", None),
        ("((a[i] >> 5) & -3) << 9", None),
        ("((a[i] >> 70) & 3) << 9", None),
        ("((a[i] >> 5) & 3) << k", None),
    ],
)
def test_bits_that_are_moved_are_shifted_once(value: str, written: str | None, tmp_path: Path) -> None:
    text = HEAD.format(kind="int64", bounds="0 .. 2", value=value)
    found = host_text(text, "").split(" lw_kernel(", 1)[1]
    assert written in found if written is not None else "& 3L)" in found or "& (-3L))" in found
    a = np.array([0, 1, -1, 5, -77, 2**40, -(2**40), 2**63 - 1, -(2**63), 63, 64, 65])
    mine, expected = np.zeros((2, len(a), 128), "int64")
    interpret(parse_kernel(text), [a.copy(), expected, 100])
    kernel, facts = after(text, "", strict=False)
    compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=1).run((a.copy(), mine, 100))
    np.testing.assert_array_equal(mine, expected)
