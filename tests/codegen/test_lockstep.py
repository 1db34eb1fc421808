"""Loops in lockstep as C: that lanes compute what the interpreter does, to the last bit, whatever rounds consist of."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import execution
from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.codegen.openmp import generate
from loopwright.errors import BoundsError
from loopwright.ir.interp import interpret
from loopwright.ir.program import Program
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify

TARGETS = ("-march=x86-64-v3", "-march=x86-64")
HEAD = """
kernel f(a: float64[1] C, c: int64[1] C, g: float32[1] C, tab: float64[1] C, out: float64[2] C, k: int64[2] C):
    var x: float64
    var y: float64
    var t: float64
    var n: int64
    var m: int64
    var s: uint64
    var d: int32
    var q: float32
    var b: bool
    var r: float64
"""
FLOATS = ("x", "y", "t")
NESTS = 3  # of each kernel: to compile many at once is cheaper


class Rounds:
    """The text of a random nest: its rounds, and what stands around them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *some: str) -> str:
        return self.random.choice(some)

    def number(self, depth: int = 2) -> str:
        """Of type float64."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick(*FLOATS, "a[I]", "0.5", "-2.0", "0.0", "tab[m & 7]", "tab[I & 7]")
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"({one} / {other})", f"(-{one})",
            f"abs({one})", f"min({one}, {other})", f"max({one}, {other})", f"sqrt({one})", f"floor({one})",
            f"maximum({one}, {other})", f"fmin({one}, {other})", f"({one} if {self.truth(0)} else {other})",
            "float64(n)", "float64(q)", "float64(s)", f"({one} * {one} - {other})", "(0.0 - x)",
        )  # fmt: skip

    def whole(self, depth: int = 2) -> str:
        """Of type int64."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick("n", "m", "c[I]", "I", "3", "-7")
        one, other = self.whole(depth - 1), self.whole(depth - 1)
        return self.pick(
            f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"({one} // 4)", f"({one} % 8)",
            f"({one} // {other})", f"({one} % {other})", f"({one} >> 3)", f"({one} << 2)", f"({one} ^ {other})",
            f"abs({one})", f"min({one}, {other})", f"({one} if {self.truth(0)} else {other})", f"(-{one})",
            "int64(d)", "int64(b)", f"({one} & {other})", f"int64({self.number(0)})",
        )  # fmt: skip

    def truth(self, depth: int = 1) -> str:
        """A condition."""
        if depth == 0 or self.random.random() < 0.3:
            return self.pick("x < y", "n > m", "t != t", "not b", "s > 77u64", "d == 3i32", "q <= 1.5f32", "b")
        return self.pick(
            f"{self.number(1)} < {self.number(1)}", f"{self.whole(1)} != {self.whole(1)}", f"isnan({self.number(1)})",
            f"({self.truth(0)}) and ({self.truth(0)})", f"({self.truth(0)}) or tab[n & 7] > x",
        )  # fmt: skip

    def statement(self) -> str:
        return self.pick(
            f"x = {self.number()}", f"y = {self.number()}", f"t = {self.number()}", f"n = {self.whole()}",
            "s = s ^ s << 13u64", "s = (s >> 7u64) * 5u64", "d = d * 3i32 + 1i32", "q = q * 0.75f32 + float32(x)",
            f"b = {self.truth()}", f"out[I, m & 3] = {self.number(1)}", f"k[I, n & 3] = {self.whole(1)}",
        )  # fmt: skip

    def body(self, leave: list[str], depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            lines.append(f"{indent}{self.statement()}")
            if depth and self.random.random() < 0.6:
                lines.append(f"{indent}if {self.truth()}:")
                lines += self.body(leave, depth - 1, indent + "    ")
                if self.random.random() < 0.5:
                    lines.append(f"{indent}    {self.random.choice(leave)}")
                if self.random.random() < 0.4:
                    lines += [f"{indent}else:", *self.body(leave, depth - 1, indent + "    ")]
        return lines

    def nest(self, number: int) -> str:
        """A loop over `i<number>`, in lockstep."""
        i, w, block = f"i{number}", f"w{number}", f"block{number}"
        counted, helper = self.random.random() < 0.5, self.random.random() < 0.5
        head = (
            f"for {w} in {self.pick('0', 'I - 2')} .. 12:"
            if counted
            else f"while m < 12 and ({self.truth()}) named {w}:"
        )
        leave = [f"break {w}", f"leave {block}" if helper else f"break {w}", *([f"continue {w}"] if counted else [])]
        indent = "            " if helper else "        "
        rounds = [f"{indent}{head}", f"{indent}    m = m + 1", *self.body(leave, 2, indent + "    ")]
        if counted:
            rounds += [f"{indent}    n = n + {w}", f"{indent}    if m > 9:", f"{indent}        {leave[1]}"]
        if helper:
            rounds = [f"        block {block}:", *rounds, f"{indent}r = 5.0", f"{indent}t = t + 1.0"]
        before = ["x = a[I]", "y = 1.5", "t = -0.0", "n = c[I]", "m = 0", "s = uint64(c[I])", "d = int32(I)",
                  "q = g[I]", "b = x > 0.0", "r = 2.0"]  # fmt: skip
        after = ["out[I, 0] = x + r", "out[I, 1] = y * t", "k[I, 0] = n + m + int64(d)", "k[I, 1] = int64(s)",
                 "out[I, 2] = float64(q) if b else x"]  # fmt: skip
        kept = [line for line in after if self.random.random() < 0.7]
        lines = [f"    for {i} in 0 .. size(a, 0) lockstep {self.pick('1', '2', '4')}:"]
        lines += [f"        {line}" for line in before] + rounds + [f"        {line}" for line in kept]
        return "\n".join(lines).replace("I", i)


def arguments(seed: int, length: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, 1e-320, -3.5])
    a = np.where(rng.random(length) < 0.3, rng.choice(odd, length), rng.standard_normal(length) * 4)
    least = np.array([0, 1, -1, 2**62, -(2**63), 2**63 - 1])
    c = np.where(rng.random(length) < 0.3, rng.choice(least, length), rng.integers(-99, 99, length))
    g = rng.standard_normal(length).astype(np.float32)
    return [a, c, g, rng.standard_normal(8), np.zeros((length + 4, 4)), np.zeros((length + 4, 4), np.int64)]


