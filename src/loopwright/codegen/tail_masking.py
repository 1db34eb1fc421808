"""Sums and extremes of some tens of iterations in masked vector registers. A loop in lanes does those that fill whole
registers, and the rest, which is half of the work of a short one, one after the other; here the rest is one more
register, of which a mask leaves out what is beyond the end. Longer loops are left to the C compiler: the rest is little
of them, and they want several accumulators. In shorter ones the sum of all lanes costs more than lanes bring.

The header knows which processors have such loads (LW_MASKS).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from loopwright.codegen.decisions import NONE, Accesses, CodegenInput, LoopLowering, PartialResult
from loopwright.codegen.function import Writer
from loopwright.codegen.loop_versions import is_plain
from loopwright.codegen.partial_results import target_of
from loopwright.codegen.reduce import combine, identity
from loopwright.codegen.vector_code import is_row
from loopwright.ir.nodes import Assign, Binary, Call, Compare, Const, Expr, For, If, Load, Stmt, Store, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements, subexpressions

FEW = 128  # iterations: loops of fewer than so many are done so
LARGEST = 40  # parts of the expressions of a body

Vectors = Mapping[str, str]
"""The C variables of what each lane has for itself, by the names of scalars."""


def mask_tails(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops in lanes that add up arithmetic on neighbouring elements of one type of floats, or keep the extremes of it.
    Those that threads share only where they stand in another loop."""
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
    if any(one.reduction.op not in _OPERATIONS or one.reduction.by for one in partials):
        return False
    targets = {one.reduction.target: one.reduction.op for one in partials}
    if len(targets) != len(partials):
        return False  # elements of one array, which its name does not tell apart
    private: set[str] = set()
    parts = 0
    for stmt in loop.body:
        added = _combined(stmt, targets)
        expr = added.value if added is not None else stmt.value if isinstance(stmt, Assign) else None
        if expr is None or not _is_arithmetic(expr, loop.name, private, targets.keys(), kind, given, freed):
            return False
        if added is None:
            assert isinstance(stmt, Assign)
            if stmt.name in targets:
                return False
            private.add(stmt.name)
        elif ("add" if added.operation in ("+", "-") else added.operation) != targets[added.target]:
            return False
        parts += sum(1 for _ in subexpressions(expr))
    return parts <= LARGEST


_OPERATIONS = ("add", "maximum", "minimum", "max", "min")


@dataclass(frozen=True, slots=True)
class _Combined:
    """What a statement does to a target: + or -, or the name of an extreme, and with which value."""

    target: str
    operation: str
    value: Expr


def _combined(stmt: Stmt, targets: Collection[str]) -> _Combined | None:
    """What a statement does to one of these targets; None for any other statement."""
    match stmt:
        case Assign(name=name, value=Binary(op="add" | "sub" as op, left=Var(name=old), right=right)) if (
            name in targets
        ):
            return _Combined(name, "+" if op == "add" else "-", right) if old == name else None
        case Assign(name=name, value=Binary(op="add", left=left, right=Var(name=old))) if name in targets:
            return _Combined(name, "+", left) if old == name else None
        case Assign(name=name, value=Call(function="maximum" | "minimum" as op, arguments=(Var(name=old), right))) if (
            name in targets
        ):
            return _Combined(name, op, right) if old == name else None
        case Assign(name=name, value=Binary(op="max" | "min" as op, left=Var(name=old), right=right)) if (
            name in targets
        ):
            return _Combined(name, op, right) if old == name else None
        case If(condition=Compare(op="gt" | "lt" as op, left=left, right=Var(name=old)), then=(Assign() as then,),
                otherwise=()):  # fmt: skip
            is_chosen = old in targets and then.name == old and then.value == left
            return _Combined(old, "max" if op == "gt" else "min", left) if is_chosen else None
        case Store(array=array, index=index, value=Binary(op="add" | "sub" as op, left=Load() as old, right=right)) if (
            array in targets and (old.array, old.index) == (array, index)
        ):
            return _Combined(array, "+" if op == "add" else "-", right)
    return None


def _is_arithmetic(
    expr: Expr,
    variable: str,
    private: set[str],
    targets: Collection[str],
    kind: Scalar,
    given: CodegenInput,
    freed: Accesses,
) -> bool:
    """Whether a whole register of it can be computed."""
    names = names_in(expr)
    if not names.isdisjoint(targets):
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
    starts = {one.variable: _start(one, row) for one in partials}
    w.function.scoped.add(variable)
    with w.block():
        w.line(f"const int64_t lw_upper = {w.text(loop.upper)};")
        w.line(f"int64_t {variable} = {w.text(loop.lower)};")
        for name in sums.values():
            w.function.scoped.add(name)
            w.line(f"{row} {name} = {starts[name]};")
        whole = f"(int64_t)(sizeof({row}) / {kind.size_bytes})"
        with w.loop(f"; {variable} + {whole} <= lw_upper; {variable} += {whole}"):
            _Register(loop, kind, sums, w, masked=False).write()
        with w.branch(f"{variable} < lw_upper"):
            w.line(f"const int64_t lw_rest = lw_upper - {variable};")
            _Register(loop, kind, sums, w, masked=True).write()
        for one in partials:
            op, target = one.reduction.op, target_of(one, w)
            total = f"lw_{'total' if op == 'add' else f'all_{op}'}_{kind.name}({one.variable})"
            w.line(f"{target} = {f'{target} + {total}' if op == 'add' else combine(op, kind, target, total)};")
    w.function.scoped.discard(variable)


def _start(one: PartialResult, row: str) -> str:
    """C text of a register that changes nothing."""
    if one.reduction.op == "add":
        return f"-({row}){{0}}"
    return f"({identity(one.reduction.op, one.scalar)} - ({row}){{0}})"


class _Register:
    """Writes the iterations that a register does. masked: the first `lw_rest` lanes of it count."""

    def __init__(self, loop: For, kind: Scalar, sums: Mapping[str, str], w: Writer, masked: bool) -> None:
        self.loop, self.kind, self.sums, self.w, self.masked = loop, kind, sums, w, masked
        self.private: dict[str, str] = {}

    def write(self) -> None:
        """The statements of the body."""
        row = f"lw_row_{self.kind.name}"
        for stmt in self.loop.body:
            done = _combined(stmt, self.sums)
            if done is None:
                assert isinstance(stmt, Assign)
                name = self.w.names.fresh(f"lw_{self.w.names.of(stmt.name)}row")
                self.w.function.scoped.add(name)
                self.w.line(f"const {row} {name} = {self._text(stmt.value)};")
                self.private = {**self.private, stmt.name: name}
                continue
            self.w.line(f"{self.sums[done.target]} = {self._combination(done)};")

    def _combination(self, done: _Combined) -> str:
        """C text of a target with one more register."""
        target, sign, value, kind = self.sums[done.target], done.operation, self._text(done.value), self.kind.name
        if sign in ("+", "-"):
            if self.masked:
                sign, value = "+", f"lw_first_{kind}({'-' if sign == '-' else ''}{value}, lw_rest)"
            return f"{target} {sign} {value}"
        if self.masked:
            value = f"lw_ended_{kind}({value}, {target}, lw_rest)"
        return f"lw_row_{sign}_{kind}({target}, {value})"

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
