"""`python -m benchmarks.gpu_interrupts [file] [--base checkout]`: what it costs kernels on an NVIDIA GPU that Ctrl-C
can end them, and how soon it does. Written to the file as JSON.

Each kernel is compiled as it is, so that it asks whether to stop where the launch is long; as one that always asks; and
as one that never does. All run in turn, by the GPU's clock, and ratios to the last are medians of those of the rounds.
Calls are timed by the CPU's clock in the main thread, in processes of their own: in turn with those of another
checkout, where one is named (the folder that has `src`). Latency is the time from a signal to the exception that its
handler raises.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu import kernels
from loopwright.codegen import gpu_writer, grid, one_thread
from loopwright.devices.cuda import find_gpus, why_none

ROUNDS = 15
ROUND_NS = 15e6
CALLS = 2000
SIGNAL_AFTER_S = 0.3
LONG, ASKS = 10**12, 1 << 18
"""Iterations: of calls that do not end by themselves; enough that the kernel which asks is compiled."""
CALLING_ROUNDS = 3
VARIANTS = ("never", "as it is", "always")


def collatz(a, out):
    for i in range(a.shape[0]):
        n = a[i]
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        out[i] = count


def mandelbrot(x, y, out, most):
    for i in range(y.shape[0]):
        for j in range(x.shape[0]):
            a = 0.0
            b = 0.0
            k = 0
            while k < most and a * a + b * b < 4.0:
                a, b = a * a - b * b + x[j], 2.0 * a * b + y[i]
                k += 1
            out[i, j] = k


def power(a, n):
    for i in range(a.shape[0]):
        x = a[i]
        for _ in range(n):
            x = x * 0.999 + 0.001
        a[i] = x


def rows(a, lengths, out):
    for i in range(out.shape[0]):
        s = 0.0
        for t in range(lengths[i]):
            for k in range(t % 5):
                s += a[i] * (k + t)
        out[i] = s


def recurrence(a, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + a[i % 8]
    return s


def steps(a, n):
    b = np.zeros(len(a))
    for _ in range(n):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, len(a) - 1):
            a[i] = 0.5 * b[i]


def endless(a):
    for i in range(a.shape[0]):
        x = a[i]
        while x >= 0.0:
            x = x * 0.5 + 1.0
        a[i] = x


def triangle(a, n):
    for i in range(a.shape[0]):
        for _ in range(n):
            for _ in range(i):
                a[i] += 0.001


def cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions and what they are called with, by name."""
    random = np.random.default_rng(1)

    def there(*shape: int, kind: Any = np.float64) -> Any:
        return lw.device_array(random.random(shape).astype(kind))

    lengths = np.minimum((random.pareto(1.2, 1_000_000) + 1) * 4, 100_000).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    pointer, value = lw.device_array(ends), there(int(ends[-1]))
    column = lw.device_array(random.integers(0, 1_000_000, int(ends[-1])))
    x, y = there(1_000_000), there(1_000_000)
    plain = {name: getattr(kernels, name).__wrapped__ for name in kernels_used}
    n, plane, cube = 1 << 26, (8192, 8192), (400, 400, 400)
    numbers = lw.device_array(random.integers(0, 256, 1 << 26))
    product, single = [there(2048, 2048) for _ in range(3)], [there(4096, 4096, kind=np.float32) for _ in range(3)]
    line, area = np.linspace(-2.0, 0.6, 4096), np.linspace(-1.2, 1.2, 4096)
    found: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "add": (plain["add"], (there(n), there(n), there(n))),
        "jacobi-2d": (plain["jacobi_2d"], (there(*plane), there(*plane))),
        "heat-3d": (plain["heat_3d"], (there(*cube), there(*cube))),
        "transpose": (plain["transpose"], (there(*plane), there(*plane))),
        "product float64": (plain["gemm"], tuple(product)),
        "product float32": (plain["gemm"], tuple(single)),
        "total": (plain["total"], (there(n),)),
        "dot": (plain["dot"], (there(n), there(n))),
        "spmv": (plain["spmv"], (pointer, column, value, x, y)),
        "histogram": (plain["histogram"], (numbers, lw.device_array(np.zeros(256, np.int64)))),
        "convolve": (
            plain["convolve"],
            (there(4100, 4100, kind=np.float32), there(5, 5, kind=np.float32), there(4096, 4096, kind=np.float32)),
        ),
        "collatz": (
            collatz,
            (lw.device_array(np.arange(1, 1 << 20)), lw.device_array(np.zeros((1 << 20) - 1, np.int64))),
        ),
        "mandelbrot": (
            mandelbrot,
            (lw.device_array(line), lw.device_array(area), lw.device_array(np.zeros((4096, 4096), np.int64)), 200),
        ),
        "power": (power, (there(1 << 20), 2000)),
        "rows": (rows, (there(1 << 20), lw.device_array(random.integers(0, 64, 1 << 20)), there(1 << 20))),
        "recurrence": (recurrence, (there(8), 300_000)),
        "steps": (steps, (there(1 << 20), 100)),
    }
    return found


