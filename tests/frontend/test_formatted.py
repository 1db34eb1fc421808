"""Texts in prints and exceptions, however they are written; and those with a name before they are raised or printed."""

# ruff: noqa: UP030, UP031, UP032

from __future__ import annotations

import ast

import numpy as np
import pytest

import loopwright as lw
from loopwright.frontend.formatted import as_f_string, with_texts_in_place

A = np.array([1.5, -2.25, 1e6])


def percents(a, n):
    print("n is %d, a[0] is %.3f, %g%% of %s" % (n, a[0], a[1], n))
    print("%5d|%-5d|%05d|%+d|% d" % (n, n, n, n, n))
    print("%8.2f|%-8.2f|%08.2f|%+.1e|%G" % (a[0], a[0], a[1], a[2], a[2]))
    print("%d" % a[1], "%d" % 7, "%.2f" % n)


def braces(a, n):
    print("{0} and {1:.3f}".format(n, a[0]))
    print("{}|{:>6}|{x:.2e}|{{}}".format(n, n, x=a[2]))
    print("-" * 5 + "+", "a" + str(n) + "b", str(a[0]), "n=" + str(n))


def named(a, n):
    text = f"{n} items"
    print(text)
    line = "%d: %.1f" % (n, a[0])
    print(line, end=";\n")
    label = "sum" + " of"
    print(label, a.sum())
    for k in range(2):
        step = "step " + str(k)
        print(step)


def of_a_constant(a, n):
    line = "%s|%.2f"
    if n > 0:
        print(line % (n, a[0]), line)
    print(f"{n!s} {a[1]!s}", "%s" % a[0])
    form = "{} of {:.1f}"
    print(form.format(n, a[0]))


def single(a, n):
    b = a.astype(np.float32) / np.float32(3)
    print(b[0], f"{b[0]} {b[0]:.3f}", str(b[0]), "%s %.2f" % (b[0], b[1]), "{}".format(b[0]), f"{b[0]!s}")


@pytest.mark.parametrize("function", [percents, braces, named, of_a_constant, single])
@pytest.mark.parametrize("n", [3, -12])
def test_what_is_printed_is_pythons(function, n, capsys):
    function(A, n)
    expected = capsys.readouterr().out
    lw.kernel(function)(A, n)
    assert capsys.readouterr().out == expected


def checked(a, n):
    said = "failed after {} of {:.2f}"
    if n < 0:
        message = f"n is {n}"
        raise ValueError(message)
    if n > 8:
        message = "no more than %s" % 8
        raise IndexError(message)
    if n == 7:
        error = KeyError("seven")
        raise error
    if n == 6:
        raise ValueError("six: {}".format(n))
    if n == 5:
        raise ValueError(said.format(n, a[0]))
    return a[n]


@pytest.mark.parametrize("n", [-1, 9, 7, 6, 5, 1])
def test_exceptions_with_a_named_text(n):
    try:
        expected = checked(A, n)
    except Exception as error:
        with pytest.raises(type(error)) as ours:
            lw.kernel(checked)(A, n)
        assert n != 5 or str(ours.value) == str(error)
    else:
        assert lw.kernel(checked)(A, n) == expected


@pytest.mark.parametrize(
    "text",
    ['"%d" % (a, b)', '"%d %d" % a', '"%r" % a', '"%5s" % a', '"%(x)d" % a', '"{!r}".format(a)', '"{0.x}".format(a)',
     '"{:{w}}".format(a, w=3)', '"{}{}".format(a)', '"a" + "b"', '"a" + b', "a % b", '"%"  % a', '"{".format(a)'],
)  # fmt: skip
def test_what_has_no_such_form_stays(text):
    assert as_f_string(ast.parse(text, mode="eval").body) is None


def test_a_text_that_is_used_otherwise_keeps_its_name():
    for body in ("m = f'{n}'\n    print(m)\n    return m", "m = f'{n}'\n    n = 2\n    print(m)",
                 "m = f'{n}'\n    print(m, m)"):  # fmt: skip
        tree = ast.parse(f"def f(n):\n    {body}\n").body[0]
        assert isinstance(tree, ast.FunctionDef)
        assert with_texts_in_place(tree) is tree
