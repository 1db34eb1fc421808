from __future__ import annotations

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.codegen.openmp import generate
from loopwright.ir.text import parse_kernel

TEXT = """
kernel f(a: float64[1] C, b: int64[1] C, g: float32[1] C, z: float64):
    var x: float64
    var n: int64
    var q: float32
    var d: bool
    for i in 0 .. size(a, 0) lockstep 1:
        x = a[i]
        n = b[i]
        q = g[i]
        d = False
        while x > 1.0 named w:
            {statement}
        a[i] = x
        b[i] = n
        g[i] = q
        if d:
            a[i] = 0.0
"""


def text_of(statement: str, strict: bool = False, deterministic: bool = False) -> str:
    """What stands in a round."""
    kernel = parse_kernel(TEXT.format(statement=statement))
    text = generate(kernel, analyse(kernel), False, strict, deterministic).text
    rounds = text[text.index("lw_bits = lw8_bits(") :]
    return rounds[rounds.index("break;") : rounds.index("*(lw8_")]


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("x = x * z", "lw8_all_float64(z_)"),
        ("n = n // 8", "lw8_shr_int64("),
        ("n = n % 8", "& lw8_all_int64(7L)"),
        ("n = n % 7", "LW_EACH(lw8_int64, LW_LANES(8), lw_"),
        ("x = float64(n)", "lw8_double_int64("),
        ("x = float64(q)", "__builtin_convertvector("),
        ("n = int64(x)", "LW_EACH(lw8_int64, LW_LANES(8), ((int64_t)lw_toint_float64("),
        ("d = n > 3", "(lw8_int64)("),
        ("d = q > 3.0f32", "__builtin_convertvector(("),
        ("x = 0.0 - x", "LW_EACH("),  # a negative has another zero
        ("x = min(x, z)", "lw8_chosen_float64("),
        ("x = x if d else z", "lw8_chosen_float64("),
        ("x = sqrt(x)", "lw8_sqrt_float64("),
        ("q = sin(q)", "LW_EACH(lw8_float32"),  # half a register
    ],
)
def test_how_a_value_is_computed(statement: str, word: str) -> None:
    assert word in text_of(statement)


def test_functions_of_registers_only_where_last_digits_may_differ() -> None:
    assert "lw8_asin_float64(" in text_of("x = arcsin(x)")
    assert "lw8_pow_float64(" in text_of("x = x ** z")
    for exact in ({"strict": True}, {"deterministic": True}):
        assert "LW_EACH(lw8_float64, LW_LANES(8), asin(" in text_of("x = arcsin(x)", **exact)
