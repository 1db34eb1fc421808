"""`python -m benchmarks.gpu_from_host`: calls on an NVIDIA GPU with NumPy arrays, beside what the bus could do.

The limit of a call is the time in which pinned memory could bring what has to go up and what has to come back: one
after the other, and both at once, each measured in this run. Seconds are the least of several calls by the CPU's clock.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu import kernels
from loopwright.devices import cuda
from loopwright.devices.cuda import CudaGpu, find_gpus, why_none
from loopwright.memory import parts

CALLS = 7
PINNED_BYTES = 1 << 30


@dataclass
class Bus:
    """Bytes per second between pinned memory and the GPU: up alone, down alone, and of each where both go on."""

    up: float
    down: float
    up_of_both: float
    down_of_both: float

    def one_by_one(self, up: float, down: float) -> float:
        """Seconds for so many bytes each way, one after the other."""
        return up / self.up + down / self.down

    def at_once(self, up: float, down: float) -> float:
        """The same where both ways are in use until one of them is done."""
        together = min(up / self.up_of_both, down / self.down_of_both)
        return (
            together + (up - together * self.up_of_both) / self.up + (down - together * self.down_of_both) / self.down
        )


@dataclass
class Row:
    """One call: bytes that have to move, seconds at once and in parts of so many MiB, and the two limits of the bus."""

    name: str
    up: int
    down: int
    limit_one_by_one_s: float
    limit_at_once_s: float
    at_once_s: float
    in_parts_s: dict[int, float]
    agrees: bool


def main() -> int:
    """Measure, print one line of JSON for the bus and one for each call; 1 where there is no GPU."""
    found = find_gpus()
    if not found:
        print(why_none(), file=sys.stderr)
        return 1
    bus = bus_of(found[0])
    print(json.dumps({"gpu": found[0].name, **asdict(bus)}), flush=True)
    for lanes, half_mib in ((4, 2), (8, 1), (8, 2), (8, 4), (12, 2), (16, 1), (16, 2)):
        print(json.dumps(staged(lanes, half_mib << 20)), flush=True)
    for row in rows(bus):
        print(json.dumps(asdict(row)), flush=True)
    return 0


def bus_of(gpu: CudaGpu) -> Bus:
    """What the bus does for pinned memory, measured with the driver alone."""
    device = [gpu.allocate(PINNED_BYTES) for _ in range(2)]
    host = [int(gpu.ask("cuMemHostAlloc", PINNED_BYTES, 1)) for _ in range(2)]
    streams = [int(gpu.ask("cuStreamCreate", 1)) for _ in range(2)]

    def up() -> None:
        gpu.ask("cuMemcpyHtoDAsync", device[0], host[0], PINNED_BYTES, streams[0])

    def down() -> None:
        gpu.ask("cuMemcpyDtoHAsync", host[1], device[1], PINNED_BYTES, streams[1])

    def seconds(*copies: Callable[[], None]) -> float:
        def run() -> None:
            for copy in copies:
                copy()
            gpu.synchronize()

        return least(run)

    alone, back, both = PINNED_BYTES / seconds(up), PINNED_BYTES / seconds(down), PINNED_BYTES / seconds(up, down)
    for address in device:
        gpu.release(address)
    for address in host:
        gpu.ask("cuMemFreeHost", address)
    return Bus(alone, back, min(both, alone), min(both, back))


def staged(lanes: int, half_bytes: int) -> dict[str, float]:
    """Bytes per second of copies of an ordinary array through pinned memory, with so many threads and buffers."""
    gpu = CudaGpu(cuda._driver(), 0, lanes, half_bytes)
    array = np.zeros(PINNED_BYTES, "u1")
    address = gpu.allocate(array.nbytes)

    def up() -> None:
        gpu.upload(address, array)
        gpu.synchronize()

    found = {"lanes": lanes, "half_bytes": half_bytes, "up": PINNED_BYTES / least(up)}
    found["down"] = PINNED_BYTES / least(lambda: gpu.download(array, address))
    gpu.release(address)
    return found


def least(run: Callable[[], object]) -> float:
    """The least seconds of some calls, after two to get ready."""
    run(), run()
    times = []
    for _ in range(CALLS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def rows(bus: Bus) -> Iterator[Row]:
    """The calls."""
    random = np.random.default_rng(1)
    a, b = random.random((2, 1 << 27))
    c = np.zeros_like(a)
    yield row(
        bus, "add 3 x 2^27 float64", kernels.add, (a, b, c), 2 * a.nbytes, a.nbytes, lambda: c, lambda: a + 2.0 * b
    )
    a = random.random((16384, 16384))
    b = np.zeros_like(a)

    def five_points() -> np.ndarray[Any, Any]:
        wanted = np.zeros_like(a)
        inner = a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        wanted[1:-1, 1:-1] = 0.2 * inner
        return wanted

    yield row(bus, "jacobi-2d 16384^2 float64", kernels.jacobi_2d, (a, b), a.nbytes, a.nbytes, lambda: b, five_points)
    inner = (a[1:-1, 1:-1], b[1:-1, 1:-1])
    yield row(bus, "jacobi-2d of views", kernels.jacobi_2d, inner, a.nbytes, a.nbytes, lambda: b, lambda: None)
    a, b = random.random((2, 8192, 8192), dtype=np.float32)
    c = np.zeros_like(a)
    yield row(
        bus, "product 8192^3 float32", kernels.gemm, (a, b, c), 3 * a.nbytes, a.nbytes, lambda: c, lambda: None
    )  # fmt: skip


def row(
    bus: Bus,
    name: str,
    kernel: Any,
    arrays: tuple[Any, ...],
    up: int,
    down: int,
    got: Callable[[], Any],
    wanted: Callable[[], Any],
) -> Row:
    """Measure one call at once and in parts of several sizes, and compare the last result."""
    usual, seconds = (parts.PART_BYTES, parts.FEWEST), {}
    with lw.options(device="cuda"):
        try:
            parts.FEWEST = 1 << 30
            at_once = least(lambda: kernel(*arrays))
            parts.FEWEST = usual[1]
            for size in (32, 64, 128, 256):
                parts.PART_BYTES = size << 20
                seconds[size] = least(lambda: kernel(*arrays))
        finally:
            parts.PART_BYTES, parts.FEWEST = usual
    right = wanted()
    agrees = right is None or bool(np.allclose(got(), right))
    return Row(name, up, down, bus.one_by_one(up, down), bus.at_once(up, down), at_once, seconds, agrees)


if __name__ == "__main__":
    raise SystemExit(main())
