"""Which innermost loops have an inspector: checks in a loop leave it in the middle, so that lanes cannot run it. An
inspector makes the checks of a strip of iterations before the first of them runs, without leaving: it only notes
whether some check would fail. Where none would, an executor without checks follows, in lanes; else the strip runs as it
is written, so that it fails where Python fails, with everything before that done (Saltz and others, 1991, on inspectors
and executors).

An inspector evaluates what checks depend on, for iterations that may never come. So this must be cheap, cannot fail
itself, reads only elements that one test for the strip shows to be there, and nothing that the loop writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from loopwright.codegen.decisions import NONE, Accesses, CodegenInput, IndexTest, Inspection, LoopLowering
from loopwright.codegen.loop_versions import STEEPEST, is_plain, is_short, slope_of
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Checked,
    Const,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, has, names_assigned, names_in
from loopwright.ir.walk import children, expressions, own_expressions, statements

CHEAP = {"sqrt", "floor", "ceil", "trunc", "rint", "maximum", "minimum", "fmax", "fmin"}
CHEAP |= {"isnan", "isinf", "isfinite", "signbit", "copysign", "bits"}


def inspect_strips(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Inspectors for loops that could run in lanes if it were not for their checks, where lanes promise a gain."""
    found: dict[str, Inspection] = {}
    for loop in statements(given.kernel.body, For):
        test = lowering.versions.get(loop.name)
        freed = NONE if test is None else test.inside
        if (loop.run == "vector" or loop.name in lowering.regions) and _promises_a_gain(loop):
            inspection = _inspection(loop, given, freed)
            found |= {} if inspection is None else {loop.name: inspection}
    return replace(lowering, inspections=found)


def _promises_a_gain(loop: For) -> bool:
    """Whether the loop computes, or jumps as data say. What only moves elements waits for the memory in either form."""
    conversions = any(one.converted is not None for one in expressions(loop.body, Checked))
    computes = next(expressions(loop.body, Call, Select), None) is not None
    return conversions or computes or next(statements(loop.body, If), None) is not None


def _inspection(loop: For, given: CodegenInput, freed: Accesses) -> Inspection | None:
    if given.check_all or given.kernel.overlap or is_short(loop) or given.constant_trip(loop) is not None:
        return None
    if not is_plain(loop.body) or loop.step != Const(1, loop.step.type) or not given.may_fail(loop.body, freed):
        return None
    search = _Search(loop, given, freed)
    needed = search.names_needed()
    if not all(search.can_evaluate(expr) for expr in search.evaluated(loop.body, needed)):
        return None
    changing, private = names_assigned(loop.body), set(given.facts.loops[loop.name].private)
    if not (needed & changing) <= private:
        return None
    at_once = changing <= private and search.may_store_at_once()
    assigned = changing if at_once else needed & changing
    return Inspection(tuple(search.tests), frozenset(assigned), frozenset(search.inside), at_once)


