"""Regions: the part of an array that a loop uses, kept in a local array or a scalar while the loop runs. It refuses
what it cannot copy exactly: only elements that the loop itself touches are read or written around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loopwright.analysis.facts import Facts, ReductionOp
from loopwright.analysis.local_arrays import never_meet
from loopwright.analysis.reductions import NotAReduction, UpdateTarget, array_updates, one_op
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import apart, least, linear, minus, number, parted, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import contains, has, names_assigned, names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import (
    bodies,
    children,
    expressions,
    own_expressions,
    rewrite_body,
    statements,
    subexpressions,
)
from loopwright.steps.draft import fresh, names_of
from loopwright.steps.extent import around, ends_of, extent_of, loops_around, surely_runs
from loopwright.steps.limits import Limit, all_of, limits_in, lowest, none_beyond, terms
from loopwright.steps.nest import step_of
from loopwright.steps.step import Rejection


@dataclass(frozen=True, slots=True)
class Region:
    """What a loop uses of an array: the elements `index` for all values of the loops `inner`. `local`: the index in
    the local array, `shape` its sizes, both empty for a scalar; `runs`: what has to hold for the loop to use it;
    `again`: the loop, or one inside it, comes back to the same elements; `limits`: up to where loops of `inner` use
    it; `is_part`: the loop does other things too, which it does whether it uses the region or not; `value`: what is
    kept in the local array is not the elements but this, computed of each. op: how the loop updates an element that it
    may never come to, and does not use otherwise."""

    array: str
    element: Scalar
    index: tuple[Expr, ...]
    inner: tuple[For, ...]
    local: tuple[Expr, ...]
    shape: tuple[int, ...]
    runs: tuple[Expr, ...]
    is_read: bool
    is_written: bool
    again: bool
    limits: tuple[Limit, ...] = ()
    is_part: bool = False
    value: Expr | None = None
    op: ReductionOp | None = None


def region_of(
    kernel: Kernel,
    loop: For,
    array: str,
    limit: int,
    whole: bool = False,
    others: Collection[int] = (),
    blocks: str = "",
    seldom: bool = False,
) -> Region | Rejection:
    """The region of an array that a loop uses, or why there is no simple one of at most so many bytes. `whole`: of a
    loop over a stretch, whatever all stretches inside the loop make up together; and the loop's own variable may be in
    the index too. Of an array that the loop only reads, it may then be the region of one index among several. others:
    ids of accesses that are none of the region's, as they have other indices, and never touch its elements. blocks: a
    loop inside whose iterations each have a piece of the local array for themselves, of at most so many bytes. seldom:
    also one that is only written, or only updated, and perhaps not even that."""
    elements = {one.name: one.element for one in kernel.arrays} | {one.name: one.element for one in kernel.results}
    elements |= {stmt.array: stmt.element for stmt in statements(kernel.body, Allocate)}
    if array not in elements:
        return Rejection(f"there is no array '{array}' (there are: {', '.join(elements) or 'none'})")
    if any(isinstance(stmt, Allocate) and stmt.array == array for stmt in statements(loop.body)):
        return Rejection(f"'{array}' is made anew inside '{loop.name}'")
    uses = [use for use in uses_of(loop.body, array) if id(use.node) not in others]
    if not uses:
        return Rejection(f"'{loop.name}' does not use '{array}'")
    indices = list(dict.fromkeys(use.node.index for use in uses))
    is_read, is_written = (any(isinstance(u.node, kind) for u in uses) for kind in (Load, Store))
    tried = [_axes(loop, array, index, whole, blocks) for index in indices]
    simple = [at for at, axes in enumerate(tried) if not isinstance(axes, Rejection)]
    if len(indices) > 1 and (is_written or not whole or not _is_alone(tried)):
        return Rejection(f"'{loop.name}' uses several elements of '{array}' at a time")
    at = simple[0] if simple else 0
    index, found = indices[at], tried[at]
    if isinstance(found, Rejection):
        return found
    uses = [use for use in uses if use.node.index == index]
    inner, covered, local, shape = found
    sure = [seen for use in uses if use.sure and (seen := _seen(loop, use, covered)) is not None]
    sure = [use for use in sure if not use.limits] or (sure if len({use.limits for use in uses}) == 1 else [])
    runs = () if _is_there(kernel, loop, array, index) else _runs(kernel, loop, sure, covered)
    op = _op_of_updates(loop, array, index, elements[array]) if seldom and is_read else None
    if isinstance(runs, Rejection):
        if not seldom or (is_read and op is None):
            return runs
        runs = ()
    total = elements[array].size_bytes
    for size in shape[1:] if blocks else shape:
        total *= size
    if total > limit:
        return Rejection(f"the part of '{array}' takes {total} bytes; the limit is {limit}")
    names, again = {one.name for one in inner}, any(o.name not in covered for u in uses for o in (loop, *u.inner))
    if any(one.names & (covered - names) for use in sure for one in use.limits):
        return Rejection(f"which part of '{array}' '{loop.name}' uses is too hard to tell")
    limits = tuple(one for one in (sure[0].limits if sure else ()) if one.names & names)
    own = [Compare("lt", loop.lower, loop.upper), Compare("gt", loop.lower, loop.upper)]
    is_part = any(one not in own for one in runs) and _does_more(loop)
    region = Region(
        array, elements[array], index, inner, local, shape, runs, is_read, is_written, again, limits, is_part
    )
    return replace(region, op=op)


def _op_of_updates(loop: For, array: str, index: tuple[Expr, ...], element: Scalar) -> ReductionOp | None:
    """The one operation by which a loop updates an element; None where it also sets or reads it."""
    target = UpdateTarget(array, element, index)
    try:
        found = [one for one in array_updates(loop, array, element) if getattr(one.stmt, "index", None) == index]
        op = one_op(found)
    except NotAReduction:
        return None
    stores = [stmt for stmt in statements(loop.body, Store) if stmt.array == array and stmt.index == index]
    reads = [read for stmt in statements(loop.body) for own in own_expressions(stmt) for read in target.reads(own)]
    return op if len(found) == len(stores) and len(reads) == sum(len(one.reads) for one in found) else None


def _does_more(loop: For) -> bool:
    """Whether a loop does other things than what stands in its innermost loop, under the conditions there."""
    body = loop.body
    while len(body) == 1 and isinstance(inner := body[0], For | If):
        if isinstance(inner, If) and inner.otherwise:
            return True
        body = inner.body if isinstance(inner, For) else inner.then
    return contains(body, For, If)


def _is_alone(tried: Sequence[_Axes | Rejection]) -> bool:
    """Whether no other one of several regions runs over the loops of the first one: those that do lie a little apart,
    and are of no use one by one."""
    simple = [{one.name for one in axes[0]} for axes in tried if not isinstance(axes, Rejection)]
    return bool(simple) and all(one != simple[0] for one in simple[1:])


@dataclass(frozen=True, slots=True)
class Use:
    """An access of an array, the loops around it inside of the loop in question, and whether it happens in each of
    their iterations that keeps to the limits. some: what has to hold for any of them to, besides."""

    node: Load | Store
    inner: tuple[For, ...]
    sure: bool
    limits: tuple[Limit, ...] = ()
    some: tuple[Limit, ...] = ()


def uses_of(body: Body, array: str) -> Iterator[Use]:
    """The accesses of an array in a body."""

    def visit(body: Body, inner: tuple[For, ...], sure: bool, limits: tuple[Limit, ...]) -> Iterator[Use]:
        for stmt in body:
            if isinstance(stmt, Store) and stmt.array == array:
                yield Use(stmt, inner, sure, limits)
            for own in own_expressions(stmt):
                for load, certain in _loads(own, array):
                    yield Use(load, inner, sure and certain, limits)
            if isinstance(stmt, For):
                left = any(escapes(one) for one in stmt.body)
                yield from visit(stmt.body, (*inner, stmt), sure and not left, limits)
            elif isinstance(stmt, If) and not stmt.otherwise and (more := limits_in(stmt.condition)) is not None:
                yield from visit(stmt.then, inner, sure, (*limits, *more))
            else:
                for part in bodies(stmt):
                    yield from visit(part, inner, False, limits)

    return visit(body, (), True, ())


def _loads(expr: Expr, array: str) -> Iterator[tuple[Load, bool]]:
    """The loads of an array in an expression, and whether each is surely reached."""
    if isinstance(expr, Load) and expr.array == array:
        yield expr, True
    first = children(expr)[:1] if isinstance(expr, Select | Logical) else children(expr)
    for child in children(expr):
        for load, sure in _loads(child, array):
            yield load, sure and any(child is one for one in first)


_Axes = tuple[tuple[For, ...], frozenset[str], tuple[Expr, ...], tuple[int, ...]]


def _axes(loop: For, array: str, index: tuple[Expr, ...], whole: bool, blocks: str = "") -> _Axes | Rejection:
    """The loops that the index runs over, the names of these and of loops over their stretches, the index of the local
    array, and its sizes; before them those of the loop `blocks`."""
    inside = {stmt.name: stmt for stmt in statements((loop,) if whole else loop.body, For)}
    changing = names_assigned(loop.body) | {loop.name, *inside}
    used: dict[str, For] = {}
    covered: set[str] = set()
    local: list[Expr] = []
    shape: list[int] = []
    for axis in index:
        if has(axis, Load, Checked):
            return Rejection(f"which elements of '{array}' are used depends on data")
        names = names_in(axis) & changing
        if not names:
            continue
        base = _counter(axis, changing)
        if not isinstance(base, Var) or base.name not in inside:
            return Rejection(f"'{loop.name}' uses other elements of '{array}' in each iteration")
        one = inside[base.name]
        covered.add(one.name)
        if whole:
            one = _widened(one, inside, covered, blocks)
            one = _steady(one, inside, changing - {blocks})
        extent = extent_of(one)
        if extent is None or extent < 1 or step_of(one) < 0:
            return Rejection(f"'{one.name}' has no constant number of iterations")
        if {name for own in own_expressions(one) for name in names_in(own)} & changing - {blocks}:
            return Rejection(f"the bounds of '{one.name}' change inside '{loop.name}'")
        if any(has(own, Load, Checked) for own in own_expressions(one)):
            return Rejection(f"the bounds of '{one.name}' depend on data")
        used[one.name] = one
        local.append(minus(variable(one.name), one.lower))
        shape.append(extent)
    if blocks:
        if blocks not in covered or blocks in used:
            return Rejection(f"'{blocks}' gives '{array}' no pieces in '{loop.name}'")
        one = inside[blocks]
        extent = extent_of(one)
        if extent is None or extent < 1 or {name for own in own_expressions(one) for name in names_in(own)} & changing:
            return Rejection(f"'{blocks}' has no constant number of iterations, or not the same each time")
        used[blocks] = one
        local.insert(0, Binary("floordiv", minus(variable(blocks), one.lower), number(step_of(one))))
        shape.insert(0, -(-extent // step_of(one)))
    inner = tuple(used[name] for name in inside if name in used)
    return inner, frozenset(covered), tuple(local), tuple(shape)


def _counter(index: Expr, changing: set[str]) -> Expr | None:
    """What counts in an index: of `i - i.o + 1`, where i.o stays the same, it is `i`."""
    moving = [(term, count) for term, count in linear(index).terms if names_in(term) & changing]
    return moving[0][0] if len(moving) == 1 and moving[0][1] == 1 else None


def _widened(loop: For, inside: Mapping[str, For], covered: set[str], blocks: str = "") -> For:
    """The loop over all stretches of a loop, as far as their loops are inside, and inside of the loop `blocks`; their
    names go to `covered`."""
    while (outer := _stretches_of(loop, inside)) is not None:
        covered.add(outer.name)
        if outer.name == blocks:
            break
        if loop.lower == variable(outer.name):
            loop = replace(loop, lower=outer.lower, upper=outer.upper)
        else:
            lower = _sum_with(loop.lower, outer.name, outer.lower)
            length = apart(outer.upper, outer.lower)
            assert lower is not None and length is not None
            loop = replace(loop, lower=lower, upper=plus(lower, length))
    return loop


def _stretches_of(loop: For, inside: Mapping[str, For]) -> For | None:
    """The loop inside whose iterations give a loop its neighbouring stretches: as they stand, `i` in `i.o .. i.o + 8`,
    or moved by what stays the same, `i` in `i.o + j .. i.o + j + 8`."""
    if isinstance(loop.lower, Var):
        outer = inside.get(loop.lower.name)
        if outer is None or not _step(outer):
            return None
        rest = [end for end in ends_of(loop) if end not in ends_of(outer)]
        if _step(loop) != 1 or len(rest) != 1 or apart(rest[0], loop.lower) != step_of(outer):
            return None
        others = [apart(end, outer.lower) for end in ends_of(outer) if end not in ends_of(loop)]
        # The last stretch may reach beyond the end.
        return None if any(distance is None or distance % step_of(outer) for distance in others) else outer
    for name in sorted(names_in(loop.lower) & set(inside)):
        outer = inside[name]
        if not _step(outer):
            continue
        length = apart(outer.upper, outer.lower)
        whole = _step(loop) == 1 and length is not None and length > 0 and length % step_of(outer) == 0
        if whole and apart(loop.upper, loop.lower) == step_of(outer) and _sum_with(loop.lower, name, number(0)):
            return outer
    return None


def _step(loop: For) -> int:
    """The step of a loop, 0 where only a call tells it."""
    return step_of(loop) if isinstance(loop.step, Const) else 0


def _sum_with(expr: Expr, name: str, value: Expr) -> Expr | None:
    """A sum in which one of the terms is a variable, with a value in its place; None where it is no such sum."""
    if not isinstance(expr, Binary) or expr.op != "add":
        return value if expr == variable(name) else None
    for part, other in ((expr.left, expr.right), (expr.right, expr.left)):
        if (found := _sum_with(part, name, value)) is not None and name not in names_in(other):
            return plus(found, other)
    return None


def _steady(loop: For, inside: Mapping[str, For], changing: set[str]) -> For:
    """The loop with its end as far out as it comes to lie, where that grows with a loop inside: of `j` in `0 .. i + 1`
    in the last iteration of i. The same loop where that is not to be told."""
    ends: list[Expr] = []
    if names_in(loop.lower) & changing or _step(loop) < 1:
        return loop
    for end in ends_of(loop):
        base, more = parted(end)
        if not names_in(end) & changing:
            ends.append(end)
            continue
        if not isinstance(base, Var) or base.name not in inside:
            return loop
        outer = _widened(inside[base.name], inside, set())
        if _step(outer) != 1 or any(names_in(own) & changing for own in own_expressions(outer)):
            return loop
        ends += [plus(last, more - 1) for last in ends_of(outer)]
    upper = ends[0]
    for end in ends[1:]:
        upper = least(upper, end)
    return replace(loop, upper=upper)


def _is_there(kernel: Kernel, loop: For, array: str, index: tuple[Expr, ...]) -> bool:
    """Whether an element of an array that the call makes is there whenever a loop is reached: one for each iteration of
    loops around it, which are as long as the array. Nobody else sees the array meanwhile, so that the element may be
    copied and put back unused."""
    shapes = [stmt.shape for stmt in statements(kernel.body, Allocate) if stmt.array == array]
    shapes += [one.shape for one in kernel.results if one.name == array]
    around, changing = loops_around(kernel, loop), names_assigned(kernel.body)
    if len(shapes) != 1 or len(shapes[0]) != len(index) or any(names_in(size) & changing for size in shapes[0]):
        return False
    for axis, size in zip(index, shapes[0], strict=True):
        outer = around.get(axis.name) if isinstance(axis, Var) else None
        if not isinstance(outer, For) or outer is loop or outer.lower != number(0) or outer.upper != size:
            return False
    return True


def _runs(kernel: Kernel, loop: For, sure: list[Use], covered: frozenset[str]) -> tuple[Expr, ...] | Rejection:
    """Under which conditions all of the region is used."""
    changing = names_assigned(loop.body) | {loop.name, *(s.name for s in statements(loop.body, For))}
    for use in sure:
        outer = loops_around(kernel, loop)
        limits = _kept((*use.limits, *use.some), (loop, *use.inner), covered, outer)
        if limits is None or any(limit.names & changing - covered for limit in use.limits if limit.names & covered):
            continue
        conditions: list[Expr] = list(limits)
        inner: list[Expr] = []
        for one in (loop, *use.inner):
            if one.name not in covered and not surely_runs(one, outer) and not _is_told_to_run(kernel, one):
                conditions.append(Compare("lt" if step_of(one) > 0 else "gt", one.lower, one.upper))
                inner += conditions[-1:] if one is not loop else []
            outer[one.name] = one
        simple = not any(has(condition, Load, Checked) for condition in conditions)
        if simple and not any(names_in(c) & changing for c in inner):
            return tuple(dict.fromkeys(conditions))
    return Rejection(f"'{loop.name}' may run without using any element there, so that none may be copied")


def _is_told_to_run(kernel: Kernel, loop: For) -> bool:
    """Whether a loop stands in a version for calls with so many elements that it has an iteration."""
    if not isinstance(loop.lower, Const) or not isinstance(loop.upper, Dim) or step_of(loop) < 1:
        return False
    for stmt, inner in pairwise((*around(kernel, loop), loop)):
        if isinstance(stmt, If) and any(inner is one for one in stmt.then):
            for part in terms(stmt.condition):
                match part:
                    case Compare(op="ge", left=left, right=Const(value=least)) if left == loop.upper:
                        if least > loop.lower.value:
                            return True
    return False


def _seen(loop: For, use: Use, covered: frozenset[str]) -> Use | None:
    """A use with limits as the loops `covered` see them. Of `j < i + 1` the one over j sees the last i there is, the
    one over i the first j, both together all of it. None where that is hard to tell."""
    inside = {one.name: one for one in (loop, *use.inner)}
    changing = names_assigned(loop.body) | inside.keys()
    moving = [limit for limit in use.limits if names_in(limit.end) & changing]
    involved = [name for limit in moving for name in limit.names & changing]
    if not moving:
        return use
    if len(set(involved)) < len(involved) or not inside.keys() >= set(involved):
        return None
    if not all(isinstance(parted(limit.end)[0], Var) for limit in moving) or any(
        _step(one) < 1 for one in inside.values()
    ):
        return None
    seen: list[Limit] = []
    some: list[Limit] = []
    for limit in use.limits:
        if limit not in moving:
            seen.append(limit)
            continue
        below = limit.below if limit.names & covered and names_in(limit.below) <= covered else _first(limit, inside)
        ends = (limit.end,) if names_in(limit.end) & covered else _lasts(limit, use, moving, inside)
        if below is None or ends is None or any(names_in(one) & changing - inside.keys() for one in (below, *ends)):
            return None
        seen += [Limit(below, end) for end in ends]
        if limit.names & changing <= covered:
            first, lasts = _first(limit, inside), _lasts(limit, use, moving, inside)
            some += [Limit(first, last) for last in lasts or ()] if first is not None else []
    return replace(use, limits=tuple(dict.fromkeys(seen)), some=tuple(some))


def _first(limit: Limit, inside: Mapping[str, For]) -> Expr | None:
    """The least value of what stays below a limit."""
    first = lowest(limit.below, inside)
    return None if first is None or names_in(first) & inside.keys() else first


def _lasts(limit: Limit, use: Use, moving: Sequence[Limit], inside: Mapping[str, For]) -> tuple[Expr, ...] | None:
    """What is the greatest value of a limit's end when the least of them is taken."""
    base, more = parted(limit.end)
    if not isinstance(base, Var) or base.name not in inside:
        return None
    outer = _widened(inside[base.name], inside, set())
    known = [one.end for one in use.limits if one not in moving and one.below == base]
    ends = [plus(end, more - 1) for end in dict.fromkeys((*ends_of(outer), *known))]
    if _step(outer) != 1 or any(names_in(own) & inside.keys() for own in (outer.lower, *ends)):
        return None
    return tuple(ends)


