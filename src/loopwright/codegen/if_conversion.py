"""Conditional updates without a jump: `if c: s = s + e`, where e is simple, in loops that need their order. A jump that
the data decide costs some fifteen cycles each time it is guessed wrong; an addition that may be of nothing, four.

What is added where the condition is false is nothing at all: s - 0.0 is s, whatever s is.

The same of both halves of a search, `if a[m] < x: lo = m + 1` and `else: hi = m`: whole numbers that a `while` goes on
with, of which data decide; and of several whole numbers in a `for` loop, the place of the least and its value, where an
iteration does so much that nobody waits for the choice. One number alone the C compiler chooses without a jump in a
`for` loop, unless what it chooses decides the next time: `if x % 2 == 0: x //= 2` and `else: x = 3 * x + 1`, or the
same as one expression.

The same of a whole number that is added where an element says so, behind conditions on scalars that say whether it is
there: those stay a jump.

The same of two constants of which a comparison of floats chooses one: a pixel becomes black or white. Where what the
next iteration waits for goes only through the comparison, a jump that is guessed right ends the wait; there it stays.

The same of two stores at one place: chosen_stores.py. Of elements that a condition changes, in lanes:
kept_elements.py. Of several scalars at once: chosen_scalars.py. Of extremes among few candidates: few_candidates.py.

And of flags, `if c: found = True`: the C compiler follows each of the two values of a flag through all that comes
after, and of a loop that it writes out nothing is left but jumps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise

from loopwright.analysis.recurrence_latency import COMPARE, SELECT, recurrence_latency
from loopwright.codegen.chosen_scalars import chosen_scalars
from loopwright.codegen.chosen_stores import is_better_chosen
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.few_candidates import among_few, better_extreme
from loopwright.codegen.kept_elements import keeps_elements
from loopwright.codegen.recurrent_scalars import returning
from loopwright.codegen.safepoints import operations_in
from loopwright.ir.chosen_values import always_read
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Break,
    Cast,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import arrays_loaded, contains, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, children, expressions, rewrite_body, rewrite_expr, statements, subexpressions

SIMPLE = 6  # parts of what is added
LEAST_AROUND = 16  # operations of an iteration in which a choice takes no longer than a jump that is guessed right
MOST_CHOSEN = 3  # numbers that are chosen in place of a jump: each takes an operation, whatever the condition says
SIMPLE_STEP = 5  # parts of a number that is chosen where the next choice waits for it
CHEAP = ("add", "sub", "mul", "and", "or", "xor")


def select_updates(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes, and in lanes the flags that each iteration has for itself."""
    found: set[int] = set()
    for name in lowering.lanes:
        body, own = given.loops[name].body, given.facts.loops[name].private
        flags = ((stmt, flag_of(stmt)) for stmt in statements(body, If))
        found |= {id(stmt) for stmt, flag in flags if flag is not None and flag[0] in own}
        found |= keeps_elements(given.loops[name], given)
    for loop in statements(given.kernel.body, For, While):
        if loop.name not in lowering.lanes and not contains(loop.body, For, While):
            found |= {id(stmt) for stmt in statements(loop.body, If) if flag_of(stmt) is not None}
            choices = (stmt for stmt in loop.body if isinstance(stmt, If | Assign))
            found |= {id(stmt) for stmt in choices if recurrence_of(stmt) is not None}
            if not isinstance(loop, For) or given.constant_trip(loop) is None:  # no C compiler writes it out
                found |= _levels(loop.body)
    for search in statements(given.kernel.body, While):
        if not contains(search.body, For, While):
            found |= {id(stmt) for stmt in search.body if isinstance(stmt, If) and choices_of(stmt) is not None}
    for loop in statements(given.kernel.body, For):
        if loop.name in lowering.lanes:
            continue
        is_large = operations_in(loop.body) >= LEAST_AROUND
        if loop.name in lowering.regions or contains(loop.body, For, While):
            direct = (stmt for stmt in loop.body if isinstance(stmt, If) and is_large)
            found |= {id(one) for one in direct if _is_guessed_wrong(one, loop) and better_extreme(one) is None}
            continue
        found |= {id(stmt) for stmt in statements(loop.body, If) if update_of(stmt) is not None}
        known = given.facts.loops.get(loop.name)  # of nothing where every access is checked
        if known is not None:
            in_order = known.verdict not in ("parallel", "reduction")
            better = (stmt for stmt in loop.body if is_better_chosen(stmt, loop.body, given, in_order))
            found |= {id(stmt) for stmt in better if isinstance(stmt, If | Store)}
        totals = set(_running_totals(loop))
        found |= {
            id(stmt)
            for stmt in loop.body
            if isinstance(stmt, If) and (is_large or _is_compared(stmt, totals)) and _is_guessed_wrong(stmt, loop)
        }
        if given.constant_trip(loop) is None:
            branches = (stmt for stmt in loop.body if isinstance(stmt, If) and _is_of_data(stmt, loop))
            found |= {id(stmt) for stmt in branches if chosen_scalars(stmt) is not None}
    found |= among_few(given, lowering)
    found |= _counts(given, lowering)
    return replace(lowering, selected=frozenset(found))


