"""A sparse matrix times a vector, and PageRank, on rows of one length and of a power law, beside cuSPARSE."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.programs.pagerank import pagerank, with_numpy

from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

ROWS = {"tiny": 60, "small": 50_000, "full": 2_000_000}
ENTRIES = 24
SWEEPS, DAMPING = 10, 0.85


def matrix(rows: int, power_law: bool, seed: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A square matrix in CSR: pointers, columns, values (float64), with about 24 entries a row."""
    random = np.random.default_rng(seed)
    lengths = np.full(rows, ENTRIES)
    if power_law:
        lengths = np.minimum(np.maximum(1, (random.pareto(1.2, rows) + 1) * ENTRIES / 6).astype(np.int64), rows // 8)
    pointer = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = int(pointer[-1])
    return pointer, random.integers(0, rows, entries), random.random(entries)


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case."""
    name, kind = case.split(" ", 1)
    host = matrix(ROWS[size], kind == "power law")
    return (_spmv if name == "spmv" else _pagerank)(bench, host)


def _csr(bench: Bench, pointer: Any, column: Any, value: Any) -> Any:
    rows = pointer.shape[0] - 1
    return bench.torch.sparse_csr_tensor(pointer, column, value, (rows, rows), dtype=bench.torch.float64)


def _spmv(bench: Bench, host: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Trial:
    pointer, column, value = (bench.array(one) for one in host)
    rows = len(host[0]) - 1
    x, y = bench.random(rows), bench.zeros(rows)
    runs: dict[str, Any] = {"loopwright": lambda: kernels.spmv(pointer, column, value, x, y)}
    if bench.torch is not None:
        whole = _csr(bench, pointer, column, value)
        runs["torch"] = lambda: whole @ x
    runs |= bench.numba("spmv", by_hand.kernels, (rows,), pointer, column, value, x, y)

    def agrees() -> bool:
        of_row = np.repeat(np.arange(rows), np.diff(host[0]))
        expected = np.bincount(of_row, weights=host[2] * bench.host(x)[host[1]], minlength=rows)
        return np.allclose(bench.host(y), expected)

    work = float(sum(one.nbytes for one in host) + 16 * rows)
    return Trial(f"{rows} rows, {len(host[1])} entries", work, "B", runs, agrees, "copy", kernel=kernels.spmv)


def _pagerank(bench: Bench, host: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Trial:
    starts, sources = host[0], host[1].astype(np.int32)
    pages = len(starts) - 1
    links = np.bincount(sources, minlength=pages)
    first = np.full(pages, 1.0 / pages)
    there = [bench.array(one) for one in (starts, sources, links, first, np.zeros(pages))]
    again = bench.array(first)
    runs: dict[str, Any] = {"loopwright": lambda: pagerank(*there, DAMPING, SWEEPS)}
    if (torch := bench.torch) is not None:
        out = bench.array(links.astype(np.float64))
        linked = out > 0
        column = bench.array(sources)
        whole = _csr(bench, bench.array(starts.astype(np.int32)), column, bench.array(np.ones(len(sources))))
        rank = bench.array(first)

        def library() -> None:
            rank.copy_(again)
            for _ in range(SWEEPS):
                share = torch.where(linked, rank / out, 0.0)
                lost = torch.where(linked, 0.0, rank).sum()
                torch.add((1.0 - DAMPING) / pages + DAMPING / pages * lost, whole @ share, alpha=DAMPING, out=rank)

        runs["torch"] = library

    def agrees() -> bool:
        rank, share = first.copy(), np.zeros(pages)
        with_numpy(starts, sources, links, rank, share, DAMPING, SWEEPS)
        return np.allclose(bench.host(there[3]), rank, rtol=1e-9)

    work = SWEEPS * (6 * 8.0 * pages + 4.0 * len(sources))
    return Trial(f"{pages} pages, {len(sources)} links, {SWEEPS} sweeps", work, "B", runs, agrees, "copy",
                 before=lambda: bench.put(there[3], again), kernel=pagerank)  # fmt: skip


CASES = tuple(f"{name} {kind}" for name in ("spmv", "pagerank") for kind in ("uniform", "power law"))
PART = Part("sparse", CASES, ("tiny", "small", "full"), make)
