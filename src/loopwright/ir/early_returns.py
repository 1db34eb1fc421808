"""Returns out of loops, for a GPU, whose thread cannot end what the host runs: the loop is left, and then the kernel.

for i in 0 .. n:                          e = False
    if a[i] > t:                          r = 0.0
        return f(i)                       for i in 0 .. n:
return 0.0                                    if a[i] > t:
                                 ->               r = f(i)
                                                  e = True
                                                  break i
                                          if e:
                                              return r
                                          return 0.0
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.ir.nodes import Assign, Body, Break, Const, Expr, For, If, Kernel, Return, Stmt, Var, While
from loopwright.ir.queries import contains, fresh, names_of
from loopwright.ir.types import BOOL
from loopwright.ir.walk import bodies, statements, unless_same, with_bodies


def without_early_returns(kernel: Kernel) -> Kernel:
    """The same kernel, in which no loop holds a return, where there are other loops, too: one alone is searched."""
    around = [stmt for stmt in kernel.body if isinstance(stmt, For | While)]
    if not 0 < sum(contains(loop.body, Return) for loop in around) < len(around):
        return kernel
    taken = names_of(kernel)
    ended = Var(fresh("ended", taken), BOOL)
    returns = [one for one in statements(kernel.body, Return) if one.values]
    kept: list[Var] = []
    for place, value in enumerate(returns[0].values if returns else ()):
        kept.append(Var(fresh(f"result.{place}", {*taken, *(one.name for one in kept)}), value.type))
    start: Body = (Assign(ended.name, FALSE), *(Assign(one.name, zero_of(one)) for one in kept))
    return replace(kernel, body=(*start, *_outside(kernel.body, ended, kept)))


FALSE, TRUE = Const(False, BOOL), Const(True, BOOL)


def zero_of(variable: Var) -> Expr:
    """A constant of its type."""
    type_ = variable.type
    return Const(False if type_ == BOOL else 0.0 if type_.is_float else 0, type_)


def _outside(body: Body, ended: Var, kept: list[Var]) -> Body:
    """Statements outside of loops."""
    new = list[Stmt]()
    for stmt in body:
        if isinstance(stmt, For | While):
            new += _left(stmt, ended, kept, (Return(tuple(kept)),))
        else:
            new.append(with_bodies(stmt, tuple(_outside(inner, ended, kept) for inner in bodies(stmt))))
    return unless_same(body, new)


def _left(loop: For | While, ended: Var, kept: list[Var], then: Body) -> Body:
    """The loop without returns, and what follows where one has ended it."""
    if not contains(loop.body, Return):
        return (loop,)
    return (replace(loop, body=_inside(loop.body, loop.name, ended, kept)), If(ended, then))


def _inside(body: Body, loop: str, ended: Var, kept: list[Var]) -> Body:
    new = list[Stmt]()
    for stmt in body:
        match stmt:
            case Return():
                new += (Assign(one.name, value) for one, value in zip(kept, stmt.values, strict=True))
                new += (Assign(ended.name, TRUE), Break(loop))
            case For() | While():
                new += _left(stmt, ended, kept, (Break(loop),))
            case _:
                new.append(with_bodies(stmt, tuple(_inside(inner, loop, ended, kept) for inner in bodies(stmt))))
    return unless_same(body, new)
