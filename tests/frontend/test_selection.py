"""Masks and arrays of indices: what they choose, what is assigned through them, what is out of range."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

READ = [
    "a[a > 1]", "a[~(a > 1)]", "a[mask]", "a[mask] * 2", "a[p]", "a[p][::-1]", "a[p[::-1]]", "a[p] + a[p]", "m[p]",
    "m[:, p]", "m[p, p]", "m[p, 0]", "m[1, p]", "m[p[:, None], p]", "m[m > 2]", "m[mask[:3]]", "a[[0, 2]]",
    "a[np.argsort(a)]", "np.nonzero(a)[0]", "np.where(a > 1)[0]", "np.flatnonzero(m > 2)", "np.nonzero(m)[1]",
    "a[1:][p]", "a[p].sum()", "len(a[mask])", "np.sum(a[mask])", "a[a > 99]", "m[p, 1:]",
]  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_what_is_chosen(text):
    function = define(f"def f(a, m, mask, p):\n    return {text}\n")
    for p in (np.array([2, 0, -1]), np.array([1], np.int32), np.zeros(0, np.int64)):
        same(
            function,
            np.array([3.0, 0.0, 2.0, 1.0]),
            np.arange(9.0).reshape(3, 3),
            np.array([True, False, True, True]),
            p,
        )
    backwards = np.arange(8.0)[::-2]
    same(function, backwards, np.arange(9.0).reshape(3, 3).T, np.zeros(4, bool), np.array([0, 0]))


WRITTEN = [
    "a[a > 1] = 0", "a[mask] = a[mask] * 2", "a[mask] += 1", "a[p] = 7", "a[p] = a[p[::-1]]", "a[p] += 1",
    "m[p] = -1", "m[:, p] = 5", "m[m > 2] = m[m > 2] - 2", "m[p, p] = 3", "m[mask[:3]] = 9",
    "a[mask] = b[: np.sum(mask)]", "a[a < a[0]] = a[1]", "m[m > m[0, 0]] = 0", "a[np.isnan(a)] = 0", "m[p, 0] = p",
    "m[0][mask[:3]] = 2", "m.T[p] = m[p]",
]  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_assigned(text):
    function = define(f"def f(a, b, m, mask, p):\n    {text}\n")
    for p in (np.array([2, 0, -1]), np.array([1, 1]), np.zeros(0, np.int64)):
        for mask in (np.array([True, False, True, False]), np.zeros(4, bool), np.ones(4, bool)):
            same(function, np.array([3.0, np.nan, 2.0, 1.0]), np.arange(4.0), np.arange(9.0).reshape(3, 3), mask, p)


@pytest.mark.parametrize("text", ["a[p]", "m[p, 0]", "m[:, p]", "a[p] * 2", "np.where(a[p] > 0, 1, 2)"])
@pytest.mark.parametrize("bad", [3, -4])
def test_indices_out_of_range(text, bad):
    same(define(f"def f(a, m, p):\n    return {text}\n"), np.arange(3.0), np.zeros((3, 3)), np.array([0, bad, 1]))
    same(define("def f(a, p):\n    a[p] = 1\n"), np.arange(3.0), np.array([bad]))


def test_a_mask_of_another_size():
    same(define("def f(a, mask):\n    return a[mask]\n"), np.arange(3.0), np.ones(3, bool))
    function = define("def f(a, mask):\n    a[mask] = 0\n    return a.sum()\n")
    assert same(function, np.arange(3.0), np.ones(4, bool)) is IndexError


@pytest.mark.parametrize(("text", "message"), [
    ("a[b]", "must be of integer (or boolean) type"), ("a[p, p]", "too many indices"),
    ("m[m > 0, 1]", "too many indices"),
])  # fmt: skip
def test_refused(text, message):
    function = define(f"def f(a, b, m, p):\n    return {text}\n")
    assert message in refusal(function, np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.array([0]))
