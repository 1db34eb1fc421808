"""`loopwright db`: what is in the store of measurements, and its upkeep: out of it, into it, and away."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.table import Table

from loopwright.choice.experience import TUNED_SUFFIX
from loopwright.cli.devices import size_text
from loopwright.cli.refuse import refuse
from loopwright.cli.terminal import terminal
from loopwright.config import Config
from loopwright.errors import StoreError
from loopwright.profile.exchange import exported, imported, lines_of
from loopwright.profile.history import Cell
from loopwright.profile.machine import machine_of
from loopwright.profile.records import ChoiceRecord, KernelName, MachineName, Record
from loopwright.profile.records import FittedTable as Fitted
from loopwright.profile.store import ProfileStore, Tally, Unwanted
from loopwright.profile.tuned_file import joined, selected
from loopwright.report.words import visible
from loopwright.toolchain.trust import why_untrusted

SHOWN = 12  # characters of a fingerprint
MOST_SHOWN = 400  # of any other text
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
KINDS = {Cell: "measurement", Fitted: "table", ChoiceRecord: "choice", KernelName: "kernel", MachineName: "machine"}


def stats(config: Config, path: Path | None = None) -> None:
    """Print how much there is of each kernel on each machine. path: of the store, where it is not the Config's."""
    with existing(config, path, readonly=True) as store:
        tallies, belongings = store.tallies(), store.belongings()
        console = terminal()
        console.print(f"store {store.path} ({size_text(store.path.stat().st_size)})")
        if not tallies and not belongings:
            console.print("nothing is in it")
            return
        console.print(_kernel_table(tallies))
        console.print(_machine_table(belongings, tallies, fingerprints_here(config)))


def export(config: Config, file: Path, path: Path | None = None) -> None:
    """Write all of the store to a file of JSON lines: all of it, or, where that fails, none."""
    with existing(config, path, readonly=True) as store, store.snapshot() as records:
        written(file, exported(counted := _CountedRecords(records)))
    terminal().print(f"{counted} written to {file}")


def export_for(config: Config, scripts: Sequence[Path], file: Path | None, path: Path | None = None) -> None:
    """Write what was tuned of the kernels of these source files to a file that is found beside the first of them, or
    to another one. What other machines have put there of the same kernels stays."""
    for script in scripts:
        if not script.is_file():
            refuse(f"there is no file {script}")
    out = file or scripts[0].with_suffix(TUNED_SUFFIX)
    here = fingerprints_here(config)
    with existing(config, path, readonly=True) as store, store.snapshot() as records:
        mine = selected(records, scripts, here)
    if not any(isinstance(record, Cell) for record in mine):
        names = ", ".join(script.name for script in scripts)
        refuse(f"this machine has no measurements of kernels in {names}", f"loopwright tune {scripts[0]}")
    there: list[Record] = []
    if out.exists():
        with _faults(), out.open("rb") as lines:
            there = list(imported(lines_of(lines), str(out)))
    kept = joined(mine, there, here)
    written(out, exported(counted := _CountedRecords(kept)))
    terminal().print(f"{counted} written to {out}")


def import_(config: Config, file: Path, path: Path | None = None) -> None:
    """Keep what such a file holds, all or nothing."""
    with _faults(), ProfileStore.open(_store_path(config, path)) as store:
        try:
            lines = file.open("rb")
        except OSError as error:
            refuse(f"{file} cannot be read: {error.strerror}")
        with lines:
            store.absorb(counted := _CountedRecords(imported(lines_of(lines), str(file))))
    _say_kept(counted, file, config)


def merge(config: Config, file: Path, path: Path | None = None) -> None:
    """Keep what another store holds."""
    if not file.is_file():
        refuse(f"there is no store of measurements {file}")
    with (
        _faults(),
        ProfileStore.open(_store_path(config, path)) as store,
        ProfileStore.open(file, readonly=True).snapshot() as records,
    ):
        store.absorb(counted := _CountedRecords(records))
    _say_kept(counted, file, config)


def prune(
    config: Config,
    older_than: str,
    failed: bool,
    machine: str,
    keep: int | None,
    dry_run: bool,
    path: Path | None = None,
) -> None:
    """Remove what has all of the properties that are given; refuses where none is."""
    if not (older_than or failed or machine or keep is not None):
        refuse("nothing says what to remove", "--older-than 90d, --failed, --machine, --keep 100")
    before = time.time() - seconds_of(older_than) if older_than else None
    with existing(config, path) as store:
        fingerprint = _machine_named(machine, store) if machine else None
        removed = store.prune(Unwanted(before, failed, fingerprint, keep), dry_run)
        if not dry_run:
            with suppress(StoreError):  # it is only larger than it has to be
                store.compact()
        size = size_text(store.path.stat().st_size)
    counts = (_number(removed.measurements, "measurement"), _number(removed.tables, "table"))
    told = f"{', '.join(counts)} and {_number(removed.choices, 'choice')}"
    terminal().print(f"{told} would be removed" if dry_run else f"{told} removed: {store.path} has {size} now")


