"""A Python source tree, read once: what the law checkers look at. No module of it is ever imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PACKAGE = "loopwright"


@dataclass(frozen=True)
class SourceFile:
    """One file below `root`: `path` is relative to it, with forward slashes."""

    root: Path
    path: str

    @cached_property
    def text(self) -> str:
        return (self.root / self.path).read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return _parsed(self.text, self.path)

    @cached_property
    def place(self) -> str:
        """The first part of the path, without `.py`: `ir` for ir/nodes.py, `config` for config.py."""
        return self.path.split("/")[0].removesuffix(".py")

    @cached_property
    def module(self) -> str:
        """The full name as an import would give it."""
        parts = [PACKAGE, *self.path.removesuffix(".py").split("/")]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _parsed(text: str, path: str) -> ast.Module:
    """Each law reads all files: they are parsed once."""
    return ast.parse(text, filename=path)


def source_files(root: Path, *suffixes: str) -> list[SourceFile]:
    """Every file below a folder with one of these suffixes (`.py` if none is given), sorted."""
    wanted = suffixes or (".py",)
    found = (path for path in root.rglob("*") if path.suffix in wanted and "__pycache__" not in path.parts)
    return [SourceFile(root, path.relative_to(root).as_posix()) for path in sorted(found)]


def own_imports(file: SourceFile) -> Iterator[tuple[ast.stmt, str]]:
    """Each import of our own package: the statement, and the place that it reaches ('' for the package itself)."""
    for node in ast.walk(file.tree):
        for name in _imported_names(file, node):
            parts = name.split(".")
            if parts[0] == PACKAGE and isinstance(node, ast.stmt):
                yield node, parts[1] if len(parts) > 1 else ""


def modules_imported(file: SourceFile) -> Iterator[tuple[ast.stmt, tuple[str, ...]]]:
    """Each import of our own package: the statement, and the full names that may be modules of it. The package itself
    is none of them: Python loads its __init__.py before anything else in any case."""
    for node in ast.walk(file.tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom():
                base = absolute(file, node)
                names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
            case _:
                continue
        own = tuple(name for name in names if name.startswith(f"{PACKAGE}."))
        if own:
            yield node, own


def _imported_names(file: SourceFile, node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            base = absolute(file, node)
            if base != PACKAGE:
                return [base]
            return [f"{base}.{alias.name}" if _is_place(file, alias.name) else base for alias in node.names]
        case _:
            return []


def absolute(file: SourceFile, node: ast.ImportFrom) -> str:
    """The full name of the module that a `from` names."""
    if not node.level:
        return node.module or ""
    package = file.module.split(".")
    if not file.path.endswith("__init__.py"):
        package.pop()
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _is_place(file: SourceFile, name: str) -> bool:
    return (file.root / name).is_dir() or (file.root / f"{name}.py").is_file()


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, nested ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
