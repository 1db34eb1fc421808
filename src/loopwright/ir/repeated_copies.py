"""A copy that is there already is not made again: an array that a loop copies at its beginning, changes, and puts back
at its end, as the idiom of NumPy is for a step of time (`v = u.copy(); v[1:-1] = ...; u = v`). From then on both are
equal, so the next iteration need not copy; and only what was changed has to be put back.

    for t in 0 .. n:                       allocate v: float64[m]
        allocate v: float64[m]             for i in 0 .. m:
        for i in 0 .. m:                       v[i] = u[i]
            v[i] = u[i]               ->   for t in 0 .. n:
        for j in 1 .. m - 1:                   for j in 1 .. m - 1:
            v[j] = u[j - 1] + u[j + 1]             v[j] = u[j - 1] + u[j + 1]
        for k in 0 .. m:                       for k in 1 .. m - 1:
            u[k] = v[k]                            u[k] = v[k]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loopwright.ir.nodes import (
    Allocate,
    Block,
    Body,
    Break,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.walk import own_expressions, rewrite_body, statements


def copies_made_once(kernel: Kernel) -> Kernel:
    """The same kernel, with such copies before their loops."""
    if kernel.overlap:
        return kernel
    shapes = {one.name: one.shape for one in kernel.results} | {
        one.array: one.shape for one in statements(kernel.body, Allocate)
    }
    body = rewrite_body(kernel.body, stmt=lambda stmt: _once(stmt, shapes))
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _CopyNest:
    """A nest that copies an array, with its loops from the outside in."""

    target: str
    source: str
    loops: tuple[For, ...]


def _once(stmt: Stmt, shapes: Mapping[str, tuple[Expr, ...]]) -> Body:
    if not isinstance(stmt, For) or stmt.asserted or len(stmt.body) < 3:
        return (stmt,)
    made, first, last, rest = stmt.body[0], stmt.body[1], stmt.body[-1], stmt.body[2:-1]
    there, back = _copy(first), _copy(last)
    if not isinstance(made, Allocate) or there is None or back is None or _ends_early(rest, stmt.name):
        return (stmt,)
    if (there.target, there.source) != (made.array, back.target) or back.source != made.array:
        return (stmt,)
    if not (_is_whole(there, made) and _is_whole(back, made)) or made.array in arrays_made(rest):
        return (stmt,)
    if back.target in arrays_made(stmt.body) or not _is_there(there, shapes.get(there.source)):
        return (stmt,)
    return (made, first, replace(stmt, body=(*rest, _put_back(back, rest))))


def _ends_early(rest: Body, loop: str) -> bool:
    """Whether some iterations may not come to their end."""
    return contains(rest, Block, Leave, Return) or any(one.loop == loop for one in statements(rest, Break, Continue))


def _copy(stmt: Stmt) -> _CopyNest | None:
    loops: list[For] = []
    while isinstance(stmt, For) and len(stmt.body) == 1:
        loops.append(stmt)
        stmt = stmt.body[0]
    match stmt:
        case Store(array=target, index=index, value=Load(array=source, index=read)) if target != source:
            own = tuple([one.name if isinstance(one, Var) else "" for one in index])
            if index == read and own == tuple([loop.name for loop in loops]):
                return _CopyNest(target, source, tuple(loops))
    return None


def _is_whole(copy: _CopyNest, made: Allocate) -> bool:
    """Whether all elements of the new array are copied, of which there are as many each time."""
    sizes = tuple([loop.upper for loop in copy.loops])
    from_zero = all(_is(loop.lower, 0) and _is(loop.step, 1) and not loop.asserted for loop in copy.loops)
    return from_zero and sizes == made.shape and all(isinstance(one, Const | Dim) for one in sizes)


def _is_there(copy: _CopyNest, shape: tuple[Expr, ...] | None) -> bool:
    """Whether what is copied surely has these elements: a loop of no iterations does not read them. shape: of an array
    that the kernel makes."""
    sizes = tuple([loop.upper for loop in copy.loops])
    return sizes in (shape, tuple([Dim(copy.source, axis) for axis in range(len(sizes))]))


def _is(expr: Expr, value: int) -> bool:
    return isinstance(expr, Const) and expr.value == value


def _put_back(back: _CopyNest, rest: Body) -> For:
    """The nest that puts back what one of the statements before has changed, or all where that is not plain."""
    whole = back.loops[0]
    changing = tuple([stmt for stmt in rest if back.source in arrays_stored((stmt,))])
    if len(changing) != 1 or back.target in arrays_stored(rest):
        return whole
    loops = {loop.name: loop for loop in statements(changing, For)}
    indices = {store.index for store in statements(changing, Store) if store.array == back.source}
    (index, *others) = indices
    around = [loops.get(one.name) if isinstance(one, Var) else None for one in index]
    if others or not all(one is not None and _is_steady(one, names_assigned(rest) | loops.keys()) for one in around):
        return whole
    result: Body = back.loops[-1].body
    for loop, other in zip(reversed(back.loops), reversed(around), strict=True):
        assert other is not None
        result = (replace(loop, lower=other.lower, upper=other.upper, body=result),)
    (nest,) = result
    assert isinstance(nest, For)
    return nest


def _is_steady(loop: For, changing: set[str]) -> bool:
    """Whether a loop counts up one by one, from a place that is not negative to one that is the same behind it."""
    from_the_front = isinstance(loop.lower, Const) and loop.lower.value >= 0 and _is(loop.step, 1)
    bounds = own_expressions(loop)
    return from_the_front and not any(names_in(one) & changing or has(one, Load) for one in bounds)
