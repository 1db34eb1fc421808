"""Two loops that threads share as one: every iteration is done once, whatever part of the inner loop a thread has."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import after, host_text, small
from loopwright.codegen import parallel
from loopwright.errors import BoundsError
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel

HEAD = "kernel k(a: float64[3] C, b: float64[3] C, w: float64[1] C):\n"
INNER = """        for {loop}:
            for j in 0 .. size(a, 2):
                b[c, i, j] = b[c, i, j] + {value}
"""
PLAIN = HEAD + "    for c in 0 .. size(a, 0):\n" + INNER
BEFORE = (
    HEAD
    + """    var s: float64
    for c in 0 .. size(a, 0):
        allocate t: float64[8]
        s = w[c] * 2.0
        for m in 0 .. 8:
            t[m] = w[c] + s
"""
    + INNER
)
UNDER = (
    HEAD
    + """    for c in 0 .. size(a, 0):
        if 0 < size(a, 2):
            allocate t: float64[1]
            t[0] = w[c]
            for i in 0 .. size(a, 1):
                for j in 0 .. size(a, 2):
                    b[c, i, j] = b[c, i, j] + t[0]
"""
)
LOOPS = ("i in 0 .. size(a, 1)", "i in 1 .. size(a, 1) step 3", "i in size(a, 1) - 1 .. -1 step -1")
TEXTS = {
    **{f"plain {loop}": PLAIN.format(loop=loop, value="a[c, i, j] * 2.0") for loop in LOOPS},
    **{f"before {loop}": BEFORE.format(loop=loop, value="t[3] * a[c, i, j] + s") for loop in LOOPS},
    "under a condition": UNDER,
    "a triangle inside": PLAIN.format(loop=LOOPS[0], value="a[c, i, j]").replace(
        "0 .. size(a, 2)", "0 .. min(i, size(a, 2))"
    ),
}
SHAPES = [(0, 5, 3), (5, 0, 3), (3, 5, 0), (1, 1, 1), (1, 101, 3), (2, 7, 9), (3, 100, 2), (13, 3, 2)]


@pytest.fixture(autouse=True)
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads for any work."""
    monkeypatch.setattr(parallel, "GRAIN", 1e-9)


@pytest.mark.parametrize("name", TEXTS)
def test_each_iteration_is_done_once(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    kernel, facts = after(text, "parallelize c", strict=False)
    assert "lw_outside" in host_text(text, "parallelize c")
    for threads in (1, 2, 5):
        code = compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=threads)
        for shape in SHAPES:
            arguments: list[Any] = [small(*shape), small(*shape), small(shape[0])]
            expected = copy.deepcopy(arguments)
            interpret(parse_kernel(text), expected)
            code.run(tuple(arguments))
            np.testing.assert_array_equal(arguments[1], expected[1])


def test_few_planes_are_shared_by_many_threads() -> None:
    text = host_text(PLAIN.format(loop=LOOPS[0], value="1.0"), "parallelize c")
    assert "lw_count = lw_outside * lw_inside" in text and "lw_team(threads, lw_count, lw_work" in text


SCALAR = "    var s: float64\n"
OUTER = "    for c in 0 .. size(a, 0):\n"
NOT = {
    "few operations inside": OUTER + "        for i in 0 .. size(a, 1):\n            b[c, i, 0] = 1.0\n",
    "something behind it": OUTER + INNER.format(loop=LOOPS[0], value="1.0") + "        w[c] = 0.0\n",
    "a few iterations of each": OUTER
    + "        for i in 0 .. 4:\n            for j in 0 .. 3:\n                b[c, i, j] = a[c, i, j] + b[c, i, j]\n",
    "other lengths": OUTER + INNER.format(loop="i in 0 .. min(c, size(a, 1))", value="1.0"),
    "a sum inside": SCALAR
    + OUTER
    + "        s = 0.0\n"
    + INNER.format(loop=LOOPS[0], value="s")
    + 16 * " "
    + "s = s + 1.0\n",
    "written inside, read before": SCALAR + OUTER + "        s = b[c, 0, 0]\n" + INNER.format(loop=LOOPS[0], value="s"),
    "another array before": OUTER + "        w[c] = w[c] + 1.0\n" + INNER.format(loop=LOOPS[0], value="1.0"),
}


@pytest.mark.parametrize("name", NOT)
def test_what_has_to_stay_in_one_thread(name: str, tmp_path: Path) -> None:
    text = HEAD + NOT[name]
    kernel, facts = after(text, "parallelize c", strict=False)
    assert "lw_outside" not in host_text(text, "parallelize c")
    code = compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=3)
    arguments: list[Any] = [small(5, 4, 3), small(5, 4, 3), small(5)]
    expected = copy.deepcopy(arguments)
    interpret(parse_kernel(text), expected)
    code.run(tuple(arguments))
    for mine, right in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(mine, right)


def test_a_failure_in_one_part_ends_the_call(tmp_path: Path) -> None:
    text = PLAIN.replace("w: float64[1] C", "w: int64[1] C").format(loop=LOOPS[0], value="a[c, i, w[i]]")
    kernel, facts = after(text, "parallelize c", strict=False)
    code = compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=3)
    where = np.zeros(50, int)
    where[47] = 3
    with pytest.raises(BoundsError, match="index 3 is out of bounds for axis 2 of 'a' with size 3"):
        code.run((small(2, 50, 3), small(2, 50, 3), where))
