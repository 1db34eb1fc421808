"""`python -m benchmarks.irregular OUT.json`: programs whose work data decides, with iterations as they stand
(`remap="off"`, twice: how far two kernels with the same code differ), as Loopwright decides, and always in another
order. Times are those of whole calls, everything included: on the CPU what one thread spends, on a GPU (`--device
cuda`), with `lw.device_array`s, until it has done everything; the least of rounds in which each way comes first in
turn, after calls under `auto` have had the time to change over.
Divergence is that of warps of 32, as the iterations stand and sorted, for the same program with 2^12 iterations.
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
from benchmarks.irregular.programs import PROGRAMS, Arguments
from benchmarks.machine import cpu_name, versions

ROUNDS = 16
SETTLE_S = 12.0
"""Of calls before those that are measured: a change-over has to be worth what it costs by then."""
LOOKED_AT = 1 << 12


@dataclass
class Row:
    """seconds: of a call under each value of `remap`; schedule: what `auto` has come to. refused: why the forced order
    is not there. diverging: part of all warps, as iterations stand and sorted; cost: iterations of inner loops for all
    warps, sorted as a part of those as they stand."""

    program: str
    iterations: int
    device: str
    seconds: dict[str, float]
    schedule: str
    agrees: bool
    refused: str = ""
    diverging: tuple[float, float] | None = None
    cost: float | None = None

    def told(self) -> str:
        """A line of the table."""
        off = self.seconds["off"]
        ratios = ", ".join(f"{name} {off / each:.2f}" for name, each in self.seconds.items() if name != "off")
        warps = "" if self.diverging is None else "; warps that diverge {:.0%}, sorted {:.0%}".format(*self.diverging)
        cost = "" if self.cost is None else f"; loop cost sorted {self.cost:.2f}"
        why = f"; forced: {self.refused}" if self.refused else ""
        wrong = "" if self.agrees else "; WRONG"
        first = f"{self.program}, {self.iterations}: off {1e3 * off:.3g} ms, speed {ratios} ({self.schedule})"
        return f"{first}{warps}{cost}{why}{wrong}"


Divergence = tuple[tuple[float, float] | None, float | None]
"""`diverging` and `cost` of a row."""


def divergence(function: Callable[..., object], arguments: Arguments) -> Divergence:
    """Of the first loop about whose iterations data decides."""
    for loop in lw.kernel(function).irregular(*arguments).loops:
        if loop.diverging is not None:
            found = [entry.cost for entry in loop.entries if entry.cost is not None]
            before = sum(cost.found for cost in found)
            cost = sum(one.sorted for one in found) / before if before else None
            return (loop.diverging.found, loop.diverging.sorted), cost
    return None, None


def measured(name: str, n: int, device: str, settle_s: float = SETTLE_S, rounds: int = ROUNDS) -> Row:
    """The row of a program with n iterations."""
    program = PROGRAMS[name]
    forced = program.forced[device != "cpu"]
    kernels: dict[str, Any] = {}
    results: dict[str, list[np.ndarray]] = {}
    refused = ""
    first = program.make(n)
    with lw.options(device=device):  # the same arrays for all: where they lie makes a difference
        given = tuple(
            one if not isinstance(one, np.ndarray) else one.copy() if device == "cpu" else lw.device_array(one)
            for one in first
        )
    for key, remap in (("off", "off"), ("auto", "auto"), ("forced", forced), ("off again", "off")):
        options: dict[str, Any] = {"device": device, "remap": remap} | ({"threads": 1} if device == "cpu" else {})
        kernel = lw.kernel(**options)(program.function)
        as_before(given, first)
        try:
            kernel(*given)
        except lw.ScheduleError as error:
            refused = str(error).splitlines()[0]
            continue
        kernels[key], results[key] = kernel, host(given)
    pairs = [pair for found in results.values() for pair in zip(results["off"], found, strict=True)]
    agrees = all(np.allclose(one, other, rtol=1e-9) for one, other in pairs)
    spent = 0.0
    while spent < settle_s:
        spent += timed(lambda: kernels["auto"](*given), device)
    times: dict[str, list[float]] = {key: [] for key in kernels}
    names = list(kernels)
    for turn in range(rounds):
        for key in names[turn % len(names) :] + names[: turn % len(names)]:  # what was before leaves caches as it likes
            times[key].append(timed(lambda: kernels[key](*given), device))  # noqa: B023
    schedule = str(kernels["auto"].explain(*given).schedule).split(";")[0]
    diverging, cost = divergence(program.function, program.make(min(n, LOOKED_AT)))
    seconds = {key: min(each) for key, each in times.items()}
    return Row(name, n, device, seconds, schedule, agrees, refused, diverging, cost)


def as_before(given: Arguments, first: Arguments) -> None:
    """Give arrays their first values."""
    for one, value in zip(given, first, strict=True):
        if isinstance(one, np.ndarray):
            one[...] = value
        elif isinstance(value, np.ndarray):
            one.copy_from(value)


def host(arguments: Arguments) -> list[np.ndarray]:
    """The arrays of a call, as they are now."""
    found = (one if isinstance(one, np.ndarray) else one.numpy() for one in arguments if hasattr(one, "shape"))
    return [np.array(one) for one in found]


def timed(run: Callable[[], object], device: str) -> float:
    """Seconds of a call."""
    clock = time.thread_time if device == "cpu" else time.perf_counter
    wait(device)
    begun = clock()
    run()
    wait(device)
    return clock() - begun


def wait(device: str) -> None:
    """Until a GPU has done everything."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def main() -> None:
    """Measure, and write each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--exponents", default="16,20", help="of the numbers of iterations")
    parser.add_argument("--programs", default="", help="words of their names, with commas between them")
    parser.add_argument("--settle", type=float, default=SETTLE_S, help="seconds of calls before the measured ones")
    given = parser.parse_args()
    rows: list[Row] = []
    for exponent in map(int, given.exponents.split(",")):
        for name, program in PROGRAMS.items():
            if not any(word in name for word in given.programs.split(",")) or 1 << exponent > program.most:
                continue
            rows.append(measured(name, 1 << exponent, given.device, given.settle))
            print(rows[-1].told(), flush=True)
            text = {"machine": machine(given.device), "versions": versions(), "rows": [asdict(one) for one in rows]}
            given.out.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


def machine(device: str) -> str:
    """Its name."""
    if device != "cuda":
        return cpu_name()
    import torch

    return str(torch.cuda.get_device_name())


if __name__ == "__main__":
    main()
