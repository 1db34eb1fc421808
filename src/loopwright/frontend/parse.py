"""From a Python function to its syntax tree with true positions. It refuses what has no source text of a `def`.

The whole file is parsed, not the function's own stretch: so lines and columns are right for methods, nested and
decorated functions alike. Columns of the tree count UTF-8 bytes; a Location counts characters.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import operator
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from loopwright.deferred import deferred
from loopwright.errors import KernelError
from loopwright.frontend.formatted import with_texts_in_place
from loopwright.frontend.rewritten import rewritten
from loopwright.ir.location import Location

if TYPE_CHECKING:
    from loopwright.frontend import desugared
else:
    desugared = deferred("loopwright.frontend.desugared")


@dataclass(frozen=True, eq=False)
class Definition:
    """A `def` in its file. `lines` are the lines of the file, the first one at index 0."""

    tree: ast.FunctionDef
    file: str
    lines: tuple[str, ...]

    def at(self, node: ast.AST) -> Location:
        """Where a node of the tree stands; of a node over several lines, the part on its first line."""
        known: Location | None = getattr(node, "location", None)  # asked for again in each reading
        if known is None or known.file != self.file:
            known = node.location = self._found(node)  # type: ignore[attr-defined]
        return known

    def _found(self, node: ast.AST) -> Location:
        line = getattr(node, "lineno", self.tree.lineno)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        start = _characters(text, getattr(node, "col_offset", 0))
        if getattr(node, "end_lineno", line) == line:
            end = _characters(text, getattr(node, "end_col_offset", start + 1))
        else:
            end = len(text.rstrip())
        return Location(self.file, line, start, max(end, start + 1))

    def at_name(self) -> Location:
        """Where the name stands after `def`."""
        text = self.lines[self.tree.lineno - 1]
        start = text.find(self.tree.name, _characters(text, self.tree.col_offset) + 3)
        return Location(self.file, self.tree.lineno, start, start + len(self.tree.name))


def parse(function: object) -> tuple[FunctionType, Definition]:
    """The plain Python function and its definition. Raises KernelError for anything but a `def` with source."""
    plain = _plain_function(function)
    code = plain.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, plain.__globals__)
    if not lines:
        raise KernelError(
            f"the source of '{plain.__name__}' cannot be found",
            why=f"there is no text of {code.co_filename!r} to read",
            remedy="write the function in a file, or in a notebook cell",
        )
    tree = _definitions(tuple(lines)).get((code.co_firstlineno, code.co_name))
    if tree is None or not _same_code(tuple(lines), code):
        raise KernelError(
            f"the source of '{plain.__name__}' in {code.co_filename} does not match what was loaded",
            why="the file was changed after it was imported",
            remedy="import it again, or start Python again",
        )
    definition = Definition(_read(tree), code.co_filename, tuple(lines))
    return plain, definition


@lru_cache(maxsize=1024)
def _read(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The definition in the form in which it is read. The same object each time."""
    if any(isinstance(node, ast.With | ast.Match | ast.Try) for node in ast.walk(tree)):
        tree = desugared.desugared(tree)
    return rewritten(with_texts_in_place(tree))


def refuse_generator(function: FunctionType, definition: Definition) -> None:
    """Raise KernelError for a generator: only a `for` statement of a kernel takes what it yields."""
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        raise KernelError(
            f"'{function.__name__}' is a generator",
            definition.at_name(),
            "a generator can only be read by a loop",
            "call it in the 'for' statement of a kernel, or write each value into an element of an array argument",
        )


BELOW_OTHERS = "write @lw.kernel below the other decorators: it needs the function as you wrote it"


