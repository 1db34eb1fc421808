"""Arithmetic of complex numbers, each operation as its operations on the parts.

Sums and products are the same in Python and NumPy. Quotients are Smith's (Algorithm 116, CACM 1962) in both, but NumPy
multiplies by the reciprocal of the scaled divisor, and Python divides by it. A divisor of 0 gives NumPy's infinities.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from loopwright.frontend import complex_library, operators, promote
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.complex_pairs import pair, parts_of, repeatable
from loopwright.frontend.context import Context
from loopwright.frontend.convert import convert
from loopwright.frontend.inline import inline_function
from loopwright.frontend.values import Literal, Number, describe
from loopwright.ir.nodes import Binary, BinaryOp, Call, Compare, CompareOp, Const, Expr, Select, Unary
from loopwright.ir.types import COMPLEX128, Scalar

_LARGEST_POWER = 100  # that Python and NumPy make of products

Parts = tuple[Expr, Expr]


def operation(
    cx: Context, op: BinaryOp, a: Literal | Number, b: Literal | Number, kind: Scalar, weak: bool, node: ast.AST
) -> Number:
    """`a op b` of numbers that are converted to a complex type first."""
    at = cx.at(node)
    x, y = convert(cx, a, kind, node), convert(cx, b, kind, node)
    if isinstance(x, Const) and isinstance(y, Const) and weak and (known := _known(op, x, y)) is not None:
        return Number(known, weak)
    if op in ("add", "sub"):
        (xr, xi), (yr, yi) = parts_of(cx, x, at), parts_of(cx, y, at)
        return Number(pair(Binary(op, xr, yr), Binary(op, xi, yi)), weak)
    if op == "mul":
        return Number(pair(*product(repeatable(cx, x, at), repeatable(cx, y, at))), weak)
    if op == "truediv":
        return Number(pair(*_quotient(cx, repeatable(cx, x, at), repeatable(cx, y, at), weak, node)), weak)
    return _power(cx, Number(x, weak), b, Number(y, weak), node)


def _known(op: BinaryOp, x: Const, y: Const) -> Const | None:
    """The result of two constants of Python's, by Python itself; None where it raises."""
    try:
        return Const(operators.PYTHON[op](complex(x.value), complex(y.value)), COMPLEX128)
    except ArithmeticError:
        return None


def product(x: Parts, y: Parts) -> Parts:
    """The product of two pairs whose parts may be repeated."""
    (xr, xi), (yr, yi) = x, y
    return (
        Binary("sub", Binary("mul", xr, yr), Binary("mul", xi, yi)),
        Binary("add", Binary("mul", xr, yi), Binary("mul", xi, yr)),
    )


def _quotient(cx: Context, x: Parts, y: Parts, weak: bool, node: ast.AST) -> Parts:
    """Both branches of Smith's algorithm as one, so that it runs in vector registers."""
    (xr, xi), (yr, yi) = x, y
    at, zero = cx.at(node), Const(0.0, xr.type)
    first, second, over, under = xr, xi, yr, yi
    is_wide: Expr | None = None
    if yi != zero:
        is_wide = cx.temporary(Compare("ge", Unary("abs", yr), Unary("abs", yi)), at)
        first, second = (cx.temporary(Select(is_wide, *two), at) for two in ((xr, xi), (xi, xr)))
        over, under = (cx.temporary(Select(is_wide, *two), at) for two in ((yr, yi), (yi, yr)))
    all_of_it = over if is_wide is None else Binary("add", Unary("abs", yr), Unary("abs", yi))
    is_zero = cx.temporary(Compare("eq", all_of_it, zero), at)
    ratio = cx.temporary(Select(is_zero, zero, Binary("truediv", under, over)), at)
    whole = Binary("add", over, Binary("mul", under, ratio))
    divisor = cx.temporary(Select(is_zero, zero, whole), at)
    real = Binary("add", first, Select(is_zero, zero, Binary("mul", second, ratio)))
    turned = Select(is_zero, zero, Binary("mul", first, ratio))
    imaginary: Expr = Binary("sub", second, turned)
    if is_wide is not None:  # second is xr where the divisor's imaginary part is the larger one
        imaginary = Select(is_wide, imaginary, Binary("sub", turned, second))
    if weak:
        return Binary("truediv", real, divisor), Binary("truediv", imaginary, divisor)
    scale = cx.temporary(Binary("truediv", Const(1.0, xr.type), divisor), at)
    return Binary("mul", real, scale), Binary("mul", imaginary, scale)


