"""The whole grammar of the IR: frozen nodes of a structured loop tree. It owns shapes, not meaning.

The meaning is `ir/interp.py`; the invariants stated here are checked by `ir/verify.py`; the text form is
`ir/text.py`.

    kernel := name, parameters, results, body, returned
    param  := ScalarParam | ArrayParam            result := ResultArray
    stmt   := Assign | Store | Allocate | For | While | If | Block
            | Break | Continue | Leave | Return
    expr   := Const | Var | Dim | Load | Unary | Binary | Compare | Logical | Select | Cast | Call | Checked

Invariants. Every name (scalar, array, loop, block) is unique in its kernel. A loop's variable has the loop's
name, is an int64, and is only ever written by its loop. Operands of Binary and Compare have one and the same
type (shifts included); conversions are always explicit Casts. Expressions have no effects, but a Load, a Checked
and an integer conversion may fail, so And, Or and Select evaluate lazily, left to right.

Integers wrap modulo 2**bits, always. Integer floordiv and mod round to minus infinity; by zero both give 0, and
the least integer by -1 wraps (NumPy's meaning). Shifts by the width or more give 0 (or -1 for a negative left
operand of `>>`); by a negative amount likewise. Floats are IEEE; floordiv and mod of floats are NumPy's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from loopwright.errors import NUMBER
from loopwright.ir.by_identity import Answering
from loopwright.ir.location import Location as Location
from loopwright.ir.types import BOOL, INT64, Scalar


def _at() -> Location | None:
    return field(default=None, compare=False, kw_only=True, repr=False)


def _key() -> object:
    """What an access keeps when it is copied or renamed: copies in restructured code are known to be the same one."""
    return field(default_factory=object, compare=False, kw_only=True, repr=False)


# ---- expressions: each knows its type -------------------------------------------------------------------------

UnaryOp = Literal["neg", "invert", "not", "abs"]
BinaryOp = Literal[
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "shl", "shr", "min", "max"
]
CompareOp = Literal["eq", "ne", "lt", "le", "gt", "ge"]
LogicalOp = Literal["and", "or"]
CheckKind = Literal[
    "zero_division",
    "overflow",
    "unassigned",
    "negative_power",
    "negative_shift",
    "zero_step",
    "not_finite",
    "index",
    "shape",
    "reshaped",
    "unpack",
    "empty",
    "resized",
    "none",
    "pop",
    "memory",
    "raised",
    "negative_size",
]
Function = Literal[
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh",
    "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "hypot", "copysign", "fmod",
    "maximum", "minimum", "fmax", "fmin", "isnan", "isinf", "isfinite", "signbit",
    "erf", "erfc", "gamma", "lgamma", "bits",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Const(Answering):
    """A literal. `value` is a Python bool, int (within the type) or float according to the type's kind."""

    value: bool | int | float
    type: Scalar

    def __eq__(self, other: object) -> bool:  # tells -0.0 from 0.0 and True from 1; NaN equals itself
        return isinstance(other, Const) and (self.type, repr(self.value)) == (other.type, repr(other.value))

    def __hash__(self) -> int:
        return hash((self.type, repr(self.value)))


@dataclass(frozen=True, slots=True)
class Var(Answering):
    """A scalar parameter, a scalar local, or the variable of an enclosing loop (then of type int64)."""

    name: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Dim(Answering):
    """The size of axis `axis` of an array, in elements: int64, never negative, fixed for the whole call."""

    array: str
    axis: int

    @property
    def type(self) -> Scalar:
        return INT64


@dataclass(frozen=True, slots=True)
class Load(Answering):
    """An element. Each index is an int64 and Python's: -size <= index < size, a negative one counts from the
    end, anything else is a BoundsError."""

    array: str
    index: tuple[Expr, ...]
    type: Scalar
    at: Location | None = _at()
    key: object = _key()


@dataclass(frozen=True, slots=True)
class Unary(Answering):
    """neg, abs: integers and floats. invert: integers and bool (logical). not: bool."""

    op: UnaryOp
    operand: Expr

    @property
    def type(self) -> Scalar:
        return self.operand.type


