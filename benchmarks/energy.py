"""Joules by plan: `python -m benchmarks.energy OUT.json [--devices "cpu, cuda:0"] [--watts "cpu 250/120"] [--scale N]`.

Five loops with arrays of the host: on each device alone, divided (`plan="split"`), as `plan="auto"` divides them for
the shortest time, and for the least energy (`goal="energy"`). Calls of each plan are made for a second or more, and
joules above idle are counted meanwhile: NVML's counter for GPUs, RAPL for the CPU. `--watts` states those of a device
without a counter: its watts above idle for as long as it was busy. `parts` is what the goal has chosen; `above_least`
by how much that takes more joules than the plan that was measured to take the least.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.devices import axpy
from benchmarks.machine import cpu_name, versions
from benchmarks.polybench import doitgen, gemm, jacobi_2d, syrk
from loopwright.config import current
from loopwright.devices import gpus
from loopwright.profile.joules import Unmetered, find_meter, measured, measured_idle_watts

IDLE_S = 1.5
LEARNED_IN = 24
"""Calls before those that count."""

PLANS = ("cpu", "gpu", "split", "time", "energy")


def _polybench(module: Any, size: str) -> Callable[[float], tuple[Any, ...]]:
    return lambda scale: tuple(
        module.initialise(**{n: max(8, int(s * scale)) for n, s in module.SIZES[size].items()}).values()
    )


CASES: Mapping[str, tuple[Any, Callable[[float], tuple[Any, ...]]]] = {
    "gemm": (lw.kernel(gemm.kernel), _polybench(gemm, "EXTRALARGE")),
    "syrk": (lw.kernel(syrk.kernel), _polybench(syrk, "EXTRALARGE")),
    "doitgen": (lw.kernel(doitgen.kernel), _polybench(doitgen, "LARGE")),
    "jacobi-2d": (lw.kernel(jacobi_2d.kernel), _polybench(jacobi_2d, "LARGE")),
    "axpy": (axpy, lambda scale: (1e-9, *np.random.default_rng(1).random((2, int((1 << 26) * scale))))),
}


def options_of(plan: str, devices: Sequence[str], watts: str) -> dict[str, Any]:
    """The options of a plan."""
    if plan in ("cpu", "gpu"):
        return {"device": devices[plan == "gpu"], "explore": False}
    shared = {"devices": ", ".join(devices), "explore": False}
    match plan:
        case "split":
            return shared | {"plan": "split"}
        case "time":
            return shared | {"plan": "auto"}
        case _:
            return shared | {"plan": "auto", "goal": "energy", **({"watts": watts} if watts else {})}


def busy_of(kernel: Any, plan: str, devices: Sequence[str]) -> dict[str, float]:
    """Which part of the last call each device was busy."""
    if plan in ("cpu", "gpu"):
        return {devices[plan == "gpu"]: 1.0}
    for kind in kernel._dispatch.sharing._kinds.values():
        for shape, division in kind.divisions.items():
            goal = kind.energy[shape].best(division, "energy", bool(kind.programs)) if shape in kind.energy else None
            decision = goal or division.foreseen()
            if len(decision.devices) == 1:
                return {devices[decision.devices[0]]: 1.0}
            if (last := kind.timelines.get(shape)) is not None:
                return {name: busy / max(1, last.total_ns) for name, busy in zip(devices, last.busy_ns, strict=True)}
    return {}


def picked(kernel: Any, devices: Sequence[str]) -> dict[str, Any]:
    """What the goal has chosen, and the watts it knows."""
    for kind in kernel._dispatch.sharing._kinds.values():
        for shape, energy in kind.energy.items():
            found = energy.best(kind.divisions[shape], "energy", bool(kind.programs))
            parts = [] if found is None else [len(part) for part in found.parts]
            return {"parts": parts, "watts": energy.lines(), "why": "" if found is None else found.why}
    return {}


def measure(
    case: str, plan: str, devices: Sequence[str], watts: Mapping[str, tuple[float, float]], stated: str,
    meters: Mapping[str, Any], idle: Mapping[str, float], scale: float, seconds: float,
) -> dict[str, Any]:  # fmt: skip
    """One plan of one loop: milliseconds and joules of a call."""
    kernel, arguments = CASES[case]
    given = arguments(scale)
    work = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    kernel._dispatch.learn_anew()
    with lw.options(**options_of(plan, devices, stated)):
        until = time.perf_counter() + 2.0
        for _ in range(LEARNED_IN):
            kernel(*work)
            if time.perf_counter() > until:
                break
        for value, first in zip(work, given, strict=True):
            if isinstance(value, np.ndarray):
                np.copyto(value, first)
        calls, begun = 0, time.perf_counter()
        with measured(meters, idle) as use:
            while time.perf_counter() - begun < seconds or calls < 3:
                kernel(*work)
                calls += 1
            spent = time.perf_counter() - begun
        row: dict[str, Any] = {"case": case, "plan": plan, "calls": calls, "ms": round(1e3 * spent / calls, 3)}
        busy = busy_of(kernel, plan, devices)
        if plan == "energy":
            row |= picked(kernel, devices)
    joules: dict[str, float] = {}
    for name in devices:
        if name in use.devices:
            joules[name] = use.devices[name].above_idle / calls
        elif name in watts:
            joules[name] = (watts[name][0] - watts[name][1]) * busy.get(name, 0.0) * spent / calls
    row |= {"joules": {name: round(one, 5) for name, one in joules.items()}, "busy": busy}
    row["total_joules"] = round(sum(joules.values()), 5)
    print(json.dumps(row), flush=True)
    return row


def main() -> None:
    """Measure all plans of all loops, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--devices", default="cpu, cuda:0")
    parser.add_argument("--watts", default="", help="of devices without a counter, as the option has them")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    devices = [one.strip() for one in asked.devices.split(",")]
    with lw.options(watts=asked.watts):
        watts = {name: (at_work, idle) for name, at_work, idle in current().watts}
    meters = {name: find_meter(name) for name in devices if name not in watts}
    for name in devices:
        if name != "cpu":
            gpus.gpu_of(name)
            with lw.options(device=name):
                axpy(1.0, np.ones(1000), np.ones(1000))  # a GPU with a context draws more, whoever computes
    idle = measured_idle_watts(meters, IDLE_S)
    unmetered = {name: one.why for name, one in meters.items() if isinstance(one, Unmetered)}
    rows: list[dict[str, Any]] = []
    found: dict[str, Any] = {}
    for case in CASES:
        if asked.only and case not in asked.only.split(","):
            continue
        mine = [
            measure(case, plan, devices, watts, asked.watts, meters, idle, asked.scale, asked.seconds) for plan in PLANS
        ]
        rows += mine
        least = min(mine, key=lambda row: float(row["total_joules"]))
        chosen = mine[PLANS.index("energy")]
        found[case] = {
            "least": least["plan"],
            "above_least": round(chosen["total_joules"] / max(1e-12, least["total_joules"]) - 1, 4),
        }
        content = {
            "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "versions": versions()},
            "devices": devices, "stated": asked.watts, "idle_watts": idle, "unmetered": unmetered,
            "summary": found, "rows": rows,
        }  # fmt: skip
        asked.out.write_text(json.dumps(content, indent=1))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
