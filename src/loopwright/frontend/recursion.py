"""Helpers that call themselves last, `return gcd(b, a % b)`: each such call is another round of a loop.

    def gcd(a, b):                  ->   while True:
        if b == 0:                           if b == 0:
            return a                             return a
        return gcd(b, a % b)                 a, b = b, a % b

More rounds than Python has frames end in a RecursionError. Functions that do something with what their own calls return
are made loops by explicit_stack.py.
"""

from __future__ import annotations

import ast
import copy

from loopwright.frontend.parse import parameters_of

DEEPEST = 1000  # Python's own limit, as it is set at first
_DEPTH = "recursion_depth"


def without_last_calls(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as a loop, where it calls itself last and nowhere else; the function itself for all others. The
    same one each time."""
    found: ast.FunctionDef | None = getattr(tree, "as_loop", None)
    if found is None:
        found = _made(tree) if tree.args.vararg is None and _calls_itself(tree, tree.name) else tree
        tree.as_loop = found  # type: ignore[attr-defined]
    return found


def _calls_itself(tree: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )


def _made(tree: ast.FunctionDef) -> ast.FunctionDef:
    result = copy.deepcopy(tree)
    names = [parameter.arg for parameter in parameters_of(result)]
    counted = ast.parse(
        f"{_DEPTH} += 1\nif {_DEPTH} > {DEEPEST}:\n    raise RecursionError('maximum recursion depth exceeded')"
    ).body
    body = [*counted, *_rounds(result.body, tree.name, names), ast.Return(None)]
    loop = ast.While(ast.Constant(True), body, [])
    result.body = [*ast.parse(f"{_DEPTH} = 0").body, loop]
    if _calls_itself(result, tree.name):
        return tree
    for statement in (*counted, result.body[0]):
        for node in ast.walk(statement):
            ast.copy_location(node, tree.body[-1])
    return ast.fix_missing_locations(result)


def _rounds(statements: list[ast.stmt], name: str, parameters: list[str]) -> list[ast.stmt]:
    """The statements, with another round for each call of the function that is returned."""
    result: list[ast.stmt] = []
    for statement in statements:
        match statement:
            case ast.Return(value=ast.IfExp(test=test, body=first, orelse=second)) if _calls_itself(statement, name):
                branches = [[ast.copy_location(ast.Return(one), one)] for one in (first, second)]
                choice = ast.If(test, *(_rounds(list(one), name, parameters) for one in branches))
                result.append(ast.copy_location(choice, statement))
            case ast.Return(value=ast.Call(func=ast.Name(id=called), args=arguments, keywords=[])) if (
                called == name and len(arguments) == len(parameters)
            ):
                result += _next_round(statement, arguments, parameters)
            case ast.If(test=test, body=then, orelse=otherwise):
                choice = ast.If(test, _rounds(then, name, parameters), _rounds(otherwise, name, parameters))
                result.append(ast.copy_location(choice, statement))
            case _:
                result.append(statement)
    return result


def _next_round(statement: ast.stmt, arguments: list[ast.expr], parameters: list[str]) -> list[ast.stmt]:
    changed = [
        (parameter, argument) for parameter, argument in zip(parameters, arguments, strict=True)
        if not (isinstance(argument, ast.Name) and argument.id == parameter)
    ]  # fmt: skip
    names: list[ast.expr] = [ast.Name(parameter, ast.Store()) for parameter, _ in changed]
    values = [argument for _, argument in changed]
    made: list[ast.stmt] = []
    if len(changed) == 1:
        made.append(ast.Assign(names, values[0]))
    elif changed:
        made.append(ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(values, ast.Load())))
    made.append(ast.Continue())
    for one in made:
        for node in ast.walk(one):
            if not hasattr(node, "lineno"):
                ast.copy_location(node, statement)
    return made


def calling(tree: ast.FunctionDef) -> ast.FunctionDef:
    """A function of the same parameters that only calls this one: what a kernel that calls itself is read as. The same
    one each time."""
    found: ast.FunctionDef | None = getattr(tree, "called", None)
    if found is not None:
        return found
    arguments: list[ast.expr] = [ast.Name(one.arg, ast.Load()) for one in (*tree.args.posonlyargs, *tree.args.args)]
    if tree.args.vararg is not None:
        arguments.append(ast.Starred(ast.Name(tree.args.vararg.arg, ast.Load()), ast.Load()))
    keywords = [ast.keyword(one.arg, ast.Name(one.arg, ast.Load())) for one in tree.args.kwonlyargs]
    call = ast.Return(ast.Call(ast.Name(tree.name, ast.Load()), arguments, keywords))
    for node in ast.walk(call):
        ast.copy_location(node, tree.body[-1])
    found = ast.FunctionDef(tree.name, tree.args, [call], [], lineno=tree.lineno, col_offset=tree.col_offset)
    tree.called = found  # type: ignore[attr-defined]
    return found
