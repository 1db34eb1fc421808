"""The store as text: one JSON object a line, to carry measurements to another machine or to keep them (docs/store.md).

    {"format": "loopwright store", "version": 1, "lines": 3}
    {"machine": {"fingerprint": ..., "identity": {...}}}
    {"kernel": {"fingerprint": ..., "name": ..., "file": ..., "signature": ...}}
    {"measurement": {"kernel": ..., "machine": ..., "variant": ..., "sizes": [...], ..., "batches": [...]}}

It writes what it is given and reads nothing that is not complete: the first line says how many follow, and each is
checked before anything is kept. The file may be anybody's: no line is longer, no value deeper, no number larger and no
text longer than what a store can hold and a report can show.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from pathlib import PurePath
from typing import Any, BinaryIO, NoReturn

from loopwright.errors import StoreError
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.history import KEPT, SIZES, Cell, cell_of, merged
from loopwright.profile.machine import machine_text, parse_machine
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName, Record

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
MOST_LINE = 1 << 26
"""Bytes of a line: the largest there are hold trees."""
MOST_TEXT = 1 << 16
"""Characters of a name, a schedule, a reason."""
MOST_SIZES = 1 << 10
DEEPEST = 64
"""Lists in lists of a table."""
_INTEGERS = re.compile(r": u?int\d+\b(?!\[)")  # arguments of a signature; an array has its rank behind the type
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


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
        case FittedTable():
            return {"table": asdict(record)}
        case ChoiceRecord():
            return {"choice": _flat(record)}
        case Cell():
            return {"measurement": {**_flat(record), "batches": [batch._asdict() for batch in record.batches]}}


def _flat(record: Cell | ChoiceRecord) -> dict[str, Any]:
    """In the order of CELL or CHOICE: the shape is told by its two parts."""
    told = asdict(record)
    told |= {**told.pop("shape"), "variant": str(record.variant)}
    return {name: told[name] for name in (CELL if isinstance(record, Cell) else CHOICE)}


# ---- reading ----------------------------------------------------------------------------------------------------


@dataclass
class _RecordReader:
    """Where it is in a file, and the fingerprints that were declared there."""

    name: str
    line: int = 0

    def __post_init__(self) -> None:
        self.declared: set[tuple[str, str]] = set()
        self.integers: dict[str, int] = {}  # how many arguments of a kernel are whole numbers

    def refuse(self, what: str) -> NoReturn:
        """Raises StoreError."""
        raise StoreError(f"{self.name}:{self.line}: {what}", "export it again; nothing of this file was kept")


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is too long only as much as shows that."""
    while line := file.readline(MOST_LINE + 1):
        yield line


def imported(lines: Iterable[bytes], name: str) -> Iterator[Record]:
    """The records of a file. name: the file's. Raises StoreError with file:line and what is wrong there, where that is
    reached; so keep all of them in one transaction."""
    at = _RecordReader(name)
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


def _object(at: _RecordReader, line: bytes) -> dict[str, Any]:
    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number")

    if len(line) > MOST_LINE:
        at.refuse(f"the line is longer than {MOST_LINE} bytes")
    try:
        told = json.loads(line.decode(), parse_constant=no_number, object_pairs_hook=_object_of)
        if _HALF.search(line):
            json.dumps(told, ensure_ascii=False).encode()  # half a character cannot be written
    except (ValueError, RecursionError) as error:
        at.refuse(f"this is no JSON: {error}")
    return told if isinstance(told, dict) else at.refuse("a JSON object is wanted")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        twice = next(name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1)
        raise ValueError(f"{twice!r:.60} stands there twice")
    return told


def _announced(at: _RecordReader, told: dict[str, Any]) -> int:
    if told.get("format") != FORMAT:
        at.refuse("this is no export of a store of measurements")
    version, lines = told.get("version"), told.get("lines")
    if type(version) is not int or version < 1:
        at.refuse("the version of the format is missing")
    if version > VERSION:
        at.refuse(f"the format is one of a newer Loopwright (version {version}, this one knows {VERSION})")
    return lines if type(lines) is int and lines >= 0 else at.refuse("the number of lines is missing")


def _record(at: _RecordReader, told: dict[str, Any]) -> Record:
    if len(told) != 1 or (kind := next(iter(told))) not in READERS:
        at.refuse(f"an object with one of {', '.join(READERS)} is wanted")
    if not isinstance(told[kind], dict):
        at.refuse(f"the {kind} is no object")
    try:
        return READERS[kind](at, told[kind])
    except (ValueError, OverflowError, RecursionError) as error:
        at.refuse(f"{kind}: {error}")