def _plain_function(function: object) -> FunctionType:
    what, remedy = "", "write a function with `def`, outside any class"
    if inspect.ismethod(function):
        what = f"'{function.__name__}' is a method"
        remedy = "write a function with `def`, outside any class, and pass arrays and numbers to it"
    elif isinstance(function, type):
        what = f"'{function.__name__}' is a class"
    elif isinstance(function, staticmethod | classmethod):
        what = f"'{getattr(function, '__name__', '?')}' is a {type(function).__name__}"
    elif isinstance(function, partial):
        what = "a functools.partial cannot be compiled"
        remedy = "write a function with `def` that calls the other one: helpers are inlined"
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        what = f"'{getattr(function, '__name__', '?')}' is an async function"
        remedy = "write it with a plain `def`"
    elif inspect.isbuiltin(function):
        what = f"'{function.__name__}' is a built-in function: there is no Python source to read"
    elif isinstance(function, str | tuple | list):
        what = "a kernel takes no signature: types come from each call"
        remedy = "write @lw.kernel alone, or use njit of loopwright.numba"
    elif isinstance(known := getattr(function, "py_func", None), FunctionType):
        what = f"'{known.__name__}' is a kernel already"
        remedy = f"decorate it once; with other options: lw.kernel({known.__name__}.py_func, threads=2)"
    elif not isinstance(function, FunctionType):
        what = f"an object of type {type(function).__name__} is not a Python function"
        remedy = BELOW_OTHERS if hasattr(function, "__wrapped__") else remedy
    elif function.__name__ == "<lambda>":
        what = "a lambda cannot be compiled"
        remedy = "give it a name: write it with `def`"
    else:
        return function
    raise KernelError(what, remedy=remedy)


@lru_cache(maxsize=64)
def _parse_file(lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return None


@lru_cache(maxsize=64)
def _definitions(lines: tuple[str, ...]) -> dict[tuple[int, str], ast.FunctionDef]:
    """The functions of a file by their first line, that of a decorator included, and their name."""
    tree = _parse_file(lines)
    found: dict[tuple[int, str], ast.FunctionDef] = {}
    for node in _statements(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.setdefault((start, node.name), node)
    return found


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements of a file, and what holds some, outer ones before inner ones. No expression holds any."""
    waiting = deque[ast.AST]([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        for name in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            waiting.extend(inner if isinstance(inner, list) else ())


_FUTURE = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


@lru_cache(maxsize=64)
def _compile_file(lines: tuple[str, ...], file: str, flags: int) -> CodeType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compiled = compile("".join(lines), file, "exec", flags, dont_inherit=True)
        except SyntaxError:
            return None
    assert isinstance(compiled, CodeType)
    return compiled


@lru_cache(maxsize=64)
def _compile_statement(lines: tuple[str, ...], file: str, flags: int, line: int) -> CodeType | None:
    """The statement at the top level that holds a line, by itself. Notebooks compile each so: a name that another
    statement imports is then a name like any other, and its methods are called in another way."""
    tree = _parse_file(lines)
    for one in tree.body if tree is not None else ():
        first = min([one.lineno, *(decorator.lineno for decorator in getattr(one, "decorator_list", ()))])
        if first <= line <= (one.end_lineno or one.lineno):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled = compile(ast.Module([one], []), file, "exec", flags, dont_inherit=True)
            assert isinstance(compiled, CodeType)
            return compiled
    return None


def _same_code(lines: tuple[str, ...], code: CodeType) -> bool:
    """Whether the text still says what was loaded: it compiles to the very same code."""
    flags = code.co_flags & _FUTURE
    whole = _compile_file(lines, code.co_filename, flags)
    if whole is None:  # text of a notebook that is more than Python: what was found by name and line must do
        return True
    if _holds(whole, code):
        return True
    alone = _compile_statement(lines, code.co_filename, flags, code.co_firstlineno)
    return alone is not None and _holds(alone, code)


def _holds(whole: CodeType, code: CodeType) -> bool:
    pending = [whole]
    while pending:
        now = pending.pop()
        if (now.co_name, now.co_firstlineno) == (code.co_name, code.co_firstlineno):
            return _fingerprint(now) == _fingerprint(code)
        pending += [part for part in now.co_consts if isinstance(part, CodeType)]
    return False


def _fingerprint(code: CodeType) -> object:
    constants = [_fingerprint(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    return constants, code.co_names, code.co_varnames, code.co_argcount, code.co_kwonlyargcount, code.co_code


def parameters_of(tree: ast.FunctionDef) -> list[ast.arg]:
    """The parameters in order: positional, `*args`, then keyword-only; not `**kwargs`."""
    several = [tree.args.vararg] if tree.args.vararg is not None else []
    return [*positional_of(tree), *several, *tree.args.kwonlyargs]


def positional_of(tree: ast.FunctionDef) -> list[ast.arg]:
    """The parameters that one positional argument each can be for."""
    return [*tree.args.posonlyargs, *tree.args.args]


def _characters(text: str, byte_count: int) -> int:
    return len(text.encode()[:byte_count].decode(errors="ignore")) if not text.isascii() else byte_count
