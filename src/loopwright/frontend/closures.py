"""Functions inside of functions: a nested `def`, and a lambda, which is one without a name."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from loopwright.frontend.array_variables import is_replaced_later
from loopwright.frontend.context import Context
from loopwright.frontend.scopes import free_names, lambda_definition
from loopwright.frontend.values import Closure, Value
from loopwright.frontend.variables import freeze
from loopwright.frontend.webs import Web


def nested_function(cx: Context, tree: ast.FunctionDef) -> Closure:
    """The function that a `def` makes. What its free names mean is told where it is named."""
    names = [parameter.arg for parameter in (*tree.args.posonlyargs, *tree.args.args)]
    given = [*zip(reversed(names), reversed(tree.args.defaults), strict=False)]
    keywords = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    given += [(parameter.arg, default) for parameter, default in keywords if default is not None]
    defaults: dict[str, Value] = {}
    for name, default in given:
        defaults[name] = freeze(cx, cx.evaluate(default), cx.at(default))
        if is_replaced_later(cx, defaults[name], default):
            raise cx.error(default, f"'{ast.unparse(default)}' is assigned again, and a default until then",
                           "the function goes on with the array that it was given first",
                           f"make it a copy: {name}={ast.unparse(default)}.copy()")  # fmt: skip
    return Closure(tree, cx.frame.number, {}, defaults)


def named_lambda(cx: Context, node: ast.Lambda) -> Closure:
    """`name = lambda x: ...`."""
    return nested_function(cx, _definition(cx, node))


def given_lambda(cx: Context, node: ast.Lambda) -> Closure:
    """A lambda that is an argument: it is called before anything is assigned."""
    made = nested_function(cx, _definition(cx, node))
    outer: Mapping[str, tuple[int, Web]] = {} if cx.frame.closure is None else cx.frame.closure.free
    here = cx.frame.webs.free.get(id(node), {})
    free = {**outer, **{name: (cx.frame.number, web) for name, web in here.items()}}
    return Closure(made.tree, made.frame, free, made.defaults)


def _definition(cx: Context, node: ast.Lambda) -> ast.FunctionDef:
    tree = lambda_definition(node)
    hidden = free_names(tree) & {name for scope in cx.frame.scopes for name in scope}
    if hidden:
        raise cx.error(node, f"'{min(hidden)}' belongs to a comprehension, and a lambda inside of it reads it",
                       remedy="write the loop out")  # fmt: skip
    return tree
