"""`loopwright report`: a page of what is in the store of measurements, and of what follows from it."""

from __future__ import annotations

import time
from pathlib import Path

from loopwright.cli.db import existing, written
from loopwright.cli.devices import size_text
from loopwright.cli.refuse import refuse
from loopwright.cli.terminal import terminal
from loopwright.config import Config
from loopwright.report.page import page
from loopwright.report.subjects import contents

MOST_NAMES = 12


def write_report(config: Config, out: Path, kernel: str, path: Path | None) -> None:
    """Write the page to a file: all of it, or, where that fails, none. kernel: only those of this name. path: of the
    store, where it is not the Config's."""
    with existing(config, path, readonly=True) as store:
        found = contents(store, kernel)
        if not (found.tallies or found.shared) and kernel:
            there = contents(store)
            known = [*(tally.kernel.name for tally in there.tallies), *(one.name for one in there.shared)]
            names = sorted(set(filter(None, known)))
            some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
            refuse(f"there are no measurements of a kernel {kernel!r}", f"one of {some}" if some else "")
        if not (found.tallies or found.shared):
            refuse(f"there are no measurements in {store.path}", "loopwright tune SCRIPT")
        written(out, [page(store, found, time.time())])
    terminal().print(f"{out} written ({size_text(out.stat().st_size)})")
