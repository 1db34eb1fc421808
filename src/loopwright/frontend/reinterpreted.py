"""`x.view(np.uint8)`: the bytes of the elements as numbers of another type. It is a copy here, and refused where that
would show (snapshots.py). The first byte is the lowest one: machines are little-endian.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from loopwright.frontend.context import Context
from loopwright.frontend.creation import is_dense, snapshot
from loopwright.frontend.elementwise import check, materialised, reads_of
from loopwright.frontend.values import Array, ArrayLike, Elementwise, Literal, Number, Value
from loopwright.frontend.views import ZERO, Size, add, as_size, clipped, element_at, multiply, size_of, steady
from loopwright.ir.nodes import Binary, Call, Cast, Compare, Const, Expr
from loopwright.ir.types import BITS, BOOL, BY_NAME, INT64, Scalar


def viewed(cx: Context, base: ArrayLike, to: Scalar, node: ast.AST) -> Value:
    """`base.view(to)`."""
    of = base.element
    if to == of:
        return base
    if of.is_complex or to.is_complex or to == BOOL:
        raise cx.error(node, f"'.view()' of {of} as {to} is outside the language",
                       remedy="use x.real and x.imag, or x.astype()")  # fmt: skip
    source = steady(cx, base, node)
    if of.bits == to.bits:
        result = Elementwise(
            source.shape, to,
            lambda cx, index: Number(_number_of(_bits_of(cx, source, index, node), to), weak=False), reads_of(source),
        )  # fmt: skip
    else:
        _refuse_gaps(cx, source, to, node)
        result = (_parts if of.bits > to.bits else _joined)(cx, source, to, node)
    return snapshot(cx, source, materialised(cx, result, node))


def _refuse_gaps(cx: Context, source: ArrayLike, to: Scalar, node: ast.AST) -> None:
    """Raise KernelError where the elements may lie apart: NumPy has no such view of these."""
    whole = replace(source, index=()) if isinstance(source, Array) else source
    if isinstance(whole, Elementwise) or (isinstance(whole, Array) and whole.shape and is_dense(cx, whole)):
        return
    raise cx.error(node, f"'.view()' of elements that may lie apart, as {to} of another size",
                   "NumPy raises ValueError for some layouts", "copy them first: x.copy().view(...)")  # fmt: skip


def _parts(cx: Context, source: ArrayLike, to: Scalar, node: ast.AST) -> Elementwise:
    """Several smaller numbers of each element."""
    count = source.element.bits // to.bits
    last = _times(cx, source.shape[-1], count)

    def at(cx: Context, index: Sequence[Expr]) -> Number:
        own, part = (Binary(op, index[-1], Const(count, INT64)) for op in ("floordiv", "mod"))
        whole = _bits_of(cx, source, [*index[:-1], own], node)
        shift = Cast(Binary("mul", part, Const(to.bits, INT64)), whole.type)
        return Number(_number_of(Cast(Binary("shr", whole, shift), _unsigned(to)), to), weak=False)

    return Elementwise((*source.shape[:-1], last), to, at, reads_of(source))


def _times(cx: Context, size: Size, count: int) -> Size:
    return as_size(multiply(size_of(clipped(cx, size)), Const(count, INT64)))


def _joined(cx: Context, source: ArrayLike, to: Scalar, node: ast.AST) -> Elementwise:
    """One larger number of several elements."""
    count = to.bits // source.element.bits
    size, number = size_of(clipped(cx, source.shape[-1])), Const(count, INT64)
    check(cx, Compare("eq", Binary("mod", size, number), ZERO), "reshaped", node)
    last = cx.once(Binary("floordiv", size, number), cx.at(node))

    def at(cx: Context, index: Sequence[Expr]) -> Number:
        kind, first = _unsigned(to), multiply(index[-1], number)
        result: Expr | None = None
        for k in range(count):
            part = Cast(_bits_of(cx, source, [*index[:-1], add(first, Const(k, INT64))], node), kind)
            moved = Binary("shl", part, Const(k * source.element.bits, kind))
            result = part if result is None else Binary("or", result, moved)
        assert result is not None
        return Number(_number_of(result, to), weak=False)

    return Elementwise((*source.shape[:-1], as_size(last)), to, at, reads_of(source))


def _unsigned(kind: Scalar) -> Scalar:
    return BY_NAME[f"uint{kind.bits}"]


def _bits_of(cx: Context, source: ArrayLike, index: Sequence[Expr], node: ast.AST) -> Expr:
    """The bits of an element, as an unsigned number."""
    number = element_at(cx, source, index, node)
    assert isinstance(number, Literal | Number)
    expr = number.expr if isinstance(number, Number) else Const(number.value, source.element)
    if expr.type.is_float:
        expr = Call("bits", (expr,), BITS[expr.type.name])
    unsigned = BY_NAME["uint8"] if expr.type == BOOL else _unsigned(expr.type)
    return expr if expr.type == unsigned else Cast(expr, unsigned)


def _number_of(bits: Expr, to: Scalar) -> Expr:
    """The number of a type that has these bits."""
    if to.is_float:
        signed = Cast(bits, BY_NAME[f"int{to.bits}"])
        return Call("bits", (signed,), BITS[signed.type.name])
    return bits if bits.type == to else Cast(bits, to)
