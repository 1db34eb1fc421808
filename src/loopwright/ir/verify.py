"""Is a kernel well formed? Every invariant that `ir/nodes.py` states, tested; everything after the front end relies
on it. It says nothing of what the kernel does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, assert_never

from loopwright.errors import LoopwrightError, SourcePlace, describe
from loopwright.ir.assigned import Unassigned, falls_through
from loopwright.ir.nodes import (
    Allocate,
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
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.printing import print_expr, print_stmt
from loopwright.ir.types import BITS, BOOL, INT64, Scalar
from loopwright.ir.walk import bodies, children, expressions, own_expressions, statements, subexpressions

_TESTS = ("isnan", "isinf", "isfinite", "signbit")
_OF_TWO = ("arctan2", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin")


@dataclass(eq=False)
class VerifyError(LoopwrightError):
    """A kernel breaks an invariant: a fault of whoever made it, never of the user. `node` is the text of where."""

    invariant: str
    node: str
    at: SourcePlace | None = None

    def __str__(self) -> str:
        return describe("VerifyError", f"{self.invariant}: {self.node}", self.at)


def verify(kernel: Kernel) -> None:
    """Raises VerifyError for the first invariant that does not hold."""
    checker = _Checker(kernel)
    checker.signature()
    checker.body(kernel.body, (), ())
    checker.balanced()
    try:
        falls = falls_through(kernel)
    except Unassigned as fault:
        _fail(f"'{fault.name}' has a value before it is needed", fault.stmt)
    if falls and any(isinstance(part, ReturnedScalar) for part in kernel.returned or ()):
        raise VerifyError("every path returns the scalars that the kernel returns", f"the end of {kernel.name}")


def _fail(invariant: str, where: Stmt | ResultArray) -> NoReturn:
    text = where.name if isinstance(where, ResultArray) else print_stmt(where).split("\n")[0]
    raise VerifyError(invariant, text, where.at)


class _Checker:
    """`scalars`: type of each scalar parameter, local and loop variable; `arrays`: element and rank of each array."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.scalars: dict[str, Scalar] = {}
        self.arrays: dict[str, tuple[Scalar, int]] = {}
        self.occurrences: set[int] = set()  # of Load, Store and Checked, by identity
        self.where: Stmt | ResultArray = Return()
        self._names()

    def require(self, holds: bool, invariant: str, expr: Expr | None = None) -> None:
        """`expr`: the expression at fault, where it is not the whole statement."""
        if holds:
            return
        if expr is None:
            _fail(invariant, self.where)
        raise VerifyError(invariant, print_expr(expr), getattr(expr, "at", None) or self.where.at)

    def _names(self) -> None:
        """Collect every name with its type; each is given once, a local by any number of Assigns of one type."""
        taken: set[str] = set()

        def give(name: str) -> None:
            self.require(name not in taken, f"every name is unique, '{name}' is not")
            taken.add(name)

        for param in self.kernel.params:
            give(param.name)
            if isinstance(param, ScalarParam):
                self.scalars[param.name] = param.type
            else:
                self.arrays[param.name] = (param.element, param.rank)
        for result in self.kernel.results:
            give(result.name)
            self.arrays[result.name] = (result.element, result.rank)
        for stmt in statements(self.kernel.body):
            self.where = stmt
            match stmt:
                case For():
                    give(stmt.name)
                    self.scalars[stmt.name] = INT64
                case While() | Block():
                    give(stmt.name)
                case Allocate():
                    give(stmt.array)
                    self.arrays[stmt.array] = (stmt.element, len(stmt.shape))
        self._locals(taken)

    def _locals(self, taken: set[str]) -> None:
        for stmt in statements(self.kernel.body, Assign):
            self.where = stmt
            self.require(stmt.name not in taken, "only a local is assigned")
            first = self.scalars.setdefault(stmt.name, stmt.value.type)
            self.require(first == stmt.value.type, f"a local has one type, '{stmt.name}' has {first}")
        for expr in expressions(self.kernel.body, Checked):  # a local that is read under a flag and never assigned
            if expr.kind == "unassigned" and isinstance(expr.value, Var):
                self.scalars.setdefault(expr.value.name, expr.value.type)

    # ---- the kernel's outside ---------------------------------------------------------------------------------

    def signature(self) -> None:
        """Parameters, results and what is returned."""
        given = {param.name for param in self.kernel.params}
        for array in self.kernel.arrays:
            self.require(0 <= len(array.tail) <= array.rank, f"'{array.name}' has the axes of its tail")
        taken = [param.argument for param in self.kernel.scalars]
        self.require(len(set(taken)) == len(taken), "every scalar parameter is an argument of its own")
        self.require(not {a.argument for a in self.kernel.arrays} & set(taken), "an argument is an array or a scalar")
        for result in self.kernel.results:
            self.where = result
            for size in result.shape:
                self.expr(size)
                for expr in subexpressions(size):
                    self.require(_known_at_call(expr, given), "a result's shape is known at the call", expr)
            self.made(result)
        self.returned()

    def returned(self) -> None:
        """What is returned exists, and is one thing unless it is a tuple."""
        self.where = Return()
        parts = self.kernel.returned
        whole = {array.name for array in self.kernel.arrays} | {result.name for result in self.kernel.results}
        for part in parts or ():
            if isinstance(part, ReturnedArray):
                self.require(part.name in whole, f"returned array '{part.name}' is a parameter or a result")
        if parts is None or len(parts) != 1:
            self.require(self.kernel.returns_tuple == (parts is not None), "one value is returned, or a tuple")

    def made(self, made: Allocate | ResultArray) -> None:
        """The shape and fill of an array that is made."""
        for size in made.shape:
            self.require(size.type == INT64, "the sizes of an array are int64", size)
        if made.fill is not None:
            self.expr(made.fill)
            self.require(made.fill.type == made.element, "an array is filled with a value of its type", made.fill)

    # ---- statements -------------------------------------------------------------------------------------------

    def body(self, body: Body, loops: tuple[str, ...], blocks: tuple[str, ...]) -> None:
        """`loops` and `blocks` are around it, the innermost last."""
        for stmt in body:
            self.where = stmt
            for expr in own_expressions(stmt):
                self.expr(expr)
            self.stmt(stmt, loops, blocks)
            inner_loops = (*loops, stmt.name) if isinstance(stmt, For | While) else loops
            inner_blocks = (*blocks, stmt.name) if isinstance(stmt, Block) else blocks
            for inner in bodies(stmt):
                self.body(inner, inner_loops, inner_blocks)

    def stmt(self, stmt: Stmt, loops: tuple[str, ...], blocks: tuple[str, ...]) -> None:
        match stmt:
            case Assign() | Block():
                return
            case Store():
                self.once(stmt)
                self.element(stmt.array, stmt.index, stmt.value.type)
            case Allocate():
                self.made(stmt)
                axes = len(stmt.shape) if stmt.original is None else len(stmt.original.axes)
                self.require(axes == len(stmt.shape), "each axis of a local array is one of its original")
            case For():
                for bound in own_expressions(stmt):
                    self.require(bound.type == INT64, "the bounds and the step of a loop are int64", bound)
                self.require(stmt.step != Const(0, INT64), "a step is not 0")
            case While() | If():
                self.require(stmt.condition.type == BOOL, "a condition is a bool", stmt.condition)
            case Break() | Continue():
                self.require(loops[-1:] == (stmt.loop,), "break and continue name the innermost loop around them")
            case Leave():
                self.require(stmt.block in blocks, "leave names a block around it")
            case Return():
                wanted = [part.type for part in self.kernel.returned or () if isinstance(part, ReturnedScalar)]
                self.require([value.type for value in stmt.values] == wanted, "return gives what the kernel returns")
            case _:
                assert_never(stmt)

    def balanced(self) -> None:
        """A loop over rows and the one over their entries come together, and say how large the part of a block is."""
        held: set[int] = set()
        for loop in (stmt for stmt in statements(self.kernel.body, For)):
            self.where = loop
            entries = [id(inner) for inner in loop.body if isinstance(inner, For) and inner.run == "entries"]
            self.require(len(entries) == (loop.run == "balanced"), "a balanced loop holds one loop over entries")
            self.require(loop.run != "entries" or id(loop) in held, "a loop over entries stands in a balanced one")
            sized = loop.run not in ("balanced", "entries") or loop.threads > 0
            self.require(sized, "a balanced loop says how many threads and entries a block has")
            held.update(entries)

    def once(self, node: Load | Store | Checked) -> None:
        """Facts are kept by the identity of these."""
        expr = None if isinstance(node, Store) else node
        self.require(id(node) not in self.occurrences, "a Load, Store or Checked stands in one place only", expr)
        self.occurrences.add(id(node))

    def element(self, array: str, index: tuple[Expr, ...], type: Scalar, expr: Expr | None = None) -> None:
        """An access to an element."""
        self.require(array in self.arrays, f"an array is known, '{array}' is not", expr)
        element, rank = self.arrays[array]
        self.require(type == element, f"the elements of '{array}' are {element}", expr)
        self.require(len(index) == rank, f"'{array}' takes {rank} indices", expr)
        for axis in index:
            self.require(axis.type == INT64, "an index is an int64", axis)

    # ---- expressions ------------------------------------------------------------------------------------------

    def expr(self, expr: Expr) -> None:
        for child in children(expr):
            self.expr(child)
        match expr:
            case Const():
                self.require(_fits(expr), f"a literal is a value of its type, {expr.type}", expr)
            case Var():
                known = self.scalars.get(expr.name)
                self.require(known == expr.type, f"'{expr.name}' is {known or 'not a scalar'}, not {expr.type}", expr)
            case Dim():
                rank = self.arrays[expr.array][1] if expr.array in self.arrays else 0
                self.require(0 <= expr.axis < rank, "an array has the axis whose size is asked", expr)
            case Load():
                self.once(expr)
                self.element(expr.array, expr.index, expr.type, expr)
            case Cast():
                pass
            case Call():
                self.call(expr)
            case Checked():
                self.once(expr)
                self.require(expr.condition.type == BOOL, "a condition is a bool", expr)
            case Unary() | Binary() | Compare() | Logical() | Select():
                self.operator(expr)
            case _:
                assert_never(expr)

    def call(self, expr: Call) -> None:
        self.require(len(expr.arguments) == 1 + (expr.function in _OF_TWO), "a function has its arguments", expr)
        type = expr.arguments[0].type
        same = all(argument.type == type for argument in expr.arguments)
        is_bits = expr.function == "bits" and type.name in BITS
        self.require(same and (type.is_float or is_bits), "arguments are of one float type", expr)
        result = BOOL if expr.function in _TESTS else BITS[type.name] if is_bits else type
        self.require(expr.type == result, f"the result is {result}", expr)

    def operator(self, expr: Unary | Binary | Compare | Logical | Select) -> None:
        match expr:
            case Unary():
                self.require(_UNARY[expr.op](expr.type), f"'{expr.op}' is not of {expr.type}", expr)
            case Binary() | Compare():
                left, right = expr.left.type, expr.right.type
                self.require(left == right, f"operands have one type, not {left} and {right}", expr)
                allowed = isinstance(expr, Compare) or _binary_allows(expr, left)
                self.require(allowed, f"'{expr.op}' is not of {left}", expr)
            case Logical():
                bools = expr.left.type == BOOL and expr.right.type == BOOL
                self.require(bools, "lazy 'and' and 'or' are of bools", expr)
            case Select():
                self.require(expr.condition.type == BOOL, "a condition is a bool", expr)
                self.require(expr.then.type == expr.otherwise.type, "both sides have one type", expr)
            case _:
                assert_never(expr)


def _known_at_call(expr: Expr, given: set[str]) -> bool:
    match expr:
        case Var():
            return expr.name in given
        case Dim():
            return expr.array in given
        case _:
            return not isinstance(expr, Load)


_UNARY: dict[str, Callable[[Scalar], bool]] = {
    "neg": lambda type: type != BOOL,
    "abs": lambda type: type != BOOL,
    "invert": lambda type: not type.is_float,
    "not": lambda type: type == BOOL,
}


def _binary_allows(expr: Binary, type: Scalar) -> bool:
    if expr.op in ("and", "or", "xor"):
        return not type.is_float
    if expr.op in ("shl", "shr"):
        return type.is_integer
    return type.is_float if expr.op == "truediv" else type != BOOL


def _fits(const: Const) -> bool:
    value, type = const.value, const.type
    if type == BOOL or isinstance(value, bool):
        return type == BOOL and isinstance(value, bool)
    if type.is_float or isinstance(value, float):
        return type.is_float and isinstance(value, float)
    return isinstance(value, int) and type.minimum <= value <= type.maximum
