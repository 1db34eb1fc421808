"""The loops of a kernel by the names that `PARALLEL` gives them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType


def loop_lines(module: ModuleType) -> dict[str, int]:
    """The line in the module's file of each loop of `kernel`, by name: i, then i_2, ..., in reading order."""
    tree = ast.parse(inspect.getsource(module))
    kernel = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "kernel")
    loops = sorted((node for node in ast.walk(kernel) if isinstance(node, ast.For)), key=lambda loop: loop.lineno)
    lines: dict[str, int] = {}
    seen: dict[str, int] = {}
    for loop in loops:
        assert isinstance(loop.target, ast.Name)
        variable = loop.target.id.lstrip("_")
        seen[variable] = seen.get(variable, 0) + 1
        lines[variable if seen[variable] == 1 else f"{variable}_{seen[variable]}"] = loop.lineno
    return lines
