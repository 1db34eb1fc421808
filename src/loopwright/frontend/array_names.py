"""Whether a function would notice that a name stands for a copy of an array: it writes elements of one of the two, and
then uses the other one.

It tells from the syntax, and errs to the safe side: a name may be a view of whatever its value is made of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from loopwright.frontend.context import Context, Frame
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.scopes import all_nodes, free_names, lambda_definition, own_nodes
from loopwright.frontend.values import Fixed
from loopwright.frontend.written import DefReader

CALLER = "<caller>"
"""The name under which whoever calls the function knows an array."""

_Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Both:
    """The names of the copy and those of the array, and which of the two has been written since. One of the two may
    have no name left where it was written: the other one differs from it."""

    names: tuple[_Names, _Names]
    written: tuple[bool, bool] = (False, False)


_State = _Both | None


def is_written_through(cx: Context, node: ast.AST) -> bool:
    """Whether an array, or one that an expression makes a view of it, is written in place by this function."""
    reader = _reader(cx.frame)
    written = reader.names_written()
    names = reader.roots(node) if isinstance(node, ast.expr) else set()
    return cx.target_names.get(id(node)) in written or bool(names & written)


def chosen_shows(cx: Context, node: ast.IfExp) -> bool:
    """Whether it may show that what a conditional expression gives is a copy: it has no name, and this function writes
    one of the arrays in place; or a helper gives it back to a function that does."""
    if id(node) not in cx.target_names and is_written_through(cx, node):
        return True
    reader = _reader(cx.frame)
    if not cx.frame.is_inlined or not reader.roots(node):
        return False
    given_back = [part.value for part in all_nodes(cx.frame.tree) if isinstance(part, ast.Return) and part.value]
    names, pairs = set().union(*map(reader.roots, given_back)), _pairs(reader)
    while grown := {old for new, old in pairs if new in names} - names:
        names |= grown
    is_given = any(node is part for value in given_back for part in ast.walk(value))
    return (is_given or cx.target_names.get(id(node)) in names) and may_show(cx, cx.frame.path[-1], to_python=False)


def _pairs(reader: DefReader) -> list[tuple[str, str]]:
    """(new name, the name whose array it may be a view of), of all of a function."""
    return [pair for node in all_nodes(reader.tree) for pair in reader.aliases(node)]


def aliases(frame: Frame, node: ast.AST) -> list[tuple[str, str]]:
    """(new name, the name whose array it may be a view of): those that one node of a function makes."""
    return _reader(frame).aliases(node)


def has_aliases(frame: Frame, name: str) -> bool:
    """Whether a name is given the array of another one somewhere, or another one its array."""
    reader = _reader(frame)
    pairs = [pair for node in all_nodes(frame.tree) for pair in reader.aliases(node)]
    return any(name in pair and pair != (name, name) and {*pair} <= frame.webs.locals for pair in pairs)


def copy_shows(
    frame: Frame, name: str, others: Iterable[str], node: ast.AST | None = None, escapes: bool = False
) -> bool:
    """Whether it would show that `name` is given a copy at a node (None: where the function begins) instead of an array
    that these other names stand for. escapes: it does where a `return` gives both away, or
    one where the caller has the other one."""
    return where_copy_shows(frame, name, others, node, escapes) is not None


def where_copy_shows(
    frame: Frame, name: str, others: Iterable[str], node: ast.AST | None = None, escapes: bool = False
) -> ast.AST | None:
    """The first place at which it would show, where it is known, else the whole function; None where it would not. At
    a node that is a loop, the name is given its copy when that is over."""
    reader = _reader(frame)
    others = frozenset(others)
    pairs = [pair for part in all_nodes(frame.tree) for pair in reader.aliases(part)] if node is not None else []
    group = {*others, *(old for new, old in pairs if new == name)} - {name}
    while grown := {one for pair in pairs if group & {*pair} for one in pair} - group - {name}:
        group |= grown
    if _are_used_inside(frame, {name, *group}):
        return frame.tree if reader.names_written() & {name, *group} else None
    flow = _Flow(reader, node, _Both((frozenset({name}), frozenset(group))), escapes)
    flow.body(frame.tree.body, flow.start if node is None else None)
    return flow.where or (frame.tree if flow.shows else None)


def _are_used_inside(frame: Frame, names: set[str]) -> bool:
    """Whether a nested function reads one of these names of this one: it may write the array, whenever it is called."""
    inner = [part for part in own_nodes(frame.tree) if isinstance(part, ast.FunctionDef)]
    inner += [lambda_definition(part) for part in all_nodes(frame.tree) if isinstance(part, ast.Lambda)]
    return any(free_names(one) & names for one in inner)


def may_show(cx: Context, call: object, to_python: bool = True, is_argument: bool = False) -> bool:
    """Whether it may show that the result of a call, of which this is the `id`, is a copy. to_python: also to whoever
    the kernel itself returns it to. is_argument: it is one of what the call was given."""
    caller = cx.active[-2]
    others = {CALLER}
    if is_argument:
        node = next(one for one in all_nodes(caller.tree) if id(one) == call and isinstance(one, ast.Call))
        others |= _reader(caller).of_arguments(node)
    for part in ast.walk(caller.tree):
        match part:
            case ast.Assign(value=value, targets=[ast.Name(id=name) as target]) if id(value) == call:
                return copy_shows(caller, name, others, target)
            case ast.Assign(value=value, targets=[ast.Tuple(elts=parts)]) if id(value) == call:
                names = [part for part in parts if isinstance(part, ast.Name)]
                return len(names) < len(parts) or any(copy_shows(caller, one.id, others, one) for one in names)
            case ast.BinOp() | ast.Compare() | ast.UnaryOp():  # whose results are arrays of their own
                if any(id(one) == call for one in ast.iter_child_nodes(part)):
                    return False
            case _:
                pass
    return _may_show_without_name(caller, call, to_python)


def _may_show_without_name(caller: Frame, call: object, to_python: bool) -> bool:
    """The same of a call whose result gets no name: the caller writes one of its arrays, or gives it back."""
    reader, nodes = _reader(caller), all_nodes(caller.tree)
    found = next((one for one in nodes if id(one) == call and isinstance(one, ast.expr)), None)
    if found is None:
        return True
    returns = (one.value for one in nodes if isinstance(one, ast.Return) and one.value is not None)
    if any(reader.roots(value) and any(found is part for part in ast.walk(value)) for value in returns):
        return caller.is_inlined or to_python
    return bool(reader.roots(found) & reader.names_written())


def sharing_shows(frame: Frame, owner: str, item: ast.expr) -> bool:
    """Whether it would show that a list of this name is given a copy of the list or array that an expression gives."""
    reader = list_reader(frame, owner)
    return copies_show(frame, reader, owner, item, reader.roots(item))


def comprehension_shows(frame: Frame, owner: str, made: ast.ListComp | ast.GeneratorExp) -> bool:
    """The same of a list of this name, and what a comprehension puts into it."""
    reader = list_reader(frame, owner)
    roots, is_one = reader.roots(made.elt), True
    for part in reversed(made.generators):
        names = {one.id for one in ast.walk(part.target) if isinstance(one, ast.Name)}
        is_one &= not any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(made.elt))
        if roots & names:
            roots = roots - names | reader.items(part.iter)
    return copies_show(frame, reader, owner, made.elt, roots, is_one)


def list_reader(frame: Frame, owner: str) -> DefReader:
    """Reads a function for a list of this name: what changes its length writes nothing that it holds."""
    own = frozenset({frame.source.function.__code__})
    reader = _ListReader(frame.source.function, frame.tree, own, functions=functions_of(frame))
    reader.owner = owner
    return reader


def copies_show(
    frame: Frame, reader: DefReader, owner: str, item: ast.expr, roots: set[str], is_one: bool = False
) -> bool:
    """Whether it shows that a list of this name holds copies. roots: the names whose array or list, or part of it, is
    put in. is_one: the same one several times."""
    pairs = [pair for part in ast.walk(frame.tree) for pair in reader.aliases(part)]
    same = set(roots)
    while grown := {one for pair in pairs if same & {*pair} for one in pair} - same:
        same |= grown
    is_doubtful = same and (is_one or owner in same)  # which of its elements are one array is not told from names
    if is_doubtful and reader.names_written() & {owner, *same}:
        return True
    group = roots - {owner}
    if not group:
        return False
    while grown := {one for pair in pairs if group & {*pair} for one in pair} - group - {owner}:
        group |= grown
    if _are_used_inside(frame, {owner, *group}):
        return bool(reader.names_written() & {owner, *group})
    if group & {parameter.arg for parameter in parameters_of(frame.tree)}:
        if frame.is_inlined:  # whoever called it may write its own
            return True
        group.add(CALLER)
    flow = _Flow(reader, item, _Both((frozenset({owner}), frozenset(group))))
    flow.body(frame.tree.body, None)
    return flow.shows


def list_copy_shows(frame: Frame, name: str, of: ast.Name, node: ast.AST) -> bool:
    """Whether it would show that `name` is given a copy of a list at a node, instead of the list of another name."""
    reader = list_reader(frame, "")
    group, pairs = {of.id}, [pair for part in all_nodes(frame.tree) for pair in reader.aliases(part)]
    while grown := {one for pair in pairs if group & {*pair} for one in pair} - group - {name}:
        group |= grown
    if _are_used_inside(frame, {name, *group}):
        return bool(reader.names_written() & {name, *group})
    if group & {parameter.arg for parameter in parameters_of(frame.tree)}:
        if frame.is_inlined:
            return True
        group.add(CALLER)
    flow = _Flow(reader, node, _Both((frozenset({name}), frozenset(group))))
    flow.body(frame.tree.body, None)
    return flow.shows


_CHANGING = ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "add", "discard", "update",
             "setdefault")  # fmt: skip


class _ListReader(DefReader):
    """Takes what changes a list for writing, too, but for the list `owner` itself: what it holds counts."""

    owner = ""

    def roots(self, expression: ast.expr) -> set[str]:
        return set() if isinstance(expression, ast.List) else super().roots(expression)  # a list of its own

    def by_method(self, call: ast.Call) -> set[str]:
        match call.func:
            case ast.Attribute(value=ast.Name(id=name)) if name == self.owner:
                return set()
            case ast.Attribute(value=inner, attr=attribute) if attribute in _CHANGING:
                return self.roots(inner)
            case _:
                return super().by_method(call)

    def writes(self, node: ast.AST) -> tuple[set[str], set[str]]:
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=ast.Name(id=name)) if name == self.owner:
                return set(), set()
            case ast.Subscript(ctx=ast.Del()):
                return self.roots(node), set()
            case ast.AugAssign(target=ast.Name(id=name)) if name == self.owner:
                return set(), set()
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))) if name == self.owner:
                return set(), {name}
            case _:
                return super().writes(node)


def _reader(frame: Frame) -> DefReader:
    own = frozenset({frame.source.function.__code__})
    return DefReader(frame.source.function, frame.tree, own, functions=functions_of(frame))


def functions_of(frame: Frame) -> dict[str, object]:
    """The parameters that stand for functions."""
    found: dict[str, object] = {}
    for parameter in parameters_of(frame.tree):
        web = frame.webs.stores.get(id(parameter))
        match None if web is None else frame.bindings.get(web.number):
            case Fixed(value=value) if callable(value):
                found[parameter.arg] = value
            case _:
                pass
    return found


@dataclass
class _Flow:
    """Follows the names of both arrays through a function from a node on."""

    reader: DefReader
    node: ast.AST | None
    start: _State
    escapes: bool = False
    shows: bool = False
    where: ast.AST | None = None  # the first place at which it does
    left: list[_State] = field(default_factory=list)  # at the `break` and `continue` of the loop at hand
    trying: list[_State] = field(default_factory=list)  # for each `try` around: what reaches its handlers

    def body(self, statements: list[ast.stmt], state: _State) -> _State:
        for one in statements:
            state = self.statement(one, state)
            for number, caught in enumerate(self.trying):
                self.trying[number] = _either(caught, state)
        return state

    def try_block(self, node: ast.Try, state: _State) -> _State:
        """A handler may be reached from between any two statements of the body."""
        self.trying.append(state)
        end = self.body(node.body, state)
        caught = self.trying.pop()
        end = self.body(node.orelse, end)
        for handler in node.handlers:
            end = _either(end, self.body(handler.body, caught))
        return self.body(node.finalbody, end)

    def statement(self, node: ast.stmt, state: _State) -> _State:
        match node:
            case ast.If(test=test, body=first, orelse=second):
                state = self.simple(test, state)
                return _either(self.body(first, state), self.body(second, state))
            case ast.For(iter=head) | ast.While(test=head):
                state = self.loop(node, head, state)
                return _either(state, self.start) if node is self.node else state
            case ast.Try():
                return self.try_block(node, state)
            case ast.FunctionDef():
                return state  # its names are its own
            case ast.Break() | ast.Continue():
                self.left.append(state)
                return None
            case ast.Return() | ast.Raise():
                state = self.simple(node, state)
                if self.escapes and state is not None and isinstance(node, ast.Return) and node.value is not None:
                    given = self.reader.roots(node.value) | {CALLER}
                    self.shows |= all(given & names for names in state.names)
                return None
            case _:
                return self.simple(node, state)

    def loop(self, node: ast.For | ast.While, head: ast.expr, state: _State) -> _State:
        outer, before = self.left, object()
        while state != before:
            self.left, before = [], state
            now = self.simple(head, state)
            if isinstance(node, ast.For):
                is_start = any(part is self.node for part in ast.walk(node.target))  # each item is copied
                now = self.assigned(node, self.start if is_start else self.simple(node.target, now), is_start)
            for one in [self.body(node.body, now), *self.left]:
                state = _either(state, one)
        self.left = outer
        return self.body(node.orelse, state)

    def simple(self, node: ast.AST, state: _State) -> _State:
        """What one statement without others inside, or an expression, does."""
        parts = list(ast.walk(node))
        if state is not None:
            state = self.used(parts, state)
        if any(part is self.node for part in parts):
            assignment = next((part for part in parts if _targets(part)), node)
            return self.assigned(assignment, self.start, is_start=True)
        for part in parts:
            state = self.assigned(part, state)
        return state

    def used(self, parts: list[ast.AST], state: _Both) -> _Both:
        """What is read and written: it shows where one was written and the other one, or a view of it, is used."""
        written = list(state.written)
        items = {id(part.value) for part in parts if self.reader.item(part)}  # type: ignore[attr-defined]
        used = {name for part in parts for name in self.read(part, id(part) in items)}
        for names in (one for part in parts for one in self.reader.writes(part)):
            used |= names
            for place in range(2):
                written[place] |= bool(names & state.names[place])
        for place in range(2):
            others = state.names[1 - place]
            if written[place] and others & (used | {CALLER}):
                self.shows, self.where = True, self.where or parts[0]
        return replace(state, written=(written[0], written[1]))

    def read(self, part: ast.AST, of_item: bool) -> set[str]:
        """The names, and those of items of dicts, that an expression without those inside it reads. of_item: it is the
        dict of an item."""
        match part:
            case ast.Name(id=name, ctx=ast.Load() | ast.Del()):
                return {name} if of_item else self.reader.roots(part)
            case ast.Subscript(ctx=ast.Load() | ast.Del()):
                return {self.reader.item(part)} - {""}
            case _:
                return set()

    def assigned(self, node: ast.AST, state: _State, is_start: bool = False) -> _State:
        """The names after an assignment: the old ones are others now, and those that are given an array are its.
        is_start: it is the one that makes the copy."""
        pairs = self.reader.aliases(node)
        stored = {part.id for target in _targets(node) for part in ast.walk(target)
                  if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}  # fmt: skip
        if state is None or not stored:
            return state
        first, second = (group - stored | {new for new, old in pairs if old in group} for group in state.names)
        if is_start:
            first, second = state.names[0], second - state.names[0]
        if first and second:
            return replace(state, names=(first, second))
        is_stale = (first and state.written[1]) or (second and state.written[0])  # what has no name left was written
        return replace(state, names=(first, second)) if is_stale and not is_start else None


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.NamedExpr(target=target) | ast.For(target=target):
            return [target]
        case _:
            return []


def _either(one: _State, other: _State) -> _State:
    if one is None or other is None:
        return one or other
    written = (one.written[0] or other.written[0], one.written[1] or other.written[1])
    return _Both((one.names[0] | other.names[0], one.names[1] | other.names[1]), written)
