"""The last shared call of each kernel and shape in the store: what is kept of it, and what reports read of that. A
`SharedCallReport` becomes the content of a table and comes back; a table of this kind that holds anything else is left
out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import PurePath
from typing import Any

from loopwright.config import Config
from loopwright.devices.gpus import gpu_of
from loopwright.ir.signature import ArrayArgument, ScalarArgument, Shape, Signature
from loopwright.ir.variant import is_gpu
from loopwright.profile.journal import Journal, journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.records import TIMELINE, FittedTable, MachineName, Record, timeline_name
from loopwright.profile.store import ProfileStore
from loopwright.report.devices import last_report
from loopwright.report.kernel_summary import kind_text
from loopwright.report.shapes import Axes
from loopwright.report.shared_report import MemberReport, MovedReport, SharedCallReport, SpanReport
from loopwright.runtime.sharing import SharedKind, on_one

MOST_KEPT_SPANS = 512
"""So many things that devices did are kept of a call, about: of more, neighbours become one."""

MOST_MEMBERS = 64
"""So many devices a call may have that is read from a store."""

MOST_KNOWN = 256
_known: dict[int, tuple[Config, Journal | None]] = {}

_SPAN = ("device", "what", "start_ns", "end_ns", "first", "last", "size_bytes", "source", "target", "times")


@dataclass(frozen=True, slots=True)
class StoredCall:
    """The last shared call of a kernel and a shape on a machine. kernel: its fingerprint; name, file, types: for
    people. machine: the host. axes, sizes: of the arguments. models: what GPUs are, by the names of devices. made_at:
    seconds since 1970."""

    kernel: str
    machine: MachineName
    name: str
    file: str
    types: str
    axes: Axes
    sizes: tuple[int, ...]
    models: Mapping[str, str]
    made_at: float
    call: SharedCallReport


# ---- keeping ----------------------------------------------------------------------------------------------------


def keep(name: str, file: str, parameters: Sequence[str], kind: SharedKind, shape: Shape, asked: Config) -> None:
    """Have the last shared call of this kind and shape kept. It costs the call some microseconds: the thread that
    writes the store makes the table, of the last of many calls."""
    journal = _journal(asked)
    if journal is None:
        return
    timeline, made_at = kind.timelines[shape], time.time()

    def make() -> Iterable[Record]:
        machine = machine_of("cpu", on_one(asked, "cpu"))
        if machine is None or not machine.fingerprint:
            return []
        signature, kernel = kind.code.compilation.signature, kind.code.fingerprint
        found = {device: gpu for device in timeline.devices if is_gpu(device) and (gpu := gpu_of(device)) is not None}
        content = {
            "kernel": kernel,
            "name": name,
            "file": PurePath(file).name,
            "types": kind_text(signature),
            "axes": axes_of_arguments(signature, parameters),
            "sizes": list(shape.sizes),
            "models": {device: gpu.name for device, gpu in found.items()},
            "call": content_of(last_report(timeline, kind, None)),
        }
        table = FittedTable(TIMELINE, machine.fingerprint, timeline_name(kernel, shape), content, made_at)
        return [MachineName(machine.fingerprint, machine), table]

    journal.put_last((kind.code.fingerprint, shape), make)


def _journal(asked: Config) -> Journal | None:
    """That of these options, None where there is no store; a look-up where calls have the same ones, as they mostly
    have."""
    known = _known.get(id(asked))
    if known is None or known[0] is not asked:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        known = _known[id(asked)] = asked, None if asked.store_path is None else journal_of(asked)
    return known[1]


def axes_of_arguments(signature: Signature, parameters: Sequence[str]) -> Axes:
    """The arguments that a Shape has sizes of, as reports name them."""
    found: list[tuple[str, int]] = []
    for name, argument in zip(parameters, signature.arguments, strict=False):
        if isinstance(argument, ArrayArgument):
            found.append((name, argument.rank))
        elif isinstance(argument, ScalarArgument) and argument.type.kind in ("int", "uint"):
            found.append((name, 0))
    return tuple(found)


def content_of(call: SharedCallReport) -> dict[str, Any]:
    """As JSON can say it; spans as lists in the order of _SPAN."""
    fewer = fewer_spans(call.spans, MOST_KEPT_SPANS)
    spans = [[getattr(one, name) for name in _SPAN] for one in fewer]
    return asdict(replace(call, spans=())) | {"spans": spans}


def fewer_spans(spans: Sequence[SpanReport], most: int) -> tuple[SpanReport, ...]:
    """No more than about so many: neighbours that do the same become one from the beginning of the first to the end of
    the last, the nearest ones. What they moved is added up."""
    if len(spans) <= most:
        return tuple(spans)
    groups: dict[tuple[str, str, str, str], list[SpanReport]] = {}
    for one in spans:
        groups.setdefault((one.device, one.what, one.source, one.target), []).append(one)
    near = max(one.end_ns for one in spans) * len(groups) / most
    found: list[SpanReport] = []
    for group in groups.values():
        begun: list[SpanReport] = []
        for one in group:
            if begun and one.start_ns - begun[-1].start_ns < near:
                begun[-1] = _joined(begun[-1], one)
            else:
                begun.append(one)
        found += begun
    return tuple(sorted(found, key=lambda one: (one.start_ns, one.end_ns)))


def _joined(one: SpanReport, other: SpanReport) -> SpanReport:
    return replace(
        one,
        end_ns=max(one.end_ns, other.end_ns),
        first=min(one.first, other.first),
        last=max(one.last, other.last),
        size_bytes=one.size_bytes + other.size_bytes,
        times=one.times + other.times,
    )


# ---- reading ----------------------------------------------------------------------------------------------------


def stored_calls(store: ProfileStore) -> tuple[StoredCall, ...]:
    """All there are, the last ones first. Raises StoreError."""
    found = (
        call_in(table, machine) for machine in store.machines() for table in store.tables(TIMELINE, machine.fingerprint)
    )
    return tuple(sorted(filter(None, found), key=lambda one: (-one.made_at, one.name, one.kernel, one.sizes)))


def call_in(table: FittedTable, machine: MachineName) -> StoredCall | None:
    """None for what is no such table, as a file may hold anything."""
    try:
        told, told_call = table.content, table.content["call"]
        texts = {name: _text(told[name]) for name in ("kernel", "name", "file", "types")}
        axes = tuple((_text(name), _count(rank)) for name, rank in told["axes"])
        sizes = tuple(_whole(size) for size in told["sizes"])
        models = {_text(device): _text(model) for device, model in told["models"].items()}
        return StoredCall(
            **texts,
            machine=machine,
            axes=axes,
            sizes=sizes,
            models=models,
            made_at=table.made_at,
            call=_call(told_call),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _call(told: dict[str, Any]) -> SharedCallReport:
    members = tuple(_made(MemberReport, one) for one in told["members"][:MOST_MEMBERS])
    moved = tuple(_made(MovedReport, one) for one in told["moved"][: MOST_MEMBERS**2])
    spans = tuple(
        _made(SpanReport, dict(zip(_SPAN, one, strict=True))) for one in told["spans"][: MOST_KEPT_SPANS + MOST_MEMBERS]
    )
    if any(one.end_ns < one.start_ns for one in spans):
        raise ValueError("something ends before it begins")
    parts = {"members": members, "moved": moved, "spans": spans}
    made: SharedCallReport = _made(SharedCallReport, {**told, **dict.fromkeys(parts, ())}, parts)
    return made


def _made(kind: type[Any], told: dict[str, Any], made: Mapping[str, Any] | None = None) -> Any:
    """One of these classes from its fields, each of the type that the class says; made: those that are read already."""
    parts = made or {}
    if set(told) != {field.name for field in fields(kind)}:
        raise ValueError(f"the fields are not those of {kind.__name__}")
    read = {field.name: _field(str(field.type), told[field.name]) for field in fields(kind) if field.name not in parts}
    return kind(**read, **parts)


def _field(kind: str, value: Any) -> Any:
    match kind:
        case "str":
            return _text(value)
        case "int":
            return _count(value)
        case "bool" if isinstance(value, bool):
            return value
        case "int | None" | "float | None" if value is None:
            return None
        case "int | None":
            return _count(value)
        case "float" | "float | None" if type(value) in (int, float) and value >= 0:
            return float(value)
    raise ValueError(f"{value!r:.60} is no {kind}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.60} is no whole number")
    return value


def _count(value: Any) -> int:
    if _whole(value) < 0:
        raise ValueError(f"{value} is below 0")
    return int(value)