def _counts(given: CodegenInput, lowering: LoopLowering) -> set[int]:
    """What is counted behind conditions, in loops but not in lanes."""
    in_lanes = {id(stmt) for name in lowering.lanes for stmt in statements(given.loops[name].body, If)}
    inside = (stmt for loop in statements(given.kernel.body, For, While) for stmt in statements(loop.body, If))
    found = {id(stmt) for stmt in inside if count_behind(stmt) is not None}
    for loop in statements(given.kernel.body, For, While):
        for body in (loop.body, *(inner for stmt in statements(loop.body, If) for inner in bodies(stmt))):
            for first, second in pairwise(body):
                counts = [counted_in(one) if isinstance(one, If) else None for one in (first, second)]
                if counts[0] is not None and counts[1] is not None and counts[0][0] == counts[1][0]:
                    found |= {id(first), id(second)}
    return found - in_lanes


def counted_in(stmt: If) -> tuple[str, str, Const] | None:
    """Of `if a[i] == 1: n += k`: the whole number n, `add` or `sub`, and k; None for anything else. Of several in a row
    the C compiler makes jumps, as many as there are ways through all of them, where it knows n before the first."""
    count = count_of(stmt)
    is_of_data = isinstance(stmt.condition, Compare) and has(stmt.condition, Load)
    return count if count is not None and is_of_data and count[2].type == INT64 else None


def _running_totals(loop: For) -> Iterator[str]:
    """The scalars to which each iteration adds an element, or so, of a loop that data may end: it is short, and begins
    again and again."""
    for one in loop.body if contains(loop.body, Break) else ():
        match one:
            case Assign(name=name, value=Binary(op="add" | "sub", left=Var(name=old), right=value)) if name == old:
                if value.type == INT64 and any(True for _ in subexpressions(value, Load)):
                    yield name


def _is_compared(stmt: If, totals: Collection[str]) -> bool:
    """Whether one of these is a better extreme: the first ones of a total often are, later ones hardly ever."""
    sides = (stmt.condition.left, stmt.condition.right) if isinstance(stmt.condition, Compare) else ()
    return any(isinstance(side, Var) and side.name in totals for side in sides)


def _is_guessed_wrong(stmt: If, loop: For) -> bool:
    """Whether it only chooses among several whole numbers, by what the loop computes."""
    chosen = chosen_in(stmt) if _is_of_data(stmt, loop) else None
    return chosen is not None and len(chosen) > 1


def _is_of_data(stmt: If, loop: For) -> bool:
    """Whether its condition asks for what the loop reads or computes."""
    reads = any(True for _ in subexpressions(stmt.condition, Load))
    return reads or not names_in(stmt.condition).isdisjoint(names_assigned(loop.body))


def update_of(stmt: If) -> tuple[str, str, Expr] | None:
    """The scalar, `add` or `sub`, and what is added; None for anything else."""
    match stmt:
        case If(then=(Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=value)),),
                otherwise=()) if name == old and value.type.is_float and _is_simple(value, stmt.condition):  # fmt: skip
            return name, op, value
        case _:
            return None


def count_behind(stmt: If) -> tuple[Expr, Compare, str, str, Expr] | None:
    """Of a condition on scalars and then on an element, `if 0 <= r < 8 and a[r] == 1: n += k`, with nothing but a sum
    of whole numbers behind it: the one on scalars, the one on the element, the sum, `add` or `sub`, and what is added.
    The former guards the access and is mostly guessed right; the latter is as good as drawn. None for anything else."""
    match stmt:
        case If(condition=Logical(op="and") as both, otherwise=(), then=(
            Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=Var() | Const() as value)),
        )) if name == old and value.type == INT64:  # fmt: skip
            first, last = _last_of(both)
            if isinstance(last, Compare) and has(last, Load) and not has(first, Load):
                return first, last, name, op, value
    return None


def _last_of(both: Logical) -> tuple[Expr, Expr]:
    """What is asked last, and all that is asked before."""
    if not isinstance(both.right, Logical) or both.right.op != "and":
        return both.left, both.right
    before, last = _last_of(both.right)
    return replace(both, right=before), last


def flag_of(stmt: If) -> tuple[str, bool] | None:
    """The flag that a condition sets, and to what; None for anything else, and where the condition asks for the flag:
    it is set once then."""
    match stmt:
        case If(then=(Assign(name=name, value=Const(value=bool() as value)),), otherwise=()):
            return None if name in names_in(stmt.condition) else (name, value)
        case _:
            return None


def choices_of(stmt: If) -> dict[str, tuple[Expr, Expr]] | None:
    """The choices of a search, both halves of which say how it goes on; None where that is not all that they do, or the
    condition is no matter of data."""
    is_of_data = any(True for _ in subexpressions(stmt.condition, Load))
    return chosen_in(stmt) if stmt.then and stmt.otherwise and is_of_data else None


