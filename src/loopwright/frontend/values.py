"""What an expression of the user stands for while it is read: numbers, arrays, records, tuples, fixed objects.

Only a Number exists at run time as it is; everything else is known now and leaves no trace but its indices.
`weak` is NumPy 2's word: a Python bool, int or float, which takes on the type of the NumPy value it meets.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal as Choice

import numpy as np

from loopwright.frontend.object_class import class_of
from loopwright.frontend.promote import NumberType
from loopwright.frontend.webs import Web
from loopwright.ir.nodes import Const, Expr
from loopwright.ir.signature import Field
from loopwright.ir.types import BOOL, COMPLEX128, FLOAT64, INT64, Scalar, from_dtype

Shows = Choice["keys", "values", "items"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.frontend.context import Context


@dataclass(frozen=True, slots=True)
class Literal:
    """A Python bool, int (of any size) or float that is known now. Always weak."""

    value: bool | int | float

    def __eq__(self, other: object) -> bool:  # tells 1 from 1.0 and from True, and -0.0 from 0.0
        return isinstance(other, Literal) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))

    @property
    def number_type(self) -> NumberType:
        match self.value:
            case bool():
                return NumberType(BOOL, weak=True)
            case int():
                return NumberType(INT64, weak=True)
            case float():
                return NumberType(FLOAT64, weak=True)


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar of the run."""

    expr: Expr
    weak: bool

    @property
    def type(self) -> Scalar:
        return self.expr.type

    @property
    def number_type(self) -> NumberType:
        return NumberType(self.expr.type, self.weak)


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or the view of one that its first `index`es leave. `sizes` has one size for each axis of the whole
    array. `weak`: its elements are Python numbers (a table made of a tuple). is_read_only: NumPy lets nobody write to
    this view."""

    name: str
    element: Scalar
    sizes: tuple[Literal | Number, ...]
    index: tuple[Expr, ...] = ()
    weak: bool = False
    is_read_only: bool = False

    @property
    def shape(self) -> tuple[Literal | Number, ...]:
        """The sizes of the axes that are left."""
        return self.sizes[len(self.index) :]


@dataclass(frozen=True, slots=True)
class Along:
    """Where a view goes along an axis of its array: element k of the view's `axis` is at `start + k * step`."""

    axis: int
    start: Expr
    step: Expr


@dataclass(frozen=True, slots=True)
class Mixed:
    """A place that several axes of a view give, or part of one: `start + step * (sum of parts // divide % modulo)`. It
    is what `reshape` leaves of an axis; `modulo` None leaves it out."""

    parts: tuple[Expr | Along, ...]
    divide: Expr
    modulo: Expr | None
    start: Expr
    step: Expr


Place = Expr | Along | Mixed


@dataclass(frozen=True, slots=True)
class View:
    """Part of an array, or its axes in another order: `a[1:-1, j]`, `a.T`, `a[:, None]`. `places`: for each axis of the
    array its index, or the axes of the view that go along it. A size below 0 stands for an axis without elements."""

    array: Array
    places: tuple[Place, ...]
    shape: tuple[Literal | Number, ...]

    @property
    def element(self) -> Scalar:
        return self.array.element


@dataclass(frozen=True, slots=True, eq=False)
class Elementwise:
    """An array that is computed where its elements are used: `a + b[1:]`. `at` gives the element at an index (one int64
    for each axis), and writes what that needs done first. `reads`: the names of the arrays it reads elements of.
    `same_place`: those of which an element is read only where it goes to. Sizes as in View."""

    shape: tuple[Literal | Number, ...]
    element: Scalar
    at: Callable[[Context, Sequence[Expr]], Literal | Number]
    reads: frozenset[str]
    views: tuple[View, ...] = ()


