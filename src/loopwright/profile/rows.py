"""Rows of the store (schema.sql) to nouns and back: all of its SQL."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.history import Batch, Cell, concluded, merged
from loopwright.profile.machine import machine_text, parse_machine
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import (
    MOST_TIMELINES,
    TIMELINE,
    ChoiceRecord,
    FittedTable,
    KernelName,
    MachineName,
    Record,
    features_text,
    shape_of,
    sizes_text,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

KEY = "kernel, machine, variant, sizes, features, cache, source"
WORK = "iterations, units, depth, footprint_bytes, inputs_bytes, outputs_bytes"
BATCH = "made_at, outcome, time_ns, spread, runs, reason"
ALL = f"{KEY}, {WORK}, {BATCH}, history"
FIND = f"SELECT {WORK}, {BATCH}, history FROM measurements WHERE {' AND '.join(f'{n} = ?' for n in KEY.split(', '))}"
REPLACE = f"INSERT OR REPLACE INTO measurements ({ALL}) VALUES ({', '.join('?' * len(ALL.split(', ')))})"
CELLS = (
    f"SELECT k.fingerprint, m.fingerprint, variant, sizes, features, cache, source, {WORK}, {BATCH}, history "
    "FROM measurements AS c JOIN kernels AS k ON k.id = c.kernel JOIN machines AS m ON m.id = c.machine"
)
CHOICES = (
    "SELECT k.fingerprint, m.fingerprint, sizes, features, variant, why, time_ns, error, made_at FROM choices AS c "
    "JOIN kernels AS k ON k.id = c.kernel JOIN machines AS m ON m.id = c.machine"
)

Row = tuple[Any, ...]


class _Numbers:
    """The numbers of fingerprints in a table of names; one that is new gets one."""

    def __init__(self, connection: Connection, table: str) -> None:
        self._connection, self._table = connection, table
        self._known: dict[str, int] = {}

    def __getitem__(self, fingerprint: str) -> int:
        number = self._known.get(fingerprint)
        if not fingerprint:
            raise ValueError(f"what has no fingerprint cannot be kept in {self._table}")
        if number is None:
            execute = self._connection.execute
            execute(f"INSERT OR IGNORE INTO {self._table} (fingerprint) VALUES (?)", (fingerprint,))
            (number,) = execute(f"SELECT id FROM {self._table} WHERE fingerprint = ?", (fingerprint,)).fetchone()
            self._known[fingerprint] = number
        return number


# ---- writing ----------------------------------------------------------------------------------------------------


def put(connection: Connection, records: Iterable[Record]) -> None:
    """Add records, merging them with what is there. To be called in a transaction. Raises ValueError for a Table whose
    content JSON cannot say."""
    kernels, machines = _Numbers(connection, "kernels"), _Numbers(connection, "machines")
    for record in records:
        match record:
            case Cell():
                _put_cell(connection, (kernels[record.kernel], machines[record.machine]), record)
            case FittedTable():
                _put_table(connection, machines[record.machine], record)
            case ChoiceRecord():
                _put_choice(connection, (kernels[record.kernel], machines[record.machine]), record)
            case KernelName():
                _put_kernel(connection, record, "WHERE name = ''")
            case MachineName():
                _put_machine(connection, record)


def name_kernel(connection: Connection, kernel: KernelName) -> None:
    """Give a kernel this name in place of the one that it has."""
    _put_kernel(connection, kernel, "")


def _put_kernel(connection: Connection, kernel: KernelName, where: str) -> None:
    told = [_writable(text) for text in (kernel.fingerprint, kernel.name, kernel.file, kernel.signature)]
    connection.execute(
        "INSERT INTO kernels (fingerprint, name, file, signature) VALUES (?, ?, ?, ?) ON CONFLICT (fingerprint) "
        f"DO UPDATE SET name = excluded.name, file = excluded.file, signature = excluded.signature {where}",
        told,
    )


def _put_machine(connection: Connection, machine: MachineName) -> None:
    identity = "" if machine.identity is None else machine_text(machine.identity)
    connection.execute(
        "INSERT INTO machines (fingerprint, identity) VALUES (?, ?) ON CONFLICT (fingerprint) "
        "DO UPDATE SET identity = excluded.identity WHERE identity = ''",
        (machine.fingerprint, identity),
    )


def _put_cell(connection: Connection, numbers: tuple[int, int], cell: Cell) -> None:
    key = (
        *numbers, str(cell.variant), sizes_text(cell.shape), features_text(cell.shape), cell.cache, cell.source,
    )  # fmt: skip
    there = connection.execute(FIND, key).fetchone()
    if there is not None:
        cell = merged(cell, _with(cell, there))
    m = concluded(cell)
    w = m.work
    work = (w.iterations, w.units, w.depth, w.footprint_bytes, w.inputs_bytes, w.outputs_bytes)
    history = json.dumps(cell.batches, separators=(",", ":")) if len(cell.batches) > 1 else ""
    batch = (m.made_at, m.outcome, m.time_ns, m.spread, m.runs, m.reason)
    connection.execute(REPLACE, (*key, *work, *batch, history))


def _with(cell: Cell, row: Row) -> Cell:
    """The cell of the same key that a row of WORK, BATCH and history is."""
    return Cell(
        cell.kernel, cell.machine, cell.variant, cell.shape, cell.cache, cell.source, Work(*row[:6]), _batches(row[6:])
    )


def _batches(row: Row) -> tuple[Batch, ...]:
    *batch, history = row
    return tuple(Batch(*one) for one in json.loads(history)) if history else (Batch(*batch),)


def _put_table(connection: Connection, machine: int, table: FittedTable) -> None:
    content = json.dumps(table.content, sort_keys=True, allow_nan=False)
    connection.execute(
        "INSERT INTO tables (kind, machine, name, content, made_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT "
        "DO UPDATE SET content = excluded.content, made_at = excluded.made_at "
        "WHERE (excluded.made_at, excluded.content) > (made_at, content)",
        (table.kind, machine, table.name, content, float(table.made_at)),
    )
    if table.kind == TIMELINE:
        _trim(connection, machine, table.name.partition(":")[0])


def _trim(connection: Connection, machine: int, kernel: str) -> None:
    """Of the last shared calls of a kernel on a machine, remove all but the newest; ";" comes next after ":"."""
    mine = "kind = ? AND machine = ? AND name >= ? AND name < ?"
    values = (TIMELINE, machine, f"{kernel}:", f"{kernel};")
    newest = f"SELECT name FROM tables WHERE {mine} ORDER BY made_at DESC, name LIMIT ?"
    deletion = f"DELETE FROM tables WHERE {mine} AND name NOT IN ({newest})"
    connection.execute(deletion, (*values, *values, MOST_TIMELINES))


def _put_choice(connection: Connection, numbers: tuple[int, int], choice: ChoiceRecord) -> None:
    told = (*numbers, sizes_text(choice.shape), features_text(choice.shape), str(choice.variant))
    numbers_told = (float(choice.time_ns), float(choice.error), float(choice.made_at))
    if not all(map(math.isfinite, numbers_told)):
        raise ValueError(f"a choice has finite numbers, not {numbers_told}")
    connection.execute(
        "INSERT INTO choices (kernel, machine, sizes, features, variant, why, time_ns, error, made_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET variant = excluded.variant, why = excluded.why, "
        "time_ns = excluded.time_ns, error = excluded.error, made_at = excluded.made_at "
        "WHERE (excluded.made_at, excluded.variant, excluded.why) > (made_at, variant, why)",
        (*told, _writable(choice.why), *numbers_told),
    )


def _writable(text: str) -> str:
    """Without halves of characters, which names of files may have."""
    return text.encode(errors="replace").decode()


# ---- reading ----------------------------------------------------------------------------------------------------


def has_kernel(connection: Connection, kernel: str) -> bool:
    """Whether anything was measured of a kernel, on whatever machine."""
    which = "WHERE kernel = (SELECT id FROM kernels WHERE fingerprint = ?)"
    (found,) = connection.execute(f"SELECT EXISTS (SELECT 1 FROM measurements {which})", (kernel,)).fetchone()
    return bool(found)


def measurements(connection: Connection, kernel: str, machine: str) -> tuple[Measurement, ...]:
    """What is concluded of each cell of a kernel on a machine."""
    found = connection.execute(
        f"SELECT variant, sizes, features, cache, source, {WORK}, {BATCH} FROM measurements "
        "WHERE kernel = (SELECT id FROM kernels WHERE fingerprint = ?) "
        "AND machine = (SELECT id FROM machines WHERE fingerprint = ?) "
        "ORDER BY variant, sizes, features, cache, source",
        (kernel, machine),
    )
    # Many rows have the same variant, or the same shape and work.
    variants: dict[str, Variant] = {}
    shapes: dict[tuple[str, str], Shape] = {}
    works: dict[Row, Work] = {}
    made: list[Measurement] = []
    for row in found:
        text, sizes, features, cache, source = row[:5]
        variant, shape, work = variants.get(text), shapes.get((sizes, features)), works.get(row[5:11])
        if variant is None:
            variant = variants[text] = Variant.parse(text)
        if shape is None:
            shape = shapes[sizes, features] = shape_of(sizes, features)
        if work is None:
            work = works[row[5:11]] = Work(*row[5:11])
        made_at, outcome, time_ns, spread, runs, reason = row[11:]
        made.append(
            Measurement(
                kernel, machine, variant, shape, work, outcome, time_ns, spread, runs, cache, source, made_at, reason
            )
        )
    return tuple(made)


def kernels(connection: Connection) -> tuple[KernelName, ...]:
    """All kernels, by name."""
    found = connection.execute("SELECT fingerprint, name, file, signature FROM kernels ORDER BY name, fingerprint")
    return tuple(KernelName(*row) for row in found)


def machines(connection: Connection) -> tuple[MachineName, ...]:
    """All machines, by fingerprint."""
    found = connection.execute("SELECT fingerprint, identity FROM machines ORDER BY fingerprint")
    return tuple(_machine(*row) for row in found)


def _machine(fingerprint: str, identity: str) -> MachineName:
    return MachineName(fingerprint, parse_machine(identity) if identity else None)


def tables(connection: Connection, kind: str, machine: str) -> Iterator[FittedTable]:
    """All tables of a kind on a machine, by name."""
    found = connection.execute(
        "SELECT kind, fingerprint, name, content, made_at FROM tables JOIN machines ON id = machine "
        "WHERE kind = ? AND fingerprint = ? ORDER BY name",
        (kind, machine),
    )
    return map(_table, found)


def _table(row: Row) -> FittedTable:
    kind, machine, name, content, made_at = row
    return FittedTable(kind, machine, name, json.loads(content), made_at)


def choices(connection: Connection, kernel: str, machine: str) -> Iterator[ChoiceRecord]:
    """What was chosen last for a kernel on a machine, by sizes."""
    wanted = "WHERE k.fingerprint = ? AND m.fingerprint = ? ORDER BY sizes, features"
    return map(_choice, connection.execute(f"{CHOICES} {wanted}", (kernel, machine)))


def _choice(row: Row) -> ChoiceRecord:
    kernel, machine, sizes, features, variant, *rest = row
    return ChoiceRecord(kernel, machine, shape_of(sizes, features), Variant.parse(variant), *rest)


def cells(connection: Connection, kernel: str, machine: str) -> Iterator[Cell]:
    """All cells of a kernel on a machine, in the order of variants' texts."""
    wanted = "WHERE k.fingerprint = ? AND m.fingerprint = ? ORDER BY variant, sizes, features, cache, source"
    return map(_cell, connection.execute(f"{CELLS} {wanted}", (kernel, machine)))


