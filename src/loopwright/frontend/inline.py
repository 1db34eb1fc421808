"""Calls of helpers: the helper's body is read where it is called, with variables of its own.

A helper with one `return` at its end needs nothing else. Several returns give a result variable; `if` branches
that end in a return take the rest of the body as their other branch, and only a return inside a loop leaves a Block.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING

from loopwright.deferred import deferred
from loopwright.errors import KernelError
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.array_names import CALLER, copy_shows, may_show
from loopwright.frontend.arrays import check_range
from loopwright.frontend.capture import Source, is_ours
from loopwright.frontend.context import Context, Frame, NotYet, Restart, Session, web_key
from loopwright.frontend.decide import decide
from loopwright.frontend.elementwise import kept_array, materialised
from loopwright.frontend.exchanges import renamed_only
from loopwright.frontend.handed_over import handed_over, variable_given_back
from loopwright.frontend.infer import ArrayKind, Key
from loopwright.frontend.list_uses import is_changed
from loopwright.frontend.lists import new_list
from loopwright.frontend.made_texts import given_text
from loopwright.frontend.parse import parameters_of, positional_of
from loopwright.frontend.promote import NumberType
from loopwright.frontend.recursion import without_last_calls
from loopwright.frontend.renaming import of_the_caller
from loopwright.frontend.scopes import names_inside, own_nodes
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Closure,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    Records,
    TableValue,
    Value,
    View,
    describe,
    from_object,
)
from loopwright.frontend.variables import freeze, read_variable, store_variable, taken
from loopwright.frontend.webs import Web, Webs, find_webs
from loopwright.ir.nodes import Assign, Block, Const, Dim, Expr
from loopwright.ir.types import BOOL

if TYPE_CHECKING:
    from loopwright.frontend import calls_again, explicit_stack
else:
    calls_again = deferred("loopwright.frontend.calls_again")
    explicit_stack = deferred("loopwright.frontend.explicit_stack")

_DEEPEST = 40


def _make_lists(cx: Context, tree: ast.FunctionDef, given: dict[str, Value], call: Arguments) -> None:
    """Make a list of `[a, b]` that is written as an argument, where the helper changes it."""
    if not isinstance(call.node, ast.Call):  # an operator of which a helper of ours is made
        return
    names = [parameter.arg for parameter in positional_of(tree)]
    written = [*zip(names, call.node.args, strict=False), *((one.arg, one.value) for one in call.node.keywords)]
    for name, node in written:
        value = given.get(name or "")
        if isinstance(value, Items) and isinstance(node, ast.List) and is_changed(tree, str(name)):
            given[str(name)] = new_list(cx, value.items, node)


Each = Callable[[Value, ast.expr], None]


def inline_function(cx: Context, function: object, call: Arguments, each: Each | None = None) -> Value:
    """The result of calling a module-level function or an @lw.function helper. each: of a generator, what a loop does
    with what it yields, and where that stands."""
    plain = function
    if not isinstance(function, FunctionType):  # numba's jitted functions and our own kernels carry theirs
        plain = getattr(function, "py_func", getattr(function, "__wrapped__", function))
    try:
        source = cx.session.outside.source_of(plain)
    except KernelError as reason:
        raise cx.error(
            call.node, f"'{call.name}' cannot be inlined: {reason.what}", reason.why, reason.remedy
        ) from None
    defaults = {p.name: from_object(p.default) for p in source.parameters if p.has_default}
    return _inline(cx, source, without_last_calls(source.definition.tree), None, defaults, call, each)


def run_written(
    cx: Context, function: Callable[..., object], values: Sequence[Value], node: ast.AST, number: int = 0
) -> Value:
    """The result of a function of ours that is written in the language. `number` tells several at one node apart."""
    name = str(getattr(function, "__name__", ""))
    key = (id(node), name, number)
    if key not in cx.session.calls:
        call = ast.Call(ast.Name(name), [], [])
        cx.session.calls[key] = ast.fix_missing_locations(ast.copy_location(call, node))
    return inline_function(cx, function, Arguments(cx.session.calls[key], name, tuple(values), {}))


def inline_closure(cx: Context, closure: Closure, call: Arguments, each: Each | None = None) -> Value:
    """The result of calling a nested function. each: of a generator, as above."""
    arguments = closure.tree.args
    if arguments.kwarg is not None:
        raise cx.error(call.node, f"'**{arguments.kwarg.arg}' is outside the language", remedy="name every parameter")
    tree = without_last_calls(closure.tree)
    return _inline(cx, cx.frames[closure.frame].source, tree, closure, closure.defaults, call, each)


def _inline(
    cx: Context, source: Source, tree: ast.FunctionDef, closure: Closure | None, defaults: Mapping[str, Value],
    call: Arguments, each: Each | None = None,
) -> Value:  # fmt: skip
    tree = cx.session.trees.get(tree, tree)
    given = _match(cx, tree, defaults, call)
    if each is None:
        _refuse_generator(cx, tree, call)
    around = next((frame for frame in cx.active if frame.tree is tree), None)
    if around is not None:
        return calls_again.call_again(cx, around, given, call)
    if len(cx.active) > _DEEPEST:
        raise cx.error(call.node, f"'{call.name}' is nested {_DEEPEST} calls deep", "helpers are inlined")
    is_recursive = tree in cx.session.recursive
    if is_recursive:
        given = calls_again.opened(cx, tree, given, call.node)
    path = (*cx.frame.path, id(call.node))
    webs = _webs(cx, source, tree, given, path)
    at_call = cx.at(call.node)
    frame = Frame(len(cx.frames), source, tree, path, f"{cx.frame.prefix}{tree.name}.", webs, closure)
    if (source.function.__module__ or "").startswith("loopwright."):
        frame.called_at = at_call.of_user
    frame.calls_again, frame.each = set() if is_recursive else None, each
    names = frozenset(cx.names) if is_recursive else frozenset()
    frame.made_before = len(cx.allocations)
    cx.frames.append(frame)
    _make_lists(cx, tree, given, call)
    for parameter in parameters_of(tree):
        web, value = webs.stores[id(parameter)], given[parameter.arg]
        stays = web.is_single or is_recursive or closure is not None or each is not None
        key = None if stays else handed_over(cx, value, call)
        if key is not None:
            frame.handed_over[web.number] = key
        else:
            with cx.gives_a_meaning(tree, web.name):
                _bind(cx, frame, web, value, call.node)
    if (*path, "return") in cx.session.optional:  # nothing is returned yet
        cx.emit(Assign(cx.flag(cx.variable((*path, "return"), "result")).name, Const(False, BOOL), at=at_call))
    failed_before = cx.session.failure
    with cx.inner_body(nested=_leaves_early(webs, tree)) as body:
        cx.active.append(frame)
        try:
            cx.execute(tree.body)
        finally:
            cx.active.pop()
    if failed_before is None and cx.session.failure is not None:
        _blame_the_call(cx, source, call)
    if frame.calls_again:
        cx.body += explicit_stack.with_stack(cx, frame, body, frozenset(cx.names) - names, at_call)
    elif frame.block is None:
        cx.body += body
    else:
        cx.emit(Block(frame.block, tuple(body), at=at_call))
    return _result(cx, frame, call)


def gives_values(tree: ast.FunctionDef) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(tree))


def _refuse_generator(cx: Context, tree: ast.FunctionDef, call: Arguments) -> None:
    if gives_values(tree):
        raise cx.error(call.node, f"'{call.name}' is a generator", "a generator can only be read by a loop",
                       f"take them in a loop: for x in {ast.unparse(call.node)}")  # fmt: skip


def yield_statement(cx: Context, node: ast.Yield) -> None:
    """`yield value` of a generator that a loop goes over: what the loop does with the value."""
    frame = cx.frame
    assert frame.each is not None
    value = Fixed(None) if node.value is None else kept_array(cx, cx.evaluate(node.value), node)
    place = node.value or node
    cx.active.pop()
    try:
        frame.each(value, place)
    finally:
        cx.active.append(frame)


def _blame_the_call(cx: Context, source: Source, call: Arguments) -> None:
    """An error inside of a function of ours is one of its call: the line to look at is the user's."""
    failure = cx.session.failure
    if failure is None or not all(
        is_ours(one.function) is wanted for one, wanted in ((source, True), (cx.frame.source, False))
    ):
        return
    what = f"'{ast.unparse(call.node.func)}' of these arguments is outside the language"
    remedy = "write its loops out, or call it before and pass the result"
    cx.session.failure = type(failure)(what, cx.at(call.node), failure.what, remedy)


