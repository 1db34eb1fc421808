"""Tuned results that lie beside the code: a file that `loopwright db export --for script.py` wrote, in the format of
exchange.py, to be committed with the program. Its measurements count on machines of the same kind as if they had been
made there; they are never written into a store. What is of no use here is said, once.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.errors import StoreError, warn_once
from loopwright.profile.exchange import imported, lines_of
from loopwright.profile.history import Cell
from loopwright.profile.journal import Journal
from loopwright.profile.machine import Machine
from loopwright.profile.records import ANY, ChoiceRecord, FittedTable, KernelName, MachineName, Record

FASTEST = 3
"""Variants at each shape that are exported, the fastest, beside the default ones."""


@dataclass
class TunedFile:
    """What is in one. of: the machines that measured a kernel, by its fingerprint."""

    path: Path
    records: tuple[Record, ...]
    kernels: dict[str, KernelName] = field(default_factory=dict)
    machines: dict[str, Machine | None] = field(default_factory=dict)
    of: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for record in self.records:
            match record:
                case KernelName():
                    self.kernels[record.fingerprint] = record
                case MachineName():
                    self.machines[record.fingerprint] = record.identity
                case Cell():
                    self.of.setdefault(record.kernel, set()).add(record.machine)

    def why_unused(self, kernel: str, name: str, here: Collection[Machine]) -> str:
        """Why nothing in it is about a kernel (its fingerprint, its name) on the machines that are here; '' where
        something is, and for a kernel that it does not speak of at all."""
        if kernel not in self.kernels:
            if not any(one.name == name for one in self.kernels.values()):
                return ""
            return f"'{name}' has another text now, or is called with other types, than when it was tuned"
        there = self.of.get(kernel, set())
        if not there or not there.isdisjoint(machine.fingerprint for machine in here):
            return ""
        known = [machine for one in sorted(there) if (machine := self.machines.get(one)) is not None]
        reasons = [_difference(machine, mine) for machine in known for mine in here if mine.kind == machine.kind]
        return min(reasons, key=len, default="it was tuned for another device")


def _difference(there: Machine, here: Machine) -> str:
    """What tells two machines of one kind of device, in words: the least that does."""
    if (there.name, there.host, there.limits, there.instructions) != (
        here.name,
        here.host,
        here.limits,
        here.instructions,
    ):
        return f"it was tuned on another machine, {there.name}, and this one is {here.name}"
    if (there.compiler, there.flags, there.driver) != (here.compiler, here.flags, here.driver):
        return f"it was tuned with {there.compiler or 'another compiler'}, and here is {here.compiler or 'none'}"
    return "it was tuned with another version of Loopwright"


_read: dict[tuple[str, int, int], TunedFile] = {}


def lend(path: Path, journal: Journal) -> TunedFile | None:
    """Have a journal know what a file says, and write none of it. None where it cannot be read, which is said."""
    try:
        status = os.stat(path)
        key = os.path.abspath(path), status.st_mtime_ns, status.st_size
        if key not in _read:
            with path.open("rb") as lines:
                _read[key] = TunedFile(path, tuple(imported(lines_of(lines), str(path))))
    except (OSError, StoreError) as error:
        what = error.what if isinstance(error, StoreError) else f"{path}: {error.strerror}"
        warn_once(f"tuned {path}", f"tuned results are not used: {what}")
        return None
    found = _read[key]
    if not journal.has_lent(key):
        journal.lend(key, (one for one in found.records if not isinstance(one, ChoiceRecord)))
    return found


def say_unused(path: Path, why: str) -> None:
    """Tell it, once."""
    if why:
        warn_once(
            f"tuned {path} {why}",
            f"{path.name} is not used: {why}. Calls go on without it\n"
            f"  try: loopwright tune the program here, then loopwright db export --for it; "
            f"LOOPWRIGHT_TUNED=off is silent",
        )


# ---- writing ----------------------------------------------------------------------------------------------------


def selected(records: Iterable[Record], scripts: Sequence[Path], here: Collection[str]) -> list[Record]:
    """Of a store, what is worth keeping beside these source files: of each of their kernels, as it was measured last,
    and on the machines that are here (fingerprints), the default variants and the fastest ones."""
    everything = list(records)
    kernels = {one.fingerprint: one for one in everything if isinstance(one, KernelName) and _is_of(one, scripts)}
    cells = [one for one in everything if isinstance(one, Cell) and one.kernel in kernels and one.machine in here]
    newest = _newest(kernels, cells)
    kept = [one for group in _groups(cells, newest) for one in _fastest(group)]
    used = {one.kernel for one in kept}
    tables = [
        one
        for one in everything
        if isinstance(one, FittedTable) and one.name in used and (one.machine in here or one.machine == ANY)
    ]
    machines = {cell.machine for cell in kept} | {table.machine for table in tables}
    names = [one for one in everything if isinstance(one, MachineName) and one.fingerprint in machines]
    told = [kernels[fingerprint] for fingerprint in kernels if fingerprint in used]
    return [*names, *told, *kept, *tables]


def joined(mine: Sequence[Record], there: Sequence[Record], here: Collection[str]) -> list[Record]:
    """What is to be in the file: `mine`, and of what was there what other machines measured of the same kernels."""
    used = {one.fingerprint for one in mine if isinstance(one, KernelName)}
    others = [
        one
        for one in there
        if (isinstance(one, Cell) and one.kernel in used and one.machine not in here)
        or (isinstance(one, FittedTable) and one.name in used and one.machine not in (*here, ANY))
    ]
    machines = {one.machine for one in others if isinstance(one, Cell | FittedTable)}
    names = [one for one in there if isinstance(one, MachineName) and one.fingerprint in machines]
    order = (MachineName, KernelName, Cell, FittedTable)
    return sorted([*mine, *names, *others], key=lambda one: order.index(type(one)))


def _is_of(kernel: KernelName, scripts: Sequence[Path]) -> bool:
    """A store that was imported knows of files only their names."""
    file = Path(kernel.file)
    return any(
        file.resolve() == script.resolve() if file.is_absolute() else file.name == script.name for script in scripts
    )


def _newest(kernels: Mapping[str, KernelName], cells: Sequence[Cell]) -> set[str]:
    """Of kernels with one name and the same types, that is one function before and after changes, the last one."""
    last: dict[tuple[str, str, bool], tuple[float, str]] = {}
    for cell in cells:
        kernel = kernels[cell.kernel]
        key = kernel.name, kernel.signature, cell.kernel.endswith(" strict")
        last[key] = max(last.get(key, (0.0, "")), (max(batch.made_at for batch in cell.batches), cell.kernel))
    return {fingerprint for _, fingerprint in last.values()}


def _groups(cells: Sequence[Cell], kernels: Collection[str]) -> Iterator[list[Cell]]:
    """By kernel and machine."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.kernel in kernels:
            found.setdefault((cell.kernel, cell.machine), []).append(cell)
    yield from found.values()


def _fastest(cells: Sequence[Cell]) -> list[Cell]:
    """Those of the default variants, and of the fastest at any shape."""
    chosen = {cell.variant for cell in cells if cell.variant.is_default}
    by_shape: dict[object, list[tuple[float, str, Cell]]] = {}
    for cell in cells:
        last = cell.batches[-1]
        if last.outcome == "ok":
            by_shape.setdefault((cell.shape, cell.cache), []).append((last.time_ns, str(cell.variant), cell))
    for timed in by_shape.values():
        chosen |= {cell.variant for _, _, cell in sorted(timed, key=lambda one: one[:2])[:FASTEST]}
    return [cell for cell in cells if cell.variant in chosen]