@dataclass
class _Search:
    """What an inspector of a loop has to evaluate. freed: accesses that need no check anyway."""

    loop: For
    given: CodegenInput
    freed: Accesses
    tests: list[IndexTest] = field(default_factory=list)
    inside: set[tuple[int, int]] = field(default_factory=set)

    def names_needed(self) -> set[str]:
        """The scalars that tell whether checks hold."""
        needed: set[str] = set()
        while True:
            more = {name for expr in self.evaluated(self.loop.body, needed) for name in names_in(expr)}
            if more <= needed:
                return needed
            needed |= more

    def evaluated(self, body: Body, needed: set[str]) -> Iterator[Expr]:
        """The expressions that are evaluated to know these scalars, and whether checks hold."""
        for stmt in body:
            if isinstance(stmt, Assign) and stmt.name in needed:
                yield stmt.value
            if isinstance(stmt, Store):
                yield from self._indices(stmt)
            for expr in own_expressions(stmt):
                yield from self._of_checks(expr)
            if isinstance(stmt, If):
                inner = [*self.evaluated(stmt.then, needed), *self.evaluated(stmt.otherwise, needed)]
                yield from (stmt.condition, *inner) if inner else ()

    def _of_checks(self, expr: Expr) -> Iterator[Expr]:
        if isinstance(expr, Load):
            yield from self._indices(expr)
        if isinstance(expr, Checked) and self.given.is_checked(expr, self.freed):
            self.inside.add((id(expr), 0))
            yield expr.condition
        inner = [part for child in children(expr) for part in self._of_checks(child)]
        if inner and isinstance(expr, Logical):
            yield expr.left
        if inner and isinstance(expr, Select):
            yield expr.condition
        yield from inner

    def _indices(self, node: Load | Store) -> Iterator[Expr]:
        for axis, bounds in enumerate(self.given.bounds_of(node, self.freed)):
            if bounds.kind == "checked":
                self.inside.add((id(node), axis))
                yield node.index[axis]

    def may_store_at_once(self) -> bool:
        """Whether all that the loop does can be done before it is known whether a check fails: it only stores, in each
        iteration, into arrays that are gone where the call fails and that it does not read. Where a check fails, the
        loop then does the same again, as it is written."""
        stored, kernel = arrays_stored(self.loop.body), self.given.kernel
        unseen = {one.name for one in kernel.results} | arrays_made(kernel.body)
        plain = [one for one in self.loop.body if isinstance(one, Store)]
        if not stored or not stored <= unseen or len(plain) != len(list(statements(self.loop.body, Store))):
            return False
        if any(bounds.kind == "checked" for one in plain for bounds in self.given.bounds_of(one, self.freed)):
            return False
        before = len(self.tests)
        every = (expr for stmt in statements(self.loop.body) for expr in own_expressions(stmt))
        if stored.isdisjoint(arrays_loaded(self.loop.body)) and all(self.can_evaluate(expr) for expr in every):
            return True
        del self.tests[before:]
        return False

    def can_evaluate(self, expr: Expr) -> bool:
        """Whether this is cheap, and there for all iterations of a strip, by the tests that are added."""
        match expr:
            case Call(function=function) if function not in CHEAP:
                return False
            case Binary(op="pow"):
                return False
            case Binary(op="mod", right=Const(value=1.0)) if expr.type.is_float:
                return self.can_evaluate(expr.left)
            case Binary(op="floordiv" | "mod", right=right) if expr.type.is_float or not isinstance(right, Const):
                return False
            case Binary(op="add" | "sub") if expr.type.is_float and not self.given.strict:
                # Fused or not: the compiler may choose one here and the other in the loop, and the two may differ.
                if self._may_be_product(expr.left) or self._may_be_product(expr.right):
                    return False
            case Load():
                return self._is_there(expr)
        return all(self.can_evaluate(child) for child in children(expr))

    def _may_be_product(self, expr: Expr) -> bool:
        match expr:
            case Binary():
                return expr.op == "mul"
            case Var(name=name):
                assigns = [one.value for one in statements(self.loop.body, Assign) if one.name == name]
                return any(one.type.is_float and not isinstance(one, Const | Load | Cast) for one in assigns)
        return any(self._may_be_product(child) for child in children(expr) if child.type.is_float)

    def _is_there(self, node: Load) -> bool:
        # A `prange` that is only asserted may write on another thread what is read here.
        asserted = any(loop.asserted for loop in self.given.loops.values())
        if node.array in arrays_stored(self.given.kernel.body if asserted else self.loop.body):
            return False
        tests = tests_of(node, self.loop, self.given)
        self.tests += tests or ()
        return tests is not None


def tests_of(node: Load, loop: For, given: CodegenInput) -> tuple[IndexTest, ...] | None:
    """The tests that show for a stretch of iterations that an element is there in each of them, also in those that do
    not read it; None where no such test is known."""
    tests = []
    for axis, (index, bounds) in enumerate(zip(node.index, given.bounds_of(node), strict=True)):
        slope = None if has(index, Load) else slope_of(index, loop, STEEPEST)
        if slope is None or (bounds.kind == "proven" and bounds.may_be_negative):
            return None
        # Also where it is proven: a condition in the loop, or a check before it, may be the reason.
        tests.append(IndexTest(node.array, axis, index, slope))
    return tuple(tests)
