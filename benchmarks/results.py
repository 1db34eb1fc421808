"""What a run of the benchmark found: one frozen record for each kernel, and the file it is kept in."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import Machine

OURS, NUMBA, PRANGE, C = "loopwright", "numba", "numba prange", "C"
PLAIN, OPENMP, PLUTO, BLAS = "plain", "C OpenMP", "Pluto style", "OpenBLAS"
CONTENDERS = (OURS, NUMBA, PRANGE, C)  # on every kernel
SOMETIMES = (PLAIN, OPENMP, PLUTO, BLAS)  # where there is such a version
RIVALS = (PRANGE, NUMBA, C)
FOLDER = Path(__file__).parent / "results"
REASONS = Path(__file__).parent / "reasons.toml"
GOAL = 0.8  # a kernel below this share of the speed of hand-placed prange needs a reason
WRONG = "WRONG"


@dataclass(frozen=True)
class Cell:
    """One contender on one kernel. fault: '' or why there is no time: WRONG or what was raised. seconds: one for each
    round. first_call_s: the first call, on small data, which compiles (None for C: compiled before)."""

    fault: str
    seconds: tuple[float, ...] = ()
    median_s: float | None = None
    spread: float | None = None
    first_call_s: float | None = None


@dataclass(frozen=True)
class Row:
    """One kernel. cells by contender. bound_s: the roofline's least time. cold_s, cached_s: our first call in a new
    process, with an empty and with a filled cache; compiler_s: the C compiler's part of cold_s. memory_ratio: our peak
    memory over the arrays' size. streamed_bytes: see `cases.Case`."""

    name: str
    suite: str
    size: str
    array_bytes: int
    cells: dict[str, Cell]
    bound_s: float
    cold_s: float | None = None
    cached_s: float | None = None
    compiler_s: float | None = None
    memory_ratio: float | None = None
    fresh_fault: str = ""
    reason: str = ""
    streamed_bytes: float | None = None

    def seconds(self, contender: str) -> float | None:
        """A contender's median, if it took part and was right."""
        cell = self.cells.get(contender)
        return cell.median_s if cell and not cell.fault else None

    def ratio(self, rival: str = PRANGE) -> float | None:
        """How many times faster than a rival we are, where both were right."""
        theirs, ours = self.seconds(rival), self.seconds(OURS)
        return theirs / ours if theirs and ours else None

    @property
    def roofline(self) -> float | None:
        """The share of the machine's limit that we reach; above 1 only where data stays in the caches between runs."""
        ours = self.seconds(OURS)
        return self.bound_s / ours if ours else None

    @property
    def below_goal(self) -> bool:
        """Are we slower than GOAL, or without a right result?"""
        ratio = self.ratio()
        return self.seconds(OURS) is None or (ratio is not None and ratio < GOAL)


@dataclass(frozen=True)
class Overhead:
    """loop_ns: the bare loop, called from C. call_ns: by contender, the median call from Python less loop_ns."""

    loop_ns: float
    call_ns: dict[str, float]


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of the values that are there; None where there are none."""
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def reasons(path: Path = REASONS) -> dict[str, str]:
    """Why a kernel is below the goal, by the kernel's name."""
    with path.open("rb") as file:
        return tomllib.load(file)


def write(
    path: Path, machine: Machine, rows: Iterable[Row], overhead: Overhead | None, settings: dict[str, object]
) -> None:
    """Keep everything as JSON: times in seconds unless the name says otherwise."""
    rows = tuple(rows)
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "machine": asdict(machine),
        "geometric_means": {rival: geometric_mean(row.ratio(rival) for row in rows) for rival in RIVALS + SOMETIMES},
        "overhead": asdict(overhead) if overhead else None,
        "kernels": [asdict(row) | {"ratio": row.ratio(), "roofline": row.roofline} for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def default_path(size: str) -> Path:
    """A new file for this run in `benchmarks/results/`."""
    return FOLDER / f"{datetime.now(UTC):%Y-%m-%dT%H%M%S}-{size}.json"
