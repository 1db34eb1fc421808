"""Loops in time whose arrays change names at their end: `u, v = v, u`. Nothing is copied: the body is written out for
each order of the names, and which order it is at the end is known from the number of iterations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loopwright.frontend.context import Context, Frame, web_key
from loopwright.frontend.elementwise import check, nest, new_array
from loopwright.frontend.infer import Key
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Array, Literal, Number, View
from loopwright.frontend.views import (
    ZERO,
    Size,
    add,
    as_view,
    clipped,
    element_at,
    multiply,
    place_of,
    size_of,
    subtract,
)
from loopwright.ir.nodes import Binary, Compare, Const, Expr, For, If, Select, Store, Var
from loopwright.ir.types import INT64

MOST_ORDERS = 6


@dataclass(frozen=True, slots=True)
class Renaming:
    """names[k] stands from the next iteration on for what names[order[k]] stands for. period: after so many iterations
    all is as it was."""

    names: tuple[str, ...]
    keys: tuple[Key, ...]
    order: tuple[int, ...]
    period: int

    def after(self, count: int) -> tuple[int, ...]:
        """Which name's first array each name stands for after so many iterations."""
        found = tuple(range(len(self.names)))
        for _ in range(count):
            found = tuple(found[place] for place in self.order)
        return found


def _permutation(node: ast.For) -> tuple[list[ast.Name], list[str]] | None:
    """The targets and the values of a permutation of names that ends a loop without jumps."""
    match node.body[-1]:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pass
        case _:
            return None
    left = [one for one in targets if isinstance(one, ast.Name)]
    right = [one.id for one in values if isinstance(one, ast.Name)]
    if len(left) != len(targets) or len(right) != len(values):
        return None
    names = [one.id for one in left]
    if len(set(names)) != len(names) or sorted(names) != sorted(right) or len(names) > 4:
        return None
    has_jump = any(isinstance(part, ast.Break | ast.Continue | ast.Return) for part in ast.walk(node))
    return None if has_jump or node.orelse else (left, right)


def renamed_only(frame: Frame) -> frozenset[int]:
    """The numbers of the webs that get a value once, and then only change names with others at the end of loops."""
    count: dict[int, int] = {}
    for node in own_nodes(frame.tree):
        if isinstance(node, ast.For) and (found := _permutation(node)) is not None:
            for target in found[0]:
                web = frame.webs.stores.get(id(target))
                if web is not None:
                    count[web.number] = count.get(web.number, 0) + 1
    webs = {web.number: web for web in frame.webs.stores.values()}
    return frozenset(
        number for number, swaps in count.items() if webs[number].definitions == swaps + 1 and webs[number].certain
    )


def renaming_of(cx: Context, node: ast.For) -> Renaming | None:
    """The renaming of arrays that ends a loop, where these names do nothing else; None for all other loops."""
    found = _permutation(node)
    if found is None or cx.catching:  # a handler would not know what the names stand for
        return None
    targets, values = found
    webs = [cx.frame.webs.stores[id(target)] for target in targets]
    keys = tuple(web_key(cx.frame, web) for web in webs)
    only = renamed_only(cx.frame)
    if any(web.number not in only for web in webs) or any(key not in cx.array_variables for key in keys):
        return None
    names = tuple(target.id for target in targets)
    order = tuple(names.index(value) for value in values)
    period, reached = 1, order
    while reached != tuple(range(len(names))):
        reached = tuple(reached[place] for place in order)
        period += 1
    return Renaming(names, keys, order, period) if period <= MOST_ORDERS else None


def write_renamed(
    cx: Context, node: ast.For, renaming: Renaming, bounds: tuple[Expr, Expr, Expr],
    body: Callable[[Expr], None],
) -> None:  # fmt: skip
    """The loop, several iterations at a time. body: writes one of them (all but the renaming) for a value of the loop's
    variable."""
    lower, upper, step = bounds
    at, period = cx.at(node), renaming.period
    arrays = [cx.array_variables[key] for key in renaming.keys]
    count = cx.once(trips(lower, upper, step), at)
    whole = cx.once(Binary("floordiv", count, Const(period, INT64)), at)
    rest = cx.once(Binary("mod", count, Const(period, INT64)), at)
    name = cx.new_name(f"{cx.frame.prefix}{node.target.id}.pair")  # type: ignore[attr-defined]
    cx.stable.add(name)
    cx.natural.add(name)

    def iteration(first: Expr, number: int) -> None:
        for key, place in zip(renaming.keys, renaming.after(number), strict=True):
            cx.array_variables[key] = arrays[place]
        body(add(multiply(add(multiply(first, Const(period, INT64)), Const(number, INT64)), step), lower))

    with cx.inner_body() as several:
        for number in range(period):
            iteration(Var(name, INT64), number)
    cx.emit(For(name, ZERO, whole, Const(1, INT64), tuple(several), at=at))
    for number in range(period - 1):
        with cx.inner_body() as one:
            iteration(whole, number)
        cx.emit(If(Compare("gt", rest, Const(number, INT64)), tuple(one), at=at))
    for key, array in zip(renaming.keys, arrays, strict=True):
        cx.array_variables[key] = array
    if _is_read_later(cx, node, renaming):
        _settle(cx, node, renaming, arrays, rest)


