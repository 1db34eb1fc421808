"""Conditional updates without a jump: `if c: s = s + e`, where e is simple, in loops that need their order. A jump that
the data decide costs some fifteen cycles each time it is guessed wrong; an addition that may be of nothing, four.

What is added where the condition is false is nothing at all: s - 0.0 is s, whatever s is.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.ir.nodes import Assign, Binary, Cast, Const, Dim, Expr, For, If, Load, Logical, Unary, Var, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import children, rewrite_expr, statements, subexpressions

SIMPLE = 6  # parts of what is added


def select_updates(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes."""
    found: set[int] = set()
    for loop in statements(given.kernel.body, For):
        if loop.name in lowering.lanes or loop.name in lowering.regions or contains(loop.body, For, While):
            continue
        found |= {id(stmt) for stmt in statements(loop.body, If) if update_of(stmt) is not None}
    return replace(lowering, selected=frozenset(found))


def update_of(stmt: If) -> tuple[str, str, Expr] | None:
    """The scalar, `add` or `sub`, and what is added; None for anything else."""
    match stmt:
        case If(then=(Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=value)),),
                otherwise=()) if name == old and value.type.is_float and _is_simple(value, stmt.condition):  # fmt: skip
            return name, op, value
        case _:
            return None


def count_of(stmt: If) -> tuple[str, str, Const] | None:
    """The scalar, `add` or `sub`, and the whole number by which a condition changes it; None for anything else. In
    lanes a sum of what may be nothing waits for one addition, and one that is chosen or not for that choice too."""
    match stmt:
        case If(then=(Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=by)),)):
            is_count = name == old and not stmt.otherwise and isinstance(by, Const) and by.type.is_integer
            return (name, op, by) if is_count and isinstance(by, Const) else None
        case _:
            return None


def _is_simple(value: Expr, condition: Expr) -> bool:
    """Whether it costs next to nothing, and can be computed wherever the condition can."""
    known = set(always_read(condition))
    waiting, count = [value], 0
    while waiting:
        part = waiting.pop()
        count += 1
        match part:
            case Load() if part not in known:
                return False
            case Const() | Var() | Dim() | Load():
                continue
            case Unary(op="neg" | "abs") | Binary(op="add" | "sub" | "mul") if part.type.is_float:
                waiting += children(part)
            case Cast(operand=Var(type=kind)) if kind.is_integer:
                continue
            case _:
                return False
    return count <= SIMPLE


def always_read(condition: Expr) -> list[Load]:
    """The elements that a condition reads in any case."""
    while isinstance(condition, Logical):
        condition = condition.left
    return list(subexpressions(condition, Load))


def eager(expr: Expr) -> Expr:
    """The same without short cuts: its C text does not jump."""
    return rewrite_expr(expr, lambda one: Binary(one.op, one.left, one.right) if isinstance(one, Logical) else one)


def both(path: Expr | None, condition: Expr) -> Expr:
    """Whether a condition holds where control comes to it; path: None where it always does."""
    return condition if path is None else Binary("and", path, condition)
