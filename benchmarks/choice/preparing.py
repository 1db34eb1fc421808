"""Part `making`: the members of five spaces, what is known of each without running it, and their compiled code, in the
folder of `--cache`. It needs no device to itself: a later run with that file and that folder has only to measure."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.choice.cases import SPACES, Case
from benchmarks.choice.making import Asked, Made, Makers, space, specialised
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from benchmarks.choice.trying import Crew, setting_of

MAKING = 0.6
"""Of the time of a case, for making members; what is left is for compiling them."""

MOST = {"small": 14, "full": 240}
MOST_CUDA = 150


def run(bench: Bench) -> None:
    """Every case that is not done."""
    todo = [case for case in SPACES if bench.wanted("making", case.name)]
    whole = bench.left_s()
    with Makers(bench.cores) as makers:
        for number, case in enumerate(todo):
            prepare(bench, makers, case, whole * (number + 1) / len(todo))


def prepare(bench: Bench, makers: Makers, case: Case, until: float) -> Row:
    """The row of a case, made if it is missing. until: when the part has gone on for so long, it ends."""
    row = bench.book.row("making", case.name)
    if not row.done:
        bench.kept(row, partial(_made, bench, makers, case, until))
    return row


def asked_of(bench: Bench, case: Case) -> Asked:
    """The space of a case, with a folder of its own for what is compiled."""
    most = MOST_CUDA if bench.device == "cuda" and bench.size == "full" else MOST[bench.size]
    folder = bench.config.cache / f"{case.name} {bench.device} {bench.size}".replace(" ", "-")
    return Asked(case, bench.device, bench.size, most, replace(bench.config, cache=folder))


def _made(bench: Bench, makers: Makers, case: Case, until: float, row: Row) -> None:
    asked = asked_of(bench, case)
    begun = time.monotonic()
    with bench.within(until):
        one, arguments = specialised(asked)
        count = len(space(asked, one))
        made = makers.made(asked, count, begun + MAKING * bench.left_s())
        row.values = {"space": count, "members": len(made), "make_s": time.monotonic() - begun}
        with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
            setting = setting_of(asked, one, arguments, Path(folder) / "arguments")
            by_variant = {bench.variant(each.schedule): each for each in made}
            with Crew(setting, bench.cores) as crew:
                compiled = crew.compiled(list(by_variant), time.monotonic() + bench.left_s())
    row.values["compile_s"] = time.monotonic() - begun - row.values["make_s"]
    row.table = [_entry(each, compiled[one].compile_ns) for one, each in by_variant.items() if one in compiled]
    if not row.table:
        raise TimeoutError("no variant could be compiled within the budget")


def _entry(made: Made, compile_ns: int) -> dict[str, Any]:
    entry = asdict(made)
    return {**entry, "point": dict(made.point), "compile_ns": compile_ns}
