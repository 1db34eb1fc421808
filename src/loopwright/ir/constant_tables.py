"""Short loops over tables of constants, such as the places of a cell's neighbours, written out: what they look up is
constants then, and the indices that these are part of can be proven like any others.

    for k in 0 .. 4:
        t = t + h[i + di[k], j + dj[k]]
    ->
    t = t + h[i + 1, j]
    t = t + h[i - 1, j]
    t = t + h[i, j + 1]
    t = t + h[i, j - 1]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from loopwright.ir.identities import simpler
from loopwright.ir.nodes import (
    Allocate,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    Kernel,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_loaded, contains, escapes, names_assigned, names_in, size_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, expressions, rewrite_body, statements

MOST_TRIPS, MOST_SIZE = 16, 1200
"""Iterations of a loop that is written out, and the size of what it becomes."""

Tables = Mapping[str, Mapping[tuple[int, ...], Const]]
"""By the names of arrays, their elements."""


def loops_over_tables_written_out(kernel: Kernel) -> Kernel:
    """The same kernel without the short loops that look something up in tables of constants."""
    short = {loop.name for loop in statements(kernel.body, For) if _values(loop)}
    if not short or not contains(kernel.body, Allocate):
        return kernel
    loads = Counter(load.array for load in expressions(kernel.body, Load))
    stores = Counter(store.array for store in statements(kernel.body, Store))
    tables = _tables(kernel.body, loads, stores)
    if not tables:
        return kernel
    body = rewrite_body(kernel.body, partial(_written_out, tables, short))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _values(loop: For) -> range:
    """What a short loop's variable goes through; nothing for any other loop."""
    match loop:
        case For(lower=Const(value=lower), upper=Const(value=upper), step=Const(value=step)) if step:
            values = range(int(lower), int(upper), int(step))
            return values if len(values) <= MOST_TRIPS else range(0)
        case _:
            return range(0)


def _tables(body: Body, loads: Counter[str], stores: Counter[str]) -> dict[str, dict[tuple[int, ...], Const]]:
    """The arrays that are made in a body, or one inside, all elements of which are given constants before any of them
    is read, once and for all."""
    found: dict[str, dict[tuple[int, ...], Const]] = {}
    for place, made in enumerate(body):
        for inner in bodies(made):
            found |= _tables(inner, loads, stores)
        if not isinstance(made, Allocate) or not all(isinstance(size, Const) for size in made.shape):
            continue
        elements: dict[tuple[int, ...], Const] = {}
        for stmt in body[place + 1 :]:
            match stmt:
                case Store(array=array, index=index, value=Const() as value) if array == made.array:
                    if not all(isinstance(one, Const) for one in index):
                        break
                    elements[tuple(int(one.value) for one in index if isinstance(one, Const))] = value
                case _:
                    if made.array in arrays_loaded((stmt,)):
                        break
        size = 1
        for extent in made.shape:
            size *= int(extent.value) if isinstance(extent, Const) else 0
        is_full = len(elements) == size == stores[made.array] and size > 0
        if is_full and all(0 <= one < int(extent.value) for index in elements for one, extent in _pairs(index, made)):
            read = Counter(load.array for load in expressions(body[place + 1 :], Load))
            if read[made.array] == loads[made.array]:
                found[made.array] = elements
    return found


def _pairs(index: tuple[int, ...], made: Allocate) -> list[tuple[int, Const]]:
    return [(one, size) for one, size in zip(index, made.shape, strict=True) if isinstance(size, Const)]


def _written_out(tables: Tables, short: set[str], loop: Stmt) -> Body:
    """A loop as it is, or as its iterations in a row."""
    if not isinstance(loop, For) or not (values := _values(loop)):
        return (loop,)
    if contains(loop.body, For, While, Block, Allocate) or loop.name in names_assigned(loop.body):
        return (loop,)
    if any(isinstance(jump, Break | Continue) for stmt in loop.body for jump in escapes(stmt)):
        return (loop,)
    looks_up = any(
        load.array in tables and loop.name in (names := set().union(*map(names_in, load.index))) and names <= short
        for load in expressions(loop.body, Load)
    )
    if not looks_up or size_of(loop.body) * len(values) > MOST_SIZE:
        return (loop,)
    body: Body = ()
    for value in values:
        body += rewrite_body(loop.body, _anew, partial(_at, tables, loop.name, Const(value, INT64)))
    return body


def _anew(stmt: Stmt) -> Body:
    """A copy of a statement: every node stands in one place."""
    return (replace(stmt, key=object()) if isinstance(stmt, Store) else replace(stmt),)


def _at(tables: Tables, name: str, value: Const, expr: Expr) -> Expr:
    """A copy of an expression, in an iteration. Operands are copies already."""
    match expr:
        case Var(name=read) if read == name:
            return replace(value)
        case Load(array=array, index=index) if array in tables and all(isinstance(one, Const) for one in index):
            place = tuple(int(one.value) for one in index if isinstance(one, Const))
            found = tables[array].get(place)
            return replace(expr, key=object()) if found is None else replace(found)
        case Load() | Checked():
            return replace(expr, key=object())
        case _:
            return simpler(replace(expr))
