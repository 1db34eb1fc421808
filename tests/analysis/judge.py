"""An executor that knows nothing of analysis: it runs a kernel on small data, notes which iteration touches which
element, and can run one loop's iterations in another order, the way a verdict says that it may.

Numbers are Python's own, so that sums of whole numbers are exact in any order.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loopwright.analysis.bounds import violation
from loopwright.analysis.facts import Facts, LoopFacts, Reduction, SizeGuard
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Return,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)

POISON = "poison"
"""What a private variable holds before it is written: to read it is an error."""

COMPARE = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt}
COMPARE["ge"] = operator.ge


class Refused(Exception):
    """An index out of bounds or a failed check: the call fails, and says nothing about order."""


class Jump(Exception):
    """Break, Continue, Leave or Return on its way."""

    def __init__(self, stmt: Break | Continue | Leave | Return) -> None:
        self.stmt = stmt


class Array:
    """Elements by index tuple; `fill` for those never written."""

    def __init__(self, shape: tuple[int, ...], cells: dict[tuple[int, ...], Any], fill: Any = POISON) -> None:
        self.shape, self.cells, self.fill = shape, cells, fill

    def copy(self) -> Array:
        return Array(self.shape, dict(self.cells), self.fill)


@dataclass
class Touch:
    """Which iterations read and which wrote one element, in one run of one loop."""

    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)


@dataclass
class Run:
    """One run of a kernel. `reorder`: run the loops named in it out of order. touched: per loop, per run of the
    loop, per element. plain: the run in order, to compare with. outside: accesses (by node) and axes whose index left
    0..size."""

    kernel: Kernel
    values: dict[str, Any]
    reorder: dict[str, LoopFacts] = field(default_factory=dict)
    random: random.Random = field(default_factory=lambda: random.Random(0))
    plain: Run | None = None
    touched: dict[str, list[dict[tuple[Any, ...], Touch]]] = field(default_factory=dict)
    outside: set[tuple[int, int]] = field(default_factory=set)
    failed_checks: set[int] = field(default_factory=set)
    stack: list[tuple[str, int]] = field(default_factory=list)
    result: Any = None

    def go(self) -> Run:
        try:
            self.body(self.kernel.body)
        except Jump as jump:
            assert isinstance(jump.stmt, Return)
            self.result = [self.eval(value) for value in jump.stmt.values]
        return self

    # ---- statements

    def body(self, body: Body) -> None:
        for stmt in body:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign():
                self.values[stmt.name] = self.eval(stmt.value)
            case Store():
                index = self.index(stmt)
                value = self.eval(stmt.value)
                self.touch(stmt.array, index, True)
                self.values[stmt.array].cells[index] = value
            case Allocate():
                shape = tuple(self.eval(size) for size in stmt.shape)
                if any(size < 0 for size in shape):
                    raise Refused
                self.values[stmt.array] = Array(shape, {}, POISON if stmt.fill is None else stmt.fill.value)
            case If():
                self.body(stmt.then if self.eval(stmt.condition) else stmt.otherwise)
            case Block():
                try:
                    self.body(stmt.body)
                except Jump as jump:
                    if not (isinstance(jump.stmt, Leave) and jump.stmt.block == stmt.name):
                        raise
            case While():
                self.loop(stmt, None)
            case For():
                step = self.eval(stmt.step)
                if step == 0:
                    raise Refused
                self.loop(stmt, list(range(self.eval(stmt.lower), self.eval(stmt.upper), step)))
            case Break() | Continue() | Leave() | Return():
                raise Jump(stmt)

    def loop(self, loop: For | While, points: list[int] | None) -> None:
        self.touched.setdefault(loop.name, []).append({})
        facts = self.reorder.get(loop.name)
        if facts is not None and points:
            self.reordered(loop, facts, points)
            return
        count = 0
        while True:
            self.stack.append((loop.name, count))
            try:
                if points is None:
                    assert isinstance(loop, While)
                    if count > 50:
                        raise Refused
                    if not self.eval(loop.condition):
                        return
                elif count == len(points):
                    return
                else:
                    self.values[loop.name] = points[count]
                if not self.iteration(loop):
                    return
            finally:
                self.stack.pop()
            count += 1

    def iteration(self, loop: For | While) -> bool:
        """One iteration; False where the loop ends with it."""
        try:
            self.body(loop.body)
        except Jump as jump:
            if isinstance(jump.stmt, Break) and jump.stmt.loop == loop.name:
                return False
            if not (isinstance(jump.stmt, Continue) and jump.stmt.loop == loop.name):
                raise
        return True

    def reordered(self, loop: For | While, facts: LoopFacts, points: list[int]) -> None:
        """Iterations in a random order, each with its own private variables, reductions from partial results."""
        order = list(enumerate(points))
        self.random.shuffle(order)
        before = {name: self.values.get(name, POISON) for name in facts.private}
        last: dict[str, Any] = {}
        partials: list[list[Any]] = [[] for _ in facts.reductions]
        for count, point in order:
            self.stack.append((loop.name, count))
            for name in facts.private:
                old = before[name]
                self.values[name] = Array(old.shape, {}) if isinstance(old, Array) else POISON
            saved = [self.begin(reduction, loop.name) for reduction in facts.reductions]
            self.values[loop.name] = point
            assert self.iteration(loop), "a loop that breaks was called parallel"
            if count == len(points) - 1:
                last = {name: self.values[name] for name in facts.last}
            for reduction, old, collected in zip(facts.reductions, saved, partials, strict=True):
                part = self.values[reduction.target]
                collected.append(part)
                self.values[reduction.target] = old
                if isinstance(part, Array):
                    shared = self.shared(reduction.target, loop.name)
                    old.cells.update({index: v for index, v in part.cells.items() if index not in shared})
            self.stack.pop()
        self.values.update(before)
        self.values.update(last)
        for reduction, collected in zip(facts.reductions, partials, strict=True):
            self.random.shuffle(collected)
            self.end(reduction, collected, loop.name)

    def begin(self, reduction: Reduction, loop: str) -> Any:
        """Put a partial result in the place of a reduction's target; the target as it was."""
        old = self.values[reduction.target]
        identity = IDENTITY[reduction.op]
        if isinstance(old, Array):
            shared = self.shared(reduction.target, loop)
            rest = {index: value for index, value in old.cells.items() if index not in shared}
            self.values[reduction.target] = Array(old.shape, rest, identity)
        else:
            self.values[reduction.target] = identity
        return old

    def shared(self, array: str, loop: str) -> set[tuple[int, ...]]:
        """The elements of an array that several iterations touch, and some write, in this run of a loop: these are
        reduced into. Whatever belongs to one iteration alone is not."""
        assert self.plain is not None
        elements = self.plain.touched[loop][len(self.touched[loop]) - 1]
        return {
            index
            for (name, _, *index_), touch in elements.items()
            if name == array and touch.writes and len(touch.writes | touch.reads) > 1
            for index in [tuple(index_)]
        }

    def end(self, reduction: Reduction, collected: list[Any], loop: str) -> None:
        target = self.values[reduction.target]
        if isinstance(target, Array):
            shared = self.shared(reduction.target, loop)
            for part in collected:
                for index in part.cells.keys() & shared:
                    old = target.cells.get(index, target.fill)
                    target.cells[index] = COMBINE[reduction.op](old, part.cells[index])
            return
        for part in collected:
            target = COMBINE[reduction.op](target, part)
        self.values[reduction.target] = target

    # ---- expressions

    def index(self, node: Load | Store) -> tuple[int, ...]:
        array = self.values[node.array]
        result = []
        for axis, expr in enumerate(node.index):
            value, size = self.eval(expr), array.shape[axis]
            if not 0 <= value < size:
                self.outside.add((id(node), axis))
            if not -size <= value < size:
                raise Refused
            result.append(value % size)
        return tuple(result)

    def touch(self, array: str, index: tuple[int, ...], write: bool) -> None:
        for name, count in self.stack:
            note = self.touched[name][-1].setdefault((array, id(self.values[array]), *index), Touch())
            (note.writes if write else note.reads).add(count)

    def known(self, value: Any, what: str) -> Any:
        """A value that is there: in order, a missing one is the program's own fault."""
        if value is POISON and self.plain is None:
            raise Refused
        assert value is not POISON, f"{what} is read before it has a value"
        return value

    def eval(self, expr: Expr) -> Any:
        match expr:
            case Const():
                return expr.value
            case Var():
                value = self.values[expr.name]
                return self.known(value, expr.name)
            case Dim():
                return self.values[expr.array].shape[expr.axis]
            case Load():
                index = self.index(expr)
                self.touch(expr.array, index, False)
                array = self.values[expr.array]
                value = array.cells.get(index, array.fill)
                return self.known(value, f"an element of {expr.array}")
            case Unary():
                value = self.eval(expr.operand)
                return {"neg": lambda: -value, "not": lambda: not value, "abs": lambda: abs(value)}[expr.op]()
            case Binary():
                return BINARY[expr.op](self.eval(expr.left), self.eval(expr.right))
            case Compare():
                return COMPARE[expr.op](self.eval(expr.left), self.eval(expr.right))
            case Logical():
                left = self.eval(expr.left)
                return (left and self.eval(expr.right)) if expr.op == "and" else (left or self.eval(expr.right))
            case Select():
                return self.eval(expr.then if self.eval(expr.condition) else expr.otherwise)
            case Cast():
                value = self.eval(expr.operand)
                return float(value) if expr.type.is_float else int(value) if expr.type.is_integer else bool(value)
            case Checked():
                if not self.eval(expr.condition):
                    self.failed_checks.add(id(expr))
                    raise Refused
                return self.eval(expr.value)
            case Call():
                return BINARY[expr.function](*(self.eval(argument) for argument in expr.arguments))


