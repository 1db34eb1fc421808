"""Two scalars put in order, as sorting networks and medians of few do it: the lesser and the greater one in place of a
jump, which the data decide and which is guessed wrong as often as not. Loops of such have vector lanes then.

    if a > b:                              a.1 = min(a, b)
        t = a                              b = max(b, a)
        a = b                    ->        a = a.1
        b = t

It agrees in all cases: where a number is no number, neither comparison holds and both stay; of -0.0 and 0.0, which are
equal, `min` and `max` keep what is on their left. Under `>=` equal ones change places, so that floats are chosen by the
comparison itself.

So it is with what is left where only one of the two is needed after that, if both are made by the same iteration: of a
number that outlasts it, an extreme changes seldom. Elements of arrays are carried from one iteration to the next, or
held in lanes, with the conditions as they are.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from loopwright.ir.nodes import Assign, Binary, Body, Compare, Expr, For, If, Kernel, Select, Stmt, Var, While
from loopwright.ir.queries import fresh, names_in, names_of
from loopwright.ir.walk import all_bodies, bodies, expressions, own_expressions, unless_same, with_bodies


def extremes_of_exchanges(kernel: Kernel) -> Kernel:
    """The same kernel with extremes in place of exchanges under a comparison."""
    if not any(_sides(one) for one in expressions(kernel.body, Compare)):
        return kernel
    walk = _Exchanges(names_of(kernel), _outlasting(kernel))
    body = walk.inside(kernel.body, frozenset(), False)
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


def _sides(condition: Expr) -> tuple[Var, Var] | None:
    """The two scalars of which a comparison asks for the greater one."""
    match condition:
        case Compare(op="lt" | "le" | "gt" | "ge", left=Var() as left, right=Var() as right) if left != right:
            return (left, right) if left.type.is_integer or left.type.is_float else None
        case _:
            return None


@dataclass
class _Exchanges:
    """taken: names that a new scalar must not have. outlasting: scalars that are read elsewhere."""

    taken: set[str]
    outlasting: Set[str]

    def inside(self, body: Body, made: frozenset[str], in_loop: bool) -> Body:
        """made: the scalars that each iteration of the innermost loop has made before. in_loop: whether there is."""
        new: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, If) and (found := self._in_order(stmt, made if in_loop else frozenset())) is not None:
                new += found
                continue
            if isinstance(stmt, Assign):
                made |= {stmt.name}
            is_loop = isinstance(stmt, For | While)
            before = frozenset[str]() if is_loop else made
            inner = tuple(self.inside(part, before, in_loop or is_loop) for part in bodies(stmt))
            new.append(with_bodies(stmt, inner))
        return unless_same(body, new)

    def _in_order(self, stmt: If, made: frozenset[str]) -> list[Stmt] | None:
        """The statements that do the same without a jump; None where it does something else as well."""
        pair = _sides(stmt.condition)
        effect = None if pair is None or stmt.otherwise else _effect(stmt.then, pair)
        if pair is None or effect is None:
            return None
        left, right = pair
        known = {left.name, right.name} | self.outlasting
        changed = {name: value for name, value in effect.items() if name in known and name != value.name}
        if changed == {left.name: right, right.name: left}:
            kept = fresh(left.name, self.taken)
            self.taken.add(kept)
            return [
                Assign(kept, _chosen(stmt.condition, left), at=stmt.at),
                Assign(right.name, _chosen(stmt.condition, right), at=stmt.at),
                Assign(left.name, Var(kept, left.type), at=stmt.at),
            ]
        if len(changed) == 1 and made >= {left.name, right.name}:
            for side, other in ((left, right), (right, left)):
                if changed == {side.name: other}:
                    return [Assign(side.name, _chosen(stmt.condition, side), at=stmt.at)]
        return None


def _effect(body: Body, pair: tuple[Var, Var]) -> dict[str, Var] | None:
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


def _chosen(condition: Expr, mine: Var) -> Expr:
    """What one of two scalars is after an exchange under their comparison."""
    assert isinstance(condition, Compare)
    other = condition.right if mine == condition.left else condition.left
    if condition.op in ("ge", "le") and not mine.type.is_integer:
        return Select(condition, other, mine)
    is_lesser = (condition.op in ("gt", "ge")) == (mine == condition.left)
    return Binary("min" if is_lesser else "max", mine, other)
