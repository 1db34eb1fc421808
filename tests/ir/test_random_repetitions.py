"""Random programs full of sums and arrays that are made again, beside what is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from loopwright.ir import repeated_loops
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.repeated_loops import without_repeated_loops
from loopwright.ir.text import parse_kernel
from loopwright.ir.unit_axes import without_unit_axes
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements

HEAD = """
kernel random(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    var t: float64
    var w: float64
    var p: int64
    s = 1.0
    t = 2.0
    w = 0.5
    p = 2
    allocate g: float64[n + 6] = 0.0
    allocate h: float64[1, n + 6] = 1.0
    allocate o: float64[1] = 0.0
"""
TAIL = "    b[0] = s - t\n    b[1] = b[1] + o[0] + h[0, 1] + w + float64(p) + g[1]\n"
PROGRAMS = 600


def programs(seed: int) -> Iterator[str]:
    """Lines of a body, with blanks of one level."""
    random = Random(seed)
    made: list[str] = []

    def total(blanks: str) -> Iterator[str]:
        x, i, array = random.choice("st"), f"i{random.randrange(10**9)}", random.choice("aaag")
        if random.random() < 0.85:
            yield f"{blanks}{x} = {random.choice(['0.0', 'w', f'{x} * 2.0', f'{x} * 2.0'])}"
        yield f"{blanks}for {i} in 0 .. {random.choice('nnnnnp')}:"
        yield from random.choice(
            [
                [f"{blanks}    {x} = {x} + {array}[{i}]"],
                [f"{blanks}    w = {array}[{i}] * 2.0", f"{blanks}    {x} = {x} + w"],
                [f"{blanks}    if {array}[{i}] > 1.0:", f"{blanks}        {x} = {x} + {array}[{i}]"],
                [f"{blanks}    p = 1", f"{blanks}    {x} = {x} + float64(p)"],
            ]
        )

    def array() -> Iterator[str]:
        name, i, row = f"l{len(made)}", f"j{len(made)}", random.choice(["", "0, "])
        made.append(f"{name}[{row}1]")
        yield f"    allocate {name}: float64[{'1, ' if row else ''}n + 6] = 0.0"
        yield f"    for {i} in 0 .. n:"
        yield f"        {name}[{row}{i}] = a[{i}] + {random.choice(['1.0', 's'])}"

    def other(blanks: str) -> str:
        places = ["s", "t", "w", "b[1]", "a[1]", "g[1]", "h[0, 1]", "o[0]", *made[-1:]]
        values = ["7.0", "s + t", "b[1] + s", "h[0, 0] * t", "o[0] + s", *made[-2:]]
        return f"{blanks}{random.choice(places)} = {random.choice(values)}"

    for _ in range(random.randrange(3, 9)):
        kind = random.random()
        if kind < 0.5:
            yield from total("    ")
        elif kind < 0.65:
            yield from array()
        elif kind < 0.75:
            outer = f"o{random.randrange(10**9)}"
            yield random.choice([f"    for {outer} in 0 .. 2:", "    if n > 1:"])
            yield from (*total(" " * 8), other(" " * 8), *total(" " * 8))
        else:
            yield other("    ")
    yield from (f"    b[2] = b[2] + {one}" for one in made)


def shortened(kernel: Kernel) -> Kernel:
    return without_repeated_loops(without_unit_axes(kernel))


def outcomes(seed: int) -> tuple[bool, int]:
    """Whether a program means what it did, and how many of its loops are left out."""
    kernel = parse_kernel(HEAD + "\n".join(programs(seed)) + "\n" + TAIL)
    changed = shortened(kernel)
    verify(changed)
    for n in (0, 1, 4):
        found = []
        for one in (kernel, changed):
            a, b = np.arange(12.0) * 0.5 + 1, np.zeros(4)
            interpret(one, [a, b, n])
            found.append((a.tobytes(), b.tobytes()))
        if found[0] != found[1]:
            return False, 0
    return True, sum(1 for _ in statements(kernel.body, For)) - sum(1 for _ in statements(changed.body, For))


def test_random_programs_mean_the_same() -> None:
    found = [outcomes(seed) for seed in range(PROGRAMS)]
    assert [seed for seed, (same, _) in enumerate(found) if not same] == []
    assert sum(left_out > 0 for _, left_out in found) > PROGRAMS // 50


def test_the_programs_find_a_loop_that_begins_with_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_loops, "_begins_with_more", lambda *_: False)
    assert not all(same for same, _ in map(outcomes, range(PROGRAMS)))
