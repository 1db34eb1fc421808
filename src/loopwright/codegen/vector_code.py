"""Innermost loops of a constant number of iterations as code for whole vector registers: sums of a block that stay in
registers, and what is copied in and out. Left to the C compiler, some of them are written out before its vectoriser
sees them, and then each element is computed by itself; and some processors get half of their registers' width.

The text says of how many bytes a row of elements is; which registers it fills is for the header to know, which sees
the processor it is compiled for.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import NONE, Accesses, CodegenInput, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.ir.linear import linear
from loopwright.ir.nodes import Binary, Const, Expr, For, Load, Store, Unary
from loopwright.ir.queries import names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements

LEAST, MOST = 16, 512  # bytes of a row: of the narrowest register, and of those that a block has in a row


def write_in_vectors(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops in lanes that do nothing but arithmetic on neighbouring elements of one type."""
    found = {
        loop.name: bytes_of
        for loop in statements(given.kernel.body, For)
        if loop.name in lowering.lanes
        and loop.name not in lowering.regions
        and loop.name not in lowering.versions
        and loop.name not in lowering.strips
        and not lowering.lanes[loop.name].partials
        and (bytes_of := _row_bytes(loop, given)) is not None
    }
    return replace(lowering, vectors=found)


def _row_bytes(loop: For, given: CodegenInput) -> int | None:
    """How many bytes of each array the loop goes through; None where it is no such loop."""
    trip = given.constant_trip(loop)
    if trip is None or not isinstance(loop.step, Const) or loop.step.value != 1:
        return None
    kinds = {stmt.value.type for stmt in loop.body if isinstance(stmt, Store)}
    if len(kinds) != 1 or not (kind := kinds.pop()).is_float:
        return None
    size = trip * kind.size_bytes
    if size % LEAST or not LEAST <= size <= MOST:
        return None
    return size if all(_is_store_of(stmt, loop.name, kind, given) for stmt in loop.body) else None


def _is_store_of(stmt: object, variable: str, kind: Scalar, given: CodegenInput) -> bool:
    return (
        isinstance(stmt, Store)
        and is_row(stmt, variable, kind, given)
        and _is_arithmetic(stmt.value, variable, kind, given)
    )


def _is_arithmetic(expr: Expr, variable: str, kind: Scalar, given: CodegenInput) -> bool:
    if variable not in names_in(expr):
        return expr.type == kind
    match expr:
        case Load():
            return is_row(expr, variable, kind, given)
        case Unary(op="neg", operand=operand):
            return _is_arithmetic(operand, variable, kind, given)
        case Binary(op="sub", left=Const(value=0)):
            return False  # not the same as the negative: 0 - 0
        case Binary(op="add" | "sub" | "mul" | "truediv", left=left, right=right):
            return all(_is_arithmetic(one, variable, kind, given) for one in (left, right))
        case _:
            return False


def is_row(node: Load | Store, variable: str, kind: Scalar, given: CodegenInput, freed: Accesses = NONE) -> bool:
    """Whether its elements are neighbours in memory, in the order of the iterations. freed: accesses without checks."""
    array = given.arrays[node.array]
    if array.element != kind or array.bytes or not array.aligned or array.layout not in ("C", "last") or not node.index:
        return False
    *outer, last = node.index
    simple = all(given.bounds_of(node, freed)[axis].kind == "proven" for axis in range(len(node.index)))
    wraps = any(bounds.may_be_negative for bounds in given.bounds_of(node, freed))
    return (
        simple
        and not wraps
        and linear(last).coefficient(variable) == 1
        and not any(variable in names_in(index) for index in outer)
    )


def write_vector_rows(loop: For, size: int, w: Writer) -> None:
    """The loop, as many elements at once as a register holds."""
    variable = w.names.of(loop.name)
    store = next(iter(statements(loop.body, Store)))
    kind = store.value.type
    ctype = VALUE_TYPE[kind.name]
    w.function.scoped.add(variable)
    with w.block():
        w.line(f"const int64_t lw_lower = {w.text(loop.lower)};")
        w.line(f"LW_ROW({ctype}, {size});")
        trip, at_once = size // kind.size_bytes, f"LW_FILLED({size}) / {kind.size_bytes}"
        head = f"int64_t lw_k = 0; lw_k < {trip}; lw_k += {at_once}"
        with w.loop(head, loop.name, trips=trip, unroll=size // LEAST):
            w.line(f"const int64_t {variable} = lw_lower + lw_k;")
            for stmt in statements(loop.body, Store):
                w.line(f"{_vector_at(stmt, w)} = {_vector_text(stmt.value, loop.name, w)};")
    w.function.scoped.discard(variable)


def _vector_at(node: Load | Store, w: Writer) -> str:
    return f"*(lw_row *)&{w.element(node)}"


def _vector_text(expr: Expr, variable: str, w: Writer) -> str:
    """C text of a vector: the value in several iterations side by side."""
    if variable not in names_in(expr):
        return f"({w.text(expr)} - (lw_row){{0}})"  # keeps the sign of a zero
    match expr:
        case Load():
            return _vector_at(expr, w)
        case Unary(operand=operand):
            return f"(-{_vector_text(operand, variable, w)})"
        case Binary(op=op, left=left, right=right):
            texts = (
                _vector_text(one, variable, w) if variable in names_in(one) else w.text(one) for one in (left, right)
            )
            sign = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}[op]
            return f"({f' {sign} '.join(texts)})"
    raise AssertionError(expr)