def everything(connection: Connection) -> Iterator[Record]:
    """All records, in an order that does not depend on when they came."""
    yield from machines(connection)
    found = connection.execute("SELECT fingerprint, name, file, signature FROM kernels ORDER BY fingerprint")
    yield from (KernelName(*row) for row in found)
    order = "k.fingerprint, m.fingerprint, variant, sizes, features, cache, source"
    found = connection.execute(f"{CELLS} ORDER BY {order}")
    yield from map(_cell, found)
    found = connection.execute(
        "SELECT kind, fingerprint, name, content, made_at FROM tables JOIN machines ON id = machine "
        "ORDER BY kind, fingerprint, name"
    )
    yield from map(_table, found)
    yield from map(_choice, connection.execute(f"{CHOICES} ORDER BY k.fingerprint, m.fingerprint, sizes, features"))


def _cell(row: Row) -> Cell:
    kernel, machine, variant, sizes, features, cache, source = row[:7]
    work, batches = Work(*row[7:13]), _batches(row[13:])
    return Cell(kernel, machine, Variant.parse(variant), shape_of(sizes, features), cache, source, work, batches)


def tallies(connection: Connection) -> Iterator[tuple[KernelName, MachineName, int, int, int, float, float]]:
    """Kernel, machine, measurements, failed ones, runs, oldest, newest."""
    found = connection.execute(
        "SELECT k.fingerprint, name, file, signature, m.fingerprint, identity, n, failed, runs, oldest, newest FROM "
        "(SELECT kernel, machine, count(*) AS n, sum(outcome <> 'ok') AS failed, sum(runs) AS runs, "
        "min(made_at) AS oldest, max(made_at) AS newest FROM measurements GROUP BY kernel, machine) AS c "
        "JOIN kernels AS k ON k.id = c.kernel JOIN machines AS m ON m.id = c.machine "
        "ORDER BY name, k.fingerprint, m.fingerprint"
    )
    for row in found:
        yield KernelName(*row[:4]), _machine(*row[4:6]), *row[6:]


