"""Which functions get names, so that they can be computed before loops."""

from __future__ import annotations

import pytest

from loopwright.ir.dear_invariants import dear_invariants_named
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

HEAD = """
kernel some(a: float64[2] C, b: float64[1] C, c: float64[1] C, x: float64, n: int64, m: int64):
    var s: float64
    for i in 0 .. n:
        s = 0.0
"""


def named(text: str) -> str:
    kernel = dear_invariants_named(parse_kernel(HEAD.lstrip("\n") + text))
    verify(kernel)
    return print_kernel(kernel)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("s + c[i] * cos(b[j])", "cos.1 = cos(b[j])"),
        ("s + cos(b[j] + x) * cos(c[i])", "cos.1 = cos(b[j] + x)"),
        ("s + exp(-b[j] * b[j]) * 2.0 * c[i]", "exp.1 = exp(-b[j] * b[j]) * 2.0"),
        ("s + sqrt(c[i] + b[j] ** x)", "power.1 = b[j] ** x"),
        ("s + c[i] * cos(a[0, j])", "cos.1 = cos(a[0, j])"),
    ],
)
def test_what_is_the_same_for_all_iterations_of_the_loop_around(value: str, name: str) -> None:
    target = "b[0]" if "a[0, j]" in value else "a[i, 0]"
    text = named(f"        for j in 0 .. m:\n            s = {value}\n        {target} = s\n")
    assert f"            {name}\n" in text


@pytest.mark.parametrize(
    "value",
    [
        "s + cos(b[j] + c[i])",  # differs everywhere
        "s + cos(c[i])",  # the same for all of the inner loop, which compilers see
        "s + cos(x)",
        "s + sqrt(b[j])",  # as cheap as to look it up
        "s + b[j] ** 2.0",
        "s + (cos(b[j]) if c[i] > 0.0 else 0.0)",  # only computed under a condition
        "s + cos(s + b[j])",
        "s + cos(a[j, 0])",  # changes meanwhile
        "checked(s, c[i] > 0.0, zero_division) + cos(b[j])",  # whose error would come first
    ],
)
def test_what_stays(value: str) -> None:
    text = f"        for j in 0 .. m:\n            s = {value}\n        a[i, 0] = s\n"
    assert ".1 =" not in named(text)


def test_tables_along_two_loops_are_small_or_as_large_as_an_array() -> None:
    body = "        for p in 0 .. {}:\n            for q in 0 .. {}:\n                s = s + exp({}) * c[i]\n"
    body += "        b[0] = s\n"
    product = "float64(p * q)"
    assert "exp.1 = exp(float64(p * q))" in named(body.format("5", "7", product))
    assert "exp.1 = exp(float64(p * q))" in named(body.format("250", "256", product))
    for end in ("m", "20000"):
        assert "exp.1" not in named(body.format("5", end, product))
    assert "exp.1 = exp(a[p, q])" in named(body.format("n", "m", "a[p, q]"))


def test_under_a_condition_nothing_is_named() -> None:
    text = (
        "        for j in 0 .. m:\n            if c[i] > 0.0:\n                s = s + cos(b[j])\n        a[i, 0] = s\n"
    )
    assert "cos.1" not in named(text)


HALVED = """        for j in 0 .. m:
            h = {first}
            {second}s = s + c[i] * cos(h)
        a[i, 0] = s
"""


def test_scalars_that_were_set_before_are_what_they_are_worth() -> None:
    head = HEAD.lstrip("\n").replace("    var s: float64\n", "    var s: float64\n    var h: float64\n")
    for first, second, is_named in (
        ("b[j] / 2.0", "", True),
        ("c[i] / 2.0", "", False),  # the same for all of the inner loop
        ("b[j] / 2.0", "h = h + c[i]\n            ", False),  # set twice
        ("s + b[j]", "", False),
    ):
        kernel = dear_invariants_named(parse_kernel(head + HALVED.format(first=first, second=second)))
        verify(kernel)
        assert ("cos.1 = cos(b[j] / 2.0)" in print_kernel(kernel)) is is_named, first
