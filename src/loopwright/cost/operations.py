"""Operations that a compiler can neither drop nor share: what a loop's body has of them, and what machine code has.
Their ratio tells how many iterations a machine loop holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Const,
    Dim,
    Expr,
    If,
    Load,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.walk import children, own_expressions, subexpressions
from loopwright.toolchain.sass import Instruction, bytes_moved

ARITHMETIC = ("FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD2", "HMUL2", "HFMA2")
ROOTS = ("sqrt", "exp", "exp2", "log", "log2")
"""Functions whose code has one instruction of the unit for special functions."""

STORES = ("STG", "STS", "ST", "LDGSTS")


@dataclass(frozen=True, slots=True)
class Operations:
    """arithmetic: additions, multiplications and fused pairs of them on floats. special: divisions, roots. stored:
    bytes written to arrays."""

    arithmetic: float = 0.0
    special: float = 0.0
    stored: float = 0.0

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.arithmetic + other.arithmetic, self.special + other.special, self.stored + other.stored)

    def __mul__(self, times: float) -> Operations:
        return Operations(self.arithmetic * times, self.special * times, self.stored * times)

    def ratio(self, expected: Operations) -> float | None:
        """How many times over these are the expected ones; None where none are expected. Divisions and roots are made
        of further arithmetic, so that where there are some, they alone are compared."""
        if expected.special:
            return self.special / expected.special
        parts = []
        if expected.arithmetic:
            parts.append(self.arithmetic / expected.arithmetic)
        if expected.stored and self.stored:
            parts.append(self.stored / expected.stored)
        return max(parts, default=None)  # what is not dropped or shared tells the truth


def executed(code: Iterable[Instruction]) -> Operations:
    """Those of machine code."""
    arithmetic = special = stored = 0
    for one in code:
        arithmetic += one.name in ARITHMETIC
        special += one.name == "MUFU"
        stored += bytes_moved(one.opcode) if one.name in STORES else 0
    return Operations(float(arithmetic), float(special), float(stored))


def of_statement(stmt: Stmt) -> Operations:
    """Those of a statement itself, without the ones inside it."""
    total = Operations()
    for expr in own_expressions(stmt) if isinstance(stmt, Assign | Store | If) else ():
        total = total + _of_expression(expr)
    if isinstance(stmt, Store):
        total = total + Operations(stored=float(stmt.value.type.size_bytes))
    return total


def _of_expression(expr: Expr) -> Operations:
    arithmetic = special = 0
    for part in subexpressions(expr):
        if isinstance(part, Binary) and part.type.is_float:
            fused = part.op in ("add", "sub") and any(map(_is_product, children(part)))
            arithmetic += part.op in ("add", "sub", "mul") and not fused
            special += part.op == "truediv"
        elif isinstance(part, Call):
            special += part.function in ROOTS
    return Operations(float(arithmetic), float(special))


def value_operations(stmt: Stmt) -> Operations:
    """Arithmetic of any type on values, that of indices and loop bounds apart, and divisions and functions."""
    if not isinstance(stmt, Assign | Store | If):
        return Operations()
    value = stmt.condition if isinstance(stmt, If) else stmt.value
    return _of_value(value)


def _of_value(expr: Expr) -> Operations:
    if isinstance(expr, Load | Const | Var | Dim):
        return Operations()
    parts = [_of_value(part) for part in children(expr)]
    own = Operations(arithmetic=1.0)
    if isinstance(expr, Call) or (isinstance(expr, Binary) and expr.op in ("truediv", "floordiv", "mod", "pow")):
        own = Operations(special=1.0)
    elif (
        isinstance(expr, Binary)
        and expr.type.is_float
        and expr.op in ("add", "sub")
        and any(map(_is_product, children(expr)))
    ):
        own = Operations()  # fused
    elif isinstance(expr, Cast | Checked):
        own = Operations()
    return sum(parts, own)


def _is_product(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op == "mul" and expr.type.is_float
