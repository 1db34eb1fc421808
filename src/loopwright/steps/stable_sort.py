"""Iterations sorted by keys of several bytes, as loops (a least-significant-digit radix sort): those with the same key
keep their order. What `rank` and `bucket` begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.analysis.path_keys import CLASSES
from loopwright.ir.linear import number, plus, times, variable
from loopwright.ir.nodes import Allocate, Assign, Binary, Body, Cast, Compare, Expr, For, If, Load, Store
from loopwright.ir.types import INT64, UINT8
from loopwright.steps.redirect import over, sorted_loop

MOST_DIGITS = 5
"""Of a key, in base 256: more elements than that no memory holds."""


def in_order_of_keys(
    name: str,
    n: Expr,
    greatest: Expr,
    keys: str,
    order: str,
    new: Callable[[str], str],
    is_sorted: Expr | None = None,
) -> Body:
    """Fill `order` with the numbers 0 to n - 1 in the order of their keys, by one digit after the other, from the least
    significant one. name: of the loop whose iterations they are; greatest: the greatest key there may be; keys, order:
    names of int64 arrays of length n; new: makes a name; is_sorted: a condition under which nothing has to be moved."""
    digits, digit, places, totals, next_ = (new(f"{name}.{end}") for end in "gfpto")
    start, clear, take, move, back, sort, key = (new(f"{name}.{end}") for end in "ilmvwsh")
    shift = times(variable(digit), 8)
    value = load(keys, load(order, variable(take)))
    least = Binary("and", Binary("shr", value, shift), number(CLASSES - 1))
    count: Expr = number(1)
    for k in range(1, MOST_DIGITS):
        count = plus(count, Cast(Compare("ge", greatest, number(1 << 8 * k)), INT64))
    passes = over(
        digit,
        variable(digits),
        (
            free(clear, number(CLASSES + 1), (Store(totals, (variable(clear),), number(0)),)),
            free(take, n, (Store(key, (variable(take),), Cast(least, UINT8)),)),
            sorted_loop(sort, n, key, places, totals, new),
            free(move, n, (Store(next_, (variable(move),), load(order, load(places, variable(move)))),)),
            free(back, n, (Store(order, (variable(back),), load(next_, variable(back))),)),
        ),
    )
    return (
        Assign(digits, count),
        *(() if is_sorted is None else (If(is_sorted, (Assign(digits, number(0)),)),)),
        Allocate(key, UINT8, (n,), None),
        Allocate(places, INT64, (n,), None),
        Allocate(next_, INT64, (n,), None),
        Allocate(totals, INT64, (number(CLASSES + 1),), None),
        free(start, n, (Store(order, (variable(start),), variable(start)),)),
        passes,
    )


def free(name: str, length: Expr, body: Body) -> For:
    """A loop none of whose iterations needs another one."""
    return replace(over(name, length, body), asserted="independent")


def load(array: str, index: Expr) -> Load:
    """An element of an array of int64."""
    return Load(array, (index,), INT64)
