"""Chequered sweeps with edges that meet, as those of spins on a torus: cells of one colour look at cells of the other
only, as long as there are even numbers of both; else two neighbours across the edge have the same colour, and the order
counts. So the sweep has a version for even sizes, in which no cell needs to wait for another. For odd ones the cells at
the edge are apart from the others on a GPU, of which none needs to wait then."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from loopwright.ir.linear import parted
from loopwright.ir.nodes import Binary, Const, Dim, Expr, For, Var, While
from loopwright.ir.queries import arrays_stored, contains, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.grid_rows import size_text
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, whole
from loopwright.steps.fission import Fission
from loopwright.steps.partition import Partition
from loopwright.steps.specialize import DIVISIBLE, Specialize


def chequered(partial: PartialSchedule, on_gpu: bool = False) -> None:
    """Give sweeps over cells of one colour, which need their order, a version for even sizes, if they need none
    there."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or loops(partial.kernel).get(name) is not loop or not _needs_order(partial, loop):
            continue
        sweep = _sweep(loop)
        sizes = _lengths(partial, sweep)
        before = partial.kernel
        for wanted in (sizes, list(dict.fromkeys((*sizes, *_axes(partial, loop))))):
            if partial.kernel is before:
                with partial.together():
                    _where_even(partial, [one.name for one in sweep], wanted, on_gpu)


def _needs_order(partial: PartialSchedule, loop: For) -> bool:
    """Whether it is a sweep that does."""
    if not any(loop.name in names_in(expr) for expr in _parities(loop)):
        return False
    return partial.verdict(loop) in ("undecided", "sequential")


def _sweep(loop: For) -> list[For]:
    """The loop and those inside that tell colours, or go along one."""
    counted = {name for expr in _parities(loop) for name in names_in(expr)}
    inside = [one for one in statements(loop.body, For) if one.name in counted or _has_parity(one.lower)]
    return [loop, *inside]


def _lengths(partial: PartialSchedule, sweep: list[For]) -> list[str]:
    """The sizes that tell how far a sweep goes."""
    scalars = {one.name for one in partial.kernel.scalars}
    found: list[str] = []
    for one in sweep:
        size, _ = parted(one.upper)
        if isinstance(size, Dim):
            found.append(size_text(size))
        elif isinstance(size, Var) and size.name in scalars:
            found.append(size.name)
    return list(dict.fromkeys(found))


def _axes(partial: PartialSchedule, loop: For) -> list[str]:
    """The sizes of the arrays that a sweep writes: indices may count from the end."""
    given = {one.name: one.rank for one in partial.kernel.arrays}
    return [f"{name}.{axis}" for name in sorted(arrays_stored(loop.body) & given.keys()) for axis in range(given[name])]


def _parities(loop: For) -> Iterator[Expr]:
    """What is asked whether it is even."""
    return (expr for expr in expressions((loop,), Binary) if _is_parity(expr))


def _has_parity(expr: Expr) -> bool:
    """Whether it is asked in an expression whether something is even."""
    return any(map(_is_parity, subexpressions(expr)))


def _is_parity(expr: Expr) -> bool:
    match expr:
        case Binary(op="mod", right=Const(value=2)) | Binary(op="and", right=Const(value=1)):
            return expr.type.is_integer
    return False


def _where_even(partial: PartialSchedule, sweep: list[str], sizes: list[str], on_gpu: bool) -> None:
    """Raises NotTaken."""
    outer, odd = sweep[0], list[list[str]]()
    why = (
        f"with an even number of '{user_name(outer)}', neighbours across the edge have different colours, too; with an "
    )
    why += "odd one, one thread goes through all in order"
    for size in sizes:
        there = set(loops(partial.kernel))
        copies = whole(partial, Specialize((size,), DIVISIBLE, 2, outer), why)
        odd.append([copies.get(name, "") for name in sweep])
        if set(copies.values()) != set(loops(partial.kernel)) - there:
            raise NotTaken
    partial.begin_again()
    if not sizes or not _need_no_order(partial, sweep):
        raise NotTaken
    partial.rare |= {name for copy in odd for name in copy}
    if on_gpu:
        with partial.together():
            _inside_apart(partial, odd[0])


def _need_no_order(partial: PartialSchedule, names: Collection[str]) -> bool:
    there = loops(partial.kernel)
    return all(partial.verdict(one) == "parallel" for name in names if isinstance(one := there[name], For))


def _inside_apart(partial: PartialSchedule, sweep: list[str]) -> None:
    """The cells of a plane that are not at its edges in loops of their own, which need no order: those at the edges,
    which are few, stay as they are. Raises NotTaken."""
    there = loops(partial.kernel)
    if len(sweep) != 2 or contains(there[sweep[-1]].body, For, While):
        raise NotTaken  # there would be many parts, or large ones
    outer, before = sweep[0], set(there)
    for name in reversed(sweep):
        why = f"the first and the last '{user_name(name)}', which may be neighbours of one colour, are one thread's"
        partial.take(Partition(name), why, anew=True)
    parts = [stmt.name for stmt in loops(partial.kernel)[outer].body if isinstance(stmt, For)]
    if len(parts) != 3:
        raise NotTaken
    for _ in parts[1:]:
        partial.take(Fission(partial.around(parts[1])[0].name, 2), why, anew=True)
    partial.begin_again()
    inside = [one.name for one in partial.around(parts[1])]
    if not _need_no_order(partial, inside):
        raise NotTaken
    partial.rare = (partial.rare | (set(loops(partial.kernel)) - before)) - set(inside)
