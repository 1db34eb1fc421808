"""Conditions are adopted one by one, where they leave the loops room."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from analysis.small import kernel
from loopwright.analysis.affine import constant, relate
from loopwright.analysis.proof import MOST_PIECES, Proof, adopt, context_of, guardable, room_of
from loopwright.analysis.trace import Access, trace

TEXT = """
def f(a: "float64[1]", n: "int64", q: "int8"):
    for i in range(n):
        for j in range(3):
            a[i] = 1.0
"""


def place() -> tuple[Proof, Access]:
    notes = trace(kernel(TEXT))
    return Proof(notes, {"v1": "n", "s0_0": "len(a)", "v2": "q"}), notes.accesses[0]


def test_a_condition_is_put_in_words_and_kept() -> None:
    proof, access = place()
    outside = (relate(access.index[0], ">=", access.sizes[0]),)
    assert adopt(proof, access.stack, access.where, outside) == "len(a) >= n"
    assert proof.relied == {"i"}
    assert adopt(proof, access.stack, access.where, (relate(access.index[0], "<", constant(0)),)) == ""


def test_what_leaves_no_room_is_refused_and_changes_nothing() -> None:
    proof, access = place()
    before = proof.allowed
    assert adopt(proof, access.stack, access.where, (relate(access.index[0], ">=", constant(2)),)) is None
    assert proof.allowed is before
    assert adopt(proof, access.stack, access.where, (relate(access.index[0], ">=", constant(9)),)) == "n <= 9"


def test_two_conditions_must_leave_room_together() -> None:
    proof, access = place()
    assert adopt(proof, access.stack, access.where, (relate(access.index[0], ">=", constant(9)),)) == "n <= 9"
    far = (relate(access.sizes[0], ">=", constant(1)), relate(access.sizes[0], "<=", constant(0)))
    assert adopt(proof, access.stack, access.where, far) is None


def test_room_is_several_iterations_where_there_can_be_several() -> None:
    proof, access = place()
    assert str(room_of(proof, ("i", "j")).project_out_all_params()) == str(room_of(proof, ()).project_out_all_params())
    assert room_of(proof, ("i", "j")).is_equal(room_of(proof, ("i",)))
    assert room_of(proof, ("i",)).is_subset(guardable(access.where))


def test_the_context_knows_sizes_and_types() -> None:
    proof, _ = place()
    assert str(context_of(proof.notes)) == "[s0_0, v1, v2] -> {  : s0_0 >= 0 and -128 <= v2 <= 127 }"


def test_a_guard_of_many_choices_is_cut() -> None:
    text = 'def f(a: "float64[1]", b: "float64[1]", c: "float64[1]", n: "int64"):\n    for i in range(n):\n'
    text += "".join(f"        {name}[i % {number}] = 1.0\n" for name, number in zip("abc", (5, 6, 7), strict=True))
    notes = trace(kernel(text))
    proof = Proof(notes, {"v3": "n", "s0_0": "a", "s1_0": "b", "s2_0": "c"})
    for access in notes.accesses:
        outside = (relate(access.index[0], "<", constant(0)), relate(access.index[0], ">=", access.sizes[0]))
        assert adopt(proof, access.stack, access.where, outside) is not None
    assert proof.allowed.n_basic_set() <= MOST_PIECES


def test_a_guard_that_no_array_can_hold_is_none() -> None:
    """An index of type uint32 is below 2**32, and a guard that asks for so many elements sent every call to the checked
    code."""
    assert guard_of_gather("uint16") == "len(a) >= 65536"
    assert guard_of_gather("uint32") is None


def guard_of_gather(element: str) -> str | None:
    text = f"""
def f(a: "float64[1]", k: "{element}[1]", out: "float64[1]"):
    for i in range(out.shape[0]):
        out[i] = a[k[i]]
"""
    proof = Proof(trace(kernel(text)), {"s0_0": "len(a)", "s1_0": "len(k)", "s2_0": "len(out)"})
    access = next(one for one in proof.notes.accesses if one.array == "a")
    return adopt(proof, access.stack, access.where, (relate(access.index[0], ">=", access.sizes[0]),))


@lw.kernel
def by_branches(n, m, h, y):
    p = np.zeros((n, m))
    t = np.zeros((n, n))
    for k in range(h.shape[0]):
        t += h[k]
    if n == m:
        x = t @ t
    else:
        x = t @ y
    p += x
    return p


def test_the_guard_of_sizes_that_are_arguments_is_one_that_calls_hold() -> None:
    """`np.zeros((n, n))` with n below zero is empty, and fits any array that is empty too. Of the many pieces of such a
    guard one with `n <= -1` was kept, so that every call ran the checked code."""
    found = str(by_branches.explain(5, 7, np.ones((3, 5, 5)), np.ones((5, 7))))
    guard = next(line for line in found.splitlines() if line.startswith("safe because"))
    assert "<= -1" not in guard
    assert all(case in guard for case in ("m == n", "n >= m + 1", "m >= n + 1"))


@lw.kernel
def pooled(y, level, weight, rise):
    top = 0
    for i in range(y.shape[0]):
        level[top], weight[top] = y[i], 1.0
        while top > 0:
            if level[top - 1] <= level[top]:
                break
            both = weight[top - 1] + weight[top]
            level[top - 1] = (level[top - 1] * weight[top - 1] + level[top] * weight[top]) / both
            weight[top - 1] = both
            top -= 1
        top += 1
    rise[1:top] = level[1:top] - level[: top - 1] * weight[: top - 1]


def test_a_guard_that_asks_for_an_empty_array_is_none() -> None:
    """Slices up to a place that the data decide were proven to be within empty arrays: the guard `len(level) == 0`
    failed in every call, and each failure is looked into before the checked code runs."""
    y = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0])
    found, expected = ([np.zeros(6) for _ in range(3)] for _ in range(2))
    pooled(y, *found)
    pooled.py_func(y, *expected)
    assert all(np.allclose(one, other) for one, other in zip(found, expected, strict=True))
    assert "== 0" not in str(pooled.explain(y, *found))


@lw.kernel
def frames(x, n, hop, out):
    window = np.ones(n)
    for f in range(len(out)):
        part = x[f * hop : f * hop + n] * window
        out[f] = part.sum()


def test_a_guard_that_asks_for_too_much_is_none() -> None:
    """Slices that begin at a product have `n` elements for all values of the product only if `n` is 0: so the guard
    `n == 0` failed in every call, and the code that runs then checks every access, in order."""
    x, found = np.arange(20.0), np.zeros(4)
    frames(x, 6, 4, found)
    assert found.tolist() == [x[4 * f : 4 * f + 6].sum() for f in range(4)]
    explained = str(frames.explain(x, 6, 4, found))
    assert "fail the condition" not in explained
    assert "n == 0" not in explained
    with pytest.raises(ValueError, match="do not go together"):
        frames(x, 6, 4, np.zeros(5))
