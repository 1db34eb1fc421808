"""The split on one, two and all GPUs of a machine: `python -m benchmarks.many_devices OUT.json [--gpus 1,2,4,8]
[--budget SECONDS] [--only WORD,WORD] [--scale F] [--kind emulated] [--jobs N] [--plan auto]`.

Resident: on one GPU `lw.device_array`, on several `lw.distributed_array`. From the host: arrays of NumPy, whole calls
with every copy; GPUs only, so that speed-ups are those of GPUs. Several share under `plan="split"`, or as asked. A row
has the median time of calls after those in which sizes are learned, the speed-up over one GPU, and of the last call
that was measured its imbalance, what each device did, what was copied between whom, and how long the host took alone:
before the first device began, and after the last one was done. Beside OUT.json there is OUT.html, with pictures.

At small scale, results on all GPUs are compared with those of one before anything is timed: in so many processes at
once, which leaves compiled code for those that measure. Rows with resident arrays come first, cases in order of value,
and none begins when the budget is spent; what was left out is named.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import loopwright as lw
from benchmarks.machine import cpu_name, versions
from benchmarks.many_cases import MANY_CASES, ManyCase, Scale
from benchmarks.many_pictures import pictures
from loopwright.devices import gpus
from loopwright.devices.cuda import find_gpus
from loopwright.report.devices import last_report

LEARNED_IN, MOST_LEARNED, TIMED_FOR_S, MOST_TIMED, SMALL = 4, 40, 0.4, 100, 0.004
"""Calls before those that count, and more of them, up to so many, where they are short; how long those that count are
repeated, and how often at most; the scale of the comparison."""
COMPARED_IN_S = 120
"""A process that compares results and takes longer than this is given up; its case is compared again later."""

Row = dict[str, Any]


def names_of(kind: str, count: int) -> list[str]:
    """The first so many GPUs, as the option `devices` has them."""
    return [f"{kind}:{number}" for number in range(count)]


def timed(call: Callable[[], object], learned_in: int) -> tuple[float, float, int]:
    """Seconds of the first call, the median of those after the ones in which sizes are learned, and how many."""
    begun = time.perf_counter()
    call()
    first = time.perf_counter() - begun
    learned, until = 0, time.perf_counter() + TIMED_FOR_S / 2
    while learned < learned_in or (learned < MOST_LEARNED and time.perf_counter() < until):
        call()
        learned += 1
    times: list[float] = []
    until = time.perf_counter() + TIMED_FOR_S
    while len(times) < 3 or (time.perf_counter() < until and len(times) < MOST_TIMED):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return first, statistics.median(times), len(times)


def last(kernel: Any) -> Row:
    """How the last shared call went, times in milliseconds; nothing where none was shared."""
    for kind in kernel._dispatch.sharing._kinds.values():
        for timeline in kind.timelines.values():
            told = last_report(timeline, kind, None)
            ends = [span.end_ns for span in told.spans]
            busy = max((one.busy_ns for one in told.members), default=0)
            return {
                "decided": told.kind,
                "imbalance": round(told.imbalance, 4),
                "call_ms": _ms(told.total_ns),
                "before_ms": _ms(min((span.start_ns for span in told.spans), default=0)),
                "after_ms": _ms(max(0, told.total_ns - max(ends, default=told.total_ns))),
                "nobody_busy_ms": _ms(max(0, told.total_ns - busy)),
                "devices": [
                    {
                        "name": one.name, "iterations": one.iterations, "busy_ms": _ms(one.busy_ns),
                        "computes_ms": _ms(one.computes_ns), "copies_ms": _ms(one.copies_ns),
                        "waits_ms": _ms(one.waits_ns),
                    }
                    for one in told.members
                ],
                "moved": [
                    {"from": one.source, "to": one.target, "bytes": one.size_bytes, "copies": one.copies}
                    for one in told.moved
                ],
            }  # fmt: skip
    return {}


def _ms(time_ns: float) -> float:
    return round(time_ns / 1e6, 4)


def check(case: ManyCase, kind: str, most: int, scale: Scale = SMALL) -> None:
    """Raises AssertionError where all GPUs do not give what one gives, with arrays of the host or those that stay."""
    given = case.arguments(scale)
    expected = copy.deepcopy(given)
    with lw.options(device=kind):
        result = case.kernel(*expected)
    case.kernel._dispatch.learn_anew()
    with lw.options(devices=", ".join(names_of(kind, most)), plan="split"):
        mine = copy.deepcopy(given)
        found = case.kernel(*mine)
        _alike(case, "from the host", (*mine, np.array(found)), (*expected, np.array(result)))
        pieces = [lw.distributed_array(one) if isinstance(one, np.ndarray) else one for one in given]
        found = case.kernel(*pieces)
        there = [np.asarray(one) for one in pieces]
        _alike(case, "resident", (*there, np.array(found)), (*expected, np.array(result)))


def _alike(case: ManyCase, where: str, mine: Sequence[Any], expected: Sequence[Any]) -> None:
    for one, other in zip(mine, expected, strict=True):
        if isinstance(other, np.ndarray) and other.dtype != object:
            exact = other.dtype != np.float32
            near = float(np.abs(other).max(initial=0)) * (1e-12 if exact else 1e-5)
            right = np.allclose(one, other, rtol=1e-10 if exact else 2e-4, atol=near)
            assert right, f"{case.name} {where}: another result on several GPUs"


def measured(
    case: ManyCase, kind: str, counts: Sequence[int], scale: float, where: str, plan: str = "split"
) -> Iterator[Row]:
    """The rows of a case, `where` its arrays are: a GPU whose memory is too small for it gives a row that says so."""
    given = case.arguments(scale)
    size = " ".join("x".join(map(str, one.shape)) for one in given if isinstance(one, np.ndarray) and one.size)
    measure: Callable[[Sequence[str]], tuple[float, float, int]]
    if where == "resident":
        measure = Resident(case, given, plan).measured
    else:
        measure = partial(_from_host, case, given, plan)
    alone: float | None = None
    for count in counts:
        row: Row = {"case": case.name, "arrays": where, "gpus": count, "plan": plan, "scale": scale, "size": size}
        try:
            first, median, calls = measure(names_of(kind, count))
        except (lw.DeviceError, MemoryError) as error:
            yield row | {"failed": str(error).split("\n")[0]}
            continue
        alone = median if count == 1 else alone
        gain = None if alone is None else round(alone / median, 3)
        row |= {"first_s": round(first, 4), "ms": round(1e3 * median, 4), "speed_up": gain, "calls": calls}
        yield row | (last(case.kernel) if count > 1 else {})
        gc.collect()


class Resident:
    """Calls with arrays that stay: several GPUs use the same ones, one after another number of them."""

    def __init__(self, case: ManyCase, given: Sequence[Any], plan: str) -> None:
        self._case, self._given, self._plan = case, given, plan
        self._pieces: list[Any] = []

    def measured(self, names: Sequence[str]) -> tuple[float, float, int]:
        """See `timed`."""
        kernel = self._case.kernel
        kernel._dispatch.learn_anew()
        if len(names) == 1:
            gpu: Any = gpus.gpu_of(names[0].replace(":0", ""))
            with lw.options(device=names[0]):
                there = [lw.device_array(one) if isinstance(one, np.ndarray) else one for one in self._given]

                def once() -> None:
                    kernel(*there)
                    gpu.synchronize()

                return timed(once, 1)
        with lw.options(devices=", ".join(names), plan=self._plan):
            self._pieces = self._pieces or [
                lw.distributed_array(one) if isinstance(one, np.ndarray) else one for one in self._given
            ]
            return timed(lambda: kernel(*self._pieces), LEARNED_IN)


def _from_host(case: ManyCase, given: Sequence[Any], plan: str, names: Sequence[str]) -> tuple[float, float, int]:
    case.kernel._dispatch.learn_anew()
    if len(names) == 1:
        with lw.options(device=names[0], explore=False):
            return timed(lambda: case.kernel(*given), 1)
    with lw.options(devices=", ".join(names), plan=plan):
        return timed(lambda: case.kernel(*given), LEARNED_IN)


def table(rows: Sequence[Row]) -> Table:
    """For people."""
    found = Table("loop", "arrays", "GPUs", "ms", "speed-up", "imbalance", "host alone ms", "copied", "parts")
    for one in rows:
        if "failed" in one:
            found.add_row(one["case"], one["arrays"], str(one["gpus"]), one["failed"])
            continue
        moved = ", ".join(f"{m['from']} to {m['to']} {m['bytes'] / 1e6:.1f} MB" for m in one.get("moved", ())[:3])
        alone = f"{one['before_ms']} + {one['after_ms']}" if "before_ms" in one else ""
        parts = ", ".join(str(m["iterations"]) for m in one.get("devices", ()))
        found.add_row(
            one["case"], one["arrays"], str(one["gpus"]), f"{one['ms']:.3f}", str(one["speed_up"]),
            f"{one['imbalance']:.1%}" if "imbalance" in one else "", alone, moved, parts,
        )  # fmt: skip
    return found


def compared(cases: Sequence[ManyCase], kind: str, most: int, jobs: int) -> dict[str, str]:
    """Cases that were compared in processes of their own, and what was wrong: '' for nothing."""
    found: dict[str, str] = {}
    if jobs < 2:
        return found

    def compare(case: ManyCase) -> None:
        command = [
            sys.executable,
            "-m",
            __spec__.name,
            "-",
            "--kind",
            kind,
            "--gpus",
            str(most),
            "--compare",
            case.name,
        ]
        with suppress(subprocess.TimeoutExpired):
            made = subprocess.run(command, capture_output=True, text=True, timeout=COMPARED_IN_S, check=False)
            found[case.name] = made.stderr.strip().split("\n")[-1] if made.returncode else ""

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compare, cases))
    return found


def run(
    out: Path,
    kind: str,
    counts: Sequence[int],
    budget_s: float,
    only: str,
    scale: float,
    jobs: int = 1,
    plan: str = "split",
) -> dict[str, Any]:
    """Measure until the budget is spent. The files are written after each case, so that what ends early is there."""
    begun = time.perf_counter()
    gpu = gpus.gpu_of(kind)
    found: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "gpus": len(find_gpus()) if kind == "cuda" else 0, "gpu": None if gpu is None else gpu.name,
            "cpu": cpu_name(), "system": platform.platform(), "versions": versions(),
        },
        "counts": list(counts),
        "compared": {},
        "rows": [],
        "not_run": [],
    }  # fmt: skip
    cases = [case for case in MANY_CASES if any(word in case.name for word in only.split(","))]
    if max(counts) > 1:
        found["compared"] = compared(cases, kind, max(counts), jobs)
        print(json.dumps(found["compared"]), flush=True)
    for where, case in product(("resident", "host"), cases):
        if time.perf_counter() - begun > budget_s:
            found["not_run"].append(f"{case.name}, {where}")
            continue
        case_begun = time.perf_counter()
        try:
            if max(counts) > 1 and found["compared"].get(case.name) != "":
                check(case, kind, max(counts))
                found["compared"][case.name] = ""
            for row in measured(case, kind, counts, scale, where, plan):
                found["rows"].append(row)
                print(json.dumps(row), flush=True)
        except Exception as error:  # one case that goes wrong must not lose the others
            told = f"{error}".split("\n")[0]
            found["rows"].append({"case": case.name, "arrays": where, "gpus": 0, "failed": told})
            print(json.dumps(found["rows"][-1]), flush=True)
        print(f"{case.name}, {where}: {time.perf_counter() - case_begun:.1f} s", flush=True)
        out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    out.with_suffix(".html").write_text(pictures(found["rows"]), encoding="utf-8")
    return found


def main() -> None:
    """Measure, print the table, write the rows and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--gpus", default="", help="how many, such as 1,2,4,8; all powers of two that there are")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case begins")
    parser.add_argument("--only", default="", help="words of the names of cases, with commas in between")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--kind", default="cuda", choices=("cuda", "emulated"))
    parser.add_argument("--jobs", type=int, default=1, help="processes that compare results before anything is timed")
    parser.add_argument("--plan", default="split", choices=("split", "auto"), help="of calls that several may share")
    parser.add_argument("--compare", default="", help="only compare the results of this case")
    asked = parser.parse_args()
    if asked.compare:
        check(next(case for case in MANY_CASES if case.name == asked.compare), asked.kind, int(asked.gpus))
        return
    there = len(find_gpus()) if asked.kind == "cuda" else 8
    counts = [int(one) for one in asked.gpus.split(",") if one] or [1, 2, 4, 8]
    able = [one for one in counts if one <= there]
    if not able:
        raise SystemExit(f"{gpus.why_no_gpu()}; --kind emulated imitates some")
    found = run(asked.out, asked.kind, able, asked.budget, asked.only, asked.scale, asked.jobs, asked.plan)
    Console(width=180).print(table(found["rows"]))
    absent = [one for one in counts if one > there]
    if absent:
        print(f"not run on {', '.join(map(str, absent))} GPUs: this machine has {there}")
    if found["not_run"]:
        print(f"not run, as the budget was spent: {', '.join(found['not_run'])}")


if __name__ == "__main__":
    main()
