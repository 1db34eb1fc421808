"""Calls of explicit_stack.py that end at once: what they return is computed before anything is kept for them.

    push n; n = n - 1; goto 0          ->      m = n - 1
    0: if n < 2: r = n; goto end               if m < 2: r = m; goto (after the call)
       else: goto 2                            else: push n; n = m; goto 2

Half of the calls of a tree are of this kind. They are those of a function that begins with a test, where what follows
is a few assignments and the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from loopwright.ir.nodes import Assign, Block, Body, Checked, Expr, If, Load, Stmt, Unary, Var
from loopwright.ir.queries import types_assigned
from loopwright.ir.walk import rewrite_expr

_MOST = 4  # tests one after the other, and assignments behind each

Goto = Callable[[Stmt], int | None]
"""The state that a statement says, None for other statements."""


@dataclass(frozen=True)
class Leaves:
    """cases: the conditions under which a call ends at once, each tried where those before it do not hold, with what
    is assigned then. otherwise: the state in which all other calls go on."""

    cases: tuple[tuple[Expr, tuple[Assign, ...]], ...]
    otherwise: int


def with_leaves(states: list[list[Stmt]], end: int, goto: Goto, to: Callable[[int], Stmt]) -> Leaves | None:
    """The calls that end at once; None where there are none. What follows the test becomes a state of its own.
    goto: reads the next state from a statement; to: makes one."""
    number, cases = 0, list[tuple[Expr, tuple[Assign, ...]]]()
    while len(cases) < _MOST and states[number] and isinstance(test := states[number][0], If):
        rest = states[number][1:]
        then = _leaf(test.then, states, end, goto)
        otherwise = None if rest else _leaf(test.otherwise, states, end, goto)
        if then is not None and not test.otherwise and rest:
            states.append(rest)
            states[number][:] = [If(test.condition, test.then, (to(len(states) - 1),), at=test.at)]
            after: int | None = len(states) - 1
        elif rest or (then is None) == (otherwise is None):
            break
        else:
            on = test.otherwise if otherwise is None else test.then
            after = goto(on[0]) if len(on) == 1 else None
        if after is None:
            break
        leaf = then if then is not None else otherwise
        assert leaf is not None
        cases.append((test.condition if then is not None else Unary("not", test.condition), leaf))
        number = after
    return Leaves(tuple(cases), number) if cases else None


def _leaf(body: Body, states: Sequence[Sequence[Stmt]], end: int, goto: Goto) -> tuple[Assign, ...] | None:
    """What a body that comes to the end assigns on the way; None for any other body."""
    found: list[Assign] = []
    rest: Sequence[Stmt] = body
    for _ in range(_MOST):
        for stmt in rest:
            if (after := goto(stmt)) is not None:
                if after == end:
                    return tuple(found)
                rest = states[after]
                break
            if not isinstance(stmt, Assign) or len(found) == _MOST:
                return None
            found.append(stmt)
        else:
            return None
    return None


@dataclass(frozen=True)
class CallSite:
    """A call, the mark of which says what it sets. results: what it returns, under their own names."""

    mark: Block
    results: frozenset[str]
    new_name: Callable[[str], str]

    def body(self, leaves: Leaves, ended: Body, kept: Body, deeper: Body) -> list[Stmt] | None:
        """The call: with `ended` behind a leaf; else `kept`, what the call sets, and `deeper`. None for calls that set
        more than numbers."""
        if not all(isinstance(stmt, Assign) for stmt in self.mark.body):
            return None
        names: dict[str, str] = {}
        made = [self._renamed(stmt, names) for stmt in self.mark.body]
        kinds = types_assigned(self.mark.body)
        set_now = tuple(Assign(name, Var(new, kinds[name]), at=self.mark.at) for name, new in names.items())
        rest: Body = (*kept, *set_now, *deeper)
        for condition, leaf in reversed(leaves.cases):
            here = dict(names)
            test = _fresh(condition, here)
            then = tuple(self._renamed(stmt, here) for stmt in leaf)
            rest = (If(test, (*then, *ended), rest, at=self.mark.at),)
        return [*made, *rest]

    def _renamed(self, stmt: Stmt, names: dict[str, str]) -> Assign:
        """An assignment to a name that is nobody else's: the caller's own one may be read after the call."""
        assert isinstance(stmt, Assign)
        value = _fresh(stmt.value, names)
        if stmt.name not in self.results and stmt.name not in names:
            names[stmt.name] = self.new_name(f"{stmt.name}.leaf")
        return Assign(names.get(stmt.name, stmt.name), value, at=stmt.at)


def _fresh(expr: Expr, names: Mapping[str, str]) -> Expr:
    """An expression of other names, with keys of its own."""

    def change(part: Expr) -> Expr:
        if isinstance(part, Var) and part.name in names:
            return replace(part, name=names[part.name])
        return replace(part, key=object()) if isinstance(part, Load | Checked) else part

    return rewrite_expr(expr, change)
