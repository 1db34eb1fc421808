"""What a Python file says of numba: its imports, the functions that numba compiles, and what in these is outside the
language whatever the types are. The file is read, and never run."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from loopwright.frontend.desugared import desugared
from loopwright.frontend.refusals import NUMPY as REFUSED_OF_LINALG
from loopwright.frontend.refusals import WHEREVER_IT_STANDS, assigns_outside
from loopwright.frontend.scopes import locals_of
from loopwright.numba.absent import ABSENT, instead_of

_COMPILES = (
    "njit", "jit", "vectorize", "guvectorize", "stencil", "jitclass", "experimental.jitclass",
    "extending.register_jitable",
)  # fmt: skip
_MOVED = {"numba.core.types": "numba.types", "numba.core.errors": "numba.errors", "numba.core": "numba"}
_HERE = (
    "numba", "numba.types", "numba.typed", "numba.errors", "numba.extending", "numba.experimental",
    "numba.cpython.unsafe.tuple"
)  # fmt: skip
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class TextRefusal:
    """One thing that a function cannot have: where, what, and what to write instead."""

    line: int
    what: str
    remedy: str

    def row(self) -> tuple[str, str]:
        """Two cells of a table."""
        return f"line {self.line}: {self.what}", self.remedy


@dataclass(frozen=True, slots=True)
class Decorated:
    """A function or class that numba compiles. decorators: how many lines above its `def` they take."""

    name: str
    line: int
    decorator: str
    refusals: tuple[TextRefusal, ...]
    decorators: int = 0


@dataclass(frozen=True, eq=False)
class NumbaSource:
    """A file. text: what it says, with the ends of lines that it has; names: what each name of the file's that was
    imported from numba means there, `nb` -> `numba`, `List` -> `numba.typed.List`."""

    text: str
    encoding: str
    tree: ast.Module
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    names: dict[str, str] = field(default_factory=dict)
    numpy: frozenset[str] = frozenset()
    """The names that NumPy has in it."""

    # ---- functions ------------------------------------------------------------------------------------------------

    def decorated(self) -> list[Decorated]:
        """All that numba compiles, in the order of lines: decorated, or given to a decorator by name."""
        found: dict[int, Decorated] = {}
        given = {one.args[0].id: one.func for one in ast.walk(self.tree)
                 if isinstance(one, ast.Call) and one.args and isinstance(one.args[0], ast.Name)}  # fmt: skip
        for node in ast.walk(self.tree):
            if isinstance(node, _Definition):
                for decorator in (*node.decorator_list, *([given[node.name]] if node.name in given else [])):
                    name = self.meaning(decorator.func if isinstance(decorator, ast.Call) else decorator)
                    if name is not None and name != "numba.prange":
                        found.setdefault(node.lineno, self._decorated(node, name))
        return [found[line] for line in sorted(found)]

    def meaning(self, node: ast.expr) -> str | None:
        """`nb.njit` -> `numba.njit`; None for what is not of numba."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        owner = self.meaning(node.value) if isinstance(node, ast.Attribute) else None
        return f"{owner}.{node.attr}" if owner is not None and isinstance(node, ast.Attribute) else None

    def _decorated(self, node: _Definition, decorator: str) -> Decorated:
        short = decorator.removeprefix("numba.")
        if short in _COMPILES:
            refusals = tuple(sorted(self._refusals(node), key=lambda one: one.line))
        else:
            refusals = (TextRefusal(node.lineno, f"@{short} means nothing here", _instead(short)),)
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return Decorated(node.name, node.lineno, f"@{short}", refusals, node.lineno - first)

    def _refusals(self, node: _Definition) -> Iterator[TextRefusal]:
        extra = None if isinstance(node, ast.ClassDef) else node.args.kwarg
        if extra is not None:
            yield TextRefusal(extra.lineno, f"'**{extra.arg}' is outside the language", "name every parameter")
        read = desugared(node) if isinstance(node, ast.FunctionDef) else node
        for statement in read.body:
            for one in ast.walk(statement):
                if isinstance(one, ast.Global | ast.Nonlocal) and not assigns_outside(one, node):
                    continue
                if (
                    isinstance(one, ast.Nonlocal)
                    and isinstance(node, ast.FunctionDef)
                    and locals_of(node).issuperset(one.names)
                ):
                    continue
                if type(one) in WHEREVER_IT_STANDS:
                    what, why, remedy = WHEREVER_IT_STANDS[type(one)]
                    yield TextRefusal(getattr(one, "lineno", node.lineno), what, remedy or why)
                elif isinstance(one, ast.Name | ast.Attribute) and (absent := self._absent(one)) is not None:
                    yield TextRefusal(one.lineno, f"'{ast.unparse(one)}' means nothing here", _instead(absent))
                elif isinstance(one, ast.Call) and (remedy := self._instead_of_numpy(one.func)):
                    yield TextRefusal(one.lineno, f"'{ast.unparse(one.func)}' is outside the language", remedy)

    def _instead_of_numpy(self, node: ast.expr) -> str:
        """What to do about a function of NumPy's that no kernel calls, whatever it is given; '' where that is open."""
        path = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
        if not path or path[0] not in self.numpy:
            return ""
        if path[1] == "fft":
            return "write its loops out, or call it before and pass the result"
        return REFUSED_OF_LINALG.get(path[2], "") if path[1] == "linalg" and len(path) == 3 else ""

    def _absent(self, node: ast.expr) -> str | None:
        meant = self.meaning(node)
        short = meant.removeprefix("numba.") if meant is not None else ""
        return short if short.split(".")[0] in ABSENT and not _is_moved(str(meant)) else None

    # ---- imports --------------------------------------------------------------------------------------------------

    def notes(self) -> list[tuple[int, str]]:
        """Imports that stay as they are, and names used that are not there: lines, and what to do."""
        found = [(one.lineno, f"this import is left as it is: {why}") for one, why in self._left()]
        inside = {id(part) for one in self.imports for part in ast.walk(one)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and id(node) not in inside:
                owner, absent = self.meaning(node.value), self._absent(node)
                if owner == "numba" and absent is not None:
                    found.append((node.lineno, instead_of(absent)))
        return sorted(set(found))

    def _left(self) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
        for node in self.imports:
            why = next(filter(None, (_why_left(node, alias) for alias in node.names)), "")
            if why:
                yield node, why

    def with_our_imports(self) -> str:
        """The text with `loopwright.numba` where it imports numba, and nothing else changed."""
        lines = in_lines(self.text)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))

        def place(line: int, column: int) -> int:
            return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

        text, left = self.text, {id(node) for node, _ in self._left()}
        for node in sorted(self.imports, key=lambda one: (one.lineno, one.col_offset), reverse=True):
            if id(node) in left:
                continue
            if isinstance(node, ast.ImportFrom):
                old = str(node.module)
                at = text.find("numba", place(node.lineno, node.col_offset))
                new = _ours(old)
                if text.startswith(old, at):
                    text = text[:at] + new + text[at + len(old) :]
                continue
            for alias in reversed(node.names):
                if alias.name.split(".")[0] == "numba":
                    at, new = place(alias.lineno, alias.col_offset), _ours(alias.name)
                    new = new if alias.asname else "loopwright.numba as numba"
                    text = text[:at] + new + text[at + len(alias.name) :]
        return text

    def encoded(self, text: str) -> bytes:
        """A text as it stands in the file."""
        return text.encode(self.encoding)


