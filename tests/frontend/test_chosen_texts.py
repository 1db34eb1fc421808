"""Texts that the run chooses among those that are known, against CPython: states, labels, lists of them, results."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def states(a):
    state, n = "idle", 0
    for v in a:
        if state == "idle" and v > 2:
            state = "busy"
        elif state == "busy" and v < 1:
            state = "idle"
            n += 1
    return state, n, state != "busy", state in ("off", "idle"), state == "off"


def labels(a):
    found = []
    for v in a:
        found.append("pos" if v > 0 else "neg" if v < 0 else "0")
    return found, len(found), found.count("pos"), "neg" in found, "none" in found


def by_index(a):
    names = ["low", "mid", "h"]
    k = len(a) % 3
    return names[k], [names[i - 1] for i in range(3)], ("x", "y")[k - 2]


def changed(a):
    names = ["b", "a", "c"]
    for i in range(min(len(a), 3)):
        if a[i] > 0:
            names[i] = "zz"
        names.append("q")
    part, copied = names[1:3], names.copy()
    copied.pop()
    copied.reverse()
    joined = names + ["r"]  # noqa: RUF005
    names.insert(0, "first")
    names.remove("a" if "a" in names else "zz")
    names[0], names[-1] = names[-1], names[0]
    del names[1]
    return names, part, copied, joined, names[-1], [t for t in names if t != "q"], names == copied


def may_be_none(a):
    move = None
    for v in a:
        if v > 0:
            move = "left"
        elif v < 0:
            move = "right"
    if move is None:
        return "none", 0
    return move, 1


def of_an_argument(a, text="start"):
    best, largest = text, np.float64(0)
    for k, name in enumerate(("alpha", "b", "gamma")):
        if k < len(a) and a[k] > largest:
            best, largest = name, a[k]
    for t in ("alpha", "b"):
        if best == t:
            largest += 1
    return best, largest, best == text


def characters(a, text="aabbbc"):
    previous, runs = text[0], []
    for i in range(1, len(text)):
        c = text[i]
        if c != previous:
            runs.append(previous)
        previous = c
    return previous, runs, ord(previous), previous < "m"


FUNCTIONS = [states, labels, by_index, changed, may_be_none, of_an_argument, characters]


@pytest.mark.parametrize("device", ["interpreter", "cpu", "emulated"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_python(function, device):
    kernel = lw.kernel(function, device=device)
    for a in (np.array([1.0, 3.0, 0.0, -1.0]), np.array([0.0, np.nan, 5.0])[::-1], np.array([-1.0]), np.array([0.0])):
        assert repr(kernel(a)) == repr(function(a))


REFUSED = {
    "return len(s)": "how long this text is", "return s < 'x'": "equality only", "return s in 'abc'": "in tuples and",
    "return ord(s)": "takes a character", "return s + 'x'": "the run chooses is joined",
    "return s[0]": "cannot be indexed",
    "return a[s]": "must be an integer",
    "return sorted([s, 'b'])": "no order", "x = [s]\n    x.append('b')\n    return max(x)": "no list of texts",
    "a[0] = s": "must be a number", "x = [s]\n    x.append('b')\n    return np.array(x)": "no list of texts",
    "x = [s]\n    x.append(1)\n    return x": "list of texts", "return {s: 1}": "a key that is a text",
    "x = [1]\n    x.append(s)\n    return x": "list of texts",
    "x, y = [s], []\n    x.append('c')\n    y.append(x)\n    return y": "",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    text = f"def f(a):\n    s = 'idle'\n    for v in a:\n        if v > 0: s = 'b'\n    {body}\n"
    assert REFUSED[body] in refusal(define(text), np.ones(2))


def test_what_is_known_stays_known():
    """A function that runs without such texts is read as before: each branch for itself."""
    function = define("""
        def f(a, n):
            if n > 0:
                kind = "float32"
            else:
                kind = "float64"
            return np.zeros(2, kind) + a
    """)
    same(function, np.ones(2, np.float32), 1)
    same(function, np.ones(2, np.float32), 0)


def test_a_text_is_printed_by_nobody(capsys):
    function = define("def f(a):\n    s = 'x'\n    for v in a:\n        if v > 0: s = 'yy'\n    print(s)\n")
    with pytest.raises(lw.KernelError, match="a text is not printed here"):
        lw.kernel(function)(np.ones(2))
