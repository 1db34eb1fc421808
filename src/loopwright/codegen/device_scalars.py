"""Scalars that stay on the device: what one kernel sets and others read is handed over in device memory, and the host
waits for it only where it reads it itself.

Each has two places in that memory, in turn: a kernel may read one while it writes to the other. A pointer of the host
says where the newest value is; null: in the host's own variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from loopwright.analysis.scalars import flow
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    For,
    Kernel,
    Select,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import names_assigned, names_in, names_read
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.steps.grids import is_bound, is_host, launches

PLAIN = (Binary, Cast, Compare, Const, Select, Unary, Var)
"""Arithmetic that host and device do alike."""


@dataclass(frozen=True, slots=True)
class DeviceScalars:
    """names: of those that stay. moved: identities of assignments that the device makes, although the host could:
    nobody else needs what they set."""

    names: frozenset[str] = frozenset()
    moved: frozenset[int] = frozenset()


@dataclass(slots=True)
class KeptScalars:
    """Where they are while the host's text is written. stale: those whose newest value may be on the device only;
    latest: those that the kernel has set that was started last, whatever happens; depth: of the statement of the host
    that is being written: what is brought further inside may not have been brought behind it."""

    found: DeviceScalars = DeviceScalars()
    stale: set[str] = field(default_factory=set)
    latest: set[str] = field(default_factory=set)
    depth: int = 0
    _places: dict[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many have a place."""
        return len(self._places)

    def place_of(self, name: str) -> int:
        """The number of a scalar."""
        return self._places.setdefault(name, len(self._places))


@dataclass(frozen=True, slots=True)
class _DeviceStretch:
    """What runs on the device from one start to its end. repeated: inside a loop of the host."""

    sets: frozenset[str]
    reads: frozenset[str]
    repeated: bool


@dataclass(slots=True)
class _ScalarUses:
    """Who sets and reads what. conditions: names in those of while loops, which the host needs in each round; given:
    assignments of scalars."""

    parts: list[_DeviceStretch] = field(default_factory=list)
    host: set[str] = field(default_factory=set)
    conditions: set[str] = field(default_factory=set)
    given: list[tuple[Assign, bool]] = field(default_factory=list)


def device_scalars(kernel: Kernel) -> DeviceScalars:
    """Those of a kernel whose loops are bound."""
    uses = _ScalarUses()
    _look(kernel.body, uses, repeated=False)
    moved = _moved(uses)
    parts = uses.parts + [_part((one,), repeated) for one, repeated in uses.given if id(one) in moved]
    return DeviceScalars(frozenset(_kept(parts)) - uses.conditions, moved)


def _look(body: Body, uses: _ScalarUses, repeated: bool) -> None:
    for stmt in body:
        if is_bound(stmt) or (not launches(stmt) and not is_host(stmt)):
            uses.parts.append(_part((stmt,), repeated))
            around = statements((stmt,), For, While)  # the host has to know how much there is to do
            uses.host.update(*(names_in(bound) for loop in around for bound in own_expressions(loop)))
        elif isinstance(stmt, Assign):
            uses.given.append((stmt, repeated))
        elif not launches(stmt):
            uses.host |= names_read((stmt,))
        else:
            uses.host.update(*map(names_in, own_expressions(stmt)))
            if isinstance(stmt, While):
                uses.conditions |= names_in(stmt.condition)
            for inner in bodies(stmt):
                _look(inner, uses, repeated or isinstance(stmt, For | While))


def _part(body: Body, repeated: bool) -> _DeviceStretch:
    return _DeviceStretch(frozenset(names_assigned(body)), flow(body).exposed, repeated)


def _moved(uses: _ScalarUses) -> frozenset[int]:
    """The assignments that only serve the device: of values that it has set, and that the host does not read."""
    able = [one for one, _ in uses.given if all(isinstance(part, PLAIN) for part in subexpressions(one.value))]
    while True:
        stays = {id(one) for one in able}
        needed = uses.host.union(*(names_in(one.value) for one, _ in uses.given if id(one) not in stays))
        there = set[str]().union(*(part.sets for part in uses.parts))
        found = list(_reached([one for one in able if one.name not in needed], there))
        if len(found) == len(able):
            return frozenset(stays)
        able = found


def _reached(able: Sequence[Assign], there: set[str]) -> Iterator[Assign]:
    """Those that read what the device sets, or what one of them sets."""
    left = list(able)
    while True:
        found = [one for one in left if names_in(one.value) & there]
        if not found:
            return
        yield from found
        there |= {one.name for one in found}
        left = [one for one in left if all(one is not other for other in found)]


def _kept(parts: Sequence[_DeviceStretch]) -> Iterator[str]:
    """The names that a part sets and another one reads, or the same one when it runs again."""
    for setting in parts:
        for reading in parts:
            if setting is not reading or setting.repeated:
                yield from setting.sets & reading.reads
