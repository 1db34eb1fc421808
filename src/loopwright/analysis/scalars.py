"""Scalar locals in loops: which belong to one iteration, which carry a value from one iteration to the next.

Answers come from the structured tree alone: what an iteration reads before it surely wrote it (`exposed`), what it
surely writes, and what is read afterwards (`live`). Everything errs towards a read and away from a write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import assert_never

from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Break,
    Const,
    Continue,
    For,
    If,
    Kernel,
    Leave,
    Return,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import names_in, types_assigned
from loopwright.ir.walk import own_expressions, statements

Names = frozenset[str]
EVERYTHING = None
"""What is surely written where control never comes: everything. (A set would have to name it all.)"""


@dataclass(frozen=True, slots=True)
class Flow:
    """One stretch of code. exposed: names it may read before it wrote them. written: names it surely wrote when its
    end is reached, None where the end is never reached. jumps: the same at each jump out of it, by target."""

    exposed: Names
    written: Names | None
    jumps: Mapping[str, Names] = field(default_factory=dict)


RETURN = "return"


def flow(body: Body) -> Flow:
    """What a body reads first and what it surely writes."""
    exposed: set[str] = set()
    written: Names | None = frozenset()
    jumps: dict[str, Names] = {}
    for stmt in body:
        if written is EVERYTHING:
            break
        part = _flow(stmt)
        exposed |= part.exposed - written
        for target, names in part.jumps.items():
            _meet(jumps, target, written | names)
        written = None if part.written is None else written | part.written
    return Flow(frozenset(exposed), written, jumps)


def _meet(jumps: dict[str, Names], target: str, names: Names) -> None:
    jumps[target] = jumps[target] & names if target in jumps else names


def _join(left: Names | None, right: Names | None) -> Names | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


@by_identity
def _reads(stmt: Stmt) -> Names:
    return frozenset(name for expr in own_expressions(stmt) for name in names_in(expr))


@by_identity
def _flow(stmt: Stmt) -> Flow:
    reads = _reads(stmt)
    match stmt:
        case Assign():
            return Flow(reads, frozenset((stmt.name,)))
        case Store() | Allocate():
            return Flow(reads, frozenset())
        case Break() | Continue():
            return Flow(reads, None, {stmt.loop + type(stmt).__name__: frozenset()})
        case Leave():
            return Flow(reads, None, {stmt.block: frozenset()})
        case Return():
            return Flow(reads, None, {RETURN: frozenset()})
        case If():
            then, otherwise = flow(stmt.then), flow(stmt.otherwise)
            jumps = dict(then.jumps)
            for target, names in otherwise.jumps.items():
                _meet(jumps, target, names)
            exposed = reads | then.exposed | otherwise.exposed
            return Flow(exposed, _join(then.written, otherwise.written), jumps)
        case Block():
            inner = flow(stmt.body)
            jumps = dict(inner.jumps)
            return Flow(inner.exposed, _join(inner.written, jumps.pop(stmt.name, None)), jumps)
        case For():
            inner = flow(stmt.body)
            written = _written_after(stmt, inner)
            return Flow(reads | (inner.exposed - {stmt.name}), written, _jumps_out(stmt.name, inner))
        case While():
            inner = flow(stmt.body)
            return Flow(reads | inner.exposed, frozenset(), _jumps_out(stmt.name, inner))
    assert_never(stmt)


def _jumps_out(loop: str, inner: Flow) -> dict[str, Names]:
    """Those that leave more than the loop: the iteration that jumps has written what it writes before."""
    own = (loop + "Break", loop + "Continue")
    return {target: names for target, names in inner.jumps.items() if target not in own}


def _written_after(loop: For, inner: Flow) -> Names | None:
    """What is surely written when a loop is over: nothing where it may have no iteration."""
    if not _runs(loop):
        return frozenset()
    ends = _join(inner.written, inner.jumps.get(loop.name + "Continue"))
    return _join(ends, inner.jumps.get(loop.name + "Break"))


def _runs(loop: For) -> bool:
    """Whether a loop surely has an iteration."""
    match loop:
        case For(lower=Const(value=lower), upper=Const(value=upper), step=Const(value=step)):
            return bool(step and range(int(lower), int(upper), int(step)))
    return False


def written_each_time(loop: For | While) -> Names:
    """The scalars that every iteration that comes to its end has surely written."""
    inner = flow(loop.body)
    total = _join(inner.written, inner.jumps.get(loop.name + "Continue"))
    return frozenset() if total is None else total


# ---- what is read afterwards ----------------------------------------------------------------------------------


@by_identity
def live_after(kernel: Kernel) -> Mapping[str, Names]:
    """For each loop, the scalars that may be read after it before they are written again, be it in the next
    iteration of a loop around it."""
    result: dict[str, Names] = {}
    _live(kernel.body, frozenset(), {}, result)
    return MappingProxyType(result)


def _live(body: Body, after: Names, targets: Mapping[str, Names], result: dict[str, Names]) -> Names:
    for stmt in reversed(body):
        after = _live_stmt(stmt, after, targets, result)
    return after


def _live_stmt(stmt: Stmt, after: Names, targets: Mapping[str, Names], result: dict[str, Names]) -> Names:
    reads = _reads(stmt)
    match stmt:
        case Assign():
            return reads | (after - {stmt.name})
        case Store() | Allocate():
            return reads | after
        case Break() | Continue():
            return targets[stmt.loop + type(stmt).__name__]
        case Leave():
            return targets[stmt.block]
        case Return():
            return reads
        case If():
            then = _live(stmt.then, after, targets, result)
            return reads | then | _live(stmt.otherwise, after, targets, result)
        case Block():
            return _live(stmt.body, after, {**targets, stmt.name: after}, result)
        case For() | While():
            result[stmt.name] = after
            again = reads if isinstance(stmt, While) else frozenset()
            part = flow(stmt.body)
            elsewhere = _read_elsewhere(stmt.name, part, targets)
            head = after | again | part.exposed | elsewhere
            inner = {**targets, stmt.name + "Break": after, stmt.name + "Continue": head}
            _live(stmt.body, head, inner, result)
            surely = _written_after(stmt, part) if isinstance(stmt, For) else frozenset()
            behind = after - surely if surely is not None else frozenset()
            return part.exposed | again | reads | elsewhere | behind
    assert_never(stmt)


def _read_elsewhere(loop: str, inner: Flow, targets: Mapping[str, Names]) -> Names:
    """What is read where iterations go on that leave more than the loop, and they have not written."""
    out = _jumps_out(loop, inner)  # behind a return nothing is read
    return frozenset[str]().union(*(targets.get(target, frozenset()) - names for target, names in out.items()))


# ---- one loop -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalars:
    """The scalars that a loop writes. private: each iteration has its own. last: those of them whose value is read
    afterwards, and that every iteration writes. flags: given one and the same constant wherever they are written,
    maybe not in each iteration, and read afterwards. carried: read from an earlier iteration. kept: read afterwards,
    though only some iterations write them."""

    private: tuple[str, ...]
    last: tuple[str, ...]
    flags: tuple[str, ...]
    carried: tuple[str, ...]
    kept: tuple[str, ...]


def scalars_of(loop: For | While, live: Names) -> Scalars:
    """Sort the scalars that a loop writes; `live`: those that are read after it."""
    inner = flow(loop.body)
    sure = written_each_time(loop)
    order = types_assigned(loop.body)
    carried = tuple(name for name in order if name in inner.exposed)
    rest = [name for name in order if name not in inner.exposed]
    last = tuple(name for name in rest if name in live and name in sure)
    unsure = [name for name in rest if name in live and name not in sure]
    flags = tuple(name for name in unsure if one_flag(loop.body, name))
    kept = tuple(name for name in unsure if name not in flags)
    private = tuple(name for name in rest if name not in flags and name not in kept)
    return Scalars(private, last, flags, carried, kept)


def one_flag(body: Body, name: str) -> bool:
    """Whether a bool or a whole number is given one and the same constant at each of its assignments."""
    values = {stmt.value for stmt in statements(body, Assign) if stmt.name == name}
    return len(values) == 1 and all(isinstance(v, Const) and not v.type.is_float for v in values)
