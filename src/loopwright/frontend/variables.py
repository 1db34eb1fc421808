"""Variables of the user: what a name means, what assigning one does, and how the types of variables grow."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from loopwright.errors import KernelError
from loopwright.frontend.array_variables import refuse_out_of_scope, separate, store_array
from loopwright.frontend.arrays import check_range
from loopwright.frontend.chosen_texts import meets_texts, note_texts, number_of_text
from loopwright.frontend.context import Context, Frame, NotYet, Restart, web_key
from loopwright.frontend.convert import as_index, in_type
from loopwright.frontend.elementwise import kept_array, materialised
from loopwright.frontend.exchanges import renamed_only
from loopwright.frontend.global_arrays import global_array
from loopwright.frontend.infer import ArrayKind, Key
from loopwright.frontend.list_variables import kept_list, own_slice, store_container
from loopwright.frontend.named_tuples import fields_of, note_class_of_name
from loopwright.frontend.promote import NumberType
from loopwright.frontend.renaming import of_the_caller
from loopwright.frontend.sized_names import make_room, sized_name
from loopwright.frontend.updates import takes_updates_in_place
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Character,
    Closure,
    Elementwise,
    Fixed,
    Items,
    IteratorValue,
    Keyed,
    ListValue,
    Literal,
    Number,
    RangeValue,
    Records,
    SliceIndex,
    TableValue,
    Value,
    View,
    Zipped,
    describe,
    from_object,
)
from loopwright.frontend.watched import Found
from loopwright.frontend.webs import Web
from loopwright.ir.nodes import Assign, Checked, CheckKind, Const, Expr, If, Load, Location, Return, Select, Stmt, Var
from loopwright.ir.queries import arrays_stored, has, names_assigned
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import subexpressions

_ANYTHING = Const(0, INT64)


def read_name(cx: Context, node: ast.Name) -> Value:
    """What a name means where it stands."""
    frame = cx.frame
    for scope in reversed(frame.scopes):
        if node.id in scope:
            return scope[node.id]
    if node.id in frame.webs.locals:
        web = frame.webs.loads.get(id(node))
        if web is None:
            raise NotYet(f"'{node.id}' is read before it has a value", cx.at(node), remedy="assign it first")
        only = frame.webs.only.get(id(node))
        if only is not None and only in frame.loop_values:
            return frame.loop_values[only]
        return _read(cx, frame, web, node, may_be_unassigned=id(node) in frame.webs.uncertain)
    if frame.closure is not None and node.id in frame.closure.free:
        number, web = frame.closure.free[node.id]
        return _read(cx, cx.frames[number], web, node, may_be_unassigned=not web.certain)
    found = cx.session.outside.name(frame.source, node.id)
    if found is None:
        raise cx.error(node, f"name '{node.id}' is not defined", remedy="define it before the function is called")
    return outside_value(cx, found, node)


def outside_value(cx: Context, found: Found, node: ast.expr) -> Value:
    """The Value of a global, a cell or an attribute of something outside."""
    if isinstance(found.value, np.ndarray) and found.relies:
        return global_array(cx, found, node)
    if isinstance(found.value, np.ndarray | list | dict | set):
        raise cx.error(
            node,
            f"'{ast.unparse(node)}' is {describe(Fixed(found.value))} from outside the function",
            "its contents could change after the code is made",
            "pass it as an argument"
            if isinstance(found.value, np.ndarray)
            else "pass an array as an argument, or use a tuple",
        )
    return from_object(found.value)


def _read(cx: Context, frame: Frame, web: Web, node: ast.Name, may_be_unassigned: bool) -> Value:
    bound = frame.bindings.get(web.number)
    if isinstance(bound, Closure):
        return _with_free_names(cx, frame, bound, node)
    if bound is not None:
        return bound
    return read_variable(cx, web_key(frame, web), node, node.id, may_be_unassigned)


def read_variable(cx: Context, key: Key, node: ast.AST, name: str, may_be_unassigned: bool = False) -> Value:
    """The value of a variable, by key. Raises NotYet where nothing was assigned to it so far."""
    kind = cx.session.types.of(key)
    if key in cx.fixed:
        return cx.fixed[key]
    if key in cx.list_variables:
        if may_be_unassigned:
            _test_presence(cx, key, node, name)
        return cx.lists.get(cx.list_variables[key].key, cx.list_variables[key])
    if key in cx.table_variables:
        if may_be_unassigned:
            _test_presence(cx, key, node, name)
        return cx.table_variables[key]
    if isinstance(kind, ArrayKind):
        if key not in cx.array_variables:
            _make_early(cx, key, kind, node, name)
        refuse_out_of_scope(cx, key, cx.array_variables[key], name, node)
        if key in cx.session.optional:
            cx.temporary(Checked(Const(0, INT64), cx.flag(cx.variable(key, name)), "none", at=cx.at(node)), None)
        if may_be_unassigned:
            _test_presence(cx, key, node, name)
        return sized_name(cx, key) if key in cx.sizes else cx.array_variables[key]
    if kind is None and key in cx.session.optional:
        return Fixed(None)
    if kind is None:
        raise NotYet(f"'{name}' is read before it has a value", cx.at(node), remedy="assign it first")
    if isinstance(kind, int):
        items = [read_variable(cx, (*key, k), node, f"{name}.{k}", may_be_unassigned) for k in range(kind)]
        if may_be_unassigned and items and isinstance(items[0], Number):  # `len(x)` reads no item
            items[0] = replace(items[0], expr=cx.temporary(items[0].expr, cx.at(node)))
        named = cx.session.named.get(key)
        names = () if named in (None, range, slice, Records) else fields_of(named)
        if named is slice:
            return SliceIndex(items[0], items[1], items[2] if kind > 2 else None)
        if named is range:
            return RangeValue(tuple(items))  # type: ignore[arg-type]
        if named is Records:
            places = tuple(as_index(cx, item, node) for item in items)
            return replace(cx.session.chosen_from[key], index=places)
        return Items(tuple(items), names, is_list=key in cx.session.fixed_lists, kind=named)
    variable = Var(cx.variable(key, name), kind.type)
    if key in cx.session.text_names:
        flag = cx.flag(variable.name) if key in cx.session.optional or may_be_unassigned else None
        failure: CheckKind = "none" if key in cx.session.optional else "unassigned"
        code = variable if flag is None else Checked(variable, flag, failure, at=cx.at(node))
        return Character(cx.temporary(code, cx.at(node)), cx.session.text_names[key])
    if key in cx.session.optional:
        return Number(Checked(variable, cx.flag(variable.name), "none", at=cx.at(node)), kind.weak)
    if not may_be_unassigned:
        return Number(variable, kind.weak)
    checked = Checked(variable, cx.flag(variable.name), "unassigned", at=cx.at(node))
    return Number(checked, kind.weak)


def _make_early(cx: Context, key: Key, kind: ArrayKind, node: ast.AST, name: str) -> None:
    """Make room at the start for an array that a loop reads above the line that assigns it. Raises NotYet as long as
    nothing is known of its size."""
    if key in cx.session.early and cx.session.rooms.get(key, ()) is None:
        raise cx.error(node, f"'{name}' is read above the line that assigns it, and its size is only known there",
                       remedy="make an array before the loop that is large enough")  # fmt: skip
    if not cx.session.rooms.get(key):
        cx.session.types.grown |= key not in cx.session.early
        cx.session.early.add(key)
        raise NotYet(f"'{name}' is read before it has a value", cx.at(node), remedy="assign it first")
    make_room(cx, key, name, kind.element, node)


def taken(cx: Context, key: Key, node: ast.AST, name: str) -> Value:
    """The value of a variable that is read this once: no name stands for its arrays any more."""
    result = read_variable(cx, key, node, name)
    for known in [one for one in cx.array_variables if one[: len(key)] == key]:
        cx.array_variables.pop(known)
        cx.sizes.pop(known, None)
    return result


def _test_presence(cx: Context, key: Key, node: ast.AST, name: str) -> None:
    """Have the code test that an array or a list has been assigned."""
    cx.session.types.grown |= key not in cx.session.unsure
    cx.session.unsure.add(key)
    cx.temporary(Checked(Const(0, INT64), cx.flag(cx.variable(key, name)), "unassigned", at=cx.at(node)), None)


def _with_free_names(cx: Context, frame: Frame, closure: Closure, node: ast.Name) -> Closure:
    """A nested function with what its free names mean at this place."""
    if closure.frame != frame.number:  # an argument: what its names mean was found where it was handed over
        return closure
    outer = cx.frame.closure.free if cx.frame.closure is not None else {}
    if frame is not cx.frame:  # named by a function nested beside it
        return replace(closure, free=outer)
    here = frame.webs.free.get(id(node), {})
    return replace(closure, free={**outer, **{name: (frame.number, web) for name, web in here.items()}})


# ---- assignment -----------------------------------------------------------------------------------------------


def assign_web(cx: Context, web: Web, value: Value, node: ast.AST, value_node: ast.AST) -> None:
    """Give a variable of the current frame its value."""
    try:
        _assign_web(cx, web, value, node, value_node)
    except KernelError as error:
        if not web.is_single:
            is_whole = isinstance(value, TableValue) or (isinstance(value, ArrayLike) and bool(value.shape))
            if is_whole and takes_updates_in_place(cx, web):
                raise Restart from None
            cx.session.mixed.append((error, cx.frame.tree, web.name))
        raise


def _assign_web(cx: Context, web: Web, value: Value, node: ast.AST, value_node: ast.AST) -> None:
    key, value = web_key(cx.frame, web), cx.own_text_with(cx, web, value, value_node)
    if isinstance(value, Zipped):
        raise cx.error(node, "a zip cannot be assigned to a name", "it can be iterated only once",
                       "write its call after 'in'")  # fmt: skip
    if web.is_single:
        value = separate(cx, web.name, kept_array(cx, value, value_node), node, value_node)
        if isinstance(value, ListValue) and isinstance(node, ast.Name):
            value = kept_list(cx, web.name, value, node, value_node)
        elif isinstance(value, Items) and isinstance(node, ast.Name):
            value = own_slice(cx, web.name, value, node, value_node)
    if not web.is_read and isinstance(value, Array | Records):
        check_range(cx, value, cx.at(value_node))
    if web.is_single:
        cx.frame.bindings[web.number] = _bound(cx, key, web.name, value, node, value_node)
        return
    is_none = isinstance(value, Fixed) and value.value is None
    if isinstance(value, TableValue) and takes_updates_in_place(cx, web):  # `s |= t`
        raise Restart
    is_open = isinstance(
        value, Literal | Number | Items | RangeValue | SliceIndex | Records | ArrayLike | ListValue | TableValue
    ) or meets_texts(cx, value)
    if (web.definitions == 1 or isinstance(value, ListValue | TableValue)) and not is_none and not is_open:
        raise cx.error(
            node,
            f"'{web.name}' may be used where it has no value",
            f"{describe(value)} is needed on every path, or on none",
            "assign it before the 'if' or the loop",
        )
    store_variable(cx, key, web.name, value, node, value_node)


def _bound(cx: Context, key: Key, name: str, value: Value, node: ast.AST, value_node: ast.AST) -> Value:
    """The value that a variable of a single assignment is a name for: itself where it is known now or stable."""
    match value:
        case Literal() | Fixed() | Closure() | Character():
            return value
        case Array() | View() | Records():
            return freeze(cx, value, cx.at(value_node))
        case TableValue():
            return cx.kept_table_with(cx, name, value, node, value_node)
        case Elementwise() | ListValue() | Zipped() | IteratorValue():
            return value
        case SliceIndex(lower=lower, upper=upper, step=step):
            parts = enumerate((lower, upper, step))
            return SliceIndex(*(v and _bound(cx, (*key, k), f"{name}.{k}", v, node, value_node) for k, v in parts))
        case RangeValue(bounds=bounds):
            start, stop, step = (
                _bound(cx, (*key, k), f"{name}.{k}", bound, node, value_node) for k, bound in enumerate(bounds)
            )
            return RangeValue((start, stop, step))
        case Items(items=items) | Keyed(items=items):
            bound = [_bound(cx, (*key, k), f"{name}.{k}", v, node, value_node) for k, v in enumerate(items)]
            return replace(value, items=tuple(bound))
        case Number(expr=expr):
            if cx.is_stable(expr):
                return value
            store_variable(cx, key, name, value, node, value_node)
            cx.stable.add(cx.variable(key, name))
            cx.made_of[cx.variable(key, name)] = expr
            return read_variable(cx, key, node, name)


def _without_text(cx: Context, key: Key, name: str, value: Value, node: ast.AST) -> Value:
    """What a variable is assigned, as a number where it is a text. Raises KernelError for a text elsewhere only."""
    if meets_texts(cx, value) and (key in cx.session.text_names or cx.session.types.of(key) is None):
        note_texts(cx, key, value)
        return number_of_text(cx, value, node)
    if key in cx.session.text_names and not (isinstance(value, Fixed) and value.value is None):
        raise cx.error(node, f"'{name}' is a text elsewhere, and {describe(value)} here", remedy="use another name")
    return value


def store_variable(cx: Context, key: Key, name: str, value: Value, node: ast.AST, value_node: ast.AST) -> None:
    """Assign to a variable that has a place of its own at run time."""
    if key in cx.fixed:
        if isinstance(value, Array | View) and value == cx.fixed[key]:  # x = filled(x), which returns x
            return
        _refuse_second_meaning(cx, key, name, value, node)
    value = _without_text(cx, key, name, value, node)
    match value:
        case Number(expr=Checked(kind="none")):
            _store_maybe(cx, key, name, value, node, value_node)
        case Literal() | Number():
            kind = grow(cx, key, f"'{name}'", value.number_type, node)
            expr = in_type(cx, value, kind, value_node)
            cx.emit(Assign(cx.variable(key, name), expr, at=cx.at(node)))
        case Items(items=items):
            if cx.session.types.assign(key, len(items)) is None:
                what = f"'{name}' is a tuple of {len(items)} here and something else elsewhere"
                raise cx.error(node, what, remedy="use another name")
            note_class_of_name(cx, key, value.kind, name, node)
            if value.is_list:
                cx.session.types.grown |= key not in cx.session.fixed_lists
                cx.session.fixed_lists.add(key)
            names = [{cx.variables[(*key, k)]} if (*key, k) in cx.variables else set() for k in range(len(items))]
            for k, item in enumerate(settle(cx, items, names, cx.at(value_node))):
                store_variable(cx, (*key, k), f"{name}.{k}", item, node, value_node)
            if key in cx.session.optional:
                cx.flag(cx.variable(key, name))
                cx.emit(Assign(cx.variable(key, name), Const(0, INT64), at=cx.at(node)))
        case RangeValue() | SliceIndex() if (bounds := _bounds(value)) is not None:
            store_variable(cx, key, name, bounds, node, value_node)
        case Records(shape=(), index=places) if (
            cx.session.chosen_from.setdefault(key, whole := replace(value, index=())) == whole
        ):
            found = tuple(Number(cx.temporary(place, cx.at(value_node)), weak=True) for place in places)
            store_variable(cx, key, name, Items(found, kind=Records), node, value_node)
        case Array(shape=(_, *_)) if key[-1] in renamed_only(cx.frame) and (
            key not in cx.array_variables or cx.frame.is_inlined
        ):
            cx.array_names.setdefault(key, name)
            cx.session.types.assign(key, ArrayKind(value.element, len(value.shape)))
            cx.array_variables[key] = replace(value, index=tuple(_frozen(cx, one, cx.at(node)) for one in value.index))
            _note_presence(cx, key, name, node)
        case Array(shape=(_, *_)) | View() | Elementwise():
            cx.array_names.setdefault(key, name)
            store_array(cx, key, name, value, node, value_node)
            _note_presence(cx, key, name, node)
        case ListValue() | TableValue() if cx.session.types.of(key) is None:
            store_container(cx, key, name, value, node, value_node)
            _note_presence(cx, key, name, node)
        case Fixed(value=None):
            _refuse_maybe_result(cx, key, node)
            if key not in cx.session.optional:
                cx.session.optional.add(key)
                cx.session.types.grown = True
            cx.emit(Assign(cx.flag(cx.variable(key, name)).name, Const(False, BOOL), at=cx.at(node)))
            if isinstance(count := cx.session.types.of(key), int):
                for k in range(count):
                    store_variable(cx, (*key, k), f"{name}.{k}", value, node, value_node)
        case _:
            _refuse_second_meaning(cx, key, name, value, node)


def _bounds(value: RangeValue | SliceIndex) -> Items | None:
    """The numbers of a range or a slice, as a variable keeps them; None for a slice that leaves a bound out."""
    match value:
        case RangeValue(bounds=bounds):
            return Items(bounds, kind=range)
        case SliceIndex(lower=Literal() | Number() as lower, upper=Literal() | Number() as upper, step=None):
            return Items((lower, upper), kind=slice)
        case SliceIndex(
            lower=Literal() | Number() as lower, upper=Literal() | Number() as upper, step=Literal() | Number() as step
        ):
            return Items((lower, upper, step), kind=slice)
        case _:
            return None


def _store_maybe(cx: Context, key: Key, name: str, value: Number, node: ast.AST, value_node: ast.AST) -> None:
    """Assign a number that is None at times."""
    if key not in cx.session.optional:
        cx.session.optional.add(key)
        cx.session.types.grown = True
    assert isinstance(value.expr, Checked)
    kind = grow(cx, key, f"'{name}'", value.number_type, node)
    with cx.inner_body() as then:
        cx.emit(Assign(cx.variable(key, name), in_type(cx, value, kind, value_node), at=cx.at(node)))
    nothing = Assign(cx.flag(cx.variable(key, name)).name, Const(False, BOOL), at=cx.at(node))
    cx.emit(If(value.expr.condition, tuple(then), (nothing,), at=cx.at(node)))


def _note_presence(cx: Context, key: Key, name: str, node: ast.AST) -> None:
    """That a name stands for an array now, where it does not always."""
    if key in cx.session.optional:
        _refuse_maybe_result(cx, key, node)
        cx.flag(cx.variable(key, name))
    if key in cx.session.unsure or key in cx.session.optional:
        cx.emit(Assign(cx.variable(key, name), Const(0, INT64), at=cx.at(node)))  # the flag is set behind it


def _refuse_maybe_result(cx: Context, key: Key, node: ast.AST) -> None:
    """Raise KernelError for a result of a helper that is an array on some paths, and None on others."""
    if "return" in key and isinstance(cx.session.types.of(key), ArrayKind):
        raise cx.error(node, "a result of this helper is an array on some paths, and None on others",
                       remedy="return an empty array, and a number that says so")  # fmt: skip


def _optional_key(cx: Context, node: ast.expr) -> Key | None:
    """The key of a variable that is None at times; None for everything else."""
    if not isinstance(node, ast.Name) or node.id not in cx.frame.webs.locals:
        return None
    web = cx.frame.webs.loads.get(id(node))
    key = None if web is None else web_key(cx.frame, web)
    return key if key in cx.session.optional else None


def is_present(cx: Context, node: ast.expr) -> Expr | None:
    """Of a name of a variable that is None at times: whether it is a number, or an array, now. None for everything
    else."""
    key = _optional_key(cx, node)
    kind = None if key is None else cx.session.types.of(key)
    if key is None or not isinstance(node, ast.Name) or not isinstance(kind, NumberType | ArrayKind | int):
        return None
    return cx.flag(cx.variable(key, node.id))


def array_if_present(cx: Context, node: ast.expr) -> tuple[Expr, Array | View] | None:
    """Of a name of an array that is None at times: whether there is one now, and that array. None for everything
    else."""
    key = _optional_key(cx, node)
    kind = None if key is None else cx.session.types.of(key)
    if key is None or not isinstance(node, ast.Name) or not isinstance(kind, ArrayKind):
        return None
    if key not in cx.array_variables:
        _make_early(cx, key, kind, node, node.id)
    refuse_out_of_scope(cx, key, cx.array_variables[key], node.id, node)
    array = sized_name(cx, key) if key in cx.sizes else cx.array_variables[key]
    return cx.flag(cx.variable(key, node.id)), array


def presence(cx: Context, node: ast.expr) -> tuple[Expr, Number | Items] | None:
    """Of a name of a variable that is None at times: whether it is a number, or a tuple of numbers, now, and that, or
    zeros. None for everything else."""
    key = _optional_key(cx, node)
    kind = None if key is None else cx.session.types.of(key)
    if key is None or not isinstance(node, ast.Name) or not isinstance(kind, NumberType | int):
        return None
    value = read_variable(cx, key, node, node.id)
    flag = cx.flag(cx.variable(key, node.id))
    if isinstance(value, Number):
        return flag, or_zero(flag, value)
    if not isinstance(value, Items) or not all(isinstance(one, Number) for one in value.items):
        return None
    return flag, replace(value, items=tuple(or_zero(flag, one) for one in value.items if isinstance(one, Number)))


def or_zero(flag: Expr, value: Number) -> Number:
    """A number that is None at times, or 0."""
    kind = value.type
    zero = Const(False if kind == BOOL else 0.0 if kind.is_float else 0, kind)
    return Number(Select(flag, value.expr, zero), value.weak)


def _refuse_second_meaning(cx: Context, key: Key, name: str, value: Value, node: ast.AST) -> None:
    remedy = "use another name"
    if isinstance(value, ArrayLike) and value.shape and key in cx.fixed and cx.frame.is_inlined:
        raise cx.error(node, *of_the_caller(name))
    if isinstance(value, ArrayLike) and value.shape and isinstance(cx.fixed.get(key), Array):
        raise cx.error(
            node,
            f"'{name}' is an argument that is written in place, and another array from here on",
            "what is written before must show in the argument, and what is written after must not",
            f"use another name for the other array, or begin with a copy: {name} = {name}.copy()",
        )
    if isinstance(value, Fixed) and isinstance(value.value, str):
        raise cx.error(
            node,
            f"'{name}' is a text, and is assigned something else elsewhere",
            "a name stands for texts only, or for none",
            "use another name",
        )
    if isinstance(value, Array | Records):
        remedy = "give each array a name of its own; instead of swapping, write the loops once for each order"
    raise cx.error(
        node,
        f"'{name}' is {describe(value)} here and something else elsewhere",
        "only numbers can change while the function runs",
        remedy,
    )


def grow(cx: Context, key: Key, name: str, new: NumberType, node: ast.AST) -> NumberType:
    """The type of a variable once `new` is assigned to it too."""
    old = cx.session.types.of(key)
    joined = cx.session.types.assign(key, new)
    if isinstance(joined, NumberType):
        return joined
    if isinstance(old, int):
        raise cx.error(node, f"{name} is a number here and a tuple elsewhere", remedy="use another name")
    if isinstance(old, ArrayKind):
        raise cx.error(node, f"{name} is {new} here and an array elsewhere", remedy="use another name for the number")
    raise cx.error(
        node,
        f"{name} is {new} here and {old} elsewhere",
        "no integer type holds both",
        "convert one of them, such as np.int64(x)",
    )


# ---- values that must not change between here and their use ----------------------------------------------------


def settle(
    cx: Context, items: tuple[Value, ...], targets: Sequence[set[str] | None], at: Location
) -> tuple[Value, ...]:
    """The items of a tuple assignment, made independent of the targets assigned before each. A target is the set of
    the IR's variables that it may assign, or None for an element of an array."""
    before = list[Stmt]()
    safe: list[bool] = []
    for item, target in zip(items, targets, strict=True):
        safe.append(survives(item, before))
        before += [Return()] if target is None else [Assign(name, _ANYTHING) for name in target]
    result = []
    for k, item in enumerate(items):
        # A check stays ahead of the values behind it that are computed at once: it fails first, as in Python.
        result.append(item if safe[k] and (all(safe[k:]) or not _is_checked(item)) else freeze(cx, item, at))
    return tuple(result)


