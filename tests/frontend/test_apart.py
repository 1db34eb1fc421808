"""Names that are one thing in one branch and another thing in the other, against CPython."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same
from loopwright.frontend.apart import taken_apart


def one_is_written(a, b, flag):
    w = a if flag else b
    for i in range(len(w)):
        w[i] += i
    return w.sum()


def written_and_given_back(a, b, flag):
    if flag:
        w = a
    else:
        w = b[::-1]
    w[0] = 5.0
    for i in range(1, len(w)):
        w[i] = w[i - 1] + 1.0
    return w


def pushed(stack, x, size):
    if size >= len(stack):
        longer = np.zeros(2 * len(stack))
        longer[:size] = stack
        stack = longer
    stack[size] = x
    return stack, size + 1


def in_place_or_not(field, in_place):
    if in_place:
        flat = field.reshape(-1)
        for i in range(len(flat)):
            flat[i] = flat[i] * 2.0 - 1.0
    else:
        field = field * 2.0 - 1.0
    return field


def of_another_rank(x, flag):
    if flag == 1:
        x = x.ravel()
    elif flag == 2:
        x = x[:, 0]
    return x.sum() + x.size, x.ndim


def padded_or_itself(x, pad):
    if pad > 0:
        wide = np.zeros(len(x) + 2 * pad)
        wide[pad : pad + len(x)] = x
    else:
        wide = x
    total = 0.0
    for i in range(len(wide)):
        total += wide[i] * i
    return total


def rows_in_a_loop(a, b, k):
    for i in range(len(a)):
        row = a[i] if k % 2 == i % 2 else b[i]
        for j in range(len(row)):
            row[j] *= 2.0
        k += 1
    return k


def texts(a, flag):
    scale = "log" if flag else "linear"
    if scale == "log":
        return np.log(a).sum()
    return a.sum()


def a_number_or_an_array(a, flag):
    weights = 2.0 if flag else a + 1.0
    return a * weights


def helper(a, flag):
    w = a if flag else a[::-1]
    w[0] += 1.0
    return w.sum()


def in_a_helper(a, flag):
    return helper(a, flag), a


@pytest.mark.parametrize("flag", [True, False])
def test_each_branch_with_what_follows_it(flag):
    a, m = np.arange(1.0, 6.0), np.arange(12.0).reshape(3, 4) + 1.0
    same(one_is_written, a, a + 1.0, flag)
    same(written_and_given_back, a, a * 2.0, flag)
    same(in_place_or_not, a, flag)
    same(in_place_or_not, m, flag)
    same(rows_in_a_loop, m, m + 1.0, int(flag))
    same(texts, a, flag)
    same(a_number_or_an_array, a, flag)
    same(in_a_helper, a, flag)


def longer_first(a, b, flag):
    if flag:
        a, b = b, a
    return a[0] == b[1], len(a) - len(b)


def test_texts_exchanged():
    for flag in (0, 1):
        same(longer_first, "abc", "ba", flag)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_of_several_branches(number):
    a = np.arange(1.0, 6.0)
    same(pushed, a, 1.5, 4 if number else 5)
    same(of_another_rank, np.arange(12.0).reshape(3, 4), number)
    same(padded_or_itself, a, number)


def carried_by_a_loop(a, n):
    x = a
    for k in range(n):
        x = x[1:] if k % 2 else x
        x[0] += 1.0
    return x


def test_a_name_that_a_loop_carries_is_refused_as_before():
    assert "another name for 'a'" in refusal(carried_by_a_loop, np.arange(4.0), 2)


def test_what_is_written_out():
    plain, long = ast.parse(
        "def f(a, c):\n if c:\n  w = a\n elif a:\n  return 0\n else:\n  w = 1\n return w\n"
        "def g(c):\n" + " if c: w = 1\n else: w = 2\n g(w)\n" * 16
    ).body
    assert isinstance(plain, ast.FunctionDef) and isinstance(long, ast.FunctionDef)
    assert taken_apart(plain, "a") is None
    assert taken_apart(long, "w") is None
    apart = taken_apart(plain, "w")
    assert apart is not None
    assert ast.unparse(apart) == (
        "def f(a, c):\n    if c:\n        w = a\n        return w\n    elif a:\n        return 0\n"
        "    else:\n        w = 1\n        return w"
    )


def of_several_sizes(a, b, k):
    v = b
    if k == 0:
        v = a * 2.0
    v[1] = 1.0
    if k > 2:
        v = a if k > 3 else b
    return v.copy()


@pytest.mark.parametrize("number", [0, 1, 3, 4])
def test_a_name_of_several_sizes_that_is_written(number):
    same(of_several_sizes, np.arange(4.0), np.arange(4.0) + 5.0, number)


def first(w, v):
    w[0] = v
    return w


CHOSEN = [
    "first(a if n else b, 5.0)", "(a if n else b)[0] = 5.0", "v = (a if n else b)[2:]; v[0] = 5.0",
    "w, m = (a, 1) if n else (b, 2); w[m] = 9.0", "(w, u), m = ((a, b), 1) if n else ((b, a), 2); w[m] = u[0]",
    "w, u = (a, b) if n else (b, a); w[0] = u[1] + 1; u[2] = w[0]", "w = (a if n else b)[::-1]; w[0] = 9.0",
    "np.add(a, 1.0, out=a if n else b)", "(a if n else b).fill(2.0)", "w: np.ndarray = a if n else b; w[0] = 1.5",
    "m = (a if n else b); m += 1", "r = [a, b]; (r[0] if n else r[1])[0] = 8.0", "(a if n else b)[1:] += 2.0",
    "s = (a if n else b)[0] + (b if n else a).sum(); a[0] = s", "(a if n > 1 else b if n else a[::-1])[0] = 7.0",
    "w, u = (a * 2, b) if n else (b * 2, a); w[0] = 4.0; u[1] = w[1]", "w = first(a if n else b, 3.0); w[1] = 2.0",
]  # fmt: skip


@pytest.mark.parametrize("written", CHOSEN)
def test_what_is_written_goes_into_the_array_that_was_chosen(written):
    lines = "\n            ".join(written.split("; "))
    function = define(f"""
        def f(a, b, n):
            {lines}
            return a.sum() + b[0]
        """, f"chosen{CHOSEN.index(written)}.py", first=first, np=np)  # fmt: skip
    for n in (0, 1, 2):
        same(function, np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.0, 7.0, 8.0]), n)


def test_an_array_is_chosen_anew_in_each_iteration():
    def swapped(x, n):
        a, b = np.zeros(len(x)), np.ones(len(x))
        for k in range(n):
            src, dst = (a, b) if k % 2 == 0 else (b, a)
            for i in range(len(x)):
                dst[i] = src[i - 1] + x[i]
        for w in (a, b) if n > 2 else (b, a):
            w[0] += 1 + w[1]
        if (w := a if n else b)[0] > 0:
            w[1] = 7.0
        return a, b

    for n in (0, 1, 2, 5):
        same(swapped, np.array([1.0, 2.0, 3.0, 4.0]), n)


def chosen(a, b, n):
    return a if n else b


def chosen_with_a_name(a, b, n):
    w = a if n else b
    return w  # noqa: RET504


def both(a, b, n):
    return (a, b) if n else (b, a)


@pytest.mark.parametrize("name", ["chosen(a, b, n)", "chosen_with_a_name(a, b, n)", "both(a, b, n)[0]"])
def test_a_helper_that_chooses_an_array_gives_no_copy_to_a_caller_that_would_see_it(name):
    helpers = {"chosen": chosen, "chosen_with_a_name": chosen_with_a_name, "both": both}
    number = len(name)
    read = define(f"def f(a, b, n):\n    return {name}.sum() + a[0]\n", f"read{number}.py", **helpers)
    a, b = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0])
    for n in (0, 1):
        same(read, a, b, n)
    for k, after in enumerate(("w[0] = 5.0\n    return a.sum()", "a[0] = 5.0\n    return w[0]")):
        text = f"def f(a, b, n):\n    w = {name}\n    {after}\n"
        written = define(text, f"written{number}{k}.py", **helpers)
        with pytest.raises(lw.KernelError):
            lw.kernel(written)(a, b, 1)


def test_an_array_that_is_chosen_where_it_may_not_be_evaluated_is_refused():
    function = define("def f(a, b, n):\n    while (a if n else b)[0] < 3:\n        a[0] += 1\n        b[0] += 1\n")
    with pytest.raises(lw.KernelError, match="chosen here may be written, and has no name"):
        lw.kernel(function)(np.zeros(2), np.zeros(2), 1)


def bumped(x):
    x[0] += 1.0
    return x[0]


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("r = bumped(a) + bumped(a if a[0] > 1.5 else b)", False),
        ("(a if a[0] > 1.5 else b)[0] = bumped(a)", False),
        ("r = b[0] + (a if bumped(b) > 5.0 else b).sum()", False),
        ("r = (n := n + 1) + bumped(a if n > 1 else b)", False),
        ("(a if a[0] > 1.5 else b)[0] += bumped(a)", True),
        ("r = bumped(a) + bumped(a if n > 1 else b)", True),
        ("r = bumped(a) if bumped(a if a[0] > 1.5 else b) > 1.0 else bumped(b)", True),
    ],
)
def test_an_array_is_chosen_when_python_chooses_it(statement, runs):
    text = f"def f(a, b, n):\n    r = 0.0\n    {statement}\n    return r\n"
    function = define(text, bumped=bumped)
    for n in (0, 2):
        arguments = np.array([1.0, 2.0]), np.array([5.0, 6.0]), n
        if runs:
            same(function, *arguments)
        else:
            assert "chosen here may be written, and has no name" in refusal(function, *arguments)
