from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from loopwright.analysis import order
from loopwright.analysis.order import broken_by, scene_of
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.reorder import Reorder
from loopwright.steps.reverse import Reverse
from loopwright.steps.split import Split
from loopwright.steps.tile import Tile
from steps.kernels import known

HEAD = "kernel f(a: float64[2] C, b: float64[1] C, h: int64[1] C, n: int64, m: int64, k: int64):\n"


def _kernel(text: str) -> Kernel:
    return parse_kernel(HEAD + "".join(f"    {line}\n" for line in text.strip("\n").split("\n")))


def _backwards(text: str, loop: str = "i", strict: bool = False) -> str | None:
    kernel = _kernel(text)
    return broken_by(kernel, Reverse(loop)._draft(kernel), strict)


def test_a_kernel_is_in_its_own_order() -> None:
    kernel = _kernel("for i in 1 .. n:\n    b[i] = b[i - 1]")
    assert broken_by(kernel, kernel, strict=True) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("for i in 1 .. n:\n    b[i] = b[i - 1]", "'b'"),
        ("for i in 0 .. n:\n    b[i] = b[i + 1]", "'b'"),
        ("for i in 0 .. n:\n    b[i // 2] = float64(i)", "'b'"),
        ("for i in 0 .. n:\n    b[i] = b[n - 1 - i]", "'b'"),
        ("for i in n - 1 .. 0 step -1:\n    b[i] = b[i - 1]", "'b'"),
        ("for i in 0 .. n:\n    b[h[i]] = float64(i)", "'b'"),
        ("for i in 0 .. n:\n    b[i - k] = b[i] + 1.0", "'b'"),
        ("for i in 0 .. n:\n    if b[i] > 0.0:\n        b[0] = float64(i)", "'b'"),
        ("for i in 0 .. n:\n    b[i] = 1.0\n    b[0] = b[0] + b[i]\n    h[i] = int64(b[0])", "'b'"),
    ],
)
def test_what_needs_the_order(text: str, word: str) -> None:
    reason = _backwards(text)
    assert reason is not None and word in reason and "change places" in reason


@pytest.mark.parametrize(
    "text",
    [
        "for i in 0 .. n:\n    b[i] = b[i] + 1.0",
        "for i in 0 .. n:\n    b[2 * i] = b[2 * i + 1]",
        "for i in 1 .. n:\n    a[i, 0] = a[i, 1]",
        "for i in 0 .. n:\n    b[0] = max(b[0], b[i + 1])",
        "for i in n - 1 .. -1 step -2:\n    b[i] = b[i + 1]",
        "for i in 0 .. n:\n    allocate t: float64[2] = 0.0\n    t[0] = b[i]\n    b[i] = t[0] + t[1]",
    ],
)
def test_what_does_not_need_the_order(text: str) -> None:
    assert _backwards(text) is None


def test_a_sum_needs_its_order_only_under_strict() -> None:
    text = "for i in 0 .. n:\n    b[0] = b[0] + a[i, i]"
    assert _backwards(text) is None
    assert _backwards(text, strict=True) is not None
    assert _backwards("for i in 0 .. n:\n    h[0] = h[0] + h[i + 1]", strict=True) is None


def test_statements_that_jump_out_stay_where_they_are() -> None:
    """Also for a variable whose name is the word of the judge for control."""
    text = HEAD + "".join(
        f"    {line}\n"
        for line in (
            "var control: float64",
            "control = 0.0",
            "for i in 0 .. n:",
            "    control = b[i]",
            "b[0] = control",
            "if n > 3:",
            "    return",
        )
    )
    places = {one.place for one in scene_of(parse_kernel(text), strict=True).dependences}
    assert {"control", "<control>"} <= places


def test_fields_that_overlap() -> None:
    kernel = parse_kernel("""
kernel f(p.x: int64[1] strided unaligned argument 0, p.y: int64[1] strided unaligned argument 0 offset 4, n: int64):
    for i in 0 .. n:
        p.x[i] = 1
        p.y[i] = 2
""")
    reason = broken_by(kernel, Reverse("i")._draft(kernel), strict=False)
    assert reason is not None and "overlap" in reason


def test_a_mark_was_proven_for_the_loop_where_it_stood() -> None:
    """Reordered, the outer loop j would carry what the loop i carries now."""
    kernel, facts = known(
        HEAD + "    for i in 1 .. n:\n        for j in 1 .. m:\n            a[i, j] = a[i - 1, j - 1]\n"
    )
    assert Reorder(("j", "i")).illegal(kernel, facts, strict=True) is None
    marked = Parallelize("j").apply(kernel)
    for step in (Reorder(("j", "i")), Tile((("i", 4), ("j", 4)))):
        rejection = step.illegal(marked, facts, strict=True)
        assert rejection is not None and "marked to run parallel" in rejection.reason


