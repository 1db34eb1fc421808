"""Rows of unknown length on a grid, for the default recipe, as in sparse matrices: equal parts of all of them for each
block, or a few threads for each row."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, Load, Var
from loopwright.ir.queries import contains, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, subexpressions
from loopwright.recipe.grid_blocks import LINE
from loopwright.recipe.grid_rows import ENOUGH, is_told_long, length_of, version
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.split import Split

BALANCED = Tunable(
    "rows and entries of a block",
    2048,
    (1024, 2048, 4096),
    "rows of unknown length: few for each block even out, many amortise finding where they begin",
)
BALANCED_THREADS = Tunable("threads of a balanced block", 256, (128, 256, 512), LINE.why)
SHARING = Tunable(
    "threads that share a row", 16, (4, 8, 16, 32), "where rows are longer than that, more threads are put to use"
)


def _few(partial: PartialSchedule, row: For) -> dict[str, str] | None:
    """A version for few rows, where the one that they stand in is for many, too."""
    is_many = is_told_long(partial, row, ENOUGH)
    return version(partial, row.name, length_of([row]), ENOUGH) if is_many is None else None


def row_by_row(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """Rows whose lengths only data tells, and whose entries are summed up: blocks take equal parts of all entries,
    whatever the rows; where that cannot be, a few threads share each row."""
    if len(chain) < 2 or len(free) != 1 or free[0] is not chain[-2] or partial.verdict(chain[-1]) != "reduction":
        return []
    row, entry = chain[-2], chain[-1]
    assigned = names_assigned(row.body)
    bounds = [part for bound in (entry.lower, entry.upper) for part in subexpressions(bound)]
    if not any(isinstance(part, Load) or (isinstance(part, Var) and part.name in assigned) for part in bounds):
        return []
    why = f"the length of a row of '{user_name(row.name)}' depends on data"
    balance = Balance(row.name, entry.name, BALANCED.default)
    facts = partial.present_facts()
    if balance.illegal(partial.kernel, facts, partial.strict) is None:
        items = partial.number(BALANCED)
        balance = Balance(row.name, entry.name, items, partial.threads(BALANCED_THREADS))
        return [(balance, f"{why}: each block takes {items} of all rows and entries, wherever a row begins")]
    shared = [stmt for stmt in row.body if isinstance(stmt, For)]
    sharing, few = partial.number(SHARING), list[Bound]()
    team = [Bind(loop.name, "thread.x", sharing) for loop in shared]
    if any(step.illegal(partial.kernel, facts, partial.strict) is not None for step in team if step.loop == entry.name):
        raise NotTaken
    if contains(row.body, Allocate):
        raise NotTaken
    if is_told_long(partial, row, ENOUGH) is False:
        most = partial.threads(BALANCED_THREADS)
        steps = [Bind(row.name, "block.x"), *(Bind(loop.name, "thread.x", most) for loop in shared)]
        return [(step, f"{why}, and there are few: a block shares each") for step in steps]
    if (names := _few(partial, row)) is not None:
        most = partial.threads(BALANCED_THREADS)
        steps = [Bind(names[row.name], "block.x"), *(Bind(names[loop.name], "thread.x", most) for loop in shared)]
        few = [(step, f"{why}, and there are few: a block shares each") for step in steps]
    why = f"{why}: {sharing} threads share it"
    before = set(loops(partial.kernel))
    partial.take(Split(row.name, partial.threads(LINE) // sharing), why)
    (block,) = set(loops(partial.kernel)) - before
    return [*few, *((step, why) for step in (Bind(block, "block.x"), Bind(row.name, "thread.y"), *team))]
