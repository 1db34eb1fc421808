"""Loops of which only data tells whether they need their order look at it when they start (`inspect`): rows of a sparse
matrix, lists of neighbours, particles of a cell."""

from __future__ import annotations

from loopwright.ir.nodes import Body, For, If
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, statements
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.inspect import Inspect


def inspected(partial: PartialSchedule) -> None:
    """Inspect the outermost loops whose iterations go through ranges of their own."""
    done: set[str] = set()
    while loop := next((one for one in _undecided(partial, partial.kernel.body) if one.name not in done), None):
        done.add(loop.name)
        why = f"iterations of '{user_name(loop.name)}' need no order if their ranges do not meet, which is tested first"
        with partial.together():
            partial.take(Inspect(loop.name), why, anew=True)
            partial.begin_again()
            versions = [stmt for stmt in statements(partial.kernel.body, If) if loop.name in _loops(stmt.then)]
            partial.rare |= _loops(versions[-1].otherwise)  # of the innermost condition
            done |= partial.rare


def _loops(body: Body) -> set[str]:
    return {stmt.name for stmt in statements(body, For)}


def _undecided(partial: PartialSchedule, body: Body) -> list[For]:
    """Loops that hold others and may need their order, but for those inside of loops that need none."""
    found: list[For] = []
    for stmt in body:
        if isinstance(stmt, For):
            known = partial.facts.loops.get(stmt.name)
            adds = known is not None and any(one.kind == "scatter" for one in known.reductions)
            if known is None or stmt.asserted or (known.verdict in ("parallel", "reduction") and not adds):
                continue
            if known.verdict == "undecided" or adds:
                found.append(stmt)
        found += [loop for part in bodies(stmt) for loop in _undecided(partial, part)]
    return found
