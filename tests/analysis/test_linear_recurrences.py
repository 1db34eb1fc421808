from __future__ import annotations

import pytest

from loopwright.analysis.linear_recurrences import LinearValue, linear_value
from loopwright.analysis.reductions import NotAReduction
from loopwright.ir.nodes import For
from loopwright.ir.printing import print_expr
from loopwright.ir.queries import types_assigned
from loopwright.ir.text import parse_kernel


def value_of(update: str, type_: str = "float64") -> LinearValue:
    kernel = parse_kernel(
        f"""
kernel one(a: float64[1] C, b: int64[1] C, c: int32[1] C, d: float32[1] C):
    var x: {type_}
    x = {type_}(0)
    for i in 0 .. size(a, 0):
        x = {update}
"""
    )
    loop = kernel.body[-1]
    assert isinstance(loop, For)
    return linear_value(loop, "x", types_assigned(loop.body)["x"])


@pytest.mark.parametrize(
    ("update", "part", "adds", "scaling"),
    [
        ("a[i] * x + 1.0", "a[i] * x", True, "any"),
        ("x * a[i]", "x * a[i]", False, "any"),
        ("0.5 * x - a[i]", "0.5 * x", True, "down"),
        ("a[i] - 2.0 * x", "-(2.0 * x)", True, "any"),
        ("x + 0.1 * (a[i] - x)", "x + 0.1 * -x", True, "any"),
        ("(x + a[i]) / 2.0", "x / 2.0", True, "any"),
        ("-x", "-x", False, "none"),
        ("x + a[i]", "x", True, "none"),
        ("x if a[i] > 0.0 else a[i]", "x if a[i] > 0.0 else 0.0", True, "none"),
        ("-0.5 * x if a[i] > 0.0 else x", "-0.5 * x if a[i] > 0.0 else x", False, "down"),
    ],
)
def test_what_goes_with_the_scalar(update: str, part: str, adds: bool, scaling: str) -> None:
    value = value_of(update)
    (only,) = value.updates
    assert only.part is not None and print_expr(only.part) == part
    assert (value.adds, value.scaling, value.exact) == (adds, scaling, False)
    assert value.forgets is part.endswith("else 0.0")


def test_what_is_set_forgets() -> None:
    value = value_of("a[i]")
    assert value.forgets and value.adds and value.scaling == "none"


@pytest.mark.parametrize(
    ("update", "type_"),
    [
        ("31 * x + b[i]", "int64"),
        ("int32((int64(x) << 5) - int64(x) + b[i])", "int32"),
        ("float32(0.5 * float64(x) + a[i])", "float32"),
    ],
)
def test_conversions_that_keep_sums(update: str, type_: str) -> None:
    assert value_of(update, type_).exact is (type_ != "float32")


@pytest.mark.parametrize(
    ("update", "type_"),
    [
        ("x * x", "float64"),
        ("a[i] / x", "float64"),
        ("abs(x)", "float64"),
        ("a[i] if x > 0.0 else 0.5 * x", "float64"),
        ("int64(int32(x) * c[i])", "int64"),  # bits above the 32nd are lost, and the sign is made of the 32nd
        ("int64(float64(x) * 0.5)", "int64"),
        ("x // 2", "int64"),
        ("(x + b[i]) % 10", "int64"),
        ("b[i] << x", "int64"),
    ],
)
def test_what_is_no_affine_map(update: str, type_: str) -> None:
    with pytest.raises(NotAReduction, match="order matters"):
        value_of(update, type_)
