"""Running sums beside what each iteration of a loop around them adds to the one before, for the recipe of a GPU: an
integral image is a running sum along each row, which needs no order among rows, and one down each column, which needs
none among columns. In one nest they leave no loop without order; taken apart, each has one."""

from __future__ import annotations

from loopwright.ir.nodes import Allocate, For, Store, While
from loopwright.ir.queries import arrays_made, contains, names_assigned, names_in, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.steps.expand import Expand
from loopwright.steps.fission import Fission


def scans_apart(partial: PartialSchedule) -> None:
    """Give the running sums of innermost loops nests of their own, where these can be shared out then."""
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and name in loops(partial.kernel) and not contains(loop.body, For, While, Allocate):
            chain = partial.around(name)
            if len(chain) > 1 and not any(is_free_now(partial, one) for one in chain[-2:]) and _cut(chain):
                with partial.together():
                    _taken_apart(partial, chain)


def _cut(chain: Chain) -> int:
    """The place of the first statement in the innermost loop behind all that hands something on to the next iteration,
    0 where there are no such two parts. What stands behind it has an element for each iteration of all loops."""
    body = chain[-1].body
    handed = names_assigned(body) & names_read(body)
    last = max((at for at, stmt in enumerate(body) if names_assigned((stmt,)) & handed), default=-1)
    stores = list(statements(body[last + 1 :], Store))
    names = {loop.name for loop in chain}
    if last < 0 or list(statements(body[: last + 1], Store)) or not stores:
        return 0
    return last + 2 if all(names <= {name for axis in one.index for name in names_in(axis)} for one in stores) else 0


def _taken_apart(partial: PartialSchedule, chain: Chain) -> None:
    """Raises NotTaken."""
    *around, loop = chain
    place = _cut(chain)
    why = f"running sums along '{user_name(loop.name)}' need no order among '{user_name(around[-1].name)}'"
    before = arrays_made(partial.kernel.body)
    (second,) = made(partial, Fission(loop.name, place, kept=True, handed=True), why, anew=True)
    for array in sorted(arrays_made(partial.kernel.body) - before):
        partial.take(Expand(array, tuple(one.name for one in around)), why, anew=True)
    inner = second
    for outer in reversed(around):
        body = next(one for one in partial.around(outer.name) if one.name == outer.name).body
        at = next(at for at, stmt in enumerate(body) if isinstance(stmt, For) and stmt.name == inner)
        new = made(partial, Fission(outer.name, at + 1), why, anew=True)
        inner = new[0]
    partial.begin_again()
    rows, columns = partial.around(loop.name), partial.around(second)
    if not is_free_now(partial, rows[-2]) or not is_free_now(partial, columns[-1]):
        raise NotTaken
