"""`python -m benchmarks.reductions out.json`: what people do with whole arrays and small loops over them - sums,
extremes and their places, norms, searches - beside NumPy and numba.njit, in one process, by turns, on one thread."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import loopwright as lw
from benchmarks.gpu.rows import geometric_mean
from benchmarks.machine import cpu_name

SIZES = (1_000, 100_000, 4_000_000)
KINDS = ("float64", "float32", "int64")
ROUNDS = 15
SHORT = 2e-4
"""Seconds: shorter calls are made so often in a row that they take as long."""


def total(a: Any, b: Any) -> Any:
    return np.sum(a)


def dot(a: Any, b: Any) -> Any:
    s = a.dtype.type(0)
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def greatest(a: Any, b: Any) -> Any:
    return np.max(a)


def place(a: Any, b: Any) -> Any:
    return np.argmax(a)


def norm(a: Any, b: Any) -> Any:
    return np.sqrt(np.sum((a - b) ** 2))


def variance(a: Any, b: Any) -> Any:
    return a.var()


def found(a: Any, b: Any) -> Any:
    """The last element is looked for."""
    for i in range(len(a)):
        if a[i] == b[0]:
            return i
    return -1


def row_maxima(a: Any, b: Any) -> Any:
    return np.max(a.reshape(-1, 250), axis=1)


FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "total": (total, total),
    "dot": (dot, np.dot),
    "greatest": (greatest, greatest),
    "place": (place, place),
    "norm": (norm, norm),
    "variance": (variance, variance),
    "found": (found, lambda a, b: np.argmax(a == b[0])),
    "row_maxima": (row_maxima, row_maxima),
}
"""Each as it is compiled, and as people write it with NumPy."""


@dataclass
class Row:
    """Medians of seconds; 0 where it does not run, or gives something else than NumPy, which `note` says."""

    name: str
    kind: str
    size: int
    loopwright: float = 0.0
    numba: float = 0.0
    numpy: float = 0.0
    note: str = ""

    def times(self, who: str) -> float:
        """How many times as fast as another one; 0 where one of them does not run."""
        other = float(getattr(self, who))
        return other / self.loopwright if self.loopwright else 0.0


def data(kind: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays; of the first, the greatest element is the last one, and the first of the second."""
    random = np.random.default_rng(size)
    a, b = (random.integers(0, 1000, size).astype(kind) for _ in range(2))
    a[-1] = b[0] = 1001
    return a, b


def measured(name: str, kind: str, size: int, compilers: dict[str, Callable[[Any], Any]]) -> Row:
    """One function at one size. Raises what Loopwright raises, and AssertionError where it is wrong."""
    row, given = Row(name, kind, size), data(kind, size)
    compiled, plain = FUNCTIONS[name]
    runs: dict[str, Callable[[Any, Any], Any]] = {"numpy": plain}
    for who, compiler in compilers.items():
        run = compiler(compiled)
        try:
            np.testing.assert_allclose(run(*given), plain(*given), rtol=1e-3)
        except Exception as error:
            if who == "loopwright":
                raise
            row.note = f"{who}: {type(error).__name__}"
        else:
            runs[who] = run
    times: dict[str, list[float]] = {who: [] for who in runs}
    counts = {who: max(1, round(SHORT / max(timed(run, given, 3), 1e-7))) for who, run in runs.items()}
    for _ in range(ROUNDS):
        for who, run in runs.items():
            times[who].append(timed(run, given, counts[who]))
    for who, all_times in times.items():
        setattr(row, who, statistics.median(all_times))
    return row


def timed(run: Callable[[Any, Any], Any], given: tuple[np.ndarray, np.ndarray], calls: int) -> float:
    """Seconds of one of so many calls."""
    begun = time.perf_counter()
    for _ in range(calls):
        run(*given)
    return (time.perf_counter() - begun) / calls


def main(
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    sizes: Annotated[str, typer.Option(help="How many elements, with commas.")] = ",".join(map(str, SIZES)),
) -> None:
    """Times of each function, and the geometric means of the ratios."""
    import numba

    rows = []
    with lw.options(threads=1):
        for name in FUNCTIONS:
            for kind in KINDS:
                for size in map(int, sizes.split(",")):
                    row = measured(name, kind, size, {"loopwright": lw.kernel, "numba": numba.njit})
                    rows.append(row)
                    print(text_of(row), flush=True)
    means = {who: geometric_mean([row.times(who) for row in rows if row.times(who)]) for who in ("numba", "numpy")}
    told = {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}", "cpu": cpu_name(), "numba": numba.__version__,
        "numpy": np.__version__, "times as fast": means,
    }  # fmt: skip
    output.write_text(json.dumps(told | {"rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    print(json.dumps(told, indent=1))


def text_of(row: Row) -> str:
    """One line: microseconds, and how many times as fast as the others."""
    ours, numba, numpy = (one * 1e6 for one in (row.loopwright, row.numba, row.numpy))
    ratios = "".join(f"{row.times(who):8.2f}" if row.times(who) else "       -" for who in ("numba", "numpy"))
    return f"{row.name:12} {row.kind:8} {row.size:9,} {ours:11.2f} us {numba:11.2f} {numpy:11.2f} {ratios}  {row.note}"


if __name__ == "__main__":
    typer.run(main)
