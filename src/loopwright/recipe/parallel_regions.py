"""A kernel as parallel regions: each outermost loop whose iterations need no order, as a kernel of its own that does
some of its iterations, and what is between them, which whoever runs the regions does by itself. So several devices can
do a part of each (runtime/shared_call.py). A loop that needs its order only for what it adds up is one too: each part
has totals of its own, which the host puts together in the order of the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.analysis.facts import Facts, LoopFacts, ReductionOp
from loopwright.ir.linear import least, most, number, plus, times
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Body,
    Break,
    Const,
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
from loopwright.steps.draft import names_of
from loopwright.steps.nest import step_of
from loopwright.steps.reduce import PartialResults, not_in_parts, partial_results

FIRST, LAST = "region.first", "region.last"

MOST = 24
"""Of more regions than this a kernel is not made: each is compiled for each device."""


@dataclass(frozen=True, slots=True)
class CutRegion:
    """`kernel` does the iterations of `loop` from one number to before another, the last two of its numbers, which
    follow the arguments: values of the loop's variable where its step is 1, else iterations counted from 0. loop: None
    for statements that one thread of the host does at once. totals: the scalars that the loop adds up, None for one
    that adds up none; added: arrays whose elements it only updates, and how."""

    stmt: Stmt
    loop: For | None
    kernel: Kernel
    totals: PartialResults | None = None
    added: Mapping[str, ReductionOp] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParallelRegions:
    """A kernel cut into regions. written: the kernel; numbers: scalars that follow the arguments of each region, first
    and last ones behind them; made: arrays that the call makes, which follow those: results first, and last those of
    one element for what a part of a region adds up. regions: by the identity of the statement in the body of
    `written`."""

    written: Kernel
    numbers: tuple[str, ...]
    made: tuple[str, ...]
    regions: dict[int, CutRegion]


def parallel_regions(kernel: Kernel, facts: Facts, strict: bool = False) -> ParallelRegions | None:
    """None where it has no parallel region, or holds what nobody but one thread can do in its place. strict: sums of
    floats keep their order."""
    if kernel.overlap:
        return None
    finder = _RegionFinder(kernel, facts, strict)
    found = list(finder.regions(kernel.body))
    those = {id(one.stmt) for one in found}
    if not any(one.loop is not None for one in found) or len(found) > MOST or not _host_can(kernel.body, those):
        return None
    local = [stmt for stmt in _between(kernel.body, those) if isinstance(stmt, Allocate)]
    made = [(one.name, one.element, len(one.shape)) for one in kernel.results]
    made += [(one.array, one.element, len(one.shape)) for one in local]
    at_once = {id(stmt) for stmt in kernel.body}  # an array that is made again and again would have to be forgotten
    if len({name for name, _, _ in made}) < len(made) or any(one.double or id(one) not in at_once for one in local):
        return None
    outside = _assigned_outside(kernel.body, those)
    if any(_gives_values(one, kernel.body) for one in found):
        return None
    used = {name for one in found for name in names_read(one.body)}
    numbers = {name: kind for name, kind in outside.items() if name in used}
    made += [(name, kind, 1) for one in found if one.totals is not None for name, kind in one.totals.arrays.items()]
    regions = {
        id(one.stmt): CutRegion(one.stmt, one.loop, _as_kernel(kernel, one.body, numbers, made), one.totals, one.added)
        for one in found
    }
    return ParallelRegions(kernel, tuple(numbers), tuple(name for name, _, _ in made), regions)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A statement that is a region, and what a part of it does."""

    stmt: Stmt
    loop: For | None
    body: Body
    totals: PartialResults | None = None
    added: Mapping[str, ReductionOp] = field(default_factory=dict)


