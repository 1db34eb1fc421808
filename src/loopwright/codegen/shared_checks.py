"""Checks of an index that an earlier access has passed: `s[p] += x`, a path that is halved, a heap whose elements sink.
Python tests an index in each access. The second test of the same number cannot fail, but the C compiler does not see
that: where the first one has added the size to a negative index, two ways meet, and gcc writes all that follows twice,
once for each, with jumps where it would have chosen numbers without.

The first access keeps its checked index under a name, and those that follow it, before anything that it depends on may
change, use the name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from loopwright.codegen.decisions import Access, CodegenInput, LoopLowering
from loopwright.ir.nodes import (
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import arrays_stored, settled_by, unsettled_in
from loopwright.ir.walk import children, expressions, statements, subexpressions

Index = tuple[Expr, str, int]
"""An index, the array, and the axis."""
Known = dict[Index, Access]
"""The access that has checked each index."""


def share_checks(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Of every body, in the order in which it runs."""
    often = Counter(map(id, expressions(given.kernel.body, Load)))
    checks = _Checks(given, lowering, frozenset(one for one, times in often.items() if times > 1))
    checks.of_body(given.kernel.body, {})
    return replace(lowering, checks=checks.found | {first: first for first in checks.found.values()})


@dataclass(slots=True)
class _Checks:
    """twice: nodes that stand in several places. found: by each later access, the first that has checked its index."""

    given: CodegenInput
    lowering: LoopLowering
    twice: frozenset[int]
    found: dict[Access, Access] = field(default_factory=dict)

    def of_body(self, body: Body, known: Known) -> Known:
        """known: before the body; gives those after it, should control come to its end."""
        for stmt in body:
            known = self._of(stmt, known)
        return known

    def _of(self, stmt: Stmt, known: Known) -> Known:
        match stmt:
            case Store():
                # The value is computed before the index is checked.
                known = known | self._first_in((stmt.value,), known)
                return self._without(known | self._first_in(stmt.index, known, stmt), stmt)
            case If() if id(stmt) not in self.lowering.compacted:
                known = known | self._first_in((stmt.condition,), known)
                self.of_body(stmt.then, known | self._first_where(stmt.condition, "and", known))
                self.of_body(stmt.otherwise, known | self._first_where(stmt.condition, "or", known))
            case While():
                known = self._without(known, stmt)
                inside = known | self._first_in((stmt.condition,), known)
                self.of_body(stmt.body, inside | self._first_where(stmt.condition, "and", known))
                # The last thing that it does is to ask whether it goes on.
                return inside if not any(one.loop == stmt.name for one in statements(stmt.body, Break)) else known
            case For() if stmt.name not in self.lowering.skipped:
                known = self._without(known, stmt)
                is_apart = stmt.name in self.lowering.regions or stmt.name in self.lowering.inspections
                self.of_body(stmt.body, {} if is_apart else known)
            case Block():
                known = self._without(known, stmt)
                self.of_body(stmt.body, known)
            case Assign():
                known = known | self._first_in((stmt.value,), known)
            case _:
                pass
        return self._without(known, stmt)

    def _first_in(self, exprs: tuple[Expr, ...], known: Known, store: Store | None = None) -> Known:
        """What expressions check in any case, and nothing before them has. All of their accesses that something has are
        noted. store: the one that these are the index of."""
        for expr in exprs:
            for part in subexpressions(expr, Load):
                self._note(part, known)
        if store is not None:
            self._note(store, known)
        sure = [part for expr in exprs for part in _sure(expr)]
        return self._new(sure if store is None else [*sure, store], known)

    def _first_where(self, condition: Expr, op: str, known: Known) -> Known:
        """What all parts of an `and` have checked where it holds, or of an `or` where it does not."""
        sides, waiting = list[Expr](), [condition]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Logical) and one.op == op:
                waiting += (one.right, one.left)
            else:
                sides.append(one)
        return self._new([part for side in sides for part in _sure(side)], known)

    def _new(self, accesses: Iterable[Load | Store], known: Known) -> Known:
        new: Known = {}
        for node in accesses:
            for axis, index in self._checked(node):
                if index not in known:
                    new.setdefault(index, (id(node), axis))
        return new

    def _note(self, node: Load | Store, known: Known) -> None:
        for axis, index in self._checked(node):
            if index in known:
                self.found[id(node), axis] = known[index]

    def _checked(self, node: Load | Store) -> Iterator[tuple[int, Index]]:
        for axis, bounds in enumerate(self.given.bounds_of(node) if id(node) not in self.twice else ()):
            expr = node.index[axis]
            if bounds.kind == "checked" and not isinstance(expr, Const):
                yield axis, (expr, node.array, axis)

    def _without(self, known: Known, stmt: Stmt) -> Known:
        """What stays as it was checked, whatever of a statement has run."""
        changed, stored = unsettled_in((stmt,)), arrays_stored((stmt,))
        if stored and self.given.kernel.overlap:
            stored = {name for index, *_ in known for name in _loaded(index)}
        if isinstance(stmt, For):
            changed = changed | {stmt.name}
        if not known or not changed | stored:
            return known
        return {
            (expr, array, axis): first
            for (expr, array, axis), first in known.items()
            if not (settled_by(expr) | {array}) & changed and not _loaded(expr) & stored
        }


def _loaded(expr: Expr) -> set[str]:
    return {one.array for one in subexpressions(expr, Load)}


def _sure(expr: Expr) -> Iterator[Load]:
    """The accesses of an expression that are always made, inner ones first."""
    for place, child in enumerate(children(expr)):
        if not place or not isinstance(expr, Logical | Select | Checked):
            yield from _sure(child)
    if isinstance(expr, Load):
        yield expr