def _kept(
    limits: Sequence[Limit], inner: Sequence[For], covered: frozenset[str], outer: Mapping[str, For]
) -> list[Expr] | None:
    """When the first iterations of loops that the region does not run over keep to their limits: the later ones do only
    if these do. None where that cannot be told."""
    loops = {one.name: one for one in inner if one.name not in covered}
    conditions: list[Expr] = []
    for limit in limits:
        if limit.names & covered:
            continue
        first = lowest(limit.below, loops)
        if first is None or names_in(first) & covered or any(_step(one) < 1 for one in inner):
            return None
        stretch = outer.get(first.name) if isinstance(first, Var) else None
        if stretch is None or limit.end not in ends_of(stretch):
            conditions.append(Compare("lt", first, limit.end))
    return conditions


def may_fail(kernel: Kernel, loop: For, region: Region, facts: Facts) -> Rejection | None:
    """Why what the copies do could be seen where the loop does not come to its end. An error ends the call, and nobody
    sees what is left in an array of the kernel's own then."""
    is_seen = region.array in {*(one.name for one in kernel.arrays), *(one.name for one in kernel.results)}
    for part in (*expressions(loop.body), *statements(loop.body)):
        if not isinstance(part, Load | Store | Checked):
            continue
        ours = not isinstance(part, Checked) and part.array == region.array
        if (ours or (is_seen and region.is_written)) and any(
            bounds.kind == "checked" for bounds in facts.bounds_of(part)
        ):
            return Rejection(f"an error may end '{loop.name}' in the middle, before '{region.array}' is up to date")
    return None


