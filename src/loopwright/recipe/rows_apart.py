"""Rows apart from what adds them up, for the default recipe of a GPU. A loop over rows that computes something of each,
along loops of its own, and then adds that to totals (`t += log(s)`, `for j: g[j] += p * x[i, j]`) is two nests: rows
that need no order, whose threads share them as for any other rows, and totals of one number for each row. In between
stand arrays with an element for each row.
"""

from __future__ import annotations

from loopwright.analysis.facts import LoopFacts
from loopwright.ir.nodes import Assign, Body, For, If, Stmt, Store, Var, While
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, statements
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission

LONG = 16
"""Iterations of a loop along a row from which on an element in memory for each row costs little beside it."""


def rows_apart(partial: PartialSchedule) -> None:
    """Take nests apart that are such rows and totals."""
    if partial.strict:
        return  # one thread would add up what rows have found
    for loop in list(loops(partial.kernel).values()):
        if isinstance(loop, For) and is_outermost(partial, loop):
            run = [loop]
            while len(run[-1].body) == 1 and isinstance(inner := run[-1].body[0], For):
                run.append(inner)
            if len(run[-1].body) > 1:
                with partial.together():
                    _apart(partial, run)


def _apart(partial: PartialSchedule, run: list[For]) -> None:
    """run: loops around one another with nothing between them. Raises NotTaken."""
    found = partial.proven(run[-1])
    if found is None or any(partial.verdict(one) != "reduction" for one in run):
        raise NotTaken
    if (trip_of(run[-1]) or LONG) < LONG:
        raise NotTaken
    first = _first_of_totals(run[-1], found)
    rows = run[-1].body[:first]
    if not any(map(_is_long, rows)) or contains(rows, While) or not _is_apart(rows, found):
        raise NotTaken
    words = " and ".join(f"'{user_name(one.name)}'" for one in run)
    why = f"what each {words} adds up comes after all of them: the rows themselves need no order then"
    if len(run) == 1:
        partial.take(Fission(run[0].name, first + 1, kept=True), why)
    else:
        _cut(partial, [one.name for one in run], first, why)
    partial.begin_again()
    if any(partial.verdict(one) != "parallel" for one in partial.around(run[-1].name)):
        raise NotTaken


def _cut(partial: PartialSchedule, run: list[str], first: int, why: str) -> None:
    """Cut several loops, of which an array has an element for each iteration: what goes from one part to the other has
    one, too. Raises NotTaken where there is no such array."""
    body = partial.around(run[-1])[-1].body
    inside = {id(stmt) for stmt in statements(body)}
    indices = [
        {axis.name for axis in walk.node.index if isinstance(axis, Var)}
        for walk in partial.walks()
        if id(walk.stmt) in inside
    ]
    if not any(index.issuperset(run) for index in indices):
        raise NotTaken
    for scalar in sorted(names_assigned(body[:first]) & names_read(body[first:])):
        partial.take(Expand(scalar, tuple(run)), why, anew=True)
    partial.take(Fission(run[-1], first + 1), why, anew=True)
    for outer in reversed(run[:-1]):
        partial.take(Fission(outer, 2), why, anew=True)


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
