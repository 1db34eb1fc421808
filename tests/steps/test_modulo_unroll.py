from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.modulo_unroll import ModuloUnroll
from steps.before_after import check_same
from steps.kernels import ROWS, known
from steps.pictures import check_picture
from steps.test_specialize import numbers

FRAME = "kernel some(a: float64[1] C, b: float64[1] C, n: int64, m: int64):\n"
SOME = {
    "quotients": """
    for i in 0 .. n:
        a[i] = b[(i + 3) // 2] + b[(i - 5) % 3] + float64((i - 7) // 2 + (i >> 1) + (i & 3))
""",
    "late": """
    for i in 3 .. n:
        if i % 2 == 0:
            a[i] = b[i // 2]
        else:
            a[i] = a[i - 1] + b[0]
""",
    "constant": """
    for i in 1 .. 24:
        a[i] = b[i // 4] * float64(i % 4)
""",
    "sums": """
    for i in 0 .. n:
        a[i] = float64((i + m) % 2)
""",
    "multiples": """
    for i in 0 .. n:
        a[i] = float64(i * 4611686018427387904 // 4 + (i * 6364136223846793005 >> 1) + i // 2)
        a[i] = a[i] + float64((i + 9223372036854775800) // 2)
""",
    "from": """
    for i in m .. n:
        a[i] = float64(i % 2)
""",
}


def text_of(name: str) -> str:
    return FRAME + SOME[name].lstrip("\n")


def test_the_picture() -> None:
    check_picture(ModuloUnroll)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (ROWS, ModuloUnroll("k", 2), "no loop 'k'"),
        (ROWS, ModuloUnroll("i", 2), "nothing in 'i' depends on what it leaves divided by 2"),
        (text_of("late"), ModuloUnroll("i", 3), "nothing in 'i'"),
        (text_of("sums"), ModuloUnroll("i", 2), "nothing in 'i'"),
        (text_of("from"), ModuloUnroll("i", 2), "does not count up from a constant"),
    ],
)
def test_refusals_say_why(text: str, step: ModuloUnroll, word: str) -> None:
    rejection = step.illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_any_number_of_iterations(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(30), numbers(40), n, m] for n, m in product((-1, 0, 1, 2, 6, 7, 24), (0,))]
    for name, factor in (("quotients", 6), ("quotients", 2), ("late", 2), ("late", 4), ("constant", 4)):
        check_same(text_of(name), f"modulo_unroll i {factor}", calls, tmp_path if name == "quotients" else None)


def test_multiples_of_the_variable_wrap_around_as_before() -> None:
    check_same(text_of("multiples"), "modulo_unroll i 2", [[np.zeros(30), numbers(40), 24, 0]])


def test_what_depends_on_remainders_is_decided() -> None:
    calls: list[list[object]] = [[np.zeros(30), numbers(40), 24, 0]]
    text = print_kernel(check_same(text_of("late"), "modulo_unroll i 2", calls)).partition("for i in")[0]
    assert "if" not in text and "//" not in text.partition("for i.u")[2].partition("\n")[2]
