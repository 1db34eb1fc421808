"""What the kernel returns: scalars with one type for all returns, arrays that are its own or its arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from loopwright.errors import KernelError, name_of_class
from loopwright.frontend import promote
from loopwright.frontend.bounds import bound_of, known_at_call, may_be_largest
from loopwright.frontend.chosen_texts import all_texts
from loopwright.frontend.complex_pairs import parts_of
from loopwright.frontend.context import Context, NotYet, ReturnForm
from loopwright.frontend.convert import convert, in_type
from loopwright.frontend.elementwise import assign_elements, check, new_array
from loopwright.frontend.infer import ArrayKind
from loopwright.frontend.lists import elements_of
from loopwright.frontend.named_tuples import known_name
from loopwright.frontend.objects import with_numbers
from loopwright.frontend.returned_values import complex_kind, is_first_part, own_values, presence_of, returned
from loopwright.frontend.rows import laid_out
from loopwright.frontend.tables import as_list
from loopwright.frontend.values import (
    Along,
    Array,
    Character,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Mixed,
    Number,
    Records,
    RowTable,
    TableValue,
    Value,
    View,
    describe,
)
from loopwright.frontend.variables import array_if_present, grow
from loopwright.frontend.views import as_size, as_view, clipped, in_range, size_of
from loopwright.ir.made_values import name_of_choice, name_of_each, name_of_keyed, name_of_records, name_of_text
from loopwright.ir.nodes import (
    RESERVED,
    Allocate,
    Assign,
    Binary,
    Checked,
    Compare,
    Const,
    Expr,
    If,
    Load,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    Stmt,
    Var,
)
from loopwright.ir.rows import ListOfArrays, ListOfLists, ListOfListsOfTuples, ListOfPairs, OneOf, Shaped
from loopwright.ir.types import BOOL, INT64, Scalar

_MOST_RETURNED = 1000  # numbers and arrays
_ZERO = Const(0, INT64)
_RESERVED: Expr = Const(RESERVED, INT64)

Returned = tuple[ReturnedScalar | ReturnedArray, ...]


def return_from_kernel(cx: Context, node: ast.Return) -> None:
    """`return`, `return x`, `return x, y` of the kernel itself."""
    value: Value = Fixed(None) if node.value is None else with_numbers(cx, returned(cx, node.value), node)
    if cx.session.forms is not None:
        _return_in_its_form(cx, value, node)
        return
    if isinstance(value, Fixed) and value.value is None:
        if cx.session.maybe_returns:
            _return_none(cx, node)
            return
        _agree(cx, node, (), False, (), nothing=True)
        cx.emit(Return((), at=cx.at(node)))
        return
    flat: list[Value] = []
    packing: list[tuple[str, int]] = []
    _flatten(cx, own_values(cx, value, node), node, flat, packing, node.value)
    if cx.session.maybe_returns:
        packing += [("value", len(flat)), ("maybe", 0)]
        flat.append(Literal(True))
    is_tuple = isinstance(value, Items) and not value.is_list
    plain = [("value", k) for k in range(len(flat))] + ([("tuple", len(flat))] if is_tuple else [])
    if packing == plain:
        packing = []
    _agree(cx, node, tuple(flat), is_tuple or bool(packing), tuple(packing), nothing=False)
    values = [_returned(cx, number, item, node) for number, item in enumerate(flat)]
    cx.emit(Return(tuple(expr for expr in values if expr is not None), at=cx.at(node)))


def _flatten(
    cx: Context, value: Value, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]],
    written: ast.expr | None, place: tuple[int, ...] = (),
) -> None:  # fmt: skip
    """The numbers and arrays of what is returned, and how it is made of them (`Kernel.packing`); place: in tuples."""
    maybe = None if written is None else array_if_present(cx, written)
    if maybe is not None:
        _flatten_maybe(cx, *maybe, node, flat, packing)
        return
    found = presence_of(cx, value, written, place)
    if found is not None:
        flag, number = found
        _flatten(cx, number, node, flat, packing, None, (*place, -1))
        packing += [("value", len(flat)), ("maybe", 0)]
        flat.append(Number(flag, weak=True))
        return
    match value:
        case Items(items=items):
            is_written_out = isinstance(written, ast.Tuple | ast.List) and len(written.elts) == len(items)
            parts = written.elts if is_written_out else [None] * len(items)  # type: ignore[union-attr]
            for k, item in enumerate(items):
                _flatten(cx, item, node, flat, packing, parts[k], (*place, k))
            packing.append(("tuple", len(items)))
            if value.kind is not None:
                packing.append((known_name(cx, value.kind, node, value.is_made), 0))
            packing += [("list", 0)] * bool(value.is_list)
        case Literal() | Number() if (kind := complex_kind(cx, value, flat, packing)) is not None:
            packing += [("value", len(flat)), ("value", len(flat) + 1), ("complex", 2)]
            flat += [Number(x, kind.weak) for x in parts_of(cx, convert(cx, value, kind.type, node), cx.at(node))]
        case Fixed(value=None):
            packing.append(("none", 0))
        case Character():
            packing += [("value", len(flat)), ("tuple", 1), (name_of_choice(all_texts(cx)), 0)]
            flat.append(Number(value.code, weak=True))
        case ListValue():
            _flatten_list(cx, value, node, flat, packing)
        case TableValue(shows="keys"):
            for what in ("keys", "values") if value.is_dict else ("keys",):
                _flatten(cx, as_list(cx, replace(value, shows=what), node), node, flat, packing, None)
            packing.append(("dict" if value.is_dict else "set", 0))
        case Records(dtype=dtype, index=()) if dtype is not None:
            _flatten(cx, Items(tuple(own_values(cx, plane, node) for plane in value.planes)), node, flat, packing, None)
            packing.append((name_of_records(dtype), 0))
        case Keyed(keys=keys, items=items):
            _flatten(cx, Items(items), node, flat, packing, None, place)
            packing.append((name_of_keyed(keys), 0))
        case Fixed(value=str() | frozenset() as known):
            packing += [("tuple", 0), (name_of_text(known) if isinstance(known, str) else "set", 0)]
        case Array(index=()) if value.name in cx.allocations and not _is_known(cx, value):
            if _is_open(cx, value):
                _pack_open(*_open_result(cx, value, len(flat), node), flat, packing)
                return
            _flatten_cut(cx, value, node, flat, packing)
        case View() | Array() if _is_part(cx, value):
            _flatten_part(cx, value, node, flat, packing)
        case _:
            packing.append(("value", len(flat)))
            flat.append(value)
    if isinstance(value, Array) and value.element.is_complex and value.name in cx.allocations:
        packing.append(("complex", 1))


def _flatten_maybe(
    cx: Context, flag: Expr, array: Array | View, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """An array that is None at times: a result with its elements where there is one, and whether there is."""
    place = node.value or node
    is_open = _is_open(cx, array)
    sizes = [cx.temporary_name() for _ in range(len(array.shape) + is_open)]
    for name in sizes:
        cx.emit(Assign(name, _ZERO, at=cx.at(place)))
    position = len(flat)
    with cx.inner_body() as then:
        result, found = (_open_result if is_open else _cut_result)(cx, array, position, node)
        for name, size in zip(sizes, found, strict=True):
            cx.emit(Assign(name, size.expr, at=cx.at(place)))
    cx.emit(If(flag, tuple(then), at=cx.at(place)))
    kept = [Number(Var(name, INT64), weak=True) for name in sizes]
    if is_open:
        _pack_open(result, kept, flat, packing)
    else:
        packing += [("value", position + k) for k in range(1 + len(sizes))]
        packing += [("cut", len(sizes)), *[("complex", 1)] * array.element.is_complex]
        flat += [result, *kept]
    packing += [("value", len(flat)), ("maybe", 0)]
    flat.append(Number(flag, weak=True))


def _flatten_list(
    cx: Context, value: ListValue, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """A list: its elements, for each place of its tuples."""
    if value.is_of_tuple:
        raise cx.error(node.value or node, "a slice of a tuple cannot be returned", "how long it is must be known",
                       "return np.array(x)")  # fmt: skip
    if value.rows is not None:
        _flatten_rows(cx, value, node, flat, packing)
        return
    parts = elements_of(cx, value, node, of_texts=True)
    for part, column in zip(parts, value.columns or (None,) * len(parts), strict=True):
        if isinstance(column, RowTable):
            _flatten_rows(cx, ListValue((part,), value.length, (), rows=column), node, flat, packing)
            continue
        _flatten_cut(cx, part, node, flat, packing)
        packing += [("complex", 1)] * part.array.element.is_complex
        packing.append(("list", int(not part.array.weak)))
        if column is not None:
            packing.append((name_of_choice(all_texts(cx), in_list=True, is_joined=False), 0))
    if value.holds_texts:
        packing.append((name_of_choice(all_texts(cx), in_list=True, is_joined=value.is_text), 0))
    if value.is_tuple:
        packing.append(("zip", len(value.parts)))
    if value.kind is not None:
        packing.append((name_of_each(known_name(cx, value.kind, node), 1), 0))
    if value.holds_lists:
        packing.append((name_of_class(ListOfPairs), 0))


def _is_open(cx: Context, value: Array | View) -> bool:
    """Whether next to nothing is known of several of its sizes."""
    most = [bound_of(cx, size_of(size)) for size in value.shape]
    return sum(one is None or one == _RESERVED for one in most) > 1


def _open_result(cx: Context, value: Array | View, position: int, node: ast.Return) -> tuple[Array, list[Number]]:
    """A result for an array of which nothing is known but that it fits into memory, with its elements in C order; how
    many these are, and its sizes."""
    place = node.value or node
    count: Expr = Const(1, INT64)
    for size in value.shape:
        check(cx, Compare("le", size_of(size), _RESERVED), "memory", place)  # so that no product overflows
        count = cx.temporary(Binary("mul", count, size_of(size)), cx.at(place))
        check(cx, Compare("le", count, _RESERVED), "memory", place)
    assert isinstance(count, Var)
    cx.natural.add(count.name)
    cx.bounds[count.name] = _RESERVED
    result, sizes = _result_of_room(cx, value.element, position, (_RESERVED,), 1, place), tuple(value.shape)
    assign_elements(cx, laid_out(as_view(result), _ZERO, sizes), value, place, place)
    return result, [Number(one, weak=True) for one in (count, *map(size_of, sizes))]


def _pack_open(result: Array, numbers: Sequence[Number], flat: list[Value], packing: list[tuple[str, int]]) -> None:
    """How the array is made of what `_open_result` gives."""
    position = len(flat)
    packing += [("value", position), ("value", position + 1), ("cut", 1)]
    packing += [("complex", 1)] * result.element.is_complex
    packing += [("value", position + k) for k in range(2, 1 + len(numbers))]
    packing += [("tuple", len(numbers)), (name_of_class(Shaped), 0)]
    flat += [result, *numbers]


def _flatten_rows(
    cx: Context, value: ListValue, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """A list of lists or arrays: the numbers in it, and of all that these stand for where each begins, its sizes and
    its elements."""
    table = value.rows
    assert table is not None
    if cx.session.named.get((*table.key, "element")) is not None:
        what, remedy = "a list of lists of named tuples cannot be returned", "return their fields in lists"
        raise cx.error(node, what, remedy=remedy)
    place = node.value or node
    if not table.parts:
        raise NotYet("nothing is put into the lists in this list", cx.at(node), remedy="append their elements")
    used, count = table.parts[0].shape[0], table.starts.shape[0]
    if table.head is not None:
        found = [Load(table.head.name, (Const(k, INT64),), INT64, at=cx.at(place)) for k in range(2)]
        sizes = [cx.temporary(one, cx.at(place)) for one in found]
        cx.natural.update(one.name for one in sizes)
        cx.bounds.update({one.name: _RESERVED for one in sizes})
        used, count = map(as_size, sizes)
    (numbers,) = elements_of(cx, value, node)
    inner = [as_view(one) for one in (table.starts, *table.sizes)]
    for view in (numbers, *(replace(one, shape=(count,)) for one in inner)):
        _flatten_cut(cx, view, node, flat, packing)
    for part in table.parts:
        if table.rows is not None:
            inner_numbers = (replace(part, shape=(used,)),)
            _flatten_rows(cx, ListValue(inner_numbers, size_of(used), (), rows=table.rows), node, flat, packing)
            continue
        _flatten_cut(cx, replace(part, shape=(used,)), node, flat, packing)
        packing += [("complex", 1)] * part.array.element.is_complex
        if not table.holds_arrays:
            packing.append(("list", int(not part.array.weak)))
    packing.append(("tuple", 2 + len(table.sizes) + len(table.parts)))
    made = ListOfArrays if table.holds_arrays else ListOfListsOfTuples if table.is_tuple else ListOfLists
    packing.append((name_of_class(made), 0))
    if table.kind is not None:
        packing.append((name_of_each(known_name(cx, table.kind, node), 2), 0))


def _flatten_cut(
    cx: Context, value: Array | View, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """An array whose sizes the code computes: a result that is large enough, and these sizes."""
    result, sizes = _cut_result(cx, value, len(flat), node)
    made: tuple[Value, ...] = (result, *sizes)
    packing += [("value", len(flat) + k) for k in range(len(made))]
    flat += made
    packing.append(("cut", len(sizes)))


def _flatten_local_part(
    cx: Context, view: View, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """Part of a local array, whose sizes the code computes: the array itself, to be cut, where that gives this part."""
    view = replace(view, shape=tuple(clipped(cx, size) for size in view.shape))
    if is_first_part(cx, view) and _is_known(cx, view.array):
        sizes = [Number(size_of(size), weak=True) for size in view.shape[:1]]
        packing += [("value", len(flat)), ("value", len(flat) + 1), ("cut", 1)]
        flat += [view.array, *sizes]
    else:
        _flatten_cut(cx, view, node, flat, packing)
    packing += [("complex", 1)] * view.element.is_complex


def _flatten_part(
    cx: Context, value: View | Array, node: ast.Return, flat: list[Value], packing: list[tuple[str, int]]
) -> None:
    """Part of an array. Of an argument: the argument, and the numbers of a "view" of it (`Kernel.packing`)."""
    view = as_view(value) if isinstance(value, Array) else value
    if view.array.name in cx.allocations:
        _flatten_local_part(cx, view, node, flat, packing)
        return
    array, place = view.array, node.value or node
    numbers: list[Expr] = []
    for axis, one in enumerate(view.places):
        assert not isinstance(one, Mixed)
        numbers.append(one.start if isinstance(one, Along) else in_range(cx, one, array.sizes[axis], place))
    for axis, size in enumerate(view.shape):
        numbers.append(size_of(clipped(cx, size)))
        steps = [one.step if isinstance(one, Along) and one.axis == axis else _ZERO for one in view.places]
        numbers += steps
    packing.append(("value", len(flat)))
    if array != (whole := cx.arguments[array.name]):  # the real or the imaginary parts
        packing.append(("complex", 0))
    packing += [("value", len(flat) + k) for k in range(1, len(numbers) + 1)]
    packing.append(("view", len(numbers)))
    flat += [whole, *(Number(number, weak=True) for number in numbers)]


def _is_part(cx: Context, value: Value) -> bool:
    """Whether it is part of an argument, with strides of its own, or what `own_values` left of a local array."""
    view = as_view(value) if isinstance(value, Array) and value.index else value
    if isinstance(value, View) and value.array.name in cx.allocations:
        return True
    if not isinstance(view, View) or view.array.weak or not view.shape:
        return False
    return view.array.name in cx.arguments and not any(isinstance(one, Mixed) for one in view.places)


def _is_known(cx: Context, array: Array) -> bool:
    """Whether a local array can be made by whoever calls the code: its sizes are known then, and it is made once."""
    allocate, depth = cx.allocations[array.name]
    several = len(cx.frames[0].webs.returns) > 1
    return not depth and not several and all(known_at_call(cx, size) is not None for size in allocate.shape)


def _cut_result(cx: Context, array: Array | View, position: int, node: ast.Return) -> tuple[Array, list[Number]]:
    """A result that is large enough, with the elements of the array; and the sizes to cut it to. Raises KernelError
    where nothing is known about how large two of its axes may be."""
    place = node.value or node
    most = [bound_of(cx, size_of(size)) for size in array.shape]
    if most.count(None) > 1:
        name = array.name if isinstance(array, Array) else array.array.name
        allocate, _ = cx.allocations[name]
        raise KernelError(
            f"the array '{name}' cannot be returned",
            allocate.at,
            "its sizes are computed while the function runs, and nothing is known about how large they may be",
            "pass an array that is large enough, and return how much of it is used",
        )
    if len(most) > 1:  # what a list may hold says as little as nothing: no product of it is ever needed
        most = [None if one == _RESERVED else one for one in most]
    if None in most:  # what elements say: memory that is only used as far as it is needed
        axis = most.index(None)
        others = [size for size in most if size is not None]
        room = reduce(lambda a, b: Binary("floordiv", a, Binary("max", b, Const(1, INT64))), others, _RESERVED)
        check(cx, Compare("le", size_of(array.shape[axis]), room), "memory", place)
        most[axis] = room
    result = _result_of_room(cx, array.element, position, tuple(most), len(array.shape), place)  # type: ignore[arg-type]
    whole = as_view(result)
    assign_elements(cx, replace(whole, shape=array.shape), array, place, place)
    return result, [Number(size_of(size), weak=True) for size in array.shape]


def _result_of_room(
    cx: Context, element: Scalar, position: int, most: tuple[Expr, ...], axes: int, place: ast.AST
) -> Array:
    """The result at a place, with room for this one of the arrays that are returned there."""
    kind = cx.session.types.assign(("result", position), ArrayKind(element, axes))
    if not isinstance(kind, ArrayKind):
        _read_again_by_form(cx)
        raise cx.error(place, "this return does not agree with the others", "its arrays have other numbers of axes")
    shapes = cx.session.result_shapes.setdefault(position, [])
    if most not in shapes:
        shapes.append(most)
        cx.session.types.grown = True
    if position not in cx.result_names:
        sizes = tuple(
            as_size(reduce(lambda a, b: a if a == b else Binary("max", a, b), may_be_largest(axis)))
            for axis in zip(*shapes, strict=True)
        )
        outer, cx.body, depth, cx.depth = cx.body, cx.prologue, cx.depth, 0
        result = new_array(cx, sizes, kind.element, place, "result")
        cx.body, cx.depth = outer, depth
        cx.result_names[position] = result
    return cx.result_names[position]


# ---- returns that have no form in common ----------------------------------------------------------------------

_MOST_IN_FORM = 64  # numbers and arrays of one return
_MOST_FORMS = 16


def _read_again_by_form(cx: Context) -> None:
    """Read the function again, where the returns seen so far do not agree: each then has a form of its own."""
    if cx.session.forms is None and len(cx.frames[0].webs.returns) <= _MOST_FORMS:
        cx.session.forms = {}
        cx.session.types.grown = True


def _return_in_its_form(cx: Context, value: Value, node: ast.Return | None) -> None:
    """`return` where each gives the number of its form, its own values, and zeros for those of all others."""
    forms = cx.session.forms
    assert forms is not None
    key = 0 if node is None else id(node)
    known = forms.get(key)
    first = 1 + _MOST_IN_FORM * len(forms) if known is None else known.first
    flat: list[Value] = [Literal(0)] * first
    packing: list[tuple[str, int]] = []
    if node is None or (isinstance(value, Fixed) and value.value is None):
        packing.append(("none", 0))
    else:
        _flatten(cx, own_values(cx, value, node), node, flat, packing, node.value)
    own = flat[first:]
    if len(own) > _MOST_IN_FORM:
        raise cx.error(node or cx.frame.tree, f"a return of {len(own)} values among others is outside the language")
    kinds = () if node is None else tuple(_kind(cx, item, node) for item in own)
    cx.reached[key] = forms[key] = form = ReturnForm(first, kinds, tuple(packing))
    if known != form:
        cx.session.types.grown = True
    values: list[Expr] = [Const(list(forms).index(key), INT64)]
    for one in forms.values():
        for number, kind in enumerate(one.kinds, one.first):
            if kind is None and one is form:
                assert node is not None
                values.append(_returned(cx, number, flat[number], node) or _ZERO)
            elif kind is None and isinstance(known_type := cx.session.types.of(("return", number)), promote.NumberType):
                values.append(_zero_of(known_type))
    cx.emit(Return(tuple(values), at=None if node is None else cx.at(node)))


def _zero_of(kind: promote.NumberType) -> Expr:
    return Const(False if kind.type == BOOL else 0.0 if kind.type.is_float else 0, kind.type)


def _settle_forms(cx: Context, forms: dict[int, ReturnForm]) -> None:
    """At the end of a round: what is returned, of all forms together."""
    if cx.reached.keys() != forms.keys() and cx.session.failure is None:  # one of them is not reached any more
        cx.session.forms = {}
        cx.session.types.grown = True
    numbers = [0, *(one.first + k for one in forms.values() for k in range(len(one.kinds)))]
    cx.return_keys = tuple(numbers)
    packing: list[tuple[str, int]] = [("value", 0)]
    for one in forms.values():
        packing += [(kind, numbers.index(at) if kind == "value" else at) for kind, at in one.packing]
    cx.packing = (*packing, ("tuple", 1 + len(forms)), (name_of_class(OneOf), 0))
    cx.returns = [((None, *(kind for one in forms.values() for kind in one.kinds)), True)]
    cx.session.types.assign(("return", 0), promote.NumberType(INT64, weak=True))


def _return_none(cx: Context, node: ast.Return | None) -> None:
    """`return None` where other paths return something: zeros for its numbers, and that they mean nothing."""
    found = [cx.session.types.of(("return", k)) for k in range(_MOST_RETURNED)]
    kinds = [kind for kind in found if isinstance(kind, promote.NumberType)]
    if not kinds:
        raise NotYet("what the function returns is not known", None if node is None else cx.at(node))
    values: list[Expr] = []
    for kind in kinds:
        values.append(_zero_of(kind))
    cx.emit(Return(tuple(values), at=None if node is None else cx.at(node)))


def _agree(
    cx: Context, node: ast.Return, items: tuple[Value, ...], is_tuple: bool, packing: tuple[tuple[str, int], ...],
    nothing: bool,
) -> None:  # fmt: skip
    """Every return gives as many values, and arrays in the same places."""
    kinds = None if nothing else tuple(_kind(cx, item, node) for item in items)
    if cx.returns and (*cx.returns[0], cx.packing) != (kinds, is_tuple, packing):
        if (
            nothing or cx.returns[0][0] is None
        ) and not cx.session.maybe_returns:  # read it again, with None as a value
            cx.session.maybe_returns = True
            cx.session.types.grown = True
        else:
            _read_again_by_form(cx)
        raise cx.error(
            node,
            "this return does not agree with the others",
            "a function returns as many values, and the same arrays, on every path",
            "return the same kinds of values everywhere",
        )
    cx.returns.append((kinds, is_tuple))
    cx.packing = packing


def _kind(cx: Context, item: Value, node: ast.Return) -> str | None:
    """The name of a returned array, or None for a scalar."""
    match item:
        case Literal() | Number():
            return None
        case Array(index=(), weak=False) if item.name in cx.arguments or item.name in cx.allocations:
            return item.name
        case Array() | View():
            raise cx.error(node.value or node, "a view of an array cannot be returned",
                           remedy="return the whole array, or a copy: a[1:].copy()")  # fmt: skip
        case Records():
            raise cx.error(node.value or node, "an array of records cannot be returned",
                           remedy="leave the return out: the caller has the array")  # fmt: skip
        case _:
            raise cx.error(
                node.value or node, f"{describe(item)} cannot be returned", remedy="return numbers and arrays"
            )


def _returned(cx: Context, number: int, item: Value, node: ast.Return) -> Expr | None:
    if not isinstance(item, Literal | Number):
        return None
    kind = grow(cx, ("return", number), "the returned value", item.number_type, node.value or node)
    return in_type(cx, item, kind, node.value or node)


def check_end(cx: Context, falls_through: bool) -> None:
    """Return None where some path returns a value and another comes to the end of the function."""
    if cx.session.forms is not None:
        if falls_through:
            _return_in_its_form(cx, Fixed(None), None)
        _settle_forms(cx, cx.session.forms)
        return
    if not falls_through or all(kinds is None for kinds, _ in cx.returns):
        return
    if not cx.session.maybe_returns:
        cx.session.maybe_returns = cx.session.types.grown = True
    _return_none(cx, None)


def returned_values(cx: Context) -> tuple[Returned | None, bool]:
    """`Kernel.returned` and `Kernel.returns_tuple`."""
    if not cx.returns or cx.returns[0][0] is None:
        return None, False
    kinds, is_tuple = cx.returns[0]
    assert kinds is not None
    result: list[ReturnedScalar | ReturnedArray] = []
    for number, name in enumerate(kinds):
        kind = cx.session.types.of(("return", cx.return_keys[number] if cx.return_keys else number))
        if name is not None:
            result.append(ReturnedArray(name))
        elif isinstance(kind, promote.NumberType):
            result.append(ReturnedScalar(kind.type, kind.weak))
    return tuple(result), is_tuple


def result_arrays(cx: Context, body: tuple[Stmt, ...]) -> tuple[tuple[ResultArray, ...], tuple[Stmt, ...]]:
    """The local arrays that are returned, made before the body runs; and the body without their Allocates."""
    parameters = {param.name for param in cx.parameters.values()}
    names = {name for kinds, _ in cx.returns for name in kinds or () if name is not None and name not in parameters}
    results = []
    tests: dict[int, list[Stmt]] = {}
    for name in sorted(names, key=list(cx.allocations).index):
        allocate, depth = cx.allocations[name]
        shape = [known_at_call(cx, size) for size in allocate.shape]
        sizes = tuple(size for size in shape if size is not None)
        if depth or len(sizes) < len(shape):
            raise KernelError(
                f"the array '{name}' cannot be returned",
                allocate.at,
                "it is made inside a loop or a branch" if depth else "its size is computed while the function runs",
                "pass an array that is large enough, and return how much of it is used",
            )
        tests[id(allocate)] = [
            _not_negative(cx, own, allocate) for own, size in zip(allocate.shape, sizes, strict=True) if own != size
        ]
        safe = (
            size if own == size else Binary("max", size, Const(0, INT64))
            for own, size in zip(allocate.shape, sizes, strict=True)
        )
        results.append(ResultArray(name, allocate.element, tuple(safe), allocate.fill, at=allocate.at))
    return tuple(results), tuple(new for stmt in body for new in tests.get(id(stmt), [stmt]))


def _not_negative(cx: Context, size: Expr, allocate: Allocate) -> Stmt:
    """The test of a size, where it is computed, of an array that is made earlier."""
    inside, says = Compare("ge", size, _ZERO), "ValueError: negative dimensions are not allowed"
    return Assign(cx.temporary_name(), Checked(_ZERO, inside, "raised", says, at=allocate.at), at=allocate.at)
