"""Makes a failing program small: what is left fails in the same way, and nothing more can be taken out of it.

It works on the text, so each attempt is a whole program that some way to run must get wrong.
"""

from __future__ import annotations

import ast
import copy
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

from .arguments import Cells
from .programs import Program

Fails = Callable[[Program], bool]


def reduced(program: Program, fails: Fails, seconds: float = 60.0) -> Program:
    """The smallest program found within this time that `fails` accepts, as it must the given one."""
    end = time.monotonic() + seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        program = next((one for one in _with_one_call(program) if fails(one)), program)
        while (smaller := _one_step(program, fails, end)) is not None:
            program = smaller
        return _without_idle_parameters(program, fails)


def _with_one_call(program: Program) -> Iterator[Program]:
    return (replace(program, calls=(call,)) for call in program.calls)


def _one_step(program: Program, fails: Fails, end: float) -> Program | None:
    size = len(ast.unparse(ast.parse(program.source)))
    for tree in _smaller_trees(ast.parse(program.source)):
        if time.monotonic() > end:
            return None
        text = ast.unparse(ast.fix_missing_locations(tree))
        if len(text) < size and fails(candidate := replace(program, source=text)):
            return candidate
    return None


def _smaller_trees(tree: ast.Module) -> Iterator[ast.Module]:
    parts = [
        (position, name, index, part)
        for position, node in enumerate(ast.walk(tree))
        for name, value in ast.iter_fields(node)
        if (name, type(node)) != ("func", ast.Call)
        for index, part in (enumerate(value) if isinstance(value, list) else [(None, value)])
    ]
    for position, name, index, part in parts:
        if isinstance(part, ast.stmt) and index is not None and not _is_kernel(part):
            yield from _without_statement(tree, position, name, index)
    for position, name, index, part in parts:
        if isinstance(part, ast.expr):
            yield from _simpler_expressions(tree, position, name, index, part)


def _is_kernel(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name == "kernel"


def _without_statement(tree: ast.Module, position: int, name: str, index: int) -> Iterator[ast.Module]:
    """The tree without one statement, and with the body of a compound statement in its place."""
    for keep_body in (False, True):
        changed = copy.deepcopy(tree)
        statements = getattr(list(ast.walk(changed))[position], name)
        inside = getattr(statements[index], "body", []) if keep_body else []
        if keep_body and (not inside or isinstance(statements[index], ast.FunctionDef)):
            return
        statements[index : index + 1] = inside
        if not statements and name == "body":
            statements.append(ast.Pass())
        yield changed


def _simpler_expressions(
    tree: ast.Module, position: int, name: str, index: int | None, old: ast.expr
) -> Iterator[ast.Module]:
    """The tree with a part of the expression, or a constant, in its place."""
    if isinstance(getattr(old, "ctx", None), ast.Store):
        return
    parts = [child for child in ast.iter_child_nodes(old) if isinstance(child, ast.expr)]
    if not isinstance(old, (ast.Name, ast.Attribute, ast.Constant)):
        parts += [ast.Constant(0), ast.Constant(1)]
    for part in parts:
        changed = copy.deepcopy(tree)
        node = list(ast.walk(changed))[position]
        if index is None:
            setattr(node, name, copy.deepcopy(part))
        else:
            getattr(node, name)[index] = copy.deepcopy(part)
        yield changed


def _without_idle_parameters(program: Program, fails: Fails) -> Program:
    if any(isinstance(one, Cells) and one.same_as is not None for call in program.calls for one in call):
        return program
    [kernel] = [node for node in ast.parse(program.source).body if _is_kernel(node)]
    assert isinstance(kernel, ast.FunctionDef)
    for index in reversed(range(len(kernel.args.args))):
        tree = ast.parse(program.source)
        [changed] = [node for node in tree.body if _is_kernel(node)]
        assert isinstance(changed, ast.FunctionDef)
        del changed.args.args[index]
        calls = tuple((*call[:index], *call[index + 1 :]) for call in program.calls)
        candidate = replace(program, source=ast.unparse(tree), calls=calls)
        if fails(candidate):
            program = candidate
    return program
