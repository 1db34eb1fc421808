"""Whose names are whose."""

from __future__ import annotations

import ast
import gc
import weakref

import pytest

from loopwright.frontend.scopes import free_names, free_through_siblings, locals_of, loop_names, names_inside, own_nodes

TEXT = """
def outer(a, b=1):
    x = a[0]
    def inner(c, d=x):
        y = c + b + z
        return y + other(y)
    def other(e):
        if e:
            def deepest(f):
                return f + w
        return deepest(e)
    for i in range(3):
        t, (u, a[i]) = i, (i, i)
        squares = [k * k for k in range(i)]
    if (s := inner(x)):
        del t
    return s
"""


@pytest.fixture
def outer() -> ast.FunctionDef:
    tree = ast.parse(TEXT).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def test_names_of_a_function(outer: ast.FunctionDef) -> None:
    assert locals_of(outer) == {"a", "b", "x", "inner", "other", "i", "t", "u", "squares", "s"}
    assert loop_names(outer) == {"i"}


def test_names_inside_are_those_of_nested_functions_too(outer: ast.FunctionDef) -> None:
    assert names_inside(outer) == locals_of(outer) | {"c", "d", "y", "e", "deepest", "f"}


def test_free_names(outer: ast.FunctionDef) -> None:
    assert free_names(outer) == {"z", "w", "range"}
    assert free_through_siblings(outer) == {
        "inner": frozenset({"b", "z", "w", "other"}),
        "other": frozenset({"w"}),
    }


def test_own_nodes_come_in_the_order_of_the_text(outer: ast.FunctionDef) -> None:
    names = [node.id for node in own_nodes(outer) if isinstance(node, ast.Name)]
    assert names == [
        "x",
        "a",
        "x",
        "i",
        "range",
        "t",
        "u",
        "a",
        "i",
        "i",
        "i",
        "i",
        "squares",
        "s",
        "inner",
        "x",
        "t",
        "s",
    ]


def test_answers_live_as_long_as_the_tree() -> None:
    tree = ast.parse(TEXT).body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert locals_of(tree) is locals_of(tree)
    gone = weakref.ref(tree)
    del tree
    gc.collect()
    assert gone() is None
