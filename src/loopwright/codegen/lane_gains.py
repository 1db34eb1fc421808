"""From how many iterations on vector lanes gain something. To set them up, and to bring together what they have, takes
as long as a short loop does one iteration after another. Loops with conditions on narrow numbers, or with elements
where data say, have to be longer than others.

Measured on Zen 4 (gcc 12), each beside the same loop without lanes. Sums of elements at places that data say: 0.6 to
0.8 of its speed up to 100 iterations, 0.9 at 200; behind conditions 0.3 at 30, 0.7 to 0.8 from 200 on without AVX-512.
Sums of float64 behind conditions on bytes, of which a register takes 32 or 64: 0.2 to 0.8 below some 250. Columns to
whose elements something is added: 0.5 at 5 iterations, 1.0 at 12, 1.5 at 40.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.loop_versions import FEWEST
from loopwright.ir.linear import linear
from loopwright.ir.nodes import Binary, Body, Call, Expr, For, If, Load, Logical, Select, Store
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import BOOL, Scalar
from loopwright.ir.walk import expressions, own_expressions, statements, subexpressions

GATHERED, GATHERED_SLOWLY = 128, 1024  # iterations of sums of such elements, with and without AVX-512
NARROW = 256  # iterations of sums behind conditions on numbers of a fourth of their size, or less
APART = 8  # iterations that change a column
FEW_OPERATIONS = 6  # of floats: where more is computed, lanes gain by that


def fewest_for_sums(loop: For, scalars: Sequence[Scalar]) -> str:
    """How many iterations of an innermost loop with sums of these types are worth lanes: a constant in C."""
    sizes = [one.size_bytes for one in scalars]
    if not sizes or not all(one.is_float for one in scalars) or _computes(loop):
        return str(FEWEST)
    if _goes_where_data_say(loop):
        return f"(LW_MASKED_GATHERS ? {GATHERED} : {GATHERED_SLOWLY})"
    decide = [load.type.size_bytes for one in _conditions(loop.body) for load in subexpressions(one, Load)]
    return str(NARROW if 4 * min(decide, default=8) <= max(sizes) else FEWEST)


def changes_columns(loop: For) -> bool:
    """Whether neighbouring iterations change elements of one column, by what these were."""
    return any(
        (load.array, load.index) == (store.array, store.index)
        and any(_moves(axis, loop) for axis in store.index[:-1])
        and not _moves(store.index[-1], loop)
        for store in statements(loop.body, Store)
        for load in subexpressions(store.value, Load)
    )


def reads_columns(loop: For, body: Body, arrays: Mapping[str, ArrayText]) -> bool:
    """Whether neighbouring iterations read elements of different rows in a body: lanes load these one by one."""
    for load in expressions(body, Load):
        array = arrays[load.array]
        along = {"C": array.rank - 1, "last": array.rank - 1, "F": 0, "first": 0}.get(array.layout)
        if along is not None and any(_moves(axis, loop) for at, axis in enumerate(load.index) if at != along):
            return True
    return False


def flags_are_wide(loop: For) -> bool:
    """Whether flags decide what an innermost loop stores, and all else has 64 bits: of bytes gcc takes 32 or 64,
    and as many of the others, which is more than a short loop has."""
    stores = [store for branch in statements(loop.body, If) for store in statements(branch.then, Store)]
    accesses = [*expressions(loop.body, Load), *(store.value for store in statements(loop.body, Store))]
    return bool(stores) and all(one.type == BOOL or one.type.size_bytes == 8 for one in accesses)


def _goes_where_data_say(loop: For) -> bool:
    """Whether neighbouring iterations read elements at places that they read or compute."""
    changing = names_assigned(loop.body)
    return any(
        names_in(axis) & changing or (has(axis, Load) and names_in(axis) & {loop.name})
        for load in expressions(loop.body, Load)
        for axis in load.index
    )


def _moves(index: Expr, loop: For) -> bool:
    return any(loop.name in names_in(term) for term, _ in linear(index).terms)


def _computes(loop: For) -> bool:
    costs = [part.op == "truediv" for part in expressions(loop.body, Binary) if part.type.is_float]
    is_long = len(costs) > FEW_OPERATIONS or any(costs)
    return is_long or any(True for _ in expressions(loop.body, Call))


def _conditions(body: Body) -> Iterator[Expr]:
    """All that decides whether something is done, or read."""
    for branch in statements(body, If):
        yield branch.condition
    for stmt in body:
        for expr in own_expressions(stmt):
            yield from (one.condition for one in subexpressions(expr, Select))
            yield from (one.left for one in subexpressions(expr, Logical))
