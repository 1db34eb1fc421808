"""Lists of arrays that are made of others at once, or have no name: they hold copies, and it may not show."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def written(x):
    x[0][1] = 77.0


def summed(x):
    return x[0].sum() + x[1].max()


def rows(m):
    return list(m)


NAMES = {"written": written, "summed": summed, "rows": rows}
SHOWN = (
    "x = list(m); x[1][1] = 4.0",
    "x = list(m); m[1, 1] = 4.0; a[0] = x[1][1]",
    "x = sorted(m, key=lambda r: -r[0]); x[0][1] = 4.0",
    "x = list(reversed(m)); x[0][1] = 4.0",
    "x = [a, b] * 2; x[0][1] = 4.0",
    "x = list((a, b)); x[0][1] = 4.0",
    "x = list(m)[1]; x[1] = 4.0",
    "x = [[r for r in m][0], b]; x[0][1] = 4.0",
    "x = [r for r in m][1]; x[1] = 4.0",
    "x = list(m).pop(); x[0] = 4.0",
    "written([r for r in m])",
    "written([a, b])",
    "x = rows(m); x[0][1] = 3.0",
    "x = rows(m); m[0, 1] = 3.0; a[0] = x[0][1]",
    "for x in list(m): x[0] = 9.0",
    "for x in sorted(m, key=lambda r: r[0]): x[0] = 9.0",
    "for x in list(m): m[1, 1] = 9.0; a[0] += x[1]",
)
SAME = (
    "for x in [a, b]: x[1] = 9.0",
    "x = np.array([r for r in m]); m[0, 0] = 5.0; a[0] = x[0, 0]",
    "m[0, 0] = 4.0; a[0] = max([r.sum() for r in m]) + summed([a, b]); x = list(m); b[:] = x[1]",
    "x = [r.copy() for r in m][0]; x[0] = 4.0; a[0] = x[0]; b[1] = summed(rows(m))",
    "for x in sorted(m, key=lambda r: -r[0]): a += x",
)


@pytest.mark.parametrize("statements", SHOWN)
def test_a_copy_that_would_show_is_refused(statements):
    said = refusal(define(f"def f(a, b, m):\n    {statements}\n", **NAMES), np.ones(2), np.ones(2), np.eye(2))
    assert "copies of arrays or lists here" in said or "a copy of" in said


LISTS_SHOWN = (
    "x = list(r); x[0][0] = 5; return r[0][0]",
    "x = list(r); r[1][0] = 5; return x[1][0]",
    "x = sorted(r, key=len); x[0][0] = 5; return r[1][0]",
    "x = list(reversed(r)); x[0][0] = 5; return r[1][0]",
)
OWN_LISTS_SHOWN = (*LISTS_SHOWN, "x = r * 2; x[0][0] = 5; return r[0][0] + x[2][0]",
                   "x = []; x.extend(r); x[0][0] = 5; return r[0][0]")  # fmt: skip
LISTS_SAME = (
    "x = list(r); return len(x) + x[0][1]",
    "x = sorted(r, key=len); return x[0][0] * 10 + r[0][0]",
    "r[0][0] = 9; x = list(r); return x[0][0]",
    "x = [row[:] for row in r]; x[0][0] = 5; return r[0][0] * 10 + x[0][0]",
)


@pytest.mark.parametrize("statements", OWN_LISTS_SHOWN)
def test_a_copy_of_lists_in_a_list_that_would_show_is_refused(statements):
    said = refusal(define(f"def f(n):\n    r = [[1, 2], [n]]\n    {statements}\n"), 3)
    assert "copies of arrays or lists here" in said or "a copy of" in said


@pytest.mark.parametrize("statements", LISTS_SHOWN)
def test_a_copy_of_lists_in_a_list_of_the_callers_is_refused(statements):
    with pytest.raises(lw.KernelError, match="copies of arrays or lists here"):
        lw.kernel(define(f"def f(r):\n    {statements}\n"))([[1, 2], [3]])


def test_lists_that_are_in_a_list_several_times():
    said = refusal(define("def f(n):\n    x = [[1, 2], [3]] * 2\n    x[0][0] = n\n    return x[2][0]\n"), 3)
    assert "a list of several lists that change cannot be repeated" in said


@pytest.mark.parametrize("statements", LISTS_SAME)
def test_a_copy_of_lists_that_does_not_show(statements):
    function = define(f"def f(r):\n    {statements}\n")
    assert lw.kernel(function)([[1, 2], [3]]) == function([[1, 2], [3]])


@pytest.mark.parametrize("statements", SAME)
def test_a_copy_that_does_not_show(statements):
    function = define(f"def f(a, b, m):\n    {statements}\n    return a.sum()\n", **NAMES)
    same(function, np.array([3.0, 1.0]), np.array([2.0, 4.0]), np.arange(4.0).reshape(2, 2))
