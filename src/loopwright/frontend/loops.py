"""`for` over range and prange, and `while`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loopwright.frontend.calls import generator_call, over_generator
from loopwright.frontend.context import Context, Restart, web_key
from loopwright.frontend.convert import as_index, negated
from loopwright.frontend.iteration import Sequence, is_prange, sequence_of
from loopwright.frontend.lazy import condition_of
from loopwright.frontend.operands import operands
from loopwright.frontend.refusals import FUNCTIONS, refuse_expression
from loopwright.frontend.renaming import Renaming, renaming_of, write_renamed, write_renamed_while
from loopwright.frontend.values import Array, Fixed, Items, Literal, Number, Value, describe
from loopwright.frontend.variables import assign_web, store_variable
from loopwright.frontend.views import ONE, Size, add, known_least, never_negative, size_of
from loopwright.ir.nodes import (
    Assign,
    Block,
    Break,
    Checked,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Leave,
    Stmt,
    Var,
    While,
)
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.queries import size_of as nodes_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import statements


def for_loop(cx: Context, node: ast.For) -> None:
    """`for i in range(...)`. The variable is the IR loop's own, unless the user assigns it or reads it later."""
    with _before_else(cx, node):
        _for_loop(cx, node)


@contextmanager
def _before_else(cx: Context, node: ast.For | ast.While) -> Iterator[None]:
    """Read a loop and what its `else` does; `break` leaves a block around both."""
    if not node.orelse:
        yield
        return
    frame, block = cx.frame, cx.new_name(cx.frame.prefix + "else")
    frame.else_blocks[id(node)] = block
    tail, frame.tail = frame.tail, False
    with cx.inner_body() as whole:
        yield
        cx.execute(node.orelse)
    frame.tail = tail
    cx.emit(Block(block, tuple(whole), at=cx.at(node)))


def _for_loop(cx: Context, node: ast.For) -> None:
    generator = generator_call(cx, node.iter)
    if generator is not None:
        _over_generator(cx, node, generator)
        return
    if not _is_range(cx, node.iter) or id(node.target) not in cx.frame.webs.stores:
        loop_over(cx, node)
        return
    assert isinstance(node.target, ast.Name)
    call, is_parallel = _range_of(cx, node.iter)
    is_parallel &= not cx.session.names_threads
    lower, upper, step = _bounds(cx, call)
    web = cx.frame.webs.stores[id(node.target)]
    renaming = renaming_of(cx, node)
    if renaming is not None:
        _renamed_loop(cx, node, renaming, (lower, upper, step))
        return
    name = cx.new_name(cx.frame.prefix + node.target.id)
    cx.stable.add(name)
    note_least(cx, name, (lower, upper, step))
    variable = Number(Var(name, INT64), weak=True)
    cx.frame.loop_values[id(node.target)] = variable  # for what is read inside and reached by nothing else

    def begin() -> None:
        if node.orelse:  # what is read after it may come from here alone, and the loop is over there
            store_variable(cx, web_key(cx.frame, web), web.name, variable, node.target, node.target)
        else:
            assign_web(cx, web, variable, node.target, node.target)

    body = _loop_body(cx, name, node, begin)
    if node.orelse:
        del cx.frame.loop_values[id(node.target)]
    cx.emit(For(name, lower, upper, step, tuple(body), asserted=is_parallel, at=cx.at(node)))


def note_least(cx: Context, name: str, bounds: tuple[Expr, Expr, Expr]) -> None:
    """What the variable of a loop is not below, where that is known: its first value, or the last one downwards."""
    lower, upper, step = bounds
    if not isinstance(step, Const) or int(step.value) == 0:
        return
    least = known_least(cx, lower) if int(step.value) > 0 else known_least(cx, add(upper, ONE))
    if least is not None and least >= 0:
        cx.natural.add(name)
        cx.least[name] = least


def _renamed_loop(cx: Context, node: ast.For, renaming: Renaming, bounds: tuple[Expr, Expr, Expr]) -> None:
    """A loop in which arrays change names."""
    frame, at = cx.frame, cx.at(node)
    lower, upper, step = (cx.once(bound, at) for bound in bounds)

    def body(value: Expr, exchange: Callable[[], None]) -> None:
        variable = Number(cx.once(value, at), weak=True)
        if not isinstance(variable.expr, Var) or variable.expr.name not in cx.stable:
            variable = Number(cx.temporary(value, at), weak=True)
        if never_negative(cx, lower) and isinstance(step, Const) and int(step.value) > 0:
            cx.natural.add(variable.expr.name)  # type: ignore[union-attr]
        frame.loop_values[id(node.target)] = variable
        assign_web(cx, frame.webs.stores[id(node.target)], variable, node.target, node.target)
        _around(cx, node, renaming, exchange)

    tail, frame.tail = frame.tail, False
    try:
        write_renamed(cx, node, renaming, (lower, upper, step), body)
    finally:
        frame.tail = tail


