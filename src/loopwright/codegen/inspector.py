"""C text of loops with an inspector (inspection.py): for each strip of iterations the tests that are made before it,
the loop that notes whether a check would fail, and then the loop without checks, or the one that is written.
"""

from __future__ import annotations

from collections.abc import Callable

from loopwright.codegen.decisions import Inspection
from loopwright.codegen.function import Writer, truncated
from loopwright.codegen.gathers import gathers
from loopwright.codegen.if_conversion import both, eager
from loopwright.codegen.index_tests import HIGH, LOW, freed, texts_of_tests
from loopwright.codegen.loop_versions import FEWEST
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import (
    Assign,
    Body,
    Cast,
    Checked,
    Compare,
    Dim,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Store,
    Unary,
    Var,
)
from loopwright.ir.types import BOOL, FLOAT64, UINT64
from loopwright.ir.walk import children, own_expressions, subexpressions

STRIP = 256  # iterations that an inspector looks at together: what they read stays in the first cache
CAREFUL = 32  # strips that are run as written after one that had to be

Write = Callable[[str, str, Lanes | None], None]
"""Writes the iterations between two C texts, for lanes or as they stand."""


def write_inspected(loop: For, begin: str, end: str, lanes: Lanes | None, w: Writer, write: Write) -> None:
    """Have `write` write the iterations from `begin` to `end`: in lanes, without checks, those of strips in which these
    hold; else as they stand."""
    found = w.decided.inspections.get(loop.name)
    if found is None or lanes is None:
        write(begin, end, lanes)
        return
    with w.block():
        w.line(f"const int64_t lw_all = {end}, lw_zero = lw_nothing();")
        head = f"int64_t {LOW} = {begin}, lw_then; {LOW} < lw_all; {LOW} = lw_then"
        with w.loop(head):
            w.line(f"lw_then = lw_ahead({LOW}, lw_all, {STRIP});")
            w.line(f"const int64_t {HIGH} = lw_then - 1;")
            masked = [] if found.at_once or not any(gathers(loop)) else ["LW_MASKED_GATHERS"]
            tests = [*masked, f"lw_then - {LOW} >= {FEWEST}", *texts_of_tests(found.tests, loop, w)]
            w.line(f"bool lw_holds = {' && '.join(tests)};")
            with w.branch("lw_holds"):
                _write_inspector(loop, found, w)
            if found.at_once:
                with w.branch("LW_SELDOM(!lw_holds)"):
                    _write_careful(w, write)
            else:
                with w.branch("!LW_SELDOM(!lw_holds)"), freed(found.inside, w):
                    w.fitting = "lw_zero"
                    write(LOW, "lw_then", lanes)
                    w.fitting = ""
                with w.otherwise():
                    _write_careful(w, write)


def _write_careful(w: Writer, write: Write) -> None:
    """The iterations as they are written, and some strips behind them."""
    w.line(f"lw_then = lw_ahead({LOW}, lw_all, {STRIP * CAREFUL});")
    write(LOW, "lw_then", None)


def _write_inspector(loop: For, found: Inspection, w: Writer) -> None:
    variable = w.names.of(loop.name)
    w.line("int64_t lw_fails = 0;")
    needed = tuple(w.names.of(name) for name in sorted(found.needed))
    lanes = Lanes((("|", "lw_fails"),), needed)
    with w.loop(f"int64_t {variable} = {LOW}; {variable} < lw_then; ++{variable}", lanes=lanes):
        _Inspector(found, w).body(loop.body, None)
    w.line("lw_holds = !lw_fails;")


