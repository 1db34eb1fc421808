"""How long a register of lanes takes for what a round computes: the cycles between the beginnings of two such registers
that do not wait for one another. Both sides of conditions count, as lanes go through both.

Numbers are those of registers of 32 bytes on current x86 cores, which do two or three plain operations a cycle; what
there is no instruction for is computed lane by lane.
"""

from __future__ import annotations

from loopwright.analysis.lockstep_rounds import LockstepRounds
from loopwright.analysis.recurrence_latency import CHEAP
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Expr,
    If,
    Load,
    Logical,
    Select,
    Store,
    Unary,
)
from loopwright.ir.queries import names_in
from loopwright.ir.types import BOOL
from loopwright.ir.walk import statements

PLAIN, WHOLE = 0.5, 0.4  # of floats, of whole numbers
DIVIDE, ROOT = 6.0, 7.0
LONG_MULTIPLY, LONG_SHIFT, LONG_CONVERT = 4.0, 1.5, 3.0  # of 64 bits, before AVX-512
FUNCTION, POWER, HYPOT = 16.0, 40.0, 22.0  # of libmvec, and ours
CHECK = 2.0
EACH, INTEGER_DIVIDE, LIBRARY, GATHER = 3.0, 22.0, 45.0, 2.5
"""Of one lane: to take a number out and put the result back, and what is done to it there."""


def lane_throughput(parts: LockstepRounds, lanes: int, exact: bool) -> float:
    """Cycles of a register in a round. What stays the same in all of them costs nothing. exact: functions are those of
    the C library, one lane after the other."""
    body = parts.rounds.body
    chosen = sum(1 for _ in statements(body, Assign)) + 2 * sum(1 for _ in statements(body, If))
    computed = (part for part in parts.parts() if names_in(part) & parts.own)
    stored = sum(lanes * (EACH + CHECK) for _ in statements(body, Store)) / 4  # under conditions that rarely hold
    return stored + WHOLE * chosen + sum(_cycles(part, lanes, exact) for part in computed)


def slow_operations(parts: LockstepRounds) -> float:
    """Cycles that a round of one iteration alone takes at least, for divisions and functions."""
    return sum(_slow(part) for part in parts.parts() if names_in(part) & parts.own)


def _slow(expr: Expr) -> float:
    match expr:
        case Binary(op="truediv"):
            return DIVIDE - 1.0
        case Call(function="sqrt"):
            return ROOT - 1.0
        case Call(function=function) if function not in CHEAP:
            return LIBRARY
    return 0.0


def _cycles(expr: Expr, lanes: int, exact: bool) -> float:
    kind = expr.type
    match expr:
        case Binary(op="truediv"):
            return DIVIDE
        case Binary(op="floordiv" | "mod", right=Const(value=value)) if kind.is_integer and _is_power(int(value)):
            return LONG_SHIFT if expr.op == "floordiv" else WHOLE
        case Binary(op="floordiv" | "mod"):
            return lanes * (EACH + INTEGER_DIVIDE)
        case Binary(op="pow"):
            return 1.0 if isinstance(expr.right, Const) else lanes * LIBRARY if exact else POWER
        case Binary(op="mul") if kind.is_integer:
            return LONG_MULTIPLY if kind.bits == 64 else 1.0
        case Binary(op="shl" | "shr", right=right):
            is_long = expr.op == "shr" and kind.kind == "int" and kind.bits == 64
            return (LONG_SHIFT if is_long else WHOLE) if isinstance(right, Const) else lanes * EACH
        case Call(function="sqrt"):
            return ROOT
        case Call(function="isnan" | "maximum" | "minimum" | "fmax" | "fmin"):
            return 3 * PLAIN
        case Call(function="floor" | "ceil" | "trunc" | "rint" | "copysign"):
            return lanes * EACH
        case Call(function="hypot") if not exact:
            return HYPOT
        case Call():
            return lanes * (EACH + LIBRARY) if exact else FUNCTION
        case Cast(operand=operand) if operand.type.is_float and kind.is_integer:
            return lanes * EACH
        case Cast(operand=operand) if operand.type.is_integer and kind.is_float and operand.type.bits == 64:
            return LONG_CONVERT
        case Load():
            return lanes * GATHER + CHECK * len(expr.index)
        case Checked():
            return CHECK
        case Binary() | Unary() | Select():
            return PLAIN if kind.is_float else WHOLE
        case Compare() | Logical():
            return PLAIN
        case Cast():
            return 0.0 if kind == BOOL else PLAIN
    return 0.0


def _is_power(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
