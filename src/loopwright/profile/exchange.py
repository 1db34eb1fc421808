"""The store as text: one JSON object a line, to carry measurements to another machine or to keep them (docs/store.md).

    {"format": "loopwright store", "version": 1, "lines": 3}
    {"machine": {"fingerprint": ..., "identity": {...}}}
    {"kernel": {"fingerprint": ..., "name": ..., "file": ..., "signature": ...}}
    {"measurement": {"kernel": ..., "machine": ..., "variant": ..., "sizes": [...], ..., "batches": [...]}}

It writes what it is given and reads nothing that is not complete: the first line says how many follow, and each is
checked before anything is kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from pathlib import PurePath
from typing import Any, NoReturn

from loopwright.errors import StoreError
from loopwright.profile.history import KEPT, Cell, cell_of, merged
from loopwright.profile.machine import machine_text, parse_machine
from loopwright.profile.measurement import Measurement, Shape, Variant, Work
from loopwright.profile.records import Choice, KernelName, MachineName, Record, Table

FORMAT, VERSION = "loopwright store", 1
SHAPE = {"sizes": list, "features": list}
CELL = {
    "kernel": str, "machine": str, "variant": str, **SHAPE, "cache": str, "source": str, "work": dict, "batches": list,
}  # fmt: skip
BATCH = {"made_at": float, "outcome": str, "time_ns": float, "spread": float, "runs": int, "reason": str}
TABLE = {"kind": str, "machine": str, "name": str, "content": object, "made_at": float}
CHOICE = {
    "kernel": str, "machine": str, **SHAPE, "variant": str, "why": str, "time_ns": float, "error": float,
    "made_at": float,
}  # fmt: skip
Types = Mapping[str, type]


# ---- writing ----------------------------------------------------------------------------------------------------


def exported(records: Iterable[Record]) -> Iterator[str]:
    """The lines for these records, each with its end. Of the file of a kernel only the name is told: where it is on
    this machine is nobody's business."""
    lines = [json.dumps(_told(record), allow_nan=False) + "\n" for record in records]
    yield json.dumps({"format": FORMAT, "version": VERSION, "lines": len(lines)}) + "\n"
    yield from lines


def _told(record: Record) -> dict[str, dict[str, Any]]:
    match record:
        case MachineName():
            identity = record.identity and json.loads(machine_text(record.identity))
            return {"machine": {"fingerprint": record.fingerprint, "identity": identity}}
        case KernelName():
            return {"kernel": {**asdict(record), "file": PurePath(record.file).name}}
        case Table():
            return {"table": asdict(record)}
        case Choice():
            return {"choice": _flat(record)}
        case Cell():
            return {"measurement": {**_flat(record), "batches": [batch._asdict() for batch in record.batches]}}


def _flat(record: Cell | Choice) -> dict[str, Any]:
    """In the order of CELL or CHOICE: the shape is told by its two parts."""
    told = asdict(record)
    told |= {**told.pop("shape"), "variant": str(record.variant)}
    return {name: told[name] for name in (CELL if isinstance(record, Cell) else CHOICE)}


# ---- reading ----------------------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """Where it is in a file, and the fingerprints that were declared there."""

    name: str
    line: int = 0

    def __post_init__(self) -> None:
        self.declared: set[tuple[str, str]] = set()

    def refuse(self, what: str) -> NoReturn:
        """Raises StoreError."""
        raise StoreError(f"{self.name}:{self.line}: {what}", "export it again; nothing of this file was kept")


def imported(lines: Iterable[bytes], name: str) -> Iterator[Record]:
    """The records of a file. name: the file's. Raises StoreError with file:line and what is wrong there, where that is
    reached; so keep all of them in one transaction."""
    at = _Reader(name)
    left = 0
    for at.line, line in enumerate(lines, 1):
        told = _object(at, line)
        if at.line == 1:
            left = _announced(at, told)
            continue
        if not left:
            at.refuse("there are more lines than the first one says")
        left -= 1
        yield _record(at, told)
    if at.line == 0:
        at.refuse("the file is empty")
    if left:
        at.refuse(f"the file ends here, and {left} lines are missing")


