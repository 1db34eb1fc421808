"""The tour: four programs of plain Python loops on real data, beside NumPy. Exits with 1 where a result is wrong.

Run it with `make run`, or `python examples/tour.py`. It needs the extra `examples` (scikit-learn and pillow)."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from programs import PROBLEMS
from programs.problem import Arguments, Problem, agrees, fresh, largest_difference

COLUMNS = ("problem", "size", "what was proven", "NumPy", "here", "speed-up", "agreement")
NUMPY_RUNS, OUR_RUNS = 3, 5


def median_seconds(run: Callable[..., object], problem: Problem, data: Arguments, runs: int) -> tuple[float, Arguments]:
    """The median time of some runs, each on fresh copies of what it writes, and the last run's arguments."""
    times = []
    used = data
    for _ in range(runs):
        used = fresh(problem, data)
        start = time.perf_counter()
        run(*used.values())
        times.append(time.perf_counter() - start)
    return statistics.median(times), used


def proven(problem: Problem, used: Arguments) -> str:
    """The verdicts on the loops, in source order: `parallel: i, j; reduction: y, x`."""
    loops: dict[str, list[str]] = {}
    for loop in problem.kernel.explain(*used.values()).to_dict()["loops"]:
        loops.setdefault(loop["verdict"], []).append(loop["name"])
    return "\n".join(f"{verdict}: {', '.join(names)}" for verdict, names in loops.items())


def spoken(seconds: float) -> str:
    """A time for people: `1.24 s` or `31.0 ms`."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def visit(problem: Problem) -> tuple[list[str], float, bool]:
    """Run one program: its row of the table, the seconds of its first call (which compiles), and is it right?"""
    data = problem.arguments()
    numpy_seconds, expected = median_seconds(problem.with_numpy, problem, data, NUMPY_RUNS)
    first_seconds, _ = median_seconds(problem.kernel, problem, data, 1)
    our_seconds, used = median_seconds(problem.kernel, problem, data, OUR_RUNS)
    difference = largest_difference(problem, used, expected)
    right = agrees(problem, difference)
    agreement = "exact" if difference == 0 else f"to {difference:.1g}"
    row = [problem.title, problem.size(data), proven(problem, used), spoken(numpy_seconds), spoken(our_seconds)]
    row += [f"{numpy_seconds / our_seconds:.1f}x", agreement if right else f"[bold red]WRONG[/]: {difference:.1g}"]
    return row, first_seconds, right


def main() -> int:
    """Visit every program and print the table."""
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 120)
    table = Table(*COLUMNS, title="The same plain Python loops, on every core", show_lines=True)
    for column in table.columns[3:6]:
        column.justify = "right"
    first_calls = 0.0
    wrong = 0
    for problem in PROBLEMS:
        with console.status(problem.title):
            row, first_seconds, right = visit(problem)
        table.add_row(*row)
        first_calls += first_seconds
        wrong += not right
    console.print(table)
    console.print(
        f"Medians of {NUMPY_RUNS} (NumPy) and {OUR_RUNS} runs. The first calls took {spoken(first_calls)} in all: they "
        "compile, or load what an earlier run compiled.\n"
        "Agreement: the largest difference from NumPy's result, relative to its largest value."
    )
    if wrong:
        console.print(f"[bold red]{wrong} of {len(PROBLEMS)} results are wrong[/]")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
