"""Named tuples and dataclasses that the code makes: `Point(x, y)`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from loopwright.errors import class_named, name_of_class
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.infer import Key
from loopwright.frontend.object_class import class_of
from loopwright.frontend.values import Items, Literal, Number, Value, from_object
from loopwright.ir.made_values import Form, form_of, name_of_object, nested_class


def is_named_tuple(kind: object) -> TypeGuard[type]:
    """Whether this is a class that `NamedTuple` or `namedtuple` made, or a dataclass whose objects hold what they are
    given; one that is derived from it may do anything."""
    if not isinstance(kind, type):
        return False
    return (kind.__bases__ == (tuple,) and hasattr(kind, "_fields")) or _is_plain_dataclass(kind)


def _is_plain_dataclass(kind: type) -> bool:
    parameters = vars(kind).get("__dataclass_params__")
    if parameters is None or not parameters.init or kind.__bases__ != (object,):
        return False
    if any(hasattr(kind, name) for name in ("__post_init__", "__getattr__")) or "__new__" in vars(kind):
        return False
    of_each = dataclasses.fields(kind)
    return all(one.init and not one.kw_only and one.default_factory is dataclasses.MISSING for one in of_each)


def named_tuple(cx: Context, kind: type, call: Arguments) -> Items:
    """The tuple that a call of such a class makes. Raises KernelError for fields that are missing or unknown."""
    names = fields_of(kind)
    call.expect(cx, 0, len(names), names)
    defaults = _defaults(kind)
    given = {**dict(zip(names, call.values, strict=False)), **call.named}
    items: list[Value] = []
    for name in names:
        if name not in given and name not in defaults:
            raise cx.error(call.node, f"'{call.name}' needs a value for '{name}'")
        items.append(given[name] if name in given else from_object(defaults[name]))
    return Items(tuple(items), names, kind=kind)


def is_tuple_class(kind: type | None) -> bool:
    """Whether this is the class of named tuples, and no dataclass."""
    return kind is not None and issubclass(kind, tuple)


def replaced(cx: Context, value: Items, call: Arguments) -> Items:
    """`point._replace(x=0)`. Raises KernelError for other arguments."""
    call.expect(cx, 0, 0, value.names)
    items = zip(value.names, value.items, strict=True)
    return replace(value, items=tuple(call.named.get(name, item) for name, item in items))


def _defaults(kind: type) -> dict[str, object]:
    if dataclasses.is_dataclass(kind):
        return {one.name: one.default for one in dataclasses.fields(kind) if one.default is not dataclasses.MISSING}
    found: dict[str, object] = kind._field_defaults  # type: ignore[attr-defined]
    return found


def fields_of(kind: type) -> tuple[str, ...]:
    """The names of the fields of a named tuple's class, or a dataclass."""
    if dataclasses.is_dataclass(kind):
        return tuple(one.name for one in dataclasses.fields(kind))
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return names


def refuse_object(cx: Context, value: Value, node: ast.AST) -> None:
    """Raise KernelError for an object of a dataclass where Python wants a tuple, a number or the like."""
    kind = value.kind if isinstance(value, Items) else None
    if kind is not None and _has_only_fields(kind):
        raise cx.error(node, f"an object of the class '{kind.__name__}' is no tuple", "it only has its fields",
                       "name them: x.field")  # fmt: skip


def note_class_of_name(cx: Context, key: Key, kind: type | None, name: str, node: ast.AST) -> None:
    """Note the class of the tuples that a variable stands for. Raises KernelError where it was another one, and for an
    object whose fields change: a variable would have a copy of them."""
    if class_of(kind) is not None:
        what, why = f"'{name}' stands for one object or another", "which one it is must be known at compile time"
        raise cx.error(node, what, why, "use a name for each, or read their fields first")
    if cx.session.named.setdefault(key, kind) is not kind:
        raise cx.error(node, f"'{name}' is a tuple of another class elsewhere", remedy="use another name")


