"""Names for arrays of several sizes: `z = z[inside]` in a loop, an array of another size in each branch.

Such a name has memory for the largest of its arrays, and a variable for each size that it has now. How large they may
be must be known when the call begins.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate

from loopwright.frontend.bounds import bound_of
from loopwright.frontend.context import Context, web_key
from loopwright.frontend.elementwise import assign_elements, check, new_array
from loopwright.frontend.infer import Key
from loopwright.frontend.values import Along, ArrayLike, Number, View
from loopwright.frontend.views import ZERO, Size, add, as_size, as_view, clipped, never_negative, size_of
from loopwright.ir.nodes import RESERVED, Assign, Binary, Compare, Const, Expr, Var
from loopwright.ir.queries import room_beside
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import subexpressions

_MOST_SHAPES = 4
_JOINING = ("append", "concatenate", "vstack", "hstack")
_ROOM: Expr = Const(RESERVED, INT64)
"""The size of an axis of which nothing is known: the room has so many elements, of which the system only gives what is
used."""


def note_sizes(cx: Context, key: Key, shapes: Sequence[Sequence[Size]]) -> bool:
    """Remember what the arrays of a name cannot be larger than, for the next round; False where that is not known."""
    known = cx.session.rooms.setdefault(key, [])
    if known is None:
        return False
    bounds = [tuple(_bound(cx, size_of(size)) for size in shape) for shape in shapes]
    own = tuple(size_of(size) for size in cx.array_variables[key].sizes) if key in cx.sizes else ()
    for most in bounds:
        constant = next((one for one in known if _is_constant(one)), None)
        if constant is not None and _is_constant(most):  # a table in each branch: as many as there are count as one
            joined = tuple(map(_larger_constant, constant, most))
            cx.session.types.grown |= constant != joined
            known[known.index(constant)] = joined
            continue
        if any(size is None for size in most) or len(known) > _MOST_SHAPES:
            growing = _unlike_axis([*known, most])
            if growing is None:
                cx.session.rooms[key] = None
                return False
            most = tuple(_ROOM if axis == growing else size for axis, size in enumerate(most))
        if most not in known and most != own:
            known.append(most)  # type: ignore[arg-type]
            cx.session.types.grown = True
    return True


def _bound(cx: Context, size: Expr) -> Expr | None:
    """What a size cannot be above, as short as it can be said; None where it may need all the room there is."""
    most = bound_of(cx, size)
    if most is not None and _ROOM in subexpressions(most):
        return None
    while isinstance(most, Binary) and most.op == "max" and most.right == ZERO:
        most = most.left  # what is negative has no room in any case
    return most


def _unlike_axis(shapes: Sequence[Sequence[Expr | None]]) -> int | None:
    """The axis of which nothing is known, or along which all of these arrays grow; None where that are several."""
    axes = list(zip(*shapes, strict=True))
    unknown = [axis for axis, sizes in enumerate(axes) if None in sizes or _ROOM in sizes]
    counts = [len(set(sizes)) for sizes in axes]
    found = unknown or [axis for axis, count in enumerate(counts) if count == max(counts)]
    return found[0] if len(found) == 1 else None


def sized_name(cx: Context, key: Key) -> View:
    """The array that a name of several sizes stands for now."""
    room = cx.array_variables[key]
    sizes = []
    growing = _growing_axis(cx, key)
    for axis, (name, most) in enumerate(zip(cx.sizes[key], room.sizes, strict=True)):
        size = cx.temporary(Var(name, INT64), None)  # the variable may change while this array is looked at
        cx.natural.add(size.name)
        cx.bounds[size.name] = _ROOM if axis == growing else size_of(most)
        sizes.append(Number(size, weak=True))
    return replace(as_view(room), shape=tuple(sizes))


def assign_sized(
    cx: Context, key: Key, name: str, value: ArrayLike, element: Scalar, node: ast.AST, value_node: ast.AST
) -> None:
    """Assign an array to such a name."""
    if key not in cx.array_variables:
        make_room(cx, key, name, element, node)
    sizes = tuple(as_size(cx.once(size_of(clipped(cx, size)), cx.at(value_node))) for size in value.shape)
    note_sizes(cx, key, [sizes])
    axis = _growing_axis(cx, key)
    if axis is not None:
        check(cx, Compare("le", size_of(sizes[axis]), size_of(cx.array_variables[key].sizes[axis])), "memory", node)
    target = replace(as_view(cx.array_variables[key]), shape=value.shape)
    assign_elements(cx, target, value, node, value_node)
    for variable, size in zip(cx.sizes[key], sizes, strict=True):
        cx.emit(Assign(variable, size_of(size), at=cx.at(node)))


def name_that_grows(cx: Context, targets: Sequence[ast.expr], value: ast.expr) -> Key | None:
    """A name that is assigned its own array with others behind it, as in `x = np.append(x, y)`: where it has all the
    room there is, these need only be written there. None for everything else."""
    match targets, value:
        case [ast.Name(id=name) as target], ast.Call(func=ast.Attribute(attr=joins), args=[first, *_]):
            parts = first.elts if isinstance(first, ast.Tuple | ast.List) else [first]
            web = cx.frame.webs.stores.get(id(target))
            is_first = bool(parts) and isinstance(parts[0], ast.Name) and parts[0].id == name
            key = web_key(cx.frame, web) if web is not None and is_first and joins in _JOINING else None
            return key if key in cx.sizes else None
        case _:
            return None


def extended(cx: Context, key: Key, parts: Sequence[ArrayLike], axis: int, node: ast.AST) -> View | None:
    """Such a name's array with others written behind it along an axis; None where another array has to be made."""
    first, room = parts[0], cx.array_variables[key]
    size = size_of(room.sizes[axis])
    if _growing_axis(cx, key) != axis:
        return None
    if not isinstance(first, View) or first.array != room or first.places != as_view(room).places:
        return None
    if any(part.element != room.element for part in parts):
        return None
    begin = [clipped(cx, part.shape[axis]) for part in parts]
    ends = [cx.once(one, cx.at(node)) for one in accumulate(map(size_of, begin), add)]
    check(cx, Compare("le", ends[-1], size), "memory", node)
    for part, start in zip(parts[1:], ends, strict=False):
        places = tuple(
            replace(place, start=start) if k == axis and isinstance(place, Along) else place
            for k, place in enumerate(first.places)
        )
        assign_elements(cx, View(room, places, part.shape), part, node, node)
    return replace(first, shape=tuple(as_size(ends[-1]) if k == axis else one for k, one in enumerate(first.shape)))


