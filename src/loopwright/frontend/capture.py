"""`capture`: everything the front end needs to know of a Python function before it sees a call. Pure reading.

A Source keeps the function itself, for its globals and closure cells: these are looked up when a kernel is made,
and what was found is recorded as a CapturedConstant, so that a later change is noticed.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from dataclasses import dataclass
from types import FunctionType

from loopwright.errors import KernelError
from loopwright.frontend.parse import Definition, parameters_of, parse
from loopwright.frontend.written import written_parameters
from loopwright.ir.location import Location


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter; `default` is meaningful where `has_default` is true."""

    name: str
    default: object = None
    has_default: bool = False
    keyword_only: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The value of a name outside the function, and where it lives: a dict and a key, or a cell and ''."""

    namespace: object
    key: str
    value: object


@dataclass(frozen=True, eq=False)
class Source:
    """A Python function, read. `written`: the parameters that may be written through, from the syntax alone."""

    function: FunctionType
    definition: Definition
    parameters: tuple[Parameter, ...]
    written: frozenset[str]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def file(self) -> str:
        return self.definition.file

    @property
    def line(self) -> int:
        return self.definition.tree.lineno

    def at(self, node: ast.AST) -> Location:
        return self.definition.at(node)

    def lookup(self, name: str) -> Found | None:
        """The value of a free name: closure cell, then global, then builtin; None where there is none."""
        free = self.function.__code__.co_freevars
        if name in free and self.function.__closure__ is not None:
            cell = self.function.__closure__[free.index(name)]
            try:
                return Found(cell, "", cell.cell_contents)
            except ValueError:  # the cell has no value yet
                return None
        if name in self.function.__globals__:
            return Found(self.function.__globals__, name, self.function.__globals__[name])
        if hasattr(builtins, name):
            return Found(vars(builtins), name, getattr(builtins, name))
        return None


def capture(function: object) -> Source:
    """Read a Python function. Raises KernelError for a lambda, a builtin, a class, a method, a generator, a
    function without source text, and for `*args` and `**kwargs`."""
    plain, definition = parse(function)
    arguments = definition.tree.args
    for star, extra in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if extra is not None:
            raise KernelError(
                f"'{star}{extra.arg}' is outside the language",
                definition.at(extra),
                "each parameter needs a type of its own",
                "name every parameter",
            )
    return Source(plain, definition, _parameters(plain, definition.tree), written_parameters(plain, definition.tree))


def _parameters(function: FunctionType, tree: ast.FunctionDef) -> tuple[Parameter, ...]:
    known = inspect.signature(function, follow_wrapped=False).parameters
    result = []
    for argument in parameters_of(tree):
        parameter = known[argument.arg]
        has_default = parameter.default is not inspect.Parameter.empty
        result.append(
            Parameter(
                argument.arg,
                parameter.default if has_default else None,
                has_default,
                parameter.kind is inspect.Parameter.KEYWORD_ONLY,
            )
        )
    return tuple(result)