class _Inspector:
    """Writes the iteration of an inspector: nothing in it jumps."""

    def __init__(self, found: Inspection, w: Writer) -> None:
        self.found, self.w, self.conditions = found, w, 0

    def body(self, body: Body, path: Expr | None) -> None:
        """path: whether control comes to this body; None where it always does."""
        for stmt in body:
            for expr in own_expressions(stmt):
                self._note(expr, path)
            if isinstance(stmt, Store):
                self._indices(stmt, path)
            if isinstance(stmt, Assign) and stmt.name in self.found.needed:
                variable = Var(stmt.name, stmt.value.type)
                value = stmt.value if path is None else Select(path, stmt.value, variable)
                self.w.line(f"{self.w.variable(stmt.name)} = {self._text(value)};")
            if isinstance(stmt, Store) and self.found.at_once:
                with freed(self.found.inside, self.w):
                    element = self.w.element(stmt)
                self.w.line(f"{element} = {self._text(stmt.value)};")
            if isinstance(stmt, If) and self._matters(stmt):
                holds = self._kept(stmt.condition)
                self.body(stmt.then, both(path, holds))
                self.body(stmt.otherwise, both(path, Unary("not", holds)))

    def _matters(self, stmt: If) -> bool:
        """Whether a condition tells something that the inspector asks."""
        for inner in (*stmt.then, *stmt.otherwise):
            if isinstance(inner, Assign) and inner.name in self.found.needed:
                return True
            if isinstance(inner, Store) and self._is_asked(inner):
                return True
            if any(self._holds_checks(expr) for expr in own_expressions(inner)):
                return True
            if isinstance(inner, If) and self._matters(inner):
                return True
        return False

    def _is_asked(self, node: Expr | Store) -> bool:
        axes = range(len(node.index)) if isinstance(node, Load | Store) else (0,)
        return any((id(node), axis) in self.found.inside for axis in axes)

    def _holds_checks(self, expr: Expr) -> bool:
        return self._is_asked(expr) or any(self._holds_checks(child) for child in children(expr))

    def _kept(self, condition: Expr) -> Var:
        """A condition in a constant: what it depends on may change under it."""
        name = f"lw_when_{self.conditions}"
        self.conditions += 1
        self.w.line(f"const bool {name} = {self._text(condition)};")
        self.w.function.renamed[name] = name
        return Var(name, BOOL)

    def _note(self, expr: Expr, path: Expr | None) -> None:
        """Note whether evaluating an expression fails."""
        if not self._holds_checks(expr):
            return
        match expr:
            case Logical():
                self._note(expr.left, path)
                self._note(expr.right, both(path, expr.left if expr.op == "and" else Unary("not", expr.left)))
                return
            case Select():
                self._note(expr.condition, path)
                self._note(expr.then, both(path, expr.condition))
                self._note(expr.otherwise, both(path, Unary("not", expr.condition)))
                return
            case Checked() if self._is_asked(expr):
                self._note(expr.condition, path)
                if (number := truncated(expr)) is not None and number.type == FLOAT64:
                    fits = f"LW_CONVERTS({self._text(number)})"
                    self.w.line(
                        f"lw_fails |= !{fits};" if path is None else f"lw_fails |= {self._text(path)} & !{fits};"
                    )
                else:
                    self._fails(Unary("not", expr.condition), path)
                self._note(expr.value, path)
                return
        for child in children(expr):
            self._note(child, path)
        if isinstance(expr, Load):
            self._indices(expr, path)

    def _indices(self, node: Load | Store, path: Expr | None) -> None:
        for axis, index in enumerate(node.index):
            if (id(node), axis) in self.found.inside:
                size = Cast(Dim(node.array, axis), UINT64)
                self._fails(Compare("ge", Cast(index, UINT64), size), path)

    def _fails(self, condition: Expr, path: Expr | None) -> None:
        self.w.line(f"lw_fails |= {self._text(both(path, condition))};")

    def _text(self, expr: Expr) -> str:
        """C text without short cuts and checks: everything in it can be evaluated at any time."""
        w, before, form = self.w, self.w.fitting, eager(expr)
        parts = subexpressions(form, Load, Checked)
        axes = ((id(part), axis) for part in parts for axis in range(len(part.index) if isinstance(part, Load) else 1))
        w.fitting = "lw_zero"
        with freed(frozenset(axes), w):
            text = w.text(form)
        w.fitting = before
        return text
