"""Scalar replacement of the one element of an array that a loop may come to, with a flag which says whether it did:
else nothing is put back (the step `promote ... seldom`)."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.reductions import combined, identity
from loopwright.ir.nodes import Assign, Binary, Body, Const, For, If, Kernel, Load, Stmt, Store, Var
from loopwright.ir.types import BOOL
from loopwright.ir.walk import rewrite_body
from loopwright.steps.draft import fresh, names_of
from loopwright.steps.limits import all_of
from loopwright.steps.region import Region, copies_of, with_local, zero_of


def kept_with_flag(kernel: Kernel, loop: For, region: Region, suffix: str) -> Body:
    """The loop with a scalar for the one element that it may use, and a flag which says whether that was set: else
    nothing is put back. The scalar of an element that is only updated has what comes together in the loop, and is put
    together with the element afterwards. region: of no loops."""
    taken = names_of(kernel)
    local, flag = fresh(f"{region.array}.{suffix}", taken), fresh(f"{region.array}.set", taken)
    start = zero_of(region.element) if region.op is None else identity(region.op, region.element)
    first: list[Stmt] = [Assign(flag, Const(False, BOOL)), Assign(local, start)]
    if region.is_read and region.op is None:
        there = copies_of(region, local, taken, suffix, inwards=True)
        condition = all_of(region.runs) if region.runs else None
        first.append(there if condition is None else If(condition, (there,)))

    yes = Const(True, BOOL)
    here = yes if region.op is None else Binary("or", Var(flag, BOOL), yes)  # as the scalar, many threads may have one

    def marked(stmt: Stmt) -> Body:
        is_set = isinstance(stmt, Assign) and stmt.name == local
        return (stmt, Assign(flag, here)) if is_set else (stmt,)

    inside = with_local(loop, region, local)
    assert isinstance(inside, For)
    inside = replace(inside, body=rewrite_body(inside.body, stmt=marked))
    last = copies_of(region, local, taken, "w", inwards=False)
    if region.op is not None:
        element = Load(region.array, region.index, region.element)
        last = Store(region.array, region.index, combined(region.op, element, Var(local, region.element)))
    return (*first, inside, If(Var(flag, BOOL), (last,)))
