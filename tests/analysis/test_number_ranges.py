"""Which checks of conversions never fail: by the text of a kernel, and by what CPython does with the same function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.number_ranges import number_ranges
from loopwright.ir.nodes import Checked
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import expressions

FITS = "{0} >= -9.223372036854776e+18 and {0} < 9.223372036854776e+18"
INTEGER = f"checked(int64(x), {FITS.format('x')}, not_finite)"

PROVEN = [
    "x = sqrt(float64(b[0]))\nk = @",
    "x = float64(n)\nif x < 1000.0:\n    if x > -1000.0:\n        k = @",
    "if abs(d[0]) < 5.0:\n    x = float64(b[0])\nelse:\n    x = 1.0\nk = @",
    "x = min(max(float64(n), 0.0), 255.0)\nk = @",
    "for i in 0 .. 10:\n    x = float64(i) * 0.5 + 1.0\n    k = @",
    "for i in 10 .. 0 step -1:\n    x = 100.0 / float64(i)\n    k = @",
    "x = 0.0\nfor i in 0 .. n:\n    x = float64(b[i]) / 3.0\nk = @",
    "x = d[0]\nif x >= 0.0 and x < 7.5:\n    k = @",
    "x = d[0]\nif not x >= 0.0 or x > 9.0:\n    k = 0\nelse:\n    k = @",
    "x = d[0]\nk = 3 if not x < 4.0 or x < 2.0 else @",
    "x = tanh(d[0] if d[0] == d[0] else 0.0)\nif x == x:\n    k = @",
    "x = float64(b[0]) * float64(b[0])\nx = sqrt(x - 1.0 if x >= 1.0 else 1.0)\nk = @",
    "x = 1.0\nblock done:\n    if n > 3:\n        x = 2.0\n        leave done\n    x = 3.0\nk = @",
]  # fmt: skip

UNPROVEN = [
    "x = d[0]\nk = @",
    "x = d[0]\nif not x > 255.0:\n    k = @",  # NaN
    "x = d[0]\nif x < 255.0:\n    k = @",
    "x = 0.0\nfor i in 0 .. n:\n    x = x + 1.0\nk = @",
    "x = 1.0\nfor i in 0 .. n:\n    k = @\n    x = x * d[i]",
    "x = sqrt(float64(n))\nk = @",
    "x = float64(b[0]) / (float64(b[1]) - 5.0)\nk = @",
    "x = max(d[0], 0.0)\nx = min(x, 255.0)\nk = @",  # NaN at the left stays
    "x = 1.0\nif n > 3:\n    x = d[0]\nk = @",
    "x = 1.0\nwhile x < 100.0 named w:\n    x = x * d[0]\nk = @",
    "block done:\n    x = d[0]\n    if n > 3:\n        leave done\n    x = 3.0\nk = @",
    "x = 2.0\nfor i in 0 .. n:\n    x = d[i]\n    if x > 0.0:\n        break i\n    x = 1.0\nk = @",
]  # fmt: skip


def checks(text: str) -> list[bool]:
    lines = ["kernel k(b: uint8[1] C, d: float64[1] C, n: int64):", "    var x: float64", "    var k: int64"]
    lines += ["    " + line for line in text.replace("@", INTEGER).split("\n")]
    kernel = parse_kernel("\n".join(lines) + "\n")
    found = number_ranges(kernel).checks
    return [found[id(check)] for check in expressions(kernel.body, Checked) if check.kind == "not_finite"]


@pytest.mark.parametrize("text", PROVEN)
def test_what_never_fails_is_known(text: str) -> None:
    assert checks(text) == [True]


@pytest.mark.parametrize("text", UNPROVEN)
def test_what_may_fail_is_not(text: str) -> None:
    assert checks(text) == [False]


def edges(img: Any, out: Any, back: Any, factor: float) -> None:
    """Conversions that never fail, one of numbers on both sides of zero, whose zero is not -0.0, and one that may."""
    for i in range(1, img.shape[0] - 1):
        d = int(img[i + 1]) - int(img[i - 1])
        m = math.sqrt(d * d + 3)
        out[i] = 255 if m > 255 else int(m)
        k = int(d / 100)
        back[i] = k * 1.0
        out[0] = np.uint8(int(min(max(img[i] * factor, 0.0), 9.0)))


@pytest.mark.parametrize("factor", [0.01, -1.0, math.inf, math.nan, 1e300])
def test_conversions_without_a_check_are_those_of_python(factor: float) -> None:
    img = np.random.default_rng(1).integers(0, 256, 300).astype(np.uint8)
    found = []
    for run in (edges, lw.kernel(edges), lw.kernel(device="interpreter")(edges)):
        out, back = np.zeros(300, np.uint8), np.zeros(300)
        error = _error(run, img, out, back, factor)
        found.append((error, *([] if error else (out.tolist(), back.tolist(), np.signbit(back).tolist()))))
    assert found[1:] == found[:1] * 2


def _error(run: Callable[..., object], *arguments: Any) -> type[Exception] | None:
    try:
        run(*arguments)
    except (ValueError, OverflowError):  # of an infinity Python says the one, and we the other
        return ValueError
    return None