@dataclass(frozen=True, slots=True)
class Binary(Answering):
    """Both operands and the result have one type. On bool: and, or, xor only (NumPy's `+` and `*` on bools are
    written as or and and). truediv: floats only. pow: an integer base needs an exponent >= 0 (a Checked).
    min(a, b) is `b if b < a else a`, max(a, b) is `b if b > a else a`: Python's, NaN included."""

    op: BinaryOp
    left: Expr
    right: Expr

    @property
    def type(self) -> Scalar:
        return self.left.type


@dataclass(frozen=True, slots=True)
class Compare(Answering):
    """Operands of one type (bool, integer or float); a comparison with NaN is false, except `ne`."""

    op: CompareOp
    left: Expr
    right: Expr

    @property
    def type(self) -> Scalar:
        return BOOL


@dataclass(frozen=True, slots=True)
class Logical(Answering):
    """Short-circuit `and`, `or` on bools."""

    op: LogicalOp
    left: Expr
    right: Expr

    @property
    def type(self) -> Scalar:
        return BOOL


@dataclass(frozen=True, slots=True)
class Select(Answering):
    """`then if condition else otherwise`; only the chosen side is evaluated. Both sides have one type."""

    condition: Expr
    then: Expr
    otherwise: Expr

    @property
    def type(self) -> Scalar:
        return self.then.type


@dataclass(frozen=True, slots=True)
class Cast(Answering):
    """Conversion as NumPy's astype: to bool `!= 0`; between integers wraps; float to integer truncates towards
    zero, and gives int64's least value (wrapped to the type) for NaN and for what int64 (or uint64) cannot hold."""

    operand: Expr
    type: Scalar


@dataclass(frozen=True, slots=True)
class Call(Answering):
    """A mathematical function of floats: arguments of one float type; the result has that type, or bool for
    isnan, isinf, isfinite, signbit. bits: of a float the integer that is kept in the same bytes, of an int32 or int64
    the float. maximum and minimum carry NaN through, fmax and fmin drop it."""

    function: Function
    arguments: tuple[Expr, ...]
    type: Scalar


@dataclass(frozen=True, slots=True)
class Checked(Answering):
    """`value`, provided that `condition` (evaluated first) is true; else the error named by `kind` at `at`. raised: of
    kind "raised", the user's exception: the name of its class, a colon, a space, and what it says. second: where it
    tells two numbers, the second one; the first is `value`."""

    value: Expr
    condition: Expr
    kind: CheckKind
    raised: str = ""
    second: Expr | None = None
    at: Location | None = _at()
    key: object = _key()

    @property
    def type(self) -> Scalar:
        return self.value.type

    @property
    def converted(self) -> Expr | None:
        """The number that does not fit where a conversion to an integer fails: the error names it."""
        if not isinstance(self.value, Cast) or not self.type.is_integer:
            return None
        operand = self.value.operand
        is_ours = operand.type.is_integer if self.kind == "overflow" else operand.type.is_float
        return operand if is_ours and self.kind in ("overflow", "not_finite") else None

    @property
    def told(self) -> Expr | None:
        """The number that the error tells: one that does not fit, or the one in what the user's exception says."""
        return self.value if NUMBER in self.raised else self.converted


Expr = Const | Var | Dim | Load | Unary | Binary | Compare | Logical | Select | Cast | Call | Checked

# ---- statements -----------------------------------------------------------------------------------------------

Run = Literal[
    "sequential", "parallel", "vector", "block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z",
    "balanced", "entries", "sorted", "lockstep", "off_gpu",
]  # fmt: skip
"""One after the other; on several CPU threads; in vector lanes; one iteration for each block of a GPU grid; shared out
among the threads of a block. A `balanced` loop over rows holds one loop over their `entries`: each block of a grid
takes an equal part of rows and entries together. A `sorted` loop, of one iteration, and those in
it sort by counting: a GPU does it with kernels of its own (steps/redirect.py). Iterations of a loop in `lockstep` go on
together, in vector lanes, until the loop that each of them runs has ended (steps/lockstep.py). A GPU does not run a
loop `off_gpu`: it leaves the whole call to the CPU when it comes there, which begins it anew
(steps/bucket.py)."""
Asserted = bool | Literal["independent"]


