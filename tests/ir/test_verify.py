"""Well-formed kernels pass; each invariant is broken once, and named."""

from __future__ import annotations

from textwrap import indent

import pytest

from ir.sample_texts import EVERYTHING, SMOOTH
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    If,
    Kernel,
    Load,
    Location,
    Logical,
    ScalarParam,
    Select,
    Unary,
    Var,
)
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT8
from loopwright.ir.verify import VerifyError, verify

N, F = Var("n", INT64), Var("f", BOOL)
ONE, HALF = Const(1, INT64), Const(0.5, FLOAT64)
PARAMS = (ScalarParam("n", INT64, 0), ScalarParam("f", BOOL, 1), ArrayParam("a", INT64, 2, 2))


@pytest.mark.parametrize("text", [SMOOTH, EVERYTHING])
def test_well_formed_kernels_pass(text: str) -> None:
    verify(parse_kernel(text))


def broken(kernel: Kernel) -> str:
    with pytest.raises(VerifyError) as error:
        verify(kernel)
    return f"{error.value.invariant}: {error.value.node}"


def load(*index: Expr) -> Load:
    return Load("a", index, INT64)


SHARED = load(N, N)


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (Const(300, UINT8), "a literal is a value of its type, uint8: 300u8"),
        (Const(1, FLOAT64), "a literal is a value of its type, float64: 1"),
        (Const(1.0, INT64), "a literal is a value of its type, int64: 1.0"),
        (Const(True, INT64), "a literal is a value of its type, int64: True"),
        (Const(1, BOOL), "a literal is a value of its type, bool: 1"),
        (Var("m", INT64), "'m' is not a scalar, not int64: m"),
        (Var("n", INT32), "'n' is int64, not int32: n"),
        (Var("a", INT64), "'a' is not a scalar, not int64: a"),
        (Dim("a", 2), "an array has the axis whose size is asked: size(a, 2)"),
        (Dim("b", 0), "an array has the axis whose size is asked: size(b, 0)"),
        (load(N), "'a' takes 2 indices: a[n]"),
        (load(N, Cast(N, INT32)), "an index is an int64: int32(n)"),
        (Load("a", (N, N), INT32), "the elements of 'a' are int64: a[n, n]"),
        (Load("b", (N,), INT64), "an array is known, 'b' is not: b[n]"),
        (Binary("add", load(N, ONE), HALF), "operands have one type, not int64 and float64: a[n, 1] + 0.5"),
        (Compare("lt", N, HALF), "operands have one type, not int64 and float64: n < 0.5"),
        (Binary("shl", N, Cast(N, INT32)), "operands have one type, not int64 and int32: n << int32(n)"),
        (Binary("add", F, F), "'add' is not of bool: f + f"),
        (Binary("truediv", N, N), "'truediv' is not of int64: n / n"),
        (Binary("and", HALF, HALF), "'and' is not of float64: 0.5 & 0.5"),
        (Binary("shr", F, F), "'shr' is not of bool: f >> f"),
        (Unary("neg", F), "'neg' is not of bool: -f"),
        (Unary("abs", F), "'abs' is not of bool: abs(f)"),
        (Unary("not", N), "'not' is not of int64: not n"),
        (Unary("invert", HALF), "'invert' is not of float64: ~0.5"),
        (Logical("and", F, N), "lazy 'and' and 'or' are of bools: f and n"),
        (Select(N, N, N), "a condition is a bool: n if n else n"),
        (Select(F, N, HALF), "both sides have one type: n if f else 0.5"),
        (Call("sqrt", (N,), INT64), "arguments are of one float type: sqrt(n)"),
        (Call("sqrt", (HALF,), FLOAT32), "the result is float64: sqrt(0.5)"),
        (Call("isnan", (HALF,), FLOAT64), "the result is bool: isnan(0.5)"),
        (Call("hypot", (HALF,), FLOAT64), "a function has its arguments: hypot(0.5)"),
        (Call("hypot", (HALF, Const(0.5, FLOAT32)), FLOAT64), "arguments are of one float type: hypot(0.5, 0.5f32)"),
        (Checked(N, N, "overflow"), "a condition is a bool: checked(n, n, overflow)"),
        (Binary("add", SHARED, SHARED), "a Load, Store or Checked stands in one place only: a[n, n]"),
    ],
)
def test_ill_formed_expressions(expr: Expr, message: str) -> None:
    assert broken(Kernel("k", PARAMS, (Assign("x", expr),))) == message


def test_an_error_has_the_place() -> None:
    at = Location("f.py", 3, 4, 5)
    with pytest.raises(VerifyError) as error:
        verify(Kernel("k", PARAMS, (Assign("x", Var("m", INT64), at=at),)))
    assert error.value.at is at and str(error.value).startswith("f.py:3:5: VerifyError: 'm' is")


