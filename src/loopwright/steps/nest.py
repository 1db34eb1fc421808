"""Loops as steps see them: found by name, with what stands around and inside, and common grounds for refusal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loopwright.analysis.facts import Facts
from loopwright.analysis.order import broken_by
from loopwright.analysis.scanning import Inexpressible, Stop, scanned
from loopwright.analysis.trace import escapes
from loopwright.analysis.trips import irregular
from loopwright.ir.assigned import Unassigned, falls_through
from loopwright.ir.linear import number
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    Kernel,
    Load,
    Run,
    ScalarParam,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    fresh,
    has,
    has_own,
    names_assigned,
    names_in,
    names_of,
    names_read,
    types_assigned,
)
from loopwright.ir.queries import size_of as size_of
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import (
    bodies,
    loops,
    own_expressions,
    statements,
    subexpressions,
    unless_same,
    with_bodies,
)
from loopwright.steps.step import Rejection

LIMIT = 20_000
"""Nodes that a kernel may have after a step: compilers take more than linear time for what grows beyond it."""


def missing(kernel: Kernel, names: Sequence[str]) -> Rejection | None:
    """Why these are not `for` loops of the kernel, each named once, with a constant step."""
    known = loops(kernel)
    for name in names:
        loop = known.get(name)
        if loop is None:
            there = ", ".join(known) or "none"
            return Rejection(f"there is no loop '{name}' (there are: {there})")
        if not isinstance(loop, For):
            return Rejection(f"'{name}' is a while loop")
        if not isinstance(loop.step, Const) or not loop.step.value:
            return Rejection(f"the step of '{name}' is not constant")
    twice = [name for name in names if list(names).count(name) > 1]
    return Rejection(f"'{twice[0]}' is named twice") if twice else None


def the_loop(kernel: Kernel, name: str) -> For:
    """A loop that `missing` found to be there."""
    loop = loops(kernel)[name]
    assert isinstance(loop, For)
    return loop


def step_of(loop: For) -> int:
    """The constant step."""
    assert isinstance(loop.step, Const)
    return int(loop.step.value)


def band_of(kernel: Kernel, names: Sequence[str]) -> tuple[For, ...] | Rejection:
    """The loops, outermost first, if each is all that stands inside the one before."""
    inner = {name: the_loop(kernel, name) for name in names}
    within = [name for name in names if not any(_holds(inner[other], name) for other in names if other != name)]
    if len(within) != 1:
        return Rejection(f"{_words(names)} are not nested in one another")
    band = [inner[within[0]]]
    while len(band) < len(names):
        body = band[-1].body
        if len(body) != 1 or not isinstance(body[0], For) or body[0].name not in inner:
            return Rejection(f"{_words(names)} are no perfect nest: '{band[-1].name}' holds other statements too")
        band.append(body[0])
    return tuple(band)


def _holds(loop: For, name: str) -> bool:
    return any(isinstance(stmt, For) and stmt.name == name for stmt in statements(loop.body))


def _words(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def nested(band: Sequence[For], body: Body) -> For:
    """The loops around a body, outermost first."""
    for loop in reversed(band):
        body = (replace(loop, body=body),)
    assert isinstance(body[0], For)
    return body[0]


def in_order(kernel: Kernel, band: Sequence[For], order: Sequence[Stop]) -> tuple[For, ...] | Rejection:
    """The loops of a perfect nest in a new order, perhaps in tiles, without their bodies."""
    try:
        bounds = scanned(kernel, band, order)
    except Inexpressible as why:
        return Rejection(str(why))
    by_name = {loop.name: (loop, {outer.name for outer in band[:k]}) for k, loop in enumerate(band)}
    result: list[For] = []
    fixed: set[str] = set()
    for stop, (lower, upper) in zip(order, bounds, strict=True):
        loop, outer = by_name[stop.loop]
        step = number(step_of(loop) * (stop.size or 1))
        # a user's promise that iterations may run in any order is one for fixed values of the loops around
        asserted = loop.asserted if outer <= fixed else False
        new = replace(loop, name=stop.name, lower=lower, upper=upper, step=step, asserted=asserted, body=())
        result.append(new)
        if not stop.size:
            fixed.add(stop.loop)
    return tuple(result)


def changes_inside(loop: For) -> Rejection | None:
    """Why the bounds of a loop cannot be computed again inside it. Elements of arrays can, where it writes none."""
    inside = list(statements(loop.body))
    assigned = {stmt.name for stmt in inside if isinstance(stmt, Assign)}
    fixed = () if any(isinstance(stmt, Store | Allocate) for stmt in inside) else (Load,)
    for expr in own_expressions(loop):
        read = list(subexpressions(expr, Load, Checked))
        if any(not isinstance(part, fixed) for part in read) or names_in(expr) & assigned:
            return Rejection(f"the bounds of '{loop.name}' may change while it runs")
    return None


def jumps_in(loop: For, kind: type[Break] | type[Continue]) -> Rejection | None:
    """Why the iterations of a loop cannot be given to several loops: some may jump to the end of this one (or of its
    iteration)."""
    if any(isinstance(stmt, kind) and stmt.loop == loop.name for stmt in statements(loop.body)):
        return Rejection(f"'{loop.name}' holds a {kind.__name__.lower()}")
    return None


def left_early(loop: For) -> Rejection | None:
    """Why not all iterations of a loop may come to their end."""
    if any(escapes(stmt) for stmt in loop.body):
        return Rejection(f"'{loop.name}' can be left in the middle")
    return None


def without_arrays(private: Iterable[str], inside: set[str], who: str = "iteration") -> Rejection | None:
    """Why iterations cannot have all that is private to each: it is more than the names that are set inside."""
    outside = [name for name in private if name not in inside]
    return Rejection(f"each {who} would need an array '{outside[0]}' of its own") if outside else None


def running(kernel: Kernel, runs: Mapping[str, Run], threads: Mapping[str, int] | None = None) -> Kernel:
    """The kernel whose loops of these names run so, shared out among so many threads (as many as before, where that is
    not said)."""

    def marked(body: Body) -> Body:
        return unless_same(body, [mark(stmt) if has_own(stmt, runs) else stmt for stmt in body])

    def mark(stmt: Stmt) -> Stmt:
        new = with_bodies(stmt, tuple(marked(inner) for inner in bodies(stmt)))
        if not isinstance(new, For) or new.name not in runs:
            return new
        return replace(new, run=runs[new.name], threads=(threads or {}).get(new.name, new.threads))

    return replace(kernel, body=marked(kernel.body))


def overlapping(kernel: Kernel) -> Rejection | None:
    """Why nothing may change its order."""
    if kernel.overlap:
        return Rejection("arguments overlap in memory, so that any write may change any array")
    return None


def unfit(kernel: Kernel, loops: Sequence[For]) -> Rejection | None:
    """Why loops cannot be taken apart and put together in another way: they are marked, or not regular."""
    for loop in loops:
        if loop.run != "sequential":
            return Rejection(f"'{loop.name}' is marked to run {loop.run} already: that comes last in a schedule")
    reason = irregular(kernel, loops)
    return None if reason is None else Rejection(reason)


def balanced(loop: For) -> Rejection | None:
    """Why a loop over rows, or one over their entries, stays as it is: blocks share them as a pair. Loops that sort
    belong together too, and one in lockstep has its lanes."""
    if loop.run in ("balanced", "entries", "sorted", "lockstep", "off_gpu"):
        return Rejection(f"'{loop.name}' is marked {loop.run} already: such marks come last in a schedule")
    return None


def moved(loop: For | While) -> bool:
    """Whether `shift` or `skew` made the loop."""
    return "s" in loop.name.split(".")[1:]


_ALONE: list[tuple[Kernel, str, Kernel]] = []
"""The last answers of `outermost_alone`: whoever asks again gets the very same kernel, and what is kept about it."""


def outermost_alone(kernel: Kernel, name: str) -> Kernel | Rejection:
    """A kernel that is one outermost loop of another one. What stands before gives it scalars and arrays: they are its
    parameters."""
    for known, asked, found in _ALONE:
        if known is kernel and asked == name:
            return found
    at = next((k for k, stmt in enumerate(kernel.body) if isinstance(stmt, For) and stmt.name == name), None)
    if at is None:
        return Rejection(f"'{name}' is no outermost loop")
    loop, before, behind = the_loop(kernel, name), kernel.body[:at], kernel.body[at + 1 :]
    assigned = names_assigned((loop,))
    if read := sorted(assigned & names_read(behind)):
        return Rejection(f"'{user_name(read[0])}' is read after the loop")
    own = [(one.name, one.element, len(one.shape)) for one in kernel.results]
    own += [(one.array, one.element, len(one.shape)) for one in before if isinstance(one, Allocate)]
    alone = _as_kernel(kernel, loop, own)
    if isinstance(alone, Rejection):
        return alone
    _ALONE[:] = [*_ALONE[-3:], (kernel, name, alone)]
    return alone


def _as_kernel(
    kernel: Kernel, loop: For, own: Sequence[tuple[str, Scalar, int]], more: Sequence[ScalarParam] = ()
) -> Kernel | Rejection:
    """A loop of a kernel as a kernel. own: arrays that are no parameters, with their ranks; more: scalars that are
    new."""
    used = arrays_loaded((loop,)) | arrays_stored((loop,)) | arrays_measured((loop,))
    known_names = {param.name for param in kernel.params} | {array for array, _, _ in own}
    if missing := sorted(used - known_names - arrays_made((loop,))):
        return Rejection(f"'{user_name(missing[0])}' is made under a condition")
    free, assigned = kernel.results_from, names_assigned((loop,))
    params: list[ScalarParam | ArrayParam] = [
        one for one in kernel.params if (one.name in used if isinstance(one, ArrayParam) else one.name not in assigned)
    ]
    params += [
        ArrayParam(array, element, free + k, rank) for k, (array, element, rank) in enumerate(own) if array in used
    ]
    types = types_assigned(kernel.body) | {stmt.name: INT64 for stmt in statements(kernel.body, For)}
    types |= {one.name: one.type for one in more}
    given, inside = {one.name for one in params}, {stmt.name for stmt in statements((loop,), For, While)}
    scalars = sorted(names_read((loop,)) - given - inside)
    params += [ScalarParam(scalar, types[scalar], free + len(own) + k) for k, scalar in enumerate(scalars)]
    return replace(kernel, params=tuple(params), body=(loop,), results=(), returned=None, packing=(), arguments=0)


def for_fixed(kernel: Kernel, facts: Facts, band: Sequence[For]) -> Kernel | None:
    """One iteration of the loops around a perfect nest, as a kernel: what these have found out, also how far the nest
    goes, are its parameters. None where the nest changes that, or where it may fail to read it."""
    outer = band[0]
    inside = names_assigned((outer,)) | {stmt.name for stmt in statements((outer,), For)}
    written = arrays_stored((outer,)) | arrays_made((outer,))
    taken, params, lifted = names_of(kernel), list[ScalarParam](), list[For]()

    def fixed(loop: For, end: str) -> Expr:
        expr: Expr = getattr(loop, end)
        if not has(expr, Load, Checked):
            return expr
        params.append(ScalarParam(fresh(f"{loop.name}.{end}", taken), expr.type, 0))
        return Var(params[-1].name, expr.type)

    for loop in band:
        ends = [expr for expr in own_expressions(loop) if has(expr, Load, Checked)]
        reads: list[Load | Checked] = [part for expr in ends for part in subexpressions(expr, Load, Checked)]
        names = {name for expr in ends for name in names_in(expr)}
        if any(not facts.cannot_fail(part) for part in reads) or names & inside:
            return None
        if any(isinstance(part, Load) and part.array in written for part in reads):
            return None
        lifted.append(replace(loop, lower=fixed(loop, "lower"), upper=fixed(loop, "upper")))
    own = [(stmt.array, stmt.element, len(stmt.shape)) for stmt in statements(kernel.body, Allocate)]
    own = [one for one in own if one[0] not in written] + [(r.name, r.element, len(r.shape)) for r in kernel.results]
    found = _as_kernel(kernel, nested(lifted, band[-1].body), own, params)
    return None if isinstance(found, Rejection) else found


def reordering(kernel: Kernel, draft: Kernel, strict: bool, facts: Facts | None = None) -> Rejection | None:
    """Why the draft does not keep the order that the kernel's dependences ask for."""
    if (rejection := overlapping(kernel)) is not None:
        return rejection
    reason = broken_by(kernel, draft, strict, None if facts is None else facts.known)
    return without_value(draft) if reason is None else Rejection(reason)


