from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.congruential import draws_from_the_first
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

FRAME = """
kernel draws(a: int64[1] C, n: int64):
    var s: int64
    var s.2: int64
    var s.3: int64
    s = n
    for i in 0 .. size(a, 0):
"""
DRAWS = {
    "and": ("s.2 = s * 5 + 3 & 255", "a[i] = s.2", "s = s.2 * 5 + 3 & 255"),
    "three": ("s.2 = (7 - s * 5) % 4294967296", "s.3 = s.2 * 1103515245 % 4294967296", "a[i] = s.3 + s.2",
              "s = s.3 * 69069 + 9 & 65535"),
    "wide": ("s.2 = s * 6364136223846793005 + 1442695040888963407 & 4611686018427387903",
             "s = s.2 * 6364136223846793005 - 9 & 4611686018427387903", "a[i] = s"),
}  # fmt: skip
OTHERS = {
    "narrower first": ("s.2 = s * 5 + 3 & 255", "s = s.2 * 5 + 3 & 65535", "a[i] = s"),
    "no power": ("s.2 = s * 5 % 255", "s = s.2 * 5 % 255", "a[i] = s"),
    "one draw": ("s = s * 5 + 3 & 255", "a[i] = s"),
    "changed between": ("s.2 = s * 5 + 3 & 255", "s = s + a[i]", "s = s.2 * 5 + 3 & 255", "a[i] = s"),
    "sums": ("s.2 = s + a[i] & 255", "s = s.2 * 5 & 255", "a[i] = s"),
}


def text_of(lines: tuple[str, ...]) -> str:
    return FRAME.lstrip("\n") + "".join(f"        {line}\n" for line in lines)


@pytest.mark.parametrize("name", DRAWS)
def test_each_draw_is_one_from_what_the_iteration_began_with(name: str) -> None:
    kernel = parse_kernel(text_of(DRAWS[name]))
    changed = draws_from_the_first(kernel)
    verify(changed)
    assert "s.2 *" not in print_kernel(changed) and "s.3 *" not in print_kernel(changed)
    for start in (0, 1, -7, 2**62 + 5):
        mine, other = np.zeros(20, np.int64), np.zeros(20, np.int64)
        interpret(changed, [mine, start])
        interpret(kernel, [other, start])
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", OTHERS)
def test_all_else_stays(name: str) -> None:
    kernel = parse_kernel(text_of(OTHERS[name]))
    changed = draws_from_the_first(kernel)
    assert changed is kernel or (name == "changed between" and print_kernel(changed) == print_kernel(kernel))


def darts(n: int, seed: int, out: Any) -> int:
    s, hits = seed, 0
    for i in range(n):
        s = (s * 1103515245 + 12345) % 2147483648
        x = s / 2147483648.0
        s = (s * 1103515245 + 12345) % 2147483648
        if x * x + (s / 2147483648.0) ** 2 < 1.0:
            hits += 1
        out[i] = s
    return hits


def test_as_python_has_it() -> None:
    mine, other = np.zeros(50, np.int64), np.zeros(50, np.int64)
    kernel = lw.kernel(darts)
    assert "1103515245" not in kernel.specialise(50, 3, mine).c_text.partition("s_ = (")[2].partition(";")[0]
    assert kernel(50, 3, mine) == darts(50, 3, other)
    np.testing.assert_array_equal(mine, other)