HEAD = "kernel k(n: int64, f: bool, a: float64[1] C)"
PARAMS_OF_HEAD = parse_kernel(f"{HEAD}:\n  pass\n").params


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # names
        ("for n in 0 .. 1:\n pass", "every name is unique, 'n' is not"),
        ("while f named a:\n pass", "every name is unique, 'a' is not"),
        ("for i in 0 .. 1:\n pass\nfor i in 0 .. 1:\n pass", "every name is unique, 'i' is not"),
        ("block b:\n pass\nallocate b: int8[1]", "every name is unique, 'b' is not"),
        ("n = 1", "only a local is assigned"),
        ("a = 1.0", "only a local is assigned"),
        ("for i in 0 .. n:\n i = 3", "only a local is assigned"),
        ("x = 1\nx = 2.0", "a local has one type, 'x' has int64"),
        # statements
        ("a[0] = n", "the elements of 'a' are float64"),
        ("a[] = 1.0", "'a' takes 1 indices"),
        ("b[0] = 1.0", "an array is known, 'b' is not"),
        ("for i in 0 .. 1.0:\n pass", "the bounds and the step of a loop are int64"),
        ("for i in 0 .. 1 step 0:\n pass", "a step is not 0"),
        ("if n:\n pass", "a condition is a bool"),
        ("while n named w:\n pass", "a condition is a bool"),
        ("allocate t: int8[1.0]", "the sizes of an array are int64"),
        ("allocate t: int8[1] = 0", "an array is filled with a value of its type"),
        ("allocate t: int8[1] = 300i8", "a literal is a value of its type, int8"),
        ("break i", "break and continue name the innermost loop around them"),
        ("for i in 0 .. 1:\n for j in 0 .. 1:\n  break i", "break and continue name the innermost loop around them"),
        ("while f named w:\n pass\ncontinue w", "break and continue name the innermost loop around them"),
        ("block b:\n pass\nleave b", "leave names a block around it"),
        ("return 1", "return gives what the kernel returns"),
    ],
)
def test_ill_formed_statements(body: str, message: str) -> None:
    assert broken(parse_kernel(f"{HEAD}:\n{indent(body, '  ')}\n")).startswith(message + ":")


def test_what_may_be_unassigned_may_not_be_read() -> None:
    """Along which paths: test_assigned.py."""
    assert broken(parse_kernel(f"{HEAD}:\n  var x: int64\n  if f:\n    x = 1\n  x = x\n")) == (
        "'x' has a value before it is needed: x = x"
    )


# ---- the outside ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel k() -> int64:\n pass", "every path returns the scalars that the kernel returns: the end of k"),
        ("kernel k(f: bool) -> int64:\n if f:\n  return 1", "every path returns the scalars that the kernel returns"),
        ("kernel k() -> int64:\n return 1.0", "return gives what the kernel returns: return 1.0"),
        ("kernel k() -> array b:\n return", "returned array 'b' is a parameter or a result"),
        ("kernel k() -> array t:\n allocate t: int8[1]\n return", "returned array 't' is a parameter or a result"),
        ("kernel k() -> int64, int64:\n return 1, 1", "one value is returned, or a tuple"),
        ("kernel k(a: int8[1] C):\n result r: int8[int64(a[0])]\n pass", "a result's shape is known at the call"),
        (
            "kernel k():\n result r: int8[1]\n result q: int8[size(r, 0)]\n pass",
            "a result's shape is known at the call",
        ),
        ("kernel k():\n result r: int8[1.0]\n pass", "the sizes of an array are int64"),
        ("kernel k():\n result r: int8[1] = 0\n pass", "an array is filled with a value of its type"),
        ("kernel k(n: int64, m: int64 argument 0):\n pass", "every scalar parameter is an argument of its own"),
        ("kernel k(n: int64, a: int8[1] C argument 0):\n pass", "an argument is an array or a scalar"),
        ("kernel k(a: int8[1] C tail 2:1 tail 2:2):\n pass", "'a' has the axes of its tail"),
        ("kernel k(n: int64):\n result n: int8[1]\n pass", "every name is unique, 'n' is not"),
    ],
)
def test_ill_formed_signatures(text: str, message: str) -> None:
    assert broken(parse_kernel(text + "\n")).startswith(message)


def test_a_tuple_flag_needs_returned_values() -> None:
    kernel = Kernel("k", (), (), returns_tuple=True)
    assert broken(kernel).startswith("one value is returned, or a tuple")


ROWS = """
kernel rows(p: int64[1] C, a: int64[1] C, n: int64):
    for i in 0 .. n balanced 64:
        for k in p[i] .. p[i + 1] entries 128:
            a[k] = i
"""


def test_rows_and_their_entries_come_together() -> None:
    verify(parse_kernel(ROWS))
    one = "a balanced loop holds one loop over entries"
    for left in ("", " thread.x 128"):
        assert one in broken(parse_kernel(ROWS.replace(" entries 128", left)))
    assert one in broken(parse_kernel(ROWS + "        for m in 0 .. n entries 128:\n            a[m] = i\n"))
    inside = "            for m in 0 .. n entries 2:\n                a[k] = i"
    assert one in broken(parse_kernel(ROWS.replace("            a[k] = i", inside)))
    assert one in broken(parse_kernel(ROWS.replace(" balanced 64", " block.x")))
    under = ROWS.replace(" balanced 64", "").replace("    for k", "    if n > 3:\n            for k")
    assert "stands in a balanced one" in broken(parse_kernel(under.replace("            a[k]", "                a[k]")))
    for size in ("64", "128"):
        assert "says how many threads and entries" in broken(parse_kernel(ROWS.replace(f" {size}:", ":")))


def test_shared_statements_are_found() -> None:
    store = parse_kernel(f"{HEAD}:\n  a[0] = 1.0\n").body[0]
    assert broken(Kernel("k", PARAMS_OF_HEAD, (If(F, (store,), (store,)),))).startswith("a Load, Store or Checked")