@dataclass(frozen=True, slots=True)
class Assign(Answering):
    """Give a scalar local its value. A local exists from its first Assign on; `verify` shows it is never read
    before on any path (the front end adds a Checked of kind 'unassigned' where that is not certain)."""

    name: str
    value: Expr
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Store(Answering):
    """Write an element. The order is: the indices from left to right, then the value, then the write."""

    array: str
    index: tuple[Expr, ...]
    value: Expr
    at: Location | None = _at()
    key: object = _key()


RESERVED = 2**27
"""An Allocate of this many elements reserves addresses for a list: mostly little of it is used."""


@dataclass(frozen=True, slots=True)
class Original:
    """The array whose elements a local one holds meanwhile, in another layout: axis k of the local array is axis
    `axes[k]` of this one. Errors name it, and not the local one."""

    array: str
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Allocate(Answering):
    """A fresh local array, anew each time the statement runs. Sizes are int64; a negative size is an error of
    kind ValueError. `fill` is the value of every element, or None where it is not defined (np.empty). `double` is
    how code is to be generated for it (set by steps): a block of a GPU has two of them in shared memory, and fills
    one for the next iteration of the loop around it while it uses the other one. `original`: of one that `relayout`
    has made."""

    array: str
    element: Scalar
    shape: tuple[Expr, ...]
    fill: Const | None
    double: bool = False
    original: Original | None = None
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class For(Answering):
    """`for name in range(lower, upper, step)`: the bounds are int64, evaluated once, before the first
    iteration; a step of 0 is caught by a Checked. `asserted`: the user wrote prange, or the step that made the loop
    (`scan`) has found that its iterations need no order; "independent": it has found (`redirect`) that none of them
    touches an element that another one writes, though the text of the loop does not tell. `run` is how code is to be
    generated for it (set by steps, never by the front end); `threads`: among how many threads of a block its iterations
    are shared out, 0 for as many as it has iterations; of `balanced` the threads of a block, of `entries` how many rows
    and entries a block takes, of `lockstep` in how many vectors iterations go on."""

    name: str
    lower: Expr
    upper: Expr
    step: Expr
    body: Body
    asserted: Asserted = False
    run: Run = "sequential"
    threads: int = 0
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class While(Answering):
    """Evaluate the condition, run the body, again. `name` is for Break, Continue and for reports."""

    name: str
    condition: Expr
    body: Body
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class If(Answering):
    """Run `then` where the condition is true, else `otherwise`."""

    condition: Expr
    then: Body
    otherwise: Body = ()
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Block(Answering):
    """A stretch of statements that Leave(name) ends early: an inlined function body with inner returns."""

    name: str
    body: Body
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Break(Answering):
    """End the enclosing loop named `loop` (always the innermost one)."""

    loop: str
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Continue(Answering):
    """Go on with the next iteration of the enclosing loop named `loop` (always the innermost one)."""

    loop: str
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Leave(Answering):
    """Go on after the enclosing Block named `block`."""

    block: str
    at: Location | None = _at()


@dataclass(frozen=True, slots=True)
class Return(Answering):
    """End the kernel; one value for each ReturnedScalar of `kernel.returned`, in order."""

    values: tuple[Expr, ...] = ()
    at: Location | None = _at()


Stmt = Assign | Store | Allocate | For | While | If | Block | Break | Continue | Leave | Return
Body = tuple[Stmt, ...]

# ---- the kernel -----------------------------------------------------------------------------------------------

