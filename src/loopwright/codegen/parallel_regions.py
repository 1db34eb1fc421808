"""Which loops run on several threads, and how: what each thread has a partial result or a copy of, and which thread
runs which iterations. Even loops are cut into one stretch a thread. Loops whose iterations differ in work are cut into
pieces: of equal work where an inner loop runs from `p[i]` to `p[i + 1]`, since then `p` says how much there is before
each iteration; else of equal length. Blocks, where the bits of a result may not depend on the number of threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from loopwright.analysis.collapse import Collapsed, collapsed_with
from loopwright.analysis.row_pointers import is_next
from loopwright.codegen.decisions import (
    NONE,
    Accesses,
    CodegenInput,
    LoopLowering,
    Owned,
    ParallelRegion,
    PartialResult,
    Rows,
)
from loopwright.codegen.loop_versions import slope_of
from loopwright.codegen.work import work_of
from loopwright.ir.nodes import Assign, Body, Break, Cast, Checked, Const, Expr, For, If, Load, Store, Var, While
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.walk import bodies, rewrite_expr, statements, subexpressions
from loopwright.steps.extent import extent_of

# ---- passes -----------------------------------------------------------------------------------------------------


def form_regions(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Parallel loops that their facts let threads share."""
    found = {loop.name: _region(loop, given) for loop in statements(given.kernel.body, For) if loop.run == "parallel"}
    return replace(lowering, regions={name: region for name, region in found.items() if region is not None})


