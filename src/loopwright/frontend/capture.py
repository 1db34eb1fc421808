"""`capture`: everything the front end needs to know of a Python function before it sees a call. Pure reading.

A Source keeps the function itself, for its globals and closure cells: these are looked up when a kernel is made,
and what was found comes with the facts that it relies on (`watched.py`), so that a later change is noticed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from loopwright.errors import KernelError
from loopwright.frontend.parse import BELOW_OTHERS, Definition, parameters_of, parse, positional_of, refuse_generator
from loopwright.frontend.watched import Found
from loopwright.frontend.whole import fewest_indices
from loopwright.frontend.written import written_parameters
from loopwright.ir.captured import ABSENT, CapturedConstant, Kind, defaults_of, value_now
from loopwright.ir.location import Location

if TYPE_CHECKING:
    from loopwright.frontend.structured import Structure


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter; `default` is meaningful where `has_default` is true."""

    name: str
    default: object = None
    has_default: bool = False
    keyword_only: bool = False


@dataclass(frozen=True, eq=False)
class Source:
    """A Python function, read. `code`: what it runs, when it was read. `written`: the parameters that may be written
    through, from the syntax alone. `structures`: what holds several of them, by the function's parameter. `outside`:
    the arrays from outside that parameters stand for."""

    function: FunctionType
    code: CodeType
    definition: Definition
    parameters: tuple[Parameter, ...]
    written: frozenset[str]
    structures: Mapping[str, Structure] = field(default_factory=dict)
    outside: Mapping[str, CapturedConstant] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def file(self) -> str:
        return self.definition.file

    @property
    def line(self) -> int:
        return self.definition.tree.lineno

    @cached_property
    def indices(self) -> tuple[int, ...]:
        """For each parameter the fewest indices with which it is used (frontend/whole.py)."""
        fewest = fewest_indices(self.definition.tree)
        return tuple(fewest.get(one.name, 0) for one in self.parameters)

    def at(self, node: ast.AST) -> Location:
        return self.definition.at(node)

    def at_parameter(self, position: int) -> Location:
        name = self.parameters[position].name.split(".")[0]
        return self.at(next(one for one in parameters_of(self.definition.tree) if one.arg == name))

    def lookup(self, name: str) -> Found:
        """The value of a free name: closure cell, then global, then builtin."""
        free = self.code.co_freevars
        if name in free and self.function.__closure__ is not None:
            return _found("cell", self.function.__closure__[free.index(name)], "")
        here = _found("item", self.function.__globals__, name)
        if here.value is not ABSENT:
            return here
        there = _found("item", getattr(self.function, "__builtins__", vars(builtins)), name)
        return Found(there.value, (*here.relies, *there.relies))

    @property
    def variadic(self) -> int | None:
        """Which parameter is `*args`, where it was not made into one for each argument."""
        several = self.definition.tree.args.vararg
        return None if several is None or self.structures else len(positional_of(self.definition.tree))

    @property
    def relies(self) -> tuple[CapturedConstant, ...]:
        """What reading the function relies on: its code, its defaults."""
        function = self.function
        found = [CapturedConstant("code", function, "", self.code)]
        found.append(CapturedConstant("defaults", function, "", function.__defaults__))
        found.append(CapturedConstant("keywords", function, "", function.__kwdefaults__))
        for one in self.parameters:
            if one.keyword_only and function.__kwdefaults__ is not None:
                value = one.default if one.has_default else ABSENT
                found.append(CapturedConstant("item", function.__kwdefaults__, one.name, value))
        return tuple(found)


def _found(kind: Kind, namespace: Any, key: str) -> Found:
    value = value_now(kind, namespace, key)
    return Found(value, (CapturedConstant(kind, namespace, key, value),))


def capture(function: object) -> Source:
    """Read a Python function. Raises KernelError for a lambda, a builtin, a class, a method, a generator, a
    function without source text, and for `**kwargs`."""
    source = capture_helper(function)
    refuse_generator(source.function, source.definition)
    return source


def capture_helper(function: object) -> Source:
    """As `capture`, and generators too: a helper may be one."""
    return _captured_once(function) if is_ours(function) else _captured(function)


def is_ours(function: object) -> bool:
    """Whether it is one of those that this package has for what NumPy, lists and the like do."""
    return isinstance(function, FunctionType) and (function.__module__ or "").startswith("loopwright.frontend.")


def _captured(function: object) -> Source:
    plain, definition = parse(function)
    extra = definition.tree.args.kwarg
    if extra is not None:
        raise KernelError(
            f"'**{extra.arg}' is outside the language",
            definition.at(extra),
            "each parameter needs a type of its own",
            BELOW_OTHERS if hasattr(plain, "__wrapped__") else "name every parameter",
        )
    parameters = _parameters(plain, definition.tree)
    return Source(plain, plain.__code__, definition, parameters, written_parameters(plain, definition.tree))


_captured_once = cache(_captured)
"""For functions of ours: neither they nor what they call changes in a process."""


def _parameters(function: FunctionType, tree: ast.FunctionDef) -> tuple[Parameter, ...]:
    defaults, keyword_only = defaults_of(function), {one.arg for one in tree.args.kwonlyargs}
    if tree.args.vararg is not None:
        defaults[tree.args.vararg.arg] = ()
    return tuple(
        Parameter(name, defaults.get(name), name in defaults, name in keyword_only)
        for name in (argument.arg for argument in parameters_of(tree))
    )
