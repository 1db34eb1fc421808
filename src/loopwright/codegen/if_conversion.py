"""Conditional updates without a jump: `if c: s = s + e`, where e is simple, in loops that need their order. A jump that
the data decide costs some fifteen cycles each time it is guessed wrong; an addition that may be of nothing, four.

What is added where the condition is false is nothing at all: s - 0.0 is s, whatever s is.

The same of both halves of a search, `if a[m] < x: lo = m + 1` and `else: hi = m`: whole numbers that a `while` goes on
with, of which data decide; and of several whole numbers in a `for` loop, the place of the least and its value, where an
iteration does so much that nobody waits for the choice. One number alone the C compiler chooses without a jump.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.safepoints import operations_in
from loopwright.ir.chosen_values import always_read
from loopwright.ir.nodes import Assign, Binary, Body, Cast, Const, Dim, Expr, For, If, Load, Logical, Unary, Var, While
from loopwright.ir.queries import contains, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, rewrite_expr, statements, subexpressions

SIMPLE = 6  # parts of what is added
LEAST_AROUND = 16  # operations of an iteration in which a choice takes no longer than a jump that is guessed right
MOST_CHOSEN = 3  # numbers that are chosen in place of a jump: each takes an operation, whatever the condition says


def select_updates(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes."""
    found: set[int] = set()
    for search in statements(given.kernel.body, While):
        if not contains(search.body, For, While):
            found |= {id(stmt) for stmt in search.body if isinstance(stmt, If) and choices_of(stmt) is not None}
    for loop in statements(given.kernel.body, For):
        if loop.name in lowering.lanes or loop.name in lowering.regions or contains(loop.body, For, While):
            continue
        found |= {id(stmt) for stmt in statements(loop.body, If) if update_of(stmt) is not None}
        if operations_in(loop.body) >= LEAST_AROUND:
            found |= {id(stmt) for stmt in loop.body if isinstance(stmt, If) and _is_guessed_wrong(stmt, loop)}
    return replace(lowering, selected=frozenset(found))


def _is_guessed_wrong(stmt: If, loop: For) -> bool:
    """Whether it only chooses among several whole numbers, by what the loop computes."""
    decides = any(True for _ in subexpressions(stmt.condition, Load)) or names_in(stmt.condition) & names_assigned(
        loop.body
    )
    chosen = chosen_in(stmt) if decides else None
    return chosen is not None and len(chosen) > 1


def update_of(stmt: If) -> tuple[str, str, Expr] | None:
    """The scalar, `add` or `sub`, and what is added; None for anything else."""
    match stmt:
        case If(then=(Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=value)),),
                otherwise=()) if name == old and value.type.is_float and _is_simple(value, stmt.condition):  # fmt: skip
            return name, op, value
        case _:
            return None


def choices_of(stmt: If) -> dict[str, tuple[Expr, Expr]] | None:
    """The choices of a search, both halves of which say how it goes on; None where that is not all that they do, or the
    condition is no matter of data."""
    is_of_data = any(True for _ in subexpressions(stmt.condition, Load))
    return chosen_in(stmt) if stmt.then and stmt.otherwise and is_of_data else None


def chosen_in(stmt: If) -> dict[str, tuple[Expr, Expr]] | None:
    """For each scalar that a branch assigns, its values where the condition holds and where it does not; None where
    that is not all that they do, or costs more than a jump."""
    then, otherwise = _assigned(stmt.then), _assigned(stmt.otherwise)
    if then is None or otherwise is None:
        return None
    types = {name: value.type for name, value in (*then.items(), *otherwise.items())}
    same = {name: Var(name, type_) for name, type_ in types.items()}
    chosen = {name: (then.get(name, same[name]), otherwise.get(name, same[name])) for name in types}
    for name, values in chosen.items():
        read = {part.name for value in values for part in subexpressions(value, Var)}
        if read & (chosen.keys() - {name}):
            return None
    return chosen if len(chosen) <= MOST_CHOSEN else None


def _assigned(body: Body) -> dict[str, Expr] | None:
    """What a branch assigns, where it does nothing but give simple whole numbers to different scalars."""
    found = {one.name: one.value for one in body if isinstance(one, Assign) and _is_step(one.value)}
    return found if len(found) == len(body) else None


def _is_step(value: Expr) -> bool:
    match value:
        case Binary(op="add" | "sub", left=Var(), right=Const()) | Var() | Const():
            return value.type == INT64
        case _:
            return False


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


def eager(expr: Expr) -> Expr:
    """The same without short cuts: its C text does not jump."""
    return rewrite_expr(expr, lambda one: Binary(one.op, one.left, one.right) if isinstance(one, Logical) else one)


def both(path: Expr | None, condition: Expr) -> Expr:
    """Whether a condition holds where control comes to it; path: None where it always does."""
    return condition if path is None else Binary("and", path, condition)
