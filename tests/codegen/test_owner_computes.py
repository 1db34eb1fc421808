"""Scatter reductions shared out by owner: each element gets its updates in the order of the loop, bit by bit, and an
error leaves what the loop had done by then."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.codegen import parallel
from loopwright.errors import BoundsError
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.recipe.recipe import recipe
from loopwright.steps.schedule import print_schedule

RANDOM = np.random.default_rng(3)
N, BINS = 5000, 37
HEAD = "kernel f(b: int32[1] C, c: int64[1] C, v: float64[1] C, h: float64[1] {}, g: float64[2] C):\n"


@pytest.fixture(autouse=True)
def _owners_for_small_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "GRAIN", 1e-9)
    monkeypatch.setattr(parallel, "NEAR", -1.0)
    monkeypatch.setattr(parallel, "OWNED", 0.0)


def arguments() -> list[Any]:
    """Values whose sums depend on the order."""
    b = RANDOM.integers(-BINS, BINS, N).astype("int32")
    return [b, RANDOM.integers(0, N - 9, N), RANDOM.random(N), RANDOM.random(BINS), RANDOM.random((BINS, 5))]


def outcome(call: Any, given: list[Any]) -> tuple[list[Any], str]:
    own = copy.deepcopy(given)
    try:
        return own, str(call(own))
    except BoundsError as error:
        return own, str((error.array, error.axis, error.index, error.size))


def agree(body: str, calls: list[list[Any]], cache: Path, layout: str = "C") -> str:
    """On 1, 2 and 5 threads, all bits are the interpreter's. Gives the C text."""
    kernel = parse_kernel(HEAD.format(layout) + body)
    facts = analyse(kernel)
    chosen = recipe(kernel, facts, False, None)
    assert print_schedule(chosen.schedule) == "parallelize i"
    scheduled = chosen.kernel
    for threads in (1, 2, 5):
        entry = compiled(scheduled, cache, facts, check_all=False, strict=True, threads=threads)
        for given in calls:
            right = outcome(lambda a: interpret(kernel, a), given)
            got = outcome(lambda a, run=entry.run: run(tuple(a)), given)
            assert got[1] == right[1]
            for mine, his in zip(got[0], right[0], strict=True):
                np.testing.assert_array_equal(mine, his)
    return entry.payload.program.text


def spoilt(position: int, at: int, value: int) -> list[Any]:
    given = arguments()
    given[position][at] = value
    return given


@pytest.mark.parametrize("layout", ["C", "strided"])
def test_updates_keep_their_order(layout: str, tmp_path: Path) -> None:
    body = """
    for i in 0 .. size(b, 0):
        h[int64(b[i])] = h[int64(b[i])] + v[i]
"""
    calls = [arguments(), *(spoilt(0, at, value) for at in (0, 1023, 1024, N - 1) for value in (BINS, -BINS - 1))]
    for given in calls if layout == "strided" else ():
        given[3] = RANDOM.random(2 * BINS)[::2]
    assert "lw_own_i_(" in agree(body, calls, tmp_path, layout)


def test_indices_in_scalars_and_on_two_axes(tmp_path: Path) -> None:
    body = """
    var k: int64
    var t: float64
    for i in 3 .. size(b, 0):
        k = int64(b[i])
        t = v[i] * 2.0
        g[k, c[i] % 5] = t + g[k, c[i] % 5] - 0.1
"""
    calls = [arguments(), spoilt(0, 1024, 99), spoilt(0, 2, 99), spoilt(1, 77, -4)]
    assert "lw_own_i_(" in agree(body, calls, tmp_path)


def test_an_index_that_cannot_be_read_ahead(tmp_path: Path) -> None:
    """The stretch c[0] .. of b may leave b: then one thread does everything, up to the error."""
    body = """
    for i in 0 .. 2000:
        h[int64(b[c[0] + i])] = h[int64(b[c[0] + i])] + v[i]
"""
    calls = [spoilt(1, 0, shift) for shift in (0, 17, N - 2000, N - 1999, N - 5, -7, -N, -N - 1)]
    assert "lw_own_i_(" in agree(body, calls, tmp_path)


@pytest.mark.parametrize(
    "update",
    [
        "h[c[int64(b[i])] % 7] = h[c[int64(b[i])] % 7] + v[i]",
        "if v[i] > 0.5:\n            h[int64(b[i])] = h[int64(b[i])] + v[i]",
        "g[0, int64(b[i])] = g[0, int64(b[i])] + 1.0\n        h[int64(b[i])] = h[int64(b[i])] + v[i]",
    ],
)
def test_other_loops_have_no_owners(update: str, tmp_path: Path) -> None:
    kernel = parse_kernel(HEAD.format("C") + f"    for i in 0 .. size(b, 0):\n        {update}\n")
    facts = analyse(kernel)
    scheduled = recipe(kernel, facts, False, None).kernel
    assert "lw_own_i_(" not in compiled(scheduled, tmp_path, facts, check_all=False).payload.program.text


def test_notes_say_what_is_done_when(tmp_path: Path) -> None:
    body = """
    for i in 0 .. size(b, 0):
        h[int64(b[i])] = h[int64(b[i])] + v[i]
"""
    kernel = parse_kernel(HEAD.format("C") + body)
    facts = analyse(kernel)
    scheduled = recipe(kernel, facts, False, None).kernel
    notes = compiled(scheduled, tmp_path, facts, check_all=False).payload.program.notes
    assert {name for name, _ in notes} == {"i"}
    copied, owned, alone = (text for _, text in notes if text.startswith("updates"))
    assert "a copy of h" in copied and "its own part" in owned and "1 thread" in alone
