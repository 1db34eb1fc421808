"""Random well-formed kernels (Hypothesis) of the whole IR, arguments for them, and what a run of one comes to.

Every loop ends soon. Indices are mostly inside their arrays, and checks mostly hold, but not always: how a kernel
fails is part of its meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

import numpy as np
from hypothesis import strategies as st

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    BinaryOp,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    CompareOp,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Function,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    LogicalOp,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    UnaryOp,
    Var,
    While,
)
from loopwright.ir.types import ALL, BOOL, INT64, Scalar

T = TypeVar("T")
TESTS: tuple[Function, ...] = ("isnan", "isinf", "isfinite", "signbit")
OF_TWO: tuple[Function, ...] = ("arctan2", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin")
OF_ONE: tuple[Function, ...] = tuple(f for f in get_args(Function) if f not in (*TESTS, *OF_TWO, "bits"))
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def whole(value: int) -> Const:
    return Const(value, INT64)


@dataclass(frozen=True)
class Maybe:
    """A local that may be unassigned, and its flag."""

    local: Var
    flag: Var


@dataclass(frozen=True)
class Scope:
    """What may be used at a place: scalars with a value, arrays (element, rank), locals that may be assigned, and
    the loops and blocks around it, the innermost last."""

    readable: tuple[Var, ...]
    arrays: tuple[tuple[str, Scalar, int], ...]
    assignable: tuple[Var, ...] = ()
    small: tuple[Var, ...] = ()
    loops: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    maybes: tuple[Maybe, ...] = ()

    def plus(self, *variables: Var) -> Scope:
        return replace(self, readable=(*self.readable, *variables))


@dataclass
class Maker:
    """Draws a kernel piece by piece."""

    draw: st.DrawFn
    returned: tuple[ReturnedScalar | ReturnedArray, ...] | None = None
    count: int = 0
    reads_left: int = 120
    types: tuple[Scalar, ...] = ALL

    def pick(self, *choices: T) -> T:
        return choices[self.draw(st.integers(0, len(choices) - 1))]

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # ---- expressions ------------------------------------------------------------------------------------------

    def const(self, type: Scalar) -> Const:
        if type == BOOL:
            return self.pick(TRUE, FALSE)
        if type.is_float:
            return Const(self.pick(0.0, 1.0, -0.0, 2.0, -1.5, 0.1, math.inf, math.nan), type)
        near = [value for value in (0, 1, 2, 3, 7, -1, -2, type.minimum, type.maximum) if value >= type.minimum]
        return Const(self.pick(*near), type)

    def leaf(self, type: Scalar, scope: Scope) -> Expr:
        found: list[Expr] = [var for var in scope.readable if var.type == type]
        found += [Cast(var, type) for var in scope.readable[-2:]] if not found else []
        for name, element, rank in scope.arrays:
            found += [Dim(name, axis) for axis in range(rank)] if type == INT64 and self.chance(30) else []
            if element == type and self.chance(60):
                index = tuple(self.pick(*scope.small, whole(0), whole(-1)) for _ in range(rank))
                found.append(Load(name, index, type))
        for maybe in scope.maybes:
            if maybe.local.type == type and self.chance(30):
                found.append(Checked(maybe.local, maybe.flag, "unassigned"))
        return self.pick(*found) if found and self.chance(85) else self.const(type)

    def expr(self, type: Scalar, scope: Scope, depth: int = 3) -> Expr:
        self.reads_left -= 1
        if depth == 0 or self.reads_left < 0 or self.chance(25):
            return self.leaf(type, scope)
        ways: list[Callable[[Scalar, Scope, int], Expr]] = [self.select, self.cast, self.checked, self.load]
        ways += [self.binary] * 4 + [self.unary]
        if type == BOOL:
            ways += [self.compare, self.compare, self.logical, self.logical, self.call]
        if type.is_float:
            ways += [self.call, self.call]
        return self.pick(*ways)(type, scope, depth - 1)

    def select(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        return Select(self.expr(BOOL, scope, depth), self.expr(type, scope, depth), self.expr(type, scope, depth))

    def cast(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        return Cast(self.expr(self.pick(*self.types), scope, depth), type)

    def checked(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        condition = Logical("or", self.expr(BOOL, scope, depth), self.pick(TRUE, TRUE, FALSE))
        kind = self.pick("zero_division", "overflow", "negative_power", "not_finite", "zero_step")
        return Checked(self.expr(type, scope, depth), condition, kind)

    def load(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        fitting = [array for array in scope.arrays if array[1] == type]
        if not fitting:
            return self.cast(type, scope, depth)
        name, _, rank = self.pick(*fitting)
        return Load(name, self.index(name, rank, scope, depth), type)

    def index(self, array: str, rank: int, scope: Scope, depth: int) -> tuple[Expr, ...]:
        return tuple(self.axis(array, axis, scope, depth) for axis in range(rank))

    def axis(self, array: str, axis: int, scope: Scope, depth: int) -> Expr:
        if scope.small and self.chance(30):
            return self.pick(*scope.small)
        if self.chance(15):
            return whole(self.pick(0, 1, -1, 2, -2))
        return Binary("mod", self.expr(INT64, scope, depth), Dim(array, axis))

    def unary(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        ops: list[UnaryOp] = ["not", "invert"] if type == BOOL else ["neg", "abs"]
        if type.is_integer:
            ops.append("invert")
        return Unary(self.pick(*ops), self.expr(type, scope, depth))

    def binary(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        ops: list[BinaryOp] = [op for op in get_args(BinaryOp) if op != "truediv"]
        if type == BOOL:
            ops = ["and", "or", "xor"]
        if type.is_float:
            ops = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "min", "max"]
        op = self.pick(*ops)
        left = self.expr(type, scope, depth)
        if op == "pow" and type.is_integer:
            return Binary(op, left, Const(self.pick(0, 1, 2, 3), type))
        return Binary(op, left, self.expr(type, scope, depth))

    def compare(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        of = self.pick(*self.types)
        return Compare(self.pick(*get_args(CompareOp)), self.expr(of, scope, depth), self.expr(of, scope, depth))

    def logical(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        return Logical(self.pick(*get_args(LogicalOp)), self.expr(BOOL, scope, depth), self.expr(BOOL, scope, depth))

    def call(self, type: Scalar, scope: Scope, depth: int) -> Expr:
        of = type if type.is_float else self.pick(*(scalar for scalar in ALL if scalar.is_float))
        function = self.pick(*(TESTS if type == BOOL else OF_ONE + OF_TWO))
        count = 2 if function in OF_TWO else 1
        return Call(function, tuple(self.expr(of, scope, depth) for _ in range(count)), type)

    def bound(self, scope: Scope) -> Expr:
        """A small number of either sign."""
        if scope.small and self.chance(30):
            return self.pick(*scope.small)
        if self.chance(30):
            return Binary("max", Binary("min", self.expr(INT64, scope, 1), whole(3)), whole(-2))
        sizes = [Dim(name, axis) for name, _, rank in scope.arrays for axis in range(rank)]
        return self.pick(*sizes) if sizes and self.chance(60) else whole(self.pick(0, 3, -1))

    # ---- statements -------------------------------------------------------------------------------------------

    def body(self, scope: Scope, depth: int) -> Body:
        made: list[Stmt] = []
        for _ in range(self.pick(1, 2, 3, 4) if depth else self.pick(0, 1, 2)):
            scope, new = self.stmt(scope, depth)
            made += new
        if (scope.loops or scope.blocks) and self.chance(25):
            made.append(self.jump(scope))
        return tuple(made)

    def stmt(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        ways = [self.assign, self.assign, self.store, self.store]
        if depth:
            ways += [self.loop, self.loop, self.while_, self.branch, self.branch, self.block, self.allocate]
            ways += [self.assign_maybe] if scope.maybes else []
        return self.pick(*ways)(scope, depth - 1)

    def assign(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        known = scope.assignable and self.chance(70)
        target = self.pick(*scope.assignable) if known else Var(self.name("v"), self.pick(*self.types))
        stmt = Assign(target.name, self.expr(target.type, scope))
        if known:
            return scope, (stmt,)
        return replace(scope.plus(target), assignable=(*scope.assignable, target)), (stmt,)

    def assign_maybe(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        maybe = self.pick(*scope.maybes)
        value = self.expr(maybe.local.type, scope, 1)
        return scope, (Assign(maybe.local.name, value), Assign(maybe.flag.name, TRUE))

    def store(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        name, element, rank = self.pick(*scope.arrays)
        return scope, (Store(name, self.index(name, rank, scope, 1), self.expr(element, scope)),)

    def allocate(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        name, element, rank = self.name("t"), self.pick(*self.types), self.pick(1, 1, 2)
        shape = tuple(Binary("max", self.bound(scope), whole(self.pick(0, 1, -1))) for _ in range(rank))
        made = Allocate(name, element, shape, self.const(element))
        return replace(scope, arrays=(*scope.arrays, (name, element, rank))), (made,)

    def loop(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        i = Var(self.name("i"), INT64)
        inside = replace(scope.plus(i), small=(*scope.small, i), loops=(*scope.loops, i.name))
        step = whole(self.pick(1, 1, 1, 2, -1, -2))
        run = self.pick("sequential", "sequential", "parallel", "vector")
        bounds = self.bound(scope), self.bound(scope)
        return scope, (For(i.name, *bounds, step, self.body(inside, depth), self.chance(20), run),)

    def while_(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        k, name = Var(self.name("k"), INT64), self.name("w")
        inside = replace(scope.plus(k), small=(*scope.small, k), loops=(*scope.loops, name))
        condition: Expr = Compare("lt", k, whole(self.pick(0, 1, 3)))
        if self.chance(50):
            condition = Logical("and", condition, self.expr(BOOL, scope, 1))
        count = Assign(k.name, Binary("add", k, whole(1)))
        return scope, (Assign(k.name, whole(0)), While(name, condition, (count, *self.body(inside, depth))))

    def branch(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        otherwise = self.body(scope, depth) if self.chance(50) else ()
        return scope, (If(self.expr(BOOL, scope, 2), self.body(scope, depth), otherwise),)

    def block(self, scope: Scope, depth: int) -> tuple[Scope, Body]:
        name = self.name("b")
        return scope, (Block(name, self.body(replace(scope, blocks=(*scope.blocks, name)), depth)),)

    def jump(self, scope: Scope) -> Stmt:
        ways: list[Stmt] = [Leave(block) for block in scope.blocks]
        ways += [Break(scope.loops[-1]), Continue(scope.loops[-1]), Continue(scope.loops[-1])] if scope.loops else []
        return self.return_(scope) if self.chance(10) else self.pick(*ways)

    def return_(self, scope: Scope) -> Return:
        parts = [part for part in self.returned or () if isinstance(part, ReturnedScalar)]
        return Return(tuple(self.expr(part.type, scope, 1) for part in parts))


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """Any well-formed kernel, small and quickly over."""
    make = Maker(draw)
    make.types = (INT64, BOOL, make.pick(*ALL), make.pick(*ALL))  # few types, so that values meet
    arrays = [
        ArrayParam(make.name("a"), make.pick(*make.types), position, make.pick(0, 1, 1, 1, 2, 2), "strided")
        for position in range(make.pick(1, 2, 3))
    ]
    first = len(arrays)
    scalars = [
        ScalarParam(make.name("n"), make.pick(INT64, *make.types), first + k) for k in range(make.pick(0, 1, 2, 3))
    ]
    results = [
        ResultArray(make.name("r"), element := make.pick(*make.types), _result_shape(make, arrays), make.const(element))
        for _ in range(make.pick(0, 0, 1))
    ]
    make.returned = _returned(make, [array.name for array in (*arrays, *results)])
    maybes = tuple(
        Maybe(Var(name := make.name("m"), make.pick(*make.types)), Var(f"{name}.set", BOOL))
        for _ in range(make.pick(0, 0, 1))
    )
    named = [(array.name, array.element, array.rank) for array in (*arrays, *results)]
    scope = Scope(tuple(Var(n.name, n.type) for n in scalars), tuple(named), maybes=maybes)
    flags = tuple(Assign(maybe.flag.name, FALSE) for maybe in maybes)
    body = (*flags, *make.body(scope, 3), make.return_(scope))
    tupled = make.returned is not None and (len(make.returned) != 1 or make.chance(30))
    params = (*arrays, *scalars)
    return Kernel("random", params, body, tuple(results), make.returned, tupled, overlap=make.chance(10))


def _result_shape(make: Maker, arrays: list[ArrayParam]) -> tuple[Expr, ...]:
    dims: list[Expr] = [Dim(array.name, axis) for array in arrays for axis in range(array.rank)]
    return tuple(Binary("add", make.pick(whole(2), *dims), whole(0)) for _ in range(make.pick(0, 1, 2)))


def _returned(make: Maker, arrays: list[str]) -> tuple[ReturnedScalar | ReturnedArray, ...] | None:
    if make.chance(30):
        return None
    ways = [lambda: ReturnedScalar(make.pick(*make.types), make.chance(50)), lambda: ReturnedArray(make.pick(*arrays))]
    return tuple(make.pick(*ways)() for _ in range(make.pick(0, 1, 1, 2)))


# ---- running --------------------------------------------------------------------------------------------------


def arguments_for(kernel: Kernel, seed: int) -> list[object]:
    """Fresh arguments: small arrays, some of them empty, with small whole numbers and a few edges in them."""
    rng = np.random.default_rng(seed)
    found: list[object] = []
    for param in kernel.params:
        if isinstance(param, ScalarParam):
            found.append(param.type.dtype.type(_values(rng, param.type, ())))
            continue
        shape = tuple(rng.choice([0, 1, 2, 3, 3, 4], param.rank))
        found.append(_values(rng, param.element, shape))
    return found


def _values(rng: np.random.Generator, type: Scalar, shape: tuple[int, ...]) -> np.ndarray:
    edges = [math.nan, math.inf, -math.inf, -0.0, 0.5] if type.is_float else [type.minimum, type.maximum]
    small = rng.integers(0 if type.kind in ("uint", "bool") else -4, 2 if type == BOOL else 5, shape)
    return np.where(rng.random(shape) < 0.15, rng.choice(np.array(edges, type.dtype), shape), small.astype(type.dtype))


def outcome(kernel: Kernel, seed: int) -> str:
    """What a run comes to, as text: the arrays afterwards, and the result or the error."""
    arguments = arguments_for(kernel, seed)
    try:
        result = repr(interpret(kernel, arguments))
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return "\n".join([*map(repr, arguments), result])
