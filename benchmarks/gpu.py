"""`python -m benchmarks.gpu`: the same loops on an NVIDIA GPU, beside PyTorch, CuPy and numba.cuda in one run.

It needs PyTorch for arrays and times; what else is missing is left out of the table. Arrays are on the GPU, except
where a row says otherwise. Times are medians of the GPU's own clock; each result is compared with a peer's first.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import loopwright as lw
from benchmarks import gpu_kernels as kernels
from benchmarks import table
from loopwright.devices.gpus import gpu_of, why_no_gpu

RESULTS = Path(__file__).parent / "results"
ROUNDS = 15


@dataclass
class Row:
    """One kernel: what it moves (bytes) or computes (operations), seconds of each contender, and what it is held to:
    `limit_s` is the time at the copy bandwidth of this run, or that of the library's matrix product."""

    name: str
    size: str
    work: float
    unit: str
    limit_s: float
    seconds: dict[str, float] = field(default_factory=dict)
    agrees: bool = True
    note: str = ""


def main() -> int:
    """Measure, print the table, keep the JSON; 1 where there is no GPU or no PyTorch."""
    if gpu_of("cuda") is None:
        print(why_no_gpu(), file=sys.stderr)
        return 1
    try:
        import torch
    except ImportError:
        print("the GPU benchmark needs PyTorch (pip install torch)", file=sys.stderr)
        return 1
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
    else:
        path = RESULTS / f"{datetime.now():%Y-%m-%dT%H%M%S}-GPU.json"
    bench = Bench(torch)
    rows = []
    for part in (bench.line, bench.planes, bench.space, bench.products, bench.sums, bench.sparse, bench.from_host):
        for row in part():
            rows.append(row)
            print(f"{row.name} {row.size}: {row.agrees} {_rates(row)} {row.note}", flush=True)
    calls = bench.calls()
    show(rows, bench.copy_bytes_per_s, calls)
    facts = {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}",
        "gpu": torch.cuda.get_device_name(),
        "versions": versions(torch),
    }
    told = {
        **facts,
        "copy_bytes_per_s": bench.copy_bytes_per_s,
        "calls_us": calls,
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(told, indent=1) + "\n")
    print(f"kept in {path.name}")
    return 0


