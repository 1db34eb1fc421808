"""A kernel as parallel regions: each outermost loop whose iterations need no order, as a kernel of its own that does
some of its iterations, and what is between them, which whoever runs the regions does by itself. So several devices can
do a part of each (runtime/shared_call.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.facts import Facts, LoopFacts
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Body,
    Break,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Return,
    ScalarParam,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_measured,
    arrays_stored,
    contains,
    has,
    names_assigned,
    names_read,
)
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import expressions, own_expressions, subexpressions

FIRST, LAST = "region.first", "region.last"

MOST = 24
"""Of more regions than this a kernel is not made: each is compiled for each device."""


@dataclass(frozen=True, slots=True)
class CutRegion:
    """`kernel` does the iterations of `loop` from one number to before another, the last two of its numbers, which
    follow the arguments. loop: None for statements that one thread of the host does at once."""

    stmt: Stmt
    loop: For | None
    kernel: Kernel


@dataclass(frozen=True, slots=True)
class ParallelRegions:
    """A kernel cut into regions. written: the kernel; numbers: scalars that follow the arguments of each region, first
    and last ones behind them; made: arrays that the call makes, which follow those: results first. regions: by the
    identity of the statement in the body of `written`."""

    written: Kernel
    numbers: tuple[str, ...]
    made: tuple[str, ...]
    regions: dict[int, CutRegion]


def parallel_regions(kernel: Kernel, facts: Facts) -> ParallelRegions | None:
    """None where it has no parallel region, or holds what nobody but one thread can do in its place."""
    if kernel.overlap:
        return None
    found = list(_regions(kernel.body, facts))
    those = {id(stmt) for stmt, _ in found}
    if not any(loop is not None for _, loop in found) or len(found) > MOST or not _host_can(kernel.body, those):
        return None
    local = [stmt for stmt in _between(kernel.body, those) if isinstance(stmt, Allocate)]
    made = [(one.name, one.element, len(one.shape)) for one in kernel.results]
    made += [(one.array, one.element, len(one.shape)) for one in local]
    at_once = {id(stmt) for stmt in kernel.body}  # an array that is made again and again would have to be forgotten
    if len({name for name, _, _ in made}) < len(made) or any(one.double or id(one) not in at_once for one in local):
        return None
    outside = _assigned_outside(kernel.body, those)
    if any(_gives_values(stmt, kernel.body) for stmt, _ in found):
        return None
    used = {name for stmt, _ in found for name in names_read((stmt,))}
    numbers = {name: kind for name, kind in outside.items() if name in used}
    regions = {id(stmt): CutRegion(stmt, loop, _as_kernel(kernel, stmt, loop, numbers, made)) for stmt, loop in found}
    return ParallelRegions(kernel, tuple(numbers), tuple(name for name, _, _ in made), regions)


def _regions(body: Body, facts: Facts) -> Iterator[tuple[Stmt, For | None]]:
    """The outermost statements that are regions, in the order of the text."""
    for stmt in body:
        match stmt:
            case For() if _is_shared(facts.loops[stmt.name]) and _is_plain(stmt):
                yield stmt, stmt
            case For() if _is_plain(stmt) and not contains((stmt,), Break, Continue, Return):
                inside = list(_regions(stmt.body, facts))
                if any(loop is not None for _, loop in inside):
                    yield from inside
                else:
                    yield stmt, None
            case If() if not any(_loads(expr) for expr in own_expressions(stmt)):
                yield from _regions(stmt.then, facts)
                yield from _regions(stmt.otherwise, facts)
            case Assign() | Allocate() | Return():
                pass
            case _:
                yield stmt, None


def _is_shared(found: LoopFacts) -> bool:
    """Whether devices may share a loop: each has elements of its own, and nobody would know which of them counts where
    several set the same one."""
    return found.verdict == "parallel" and not found.alike


def _is_plain(loop: For) -> bool:
    """Whether the host can count its iterations before any of them."""
    return loop.step.type == INT64 and not any(_loads(expr) for expr in own_expressions(loop))


def _loads(expr: Expr) -> bool:
    return has(expr, Load)


def _host_can(body: Body, regions: set[int]) -> bool:
    """Whether what is between the regions can be done by who runs them: numbers only, of arrays that nobody writes."""
    changing = arrays_stored(body)
    for stmt in _between(body, regions):
        if isinstance(stmt, While | Break | Continue | Store):
            return False
        for own in own_expressions(stmt):
            if any(part.array in changing for part in subexpressions(own, Load)):
                return False
    return True


def _between(body: Body, regions: set[int]) -> Iterator[Stmt]:
    """The statements that are in no region, with those inside of them."""
    for stmt in body:
        if id(stmt) in regions:
            continue
        yield stmt
        if isinstance(stmt, For | While):
            yield from _between(stmt.body, regions)
        elif isinstance(stmt, If):
            yield from _between(stmt.then, regions)
            yield from _between(stmt.otherwise, regions)


def _assigned_outside(body: Body, regions: set[int]) -> dict[str, Scalar]:
    """The scalars that the host gives values, and the variables of its loops, with their types."""
    found: dict[str, Scalar] = {}
    for stmt in _between(body, regions):
        if isinstance(stmt, Assign):
            found[stmt.name] = stmt.value.type
        elif isinstance(stmt, For):
            found[stmt.name] = INT64
    return found


def _gives_values(region: Stmt, body: Body) -> bool:
    """Whether a scalar that is given a value in a region is read outside of it."""
    own = names_assigned((region,))
    here = {id(part) for part in expressions((region,), Var)}
    return any(part.name in own and id(part) not in here for part in expressions(body, Var))


def _as_kernel(
    kernel: Kernel, stmt: Stmt, loop: For | None, numbers: dict[str, Scalar], made: Sequence[tuple[str, Scalar, int]]
) -> Kernel:
    position = kernel.results_from
    names = {**numbers, FIRST: INT64, LAST: INT64}
    scalars = [ScalarParam(name, kind, position + k) for k, (name, kind) in enumerate(names.items())]
    position += len(scalars)
    arrays = [ArrayParam(name, kind, position + k, rank) for k, (name, kind, rank) in enumerate(made)]
    used = arrays_stored((stmt,)) | arrays_loaded((stmt,)) | arrays_measured((stmt,))
    there = [param for param in kernel.params if isinstance(param, ScalarParam) or param.name in used]
    body: Body = (stmt,)
    if loop is not None:
        first, last = Var(FIRST, INT64), Var(LAST, INT64)
        body = (replace(loop, lower=Binary("max", loop.lower, first), upper=Binary("min", loop.upper, last)),)
    return replace(
        kernel,
        params=(*there, *scalars, *(array for array in arrays if array.name in used)),
        body=body,
        results=(),
        returned=None,
        returns_tuple=False,
        packing=(),
        arguments=position + len(arrays),
    )
