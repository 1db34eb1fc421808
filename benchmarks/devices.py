"""One loop on several devices (`lw.options(devices=...)`): `python -m benchmarks.devices OUT.json [--budget SECONDS]
[--devices "cpu, cuda:0, cuda:1"] [--only WORD] [--scale N]`.

From the host: arrays of NumPy, each device alone and all that the options name together, whole calls, with every copy.
Resident: arrays that stay where they are worked on (`lw.distributed_array`), on one GPU and on all of them. Medians of
calls one after the other; the first ones, in which sizes are learned, are apart. Races: `benchmarks.races`.
"""

from __future__ import annotations

import argparse
import copy
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import loopwright as lw
from loopwright.devices import gpus
from loopwright.ir.variant import is_gpu

LEARNED_IN = 8
"""Calls before those that count: sizes are corrected from call to call."""


@lw.kernel
def axpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@lw.kernel
def blur(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@lw.kernel
def sweeps(steps, u, v):
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.2 * (v[i, j] + v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])


@lw.kernel
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = a.dtype.type(0)
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@lw.kernel
def forces(x, y, z, m, f):
    for i in range(x.shape[0]):
        s = np.float32(0)
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            d = dx * dx + dy * dy + dz * dz + np.float32(1e-3)
            s += m[j] / (d * np.sqrt(d)) * dx
        f[i] = s


@lw.kernel
def row_sums(a, s):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j]
        s[i] = t


class Case(NamedTuple):
    """A kernel, what makes its arguments of a scale, and how many operations and bytes one call is at least. resident:
    whether it is measured with arrays that stay, too."""

    name: str
    kernel: Any
    arguments: Callable[[float], tuple[Any, ...]]
    amount: Callable[[tuple[Any, ...]], tuple[float, str]]
    resident: bool = True


def _random(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(1).random(shape, dtype)


def _rows(scale: float, whole: int) -> int:
    return max(64, int(whole * scale))


def _moved(arrays: tuple[Any, ...]) -> tuple[float, str]:
    return float(sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))), "GB/s"


CASES = (
    Case("axpy", axpy, lambda s: (1.5, *_random(2, _rows(s, 1 << 27))), _moved),
    Case("blur", blur, lambda s: (a := _random(_rows(s, 12000), 12000), np.zeros_like(a)), _moved),
    Case("row sums", row_sums, lambda s: (_random(_rows(s, 12000), 12000), np.zeros(_rows(s, 12000))), _moved),
    Case(
        "20 sweeps", sweeps, lambda s: (10, a := _random(_rows(s, 12000), 12000), a.copy()),
        lambda a: (20 * 2.0 * a[1].nbytes, "GB/s"),
    ),
    Case(
        "product", product, lambda s: (*_random(2, n := _rows(s, 6000), n, dtype=np.float32), np.zeros((n, n), "f4")),
        lambda a: (2.0 * len(a[0]) ** 3, "Gflop/s"),
    ),
    Case(
        "product float64", product, lambda s: (*_random(2, n := _rows(s, 5000), n), np.zeros((n, n))),
        lambda a: (2.0 * len(a[0]) ** 3, "Gflop/s"),
    ),
    Case(
        "forces", forces, lambda s: (*_random(4, n := _rows(s, 1 << 17), dtype=np.float32), np.zeros(n, "f4")),
        lambda a: (20.0 * len(a[0]) ** 2, "Gflop/s"),
    ),
)  # fmt: skip


def timed(call: Callable[[], object], budget_s: float, learned_in: int) -> tuple[float, float]:
    """Seconds of the first call, and the median of later ones."""
    begun = time.perf_counter()
    call()
    first = time.perf_counter() - begun
    for _ in range(learned_in):
        call()
    times: list[float] = []
    until = time.perf_counter() + budget_s
    while len(times) < 3 or (time.perf_counter() < until and len(times) < 200):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return first, statistics.median(times)


def last(kernel: Any) -> dict[str, Any]:
    """What was decided for the last shared call, and how it went."""
    for kind in kernel._dispatch.sharing._kinds.values():
        for shape, timeline in kind.timelines.items():
            division = kind.divisions.get(shape)
            decision = None if division is None else division.decide()
            return {
                "decided": None if decision is None else decision.kind,
                "sizes": None if decision is None else [len(part) for part in decision.parts],
                "busy_ms": [round(one / 1e6, 3) for one in timeline.busy_ns],
                "done": list(timeline.done),
                "call_ms": round(timeline.total_ns / 1e6, 3),
            }
    return {}


