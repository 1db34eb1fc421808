"""PolyBench under `plan="race"`: `python -m benchmarks.races OUT.json [--only gemm,mvt] [--sizes MEDIUM,LARGE]
[--devices "cpu, cuda:0"] [--limit SECONDS]`.

For each kernel, in processes of their own with empty caches: the first call on the CPU alone, on the GPU alone, and as
a race, compilers included, with arrays of the host and the last of the sizes. Then, with the code of both devices
there, for each size: calls on each device alone, calls as a race with nothing known of the devices' times (`race`),
and the third calls after those (`after`), in turns. `overhead` is what a call as a race takes over the better device
alone, less 1; if it did not race, because bounds of their times decided, it is what it lost by that. `after_overhead`
is the same of the calls after. Right before each call a small loop wakes the CPU's threads. `stop_ms` is how long a
winner waited until no other device touched the caller's arrays. OUT.json is written after each kernel, and kernels in
it are not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context, copy_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.machine import cpu_name, versions
from benchmarks.polybench import MODULES
from benchmarks.results import geometric_mean

ROUNDS, ROUND_BUDGET_S = 15, 2.5
"""So many rounds for each size, or as many as fit the time, three at least."""

BETWEEN = 2
"""Calls after the race that are not timed: in these each device may make one by itself."""

WOKEN = 300_000
"""Elements of the loop that wakes threads."""

WORKER_S = 75.0
"""A process that takes longer is ended: its row says so."""

ALONE = {"cpu": "cpu alone", "gpu": "gpu alone"}


def restored(given: Mapping[str, Any], buffers: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments as they were: in the same memory each time."""
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            np.copyto(buffers[name], value)
    return tuple(buffers.values())


def buffers_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Memory for the arguments of all calls."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}


def once(call: Callable[..., object], arguments: Sequence[Any]) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - begun


def options_of(what: str, devices: Sequence[str]) -> dict[str, Any]:
    """The options of `cpu alone`, `gpu alone`, and `race`."""
    if what == "race":
        return {"devices": ", ".join(devices), "plan": "race", "explore": False}
    return {"device": devices[0] if what == ALONE["cpu"] else devices[1], "explore": False}


# ---- one process ----------------------------------------------------------------------------------------------------


def kind_of(kernel: Any) -> Any:
    """What is known of the calls that devices race for; None where none do."""
    sharing = kernel._dispatch._sharing
    kinds = [] if sharing is None else list(sharing._kinds.values())
    return next((one for one in kinds if one.racing is not None), None)


def ready(kernel: Any, seconds: float = 60.0) -> bool:
    """Wait for what races have made in other threads; whether the GPU has code."""
    racing = kind_of(kernel).racing
    racing.learn()
    racing._form.result(seconds)
    (name,) = racing.gpus
    return racing.ask(name).result(seconds) is not None


def forget_times(kernel: Any) -> None:
    """Nothing is known of what devices take, nor of the shape. What calls of any shape have to do is, and code."""
    kind = kind_of(kernel)
    racing = kind.racing
    of_shapes = racing.took_ns, racing.serves, racing._copied, racing._works
    for known in (kind.divisions, kind.quiet, kind.timelines, *of_shapes):
        known.clear()


@contextmanager
def contexts(options: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Context]]:
    """For each name, where its options hold: they are entered once, as a program does that makes many calls."""
    with ExitStack() as stack:
        found: dict[str, Context] = {}
        for name, some in options.items():
            found[name] = context = copy_context()
            block = lw.options(**some)
            context.run(block.__enter__)
            stack.callback(context.run, block.__exit__, None, None, None)
        yield found


def told(kernel: Any) -> dict[str, Any]:
    """Of the last call as a race."""
    kind = kind_of(kernel)
    names = kind.racing.names
    found: dict[str, Any] = {"raced": bool(kind.timelines), "serves": "the CPU: the call is short", "winner": "cpu"}
    for division in kind.divisions.values():
        found["serves"] = division.decide().why
    for last in kind.timelines.values():
        begun = [name for name, busy in zip(names, last.busy_ns, strict=True) if busy]
        winner = next((name for name, done in zip(names, last.done, strict=True) if done), "")
        found |= {"began": begun, "winner": winner, "stop_ms": round(last.stop_ns / 1e6, 3)}
    if not kind.timelines:
        found["winner"] = next((names[place] for times in kind.racing.took_ns.values() for place in times), "cpu")
    return found


