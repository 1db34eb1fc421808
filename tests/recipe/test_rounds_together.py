from __future__ import annotations

import pytest

from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget
from loopwright.steps.schedule import print_schedule
from steps.kernels import known

HEAD = """
kernel f(a: float64[1] C, c: float64[2] C, b: int64[1] C):
    var x: float64
    var y: float64
    var n: int64
    var m: int64
"""
ROOTS = """    for i in 0 .. size(a, 0):
        x = a[i]
        while abs(x * x - a[i]) > 0.0001 named w:
            x = (x + a[i] / x) * 0.5
        a[i] = x
"""
ESCAPE = """    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            x = c[i, j]
            n = 0
            while x < 4.0 and n < 100 named w:
                x = x * x * 0.5 + a[i]
                n = n + 1
            c[i, j] = float64(n)
"""
EUCLID = """    for i in 0 .. size(b, 0):
        n = b[i]
        m = 99
        while m != 0 named w:
            x = float64(m)
            m = n % m
            n = int64(x)
        b[i] = n
"""
SHORT = """    for i in 0 .. size(a, 0):
        x = a[i]
        for k in 0 .. 3:
            if x < 0.5:
                break k
            x = x * x / (x + 1.0)
        a[i] = x
"""
RAYS = """    for i in 0 .. size(c, 0):
        x = 1.0
        y = 0.0
        for k in 0 .. size(c, 1):
            y = y + x * c[i, k] * c[i, k]
            x = x * (1.0 - c[i, k])
            if x < 0.01:
                break k
        a[i] = y
"""
BITS = """    for i in 0 .. size(b, 0):
        n = b[i]
        m = 0
        while n != 0 named w:
            n = n & (n - 1)
            m = m + 1
        b[i] = m
"""


def schedule(text: str, vector_bytes: int = 32) -> str:
    return print_schedule(recipe(*known(HEAD + text), False, CpuTarget(vector_bytes)).schedule)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (ROOTS, "split i 256; lockstep i 4; parallelize i.o"),
        (ESCAPE, "lockstep j 4; parallelize i"),  # threads share the loop around it
        (EUCLID, "parallelize i"),  # divisions of whole numbers are done lane by lane
        (SHORT, "parallelize i"),
        (RAYS, "parallelize i"),  # the sum waits, and nothing waits for it
        (BITS, "parallelize i"),  # an instruction
    ],
)
def test_where_rounds_wait_longer_than_lanes_take(text: str, steps: str) -> None:
    assert schedule(text) == steps


def test_narrow_registers_are_too_few_lanes() -> None:
    assert schedule(ROOTS, 16) == "parallelize i"


def test_the_reason_says_what_waits() -> None:
    found = recipe(*known(HEAD + ROOTS), False, CpuTarget())
    why = "each round of 'w' waits for the one before: 4 vectors of iterations of 'i' go on together"
    assert why in found.decisions[1].why