def check(case: Case, devices: str) -> None:
    """Raises AssertionError where several devices do not give what one gives, on the host or resident."""
    given = case.arguments(0.02)
    expected, mine = copy.deepcopy(given), copy.deepcopy(given)
    with lw.options(device="cpu"):
        case.kernel(*expected)
    for plan in ("split", "auto"):
        case.kernel._dispatch.learn_anew()
        for _ in range(4):
            mine = copy.deepcopy(given)
            with lw.options(devices=devices, plan=plan):
                case.kernel(*mine)
            alike(case, plan, mine, expected)
    on_gpus = ", ".join(name for name in map(str.strip, devices.split(",")) if name != "cpu")
    if "," in on_gpus:
        with lw.options(devices=on_gpus, plan="split"):
            pieces = [lw.distributed_array(one) if isinstance(one, np.ndarray) else one for one in given]
            case.kernel(*pieces)
            alike(case, "resident", [np.asarray(one) for one in pieces], expected)
    print(case.name, "is right on", devices, flush=True)


def alike(case: Case, what: str, mine: Sequence[Any], expected: Sequence[Any]) -> None:
    """Raises AssertionError."""
    for one, other in zip(mine, expected, strict=True):
        exact = np.asarray(other).dtype == np.float64
        near = np.abs(np.asarray(other)).max() * (1e-12 if exact else 1e-5)
        right = np.allclose(one, other, rtol=1e-11 if exact else 2e-4, atol=near)
        assert right, f"{case.name} {what}: another result"


def measured(case: Case, devices: str, scale: float, budget_s: float) -> list[dict[str, Any]]:
    """The rows of a case."""
    rows: list[dict[str, Any]] = []
    given = case.arguments(scale)
    amount, unit = case.amount(given)

    def row(where: str, what: str, times: tuple[float, float], **more: Any) -> None:
        first, median = times
        found = {"case": case.name, "arrays": where, "devices": what, "first_s": round(first, 4)}
        rows.append(
            {**found, "ms": round(1e3 * median, 4), "rate": round(amount / median / 1e9, 1), "unit": unit, **more}
        )
        print(json.dumps(rows[-1]), flush=True)

    names = [name.strip() for name in devices.split(",")]
    for name in names:
        with lw.options(device=name, explore=False):
            row("host", name, timed(lambda: case.kernel(*given), budget_s, 1))
    together = [devices, *([", ".join(names[1:])] if len(names) > 2 else [])]
    for several in together:
        for plan in ("split", "auto"):
            case.kernel._dispatch.learn_anew()
            with lw.options(devices=several, plan=plan):
                times = timed(lambda: case.kernel(*given), budget_s, LEARNED_IN)
                row("host", several, times, plan=plan, **last(case.kernel))
    on_gpus = [name for name in names if is_gpu(name.replace(":", "")) and not name.startswith("cpu")]
    if case.resident:
        resident(case, given, on_gpus, budget_s, row)
    return rows


def resident(case: Case, given: Sequence[Any], names: Sequence[str], budget_s: float, row: Callable[..., None]) -> None:
    """Arrays that stay: on the first GPU, and on all of them."""
    with lw.options(device=names[0]):
        there = [lw.device_array(one) if isinstance(one, np.ndarray) else one for one in given]
    gpu: Any = gpus.gpu_of("cuda" if names[0].startswith("cuda") else "emulated")

    def once(arguments: Sequence[Any]) -> None:
        case.kernel(*arguments)
        gpu.synchronize()

    row("resident", names[0], timed(partial(once, there), budget_s, 2))
    del there
    if len(names) < 2:
        return
    case.kernel._dispatch.learn_anew()
    with lw.options(devices=", ".join(names), plan="split"):
        pieces = [lw.distributed_array(one) if isinstance(one, np.ndarray) else one for one in given]
        times = timed(lambda: case.kernel(*pieces), budget_s, LEARNED_IN)
        row("resident", ", ".join(names), times, plan="split", **last(case.kernel))


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """For people."""
    found = Table("loop", "arrays", "devices", "plan", "first s", "ms", "rate", "parts")
    for one in rows:
        found.add_row(
            one["case"], one["arrays"], one["devices"], one.get("plan", ""), str(one["first_s"]), str(one["ms"]),
            f"{one['rate']} {one['unit']}", str(one.get("sizes") or ""),
        )  # fmt: skip
    return found


def main() -> None:
    """Measure, print the table, write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--budget", type=float, default=1.0)
    parser.add_argument("--devices", default="cpu, cuda:0")
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for case in CASES:
        if any(word in case.name for word in asked.only.split(",")):
            check(case, asked.devices)
            rows += measured(case, asked.devices, asked.scale, asked.budget)
    gpu = gpus.gpu_of("cuda")
    machine = {"gpu": None if gpu is None else gpu.name, "cpu": platform.processor(), "version": lw.__version__}
    asked.out.write_text(json.dumps({"machine": machine, "devices": asked.devices, "rows": rows}, indent=1))
    Console(width=160).print(table(rows))


if __name__ == "__main__":
    main()
