"""From what the runtime keeps of calls that devices may share to a `DevicesReport`, and the plan of the next one. It
decides nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from loopwright.choice.division import Assignment, Division
from loopwright.config import PLANS, Config
from loopwright.errors import DeviceError
from loopwright.ir.plan import Plan, Share
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant, is_gpu
from loopwright.report.shared_report import (
    AlternativeReport,
    DeviceReport,
    DevicesReport,
    MemberReport,
    MovedReport,
    SharedCallReport,
    SpanReport,
)
from loopwright.runtime.participants import Event
from loopwright.runtime.quiet import Quiet
from loopwright.runtime.sharing import NOMINAL, SharedKind, Timeline

MOST_SPANS = 4096
"""So many things that devices did are told of one call, the first ones."""


def devices_report(
    kind: SharedKind, shape: Shape, asked: Config, failed: str = "", on_host: bool = True
) -> tuple[DevicesReport, Plan | None]:
    """Of calls of one shape under the option `devices`, and the plan of the next one, None where it has none before it
    runs. failed: why the CPU has to make such a call, '' for any other one; on_host: all its arrays are the host's."""
    division, timeline = kind.divisions.get(shape), kind.timelines.get(shape)
    unshared = failed or ("" if kind.programs or kind.racing is not None else _unshared(kind))
    decision = None if failed else _next(kind, shape, asked, division, on_host)
    how, why = _first(kind, asked, unshared)
    if decision is not None:
        how, why = _how(decision.kind, kind), _words(decision.why, kind)
    plan = Plan.parse(asked.plan) if how == "planned" else None
    if decision is not None and division is not None:
        plan = _plan(decision, division, asked)
    report = DevicesReport(
        plan=asked.plan,
        goal=asked.goal,
        watts=tuple(kind.energy[shape].lines()) if shape in kind.energy and asked.goal != "time" else (),
        devices=tuple(_devices(kind, asked, division)),
        kind=how,
        why="" if why == unshared else why,
        predicted_ns=None if decision is None else decision.predicted_ns,
        unshared=unshared,
        alternatives=() if failed or division is None else tuple(_alternatives(division)),
        last=None if timeline is None else last_report(timeline, kind),
    )
    return report, plan


# ---- what comes next ------------------------------------------------------------------------------------------------


def _next(kind: SharedKind, shape: Shape, asked: Config, division: Division | None, on_host: bool) -> Assignment | None:
    """What is decided for the next call, as in `Sharing.call`; None where that is not by what was learned."""
    if asked.plan not in PLANS or division is None:
        return None
    quiet = kind.quiet.get(shape)
    decision = quiet.decision if quiet is not None and quiet.left > 1 else None
    twin = replace(kind, tried={shape: set(kind.tried.get(shape, ()))})  # to ask it changes nothing
    if on_host and shape in kind.energy:
        decision = twin.for_goal(shape, division, asked) or decision
    if on_host and decision is None:
        decision = twin.untried(shape, division, asked)
    with suppress(DeviceError):
        return decision or (quiet or Quiet()).kept(division.foreseen())
    return None


def _unshared(kind: SharedKind) -> str:
    """Why no two devices share such calls."""
    reasons = list(dict.fromkeys(kind.why.values()))
    return reasons[0] if len(reasons) == 1 else kind.told


def _words(why: str, kind: SharedKind) -> str:
    """A reason of the placement, in which devices have numbers."""
    words, names = why.split(), list(kind.programs)
    if words[:1] == ["step"] or why == "the longest time bisected":
        return "balanced by what calls took"
    if len(words) == 3 and words[0] == "device" and words[1].isdecimal() and int(words[1]) < len(names):
        return f"{names[int(words[1])]} is the fastest by itself"
    return why


def _first(kind: SharedKind, asked: Config, unshared: str) -> tuple[str, str]:
    """What the first call does, and why."""
    if unshared:
        return "single", unshared
    if asked.plan not in PLANS:
        return "planned", "the option `plan` says so"
    match asked.plan:
        case "single":
            return "single", "the option `plan` says so"
        case "race":
            return "race", "which one is the fastest is not known"
        case _:
            return _how("guided", kind), "nothing was measured yet"


def _how(decided: str, kind: SharedKind) -> str:
    """Chunks are given out where there is one loop only (`Sharing.call`)."""
    several = bool(kind.programs) and len(next(iter(kind.programs.values())).codes) != 1
    return "even" if decided == "guided" and several else decided


