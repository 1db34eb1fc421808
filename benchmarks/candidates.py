"""`python -m benchmarks.candidates OUT.json`: the default on a GPU beside other candidates, for the programs of
`benchmarks.unseen`: each other way that the recipe may go, and some neighbours of the default in its search space (one
tunable differs). First all are measured once; those that were faster take turns with the default then, and only these
times count. Results are compared with the default's, in float32 roughly, as threads add up in another order.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.machine import cpu_name, versions
from benchmarks.unseen.__main__ import different, results
from benchmarks.unseen.program import PROGRAMS, Arguments, Program
from loopwright.devices.gpus import target_of
from loopwright.search.space import Member, space_of

NEIGHBOURS, BEST = 3, 2
"""Neighbours that are looked at, and candidates that take turns with the default."""
LONGEST_S = 0.5


def schedules(kernel: Any, arguments: Arguments, device: str) -> Iterator[tuple[str, str]]:
    """What differs from the default, and the schedule, for each candidate; the default first."""
    with lw.options(device=device):
        found = kernel.specialise(*arguments).analysed
    space = space_of(found.written, replace(found.facts, gpu=target_of(device)), strict=False, device="cuda")
    usual = dict(space.default)
    near = [one for one in space.points if sum(usual.get(name) != value for name, value in one) == 1]
    Random(1).shuffle(near)
    seen = set[str]()
    for point in (*(family.default for family in space.families), *near[:NEIGHBOURS]):
        member = space.variant(point)
        if isinstance(member, Member) and member.schedule not in seen:
            seen.add(member.schedule)
            differs = ", ".join(f"{name} {value}" for name, value in point if usual.get(name) != value)
            yield differs, member.schedule


def placed(arguments: Arguments, device: str) -> Arguments:
    """Copies on the device."""
    with lw.options(device=device):
        return tuple(lw.device_array(one) if isinstance(one, np.ndarray) else one for one in arguments)


def least_ms(kernel: Any, arguments: Arguments, within: AbstractContextManager[Any], wait: Any) -> float:
    """Milliseconds of the shortest of some calls."""
    best, end = math.inf, time.perf_counter() + LONGEST_S
    with within:
        for turn in range(20):
            begun = time.perf_counter()
            kernel(*arguments)
            wait()
            best = min(best, 1e3 * (time.perf_counter() - begun))
            if turn > 1 and time.perf_counter() > end:
                break
    return best


def measured(one: Program, device: str) -> dict[str, Any]:
    """A row."""
    wait = _synchronise(device)
    given = one.make(one.large if device == "cuda" else one.small)
    kernel = lw.kernel(device=device)(one.function)
    rows: list[dict[str, Any]] = []
    expected: Sequence[Any] = ()
    for differs, schedule in schedules(kernel, placed(given, device), device):
        there, options = placed(given, device), {"device": device} | ({"schedule": schedule} if rows else {})
        try:
            with lw.options(**options):
                found = results(there, kernel(*there))
            expected = expected or found
            wrong = max((different(a, b) for a, b in zip(expected, found, strict=True)), default=0.0)
            ms = least_ms(kernel, there, lw.options(**options), wait)
        except lw.LoopwrightError as error:
            rows.append({"differs": differs, "error": str(error).splitlines()[0]})
            continue
        rows.append({"differs": differs, "schedule": schedule, "ms": ms, "wrong": wrong, "there": there, "in": options})
    usual, *others = [row for row in rows if "ms" in row]
    best = sorted((row for row in others if row["ms"] < usual["ms"]), key=lambda row: float(row["ms"]))[:BEST]
    for row in (usual, *best) * 3:
        again = least_ms(kernel, row["there"], lw.options(**row["in"]), wait)
        row["by_turns_ms"] = min(row.get("by_turns_ms", math.inf), again)
    for row in rows:
        row.pop("there", None), row.pop("in", None)
    ratio = max([1.0, *(usual["by_turns_ms"] / row["by_turns_ms"] for row in best)])
    return {"case": one.name, "behind_best": ratio, "candidates": rows}


def _synchronise(device: str) -> Any:
    if device != "cuda":
        return lambda: None
    import torch

    return torch.cuda.synchronize


def main() -> None:
    """Measure, and write each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="words of names, with commas between them")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for one in PROGRAMS.values():
        if any(word in one.name for word in asked.only.split(",")):
            rows.append(measured(one, asked.device))
            print(f"{rows[-1]['behind_best']:.2f} {one.name}", flush=True)
            text = {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "cpu": cpu_name(), "versions": versions(), "rows": rows}
            asked.out.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