def belongings(connection: Connection) -> Iterator[tuple[MachineName, int, int]]:
    """Each machine, with the numbers of its tables and choices."""
    counts = [f"(SELECT count(*) FROM {name} WHERE machine = m.id)" for name in ("tables", "choices")]
    found = connection.execute(f"SELECT fingerprint, identity, {', '.join(counts)} FROM machines AS m ORDER BY 1")
    for fingerprint, identity, fitted, chosen in found:
        yield _machine(fingerprint, identity), fitted, chosen


# ---- removing ---------------------------------------------------------------------------------------------------


def prune(
    connection: Connection, before: float | None, failed: bool, machine: str | None, beyond: int | None
) -> tuple[int, int, int]:
    """Remove what has all these properties (see store.Unwanted); how many measurements, tables and choices."""
    wanted: list[str] = ["1"]
    values: list[object] = []
    if before is not None:
        wanted, values = [*wanted, "made_at < ?"], [*values, before]
    if machine is not None:
        wanted, values = [*wanted, "machine = (SELECT id FROM machines WHERE fingerprint = ?)"], [*values, machine]
    where = " AND ".join(wanted)
    gone = [0, 0]
    if not failed and beyond is None:
        deletions = [f"DELETE FROM {name} WHERE {where}" for name in ("tables", "choices")]
        gone = [connection.execute(deletion, values).rowcount for deletion in deletions]
    if failed:
        where += " AND outcome <> 'ok'"
    if beyond is not None:
        newest = f"row_number() OVER (PARTITION BY kernel, machine ORDER BY made_at DESC, {KEY})"
        where += (
            f" AND ({KEY}) IN (SELECT {KEY} FROM (SELECT {KEY}, {newest} AS place FROM measurements) WHERE place > ?)"
        )
        values = [*values, beyond]
    removed = connection.execute(f"DELETE FROM measurements WHERE {where}", values).rowcount
    used = "SELECT {0} FROM measurements UNION SELECT {0} FROM choices"
    connection.execute(f"DELETE FROM kernels WHERE id NOT IN ({used.format('kernel')})")
    connection.execute(
        f"DELETE FROM machines WHERE id NOT IN ({used.format('machine')} UNION SELECT machine FROM tables)"
    )
    return removed, gone[0], gone[1]
