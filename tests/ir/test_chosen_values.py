"""Conditional assignments as choices: which, where they stand beside others, and that values stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.chosen_values import with_choices
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel

HEAD = """
kernel f(a: float64[1] C, b: float64[1] C, out: float64[1] C, m: float64):
    var s: float64
    var t: float64
    s = m
    t = m
    for i in 0 .. size(a, 0):
"""
TAIL = "        out[i] = s + 2.0 * t\n"
CHOSEN = {
    "if a[i] < s:\n            s = a[i]": ("s = a[i] if a[i] < s else s",),
    "if m < 3.0:\n            s = t + m": ("s = t + m if m < 3.0 else s",),
    # what the condition asks is chosen behind the others, anything else before them
    "if a[i] < s:\n            s = a[i]\n            t = -m": ("t = -m\n", "s = a[i] if a[i] < s else s"),
    "if a[i] < t:\n            s = a[i]\n            t = -m": ("s = a[i] if a[i] < t else s", "t = -m\n"),
    "if a[i] < s and b[i] < 3.0:\n            s = -a[i]": ("s = -a[i] if a[i] < s and b[i] < 3.0 else s",),
}
LEFT = (
    "if a[i] < s:\n            s = b[i]",  # it may be outside
    "if a[i] < 3.0 and b[i] < s:\n            s = b[i]",
    "if a[i] < s:\n            s = exp(a[i])",
    "if a[i] < s:\n            s = a[i] / m",
    "if a[i] < s:\n            s = t\n            t = m",
    "if a[i] < s:\n            s = m\n            t = s",
    "if a[i] < s + t:\n            s = m\n            t = a[i]",
    "if a[i] < s:\n            s = a[i]\n            s = s + 1.0",
    "if a[i] < s:\n            s = a[i]\n        else:\n            t = m",
    "if a[i] < s:\n            s = a[i]\n            b[i] = m",
)


def kernels(body: str) -> tuple[Kernel, Kernel]:
    kernel = parse_kernel(f"{HEAD}        {body}\n{TAIL}")
    return kernel, Kernel(**{**fields_of(kernel), "body": with_choices(kernel.body, "s")})


def fields_of(kernel: Kernel) -> dict[str, object]:
    return {name: getattr(kernel, name) for name in Kernel.__dataclass_fields__}


@pytest.mark.parametrize("body", CHOSEN)
def test_choices_stand_where_values_stay_the_same(body: str) -> None:
    before, after = kernels(body)
    text = print_kernel(after)
    places = [text.index(part) for part in CHOSEN[body]]
    assert places == sorted(places)
    for m in (0.0, 5.0, float("nan")):
        a, b = np.array([3.0, -1.0, 7.0, np.nan, 2.0]), np.array([9.0, 1.0, 2.0, 1.0, 0.0])
        outs = [np.zeros(5), np.zeros(5)]
        for kernel, out in zip((before, after), outs, strict=True):
            interpret(kernel, [a, b, out, m])
        np.testing.assert_array_equal(*outs)


@pytest.mark.parametrize("body", LEFT)
def test_what_takes_long_may_fail_or_is_needed_stays_a_branch(body: str) -> None:
    before, after = kernels(body)
    assert after.body is before.body
