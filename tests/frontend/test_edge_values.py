"""Operators and conversions at the edges of their types: every difference from CPython is one that the page on the
language names, and every difference that it names is one."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from frontend import edge_values
from frontend.edge_values import BINARY, PYTHON, Case, Refused, values
from frontend.judge import alike, define, outcome

PAGE = Path(__file__).parents[2] / "docs" / "language.md"


def raises(value: object, *classes: type) -> bool:
    return isinstance(value, type) and issubclass(value, classes)


def is_number(value: object) -> bool:
    return isinstance(value, bool | int | float | np.generic)


def wraps(case: Case) -> bool:
    return type(case.expected) is int and type(case.found) is int and (case.expected - case.found) % 2**64 == 0


def is_busy(case: Case) -> bool:
    """CPython has no memory for an int that is 0 in 64 bits."""
    return raises(case.expected, MemoryError, OverflowError) and "<<" in case.text and case.found == 0


def too_large_int(case: Case) -> bool:
    return type(case.expected) is int and not -(2**63) <= case.expected < 2**63 and raises(case.found, OverflowError)


def huge_literal(case: Case) -> bool:
    return case.found is Refused and str(2**64) in case.text


def negative_power(case: Case) -> bool:
    return "**" in case.text and raises(case.found, ValueError) and (
        type(case.expected) is float or raises(case.expected, ZeroDivisionError)
    )  # fmt: skip


def quotient_of_ints(case: Case) -> bool:
    return " / " in case.text and close(case) and type(case.found) is float


def close(case: Case, rounding: float = 4e-16) -> bool:
    if type(case.expected) is not type(case.found) or not is_number(case.found):
        return False
    return math.isclose(float(case.expected), float(case.found), rel_tol=rounding)


def to_integers(case: Case) -> bool:
    return bool(re.fullmatch(r"np\.u?int\d+\(x\)", case.text)) and "float" in case.kinds[0]


def by_zero(case: Case) -> bool:
    found = case.found
    return raises(case.expected, ZeroDivisionError) and type(found) is float and not math.isfinite(found)


def power_of_floats(case: Case) -> bool:
    failed = isinstance(case.expected, complex) or raises(case.expected, OverflowError)
    return "**" in case.text and failed and type(case.found) is float and not math.isfinite(case.found)


def math_error(case: Case) -> bool:
    failed = raises(case.expected, ValueError, OverflowError)
    return case.text.startswith("math.") and failed and type(case.found) is float and not math.isfinite(case.found)


def last_digit(case: Case) -> bool:
    is_float = isinstance(case.found, float | np.floating)
    return is_float and ("**" in case.text or case.text.startswith("math.")) and close(case, 2e-15)


def one_type(case: Case) -> bool:
    if not re.search(r"min|max| and | if ", case.text):
        return False
    if case.found is Refused or raises(case.found, OverflowError):
        return any(kind in case.kinds for kind in ("Python int", "uint64", "uint8", "int64"))
    if not is_number(case.expected) or not is_number(case.found):
        return False
    together = np.result_type(case.found).type
    return np.array_equal(together(case.expected), together(case.found), equal_nan=together(0).dtype.kind == "f")


def more_accepted(case: Case) -> bool:
    return raises(case.expected, TypeError) and case.text in ("round(x)", "math.trunc(x)")


def exact_floor(case: Case) -> bool:
    return case.text in ("math.floor(x)", "math.ceil(x)") and case.kinds[0] in ("int64", "uint64")


def same_nan(case: Case) -> bool:
    return " in " in case.text and case.expected is True and any(x != x for x in case.operands)


Rule = Callable[[Case], bool]
DOCUMENTED: dict[str, tuple[Rule, ...]] = {
    "Python's integers wrap at 64 bits": (wraps, is_busy, huge_literal),
    "a conversion to a Python int that 64 bits cannot hold": (too_large_int,),
    "An int to a negative power": (negative_power,),
    "An int divided by an int": (quotient_of_ints,),
    "A float converted to a NumPy integer type": (to_integers,),
    "A Python float divided by zero": (by_zero,),
    "A power of Python floats": (power_of_floats,),
    "Functions of `math`": (math_error,),
    "The last digit of a power or a function": (last_digit,),
    "One type for several values": (one_type,),
    "Accepted where Python raises `TypeError`": (more_accepted, exact_floor),
    "`in` compares with `==`": (same_nan,),
}


def of_some_machines() -> set[str]:
    """What need not be met here: NumPy has powers of its own where it may use AVX-512, elsewhere they are C's."""
    return (
        set()
        if np._core._multiarray_umath.__cpu_features__.get("AVX512_SKX")
        else {"The last digit of a power or a function"}
    )


