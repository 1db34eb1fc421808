"""`loopwright cache`: where compiled code is kept, how much of it, whether it is loaded from there; its upkeep."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

from loopwright.cli.config import size_limit, variable_of
from loopwright.cli.devices import size_text
from loopwright.cli.refuse import refuse
from loopwright.cli.terminal import terminal
from loopwright.config import Config, parse_size
from loopwright.toolchain.limit import CacheItem, items, trim
from loopwright.toolchain.limit import clear as clear_all
from loopwright.toolchain.store import why_unusable

DAY_S = 86400.0


def show(config: Config) -> None:
    """Print where the cache is, what is in it, and whether code is loaded from there."""
    root, console = _root(config), terminal()
    why = why_unusable(root)
    missing = not os.path.lexists(root)
    console.print(f"cache folder  {root} ({variable_of('cache')})")
    console.print(f"limit         {size_limit(config.cache_size)} ({variable_of('cache_size')})")
    console.print(f"trusted       {_trust(why, missing)}")
    if missing:
        console.print("empty: it is made when the first kernel is compiled")
        return
    found = items(root)
    if config.store_path is not None and config.store is None and config.store_path.is_file():
        console.print(f"measurements  {size_text(config.store_path.stat().st_size)} (loopwright db; they do not count)")
    if not found:
        console.print("nothing is in it" if root.is_dir() and os.access(root, os.R_OK) else "it cannot be read")
        return
    console.print(_table(found, time.time()))


def clear(config: Config) -> None:
    """Remove all that is in the cache but measurements; refuses where others may write to it."""
    root = _root(config)
    if not os.path.lexists(root):
        terminal().print(f"nothing is in {root}")
        return
    with _faults(root):
        count, size = clear_all(root)
    terminal().print(f"{_entries(count)} removed from {root}: {size_text(size)}")


def prune(config: Config, size: str) -> None:
    """Remove what was not used for the longest time, until the rest fits."""
    root = _root(config)
    try:
        most = parse_size("--size", size) if size else config.cache_size
    except ValueError as error:
        refuse(str(error))
    if most is None:
        refuse("there is no limit to the cache", "--size 100MB, or LOOPWRIGHT_CACHE_SIZE=1GB")
    if not os.path.lexists(root):
        terminal().print(f"nothing is in {root}")
        return
    with _faults(root):
        count, gone = trim(root, most)
        left = sum(item.size_bytes for item in items(root))
    terminal().print(f"{_entries(count)} removed from {root}: {size_text(gone)}; {size_text(left)} left")


def _root(config: Config) -> Path:
    return Path(os.path.abspath(config.cache))


def _trust(why: str, missing: bool) -> str:
    if why:
        return f"no: {why}. Until that is fixed, compiled code is kept in temporary folders"
    return "yes" if not missing else "yes: each folder on the way is yours or root's, and nobody else may write to it"


@contextmanager
def _faults(root: Path) -> Iterator[None]:
    """What goes wrong, as other commands say it."""
    try:
        yield
    except OSError as error:
        refuse(f"the cache folder {root} cannot be used: {error}")


def _table(found: Iterable[CacheItem], now: float) -> Table:
    table = Table("what", box=None)
    for name in ("entries", "size", "last used: longest ago", "latest"):
        table.add_column(name, justify="right")
    kinds: dict[str, list[CacheItem]] = {}
    for item in found:
        kinds.setdefault(item.kind, []).append(item)
    for kind, those in sorted(kinds.items(), key=lambda pair: -sum(item.size_bytes for item in pair[1])):
        table.add_row(kind, *_numbers(those, now))
    if len(kinds) > 1:
        table.add_row("all", *_numbers([item for those in kinds.values() for item in those], now))
    return table


def _numbers(those: list[CacheItem], now: float) -> tuple[str, ...]:
    used = [item.used for item in those]
    return (
        str(len(those)),
        size_text(sum(item.size_bytes for item in those)),
        _ago(min(used), now),
        _ago(max(used), now),
    )


def _ago(then: float, now: float) -> str:
    """In days, as finely as it is noted."""
    days = int((now - then) / DAY_S)
    return "today" if days < 1 else f"{days} days ago" if days > 1 else "1 day ago"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
