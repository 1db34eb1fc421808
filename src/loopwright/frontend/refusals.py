"""What is outside the language, by kind of syntax: what it is, why, and what to write instead."""

from __future__ import annotations

import ast

from loopwright.errors import KernelError
from loopwright.frontend.context import Context

ELEMENTWISE = "write a loop over range(...) and use one element at a time"

STATEMENTS: dict[type[ast.stmt], tuple[str, str, str]] = {
    ast.TryStar: ("'except*' is outside the language", "there are no groups of exceptions", "write 'except'"),
    ast.With: ("'with' is outside the language", "", "enter the context where the function is called"),
    ast.Import: ("'import' inside a function is outside the language", "", "import at the top of the file"),
    ast.ImportFrom: ("'import' inside a function is outside the language", "", "import at the top of the file"),
    ast.Global: (
        "'global' is outside the language",
        "globals are constants in compiled code",
        "return the value, or write it into an array argument",
    ),
    ast.Nonlocal: (
        "'nonlocal' is outside the language",
        "a nested function cannot assign the variables around it",
        "return the value and assign it where the function is called",
    ),
    ast.Delete: ("'del' is outside the language", "", "remove the line: locals cost nothing"),
    ast.ClassDef: ("a class inside a function is outside the language", "", "use local variables and arrays"),
    ast.AsyncFunctionDef: ("an async function is outside the language", "", "write it with a plain 'def'"),
    ast.AsyncFor: ("'async for' is outside the language", "", "write a plain 'for' over range(...)"),
    ast.AsyncWith: ("'async with' is outside the language", "", "enter the context where the function is called"),
    ast.Match: ("'match' is outside the language", "", "write it with 'if' and 'elif'"),
}

EXPRESSIONS: dict[type[ast.expr], tuple[str, str, str]] = {
    ast.ListComp: (
        "a comprehension is outside the language",
        "",
        "make an array with np.empty(n) and fill it in a loop",
    ),
    ast.GeneratorExp: ("a generator is outside the language", "", "write a list: [x for x in a]"),
    ast.Lambda: ("a lambda cannot be used here", "", "give it a name: f = lambda x: ...; or pass it to a function"),
    ast.Yield: (
        "'yield' is outside the language",
        "values cannot be yielded from compiled code",
        "write each value into an element of an array argument",
    ),
    ast.YieldFrom: (
        "'yield from' is outside the language",
        "values cannot be yielded from compiled code",
        "write each value into an element of an array argument",
    ),
    ast.Await: ("'await' is outside the language", "", "await it where the function is called, and pass the result"),
    ast.JoinedStr: ("a formatted string is outside the language", "there are no strings in compiled code", ""),
    ast.Starred: ("'*' before an argument is outside the language", "", "write the arguments out"),
}

WHEREVER_IT_STANDS: dict[type[ast.AST], tuple[str, str, str]] = {
    **{kind: told for kind, told in STATEMENTS.items() if kind is not ast.Delete},  # a name can be deleted
    **{kind: EXPRESSIONS[kind] for kind in (ast.Yield, ast.YieldFrom, ast.Await)},
}
"""What no types and no place make legal: it can be told from the text of a function alone."""


def assigns_outside(node: ast.AST, tree: ast.AST) -> bool:
    """Whether a function assigns a name that this declares as one from outside: else the declaration says nothing."""
    return isinstance(node, ast.Global | ast.Nonlocal) and any(
        name in node.names
        for one in ast.walk(tree)
        for name in (
            [one.id] if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
            else [one.name or ""] if isinstance(one, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler)
            else [part.asname or part.name for part in one.names] if isinstance(one, ast.Import | ast.ImportFrom)
            else []
        )
    )  # fmt: skip


FUNCTIONS: dict[str, tuple[str, str]] = {
    "enumerate": ("it can only be used after 'in'", "write: for i, x in enumerate(a)"),
    "zip": ("it can only be used after 'in'", "write: for x, y in zip(a, b)"),
    "reversed": ("it can only be used after 'in'", "write: for x in reversed(a), or use a[::-1]"),
    "map": ("its items can be used only once, where it is called", "write: for x in map(f, a), or list(map(f, a))"),
    "filter": ("", "write a loop with an 'if'"),
    "str": ("a number becomes a text only where it is printed or raised", "make the text where the function is called"),
    "open": ("", "read the file before the call, and pass an array"),
    "input": ("", "read it before the call, and pass it"),
}


NUMPY: dict[str, str] = {
    "tensordot": "write the loops out, or use np.einsum",
    "nditer": "write: for x in a.flat, or for index, x in np.ndenumerate(a)",
    **dict.fromkeys(
        ("eig", "eigvals"),
        "call it before, and pass its result; for symmetric matrices there are eigh and eigvalsh",
    ),
}


def refuse_statement(cx: Context, node: ast.stmt) -> KernelError:
    """The error for a kind of statement that is outside the language."""
    what, why, remedy = STATEMENTS.get(type(node), (f"{type(node).__name__} is outside the language", "", ""))
    return cx.error(node, what, why, remedy)


def refuse_expression(cx: Context, node: ast.expr) -> KernelError:
    """The error for a kind of expression that is outside the language."""
    what, why, remedy = EXPRESSIONS.get(type(node), (f"{type(node).__name__} is outside the language", "", ""))
    return cx.error(node, what, why, remedy)
