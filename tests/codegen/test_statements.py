"""Statements as C: jumps, local arrays and their sizes, and what is checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import RANDOM, check, host_text
from loopwright.errors import BoundsError, NegativeSizeError
from loopwright.ir.text import parse_kernel


def test_while_break_continue_and_blocks(tmp_path: Path) -> None:
    text = """
kernel steps(a: int64[1] C, out: int64[1] C):
    for i in 0 .. size(a, 0):
        var n: int64
        var count: int64
        n = a[i]
        count = 0
        while n != 1 named w:
            if n < 1:
                break w
            count = count + 1
            if n % 2 == 0:
                n = n // 2
                continue w
            n = 3 * n + 1
        block found:
            if count > 100:
                out[i] = -1
                leave found
            out[i] = count
"""
    text = text.replace("        var n: int64\n        var count: int64\n", "").replace(
        "):\n    for", "):\n    var n: int64\n    var count: int64\n    for", 1
    )
    a = RANDOM.integers(-3, 1000, 5000)
    check(text, [a, np.zeros_like(a)], tmp_path, "parallelize i")


def test_a_negative_size_is_an_error(tmp_path: Path) -> None:
    text = """
kernel local(n: int64) -> float64:
    allocate t: float64[n, n] = 1.0
    return t[0, 0]
"""
    kernel = parse_kernel(text)
    entry = compiled(kernel, tmp_path)
    assert entry.run((3,)) == 1.0
    with pytest.raises(NegativeSizeError):
        entry.run((-3,))
    with pytest.raises(MemoryError):
        entry.run((2**40,))
    with pytest.raises(BoundsError):
        entry.run((0,))


# ---- text -----------------------------------------------------------------------------------------------------------


def code(body: str, head: str = "kernel k(a: float64[1] C, n: int64):") -> str:
    """The C of a body, from its first statement on."""
    lines = body.replace("\n", "\n    ")
    text = host_text(f"{head}\n    {lines}\n")
    return text[text.index("lw_status = 1;") + 15 :]


def test_an_assignment_and_a_store() -> None:
    assert "int64_t x_ = 0; x_ = (n_ + 1L); a_[0L] = 2.0;" in code("x = n + 1\na[0] = 2.0")


def test_branches() -> None:
    both = code("if n > 3:\n    a[0] = 1.0\nelse:\n    a[0] = a[0] + 2.0")
    assert "if ((n_ > 3L)) { a_[0L] = 1.0; } else { a_[0L] = (a_[0L] + 2.0); }" in both
    at_hand = "if n > 3:\n    a[0] = 1.0\nelse:\n    if n < 0:\n        a[0] = -1.0\n    else:\n        a[0] = 2.0"
    assert "a_[0L] = ((n_ > 3L) ? 1.0 : ((n_ < 0L) ? (-1.0) : 2.0));" in code(at_hand)
    assert "else" not in code("if n > 3:\n    a[0] = 1.0").split("lw_leave")[0]


def test_jumps_go_where_they_say() -> None:
    block = "    block b:\n        if a[i] > 0.0:\n            leave b\n        continue i\n"
    text = code(f"for i in 0 .. n:\n{block}    break i")
    assert text.index("goto b_;") < text.index("continue;") < text.index("b_:;") < text.index("goto lw_out_of_i_;")
    assert text.index("goto lw_out_of_i_;") < text.index("lw_out_of_i_:;")


def test_local_arrays_of_a_known_small_size_are_no_memory_of_the_heap() -> None:
    text = host_text("kernel k(n: int64):\n    allocate t: int8[4] = 1i8\n    t[0] = 2i8\n")
    assert "int8_t t_[4] __attribute__((aligned(64)));" in text and "lw_room" not in text and "free(" not in text
    text = host_text("kernel k(n: int64):\n    allocate t: int8[n]\n    t[0] = 2i8\n")
    assert "t_ = lw_room(t_, &lw_capacity_t_, " in text and "lw_leave: lw_give_back(t_); return lw_status;" in text


def test_sizes_are_checked_before_memory_is_asked_for() -> None:
    text = host_text("kernel k(n: int64):\n    allocate t: float64[n, n] = 0.0\n    t[0, 0] = 2.0\n")
    negative, large, room = (text.index(one) for one in ("t_n0_ < 0", "__builtin_mul_overflow", "lw_room(t_"))
    assert negative < large < room < text.index("memset(t_, 0")


def test_a_fill_that_is_not_zero_is_written() -> None:
    assert "memset" not in code("allocate t: float64[n] = -0.0\nt[0] = 2.0")
    assert "memset" in code("allocate t: float64[n] = 0.0\nt[0] = 2.0")
    assert "memset" not in code("allocate t: float64[n]\nt[0] = 2.0")


def test_a_return_gives_its_values_and_leaves() -> None:
    text = host_text("kernel k(n: int64) -> tuple(int64, float64):\n    return n, 2.5\n")
    assert "returned[0].i = (int64_t)n_; returned[1].d = 2.5; lw_status = 0; goto lw_leave;" in text


def test_whether_a_number_is_a_better_extreme_is_mostly_one_comparison(tmp_path: Path) -> None:
    text = """
kernel places(x: float64[1] C, out: int64[1] C):
    var best: float64
    var least: float64
    var v: float64
    best = x[0]
    least = x[0]
    for i in 0 .. size(x, 0):
        v = x[i]
        if v > best or v != v and best == best:
            best = v
            out[0] = i
        if v < least or v != v and least == least:
            least = v
            out[1] = i
"""
    for special in (None, np.nan):
        for place in (0, 30, 99):
            x = RANDOM.random(100)
            x[place] = x[place] if special is None else special
            check(text, [x, np.zeros(2, np.int64)], tmp_path, "")
    found = host_text(text)
    assert "if (!(v_ <= best_) && ((v_ > best_) ||" in found and "if (!(v_ >= least_) && ((v_ < least_) ||" in found
