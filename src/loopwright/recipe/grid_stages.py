"""Rows that are gone through in stages, for the default recipe on a grid, as a fast Fourier transform, a sorting
network or a relaxation of each row does:

    for r: while half < n: for i in range(0, n, 2 * half): for j in range(half): ...; half *= 2

The threads of a block share the loops of each stage and meet between stages; what stands around these loops, each
thread does for itself. A thread for each row would go through all of it alone."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Body, Dim, For, If, Load, Stmt, Store, Var, While
from loopwright.ir.queries import contains, has, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, expressions, loops, own_expressions, statements, subexpressions
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_rows import (
    SharedRow,
    are_alike,
    can_share,
    in_rows,
    nest_of,
    number_of,
    rows_alike,
    version,
)
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.steps.collapse import Collapse
from loopwright.steps.extent import around as around_of
from loopwright.steps.extent import trip_of

SHORT = 16
"""Iterations of a loop of known length that are not worth being shared."""
MOST_AXES = 3
BUSY = 512
"""Rows from which on a thread for each does more than a block for each one of whose threads has to work alone."""
NEAR = (1, -1, 2, -2)
"""Strides of neighbours, in elements: complex numbers are pairs."""


def rows_with_stages(partial: PartialSchedule) -> list[Chain]:
    """The loops over such rows, around one another with nothing between them."""
    found: list[Chain] = []
    for loop in loops(partial.kernel).values():
        if not isinstance(loop, For) or not is_free_now(partial, loop) or trip_of(loop) == 1:
            continue
        around = around_of(partial.kernel, loop)
        if any(isinstance(one, For) and is_free_now(partial, one) for one in around):
            continue
        run = [loop]
        while len(run[-1].body) == 1 and isinstance(inner := run[-1].body[0], For) and is_free_now(partial, inner):
            run.append(inner)
        if len(run) <= MOST_AXES and _holds_stages(partial, run[-1]):
            found.append(tuple(run))
    return found


def in_stages(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """The threads of a block, or of a warp where rows are short, share what a stage does. Raises NotTaken."""
    bound = list[Bound]()
    if _has_work_for_one(chain[-1], _shared(partial, chain[-1].body)):
        names = version(partial, chain[0].name, number_of(partial, list(chain)), BUSY)
        if names is None:
            raise NotTaken
        each = user_name(chain[-1].name)
        why = f"with {BUSY} '{each}' and more each has a thread, as some of the work would be one thread's"
        bound = in_blocks(partial, [loop.name for loop in chain], why)
        chain = partial.around(names[chain[-1].name])[-len(chain) :]
    length = _length(chain[-1])
    shared = [_as_one(partial, loop) for loop in _shared(partial, chain[-1].body)]
    partial.begin_again()
    along = [partial.around(name)[-1] for name in shared]
    rows = SharedRow(tuple(loop.name for loop in chain), tuple(shared))
    if are_alike(partial, rows):
        return [*bound, *rows_alike(partial, rows, partial.around(rows.each)[-1])]
    return [*bound, *in_rows(partial, rows, along, length)]


def _has_work_for_one(row: For, shared: list[For]) -> bool:
    """Whether a row has long loops that threads do not share, as those that put things into another order."""
    ids = {id(one) for loop in shared for one in statements((loop,))}
    alone = [one for one in statements(row.body, For, While) if id(one) not in ids and not _is_around(one, ids)]
    return any(contains((one,), Store) and contains(one.body, For, While) for one in alone)


def _holds_stages(partial: PartialSchedule, row: For) -> bool:
    """Whether most of what a row does is in loops that need no order and stand in a `while`, or in several of them."""
    if not any(contains(one.body, For) for one in statements(row.body, While)):
        return False
    shared = _shared(partial, row.body)
    ids = {id(one) for loop in shared for one in statements((loop,))}
    deepest = max((depth for depth, loop in _depths(row.body) if id(loop) in ids), default=0)
    alone = max(
        (depth for depth, loop in _depths(row.body) if id(loop) not in ids and not _is_around(loop, ids)), default=0
    )
    return alone < deepest and deepest > 1 and _go_along_rows(partial, row, shared)


def _shared(partial: PartialSchedule, body: Body) -> list[For]:
    """The outermost loops of a row that threads can share."""
    found: list[For] = []
    for stmt in body:
        if isinstance(stmt, For) and _is_worth_sharing(partial, stmt):
            found.append(stmt)
        elif isinstance(stmt, For | While | If):
            found += [one for part in bodies(stmt) for one in _shared(partial, part)]
    return found


def _is_worth_sharing(partial: PartialSchedule, loop: For) -> bool:
    """Whether threads can share a loop that may be long and goes through memory; to put a number together from its
    digits, say, one thread takes less time than all to meet."""
    if not can_share(partial, loop) or (trip_of(loop) or SHORT) < SHORT:
        return False
    return any(True for _ in expressions(loop.body, Load)) or contains(loop.body, Store)


def _depths(body: Body, depth: int = 0) -> Iterator[tuple[int, For | While]]:
    """The loops of a body that hold no others, and how many stand around each, itself counted."""
    for stmt in body:
        if isinstance(stmt, For | While):
            if not contains(stmt.body, For, While):
                yield depth + 1, stmt
            yield from _depths(stmt.body, depth + 1)
        elif isinstance(stmt, If):
            for part in bodies(stmt):
                yield from _depths(part, depth)


def _is_around(loop: Stmt, ids: set[int]) -> bool:
    return any(id(one) in ids for one in statements((loop,)))


def _go_along_rows(partial: PartialSchedule, row: For, shared: list[For]) -> bool:
    """Whether what lies side by side goes along the loops of a row more often than along the rows."""
    rows = columns = 0
    for loop in shared:
        inside = {id(stmt) for stmt in statements(loop.body)}
        names = [loop.name, *(one.name for one in statements(loop.body, For))]
        for walk in partial.walks():
            if id(walk.stmt) in inside:
                along = any(walk.strides.get(name) in NEAR for name in names)
                across = walk.strides.get(row.name) in NEAR
                rows += along and not across
                columns += across and not along
    return rows > columns


def _as_one(partial: PartialSchedule, loop: For) -> str:
    """A loop, or the one that its nest becomes: in one stage the outer loop is short, in another one the inner."""
    nest = nest_of(partial, loop)
    nest = [one for one in nest if is_free_now(partial, one)] if is_free_now(partial, loop) else nest[:1]
    if len(nest) < 2 or trip_of(nest[-1]) is not None:
        return loop.name
    why = f"'{user_name(loop.name)}' and '{user_name(nest[-1].name)}' are long in turn: threads share both as one"
    step = Collapse(tuple(one.name for one in nest))
    if not partial.allows(step):
        return loop.name
    (name,) = made(partial, step, why, anew=True)
    return name


def _length(row: For) -> Dim | Var | None:
    """The size that tells how long a row is: one that the ends of its loops, or the conditions of its stages, name."""
    changing = names_assigned((row,)) | {one.name for one in statements((row,), For)}
    for loop in statements(row.body, For, While):
        for expr in own_expressions(loop):
            if not has(expr, Load):
                for part in subexpressions(expr, Dim, Var):
                    if isinstance(part, Dim) or part.name not in changing:
                        return part
    return None


STAGES = (in_stages,)
"""Ways to share out such rows."""
