"""Objects of a `jitclass` that a kernel makes: `__init__` is read as a helper whose variables are the fields, and an
object is what it has at the end. From the first line on that does anything else with the object, such as a call of a
method, there is one."""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number, convert
from loopwright.frontend.elementwise import kept_array, new_array
from loopwright.frontend.inline import inline_function
from loopwright.frontend.object_class import FieldsOf, ObjectClass, class_of
from loopwright.frontend.recursion import without_last_calls
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Array, Fixed, Items, Literal, Value, View, describe
from loopwright.frontend.views import ZERO
from loopwright.ir.nodes import Store
from loopwright.ir.types import from_dtype

_PYTHONS = {np.dtype(kind): kind for kind in (bool, int, float, complex)}


def made_object(cx: Context, kind: type, call: Arguments) -> Value:
    """The object that a call of such a class makes. Raises KernelError for an `__init__` that cannot be read."""
    known = class_of(kind)
    assert known is not None
    if not known.init:
        raise cx.error(call.node, f"the class '{kind.__name__}' has no '__init__'",
                       remedy="write one that gives each field a value")  # fmt: skip
    tree = without_last_calls(cx.session.outside.source_of(known.init[0]).definition.tree)
    returns = next((one for one in own_nodes(tree) if isinstance(one, ast.Return)), None)
    if returns is not None:
        raise cx.error(call.node, f"an object of the class '{kind.__name__}' cannot be made here",
                       "its '__init__' has a 'return'", "use if and else there")  # fmt: skip
    made = _maker(tree, kind)
    cx.session.trees[tree] = cx.session.trees.get(made, made)
    return inline_function(cx, known.init[0], replace(call, values=(Fixed(None), *call.values)))


def object_of(cx: Context, kind: type, call: Arguments) -> Items:
    """The object whose fields have these values, in the order of the fields."""
    known = class_of(kind)
    assert known is not None
    given = zip(known.fields, call.values, strict=True)
    items = tuple(_field(cx, known, name, kept_array(cx, value, call.node), call.node) for name, value in given)
    return Items(items, known.fields, kind=kind, is_made=True)


def _field(cx: Context, known: ObjectClass, name: str, value: Value, node: ast.AST) -> Value:
    if name in known.numbers:
        number = as_number(cx, value, node, f"the field '{name}' is a number")
        if name not in known.changing:
            return number if isinstance(number, Literal) else replace(number, expr=cx.once(number.expr, cx.at(node)))
        element = from_dtype(known.types[name][0])
        assert element is not None
        place = new_array(cx, (Literal(1),), element, node, name)
        cx.emit(Store(place.name, (ZERO,), convert(cx, number, element, node), at=cx.at(node)))
        return place
    if name in known.types:
        dtype, rank = known.types[name]
        if not isinstance(value, Array | View) or value.element.dtype != dtype or len(value.shape) != rank:
            what = describe(value)
            if isinstance(value, Array | View):
                what = f"{value.element.dtype} with {len(value.shape)} axes"
            raise cx.error(node, f"the field '{name}' is {dtype} with {rank} axes, and is given {what}")
    return value


@lru_cache(maxsize=256)
def _maker(tree: ast.FunctionDef, kind: type) -> ast.FunctionDef:
    """`__init__` as a function that gives an object: its fields are names, which become those of an object in front of
    the first line that needs one, or else at the end."""
    known = class_of(kind)
    assert known is not None
    this, made = tree.args.args[0].arg, deepcopy(tree)
    fields = _FieldsAsNames(this, known)
    body, rest = list[ast.stmt](), list(made.body)
    while rest:
        found = fields.several([deepcopy(rest[0])])
        if fields.needs_object:
            break
        body += found
        del rest[0]
    call = ast.Call(_constant(FieldsOf(kind)), [ast.Name(f"{this}.{name}", ast.Load()) for name in known.fields], [])
    whole = [ast.Assign([ast.Name(this, ast.Store())], call), ast.Return(ast.Name(this, ast.Load()))]
    for one in whole:  # behind all that is assigned before
        ast.fix_missing_locations(ast.copy_location(one, (*rest, *body[::-1], tree)[0]))
    made.body = [*body, whole[0], *rest, whole[1]]
    return made


def _constant(value: FieldsOf | type) -> ast.Constant:
    node = ast.Constant(None)
    node.value = value  # type: ignore[assignment]
    return node


class _FieldsAsNames(ast.NodeTransformer):
    """`this.x` as a name, and what a number gets in its type. needs_object: `this` was used in another way."""

    def __init__(self, this: str, known: ObjectClass) -> None:
        self.this, self.known, self.needs_object = this, known, False
        self.stored = list[str]()

    def several(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a body with names for fields."""
        found = list[ast.stmt]()
        for one in body:
            for name in ("body", "orelse", "finalbody"):
                if isinstance(inner := getattr(one, name, None), list):
                    setattr(one, name, self.several(inner))
            self.stored = []
            found.append(self.visit(one))
            found += [self._in_its_type(name, one) for name in self.stored if name in self.known.numbers]
        return found

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.this and node.attr in self.known.fields:
            if not isinstance(node.ctx, ast.Load):
                self.stored.append(node.attr)
            return ast.copy_location(ast.Name(f"{self.this}.{node.attr}", node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        self.needs_object |= node.id == self.this
        return node

    def _in_its_type(self, name: str, place: ast.stmt) -> ast.stmt:
        dtype, _ = self.known.types[name]
        kind = _PYTHONS.get(dtype, dtype.type)
        read, written = (ast.Name(f"{self.this}.{name}", context) for context in (ast.Load(), ast.Store()))
        whole = ast.Assign([written], ast.Call(_constant(kind), [read], []))
        return ast.fix_missing_locations(ast.copy_location(whole, place))
