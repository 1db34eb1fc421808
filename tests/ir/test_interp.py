"""The interpreter: small kernels whose meaning is plain, and every way in which one can fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ir.sample_texts import SMOOTH
from loopwright.errors import ArgumentTypeError, BoundsError, NegativeSizeError
from loopwright.ir.interp import interpret, prepare
from loopwright.ir.nodes import Location
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import rewrite_body


def run(text: str, *arguments: object) -> object:
    kernel = parse_kernel(text)
    verify(kernel)
    return interpret(kernel, arguments)


def value_of(expression: str, type: str = "int64", head: str = "", *arguments: object) -> object:
    """An expression's value; `head` declares parameters."""
    return run(f"kernel f({head}) -> {type}:\n    return {expression}\n", *arguments)


# ---- the way in and the way out -------------------------------------------------------------------------------


def test_a_stencil() -> None:
    a, b = np.arange(12.0).reshape(3, 4), np.zeros((3, 8))[:, ::-2]
    total = run(SMOOTH, a, b)
    assert type(total) is float and total == 11.0
    assert b[1].tolist() == [0, 5, 6, 0] and not b[[0, 2]].any()


def test_scalars_become_their_type() -> None:
    value = value_of("x", "float32", "x: float32", 0.1)
    assert type(value) is np.float32 and value == np.float32(0.1)
    assert type(value_of("x", "python bool", "x: bool", np.True_)) is bool
    with pytest.raises(OverflowError):
        value_of("x", "int8", "x: int8", 300)


def test_what_is_returned() -> None:
    text = "kernel f(a: int64[1] C) -> tuple(array r, int16, array a):\n    result r: bool[2] = True\n    return 7i16\n"
    a = np.arange(3)
    result = run(text, a)
    assert isinstance(result, tuple) and result[2] is a
    assert result[0].dtype == bool and result[0].tolist() == [True, True]
    assert type(result[1]) is np.int16
    assert run("kernel f() -> tuple(python int64):\n    return 1\n") == (1,)
    assert run("kernel f():\n    return\n") is None
    assert run("kernel f(a: int64[1] C) -> array a:\n    pass\n", a) is a
    assert run("kernel f() -> tuple():\n    pass\n") == ()


def test_fields_of_records_share_the_memory() -> None:
    inner = np.dtype([("pad", "i1"), ("w", "f4", (2,))])
    records = np.zeros(6, [("name", "O"), ("cells", inner, (3,))])
    text = "kernel f(p.w: float32[3] strided unaligned offset 9 tail 3:9 tail 2:4):\n    p.w[-1, 2, 1] = 5.0f32\n"
    run(text, records[::-2])
    assert records["cells"]["w"].sum() == 5 and records["cells"]["w"][1, 2, 1] == 5
    views = run("kernel f(p.w: float32[1] strided offset 9) -> array p.w:\n    pass\n", records)
    assert isinstance(views, np.ndarray) and np.shares_memory(views, records)


def test_several_fields_of_one_argument() -> None:
    points = np.zeros(4, [("x", "f8"), ("n", "u1")])
    text = """\
kernel f(p.x: float64[1] strided, p.n: uint8[1] strided unaligned argument 0 offset 8, k: float64 argument 1):
    for i in 0 .. size(p.x, 0):
        p.x[i] = k
        p.n[i] = uint8(i) - 1u8
"""
    run(text, points, 2.5)
    assert points["x"].tolist() == [2.5] * 4 and points["n"].tolist() == [255, 0, 1, 2]


def test_unsuitable_arguments_are_refused() -> None:
    text = "kernel f(a: int32[1] C):\n    pass\n"
    for bad in ([1, 2], np.zeros((2, 2), np.int32), np.zeros(2), np.zeros(2, ">i4")):
        with pytest.raises(ArgumentTypeError, match="argument 'a'"):
            run(text, bad)


