"""What is outside the language, by kind of syntax: what it is, why, and what to write instead."""

from __future__ import annotations

import ast

from loopwright.errors import KernelError
from loopwright.frontend.context import Context

ELEMENTWISE = "write a loop over range(...) and use one element at a time"

STATEMENTS: dict[type[ast.stmt], tuple[str, str, str]] = {
    ast.Try: (
        "'try' is outside the language",
        "an exception ends the whole call",
        "test the condition with 'if' before the operation",
    ),
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
    ast.Slice: ("a slice is outside the language", "it stands for a whole array at once", ELEMENTWISE),
    ast.List: (
        "a list is outside the language",
        "its length and types could change",
        "make an array with np.zeros(n) or np.empty(n), or use a tuple of constants",
    ),
    ast.Dict: ("a dict is outside the language", "", "use an array that is indexed by a number"),
    ast.Set: ("a set is outside the language", "", "use a bool array: seen[k] = True"),
    ast.ListComp: (
        "a comprehension is outside the language",
        "",
        "make an array with np.empty(n) and fill it in a loop",
    ),
    ast.SetComp: ("a comprehension is outside the language", "", "use a bool array: seen[k] = True"),
    ast.DictComp: ("a comprehension is outside the language", "", "use an array that is indexed by a number"),
    ast.GeneratorExp: ("a generator is outside the language", "", "write the loop out, with an accumulator"),
    ast.Lambda: ("a lambda is outside the language", "", "give it a name: write it with 'def'; it is inlined"),
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
    **{kind: EXPRESSIONS[kind] for kind in (ast.Dict, ast.SetComp, ast.DictComp, ast.Yield, ast.YieldFrom, ast.Await)},
}
"""What no types and no place make legal: it can be told from the text of a function alone."""

FUNCTIONS: dict[str, tuple[str, str]] = {
    "print": ("", "return the value, or write it into an array argument"),
    "enumerate": ("", "write: for i in range(len(a)), and use a[i]"),
    "zip": ("", "write: for i in range(len(a)), and use a[i] and b[i]"),
    "reversed": ("", "write: range(n - 1, -1, -1)"),
    "sorted": ("", "sort before the call, or write the sorting loop"),
    "sum": ("", "write a loop that adds the elements up"),
    "any": ("", "write a loop that sets a flag and breaks"),
    "all": ("", "write a loop that sets a flag and breaks"),
    "map": ("", "write a loop"),
    "filter": ("", "write a loop with an 'if'"),
    "list": ("", "make an array with np.zeros(n) or np.empty(n)"),
    "dict": ("", "use an array that is indexed by a number"),
    "set": ("", "use a bool array: seen[k] = True"),
    "str": ("there are no strings in compiled code", "make the text where the function is called"),
    "open": ("", "read the file before the call, and pass an array"),
    "input": ("", "read it before the call, and pass it"),
    "isinstance": ("types are fixed for each call", "write two functions"),
    "complex": ("complex numbers are outside the language", "keep the real and the imaginary part in two arrays"),
}


NUMPY: dict[str, str] = {
    **dict.fromkeys(("sum", "nansum", "prod", "mean", "average", "std", "var", "trace", "count_nonzero"),
                    "write a loop with an accumulator"),
    **dict.fromkeys(("min", "max", "amin", "amax", "argmin", "argmax", "ptp", "nanmin", "nanmax"),
                    "write a loop that keeps the best value so far"),
    **dict.fromkeys(("dot", "matmul", "vdot", "inner", "outer", "einsum", "tensordot", "cumsum", "cumprod", "diff"),
                    "write the loops out"),
    **dict.fromkeys(("any", "all"), "write a loop that sets a flag and breaks"),
    **dict.fromkeys(("array", "asarray", "copy", "arange", "linspace", "eye", "identity"),
                    "make an array with np.zeros or np.empty and write a loop that assigns each element"),
    **dict.fromkeys(("sort", "argsort", "searchsorted", "unique"), "call it before, and pass the result"),
    **dict.fromkeys(("reshape", "ravel", "transpose", "concatenate", "stack", "hstack", "vstack"),
                    "index with the arithmetic of the new shape"),
    "where": "write: a if condition else b",
    "clip": "write: min(max(x, low), high)",
    "isclose": "write: abs(x - y) <= tolerance",
    "allclose": "write a loop with abs(x - y) <= tolerance",
}  # fmt: skip


def refuse_statement(cx: Context, node: ast.stmt) -> KernelError:
    """The error for a kind of statement that is outside the language."""
    what, why, remedy = STATEMENTS.get(type(node), (f"{type(node).__name__} is outside the language", "", ""))
    return cx.error(node, what, why, remedy)


def refuse_expression(cx: Context, node: ast.expr) -> KernelError:
    """The error for a kind of expression that is outside the language."""
    what, why, remedy = EXPRESSIONS.get(type(node), (f"{type(node).__name__} is outside the language", "", ""))
    return cx.error(node, what, why, remedy)
