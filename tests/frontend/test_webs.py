"""Which assignments of a name are one variable."""

from __future__ import annotations

import ast
import textwrap

import pytest

from loopwright.frontend.scopes import free_names, locals_of
from loopwright.frontend.webs import Webs, find_webs, is_always_true


def function(text: str) -> ast.FunctionDef:
    (tree,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


def webs(tree: ast.FunctionDef, decided: dict[str, bool] | None = None) -> Webs:
    return find_webs(tree, lambda test, is_parameter: (decided or {}).get(ast.unparse(test)))


def described(text: str, name: str = "x", decided: dict[str, bool] | None = None) -> list[tuple[str, int, str]]:
    """For each load of a name in order: its line's text, the web's number of definitions, and doubts."""
    tree = function(text)
    found = webs(tree, decided)
    lines = textwrap.dedent(text).split("\n")
    result = []
    for node in sorted((n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name), key=lambda n: n.lineno):
        if id(node) in found.loads:
            web = found.loads[id(node)]
            doubt = "unsure" if id(node) in found.uncertain else ""
            result.append((lines[node.lineno - 1].strip(), web.definitions, doubt))
    return result


def test_unrelated_uses_are_two_variables():
    text = """
    def f(a):
        x = 1
        a[0] = x
        x = 2.5
        a[1] = x
    """
    assert described(text) == [("a[0] = x", 1, ""), ("a[1] = x", 1, "")]


def test_definitions_that_meet_are_one():
    text = """
    def f(a):
        if a[0]:
            x = 1
        else:
            x = 2
        x = x + 1
        return x
    """
    assert described(text) == [("x = x + 1", 2, ""), ("return x", 1, "")]


def test_loops_carry_definitions_back():
    text = """
    def f(a):
        x = 0
        for i in range(3):
            x = x + 1
        return x
    """
    assert described(text) == [("x = x + 1", 2, ""), ("return x", 2, "")]


def test_reads_that_may_come_first():
    text = """
    def f(a):
        for i in range(3):
            if i:
                a[i] = x
            x = i
        return x
    """
    assert described(text) == [("a[i] = x", 1, "unsure"), ("return x", 1, "unsure")]


@pytest.mark.parametrize("leave", ["break", "return 1", "continue"])
def test_endless_loops_and_exits(leave):
    text = f"""
    def f(a):
        while True:
            x = 1
            if a[0]:
                {leave}
            x = 2
        return x
    """
    tree = function(text)
    found = webs(tree)
    assert found.falls_through is False
    assert (id(tree.body[1]) in found.unreachable) == (leave != "break")


def test_a_decided_branch_is_not_there():
    text = """
    def f(x):
        if x is None:
            x = 1
        return x
    """
    assert described(text) == [("if x is None:", 2, ""), ("return x", 2, "")]
    assert described(text, decided={"x is None": True}) == [("if x is None:", 1, ""), ("return x", 1, "")]
    tree = function(text)
    assert webs(tree, {"x is None": False}).decisions == {id(tree.body[0]): False}


def test_what_decides_is_the_argument_only():
    asked = []
    tree = function("""
    def f(x, y):
        y = 2
        if x is None:
            x = 1
        while y:
            if x is None:
                y = 3
    """)
    find_webs(tree, lambda test, is_parameter: asked.append((is_parameter("x"), is_parameter("y"))))
    assert asked[0] == (True, False)
    assert asked[-1] == (False, False)


def test_free_names_are_used_where_the_function_is_named():
    tree = function("""
    def f(a):
        x = 1
        def g():
            def h():
                return x + other
            return h() + k()
        def k():
            return y
        y = 2
        g()
        x = 2.5
        g()
    """)
    found = webs(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "g"]
    first, second = (found.free[id(node)] for node in sorted(calls, key=lambda n: n.lineno))
    assert set(first) == {"x", "y", "k"}
    assert first["x"] != second["x"]
    assert first["y"] == second["y"]


def test_names():
    tree = function("""
    def f(a, *, b):
        c = d
        for i in e:
            (g := 1)
        def h(j):
            return k
        return [m for m in n]
    """)
    assert locals_of(tree) == {"a", "b", "c", "i", "g", "h"}
    assert free_names(tree) >= {"d", "e", "k"}
    assert is_always_true(ast.parse("1", mode="eval").body)
    assert not is_always_true(ast.parse("0", mode="eval").body)