def bounds_of(kernel: Any, arguments: Sequence[Any]) -> dict[str, list[float]]:
    """What the devices are expected to take at least and at most, milliseconds, before anything was measured."""
    from loopwright.ir.signature import shape_of

    racing = kind_of(kernel).racing
    bounds = racing.bounds(shape_of(tuple(arguments)), tuple(arguments))
    return {
        name: [round(1e-6 * ns, 4) if ns < math.inf else -1.0 for ns in (one.low_ns, one.expected_ns, one.high_ns)]
        for name, one in zip(racing.names, bounds, strict=True)
    }


def first_call(module: ModuleType, what: str, devices: Sequence[str], size: str) -> dict[str, Any]:
    """In a new process: seconds of the first call, after a call of another kernel, which loads what any call needs."""
    kernel = lw.kernel(module.kernel)
    given = module.initialise(**module.SIZES[size])
    with lw.options(**options_of(what, devices)):
        once(lw.kernel(_small), (np.zeros(1000), np.ones(1000)))
        return {"first_s": round(once(kernel, restored(given, buffers_of(given))), 4)}


def _small(a, b):
    for i in range(a.shape[0]):
        a[i] += b[i]


def warm(module: ModuleType, devices: Sequence[str], sizes: Sequence[str]) -> dict[str, Any]:
    """The first call as a race, then all sizes with warm code."""
    kernel = lw.kernel(module.kernel)
    found: dict[str, Any] = {"first": {}, "sizes": {}}
    given = module.initialise(**module.SIZES[sizes[-1]])
    with lw.options(**options_of("race", devices)):
        once(lw.kernel(_small), (np.zeros(1000), np.ones(1000)))
        found["first"]["race_s"] = round(once(kernel, restored(given, buffers_of(given))), 4)
        if kind_of(kernel) is None:
            return found | {"why_not": "no GPU takes part"}
        found["first"] |= told(kernel)
        begun = time.perf_counter()
        try:
            if not ready(kernel):
                return found | {"why_not": "it runs on no GPU"}
        except Exception as error:
            return found | {"why_not": f"{type(error).__name__}: {error}"[:200]}
        found["first"]["gpu_code_s"] = round(time.perf_counter() - begun, 2)
    for size in sizes:
        found["sizes"][size] = of_size(module, kernel, devices, size)
    return found


def of_size(module: ModuleType, kernel: Any, devices: Sequence[str], size: str) -> dict[str, Any]:
    """One row of warm calls. Raises AssertionError where a race has another result than the CPU."""
    given = module.initialise(**module.SIZES[size])
    buffers = buffers_of(given)
    times: dict[str, list[float]] = {what: [] for what in (*ALONE.values(), "race", "after")}
    notes: list[dict[str, Any]] = []
    row: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    begun = time.perf_counter()
    waking, woken = lw.kernel(_small), (np.zeros(WOKEN), np.ones(WOKEN))
    asked = {what: options_of("race" if what == "after" else what, devices) for what in times}
    with contexts(asked | {"waking": options_of(ALONE["cpu"], devices)}) as there:
        for number in range(ROUNDS + 1):  # the first one warms up
            if number > 3 and time.perf_counter() - begun > ROUND_BUDGET_S:
                break
            for what in times:
                if what == "race":
                    forget_times(kernel)
                    if "bounds_ms" not in row:
                        row["bounds_ms"] = bounds_of(kernel, tuple(buffers.values()))
                        forget_times(kernel)
                if what == "after":
                    for _ in range(BETWEEN):
                        there[what].run(kernel, *restored(given, buffers))
                arguments = restored(given, buffers)
                time.sleep(0.003)
                there["waking"].run(waking, *woken)
                spent = there[what].run(once, kernel, arguments)
                if what == "race":
                    notes.append(told(kernel))
                if number or spent > 2.0:
                    times[what].append(spent)
                if what == ALONE["cpu"] and not expected:
                    expected = {name: buffers[name].copy() for name in module.OUTPUTS}
                elif number == 0:
                    for name, right in expected.items():
                        near = 1e-6 * np.abs(right).max()
                        assert np.allclose(buffers[name], right, rtol=1e-6, atol=near), (what, name)
    for what, some in times.items():
        row[what.replace(" ", "_") + "_ms"] = round(1e3 * statistics.median(some), 4)
        row.setdefault("least_ms", {})[what] = round(1e3 * min(some), 4)
    best = min(ALONE.values(), key=lambda what: statistics.median(times[what]))
    row["faster"] = best
    row["overhead"] = round(statistics.median(times["race"]) / statistics.median(times[best]) - 1, 4)
    row["after_overhead"] = round(statistics.median(times["after"]) / statistics.median(times[best]) - 1, 4)
    row["rounds"] = len(times["race"])
    row["raced"] = sum(len(one.get("began", ())) > 1 for one in notes)
    row["winners"] = [one.get("winner", "") for one in notes]
    row["stop_ms"] = [one.get("stop_ms", 0.0) for one in notes]
    row["why"] = notes[-1]["serves"]
    return row


