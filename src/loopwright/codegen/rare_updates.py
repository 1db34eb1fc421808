"""Loops in which next to nothing happens: searches, which a condition ends, extremes with their places, which few
iterations improve, and compactions that choose next to nothing. Each iteration only waits for the jump before it, and
registers hold many. So a block of iterations is asked at once whether a condition holds in any of them, as things are
before the block; where none does, nothing in it changes what the next ones would ask, and it is passed over. Any other
block runs as it is written. Not in loops inside of others whose iterations read elements of different rows: to compute
where each row of a block begins takes as long as a few iterations, and in front of each of these loops it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import NONE, CodegenInput, IndexTest, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.codegen.index_tests import HIGH, LOW, texts_of_tests
from loopwright.codegen.inspection import tests_of
from loopwright.codegen.lane_gains import reads_columns
from loopwright.codegen.loop_versions import is_short
from loopwright.codegen.safepoints import breaking_out_of, operations_in
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Break,
    Call,
    Compare,
    Const,
    Expr,
    For,
    If,
    Leave,
    Load,
    Logical,
    Return,
    Stmt,
    Var,
    While,
)
from loopwright.ir.queries import names_in
from loopwright.ir.types import BOOL
from loopwright.ir.walk import children, expressions, rewrite_expr, statements, subexpressions

BLOCK = 64
LONG = 320  # iterations with which blocks pay in which more is read than one by one
LARGEST = 24  # operations of what is asked
FLAGS = {1: "int8_t", 2: "int16_t", 4: "int32_t", 8: "int64_t"}
"""The type that says in each lane whether a condition holds: as wide as what is compared."""


def skip_blocks(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Innermost loops of which facts say so, and that nothing else is done with."""
    inner = {one.name for loop in statements(given.kernel.body, For, While) for one in statements(loop.body, For)}
    found = (
        loop.name
        for loop in given.loops.values()
        if _is_possible(loop, given, lowering)
        and not (loop.name in inner and reads_columns(loop, loop.body, given.arrays))
    )
    return replace(lowering, skipped=frozenset(found))


def _is_possible(loop: For, given: CodegenInput, lowering: LoopLowering) -> bool:
    if loop.name in lowering.inspections or loop.name in lowering.lanes or is_short(loop):
        return False
    asked, tests = _asked(loop), [stmt for stmt in flat(loop.body) if isinstance(stmt, If)]
    compacted = [stmt for stmt in tests if id(stmt) in lowering.compacted]
    if any(id(stmt) in lowering.selected for stmt in tests) or len(compacted) not in (0, len(tests)):
        return False
    if asked is None or loop.step != Const(1, loop.step.type) or given.constant_trip(loop) is not None:
        return False
    if not compacted and not all(_leaves(stmt) or _improves(stmt) for stmt in tests):
        return False
    if not _are_own(loop, given) or (_moved(loop) and _tests_of_what_is_read_early(loop, given) is None):
        return False
    entry = lowering.versions.get(loop.name)
    ahead = tuple(replace(stmt, then=()) if isinstance(stmt, If) else stmt for stmt in asked)
    is_slow = any(isinstance(part, Call) or _is_division(part) for part in expressions(ahead))
    return (
        not is_slow
        and operations_in(ahead) <= LARGEST
        and not given.may_fail(ahead, NONE if entry is None else entry.inside)
    )


def flat(body: Body) -> Body:
    """The body with conditions of conditions as one, and what stands between them done in any case."""
    found: list[Stmt] = []
    for stmt in body:
        match stmt:
            case If(condition=outer, then=(*before, If(otherwise=()) as inner), otherwise=()):
                if all(isinstance(one, Assign) for one in before):
                    found += [*before, replace(inner, condition=Logical("and", outer, inner.condition))]
                    continue
        found.append(stmt)
    return tuple(found)


def _moved(loop: For) -> list[Assign]:
    """What stands between conditions."""
    known = {id(stmt) for stmt in loop.body}
    return [stmt for stmt in flat(loop.body) if isinstance(stmt, Assign) and id(stmt) not in known]