def _leaves_early(webs: Webs, tree: ast.FunctionDef) -> bool:
    return len(webs.returns) > 1 or (len(webs.returns) == 1 and webs.returns[0] is not tree.body[-1])


def _match(cx: Context, tree: ast.FunctionDef, defaults: Mapping[str, Value], call: Arguments) -> dict[str, Value]:
    """The value of each parameter. Raises KernelError for what Python raises TypeError for."""
    names = [parameter.arg for parameter in parameters_of(tree)]
    positional, several = [parameter.arg for parameter in positional_of(tree)], tree.args.vararg
    if len(call.values) > len(positional) and several is None:
        noun = "argument" if len(positional) == 1 else "arguments"
        what = f"'{call.name}' takes {len(positional)} {noun}, and is given {len(call.values)}"
        raise cx.error(call.node, what)
    given = dict(zip(positional, call.values, strict=False))
    for name, value in call.named.items():
        if name not in names or name in given or (several is not None and name == several.arg):
            problem = f"is given '{name}' twice" if name in given else f"has no parameter '{name}'"
            raise cx.error(call.node, f"'{call.name}' {problem}")
        given[name] = value
    if several is not None:
        given[several.arg] = Items(call.values[len(positional) :])
    for name in names:
        if name not in given:
            if name not in defaults:
                raise cx.error(call.node, f"'{call.name}' needs an argument '{name}'")
            given[name] = defaults[name]
    return given


