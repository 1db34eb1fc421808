"""`python -m benchmarks.mesh OUT.json`: sweeps over meshes and graphs, as their nodes are numbered (`remap="off"`), as
Loopwright decides, and always renumbered. Times are those of whole calls: on the CPU what one thread spends, on a GPU
(`--device cuda`), with `lw.device_array`s, until it has done everything; the least of ROUNDS that take turns.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.machine import cpu_name, versions

ROUNDS = 3
SETTLE_S = 6.0
"""So long calls are made on a GPU before they are timed: by then Loopwright has decided."""


def records(x, y, nb, sweeps):
    for t in range(sweeps):  # noqa: B007 -- its name is asked for
        for i in range(x.shape[0]):
            for f in range(x.shape[1]):
                s = 0.0
                for k in range(nb.shape[1]):
                    s += x[nb[i, k], f]
                y[i, f] = 0.25 * s
        for i in range(x.shape[0]):
            for f in range(x.shape[1]):
                x[i, f] = y[i, f]


def planes(x, y, nb, sweeps):
    for t in range(sweeps):  # noqa: B007
        for i in range(x.shape[1]):
            for f in range(x.shape[0]):
                s = 0.0
                for k in range(nb.shape[1]):
                    s += x[f, nb[i, k]]
                y[f, i] = 0.25 * s
        for i in range(x.shape[1]):
            for f in range(x.shape[0]):
                x[f, i] = y[f, i]


def one(x, y, nb, sweeps):
    for t in range(sweeps):  # noqa: B007
        for i in range(x.shape[0]):
            s = 0.0
            for k in range(nb.shape[1]):
                s += x[nb[i, k]]
            y[i] = 0.25 * s
        for i in range(x.shape[0]):
            x[i] = y[i]


LOOPS: dict[str, Callable[..., None]] = {"records": records, "planes": planes, "one": one}
FIELDS = 8


def grid(side: int, shuffled: bool) -> np.ndarray:
    """The four neighbours of each node of a square grid, whose numbers may have nothing to do with that."""
    i = np.arange(side * side).reshape(side, side)
    regular = np.stack([np.roll(i, by, axis).ravel() for axis in (0, 1) for by in (1, -1)], axis=1)
    if not shuffled:
        return regular
    order = np.random.default_rng(0).permutation(side * side)
    found = np.empty_like(regular)
    found[order] = order[regular]
    return found


TABLES: dict[str, Callable[[int], np.ndarray]] = {
    "shuffled": lambda side: grid(side, shuffled=True),
    "regular": lambda side: grid(side, shuffled=False),
    "random": lambda side: np.random.default_rng(3).integers(0, side * side, (side * side, 4)),
}


@dataclass
class Row:
    """One mesh: seconds of a call under each value of `remap`, and whether all results have the same bits."""

    loop: str
    table: str
    nodes: int
    sweeps: int
    device: str
    seconds: dict[str, float]
    schedule: str
    agrees: bool


def always(device: str) -> str:
    """The step that is always taken."""
    return "renumber nb in t" + ("" if device == "cpu" else " clusters")


def measured(loop: str, table: str, side: int, sweeps: int, device: str) -> Row:
    """The row of a mesh."""
    nb = TABLES[table](side)
    n = side * side
    shape = {"records": (n, FIELDS), "planes": (FIELDS, n), "one": (n,)}[loop]
    x = np.random.default_rng(1).random(shape)
    kernels, arrays = {}, {}
    for remap in ("off", "auto", always(device)):
        options: dict[str, Any] = {"device": device, "remap": remap}
        if device == "cpu":
            options["threads"] = 1
        kernels[remap] = lw.kernel(**options)(LOOPS[loop])
        host = (x.copy(), np.zeros_like(x), nb)
        with lw.options(device=device):
            arrays[remap] = host if device == "cpu" else tuple(map(lw.device_array, host))
        kernels[remap](*arrays[remap], sweeps)
    first = [np.asarray(each[0]).copy() for each in arrays.values()]
    agrees = all(np.array_equal(first[0], other) for other in first)
    if device == "cuda":
        _repeat(lambda: kernels["auto"](*arrays["auto"], sweeps), device)
    seconds = dict.fromkeys(kernels, float("inf"))
    for _ in range(ROUNDS):
        for remap, kernel in kernels.items():
            seconds[remap] = min(seconds[remap], _timed(lambda: kernel(*arrays[remap], sweeps), device))  # noqa: B023
    schedule = str(kernels["auto"].explain(*arrays["auto"], sweeps).schedule).split(";")[0]
    return Row(loop, table, n, sweeps, device, seconds, schedule, agrees)


def _repeat(run: Callable[[], object], device: str) -> None:
    begun = time.perf_counter()
    while time.perf_counter() - begun < SETTLE_S:
        run()
        _wait(device)


def _timed(run: Callable[[], object], device: str) -> float:
    clock = time.thread_time if device == "cpu" else time.perf_counter
    _wait(device)
    begun = clock()
    run()
    _wait(device)
    return clock() - begun


def _wait(device: str) -> None:
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def _machine(device: str) -> str:
    if device != "cuda":
        return cpu_name()
    import torch

    return str(torch.cuda.get_device_name())


def main() -> None:
    """Measure, and write each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sides", default="1024,256", help="of the square grids")
    parser.add_argument("--sweeps", type=int, default=50)
    parser.add_argument("--loops", default=",".join(LOOPS))
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    rows: list[Row] = []
    for side in map(int, given.sides.split(",")):
        for loop in given.loops.split(","):
            for table in given.tables.split(","):
                row = measured(loop, table, side, given.sweeps, given.device)
                rows.append(row)
                times = ", ".join(f"{remap} {1e3 * each:.1f} ms" for remap, each in row.seconds.items())
                print(f"{loop}, {table}, {row.nodes} nodes: {times}{'' if row.agrees else '; WRONG'}", flush=True)
                text = {
                    "machine": _machine(given.device),
                    "versions": versions(),
                    "rows": [asdict(one) for one in rows],
                }
                given.out.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
