"""Conditions that change several scalars, one of them perhaps behind a second condition, as a choice for each scalar:

    if x[i] > limit:                     now = now + 1 if x[i] > limit else 0
        now += 1                    ->   best = max(best, now if x[i] > limit else -2 ** 63)
        if now > best: best = now
    else: now = 0

The C compiler does that of one scalar behind one condition; of several, or behind two, it jumps, and where data decide,
a jump is guessed wrong as often as they change. In loops that need their order; whole numbers, and sums of floats, to
which nothing is added where the condition is false.

Not where all that a condition does is to keep better extremes: that happens seldom, and a jump is guessed right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from loopwright.ir.chosen_values import always_read
from loopwright.ir.nodes import Assign, Binary, Body, Compare, Const, Expr, If, Load, Select, Unary, Var
from loopwright.ir.queries import contains, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, rewrite_expr, subexpressions

MOST = 4  # scalars: each takes an operation or two, whatever the condition says
DEEPEST = 2  # conditions inside each other
MOST_PARTS = 16  # of all that is chosen for one scalar
SIMPLE_SUM = 5  # parts of what is added to a sum of floats
CHEAP = ("add", "sub", "and", "or", "xor", "min", "max")
LEAST = Const(-(2**63), INT64)
GREATEST = Const(2**63 - 1, INT64)


@dataclass
class ChosenScalars:
    """What a branch leaves, all by the values before it. whole: numbers by name, with Selects where conditions decide.
    sums: for each sum of floats its operation, what is added, and whether that is where the condition holds. seldom:
    where one of several scalars is a better extreme, the condition in front of that, and what becomes of them."""

    whole: dict[str, Expr] = field(default_factory=dict)
    sums: dict[str, tuple[str, Expr, bool]] = field(default_factory=dict)
    seldom: list[tuple[Compare, Expr, dict[str, Expr]]] = field(default_factory=list)


def chosen_scalars(stmt: If) -> ChosenScalars | None:
    """The choices that do the same as a branch; None where it does something else, or a jump is better."""
    found = ChosenScalars()
    kept = [_without_sums(body, stmt, found, holds) for body, holds in ((stmt.then, True), (stmt.otherwise, False))]
    if kept[0] is None or kept[1] is None:
        return None
    walk = _Branches(stmt.condition, found)
    changed = walk.behind((replace(stmt, then=kept[0], otherwise=kept[1]),), {}, None, DEEPEST)
    if changed is None:
        return None
    changed = {name: value for name, value in changed.items() if value != Var(name, value.type)}
    extremes = [name for *_, values in found.seldom for name in values]
    least = 1 if contains((*stmt.then, *stmt.otherwise), If) else 2
    if not least <= len(changed) + len(found.sums) + len(extremes) <= MOST:
        return None
    if any(_parts(value, stmt.condition) > MOST_PARTS or _keeps_narrow(value) for value in changed.values()):
        return None
    terms = [term for _, term, _ in found.sums.values()]
    read = set[str]().union(names_in(stmt.condition), *map(names_in, (*changed.values(), *terms)))
    apart = {*found.sums, *extremes}
    if read & apart or len(set(extremes)) < len(extremes) or not changed.keys().isdisjoint(apart):
        return None
    if not found.sums and _only_keeps_extremes(changed):
        return None
    found.whole = changed
    return found


def _parts(value: Expr, asked: Expr) -> int:
    """Of a number that is chosen: the outermost condition, which is asked once, is one."""
    return 1 + (0 if value == asked else sum(_parts(child, asked) for child in children(value)))


def _keeps_narrow(value: Expr) -> bool:
    """Whether it is the lesser or the greater one of two narrow numbers: such an extreme changes seldom."""
    return value.type != INT64 and any(
        isinstance(part.condition, Compare)
        and part.condition.op in ("lt", "le", "gt", "ge")
        and {part.then, part.otherwise} == {part.condition.left, part.condition.right}
        for part in subexpressions(value, Select)
    )


def extreme_of(value: Expr) -> tuple[Literal["min", "max"], Expr, Expr] | None:
    """`min` or `max` and the two numbers of which a choice takes the lesser or the greater one; None of any other."""
    match value:
        case Select(condition=Compare(op=op, left=left, right=right), then=then, otherwise=otherwise):
            if op not in ("lt", "le", "gt", "ge") or left.type != INT64:
                return None
            if (then, otherwise) == (left, right):
                return ("max" if op[0] == "g" else "min"), then, otherwise
            if (then, otherwise) == (right, left):
                return ("min" if op[0] == "g" else "max"), then, otherwise
    return None


def simplified(value: Expr) -> Expr:
    """The same with minima and maxima: of a better extreme behind a condition, that of a number which is no better
    where the condition is false, so that the next iteration waits for one comparison."""
    match value:
        case Select(condition=condition, then=then, otherwise=Var() as old):
            inner = extreme_of(then)
            if inner is not None and old in inner[1:] and extreme_of(value) is None:
                op, one, other = inner
                new = other if one == old else one
                return Binary(op, old, Select(condition, new, LEAST if op == "max" else GREATEST))
            if isinstance(then, Select) and then.otherwise == old:
                return Select(Binary("and", condition, then.condition), then.then, old)
    found = extreme_of(value)
    return value if found is None else Binary(found[0], found[2], found[1])


def _only_keeps_extremes(changed: Mapping[str, Expr]) -> bool:
    """Whether nothing changes but where a number is a better extreme: that one, and with it its place."""
    asked = [part.condition for value in changed.values() for part in subexpressions(value, Select) if extreme_of(part)]
    return any(
        extreme_of(value) is None
        and any(part.condition in asked for part in subexpressions(value, Select) if extreme_of(part) is None)
        for value in changed.values()
    ) or all(isinstance(simplified(value), Binary) for value in changed.values())


def _without_sums(body: Body, stmt: If, found: ChosenScalars, holds: bool) -> Body | None:
    """A branch without its sums of floats, which are noted; None where one of them is no simple sum."""
    kept = []
    for one in body:
        match one:
            case Assign(name=name, value=value) if value.type.is_float:
                match value:
                    case Binary(op="add" | "sub" as op, left=Var(name=old), right=term) if old == name:
                        if name in found.sums or not _is_term(term, stmt, body):
                            return None
                        found.sums[name] = (op, term, holds)
                    case _:
                        return None
            case _:
                kept.append(one)
    return tuple(kept)


def _is_term(term: Expr, stmt: If, body: Body) -> bool:
    """Whether it costs next to nothing, is known before the branch, and can be computed wherever the condition can."""
    parts, read = list(subexpressions(term)), always_read(stmt.condition)
    assigned = {one.name for one in body if isinstance(one, Assign)}
    fine = all(
        (isinstance(part, Load) and part in read)
        or isinstance(part, Const | Var)
        or (isinstance(part, Unary) and part.op in ("neg", "abs") and part.type.is_float)
        or (isinstance(part, Binary) and part.op in ("add", "sub", "mul") and part.type.is_float)
        or any(part in subexpressions(load) for load in read)
        for part in parts
    )
    return fine and len(parts) <= SIMPLE_SUM and not names_in(term) & assigned


@dataclass(frozen=True)
class _Branches:
    """asked: the outermost condition."""

    asked: Expr
    found: ChosenScalars

    def behind(self, body: Body, before: Mapping[str, Expr], path: Expr | None, depth: int) -> dict[str, Expr] | None:
        """What scalars are behind a body, given what they are before it. path: where it runs; None: always."""
        now = dict(before)
        for one in body:
            match one:
                case Assign(name=name, value=value) if value.type.is_integer and _is_cheap(value):
                    now[name] = _by(now, value)
                case If(condition=condition, then=then, otherwise=otherwise) if depth > 0:
                    if path is not None and not _is_known(condition, self.asked):
                        return None
                    holds = _by(now, condition)
                    values = None if path is None else _with_better(one, now)
                    if values is not None and path is not None and isinstance(holds, Compare):
                        self.found.seldom.append((holds, path, values))
                        continue
                    not_so = Unary("not", holds)
                    first = self.behind(then, now, holds if path is None else Binary("and", path, holds), depth - 1)
                    other = self.behind(
                        otherwise, now, not_so if path is None else Binary("and", path, not_so), depth - 1
                    )
                    if first is None or other is None:
                        return None
                    for name in {**first, **other}:
                        old = now.get(name, Var(name, (first.get(name) or other[name]).type))
                        one_way, other_way = first.get(name, old), other.get(name, old)
                        now[name] = one_way if one_way == other_way else Select(holds, one_way, other_way)
                case _:
                    return None
        return now


def _with_better(stmt: If, now: Mapping[str, Expr]) -> dict[str, Expr] | None:
    """What a condition assigns that keeps a better extreme and something else, such as its place, or an extreme of
    floats; None for any other."""
    if stmt.otherwise or not isinstance(stmt.condition, Compare) or stmt.condition.op not in ("lt", "le", "gt", "ge"):
        return None
    values = {one.name: one.value for one in stmt.then if isinstance(one, Assign)}
    sides = stmt.condition.left, stmt.condition.right
    better = [name for name, value in values.items() if value in sides and Var(name, value.type) in sides]
    if len(values) != len(stmt.then) or not better or (len(values) == 1 and values[better[0]].type == INT64):
        return None
    if not all(_is_cheap(value) or isinstance(value, Var | Const) for value in values.values()):
        return None
    if any(names_in(value) & values.keys() for value in values.values()) or now.keys() & values.keys():
        return None
    return {name: _by(now, value) for name, value in values.items()}


def _by(now: Mapping[str, Expr], value: Expr) -> Expr:
    return rewrite_expr(value, lambda one: now.get(one.name, one) if isinstance(one, Var) else one)


def _is_cheap(value: Expr) -> bool:
    return all(
        part.type.is_integer and (isinstance(part, Const | Var) or (isinstance(part, Binary) and part.op in CHEAP))
        for part in subexpressions(value)
    )


def _is_known(condition: Expr, asked: Expr) -> bool:
    """Whether a second condition can be asked where the first is false: it compares scalars, or what that reads."""
    match condition:
        case Compare(left=left, right=right):
            read = always_read(asked)
            return all(side in read or isinstance(side, Const | Var) or _is_cheap(side) for side in (left, right))
        case _:
            return False
