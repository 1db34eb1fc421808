"""The inspector of an irregular loop: a kernel of its own that computes the path vector, the subscripts and the key of
each iteration, and does nothing else (Saltz and others, 1991, on inspectors). What stands before the loop it does as
well, as the loop may need it: whoever runs it sees to it that nobody else finds what it writes there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.analysis.facts import Facts
from loopwright.analysis.path_keys import key_of
from loopwright.analysis.path_vectors import PathVector, path_vector, trips_of
from loopwright.ir.linear import number, plus, times, variable
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Const,
    Dim,
    Expr,
    For,
    Kernel,
    Load,
    Return,
    ReturnedScalar,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_stored, contains, fresh, names_of
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.verify import verify


@dataclass(frozen=True, slots=True)
class PathInspector:
    """kernel: takes the arguments of a call, and behind them `paths`, an int64 array of a row for each iteration and
    `columns` columns. length: takes the arguments of a call, and returns how many iterations there are. Of the columns
    the first ones are the entries that are known, then come the subscripts of the references that are known, each with
    all its axes; the last one is the key, where there is one. written: the arrays that it writes to besides."""

    vector: PathVector
    kernel: Kernel
    length: Kernel
    columns: int
    has_key: bool
    written: frozenset[str]


def path_inspector(kernel: Kernel, facts: Facts, name: str, sampled: bool = False) -> PathInspector | str:
    """The inspector of one of a kernel's loops whose iterations need no order; or why it has none. sampled: behind
    `paths` its kernel takes `sample`, an int64 array, of which iterations to compute the rows, counted from 0."""
    at = next((k for k, stmt in enumerate(kernel.body) if isinstance(stmt, For) and stmt.name == name), None)
    loop = None if at is None else kernel.body[at]
    if at is None or not isinstance(loop, For):
        return f"'{user_name(name)}' stands inside of others, which decide as well"
    before = kernel.body[:at]
    if not isinstance(loop.step, Const) or contains(before, Return):
        return f"whether '{user_name(name)}' runs, and how often, is not known before"
    taken = names_of(kernel)

    def new(wanted: str) -> str:
        taken.add(name := fresh(wanted, taken))
        return name

    vector = path_vector(loop, facts, new)
    key = key_of(vector.known)
    values: list[Expr] = [Var(one.scalar, INT64) for one in vector.known]
    values += [Var(index, INT64) for one in vector.references for index in one.index]
    values += [] if key is None else [key]
    first, array = new(f"{name}.f"), new("paths")
    row = Binary("floordiv", Binary("sub", variable(name), variable(first)), loop.step)
    stores = (Store(array, (row, number(k)), value) for k, value in enumerate(values))
    given: tuple[ArrayParam, ...] = ()
    inspected = replace(loop, lower=variable(first), body=(*vector.body, *stores))
    if sampled:
        rows, sample = new(f"{name}.s"), new("sample")
        given = (ArrayParam(sample, INT64, kernel.results_from + 1, 1),)
        at_first = times(Load(sample, (variable(rows),), INT64), int(loop.step.value))
        chosen = Assign(name, plus(at_first, variable(first)))
        stores = (Store(array, (variable(rows), number(k)), value) for k, value in enumerate(values))
        inspected = For(rows, number(0), Dim(sample, 0), number(1), (chosen, *vector.body, *stores))
    alone = replace(kernel, returned=None, returns_tuple=False, packing=())
    counted = replace(
        alone, body=(*before, Return((trips_of(loop),))), returned=(ReturnedScalar(INT64, True),), returns_tuple=False
    )
    params = (*kernel.params, ArrayParam(array, INT64, kernel.results_from, 2), *given)
    inspector = replace(alone, params=params, body=(*before, Assign(first, loop.lower), inspected), arguments=0)
    verify(inspector)
    return PathInspector(vector, inspector, counted, len(values), key is not None, frozenset(arrays_stored(before)))
