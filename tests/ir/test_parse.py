"""The text form read back: exactly what was printed, or an error that names the line."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ir.sample_texts import EVERYTHING, PACKED, SMOOTH
from loopwright.ir import text
from loopwright.ir.nodes import Assign, Binary, Checked, Const, For, Kernel, Return, Unary, Var
from loopwright.ir.text import TextError, parse_kernel, print_kernel
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64, UINT8
from loopwright.ir.verify import verify


@pytest.mark.parametrize("sample", [SMOOTH, EVERYTHING, PACKED])
def test_text_parses_to_what_prints_as_that_text(sample: str) -> None:
    assert print_kernel(parse_kernel(sample)) == sample


@pytest.mark.parametrize(
    "says", ["", "it's", 'a "b"', "a\\b\\", "\n\r\t", "x' y', z)", "\\x27 \\n", "é€\u2028", "# no comment"]
)
def test_what_an_exception_says_comes_back(says: str) -> None:
    check = Checked(Const(0, INT64), Const(False, BOOL), "raised", f"ValueError: {says}")
    kernel = Kernel("f", (), (Assign("x", check),))
    text = print_kernel(kernel)
    assert parse_kernel(text) == kernel and text.isascii()
    assert parse_kernel(text).body[0].value.raised == f"ValueError: {says}"  # type: ignore[union-attr]


def test_how_results_are_packed() -> None:
    kernel = parse_kernel(PACKED)
    assert kernel.packing == (
        ("value", 0), ("value", 1), ("cut", 1), ("list", 0), ("value", 3), ("value", 2), ("maybe", 0), ("none", 0),
        ("tuple", 2), ("tuple", 2),
    )  # fmt: skip
    with pytest.raises(TextError, match="number is wanted"):
        parse_kernel("kernel f() -> tuple() packed(none):\n    pass\n")
    with pytest.raises(TextError, match=r"'\(' is wanted here"):
        parse_kernel("kernel f() -> tuple() packed none 0:\n    pass\n")


def test_the_example_of_the_grammar_is_a_kernel() -> None:
    example = dedent((text.__doc__ or "").split("\n\n")[1]) + "\n"
    kernel = parse_kernel(example)
    verify(kernel)
    assert print_kernel(kernel) == example


def test_a_loop_that_threads_share() -> None:
    heads = ("i in 0 .. n thread.x 32", "j in 0 .. n block.y", "k in n .. 0 step -2 asserted thread.z")
    text = "kernel f(n: int64):\n" + "".join(f"    for {head}:\n        pass\n" for head in heads)
    kernel = parse_kernel(text)
    verify(kernel)
    assert print_kernel(kernel) == text
    found = [(loop.run, loop.threads, loop.asserted) for loop in kernel.body if isinstance(loop, For)]
    assert found == [("thread.x", 32, False), ("block.y", 0, False), ("thread.z", 0, True)]


def expression(text: str) -> object:
    """The node of an expression over x (int64), y (float64) and f (bool)."""
    kernel = parse_kernel(f"kernel f(x: int64, y: float64, f: bool) -> python int64:\n    return {text}\n")
    [stmt] = kernel.body
    assert isinstance(stmt, Return)
    return stmt.values[0]


X = Var("x", INT64)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("-1", Const(-1, INT64)),
        ("-(1)", Unary("neg", Const(1, INT64))),
        ("x - 1", Binary("sub", X, Const(1, INT64))),
        ("x -1", Binary("sub", X, Const(1, INT64))),
        ("x - -1", Binary("sub", X, Const(-1, INT64))),
        ("-x ** 2", Unary("neg", Binary("pow", X, Const(2, INT64)))),
        ("x ** -x ** 2", Binary("pow", X, Unary("neg", Binary("pow", X, Const(2, INT64))))),
        ("255u8", Const(255, UINT8)),
        ("-0.0", Const(-0.0, FLOAT64)),
        ("1e+16f32", Const(1e16, FLOAT32)),
        ("float64('-inf')", Const(float("-inf"), FLOAT64)),
        ("x - x - x", Binary("sub", Binary("sub", X, X), X)),
        ("x + x * x", Binary("add", X, Binary("mul", X, X))),
    ],
)
def test_expressions(text: str, node: object) -> None:
    assert expression(text) == node


def test_spacing_and_comments_do_not_matter() -> None:
    loose = "# a comment\n\nkernel f(n: int64,\n  m: int64):\n  var x: int64  # its type\n\n  x = (n\n + m)\n"
    [stmt] = parse_kernel(loose).body
    assert stmt == Assign("x", Binary("add", Var("n", INT64), Var("m", INT64)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = y", "line 2: the type of 'y' is not known here"),
        ("a[0] = b[0]", "line 2: no array 'b' is known here"),
        ("x = 1 +", "line 2: an expression is wanted here, not 'newline'"),
        ("x = n < n < n", "line 2: newline is wanted here, not '<'"),
        ("x = -5 ** 2", "line 2: newline is wanted here, not '**'"),
        ("x = $", "line 2: what is '$'?"),
        ("x = sqrt()", "line 2: 'sqrt' of 0 values is no function"),
        ("x = f(n)", "line 2: 'f' of 1 values is no function"),
        ("x = 12x", "line 2: what is '1'?"),
        ("n", "line 2: '=' is wanted here, not 'newline'"),
        ("1", "line 2: a statement is wanted here, not '1'"),
        ("for i in 0 .. n:", "line 2: indent is wanted here, not 'dedent'"),
        ("for i in 0 .. n:\n        n = 1\n      n = 2", "line 4: the indentation fits no line above"),
        ("x = checked(n, True, luck)", "line 2: a kind of check is wanted here, not 'luck'"),
        ("allocate t: int64[n] = n", "line 2: a literal before is wanted here, not 'newline'"),
        ("allocate t: int[n]", "line 2: a type is wanted here, not 'int'"),
        ("x = size(a, 0.5)", "line 2: a whole number is wanted here, not '0.5'"),
    ],
)
def test_what_is_no_kernel_is_refused_by_line(body: str, message: str) -> None:
    with pytest.raises(TextError) as error:
        parse_kernel(f"kernel f(n: int64, a: int64[1] C):\n    {body}\n")
    assert str(error.value) == message


def test_what_follows_the_kernel_is_refused() -> None:
    with pytest.raises(TextError, match="line 3: end is wanted here"):
        parse_kernel("kernel f():\n    pass\nx = 1\n")


def test_an_array_needs_a_layout() -> None:
    with pytest.raises(TextError, match="a layout is wanted here, not 'G'"):
        parse_kernel("kernel f(a: int64[1] G):\n    pass\n")