kernels_used = (
    "add", "jacobi_2d", "heat_3d", "transpose", "gemm", "total", "dot", "spmv", "histogram", "convolve",
)  # fmt: skip


def ratio(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], folder: Path) -> dict[str, Any]:
    """Nanoseconds of each variant, and ratios to the first."""
    gpu, runs = find_gpus()[0], {}
    for variant in VARIANTS:
        made, options = lw.kernel(function), {"cache": folder / variant, "store": "off", "device": "cuda"}
        with asking(variant), lw.options(**options):
            made(*arguments)

        def run(times: int, made: Any = made, options: dict[str, Any] = options) -> float:
            with lw.options(**options), gpu.timer() as timer:
                for _ in range(times):
                    made(*arguments)
            return timer.elapsed_ns / times

        runs[variant] = run
    times = int(max(1, min(2000, ROUND_NS / max(runs["never"](3), 1))))
    for variant in VARIANTS:
        with asking(variant):  # it may compile more
            runs[variant](times)
    rounds = []
    for k in range(ROUNDS):
        order = VARIANTS if k % 2 else VARIANTS[::-1]
        rounds.append({variant: runs[variant](times) for variant in order})
    found: dict[str, Any] = {"kernel": name}
    for variant in VARIANTS:
        ratios = [one[variant] / one["never"] for one in rounds]
        found[variant] = {
            "ns": statistics.median(one[variant] for one in rounds),
            "ratio": statistics.median(ratios),
            "spread": statistics.quantiles(ratios, n=4),
        }
    return found


@contextmanager
def asking(variant: str) -> Iterator[None]:
    """Within it, kernels are written as this variant says."""
    before = grid.ask_where_long
    gpu_writer.ASKS = variant != "never"
    if variant == "always":
        grid.ask_where_long = one_thread.ask_where_long = lambda part, work, w: None
    yield
    gpu_writer.ASKS = True
    grid.ask_where_long = one_thread.ask_where_long = before


def call_times() -> dict[str, float]:
    """Microseconds of calls that are short: started only, and waited for."""
    found = {}
    a, b, c = (lw.device_array(np.arange(8.0)) for _ in range(3))
    calls = {"add of 8, started": lambda: kernels.add(a, b, c), "total of 8, waited for": lambda: kernels.total(a)}
    for name, call in calls.items():
        times = []
        with lw.options(device="cuda", store="off"):
            for _ in range(ROUNDS):
                begun = time.perf_counter_ns()
                for _ in range(CALLS):
                    call()
                times.append((time.perf_counter_ns() - begun) / CALLS / 1e3)
                find_gpus()[0].synchronize()
        found[name] = statistics.median(times[1:])
    return found


def call_costs(base: Path | None) -> list[dict[str, Any]]:
    """The same of this checkout and of another one, in turn."""
    here = Path(lw.__file__).parents[1]
    rounds: dict[str, list[dict[str, float]]] = {"here": [], "base": []}
    for _ in range(CALLING_ROUNDS):
        for which, source in (("base", base and base / "src"), ("here", here)):
            if source is not None:
                paths = [
                    str(source),
                    str(Path.cwd()),
                    *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)),
                ]
                command = [sys.executable, "-m", "benchmarks.gpu_interrupts", "--calls"]
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
                told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
                rounds[which].append(json.loads(told.splitlines()[-1]))
    found = []
    for name in rounds["here"][0]:
        middle = {which: statistics.median(one[name] for one in got) for which, got in rounds.items() if got}
        one = {"call": name, **{f"{which}_us": us for which, us in middle.items()}}
        found.append(one | ({"ratio": middle["here"] / middle["base"]} if "base" in middle else {}))
    return found