def never_meet_inside(
    kernel: Kernel, loop: For, some: Sequence[Load | Store], others: Sequence[Load | Store], facts: Facts
) -> bool:
    """Whether accesses of one array in a loop touch no element in common, each time the loop runs."""
    stack = [one.name for one in around(kernel, loop) if isinstance(one, For | While)]
    return never_meet(kernel, {id(one) for one in some}, {id(one) for one in others}, stack, facts.known)


def kept_around(kernel: Kernel, loop: For, region: Region, suffix: str, fill: Const | None = None) -> Body:
    """The loop with a local for its region, copied before it and after it as is needed. fill: what all elements of the
    region are worth before the loop; these are no longer read then."""
    taken = names_of(kernel)
    local = fresh(f"{region.array}.{suffix}", taken)
    result: list[Stmt] = []
    if region.shape:
        result.append(Allocate(local, region.element, tuple(number(size) for size in region.shape), None))
    if fill is not None:
        result.append(_copy(replace(region, limits=(), value=fill), local, taken, suffix, inwards=True))
    elif region.is_read:
        result.append(copies_of(region, local, taken, suffix, inwards=True))
    elif not region.shape:  # the loop surely sets it, but that is not to be seen in its form
        result.append(Assign(local, zero_of(region.element)))
    result.append(with_local(loop, region, local))
    if region.is_written:
        result.append(copies_of(region, local, taken, "w", inwards=False))
    if not region.runs:
        return tuple(result)
    condition = region.runs[0]
    for one in region.runs[1:]:
        condition = Logical("and", condition, one)
    return (If(condition, tuple(result), (loop,) if region.is_part else ()),)


