"""Drafts: how a step says what it does, in the simplest way; and `finished`, which makes a kernel of one.

A draft is a kernel in which statements may stand in several places (the very same nodes), and a name that was a loop's
may be assigned: `i = i.o + 3` says what the statements after it mean by `i`. So a step builds new loops around old
statements and never rewrites one, and `analysis/order.py` knows the statements again. `finished` puts the assigned
values in, gives copies of loops names of their own, and copies the nodes that stand in several places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from loopwright.ir.by_identity import by_identity
from loopwright.ir.linear import minus, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Kernel,
    Leave,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import fresh as fresh
from loopwright.ir.queries import has
from loopwright.ir.queries import names_of as names_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import (
    bodies,
    children,
    loops,
    own_expressions,
    rewrite_body,
    rewrite_expr,
    statements,
    subexpressions,
    unless_same,
    with_bodies,
    with_children,
    with_own_expressions,
)

Node = TypeVar("Node", bound=Expr | Stmt)

# ---- trees -----------------------------------------------------------------------------------------------------


def with_statement(kernel: Kernel, old: Stmt, new: Body) -> Kernel:
    """The kernel with other statements instead of one (found by identity)."""
    return replace(kernel, body=_with_statement(kernel.body, old, new))


def _with_statement(body: Body, old: Stmt, new: Body) -> Body:
    result: list[Stmt] = []
    for stmt in body:
        if stmt is old:
            result += new
        elif any(one is old for inner in bodies(stmt) for one in statements(inner)):
            result.append(with_bodies(stmt, tuple([_with_statement(inner, old, new) for inner in bodies(stmt)])))
        else:
            result.append(stmt)
    return unless_same(body, result)


def substituted(body: Body, values: Mapping[str, Expr]) -> Body:
    """A body in which names stand for other values."""
    return rewrite_body(body, expr=lambda expr: values.get(expr.name, expr) if isinstance(expr, Var) else expr)


def substituted_in(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression in which names stand for other values."""
    return rewrite_expr(expr, lambda part: values.get(part.name, part) if isinstance(part, Var) else part)


def renamed(body: Body, names: Mapping[str, str]) -> Body:
    """The body with other names for scalars."""

    def read(expr: Expr) -> Expr:
        return Var(names[expr.name], expr.type) if isinstance(expr, Var) and expr.name in names else expr

    def write(stmt: Stmt) -> Body:
        return (replace(stmt, name=names[stmt.name]),) if isinstance(stmt, Assign) and stmt.name in names else (stmt,)

    return rewrite_body(body, write, read)


def again(body: Body, taken: set[str]) -> Body:
    """A body for another place of a draft: the loops in it get names of their own, which `taken` gets too."""
    result: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, For):
            name = fresh(f"{stmt.name}.1", taken)
            taken.add(name)
            inner = (Assign(stmt.name, variable(name)), *again(jumps_renamed(stmt.body, stmt.name, name), taken))
            result.append(replace(stmt, name=name, body=inner))
        else:
            result.append(stmt)
    return tuple(result)


def jumps_renamed(body: Body, old: str, new: str) -> Body:
    """The body of a loop that has another name now: what ends it, or an iteration of it, names the new one."""

    def renamed(stmt: Stmt) -> Body:
        return (replace(stmt, loop=new),) if isinstance(stmt, Break | Continue) and stmt.loop == old else (stmt,)

    return rewrite_body(body, renamed)


# ---- finishing -------------------------------------------------------------------------------------------------