def test_a_condition_that_has_no_room_beside_the_others_is_not_taken_for_granted() -> None:
    """t[i - size(b, 0)] counts from the end, as the guard asks for a b that is not empty, for the sake of c."""
    kernel, facts = known("""
kernel f(b: float64[1] C, c: float64[1] C, n: int64) -> python float64:
    allocate t: float64[8, 8] = 0.0
    for p in 0 .. n:
        c[p + size(b, 0) - 1] = 0.0
    for i in 0 .. 4:
        for j in 0 .. 7:
            t[i - size(b, 0), j] = t[7, j + 1] + 1.0
    return t[7, 3]
""")
    rejection = Reorder(("j", "i")).illegal(kernel, facts, strict=True)
    assert rejection is not None and "'t'" in rejection.reason


def test_what_stands_around_the_part_must_not_run_twice() -> None:
    kernel = _kernel("for i in 1 .. n:\n    b[i] = b[i - 1]")
    both = replace(kernel, body=(*kernel.body, *kernel.body))
    assert broken_by(kernel, both, strict=True) == "an iteration would run more than once"


def test_the_size_of_a_local_array_is_a_value_of_its_iteration() -> None:
    kernel = _kernel("for i in 0 .. n:\n    allocate t: float64[i + 1] = 0.0\n    h[i] = size(t, 0)")
    assert "size of t" in {one.place for one in scene_of(kernel, strict=True).dependences}
    assert broken_by(kernel, Reverse("i")._draft(kernel), strict=True) is None


def test_tiles_that_begin_at_a_number_of_the_call_are_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they do where devices share a call: two such sizes are no remainder of their product."""
    kernel = _kernel("""
for d in 0 .. n:
    for j in max(0, k) .. m:
        for i in max(0, k) .. min(j + 1, n):
            a[i, j] = a[i, j] + b[d + i] * b[d + j]
""")
    monkeypatch.setattr(order, "LIMIT", 100_000)
    tiled = Tile((("d", 384), ("j", 32), ("i", 6)))._draft(kernel)
    assert broken_by(kernel, tiled, strict=False) is None


def test_values_of_iterations_that_do_not_mix_are_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything that an iteration does stays together, nothing else has to be looked at."""
    monkeypatch.setattr(order, "LIMIT", 100_000)
    kernel = parse_kernel("""
kernel f(d: float64[2] C, x: float64[1] C, band: int64):
    var cost: float64
    for i in 1 .. size(d, 0):
        for j in max(1, i - band) .. min(size(d, 1), i + band):
            cost = x[i] - x[j]
            d[i, j] = cost + d[i - 1, j] + d[i, j - 1]
""")
    tiled = Tile((("i", 32), ("j", 32)))._draft(kernel)
    assert broken_by(kernel, tiled, strict=True) is None


STRIDED = ["i.o", "i", "j.o", "j"]
CALLS = [(11, 13, 1), (8, 7, -5), (5, 3, 8)]
"""n, m and k."""


def _results(kernel: Kernel, numbers: tuple[int, int, int]) -> bytes:
    a = np.random.default_rng(sum(numbers)).integers(-9, 9, (48, 48)).astype(float)
    interpret(kernel, [a, np.zeros(40), np.zeros(40, np.int64), *numbers])
    return a.tobytes()


@pytest.mark.parametrize(
    "outer", ["k .. n", "max(1, k) .. min(n, m)", "n .. k step -1", "k .. n step 2", "m .. 0 step -3"]
)
@pytest.mark.parametrize("inner", ["k .. m", "max(i, k) .. m step 2", "m .. i step -1"])
@pytest.mark.parametrize("index", ["9 + i, 9 + j", "9 + j, 9 + i", "10 + i, 8 + j", "8 + i, 11 + j"])
def test_orders_of_loops_with_strides(outer: str, inner: str, index: str) -> None:
    """What is judged to be in order computes the same in every small call, and what is not does not in some."""
    kernel = _kernel(
        f"for i in {outer}:\n    for j in {inner}:\n        a[9 + i, 9 + j] = 0.5 * a[{index}] + float64(7 * i + j)"
    )
    cut = Split("j", 2).apply(Split("i", 3).apply(kernel))
    for changed in (cut, *(Reverse(loop).apply(cut) for loop in STRIDED)):
        same = all(_results(kernel, numbers) == _results(changed, numbers) for numbers in CALLS)
        assert (broken_by(kernel, changed, strict=True) is None) == same
    if "step" not in outer + inner:
        tiled = Tile((("i", 2), ("j", 3)))._draft(kernel)
        same = all(_results(kernel, numbers) == _results(tiled, numbers) for numbers in CALLS)
        assert (broken_by(kernel, tiled, strict=True) is None) == same
