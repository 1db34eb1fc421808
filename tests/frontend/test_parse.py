"""Finding a `def` in its file, and where its parts stand."""

from __future__ import annotations

import ast
from functools import lru_cache

import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.errors import KernelError
from loopwright.frontend.capture import capture
from loopwright.frontend.parse import parameters_of, parse
from loopwright.ir.nodes import Location


def test_two_functions_of_one_name():
    text = """
        def f(a):
            return 1

        first = f

        def f(a):
            return 2
        """
    first = define(text)
    second = first.__globals__["f"]
    assert ast.unparse(parse(first)[1].tree.body[0]) == "return 1"
    assert ast.unparse(parse(second)[1].tree.body[0]) == "return 2"


def test_the_name_after_def():
    function = define("if True:\n    def  f(a): return a\n")
    assert parse(function)[1].at_name() == Location("example.py", 2, 9, 10)


def test_parameters_in_order():
    function = define("def f(a, /, b, *c, d, **e):\n    return a\n")
    assert [parameter.arg for parameter in parameters_of(parse(function)[1].tree)] == ["a", "b", "c", "d"]


def test_a_signature_is_no_function():
    with pytest.raises(KernelError, match=r"takes no signature.*\n.*use njit of loopwright.numba"):
        parse("float64(float64[:])")


def test_a_file_that_no_longer_parses():
    function = define("def f(a):\n    return a\n", file="broken.py")
    define("x = 1\ndef g(): pass\n", file="broken.py")
    with pytest.raises(KernelError, match="the file was changed"):
        parse(function)


def test_text_that_says_something_else_now():
    function = define("def f(a):\n    return a + 1\n", file="edited.py")
    define("def f(a):\n    return a + 2\n", file="edited.py")
    with pytest.raises(KernelError, match="the file was changed"):
        parse(function)
    define("def f(a):\n    return a - 1\n", file="edited.py")
    with pytest.raises(KernelError, match="the file was changed"):
        parse(function)
    define("def f(a):\n    return a + 1\n\ndef g():\n    pass\n", file="edited.py")
    parse(function)


def test_cells_of_a_notebook_share_a_name_only():
    first = define("def f(a):\n    return 1\n", file="<cell 1>")
    second = define("def f(a):\n    return 2\n", file="<cell 2>")
    assert ast.unparse(parse(first)[1].tree.body[0]) == "return 1"
    assert ast.unparse(parse(second)[1].tree.body[0]) == "return 2"


CELL = """\
import numpy as np

def other():
    return np.argmax([1])

def f(a):
    return np.argmax(a)
"""


def test_a_cell_that_is_compiled_statement_by_statement():
    """As IPython does: Python calls the methods of a module that the same text imports in another way."""
    define(CELL, file="<cell 3>")
    names: dict[str, object] = {}
    for statement in ast.parse(CELL).body:
        exec(compile(ast.Module([statement], []), "<cell 3>", "exec"), names)
    assert parse(names["f"])[1].tree.lineno == 6
    define(CELL.replace("argmax(a)", "argmin(a)"), file="<cell 3>")
    with pytest.raises(KernelError, match="the file was changed"):
        parse(names["f"])


def test_what_is_a_kernel_already_or_behind_another_decorator():
    with pytest.raises(KernelError, match=r"'f' is a kernel already\n.*lw.kernel\(f.py_func, threads=2\)"):
        parse(lw.kernel(define("def f(a):\n    return a\n")))
    with pytest.raises(KernelError, match="below the other decorators"):
        parse(lru_cache(define("def f(a):\n    return a\n")))


def test_a_decorator_below_is_not_the_function():
    function = define("def wrapper(a, **more):\n    return a\n")
    function.__wrapped__ = define("def f(a):\n    return a\n", "other.py")
    with pytest.raises(KernelError, match=r"'\*\*more' is outside the language(.*\n)*.*below the other decorators"):
        capture(function)
