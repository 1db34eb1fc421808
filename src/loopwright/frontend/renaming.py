"""Loops in time whose arrays change names: `u, v = v, u`. Nothing is copied: the body is written out for each order of
the names. Which order it is at the end is known from the number of iterations, or counted where the loop may end at any
of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from loopwright.frontend.array_names import CALLER, aliases, may_show, where_copy_shows
from loopwright.frontend.array_variables import names_of
from loopwright.frontend.context import Context, web_key
from loopwright.frontend.elementwise import check, nest, new_array
from loopwright.frontend.exchanges import exchange_in, is_in_time, period_of, renamed_only
from loopwright.frontend.infer import Key
from loopwright.frontend.scopes import all_nodes, own_nodes
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
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Compare,
    Const,
    Expr,
    For,
    If,
    Leave,
    Select,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import statements


@dataclass(frozen=True, slots=True)
class Renaming:
    """names[k] stands behind the statement at `place` for what names[order[k]] stood for. webs: the numbers of their
    variables. period: after so many iterations all is as it was. jumps: an iteration may end the loop, or end early
    behind that statement."""

    names: tuple[str, ...]
    keys: tuple[Key, ...]
    webs: frozenset[int]
    order: tuple[int, ...]
    period: int
    place: int
    jumps: bool

    def after(self, count: int) -> tuple[int, ...]:
        """Which name's first array each name stands for after so many iterations."""
        found = tuple(range(len(self.names)))
        for _ in range(count):
            found = tuple(found[place] for place in self.order)
        return found


def refuse_copies(cx: Context, targets: Sequence[ast.expr], node: ast.AST) -> None:
    """Raise KernelError where names that stand for an argument or an array of the caller itself would get copies after
    all."""
    only = renamed_only(cx.frame) if len(targets) > 1 else frozenset()
    for target in targets:
        web = cx.frame.webs.stores.get(id(target)) if only and isinstance(target, ast.Name) else None
        if web is None or web.number not in only:
            continue
        array = cx.array_variables.get(web_key(cx.frame, web))
        if array is not None and array.name not in _own_arrays(cx):
            raise cx.error(node, f"'{web.name}' is swapped in a loop that is not over a plain range, or in a `try`",
                           "an argument, or the array of a caller, may be written in place before that",
                           f"begin with a copy: {web.name} = {web.name}.copy()")  # fmt: skip


def renaming_of(cx: Context, node: ast.For | ast.While) -> Renaming | None:
    """The renaming of arrays in a loop, where these names do nothing else; None for all other loops."""
    found = exchange_in(node) if is_in_time(node) else None
    if found is None or cx.catching:  # a handler would not know what the names stand for
        return None
    targets, values = found.targets, [one.id for one in found.values]
    webs = [cx.frame.webs.stores[id(target)] for target in targets]
    keys = tuple(web_key(cx.frame, web) for web in webs)
    only = renamed_only(cx.frame)
    if not only.issuperset(found.webs(cx.frame.webs) or [-1]) or any(key not in cx.array_variables for key in keys):
        return None
    names = tuple(target.id for target in targets)
    order = tuple(names.index(value) for value in values)
    period = period_of([*names], values)
    numbers = frozenset(web.number for web in webs)
    return Renaming(names, keys, numbers, order, period, found.place, found.jumps)


Body = Callable[[Expr, Callable[[], None]], None]
"""Writes one iteration for a value of the loop's variable, and calls the function in place of the renaming."""


def write_renamed(cx: Context, node: ast.For, renaming: Renaming, bounds: tuple[Expr, Expr, Expr], body: Body) -> None:
    """The loop, several iterations at a time."""
    lower, upper, step = bounds
    at, period = cx.at(node), renaming.period
    count = cx.once(trips(lower, upper, step), at)
    whole = cx.once(Binary("floordiv", count, Const(period, INT64)), at)
    rest = cx.once(Binary("mod", count, Const(period, INT64)), at)
    name = cx.new_name(f"{cx.frame.prefix}{node.target.id}.pair")  # type: ignore[attr-defined]
    cx.stable.add(name)
    cx.natural.add(name)
    writer = _RenamedLoop(cx, node, renaming)

    def iteration(first: Expr, number: int) -> list[Stmt]:
        value = add(multiply(add(multiply(first, Const(period, INT64)), Const(number, INT64)), step), lower)
        return writer.iteration(number, lambda exchange: body(value, exchange))

    with writer.whole():
        several = [stmt for number in range(period) for stmt in iteration(Var(name, INT64), number)]
        cx.emit(For(name, ZERO, whole, Const(1, INT64), tuple(several), at=at))
        for number in range(period - 1):
            one = iteration(whole, number)
            cx.emit(If(Compare("gt", rest, Const(number, INT64)), tuple(one), at=at))
    writer.settle(rest)


