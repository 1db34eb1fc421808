"""The split of one loop on many simulated GPUs: `python -m benchmarks.simulated_devices OUT.json [--gpus 1,2,4,8,16,64]
[--only WORD] [--scales 1,0.125,0.015625] [--arrays resident,host] [--budget SECONDS]`.
It needs no GPU, and memory for no array.

The loops are those of `benchmarks.many_devices`, at their full sizes and smaller ones. The product cuts them into
regions, divides the iterations, and finds out what has to be copied between which devices, as in a call on real GPUs;
only what starts kernels and copies is replaced by GPUs in virtual time (`virtual_gpus.py`), whose rates are in the file
of results. How long a kernel takes is a roofline of what it computes and moves (`part_work.py`).

Rows are those of `benchmarks.many_devices`, and say besides: what `plan="auto"` comes to, how long the product's own
code ran for it on this machine, and, by case, the number of GPUs beyond which more of them gain less than 5 %. Rows of
measured files stand beside what is predicted for such GPUs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.machine import cpu_name, versions
from benchmarks.many_cases import MANY_CASES
from benchmarks.many_pictures import pictures
from benchmarks.simulated_calls import Calls, CompiledLoop, Outcome, Served, SimulatedLoop, hollow_arguments
from benchmarks.virtual_gpus import Rates

COUNTS = (1, 2, 4, 8, 16, 64)
SCALES = (1.0, 1 / 8, 1 / 64)
PLACES = ("resident", "host")
GAINS = 0.05
"""Twice as many GPUs that gain less than this are not worth it."""

MODELS = {"NVIDIA H100 80GB HBM3": Rates(), "NVIDIA H200": Rates(memory=4.1e12, memory_bytes=141 << 30)}
"""What is stated of the GPUs that calls were measured on."""

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


def rows_of(
    loop: CompiledLoop, name: str, given: Sequence[Any], scale: float, counts: Sequence[int], places: Sequence[str]
) -> Iterator[Row]:
    """Of one case at one scale; with arrays of the host at the full one only. At smaller ones no more GPUs than make it
    slower."""
    rates = loop.rates
    size = " ".join("x".join(map(str, one.shape)) for one in given if hasattr(one, "shape") and one.size)
    for where in (one for one in places if scale == 1 or one == "resident"):
        alone: float | None = None
        shortest, longer = float("inf"), 0.0
        for count in counts:
            row: Row = {"case": name, "arrays": where, "gpus": count, "scale": scale, "size": size}
            simulated = SimulatedLoop(loop, given, count, where == "resident")
            if simulated.size_bytes > rates.memory_bytes:
                yield row | {"failed": f"{simulated.size_bytes / 1e9:.0f} GB have no room on one GPU"}
                continue
            if count == 1:
                found = simulated.on_one()
                alone = shortest = found.total_ns
                yield row | _told(found, alone)
                continue
            if scale < 1 and shortest < longer:
                break
            calls = Calls(simulated)
            split, auto = calls.served("split"), calls.served("auto")
            row |= _told(split.outcome, alone) | {"used": split.devices} | {"auto": _chosen(auto, alone)}
            shortest, longer = min(shortest, split.outcome.total_ns), split.outcome.total_ns
            yield row | {"decided_ms": round(split.decided_ms, 3), "region_ms": round(split.region_ms, 3)}


def _told(found: Outcome, alone: float | None) -> Row:
    """As `many_devices.last` tells it, but of all GPUs their mean, and of copies what moves between the host and GPUs,
    and among GPUs."""
    moved: dict[tuple[str, str], list[int]] = {}
    for (source, target), (size, copies) in found.moved.items():
        kinds = "host" if source == "cpu" else "GPUs", "host" if target == "cpu" else "GPUs"
        both = moved.setdefault(kinds, [0, 0])
        both[0] += size
        both[1] += copies
    count = len(found.done)
    means = {
        name: _ms(sum(times) / count)
        for name, times in (
            ("computes_ms", found.computes_ns), ("copies_ms", found.copies_ns), ("waits_ms", found.waits_ns)
        )
    }  # fmt: skip
    return {
        "ms": _ms(found.total_ns), "speed_up": None if alone is None else round(alone / found.total_ns, 3),
        "efficiency": None if alone is None else round(alone / found.total_ns / count, 3),
        "imbalance": round(found.imbalance, 4), "call_ms": _ms(found.total_ns), "host_ms": _ms(found.python_ns),
        "devices": [{"name": "mean", "iterations": sum(found.done) // count} | means],
        "moved": [{"from": a, "to": b, "bytes": size, "copies": n} for (a, b), (size, n) in moved.items()],
    }  # fmt: skip


def _chosen(auto: Served, alone: float | None) -> Row:
    gain = None if alone is None else round(alone / auto.outcome.total_ns, 3)
    return {"gpus": auto.devices, "ms": _ms(auto.outcome.total_ns), "speed_up": gain, "why": auto.why}


def _ms(time_ns: float) -> float:
    return round(time_ns / 1e6, 4)


def worth(rows: Sequence[Row]) -> list[Row]:
    """For each case, scale and place of the arrays: up to how many GPUs each step to the next number gains 5 % at
    least, the speed-up there, and the greatest speed-up of all."""
    found: list[Row] = []
    groups: dict[tuple[str, float, str], list[Row]] = {}
    for row in rows:
        if row.get("speed_up"):
            groups.setdefault((row["case"], row["scale"], row["arrays"]), []).append(row)
    for (case, scale, arrays), some in groups.items():
        last = some[0]
        for row in some[1:]:
            if row["ms"] > last["ms"] * (1 - GAINS):
                break
            last = row
        found.append({
            "case": case, "scale": scale, "arrays": arrays, "worth": last["gpus"], "speed_up": last["speed_up"],
            "best": max(row["speed_up"] for row in some),
        })  # fmt: skip
    return found


def beside_measured(only: str, places: Sequence[str]) -> list[Row]:
    """What was measured on one host's GPUs, and what is predicted for as many of them with their rates."""
    found: list[Row] = []
    for path in sorted(RESULTS.glob("*-many-devices.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        rates = MODELS.get(told["machine"]["gpu"])
        measured = [
            row
            for row in told["rows"]
            if "ms" in row and row["arrays"] in places and any(word in row["case"] for word in only.split(","))
        ]
        for case in MANY_CASES if rates is not None else ():
            rows = [row for row in measured if row["case"] == case.name]
            if not rows:
                continue
            loop = CompiledLoop.of(case, rates)
            for row in rows:
                given = hollow_arguments(case, row["scale"])
                simulated = SimulatedLoop(loop, given, row["gpus"], row["arrays"] == "resident")
                outcome = simulated.on_one() if row["gpus"] == 1 else Calls(simulated).even
                sizes = sum(size for size, _ in outcome.moved.values())
                found.append({
                    "file": path.name, "case": case.name, "arrays": row["arrays"], "gpus": row["gpus"],
                    "measured_ms": row["ms"], "predicted_ms": _ms(outcome.total_ns),
                    "ratio": round(outcome.total_ns / 1e6 / row["ms"], 3), "measured_bytes": _bytes(row),
                    "predicted_bytes": sizes,
                })  # fmt: skip
                print(json.dumps(found[-1]), flush=True)
    return found


def _bytes(row: Row) -> int | None:
    return sum(one["bytes"] for one in row["moved"]) if "moved" in row else None


def run(
    out: Path, counts: Sequence[int], scales: Sequence[float], only: str, budget_s: float = 1e9,
    places: Sequence[str] = PLACES, beside: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Simulate until the budget is spent, and write both files; that of results after each case."""
    begun, rates = time.perf_counter(), MODELS["NVIDIA H100 80GB HBM3"]
    found: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"gpu": "simulated", "cpu": cpu_name(), "versions": versions()},
        "rates": rates.told(), "counts": list(counts), "scales": list(scales), "rows": [], "worth": [], "not_run": [],
    }  # fmt: skip
    for case in MANY_CASES:
        if not any(word in case.name for word in only.split(",")):
            continue
        if time.perf_counter() - begun > budget_s:
            found["not_run"].append(f"{case.name}: the budget was spent")
            continue
        try:
            loop = CompiledLoop.of(case, rates)
            for scale in scales:
                for row in rows_of(loop, case.name, hollow_arguments(case, scale), scale, counts, places):
                    found["rows"].append(row)
                    print(json.dumps({key: row[key] for key in row if key != "devices"}), flush=True)
        except Exception as error:  # one case that goes wrong must not lose the others
            found["not_run"].append(f"{case.name}: {type(error).__name__} {error}".split("\n")[0])
        found["worth"] = worth(found["rows"])
        out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    found["beside_measured"] = beside_measured(only, places) if beside else []
    out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    whole = [row for row in found["rows"] if row["scale"] == max(scales)]
    out.with_suffix(".html").write_text(pictures(whole), encoding="utf-8")
    return found


def table(rows: Sequence[Row]) -> Table:
    """For people."""
    found = Table(
        "loop", "arrays", "scale", "GPUs", "ms", "speed-up", "computes", "copies", "waits", "auto: GPUs", "ms"
    )
    for one in rows:
        first = one["case"], one["arrays"], f"{one['scale']:.3g}", str(one["gpus"])
        if "failed" in one:
            found.add_row(*first, one["failed"])
            continue
        (mean,) = one["devices"]
        parts = [f"{mean[what] / one['ms']:.0%}" for what in ("computes_ms", "copies_ms", "waits_ms")]
        auto = one.get("auto", {"gpus": "", "ms": ""})
        found.add_row(*first, f"{one['ms']:.3f}", str(one["speed_up"]), *parts, str(auto["gpus"]), str(auto["ms"]))
    return found


def main() -> None:
    """Simulate, print the table, write the rows and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--gpus", default=",".join(map(str, COUNTS)), help="how many, such as 1,4,64")
    parser.add_argument("--scales", default=",".join(map(str, SCALES)), help="of the lengths of axes")
    parser.add_argument("--only", default="", help="words of the names of cases, with commas between them")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case begins")
    parser.add_argument("--arrays", default=",".join(PLACES), help="where they are")
    asked = parser.parse_args()
    counts, scales = [int(one) for one in asked.gpus.split(",")], [float(one) for one in asked.scales.split(",")]
    found = run(asked.out, counts, scales, asked.only, asked.budget, asked.arrays.split(","))
    console = Console(width=180)
    console.print(table(found["rows"]))
    for one in found["worth"]:
        console.print(
            f"{one['case']}, {one['arrays']}, {one['scale']:.3g}: up to {one['worth']}, then {one['speed_up']}x"
        )
    for name in found["not_run"]:
        console.print(f"not run: {name}")


if __name__ == "__main__":
    main()