def finished(draft: Kernel, kernel: Kernel) -> Kernel:
    """The kernel that a draft of `kernel` means: unique names, no assignments to loop variables, every node once."""
    if draft is kernel:
        return kernel
    finish = _Finish(frozenset(loops(kernel)), names_of(kernel) | names_of(draft))
    return replace(draft, body=finish.body(draft.body, _Scope()))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean at a place: `values` of loop variables, and new `names` of arrays, loops and blocks."""

    values: Mapping[str, Expr] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, value: Expr) -> _Scope:
        return replace(self, values={**self.values, name: value})

    def name(self, old: str, new: str) -> _Scope:
        return replace(self, names={**self.names, old: new})

    def without(self, name: str) -> _Scope:
        if name not in self.values:
            return self
        return replace(self, values={k: v for k, v in self.values.items() if k != name})


@dataclass(frozen=True, slots=True)
class _Mentioned:
    """What stands in a statement and inside it: all names, those assigned, and those of loops, blocks and arrays that
    are made. nodes: the identities of what a kernel has only once. unique: whether no name is made twice, and nothing
    stands there twice."""

    names: frozenset[str]
    assigned: frozenset[str]
    owned: frozenset[str]
    nodes: frozenset[int]
    unique: bool


@by_identity
def _mentioned(stmt: Stmt) -> _Mentioned:
    parts = [part for own in own_expressions(stmt) for part in subexpressions(own)]
    inner = [_mentioned(one) for body in bodies(stmt) for one in body]
    accesses = [id(part) for part in parts if isinstance(part, Load | Checked)]
    nodes = frozenset((id(stmt), *accesses)).union(*(one.nodes for one in inner))
    made = _made_by(stmt)
    owned = frozenset(made).union(*(one.owned for one in inner))
    names = [part.name if isinstance(part, Var) else part.array for part in parts if isinstance(part, Var | Load | Dim)]
    assigned = (stmt.name,) if isinstance(stmt, Assign) else ()
    stored = (stmt.array,) if isinstance(stmt, Store) else ()
    return _Mentioned(
        frozenset((*names, *made, *assigned, *stored, *_target(stmt))).union(*(one.names for one in inner)),
        frozenset(assigned).union(*(one.assigned for one in inner)),
        owned,
        nodes,
        all(one.unique for one in inner)
        and len(nodes) == 1 + len(accesses) + sum(len(one.nodes) for one in inner)
        and len(owned) == len(made) + sum(len(one.owned) for one in inner),
    )


def _made_by(stmt: Stmt) -> tuple[str, ...]:
    match stmt:
        case For() | While() | Block():
            return (stmt.name,)
        case Allocate():
            return (stmt.array,)
        case _:
            return ()


def _target(stmt: Stmt) -> tuple[str, ...]:
    match stmt:
        case Break() | Continue():
            return (stmt.loop,)
        case Leave():
            return (stmt.block,)
        case _:
            return ()


@dataclass
class _Finish:
    loops: frozenset[str]
    taken: set[str]
    defined: set[str] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    kept: list[object] = field(default_factory=list)  # keeps the ids of `seen` from being used again

    def body(self, body: Body, scope: _Scope) -> Body:
        result: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Assign) and stmt.name in self.loops:
                scope = scope.value(stmt.name, self.expr(stmt.value, scope))
                continue
            if isinstance(stmt, Allocate):
                scope = self._defined(stmt.array, scope)
            result.append(self._stmt(stmt, scope))
        return unless_same(body, result)

    def expr(self, expr: Expr, scope: _Scope) -> Expr:
        match expr:
            case Var():
                return self._anew(scope.values.get(expr.name, expr))
            case Const():
                return expr
            case Dim() if expr.array in scope.names:
                return replace(expr, array=scope.names[expr.array])
        new = with_children(expr, tuple(self.expr(child, scope) for child in children(expr)))
        if new is not expr and isinstance(new, Binary):
            return self._folded(new)
        if isinstance(new, Load) and new.array in scope.names:
            new = replace(new, array=scope.names[new.array])
        if isinstance(new, Load | Checked):
            return self._once(new)
        return new

    def _anew(self, value: Expr) -> Expr:
        """What a variable stands for, which may be read in several places."""
        if not has(value, Load, Checked):
            return value
        return rewrite_expr(value, lambda part: self._once(part) if isinstance(part, Load | Checked) else part)

    def _folded(self, expr: Binary) -> Expr:
        if expr.type == INT64 and expr.op == "add":
            return plus(expr.left, expr.right)
        if expr.type == INT64 and expr.op == "sub":
            return minus(expr.left, expr.right)
        return expr

    def _once(self, node: Node) -> Node:
        if id(node) in self.seen:
            node = replace(node)
        self.seen.add(id(node))
        self.kept.append(node)
        return node

    def _defined(self, name: str, scope: _Scope) -> _Scope:
        """A scope in which the name means what is defined here: a new one where the name is in use already."""
        if name not in self.defined:
            self.defined.add(name)
            return scope
        new = fresh(name, self.taken)
        self.taken.add(new)
        self.defined.add(new)
        return scope.name(name, new)

    def _stays(self, stmt: Stmt, scope: _Scope) -> bool:
        """Whether nothing is to be done about a statement, nor inside it: no name there means something else, and no
        node has been seen. Steps change little of a kernel, which may have thousands of statements."""
        about = _mentioned(stmt)
        return (
            about.names.isdisjoint(scope.values)
            and about.names.isdisjoint(scope.names)
            and about.owned.isdisjoint(self.defined)
            and about.assigned.isdisjoint(self.loops)
            and about.unique
            and about.nodes.isdisjoint(self.seen)
        )

    def _stmt(self, stmt: Stmt, scope: _Scope) -> Stmt:
        if self._stays(stmt, scope):
            about = _mentioned(stmt)
            self.defined |= about.owned
            self.seen |= about.nodes
            self.kept.append(stmt)
            return stmt
        new = with_own_expressions(stmt, tuple(self.expr(e, scope) for e in own_expressions(stmt)))
        inner = scope
        match new:
            case For() | While() | Block():
                inner = self._defined(new.name, scope)
                name = inner.names.get(new.name, new.name)
                if isinstance(new, For):
                    inner = inner.value(new.name, Var(name, INT64)) if name != new.name else inner.without(new.name)
                new = new if name == new.name else replace(new, name=name)
            case Store() | Allocate() if new.array in scope.names:
                new = replace(new, array=scope.names[new.array])
            case Break() | Continue() if new.loop in scope.names:
                new = replace(new, loop=scope.names[new.loop])
            case Leave() if new.block in scope.names:
                new = replace(new, block=scope.names[new.block])
            case _:
                pass
        return self._once(with_bodies(new, tuple(self.body(one, inner) for one in bodies(new))))