def _around(cx: Context, node: ast.For | ast.While, renaming: Renaming, exchange: Callable[[], None]) -> None:
    """One iteration of such a loop."""
    cx.execute(node.body[: renaming.place])
    exchange()
    cx.execute(node.body[renaming.place + 1 :])


def _loop_body(cx: Context, name: str, node: ast.For | ast.While, begin: object = None) -> list[Stmt]:
    frame = cx.frame
    block = frame.else_blocks.get(id(node))
    frame.loops.append(name if block is None else f"{name}/{block}")
    tail, frame.tail = frame.tail, False
    try:
        with cx.inner_body() as body:
            if callable(begin):
                begin()
            cx.execute(node.body)
    finally:
        frame.tail = tail
        frame.loops.pop()
    return body


def _is_range(cx: Context, node: ast.expr) -> bool:
    """Whether a loop goes over range() or prange()."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return False
    if isinstance(node.func, ast.Attribute) and (
        not isinstance(node.func.value, ast.Name) or not isinstance(cx.evaluate(node.func.value), Fixed)
    ):
        return False  # a method
    callee = cx.evaluate(node.func)
    return isinstance(callee, Fixed) and (callee.value is range or is_prange(callee.value))


_MOST_WRITTEN_OUT = 64
_MOST_NODES = 2000  # of the IR, in all copies of the body of a loop over constants together


def _note_growing(cx: Context, node: ast.For, size: Expr, body: list[Stmt]) -> None:
    """Raise Restart for a loop over a list whose length its body changes: it goes on until the list as it is then has
    no more. Raises KernelError where the name of the list may have come to mean another one."""
    for name in sorted(names_in(size) & names_assigned(tuple(body))):
        shown, over = name.removesuffix(".length"), node.iter
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate":
            over = over.args[0]
        if isinstance(over, ast.Name) and _means_one_list(cx, over):
            cx.session.growing.add((cx.frame.path, id(node)))
            raise Restart
        raise cx.error(node.iter, f"'{shown}' changes its length while a loop goes over it",
                       remedy=f"count the place yourself: while k < len({shown})")  # fmt: skip


def _means_one_list(cx: Context, node: ast.Name) -> bool:
    """Whether a name is assigned once."""
    web = cx.frame.webs.loads.get(id(node))
    if web is None and cx.frame.closure is not None and node.id in cx.frame.closure.free:
        web = cx.frame.closure.free[node.id][1]
    return web is not None and web.is_single


def _refuse_assigned(cx: Context, node: ast.For) -> None:
    """Raise KernelError for a loop over the array of a name that stands for another array after its body."""
    loads, stores = cx.frame.webs.loads, cx.frame.webs.stores
    over = {loads[id(part)] for part in ast.walk(node.iter) if id(part) in loads}
    for part in (part for one in node.body for part in ast.walk(one)):
        web = stores.get(id(part))
        if web in over and web_key(cx.frame, web) in cx.array_variables:
            raise cx.error(node.iter, f"'{web.name}' is assigned again while a loop goes over it",
                           "the loop goes over the elements of the array that it began with",
                           f"write: for ... in {web.name}.copy()")  # fmt: skip


def loop_over(cx: Context, node: ast.For) -> None:
    """`for x in sequence`: a loop over positions; over a few items that are no numbers, the body once for each."""
    _refuse_assigned(cx, node)
    sequence = sequence_of(cx, node.iter)
    fixed, is_long = sequence.fixed, (cx.frame.path, id(node)) in cx.session.long_bodies
    if fixed is not None and not is_long and (len(fixed) <= 4 or not _are_numbers(fixed)):
        if len(fixed) > _MOST_WRITTEN_OUT:
            raise cx.error(node.iter, f"a loop over {len(fixed)} items of different kinds is outside the language")
        _written_out(cx, node, fixed, sequence.size)
        return
    name = cx.new_name(cx.frame.prefix + (node.target.id if isinstance(node.target, ast.Name) else "k"))
    cx.stable.add(name)
    cx.natural.add(name)
    if (cx.frame.path, id(node)) in cx.session.growing:
        _over_growing(cx, node, sequence, name)
        return

    def begin() -> None:
        cx.assign(node.target, sequence.item(cx, Var(name, INT64)), node.iter)

    size, block = size_of(sequence.size), cx.frame.else_blocks.get(id(node))
    breaks = sequence.after is not None and any(isinstance(part, ast.Break) for part in ast.walk(node))
    if breaks and block is None:
        block = cx.frame.else_blocks[id(node)] = cx.new_name(cx.frame.prefix + "over")
    else:
        breaks = False
    with cx.inner_body(nested=breaks) as whole:
        body = _loop_body(cx, name, node, begin)
        _note_growing(cx, node, size, body)
        cx.emit(For(name, Const(0, INT64), size, Const(1, INT64), tuple(body), at=cx.at(node)))
        if sequence.after is not None:
            sequence.after(cx)
    if breaks and block is not None:
        cx.emit(Block(block, tuple(whole), at=cx.at(node)))
    else:
        cx.body += whole


def _over_growing(cx: Context, node: ast.For, sequence: Sequence, name: str) -> None:
    """A loop over a list that its body changes: Python counts the places, and asks how many there are each time.

    for v in x: f(x, v)   ->   k = 0; while k < len(x): place = k; k += 1; v = x[place]; f(x, v)
    """
    at, following = cx.at(node), cx.new_name(f"{name}.next")
    loop = cx.new_name(cx.frame.prefix + "while")

    def begin() -> None:
        cx.emit(Assign(name, Var(following, INT64), at=at))
        cx.emit(Assign(following, add(Var(name, INT64), Const(1, INT64)), at=at))
        cx.assign(node.target, sequence.item(cx, Var(name, INT64)), node.iter)

    cx.emit(Assign(following, Const(0, INT64), at=at))
    body = _loop_body(cx, loop, node, begin)
    cx.emit(While(loop, Compare("lt", Var(following, INT64), size_of(sequence.size)), tuple(body), at=at))


def _over_generator(cx: Context, node: ast.For, generator: object) -> None:
    """The body where the generator yields; `continue` and `break` leave blocks around it and around the generator."""
    _refuse_assigned(cx, node)
    assert isinstance(node.iter, ast.Call)
    frame, at = cx.frame, cx.at(node)
    whole = cx.new_name(frame.prefix + "items")
    outside = frame.else_blocks.get(id(node), whole)

    def each(value: Value, place: ast.expr) -> None:
        one = cx.new_name(frame.prefix + "item")
        frame.loops.append(f"{one} {outside}")
        try:
            with cx.inner_body() as body:
                cx.assign(node.target, value, node.iter)
                cx.execute(node.body)
        finally:
            frame.loops.pop()
        left = any(leave.block == one for leave in statements(tuple(body), Leave))
        cx.body += [Block(one, tuple(body), at=at)] if left else body

    tail, frame.tail = frame.tail, False
    try:
        with cx.inner_body() as everything:
            over_generator(cx, generator, node.iter, each)
    finally:
        frame.tail = tail
    left = any(leave.block == whole for leave in statements(tuple(everything), Leave))
    cx.body += [Block(whole, tuple(everything), at=at)] if left else everything


def _are_numbers(items: tuple[Value, ...]) -> bool:
    return all(
        isinstance(item, Literal) or (isinstance(item, Number) and isinstance(item.expr, Const)) for item in items
    )


def _written_out(cx: Context, node: ast.For, items: tuple[Value, ...], size: Size) -> None:
    """The body once for each item, up to a size that is known then; `continue` and `break` leave blocks around one and
    around all of them."""
    frame, at = cx.frame, cx.at(node)
    whole = cx.new_name(frame.prefix + "items")
    outside = frame.else_blocks.get(id(node), whole)
    tail, frame.tail = frame.tail, False
    with cx.inner_body() as everything:
        for number, item in enumerate(items):
            if not isinstance(size, Literal):
                with cx.inner_body() as stop:
                    cx.leave(whole, node)
                everything.append(If(Compare("le", size_of(size), Const(number, INT64)), tuple(stop), (), at=at))
            one = cx.new_name(frame.prefix + "item")
            frame.loops.append(f"{one} {outside}")
            try:
                with cx.inner_body() as body:
                    cx.assign(node.target, item, node.iter)
                    cx.execute(node.body)
            finally:
                frame.loops.pop()
            if number == 0 and _is_too_much(cx, items, body):
                cx.session.long_bodies.add((cx.frame.path, id(node)))
                raise Restart
            left = any(leave.block == one for leave in statements(tuple(body), Leave))
            everything += [Block(one, tuple(body), at=at)] if left else body
    frame.tail = tail
    left = any(leave.block == whole for leave in statements(tuple(everything), Leave))
    cx.body += [Block(whole, tuple(everything), at=at)] if left else everything


def _is_too_much(cx: Context, items: tuple[Value, ...], body: list[Stmt]) -> bool:
    """Whether the body of a loop over constants is too long to be written once for each of them."""
    return cx.session.shortens and nodes_in(tuple(body)) * len(items) > _MOST_NODES and _are_alike(items)


def _are_alike(items: tuple[Value, ...]) -> bool:
    """Whether all items are constant numbers of one type, or tuples of as many of these."""
    if not all(isinstance(item, Items) for item in items):
        kinds = {type(one.value) if isinstance(one, Literal) else getattr(one, "type", None) for one in items}
        return _are_numbers(items) and len(kinds) == 1
    parts = [item.items for item in items if isinstance(item, Items)]
    return len({len(one) for one in parts}) == 1 and all(_are_alike(place) for place in zip(*parts, strict=True))


def jump(cx: Context, node: ast.Break | ast.Continue) -> None:
    """`break` or `continue` of the innermost loop."""
    name = cx.frame.loops[-1]
    is_break = isinstance(node, ast.Break)
    if " " in name:
        one, whole = name.split()
        cx.leave(whole if is_break else one, node)
    elif "/" in name:
        loop, block = name.split("/")
        if is_break:
            cx.leave(block, node)
        else:
            cx.emit(Continue(loop, at=cx.at(node)))
    else:
        cx.emit(Break(name, at=cx.at(node)) if is_break else Continue(name, at=cx.at(node)))


def _range_of(cx: Context, node: ast.expr) -> tuple[ast.Call, bool]:
    """The call of range or prange that a loop goes over."""
    if isinstance(node, ast.Call):
        callee = cx.evaluate(node.func)
        if isinstance(callee, Fixed):
            if callee.value is range:
                return node, False
            if is_prange(callee.value):
                return node, True
            name = getattr(callee.value, "__name__", "")
            if name in FUNCTIONS:
                why, remedy = FUNCTIONS[name]
                raise cx.error(node, f"'{name}' is outside the language", why, remedy)
        raise cx.error(node, "a loop goes over range(...) only", remedy="write: for i in range(n)")
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.Dict | ast.Set):
        raise refuse_expression(cx, node)
    value: Value = cx.evaluate(node)
    if isinstance(value, Array):
        remedy = "write: for i in range(len(a)), and use a[i]"
    elif isinstance(value, Items):
        remedy = "write: for k in range(len(t)), and use t[k]"
    else:
        remedy = "write: for i in range(n)"
    raise cx.error(node, "a loop goes over range(...) only", f"this is {describe(value)}", remedy)


def _bounds(cx: Context, call: ast.Call) -> tuple[Expr, Expr, Expr]:
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise cx.error(call, "range() takes one to three arguments", remedy="write: range(start, stop, step)")
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            raise refuse_expression(cx, argument)
    values = operands(cx, call.args)
    bounds = [as_index(cx, value, node, "a bound of range()") for value, node in zip(values, call.args, strict=True)]
    if len(bounds) == 1:
        return Const(0, INT64), bounds[0], Const(1, INT64)
    if len(bounds) == 2:
        return bounds[0], bounds[1], Const(1, INT64)
    return bounds[0], bounds[1], _step(cx, bounds[2], call.args[2])


def _step(cx: Context, step: Expr, node: ast.expr) -> Expr:
    if isinstance(step, Const):
        if step.value == 0:
            raise cx.error(node, "the step of a range must not be zero")
        return step
    step = cx.once(step, cx.at(node))
    return Checked(step, Compare("ne", step, Const(0, INT64)), "zero_step", at=cx.at(node))


def while_loop(cx: Context, node: ast.While) -> None:
    """`while condition`. Where the condition needs statements, it is tested inside a loop without end."""
    with _before_else(cx, node):
        _while_loop(cx, node)


def _renamed_while(cx: Context, node: ast.While, renaming: Renaming) -> None:
    """A `while` in which arrays change names."""

    def condition(block: str) -> None:
        found = condition_of(cx, node.test)
        if found is True:
            return
        with cx.inner_body() as over:
            cx.leave(block, node.test)
        cx.body += over if found is False else [If(negated(found), tuple(over), at=cx.at(node.test))]

    tail, cx.frame.tail = cx.frame.tail, False
    try:
        write_renamed_while(cx, node, renaming, condition, lambda exchange: _around(cx, node, renaming, exchange))
    finally:
        cx.frame.tail = tail


def _while_loop(cx: Context, node: ast.While) -> None:
    renaming = renaming_of(cx, node)
    if renaming is not None:
        _renamed_while(cx, node, renaming)
        return
    name = cx.new_name(cx.frame.prefix + "while")
    with cx.inner_body() as before:
        condition = condition_of(cx, node.test)
    if condition is False:
        return
    body = _loop_body(cx, name, node)
    at = cx.at(node)
    if condition is True:
        cx.emit(While(name, Const(True, BOOL), (*before, *body), at=at))
    elif before:
        assert not isinstance(condition, bool)
        leave = If(negated(condition), (Break(name, at=at),), at=cx.at(node.test))
        cx.emit(While(name, Const(True, BOOL), (*before, leave, *body), at=at))
    else:
        assert not isinstance(condition, bool)
        cx.emit(While(name, condition, tuple(body), at=at))