def _are_own(loop: For, given: CodegenInput) -> bool:
    """Whether nobody misses the value of a scalar between conditions that an iteration has not computed."""
    facts = given.facts.loops.get(loop.name)
    names = {stmt.name for stmt in _moved(loop)}
    return not names or (facts is not None and names <= set(facts.private) - set(facts.last))


def _is_division(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op in ("floordiv", "mod", "pow", "truediv")


def _leaves(stmt: If) -> bool:
    return bool(stmt.then) and isinstance(stmt.then[-1], Break | Return | Leave)


def _improves(stmt: If) -> bool:
    """Whether a condition asks for something better than a scalar holds, which then is that: few are, unless they come
    in order."""
    assigned = {one.name: one.value for one in stmt.then if isinstance(one, Assign)}
    if len(assigned) != len(stmt.then):
        return False
    for part in subexpressions(stmt.condition, Compare):
        for best, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(best, Var) and best.name in assigned:
                better = part.op in ("gt", "ge", "lt", "le") and assigned[best.name] == other
                if better or (best.type == BOOL and assigned[best.name] != best):
                    return True
    return False


def _asked(loop: For) -> list[Assign | If] | None:
    """The statements that are asked; None where others have effects, or one iteration needs what another has left."""
    found: list[Assign | If] = []
    assigned = {stmt.name for stmt in flat(loop.body) if isinstance(stmt, Assign)}
    known: set[str] = set()
    for stmt in flat(loop.body):
        if isinstance(stmt, Assign) and stmt.name not in known:
            if names_in(stmt.value) & (assigned - known):
                return None
            known.add(stmt.name)
        elif not isinstance(stmt, If) or stmt.otherwise or names_in(stmt.condition) & (assigned - known):
            return None
        found.append(stmt)
    return found if any(isinstance(stmt, If) for stmt in found) else None


# ---- text -------------------------------------------------------------------------------------------------------


@contextmanager
def skipping(loop: For, begin: str, end: str, w: Writer) -> Iterator[tuple[str, str]]:
    """Pass over blocks of the iterations from `begin` to `end` (C texts) in which nothing happens. Yields the bounds of
    those that the block is to write. The last iteration always runs, so that every variable has the value that it
    leaves."""
    entry = w.decided.versions.get(loop.name)
    is_known = loop.name in w.decided.skipped and not w.streams and not w.choosing
    if not is_known or (entry is not None and not entry.inside <= w.inside):
        yield begin, end
        return
    tests = _tests_of_what_is_read_early(loop, w.given)
    there = texts_of_tests(tests or (), loop, w)
    with w.block(), breaking_out_of(loop, w):
        w.line(f"int64_t lw_block = {begin};")
        with w.repeat(f"lw_block < {end}"):
            long = f"{end} - {begin} > {LONG} && " if there else ""
            begun = "".join(f"!{w.text(unset)} && " for unset in _unset(loop))
            with w.repeat(f"{long}{begun}{end} - lw_block > {BLOCK}"):
                if there:
                    w.line(f"const int64_t {LOW} = lw_block, {HIGH} = lw_block + {BLOCK - 1};")
                    w.only(f"!({' && '.join(there)})", "break;")
                flag = FLAGS[max((part.type.size_bytes for part in _compared(loop)), default=4)]
                w.line(f"{flag} lw_any = 0;")
                _ask(loop, flag, tests is not None, w)
                w.only("lw_any", "break;")
                w.line(f"lw_block += {BLOCK};")
            w.line(f"const int64_t lw_block_end = lw_ahead(lw_block, {end}, {BLOCK});")
            yield "lw_block", "lw_block_end"
            w.line("lw_block = lw_block_end;")


def _compared(loop: For) -> Iterator[Expr]:
    """What conditions are about, but for where it lies."""
    waiting: list[Expr] = [stmt.condition for stmt in flat(loop.body) if isinstance(stmt, If)]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Const):
            yield part
        waiting += () if isinstance(part, Load) else children(part)