def test_a_read_only_array_may_be_read() -> None:
    a = np.arange(3)
    a.flags.writeable = False
    assert value_of("a[2]", "python int64", "a: int64[1] C", a) == 2
    with pytest.raises(ValueError, match="read-only"):
        run("kernel f(a: int64[1] C):\n    a[0] = 1\n", a)


def test_prepared_kernels_keep_nothing_between_calls() -> None:
    call = prepare(parse_kernel("kernel f(n: int64) -> array r:\n    result r: int64[n] = 0\n    r[0] = n\n"))
    first, second = call((2,)), call((1,))
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    assert (first.tolist(), second.tolist()) == ([2, 0], [1])


# ---- bounds and checks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "value"), [(0, 10), (2, 12), (-1, 12), (-3, 10)])
def test_negative_indices_count_from_the_end(index: int, value: int) -> None:
    assert value_of("a[i]", "python int64", "a: int64[1] C, i: int64", np.arange(10, 13), index) == value


@pytest.mark.parametrize("index", [3, -4, 2**62, -(2**63)])
@pytest.mark.parametrize("stmt", ["x = a[0, i]", "a[0, i] = 1"])
def test_an_index_outside_is_an_error_that_says_where(stmt: str, index: int) -> None:
    kernel = parse_kernel(f"kernel f(a: int64[2] C, i: int64):\n    var x: int64\n    {stmt}\n")
    at = Location("f.py", 3, 4, 8)
    kernel = replace(kernel, body=rewrite_body(kernel.body, lambda s: (replace(s, at=at),), _located(at)))
    with pytest.raises(BoundsError) as error:
        interpret(kernel, (np.zeros((2, 3), np.int64), index))
    found = error.value
    assert (found.array, found.axis, found.index, found.size, found.at) == ("a", 1, index, 3, at)


def _located(at: Location):
    return lambda expr: replace(expr, at=at) if hasattr(expr, "at") else expr


def test_the_first_axis_outside_is_named_and_earlier_writes_remain() -> None:
    a = np.zeros((2, 2))
    text = "kernel f(a: float64[2] C):\n    a[0, 0] = 1.0\n    a[5, 7] = 2.0\n"
    with pytest.raises(BoundsError, match="index 5 is out of bounds for axis 0 of 'a' with size 2"):
        run(text, a)
    assert a[0, 0] == 1


def test_indices_come_before_the_value_and_the_value_before_the_bound() -> None:
    head = "kernel f(a: int64[1] C, b: int64[1] C):\n    "
    a, b = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(BoundsError, match="of 'b'"):
        run(head + "a[9] = b[9]\n", a, b)
    with pytest.raises(BoundsError, match=r"index 8.*of 'b'"):
        run(head + "a[b[8]] = b[9]\n", a, b)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("zero_division", ZeroDivisionError), ("overflow", OverflowError), ("unassigned", UnboundLocalError),
        ("negative_power", ValueError), ("zero_step", ValueError), ("not_finite", ValueError),
    ],
)  # fmt: skip
def test_a_failed_check_is_pythons_own_error(kind: str, error: type[Exception]) -> None:
    expression = f"checked(a[0], x > 0, {kind})"
    head = "x: int64, a: int64[1] C"
    assert value_of(expression, "python int64", head, 1, np.array([7])) == 7
    with pytest.raises(error):
        value_of(expression, "int64", head, 0, np.array([], np.int64))  # the condition comes first


def test_a_step_of_zero_is_an_error_even_unchecked() -> None:
    with pytest.raises(ValueError, match="must not be zero"):
        run("kernel f(n: int64):\n    for i in 0 .. n step n:\n        pass\n", 0)


def test_arrays_of_impossible_sizes() -> None:
    text = "kernel f(n: int64):\n    allocate t: float64[2, n]\n"
    with pytest.raises(NegativeSizeError):
        run(text, -1)
    for size in (2**60, 2**62, 2**45):
        with pytest.raises(MemoryError):
            run(text, size)
    with pytest.raises(NegativeSizeError):
        run("kernel f(n: int64) -> array r:\n    result r: int8[n]\n", -5)