class _RegionFinder:
    """Finds the regions of a kernel."""

    def __init__(self, kernel: Kernel, facts: Facts, strict: bool) -> None:
        self._facts, self._strict = facts, strict
        self._taken = names_of(kernel)
        several = Counter(param.argument for param in kernel.arrays)
        self._fields = {
            one.name for one in kernel.arrays if several[one.argument] > 1 or one.offset or one.tail or not one.rank
        }

    def regions(self, body: Body) -> Iterator[_Draft]:
        """The outermost statements that are regions, in the order of the text."""
        for stmt in body:
            match stmt:
                case For() if _is_plain(stmt) and _is_shared(self._facts.loops[stmt.name]):
                    yield _Draft(stmt, stmt, (_some_of(stmt),))
                case For() if _is_plain(stmt) and self._adds_up(stmt):
                    yield self._in_parts(stmt)
                case For() if _is_counted(stmt) and not contains((stmt,), Break, Continue, Return):
                    inside = list(self.regions(stmt.body))
                    if any(one.loop is not None for one in inside):
                        yield from inside
                    else:
                        yield _Draft(stmt, None, (stmt,))
                case If() if not any(_loads(expr) for expr in own_expressions(stmt)):
                    yield from self.regions(stmt.then)
                    yield from self.regions(stmt.otherwise)
                case Assign() | Allocate() | Return():
                    pass
                case _:
                    yield _Draft(stmt, None, (stmt,))

    def _adds_up(self, loop: For) -> bool:
        """Whether a loop only needs its order for what it adds up, of which parts can have results of their own."""
        found = self._facts.loops[loop.name]
        if found.verdict != "reduction" or found.alike or not_in_parts(loop, found, self._strict) is not None:
            return False
        arrays = [one for one in found.reductions if one.kind != "scalar"]
        return all(one.alone and one.target not in self._fields for one in arrays)

    def _in_parts(self, loop: For) -> _Draft:
        totals = partial_results(loop, number(0), number(0), self._taken)
        body = (*totals.first, _some_of(replace(loop, body=totals.body)), *totals.last)
        arrays = [one for one in self._facts.loops[loop.name].reductions if one.kind != "scalar"]
        return _Draft(loop, loop, body, totals if totals.arrays else None, {one.target: one.op for one in arrays})


def _is_shared(found: LoopFacts) -> bool:
    """Whether devices may share a loop: each has elements of its own, and nobody would know which of them counts where
    several set the same one."""
    return found.verdict == "parallel" and not found.alike


def _is_counted(loop: For) -> bool:
    """Whether the host can count its iterations before any of them."""
    return not any(_loads(expr) for expr in own_expressions(loop))


def _is_plain(loop: For) -> bool:
    """Whether parts of a loop are loops from one number to another."""
    return _is_counted(loop) and isinstance(loop.step, Const)


def _some_of(loop: For) -> For:
    """The iterations from FIRST to before LAST."""
    first, last, step = Var(FIRST, INT64), Var(LAST, INT64), step_of(loop)
    if step == 1:
        return replace(loop, lower=Binary("max", loop.lower, first), upper=Binary("min", loop.upper, last))
    lower, upper = (plus(loop.lower, times(one, step)) for one in (first, last))
    earlier, later = (least, most) if step > 0 else (most, least)
    return replace(loop, lower=later(loop.lower, lower), upper=earlier(loop.upper, upper))


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


def _gives_values(region: _Draft, body: Body) -> bool:
    """Whether a scalar that is given a value in a region is read outside of it."""
    own = names_assigned(region.body)
    here = {id(part) for part in expressions((region.stmt,), Var)}
    return any(part.name in own and id(part) not in here for part in expressions(body, Var))


def _as_kernel(
    kernel: Kernel, body: Body, numbers: dict[str, Scalar], made: Sequence[tuple[str, Scalar, int]]
) -> Kernel:
    position = kernel.results_from
    names = {**numbers, FIRST: INT64, LAST: INT64}
    scalars = [ScalarParam(name, kind, position + k) for k, (name, kind) in enumerate(names.items())]
    position += len(scalars)
    arrays = [ArrayParam(name, kind, position + k, rank) for k, (name, kind, rank) in enumerate(made)]
    used = arrays_stored(body) | arrays_loaded(body) | arrays_measured(body)
    there = [param for param in kernel.params if isinstance(param, ScalarParam) or param.name in used]
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