def same(wanted: list[Any], got: list[Any]) -> bool:
    """To the last bit, but for the signs and the bits of NaN."""
    return all(
        np.array_equal(np.where(one != one, 0, one).view(np.uint8), np.where(two != two, 0, two).view(np.uint8))
        and np.array_equal(one != one, two != two)
        for one, two in zip(wanted, got, strict=True)
    )


@pytest.mark.parametrize("seed", range(2))
def test_random_rounds(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second ones in vectors of twice the width, which the compiler makes of two registers."""

    def of_bytes(*given: Any) -> Program:
        program = generate(*given)
        text = program.text.replace("#define LW_REGISTER 32", f"#define LW_REGISTER {32 << seed}")
        assert (text != program.text) == bool(seed)
        return replace(program, text=text)

    monkeypatch.setattr(execution, "generate", of_bytes)
    kernel = parse_kernel(HEAD + "\n".join(Rounds(100 * seed + k).nest(k) for k in range(NESTS)) + "\n")
    verify(kernel)
    facts = analyse(kernel)
    entry = compiled(kernel, tmp_path, facts, check_all=False, flags=TARGETS[:1])
    for length in (0, 3, 4, 37):
        given = arguments(length, length)
        wanted, got = [[one.copy() for one in given] for _ in range(2)]
        with np.errstate(all="ignore"):
            interpret(kernel, wanted)
        entry.run(tuple(got))
        assert same(wanted, got), length
    assert generate(kernel, facts, False, True).text.count("LW_LOCKSTEP &&") == NESTS


CHASE = """
kernel chase(next: int64[1] C, a: float64[1] C, out: int64[1] C):
    var p: int64
    var n: int64
    var x: float64
    for i in 0 .. size(out, 0) lockstep 2:
        p = i
        n = 0
        while p != 0 and n < 50 named w:
            x = a[p]
            if x > 0.0:
                n = n + 100
            p = next[p]
            n = n + 1
        out[i] = n
"""


def test_the_first_iteration_that_fails_does_so_and_those_before_are_done(tmp_path: Path) -> None:
    kernel = parse_kernel(CHASE)
    facts = analyse(kernel)
    text = generate(kernel, facts, False, True).text
    assert "goto lw_again" in text and "LW_LOCKSTEP && " in text
    entry = compiled(kernel, tmp_path, facts, check_all=False, flags=TARGETS[:1])
    rng = np.random.default_rng(3)
    for wrong in (None, 61, 40, 0):
        following = np.maximum(np.arange(64) - rng.integers(1, 9, 64), 0)
        a = rng.choice([-1.0, 1.0], 64, p=[0.9, 0.1])
        if wrong is not None:
            following[wrong:] = np.arange(64)[wrong:] + 1000  # each of them goes there
        out = [np.full(64, -7) for _ in range(2)]
        errors = []
        for run, to in ((lambda given: interpret(kernel, list(given)), out[0]), (entry.run, out[1])):
            try:
                run((following, a, to))
                errors.append("")
            except BoundsError as error:
                errors.append(str(error))
        assert errors[0] == errors[1] and bool(errors[0]) == (wrong is not None)
        done = 64 if wrong is None else max(wrong, 1)
        np.testing.assert_array_equal(out[0][:done], out[1][:done])
    entry.run((np.zeros(0, np.int64), np.zeros(0), np.zeros(1, np.int64)))  # the only iteration has no round


FAULTY = """
kernel faulty(a: int64[1] C, b: int64[1] C):
    var n: int64
    for i in 0 .. size(a, 0) lockstep 1:
        n = a[i]
        while n > 0 named w:
            n = {value}
        a[i] = n
"""


@pytest.mark.parametrize(
    ("value", "is_in_lanes"),
    [("n - b[0]", True), ("n - 1", True), ("n - a[i]", True), ("b[n]", False)],
)
def test_what_may_fail_is_left_as_it_is_where_it_cannot_begin_again(value: str, is_in_lanes: bool) -> None:
    kernel = parse_kernel(FAULTY.format(value=value))
    text = generate(kernel, analyse(kernel), False, True).text
    assert ("LW_LOCKSTEP && " in text) == is_in_lanes


def test_a_call_that_is_told_to_stop_does(tmp_path: Path) -> None:
    kernel = parse_kernel(FAULTY.format(value="n - 1"))
    text = generate(kernel, analyse(kernel), False, True).text
    rounds = text[text.index("lw_idle = ") :]
    assert "LW_SPEND(" in rounds[: rounds.index("break;")]
