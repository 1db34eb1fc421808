"""print() in kernels: what Python prints, in order, also before an exception, to whatever stdout is."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal


def prints(a, b, n, flag):
    print("begin")
    print()
    for i in range(n):
        if i % 2 == 0:
            print("row", i, a[i], a[i] * 0.1, i > 1, sep=", ")
        else:
            print(i, end="; ")
    print(
        f"{a[0]:.3f}|{n:>5d}|{n}|{flag}",
        b[0],
        -0.0,
        1e300 * a[1],
        f"{np.float32(n)} {np.float32(0.1)}",
        "é → ∞",
        None,
        (n, 0.5),
        2**40 * n,
    )
    print("sum", a.sum(), np.float32(0.1), n / 7, a[0] > 1.0, np.uint64(2**63) + b[1], flush=True)
    if n > 4:
        raise ValueError("too many")
    return n


def _printed(function, *arguments):
    found = io.StringIO()
    with contextlib.redirect_stdout(found):
        try:
            result = function(*arguments)
        except ValueError as error:
            result = type(error)
    return result, found.getvalue()


@pytest.mark.parametrize("n", [0, 2, 5])
def test_as_python(n):
    arguments = np.array([1.0, np.inf, 3.5, 1e22, 5e-324]), np.array([7, 9], np.uint64), n, True
    kernel = lw.kernel(prints)
    assert _printed(kernel, *arguments) == _printed(prints, *arguments)
    assert _printed(kernel, *arguments) == _printed(prints, *arguments)


def draws_and_prints(n):
    np.random.seed(n)
    for _ in range(3):
        print(np.random.rand())


def test_what_draws_can_print():
    assert _printed(lw.kernel(draws_and_prints), 4) == _printed(draws_and_prints, 4)


def test_capsys(capsys):
    lw.kernel(draws_and_prints)(1)
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("call", ["print(a)", "print(n, file=None)", "print(f'{n!r}')"])
def test_refused(call):
    function = define(f"def f(a, n):\n    {call}\n    return n\n", f"print_{len(call)}.py")
    assert "KernelError" in refusal(function, np.zeros(3), 2)
