"""Two scalars put in order are the lesser and the greater one: which branches, and that results are the same bits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.compare_exchanges import extremes_of_exchanges
from loopwright.ir.nodes import If
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements

HEAD = """
kernel f(x: float64[1] C, k: int64[1] C, out: float64[1] C):
    var a: float64
    var b: float64
    var t: float64
    var m: int64
    var n: int64
    var u: int64
    a = 0.0
    b = 0.0
    m = 0
    n = 0
    for i in 1 .. size(x, 0):
        {made}
        if {condition}:
            {then}
        out[i] = a + b * float64(m - n)
"""
MADE = ("a = x[i]", "b = x[i - 1]", "m = k[i]", "n = k[i - 1]")
SWAP = ("t = a", "a = b", "b = t")


def ordered(condition: str, then: tuple[str, ...], made: tuple[str, ...] = MADE) -> list[str]:
    """The lines in place of the branch; none where it stays."""
    kernel = parse_kernel(
        HEAD.format(condition=condition, then="\n            ".join(then), made="\n        ".join(made))
    )
    changed = extremes_of_exchanges(kernel)
    verify(changed)
    if any(statements(changed.body, If)):
        assert changed is kernel
        return []
    lines = [line.strip() for line in print_kernel(changed).splitlines()]
    return lines[lines.index(made[-1]) + 1 : -1]


@pytest.mark.parametrize(
    ("condition", "then", "lines"),
    [
        ("a > b", SWAP, ["a.1 = min(a, b)", "b = max(b, a)", "a = a.1"]),
        ("a < b", SWAP, ["a.1 = max(a, b)", "b = min(b, a)", "a = a.1"]),
        ("a >= b", SWAP, ["a.1 = b if a >= b else a", "b = a if a >= b else b", "a = a.1"]),
        ("m >= n", ("u = m", "m = n", "n = u"), ["m.1 = min(m, n)", "n = max(n, m)", "m = m.1"]),
        ("a > b", ("t = b", "b = a", "a = t"), ["a.1 = min(a, b)", "b = max(b, a)", "a = a.1"]),
        ("a > b", ("t = a", "a = b"), ["a = min(a, b)"]),
        ("a > b", ("b = a",), ["b = max(b, a)"]),
        ("a > b", ("a = b", "b = a"), ["a = min(a, b)"]),  # by then both are b
        ("a > b", ("t = a", "a = b", "b = t", "m = n"), []),
        ("a > b", ("t = a", "a = b", "b = t + 1.0"), []),
        ("a == b", SWAP, []),
        ("a > x[i]", SWAP, []),
        ("m > n", SWAP, []),
    ],
)
def test_which_branches(condition: str, then: tuple[str, ...], lines: list[str]) -> None:
    assert ordered(condition, then) == lines


def test_what_outlasts_an_iteration_keeps_its_jump_but_for_an_exchange() -> None:
    carried = ("b = x[i]",)
    assert ordered("b > a", ("a = b",), carried) == []
    assert ordered("b > a", SWAP, carried) == ["b.1 = min(b, a)", "a = max(a, b)", "b = b.1"]


def test_in_a_while_loop_the_next_iteration_waits() -> None:
    text = HEAD.format(condition="a > b", then="a = b", made="\n        ".join(MADE))
    kernel = parse_kernel(text.replace("for i in 1 .. size(x, 0):", "while m > n named i:").replace("[i", "[m"))
    assert extremes_of_exchanges(kernel) is kernel


def test_a_number_that_is_read_elsewhere_is_not_forgotten() -> None:
    text = HEAD.format(
        condition="a > b", then="t = a\n            a = b\n            b = t", made="\n        ".join(MADE)
    )
    kernel = parse_kernel(text.replace("a = 0.0", "t = 0.0\n    a = 0.0").replace("out[i] = a", "out[i] = t + a"))
    assert extremes_of_exchanges(kernel) is kernel


ELEMENTS = """
kernel f(x: float64[2] C, y: float64[2] C, w: int64[2] C, k: int64):
    var a: int64
    var b: int64
    var t: float64
    allocate z: float64[8] = 0.0
    for i in 0 .. size(x, 0){asserted}:
        for j in 0 .. size(w, 0):
            a = w[j, 0]
            b = w[j, 1]
            if {condition}:
                {then}
