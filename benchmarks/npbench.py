"""`python -m benchmarks.npbench CHECKOUT out.json`: the programs of NPBench (github.com/spcl/npbench), their NumPy
bodies unchanged, with `@lw.kernel` beside NumPy itself, numba.njit on the same body (with `parallel=True` as well) and
Pythran on NPBench's own version for it.

The checkout is the user's; nothing of it is here. Each program and contender is a process of its own, on copies of the
same arguments, and what each leaves in them and returns is compared with NumPy's."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Queue
from statistics import median
from types import ModuleType
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.gpu.rows import geometric_mean
from benchmarks.machine import cpu_name

CONTENDERS = ("numpy", "loopwright", "numba", "numba parallel", "pythran")
TOLERANCE = 1e-5  # of single precision, which some programs have
LEAST = 3


@dataclass(frozen=True, slots=True)
class Program:
    """What NPBench's description says of one program."""

    name: str
    folder: Path
    module: str
    function: str
    parameters: dict[str, dict[str, Any]]
    init: dict[str, Any]
    input_args: tuple[str, ...]

    def arguments(self, size: str) -> list[Any]:
        """The arguments of the function at this size, as NPBench makes them."""
        known = dict(self.parameters[size])
        np.random.seed(42)  # some draw without a seed: each contender is to get the same
        if self.init:
            made = getattr(loaded(self.folder / f"{self.module}.py"), self.init["func_name"])(
                *(known[name] for name in self.init["input_args"])
            )
            known |= zip(self.init["output_args"], made if isinstance(made, tuple) else (made,), strict=False)
        return [known[name] for name in self.input_args]


