"""Two scalars put in order, as sorting networks and medians of few do it: the lesser and the greater one in place of a
jump, which the data decide and which is guessed wrong as often as not. Loops of such have vector lanes then.

    if a > b:                              a.1 = min(a, b)
        t = a                              b = max(b, a)
        a = b                    ->        a = a.1
        b = t

It agrees in all cases: where a number is no number, neither comparison holds and both stay; of -0.0 and 0.0, which are
equal, `min` and `max` keep what is on their left. Under `>=` equal ones change places, so that floats are chosen by the
comparison itself.

So it is with what is left where only one of the two is needed after that, if both are made by the same iteration of a
`for` loop: of a number that outlasts it, an extreme changes seldom, and of a `while` one iteration waits for another.

And so it is with two elements at places that data tell, as a table of a network does: they are stored in any case,
where the comparison has read them. Other elements are carried from one iteration to the next, or held in lanes, with
the conditions as they are. Not under `prange`, where another iteration may have to do with an element as long as
neither stores it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import TypeVar

from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Compare,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Select,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_stored, fresh, has, names_assigned, names_in, names_of
from loopwright.ir.walk import (
    all_bodies,
    bodies,
    expressions,
    own_expressions,
    statements,
    subexpressions,
    unless_same,
    with_bodies,
)

Side = TypeVar("Side", Var, Load)


def extremes_of_exchanges(kernel: Kernel) -> Kernel:
    """The same kernel with extremes in place of exchanges under a comparison."""
    if not any(_sides(one, Var) or _sides(one, Load) for one in expressions(kernel.body, Compare)):
        return kernel
    walk = _Exchanges(names_of(kernel), _outlasting(kernel), kernel.overlap)
    body = walk.inside(kernel.body, _Around())
    return kernel if body is kernel.body else replace(kernel, body=body)


def _outlasting(kernel: Kernel) -> set[str]:
    """The scalars that are read elsewhere than behind an assignment in the same body."""
    found: set[str] = set()
    for body in all_bodies(kernel):
        made: set[str] = set()
        for stmt in body:
            found.update(*(names_in(own) - made for own in own_expressions(stmt)))
            if isinstance(stmt, Assign):
                made.add(stmt.name)
    return found


def _sides(condition: Expr, kind: type[Side]) -> tuple[Side, Side] | None:
    """The two scalars, or the two elements, of which a comparison asks for the greater one."""
    match condition:
        case Compare(op="lt" | "le" | "gt" | "ge", left=left, right=right) if left != right:
            if isinstance(left, kind) and isinstance(right, kind) and (left.type.is_integer or left.type.is_float):
                return left, right
    return None


@dataclass(frozen=True)
class _Around:
    """What is around a statement. in_for: whether the innermost loop is a `for`. made: the scalars that each iteration
    of the innermost one has made before. told: those that its iterations make of elements. asserted: whether one of the
    loops is a `prange`. own: the arrays that are made in that."""

    in_for: bool = False
    made: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    asserted: bool = False
    own: frozenset[str] = frozenset()

    def inside(self, stmt: Stmt) -> _Around:
        """What is around the bodies of a statement."""
        if not isinstance(stmt, For | While):
            return self
        told = {one.name for one in statements(stmt.body, Assign) if has(one.value, Load)}
        if isinstance(stmt, For) and stmt.asserted:
            return _Around(True, told=frozenset(told), asserted=True)
        return _Around(isinstance(stmt, For), told=frozenset(told), asserted=self.asserted, own=self.own)


@dataclass
class _Exchanges:
    """taken: names that a new scalar must not have. outlasting: scalars that are read elsewhere. overlap: arrays may
    share elements."""

    taken: set[str]
    outlasting: Set[str]
    overlap: bool

    def inside(self, body: Body, around: _Around) -> Body:
        new: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, If) and not stmt.otherwise:
                found = self._scalars(stmt, around) or self._elements(stmt, around)
                if found:
                    new += found
                    continue
            if isinstance(stmt, Assign):
                around = replace(around, made=around.made | {stmt.name})
            if isinstance(stmt, Allocate):
                around = replace(around, own=around.own | {stmt.array})
            within = around.inside(stmt)
            new.append(with_bodies(stmt, tuple(self.inside(part, within) for part in bodies(stmt))))
        return unless_same(body, new)

    def _scalars(self, stmt: If, around: _Around) -> list[Stmt]:
        """The statements that do the same without a jump; none where a branch does something else as well."""
        pair = _sides(stmt.condition, Var)
        effect = None if pair is None else _copied(stmt.then, pair)
        if pair is None or effect is None:
            return []
        left, right = pair
        known = {left.name, right.name} | self.outlasting
        changed = {name: value for name, value in effect.items() if name in known and name != value.name}
        if changed == {left.name: right, right.name: left}:
            kept = self._fresh(left.name)
            return [
                Assign(kept, _chosen(stmt.condition, left, left, right), at=stmt.at),
                Assign(right.name, _chosen(stmt.condition, right, left, right), at=stmt.at),
                Assign(left.name, Var(kept, left.type), at=stmt.at),
            ]
        if len(changed) == 1 and around.in_for and around.made >= {left.name, right.name}:
            for side, other in ((left, right), (right, left)):
                if changed == {side.name: other}:
                    return [Assign(side.name, _chosen(stmt.condition, side, left, right), at=stmt.at)]
        return []

    def _elements(self, stmt: If, around: _Around) -> list[Stmt]:
        """The same of two elements."""
        pair = _sides(stmt.condition, Load)
        if pair is None or self.overlap or names_assigned(stmt.then) & self.outlasting:
            return []
        stored = arrays_stored(stmt.then)
        if not all(_is_told(load, around.told, stored) for load in pair) or (
            around.asserted and not stored <= around.own
        ):
            return []
        stores = _exchanged(stmt.then, pair)
        if stores is None:
            return []
        first, second = (Var(self._fresh(f"{load.array}.e"), load.type) for load in pair)
        values = [_chosen(stmt.condition, one, first, second) for one in (first, second)]
        return [
            *(Assign(one.name, load, at=stmt.at) for one, load in zip((first, second), pair, strict=True)),
            *(replace(store, value=value) for store, value in zip(stores, values, strict=True)),
        ]

    def _fresh(self, wanted: str) -> str:
        name = fresh(wanted, self.taken)
        self.taken.add(name)
        return name


def _copied(body: Body, pair: tuple[Var, Var]) -> dict[str, Var] | None:
    """What scalars hold after a branch, each as one of two before it; None of a branch that does anything else than to
    copy these."""
    found: dict[str, Var] = {}
    for stmt in body:
        match stmt:
            case Assign(name=name, value=Var() as value) if value.name in found or value in pair:
                found[name] = found.get(value.name, value)
            case _:
                return None
    return found


def _is_told(load: Load, names: Set[str], stored: Set[str]) -> bool:
    """Whether data tell which element it is, and storing to some arrays does not change that."""
    inner = [one for axis in load.index for one in subexpressions(axis, Load)]
    by_name = any(names_in(axis) & names for axis in load.index)
    return (bool(inner) or by_name) and stored.isdisjoint(one.array for one in inner)


def _exchanged(body: Body, pair: tuple[Load, Load]) -> tuple[Store, Store] | None:
    """The stores of a branch that exchanges two elements; None of any other."""
    held: dict[str, Load] = {}
    after: dict[Load, Load] = {}
    stores: dict[Load, Store] = {}
    places = {name for load in pair for axis in load.index for name in names_in(axis)}
    for stmt in body:
        if not isinstance(stmt, Assign | Store):
            return None
        value = held.get(stmt.value.name) if isinstance(stmt.value, Var) else stmt.value
        if not isinstance(value, Load) or value not in pair:
            return None
        value = value if isinstance(stmt.value, Var) else after.get(value, value)
        if isinstance(stmt, Assign):
            if stmt.name in places:
                return None
            held[stmt.name] = value
            continue
        place = Load(stmt.array, stmt.index, stmt.value.type)
        after[place], stores[place] = value, stmt
    left, right = pair
    return (stores[left], stores[right]) if after == {left: right, right: left} else None


def _chosen(condition: Expr, mine: Var, left: Var, right: Var) -> Expr:
    """What one of two scalars is after an exchange under a comparison of them."""
    assert isinstance(condition, Compare)
    other = right if mine == left else left
    if condition.op in ("ge", "le") and not mine.type.is_integer:
        return Select(replace(condition, left=left, right=right), other, mine)
    is_lesser = (condition.op in ("gt", "ge")) == (mine == left)
    return Binary("min" if is_lesser else "max", mine, other)