def _power(cx: Context, x: Number, exponent: Literal | Number, y: Number, node: ast.AST) -> Number:
    known = exponent.value if isinstance(exponent, Literal) else None
    if known is None or known != int(known) or abs(known) > _LARGEST_POWER:
        return called(cx, complex_library.power, [x, y], x.weak, node)
    at = cx.at(node)
    result: Parts | None = None
    factor = repeatable(cx, x.expr, at)
    left = abs(int(known))
    while left:
        if left & 1:
            result = factor if result is None else _kept(cx, product(result, factor), node)
        left >>= 1
        if left:
            factor = _kept(cx, product(factor, factor), node)
    kind = x.type.part
    one = (Const(1.0, kind), Const(0.0, kind))
    if result is None or known > 0:
        return Number(pair(*(result or one)), x.weak)
    return Number(pair(*_quotient(cx, one, result, x.weak, node)), x.weak)


def _kept(cx: Context, parts: Parts, node: ast.AST) -> Parts:
    return repeatable(cx, pair(*parts), cx.at(node))


def called(
    cx: Context, function: Callable[..., complex], numbers: Sequence[Number], weak: bool, node: ast.AST
) -> Number:
    """A function of complex_library.py, of numbers."""
    name = function.__name__.strip("_")
    result = inline_function(cx, function, Arguments(node, name, tuple(numbers), {}))  # type: ignore[arg-type]
    assert isinstance(result, Number)
    return Number(result.expr, weak)


def negated(cx: Context, number: Number, node: ast.AST) -> Number:
    """`-z`."""
    real, imaginary = parts_of(cx, number.expr, cx.at(node))
    if isinstance(real, Const) and isinstance(imaginary, Const):
        return Number(Const(-complex(real.value, imaginary.value), number.type), number.weak)  # type: ignore[arg-type]
    return Number(pair(Unary("neg", real), Unary("neg", imaginary)), number.weak)


def conjugate(cx: Context, number: Number, node: ast.AST) -> Number:
    """`z.conjugate()`."""
    real, imaginary = parts_of(cx, number.expr, cx.at(node))
    return Number(pair(real, Unary("neg", imaginary)), number.weak)


def comparison(cx: Context, op: CompareOp, a: Literal | Number, b: Literal | Number, node: ast.AST) -> Literal | Number:
    """`a == b`, `a != b`. Raises KernelError for an order."""
    if op not in ("eq", "ne"):
        raise cx.error(node, f"an order between {describe(a)} and {describe(b)}", "complex numbers have no order",
                       "compare abs(z), z.real or z.imag")  # fmt: skip
    (ar, ai), (br, bi) = (_sides(cx, one, node) for one in (a, b))
    real = operators.comparison(cx, op, ar, br, node)
    imaginary = operators.comparison(cx, op, ai, bi, node)
    one, two = (operators.scalar_of(cx, part, node).expr for part in (real, imaginary))
    weak = promote.is_pythons(a.number_type, b.number_type)
    return Number(Binary("and" if op == "eq" else "or", one, two), weak)


def _sides(cx: Context, number: Literal | Number, node: ast.AST) -> tuple[Literal | Number, Literal | Number]:
    if isinstance(number, Literal) or not number.type.is_complex:
        return number, Literal(0.0)
    real, imaginary = parts_of(cx, number.expr, cx.at(node))
    return Number(real, number.weak), Number(imaginary, number.weak)


def magnitude(cx: Context, number: Number, node: ast.AST) -> Number:
    """`abs(z)`."""
    real, imaginary = parts_of(cx, number.expr, cx.at(node))
    return Number(Call("hypot", (real, imaginary), real.type), number.weak)
