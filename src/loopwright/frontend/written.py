"""Which parameters a function may write through, from its syntax and that of the functions it calls.

It errs to the safe side only where it must: a name handed to something it cannot read counts as written.
"""

from __future__ import annotations

import ast
import builtins
from types import BuiltinFunctionType, FunctionType

import numpy as np

from loopwright.errors import KernelError
from loopwright.frontend.parse import parameters_of, parse


_WRITERS = ("fill", "sort")


def written_parameters(function: FunctionType, tree: ast.FunctionDef) -> frozenset[str]:
    """The parameters whose elements may be written: stored through, under another name, or by a callee."""
    return _DefReader(function, tree, frozenset({function.__code__})).written()


class _DefReader:
    """Reads one `def`, the function's own or one nested in it. `seen`: what is being read, so that recursion ends."""

    def __init__(self, function: FunctionType, tree: ast.FunctionDef, seen: frozenset[object]) -> None:
        self.function, self.tree, self.seen = function, tree, seen
        inner = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node is not tree]
        self.nested = {node.name: node for node in inner}

    def written(self) -> frozenset[str]:
        written: set[str] = set()
        aliases: list[tuple[str, str]] = []  # (new name, the name that it may be a view of)
        for node in ast.walk(self.tree):
            match node:
                case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                    written |= self.roots(node)
                case ast.Assign():
                    for target in node.targets:
                        aliases += self.pairs(target, node.value)
                case ast.AnnAssign(value=ast.expr() as value):
                    aliases += self.pairs(node.target, value)
                case ast.AugAssign(target=ast.Name(id=name)):
                    written.add(name)
                case ast.For():
                    aliases += [(new, old) for new in _names(node.target) for old in self.gone_over(node.iter)]
                case ast.NamedExpr():
                    aliases += self.pairs(node.target, node.value)
                case ast.Call():
                    written |= self.by_call(node)
        while grown := {old for new, old in aliases if new in written and old not in written}:
            written |= grown
        return frozenset(written & {parameter.arg for parameter in parameters_of(self.tree)})

    def pairs(self, target: ast.expr, value: ast.expr) -> list[tuple[str, str]]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in self.pairs(t, v)]
        return [(new, old) for new in _names(target) for old in self.roots(value)]

    def roots(self, expression: ast.expr) -> set[str]:
        """The names whose array the value may be, or may be a view of."""
        match expression:
            case ast.Name(id=name):
                return {name}
            case ast.Attribute(attr="shape" | "size" | "ndim" | "dtype"):
                return set()
            case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.NamedExpr(value=inner):
                return self.roots(inner)
            case ast.Tuple(elts=parts):
                return set().union(*map(self.roots, parts)) if parts else set()
            case ast.IfExp(body=first, orelse=second):
                return self.roots(first) | self.roots(second)
            case ast.Call(func=ast.Attribute(attr="reshape" | "ravel" | "transpose" | "swapaxes", value=inner)):
                return self.roots(inner) | self.of_arguments(expression)
            case ast.Call(func=callee) if not _never_writes(_resolve(callee, self.function)):
                return self.of_arguments(expression)  # a helper may return its argument
            case _:
                return set()

    def gone_over(self, expression: ast.expr) -> set[str]:
        """The names whose rows a loop goes over."""
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
            return self.of_arguments(expression)
        return self.roots(expression)

    def of_arguments(self, call: ast.Call) -> set[str]:
        return set().union(*map(self.roots, [*call.args, *(keyword.value for keyword in call.keywords)]), set())

    def by_call(self, call: ast.Call) -> set[str]:
        """The names that a call may write: arguments in whose place the callee's parameter is written."""
        if isinstance(call.func, ast.Name) and call.func.id in self.nested:
            inner = self.nested[call.func.id]
            if inner in self.seen:
                return set()
            return self.matched(call, _DefReader(self.function, inner, self.seen | {inner}))
        if isinstance(call.func, ast.Attribute) and call.func.attr in _WRITERS:
            return self.roots(call.func.value)
        callee = _resolve(call.func, self.function)
        if _never_writes(callee):
            return set()
        callee = getattr(callee, "py_func", getattr(callee, "__wrapped__", callee))
        if not isinstance(callee, FunctionType):
            return self.of_arguments(call)
        if callee.__code__ in self.seen:
            return set()
        try:
            plain, definition = parse(callee)
        except KernelError:
            return self.of_arguments(call)
        return self.matched(call, _DefReader(plain, definition.tree, self.seen | {callee.__code__}))

    def matched(self, call: ast.Call, callee: _DefReader) -> set[str]:
        names = [parameter.arg for parameter in parameters_of(callee.tree)]
        pairs = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
        written = callee.written()
        return set().union(*(self.roots(value) for name, value in pairs if name in written), set())


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _resolve(callee: ast.expr, function: FunctionType) -> object:
    """The object that a callee's text names, looked up in closure, globals and builtins; None if it cannot be."""
    match callee:
        case ast.Name(id=name):
            free = function.__code__.co_freevars
            if name in free and function.__closure__ is not None:
                try:
                    return function.__closure__[free.index(name)].cell_contents
                except ValueError:
                    return None
            return function.__globals__.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=inner, attr=attribute):
            return getattr(_resolve(inner, function), attribute, None)
        case _:
            return None


def _never_writes(callee: object) -> bool:
    if isinstance(callee, type | np.ufunc | BuiltinFunctionType):
        return True
    return (getattr(callee, "__module__", None) or "").split(".")[0] in ("numpy", "math", "builtins")
