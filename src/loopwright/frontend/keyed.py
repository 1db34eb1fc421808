"""Dicts with texts as keys: `d["x"]`, `"x" in d`, `d.get("x", 0)`, loops over them. Which keys such a dict has is known
wherever it is read; one that is filled key by key, `d["x"] = v`, is another value of its name from there on."""

from __future__ import annotations

import ast

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.array_variables import separate
from loopwright.frontend.context import Context, web_key
from loopwright.frontend.convert import as_number
from loopwright.frontend.elementwise import kept_array
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Fixed, Items, Keyed, Literal, Number, Value, describe
from loopwright.frontend.variables import freeze, read_variable, store_variable
from loopwright.frontend.webs import Web


def keyed_literal(cx: Context, node: ast.Dict, values: tuple[Value, ...]) -> Keyed:
    """`{"x": a, "y": b}`: of a key that stands there twice, the last value."""
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    found = dict(zip(keys, values, strict=True))
    return Keyed(tuple(map(str, found)), tuple(found.values()))


def is_keyed(node: ast.Dict) -> bool:
    """Whether all keys of a literal are texts."""
    return bool(node.keys) and all(isinstance(one, ast.Constant) and type(one.value) is str for one in node.keys)


def is_filled_by_text(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a dict of this name that begins empty gets texts as keys, and nothing else."""
    stores = [one for one in own_nodes(tree) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    keys = [one.slice for one in stores if _is_name(one.value, name)]
    return bool(keys) and all(isinstance(key, ast.Constant) and type(key.value) is str for key in keys)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def note_keyed(cx: Context, web: Web, value: Keyed, node: ast.expr) -> None:
    """Remember where the dict of a name begins: in the same body it may be filled. Numbers that change in loops and
    branches become variables of their own."""
    if not web.is_single or not _is_new(cx, node):
        return
    cx.keyed_in[cx.frame.number, web.number] = cx.scopes
    changed = _changed_inside(cx.frame.tree, web.name)
    items = (
        _variable(cx, web, key, item, node) if key in changed and isinstance(item, Literal | Number) else item
        for key, item in zip(value.keys, value.items, strict=True)
    )
    if changed:
        cx.frame.bindings[web.number] = Keyed(value.keys, tuple(items))


def _is_new(cx: Context, made: ast.expr) -> bool:
    """Whether an expression makes a dict: it is none that has a name already, and no helper is given one."""
    match made:
        case ast.Dict():
            return True
        case ast.Call():
            webs = (cx.frame.webs.loads.get(id(part)) for part in ast.walk(made) if isinstance(part, ast.Name))
            values = (cx.frame.bindings.get(web.number) for web in webs if web is not None)
            return not any(isinstance(value, Keyed) for value in values)
        case _:
            return False


def _changed_inside(tree: ast.FunctionDef, name: str) -> set[str]:
    """The keys that loops and branches assign."""
    inside = (part for node in own_nodes(tree) if isinstance(node, ast.If | ast.For | ast.While | ast.Try)
              for one in ast.iter_child_nodes(node) for part in ast.walk(one))  # fmt: skip
    return {
        str(part.slice.value) for part in inside
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and _is_name(part.value, name)
        and isinstance(part.slice, ast.Constant)
    }  # fmt: skip


def _variable(cx: Context, web: Web, key: str, item: Value, node: ast.expr) -> Value:
    """An item as a variable, after it was given this value."""
    own, name = (*web_key(cx.frame, web), key), f"{web.name}.{key}"
    store_variable(cx, own, name, item, node, node)
    return read_variable(cx, own, node, name)


def set_key(cx: Context, target: ast.Subscript, base: Keyed, key: Value, value: Value, value_node: ast.expr) -> None:
    """`d["x"] = value`. Raises KernelError where another name, a loop or a branch would have to show it."""
    text = _text(cx, key, target)
    web = cx.frame.webs.loads.get(id(target.value))
    begins = cx.keyed_in.get((cx.frame.number, web.number)) if web is not None else None
    is_ours = web is not None and begins is not None and cx.frame.bindings.get(web.number) == base
    changed = _changed_inside(cx.frame.tree, web.name) if web is not None else set()
    is_variable = is_ours and text in base.keys and text in changed
    if web is None or not is_ours or (begins != cx.scopes and not is_variable) or _is_shared(cx, web.name):
        raise cx.error(target, "a dict with texts as keys does not change here",
                       "which keys it has must be known wherever it is read",
                       "fill it where it is made, outside loops and branches, under one name")  # fmt: skip
    if is_variable or text in changed:
        number = as_number(cx, value, value_node, "what loops and branches put into this dict is a number")
        found = {**dict(zip(base.keys, base.items, strict=True)), text: _variable(cx, web, text, number, target)}
        cx.frame.bindings[web.number] = Keyed(tuple(found), tuple(found.values()))
        return
    value = freeze(cx, kept_array(cx, value, value_node), cx.at(value_node))
    value = separate(cx, f"{web.name}[{text!r}]", value, target, value_node)
    found = {**dict(zip(base.keys, base.items, strict=True)), text: value}
    cx.frame.bindings[web.number] = Keyed(tuple(found), tuple(found.values()))


def _is_shared(cx: Context, name: str) -> bool:
    """Whether something else than the name may stand for its dict."""
    for node in own_nodes(cx.frame.tree):
        match node:
            case ast.FunctionDef() | ast.Lambda():
                if any(_is_name(part, name) for part in ast.walk(node)):
                    return True
            case ast.Assign(targets=[ast.Subscript()], value=ast.Call() | ast.BinOp()):  # what holds numbers
                pass
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                parts = [value, *(one for part in ast.walk(value) for one in _inside(part))]
                if any(_is_name(part, name) for part in parts):
                    return True
            case _:
                pass
    return False


def _inside(node: ast.AST) -> list[ast.expr]:
    """What an expression may give on as it is."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.IfExp(body=first, orelse=second):
            return [first, second]
        case ast.BoolOp(values=parts):
            return parts
        case ast.Call(func=ast.Name(id="len" | "sum" | "list" | "sorted")):
            return []
        case ast.Call(args=parts, keywords=named):
            return [*parts, *(one.value for one in named)]
        case _:
            return []


def _text(cx: Context, key: Value, node: ast.AST) -> str:
    match key:
        case Fixed(value=str() as text):
            return text
        case _:
            raise cx.error(node, f"a key of this dict is a text, and {describe(key)} is not",
                           remedy="write the key out: d['name']")  # fmt: skip


def item_of(cx: Context, base: Keyed, key: Value, node: ast.AST) -> Value:
    """`d[key]`. Raises KernelError for a key that is not there, where Python raises KeyError."""
    text = _text(cx, key, node)
    if text not in base.keys:
        raise cx.error(node, f"the dict has no key {text!r}", f"its keys are {', '.join(map(repr, base.keys))}")
    return base.items[base.keys.index(text)]


def has_key(cx: Context, base: Keyed, key: Value, node: ast.AST) -> Literal:
    """`key in d`."""
    return Literal(_text(cx, key, node) in base.keys)


def keys_of(base: Keyed) -> Items:
    """What a loop over the dict gives."""
    return Items(tuple(map(Fixed, base.keys)))


def method_of_keyed(cx: Context, base: Keyed, call: Arguments) -> Value:
    """`d.get(key, default)`, `d.keys()`, `d.values()`, `d.items()`."""
    match call.name:
        case "get":
            call.expect(cx, 1, 2)
            text = _text(cx, call.values[0], call.node)
            if text in base.keys:
                return base.items[base.keys.index(text)]
            return call.values[1] if len(call.values) > 1 else Fixed(None)
        case "keys" | "values" | "items":
            call.expect(cx, 0)
            keys, values = keys_of(base).items, base.items
            pairs = tuple(map(Items, zip(keys, values, strict=True)))
            return Items({"keys": keys, "values": values, "items": pairs}[call.name])
        case _:
            raise cx.error(call.node, f"'.{call.name}()' of a dict with texts as keys is outside the language",
                           "such a dict is fixed at compile time",
                           "there are get, keys, values and items")  # fmt: skip
