"""The order that a step `renumber` finds for a table, in the interpreter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopwright.ir.interp import interpret
from loopwright.ir.linear import number, variable
from loopwright.ir.nodes import Cast, For, If, Kernel, Load, Store
from loopwright.ir.types import INT32, INT64
from loopwright.ir.verify import verify
from steps.before_after import after

SWEEP = """
kernel sweep(x: float64[1] C, y: float64[1] C, p: int64[2] C, m: int64, o: int64[1] C):
    var s: float64
    for t in 0 .. m:
        for i in 0 .. size(x, 0):
            s = 0.0
            for k in 0 .. size(p, 1):
                s = s + x[p[i, k]]
            y[i] = s
"""


def shows_order(step: str) -> Kernel:
    """The kernel of `SWEEP` after a step, which copies the order into `o` in the end."""
    changed = after(SWEEP, step)
    *before, last = changed.body
    assert isinstance(last, If)
    copied = Store("o", (variable("o.i"),), Cast(Load("p.order", (variable("o.i"),), INT32), INT64))
    loop = For("o.i", number(0), variable("p.n"), number(1), (copied,))
    shown = replace(changed, body=(*before, replace(last, then=(*last.then, loop))))
    verify(shown)
    return shown


def order_of(shown: Kernel, table: np.ndarray) -> np.ndarray:
    """The order of things in a call with this table."""
    n = len(table)
    order = np.full(n, -1)
    interpret(shown, [np.ones(n), np.ones(n), table, 1, order])
    return order


def mean_distance(table: np.ndarray, order: np.ndarray) -> float:
    """How far apart in an order neighbours are on average."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return float(np.abs(place[table[order]] - np.arange(len(order))[:, None]).mean())
