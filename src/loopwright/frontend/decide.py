"""Which way an `if` goes where the call alone decides it: `x is None`, `mode == "fast"`, a global flag.

It must be known before the variables of a function are: `if x is None: x = 1.0` makes x a number only where the
call passed None. It never guesses: what it does not know is None.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import ModuleType

import numpy as np

from loopwright.frontend.object_class import decides_truth
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    TableValue,
    Value,
    View,
)
from loopwright.ir.types import BOOL

_ORDERS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
Lookup = Callable[[str], Value | None]


def decide(test: ast.expr, lookup: Lookup) -> bool | None:
    """True, False, or None where the run decides. `lookup` gives what a name means, or None."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            known = decide(operand, lookup)
            return None if known is None else not known
        case ast.BoolOp(op=op, values=values):
            stop, is_open = isinstance(op, ast.Or), False
            for part in values:
                known = decide(part, lookup)
                if known is stop:
                    return known
                if known is None and not _is_of_names(part):
                    return None
                is_open = is_open or known is None
            return None if is_open else not stop
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(op, _value(left, lookup), _value(right, lookup))
        case _:
            return truth(_value(test, lookup))


def _is_of_names(node: ast.expr) -> bool:
    """Whether a test asks nothing but names, so that it need not be made where what follows decides."""
    inside = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Not, ast.cmpop, ast.boolop, ast.Load)
    return all(isinstance(part, inside) for part in ast.walk(node))


def truth(value: Value | None) -> bool | None:
    """The truth value of what is known now."""
    match value:
        case Literal(value=known):
            return bool(known)
        case Fixed(value=None):
            return False
        case Fixed(value=str() as text):
            return bool(text)
        case Items(kind=kind) if decides_truth(kind):
            return None
        case Items(items=items):
            return bool(items)
        case _:
            return None


def _value(node: ast.expr, lookup: Lookup) -> Value | None:
    match node:
        case ast.Constant(value=None | str()):
            return Fixed(node.value)
        case ast.Constant(value=bool() | int() | float() as value):
            return Literal(value)
        case ast.Name(id=name):
            return lookup(name)
        case ast.Attribute(value=ast.Name(id=name), attr="ndim"):
            array = lookup(name)
            return Literal(len(array.shape)) if isinstance(array, ArrayLike) else None
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            several = lookup(name)
            return Literal(len(several.items)) if isinstance(several, Items) else None
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]):
            is_one = is_instance(lookup(name), _kinds(kinds, lookup))
            return None if is_one is None else Literal(is_one)
        case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id=name), ast.Constant(value=str() as attribute)]):
            has_it = has_attribute(lookup(name), attribute)
            return None if has_it is None else Literal(has_it)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="ndim"), args=[ast.Name(id=name)]):
            return _rank(lookup(name))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = [_value(part, lookup) for part in parts]
            known = [item for item in items if item is not None]
            return Items(tuple(known)) if len(known) == len(items) else None
        case _:
            return None


def _kinds(node: ast.expr, lookup: Lookup) -> Value | None:
    """The classes that `isinstance` is asked about."""
    match node:
        case ast.Tuple(elts=parts):
            kinds = [_kinds(part, lookup) for part in parts]
            known = tuple(kind for kind in kinds if kind is not None)
            return Items(known) if len(known) == len(kinds) else None
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            module = lookup(name)
            is_module = isinstance(module, Fixed) and isinstance(module.value, ModuleType)
            return Fixed(vars(module.value).get(attribute)) if is_module else None  # type: ignore[union-attr]
        case ast.Name(id=name):
            return lookup(name)
        case _:
            return None


def is_instance(value: Value | None, kinds: Value | None) -> bool | None:
    """`isinstance(value, kinds)`; None where it is not known now."""
    if isinstance(kinds, Items):
        each = [is_instance(value, kind) for kind in kinds.items]
        return True if True in each else None if None in each else False
    own = class_of(value)
    is_class = isinstance(kinds, Fixed) and isinstance(kinds.value, type)
    return issubclass(own, kinds.value) if own is not None and is_class else None  # type: ignore[union-attr,arg-type]


def has_attribute(value: Value | None, name: str) -> bool | None:
    """`hasattr(value, name)` of a number, an array, a tuple or a list; None where it is not known now."""
    own = class_of(value)
    if own is None or isinstance(value, Fixed):
        return None
    of_class = any(name in vars(kind) for kind in own.__mro__)  # and not of the class of the class, as __call__
    return of_class or (isinstance(value, Items) and name in value.names)


def class_of(value: Value | None) -> type | None:
    """The class of a value in Python; None where it is not known."""
    match value:
        case Literal(value=known):
            return type(known)
        case Number(weak=False):
            return value.type.dtype.type
        case Number(type=kind):
            return bool if kind == BOOL else complex if kind.is_complex else float if kind.is_float else int
        case Array() | View() | Elementwise() if value.shape:
            return np.ndarray
        case Items(kind=type() as kind):
            return kind
        case Items(is_list=bool() as is_list):
            return list if is_list else tuple
        case Fixed(value=fixed):
            return type(fixed)
        case ListValue(is_text=True):
            return str
        case ListValue(is_of_tuple=is_of_tuple):
            return tuple if is_of_tuple else list
        case TableValue(is_dict=is_dict):
            return dict if is_dict else set
        case _:
            return None


def _rank(value: Value | None) -> Literal | None:
    match value:
        case Literal() | Number():
            return Literal(0)
        case Array() | View() | Elementwise():
            return Literal(len(value.shape))
        case Items(items=(first, *_)):
            inner = _rank(first)
            return None if inner is None else Literal(int(inner.value) + 1)
        case _:
            return None


def _compare(op: ast.cmpop, left: Value | None, right: Value | None) -> bool | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Is() | ast.IsNot():
            same = is_same(left, right)
            return None if same is None else same is isinstance(op, ast.Is)
        case ast.Eq() | ast.NotEq():
            same = is_equal(left, right)
            return None if same is None else same is isinstance(op, ast.Eq)
        case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
            if isinstance(left, Literal) and isinstance(right, Literal):
                return bool(_ORDERS[type(op)](left.value, right.value))
            return None
        case ast.In() | ast.NotIn() if isinstance(right, Items):
            found = [is_equal(left, item) for item in right.items]
            if None in found:
                return None
            return (True in found) is isinstance(op, ast.In)
        case _:
            return None


def is_same(left: Value, right: Value) -> bool | None:
    """`left is right`, for None and other fixed objects; None where it is not known or means nothing."""
    if isinstance(left, Fixed) and isinstance(right, Fixed):
        return left.value is right.value or (isinstance(left.value, str) and left.value == right.value)
    if isinstance(left, Fixed) or isinstance(right, Fixed):
        return False
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Literal) and isinstance(one.value, bool):
            if isinstance(other, Literal):
                return one.value is other.value
            if not isinstance(other, Number) or not other.weak or other.type != BOOL:
                return False  # NumPy's bools are other objects, also where they are equal
    return None


def is_equal(left: Value, right: Value) -> bool | None:
    """`left == right` where both are known now."""
    match left, right:
        case (Literal(value=a), Literal(value=b)):
            return a == b
        case (Fixed(value=a), Fixed(value=b)):
            return bool(a == b) if isinstance(a, str | type(None)) and isinstance(b, str | type(None)) else None
        case (Fixed(value=None | str()), Literal() | Number()) | (Literal() | Number(), Fixed(value=None | str())):
            return False
        case _:
            return None