@dataclass(frozen=True, slots=True)
class RowTable:
    """Where the lists, or the arrays, stand that are in a list: each has a number. parts: the elements of all of them,
    a view for each place of tuples; empty while nothing is known of them. starts, rooms: by number, where the elements
    begin and for how many there is room. sizes: by number, the size of each axis, or the length of the list. head: how
    much of `parts` is used, and how many there are; None where it is the caller's, and only read. kind: of the tuples,
    as in ListValue. rows: where the lists or arrays stand that are in these lists; `parts` has their numbers then."""

    parts: tuple[View, ...]
    starts: Array
    rooms: Array
    sizes: tuple[Array, ...]
    head: Array | None
    key: tuple[object, ...]
    holds_arrays: bool
    is_tuple: bool = False
    kind: type | None = None
    rows: RowTable | None = None


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list. parts: a view for each place of the tuples that it holds, or one for numbers; empty while nothing is
    known of these. length: how many elements it has now. is_open: whether it can grow, then `length` is a variable, or
    an element of a table's `sizes`. rows: of a list of lists or arrays, where these stand: its numbers are theirs.
    home: of a list in another one, where it stands, and its number. holds_lists: its tuples are lists that nobody
    changes. is_of_tuple: it is a slice of a tuple, in Python. kind: the class of its tuples, of named ones and of
    dataclasses. holds_texts: its numbers are texts. is_text: it is one text, that the run makes. columns: for each
    place of its tuples, None for numbers, whether texts there may be of any length, or where the lists or arrays stand
    whose numbers are there; empty where all are numbers."""

    parts: tuple[View, ...]
    length: Expr
    key: tuple[object, ...]
    is_tuple: bool = False
    is_open: bool = False
    rows: RowTable | None = None
    home: tuple[RowTable, Expr] | None = None
    holds_lists: bool = False
    is_of_tuple: bool = False
    kind: type | None = None
    holds_texts: bool = False
    is_text: bool = False
    columns: tuple[RowTable | bool | None, ...] = ()

    @property
    def holds_rows(self) -> bool:
        """Whether lists or arrays are in it, or in its tuples."""
        return self.rows is not None or any(isinstance(one, RowTable) for one in self.columns)


@dataclass(frozen=True, slots=True)
class TableValue:
    """A set or a dict. keys, values: a view for each place of the tuples that these are, or one for numbers; empty
    while nothing is known of them. state, slots, head: see table_functions.py. shows: what a loop over a dict gives.
    rows: where the lists or arrays stand that are values; the values are their numbers then."""

    keys: tuple[View, ...]
    values: tuple[View, ...]
    state: Array | None
    slots: Array | None
    head: Array
    key: tuple[object, ...]
    is_dict: bool
    has_tuple_keys: bool = False
    has_tuple_values: bool = False
    shows: Shows = "keys"
    rows: RowTable | None = None


@dataclass(frozen=True, slots=True)
class SliceIndex:
    """`lower:upper:step` in a subscript; None where it is left out."""

    lower: Value | None
    upper: Value | None
    step: Value | None


@dataclass(frozen=True, slots=True)
class RangeValue:
    """A range, as a value: its start, stop and step."""

    bounds: tuple[Value, Value, Value]


@dataclass(frozen=True, slots=True)
class Zipped:
    """`zip(...)` that a helper returns, to be gone over once."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IteratorValue:
    """An iterator that has a name: what it goes over (a `Sequence` of iteration.py), and the variable that says how
    much of that is over. made_in: the frame and the loops around its assignment."""

    sequence: Any
    position: str
    made_in: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """An array of records given as argument `position`, or the view of one that its first `index`es leave. planes: its
    fields, where each is an array by itself. is_whole: these are all there is of a record. dtype: of an array that the
    kernel makes."""

    name: str
    position: int
    fields: tuple[Field, ...]
    sizes: tuple[Literal | Number, ...]
    index: tuple[Expr, ...] = ()
    planes: tuple[Array | View, ...] = ()
    is_whole: bool = False
    dtype: np.dtype[np.void] | None = None

    @property
    def shape(self) -> tuple[Literal | Number, ...]:
        """The sizes of the axes that are left."""
        return self.sizes[len(self.index) :]


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple. names: of its fields, where it is a named one. is_list: it is a list that never changes, as an index has
    to know; None where it may be either. kind: the class of a named tuple, or of a dataclass."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    is_list: bool | None = False
    kind: type | None = None
    is_made: bool = False


@dataclass(frozen=True, slots=True)
class Keyed:
    """A dict with texts as keys that never changes."""

    keys: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Any object known now that is no number: None, a string, a module, a function, a type."""

    value: object


@dataclass(frozen=True, slots=True)
class Character:
    """A text of one character that the run finds, as its code: `text[i]`. `code` is a variable that nobody assigns
    again. is_long: it may also be another text, as a number (chosen_texts.py)."""

    code: Expr
    is_long: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A nested function. `frame` is the number of the frame it is defined in, `free` says which variables of
    that frame its free names mean where it was named; `defaults` are the values of its default arguments."""

    tree: ast.FunctionDef
    frame: int
    free: Mapping[str, tuple[int, Web]]
    defaults: Mapping[str, Value]


Value = (
    Literal | Number | Array | View | Elementwise | ListValue | TableValue
    | SliceIndex | RangeValue | Zipped | IteratorValue | Records | Items | Keyed | Fixed | Character | Closure
)  # fmt: skip
ArrayLike = Array | View | Elementwise


def from_object(value: object) -> Value:
    """The Value of a Python object found outside the function, or in a call that fixes it."""
    if isinstance(value, np.generic):
        scalar = from_dtype(value.dtype)
        return Fixed(value) if scalar is None else Number(Const(value.item(), scalar), weak=False)
    if isinstance(value, complex):
        return Number(Const(value, COMPLEX128), weak=True)  # type: ignore[arg-type]
    if isinstance(value, bool):
        return Literal(value)
    if isinstance(value, int):
        return Literal(int(value))
    if isinstance(value, float):
        return Literal(float(value))
    if isinstance(value, tuple):
        names = tuple(getattr(value, "_fields", ()))
        return Items(tuple(from_object(item) for item in value), names, kind=type(value) if names else None)
    return Fixed(value)


def is_none(value: Value) -> bool:
    """Whether a value is None; a dtype of NumPy's equals None where it is the default one."""
    return isinstance(value, Fixed) and value.value is None


def describe(value: Value) -> str:
    """What a value is, in a few words for messages: 'a float64', 'a Python int', 'a 2-dimensional array'."""
    match value:
        case Literal() | Number():
            return str(value.number_type)
        case Array() | View() | Elementwise():
            return f"a {len(value.shape)}-dimensional array"
        case SliceIndex():
            return "a slice"
        case RangeValue():
            return "a range"
        case Zipped():
            return "a zip"
        case IteratorValue():
            return "an iterator"
        case ListValue(is_text=is_text):
            return "a text that is made while the code runs" if is_text else "a list"
        case TableValue(is_dict=is_dict):
            return "a dict" if is_dict else "a set"
        case Records():
            return f"a {len(value.shape)}-dimensional array of records" if value.shape else "a record"
        case Items(kind=type() as of_fields) if class_of(of_fields) is not None:
            return f"an object of the class '{of_fields.__name__}'"
        case Items(is_list=is_list):
            return "a list" if is_list else "a tuple"
        case Keyed():
            return "a dict"
        case Closure():
            return "a function"
        case Character(is_long=is_long):
            return "a text" if is_long else "a character"
        case Fixed(value=fixed):
            if fixed is None:
                return "None"
            kind = type(fixed).__name__
            return f"{'an' if kind[0] in 'aeiou' or kind == 'ndarray' else 'a'} {kind}"