"""
EXCHANGED = ("t = x[i, a]", "x[i, a] = x[i, b]", "x[i, b] = t")
OWN = ("t = z[a]", "z[a] = z[b]", "z[b] = t")
TABLE = ("t = z[w[j, 0]]", "z[w[j, 0]] = z[w[j, 1]]", "z[w[j, 1]] = t")


@pytest.mark.parametrize(
    ("condition", "then", "asserted", "values"),
    [
        ("x[i, a] > x[i, b]", EXCHANGED, "", ["min(x.e, x.e.1)", "max(x.e.1, x.e)"]),
        ("x[i, a] <= x[i, b]", EXCHANGED, "", ["x.e.1 if x.e <= x.e.1 else x.e", "x.e if x.e <= x.e.1 else x.e.1"]),
        ("z[w[j, 0]] > z[w[j, 1]]", TABLE, "", ["min(z.e, z.e.1)", "max(z.e.1, z.e)"]),
        ("x[i, a] > x[i, b]", EXCHANGED, " asserted", []),  # another iteration may have to do with them
        ("z[a] > z[b]", OWN, " asserted", []),
        ("x[i, j] > x[i, j + 1]", ("t = x[i, j]", "x[i, j] = x[i, j + 1]", "x[i, j + 1] = t"), "", []),  # carried
        ("x[i, a] > x[i, b]", EXCHANGED[1:2], "", []),
        ("x[i, a] > y[i, b]", EXCHANGED, "", []),
        ("x[i, a] > x[i, b]", (*EXCHANGED, "y[i, a] = t"), "", []),
        ("x[i, a] > x[i, b]", ("x[i, a] = x[i, b]", "x[i, b] = x[i, a]"), "", []),  # both are the second one
        ("x[i, a] > x[i, b]", ("b = a", *EXCHANGED), "", []),
    ],
)
def test_which_elements(condition: str, then: tuple[str, ...], asserted: str, values: list[str]) -> None:
    lines = "\n                ".join(then)
    kernel = parse_kernel(ELEMENTS.format(condition=condition, then=lines, asserted=asserted))
    changed = extremes_of_exchanges(kernel)
    verify(changed)
    assert (changed is kernel) == (not values)
    assert [line.split(" = ")[1] for line in print_kernel(changed).splitlines()[-2:] if values] == values


def network(keys: Any, pairs: Any) -> None:
    for i in range(keys.shape[0]):
        for k in range(pairs.shape[0]):
            a = pairs[k, 0]
            b = pairs[k, 1]
            if keys[i, a] > keys[i, b]:
                keys[i, a], keys[i, b] = keys[i, b], keys[i, a]


def test_a_network_by_a_table() -> None:
    pairs = np.array([(0, 1), (2, 3), (0, 2), (1, -3), (1, 2), (3, 3)])
    values = [0.0, -0.0, np.nan, 1.0]
    mine = np.array(list(product(values, repeat=4)))
    right = mine.copy()
    network(right, pairs)
    lw.kernel(network)(mine, pairs)
    assert mine.tobytes() == right.tobytes()
    with pytest.raises(IndexError):
        lw.kernel(network)(mine, np.array([(0, 4)]))


def middle(x: Any, out: Any) -> None:
    for i in range(1, len(x) - 1):
        a = x[i - 1]
        b = x[i]
        c = x[i + 1]
        if a > b:
            a, b = b, a
        if b >= c:
            b, c = c, b
        if b < a:
            a, b = b, a
        out[i, 0] = a
        out[i, 1] = b
        out[i, 2] = c


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int8])
def test_results_are_the_same_bits(kind: Any) -> None:
    values = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf] if np.dtype(kind).kind == "f" else [0, -1, 1, 127, -128]
    x = np.array([one for three in product(values, repeat=3) for one in three], kind)
    mine, right = np.zeros((len(x), 3), kind), np.zeros((len(x), 3), kind)
    middle(x, right)
    lw.kernel(middle)(x, mine)
    assert mine.tobytes() == right.tobytes()