def without_value(draft: Kernel) -> Rejection | None:
    """Why statements of the draft may find a scalar without a value, as far as their order tells: the flag of one that
    may have none is set before it, or what sets it stands in a loop of its own."""
    try:
        falls_through(draft)
    except Unassigned as fault:
        return Rejection(f"'{fault.name}' would have no value where it is needed")
    return None


def out_of_order(kernel: Kernel, facts: Facts, band: Sequence[For]) -> bool:
    """Whether all iterations of a perfect nest may run in any order, as none of its loops needs one: what was proven of
    these very loops then says of every two iterations that they touch nothing in common."""
    names = {loop.name for loop in band}
    if kernel.overlap or any(loop.run != "sequential" for loop in statements((band[0],), For)):
        return False
    for loop in band:
        found = facts.loops.get(loop.name)
        if found is None or found.node is not loop or found.verdict != "parallel" or found.last or loop.asserted:
            return False
        if not set(found.private) <= names_assigned(loop.body) | arrays_made(loop.body):
            return False
        if any(names_in(bound) & names for bound in own_expressions(loop)):
            return False
    return True


def only_free_loops_move_in(kernel: Kernel, facts: Facts, band: Sequence[For], order: Sequence[str]) -> bool:
    """Whether each loop of a perfect nest that an interchange moves into another one needs no order, by what was proven
    of these very loops. Two iterations with something in common then differ first in a loop that all those it was
    around stay in: they keep their order (Allen and Kennedy 2001, 5.2)."""
    inside = names_assigned(band[-1].body)
    if kernel.overlap or arrays_made(band[-1].body):
        return False
    names = [loop.name for loop in band]
    for place, loop in enumerate(band):
        found = facts.loops.get(loop.name)
        if found is None or found.node is not loop or found.last or found.alike or loop.asserted:
            return False
        if loop.run != "sequential" or not inside <= {*found.private, *names}:
            return False
        if any(names_in(bound) & set(names) for bound in own_expressions(loop)):
            return False
        moves_in = any(order.index(name) < order.index(loop.name) for name in names[place + 1 :])
        if moves_in and found.verdict != "parallel":
            return False
    return True


