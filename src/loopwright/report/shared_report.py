"""What an `Explanation` has of calls that several devices may share: frozen values, which compute nothing but what
follows from them. `report/devices.py` makes them, `report/devices_layout.py` and `report/gantt.py` show them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A device that was named. why_not: why it does not share such calls, '' where it can; or why it serves no more.
    learned: what it takes, in words, '' where nothing was measured."""

    name: str
    why_not: str = ""
    learned: str = ""


@dataclass(frozen=True, slots=True)
class AlternativeReport:
    """What a call is expected to take in one way, None where that is not known."""

    how: str
    predicted_ns: float | None


@dataclass(frozen=True, slots=True)
class SpanReport:
    """What a device did from one time to another, in nanoseconds from the start of the call. what: `computes`, `copies`
    or `fails`. first, last: the iterations from one to before the other, both 0 for none. size_bytes: of what was
    copied, from one device to another one. times: so many of them, one soon after the other, are told as one."""

    device: str
    what: str
    start_ns: int
    end_ns: int
    first: int = 0
    last: int = 0
    size_bytes: int = 0
    source: str = ""
    target: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class MemberReport:
    """What a device did in a call. busy_ns: it had something to do, what it waited for in between included; its part is
    judged by that. computes_ns, copies_ns: the time in which it did so, waits_ns: in which it did neither. given: so
    many iterations it was to do, None where that cannot be compared."""

    name: str
    iterations: int
    busy_ns: int
    computes_ns: int
    copies_ns: int
    waits_ns: int
    given: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class MovedReport:
    """All that was copied from one device to another one in a call."""

    source: str
    target: str
    size_bytes: int
    copies: int


@dataclass(frozen=True, slots=True)
class SharedCallReport:
    """The last call that was shared. kind: `guided`, `even`, `split`, `race`, or `planned` where its parts were the
    user's. predicted_ns: None where nothing was predicted. imbalance: the part of the longest time in which the device
    that was done first had nothing to do. calls: so many were shared. ended_early: not all iterations were done."""

    kind: str
    why: str
    total_ns: int
    predicted_ns: float | None
    imbalance: float
    members: tuple[MemberReport, ...]
    moved: tuple[MovedReport, ...]
    spans: tuple[SpanReport, ...]
    calls: int = 1
    ended_early: bool = False


@dataclass(frozen=True, slots=True)
class DevicesReport:
    """Calls of one shape that devices may share. plan: the option. kind: what the next call does: `guided`, `even`,
    `split`, `single`, `race` or `planned`; why: of that. unshared: why one device alone makes such a call, '' where
    several can. watts: what is known of those of devices, in words, for goals with energy. alternatives: the ways that
    there are, in which one device or all do the call. last: None where none was shared yet."""

    plan: str
    goal: str
    devices: tuple[DeviceReport, ...]
    kind: str
    why: str
    predicted_ns: float | None = None
    unshared: str = ""
    watts: tuple[str, ...] = ()
    alternatives: tuple[AlternativeReport, ...] = ()
    last: SharedCallReport | None = None

    @property
    def sharing(self) -> tuple[str, ...]:
        """The devices that can do a part of such a call."""
        return tuple(one.name for one in self.devices if not one.why_not)
