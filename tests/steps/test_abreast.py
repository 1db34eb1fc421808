"""Iterations side by side through inner loops that they run more or less often."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.analysis.analyse import analyse
from loopwright.ir.nodes import For
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.abreast import Abreast, waits_for_itself
from steps.before_after import after, check_same
from steps.kernels import PREFIX, ROWS, known
from steps.pictures import check_picture
from steps.same import refusal
from steps.test_redirect import WORK, calls

ROWS_OF = """
kernel rows_of(t: int64[1] C, x: float64[1] C, a: float64[1] C):
    var s: float64
    var m: float64
    for i in 0 .. size(a, 0):
        s = 1.0
        for k in t[i] - 2 .. 7 step 2:
            s = s * 2.0 + float64(k)
        m = s + x[i]
        for k in t[i] .. -3 step -1:
            m = m + x[i] * float64(k)
            a[i] = a[i] + m
        a[i] = m + s
"""


def test_the_picture() -> None:
    check_picture(Abreast)


@pytest.mark.parametrize("text", [WORK, ROWS_OF])
def test_the_same_is_computed(text: str, tmp_path: Path) -> None:
    check_same(text, "abreast i 4; parallelize i.o", calls(), tmp_path)
    check_same(text, "group i 16; abreast i.g 4; parallelize i.o", calls(), tmp_path)


def test_what_fails_in_an_inner_loop_still_does() -> None:
    text = WORK.replace("x[i]\n", "x[i + k]\n")
    long = [np.array([1, 2, 3, 2, 9]), np.ones(8), np.zeros(5)]
    check_same(text, "abreast i 2", [[np.array([1, 2, 3, 2, 1]), *long[1:]]])
    check_same(text, "abreast i 2", [long])


def test_what_an_inner_loop_reads_again_is_read_once() -> None:
    text = print_kernel(after(WORK, "abreast i 4"))
    assert "s.x[i.l.2] * 2.0 + x.v[i.l.2]" in text
    changing = print_kernel(after(WORK.replace("s * 2.0 + x[i]", "s * 2.0 + x[k]"), "abreast i 4"))
    assert "x.v" not in changing
    sometimes = WORK.replace("s * 2.0 + x[i]", "s * 2.0 + (x[i - 1] if i > 0 else 0.0)")
    assert "x.v" not in print_kernel(after(sometimes, "abreast i 4"))  # x[-1] must not be read


@pytest.mark.parametrize(
    ("body", "waits"),
    [("s = s * 2.0 + x[i]", True), ("s = s * 2.0 + x[k]", False), ("a[i] = a[i] * 2.0 + x[i]", False)],
)
def test_when_it_gains(body: str, waits: bool) -> None:
    kernel, _ = known(WORK.replace("s = s * 2.0 + x[i]", body))
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    assert waits_for_itself(loop, analyse(kernel)) == waits


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        (PREFIX, "abreast i", "no loop stands directly in 'i'"),
        (ROWS.replace("b[i, j] =", "b[0, j] ="), "abreast i", "different iterations of 'i' touch the same element"),
        (ROWS, "abreast j", "no loop stands directly in 'j'"),
        (WORK, "abreast i 1", "from 2 to 64 iterations go side by side"),
        (WORK.replace("size(a, 0):", "size(a, 0) step 2:"), "abreast i", "the step of 'i' is not 1"),
        (WORK.replace("a[i] = s", "if s > 2.0:\n            a[i] = s"), "abreast i", "'i' holds more than assignments"),
        (WORK + "    a[0] = s\n", "abreast i", "the value of 's' after its last iteration is needed"),
        (WORK.replace("in 0 .. size(a, 0):", "in 0 .. size(a, 0) parallel:"), "abreast i", "marked to run parallel"),
    ],
)
def test_refusals_say_why(text: str, step: str, reason: str) -> None:
    assert reason in refusal(text, step, strict=False)
