"""Every operator between every pair of types, against CPython and NumPy: values, result types, refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from frontend.judge import define, kernel_of, outcome, refusal, same, same_value
from loopwright.errors import KernelError
from loopwright.ir.interp import interpret
from loopwright.ir.types import ALL

VALUES: dict[str, list[object]] = {
    "weak bool": [True, False],
    "weak int": [-7, 0, 3, 120, 300],
    "weak float": [-2.5, 3.0, 1e10],
    "bool": [np.bool_(True), np.bool_(False)],
    "float32": [np.float32(v) for v in (-1.5, 0.0, 7.25, np.nan)],
    "float64": [np.float64(v) for v in (-1.5, 0.0, 7.25, np.inf)],
} | {
    kind.name: [kind.dtype.type(v) for v in (kind.minimum, 0, 5, kind.maximum)] for kind in ALL if kind.is_integer
}  # fmt: skip
PAIRS = list(itertools.product(VALUES, VALUES))
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


def differs_by_design(sign: str, a: object, b: object) -> bool:
    """Python's unbounded ints, its errors for floats, and its floats from integer powers: documented."""
    if isinstance(a, np.generic) or isinstance(b, np.generic):
        return False
    if sign in ("/", "//", "%") and b == 0:
        return sign == "/" or isinstance(a, float) or isinstance(b, float)
    if sign == "**":
        return isinstance(b, float) or b < 0 or a in (0, False) or abs(b) > 9  # type: ignore[operator]
    return sign in ("<<", ">>")


@pytest.mark.parametrize("sign", ARITHMETIC)
def test_arithmetic_of_all_types(sign: str) -> None:
    function = define(f"def f(a, b):\n    return a {sign} b\n")
    for left, right in PAIRS:
        for a, b in itertools.product(VALUES[left], VALUES[right]):
            if differs_by_design(sign, a, b):
                continue
            try:
                expected = outcome(function, (a, b))
            except TypeError:
                assert "KernelError" in refusal(function, a, b)
                continue
            if np.asarray(expected).dtype == np.float16:
                assert "float16" in refusal(function, a, b)
                continue
            same(function, a, b)


@pytest.mark.parametrize("sign", COMPARISONS)
def test_comparisons_of_all_types(sign: str) -> None:
    function = define(f"def f(a, b):\n    return a {sign} b\n")
    for left, right in PAIRS:
        for a, b in itertools.product(VALUES[left], VALUES[right]):
            same(function, a, b)


LITERALS = ["-7", "0", "3", "300", "2**40", "2**63", "-1.5", "1e300", "True"]


@pytest.mark.parametrize("sign", ARITHMETIC + COMPARISONS)
def test_literals_beside_all_types(sign: str) -> None:
    """A constant that NumPy refuses beside a type is refused before anything runs."""
    for literal, left in itertools.product(LITERALS, (True, False)):
        expression = f"{literal} {sign} a" if left else f"a {sign} {literal}"
        if sign == "**" and literal in ("-7", "300", "2**40", "2**63", "1e300"):
            continue
        function = define(f"def f(a):\n    return {expression}\n")
        for kind, a in ((kind, a) for kind, values in VALUES.items() for a in values):
            b = eval(literal)
            if differs_by_design(sign, *((b, a) if left else (a, b))) or ("weak" in kind and literal == "2**63"):
                continue
            try:
                expected = outcome(function, (a,))
            except TypeError:
                assert "KernelError" in refusal(function, a)
                continue
            if np.asarray(expected).dtype == np.float16 or (kind == "bool" and literal == "2**63"):
                continue
            try:
                same(function, a)
            except KernelError:
                assert expected in (OverflowError, ValueError, ZeroDivisionError), expression


def test_constants_are_computed_by_python() -> None:
    function = define("def f():\n    return 2**62 - 1 + 2**62, 7 // -2, -7 % 3, 1 / 3, 2**-1, ~5, 5 & 3, True + True\n")
    assert same(function) == (2**63 - 1, -4, 2, 1 / 3, 0.5, -6, 1, 2)


@pytest.mark.parametrize("expression", ["-a", "+a", "~a", "not a", "abs(a)", "bool(a)", "float(a)"])
def test_unary_operators_of_all_types(expression: str) -> None:
    function = define(f"def f(a):\n    return {expression}\n")
    for a in itertools.chain(*VALUES.values()):
        try:
            outcome(function, (a,))
        except TypeError:
            assert "KernelError" in refusal(function, a)
            continue
        same(function, a)


@pytest.mark.parametrize("expression", ["int(a)", "math.floor(a)", "math.ceil(a)", "math.trunc(a)", "round(a)"])
def test_to_python_ints(expression: str) -> None:
    function = define(f"def f(a):\n    return {expression}\n", math=math)
    for a in itertools.chain(*VALUES.values(), [np.float32(2.5), 2.5, 3.5, -0.4, np.nan, math.inf, 1e300]):
        if isinstance(a, np.uint64) and a > 2**63:
            continue
        try:
            expected = outcome(function, (a,))
        except TypeError:  # math.trunc(np.float32(1)): NumPy has left it out
            continue
        if expected is OverflowError or (isinstance(expected, int) and abs(expected) >= 2**63):
            continue  # ValueError here
        same(function, a)


@pytest.mark.parametrize("expression", ["1 // 0", "1 % 0", "1 / 0", "1.5 // 0", "0.0 ** -1", "x // 0", "x % (1 - 1)"])
def test_a_division_by_a_constant_zero_fails_where_it_is_made(expression: str) -> None:
    function = define(f"def f(x, y):\n    if y:\n        x = {expression}\n    return x\n")
    assert same(function, 3, True) is ZeroDivisionError
    same_value(function, 3, False)


@pytest.mark.parametrize("sign", ["<<", ">>"])
def test_shifts_of_python_ints(sign: str) -> None:
    function = define(f"def f(a, b):\n    return a {sign} b\n")
    for a, b in itertools.product((0, 1, -5, 1000), (0, 1, 40)):
        same(function, a, b)
    assert same(function, 1, -1) is ValueError


def test_powers_of_python_ints() -> None:
    function = define("def f(a, b):\n    return a ** b\n")
    assert same(function, -3, 5) == -243
    assert outcome(lambda *given: interpret(kernel_of(function, *given), given), (2, -1)) is ValueError
    same(define("def f(a):\n    return a ** -2, a ** 2, 2 ** a\n"), 4)
    assert "negative power" in refusal(define("def f(a):\n    return a ** -2\n"), np.int8(2))


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_choose_as_python_does(name: str) -> None:
    function = define(f"def f(a, b, c):\n    return {name}(a, b, c)\n")
    for values in ((1.0, math.nan, 2.0), (math.nan, 1.0, 2.0), (0.0, -0.0, 0.0), (-0.0, 0.0, -0.0), (3, -2, 5)):
        same(function, *values)
        same(function, *map(np.float64, values))
    same(function, np.int8(3), np.int8(-3), np.int8(100))
    same(function, np.bool_(True), np.bool_(False), np.bool_(True))


@pytest.mark.parametrize("sign", COMPARISONS)
def test_a_comparison_that_is_certain_still_reads_its_operand(sign: str) -> None:
    function = define(f"def f(a, i):\n    return a[i] {sign} 300, -1 {sign} a[i]\n")
    same(function, np.zeros(3, np.uint8), 2)
    assert same(function, np.zeros(3, np.uint8), 3) is IndexError