@dataclass
class Row:
    """One program: median seconds of each contender, or why it has none."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    first_s: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def ratio(self, *others: str) -> float | None:
        """How many times as fast as the fastest of these Loopwright is."""
        times = [self.seconds[other] for other in others if other in self.seconds]
        return min(times) / self.seconds["loopwright"] if times and "loopwright" in self.seconds else None


def main(
    checkout: Annotated[Path, typer.Argument(help="The folder with NPBench's bench_info and npbench.")],
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    size: Annotated[str, typer.Option(help="S, M, L or paper.")] = "S",
    only: Annotated[str, typer.Option(help="Short names, with commas.")] = "",
    contenders: Annotated[str, typer.Option(help="Who takes part, with commas.")] = ",".join(CONTENDERS),
    budget: Annotated[float, typer.Option(help="Seconds for the calls of one process.")] = 1.0,
    timeout: Annotated[float, typer.Option(help="Seconds after which a process is ended.")] = 180.0,
    groups: Annotated[int, typer.Option(help="Groups of cores, each with a program of its own at a time.")] = 1,
    child: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Times of each program, and the geometric means of the ratios."""
    if child:
        one(next(found for found in programs(checkout) if found.name == only), child, size, output, budget)
        return
    rows: list[Row] = []
    wanted = [one for one in programs(checkout) if not only or one.name in only.split(",")]
    free = groups_of_cores(groups)

    def measured(program: Program) -> Row:
        cores = free.get()
        try:
            return row_of(program, checkout, size, contenders.split(","), budget, timeout, cores)
        finally:
            free.put(cores)

    with ThreadPoolExecutor(groups) as pool:
        for row in pool.map(measured, wanted):
            rows.append(row)
            print(text_of(row), flush=True)
            told = summary(rows, size) | {"cores of each": len(os.sched_getaffinity(0)) // groups}
            output.write_text(json.dumps(told | {"rows": [vars(row) for row in rows]}, indent=1) + "\n")
    print(json.dumps(summary(rows, size), indent=1))


def programs(checkout: Path) -> Iterator[Program]:
    """NPBench's programs, by name."""
    for path in sorted((checkout / "bench_info").glob("*.json")):
        told = json.loads(path.read_text())["benchmark"]
        folder = checkout / "npbench" / "benchmarks" / told["relative_path"]
        yield Program(
            told["short_name"], folder, told["module_name"], told["func_name"], told["parameters"],
            told.get("init") or {}, tuple(told["input_args"]),
        )  # fmt: skip


def groups_of_cores(groups: int) -> Queue[list[int]]:
    """The cores this process may use in so many groups of the same size, neighbours together."""
    cores = sorted(os.sched_getaffinity(0))
    size = max(1, len(cores) // groups)
    free: Queue[list[int]] = Queue()
    for group in range(groups):
        free.put(cores[group * size : (group + 1) * size])
    return free


def loaded(path: Path) -> ModuleType:
    """The module of this file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def row_of(
    program: Program, checkout: Path, size: str, contenders: list[str], budget: float, timeout: float, cores: list[int]
) -> Row:
    """One program with all contenders, a process each, on these cores."""
    row, right = Row(program.name), None
    with tempfile.TemporaryDirectory() as folder:
        for contender in contenders:
            path = Path(folder) / "result"
            command = [
                *("taskset", "-c", ",".join(map(str, cores))), *(sys.executable, "-m", "benchmarks.npbench"),
                *(str(checkout), str(path), "--only", program.name, "--size", size, "--child", contender),
                *("--budget", str(budget)),
            ]  # fmt: skip
            environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout), *sys.path])}
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=False, timeout=timeout
                )
            except subprocess.TimeoutExpired:
                row.notes[contender] = f"more than {timeout:g} s"
                continue
            if done.returncode:
                row.notes[contender] = (done.stderr.strip().splitlines() or ["?"])[-1][:160]
                continue
            found = pickle.loads(path.read_bytes())
            if contender == "numpy":
                right = found["after"]
            elif right is not None and not agree(found["after"], right):
                row.notes[contender] = "other results than NumPy's"
                continue
            row.seconds[contender], row.first_s[contender] = found["seconds"], found["first_s"]
    return row


def one(program: Program, contender: str, size: str, output: Path, budget: float) -> None:
    """One contender: the first call, whose results are kept, and the times of the next ones."""
    run = compiled(program, contender)
    given = program.arguments(size)
    mine = copy.deepcopy(given)
    start = time.perf_counter()
    result = run(*mine)
    first_s = time.perf_counter() - start
    after = [result, *(value for value in mine if not callable(value))]
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - begin < budget:
        mine = copy.deepcopy(given)
        start = time.perf_counter()
        run(*mine)
        times.append(time.perf_counter() - start)
    output.write_bytes(pickle.dumps({"seconds": median(times), "first_s": first_s, "after": after}))


def compiled(program: Program, contender: str) -> Callable[..., Any]:
    """The program's function as this contender runs it."""
    if contender == "pythran":
        return pythran_of(program)
    function = getattr(loaded(program.folder / f"{program.module}_numpy.py"), program.function)
    if contender == "loopwright":
        import loopwright as lw

        made: Callable[..., Any] = lw.kernel(function)
        return made
    if contender.startswith("numba"):
        import numba

        from benchmarks.breadth import jitted

        return jitted(function, numba, {}, parallel=contender == "numba parallel")  # type: ignore[no-any-return]
    return function  # type: ignore[no-any-return]


def pythran_of(program: Program) -> Callable[..., Any]:
    """NPBench's version for Pythran, compiled as NPBench does."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"{program.module}_pythran"
        target = Path(folder) / f"{name}.so"
        subprocess.run(
            [sys.executable, "-m", "pythran.run", "-DUSE_XSIMD", "-fopenmp", "-march=native", "-ffast-math",
             program.folder / f"{name}.py", "-o", target],
            check=True, capture_output=True,
        )  # fmt: skip
        return getattr(loaded(target), program.function)  # type: ignore[no-any-return]


def agree(found: object, right: object) -> bool:
    """Whether two results are the same numbers, as nearly as another order of sums lets them be: NPBench's own measure,
    the norm of the difference."""
    if isinstance(right, tuple | list):
        return isinstance(found, tuple | list) and len(found) == len(right) and all(map(agree, found, right))
    if right is None or found is None:
        return found is right
    one, other = (np.nan_to_num(np.asarray(value)) for value in (found, right))
    if one.shape != other.shape or (np.isnan(np.asarray(found)) != np.isnan(np.asarray(right))).any():
        return False
    return bool(np.linalg.norm(one - other) <= TOLERANCE * max(np.linalg.norm(other), 1e-8))


def summary(rows: list[Row], size: str) -> dict[str, object]:
    """How many run, and the geometric means."""
    peers = [name for name in CONTENDERS if name != "loopwright"]
    told: dict[str, object] = {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "cpu": cpu_name(), "cores": os.cpu_count()}
    told |= {"size": size, "numpy": np.__version__, "programs": len(rows)}
    told["run"] = {name: sum(name in row.seconds for row in rows) for name in CONTENDERS}
    for name, others in (("fastest peer", peers), ("numpy", ["numpy"])):
        ratios = [ratio for row in rows if (ratio := row.ratio(*others)) is not None]
        told[f"geometric mean beside {name}"] = geometric_mean(ratios) if ratios else None
    told["below 0.95 of NumPy"] = {
        row.name: round(ratio, 2) for row in rows if (ratio := row.ratio("numpy")) is not None and ratio < 0.95
    }
    return told


def text_of(row: Row) -> str:
    """One line."""
    times = "  ".join(f"{name} {seconds * 1e3:.3f}" for name, seconds in row.seconds.items())
    ratios = [
        f"{ratio:.2f}" if (ratio := row.ratio(*who)) else "-" for who in (CONTENDERS[:1], ("numpy", *CONTENDERS[2:]))
    ]
    notes = "; ".join(f"{name}: {note}" for name, note in row.notes.items())
    return f"{row.name:14} {' '.join(ratios)}  ms: {times}  {notes}"


if __name__ == "__main__":
    typer.run(main)
