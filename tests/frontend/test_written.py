"""Which parameters may be written, from the syntax alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frontend.judge import define
from loopwright.frontend.capture import capture
from loopwright.frontend.written import written_parameters


def fill(target, value):
    target[0] = value


def same(x, y):
    return x


def fill_later(x, y):
    fill(value=x, target=y)


def read(x, y):
    return x[0] + y[0]


CASES = {
    "a[0] = b[0]": "a",
    "a[b[0]] += c[0]": "a",
    "x = a; y = x; y[0] = b[0]": "a",
    "row = a[0]; row[1] = 2": "a",
    "a['x'][0] = 1; b.y[0] = 2; c[0].z = 3": "abc",
    "a, b = b, a": "",
    "x, y = a, b; y[0] = 1": "b",
    "a[0], b[1] = 1, 2": "ab",
    "fill(a, b[0])": "a",
    "fill(a[0], b[0])": "a",
    "fill_later(a, b)": "b",
    "return read(a, b)": "",
    "return math.sqrt(a[0]) + np.sqrt(b[0]) + abs(c[0]) + len(a)": "",
    "unknown(a, k=b[0])": "ab",
    "x = np.zeros_like(a); x[0] = b[0]": "",
    "x = a if c[0] else b; x[0] = 1": "ab",
    "x = np.zeros((a.shape[0], len(b))); x[0] = 1": "",
    "n, m = a.shape; n[0] = 1": "",
    "x = same(a, b); x[0] = 1": "a",
    "a += 1": "a",
    "x = a.astype(float); x += 1; y = b.astype(float, copy=False); y[0] = 1": "b",
    "x = a; x = b[0]; x += 1": "a",
    "x = b[0]; x += 1": "",
    "x = b[0]; x += 1; x[0] = 1": "b",
    "x = b[0]; x /= x.sum(); y = a[0]; y += len(x)": "b",
    "x = a[1:]; y = b.T; x += 1; y -= c[0]": "ab",
    "x, y = a; z = 0 if y > 1 else x; z += 1": "",
    "x, y = a; z = 0 if len(y) > 1 else 2; x += z": "a",
    "x, y = a, b; z = 0 if y is None else 2; x += z": "a",
    "n = len(a); a, b = a.copy(), b * n; a[0] = b[0] = 1": "",
    "a = a.copy() if n else b; a[0] = 1": "b",
    "a = a[1:]; a[0] = 1": "a",
    "x = a; a = a.copy(); x[0] = a[0] = 1": "a",
    "a[0] = 1; a = a.copy()": "a",
    "if n: a = a.copy()\n    a[0] = 1": "a",
    "def g(): a[0] = 1\n    g(); a = a.copy()": "a",
    "x = [(a[0], len(b))]; x[-1] = (b[0], 1); u, v = x[-1]": "",
    "x = [a, b]; x[0][0] = 1": "ab",
    "x = [a, b]; x[0] += 1": "ab",
    "x = [a[0], 1]; x = b; x[0] = 1": "ab",
    "def g(n, x, y): return n < 1 or g(n - 1, x, y)\n    g(3, a, b)": "",
    "def h(x): x[0] = 1\n    def g(x, y): h(y)\n    g(a, b)": "b",
    "for row in a: row[0] = 1": "a",
    "for i, (x, y) in enumerate(zip(b, c)): y[0] = x[0]": "bc",
    "a.fill(0); b[0].sort()": "ab",
    "np.sqrt(b, out=a); np.add(b, b, c[0])": "ac",
    "x = a.reshape(-1); x[0] = 1; y = np.ravel(b); y[0] = 1; z = c.copy(); z[0] = 1": "ab",
    "(x := a)[0] = 1": "a",
    "for i in range(len(a)): b[i] = a[i]": "b",
}


NAMES = {"fill": fill, "fill_later": fill_later, "read": read, "same": same, "math": math, "np": np}


@pytest.mark.parametrize("body", CASES)
def test_written(body):
    function = define(f"def f(a, b, c):\n    {body}\n", **NAMES)
    assert "".join(sorted(capture(function).written)) == CASES[body]


def test_nested_functions():
    def kernel(a, b, c):
        def inner(x, y):
            x[0] = y[0]
            c[0] = 1

        inner(a, b)

    assert capture(kernel).written == {"a", "c"}


def test_recursion_ends():
    function = define("def f(a, n):\n    a[0] = n\n    f(a, n - 1)\n")
    assert capture(function).written == {"a"}


def test_each_callee_is_read_once():
    lines = ["def f0(a, b):\n    a[0] = b[0]\n"]
    lines += [f"def f{k}(a, b):\n    f{k - 1}(a, b)\n    f{k - 1}(a, b)\n" for k in range(1, 60)]
    last = define("\n".join(lines), "chain.py")
    assert capture(last).written == {"a"}


def test_callees_that_call_each_other():
    text = "def g(a, b, n):\n    if n:\n        h(b, a, n)\n\ndef h(a, b, n):\n    a[0] = 1\n    g(a, b, n - 1)\n\n"
    text += "def f(a, b):\n    g(a, b, 3)\n    h(a, b, 3)\n"
    assert capture(define(text, "each_other.py")).written == {"a", "b"}


def test_parameters_that_stand_for_functions():
    def twice(f, a, b):
        g(f, a)
        f(a, b)

    def g(f, a):
        f(a, 1)

    source = capture(twice)
    assert source.written == {"a", "b"}  # whatever f may be
    assert written_parameters(source.function, source.definition.tree, {"f": read}) == set()
    assert written_parameters(source.function, source.definition.tree, {"f": fill}) == {"a"}
    assert written_parameters(source.function, source.definition.tree, {"f": same}) == set()