def zero_of(type_: Scalar) -> Const:
    """The zero of a type."""
    return Const(0.0 if type_.is_float else False if type_.kind == "bool" else 0, type_)


def with_local(loop: For, region: Region, local: str) -> Stmt:
    """The loop with the local instead of the array."""

    def load(expr: Expr) -> Expr:
        if region.value is not None:
            kept = next(part for part in subexpressions(region.value, Load))
            new = replace(kept, array=local, index=region.local, type=region.element)
            return new if expr == region.value else expr
        if not isinstance(expr, Load) or expr.array != region.array or expr.index != region.index:
            return expr
        return replace(expr, array=local, index=region.local) if region.shape else Var(local, region.element)

    def store(stmt: Stmt) -> Body:
        if not isinstance(stmt, Store) or stmt.array != region.array or stmt.index != region.index:
            return (stmt,)
        if region.shape:
            return (replace(stmt, array=local, index=region.local),)
        return (Assign(local, stmt.value, at=stmt.at),)

    return replace(loop, body=rewrite_body(loop.body, stmt=store, expr=load))


def copies_of(region: Region, local: str, taken: set[str], suffix: str, inwards: bool) -> Stmt:
    """What fills the local, or writes it back; where there are limits, whole regions apart from others. Each piece of
    one that is in pieces is filled by itself."""
    pieces, *rest = region.inner or (None,)
    if pieces is not None and any(pieces.name in names_in(own) for one in rest for own in own_expressions(one)):
        name = fresh(f"{pieces.name}.{suffix}", taken)
        taken |= {name}
        new = {pieces.name: variable(name)}
        body: Body = (copies_of(replace(region, inner=tuple(rest)), local, taken, suffix, inwards),)
        body = rewrite_body(body, expr=lambda e: new.get(e.name, e) if isinstance(e, Var) else e)
        return replace(pieces, name=name, body=body, run="sequential", asserted=False)
    if not region.limits:
        return _copy(region, local, taken, suffix, inwards)
    copy = _copy(replace(region, limits=()), local, taken, suffix, inwards)
    other = _copy(region, local, taken, suffix, inwards)
    return If(none_beyond(region.limits, {one.name: one for one in region.inner}), (copy,), (other,))


