"""Which names of a function stand for arrays that it writes elements of, under this name or another one.

It tells from the syntax, and errs to the safe side: a name that is handed to a function may be written there.
"""

from __future__ import annotations

import ast
import builtins

from loopwright.frontend.context import Context, Frame

_WRITERS = ("fill", "sort", "put", "partition", "itemset", "resize")
_VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "view", "squeeze", "diagonal", "asarray", "ascontiguousarray",
          "expand_dims", "atleast_1d", "atleast_2d", "enumerate", "zip", "reversed", "flip")  # fmt: skip
_READERS = frozenset(vars(builtins))


def is_written_through(cx: Context, node: ast.AST) -> bool:
    """Whether an array, or one that an expression makes a view of it, is written in place by this function."""
    written = written_in_place(cx.frame)
    target = cx.target_names.get(id(node))
    names = _roots(node) if isinstance(node, ast.expr) else set()
    return target in written or bool(names & written)


def written_in_place(frame: Frame) -> frozenset[str]:
    """The names through which a function writes elements, or may: it hands them to other functions, or writes them
    under another name."""
    found: set[str] = set()
    aliases: list[tuple[str, str]] = []  # (a name, one that it may be a view of)
    for node in ast.walk(frame.tree):  # with the functions inside, which write what is theirs and ours
        match node:
            case ast.Subscript(ctx=ast.Store(), value=value) | ast.Attribute(ctx=ast.Store(), value=value):
                found |= _roots(value)
            case ast.AugAssign(target=ast.Subscript(value=value) | ast.Attribute(value=value)):
                found |= _roots(value)
            case ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets, value=value):
                aliases += [pair for target in targets for pair in _pairs(target, value)]
            case ast.For(target=target, iter=value):
                aliases += [(name, old) for name in _stored(target) for old in _roots(value)]
            case ast.NamedExpr(target=target, value=value):
                aliases += _pairs(target, value)
            case _:
                pass
        if isinstance(node, ast.Call):
            found |= _by_call(node)
    while grown := {old for new, old in aliases if new in found and old not in found}:
        found |= grown
    return frozenset(found)


def has_aliases(frame: Frame, name: str) -> bool:
    """Whether a name is given the array of another one somewhere, or another one its array."""
    for node in ast.walk(frame.tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [pair for target in targets for pair in _pairs(target, value)]
            case ast.NamedExpr(target=target, value=value):
                pairs = _pairs(target, value)
            case _:
                continue
        if any(name in pair and pair != (name, name) and {*pair} <= frame.webs.locals for pair in pairs):
            return True
    return False


def _by_call(call: ast.Call) -> set[str]:
    """The names that a call may write. The third operand of `np.add(a, b, c)` and the like counts, whatever it is."""
    outs = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    outs += call.args[1:] if isinstance(call.func, ast.Attribute) else []
    return _by_function(call).union(*map(_roots, outs))


def _by_function(call: ast.Call) -> set[str]:
    match call.func:
        case ast.Attribute(attr=attribute, value=value) if attribute in _WRITERS:
            return _roots(value)
        case ast.Name(id=name) if name not in _READERS:
            return set().union(*map(_roots, [*call.args, *(one.value for one in call.keywords)]), set())
        case _:
            return set()


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, str]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in _pairs(t, v)]
    return [(new, old) for new in _stored(target) for old in _roots(value)]


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _roots(node: ast.expr) -> set[str]:
    """The names whose array a value may be, or may be a view of."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(attr="shape" | "size" | "ndim" | "dtype"):
            return set()
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.NamedExpr(value=inner):
            return _roots(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return set().union(*map(_roots, parts), set())
        case ast.IfExp(body=first, orelse=second):
            return _roots(first) | _roots(second)
        case ast.Call(func=ast.Attribute(attr=attribute, value=inner), args=arguments) if attribute in _VIEWS:
            return _roots(inner).union(*map(_roots, arguments))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _VIEWS or name not in _READERS:
            return set().union(*map(_roots, arguments), set())  # a helper may return its argument
        case _:
            return set()
