"""Lists that a conditional expression chooses, names that are exchanged in the middle of a loop; against CPython."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import kernel_of, same
from loopwright.frontend.rewritten import rewritten
from loopwright.ir.nodes import Allocate
from loopwright.ir.walk import statements


def chosen(h, k):
    queue = [(0, 0)] if k > 1 else []
    values = [v * 2 for v in h] if k else [0.0 * h[0]]
    rest = [1.5] if k == 2 else list() if k else [2.5, 3.5]
    queue.append((k, k))
    while len(rest) < 4:
        rest += [0.5]
    return queue, values, sum(rest), len(queue)


def test_chosen_lists():
    for k in range(3):
        same(chosen, np.arange(3.0), k)


def test_what_needs_no_other_form_stays_as_it_is():
    plain, other = ast.parse("def f(x):\n    y = x if x else 1\ndef g(x):\n    y = [x] if x else []\n").body
    assert isinstance(plain, ast.FunctionDef) and isinstance(other, ast.FunctionDef)
    assert rewritten(plain) is plain
    assert rewritten(other) is rewritten(other) and isinstance(rewritten(other).body[0], ast.If)
    assert isinstance(other.body[0], ast.Assign)


def frames(u0, steps, every):
    u, v = u0.copy(), u0.copy()
    kept = np.zeros((max(steps, 0) // every + 1, len(u)))
    k = 0
    for t in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u, v = v, u
        if t % every == 0:
            kept[k] = u
            k += 1
            v[0] = u[1]
    return kept, u, v, k


def rotated(u, n):
    a, b, c = u.copy(), u * 2, u * 3
    s = u[0]
    for _ in range(n):
        c[0] = a[1] + b[0]
        a, b, c = b, c, a
        s += a[0] - b[1] + c[0]
        b[1] = s
    return a, b, c, s


def numbers(u, n):
    x, y, s = u[0], u[1], u[2]
    for _ in range(n):
        x, y = y, x
        s = s * 3 + x
    return s, x, y


def test_names_that_are_exchanged_in_the_middle_of_a_loop():
    u = np.array([1.0, 2.0, 5.0, 3.0])
    for steps in (0, 1, 2, 3, 7):
        same(frames, u, steps, 2)
        same(rotated, u, steps)
        same(numbers, u, steps)


def test_an_exchange_in_the_middle_of_a_loop_copies_nothing():
    kernel = kernel_of(frames, np.zeros(4), 5, 2)
    assert sorted(result.name for result in kernel.results) == ["kept", "u", "v"]
    assert not any(statements(kernel.body, Allocate))


EXCHANGES = [
    "u, v = v, u\n        if u[0] > 3:\n            break", "u, v = v, u\n        v = u.copy()",
    "u, v = v, u\n        s += u[0]\n    else:\n        s += v[0]", "u, v = v, u\n        s += (lambda: u[0])()",
]  # fmt: skip


@pytest.mark.parametrize("body", EXCHANGES)
def test_exchanges_that_stay_where_they_are(body):
    lines = (
        f"def f(u, v, n):\n    s = 0.0\n    for k in range(n):\n        u[k] += v[0]\n        {body}\n    return s\n"
    )
    (tree,) = ast.parse(lines).body
    assert isinstance(tree, ast.FunctionDef) and rewritten(tree) is tree


def test_exchanges_with_a_name_aside():
    text = (
        "def f(u, v, x, y):\n    while u:\n        t = u\n        u = v\n        v = t\n        x, y = y, x\n"
        "def g(u, v):\n    while u:\n        t = u\n        u = v\n        v = t\n    return t\n"
    )
    first, second = ast.parse(text).body
    assert isinstance(first, ast.FunctionDef) and isinstance(second, ast.FunctionDef)
    assert ast.unparse(rewritten(first).body[0]) == "while u:\n    u, v, x, y = (v, u, y, x)"
    assert rewritten(second) is second  # the name is used for more


def either(a, b, o):
    for i in range(o.shape[0]):
        c = a if i % 2 == 0 else b
        if c[i] < 0:
            continue
        o[i] = c[i] + c[0]
        for k in range(3):
            o[i] += c[k]


def by_statements(a, b, o):
    i = 0
    while i < o.shape[0]:
        if i % 3 == 0:
            c = a
        else:
            c = b
        d = b if i % 2 else a
        o[i] = 10 * c[i] + d[0]
        i += 1
        if o[i - 1] > 900:
            break


def chosen_numbers(a, b, o):
    low, high = 1, 2
    for i in range(o.shape[0]):
        c = low if a[i] > b[i] else high
        o[i] = c


def swapped(a, b, o):
    for i in range(3):
        c = a if i % 2 else b
        for k in range(o.shape[0]):
            o[k] += c[k]
        a, b = b, a


def read_behind(a, b, o):
    for i in range(o.shape[0]):
        c = a if i > 3 else b
        o[i] = c[i]
    if o.shape[0]:
        o[0] = c[0]


def kept(a, b, o):
    c = a
    for i in range(o.shape[0]):
        c = b if i > 3 else a
    for i in range(o.shape[0]):
        o[i] = c[i]


@pytest.mark.parametrize("function", [either, by_statements, chosen_numbers, swapped, read_behind, kept])
@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_a_choice_between_arrays(function: Any, n: int) -> None:
    a, b = np.arange(40.0) - 5, 90.0 - np.arange(40.0)
    mine, pythons = np.zeros(n), np.zeros(n)
    lw.kernel(function)(a.copy(), b.copy(), mine)
    function(a.copy(), b.copy(), pythons)
    assert np.array_equal(mine, pythons)


@pytest.mark.parametrize(("function", "copies"), [(either, 0), (by_statements, 0)])
def test_an_array_that_is_only_indexed_is_not_copied(function: Any, copies: int) -> None:
    text = lw.kernel(function).explain(np.zeros(9), np.zeros(9), np.zeros(9))
    assert str(text).count("local") == copies
