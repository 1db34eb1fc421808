"""Sums of some tens of iterations in masked vector registers. A loop in lanes does those that fill whole registers, and
the rest, which is half of the work of a short one, one after the other; here the rest is one more register, of which a
mask leaves out what is beyond the end. Longer loops are left to the C compiler: the rest is little of them, and they
want several accumulators. In shorter ones the sum of all lanes costs more than lanes bring.

The header knows which processors have such loads (LW_MASKS).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.codegen.decisions import NONE, Accesses, CodegenInput, LoopLowering, PartialResult
from loopwright.codegen.function import Writer
from loopwright.codegen.loop_versions import is_plain
from loopwright.codegen.partial_results import target_of
from loopwright.codegen.vector_code import is_row
from loopwright.ir.nodes import Assign, Binary, Const, Expr, For, Load, Stmt, Store, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements, subexpressions

FEW = 128  # iterations: loops of fewer than so many are done so
LARGEST = 40  # parts of the expressions of a body

Vectors = Mapping[str, str]
"""The C variables of what each lane has for itself, by the names of scalars."""


def mask_tails(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops in lanes that add up arithmetic on neighbouring elements of one type of floats. Those that threads share
    only where they stand in another loop."""
    found = (
        loop.name
        for loop in statements(given.kernel.body, For)
        if loop.name in lowering.lanes
        and (loop.name not in lowering.regions or loop.name in lowering.alone)
        and loop.name not in lowering.inspections
        and loop.name not in lowering.narrow
        and loop.name not in lowering.vectors
        and not lowering.lanes[loop.name].last
        and _adds_up_rows(loop, lowering.lanes[loop.name].partials, given, _freed(loop, lowering))
    )
    return replace(lowering, masked=frozenset(found))


def _freed(loop: For, lowering: LoopLowering) -> Accesses:
    """The accesses that need no check where the loop is written so."""
    entry = lowering.versions.get(loop.name)
    return NONE if entry is None else entry.inside


def _adds_up_rows(loop: For, partials: tuple[PartialResult, ...], given: CodegenInput, freed: Accesses) -> bool:
    lanes_only = not isinstance(loop.step, Const) or loop.step.value != 1 or given.constant_trip(loop) is not None
    if lanes_only or not partials or not is_plain(loop.body):
        return False
    kinds = {one.scalar for one in partials}
    if len(kinds) != 1 or not (kind := kinds.pop()).is_float:
        return False
    if any(one.reduction.op != "add" or one.reduction.by for one in partials):
        return False
    targets = {one.reduction.target for one in partials}
    if len(targets) != len(partials):
        return False  # elements of one array, which its name does not tell apart
    private: set[str] = set()
    parts = 0
    for stmt in loop.body:
        added = _added(stmt, targets)
        expr = added[1] if added is not None else stmt.value if isinstance(stmt, Assign) else None
        if expr is None or not _is_arithmetic(expr, loop.name, private, targets, kind, given, freed):
            return False
        if added is None:
            assert isinstance(stmt, Assign)
            if stmt.name in targets:
                return False
            private.add(stmt.name)
        parts += sum(1 for _ in subexpressions(expr))
    return parts <= LARGEST


def _added(stmt: Stmt, targets: set[str]) -> tuple[str, Expr] | None:
    """What a statement adds to a target: + or - and the expression; None for any other statement."""
    match stmt:
        case Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=right)) if (
            name in targets
        ):
            return ("+" if op == "add" else "-", right) if old == name else None
        case Assign(name=name, value=Binary(op="add", left=left, right=Var(name=old))) if name in targets:
            return ("+", left) if old == name else None
        case Store(array=array, index=index, value=Binary(op="add" | "sub" as op, left=Load() as old, right=right)) if (
            array in targets and (old.array, old.index) == (array, index)
        ):
            return "+" if op == "add" else "-", right
    return None