def _webs(cx: Context, source: Source, tree: ast.FunctionDef, given: dict[str, Value], path: Key) -> Webs:
    """The variables of a function for these arguments; found once for each call and kind of arguments."""
    known = tuple(_known_of(value) for value in given.values())
    key = (path, tree, known)
    if key not in cx.session.webs:
        cx.session.webs[key] = webs_for(cx.session, source, tree, given, path)
    return cx.session.webs[key]


def _known_of(value: Value) -> object:
    """What of an argument may decide an `if` (decide.py)."""
    if isinstance(value, Literal | Fixed):
        return value
    return len(value.shape) if isinstance(value, ArrayLike) else (type(value), len(getattr(value, "items", ())))


def webs_for(session: Session, source: Source, tree: ast.FunctionDef, given: Mapping[str, Value], path: Key) -> Webs:
    """The variables of a function that is called with these values."""
    inner = names_inside(source.definition.tree)

    def decided(test: ast.expr, is_parameter: Callable[[str], bool]) -> bool | None:
        def lookup(name: str) -> Value | None:
            if name in given:
                return given[name] if is_parameter(name) else None
            found = None if name in inner else session.outside.name(source, name)
            if found is None:
                return None
            return from_object(found.value)

        return decide(test, lookup)

    return find_webs(tree, decided, frozenset(target for where, target in session.in_place if where == path))


def _bind(cx: Context, frame: Frame, web: Web, value: Value, node: ast.AST) -> None:
    """Give a parameter its argument: as it is where that is known or stable, else in a variable."""
    key, name = web_key(frame, web), f"{frame.tree.name}.{web.name}"
    value = given_text(cx, frame, web, kept_array(cx, value, node))
    if isinstance(value, Array) and value.shape and web.number in renamed_only(frame) and frame.calls_again is None:
        held = freeze(cx, value, cx.at(node))
        assert isinstance(held, Array)
        cx.array_variables[key] = held
        cx.array_names[key] = web.name
        cx.session.types.assign(key, ArrayKind(value.element, len(value.shape)))
        return
    if not web.is_single and isinstance(value, Array | View) and value.shape:
        if copy_shows(frame, web.name, [CALLER]):
            if frame.calls_again is not None:
                raise cx.error(node, *of_the_caller(web.name))
            cx.fixed[key] = freeze(cx, value, cx.at(node))  # told of where it is assigned another one
            return
        value = materialised(cx, value, node)
    if isinstance(value, ListValue) and not web.is_single and not value.is_text:
        raise cx.error(node, f"'{web.name}' is a list of the caller, and assigned again here",
                       remedy="use another name in the helper")  # fmt: skip
    if not web.is_read and isinstance(value, Array | Records):
        check_range(cx, value, cx.at(node))
    is_changing = isinstance(value, Number) and not cx.is_stable(value.expr)
    if frame.calls_again is not None and calls_again.bind_open(cx, frame, web, value, node):
        return
    if web.is_single and not is_changing:
        frame.bindings[web.number] = freeze(cx, value, cx.at(node))
        return
    store_variable(cx, key, name, value, node, node)
    if web.is_single:
        cx.stable.add(cx.variable(key, name))


