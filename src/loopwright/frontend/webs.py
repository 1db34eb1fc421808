"""Which assignments of a name belong together: a web is a variable of its own, with a type of its own.

Definitions that reach a common use are one web (reaching definitions over the syntax tree). So a name that is
used for two unrelated values is two variables. It also finds the statements that cannot be reached, and the reads
that may come before any assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from loopwright.frontend.parse import parameters_of
from loopwright.frontend.scopes import (
    assigned_from_inside,
    free_names,
    free_through_siblings,
    lambda_definition,
    locals_of,
    loop_names,
)

Decide = Callable[[ast.expr, Callable[[str], bool]], bool | None]
_State = dict[str, frozenset[int]] | None  # for each local: the definitions that may reach; None: unreachable
_UNASSIGNED = -1
_NAMELESS = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)


@dataclass(frozen=True, slots=True)
class Web:
    """A variable. `definitions`: how many places assign it. `certain`: no read may come before an assignment;
    together with one definition this means that the definition comes before every read."""

    number: int
    name: str
    definitions: int
    certain: bool
    is_read: bool = True

    @property
    def is_single(self) -> bool:
        """Assigned in one place, that comes before every read."""
        return self.definitions == 1 and self.certain


@dataclass(frozen=True, slots=True)
class Webs:
    """The variables of one function. Nodes are keyed by their `id`.

    loads, stores: the web of a Name that is read or assigned (also of parameters and nested functions). free: for
    a Name that means a nested function, the webs of the names that are free in it. uncertain: reads that may come
    before any assignment. only: for a read that one definition alone reaches, the defining node. decisions: which
    branch of an `if` is taken, where that is known. falls: whether the first and the second branch of an `if` may
    go on after it. unreachable: statements. returns: those that can be reached. falls_through: the end of the
    function can be reached. loop_names: those of the locals that a `for` assigns."""

    loads: Mapping[int, Web]
    stores: Mapping[int, Web]
    free: Mapping[int, Mapping[str, Web]]
    uncertain: frozenset[int]
    only: Mapping[int, int]
    decisions: Mapping[int, bool]
    falls: Mapping[int, tuple[bool, bool]]
    unreachable: frozenset[int]
    returns: tuple[ast.Return, ...]
    falls_through: bool
    locals: frozenset[str]
    loop_names: frozenset[str]


def find_webs(tree: ast.FunctionDef, decide: Decide, in_place: frozenset[int] = frozenset()) -> Webs:
    """The webs of a function. `decide(test, is_parameter)` says which way a test goes where that is known now;
    `is_parameter(name)` tells it that the name means the value that the function was called with. in_place: the targets
    (by `id`) of those `x += v` that write the elements of an array, which assigns no name."""
    reach = _Reach(tree, decide, in_place)
    end = reach.run()
    return _collect(reach, end is not None)


@dataclass
class _Reach:
    """The walk. Loops are walked until what reaches their head stops growing; uses only ever gain definitions."""

    tree: ast.FunctionDef
    decide: Decide
    in_place: frozenset[int]
    names: frozenset[str] = frozenset()
    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)  # id of the defining node -> definition
    uses: dict[tuple[int, str, bool], frozenset[int]] = field(default_factory=dict)  # (node, name, free in a function)
    decisions: dict[int, bool] = field(default_factory=dict)
    falls: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    unreachable: set[int] = field(default_factory=set)
    returns: dict[int, ast.Return] = field(default_factory=dict)
    loops: list[tuple[list[_State], list[_State]]] = field(default_factory=list)  # states at breaks, at continues
    trying: list[list[_State]] = field(default_factory=list)  # for each `try` around: what reaches its handlers
    parameters: dict[str, int] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()  # the names of comprehensions around

    def run(self) -> _State:
        self.names = locals_of(self.tree)
        self.nested = free_through_siblings(self.tree)
        state: _State = {name: frozenset({_UNASSIGNED}) for name in self.names}
        for parameter in parameters_of(self.tree):
            state = self.define(parameter.arg, parameter, state)
            self.parameters[parameter.arg] = self.numbers[id(parameter)]
        return self.body(self.tree.body, state)

    def define(self, name: str, node: ast.AST, state: _State) -> _State:
        if state is None or name not in self.names:  # of a function around this one
            return state
        if id(node) not in self.numbers:
            self.numbers[id(node)] = len(self.definitions)
            self.definitions.append(name)
        return {**state, name: frozenset({self.numbers[id(node)]})}

    def use(self, name: str, node: ast.AST, state: _State, free: bool = False) -> None:
        if state is None or name not in self.names or name in self.hidden:
            return
        key = (id(node), name, free)
        self.uses[key] = self.uses.get(key, frozenset()) | state[name]

    # ---- expressions, in the order of evaluation ----

    def expression(self, node: ast.AST | None, state: _State) -> _State:
        match node:
            case None:
                return state
            case ast.Lambda(args=arguments):
                for default in (*arguments.defaults, *arguments.kw_defaults):
                    state = self.expression(default, state)
                for name in free_names(lambda_definition(node)):
                    for other in (name, *self.nested.get(name, ())):
                        self.use(other, node, state, free=True)
                return state
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return self.comprehension([node.elt], node.generators, state)
            case ast.DictComp(key=key, value=value):
                return self.comprehension([key, value], node.generators, state)
            case ast.Name():
                self.use(node.id, node, state)
                for name in self.nested.get(node.id, ()):
                    self.use(name, node, state, free=True)
                return state
            case ast.NamedExpr(target=ast.Name(id=name) as target, value=value):
                return self.define(name, target, self.expression(value, state))
            case ast.BoolOp(values=[first, *rest]):
                state = self.expression(first, state)
                for value in rest:
                    state = _join(state, self.expression(value, state))
                return state
            case ast.IfExp(test=test, body=body, orelse=orelse):
                state = self.expression(test, state)
                return _join(self.expression(body, state), self.expression(orelse, state))
            case _:
                for child in ast.iter_child_nodes(node):
                    if not isinstance(child, _NAMELESS):
                        state = self.expression(child, state)
                return state

    def comprehension(self, inner: list[ast.expr], generators: list[ast.comprehension], state: _State) -> _State:
        """Its targets are names of its own; what else it reads is the function's."""
        state = self.expression(generators[0].iter, state)
        names = {part.id for one in generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        outer, self.hidden = self.hidden, self.hidden | names
        for one in generators:
            for part in ([] if one is generators[0] else [one.iter]) + one.ifs:
                state = self.expression(part, state)
        for part in inner:
            state = self.expression(part, state)
        self.hidden = outer
        return state

    def target(self, node: ast.expr, state: _State) -> _State:
        match node:
            case ast.Name(id=name):
                return self.define(name, node, state)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    state = self.target(part, state)
                return state
            case ast.Starred(value=inner):
                return self.target(inner, state)
            case ast.Attribute(value=ast.Name(id=name) as inner, attr="shape") if name in self.names:
                self.use(name, inner, state)  # from here on it is an array of another shape
                return self.define(name, node, state)
            case _:
                for child in ast.iter_child_nodes(node):
                    state = self.expression(child, state)
                return state

    # ---- statements ----

    def body(self, statements: list[ast.stmt], state: _State) -> _State:
        for statement in statements:
            if state is None:
                self.unreachable.add(id(statement))
                continue
            self.unreachable.discard(id(statement))
            before, state = state, self.statement(statement, state)
            for states in self.trying:  # it may fail before it has assigned anything, or between two names
                states += [before, state]
        return state

    def statement(self, node: ast.stmt, state: _State) -> _State:
        match node:
            case ast.Assign(targets=targets, value=value):
                state = self.expression(value, state)
                for target in targets:
                    state = self.target(target, state)
            case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                self.use(name, target, state)
                state = self.expression(value, state)
                if id(target) not in self.in_place:
                    state = self.define(name, target, state)
            case ast.AugAssign(target=target, value=value):
                state = self.expression(value, self.expression(target, state))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                state = self.target(target, self.expression(value, state))
            case ast.For():
                state = self.for_loop(node, state)
            case ast.While():
                state = self.while_loop(node, state)
            case ast.If():
                state = self.branch(node, state)
            case ast.FunctionDef(name=name, args=arguments):
                for default in (*arguments.defaults, *arguments.kw_defaults):
                    state = self.expression(default, state)
                state = self.define(name, node, state)
            case ast.Try():
                state = self.try_block(node, state)
            case ast.Assert(test=test, msg=says):
                state = self.expression(test, state)
                self.expression(says, state)
            case ast.Raise():
                self.expression(node.exc, state)
                return None
            case ast.Return(value=value):
                self.expression(value, state)
                self.returns[id(node)] = node
                return None
            case ast.Break() | ast.Continue() if self.loops:
                self.loops[-1][isinstance(node, ast.Continue)].append(state)
                return None
            case ast.Expr(value=value):
                state = self.expression(value, state)
            case ast.Delete(targets=targets):
                for target in targets:
                    state = state if isinstance(target, ast.Name) else self.target(target, state)
            case _:
                pass
        return state

    def branch(self, node: ast.If, state: _State) -> _State:
        state = self.expression(node.test, state)
        decided = self._decided(node.test, state)
        if decided is None:
            self.decisions.pop(id(node), None)
        else:
            self.decisions[id(node)] = decided
        first = self.body(node.body, state if decided is not False else None)
        second = self.body(node.orelse, state if decided is not True else None)
        self.falls[id(node)] = (first is not None, second is not None)
        return _join(first, second)

    def try_block(self, node: ast.Try, state: _State) -> _State:
        """A handler may be reached from between any two statements of the body."""
        self.trying.append([state])
        end = self.body(node.body, state)
        reaching = _join(*self.trying.pop())
        ends = [self.body(node.orelse, end)]
        for handler in node.handlers:
            ends.append(self.body(handler.body, self.expression(handler.type, reaching)))
        return self.body(node.finalbody, _join(*ends))

    def _decided(self, test: ast.expr, state: _State) -> bool | None:
        if state is None:
            return None
        shared = assigned_from_inside(self.tree)
        return self.decide(
            test,
            lambda name: name not in shared and state.get(name) == frozenset({self.parameters.get(name, _UNASSIGNED)}),
        )

    def for_loop(self, node: ast.For, state: _State) -> _State:
        state = self.expression(node.iter, state)
        head = state
        while True:
            self.loops.append(([], []))
            end = self.body(node.body, self.target(node.target, head))
            breaks, continues = self.loops.pop()
            grown = _join(head, *continues, end)
            if grown == head:
                break
            head = grown
        return _join(self.body(node.orelse, head) if node.orelse else head, *breaks)

    def while_loop(self, node: ast.While, state: _State) -> _State:
        head = state
        while True:
            self.loops.append(([], []))
            tested = self.expression(node.test, head)
            end = self.body(node.body, tested)
            breaks, continues = self.loops.pop()
            grown = _join(head, *continues, end)
            if grown == head:
                break
            head = grown
        after = None if is_always_true(node.test) else tested
        return _join(self.body(node.orelse, after) if node.orelse else after, *breaks)


def is_always_true(test: ast.expr) -> bool:
    """`while True`, `while 1`: the loop ends by `break` or `return` only."""
    return isinstance(test, ast.Constant) and bool(test.value)


def _join(*states: _State) -> _State:
    known = [state for state in states if state is not None]
    if not known:
        return None
    first, *others = known
    for other in others:  # most names have the same definitions in all of them, so it is the same set
        first = {name: one if (two := other[name]) is one else one | two for name, one in first.items()}
    return first


def _collect(reach: _Reach, falls_through: bool) -> Webs:
    leader = list(range(len(reach.definitions)))

    def find(definition: int) -> int:
        while leader[definition] != definition:
            definition = leader[definition]
        return definition

    shared = assigned_from_inside(reach.tree)  # a nested function assigns them too, wherever it is called
    first = {name: reach.definitions.index(name) for name in shared if name in reach.definitions}
    for definition, name in enumerate(reach.definitions):
        leader[definition] = first.get(name, definition)
    uncertain_leaders: set[int] = set()
    for reaching in reach.uses.values():
        real = [find(definition) for definition in reaching if definition != _UNASSIGNED]
        for other in real[1:]:
            leader[find(other)] = find(real[0])
    for reaching in reach.uses.values():
        if _UNASSIGNED in reaching:
            uncertain_leaders |= {find(definition) for definition in reaching if definition != _UNASSIGNED}
    read = {find(definition) for reaching in reach.uses.values() for definition in reaching - {_UNASSIGNED}}
    count: dict[int, int] = dict.fromkeys(first.values(), 1)
    for definition in range(len(leader)):
        count[find(definition)] = count.get(find(definition), 0) + 1
    webs = {
        number: Web(number, reach.definitions[number], size, number not in uncertain_leaders, number in read)
        for number, size in count.items()
    }
    loads: dict[int, Web] = {}
    free: dict[int, dict[str, Web]] = {}
    for (node, name, is_free), reaching in reach.uses.items():
        real = [find(definition) for definition in reaching if definition != _UNASSIGNED]
        web = webs[real[0]] if real else Web(_UNASSIGNED, name, 0, certain=False)
        if is_free:
            free.setdefault(node, {})[name] = web
        else:
            loads[node] = web
    stores = {node: webs[find(definition)] for node, definition in reach.numbers.items()}
    uncertain = frozenset(node for (node, _, _), reaching in reach.uses.items() if _UNASSIGNED in reaching)
    node_of = {definition: node for node, definition in reach.numbers.items()}
    only = {
        node: node_of[next(iter(reaching))]
        for (node, name, is_free), reaching in reach.uses.items()
        if len(reaching) == 1 and not is_free and _UNASSIGNED not in reaching and name not in shared
    }
    returns = tuple(reach.returns.values())
    return Webs(
        loads=loads,
        stores=stores,
        free=free,
        uncertain=uncertain,
        only=only,
        decisions=reach.decisions,
        falls=reach.falls,
        unreachable=frozenset(reach.unreachable),
        returns=returns,
        falls_through=falls_through,
        locals=reach.names,
        loop_names=loop_names(reach.tree),
    )
