from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.repeated_loops import without_repeated_loops
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

HEAD = "kernel k(a: float64[1] C, b: float64[1] C, n: int64):\n" + "".join(
    f"    var {name}: float64\n" for name in ("s", "t", "u", "xi", "xj", "xk")
)
SUM = "    {0} = 0.0\n    for {1} in 0 .. n:\n        {0} = {0} + a[{1}]\n"
FILL = (
    "    allocate {0}: float64[n]\n    for {1} in 0 .. n:\n        x{1} = a[{1}] * 2.0\n        {0}[{1}] = x{1} + 1.0\n"
)


def shortened(body: str) -> str:
    """The body without repetitions, which computes the same."""
    kernel = parse_kernel(HEAD + body)
    changed = without_repeated_loops(kernel)
    verify(changed)
    for n in (0, 1, 5):
        outcomes = []
        for one in (kernel, changed):
            a, b = np.arange(5.0) + 1, np.zeros(5)
            interpret(one, [a, b, n])
            outcomes.append((a.tolist(), b.tolist()))
        assert outcomes[0] == outcomes[1]
    return print_kernel(changed)


def test_a_sum_that_is_made_again_is_the_first_one() -> None:
    text = shortened(SUM.format("s", "i") + SUM.format("t", "j") + "    b[0] = s + t\n")
    assert text.count("for ") == 1 and "t = s" in text


def test_so_is_one_of_which_the_first_is_used_up_before() -> None:
    body = SUM.format("s", "i") + "    b[1] = s / 2.0\n" + SUM.format("t", "j") + SUM.format("u", "k")
    text = shortened(body + "    b[0] = t * u\n")
    assert text.count("for ") == 1


def test_an_array_that_is_made_again_is_the_first_one() -> None:
    text = shortened(
        FILL.format("p", "i") + FILL.format("q", "j") + "    for k in 0 .. size(q, 0):\n        b[k] = p[k] + q[k]\n"
    )
    assert text.count("for ") == 2 and "b[k] = p[k] + p[k]" in text and "size(p, 0)" in text


def test_what_depends_on_it_is_made_once_too() -> None:
    both = "".join(
        FILL.format(p, i) + f"    {s} = 0.0\n    for {j} in 0 .. n:\n        {s} = {s} + {p}[{j}]\n"
        for p, i, j, s in (("p", "i", "j", "s"), ("q", "k", "l", "t"))
    )
    assert shortened(both + "    b[0] = s - t\n").count("for ") == 2


@pytest.mark.parametrize(
    "between",
    ["    a[0] = 9.0\n", "    for h in 0 .. 1:\n        a[h] = 9.0\n", "    s = 7.0\n",
     "    if n > 2:\n        s = 7.0\n"],
)  # fmt: skip
def test_what_changes_in_between_is_computed_again(between: str) -> None:
    text = shortened(SUM.format("s", "i") + "    b[1] = s\n" + between + SUM.format("t", "j") + "    b[0] = t\n")
    assert "a[j]" in text


@pytest.mark.parametrize(
    "body",
    [
        SUM.format("s", "i") + "    t = 1.0\n    for j in 0 .. n:\n        t = t + a[j]\n    b[0] = s + t\n",
        SUM.format("s", "i") + "    for j in 0 .. n:\n        s = s + a[j]\n    b[0] = s\n",
        SUM.format("s", "i") + "    t = 0.0\n    for j in 0 .. n - 1:\n        t = t + a[j]\n    b[0] = s + t\n",
        FILL.format("p", "i") + FILL.format("q", "j") + "    q[0] = 3.0\n    b[0] = p[0] + q[0]\n",
        FILL.format("p", "i") + FILL.format("q", "j") + "    if n > 0:\n        b[0] = xj + q[0] + p[0]\n",
    ],
)
def test_what_is_not_the_same_stays(body: str) -> None:
    kernel = parse_kernel(
        HEAD + body.replace("allocate p: float64[n]", "xi = 0.0\n    xj = 0.0\n    allocate p: float64[n]")
    )
    assert print_kernel(without_repeated_loops(kernel)).count("for ") == 2


AGAIN = "    {0} = {0} * 2.0\n    for {1} in 0 .. n:\n        {0} = {0} + a[{1}]\n"
BOUNDED = "    {2} = 0.0\n    for {1} in 0 .. {0}:\n        {0} = 5\n        {2} = {2} + a[{1}] * float64({0})\n"


@pytest.mark.parametrize(
    "body",
    [
        "    s = 1.0\n    t = 2.0\n    b[1] = s + t\n" + AGAIN.format("s", "i") + AGAIN.format("t", "j"),
        "    p = 3\n    q = 1\n" + BOUNDED.format("p", "i", "s") + BOUNDED.format("q", "j", "t"),
    ],
)
def test_what_begins_with_something_else_is_computed_again(body: str) -> None:
    text = shortened("    var p: int64\n    var q: int64\n" + body + "    b[0] = s - t\n")
    assert text.count("for ") == 2


def standardised(x):
    return (x - x.mean()) / x.std()


def of_columns(x):
    return x.mean(axis=0), x.var(axis=0), x.mean(axis=0) / x.std(axis=0)


def spread(x):
    return x.max() - x.min(), x.max(), x.min(), x.sum() / x.max()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("function", [standardised, of_columns, spread])
def test_numpy_code_means_what_it_did(function, device: str) -> None:  # type: ignore[no-untyped-def]
    x = np.random.default_rng(4).random((40, 3)) + 1.0
    x = x if function is of_columns else x.ravel()
    with lw.options(device=device):
        found = lw.kernel(function)(x)
    for mine, right in zip(found, function(x), strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-12)
