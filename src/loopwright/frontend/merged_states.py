"""States of explicit_stack.py put together, so that few of them are looked up by their number.

A state is a body in which each way out says the next state and leaves the step:

    0: if n < 2: r = n; goto 1         ->     0: while n >= 2:
       else: goto 2                                  push n; n -= 1
    1: goto 3                                    r = n; goto 3
    2: push n; n -= 1; goto 0

A state that only says the next one is that one; a state that one way leads to, or that is a few assignments, stands
where the ways to it are; a state that leads to itself is a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loopwright.ir.nodes import Assign, Block, Body, Checked, Const, If, Leave, Load, Location, Stmt, While
from loopwright.ir.types import BOOL
from loopwright.ir.walk import bodies, expressions, statements, with_bodies

_FEW = 4  # assignments that may stand in several places
_MOST = 400  # statements of a state, beyond which no other one is put into it


@dataclass(frozen=True)
class Merger:
    """state: the variable that says the next state. step: the block that each way out leaves.
    named: those that are looked up by their number. new_name: makes a name of a loop or a block."""

    state: str
    step: str
    named: frozenset[int]
    new_name: Callable[[str], str]
    at: Location

    def merged(self, states: Mapping[int, Body]) -> dict[int, Body]:
        """The states that are left, in the order that was given."""
        found = {number: self._redirected(body, states) for number, body in states.items()}
        found = self._reached(found)
        changed = True
        while changed:
            changed = False
            for number in list(found):
                if number not in found:
                    continue
                body = self._looped(number, found[number])
                changed |= body is not found[number]
                found[number] = body
                changed |= self._put_in_place(number, found)
        return found

    def _next(self, stmt: Stmt) -> int | None:
        """The state that a statement says."""
        match stmt:
            case Assign(name=self.state, value=Const(value=number)):
                return int(number)
        return None

    def _ways(self, body: Body) -> Counter[int]:
        return Counter(number for one in statements(body, Assign) if (number := self._next(one)) is not None)

    def _redirected(self, body: Body, states: Mapping[int, Body]) -> Body:
        """The same body, past states that only say the next one."""

        def last(number: int) -> int:
            seen = {number}
            while number in states and number not in self.named and len(states[number]) == 2:
                after = self._next(states[number][0])
                if after is None or after in seen:
                    break
                seen.add(after)
                number = after
            return number

        def changed(stmt: Stmt) -> Stmt:
            number = self._next(stmt)
            if number is not None:
                return Assign(self.state, Const(last(number), stmt.value.type), at=stmt.at)  # type: ignore[union-attr]
            return _deeper(stmt, lambda inner: tuple(map(changed, inner)))

        return tuple(map(changed, body))

    def _reached(self, states: Mapping[int, Body]) -> dict[int, Body]:
        reached, ahead = set[int](), set(self.named & set(states))
        while ahead:
            number = ahead.pop()
            reached.add(number)
            ahead |= (set(self._ways(states[number])) & set(states)) - reached
        return {number: body for number, body in states.items() if number in reached}

    # ---- one state in place of the ways to it ---------------------------------------------------------------------

    def _put_in_place(self, number: int, states: dict[int, Body]) -> bool:
        body = states[number]
        ways = {other: count for other, one in states.items() if (count := self._ways(one)[number])}
        if number in self.named or number in ways:
            return False
        if sum(ways.values()) != 1 and not _is_small(body):
            return False
        if any(_length(states[other]) > _MOST for other in ways):
            return False
        for other in ways:
            states[other] = self._with(states[other], number, body)
        del states[number]
        return True

    def _with(self, body: Body, number: int, inside: Body) -> Body:
        """A body in which another one, with its own ways out, stands for the ways to a state."""
        made: list[Stmt] = []
        for place, stmt in enumerate(body):
            if self._next(stmt) == number:
                assert isinstance(body[place + 1], Leave)
                return (*made, *inside)
            made.append(_deeper(stmt, lambda inner: self._with(inner, number, inside)))
        return tuple(made)

    # ---- loops ----------------------------------------------------------------------------------------------------

    def _looped(self, number: int, body: Body) -> Body:
        """A state with ways to itself as a loop; the body itself where it has none."""
        if not self._ways(body)[number]:
            return body
        loop, again = self.new_name(f"{self.step}.loop"), self.new_name(f"{self.step}.again")
        back = (Leave(again, at=self.at),)
        match body:
            case (If(condition=condition, then=then, otherwise=otherwise),) if not self._ways(otherwise)[number]:
                inside = Block(again, self._with(then, number, back), at=self.at)
                return (While(loop, condition, (inside,), at=self.at), *otherwise)
        inside = Block(again, self._with(body, number, back), at=self.at)
        return (While(loop, Const(True, BOOL), (inside,), at=self.at),)


def _deeper(stmt: Stmt, change: Callable[[Body], Body]) -> Stmt:
    inner = bodies(stmt)
    return with_bodies(stmt, tuple(map(change, inner))) if inner else stmt


def _length(body: Body) -> int:
    return sum(1 for _ in statements(body))


def _is_small(body: Body) -> bool:
    """A few assignments that need no key of their own, and the way out."""
    return (
        len(body) <= _FEW + 2
        and all(isinstance(stmt, Assign | Leave) for stmt in body)
        and not any(expressions(body, Load, Checked))
    )