# ---- all of them ----------------------------------------------------------------------------------------------------


def in_process(job: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker says, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"LOOPWRIGHT_CACHE": folder, "LOOPWRIGHT_STORE": "off"}
        command = [sys.executable, "-m", "benchmarks.races", "--job", json.dumps(job)]
        try:
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WORKER_S)
        except subprocess.TimeoutExpired:
            return {"fault": f"it took more than {WORKER_S:g} s"}
        if ran.returncode:
            return {"fault": (ran.stderr.strip().splitlines() or [f"ended with {ran.returncode}"])[-1][:300]}
        found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
        return found


def kernel_row(module: ModuleType, devices: Sequence[str], sizes: Sequence[str]) -> dict[str, Any]:
    """All that is measured of one kernel."""
    job = {"kernel": module.NAME, "devices": devices, "sizes": sizes}
    row: dict[str, Any] = {"kernel": module.NAME, **in_process({**job, "what": "race"})}
    if "fault" in row or "why_not" in row:
        return row
    for what in ALONE.values():
        found = in_process({**job, "what": what})
        row["first"][what.replace(" ", "_") + "_s"] = found.get("first_s", found.get("fault"))
    alone = [one for name, one in row["first"].items() if "alone" in name and isinstance(one, float)]
    if alone:
        row["first"]["overhead"] = round(row["first"]["race_s"] / min(alone) - 1, 4)
    return row


def summary(rows: Sequence[Mapping[str, Any]], sizes: Sequence[str]) -> dict[str, Any]:
    """Geometric means of 1 + overhead, less 1; the worst; and the longest time until others had stopped."""
    found: dict[str, Any] = {}
    parts = {
        size: [(one["kernel"], one["sizes"][size]) for one in rows if size in one.get("sizes", {})] for size in sizes
    }
    parts["first calls"] = [(one["kernel"], one["first"]) for one in rows if "overhead" in one.get("first", {})]
    for name, some in parts.items():
        if some:
            mean = geometric_mean([1 + one["overhead"] for _, one in some])
            worst = max(some, key=lambda pair: float(pair[1]["overhead"]))
            stops = [stop for _, one in some for stop in np.atleast_1d(one.get("stop_ms", 0.0))]
            found[name] = {
                "kernels": len(some),
                "overhead": round((mean or 1.0) - 1, 4),
                "worst": [worst[0], worst[1]["overhead"]],
                "most_stop_ms": float(max(stops)),
            }
            if after := [one["after_overhead"] for _, one in some if "after_overhead" in one]:
                found[name]["after"] = round((geometric_mean([1 + one for one in after]) or 1.0) - 1, 4)
                found[name]["after_worst"] = max(after)
    return found


def main() -> None:
    """Measure what is not in the file yet, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--only", default="", help="names of kernels, with commas in between")
    parser.add_argument("--sizes", default="MEDIUM,LARGE")
    parser.add_argument("--devices", default="cpu, cuda:0")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which no other kernel is begun")
    parser.add_argument("--job", help="what a worker is to do")
    asked = parser.parse_args()
    by_name = {module.NAME: module for module in MODULES}
    if asked.job:
        job = json.loads(asked.job)
        module = by_name[job["kernel"]]
        if job["what"] == "race":
            print(json.dumps(warm(module, job["devices"], job["sizes"])))
        else:
            print(json.dumps(first_call(module, job["what"], job["devices"], job["sizes"][-1])))
        return
    if asked.out is None:
        parser.error("OUT.json")
    devices, sizes = [one.strip() for one in asked.devices.split(",")], asked.sizes.split(",")
    known = json.loads(asked.out.read_text()) if asked.out.exists() else {"rows": []}
    rows: list[dict[str, Any]] = known["rows"]
    there = {one["kernel"] for one in rows}
    begun = time.perf_counter()
    for name, module in by_name.items():
        if name in there or (asked.only and name not in asked.only.split(",")):
            continue
        if time.perf_counter() - begun > asked.limit:
            print(f"no time is left for {name}", flush=True)
            continue
        rows.append(kernel_row(module, devices, sizes))
        print(json.dumps(rows[-1]), flush=True)
        content = {"machine": describe_briefly(), "devices": devices, "summary": summary(rows, sizes), "rows": rows}
        asked.out.write_text(json.dumps(content, indent=1))
    print(json.dumps(summary(rows, sizes), indent=1))


def describe_briefly() -> dict[str, Any]:
    """The machine, without a GPU's driver in this process."""
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "versions": versions()}


if __name__ == "__main__":
    main()
