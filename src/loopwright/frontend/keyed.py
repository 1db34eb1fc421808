"""Dicts with texts as keys, which never change: `d["x"]`, `"x" in d`, `d.get("x", 0)`, loops over them."""

from __future__ import annotations

import ast

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.values import Fixed, Items, Keyed, Literal, Value, describe


def keyed_literal(cx: Context, node: ast.Dict, values: tuple[Value, ...]) -> Keyed:
    """`{"x": a, "y": b}`: of a key that stands there twice, the last value."""
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    found = dict(zip(keys, values, strict=True))
    return Keyed(tuple(map(str, found)), tuple(found.values()))


def is_keyed(node: ast.Dict) -> bool:
    """Whether all keys of a literal are texts."""
    return bool(node.keys) and all(isinstance(one, ast.Constant) and type(one.value) is str for one in node.keys)


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
