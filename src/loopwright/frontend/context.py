"""The state of reading one function: what lasts over all rounds (Session), one inlined call (Frame), and one
round (Context) with the IR written so far.

A function is read several times, until the types of its variables stop growing; only the last round's IR counts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from loopwright.errors import KernelError
from loopwright.frontend.capture import Source
from loopwright.frontend.infer import Key, Types
from loopwright.frontend.outside import Outside
from loopwright.frontend.reraised import Reraised
from loopwright.frontend.values import Array, Closure, ListValue, Records, TableValue, Value
from loopwright.frontend.webs import Web, Webs
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    Leave,
    Location,
    ScalarParam,
    Stmt,
    Unary,
    Var,
)
from loopwright.ir.signature import Signature
from loopwright.ir.types import BOOL
from loopwright.ir.walk import subexpressions


class NotYet(KernelError):
    """A variable is read whose type is not known in this round. In the last round it is an error as it stands."""


class Certain(KernelError):
    """An error whatever is known in a later round: it is told rather than that something is not known yet."""


@dataclass(frozen=True, slots=True)
class ReturnForm:
    """What one `return` gives, where others give something else. first: the number of its first value, with gaps
    between those of different returns. kinds: the names of its arrays, None for numbers. packing: as of a Kernel."""

    first: int
    kinds: tuple[str | None, ...]
    packing: tuple[tuple[str, int], ...]


class Restart(Exception):
    """What was found says which assignments belong together: all is read again from the start."""


@dataclass
class Session:
    """What lasts over the rounds. `failure`: the first error of this round. `in_place`: the `x += v` of arrays, by the
    path of the function that they stand in and the id of their target."""

    source: Source
    signature: Signature
    outside: Outside
    narrowing_raises: bool = False
    types: Types = field(default_factory=Types)
    webs: dict[Key, Webs] = field(default_factory=dict)
    failure: KernelError | None = None
    optional: set[Key] = field(default_factory=set)  # variables that are None at times
    unsure: set[Key] = field(default_factory=set)  # names of arrays that may be read before they are assigned
    early: set[Key] = field(default_factory=set)  # those that a loop reads above the line that assigns them
    named: dict[Key, type | None] = field(default_factory=dict)  # variables that are named tuples
    chosen_from: dict[Key, Records] = field(default_factory=dict)  # by variable that is one record or another: of what
    fixed_lists: set[Key] = field(default_factory=set)  # variables whose items are a list, and no tuple
    deep_lists: set[Key] = field(default_factory=set)  # lists of lists that change, by key
    maybe_results: set[tuple[int, ...]] = field(default_factory=set)  # places in results that are None at times
    maybe_returns: bool = False  # some paths return numbers, and others None
    forms: dict[int, ReturnForm] | None = None  # returns that have no form in common, by the id of their node
    result_shapes: dict[int, list[tuple[Expr, ...]]] = field(default_factory=dict)
    in_place: set[tuple[Key, int]] = field(default_factory=set)
    of_numbers: set[tuple[Key, int]] = field(default_factory=set)  # `x += v` that were taken for those of arrays
    growing: set[tuple[Key, int]] = field(default_factory=set)  # loops over lists that they change, as `in_place`
    long_bodies: set[tuple[Key, int]] = field(default_factory=set)  # of loops over constants, as `growing`
    shortens: bool = True  # such a body is not written once for each constant
    calls: dict[tuple[int, str, int], ast.Call] = field(default_factory=dict)  # of our own functions, by where and what
    nodes: dict[int, ast.AST] = field(default_factory=dict)  # what is read instead of a node, by its id
    recursive: dict[ast.FunctionDef, set[str]] = field(default_factory=dict)  # what calls itself: parts that it passes
    rooms: dict[Key, list[tuple[Expr, ...]] | None] = field(default_factory=dict)  # names of several sizes: the largest
    handles: bool = False  # there is a `try`: what may fail is tested where Python tests it
    names_threads: bool = False  # it asks which thread runs an iteration: `prange` is `range`
    several_arrays: set[Key] = field(default_factory=set)  # calls whose returns give several of the caller
    trees: dict[ast.FunctionDef, ast.FunctionDef] = field(default_factory=dict)  # what is read instead of a function
    stencils: dict[tuple[object, ...], ast.FunctionDef] = field(default_factory=dict)  # with the place as parameters
    mixed: list[tuple[KernelError, ast.FunctionDef, str | tuple[int, int]]] = field(default_factory=list)
    """Names that cannot stand for all that they are assigned: the error, the function and the name."""
    texts: dict[str, int] | None = None  # those that the run chooses among, by their places; None: it chooses no texts
    meets_texts: bool = False  # the run would have to choose one
    text_names: dict[Key, bool] = field(default_factory=dict)  # what is texts: whether of any length
    made_names: set[tuple[int, str]] = field(default_factory=set)  # that stand for such, by their functions
    made_texts: set[Key] = field(default_factory=set)  # lists of characters that are texts

    def restart(self) -> None:
        """Forget what was found about variables."""
        self.types, self.webs, self.result_shapes, self.rooms = Types(), {}, {}, {}
        self.named, self.unsure, self.early, self.chosen_from, self.text_names = {}, set(), set(), {}, {}


@dataclass
class Frame:
    """One function being read: the kernel's own, or one call of a helper (`path` tells calls apart).

    `bindings`: variables that are known now, or are mere names for an expression. `tail`: nothing of the function
    comes after the statement at hand. `block`: the Block that an early return of a helper leaves."""

    number: int
    source: Source
    tree: ast.FunctionDef
    path: Key
    prefix: str
    webs: Webs
    closure: Closure | None = None
    bindings: dict[int, Value] = field(default_factory=dict)
    scopes: list[dict[str, Value]] = field(default_factory=list)  # the names of comprehensions around
    loops: list[str] = field(default_factory=list)
    else_blocks: dict[int, str] = field(default_factory=dict)  # what `break` leaves, by the id of a loop with an `else`
    loop_values: dict[int, Value] = field(default_factory=dict)  # by the id of a loop's target: the IR loop's variable
    tail: bool = True
    block: str | None = None
    result: Value | None = None
    made_before: int = 0  # the number of local arrays when it was called
    shared: dict[int, Value | Key] | None = None  # arrays of the caller, or keys, that every return gives, by place
    handed_over: dict[int, Key] = field(default_factory=dict)  # parameters that are variables of the caller
    gives: set[bool] = field(default_factory=set)  # whether its returns give something: True, False or both
    calls_again: set[str] | None = None  # of a function that calls itself: the Blocks that stand for these calls
    each: Callable[[Value, ast.expr], None] | None = None  # of a generator: what is done with what it yields
    called_at: Location | None = None  # of a function of ours: the user's call

    @property
    def is_inlined(self) -> bool:
        return bool(self.path)


Evaluate = Callable[["Context", ast.expr], Value]
Execute = Callable[["Context", list[ast.stmt]], None]
Assigner = Callable[["Context", ast.expr, Value, ast.expr], None]
StoreTable = Callable[["Context", Key, str, TableValue, ast.AST, ast.AST], None]
OwnText = Callable[["Context", Web, Value, ast.AST], Value]
KeptTable = Callable[["Context", str, TableValue, ast.AST, ast.AST], TableValue]


@dataclass
class Context:
    """One round. `evaluate` and `execute` read an expression and a list of statements: they are handed in, since
    they and what they are made of call one another."""

    session: Session
    evaluate_with: Evaluate
    execute_with: Execute
    assign_with: Assigner
    store_table_with: StoreTable
    kept_table_with: KeptTable
    own_text_with: OwnText
    frames: list[Frame] = field(default_factory=list)
    active: list[Frame] = field(default_factory=list)
    body: list[Stmt] = field(default_factory=list)
    prologue: list[Stmt] = field(default_factory=list)
    depth: int = 0  # of loops, branches and blocks around the statement at hand
    temporaries: int = 0
    names: set[str] = field(default_factory=set)
    fixed: dict[Key, Value] = field(default_factory=dict)  # array arguments that are assigned again: an error there
    array_variables: dict[Key, Array] = field(default_factory=dict)  # names for several arrays: their own memory
    array_names: dict[Key, str] = field(default_factory=dict)
    sizes: dict[Key, tuple[str, ...]] = field(default_factory=dict)  # of names of several sizes: their variables
    extended: Key | None = None  # the name that is assigned its own array, joined with others
    first_in: dict[Key, tuple[int, ...]] = field(default_factory=dict)  # names of arrays, and the scopes they begin in
    variables: dict[Key, str] = field(default_factory=dict)
    flagged: dict[str, str] = field(default_factory=dict)  # locals that may be read before they are assigned: flags
    stable: set[str] = field(default_factory=set)  # scalars that keep their value for as long as they can be read
    snapshots: list[tuple[str, str, int]] = field(default_factory=list)
    """Arrays, copies where NumPy may have a view, and how many statements make the copy."""
    natural: set[str] = field(default_factory=set)  # int64 scalars that are never negative
    least: dict[str, int] = field(default_factory=dict)  # of some of these, what they are never below
    arguments: dict[str, Value] = field(default_factory=dict)  # those that no parameter of the user's stands for
    parameters: dict[str, ScalarParam | ArrayParam] = field(default_factory=dict)
    allocations: dict[str, tuple[Allocate, int]] = field(default_factory=dict)  # and the depth it stands at
    tables: dict[Value, Value] = field(default_factory=dict)
    weak_comprehensions: dict[int, bool] = field(default_factory=dict)
    comprehensions: set[int] = field(default_factory=set)  # those that may be arrays, by the id of their node
    target_names: dict[int, str] = field(default_factory=dict)  # the name that the user assigns a node to
    scopes: tuple[int, ...] = ()  # the bodies around what is read, by number
    made_scopes: int = 0
    made_in: dict[str, tuple[int, ...]] = field(default_factory=dict)  # arrays, and the scopes that they are made in
    made_of: dict[str, Expr] = field(default_factory=dict)  # scalars that are assigned once, and what they are
    lists: dict[Key, ListValue] = field(default_factory=dict)  # with their arrays
    hash_tables: dict[Key, TableValue] = field(default_factory=dict)  # sets and dicts with their arrays
    row_arrays: set[str] = field(default_factory=set)  # memory of lists and arrays that are in lists
    keyed_in: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    """Names of dicts with texts as keys, by frame and variable, and the scopes that they begin in."""
    given_tables: set[Key] = field(default_factory=set)  # dicts of the caller's: they are only read
    list_variables: dict[Key, ListValue] = field(default_factory=dict)  # names for several lists: their own
    table_variables: dict[Key, TableValue] = field(default_factory=dict)  # the same of sets and dicts
    bounds: dict[str, Expr] = field(default_factory=dict)  # int64 scalars and what they cannot be above
    packing: tuple[tuple[str, int], ...] = ()
    reached: dict[int, ReturnForm] = field(default_factory=dict)  # the forms of the returns of this round
    return_keys: tuple[int, ...] = ()  # the number by which the type of each returned value is kept, where not its own
    result_names: dict[int, Array] = field(default_factory=dict)  # results whose sizes the code computes, by place
    own_loops: dict[int, Stmt] = field(default_factory=dict)  # loops in a `try` that the user wrote, by id
    catching: list[tuple[type[BaseException], ...]] = field(default_factory=list)  # by each `try` around, outer first
    handling: list[Reraised | None] = field(default_factory=list)  # by each handler around
    returns: list[tuple[tuple[str | None, ...] | None, bool]] = field(default_factory=list)  # arrays' names, is a tuple

    @property
    def frame(self) -> Frame:
        return self.active[-1]

    def evaluate(self, node: ast.expr) -> Value:
        return self.evaluate_with(self, node)

    def execute(self, statements: list[ast.stmt]) -> None:
        self.execute_with(self, statements)

    def assign(self, target: ast.expr, value: Value, value_node: ast.expr) -> None:
        """Give a target, which may be a tuple of targets, its value."""
        self.assign_with(self, target, value, value_node)

    def at(self, node: ast.AST | Location) -> Location:
        if isinstance(node, Location):
            return node
        at = self.frame.source.at(node)
        return at if self.frame.called_at is None else replace(at, call=self.frame.called_at)

    def error(self, node: ast.AST, what: str, why: str = "", remedy: str = "") -> KernelError:
        return KernelError(what, self.at(node), why, remedy)

    @contextmanager
    def gives_a_meaning(self, tree: ast.FunctionDef, name: str | tuple[int, int]) -> Iterator[None]:
        """An error in here says that a name, or what is chosen at a place, cannot stand for one more thing."""
        try:
            yield
        except KernelError as error:
            self.session.mixed.append((error, tree, name))
            raise

    # ---- writing IR ----

    def emit(self, statement: Stmt) -> None:
        self.body.append(statement)

    def leave(self, block: str, node: ast.AST) -> None:
        """Go on after a Block."""
        self.emit(Leave(block, at=self.at(node)))

    @contextmanager
    def inner_body(self, nested: bool = True) -> Iterator[list[Stmt]]:
        """Statements go to a new list for a while. `nested`: it is the body of a loop, a branch or a block."""
        outer = self.body
        self.body = []
        self.depth += nested
        scopes = self.scopes
        self.made_scopes += nested
        self.scopes = (*scopes, self.made_scopes) if nested else scopes
        try:
            yield self.body
        finally:
            self.scopes = scopes
            self.depth -= nested
            self.body = outer

    @contextmanager
    def resumed(self, body: list[Stmt]) -> Iterator[None]:
        """Statements go to the end of a list begun before."""
        outer, scopes = self.body, self.scopes
        self.body = body
        self.depth += 1
        self.made_scopes += 1
        self.scopes = (*scopes, self.made_scopes)
        try:
            yield
        finally:
            self.scopes = scopes
            self.depth -= 1
            self.body = outer

    def new_name(self, hint: str) -> str:
        """A name that nothing else in the kernel has: the hint, or the hint with a number."""
        name, count = hint, 1
        while name in self.names:
            count += 1
            name = f"{hint}.{count}"
        self.names.add(name)
        return name

    def variable(self, key: Key, hint: str) -> str:
        """The IR's name of a variable of the user."""
        if key not in self.variables:
            is_loop = hint in self.frame.webs.loop_names  # loops keep the plain name: schedules and reports use it
            self.variables[key] = self.new_name(f"{self.frame.prefix}{hint}{'.value' if is_loop else ''}")
        return self.variables[key]

    def names_of(self, key: Key) -> set[str]:
        """The IR's names of a variable of the user, or of all items of one that is a tuple."""
        return {name for known, name in self.variables.items() if known[: len(key)] == key}

    def flag(self, variable: str) -> Var:
        """The bool local that tells whether a variable has a value yet."""
        if variable not in self.flagged:
            self.flagged[variable] = self.new_name(variable + ".set")
        return Var(self.flagged[variable], BOOL)

    def temporary(self, expr: Expr, at: Location | None) -> Var:
        """Compute an expression now, to be used any number of times."""
        name = self.temporary_name()
        self.emit(Assign(name, expr, at=at))
        self.made_of[name] = expr
        return Var(name, expr.type)

    def temporary_name(self) -> str:
        """The name of a scalar that is assigned once on every path to its uses."""
        self.temporaries += 1
        name = self.new_name(f"t.{self.temporaries}")
        self.stable.add(name)
        return name

    def is_stable(self, expr: Expr) -> bool:
        """A small expression that cannot fail and keeps its value for as long as its variables can be read: it
        may be evaluated anywhere instead of where it stands, and any number of times."""
        parts = list(subexpressions(expr))
        return len(parts) <= 16 and all(self._is_stable_part(part) for part in parts)

    def _is_stable_part(self, part: Expr) -> bool:
        match part:
            case Const() | Dim():
                return True
            case Var(name=name):
                return name in self.stable
            case Unary() | Binary(op="add" | "sub" | "mul" | "floordiv" | "mod" | "min" | "max"):
                return part.type.is_integer
            case Cast(operand=operand, type=target):
                return target.is_integer and operand.type.is_integer
            case Call(function="complex" | "real" | "imag"):
                return True
            case _:
                return False

    def once(self, expr: Expr, at: Location | None) -> Expr:
        """An expression of the same value that may be evaluated any number of times."""
        if isinstance(expr, Const | Var | Dim) or self.is_stable(expr):
            return expr
        return self.temporary(expr, at)


def web_key(frame: Frame, web: Web) -> Key:
    """The key of a variable of the user: which call of which function, and which of its variables."""
    return frame.handed_over.get(web.number) or (*frame.path, web.number)
