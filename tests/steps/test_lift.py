"""Arrays that loops inside another loop make anew, made once in each iteration of that one."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.steps.lift import Lift
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

NEW = """
kernel new(n: int64, m: int64, a: float64[1] C, b: float64[1] C):
    var top: float64
    for i in 0 .. n:
        for s in 0 .. 3:
            if a[i] > -5.0:
                allocate t: float64[m, 2]
                for k in 0 .. m:
                    t[k, 0] = a[i] + float64(k)
                    t[k, 1] = b[k] * float64(s)
                for k2 in 0 .. m:
                    a[i] = a[i] + t[k2, 0] - t[k2, 1]
"""
FILLED = NEW.replace("float64[m, 2]", "float64[m, 2] = 1.5").replace(
    "                    t[k, 1] = b[k] * float64(s)\n", ""
)


def test_the_picture() -> None:
    check_picture(Lift)


@pytest.mark.parametrize("text", [NEW, FILLED])
def test_it_is_made_once_and_its_size_is_tested_where_it_was(text: str) -> None:
    made = print_kernel(check_same(text, "lift t i"))
    assert made.index("allocate t: float64[max(0, m), 2]") < made.index("for s in")
    assert made.index("if a[i]") < made.index("t.n = checked(0, m >= 0, negative_size)")


@pytest.mark.parametrize("step", ["", "lift t i"])
def test_a_negative_size_is_an_error(step: str) -> None:
    kernel = after(FILLED, step) if step else known(FILLED)[0]
    with pytest.raises(ValueError, match="negative"):
        interpret(kernel, [2, -1, np.zeros(5), np.zeros(5)])
    assert interpret(kernel, [2, -1, np.full(5, -9.0), np.zeros(5)]) is None  # nothing is made


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (NEW, "lift t q", "q"),
        (NEW, "lift a i", "'a' is no local array"),
        (NEW.replace("float64[m, 2]", "float64[s + 1, 2]"), "lift t i", "not known at the beginning of 'i'"),
        (NEW.replace("float64[m, 2]", "float64[int64(b[0]), 2]"), "lift t i", "not known at the beginning of 'i'"),
        (NEW.replace("0 .. n:", "0 .. n parallel:"), "lift t i", "marked"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)