def read_source(content: bytes) -> NumbaSource:
    """Read a file. Raises SyntaxError or UnicodeDecodeError where it is no Python."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode(encoding)
    tree = ast.parse(text)
    imports = tuple(
        node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and _of_numba(node)
    )
    names: dict[str, str] = {}
    for node in imports:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                full = f"{node.module}.{alias.name}"
                names[alias.asname or alias.name] = _MOVED.get(full, full)
            elif alias.name.split(".")[0] == "numba":
                names[alias.asname or "numba"] = alias.name if alias.asname else "numba"
    numpy = {
        alias.asname or "numpy"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numpy"
    }
    return NumbaSource(text, encoding, tree, imports, names, frozenset(numpy))


def in_lines(text: str) -> list[str]:
    """The lines as Python counts them, each with its end."""
    return list(io.StringIO(text, newline=""))


def _of_numba(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and str(node.module).split(".")[0] == "numba"
    return any(alias.name.split(".")[0] == "numba" for alias in node.names)


def _is_moved(name: str) -> bool:
    return any(name == old or name.startswith(old + ".") for old in _MOVED if old != "numba.core")


def _why_left(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """What speaks against changing an import, '' for nothing."""
    name = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
    if isinstance(node, ast.Import) and name.split(".")[0] != "numba":
        return ""
    if _is_moved(name) or (isinstance(node, ast.Import) and name in _HERE):
        return ""
    short = name.removeprefix("numba.")
    known = isinstance(node, ast.ImportFrom) and node.module in _HERE and short.split(".")[-1] not in ABSENT
    return "" if known and short.split(".")[0] not in ABSENT else _instead(short)


def _instead(short: str) -> str:
    """What to do about a name of numba's that means nothing here."""
    for part in (*reversed(short.split(".")),):
        if part in ABSENT:
            return instead_of(part)
    return instead_of(short)


def _ours(module: str) -> str:
    return f"loopwright.{_MOVED.get(module, module)}"