def _machine(at: _RecordReader, told: dict[str, Any]) -> MachineName:
    _fields(told, {"fingerprint": str, "identity": object})
    at.declared.add(("machine", told["fingerprint"]))
    _bounded(told["identity"])
    if told["identity"] is None:
        return MachineName(told["fingerprint"])
    machine = parse_machine(json.dumps(told["identity"]))
    if machine.fingerprint != told["fingerprint"]:
        raise ValueError("its fingerprint is that of another machine")
    return MachineName(told["fingerprint"], machine)


def _kernel(at: _RecordReader, told: dict[str, Any]) -> KernelName:
    _fields(told, {field.name: str for field in fields(KernelName)})
    at.declared.add(("kernel", told["fingerprint"]))
    at.integers[told["fingerprint"]] = len(_INTEGERS.findall(told["signature"]))
    return KernelName(**told)


def _cell(at: _RecordReader, told: dict[str, Any]) -> Cell:
    _fields(told, CELL)
    _declared(at, told)
    _fields(told["work"], {field.name: float for field in fields(Work)})
    if not 1 <= len(told["batches"]) <= KEPT:
        raise ValueError(f"there are from 1 to {KEPT} batches, not {len(told['batches'])}")
    for batch in told["batches"]:
        _fields(batch, BATCH)
    first = Measurement(
        told["kernel"], told["machine"], Variant.parse(told["variant"]), _shape(at, told), Work(**told["work"]), "ok",
        cache=told["cache"], source=told["source"],
    )  # fmt: skip
    return reduce(merged, [cell_of(replace(first, **batch)) for batch in told["batches"]])


def _table(at: _RecordReader, told: dict[str, Any]) -> FittedTable:
    _fields(told, TABLE)
    _declared(at, told)
    _bounded(told["content"])
    return FittedTable(**{**told, "made_at": float(told["made_at"])})


def _choice(at: _RecordReader, told: dict[str, Any]) -> ChoiceRecord:
    _fields(told, CHOICE)
    _declared(at, told)
    if told["time_ns"] < 0:
        raise ValueError(f"time_ns is {told['time_ns']!r:.60}, and a time is 0 or more")
    return ChoiceRecord(
        told["kernel"], told["machine"], _shape(at, told), Variant.parse(told["variant"]), told["why"],
        *(float(told[name]) for name in ("time_ns", "error", "made_at")),
    )  # fmt: skip


READERS: Mapping[str, Callable[[_RecordReader, dict[str, Any]], Record]] = {
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
            fits = fits and not (kind is str and len(value) > MOST_TEXT)
        fits = fits and not (name in ("made_at", "error") and value < 0)
        if not fits or (value == "" and name in ("fingerprint", "kernel", "machine")):
            raise ValueError(f"{name} is {value!r:.60}, which it cannot be")


def _declared(at: _RecordReader, told: dict[str, Any]) -> None:
    for kind in ("machine", "kernel"):
        if kind in told and (kind, told[kind]) not in at.declared:
            raise ValueError(f"no line before says what {kind} {told[kind]!r:.60} is")


def _bounded(content: object) -> None:
    """Raises ValueError for a table that is too deep, or has a number that is not finite or needs more than 64 bits."""
    level: list[Any] = [content]
    for _ in range(DEEPEST):
        if not level:
            return
        for value in level:
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError("a number is too large")  # of 1e999 JSON makes an infinity
            if isinstance(value, int) and value not in SIZES:
                raise ValueError("a whole number needs more than 64 bits")
        inner = [list(value.values()) if isinstance(value, dict) else value for value in level]
        level = [value for values in inner if isinstance(values, list) for value in values]
    raise ValueError(f"values lie more than {DEEPEST} deep in one another")


def _shape(at: _RecordReader, told: dict[str, Any]) -> Shape:
    """Lengths of axes are 0 or more; the numbers that a caller gives, of which the kernel's signature tells how many
    there are, may be anything of 64 bits."""
    sizes, features = told["sizes"], told["features"]
    if any(type(size) is not int for size in sizes):
        raise ValueError(f"sizes are whole numbers, not {sizes!r:.60}")
    if len(sizes) > MOST_SIZES or any(size not in SIZES for size in sizes):
        raise ValueError(f"sizes are up to {MOST_SIZES} whole numbers of 64 bits, not {sizes!r:.60}")
    if sum(size < 0 for size in sizes) > at.integers[told["kernel"]]:
        raise ValueError(f"a length is 0 or more; the sizes are {sizes!r:.60}")
    if any(type(feature) not in (int, float) or not math.isfinite(feature) for feature in features):
        raise ValueError(f"features are numbers, all of them finite, and not {features!r:.60}")
    return Shape(tuple(sizes), tuple(map(float, features)))
