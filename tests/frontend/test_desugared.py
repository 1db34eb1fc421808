"""`match`, and contexts in which only warnings differ, against CPython."""

from __future__ import annotations

import ast
import warnings

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same
from loopwright.frontend.desugared import desugared


def of_numbers(a):
    n = 0
    for v in a:
        match int(v) % 4:
            case 0:
                n += 1
            case 1:
                n += 10
                continue
            case 2 if n > 20:
                n -= 7
            case 2 | -3:
                break
            case _:
                n += 100
        n += 1000
    return n


def of_pairs(a):
    found = np.zeros(len(a), np.int64)
    for k in range(len(a)):
        match (a[k] > 1, k):
            case (True, 0) | (_, 3):
                found[k] = 1
            case (False, 1 | 2):
                found[k] = 2
            case (_, _) if a[k] < 0:
                found[k] = 3
    return found


def of_texts(a, kind):
    match kind:
        case "sine":
            y = np.sin(a)
        case "cosine" | "cos":
            y = np.cos(a)
        case None:
            y = a
        case _:
            raise ValueError("unknown kind")
    return y.sum()


def muted(a, b):
    with np.errstate(divide="ignore", invalid="warn"):
        c = a / b
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("ignore", message="overflow")
        for i in range(len(c)):
            with np.errstate(all="ignore"):
                if c[i] != c[i]:
                    continue
                c[i] = c[i] * 1e300
        return c


@pytest.mark.parametrize("a", [np.arange(7.0), np.array([2.0, 1.0, 6.0, 9.0]), np.array([-3.0, np.pi]), np.zeros(0)])
def test_match(a):
    same(of_numbers, a)
    same(of_numbers, a[::-1])
    same(of_pairs, a)
    for kind in ("sine", "cos", None, "tan"):
        same(of_texts, a, kind)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_contexts_without_warnings(device):
    a, b = np.array([1.0, 0.0, -2.0, 3.0]), np.array([0.0, 0.0, 4.0, -1e-10])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = muted(a, b)
    assert np.array_equal(lw.kernel(muted, device=device)(a, b), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("with np.errstate(divide='raise'):\n        return a[0] / 2", "'with'"),
        ("with np.errstate(all='ignore') as state:\n        return a[0]", "'with'"),
        ("with open('x'):\n        return a[0]", "'with'"),
        ("match a[0]:\n        case x:\n            return x", "'match'"),
        ("match (a[0], 1):\n        case [first, *rest]:\n            return 1", "'match'"),
        ("match a[0]:\n        case int():\n            return 1", "'match'"),
    ],
)
def test_others_are_refused(body, says):
    assert says in refusal(define(f"def f(a):\n    {body}\n"), np.ones(2))


def test_what_has_neither_is_the_same_object():
    tree = ast.parse("def f(a):\n    return a[0]\n").body[0]
    assert isinstance(tree, ast.FunctionDef) and desugared(tree) is tree