def _is_checked(item: Value) -> bool:
    return isinstance(item, Number) and has(item.expr, Checked)


def key_of_target(cx: Context, target: ast.Name) -> Key:
    """The variable that a name means which is assigned: one of this function, or of one around it."""
    web = cx.frame.webs.stores.get(id(target))
    if web is not None:
        return web_key(cx.frame, web)
    if cx.frame.closure is None or target.id not in cx.frame.closure.free:
        raise cx.error(target, f"'{target.id}' belongs to no function of this kernel, and is assigned here")
    number, web = cx.frame.closure.free[target.id]
    return web_key(cx.frames[number], web)


def assigned_by(cx: Context, target: ast.expr) -> set[str] | None:
    """The IR's variables that assigning this target may change; None where it writes an element."""
    match target:
        case ast.Name():
            return cx.names_of(key_of_target(cx, target))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            inner = [assigned_by(cx, part) for part in parts]
            known = [names for names in inner if names is not None]
            return set().union(*known) if len(known) == len(inner) else None
        case _:
            return None


def freeze(cx: Context, value: Value, at: Location) -> Value:
    """A value that stays what it is now whatever is assigned later."""
    match value:
        case Number(expr=expr, weak=weak):
            return value if cx.is_stable(expr) else Number(cx.temporary(expr, at), weak)
        case Array() | Records():
            return replace(value, index=tuple(_frozen(cx, expr, at) for expr in value.index))
        case View(places=places):
            return replace(value, places=tuple(_frozen(cx, p, at) if isinstance(p, Expr) else p for p in places))
        case Elementwise():
            return materialised(cx, value, cast(ast.AST, at))  # only asked where it is
        case Items(items=items) | Keyed(items=items):
            return replace(value, items=tuple(freeze(cx, item, at) for item in items))
        case RangeValue(bounds=(start, stop, step)):
            return RangeValue((freeze(cx, start, at), freeze(cx, stop, at), freeze(cx, step, at)))
        case _:
            return value


def _frozen(cx: Context, expr: Expr, at: Location) -> Expr:
    return expr if cx.is_stable(expr) else cx.temporary(expr, at)


def survives(value: Value, emitted: list[Stmt]) -> bool:
    """Whether a value computed before these statements is the same after them, and no failure is reordered."""
    assigned = names_assigned(tuple(emitted))
    has_effect = any(not isinstance(stmt, Assign) for stmt in emitted)

    def keeps(expr: Expr) -> bool:
        for part in subexpressions(expr):
            if isinstance(part, Var) and part.name in assigned:
                return False
            if has_effect and isinstance(part, Load | Checked):
                return False
        return True

    match value:
        case Number(expr=expr):
            return keeps(expr)
        case Array(index=index) | Records(index=index):
            return all(keeps(expr) for expr in index)
        case View(places=places):
            return all(keeps(expr) for expr in places if isinstance(expr, Expr))
        case Elementwise(reads=reads):
            return not reads & arrays_stored(tuple(emitted))
        case Items(items=items) | RangeValue(bounds=items):
            return all(survives(item, emitted) for item in items)
        case _:
            return True