def write_renamed_while(
    cx: Context, node: ast.While, renaming: Renaming, condition: Callable[[str], None],
    body: Callable[[Callable[[], None]], None],
) -> None:  # fmt: skip
    """A `while` the same way. condition: leaves the block of this name where the loop ends."""
    writer = _RenamedLoop(cx, node, replace(renaming, jumps=True))

    def tested(exchange: Callable[[], None]) -> None:
        condition(writer.block)
        body(exchange)

    with writer.whole():
        several = [stmt for number in range(renaming.period) for stmt in writer.iteration(number, tested)]
        name = cx.new_name(cx.frame.prefix + "while")
        cx.emit(While(name, Const(True, BOOL), tuple(several), at=cx.at(node)))
    writer.settle(ZERO)


class _RenamedLoop:
    """Writes the iterations of one loop, and what its names stand for afterwards. Where the loop may end at any of
    them, a variable counts the renamings."""

    def __init__(self, cx: Context, node: ast.For | ast.While, renaming: Renaming) -> None:
        self.cx, self.node, self.renaming = cx, node, renaming
        self.arrays = [cx.array_variables[key] for key in renaming.keys]
        self.block = cx.new_name(cx.frame.prefix + "items") if renaming.jumps else ""
        self.turns = cx.new_name(cx.frame.prefix + "turns") if renaming.jumps else ""

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Around all iterations: what `break` leaves."""
        if not self.renaming.jumps:
            yield
            return
        cx, at = self.cx, self.cx.at(self.node)
        cx.emit(Assign(self.turns, ZERO, at=at))
        with cx.inner_body() as everything:
            yield
        left = any(leave.block == self.block for leave in statements(tuple(everything), Leave))
        cx.body += [Block(self.block, tuple(everything), at=at)] if left else everything

    def iteration(self, number: int, body: Callable[[Callable[[], None]], None]) -> list[Stmt]:
        """One of them. body: writes all but the renaming."""
        cx, at = self.cx, self.cx.at(self.node)
        one = cx.new_name(cx.frame.prefix + "item") if self.renaming.jumps else ""
        if self.renaming.jumps:
            cx.frame.loops.append(f"{one} {self.block}")
        self.stand_for(number)
        try:
            with cx.inner_body() as written:
                body(lambda: self.exchange(number + 1))
        finally:
            if self.renaming.jumps:
                cx.frame.loops.pop()
        left = any(leave.block == one for leave in statements(tuple(written), Leave))
        return [Block(one, tuple(written), at=at)] if left else written

    def stand_for(self, number: int) -> None:
        for key, place in zip(self.renaming.keys, self.renaming.after(number), strict=True):
            self.cx.array_variables[key] = self.arrays[place]

    def exchange(self, number: int) -> None:
        self.stand_for(number)
        if self.turns:
            turns = Const(number % self.renaming.period, INT64)
            self.cx.emit(Assign(self.turns, turns, at=self.cx.at(self.node)))

    def settle(self, rest: Expr) -> None:
        """Let each name stand for one array again. rest: how often they were renamed, where no jump tells."""
        self.stand_for(0)
        if _is_read_later(self.cx, self.node, self.renaming):
            turns = Var(self.turns, INT64) if self.turns else rest
            _settle(self.cx, self.node, self.renaming, self.arrays, turns)


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


def _first_stores(cx: Context, node: ast.For | ast.While, renaming: Renaming) -> set[int]:
    """The places that give the names what they stand for when the loop begins."""
    inside = {id(part) for part in ast.walk(node)}
    numbers = renaming.webs
    return {place for place, web in cx.frame.webs.stores.items() if web.number in numbers and place not in inside}


def _loop_that_goes_on(cx: Context, node: ast.For | ast.While, renaming: Renaming) -> ast.AST | None:
    """A loop around this one in which the names stay what they are: it begins with what it left behind."""
    first = _first_stores(cx, node, renaming)
    for part in own_nodes(cx.frame.tree):
        if isinstance(part, ast.For | ast.While) and part is not node:
            around = {id(one) for one in ast.walk(part)}
            if id(node) in around and not first <= around:
                return part
    return None


def _is_read_later(cx: Context, node: ast.For | ast.While, renaming: Renaming) -> bool:
    """Whether some of the names are read after the loop, or by the loop when it runs again."""
    webs, inside = cx.frame.webs, {id(part) for part in ast.walk(node)}
    numbers, first = renaming.webs, _first_stores(cx, node, renaming)
    for place, web in webs.loads.items():
        if place not in inside and web.number in numbers and webs.only.get(place) not in first:
            return True
    return _loop_that_goes_on(cx, node, renaming) is not None


def _settle(cx: Context, node: ast.For | ast.While, renaming: Renaming, arrays: Sequence[Array], rest: Expr) -> None:
    """After the loop, let each name stand for one array again, whatever the number of iterations was: local arrays
    change their elements with one another; arguments, which the caller sees, are copied."""
    is_alike = all((one.element, len(one.shape)) == (arrays[0].element, len(arrays[0].shape)) for one in arrays)
    for other in arrays[1:] if is_alike else ():
        for a, b in zip(arrays[0].shape, other.shape, strict=True):
            x, y = size_of(clipped(cx, a)), size_of(clipped(cx, b))
            if x != y:
                check(cx, Compare("eq", x, y), "resized", node)
    shape: tuple[Size, ...] = arrays[0].shape
    at = cx.at(node)
    views = [as_view(array) for array in arrays]
    taken = {key for key in renaming.keys if key in cx.frame.handed_over.values()}  # memory of a variable of the caller
    if is_alike and all(_is_our_own(cx, renaming, array, taken) for array in arrays):
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
    call = cx.frame.path[-1] if cx.frame.is_inlined and _is_given_back(cx, renaming) else None
    if taken or (call is not None and may_show(cx, call, to_python=False, is_argument=True)):
        raise cx.error(node, *of_the_caller(renaming.names[0]))
    place_of_error = _where_copies_show(cx, node, renaming, arrays)
    if place_of_error is not None:
        raise cx.error(
            place_of_error,
            f"{' and '.join(repr(name) for name in renaming.names)} are swapped, and written afterwards",
            "which argument is written depends on the number of iterations",
            f"begin with copies: {renaming.names[0]} = {renaming.names[0]}.copy()",
        )
    if not is_alike:
        raise cx.error(node, f"{' and '.join(map(repr, renaming.names))} are swapped, and used afterwards",
                       "their elements have different types, or they have different numbers of axes",
                       "make both alike")  # fmt: skip
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


def of_the_caller(name: str) -> tuple[str, str, str]:
    """What is wrong with a parameter that is written, and stands for another array later; why, and what to do."""
    what = f"'{name}' is the caller's array, and stands for another one later"
    return what, "it may be written in place before that", f"begin the helper with a copy: {name} = {name}.copy()"


def _own_arrays(cx: Context) -> list[str]:
    """The arrays that this function has made."""
    return [*cx.allocations][cx.frame.made_before if cx.frame.is_inlined else 0 :]


def _is_given_back(cx: Context, renaming: Renaming) -> bool:
    """Whether the function may return one of the arrays."""
    returns = [node for node in own_nodes(cx.frame.tree) if isinstance(node, ast.Return)]
    names = {part.id for node in returns for part in ast.walk(node) if isinstance(part, ast.Name)}
    pairs = [pair for node in own_nodes(cx.frame.tree) for pair in aliases(cx.frame, node)]
    group = set(renaming.names)
    while grown := {new for new, old in pairs if old in group} - group:
        group |= grown
    return bool(group & names)


def _is_our_own(cx: Context, renaming: Renaming, array: Array, taken: Collection[Key]) -> bool:
    """Whether nothing but one of the names knows an array, so that its elements may become those of another one."""
    own = [*_own_arrays(cx), *(cx.array_variables[key].name for key in taken)]
    others = [value for frame in cx.active for value in frame.bindings.values()]
    others += [other for key, other in cx.array_variables.items() if key not in renaming.keys]
    is_whole = not array.index and array.name in cx.allocations and array.name not in cx.row_arrays
    return is_whole and array.name in own and array.name not in names_of([*others, *cx.fixed.values()])


def _where_copies_show(
    cx: Context, node: ast.For | ast.While, renaming: Renaming, arrays: Sequence[Array]
) -> ast.AST | None:
    """Where it would show that the names have copies of their arrays after the loop, if anywhere."""
    own = _own_arrays(cx)
    pairs = [pair for part in all_nodes(cx.frame.tree) for pair in aliases(cx.frame, part)]
    for name in renaming.names:
        others = {new for new, old in pairs if old == name} - {name}
        if any(array.name not in own for array in arrays):
            others.add(CALLER)
        found = where_copy_shows(cx.frame, name, others, node)
        if found is not None:
            return node if found is cx.frame.tree else found
    return None


def _value(number: Literal | Number) -> Expr:
    assert isinstance(number, Number)
    return number.expr