# ---- expressions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    ["x > 0 or a[9] > 0", "not (x < 0 and a[9] > 0)", "True if x > 0 else a[9] > 0", "a[9] > 0 if x < 0 else True"],
)
def test_lazy_operators_leave_the_other_side_alone(expression: str) -> None:
    assert value_of(expression, "python bool", "x: int64, a: int64[1] C", 1, np.zeros(1, np.int64)) is True


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("right", [True, False])
def test_and_and_or(left: bool, right: bool) -> None:
    assert value_of("a and b", "bool", "a: bool, b: bool", left, right) is np.bool_(left and right)
    assert value_of("a or b", "bool", "a: bool, b: bool", left, right) is np.bool_(left or right)


def test_operators_keep_the_operands_type() -> None:
    assert value_of("x + 100i8", "int8", "x: int8", 100).dtype == np.int8  # type: ignore[attr-defined]
    assert value_of("x + 100i8", "python int8", "x: int8", 100) == -56
    assert value_of("x / 0.0f32", "python float32", "x: float32", 1.0) == math.inf  # and no warning
    assert value_of("sqrt(x)", "float32", "x: float32", 2.0) == np.float32(math.sqrt(2))
    assert value_of("hypot(x, 4.0)", "python float64", "x: float64", 3.0) == 5
    assert value_of("size(a, 1) * 10 + size(a, 0)", "python int64", "a: bool[2] F", np.zeros((2, 3), bool)) == 32


# ---- statements -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, -5, 1), (-2, 7, 4), (7, 2, -1)])
def test_loops_are_pythons_range(bounds: tuple[int, int, int]) -> None:
    text = """\
kernel f(l: int64, u: int64, s: int64, out: int64[1] C) -> python int64:
    var n: int64
    var end: int64
    n = 0
    end = u
    for i in l .. end step s:
        out[n] = i
        n = n + 1
        end = 0
    return n
"""
    out = np.zeros(10, np.int64)
    count = run(text, *bounds, out)
    assert isinstance(count, int) and out[:count].tolist() == list(range(*bounds))


JUMPS = """\
kernel f(out: int64[1] C) -> python int64:
    var n: int64
    n = 0
    for i in 0 .. 10:
        block b:
            for j in 0 .. 10:
                if j == 1:
                    continue j
                if i == 3:
                    leave b
                if j == 4:
                    break j
                out[i] = out[i] + 1
            out[i] = out[i] + 100
        if i == 7:
            break i
    while True named w:
        n = n + 1
        if n < 5:
            continue w
        if n == 20:
            return n
        if n == 9:
            break w
    for k in 0 .. 3:
        while n > 0 named v:
            return n * 1000 + k
    return -1
"""


def test_jumps_end_what_they_name() -> None:
    out = np.zeros(10, np.int64)
    assert run(JUMPS, out) == 9000
    assert out.tolist() == [103, 103, 103, 0, 103, 103, 103, 103, 0, 0]


def test_a_local_array_is_fresh_each_time() -> None:
    text = """\
kernel f(out: int64[1] C):
    for i in 0 .. size(out, 0):
        allocate t: int64[i + 1] = 5
        t[0] = t[0] + i
        out[i] = t[0] + size(t, 0)
"""
    out = np.zeros(3, np.int64)
    run(text, out)
    assert out.tolist() == [6, 8, 10]


def test_arrays_may_be_empty() -> None:
    result = run("kernel f() -> array r:\n    result r: float32[2, 0, 3]\n")
    assert isinstance(result, np.ndarray) and result.shape == (2, 0, 3) and result.dtype == np.float32


def test_one_array_passed_twice_is_one_parameter() -> None:
    a = np.array([1, 2, 3])
    run("kernel f(a: int64[1] C argument 1):\n    a[0] = a[2]\n", a, a)
    assert a.tolist() == [3, 2, 3]
