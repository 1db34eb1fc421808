"""Where generated code asks whether to stop (`LW_SPEND` of loopwright.h), so that Ctrl-C ends a long kernel soon and
costs nothing that can be measured.

An innermost loop runs in strips of about LW_PATIENCE operations and asks between two of them; inside of a strip it is
the very loop that it was. A loop around such loops counts what an iteration does beside them. A loop that is short in
every call is counted by what it stands in. `While` loops count each iteration.
"""

from __future__ import annotations

from collections.abc import Callable

from loopwright.codegen.function import Writer
from loopwright.codegen.work import operations_of
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Break,
    Call,
    Checked,
    Const,
    Dim,
    For,
    If,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.steps.extent import extent_of, trip_of

SHORT = 1 << 20  # operations of loops that are not worth a question of their own


def operations_in(body: Body) -> int:
    """The operations that running a body takes at most, without those of loops that ask for themselves."""
    return sum(_operations(stmt) for stmt in body)


def _operations(stmt: Stmt) -> int:
    own = 1 + sum(operations_of(expr) for expr in own_expressions(stmt)) + isinstance(stmt, Store)
    if isinstance(stmt, For):
        most = most_operations(stmt)
        return own + (0 if most is None else most)
    if isinstance(stmt, While):
        return own
    if isinstance(stmt, If):
        return own + max(operations_in(stmt.then), operations_in(stmt.otherwise))
    return own + sum(operations_in(part) for part in bodies(stmt))


def most_operations(loop: For) -> int | None:
    """How many operations a loop takes at most, where that is known and little; None where it asks for itself."""
    trip = trip_of(loop)
    if trip is None:
        trip = extent_of(loop) or None
    if trip is None or not is_innermost(loop):
        return None
    most = trip * max(1, operations_in(loop.body))
    return most if most <= SHORT else None


def is_innermost(loop: For) -> bool:
    """Whether all loops in this one are short."""
    inner = [stmt for stmt in statements(loop.body) if isinstance(stmt, For | While)]
    return all(isinstance(stmt, For) and most_operations(stmt) is not None for stmt in inner)


def in_strips(loop: For, w: Writer) -> bool:
    """Whether a loop asks between strips of its iterations."""
    return w.asks and is_innermost(loop) and most_operations(loop) is None


def spend(operations: str | int, w: Writer) -> None:
    """Write the line that counts operations, and asks where these are many."""
    if w.asks:
        due = w.declare("lw_due", "LW_PATIENCE")
        w.line(f"LW_SPEND({due}, {w.use('watch')}, {operations})")


def write_range(loop: For, first: str, bound: str, down: bool, w: Writer, write: Callable[[str, str], None]) -> None:
    """Have `write` write a loop for bounds (C texts): from `first` to `bound`, or those of a strip where it asks for
    itself. Inside of another loop there are two versions, so that a loop of few iterations is what it always was."""
    if not in_strips(loop, w):
        write(first, bound)
        return
    w.line(f"const int64_t lw_whole = {bound};")
    if w.function.nested == 0 or not w.twice or not _may_stand_twice(loop.body):
        _write_strips(loop, first, down, w, write)
        return
    operations = max(1, operations_in(loop.body))
    trip = "lw_from_here - lw_whole" if down else "lw_whole - lw_from_here"
    w.line(f"const int64_t lw_from_here = {first};")
    # No iterations, or less than none, are many here.
    with w.branch(f"LW_RARE((uint64_t)({trip}) > (uint64_t)LW_STRIP({operations}))"):
        _write_strips(loop, "lw_from_here", down, w, write, f"if (lw_asked({w.use('watch')})) goto lw_leave;")
    with w.otherwise():
        if loop.name not in w.function.counted:
            w.line(f"{w.declare('lw_due', 'LW_PATIENCE')} -= ({trip}) * {operations};")
        write("lw_from_here", "lw_whole")


def _may_stand_twice(body: Body) -> bool:
    """Whether no label and no array is declared in it."""
    return not any(isinstance(stmt, Block | Allocate) for stmt in statements(body))


def _write_strips(
    loop: For, first: str, down: bool, w: Writer, write: Callable[[str, str], None], question: str = ""
) -> None:
    """What leaves the loop leaves all strips. question: what each strip begins with, if it does not count."""
    operations = max(1, operations_in(loop.body))
    ahead, rest = ("lw_below", "lw_strip - lw_upper") if down else ("lw_ahead", "lw_upper - lw_strip")
    leaves = any(isinstance(stmt, Break) and stmt.loop == loop.name for stmt in statements(loop.body))
    with w.loop(f"int64_t lw_strip = {first}, lw_then; lw_strip {'>' if down else '<'} lw_whole; lw_strip = lw_then"):
        w.line(f"const int64_t lw_upper = lw_then = {ahead}(lw_strip, lw_whole, LW_STRIP({operations}));")
        if question:
            w.line(question)
        else:
            spend(f"({rest}) * {operations}", w)
        if leaves:
            w.function.broken[loop.name] = label = w.names.fresh(f"lw_out_of_{w.names.of(loop.name)}")
        write("lw_strip", "lw_upper")
    if leaves:
        del w.function.broken[loop.name]
        w.line(f"{label}:;")


def write_iteration(loop: For | While, w: Writer, write: Callable[[], None]) -> None:
    """Have `write` write the body of a loop; where it is not in strips, behind a question, which counts the loops in it
    as far as their lengths are known here: to count once is cheaper."""
    w.function.nested += 1
    if isinstance(loop, While) or not is_innermost(loop):
        inner = [stmt for stmt in loop.body if isinstance(stmt, For) and _is_known_before(stmt, loop.body, w)]
        terms = [f"{max(1, operations_in(loop.body))}"]
        for stmt in inner:
            trip = f"lw_trip({w.text(stmt.lower)}, {w.text(stmt.upper)}, {w.text(stmt.step)})"
            terms.append(f"{trip} * {max(1, operations_in(stmt.body))}")
        w.function.counted |= {stmt.name for stmt in inner}
        spend(" + ".join(terms), w)
    write()
    w.function.nested -= 1


def _is_known_before(loop: For, body: Body, w: Writer) -> bool:
    """Whether a loop in strips has ends that can be told at the beginning of the body that it stands in."""
    if not in_strips(loop, w) or not isinstance(loop.step, Const) or loop.step.value not in (1, -1):
        return False
    changing = {stmt.name for stmt in statements(body) if isinstance(stmt, Assign)}
    allocated = {stmt.array for stmt in statements(body) if isinstance(stmt, Allocate)}
    return not any(
        isinstance(part, Load | Checked | Call)
        or (isinstance(part, Var) and part.name in changing)
        or (isinstance(part, Dim) and part.array in allocated)
        for bound in (loop.lower, loop.upper)
        for part in subexpressions(bound)
    )