def seconds_of(text: str) -> float:
    """`90d` in seconds; refuses what is no time."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text)
    if not found:
        refuse(f"{text!r} is not a length of time", "90d, say, or 12h, 2w")
    return float(found[1]) * UNITS_S[found[2]]


def fingerprints_here(config: Config) -> frozenset[str]:
    """Those of the devices of this machine, in this version of the package, with these options."""
    machines = (machine_of(device, config) for device in ("cpu", "cuda", "emulated"))
    return frozenset(machine.fingerprint for machine in machines if machine is not None)


_BODILESS = re.compile(r"kernel \S+?(\(.*): pass")


# ---- what is printed --------------------------------------------------------------------------------------------


def _kernel_table(tallies: Iterable[Tally]) -> Table:
    table = Table("kernel", "types", "machine", box=None)
    for name in ("measurements", "failed", "runs"):
        table.add_column(name, justify="right")
    table.add_column("first (UTC)")
    table.add_column("last (UTC)")
    for tally in tallies:
        kernel = _shown(tally.kernel.name) or tally.kernel.fingerprint[:SHOWN]
        numbers = map(str, (tally.measurements, tally.failed, tally.runs))
        days = map(_day, (tally.oldest, tally.newest))
        types = _shown(_types(tally.kernel.signature)) or "-"
        table.add_row(kernel, types, tally.machine.fingerprint[:SHOWN], *numbers, *days)
    return table


def _types(signature: str) -> str:
    """The parameters and what is returned, of a kernel without a body: `kernel f(a: float64[1] C): pass`."""
    found = _BODILESS.fullmatch(" ".join(signature.split()))
    return found[1] if found else signature


def _machine_table(
    belongings: Iterable[tuple[MachineName, int, int]], tallies: Iterable[Tally], here: frozenset[str]
) -> Table:
    of_machine: Counter[str] = Counter()
    for tally in tallies:
        of_machine[tally.machine.fingerprint] += tally.measurements
    table = Table("machine", "here", "device", "compiler", "driver", box=None)
    for name in ("measurements", "tables", "choices"):
        table.add_column(name, justify="right")
    for machine, tables, choices in belongings:
        identity = machine.identity
        told = (identity.name, identity.compiler, identity.driver) if identity else ("", "", "")
        numbers = map(str, (of_machine[machine.fingerprint], tables, choices))
        mark = "yes" if machine.fingerprint in here else "no"
        table.add_row(machine.fingerprint[:SHOWN], mark, *(_shown(word) or "-" for word in told), *numbers)
    return table


def _shown(text: str) -> str:
    """A text of the store in a table: on one line, and no longer than anybody reads."""
    words = visible(" ".join(text.split()))
    return words if len(words) <= MOST_SHOWN else words[: MOST_SHOWN - 3] + "..."


def _day(time_s: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.gmtime(time_s))
    except (ValueError, OverflowError, OSError):  # a year that calendars do not have
        return f"{time_s:g} s"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _say_kept(counted: _CountedRecords, file: Path, config: Config) -> None:
    console = terminal()
    console.print(f"{counted} taken from {file}")
    strange = counted.machines - fingerprints_here(config)
    if strange:
        console.print(f"not like this one: {_number(len(strange), 'machine')}. What was measured there is kept apart")


class _CountedRecords:
    """Records, counted while they pass."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records, self._counts = records, Counter[str]()
        self.machines: set[str] = set()

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self._counts[KINDS[type(record)]] += 1
            if isinstance(record, MachineName):
                self.machines.add(record.fingerprint)
            yield record

    def __str__(self) -> str:
        told = [_number(self._counts[kind], kind) for kind in KINDS.values()]
        return f"{', '.join(told[:-1])} and {told[-1]}"


# ---- files ------------------------------------------------------------------------------------------------------


def _store_path(config: Config, path: Path | None) -> Path:
    found = path or config.store_path
    if path is None and config.store is None and (why := why_untrusted(os.path.abspath(config.cache))):
        refuse(
            f"the store of measurements {found} is not used: {why}",
            "loopwright db --store FILE, to use it all the same",
        )
    if found is None:
        refuse("there is no store of measurements: the option store is off", "loopwright db --store FILE")
    return found


@contextmanager
def existing(config: Config, path: Path | None, readonly: bool = False) -> Iterator[ProfileStore]:
    """The store of the Config, or in the file `path`; refuses where there is none, and where anything fails with it."""
    found = _store_path(config, path)
    if not found.is_file():
        refuse(f"there is no store of measurements {found} yet", "run a program first, or loopwright db import FILE")
    with _faults(), ProfileStore.open(found, readonly) as store:
        yield store


@contextmanager
def _faults() -> Iterator[None]:
    """What goes wrong with a store, as other commands say it."""
    try:
        yield
    except StoreError as error:
        refuse(error.what, error.remedy)


def _machine_named(text: str, store: ProfileStore) -> str:
    """The fingerprint that begins so."""
    found = [machine.fingerprint for machine in store.machines() if machine.fingerprint.startswith(text)]
    if len(found) != 1:
        which = "more than one machine's begin" if found else "no machine's fingerprint begins"
        refuse(f"{which} with {text!r}", "loopwright db stats, which lists them")
    return found[0]


def _umask() -> int:
    """What others may not do with new files. It can be asked for only by changing it."""
    now = os.umask(0o077)
    os.umask(now)
    return now


def written(file: Path, lines: Iterable[str]) -> None:
    """Write a file, under another name first: nobody sees half of it, and what was there stays where this fails, which
    refuses."""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as made:
            try:
                made.writelines(lines)
                made.flush()
                os.fsync(made.fileno())
                os.chmod(made.name, 0o666 & ~_umask())
                os.replace(made.name, file)
            except BaseException:
                os.unlink(made.name)
                raise
    except OSError as error:
        refuse(f"{file} cannot be written: {error.strerror}")