def _plan(decision: Assignment, division: Division, asked: Config) -> Plan | None:
    """The plan of a call whose parts are known; its text can be given back as the option."""
    devices = [(division.devices[place], decision.parts[place]) for place in decision.devices]
    if decision.kind == "single":
        return Plan((Share(_variant(devices[0][0], asked.threads)),))
    if decision.kind == "split":
        return Plan(tuple(Share(_variant(name, 0), (part,)) for name, part in devices))
    return None


def _variant(device: str, threads: int) -> Variant:
    return Variant(device, RECIPE, 0 if is_gpu(device) else threads)


def _devices(kind: SharedKind, asked: Config, division: Division | None) -> Iterable[DeviceReport]:
    failures = {} if division is None else {division.devices[place]: why for place, why in division.failures.items()}
    is_counted = (
        division is not None and len(division.iterations) != NOMINAL
    )  # else only times of whole calls are known
    learned = dict(line.split(": ", 1) for line in division.lines()) if division is not None and is_counted else {}
    for name in asked.devices:
        why_not = kind.why.get(name, "")
        if name in failures:
            why_not = f"it has failed: {failures[name]}"
        is_told = name not in failures and "iteration" in learned.get(name, "")
        yield DeviceReport(name, why_not, learned[name] if is_told else "")


def _alternatives(division: Division) -> Iterable[AlternativeReport]:
    for one in division.alternatives():
        yield AlternativeReport(one.why, one.predicted_ns)


# ---- the last call --------------------------------------------------------------------------------------------------


def last_report(timeline: Timeline, shared: SharedKind, most: int | None = MOST_SPANS) -> SharedCallReport:
    """Of the last call that was shared. most: so many spans are told, the first ones; None for all."""
    decision, spans = timeline.decision, _spans(timeline)
    kind = decision.kind if decision is not None else "planned" if timeline.plan not in PLANS else "guided"
    given = list(map(len, decision.parts)) if decision is not None and decision.kind == "split" else []
    total = sum(timeline.done)
    members = tuple(
        _member(name, spans, timeline, place, given[place] if given and sum(given) == total else None)
        for place, name in enumerate(timeline.devices)
    )
    busy = [one.busy_ns for one in members if one.iterations and one.busy_ns]
    return SharedCallReport(
        kind=_how(kind, shared),
        why=_words(decision.why, shared) if decision is not None else _first_why(kind),
        total_ns=timeline.total_ns,
        predicted_ns=None if decision is None else decision.predicted_ns,
        imbalance=1 - min(busy) / max(busy) if len(busy) > 1 else 0.0,
        members=members,
        moved=tuple(_moved(spans)),
        spans=tuple(spans[:most]),
        calls=timeline.calls,
        ended_early=not total or total < sum(given),
    )


def _first_why(kind: str) -> str:
    return "the option `plan` said so" if kind == "planned" else "nothing was measured before it"


def _spans(timeline: Timeline) -> list[SpanReport]:
    """What was done, by its beginning."""
    found = [_span(event, timeline.started_ns) for event in timeline.events]
    return sorted(found, key=lambda one: (one.start_ns, one.end_ns))


def _span(event: Event, started_ns: int) -> SpanReport:
    return SpanReport(
        device=event.device,
        what=event.what,
        start_ns=max(0, event.started_ns - started_ns),
        end_ns=max(0, event.ended_ns - started_ns),
        first=event.part.start,
        last=event.part.stop,
        size_bytes=event.size_bytes,
        source=event.source,
        target=event.target,
    )


def _member(name: str, spans: Sequence[SpanReport], timeline: Timeline, place: int, given: int | None) -> MemberReport:
    mine = [one for one in spans if one.device == name]
    computes, copies = ([one for one in mine if one.what == what] for what in ("computes", "copies"))
    return MemberReport(
        name=name,
        iterations=timeline.done[place],
        busy_ns=timeline.busy_ns[place],
        computes_ns=covered_ns(computes),
        copies_ns=covered_ns(copies),
        waits_ns=max(0, timeline.total_ns - covered_ns([*computes, *copies])),
        given=given,
        failed=any(one.what == "fails" for one in mine),
    )


def covered_ns(spans: Iterable[SpanReport]) -> int:
    """How long one of them at least lasted."""
    found, reached = 0, 0
    for one in sorted(spans, key=lambda one: one.start_ns):
        found += max(0, one.end_ns - max(reached, one.start_ns))
        reached = max(reached, one.end_ns)
    return found


def _moved(spans: Sequence[SpanReport]) -> Iterable[MovedReport]:
    pairs = dict.fromkeys((one.source, one.target) for one in spans if one.what == "copies" and one.size_bytes)
    for source, target in sorted(pairs):
        sizes = [one.size_bytes for one in spans if (one.source, one.target) == (source, target)]
        yield MovedReport(source, target, sum(sizes), len(sizes))