def _unset(loop: For) -> list[Expr]:
    """Whether a search has found nothing yet, as conditions ask before they compare: `k < 0 or x[i] > best`. Blocks are
    asked only after that, as the next iteration may take anything, and of no lane then."""
    tests = [stmt for stmt in flat(loop.body) if isinstance(stmt, If)]
    kept = {one.name for stmt in tests for one in stmt.then if isinstance(one, Assign)}
    found: list[Expr] = []
    for stmt in tests:
        for cut in subexpressions(stmt.condition, Logical):
            plain = isinstance(cut.left, Compare) and next(subexpressions(cut.left, Load), None) is None
            if cut.op == "or" and plain and names_in(cut.left) and names_in(cut.left) <= kept and cut.left not in found:
                found.append(cut.left)
    return found


def _eager(condition: Expr, are_there: bool, unset: list[Expr]) -> Expr:
    """The same without short cuts, where nothing is read behind one, or what is read is there: lanes do not jump."""

    def one(expr: Expr) -> Expr:
        if isinstance(expr, Logical) and expr.op == "or" and expr.left in unset:
            return expr.right
        is_safe = isinstance(expr, Logical) and (are_there or next(subexpressions(expr.right, Load), None) is None)
        return Binary(expr.op, expr.left, expr.right) if isinstance(expr, Logical) and is_safe else expr

    return rewrite_expr(condition, one)


def _tests_of_what_is_read_early(loop: For, given: CodegenInput) -> list[IndexTest] | None:
    """Tests that show for a block that the elements are there which are read although a condition before may be what
    says so; None where there are none."""
    conditions = [stmt.condition for stmt in flat(loop.body) if isinstance(stmt, If)]
    behind = [cut.right for one in conditions for cut in subexpressions(one, Logical)]
    loads = [load for expr in (*behind, *(one.value for one in _moved(loop))) for load in subexpressions(expr, Load)]
    found: list[IndexTest] = []
    for load in loads:
        tests = tests_of(load, loop, given)
        if tests is None:
            return None
        found += tests
    return found


def _ask(loop: For, flag: str, are_there: bool, w: Writer) -> None:
    """The conditions of a block, in lanes; scalars of an iteration are its own there. What stands behind a condition
    that ends the loop is read only where that does not hold: it may say that an index is inside its array. are_there:
    what other conditions read behind short cuts is."""
    variable, before, unset = w.names.of(loop.name), w.function.renamed, _unset(loop)
    head = f"int64_t {variable} = lw_block; {variable} < lw_block + {BLOCK}; ++{variable}"
    sizes = {part.type.size_bytes for part in _compared(loop) if isinstance(part, Load)}
    # Of bytes beside longer numbers gcc makes several registers, and keeps the flags in memory where they are OpenMP's.
    lanes = Lanes((("|", "lw_any"),)) if len(sizes) < 2 else Lanes()
    with w.loop(head, loop.name, lanes=lanes), ExitStack() as inside:
        w.wide_flags = flag == FLAGS[8]  # gcc takes bytes and 64 bits for parts of shorter registers
        body = flat(loop.body)
        for stmt in body:
            if isinstance(stmt, If):
                holds = w.text(_eager(stmt.condition, are_there, unset))
                w.line(f"lw_any |= ({flag})({holds});")
                if _leaves(stmt) and stmt is not body[-1]:
                    inside.enter_context(w.branch(f"!({holds})"))
            elif isinstance(stmt, Assign):
                text, own = w.text(stmt.value), w.names.fresh(f"{w.names.of(stmt.name)}asked")
                w.function.scoped.add(own)
                w.line(f"const {VALUE_TYPE[stmt.value.type.name]} {own} = {text};")
                w.function.renamed = {**w.function.renamed, stmt.name: own}
    w.function.renamed = before