BINARY: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": lambda a, b: a / b if b else 0.0,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "min": min,
    "max": max,
    "minimum": min,
    "maximum": max,
    "fmin": min,
    "fmax": max,
}
COMBINE = {**BINARY, "and": lambda a, b: a & b, "or": lambda a, b: a | b}
INFINITY = float("inf")
IDENTITY: dict[str, Any] = {
    "add": 0, "mul": 1, "or": 0, "xor": 0, "and": -1, "min": INFINITY, "minimum": INFINITY, "fmin": INFINITY,
    "max": -INFINITY, "maximum": -INFINITY, "fmax": -INFINITY,
}  # fmt: skip


# ---- questions ------------------------------------------------------------------------------------------------


def arguments(kernel: Kernel, chance: random.Random, largest: int) -> dict[str, Any]:
    """Random small sizes, scalars and whole-number data."""
    values: dict[str, Any] = {}
    sizes = [chance.randint(0, largest) for _ in range(3)]
    slack = chance.choice((0, 0, 2, 4, 12))  # or else most calls end at the first index
    for param in kernel.params:
        if isinstance(param, ArrayParam):
            own = param.rank - len(param.tail)
            shape = tuple(chance.choice(sizes) + slack for _ in range(own)) + tuple(size for size, _ in param.tail)
            top = 3 if param.element.is_integer else 9
            values[param.name] = Array(shape, _cells(shape, lambda top=top: chance.randint(0, top)))
        elif param.type.kind == "bool":
            values[param.name] = chance.random() < 0.5
        else:
            values[param.name] = chance.choice([*sizes, chance.randint(-2, largest)])
    return values