class Stop(Exception):
    """What the handler raises."""


def on_gpu(*arrays: Any) -> Any:
    """The arrays, in a GPU's memory."""
    return [lw.device_array(one) for one in arrays]


def waited(kernel: Any, *arguments: Any) -> None:
    """Make a call, and wait for all that it has started."""
    kernel(*arguments)
    find_gpus()[0].synchronize()


def latencies() -> list[dict[str, Any]]:
    """Milliseconds from the signal to the exception, and whether the next call is right."""

    made = {one.__name__: lw.kernel(one) for one in (power, steps, endless, triangle, recurrence)}
    (resident,) = on_gpu(np.ones(1 << 20))
    square = on_gpu(*(np.ones((8192, 8192)) for _ in range(3)))
    sums = on_gpu(*(np.ones(1 << 28) for _ in range(3)))
    line = np.ones(1 << 28)
    long = on_gpu(np.ones((64, 1 << 22)), np.ones((1 << 22, 64)), np.zeros((64, 64)))

    def products(arrays: Any, times: int) -> None:
        for _ in range(times):
            kernels.gemm(*arrays)
        find_gpus()[0].synchronize()

    def adds(times: int) -> None:
        for _ in range(times):
            kernels.add(*sums)
        find_gpus()[0].synchronize()

    calls: dict[str, Callable[[], Any]] = {
        "power": lambda: made["power"](np.ones(1 << 20), LONG),
        "power, one thread": lambda: made["power"](np.ones(1), LONG),
        "steps": lambda: made["steps"](np.ones(1 << 20), LONG),
        "long steps": lambda: made["steps"](line, LONG),
        "long steps, array of the GPU": lambda: waited(made["steps"], sums[0], LONG),
        "endless": lambda: made["endless"](np.ones(1 << 20)),
        "triangle": lambda: made["triangle"](np.ones(4000), LONG),
        "recurrence": lambda: made["recurrence"](np.ones(8), LONG),
        "power, array of the GPU": lambda: waited(made["power"], resident, LONG),
        "products of 8192": lambda: products(square, 100),
        "products over 2^22": lambda: products(long, 100),
        "adds of 2^28": lambda: adds(1000),
    }
    found = []
    with lw.options(device="cuda", store="off"):
        made["power"](np.ones(4), ASKS), made["recurrence"](np.ones(8), ASKS), made["steps"](np.ones(64), 3)
        made["triangle"](np.ones(4), ASKS), made["endless"](-np.ones(4)), made["power"](on_gpu(np.ones(4))[0], ASKS)
        made["recurrence"](np.ones(8), 3)
        products(square, 1)
        products(long, 1)
        adds(1)
        for name, call in calls.items():
            got = []
            for _ in range(3):
                signal.setitimer(signal.ITIMER_REAL, SIGNAL_AFTER_S)
                begun = time.monotonic()
                try:
                    call()
                    got.append(float("nan"))
                except Stop:
                    got.append(1e3 * (time.monotonic() - begun - SIGNAL_AFTER_S))
                signal.setitimer(signal.ITIMER_REAL, 0)
            right = made["recurrence"](np.ones(8), 3) == 1.75
            found.append({"call": name, "ms": got, "right_afterwards": bool(right)})
            print(json.dumps(found[-1]), flush=True)
    return found


def raise_stop(number: int, frame: object) -> None:
    """The handler."""
    raise Stop


def main() -> int:
    """Measure, and print a line of JSON for each; 1 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="where to write all of it")
    parser.add_argument("--base", type=Path, help="another checkout, to compare calls with")
    parser.add_argument("--calls", action="store_true", help="only time calls, of this checkout")
    asked = parser.parse_args()
    if not find_gpus():
        print(why_none(), file=sys.stderr)
        return 1
    if asked.calls:
        print(json.dumps(call_times()))
        return 0
    table: dict[str, Any] = {"gpu": find_gpus()[0].name, "kernels": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, (function, arguments) in cases().items():
            table["kernels"].append(ratio(name, function, arguments, Path(folder)))
            print(json.dumps(table["kernels"][-1]), flush=True)
    table["calls"] = call_costs(asked.base)
    print(json.dumps(table["calls"]), flush=True)
    signal.signal(signal.SIGALRM, raise_stop)
    table["latency"] = latencies()
    if asked.file:
        asked.file.write_text(json.dumps(table, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
