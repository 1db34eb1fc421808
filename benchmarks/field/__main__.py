"""`python -m benchmarks.field out.json`: each loop of the field as a call beside numba.njit, in one process, by turns:
Loopwright's default on one thread and on all, and whether its loops are parallel and are vectorised. With `--programs`
the programs instead of the loops of TSVC-2.

A loop counts as vectorised where the C compiler says that it has made vector code of a loop of ours, or where we wrote
vectors ourselves; as parallel where all threads share it. Arguments are restored before each call, off the clock."""

from __future__ import annotations

import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import loopwright as lw
from benchmarks.breadth import jitted
from benchmarks.field import LARGE, LOOPS, PROGRAMS, FieldLoop, FieldProgram
from benchmarks.gpu.rows import geometric_mean
from benchmarks.machine import cpu_name
from benchmarks.table import console

ROUNDS, CALLS = 9, 7
LONG, FEW_ROUNDS = 0.005, 3
"""Seconds: loops whose calls take longer are measured in fewer rounds, of fewer calls."""
BEHIND = 0.9
OURS, ALL, NUMBA = "loopwright", "loopwright, all threads", "numba"
HEADER_ENDS = "#pragma omp declare reduction"
"""The last such line is the end of what all our C files begin with."""
OWN_VECTORS = re.compile(r"vector_size|\blw_vector_|_mm512_|_mm256_")


@dataclass
class Row:
    """One loop: medians of seconds by contender, whether it is parallel and vectorised, and what does not run."""

    name: str
    category: str
    seconds: dict[str, float] = field(default_factory=dict)
    parallel: bool = False
    vectorised: bool = False
    note: str = ""

    def ratio(self, ours: str = OURS) -> float | None:
        """How many times as fast as numba; None where one of them does not run."""
        if ours not in self.seconds or NUMBA not in self.seconds:
            return None
        return self.seconds[NUMBA] / self.seconds[ours]


def main(
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    only: Annotated[str, typer.Option(help="Loops whose names or categories hold one of these words.")] = "",
    programs: Annotated[bool, typer.Option("--programs", help="The programs instead of TSVC-2.")] = False,
) -> None:
    """Times of each loop, what is vectorised, and the geometric means of the ratios."""
    import numba

    words = only.split(",")
    rows = []
    for one in PROGRAMS if programs else LOOPS:
        if any(word in one.name or word in one.category for word in words):
            rows.append(measured(one, numba))
    told = summary(rows) | {"cpu": cpu_name(), "numba": numba.__version__, "numpy": np.__version__}
    told |= {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}",
        "compiler": compiler_name(),
        "sizes": "large" if programs else LARGE,
    }
    output.write_text(json.dumps(told | {"rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    console().print(table(rows))
    print(json.dumps(told, indent=1))


def measured(one: FieldLoop | FieldProgram, numba: ModuleType) -> Row:
    """One loop with both compilers."""
    row, runs = Row(one.name, one.category), dict[str, Callable[..., object]]()
    kernel = lw.kernel(one.function)
    arguments, first = one.arguments(LARGE), dict[str, float]()
    for name, run in ((OURS, kernel), (ALL, kernel), (NUMBA, jitted(one.function, numba, {}))):
        try:
            first[name] = seconds(name, run, arguments)
        except Exception as error:
            row.note += f"{name}: {type(error).__name__}; "
        else:
            runs[name] = run
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS if max(first.values(), default=0.0) < LONG else FEW_ROUNDS):
        for name, run in runs.items():
            found[name].append(seconds(name, run, arguments))
    row.seconds = {name: statistics.median(times) for name, times in found.items()}
    row.parallel, row.vectorised = what_became(one)
    return row


def copied(value: Any) -> Any:
    """An array of the same numbers; anything else as it is."""
    return value.copy() if isinstance(value, np.ndarray) else value


def seconds(who: str, run: Callable[..., object], arguments: tuple[Any, ...]) -> float:
    """Of the shortest of some calls on copies."""
    shortest = float("inf")
    with lw.options(threads=1) if who == OURS else nullcontext():
        for call in range(CALLS):
            given = [copied(value) for value in arguments]
            begun = time.perf_counter()
            run(*given)
            shortest = min(shortest, time.perf_counter() - begun)
            if call and shortest > LONG:
                break
    return shortest


def what_became(one: FieldLoop | FieldProgram) -> tuple[bool, bool]:
    """Whether threads share a loop of it, and whether one is in vectors: as the C compiler reports, which compiles the
    default variant once more for that."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.txt"
        with lw.options(compiler_flags=(f"-fopt-info-vec-optimized={report}",)):
            kernel = lw.kernel(one.function)
            kernel(*one.arguments(LARGE))
            explanation = kernel.explain(*one.arguments(LARGE))
        assert explanation.generated is not None
        text = Path(explanation.generated.source_path).read_text()
        said = report.read_text() if report.exists() else ""
    own = text.rindex(HEADER_ENDS)
    first = text[:own].count("\n") + 1
    lines = [int(line) for line in re.findall(r":(\d+):\d+: optimized:\s+loop vectorized", said)]
    vectors = OWN_VECTORS.search(text, own) is not None
    return "parallelize" in explanation.schedule, vectors or any(line >= first for line in lines)


def compiler_name() -> str:
    """The C compiler that makes our code."""
    kernel = lw.kernel(LOOPS[0].function)
    kernel(*LOOPS[0].arguments())
    generated = kernel.explain(*LOOPS[0].arguments()).generated
    return generated.compiler if generated else ""


def summary(rows: list[Row]) -> dict[str, Any]:
    """What the rows say together."""
    ratios = {row.name: ratio for row in rows if (ratio := row.ratio())}
    everywhere = [ratio for row in rows if (ratio := row.ratio(ALL))]
    behind = sorted((round(ratio, 2), name) for name, ratio in ratios.items() if ratio < BEHIND)
    return {
        "loops": len(rows), "compared": len(ratios),
        "geometric mean, one thread": geometric_mean(list(ratios.values())),
        "geometric mean, all threads": geometric_mean(everywhere),
        "vectorised": sum(row.vectorised for row in rows),
        "parallel": sum(row.parallel for row in rows),
        "vectorised or parallel": sum(row.vectorised or row.parallel for row in rows),
        "neither": [row.name for row in rows if not row.vectorised and not row.parallel],
        f"below {BEHIND}": [f"{name} {ratio}" for ratio, name in behind],
    }  # fmt: skip


def table(rows: list[Row]) -> Table:
    """One line for each loop."""
    found = Table(title="Medians in microseconds; a ratio above 1 means that Loopwright is faster than numba.njit")
    for title in ("loop", "category", OURS, ALL, NUMBA, "ratio", "all threads", "", "note"):
        found.add_column(title, justify="left" if title in ("loop", "category", "", "note") else "right")
    for row in rows:
        times = (f"{row.seconds[who] * 1e6:.1f}" if who in row.seconds else "-" for who in (OURS, ALL, NUMBA))
        ratios = (f"{ratio:.2f}" if ratio else "-" for ratio in (row.ratio(), row.ratio(ALL)))
        became = " ".join(word for word, is_so in (("vectors", row.vectorised), ("threads", row.parallel)) if is_so)
        found.add_row(row.name, row.category, *times, *ratios, became, row.note)
    return found


if __name__ == "__main__":
    typer.run(main)