def _result(cx: Context, frame: Frame, call: Arguments) -> Value:
    gives_nothing = frame.webs.falls_through or frame.gives == {False, True}
    if not frame.gives and frame.webs.returns and cx.session.failure is not None:
        raise NotYet(f"what '{call.name}' returns is not known", cx.at(call.node))
    if not frame.webs.returns and not frame.webs.falls_through:  # it always raises
        return Literal(0.0)
    if True not in frame.gives:
        return Fixed(None)
    key = (*frame.path, "return")
    if gives_nothing and frame.calls_again is None and _is_number(cx, frame):
        if key in cx.session.optional and isinstance(cx.session.types.of(key), NumberType):
            return read_variable(cx, key, call.node, "result")
        cx.session.types.grown |= key not in cx.session.optional
        cx.session.optional.add(key)
        raise NotYet(f"what '{call.name}' returns is not known", cx.at(call.node))
    if gives_nothing:
        raise cx.error(
            call.node,
            f"'{call.name}' returns a value on some paths only",
            remedy="end every path with a return of a value",
        )
    if frame.result is not None:
        return frame.result
    return _with_shared(cx, frame, taken(cx, (*frame.path, "return"), call.node, "result"), call.node)


def _is_number(cx: Context, frame: Frame) -> bool:
    """Whether a helper returns numbers, as far as it returns anything."""
    kind = cx.session.types.of((*frame.path, "return"))
    return isinstance(frame.result, Literal | Number) or (frame.result is None and isinstance(kind, NumberType))


def return_from_helper(cx: Context, node: ast.Return) -> None:
    """`return value` in an inlined function."""
    frame = cx.frame
    value = Fixed(None) if node.value is None else cx.evaluate(node.value)
    is_none = isinstance(value, Fixed) and value.value is None
    frame.gives.add(not is_none)
    if not is_none:
        _set_result(cx, frame, value, node)
    elif (*frame.path, "return") in cx.session.optional:
        store_variable(cx, (*frame.path, "return"), "result", value, node, node)
    if not frame.tail:
        if frame.block is None:
            frame.block = cx.new_name(frame.prefix + "body")
        cx.leave(frame.block, node)


def _as_it_is_now(cx: Context, value: Value, node: ast.Return) -> Value:
    """A value that is read where the variables of the loops around its return are no more."""

    def keep(expr: Expr) -> Expr:
        return expr if isinstance(expr, Const | Dim) else cx.temporary(expr, cx.at(node))

    match value:
        case Number(expr=expr):
            return replace(value, expr=keep(expr))
        case Array(index=index, sizes=sizes):
            sizes = tuple(replace(one, expr=keep(one.expr)) if isinstance(one, Number) else one for one in sizes)
            return replace(value, index=tuple(map(keep, index)), sizes=sizes)
        case View(places=places, shape=shape):
            kept = tuple(
                keep(place) if isinstance(place, Expr)
                else replace(place, start=keep(place.start), step=keep(place.step)) for place in places
            )  # fmt: skip
            sizes = tuple(replace(size, expr=keep(size.expr)) if isinstance(size, Number) else size for size in shape)
            return replace(value, places=kept, shape=sizes)
        case Items(items=items):
            return replace(value, items=tuple(_as_it_is_now(cx, item, node) for item in items))
        case _:
            return value


def _holds_array(value: Value) -> bool:
    inside = value.items if isinstance(value, Items) else ()
    return any(isinstance(item, Array | View | Records) or _holds_array(item) for item in inside)


