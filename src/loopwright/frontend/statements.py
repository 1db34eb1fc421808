"""Statements of the user to IR statements.

A statement that cannot be read is noted in the session, and reading goes on after it: in an early round the types
may not be known yet, and in the last round the first error is the one that the user sees.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from loopwright.deferred import deferred
from loopwright.errors import KernelError
from loopwright.frontend import arrays, lists, made_texts, operators
from loopwright.frontend.array_names import has_aliases
from loopwright.frontend.array_parts import assign_part, part_of
from loopwright.frontend.array_variables import independent
from loopwright.frontend.closures import named_lambda, nested_function
from loopwright.frontend.context import Certain, Context, NotYet
from loopwright.frontend.convert import as_index, as_number
from loopwright.frontend.elementwise import assign_elements, binary, materialised
from loopwright.frontend.exception_handlers import refuse_partial, try_statement
from loopwright.frontend.expressions import index_of, indexed, places_of
from loopwright.frontend.hidden import NeededError
from loopwright.frontend.infer import Key
from loopwright.frontend.inline import return_from_helper, yield_statement
from loopwright.frontend.iteration import comprehension, function_of, weak_items
from loopwright.frontend.iterators import iterator_of
from loopwright.frontend.keyed import is_filled_by_text, item_of, note_keyed, set_key
from loopwright.frontend.lazy import condition_before
from loopwright.frontend.list_methods import comprehension_list, delete_item
from loopwright.frontend.list_uses import changes_deep_list, is_changed, is_searched, owner_of
from loopwright.frontend.list_variables import apart_from_targets
from loopwright.frontend.lists import assign_item, index_list, new_list, of_array
from loopwright.frontend.loops import for_loop, jump, while_loop
from loopwright.frontend.manipulation import reshaped
from loopwright.frontend.markers import MAKES
from loopwright.frontend.masked import update_chosen, update_where
from loopwright.frontend.named_tuples import refuse_object
from loopwright.frontend.objects import field_place
from loopwright.frontend.operands import keep, kept, operands, same_place
from loopwright.frontend.outer_names import assign_name, assign_update, declare_nonlocal, own_variable
from loopwright.frontend.raising import assert_statement, raise_statement
from loopwright.frontend.record_arrays import assign_records, has_parts
from loopwright.frontend.refusals import ELEMENTWISE, assigns_outside, refuse_statement
from loopwright.frontend.renaming import refuse_copies
from loopwright.frontend.results import return_from_kernel
from loopwright.frontend.rows import refuse_shared, refuse_shared_items
from loopwright.frontend.sized_names import name_that_grows
from loopwright.frontend.table_methods import update
from loopwright.frontend.tables import delete_key, get_item, set_item
from loopwright.frontend.tables import refuse_shared as refuse_table_shared
from loopwright.frontend.updates import updates_in_place
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Number,
    Records,
    TableValue,
    Value,
    View,
    describe,
)
from loopwright.frontend.variables import assign_web, assigned_by, freeze, key_of_target, read_name, settle
from loopwright.frontend.views import as_view, is_array, is_plain, items_of
from loopwright.ir.nodes import BinaryOp, Checked, If, Load
from loopwright.ir.walk import subexpressions

if TYPE_CHECKING:
    from loopwright.frontend import complex_functions
else:
    complex_functions = deferred("loopwright.frontend.complex_functions")


def execute(cx: Context, statements: list[ast.stmt]) -> None:
    """Read statements one after another, as far as they can be reached."""
    unreachable = cx.frame.webs.unreachable
    statements = [node for node in statements if id(node) not in unreachable]
    was_tail = cx.frame.tail
    for number, node in enumerate(statements):
        rest = statements[number + 1 :]
        cx.frame.tail = was_tail and not rest
        start = len(cx.body)
        try:
            if was_tail and isinstance(node, ast.If) and rest and _takes_the_rest(cx, node):
                cx.frame.tail = True
                _if(cx, node, rest)
                return
            if isinstance(node, ast.If):
                if _if(cx, node, []):
                    return
            else:
                _statement(cx, node)
            refuse_partial(cx, cx.body[start:], node)
        except NeededError:  # the function is read again with what it needs, whatever else is found
            raise
        except KernelError as failure:
            before = cx.session.failure
            if before is None or (isinstance(before, NotYet) and isinstance(failure, Certain)):
                cx.session.failure = failure
        finally:
            cx.frame.tail = was_tail


def _takes_the_rest(cx: Context, node: ast.If) -> bool:
    """Whether what follows an `if` of a helper is read as the branch that does not return."""
    has_return = any(isinstance(part, ast.Return) for part in ast.walk(node))
    return cx.frame.is_inlined and has_return and cx.frame.webs.falls.get(id(node)) != (True, True)


def _statement(cx: Context, node: ast.stmt) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            _assign(cx, targets, value)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                _assign(cx, [target], value)
        case ast.AugAssign(target=ast.Subscript() as target) if update_chosen(cx, target, node):
            pass
        case ast.AugAssign():
            _augmented(cx, node)
        case ast.For():
            for_loop(cx, node)
        case ast.While():
            while_loop(cx, node)
        case ast.Break():
            jump(cx, node)
        case ast.Continue():
            jump(cx, node)
        case ast.Return():
            if cx.frame.is_inlined:
                return_from_helper(cx, node)
            else:
                return_from_kernel(cx, node)
        case ast.FunctionDef():
            assign_web(cx, own_variable(cx, node), nested_function(cx, node), node, node)
        case ast.Expr(value=ast.Yield() as given) if cx.frame.each is not None:
            yield_statement(cx, given)
        case ast.Expr(value=value):
            if not isinstance(value, ast.Constant):
                cx.evaluate(value)
        case ast.Raise():
            raise_statement(cx, node)
        case ast.Assert():
            assert_statement(cx, node)
        case ast.Try():
            try_statement(cx, node)
        case ast.Nonlocal():
            declare_nonlocal(cx, node)
        case ast.Pass() | ast.Global() if not assigns_outside(node, cx.frame.tree):
            pass
        case ast.Delete(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
            pass  # names cost nothing
        case ast.Delete(targets=[ast.Subscript() as target]):
            _delete(cx, target)
        case _:
            raise refuse_statement(cx, node)


def _delete(cx: Context, target: ast.Subscript) -> None:
    base, indices = indexed(cx, target)
    if isinstance(base, TableValue) and base.is_dict:
        delete_key(cx, base, index_of(indices), target)
        return
    if not isinstance(base, ListValue) or len(indices) != 1:
        raise cx.error(target, f"an element of {describe(base)} cannot be deleted")
    delete_item(cx, base, indices[0], target)


# ---- assignments ----------------------------------------------------------------------------------------------


def _assign(cx: Context, targets: list[ast.expr], value_node: ast.expr) -> None:
    if len(targets) == 1 and isinstance(targets[0], ast.Subscript) and update_where(cx, targets[0], value_node):
        return
    _note_names(cx, targets[0], value_node)
    is_function = isinstance(value_node, ast.Lambda) and all(isinstance(target, ast.Name) for target in targets)
    if is_function:
        value: Value = named_lambda(cx, value_node)  # type: ignore[arg-type]
    else:
        if isinstance(value_node, ast.Call) and isinstance(targets[0], ast.Tuple) and len(targets) == 1:
            cx.comprehensions.add(id(value_node))
        cx.extended = name_that_grows(cx, targets, value_node)
        value = _list_of(cx, targets, value_node) or cx.evaluate(value_node)
        cx.extended = None
    if len(targets) > 1:
        value = freeze(cx, value, cx.at(value_node))
    for target in targets:
        assign_to(cx, target, value, value_node)


def _list_of(cx: Context, targets: list[ast.expr], node: ast.expr) -> Value | None:
    """`name = [...]` where the list is changed later, `name = [x] * n`, `name = [... for ...]`, and several of them at
    once; None for all else."""
    if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(node, ast.Tuple):
        return _lists_of(cx, targets[0].elts, node.elts)
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    if (iterator := iterator_of(cx, targets[0].id, node)) is not None:
        return iterator
    if _begins_empty(cx, node) and is_filled_by_text(cx.frame.tree, targets[0].id):
        return Keyed((), ())
    match node:
        case ast.List(elts=parts) if is_changed(cx.frame.tree, targets[0].id) or changes_deep_list(
            cx.frame.tree, targets[0].id, parts
        ):
            return new_list(cx, operands(cx, parts), node)
        case ast.List(elts=[_, *_] as parts) if is_searched(cx.frame.tree, targets[0].id):
            made = cx.evaluate(node)
            assert isinstance(made, Items)
            is_of_rows = len(made.items) == len(parts) and all(is_array(one) for one in made.items)
            return new_list(cx, made.items, node) if is_of_rows else made
        case ast.BinOp(left=ast.List(elts=[part]), op=ast.Mult(), right=times):
            value, count = operands(cx, [part, times])
            return new_list(cx, [value], node, cx.once(as_index(cx, count, times, "a number of times"), cx.at(times)))
        case ast.ListComp(elt=item, generators=parts):
            is_list = is_changed(cx.frame.tree, targets[0].id) or changes_deep_list(
                cx.frame.tree, targets[0].id, [item]
            )
            if isinstance(item, ast.Tuple) or len(parts) > 1 or is_list:
                return comprehension_list(cx, node, node)
            cx.comprehensions.add(id(node))
            array = comprehension(cx, node, is_list=True)
            if array is None:
                return comprehension_list(cx, node, node)
            return of_array(cx, array, weak_items(cx, node), (*cx.frame.path, "list", id(node)))
        case _:
            return None


def _begins_empty(cx: Context, node: ast.expr) -> bool:
    """`{}`, `dict()`, `typed.Dict.empty(...)`."""
    if isinstance(node, ast.Dict):
        return not node.keys
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute) or node.args:
        return False
    callee = function_of(cx, node)
    made = callee.value if isinstance(callee, Fixed) else None
    return (made is dict and not node.keywords) or getattr(made, MAKES, None) is dict


def _lists_of(cx: Context, targets: list[ast.expr], nodes: list[ast.expr]) -> Items | None:
    """The values of `a, b = [], 0`; None where there is no list among them."""
    if len(targets) != len(nodes) or not any(isinstance(one, ast.List | ast.ListComp) for one in nodes):
        return None
    values: list[Value] = []
    for target, node in zip(targets, nodes, strict=True):
        start = len(cx.body)
        value = _list_of(cx, [target], node) or cx.evaluate(node)
        keep(cx, values, start, nodes)
        values.append(value)
    return Items(tuple(values))


def _note_names(cx: Context, target: ast.expr, value_node: ast.expr) -> None:
    """Remember what the user calls a value, for the names of local arrays."""
    match target, value_node:
        case ast.Name(id=name), _:
            cx.target_names[id(value_node)] = name
        case ast.Tuple(elts=parts), ast.Tuple(elts=values):
            for part, value in zip(parts, values, strict=False):
                _note_names(cx, part, value)


def assign_to(cx: Context, target: ast.expr, value: Value, value_node: ast.expr) -> None:
    """`target = value`. Raises KernelError for a target that cannot be assigned to."""
    match target:
        case ast.Name():
            assign_name(cx, target, value, value_node)
            if isinstance(value, Keyed):
                note_keyed(cx, cx.frame.webs.stores[id(target)], value, value_node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(cx, target, parts, value, value_node)
        case ast.Subscript():
            _store_item(cx, target, value, value_node)
        case ast.Attribute(value=ast.Name(), attr="shape") if id(target) in cx.frame.webs.stores:
            _assign_shape(cx, target, value, value_node)
        case ast.Attribute():
            base = cx.evaluate(target.value)
            part = complex_functions.assignable_part(cx, target, base)
            if part is not None:
                assign_elements(cx, part, value, target, value_node)
                return
            place = field_place(cx, base, target)
            if isinstance(place, View) or place.shape:
                _store_field(cx, place, value, target, value_node)
                return
            arrays.store(cx, place, _stored_number(cx, place, value, target, value_node), target, value_node)
        case _:
            raise cx.error(target, "this cannot be assigned to here", remedy="name every part of the tuple")


def _unpack(cx: Context, target: ast.expr, parts: list[ast.expr], value: Value, value_node: ast.expr) -> None:
    refuse_object(cx, value, value_node)
    starred = next((k for k, part in enumerate(parts) if isinstance(part, ast.Starred)), None)
    if starred is not None:  # `first, *rest = t`: a list of what is left
        if not isinstance(value, Items) or len(value.items) < len(parts) - 1:
            raise cx.error(value_node, "'*' before a name takes the rest of a tuple", f"this is {describe(value)}",
                           "use slices: first, rest = a[0], a[1:]")  # fmt: skip
        end = len(value.items) - (len(parts) - 1 - starred)
        rest = Items(value.items[starred:end], is_list=True)
        value = Items((*value.items[:starred], rest, *value.items[end:]))
        parts = [part.value if isinstance(part, ast.Starred) else part for part in parts]
    if is_array(value):
        assert isinstance(value, ArrayLike)
        if isinstance(value, Elementwise) and value.reads:
            value = materialised(cx, value, value_node)
        value = items_of(cx, value, len(parts), value_node)
    if isinstance(value, ListValue):
        value = lists.unpacked(cx, value, len(parts), value_node)
    if not isinstance(value, Items):
        raise cx.error(value_node, "only a tuple can be unpacked", f"this is {describe(value)}")
    if len(parts) != len(value.items):
        raise cx.error(target, f"{len(value.items)} values cannot be unpacked into {len(parts)} names")
    written_out = isinstance(value_node, ast.Tuple) and len(value_node.elts) == len(parts)
    places = value_node.elts if written_out else [value_node] * len(parts)  # type: ignore[attr-defined]
    keys = [_variable_key(cx, part) for part in parts]
    refuse_copies(cx, parts, value_node)
    value = Items(independent(cx, apart_from_targets(cx, value.items, keys, places), keys, value_node))
    items = settle(cx, value.items, [assigned_by(cx, part) for part in parts], cx.at(value_node))
    for part, item, place in zip(parts, items, places, strict=True):
        assign_to(cx, part, item, place)


def _variable_key(cx: Context, target: ast.expr) -> Key | None:
    return key_of_target(cx, target) if isinstance(target, ast.Name) else None


def _store_item(cx: Context, target: ast.Subscript, value: Value, value_node: ast.expr) -> None:
    start = len(cx.body)
    base, indices = indexed(cx, target)
    if isinstance(base, TableValue) and base.is_dict:
        owner = target.value.id if isinstance(target.value, ast.Name) else ""
        refuse_table_shared(cx, owner, base, value, value_node, target)
        set_item(cx, base, index_of(indices), kept(cx, value, start, value_node), target)
        return
    if isinstance(base, Keyed):
        set_key(cx, target, base, index_of(indices), kept(cx, value, start, value_node), value_node)
        return
    if isinstance(base, ListValue) and len(indices) == 1:
        owner = owner_of(target.value)
        refuse_shared(cx, owner, value, value_node, target, base, inside=not owner)
        assign_item(cx, base, indices[0], kept(cx, value, start, value_node), target)
        return
    if _is_part(base, indices):
        assert isinstance(base, ArrayLike)
        value = kept(cx, value, start, value_node)
        assign_part(cx, base, indices, places_of(target, indices), value, target, value_node)
        return
    if isinstance(base, Records) and len(base.shape) == len(indices) and is_plain(indices):
        _store_record(cx, base, indices, value, target, value_node)
        return
    if isinstance(base, Records) and has_parts(indices):
        value = kept(cx, value, start, value_node)
        assign_records(cx, base, indices, places_of(target, indices), value, target, value_node)
        return
    place = _place(cx, target, base, indices)
    if isinstance(place, View) or place.shape:
        _store_field(cx, place, kept(cx, value, start, value_node), target, value_node)
        return
    value = _first(cx, kept(cx, value, start, value_node), place, value_node)
    arrays.store(cx, place, _stored_number(cx, place, value, target, value_node), target, value_node)


def _store_record(
    cx: Context, base: Records, indices: list[Value], value: Value, target: ast.Subscript, value_node: ast.expr
) -> None:
    """`records[i] = others[j]`: field by field."""
    value = freeze(cx, value, cx.at(value_node))
    place = freeze(cx, arrays.place_in_records(cx, base, indices, places_of(target, indices), target), cx.at(target))
    assert isinstance(place, Records)
    for to, of in arrays.fields_to_copy(cx, place, value, target):
        if to.shape:
            assign_elements(cx, as_view(to) if isinstance(to, Array) else to, of, target, value_node)
        else:
            number = arrays.element(cx, of, cx.at(value_node)) if isinstance(of, Array) else of
            assert isinstance(to, Array) and isinstance(number, Number)
            arrays.store(cx, to, number, target, value_node)


def _store_field(cx: Context, place: Array | View, value: Value, target: ast.expr, value_node: ast.expr) -> None:
    """`records["x"] = value`, for all records at once."""
    assign_part(cx, place, [Fixed(...)], [target], value, target, value_node)


def _first(cx: Context, value: Value, place: Array, node: ast.expr) -> Value:
    """The value, computed before the indices where both may fail in different ways: Python computes it first."""
    if not isinstance(value, Number):
        return value
    in_value, in_index = list(subexpressions(value.expr)), [part for e in place.index for part in subexpressions(e)]
    may_fail = all(any(isinstance(part, Load | Checked) for part in parts) for parts in (in_value, in_index))
    has_check = any(isinstance(part, Checked) for part in (*in_value, *in_index))
    return freeze(cx, value, cx.at(node)) if may_fail and has_check else value


def _is_part(base: Value, indices: list[Value]) -> bool:
    """Whether a subscript names more than one element."""
    if isinstance(base, Array):
        return not is_plain(indices) or len(indices) < len(base.shape)
    return isinstance(base, View | Elementwise)


def _place(cx: Context, target: ast.Subscript, base: Value, indices: list[Value]) -> Array | View:
    """The element that a subscript names, as a view with an index for every axis."""
    nodes = places_of(target, indices)
    match base:
        case Array():
            return arrays.view(cx, base, indices, nodes, target)
        case Records():
            place = arrays.place_in_records(cx, base, indices, nodes, target)
            if isinstance(place, Records):
                raise cx.error(target, "a whole record cannot be changed", remedy="assign its fields one by one")
            return place
        case Items(is_list=True):
            raise cx.error(target, "a list of this kind cannot be changed", "its items have several types",
                           "give them one type, such as [1.0, 2.5] for [1, 2.5], or use an array")  # fmt: skip
        case Items():
            raise cx.error(target, "a tuple cannot be written", remedy="use an array")
        case _:
            raise cx.error(target, f"{describe(base)} has no elements to assign")


def _assign_shape(cx: Context, target: ast.Attribute, value: Value, value_node: ast.expr) -> None:
    """`x.shape = value` of an array that no other name stands for: from here on the name means another view of it."""
    assert isinstance(target.value, ast.Name)
    name, old = target.value.id, cx.evaluate(target.value)
    base = old.name if isinstance(old, Array) else old.array.name if isinstance(old, View) else ""
    if base not in cx.allocations or has_aliases(cx.frame, name):
        what, why = f"the shape of '{name}' cannot be assigned here", "other names of the array would show it"
        raise cx.error(target, what, why, f"write: {name} = {name}.reshape(...)")
    assign_web(cx, cx.frame.webs.stores[id(target)], reshaped(cx, old, value, target), target, value_node)


def _stored_number(cx: Context, place: Array, value: Value, target: ast.expr, value_node: ast.expr) -> Literal | Number:
    if place.shape:
        raise cx.error(
            target,
            f"{describe(place)} cannot be assigned as a whole",
            "only single elements are assigned",
            ELEMENTWISE,
        )
    return as_number(cx, value, value_node, "an element must be a number")


def _augmented(cx: Context, node: ast.AugAssign) -> None:
    """`x += v`: the target is read, then the value, then the target is written."""
    target = node.target
    if isinstance(node.op, ast.MatMult):
        raise cx.error(node, "'@=' is outside the language", remedy="write: a = a @ b")
    op = operators.BINARY[type(node.op)]
    if isinstance(target, ast.Name):
        old = read_name(cx, target)
        start = len(cx.body)
        value = cx.evaluate(node.value)
        old = kept(cx, old, start, target)
        if isinstance(old, Items) and isinstance(value, Items) and op == "add":
            new: Value = replace(old, items=old.items + value.items)
        elif isinstance(old, TableValue | ListValue):
            updates_in_place(cx, target)
            _grow(cx, old, op, value, node)
            return None
        elif is_array(old):
            assert isinstance(old, ArrayLike)
            updates_in_place(cx, target)
            kept_old = materialised(cx, old, node) if isinstance(old, Elementwise) else old
            whole = as_view(kept_old) if isinstance(kept_old, Array) else kept_old
            assign_elements(cx, whole, _same_kind(cx, old, binary(cx, op, whole, value, node), node), target, node)
            return None
        else:
            new = binary(cx, op, old, value, node)
        assign_update(cx, target, new, node)
        return None
    if isinstance(target, ast.Subscript):
        base, indices = indexed(cx, target)
        if isinstance(base, TableValue | ListValue | Keyed):
            _augmented_item(cx, node, op, base, index_of(indices), target)
            return None
        if _is_part(base, indices):
            assert isinstance(base, ArrayLike)
            indices = [freeze(cx, index, cx.at(target)) for index in indices]
            old = part_of(cx, base, indices, places_of(target, indices), target)
            start = len(cx.body)
            value = cx.evaluate(node.value)
            old = kept(cx, old, start, target)
            new = binary(cx, op, old, value, node)
            if is_array(old):
                new = _same_kind(cx, old, new, node)
            assign_part(cx, base, indices, places_of(target, indices), new, target, node)
            return None
        place = _place(cx, target, base, indices)
    else:
        base = cx.evaluate(target.value)
        if (part := complex_functions.assignable_part(cx, target, base)) is not None:
            return _augmented_part(cx, part, op, node)
        place = field_place(cx, base, target)
    if isinstance(place, View) or place.shape:
        return _augmented_part(cx, as_view(place) if isinstance(place, Array) else place, op, node)
    start = len(cx.body)
    values: list[Value] = [place, arrays.element(cx, same_place(place), cx.at(target))]
    value = cx.evaluate(node.value)
    keep(cx, values, start, [target, target])
    place, read = same_place(values[0]), values[1]
    new = operators.binary_operation(cx, op, read, value, node)
    return arrays.store(cx, place, new, target, node)


def _augmented_key(
    cx: Context, node: ast.AugAssign, op: BinaryOp, base: Keyed, index: Value, target: ast.Subscript
) -> None:
    """`d["x"] += v`."""
    before = item_of(cx, base, index, target)
    if isinstance(before, Array | View) and before.shape:
        _augmented_part(cx, as_view(before) if isinstance(before, Array) else before, op, node)
        return
    before = freeze(cx, before, cx.at(target))
    set_key(cx, target, base, index, binary(cx, op, before, cx.evaluate(node.value), node), node.value)


def _augmented_part(cx: Context, part: View, op: BinaryOp, node: ast.AugAssign) -> None:
    new = binary(cx, op, part, cx.evaluate(node.value), node)
    assign_elements(cx, part, _same_kind(cx, part, new, node), node.target, node)


def _grow(cx: Context, old: TableValue | ListValue, op: BinaryOp, value: Value, node: ast.AugAssign) -> None:
    """`list += items`, `set |= set`."""
    if isinstance(old, ListValue) and op == "add":
        refuse_shared_items(cx, owner_of(node.target), value, node.value, node)
        made_texts.extended(cx, old, value, node)
    elif isinstance(old, TableValue) and not old.is_dict and isinstance(value, TableValue) and op == "or":
        update(cx, old, node.value, value, node)
    else:
        raise cx.error(node, f"this operator cannot change {describe(old)} here",
                       remedy="use += for lists, and |= for sets")  # fmt: skip


def _augmented_item(
    cx: Context, node: ast.AugAssign, op: BinaryOp, base: TableValue | ListValue | Keyed, index: Value,
    target: ast.Subscript,
) -> None:  # fmt: skip
    """`list[index] += v`, `dict[key] += v`."""
    if isinstance(base, Keyed):
        _augmented_key(cx, node, op, base, index, target)
        return
    index = freeze(cx, index, cx.at(target))
    if isinstance(base, TableValue):
        before = freeze(cx, get_item(cx, base, index, target), cx.at(target))
        if isinstance(before, ListValue):
            _grow(cx, before, op, cx.evaluate(node.value), node)
        elif isinstance(before, View):
            _augmented_part(cx, before, op, node)
        else:
            set_item(cx, base, index, binary(cx, op, before, cx.evaluate(node.value), node), target)
        return
    before = freeze(cx, index_list(cx, base, index, target), cx.at(target))
    if isinstance(before, ListValue):
        _grow(cx, before, op, cx.evaluate(node.value), node)
        return
    assign_item(cx, base, index, binary(cx, op, before, cx.evaluate(node.value), node), target)


def _same_kind(cx: Context, old: Value, new: Value, node: ast.AugAssign) -> Value:
    """The new elements of `x += v`. Raises KernelError for a type that NumPy does not put into an array in place."""
    assert isinstance(old, ArrayLike)
    if isinstance(new, ArrayLike) and not np.can_cast(new.element.dtype, old.element.dtype, "same_kind"):
        raise cx.error(node, f"{new.element} elements do not go into an array of {old.element} in place",
                       "NumPy raises TypeError: cannot cast with casting rule 'same_kind'",
                       "convert them first, with .astype(x.dtype)")  # fmt: skip
    return new


# ---- control --------------------------------------------------------------------------------------------------


def _if(cx: Context, node: ast.If, rest: list[ast.stmt]) -> bool:
    """An `if`; `rest` is what follows it, for the branches that do not return. Gives whether it is known now that
    nothing after it is reached."""
    falls = cx.frame.webs.falls.get(id(node), (True, True))
    first = [*node.body, *(rest if falls[0] else [])]
    second = [*node.orelse, *(rest if falls[1] else [])]
    decided: object = cx.frame.webs.decisions.get(id(node))
    condition = decided if isinstance(decided, bool) else condition_before(cx, node.test, first, second)
    if isinstance(condition, bool):
        cx.execute(first if condition else second)
        # A helper that always raises still needs a value for what its call is part of: the rest of it gives one.
        return not falls[0 if condition else 1] and (not cx.frame.is_inlined or cx.frame.result is not None)
    with cx.inner_body() as then:
        cx.execute(first)
    with cx.inner_body() as otherwise:
        cx.execute(second)
    cx.emit(If(condition, tuple(then), tuple(otherwise), at=cx.at(node.test)))
    return False