Layout = Literal["C", "F", "last", "first", "strided"]


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A scalar argument. `argument` is its position in the call."""

    name: str
    type: Scalar
    argument: int


@dataclass(frozen=True, slots=True)
class ArrayParam:
    """An array argument, or one field of an array of records (named `p.x`; each field is an array of its own).

    `argument` is the position in the call; `offset` the field's byte offset; `tail` the (size, stride in bytes)
    of the trailing axes that a sub-array field adds: `rank` counts them. `layout` is a promise of the call:
    C or F contiguous, `last`/`first` axis contiguous with any outer strides, or `strided` (any strides, in
    bytes). `aligned` promises natural alignment of every element. Arrays with different `argument` share no
    element, unless `Kernel.overlap` is true; the same array passed twice has one ArrayParam.
    """

    name: str
    element: Scalar
    argument: int
    rank: int
    layout: Layout = "C"
    aligned: bool = True
    offset: int = 0
    tail: tuple[tuple[int, int], ...] = ()

    @property
    def is_pairs(self) -> bool:
        """Whether it is known to be an array of complex numbers, side by side along its last axis: pairs of floats. No
        layout is promised of records."""
        return self.tail == ((2, self.element.size_bytes),) and self.aligned and self.layout in ("C", "last")


@dataclass(frozen=True, slots=True)
class ResultArray:
    """An array that the call allocates (C layout) before the body runs, and returns. `shape` uses only scalar
    parameters, Dims and constants. `fill` as in Allocate."""

    name: str
    element: Scalar
    shape: tuple[Expr, ...]
    fill: Const | None
    at: Location | None = _at()

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class ReturnedScalar:
    """A returned scalar: as a Python bool/int/float where `python` is true, else as a NumPy scalar of `type`."""

    type: Scalar
    python: bool


@dataclass(frozen=True, slots=True)
class ReturnedArray:
    """A returned array: the ResultArray of this name, or the ArrayParam of this name (the argument itself)."""

    name: str


GuardKind = Literal["all", "sizes", "none"]


@dataclass(frozen=True, slots=True)
class Kernel(Answering):
    """One function, specialised to the types of a call. `returned` is None where the function returns None, and
    `returns_tuple` tells `return x,` from `return x`. `packing`: where what is returned is no flat tuple, how it is
    made of `returned`, in postfix order: ("value", k) is the k-th of these, ("tuple", n) a tuple of the last n things,
    ("module:name", 0) the tuple before it as one of this class, ("none", 0) None, ("maybe", 0) the thing before the
    last one, or None where the last one is false, ("list", 0) the array or tuple before it as a list, ("list", 1) as
    one of NumPy's scalars, ("zip", n) the last n lists as one of tuples, ("set", 0) the list before it as a set,
    ("dict", 0) the two before it as keys and values, ("cut", n) the array before the last n things, cut to these sizes
    along its first axes, ("view", n) a part of the array before the last n things: where it begins along each axis, and
    for each axis of the part its size and how far it steps along each axis of the array, ("complex", 2) the last two
    floats as a complex number, ("complex", 1) the array of pairs before it as one of complex numbers, ("complex", 0)
    the other way round. `overlap`: arguments may share memory in ways that the names do not show, so nothing may be
    reordered. `guard`: which conditions on their sizes calls may be asked to keep to: all that prove more, those that
    would do whatever values elements have (`sizes`), or `none`. `arguments`: how many a call has where the last ones
    are no parameters (an array that is given twice, records of which no field is used, None), else 0. `file` and
    `line`: of the user's `def`."""

    name: str
    params: tuple[ScalarParam | ArrayParam, ...]
    body: Body
    results: tuple[ResultArray, ...] = ()
    returned: tuple[ReturnedScalar | ReturnedArray, ...] | None = None
    returns_tuple: bool = False
    packing: tuple[tuple[str, int], ...] = ()
    overlap: bool = False
    arguments: int = 0
    guard: GuardKind = "all"
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def results_from(self) -> int:
        """The position of the first result in a call: behind all arguments."""
        return max(self.arguments, 1 + max((param.argument for param in self.params), default=-1))

    @property
    def arrays(self) -> tuple[ArrayParam, ...]:
        return tuple(param for param in self.params if isinstance(param, ArrayParam))

    @property
    def scalars(self) -> tuple[ScalarParam, ...]:
        return tuple(param for param in self.params if isinstance(param, ScalarParam))

    @property
    def draws(self) -> bool:
        """Whether it takes the state of random numbers, which are to have NumPy's or Python's bits."""
        return any(param.name.startswith(("np.random.", "random.")) for param in self.params)
