"""The measuring process: compare a case at its small size, or time it at its full size."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu.bench import Bench, NoBench, Run
from benchmarks.gpu.rows import OURS, Row
from benchmarks.gpu.shapes import grids, products, recurrences, rounds, rows, scattered
from benchmarks.gpu.shapes.case import Case, Draw
from benchmarks.gpu.trial import Part, Trial
from benchmarks.gpu.worker import Device, facts

PART = "shapes"
CASES: dict[str, Case] = {
    case.name: case
    for case in products.CASES + rows.CASES + scattered.CASES + grids.CASES + rounds.CASES + recurrences.CASES
}  # fmt: skip
ROUNDS, ROUND_S = 5, 2e-3
OPS_PER_S = {"float64": 33e12, "float32": 66e12}
"""Of an H100 without tensor cores."""


def _made_here(*_: object) -> Trial:
    raise NotImplementedError("the process makes its cases itself")


SHAPES = Part(PART, tuple(CASES), ("tiny", "full"), _made_here)


def serve(pipe: Connection, parts: Sequence[Part], device: Device, budget_s: float) -> None:
    """Rows of each case that is asked for. A refusal is a row, and the process goes on unless the GPU is lost."""
    try:
        bench = Bench(device, budget_s)
        pipe.send(facts(bench))
    except NoBench as error:
        pipe.send(str(error))
        return
    while True:
        try:
            _, name, size = pipe.recv()
        except EOFError:
            return
        row = Row(PART, name, "x".join(map(str, _size(CASES[name], size))), 0.0, "B")
        try:
            for better in (compared if size == "tiny" else timed)(bench, CASES[name], row):
                row = better
                pipe.send(row)
            bench.wait()
        except Exception as error:
            said = f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
            try:
                bench.wait()
            except Exception:
                pipe.send(said)
                continue
            pipe.send(replace(row, fault=said))
        pipe.send(None)


def _size(case: Case, size: str) -> tuple[int, ...]:
    return case.tiny if size == "tiny" else case.full


def compared(bench: Bench, case: Case, row: Row) -> Iterator[Row]:
    """Whether one call gives what NumPy gives, and where it ran."""
    kernel = lw.kernel(case.function)
    host = case.arrays(Draw(), *case.tiny)
    arrays = [bench.array(one) for one in host]
    seconds = bench.once(lambda: kernel(*arrays), "wall")
    got = [bench.host(one) for one in arrays]
    wanted = case.expect(*(_wide(one) for one in host))
    agrees = all(_close(one, other) for one, other in zip(got[len(got) - len(wanted) :], wanted, strict=True))
    row = replace(row, agrees=agrees, seconds={OURS: seconds}, note=where(kernel))
    yield row
    yield replace(row, note=f"{row.note} | {_schedule(kernel, arrays)}")
    if bench.torch is not None and (run := peer(bench, case, case.tiny, arrays)) is not None:
        run()


def _wide(array: np.ndarray) -> np.ndarray:
    """The same numbers in the widest type of their kind."""
    return array.astype({"f": "float64", "c": "complex128", "b": "bool"}.get(array.dtype.kind, "int64"))


def _close(got: np.ndarray, wanted: Any) -> bool:
    expected = np.asarray(wanted)
    if got.dtype.kind not in "fc":  # what was rounded may differ by one, here and there
        if got.shape != expected.shape or got.dtype.kind == "b":
            return bool(np.array_equal(got, expected))
        apart = np.abs(got.astype(np.int64) - expected.astype(np.int64))
        return bool(np.max(apart, initial=0) <= 1 and np.mean(apart > 0) < 0.01) if apart.size else True
    return got.shape == expected.shape and bool(
        np.allclose(got, expected, rtol=1e-3, atol=1e-5 * float(np.max(np.abs(expected), initial=0.0)))
    )


def where(kernel: lw.LoopKernel) -> str:
    """What ran the calls, and why if not the GPU."""
    for one in kernel.specialisations():
        if one.why_not_gpu:
            return f"CPU: {one.why_not_gpu}"
        if one.program is not None and not one.program.parallel:
            return "one thread"
    return "GPU"


def _schedule(kernel: lw.LoopKernel, arrays: list[Any]) -> str:
    try:
        return str(kernel.explain(*arrays).schedule)
    except Exception as error:
        return f"explain: {type(error).__name__}"


def timed(bench: Bench, case: Case, row: Row) -> Iterator[Row]:
    """Seconds of the peer, then ours: what takes too long is known beside its peer."""
    kernel = lw.kernel(case.function)
    host = case.arrays(Draw(), *case.full)
    arrays = [bench.array(one) for one in host]
    moved = case.moved(*case.full) if case.moved else float(sum(one.nbytes for one in host))
    rate = OPS_PER_S["float64" if any(one.dtype == np.float64 for one in host) else "float32"]
    least = max(moved / (bench.copy_bytes_per_s or 1e10), case.ops(*case.full) / rate)
    row = replace(row, work=moved, limit_s=least)
    kept = [bench.array(one) for one in host] if case.restore else []

    def restore() -> None:
        for target, source in zip(arrays, kept, strict=True):
            bench.put(target, source if bench.torch is not None else source.numpy())

    before = restore if case.restore else None
    try:
        run = peer(bench, case, case.full, arrays)
        if run is not None:
            row = replace(row, seconds={"peer": _each(bench, run, before)})
    except Exception as error:
        row = replace(row, note=f"peer: {type(error).__name__}: {str(error)[:100]}")
    yield row
    if before is not None:
        before()
    first = bench.once(lambda: kernel(*arrays), "wall")
    row = replace(row, seconds=row.seconds | {OURS: first, "first": first}, note=f"{row.note} {where(kernel)}".strip())
    yield row
    if before is not None:
        before()
    yield replace(row, seconds=row.seconds | {OURS: _each(bench, lambda: kernel(*arrays), before)})


def _each(bench: Bench, run: Run, before: Run | None) -> float:
    """Seconds of one run: of many in a row where that can be, so that the host's share is seen only where it lasts
    longer than the GPU's."""
    once = [0.0, 0.0]
    for number in range(2):
        if before is not None:
            before()
        once[number] = bench.once(run)
    if before is not None or once[1] > ROUND_S:
        return bench.seconds(run, "gpu", before, bench.budget_s)
    count = max(1, min(200, int(ROUND_S / max(once[1], 1e-6))))

    def several() -> None:
        for _ in range(count):
            run()

    return statistics.median(bench.once(several) / count for _ in range(ROUNDS))


def peer(bench: Bench, case: Case, size: tuple[int, ...], arrays: list[Any]) -> Run | None:
    """PyTorch's way, or a thread for each iteration; None where there is neither, or no GPU."""
    torch = bench.torch
    if torch is None:
        return None
    if case.peer is not None:
        torch.backends.cudnn.allow_tf32 = False
        function: Callable[..., object] = case.peer
        return lambda: function(torch, *arrays)
    if not case.cuda or case.threads is None or (cupy := bench.cupy) is None:
        return None
    kernel = cupy.RawKernel(case.cuda, "peer")
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    given = (*(np.uint64(one.data_ptr()) for one in arrays), *(np.int64(one) for one in size))
    blocks = (case.threads(*size) + 255) // 256

    def run() -> None:
        with stream:
            kernel((blocks,), (256,), given)

    return run