def trips(lower: Expr, upper: Expr, step: Expr) -> Expr:
    """How many numbers a range has."""
    if not isinstance(step, Const):
        up = Binary("floordiv", Binary("sub", Binary("add", Binary("sub", upper, lower), step), Const(1, INT64)), step)
        down = Binary("floordiv", Binary("sub", Binary("sub", lower, upper), add(step, Const(1, INT64))),
                      Binary("sub", ZERO, step))  # fmt: skip
        return Binary("max", Select(Compare("gt", step, ZERO), up, down), ZERO)
    by = int(step.value)
    span = subtract(upper, lower) if by > 0 else subtract(lower, upper)
    if abs(by) != 1:
        span = Binary("floordiv", add(span, Const(abs(by) - 1, INT64)), Const(abs(by), INT64))
    return Const(max(int(span.value), 0), INT64) if isinstance(span, Const) else Binary("max", span, ZERO)


def _first_stores(cx: Context, node: ast.For, renaming: Renaming) -> set[int]:
    """The places that give the names what they stand for when the loop begins."""
    inside = {id(part) for part in ast.walk(node)}
    numbers = {key[-1] for key in renaming.keys}
    return {place for place, web in cx.frame.webs.stores.items() if web.number in numbers and place not in inside}


def _loop_that_goes_on(cx: Context, node: ast.For, renaming: Renaming) -> ast.AST | None:
    """A loop around this one in which the names stay what they are: it begins with what it left behind."""
    first = _first_stores(cx, node, renaming)
    for part in own_nodes(cx.frame.tree):
        if isinstance(part, ast.For | ast.While) and part is not node:
            around = {id(one) for one in ast.walk(part)}
            if id(node) in around and not first <= around:
                return part
    return None


def _is_read_later(cx: Context, node: ast.For, renaming: Renaming) -> bool:
    """Whether some of the names are read after the loop, or by the loop when it runs again."""
    webs, inside = cx.frame.webs, {id(part) for part in ast.walk(node)}
    numbers, first = {key[-1] for key in renaming.keys}, _first_stores(cx, node, renaming)
    for part in own_nodes(cx.frame.tree):
        web = webs.loads.get(id(part)) if id(part) not in inside else None
        if web is not None and web.number in numbers and webs.only.get(id(part)) not in first:
            return True
    return _loop_that_goes_on(cx, node, renaming) is not None


def _settle(cx: Context, node: ast.For, renaming: Renaming, arrays: Sequence[Array], rest: Expr) -> None:
    """After the loop, let each name stand for one array again, whatever the number of iterations was: local arrays
    change their elements with one another; arguments, which the caller sees, are copied."""
    for other in arrays[1:]:
        for a, b in zip(arrays[0].shape, other.shape, strict=True):
            x, y = size_of(clipped(cx, a)), size_of(clipped(cx, b))
            if x != y:
                check(cx, Compare("eq", x, y), "resized", node)
    shape: tuple[Size, ...] = arrays[0].shape
    at = cx.at(node)
    views = [as_view(array) for array in arrays]
    if all(array.name in cx.allocations for array in arrays):
        for count in range(1, renaming.period):
            order = renaming.after(count)

            def exchange(index: list[Expr], order: tuple[int, ...] = order) -> None:
                old = [_value(element_at(cx, view, index, node)) for view in views]
                kept = [cx.temporary(one, at) for one in old]
                for place, view in enumerate(views):
                    cx.emit(Store(view.array.name, place_of(view, index), kept[order[place]], at=at))

            with cx.inner_body() as then:
                nest(cx, shape, exchange, node)
            cx.emit(If(Compare("eq", rest, Const(count, INT64)), tuple(then), at=at))
        return
    place_of_error = _written_later(cx, node, renaming)
    if place_of_error is not None:
        raise cx.error(
            place_of_error,
            f"{' and '.join(repr(name) for name in renaming.names)} are swapped, and written afterwards",
            "which argument is written depends on the number of iterations",
            f"begin with copies: {renaming.names[0]} = {renaming.names[0]}.copy()",
        )
    copies: list[Array] = []
    for place in range(len(arrays)):
        target = as_view(new_array(cx, shape, arrays[place].element, node, renaming.names[place]))

        def fill(index: list[Expr], place: int = place, target: View = target) -> None:
            value = _value(element_at(cx, views[place], index, node))
            for count in range(1, renaming.period):
                other = _value(element_at(cx, views[renaming.after(count)[place]], index, node))
                value = Select(Compare("eq", rest, Const(count, INT64)), other, value)
            cx.emit(Store(target.array.name, place_of(target, index), value, at=at))

        nest(cx, shape, fill, node)
        copies.append(target.array)
    for key, copy in zip(renaming.keys, copies, strict=True):
        cx.array_variables[key] = copy


def _written_later(cx: Context, node: ast.For, renaming: Renaming) -> ast.AST | None:
    """Where one of the names may be written after the loop, if anywhere."""
    inside = {id(part) for part in ast.walk(node)}
    if (around := _loop_that_goes_on(cx, node, renaming)) is not None:
        return around
    for part in own_nodes(cx.frame.tree):
        if id(part) in inside or getattr(part, "lineno", 0) <= node.lineno:
            continue
        match part:
            case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                if name in renaming.names:
                    return part
            case ast.Call(args=arguments):
                if any(isinstance(one, ast.Name) and one.id in renaming.names for one in arguments):
                    return part
            case _:
                pass
    return None


def _value(number: Literal | Number) -> Expr:
    assert isinstance(number, Number)
    return number.expr
