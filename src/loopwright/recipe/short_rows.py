"""Rows that are probably vectors of two to four numbers, as positions `p[i]` with `p[i, 0]`, `p[i, 1]` and `p[i, 2]`
are: a version for calls in which they are just as long as what the kernel names of them. Loops along such a row are
unrolled there, and local arrays as long are in registers."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import Allocate, Const, Dim, Expr, For, Kernel, Load, Store, Var, While
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.specialize import VALUE, Specialize

LEAST, MOST = 2, 4
"""Numbers of a vector."""
VERSIONS = 2
"""Of a kernel: each is as much text as all of the nest."""


def short_rows(partial: PartialSchedule) -> None:
    """Give nests that make local arrays as long as such rows versions for vectors."""
    before = partial.kernel
    for size, length in list(_vectors(partial.kernel).items())[:VERSIONS]:
        text = f"{size.array}.{size.axis}"
        for loop in _nests(partial.kernel, size):
            step = Specialize((text,), VALUE, length, loop.name)
            if partial.allows(step):
                partial.take(step, f"the kernel names {length} elements of rows of '{user_name(size.array)}': vectors")
    if partial.kernel is not before:
        partial.begin_again()


def _nests(kernel: Kernel, size: Dim) -> list[For]:
    """The outermost loops in which local arrays are made that are as long."""
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, For)]
    return [
        loop
        for loop in outermost
        if any(size in subexpressions(one) for made in statements(loop.body, Allocate) for one in made.shape)
    ]


def _vectors(kernel: Kernel) -> dict[Dim, int]:
    """The sizes of arguments of whose axis only a few elements are named, each by a number, and how many these are."""
    given = {one.name for one in kernel.arrays}
    shapes: dict[str, tuple[Expr, ...]] = {}
    for made in statements(kernel.body, Allocate):
        shapes[made.array] = made.shape
    ends = {name: _end(loop) for name, loop in loops(kernel).items() if not isinstance(loop, While)}
    found: dict[Dim, int] = {}
    for access in _accesses(kernel):
        for axis, index in enumerate(access.index):
            size = Dim(access.array, axis) if access.array in given else _nth(shapes.get(access.array, ()), axis)
            number = _named(index, ends)
            if isinstance(size, Dim) and size.array in given and number:
                found[size] = max(found.get(size, 0), number)
    return {size: number for size, number in found.items() if LEAST <= number <= MOST}


def _accesses(kernel: Kernel) -> Iterator[Load | Store]:
    yield from expressions(kernel.body, Load)
    yield from statements(kernel.body, Store)


def _nth(shape: tuple[Expr, ...], axis: int) -> Expr | None:
    return shape[axis] if axis < len(shape) else None


def _end(loop: For) -> int:
    """The number that a loop counts to from 0; 0 for none."""
    is_plain = isinstance(loop.upper, Const) and isinstance(loop.lower, Const) and loop.lower.value == 0
    return int(loop.upper.value) if is_plain and isinstance(loop.upper, Const) else 0


def _named(index: Expr, ends: dict[str, int]) -> int:
    """One more than the greatest number that an index is known to be; 0 for none."""
    match index:
        case Const(value=value):
            return int(value) + 1
        case Var(name=name):
            return ends.get(name, 0)
    return 0
