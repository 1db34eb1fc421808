"""Copies where NumPy has a view, or has one at times: `a.reshape(n, m)`, `a.ravel()`, `np.ascontiguousarray(a)`.

What is read agrees as long as neither the array nor its copy is written while the other one is still looked at. Where
that may happen the function is refused: which of the two NumPy means depends on how the array lies in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.errors import KernelError
from loopwright.frontend.context import Context
from loopwright.ir.nodes import For, Load, Stmt, Store, While
from loopwright.ir.walk import bodies, own_expressions, subexpressions


@dataclass(frozen=True, slots=True)
class _Event:
    """A store or the loads of a statement: where it is in the text, and in which loops."""

    position: int
    loops: frozenset[int]
    stmt: Stmt
    reads: frozenset[str]

    def writes(self, name: str) -> bool:
        return isinstance(self.stmt, Store) and self.stmt.array == name


def check_snapshots(cx: Context, body: Sequence[Stmt], returned: frozenset[str]) -> None:
    """Raise KernelError where a copy could be told from a view. returned: the arrays that others see afterwards."""
    if not cx.snapshots:
        return
    events: list[_Event] = []
    _collect(body, frozenset(), events)
    for base, copy, stores in cx.snapshots:
        making = [event for event in events if event.writes(copy)][:stores]
        if not making:
            continue
        made = making[-1]
        for event in events:
            if event in making or not (event.writes(copy) or event.writes(base)) or not _after(made, event, made):
                continue
            other = base if event.writes(copy) else copy
            if other in returned or any(other in later.reads and _after(event, later, made) for later in events):
                raise KernelError(
                    "an array is written of which another name may be a view",
                    event.stmt.at,
                    "reshape(), ravel(), view() and np.ascontiguousarray() give a copy here, and NumPy a view at times",
                    "append .copy(), or use the array itself",
                )


def _after(first: _Event, second: _Event, made: _Event) -> bool:
    """Whether the second may happen after the first, before the copy is made again."""
    return second.position > first.position or bool((first.loops & second.loops) - made.loops)


def _collect(body: Sequence[Stmt], loops: frozenset[int], events: list[_Event]) -> None:
    for stmt in body:
        reads = {load.array for expr in own_expressions(stmt) for load in subexpressions(expr, Load)}
        inside = loops | {len(events)} if isinstance(stmt, For | While) else loops
        around = inside if isinstance(stmt, While) else loops  # its condition is tested again
        events.append(_Event(len(events), around, stmt, frozenset(reads)))
        for inner in bodies(stmt):
            _collect(inner, inside, events)
