"""Loops whose every iteration runs a loop that ends when data say so: what an iteration consists of, and whether
several of them can go on together in the lanes of vector registers, each round under a mask of those that have not
ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    If,
    Leave,
    Load,
    Return,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, has, names_assigned, names_in, names_read
from loopwright.ir.types import Scalar
from loopwright.ir.walk import children, own_expressions, statements, subexpressions

LANE_TYPES = frozenset({"bool", "int32", "int64", "uint32", "uint64", "float32", "float64"})


@dataclass(frozen=True, slots=True)
class LockstepRounds:
    """An iteration: what comes before its rounds; the loop of rounds; what is skipped where a round leaves the block
    around them, whose name is `block` ('' for none); and what comes after. own: the scalars that rounds set, the number
    of the round too. handed_on: those of them whose value a round needs from before. kept: those that are read after
    the rounds. lanes: what each iteration has for itself and rounds only read. loads: elements that stay the same."""

    before: Body
    rounds: For | While
    skipped: Body
    after: Body
    block: str
    own: frozenset[str]
    handed_on: frozenset[str]
    kept: frozenset[str]
    lanes: frozenset[str]
    loads: tuple[Load, ...]

    def all(self) -> Body:
        """Everything in an iteration."""
        return (*self.before, self.rounds, *self.skipped, *self.after)

    @property
    def repeatable(self) -> bool:
        """Whether iterations may run once more: nothing that they read is written."""
        return not arrays_stored(self.all()) & arrays_loaded(self.all())

    def varies(self, expr: Expr) -> bool:
        """Whether lanes have different values of it."""
        return bool(names_in(expr) & (self.own | self.lanes)) or has(expr, Load)

    @property
    def wide(self) -> int:
        """Bytes of the widest numbers in lanes: a register has as many lanes as it holds of these."""
        parts = list(self.parts())
        kinds = {part.type for part in parts if self.varies(part)}
        kinds |= {stmt.value.type for stmt in statements(self.rounds.body, Assign)}
        chosen = any(isinstance(part, Load) and part not in self.loads for part in parts)
        counts = isinstance(self.rounds, For) or chosen or contains(self.rounds.body, Store)
        return 8 if counts or any(kind.size_bytes == 8 for kind in kinds) else 4

    def parts(self) -> Iterator[Expr]:
        """All that a round computes, each part of it; of elements that stay the same not where they are."""
        waiting = list(self.expressions())
        while waiting:
            part = waiting.pop()
            yield part
            if part not in self.loads:
                waiting += children(part)

    def expressions(self) -> Iterator[Expr]:
        """All that a round computes."""
        for stmt in (self.rounds, *statements(self.rounds.body)):
            if isinstance(stmt, For):
                yield stmt.upper
            else:
                yield from own_expressions(stmt)


def lockstep_rounds(loop: For, checked: Callable[[Load], bool] = lambda _: False) -> LockstepRounds | str:
    """What an iteration of a loop consists of; or why iterations cannot go on in lanes. checked: whether an access is
    tested in the code."""
    found = _parted(loop)
    if isinstance(found, str):
        return found
    before, rounds, skipped, after, block = found
    if isinstance(rounds, For) and not (isinstance(rounds.step, Const) and rounds.step.value == 1):
        return f"'{rounds.name}' counts in other steps than one"
    own = names_assigned(rounds.body) | ({rounds.name} if isinstance(rounds, For) else set())
    if isinstance(rounds, For) and names_in(rounds.upper) & own:
        return f"the bounds of '{rounds.name}' change in it"
    if isinstance(rounds, For) and has(rounds.lower, Load, Checked):
        return f"data say where '{rounds.name}' begins"
    handed_on = frozenset(_needed(rounds) | ({rounds.name} if isinstance(rounds, For) else set()))
    read = names_read((rounds,))
    made = LockstepRounds(
        before,
        rounds,
        skipped,
        after,
        block,
        frozenset(own),
        handed_on,
        frozenset(own & names_read((*skipped, *after))),
        frozenset((({loop.name} | names_assigned(before)) & read) - own),
        (),
    )
    if why := _unfit(made):
        return why
    stored = arrays_stored(rounds.body)
    loads = (load for expr in made.expressions() for load in subexpressions(expr, Load))
    same = (load for load in loads if not names_in(load) & own and load.array not in stored and not checked(load))
    made = replace(made, loads=tuple(dict.fromkeys(same)))
    read = {part.name for part in made.parts() if isinstance(part, Var)} | _stored_at(rounds)
    return replace(made, lanes=made.lanes & read)


def _stored_at(rounds: For | While) -> set[str]:
    """The scalars that say where rounds store, and what."""
    return {
        name for stmt in statements(rounds.body, Store) for expr in own_expressions(stmt) for name in names_in(expr)
    }


def _parted(loop: For) -> tuple[Body, For | While, Body, Body, str] | str:
    nothing = f"'{loop.name}' does not hold one loop that ends when data say so"
    inner = [stmt for stmt in loop.body if isinstance(stmt, For | While | Block)]
    if len(inner) != 1:
        return nothing
    at = loop.body.index(inner[0])
    before, after = loop.body[:at], loop.body[at + 1 :]
    skipped: Body = ()
    one, block = inner[0], ""
    if isinstance(one, Block):
        found = [stmt for stmt in one.body if isinstance(stmt, For | While | Block)]
        if len(found) != 1 or isinstance(found[0], Block):
            return nothing
        place = one.body.index(found[0])
        before, skipped, block = (*before, *one.body[:place]), one.body[place + 1 :], one.name
        one = found[0]
    assert isinstance(one, For | While)
    if isinstance(one, For) and not contains(one.body, Break, Leave):
        return nothing
    others = (*before, *skipped, *after)
    if contains(others, For, While, Block, Break, Continue, Leave, Return, Allocate):
        return f"an iteration of '{loop.name}' does more than one loop and what it needs"
    if contains((one,), Return, Allocate, Block) or contains(one.body, For, While):
        return f"a round of '{one.name}' holds other loops, or ends more than that one"
    if any(stmt.block != block for stmt in statements(one.body, Leave)):
        return f"a round of '{one.name}' leaves more than it"
    return before, one, skipped, after, block


def _needed(rounds: For | While) -> set[str]:
    """The scalars that a round reads before it has certainly set them."""
    found: set[str] = set()

    def read(exprs: Sequence[Expr], done: set[str]) -> None:
        for expr in exprs:
            found.update(names_in(expr) - done)

    def run(body: Body, done: set[str]) -> set[str] | None:
        """What is certainly set behind it; None where its end is never reached."""
        for stmt in body:
            read(tuple(own_expressions(stmt)), done)
            match stmt:
                case Assign():
                    done = done | {stmt.name}
                case If():
                    ends = [end for side in (stmt.then, stmt.otherwise) if (end := run(side, done)) is not None]
                    if not ends:
                        return None
                    done = set.intersection(*ends)
                case Break() | Continue() | Leave():
                    return None
        return done

    run(rounds.body, set())
    if isinstance(rounds, While):
        read((rounds.condition,), set())
    return found & names_assigned(rounds.body)


def _unfit(parts: LockstepRounds) -> str:
    where = f"a round of '{parts.rounds.name}'"
    if isinstance(parts.rounds, For) and parts.rounds.name in names_read((*parts.skipped, *parts.after)):
        return f"'{parts.rounds.name}' is read after its rounds"
    for expr in parts.expressions():
        for part in subexpressions(expr):
            if isinstance(part, Load) and any(has(index, Load, Checked) for index in part.index):
                return f"{where} looks up where to look up"
            if not _in_lanes(part.type) and parts.varies(part):
                return f"{where} computes with numbers of type {part.type.name}"
    return ""


def _in_lanes(kind: Scalar) -> bool:
    return kind.name in LANE_TYPES
