"""Rows apart from what adds them up, for the default recipe of a GPU. A loop over rows that computes something of each,
along loops of its own, and then adds that to totals (`t += log(s)`, `for j: g[j] += p * x[i, j]`) is two nests: rows
that need no order, whose threads share them as for any other rows, and totals of one number for each row. In between
stand arrays with an element for each row.
"""

from __future__ import annotations

from loopwright.analysis.facts import LoopFacts
from loopwright.ir.nodes import Assign, Body, For, If, Stmt, Store, While
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, statements
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission

LONG = 16
"""Iterations of a loop along a row from which on an element in memory for each row costs little beside it."""


def rows_apart(partial: PartialSchedule) -> None:
    """Take nests apart that are such rows and totals."""
    if partial.strict:
        return  # one thread would add up what rows have found
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and len(partial.around(name)) == 1 and len(loop.body) > 1:
            with partial.together():
                _apart(partial, loop)


def _apart(partial: PartialSchedule, loop: For) -> None:
    """Raises NotTaken."""
    found = partial.proven(loop)
    if found is None or found.verdict != "reduction" or (trip_of(loop) or LONG) < LONG:
        raise NotTaken
    first = _first_of_totals(loop, found)
    rows = loop.body[:first]
    if not any(map(_is_long, rows)) or contains(rows, While) or not _is_apart(rows, found):
        raise NotTaken
    why = f"what each '{user_name(loop.name)}' adds up comes after all of them: the rows themselves need no order then"
    partial.take(Fission(loop.name, first + 1, kept=True), why)
    partial.begin_again()
    if partial.verdict(partial.around(loop.name)[-1]) != "parallel":
        raise NotTaken


def _first_of_totals(loop: For, found: LoopFacts) -> int:
    """Where the statements begin that do nothing but add to totals."""
    targets = {one.target for one in found.reductions}
    first = len(loop.body)
    while first and _adds_up(loop.body[first - 1], targets, set(found.private)):
        first -= 1
    while first < len(loop.body) and not _concerns(loop.body[first], targets):
        first += 1
    return first


def _concerns(stmt: Stmt, targets: set[str]) -> bool:
    return bool((names_assigned((stmt,)) | arrays_stored((stmt,))) & targets)


def _adds_up(stmt: Stmt, targets: set[str], private: set[str]) -> bool:
    """Whether a statement adds to totals, or sets a scalar beside that which no iteration hands on."""
    match stmt:
        case Assign():
            return stmt.name in targets or stmt.name in private
        case Store():
            return stmt.array in targets
        case For() | If():
            return all(_adds_up(one, targets, private) for part in bodies(stmt) for one in part)
    return False


def _is_apart(rows: Body, found: LoopFacts) -> bool:
    """Whether they have nothing to do with totals."""
    used = names_assigned(rows) | names_read(rows) | arrays_stored(rows) | arrays_loaded(rows)
    return not used & {one.target for one in found.reductions}


def _is_long(stmt: Stmt) -> bool:
    return any((trip_of(one) or LONG) >= LONG for one in statements((stmt,), For))