class Bench:
    """Arrays and clocks of one run."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.hand: dict[str, Any] = {}
        with suppress(Exception):  # numba.cuda may be missing, or not know this driver
            self.hand = kernels.by_hand()
        one = torch.empty(1 << 28, dtype=torch.float64, device="cuda").normal_()
        other = torch.empty_like(one)
        self.copy_bytes_per_s = 2 * one.nbytes / self.seconds(lambda: other.copy_(one))

    def seconds(self, run: Callable[[], object], rounds: int = ROUNDS) -> float:
        """The median of the GPU's times for what a call starts."""
        torch = self.torch
        run(), run()
        times = []
        for _ in range(rounds):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            run()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / 1e3)
        return statistics.median(times)

    def row(
        self, name: str, size: str, work: float, unit: str, limit_s: float, runs: dict[str, Callable[[], object]],
        agrees: Callable[[], bool],
    ) -> Row:  # fmt: skip
        """Run ours, compare, then measure all."""
        row = Row(name, size, work, unit, limit_s)
        runs["loopwright"]()
        self.torch.cuda.synchronize()
        row.agrees = bool(agrees())
        for who, run in runs.items():
            try:
                row.seconds[who] = self.seconds(run)
            except Exception as error:  # a peer that cannot do it is no row less
                row.note += f"{who}: {type(error).__name__} "
        return row

    def by_hand(self, name: str, shape: tuple[int, ...], *arrays: Any) -> dict[str, Callable[[], object]]:
        """The numba.cuda kernel of that name over a grid for `shape` (x first), if there is one."""
        if name not in self.hand:
            return {}
        from numba import cuda

        kernel, block = self.hand[name]
        grid = tuple(-(-size // threads) for size, threads in zip(shape, block, strict=True))
        stream = cuda.external_stream(self.torch.cuda.current_stream().cuda_stream)
        given = [cuda.as_cuda_array(array) for array in arrays]
        return {"numba.cuda": lambda: kernel[grid, block, stream](*given)}

    def line(self) -> Iterator[Row]:
        """An element-wise chain."""
        torch, copy = self.torch, self.copy_bytes_per_s
        a, b = (torch.rand(1 << 28, dtype=torch.float64, device="cuda") for _ in range(2))
        c = torch.empty_like(a)
        work = 3.0 * a.nbytes
        runs = {"loopwright": lambda: kernels.add(a, b, c), "torch": lambda: torch.add(a, b, alpha=2.0, out=c)}
        runs |= self.by_hand("add", (a.shape[0],), a, b, c)
        yield self.row("add", "2^28", work, "B", work / copy, runs, lambda: torch.allclose(c, a + 2.0 * b))

    def planes(self) -> Iterator[Row]:
        """A stencil and a transposition in two dimensions."""
        torch, copy = self.torch, self.copy_bytes_per_s
        a = torch.rand(16384, 16384, dtype=torch.float64, device="cuda")
        b = torch.zeros_like(a)
        work = 2.0 * a.nbytes

        def five_points(x: Any) -> Any:
            return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

        compiled = torch.compile(lambda x, y: y[1:-1, 1:-1].copy_(five_points(x)))
        runs = {"loopwright": lambda: kernels.jacobi_2d(a, b), "torch.compile": lambda: compiled(a, b)}
        runs |= self.by_hand("jacobi-2d", (16384, 16384), a, b)
        yield self.row("jacobi-2d", "16384^2", work, "B", work / copy, runs,
                       lambda: torch.allclose(b[1:-1, 1:-1], five_points(a)))  # fmt: skip
        runs = {"loopwright": lambda: kernels.transpose(a, b), "torch": lambda: b.copy_(a.T)}
        runs |= self.by_hand("transpose", (16384, 16384), a, b)
        yield self.row("transpose", "16384^2", work, "B", work / copy, runs, lambda: torch.equal(b, a.T))

    def space(self) -> Iterator[Row]:
        """A stencil in three dimensions."""
        torch, copy = self.torch, self.copy_bytes_per_s
        a = torch.rand(640, 640, 640, dtype=torch.float64, device="cuda")
        b = torch.zeros_like(a)
        work = 2.0 * a.nbytes
        runs = {"loopwright": lambda: kernels.heat_3d(a, b)} | self.by_hand("heat-3d", (640, 640, 640), a, b)
        inner, m, p = slice(1, -1), slice(0, -2), slice(2, None)

        def heat(x: Any) -> Any:
            mid = x[inner, inner, inner]
            lines = ((x[p, inner, inner], x[m, inner, inner]), (x[inner, p, inner], x[inner, m, inner]),
                     (x[inner, inner, p], x[inner, inner, m]))  # fmt: skip
            return mid + sum(0.125 * (right - 2.0 * mid + left) for right, left in lines)

        compiled_heat = torch.compile(lambda x, y: y[inner, inner, inner].copy_(heat(x)))
        runs["torch.compile"] = lambda: compiled_heat(a, b)
        yield self.row("heat-3d", "640^3", work, "B", work / copy, runs,
                       lambda: torch.allclose(b[inner, inner, inner], heat(a)))  # fmt: skip

    def products(self) -> Iterator[Row]:
        """Three plain loops against the library."""
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = False
        for kind, n in ((torch.float32, 8192), (torch.float64, 4096)):
            a, b = (torch.rand(n, n, dtype=kind, device="cuda") for _ in range(2))
            c = torch.zeros_like(a)
            library = self.seconds(lambda a=a, b=b: torch.matmul(a, b), 7)

            def agrees(a: Any = a, b: Any = b, c: Any = c) -> bool:
                c.zero_()
                kernels.gemm(a, b, c)
                return torch.allclose(c, a @ b, rtol=1e-3)

            runs = {
                "loopwright": lambda a=a, b=b, c=c: kernels.gemm(a, b, c),
                "torch": lambda a=a, b=b: torch.matmul(a, b),
            }
            runs |= self.by_hand("gemm", (n, n), a, b, c)
            name = f"gemm {str(kind).removeprefix('torch.')}"
            yield self.row(name, f"{n}^3", 2.0 * n**3, "op", library, runs, agrees)

    def sums(self) -> Iterator[Row]:
        """Reductions, whose result is wanted on the host."""
        torch, copy = self.torch, self.copy_bytes_per_s
        a, b = (torch.rand(1 << 28, dtype=torch.float64, device="cuda") for _ in range(2))
        for name, ours, theirs, count in (
            ("sum", lambda: kernels.total(a), lambda: torch.sum(a).item(), 1),
            ("dot", lambda: kernels.dot(a, b), lambda: torch.dot(a, b).item(), 2),
        ):
            work = float(count * a.nbytes)
            runs = {"loopwright": ours, "torch": theirs}
            yield self.row(name, "2^28", work, "B", work / copy, runs,
                           lambda ours=ours, theirs=theirs: bool(np.isclose(ours(), theirs())))  # fmt: skip

    def sparse(self) -> Iterator[Row]:
        """CSR times a vector, on rows of one length and of a power law."""
        torch = self.torch
        for kind in ("uniform", "power law"):
            host = kernels.matrix(2_000_000, 24, kind != "uniform")
            pointer, column, value = (torch.from_numpy(one).cuda() for one in host)
            x = torch.rand(pointer.shape[0] - 1, dtype=torch.float64, device="cuda")
            y = torch.zeros_like(x)
            whole = torch.sparse_csr_tensor(pointer, column, value, (x.shape[0], x.shape[0]), dtype=torch.float64)
            work = float(value.nbytes + column.nbytes + pointer.nbytes + x.nbytes + y.nbytes)
            runs = {
                "loopwright": lambda p=pointer, c=column, v=value, x=x, y=y: kernels.spmv(p, c, v, x, y),
                "torch": lambda whole=whole, x=x: whole @ x,
            }
            runs |= self.by_hand("spmv", (x.shape[0],), pointer, column, value, x, y)
            yield self.row(f"spmv {kind}", "2e6 rows", work, "B", work / self.copy_bytes_per_s, runs,
                           lambda whole=whole, x=x, y=y: torch.allclose(y, whole @ x))  # fmt: skip

    def from_host(self) -> Iterator[Row]:
        """Arrays of the host: what has to move, at the speed of pinned memory."""
        torch = self.torch
        a, b, c = np.random.rand(1 << 27), np.random.rand(1 << 27), np.zeros(1 << 27)
        pinned, there = (
            torch.empty(1 << 26, dtype=torch.float64).pin_memory(),
            torch.empty(1 << 26, device="cuda", dtype=torch.float64),
        )
        up = pinned.nbytes / self.seconds(lambda: there.copy_(pinned, non_blocking=True), 5)
        down = pinned.nbytes / self.seconds(lambda: pinned.copy_(there, non_blocking=True), 5)
        row = Row("add, host arrays", "2^27", 3.0 * a.nbytes, "B", 2 * a.nbytes / up + a.nbytes / down)
        with lw.options(device="cuda"):
            kernels.add(a, b, c)
            row.agrees = bool((c == a + 2.0 * b).all())
            times = []
            for _ in range(5):
                start = time.perf_counter()
                kernels.add(a, b, c)
                times.append(time.perf_counter() - start)
        row.seconds["loopwright"] = statistics.median(times)
        yield row

    def calls(self) -> dict[str, float]:
        """Microseconds of a call on tiny arrays that are on the GPU, the launch included."""
        torch = self.torch
        a, b, c = (torch.rand(8, dtype=torch.float64, device="cuda") for _ in range(3))
        mine = [lw.device_array(np.random.rand(8)) for _ in range(3)]
        found = {}
        for name, run in (
            ("tensors", lambda: kernels.add(a, b, c)),
            ("lw.device_array", lambda: kernels.add(*mine)),
            ("torch.add", lambda: torch.add(a, b, alpha=2.0, out=c)),
            *((f"{who} by hand", run) for who, run in self.by_hand("add", (8,), a, b, c).items()),
        ):
            run()
            torch.cuda.synchronize()
            times = []
            for _ in range(2000):
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
            torch.cuda.synchronize()
            found[name] = statistics.median(times) * 1e6
        return found


def _rates(row: Row) -> str:
    """What each contender reaches, in GB/s or Gop/s, and ours as a part of the limit."""
    rates = ", ".join(f"{who} {row.work / seconds / 1e9:.0f}" for who, seconds in row.seconds.items())
    ours = row.seconds.get("loopwright")
    return f"{rates} G{row.unit}/s" + (f"; {row.limit_s / ours:.2f} of the limit" if ours else "")


def show(rows: list[Row], copy_bytes_per_s: float, calls: dict[str, float]) -> None:
    """The table."""
    shown = Table(title=f"GPU, arrays on the device; copy {copy_bytes_per_s / 1e9:.0f} GB/s")
    for heading in ("kernel", "size", "rates", "agrees"):
        shown.add_column(heading)
    for row in rows:
        shown.add_row(row.name, row.size, _rates(row), "yes" if row.agrees else "NO")
    console = table.console()
    console.print(shown)
    console.print("microseconds of a call: " + ", ".join(f"{who} {us:.1f}" for who, us in calls.items()))


def versions(torch: Any) -> dict[str, str]:
    """Of everything that took part."""
    found = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    found |= {"loopwright": lw.__version__, "cuda": str(torch.version.cuda)}
    for name in ("numba", "cupy", "triton"):
        with suppress(Exception):
            found[name] = __import__(name).__version__
    return found


if __name__ == "__main__":
    sys.exit(main())
