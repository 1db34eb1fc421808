"""Dicts with texts as keys that a function fills and changes, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same
from loopwright.numba import typed, types


def filled(x):
    found = {}
    found["n"] = len(x)
    found["sorted"] = np.sort(x)
    found["n"] = found["n"] + 1
    if "sorted" in found:
        found["first"] = found["sorted"][0]
    return found, len(found), "n" in found, found.get("none", -1)


def of_numba(x):
    made = typed.Dict.empty(key_type=types.int64, value_type=types.float64)
    made["twice"] = x * 2
    made["twice"][0] = 5
    total = np.float64(0.0)
    for key in made:
        total += made[key].sum()
    x[:] = 1
    return made["twice"], total


def counted(x):
    found = {"n": 0, "sum": x.dtype.type(0), "most": x[0], "twice": x * 2}
    for v in x:
        found["n"] += 1
        found["sum"] += v
        if v > found["most"]:
            found["most"] = v
    found["mean"] = found["sum"] / found["n"]
    return found, found["n"] * 2


def in_loops(n):
    state = {}
    state["a"] = 0
    state["b"] = 1.0
    while state["a"] < n:
        state["a"] += 2
        before = state["b"]
        state["b"] = before * 2 + state["a"]
        inner = {"k": state["a"]}
        for j in range(3):
            inner["k"] += j
        state["a"] += inner["k"] % 2
    return state["a"], state["b"]


def in_place(x, y):
    found = {"x": x, "n": 0}
    found["n"] += 1
    found["x"][0] = 5
    found["x"] *= 2
    found["y"] = y
    found["y"] += 2
    other = found["y"]
    other[1] = 9
    return found["x"].sum(), found["n"]


def names_go_on(x):
    y = x.copy()
    found = {"a": y}
    found["b"] = y
    y = y * 2
    found["c"] = y
    return found


def helper(given, x):
    own = {}
    own["z"] = given["w"] + x
    return own


def with_helper(x):
    given = {"w": 2.0}
    return helper(given, x[0]), given


def test_filled_and_changed():
    same(filled, np.array([2.0, 1.0, 3.0]))
    same(of_numba, np.arange(3.0))
    for kind in (np.float64, np.int64, np.float32):
        same(counted, np.arange(4).astype(kind))
    for n in (0, 5):
        same(in_loops, n)
    same(in_place, np.ones(3), np.zeros(3))
    same(names_go_on, np.arange(3.0))
    same(with_helper, np.arange(3.0))


def test_only_arrays_that_are_written_have_to_be_writable():
    def fresh(x, y):
        found = {"x": x * 1.0, "y": y}
        found["x"][0] = 5
        return found["x"].sum(), found["y"].sum()

    fixed = np.ones(3)
    fixed.flags.writeable = False
    assert lw.kernel(fresh)(fixed, fixed) == (7.0, 3.0)
    with pytest.raises(lw.ArgumentValueError, match="read-only"):
        lw.kernel(in_place)(fixed, np.zeros(3))


@pytest.mark.parametrize("body", [
    "d = {}\n    e = d\n    d['a'] = 1",
    "d = {}\n    for i in range(3):\n        d['a'] = i",
    "d = {'q': x}\n    e = (d, 1)\n    d['a'] = 1",
    "d = {'k': 0.0}\n    def add(v):\n        d['k'] += v\n    add(1.0)",
])  # fmt: skip
def test_changes_that_other_names_would_show_are_refused(body):
    message = "a dict with texts as keys does not change here"
    assert message in refusal(define(f"def f(x):\n    {body}\n    return 0\n"), np.ones(2))


def test_only_numbers_change_in_loops():
    function = define("def f(x):\n    d = {'k': x}\n    for i in range(2):\n        d['k'] = x * 2\n    return d\n")
    assert "what loops and branches put into this dict is a number" in refusal(function, np.ones(2))


def power(kind, x):
    powers = {"linear": 1, "quadratic": 2}
    if kind not in powers:
        return None
    return x ** powers[kind]


def left_out(x):
    known = {"a": 1}
    for i in range(len(x)):
        if "b" not in known:
            if x[i] > 1:
                continue
            x[i] = 7
            continue
        x[i] = known["b"]
    return x.sum()


def test_what_a_known_condition_leaves_out_is_not_read():
    for kind in ("linear", "quadratic", "none"):
        same(power, kind, np.arange(3.0))
    same(left_out, np.arange(4.0))


def helper_of_a_mode(mode, x):
    powers = {"one": 1, "two": 2}
    if mode not in powers:
        raise ValueError("no such mode")
    return x * powers[mode]


def sum_of_modes(x):
    return helper_of_a_mode("one", x).sum() + helper_of_a_mode("two", x)[0]


def smaller(n):
    if n > 2:
        raise ValueError("too large")
    return n + 1


def always_raises(x):
    return smaller(3) + x[0]


def test_helpers_that_a_known_condition_ends():
    same(sum_of_modes, np.arange(3.0) + 1)
    same(always_raises, np.arange(3.0))