def recurrence_of(stmt: If | Assign) -> dict[str, tuple[Expr, Expr]] | None:
    """The choices between two ways to go on from a number, by that number; None where that is not all that they do."""
    branch = branch_of(stmt) if isinstance(stmt, Assign) else stmt
    if branch is None or not branch.then or not branch.otherwise:
        return None
    reads = any(True for _ in subexpressions(branch.condition, Load))
    if reads or not names_in(branch.condition) & names_assigned((branch,)):
        return None
    return chosen_in(branch, SIMPLE_STEP)


def branch_of(stmt: Assign) -> If | None:
    """The branch that does the same as `x = a if c else b`, where both numbers are computed from x: of an extreme the C
    compiler knows how to choose. None for any other assignment."""
    match stmt.value:
        case Select(condition=condition, then=then, otherwise=otherwise):
            is_step = all(stmt.name in names_in(one) and not isinstance(one, Var) for one in (then, otherwise))
            both_ways = (replace(stmt, value=then),), (replace(stmt, value=otherwise),)
            return If(condition, *both_ways, at=stmt.at) if is_step else None
        case _:
            return None


def _levels(body: Body) -> set[int]:
    """The choices between two constants of a loop, where they add little to what an iteration waits for."""
    choices = {id(one) for one in expressions(body, Select) if _is_of_constants(one)}
    choices |= {id(stmt) for stmt in statements(body, If) if level_of(stmt) is not None}
    if not choices:
        return choices
    carried, read = returning(body, lambda kind: kind.is_float), arrays_loaded(body)
    body = rewrite_body(body, lambda stmt: () if isinstance(stmt, Store) and stmt.array not in read else (stmt,))
    guessed = recurrence_latency(rewrite_body(body, _as_if_true, _as_if_true_in), carried)
    longer = recurrence_latency(body, carried) - guessed
    return choices if longer <= min(COMPARE + SELECT, guessed / 2) else set()


def _as_if_true(stmt: Stmt) -> Body:
    return stmt.then if isinstance(stmt, If) and level_of(stmt) is not None else (stmt,)


def _as_if_true_in(expr: Expr) -> Expr:
    return expr.then if isinstance(expr, Select) and _is_of_constants(expr) else expr


def level_of(stmt: If) -> tuple[str, Select] | None:
    """A scalar that becomes one of two constants, as a comparison of floats says; None for anything else."""
    match stmt:
        case If(then=(Assign(name=name, value=Const() as then),), otherwise=(Assign(name=other, value=Const() as no),)):
            choice = Select(stmt.condition, then, no)
            return (name, choice) if name == other and _is_of_constants(choice) else None
        case _:
            return None


def _is_of_constants(choice: Select) -> bool:
    match choice:
        case Select(condition=Compare(left=left, right=right), then=Const(), otherwise=Const()):
            is_of_data = not isinstance(left, Const) or not isinstance(right, Const)
            return choice.type.is_float and left.type == right.type == choice.type and is_of_data
        case _:
            return False


def chosen_in(stmt: If, most_parts: int = 0) -> dict[str, tuple[Expr, Expr]] | None:
    """For each scalar that a branch assigns, its values where the condition holds and where it does not; None where
    that is not all that they do, or costs more than a jump. most_parts: of a value that is no simple step."""
    then, otherwise = _assigned(stmt.then, most_parts), _assigned(stmt.otherwise, most_parts)
    if then is None or otherwise is None:
        return None
    types = {name: value.type for name, value in (*then.items(), *otherwise.items())}
    same = {name: Var(name, type_) for name, type_ in types.items()}
    chosen = {name: (then.get(name, same[name]), otherwise.get(name, same[name])) for name in types}
    return chosen if len(chosen) <= MOST_CHOSEN else None


def _assigned(body: Body, most_parts: int) -> dict[str, Expr] | None:
    """What a branch assigns, where it does nothing but give simple whole numbers to different scalars, none of which
    it reads afterwards."""
    found: dict[str, Expr] = {}
    for one in body:
        if not isinstance(one, Assign) or one.name in found or names_in(one.value) & found.keys():
            return None
        if not _is_step(one.value) and not _is_cheap(one.value, most_parts):
            return None
        found[one.name] = one.value
    return found


def _is_step(value: Expr) -> bool:
    match value:
        case Binary(op="add" | "sub", left=Var(), right=Const()) | Unary(op="neg", operand=Var()) | Var() | Const():
            return value.type == INT64
        case _:
            return False


def _is_cheap(value: Expr, most_parts: int) -> bool:
    """Whether an integer is computed in a few cycles, and nothing can fail."""
    parts = list(subexpressions(value))
    return len(parts) <= most_parts and all(_is_cheap_part(part) for part in parts)


def _is_cheap_part(part: Expr) -> bool:
    match part:
        case Const() | Var():
            return part.type == INT64
        case Binary(op=op) if op in CHEAP:
            return part.type == INT64
        case Binary(op="shl" | "shr", right=Const(value=by)) | Binary(op="floordiv", right=Const(value=2 as by)):
            return part.type == INT64 and 0 <= by < 64
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
