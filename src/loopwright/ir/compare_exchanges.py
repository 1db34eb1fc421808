"""Two numbers put in order, as sorting networks and medians of few do it: the lesser and the greater one in place of a
jump, which the data decide and which is guessed wrong as often as not. Loops of such have vector lanes then.

    if a > b:                              a.1 = min(a, b)
        t = a                              b = max(b, a)
        a = b                    ->        a = a.1
        b = t

It agrees in all cases: where a number is no number, neither comparison holds and both stay; of -0.0 and 0.0, which are
equal, `min` and `max` keep what is on their left. Under `>=` equal ones change places, so that floats are chosen by the
comparison itself.

So it is with two elements, `if x[i] > x[j]: x[i], x[j] = x[j], x[i]`: they are stored in any case, each at a place that
the comparison has read. Not under `prange`, where another iteration may have to do with one of them as long as neither
stores it. And so it is with what is left where only one of two numbers is needed after that, if both are made by the
same iteration: of a number that outlasts it, an extreme changes seldom.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

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
from loopwright.ir.queries import fresh, has, names_in, names_of
from loopwright.ir.walk import all_bodies, bodies, expressions, own_expressions, unless_same, with_bodies

Side = Var | Load


def extremes_of_exchanges(kernel: Kernel) -> Kernel:
    """The same kernel with extremes in place of exchanges under a comparison."""
    if kernel.overlap or not any(_sides(one) for one in expressions(kernel.body, Compare)):
        return kernel
    walk = _Exchanges(names_of(kernel), _outlasting(kernel))
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


def _sides(condition: Expr) -> tuple[Side, Side] | None:
    """The two scalars or the two elements of which a comparison asks for the greater one."""
    match condition:
        case Compare(op="lt" | "le" | "gt" | "ge", left=Var() as left, right=Var() as right):
            pair: tuple[Side, Side] = left, right
        case Compare(op="lt" | "le" | "gt" | "ge", left=Load() as left, right=Load() as right):
            pair = left, right
            if any(has(index, Load) for index in (*left.index, *right.index)):
                return None
        case _:
            return None
    return pair if left != right and (left.type.is_integer or left.type.is_float) else None


@dataclass(frozen=True)
class _Around:
    """What is around a statement: the scalars that each iteration of the innermost loop has made by then; whether one
    around it is a `prange`, and the arrays that are made in that."""

    made: frozenset[str] = frozenset()
    in_loop: bool = False
    asserted: bool = False
    own: frozenset[str] = frozenset()


@dataclass
class _Exchanges:
    taken: set[str]
    outlasting: Set[str]

    def inside(self, body: Body, around: _Around) -> Body:
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case If() if (found := self._in_order(stmt, around)) is not None:
                    new += found
                    continue
                case Assign(name=name):
                    around = replace(around, made=around.made | {name})
                case Allocate(array=array):
                    around = replace(around, own=around.own | {array})
            within = around
            if isinstance(stmt, For | While):
                asserted = isinstance(stmt, For) and bool(stmt.asserted)
                own = frozenset[str]() if asserted else around.own
                within = _Around(frozenset(), True, around.asserted or asserted, own)
            new.append(with_bodies(stmt, tuple(self.inside(inner, within) for inner in bodies(stmt))))
        return unless_same(body, new)

    def _in_order(self, stmt: If, around: _Around) -> list[Stmt] | None:
        """The statements that do the same without a jump; None where it does something else as well."""
        pair = _sides(stmt.condition)
        effect = None if pair is None or stmt.otherwise else _effect(stmt.then, pair)
        if pair is None or effect is None:
            return None
        names = {side.name for side in pair if isinstance(side, Var)}
        left = {Var(name, value.type): value for name, value in effect.items() if isinstance(name, str)}
        left = {one: value for one, value in left.items() if one.name in names | self.outlasting and one != value}
        stores = {one: value for one, value in effect.items() if isinstance(one, Load) and one != value}
        exchanged = {pair[0]: pair[1], pair[1]: pair[0]}
        if left | stores == exchanged:
            shared = {side.array for side in pair if isinstance(side, Load)} - around.own
            return None if around.asserted and shared else self._exchanged(stmt, pair)
        is_new = around.in_loop and names <= around.made
        if is_new and not stores and len(left) == 1 and left.items() <= exchanged.items():
            (side,) = left
            return [Assign(side.name, _chosen(stmt.condition, side), at=stmt.at)]
        return None

    def _exchanged(self, stmt: If, pair: tuple[Side, Side]) -> list[Stmt]:
        assert isinstance(stmt.condition, Compare)
        match pair:
            case Load() as first, Load() as second:
                found: list[Stmt] = []
                stores = {(one.array, one.index): one for one in stmt.then if isinstance(one, Store)}
                names = {side: Var(self._fresh(f"{side.array}.e"), side.type) for side in (first, second)}
                condition = replace(stmt.condition, left=names[first], right=names[second])
                for side, name in names.items():
                    found.append(Assign(name.name, side, at=stmt.at))
                for side, name in names.items():
                    found.append(replace(stores[side.array, side.index], value=_chosen(condition, name)))
                return found
            case Var() as left, Var() as right:
                kept = self._fresh(left.name)
                return [
                    Assign(kept, _chosen(stmt.condition, left), at=stmt.at),
                    Assign(right.name, _chosen(stmt.condition, right), at=stmt.at),
                    Assign(left.name, Var(kept, left.type), at=stmt.at),
                ]
        raise AssertionError(pair)

    def _fresh(self, wanted: str) -> str:
        name = fresh(wanted, self.taken)
        self.taken.add(name)
        return name


def _effect(body: Body, pair: tuple[Side, Side]) -> dict[str | Side, Side] | None:
    """What scalars and elements hold after a branch, each as one of two sides before it; None of a branch that does
    anything else than to copy these."""
    found: dict[str | Side, Side] = {}

    def held(value: Expr) -> Side | None:
        match value:
            case Var(name=name):
                return found.get(name, value if value in pair else None)
            case Load():
                return found.get(value, value) if value in pair else None
        return None

    for stmt in body:
        match stmt:
            case Assign(name=name, value=value) if (one := held(value)) is not None:
                found[name] = one
            case Store(array=array, index=index, value=value) if (one := held(value)) is not None:
                place = Load(array, index, value.type)
                if place not in pair:
                    return None
                found[place] = one
            case _:
                return None
    assigned = {name for name in found if isinstance(name, str)}
    moved = (names_in(index) for side in pair if isinstance(side, Load) for index in side.index)
    return None if any(names & assigned for names in moved) else found


def _chosen(condition: Expr, mine: Var) -> Expr:
    """What one of two scalars is after an exchange under their comparison."""
    assert isinstance(condition, Compare)
    other = condition.right if mine == condition.left else condition.left
    if condition.op in ("ge", "le") and not mine.type.is_integer:
        return Select(condition, other, mine)
    is_lesser = (condition.op in ("gt", "ge")) == (mine == condition.left)
    return Binary("min" if is_lesser else "max", mine, other)