def _is_arithmetic(
    expr: Expr, variable: str, private: set[str], targets: set[str], kind: Scalar, given: CodegenInput, freed: Accesses
) -> bool:
    """Whether a whole register of it can be computed."""
    names = names_in(expr)
    if names & targets:
        return False
    if not names & (private | {variable}):
        # What is the same in all iterations is written for each register: it is to be cheap, and no other way out.
        parts = list(subexpressions(expr))
        return expr.type == kind and all(isinstance(one, Var | Const | Load | Binary | Unary) for one in parts)
    match expr:
        case Var(name=name):
            return name in private and expr.type == kind
        case Load():
            return is_row(expr, variable, kind, given, freed) and not names & private
        case Unary(op="neg", operand=operand):
            return _is_arithmetic(operand, variable, private, targets, kind, given, freed)
        case Binary(op="sub", left=Const(value=0)):
            return False  # not the same as the negative: 0 - 0
        case Binary(op="add" | "sub" | "mul" | "truediv", left=left, right=right):
            return all(_is_arithmetic(one, variable, private, targets, kind, given, freed) for one in (left, right))
    return False


# ---- text -------------------------------------------------------------------------------------------------------


def write_masked(loop: For, partials: tuple[PartialResult, ...], w: Writer) -> None:
    """All iterations, for few of them: whole registers, and one more with what is left over."""
    variable, kind = w.names.of(loop.name), partials[0].scalar
    row = f"lw_row_{kind.name}"
    sums = {one.reduction.target: one.variable for one in partials}
    w.function.scoped.add(variable)
    with w.block():
        w.line(f"const int64_t lw_upper = {w.text(loop.upper)};")
        w.line(f"int64_t {variable} = {w.text(loop.lower)};")
        for name in sums.values():
            w.function.scoped.add(name)
            w.line(f"{row} {name} = -({row}){{0}};")
        whole = f"(int64_t)(sizeof({row}) / {kind.size_bytes})"
        with w.loop(f"; {variable} + {whole} <= lw_upper; {variable} += {whole}"):
            _Register(loop, kind, sums, w, masked=False).write()
        with w.branch(f"{variable} < lw_upper"):
            w.line(f"const int64_t lw_rest = lw_upper - {variable};")
            _Register(loop, kind, sums, w, masked=True).write()
        for one in partials:
            total = f"lw_total_{kind.name}({one.variable})"
            target = target_of(one, w)
            w.line(f"{target} = {target} + {total};")
    w.function.scoped.discard(variable)


class _Register:
    """Writes the iterations that a register does. masked: the first `lw_rest` lanes of it count."""

    def __init__(self, loop: For, kind: Scalar, sums: Mapping[str, str], w: Writer, masked: bool) -> None:
        self.loop, self.kind, self.sums, self.w, self.masked = loop, kind, sums, w, masked
        self.private: dict[str, str] = {}

    def write(self) -> None:
        """The statements of the body."""
        row = f"lw_row_{self.kind.name}"
        for stmt in self.loop.body:
            added = _added(stmt, set(self.sums))
            if added is None:
                assert isinstance(stmt, Assign)
                name = self.w.names.fresh(f"lw_{self.w.names.of(stmt.name)}row")
                self.w.function.scoped.add(name)
                self.w.line(f"const {row} {name} = {self._text(stmt.value)};")
                self.private = {**self.private, stmt.name: name}
                continue
            target = self.sums[stmt.name if isinstance(stmt, Assign) else stmt.array]  # type: ignore[union-attr]
            sign, value = added[0], self._text(added[1])
            if self.masked:
                sign, value = "+", f"lw_first_{self.kind.name}({'-' if sign == '-' else ''}{value}, lw_rest)"
            self.w.line(f"{target} = {target} {sign} {value};")

    def _text(self, expr: Expr) -> str:
        """C text of a register."""
        if not names_in(expr) & ({self.loop.name} | self.private.keys()):
            return f"({self.w.text(expr)} - (lw_row_{self.kind.name}){{0}})"  # keeps the sign of a zero
        match expr:
            case Var(name=name):
                return self.private[name]
            case Load():
                element = f"&{self.w.element(expr)}"
                if self.masked:
                    return f"lw_masked_{self.kind.name}({element}, lw_rest)"
                return f"*(const lw_row_{self.kind.name} *){element}"
            case Unary(operand=operand):
                return f"(-{self._text(operand)})"
            case Binary(op=op, left=left, right=right):
                sign = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}[op]
                return f"({self._text(left)} {sign} {self._text(right)})"
        raise AssertionError(expr)