def make_room(cx: Context, key: Key, name: str, element: Scalar, node: ast.AST) -> None:
    """Make the memory of such a name at the start, and the variables of its sizes."""
    outer, cx.body, depth, cx.depth = cx.body, cx.prologue, cx.depth, 0
    try:
        shapes = cx.session.rooms[key] or []
        most = [_ROOM if _ROOM in axis else reduce(_larger, axis) for axis in zip(*shapes, strict=True)]
        most = [size if never_negative(cx, size) else _larger(size, ZERO) for size in most]
        sizes = [
            as_size(size if size != _ROOM else room_beside([one for one in most if one != _ROOM])) for size in most
        ]
        room = new_array(cx, sizes, element, node, name)
        cx.sizes[key] = tuple(cx.new_name(f"{name}.size{axis}") for axis in range(len(sizes)))
        for variable in cx.sizes[key]:
            cx.emit(Assign(variable, ZERO, at=cx.at(node)))
    finally:
        cx.body, cx.depth = outer, depth
    cx.array_variables[key] = room
    cx.made_in[room.name] = ()


def _growing_axis(cx: Context, key: Key) -> int | None:
    """The axis along which a name has all the room there is; None where it has none."""
    shapes = cx.session.rooms[key] or ()
    return next((axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if _ROOM in sizes), None)


def _is_constant(shape: Sequence[Expr | None]) -> bool:
    return all(isinstance(size, Const) for size in shape)


def _larger_constant(one: Expr | None, other: Expr | None) -> Expr:
    assert isinstance(one, Const) and isinstance(other, Const)
    return one if one.value >= other.value else other


def _larger(one: Expr, other: Expr) -> Expr:
    return one if one == other else Binary("max", one, other)
