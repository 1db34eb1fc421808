"""Calls of Numba's stencils: a function of neighbours, `0.5 * (a[-1] + a[1])`, at each place of its first array.

    u = mean(a)    ->    u = np.full(a.shape, cval)
                         for i in range(1, len(a) - 1): u[i] = 0.5 * (a[i - 1] + a[i + 1])

Indices count from the place. How far they reach is read off them, or told by `neighborhood`: where they would reach
outside of the array is the border, which has the value `cval`.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import Any

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import fill_constant
from loopwright.frontend.capture import Source
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number
from loopwright.frontend.elementwise import assign_elements, check, made, new_array, reads_of
from loopwright.frontend.inline import inline_function
from loopwright.frontend.parse import positional_of
from loopwright.frontend.values import Along, ArrayLike, Elementwise, Literal, Number, Value, View, from_object
from loopwright.frontend.views import ZERO, Size, add, as_size, as_view, clipped, is_array, size_of, steady
from loopwright.ir.nodes import Binary, Compare, Const, Expr
from loopwright.ir.types import INT64

_PLACE = "stencil_place_"
Reach = list[tuple[int, int]]
"""For each axis, how far indices reach below the place (negative, or 0) and above it."""


def stencil_call(cx: Context, stencil: Any, call: Arguments) -> Value:
    """`stencil(a, b, c)`, `stencil(a, b, c, out=u)`: u."""
    options = {name: cx.session.outside.attribute(stencil, name) for name in ("cval", "neighborhood", "standard")}
    cval, neighborhood, standard = (None if one is None else one.value for one in options.values())
    assert isinstance(standard, tuple)
    source = cx.session.outside.source_of(stencil.py_func)
    parameters = [one.arg for one in positional_of(source.definition.tree)]
    if set(call.named) - {"out"} or len(call.values) != len(parameters):
        raise cx.error(call.node, f"the stencil '{call.name}' takes {len(parameters)} arguments, and 'out'")
    given = dict(zip(parameters, call.values, strict=True))
    relative = [name for name, value in given.items() if is_array(value) and name not in standard]
    if not relative or relative[0] != parameters[0]:
        raise cx.error(call.node, "the first argument of a stencil is an array with indices that count from its place")
    arrays = [value for name, value in given.items() if name in relative and isinstance(value, ArrayLike)]
    shape = arrays[0].shape
    tree = _with_places(cx, source, relative, len(shape), call)
    reach = _reach(cx, source, relative, len(shape), neighborhood, call)
    for other in arrays[1:]:
        _require_as_large(cx, shape, other, call)
    held = tuple(steady(cx, one, call.node) if isinstance(one, ArrayLike) and is_array(one) else one
                 for one in call.values)  # fmt: skip
    inner = _inner(cx, stencil, tree, replace(call, values=held), shape, reach)
    return _placed(cx, inner, call.named.get("out"), cval, shape, reach, call)


def _inner(
    cx: Context, stencil: Any, tree: ast.FunctionDef, call: Arguments, shape: tuple[Size, ...], reach: Reach
) -> Elementwise:
    """The values inside of the border."""
    source = cx.session.outside.source_of(stencil.py_func)

    def at(cx: Context, index: list[Expr]) -> Literal | Number:
        places = [add(one, Const(-low, INT64)) for one, (low, _) in zip(index, reach, strict=True)]
        values = (*call.values, *(Number(one, weak=True) for one in places))
        outer = cx.session.trees.get(source.definition.tree)
        cx.session.trees[source.definition.tree] = tree
        try:
            value = inline_function(cx, stencil.py_func, replace(call, values=values, named={}))
        finally:
            cx.session.trees.pop(source.definition.tree)
            if outer is not None:
                cx.session.trees[source.definition.tree] = outer
        return as_number(cx, value, call.node, "a stencil gives a number for each place")

    sizes = tuple(_shortened(cx, size, low, high, call) for size, (low, high) in zip(shape, reach, strict=True))
    arrays = [value for value in call.values if isinstance(value, ArrayLike) and is_array(value)]
    return made(cx, sizes, at, frozenset().union(*map(reads_of, arrays)))  # type: ignore[arg-type]


def _shortened(cx: Context, size: Size, low: int, high: int, call: Arguments) -> Size:
    """How many places along an axis have neighbours on both sides."""
    if high == low:
        return size
    less = Binary("sub", size_of(clipped(cx, size)), Const(high - low, INT64))
    return as_size(cx.once(Binary("max", less, ZERO), cx.at(call.node)))


def _placed(
    cx: Context, inner: Elementwise, out: Value | None, cval: object, shape: tuple[Size, ...], reach: Reach,
    call: Arguments,
) -> Value:  # fmt: skip
    """The array with these values inside of its border: a new one, or `out`."""
    fill = from_object(0 if cval is None else cval)
    if not isinstance(fill, Literal | Number):
        raise cx.error(call.node, "the value of a stencil's border (cval) is no number")
    if out is None:
        kind = inner.element
        if fill.number_type.type.is_float and not (kind.is_float or kind.is_complex):
            raise cx.error(call.node, f"the border of a stencil of {kind} is a float (cval)",
                           remedy="give an int, or have the stencil return a float")  # fmt: skip
        has_border = any(low or high for low, high in reach)
        value = fill_constant(cx, fill, kind, call.node) if has_border else None
        whole = as_view(new_array(cx, shape, kind, call.node, fill=value))
    else:
        if not isinstance(out, ArrayLike) or isinstance(out, Elementwise) or len(out.shape) != len(shape):
            raise cx.error(call.node, "the 'out' of a stencil is an array with as many axes as its first argument")
        whole = as_view(out) if not isinstance(out, View) else out
        _require_as_large(cx, shape, whole, call)
        if cval is not None:
            assign_elements(cx, whole, fill, call.node, call.node)
    window = _window(whole, inner.shape, reach)
    assign_elements(cx, window, inner, call.node, call.node)
    return whole.array if out is None else out


def _window(whole: View, shape: tuple[Size, ...], reach: Reach) -> View:
    """The part of an array inside of the border."""
    places = []
    for place in whole.places:
        if isinstance(place, Along) and (low := reach[place.axis][0]):
            place = replace(place, start=add(place.start, Binary("mul", place.step, Const(-low, INT64))))
        places.append(place)
    return View(whole.array, tuple(places), shape)


def _require_as_large(cx: Context, shape: tuple[Size, ...], other: ArrayLike, call: Arguments) -> None:
    if len(other.shape) != len(shape):
        raise cx.error(call.node, f"a stencil of arrays of {len(shape)} and of {len(other.shape)} axes",
                       remedy="name the others in standard_indexing=(...)")  # fmt: skip
    for own, there in zip(shape, other.shape, strict=True):
        a, b = size_of(clipped(cx, own)), size_of(clipped(cx, there))
        if a != b:
            check(cx, Compare("le", a, b), "shape", call.node)


# ---- what the indices say ---------------------------------------------------------------------------------------


def _relative_indices(tree: ast.FunctionDef, relative: list[str]) -> list[ast.Subscript]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name) and node.value.id in relative]  # fmt: skip


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _with_places(cx: Context, source: Source, relative: list[str], axes: int, call: Arguments) -> ast.FunctionDef:
    """The function with the place as further parameters, which are added to each index. Raises KernelError for an
    index with other axes, and for elements that are assigned."""
    for node in _relative_indices(source.definition.tree, relative):
        if not isinstance(node.ctx, ast.Load):
            raise cx.error(call.node, f"the stencil '{call.name}' assigns elements of its arguments",
                           remedy="return the value for the place")  # fmt: skip
        if len(_parts(node.slice)) != axes:
            raise cx.error(call.node, f"'{ast.unparse(node)}' of the stencil '{call.name}' has no {axes} indices",
                           remedy="give an index for each axis of its arguments")  # fmt: skip
    key = (source.definition.tree, *relative, axes)
    if key in cx.session.stencils:  # nodes stay what they are from round to round
        return cx.session.stencils[key]
    result = cx.session.stencils[key] = copy.deepcopy(source.definition.tree)
    for node in _relative_indices(result, relative):
        parts = [_moved(part, f"{_PLACE}{axis}") for axis, part in enumerate(_parts(node.slice))]
        node.slice = parts[0] if axes == 1 else ast.Tuple(parts, ast.Load())
    places = [ast.arg(f"{_PLACE}{axis}") for axis in range(axes)]
    for place in places:
        ast.copy_location(place, result)
    result.args.args += places
    result.args.defaults = []
    return ast.fix_missing_locations(result)


def _moved(index: ast.expr, place: str) -> ast.expr:
    if isinstance(index, ast.Slice):
        ends = [None if one is None else _moved(one, place) for one in (index.lower, index.upper)]
        return ast.copy_location(ast.Slice(ends[0], ends[1], index.step), index)
    sum_of = ast.BinOp(ast.copy_location(ast.Name(place, ast.Load()), index), ast.Add(), index)
    return ast.copy_location(sum_of, index)


def _reach(cx: Context, source: Source, relative: list[str], axes: int, neighborhood: object, call: Arguments) -> Reach:
    """How far the indices reach, along each axis."""
    if neighborhood is not None:
        assert isinstance(neighborhood, tuple)
        if len(neighborhood) != axes:
            raise cx.error(call.node, f"the neighborhood of '{call.name}' is one of {len(neighborhood)} axes, and its "
                           f"first argument has {axes}")  # fmt: skip
        return [(min(0, low), max(0, high)) for low, high in neighborhood]
    found = [(0, 0)] * axes
    for node in _relative_indices(source.definition.tree, relative):
        for axis, part in enumerate(_parts(node.slice)):
            number = _constant(part)
            if number is None:
                raise cx.error(call.node, f"how far '{ast.unparse(node)}' of the stencil '{call.name}' reaches is not "
                               "known", remedy="say it: @stencil(neighborhood=((-1, 1), ...))")  # fmt: skip
            low, high = found[axis]
            found[axis] = min(low, number), max(high, number)
    return found


def _constant(node: ast.expr) -> int | None:
    """A whole number that is written out; None for everything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return int(value) if isinstance(value, int) else None