def _copy(region: Region, local: str, taken: set[str], suffix: str, inwards: bool) -> Stmt:
    """The loops that fill the local, with zeros beyond the limits, or write it back."""
    names = {one.name: variable(fresh(f"{one.name}.{suffix}", taken)) for one in region.inner}
    taken |= {one.name for one in names.values()}
    test = _renamed(all_of(limit.test for limit in region.limits), names) if region.limits else None

    def here(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(_renamed(axis, names) for axis in index)

    there: Expr = Load(region.array, here(region.index), region.element)
    if region.value is not None:
        there = _renamed(region.value, names)
    copy: Stmt
    if not region.shape:
        kept = Var(local, region.element)
        copy = Assign(local, there) if inwards else Store(region.array, region.index, kept)
    elif inwards:
        value = there if test is None else Select(test, there, zero_of(region.element))
        copy = Store(local, here(region.local), value)
    else:
        kept_there = Load(local, here(region.local), region.element)
        copy = Store(region.array, here(region.index), kept_there)
        copy = copy if test is None else If(test, (copy,))
    for one in reversed(region.inner):
        copy = replace(one, name=names[one.name].name, body=(copy,), run="sequential", asserted=False)
    return copy


def _renamed(expr: Expr, names: dict[str, Var]) -> Expr:
    body = rewrite_body((Assign("", expr),), expr=lambda e: names.get(e.name, e) if isinstance(e, Var) else e)
    assert isinstance(body[0], Assign)
    return body[0].value
