"""Helpers that call themselves anywhere: a loop over the states between their calls, with a stack of its own.

    def f(n):                               depth = 0; state = 0
        if n < 2: return n        ->        while True:
        return f(n - 1) + f(n - 2)              if state == 0: n < 2: result = n, state = 3
                                                               else: push n; n = n - 1
                                                if state == 1: pop n; first = result; push first; n = n - 2; state = 0
                                                if state == 2: pop first; result = first + result; state = 3
                                                if state == 3: depth == 0: break; state = that of the last push

The body is read once, with a Block as the mark of each call of itself. A state ends where such a call, or a loop or a
branch around one, begins or ends; merged_states.py puts states together. A call keeps what is read after it and may
have changed by then, and no more: the kept variables of a type share an array, with a row for each activation. Of as
many as Python has frames, and a deeper call is a RecursionError. Arrays that an activation makes itself cannot be kept:
they are refused where they would be read after a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.errors import KernelError
from loopwright.frontend.context import Context, Frame
from loopwright.frontend.leaf_calls import CallSite, Leaves, with_leaves
from loopwright.frontend.merged_states import Merger
from loopwright.frontend.recursion import DEEPEST
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Leave,
    Load,
    Location,
    Logical,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_made, names_in, settled_by, types_assigned
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions, with_bodies

_Targets = Mapping[tuple[type[Stmt], str], frozenset[str]]
_ONE = Const(1, INT64)
_ZERO = Const(0, INT64)
_ROOM = 1 << DEEPEST.bit_length()  # a power of two: an index in it needs no check


def with_stack(cx: Context, frame: Frame, body: Sequence[Stmt], names: frozenset[str], at: Location) -> list[Stmt]:
    """The body of a function with its calls of itself, as a loop. names: those that it has itself. Raises KernelError
    for arrays of its own that are read after such a call."""
    marks = frame.calls_again
    assert marks is not None
    if not any(block.name in marks for block in statements(tuple(body), Block)):
        return list(body)
    own = {name: kind for name, kind in types_assigned(tuple(body)).items() if name in names}
    own |= {loop.name: INT64 for loop in statements(tuple(body), For)}
    own |= {cx.flagged[name]: BOOL for name in own if name in cx.flagged}
    results = frozenset(cx.names_of((*frame.path, "return")))
    machine = _Machine(cx, cx.new_name(frame.prefix + "calls"), marks, own, results, _set_inside(tuple(body)), at)
    return _each_once(machine.loop(body, frame.block), set())


def _each_once(body: Sequence[Stmt], met: set[int]) -> list[Stmt]:
    """The same with copies of statements that stand in several places: facts are kept by the identity of each."""
    found: list[Stmt] = []
    for stmt in body:
        inside = bodies(stmt)
        new = with_bodies(stmt, tuple(tuple(_each_once(one, met)) for one in inside)) if inside else stmt
        found.append(replace(new) if id(new) in met else new)
        met.add(id(found[-1]))
    return found


@dataclass
class _Machine:
    """name: of the loop, and the beginning of all other names. own: the variables of an activation, with their types.
    results: those of what it returns: a call sets them, and they are read right after it.
    set_inside: the names that some statement sets: all others are the same in all activations.
    states: their statements. resumed: the states after calls, by the calls' marks. end: that of a return.
    rows: where kept variables are: the array, and the place in a row of it. leaves: calls that end at once.
    behind: the states after calls, with those in which they go on once they have what was kept."""

    cx: Context
    name: str
    marks: set[str]
    own: Mapping[str, Scalar]
    results: frozenset[str]
    set_inside: frozenset[str]
    at: Location
    states: list[list[Stmt]] = field(default_factory=lambda: [[]])
    resumed: dict[str, int] = field(default_factory=dict)
    jumps: dict[tuple[type[Stmt], str], int] = field(default_factory=dict)
    end: int = -1
    rows: dict[str, tuple[str, int]] = field(default_factory=dict)
    leaves: Leaves | None = None
    behind: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = self.cx.new_name(f"{self.name}.state")
        self.depth = self.cx.new_name(f"{self.name}.depth")
        self.step = self.cx.new_name(f"{self.name}.step")
        self.pushed = self.cx.new_name(f"{self.name}.pushed")

    def loop(self, body: Sequence[Stmt], block: str | None) -> list[Stmt]:
        self.end, own = self._new(), set(self.own)
        if block is not None:
            self.jumps[Leave, block] = self.end
        self._then(self._body(body, 0), self.end)
        self._find_leaves()
        live = self._live()
        self._refuse_arrays(live)
        changing = self.set_inside | (set(self.own) - own)  # with bounds of loops
        kept = {state: sorted((live[state] & changing) - self.results) for state in self.resumed.values()}
        made = self._stacks(sorted(set().union(*kept.values())))
        given = self._parameters()
        given |= {self.cx.flagged[name] for name in given if name in self.cx.flagged}
        first = sorted(set().union(*live.values()) - given)
        made += [Assign(name, _nothing(self.own[name]), at=self.at) for name in first]
        made += [Assign(self.depth, _ZERO, at=self.at), Assign(self.state, _ZERO, at=self.at)]
        states = {number: self._state(number, kept) for number in range(len(self.states)) if number != self.end}
        states[self.end] = self._return()
        resumed = set(self.resumed.values())
        named = frozenset({0, self.end, *resumed})
        left = Merger(self.state, self.step, named, self.cx.new_name, self.at).merged(states)
        order = sorted(left, key=lambda number: (number != self.end, number not in resumed, number == 0, number))
        steps = tuple(If(self._is(number), left[number], at=self.at) for number in order)
        running = Compare("ge", Var(self.state, INT64), _ZERO)
        return [*made, While(self.name, running, (Block(self.step, steps, at=self.at),), at=self.at)]

    def _find_leaves(self) -> None:
        """The calls that end at once. What follows such a call is a state of its own, as nothing was kept for it."""
        if self._flags():
            return
        self.leaves = with_leaves(self.states, self.end, self._said, self._goto)
        if self.leaves is None:
            return
        for after in self.resumed.values():
            self.behind[after] = self._new()
            self.states[self.behind[after]][:] = self.states[after]
            self.states[after][:] = [self._goto(self.behind[after])]

    def _stacks(self, kept: Sequence[str]) -> list[Stmt]:
        """The arrays for kept variables; and that of the states that go on, where there are several."""
        room, made = Const(_ROOM, INT64), list[Stmt]()
        if len(self.resumed) > 1:
            made.append(Allocate(self.pushed, INT64, (room,), None, at=self.at))
        for kind in dict.fromkeys(self.own[name] for name in kept):
            names = [name for name in kept if self.own[name] == kind]
            stack = self.cx.new_name(f"{self.name}.{kind}.stack")
            self.rows |= {name: (stack, place) for place, name in enumerate(names)}
            made.append(Allocate(stack, kind, (room, Const(len(names), INT64)), None, at=self.at))
        return made

    # ---- states -----------------------------------------------------------------------------------------------

    def _new(self) -> int:
        self.states.append([])
        return len(self.states) - 1

    def _body(self, body: Sequence[Stmt], state: int | None) -> int | None:
        """Write statements into a state and those after it; the state that they end in, None where they do not."""
        for stmt in body:
            if state is None:
                return None
            if any(block.name in self.marks for block in statements((stmt,), Block)):
                state = self._divided(stmt, state)
                continue
            escaped = self._escaped(stmt)
            self.states[state] += escaped
            if isinstance(stmt, Leave | Break | Continue):
                return None
        return state

    def _divided(self, stmt: Stmt, state: int) -> int | None:
        """The same for a statement with a call inside."""
        here = self.states[state]
        match stmt:
            case Block(name=name, body=body) if name in self.marks:
                after = self._new()
                self.resumed[name] = after
                here.append(stmt)
                return after
            case Block(name=name, body=body):
                after = self._new()
                self.jumps[Leave, name] = after
                self._then(self._body(body, state), after)
                return after
            case If(condition=condition, then=then, otherwise=otherwise):
                first, second, after = self._new(), self._new(), self._new()
                here.append(If(condition, (self._goto(first),), (self._goto(second),), at=stmt.at))
                self._then(self._body(then, first), after)
                self._then(self._body(otherwise, second), after)
                return after
            case While(name=name, condition=condition, body=body):
                return self._rounds(name, state, condition, body, ())
            case For(name=name, lower=lower, upper=upper, step=step, body=body):
                bounds = [self._kept(f"{name}.{k}", bound, here) for k, bound in enumerate((upper, step))]
                here.append(Assign(name, lower, at=stmt.at))
                to, by = bounds
                variable = Var(name, INT64)
                up = Logical("and", Compare("gt", by, _ZERO), Compare("lt", variable, to))
                down = Logical("and", Compare("lt", by, _ZERO), Compare("gt", variable, to))
                step_up = Assign(name, Binary("add", variable, by), at=stmt.at)
                return self._rounds(name, state, Logical("or", up, down), body, (step_up,))
        raise AssertionError(f"no body in {stmt}")

    def _kept(self, hint: str, value: Expr, here: list[Stmt]) -> Expr:
        if isinstance(value, Const | Var | Dim) and not settled_by(value) & self.set_inside:
            return value
        name = self.cx.new_name(hint)
        self.own = {**self.own, name: INT64}
        here.append(Assign(name, value, at=self.at))
        return Var(name, INT64)

    def _rounds(self, name: str, state: int, condition: Expr, body: Sequence[Stmt], last: tuple[Stmt, ...]) -> int:
        head, first, tail, after = self._new(), self._new(), self._new(), self._new()
        self.jumps[Break, name], self.jumps[Continue, name] = after, tail
        self._then(state, head)
        self.states[head].append(If(condition, (self._goto(first),), (self._goto(after),), at=self.at))
        self._then(self._body(body, first), tail)
        self.states[tail] += [*last, self._goto(head)]
        return after

    def _then(self, state: int | None, after: int) -> None:
        if state is not None:
            self.states[state].append(self._goto(after))

    def _said(self, stmt: Stmt) -> int | None:
        match stmt:
            case Assign(name=self.state, value=Const(value=number)):
                return int(number)
        return None

    def _goto(self, state: int) -> Stmt:
        return Assign(self.state, Const(state, INT64), at=self.at)

    def _escaped(self, stmt: Stmt) -> tuple[Stmt, ...]:
        """A statement of one state, where jumps out of it say the next one."""
        match stmt:
            case Leave(block=target) | Break(loop=target) | Continue(loop=target):
                if (type(stmt), target) not in self.jumps:
                    return (stmt,)
                return self._goto(self.jumps[type(stmt), target]), Leave(self.step, at=stmt.at)
        inner = bodies(stmt)
        return (with_bodies(stmt, tuple(sum(map(self._escaped, body), ()) for body in inner)),) if inner else (stmt,)

    # ---- what a call keeps ------------------------------------------------------------------------------------

    def _live(self) -> dict[int, frozenset[str]]:
        """What each state may read before it sets it, of an activation's own variables and arrays."""
        arrays = {made.array for state in self.states for made in statements(tuple(state), Allocate)}
        watched = frozenset(self.own) | arrays
        live = {state: frozenset[str]() for state in range(len(self.states))}
        live[self.end] = self.results
        before: dict[int, frozenset[str]] = {}
        while live != before:
            before = dict(live)
            for state in reversed(range(len(self.states))):
                live[state] = watched & self._before(self.states[state], frozenset(), live, {})
        return live

    def _before(
        self, body: Sequence[Stmt], after: frozenset[str], live: Mapping[int, frozenset[str]], targets: _Targets
    ) -> frozenset[str]:
        for number in reversed(range(len(body))):
            stmt = body[number]
            read = _read(stmt)
            match stmt:
                case Assign(name=self.state, value=Const(value=state)):
                    after = live[int(state)]
                case Assign(name=name):
                    after = (after - {name}) | read
                case Allocate(array=array):
                    after = (after - {array}) | read
                case Block(name=name, body=inner) if name in self.marks:
                    kept = live[self.resumed[name]] - self.results
                    after = self._before(inner, live[0], live, targets) | kept
                case Block(name=name, body=inner):
                    after = self._before(inner, after, live, {**targets, (Leave, name): after})
                case If(then=then, otherwise=otherwise):
                    after = read.union(*(self._before(one, after, live, targets) for one in (then, otherwise)))
                case For(name=name, body=inner) | While(name=name, body=inner):
                    first = after | read
                    for _ in range(2):
                        known = {**targets, (Break, name): after, (Continue, name): first}
                        first |= self._before(inner, first, live, known) - {name}
                    after = first
                case Leave(block=name) if name != self.step:
                    after = targets[Leave, name]
                case Break(loop=name) | Continue(loop=name):
                    after = targets[type(stmt), name]
                case _:
                    after |= read
        return after

    def _refuse_arrays(self, live: Mapping[int, frozenset[str]]) -> None:
        for state in self.states:
            for made in statements(tuple(state), Allocate):
                if any(made.array in names for names in live.values()):
                    raise KernelError("an array is made in a function that calls itself, and used after such a call",
                                      made.at, "each call would need memory of its own for it",
                                      "make it outside, and pass it as an argument")  # fmt: skip

    # ---- the loop ---------------------------------------------------------------------------------------------

    def _is(self, state: int) -> Expr:
        return Compare("eq", Var(self.state, INT64), Const(state, INT64))

    def _row(self, name: str) -> tuple[str, tuple[Expr, ...]]:
        stack, place = self.rows[name]
        return stack, (self._place(), Const(place, INT64))

    def _place(self) -> Expr:
        return Binary("and", Var(self.depth, INT64), Const(_ROOM - 1, INT64))

    def _state(self, number: int, kept: Mapping[int, list[str]]) -> Body:
        body: list[Stmt] = []
        for name in kept.get(number, ()):
            body.append(Assign(name, Load(*self._row(name), self.own[name]), at=self.at))
        if number == 0:
            body += [Assign(flag, Const(False, BOOL), at=self.at) for flag in self._flags()]
        for stmt in self.states[number]:
            if isinstance(stmt, Block) and stmt.name in self.marks:
                body += self._push(stmt, kept)
            else:
                body.append(stmt)
        return tuple(self._leaving(body))

    def _leaving(self, body: Sequence[Stmt]) -> list[Stmt]:
        """A body whose last statement, or that of its branches, says the next state: with the way out behind it."""
        *others, last = body
        match last:
            case Assign(name=self.state):
                return [*body, Leave(self.step, at=self.at)]
            case If(then=then, otherwise=otherwise):
                branches = (tuple(self._leaving(then)), tuple(self._leaving(otherwise)))
                return [*others, with_bodies(last, branches)]
        return list(body)

    def _push(self, mark: Block, kept: Mapping[int, list[str]]) -> list[Stmt]:
        after, depth = self.resumed[mark.name], Var(self.depth, INT64)
        deep = "RecursionError: maximum recursion depth exceeded"
        pushed: list[Stmt] = []
        if len(self.resumed) > 1:
            pushed.append(Store(self.pushed, (self._place(),), Const(after, INT64), at=mark.at))
        for name in kept[after]:
            pushed.append(Store(*self._row(name), Var(name, self.own[name]), at=mark.at))
        more, is_room = Binary("add", depth, _ONE), Compare("lt", depth, Const(DEEPEST, INT64))
        deeper = Assign(self.depth, Checked(more, is_room, "raised", deep, at=mark.at), at=mark.at)
        if self.leaves is not None:
            site = CallSite(mark, self.results, self.cx.new_name)
            found = site.body(
                self.leaves,
                (self._goto(self.behind[after]),),
                tuple(pushed),
                (deeper, self._goto(self.leaves.otherwise)),
            )
            if found is not None:
                return found
        return [*pushed, *mark.body, deeper, self._goto(0)]

    def _return(self) -> Body:
        depth = Var(self.depth, INT64)
        over = self._leaving([self._goto(-1)])
        up: list[Stmt] = [Assign(self.depth, Binary("sub", depth, _ONE), at=self.at)]
        if len(self.resumed) > 1:
            up.append(Assign(self.state, Load(self.pushed, (self._place(),), INT64), at=self.at))
            up.append(Leave(self.step, at=self.at))
        else:
            up += self._leaving([self._goto(next(iter(self.resumed.values())))])
        return (If(Compare("le", depth, _ZERO), tuple(over), tuple(up), at=self.at),)

    def _parameters(self) -> set[str]:
        """The variables that calls set."""
        body = tuple(stmt for state in self.states for stmt in state)
        return {a.name for m in statements(body, Block) if m.name in self.marks for a in statements(m.body, Assign)}

    def _flags(self) -> list[str]:
        """What tells of an activation's variables, its parameters apart, whether they have a value yet."""
        flagged = self.cx.flagged
        return [flagged[name] for name in sorted(self.own) if name in flagged and name not in self._parameters()]


def _set_inside(body: Body) -> frozenset[str]:
    """The names that get another value: a parameter that is passed on as it is does not."""
    found = {made.name for made in statements(body, Assign) if made.value != Var(made.name, made.value.type)}
    found |= {loop.name for loop in statements(body, For)}
    return frozenset(found | arrays_made(body))


def _read(stmt: Stmt) -> frozenset[str]:
    found = {stmt.array} if isinstance(stmt, Store) else set[str]()
    for expr in own_expressions(stmt):
        found |= names_in(expr)
        found |= {part.array for part in subexpressions(expr, Load, Dim)}
    return frozenset(found)


def _nothing(kind: Scalar) -> Const:
    return Const(False if kind == BOOL else 0 if kind.is_integer else 0.0, kind)