def always_raises(case: Case) -> bool:
    """Refused before anything runs, where Python raises: as good an answer."""
    return case.found is Refused and isinstance(case.expected, type)


def undocumented(cases: Iterable[Case], met: set[str]) -> Iterator[Case]:
    for case in cases:
        names = [name for name, rules in DOCUMENTED.items() if any(rule(case) for rule in rules)]
        met.update(names[:1])
        if not names and not always_raises(case):
            yield case


def test_every_difference_is_documented_and_every_document_is_true():
    met: set[str] = set()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = itertools.chain(edge_values.differences(), edge_values.differences_with_literals())
        new = list(itertools.islice(undocumented(cases, met), 20))
    assert not new, "\n".join(map(str, new))
    assert set(DOCUMENTED) - met <= of_some_machines(), "these are no differences any more"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_documented_difference_is_a_line_of_the_page(name):
    assert f"**{name}**" in re.sub(r"\s+", " ", PAGE.read_text())


def test_a_difference_that_nobody_wrote_down_is_noticed():
    made_up = Case("x + y", ("int8", "int8"), (np.int8(1), np.int8(1)), np.int8(2), np.int8(3))
    assert list(undocumented([made_up], set())) == [made_up]


def test_a_python_int_and_a_python_float_are_compared_exactly():
    function = define(
        "def f(n, x):\n    return n == x, n != x, n < x, n <= x, n > x, n >= x, x == n, x < n\n", "mixed.py"
    )
    kernel, big = lw.kernel(function), (2**53 + 1, 2.0**53)
    assert kernel(*big) == function(*big) == (False, True, False, False, True, True, False, True)
    for n in values("Python int"):
        for x in values("Python float"):
            assert kernel(n, x) == function(n, x), (n, x)


@pytest.mark.parametrize("kinds", [("Python int", "Python int"), ("Python float", "Python float"), ("int64", "uint64")])
@pytest.mark.parametrize("group", ["arithmetic", "comparisons"])
def test_compiled_code_does_what_the_reference_does(kinds, group):
    texts = BINARY[group][:6]
    function = define(f"def f(x, y):\n    return {', '.join(texts)}\n", f"{group}.py")
    kernel = lw.kernel(function)
    for operands in itertools.product(values(kinds[0]), values(kinds[1])):
        with lw.options(device="interpreter"):
            expected = kernel(*operands)
        assert alike(expected, kernel(*operands)), operands


@pytest.mark.parametrize("device", ["cpu", "interpreter"])
@pytest.mark.parametrize(
    ("text", "operands"),
    [
        *[("int(x)", (x,)) for x in (math.inf, -math.inf, math.nan)],
        *[(text, (3, -1)) for text in ("x << y", "x >> y")],
        *[(text, (3, 0)) for text in ("x // y", "x % y")],
    ],
)
def test_what_raises_raises_what_python_raises(device, text, operands):
    """`int(inf)` is an OverflowError and `int(nan)` a ValueError; a negative shift is a ValueError."""
    given = ", ".join("xy"[: len(operands)])
    function = define(f"def f({given}):\n    return {text}\n", f"{len(text)}{device}.py")
    expected = outcome(function, operands)
    assert isinstance(expected, type)
    with lw.options(device=device):
        assert outcome(lw.kernel(function), operands) is expected


def test_python_kinds_come_first():
    assert edge_values.KINDS[:3] == PYTHON


@pytest.mark.parametrize("value", [np.float64(math.inf), np.float64(math.nan), np.float64(1e300)])
def test_a_constant_that_cannot_be_converted_raises_what_python_raises(value):
    function = define("def f(n):\n    return n + int(VALUE)\n", "constant.py", VALUE=value)
    expected = outcome(function, (1,))
    found = outcome(lw.kernel(function), (1,))
    assert found is (expected if isinstance(expected, type) else OverflowError)