def _cells(shape: tuple[int, ...], value: Callable[[], Any]) -> dict[tuple[int, ...], Any]:
    indices: list[tuple[int, ...]] = [()]
    for size in shape:
        indices = [(*index, k) for index in indices for k in range(size)]
    return {index: value() for index in indices}


def copied(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if isinstance(value, Array) else value for name, value in values.items()}


def parameters(kernel: Kernel, guard: SizeGuard, values: dict[str, Any]) -> dict[str, int]:
    """The guard's parameters for a call with these values."""
    result = {}
    for name, (source, position, axis) in guard.parameters:
        param = next(p for p in kernel.params if p.argument == position)
        value = values[param.name]
        result[name] = value.shape[axis] if source == "size" else int(value)
    return result


@dataclass(frozen=True)
class Shaped:
    """Enough of an array to evaluate a guard's text."""

    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]


class C(int):
    """A number whose division cuts towards zero, as C's does."""

    def __add__(self, other: int) -> C:
        return C(int(self) + int(other))

    def __sub__(self, other: int) -> C:
        return C(int(self) - int(other))

    def __mul__(self, other: int) -> C:
        return C(int(self) * int(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: int) -> C:  # type: ignore[override]
        return C(abs(int(self)) // other * (1 if self >= 0 else -1))

    def __mod__(self, other: int) -> C:
        return self - (self / other) * other


def c_as_python(text: str) -> str:
    """The text with C's words replaced."""
    assert "?" not in text
    return text.replace("&&", "and").replace("||", "or")


def guard_holds(kernel: Kernel, guard: SizeGuard, values: dict[str, Any]) -> bool:
    """Evaluate the guard as C does. Its text must not promise more; ranges of 64 bits are far beyond these tests."""
    given = {name: C(value) for name, value in parameters(kernel, guard, values).items()}
    holds = bool(eval(c_as_python(guard.c_text) or "True", {}, given))
    text = re.sub(r"\S+ within 2\*\*\d+", "True", guard.text) or "True"
    names = {name: Shaped(value.shape) if isinstance(value, Array) else value for name, value in values.items()}
    assert holds or not eval(text, {"len": len}, names), "the guard's text says yes where its C says no"
    return holds


def conflicts(run: Run, loop: str, exempt: set[str]) -> set[str]:
    """Arrays of which two iterations of one run of a loop touch the same element, at least one of them writing."""
    found = set()
    for elements in run.touched.get(loop, []):
        for (array, *_), touch in elements.items():
            if array not in exempt and touch.writes and len(touch.writes | touch.reads) > 1:
                found.add(array)
    return found


def arrays_of(run: Run) -> dict[str, Any]:
    """The elements of the arguments after a run, and what it returned."""
    names = [param.name for param in run.kernel.arrays]
    return {"returned": run.result, **{name: run.values[name].cells for name in names}}


def witness(kernel: Kernel, facts: Facts, values: dict[str, Any]) -> None:
    """Assert that everything said about a kernel is true of one call."""
    try:
        plain = Run(kernel, copied(values)).go()
    except Refused:
        return
    if not guard_holds(kernel, facts.guard, values):
        assert violation(kernel, parameters(kernel, facts.guard, values)) is None, "a good call was called wrong"
        return
    for node, axis in plain.outside:
        bounds = facts.bounds[node][axis]
        assert bounds.kind == "checked" or bounds.may_be_negative, f"axis {axis} leaves its proven bounds"
        assert bounds.may_be_negative, "a negative index was called impossible"
    for name, loop in facts.loops.items():
        if loop.verdict in ("parallel", "reduction"):
            exempt = {r.target for r in loop.reductions} | set(loop.private) | set(loop.alike)
            assert not conflicts(plain, name, exempt), f"loop {name} is not {loop.verdict}"
            for seed in range(2):
                other = Run(kernel, copied(values), {name: loop}, random.Random(seed), plain).go()
                assert arrays_of(other) == arrays_of(plain), f"loop {name} out of order gives another result"