def too_large(kernel: Kernel, grown: int) -> Rejection | None:
    """Why a step that adds so many nodes is refused."""
    total = size_of(kernel.body) + grown
    if total > LIMIT:
        return Rejection(f"the code would grow to {total} nodes; the limit is {LIMIT}")
    return None


def may_begin_anew(kernel: Kernel, loop: For) -> bool:
    """Whether a call that is ended before a loop may begin once more: the loop is in no other one, and of the arguments
    nothing has been written that is read before it. What was written then is written again."""
    before = _before(kernel.body, loop)
    if before is None:
        return False
    written = arrays_stored(before) - arrays_made(kernel.body)
    return written.isdisjoint(arrays_loaded(before))


def _before(body: Body, loop: For) -> Body | None:
    """The statements of a body that may run before control comes to a loop in it, those around it without what they
    hold; None where it is in another one, or not there."""
    for at, stmt in enumerate(body):
        if stmt is loop:
            return body[:at]
        for inner in () if isinstance(stmt, For | While) else bodies(stmt):
            if (found := _before(inner, loop)) is not None:
                return (*body[:at], with_bodies(stmt, tuple(() for _ in bodies(stmt))), *found)
    return None


def is_inside(kernel: Kernel, inner: Stmt, outer: For) -> bool:
    """Whether a statement stands somewhere in a loop."""
    return any(stmt is inner for stmt in statements(outer.body))
