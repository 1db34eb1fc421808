"""How threads share a nest: what a block is, what its threads run together, and who has which iterations."""

from __future__ import annotations

from loopwright.codegen.bound_nest import BoundNest, Together, rounds_of_threads
from loopwright.ir.nodes import Allocate, For, If
from loopwright.ir.text import parse_kernel
from loopwright.steps.threads import band_of

TEAMS = """
kernel teams(n: int64, a: float64[2] C, b: float64[1] C):
    for i.o in 0 .. n step {rows} block.x:
        allocate t: float64[4]
        for i in i.o .. i.o + {rows} thread.y:
            allocate u: float64[8]
            for j in 0 .. 8 {inner}:
                u[j] = a[i, j]
            if n > 2:
                for k in 0 .. 8 {inner}:
                    b[i] = b[i] + u[k]
"""


def nest_of(text: str) -> BoundNest:
    (loop,) = parse_kernel(text).body
    assert isinstance(loop, For)
    return BoundNest.of(loop)


def shown(one: Together) -> tuple[str, tuple[int, int, int], bool]:
    stmt = one.stmt
    name = stmt.name if isinstance(stmt, For) else stmt.array if isinstance(stmt, Allocate) else type(stmt).__name__
    return name, one.size, one.inside


def test_a_nest() -> None:
    nest = nest_of(TEAMS.format(rows=4, inner="thread.x"))
    assert (nest.loop.name, [block.name for block in nest.blocks], nest.size) == ("i.o", ["i.o"], (8, 4, 1))
    assert nest.local == {"t", "u"}
    assert any(isinstance(stmt, If) for stmt in (one.stmt for one in nest.together()))


def test_a_block_and_its_teams() -> None:
    block, team = (8, 4, 1), (8, 1, 1)
    assert [shown(one) for one in nest_of(TEAMS.format(rows=4, inner="thread.x")).together()] == [
        ("t", block, False),
        ("i", block, False),
        ("u", team, True),
        ("j", team, True),
        ("If", team, True),
        ("k", team, True),
    ]


def test_what_one_thread_runs_is_run_together_with_nobody() -> None:
    assert (
        list(nest_of("kernel f(b: float64[1] C):\n    for i in 0 .. 9 block.x:\n        b[i] = 1.0\n").together()) == []
    )


def test_rounds_of_a_band() -> None:
    nest = nest_of(
        "kernel f(b: float64[2] C):\n    for i in 0 .. 64 thread.y 4:\n        for j in 0 .. 32 thread.x:\n"
        "            b[i, j] = 1.0\n"
    )
    band = band_of(nest.loop)
    assert (nest.size, [loop.name for loop in band], rounds_of_threads(band)) == ((32, 4, 1), ["i", "j"], 16)
    assert rounds_of_threads(band[1:]) == 1