def _object(at: _Reader, line: bytes) -> dict[str, Any]:
    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number")

    try:
        told = json.loads(line.decode(), parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        at.refuse(f"this is no JSON: {error}")
    return told if isinstance(told, dict) else at.refuse("a JSON object is wanted")


def _announced(at: _Reader, told: dict[str, Any]) -> int:
    if told.get("format") != FORMAT:
        at.refuse("this is no export of a store of measurements")
    version, lines = told.get("version"), told.get("lines")
    if type(version) is not int or version < 1:
        at.refuse("the version of the format is missing")
    if version > VERSION:
        at.refuse(f"the format is one of a newer Loopwright (version {version}, this one knows {VERSION})")
    return lines if type(lines) is int and lines >= 0 else at.refuse("the number of lines is missing")


def _record(at: _Reader, told: dict[str, Any]) -> Record:
    if len(told) != 1 or (kind := next(iter(told))) not in READERS:
        at.refuse(f"an object with one of {', '.join(READERS)} is wanted")
    if not isinstance(told[kind], dict):
        at.refuse(f"the {kind} is no object")
    try:
        return READERS[kind](at, told[kind])
    except (ValueError, OverflowError) as error:
        at.refuse(f"{kind}: {error}")


def _machine(at: _Reader, told: dict[str, Any]) -> MachineName:
    _fields(told, {"fingerprint": str, "identity": object})
    at.declared.add(("machine", told["fingerprint"]))
    if told["identity"] is None:
        return MachineName(told["fingerprint"])
    machine = parse_machine(json.dumps(told["identity"]))
    if machine.fingerprint != told["fingerprint"]:
        raise ValueError("its fingerprint is that of another machine")
    return MachineName(told["fingerprint"], machine)


def _kernel(at: _Reader, told: dict[str, Any]) -> KernelName:
    _fields(told, {field.name: str for field in fields(KernelName)})
    at.declared.add(("kernel", told["fingerprint"]))
    return KernelName(**told)


def _cell(at: _Reader, told: dict[str, Any]) -> Cell:
    _fields(told, CELL)
    _declared(at, told)
    _fields(told["work"], {field.name: float for field in fields(Work)})
    if not 1 <= len(told["batches"]) <= KEPT:
        raise ValueError(f"there are from 1 to {KEPT} batches, not {len(told['batches'])}")
    for batch in told["batches"]:
        _fields(batch, BATCH)
    first = Measurement(
        told["kernel"], told["machine"], Variant.parse(told["variant"]), _shape(told), Work(**told["work"]), "ok",
        cache=told["cache"], source=told["source"],
    )  # fmt: skip
    return reduce(merged, [cell_of(replace(first, **batch)) for batch in told["batches"]])


def _table(at: _Reader, told: dict[str, Any]) -> Table:
    _fields(told, TABLE)
    _declared(at, told)
    json.dumps(told["content"], allow_nan=False)  # of 1e999 JSON makes an infinity
    return Table(**told)


def _choice(at: _Reader, told: dict[str, Any]) -> Choice:
    _fields(told, CHOICE)
    _declared(at, told)
    rest = {name: told[name] for name in CHOICE if name not in ("variant", *SHAPE)}
    return Choice(**rest, shape=_shape(told), variant=Variant.parse(told["variant"]))


READERS: Mapping[str, Callable[[_Reader, dict[str, Any]], Record]] = {
    "machine": _machine, "kernel": _kernel, "measurement": _cell, "table": _table, "choice": _choice,
}  # fmt: skip


def _fields(told: object, wanted: Types) -> None:
    """Raises ValueError where these are not the fields of an object, or one has another type."""
    if not isinstance(told, dict) or set(told) != set(wanted):
        raise ValueError(f"the fields are {', '.join(wanted)}")
    for name, kind in wanted.items():
        value = told[name]
        if kind is float:
            fits = type(value) in (int, float) and math.isfinite(value)
        else:
            fits = kind is object or type(value) is kind
        if not fits or (value == "" and name in ("fingerprint", "kernel", "machine")):
            raise ValueError(f"{name} is {value!r:.60}, which it cannot be")


def _declared(at: _Reader, told: dict[str, Any]) -> None:
    for kind in ("machine", "kernel"):
        if kind in told and (kind, told[kind]) not in at.declared:
            raise ValueError(f"no line before says what {kind} {told[kind]!r:.60} is")


def _shape(told: dict[str, Any]) -> Shape:
    sizes, features = told["sizes"], told["features"]
    if any(type(size) is not int for size in sizes):
        raise ValueError(f"sizes are whole numbers, not {sizes!r:.60}")
    if any(type(feature) not in (int, float) for feature in features):
        raise ValueError(f"features are numbers, not {features!r:.60}")
    return Shape(tuple(sizes), tuple(map(float, features)))
