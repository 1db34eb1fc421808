"""Sums of narrow integers in narrow lanes: a sum of int8 has the type int64, and in lanes of 64 bits the additions wait
for elements that are widened. For a strip of iterations that is short enough, nothing overflows in 32 bits, or in 16;
sums of strips go into the wide one. Masks that are counted are such sums, and elements of 32 bits that pass a test.

A sum of floats to which narrow integers are added is one of integers for as long: each is exact.

Conditions become parts of what is added: the iterations that fill no whole register run one by one, and there each jump
that the data decide costs more than the rest. Then nothing is said of lanes: the order of whole numbers is no matter,
which the C compiler knows, and left alone it adds up in shorter registers what is left over of long ones. A strip that
keeps its jumps has registers of 32 bytes also where there are longer ones, so that fewer iterations are left over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import CodegenInput, IndexTest, LoopLowering, NarrowSums, VectorLanes
from loopwright.codegen.function import Writer
from loopwright.codegen.if_conversion import both, eager
from loopwright.codegen.index_tests import HIGH, LOW, texts_of_tests
from loopwright.codegen.inspection import tests_of
from loopwright.codegen.loop_versions import is_plain
from loopwright.codegen.narrow_numbers import in_32_bits, is_narrow
from loopwright.ir.code import Lanes
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
    Stmt,
    Unary,
    Var,
)
from loopwright.ir.queries import arrays_stored, names_assigned
from loopwright.ir.types import BOOL, INT16, INT32, INT64, Scalar
from loopwright.ir.walk import children, expressions, own_expressions, statements
from loopwright.steps.draft import substituted

SHORTEST, LONGEST = 64, 4096  # iterations of a strip
REGISTER = 32  # bytes


def narrow_sums(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """For loops in lanes that do nothing else but add up what they read in at most 16 bits."""
    found: dict[str, NarrowSums] = {}
    for loop in statements(given.kernel.body, For):
        lanes = lowering.lanes.get(loop.name)
        if lanes is not None and loop.name not in lowering.inspections and (width := _width(loop, lanes)) is not None:
            adds = statements(_substituted(loop, lanes), Assign)
            ranges = [one for stmt in adds if (one := _range(stmt)) is not None]
            low, high = (min(low for low, _ in ranges), max(high for _, high in ranges))
            strip = min(LONGEST, width.minimum // min(low, -1), width.maximum // max(high, 1))
            if strip >= SHORTEST:
                found[loop.name] = NarrowSums(width, strip, _tests(loop, given))
    return replace(lowering, narrow=found)


def _width(loop: For, lanes: VectorLanes) -> Scalar | None:
    """The type of the sums of a strip; None for any other loop."""
    targets, body = _targets(lanes), _substituted(loop, lanes)
    assigned = [stmt.name for stmt in statements(body, Assign)]
    if not targets or len(targets) != len(lanes.partials) or sorted(assigned) != sorted(targets):
        return None
    if not is_plain(loop.body) or arrays_stored(loop.body) or loop.step != Const(1, loop.step.type):
        return None
    if any(_range(stmt) is None for stmt in statements(body, Assign)):
        return None
    bits = [part.type.bits if part.type.kind != "bool" else 8 for part in expressions(loop.body, Load)]
    if not bits:
        return None
    parts = list(_narrow_parts(body))
    if max(bits) > 16 or any(part.type.is_float for part in parts):
        if max(bits) <= 16 or any(part.type.bits > max(bits) for part in parts) or any(map(_is_computed, parts)):
            return None
        return INT32 if max(bits) == INT32.bits else INT64
    is_computed = any(
        in_32_bits(stmt.value.right) for stmt in statements(body, Assign) if isinstance(stmt.value, Binary)
    )
    return INT16 if max(bits) == 8 and not is_computed else INT32


def _is_computed(part: Expr) -> bool:
    """Whether a number takes longer than a comparison, or has another type on its way."""
    return isinstance(part, Call | Checked | Cast) or (isinstance(part, Binary) and part.type != BOOL)


def _targets(lanes: VectorLanes) -> list[str]:
    return [one.reduction.target for one in lanes.partials if one.store is None and one.reduction.op == "add"]


def _substituted(loop: For, lanes: VectorLanes) -> Body:
    """The iteration without the numbers that it has for itself, which it begins with: `d = int(a[i]) - int(b[i])`
    before `s += d * d`, or 1 or 0 by a condition. They stand where they are read; the C compiler computes them once."""
    body = loop.body
    while body and (found := _own_number(body[0], lanes)) is not None and found[0] not in names_assigned(body[1:]):
        body = substituted(body[1:], dict([found]))
    return body


def _own_number(stmt: Stmt, lanes: VectorLanes) -> tuple[str, Expr] | None:
    """A number that an iteration has for itself: an element, what is computed from narrow ones, or one of two."""
    match stmt:
        case Assign(name=name, value=value) if name in lanes.private and (isinstance(value, Load) or is_narrow(value)):
            return name, value
        case If(then=(Assign() as then,), otherwise=(Assign() as otherwise,)) if then.name == otherwise.name:
            one, other = then.value, otherwise.value
            if then.name in lanes.private and isinstance(one, Const) and isinstance(other, Const):
                return then.name, Select(stmt.condition, one, other)
    return None


def _narrow_parts(body: Body) -> Iterator[Expr]:
    """All expressions but the sums themselves, whose type is wide."""
    for stmt in statements(body):
        for expr in own_expressions(stmt):
            added = _added(stmt) if isinstance(stmt, Assign) else expr
            yield from _but_indices(expr if added is None else _narrow(added))


def _but_indices(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in () if isinstance(expr, Load) else children(expr):
        yield from _but_indices(child)


def _narrow(added: Expr) -> Expr:
    """What is added, before it is made as wide as the sum."""
    match added:
        case Const(value=value):
            return Const(int(value), INT16)
        case Cast(operand=Select() as chosen) | (Select() as chosen) if (ends := _ends(chosen)) is not None:
            return Select(chosen.condition, *(Const(end, INT32) for end in ends))
        case Cast(operand=operand):
            return operand
    found = in_32_bits(added)
    return added if found is None else found[0]


def _range(stmt: Assign) -> tuple[int, int] | None:
    """The least and the greatest number that a statement adds to a wide sum; None for any other statement."""
    kind = stmt.value.type
    if kind.bits != 64 or not (kind.is_integer or kind.is_float):
        return None
    match _added(stmt):
        case Const(value=value) if 0 < abs(value) < 128 and int(value) == value:  # -0.0 is no integer, nor is NaN
            return int(value), int(value)
        case Cast(operand=Select() as chosen) | (Select() as chosen) if (ends := _ends(chosen)) is not None:
            return min(ends), max(ends)
        case Cast(operand=operand) if operand.type.kind == "bool":
            return 0, 1
        case Cast(operand=operand) if operand.type.is_integer and operand.type.bits <= 16:
            return operand.type.minimum, operand.type.maximum
        case Unary() | Binary() as added if (found := in_32_bits(added)) is not None:
            return int(found[1].low), int(found[1].high)
    return None


def _ends(chosen: Select) -> tuple[int, int] | None:
    """The two small whole numbers of which one is chosen."""
    one, other = chosen.then, chosen.otherwise
    if not (isinstance(one, Const) and isinstance(other, Const)) or one.type == BOOL:
        return None
    values = (one.value, other.value)
    if not all(abs(value) < 128 and int(value) == value and str(value) != "-0.0" for value in values):
        return None
    return int(one.value), int(other.value)


def _added(stmt: Assign) -> Expr | None:
    """What a statement adds to its variable."""
    match stmt.value:
        case Binary(op="add", left=Var(name=name), right=added) if name == stmt.name:
            return added
        case Binary(op="add", left=added, right=Var(name=name)) if name == stmt.name:
            return added
    return None


def _tests(loop: For, given: CodegenInput) -> tuple[IndexTest, ...] | None:
    tests: list[IndexTest] = []
    for load in dict.fromkeys(_read_at_times(loop.body, False)):
        more = tests_of(load, loop, given)
        if more is None:
            return None
        tests += more
    return tuple(tests)


def _read_at_times(body: Body, at_times: bool) -> Iterator[Load]:
    """The elements that `_WithoutJumps` reads in each iteration, and the loop as it is written only in some."""
    for stmt in body:
        for expr in own_expressions(stmt):
            yield from _read_lazily(expr, at_times)
        if isinstance(stmt, If):
            yield from _read_at_times((*stmt.then, *stmt.otherwise), True)


def _read_lazily(expr: Expr, at_times: bool) -> Iterator[Load]:
    if isinstance(expr, Load) and at_times:
        yield expr
    for child in children(expr):
        yield from _read_lazily(
            child, at_times or (isinstance(expr, Logical | Select) and child is not children(expr)[0])
        )


# ---- text -------------------------------------------------------------------------------------------------------


def write_narrow(
    loop: For, begin: str, end: str, lanes: Lanes | None, w: Writer, write: Callable[[str, str, Lanes | None], None]
) -> None:
    """Have `write` write the iterations from `begin` to `end` (C texts), with sums of their own for each strip."""
    found = w.decided.narrow.get(loop.name)
    if found is None or lanes is None or not lanes.sums:
        write(begin, end, lanes)
        return
    targets = [one.reduction.target for one in w.decided.lanes[loop.name].partials]
    wide = {name: w.function.renamed[name] for name in targets}
    narrow = {name: w.names.fresh(f"{w.names.of(name)}part") for name in targets}
    sums = tuple(("+", narrow[name]) for name in targets)
    before, in_strip = w.function.renamed, replace(lanes, sums=sums, length=2 * REGISTER // found.width.size_bytes)
    with w.block():
        w.line(f"const int64_t lw_all = {end};")
        with w.loop(f"int64_t {LOW} = {begin}, lw_then; {LOW} < lw_all; {LOW} = lw_then"):
            w.line(f"lw_then = lw_ahead({LOW}, lw_all, {found.strip});")
            for name in targets:
                w.line(f"{VALUE_TYPE[found.width.name]} {narrow[name]} = 0;")
                w.function.scoped.add(narrow[name])
            w.function.renamed = before | narrow
            if found.tests:
                w.line(f"const int64_t {HIGH} = lw_then - 1;")
                with w.branch(" && ".join(texts_of_tests(found.tests, loop, w))):
                    _without_jumps(loop, in_strip, VALUE_TYPE[found.width.name], w)
                with w.otherwise():
                    write(LOW, "lw_then", in_strip)
            elif found.tests is None:
                write(LOW, "lw_then", in_strip)
            else:
                _without_jumps(loop, in_strip, VALUE_TYPE[found.width.name], w)
            w.function.renamed = before
            for name in targets:
                w.line(f"{wide[name]} += {narrow[name]};")


def _without_jumps(loop: For, lanes: Lanes, ctype: str, w: Writer) -> None:
    variable = w.names.of(loop.name)
    body = _substituted(loop, w.decided.lanes[loop.name])
    lanes = replace(lanes, sums=(), private=(), length=0)
    with w.loop(f"int64_t {variable} = {LOW}; {variable} < lw_then; ++{variable}", lanes=lanes):
        _WithoutJumps(w, ctype).body(body, None)


@dataclass
class _WithoutJumps:
    """Writes additions under conditions as additions of what may be nothing."""

    w: Writer
    ctype: str
    conditions: int = 0

    def body(self, body: Body, path: Expr | None) -> None:
        """path: whether control comes to this body; None where it always does."""
        for stmt in body:
            if isinstance(stmt, If):
                holds = self._kept(stmt.condition)
                self.body(stmt.then, both(path, holds))
                self.body(stmt.otherwise, both(path, Unary("not", holds)))
                continue
            assert isinstance(stmt, Assign)
            added = _added(stmt)
            assert added is not None
            target, value = self.w.function.renamed[stmt.name], f"({self.ctype}){self.w.text(eager(_narrow(added)))}"
            chosen = value if path is None else f"({self.w.text(path)} ? {value} : ({self.ctype})0)"
            self.w.line(f"{target} = {target} + {chosen};")

    def _kept(self, condition: Expr) -> Var:
        name = f"lw_when_{self.conditions}"
        self.conditions += 1
        self.w.line(f"const bool {name} = {self.w.text(eager(condition))};")
        self.w.function.renamed[name] = name
        return Var(name, BOOL)