def _set_result(cx: Context, frame: Frame, value: Value, node: ast.Return) -> None:
    if frame.calls_again is not None:
        frame.result = calls_again.same_argument(frame)
        if frame.result is not None and frame.result == value:
            return
    value = kept_array(cx, value, node)
    _refuse_twice(cx, frame, value, node)
    is_number = isinstance(value, Literal | Number) or (isinstance(value, Items) and not _holds_array(value))
    is_only = len(frame.webs.returns) == 1 and (*frame.path, "return") not in cx.session.optional
    if is_only and (frame.tail or not is_number) and frame.calls_again is None:
        frame.result = value if frame.tail else _as_it_is_now(cx, value, node)
        return
    if not is_number or (isinstance(value, Items) and any(isinstance(one, ListValue) for one in value.items)):
        value = _without_shared(cx, frame, value)
    if not is_number:
        _refuse_shared(cx, frame, value, node)
    store_variable(cx, (*frame.path, "return"), "result", value, node, node)


def _without_shared(cx: Context, frame: Frame, value: Value) -> Value:
    """What a return gives, with a number instead of each of the caller's arrays that every return gives in that place:
    the result is the caller's array; and instead of each list that every return gives there."""
    if frame.path in cx.session.several_arrays or frame.calls_again is not None:
        return value
    items = value.items if isinstance(value, Items) else (value,)
    made = list(cx.allocations)[frame.made_before :]
    shared: dict[int, Value | Key] = {}
    for place, item in enumerate(items):
        key = variable_given_back(cx, frame, item)
        if key is not None:
            shared[place] = key
        elif isinstance(item, Array) and item.shape and not item.index and item.name not in made:
            shared[place] = item
        elif isinstance(item, ListValue) and item.is_open and item.home is None:
            shared[place] = ListValue((), item.length, item.key)
    if frame.shared is None:
        frame.shared = shared
    if frame.shared != shared:
        cx.session.several_arrays.add(frame.path)
        raise Restart
    items = tuple(Literal(0) if place in shared else item for place, item in enumerate(items))
    return replace(value, items=items) if isinstance(value, Items) else items[0]


def _with_shared(cx: Context, frame: Frame, result: Value, node: ast.AST) -> Value:
    if not frame.shared:
        return result
    shared = {
        place: read_variable(cx, one, node, "result") if isinstance(one, tuple)
        else cx.lists.get(one.key, one) if isinstance(one, ListValue) else one
        for place, one in frame.shared.items()
    }  # fmt: skip
    if not isinstance(result, Items):
        return shared[0]
    return replace(result, items=tuple(shared.get(place, item) for place, item in enumerate(result.items)))


def _refuse_twice(cx: Context, frame: Frame, value: Value, node: ast.Return) -> None:
    """Raise KernelError for a tuple in which one array is twice, if each name that the caller gives it is a copy."""
    names = [one.name if isinstance(one, Array) else one.array.name for one in _arrays_in(value) if one.shape]
    own = {one.name for one in cx.array_variables.values()}
    twice = [name for k, name in enumerate(names) if name in own and name in names[:k]]
    if twice and may_show(cx, frame.path[-1]):
        raise cx.error(node, "two of the results are one array",
                       "each of them gets memory of its own, and one of the two may be written in place",
                       "return a copy: return x, x.copy()")  # fmt: skip


def _arrays_in(value: Value) -> list[Array | View]:
    match value:
        case Array() | View():
            return [value]
        case Items(items=items):
            return [one for item in items for one in _arrays_in(item)]
        case _:
            return []


def _refuse_shared(cx: Context, frame: Frame, value: Value, node: ast.Return) -> None:
    """Raise KernelError for one of several results that cannot be a copy of what is returned."""
    match value:
        case Items(items=items):
            for item in items:
                _refuse_shared(cx, frame, item, node)
        case Array() | View():
            name = value.name if isinstance(value, Array) else value.array.name
            if name in list(cx.allocations)[frame.made_before :] or not value.shape:
                return
            if may_show(cx, frame.path[-1]):
                raise cx.error(node, "one of several results is the caller's array",
                               "the result has memory of its own, and one of the two may be written in place",
                               "return a copy: return x.copy()")  # fmt: skip
        case Records() | ListValue() | TableValue() | Closure():
            raise cx.error(node, f"{describe(value)} can only be returned by the last statement of a helper",
                           remedy="write one 'return' at the end of the helper")  # fmt: skip
        case _:
            pass