def _has_only_fields(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or class_of(kind) is not None


def objects_differ(cx: Context, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> bool:
    """Whether two things are not equal because one of them is an object of a dataclass and the other is not: their
    fields are not compared. Raises KernelError for objects that are not compared as tuples of one class are."""
    if isinstance(op, ast.In | ast.NotIn):
        refuse_object(cx, right, node)
        return False
    kinds = [one.kind if isinstance(one, Items) else None for one in (left, right)]
    known = next((one for one in kinds if one is not None and _has_only_fields(one)), None)
    if known is None:
        return False
    is_equality = isinstance(op, ast.Eq | ast.NotEq) and class_of(known) is None
    if class_of(known) is None and kinds[0] is kinds[1] and _compares(known, "__eq__" if is_equality else "__lt__"):
        return False
    if is_equality and kinds[0] is not kinds[1] and all(one is None or _compares(one, "__eq__") for one in kinds):
        return True
    raise cx.error(node, f"objects of the class '{known.__name__}' cannot be compared in this way",
                   remedy="compare their fields")  # fmt: skip


def _compares(kind: type, method: str) -> bool:
    """Whether objects are compared by the method that `dataclass` makes, or that tuples have."""
    made = vars(kind).get(method)
    return hasattr(kind, "_fields") if made is None else made.__code__.co_filename == "<string>"


def note_class(cx: Context, key: Key, kind: type | None, node: ast.AST, what: str) -> None:
    """Note the class of the tuples that are kept under a key. Raises KernelError where it was another one."""
    if cx.session.named.setdefault(key, kind) is not kind:
        raise cx.error(node, f"the elements of a {what} are of one class here", remedy="use a tuple for all of them")


def of_class(items: tuple[Value, ...], kind: type | None, is_list: bool = False) -> Items:
    """A tuple of this class; None: a plain one. Of a class that `flattened` gives: the tuple as it was."""
    form = form_of(kind)
    if form is not None and items:
        return _unflattened(form, iter(items))
    return Items(items, () if kind is None or form is not None else fields_of(kind), is_list=is_list, kind=kind)


def flattened(item: Value) -> Value:
    """Of a tuple with tuples of numbers in it, all these numbers, as a tuple of a class that tells where they were; of
    everything else, itself."""
    form = _form(item)
    if form is None or not any(form):
        return item
    assert isinstance(item, Items)
    return Items(tuple(_leaves(item)), kind=nested_class(form))


def _form(item: Value) -> Form | None:
    if not isinstance(item, Items) or item.is_list is not False or item.kind is not None or not item.items:
        return None
    forms = [None if isinstance(one, Literal | Number) else _form(one) for one in item.items]
    is_known = all(isinstance(one, Literal | Number) or form for one, form in zip(item.items, forms, strict=True))
    return tuple(forms) if is_known else None


def _leaves(item: Value) -> Iterator[Value]:
    if isinstance(item, Items):
        for one in item.items:
            yield from _leaves(one)
    else:
        yield item


def _unflattened(form: Form, numbers: Iterator[Value]) -> Items:
    return Items(tuple(next(numbers) if one is None else _unflattened(one, numbers) for one in form))


def known_name(cx: Context, kind: type, node: ast.AST, is_made: bool = False) -> str:
    """The name by which whoever returns such an object finds its class. Raises KernelError where there is none."""
    name = name_of_class(kind)
    if is_made and class_named(name) is kind:
        return name_of_object(name)
    if class_of(kind) is not None and not is_made:
        raise cx.error(node, f"an object of the class '{kind.__qualname__}' cannot be returned",
                       remedy="return its fields: whoever has the object sees what changed")  # fmt: skip
    if class_named(name) is not kind:
        raise cx.error(
            node,
            f"an object of the class '{kind.__qualname__}' cannot be returned",
            "its class is not found by its name in its module",
            "define the class at the module's top level",
        )
    return name
