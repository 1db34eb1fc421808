"""`python -m benchmarks.compare OTHER/src out.json`: two copies of Loopwright on one machine, by turns.

Each turn is a process of its own. The first turn of each copy has an empty cache, so its first calls compile; the
others find compiled code. Cases and clocks are those of this copy's benchmarks, so they must exist in both."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

import loopwright as lw
from benchmarks.gpu.rows import geometric_mean

HERE = Path(lw.__file__).parents[1]
SIDES = ("other", "this")
Lines = list[dict[str, Any]]


def main(
    other: Annotated[Path, typer.Argument(help="The folder that holds the other copy's package.")],
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    only: Annotated[str, typer.Option(help="Parts or part/case, with commas between them.")] = "",
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each copy.")] = 4,
    limit: Annotated[float, typer.Option(help="Seconds after which no turn is begun.")] = 500.0,
    device: Annotated[str, typer.Option(help="cpu, cuda, or emulated for a dry run.")] = "cuda",
    tiny: Annotated[bool, typer.Option(help="The least sizes.")] = False,
) -> None:
    """Ratios of this copy's times to the other's: first calls, and medians over the turns."""
    sources = dict(zip(SIDES, (other.resolve(), HERE), strict=True))
    if device == "cpu":
        command = ["benchmarks.ours", "--only", only, *(["--size", "MINI"] if tiny else [])]
    else:
        command = ["benchmarks.gpu.ours", "--only", only, "--device", device, *(["--tiny"] if tiny else [])]
    turns: dict[str, list[Lines]] = {side: [] for side in SIDES}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for side in SIDES if number % 2 == 0 else SIDES[::-1]:
                if time.monotonic() - begin < limit:
                    extra = ["--agree"] if device != "cpu" and side == "this" and not number else []
                    turns[side].append(turn(sources[side], Path(folder) / side, command + extra))
                    told = {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "turns": turns, "cases": summary(turns)}
                    output.write_text(json.dumps(told, indent=1) + "\n")
    show(summary(turns))


def turn(source: Path, cache: Path, command: list[str]) -> Lines:
    """One process with one copy; what it printed."""
    root = Path(__file__).parents[1]
    path = os.pathsep.join([str(source), str(root), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "LOOPWRIGHT_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def summary(turns: dict[str, list[Lines]]) -> list[dict[str, Any]]:
    """For each case that both copies could run: medians of the turns and their ratio, this copy's over the other's."""
    found = []
    for case in dict.fromkeys(line["case"] for lines in turns["this"] for line in lines):
        each = {
            side: [line for lines in turns[side] for line in lines if line["case"] == case and "seconds" in line]
            for side in SIDES
        }
        if not all(each.values()):
            faults = [line["fault"] for side in SIDES for lines in turns[side] for line in lines
                      if line["case"] == case and "fault" in line]  # fmt: skip
            found.append({"case": case, "faults": faults})
            continue
        times = {side: [line["seconds"] for line in each[side]] for side in SIDES}
        medians = [statistics.median(times[side]) for side in SIDES]
        first = [each[side][0]["first_s"] for side in SIDES]
        found.append({
            "case": case, "size": each["this"][0]["size"], "agrees": each["this"][0]["agrees"],
            "seconds": dict(zip(SIDES, medians, strict=True)), "ratio": medians[1] / medians[0],
            "spread": max(max(times[side]) / min(times[side]) for side in SIDES),
            "first_s": dict(zip(SIDES, first, strict=True)), "first_ratio": first[1] / first[0],
        })  # fmt: skip
    return found


def show(cases: list[dict[str, Any]]) -> None:
    """A line for each case, the slowest beside the other copy first, and the geometric means."""
    known = sorted((one for one in cases if "ratio" in one), key=lambda one: -one["ratio"])
    for one in known:
        us = " -> ".join(f"{one['seconds'][side] * 1e6:.1f}" for side in SIDES)
        first = " -> ".join(f"{one['first_s'][side]:.2f}" for side in SIDES)
        wrong = "  RESULTS DIFFER" if one["agrees"] is False else ""
        print(f"{one['case']:28} {us} us = {one['ratio']:.3f} (spread {one['spread']:.2f}); first {first} s{wrong}")
    for one in cases:
        if "faults" in one:
            print(f"{one['case']:28} {'; '.join(dict.fromkeys(one['faults'])) or 'not in both'}")
    for name in ("ratio", "first_ratio"):
        print(f"{name}: geometric mean {geometric_mean([one[name] for one in known]):.3f} of {len(known)} cases")


if __name__ == "__main__":
    typer.run(main)