def assign_owners(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Targets that threads share out, where they are too large for copies."""

    def owned(loop: For, region: ParallelRegion) -> ParallelRegion:
        test = lowering.versions.get(loop.name)
        freed = NONE if test is None else test.inside
        return replace(region, owned=_owned(loop, given, freed) if region.sums and not region.last else None)

    return _changed(given, lowering, owned)


def find_rows(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Arrays that tell how much work there is before each iteration."""
    return _changed(given, lowering, lambda loop, region: replace(region, rows=rows_of(loop, given)))


def collapse_loops(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops that threads share together with the one inside."""

    def collapsed(loop: For, region: ParallelRegion) -> ParallelRegion:
        found = collapsed_with(loop, given.facts)
        if found is None or region.rows is not None or loop.name in lowering.versions:
            return region
        again = bool(found.before) and is_uneven(loop, found)  # once for each piece
        return region if again else replace(region, collapsed=found)

    return _changed(given, lowering, collapsed)


def cut_pieces(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Pieces for loops with uneven work. Extremes are put together in the order of the threads: each of these has one
    stretch."""

    def cut(loop: For, region: ParallelRegion) -> ParallelRegion:
        extremes = any(one.by for one in given.facts.loops[loop.name].reductions)
        return replace(region, shares="pieces") if is_uneven(loop, region.collapsed) and not extremes else region

    return _changed(given, lowering, cut)


def cut_blocks(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Blocks where the bits of a result depend on where it is cut, and may not depend on the number of threads."""

    def cut(loop: For, region: ParallelRegion) -> ParallelRegion:
        inexact = any(not one.exact or one.by for one in given.facts.loops[loop.name].reductions)
        return replace(region, shares="blocks") if given.deterministic and inexact else region

    return _changed(given, lowering, cut)


def _changed(
    given: CodegenInput, lowering: LoopLowering, change: Callable[[For, ParallelRegion], ParallelRegion]
) -> LoopLowering:
    regions = {
        loop.name: change(loop, lowering.regions[loop.name])
        for loop in statements(given.kernel.body, For)
        if loop.name in lowering.regions
    }
    return replace(lowering, regions=regions)


# ---- what threads have for themselves ---------------------------------------------------------------------------


def _region(loop: For, given: CodegenInput) -> ParallelRegion | None:
    """None where the facts of a loop do not carry threads, as for a copy of strange layout."""
    found = given.facts.loops[loop.name]
    scalar = {reduction.target for reduction in found.reductions if reduction.kind == "scalar"}
    if not names_assigned(loop.body) <= scalar | set(found.private):
        return None
    partials = partials_of(loop, given)
    sums = tuple(one for one in found.reductions if one.kind != "scalar") if partials is None else ()
    if any(not one.alone or _is_strange(one.target, given) for one in sums):
        return None  # other accesses of the array would look at the copy
    if partials is None:
        scalars = (one for one in found.reductions if one.kind == "scalar")
        partials = tuple(PartialResult(one, given.scalars[one.target]) for one in scalars)
    last = tuple(name for name in found.last if name in given.scalars)
    return ParallelRegion(partials, sums, last, work_of(loop))


def _is_strange(array: str, given: CodegenInput) -> bool:
    """Whether distances in a record, which all of its fields share, stand in an array's strides."""
    found = given.arrays[array]
    return found.bytes and any(stride[0].isdigit() for stride in found.strides)


def partials_of(loop: For, given: CodegenInput, freed: Accesses = NONE) -> tuple[PartialResult, ...] | None:
    """One for each reduction into a scalar or one array element; None where some reduction is neither. freed: accesses
    that need no check."""
    partials: list[PartialResult] = []
    for reduction in given.facts.loops[loop.name].reductions:
        if reduction.kind == "scalar":
            partials.append(PartialResult(reduction, given.scalars[reduction.target]))
            continue
        stores = [store for store in statements(loop.body, Store) if store.array == reduction.target]
        # Only one element, named alike outside the loop and surely in bounds, can be kept in a variable.
        if reduction.kind == "scatter" or len({store.index for store in stores}) != 1:
            return None
        if any(given.is_checked(store, freed) for store in stores) or not _is_known_outside(stores[0], loop):
            return None
        partials.append(PartialResult(reduction, given.arrays[reduction.target].element, stores[0]))
    return tuple(partials)


def _is_known_outside(store: Store, loop: For) -> bool:
    changing = names_assigned(loop.body) | {inner.name for inner in statements((loop,), For)}
    return not any(has(index, Load, Checked) or names_in(index) & changing for index in store.index)


def _owned(loop: For, given: CodegenInput, freed: Accesses) -> Owned | None:
    """None where a loop does more than update one array, or where the index itself is read through checks that a test
    at the entry does not free."""
    stores = [stmt for stmt in loop.body if isinstance(stmt, Store)]
    reductions = given.facts.loops[loop.name].reductions
    simple = all(isinstance(stmt, Assign | Store) for stmt in loop.body)
    if not simple or len(stores) != 1 or not (isinstance(loop.step, Const) and loop.step.value == 1):
        return None
    if len(reductions) != 1 or reductions[0].kind == "scalar" or not reductions[0].alone or not stores[0].index:
        return None
    known = definitions(loop.body)
    index = resolved(stores[0].index[0], known)
    if slope_of(index, loop) is not None:  # next iteration, next element: there is nothing to sort out
        return None
    if has(index, Checked) or names_in(index) & known.keys():
        return None
    for load in subexpressions(index, Load):
        bounds = given.facts.bounds.get(id(load))
        if bounds is None or load.array == stores[0].array:
            return None
        if any(one.kind == "checked" and (id(load), axis) not in freed for axis, one in enumerate(bounds)):
            return None
    return Owned(stores[0].array, index)


# ---- how work is spread over iterations -------------------------------------------------------------------------


def rows_of(loop: For, given: CodegenInput) -> Rows | None:
    """The first inner loop over the rows of a pointer that nothing changes meanwhile, or None."""
    if not (isinstance(loop.step, Const) and loop.step.value == 1) or given.kernel.overlap:
        return None
    known = definitions(loop.body)
    written = arrays_stored(loop.body)
    for inner in statements(loop.body, For):
        lower, upper = (_plain(resolved(bound, known)) for bound in (inner.lower, inner.upper))
        if not (isinstance(lower, Load) and isinstance(upper, Load) and lower.array == upper.array):
            continue
        if lower.array in written or given.arrays[lower.array].slot is None or not lower.type.is_integer:
            continue
        if len(lower.index) == 1 and is_next(lower.index[0], upper.index[0], loop):
            return Rows(lower.array, lower.index[0], inner.name)
    return None


def is_uneven(loop: For, both: Collapsed | None = None) -> bool:
    """Whether iterations may differ much in work: inner loops whose length or whose running at all depends on the
    loop's variable or on data, or that may end early. both: the iterations of another loop are shared out too; where
    something comes before that, whole blocks of a few iterations less are no reason for pieces."""
    names = {loop.name} if both is None else {loop.name, both.inner.name}
    blocks = both is not None and bool(both.before)
    return _uneven_body(loop.body, names, definitions(loop.body), False, blocks)


def _uneven_body(body: Body, names: set[str], known: Mapping[str, Expr | None], hidden: bool, blocks: bool) -> bool:
    for stmt in body:
        if isinstance(stmt, While):
            return True
        if isinstance(stmt, For):
            bounds = (resolved(bound, known) for bound in (stmt.lower, stmt.upper))
            if hidden or (not (blocks and extent_of(stmt)) and any(_varies(bound, names, known) for bound in bounds)):
                return True
            if any(inner.loop == stmt.name for inner in statements(stmt.body, Break)):
                return True
        hides = isinstance(stmt, If) and _varies(resolved(stmt.condition, known), set(), known)
        if any(_uneven_body(inner, names, known, hidden or hides, blocks) for inner in bodies(stmt)):
            return True
    return False


def _varies(expr: Expr, names: set[str], known: Mapping[str, Expr | None]) -> bool:
    return has(expr, Load) or not names_in(expr).isdisjoint(names | known.keys())


def definitions(body: Body) -> dict[str, Expr | None]:
    """The scalars that a body assigns, with the value of those that it assigns only once."""
    assigns = list(statements(body, Assign))
    counts = Counter(stmt.name for stmt in assigns)
    return {stmt.name: stmt.value if counts[stmt.name] == 1 else None for stmt in assigns}


def resolved(expr: Expr, known: Mapping[str, Expr | None], depth: int = 4) -> Expr:
    """The expression with single assignments put in. Good enough for an estimate: order is not looked at."""
    if depth == 0:
        return expr

    def value(part: Expr) -> Expr:
        definition = known.get(part.name) if isinstance(part, Var) else None
        return part if definition is None else resolved(definition, known, depth - 1)

    return rewrite_expr(expr, value)


def _plain(expr: Expr) -> Expr:
    while isinstance(expr, Cast | Checked):
        expr = expr.operand if isinstance(expr, Cast) else expr.value
    return expr
