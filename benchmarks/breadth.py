"""`python -m benchmarks.breadth out.json`: the functions of tests/breadth, as numba's users write them, beside
numba.njit in one process, by turns.

Arguments are those of the tests: small, so that what a call costs is part of every time. With `--scale 1000`
arrays that are drawn at random have so many times as many elements; functions whose arguments then do not go together
are left out. Arguments that a function may change are copied before each call, off the clock."""

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import statistics
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any

import numpy as np
import typer

import loopwright as lw
from benchmarks.gpu.rows import geometric_mean
from benchmarks.machine import cpu_name

MODULES = (
    "algorithms", "astronomy", "audio", "boards", "control", "crystals", "ecology", "finance", "genetics", "graphs",
    "hydrology", "images", "maps", "markets", "networks", "neurons", "particles", "physics", "pixels", "plain_loops",
    "populations", "sequences", "signals", "statistics",
)  # fmt: skip
ROUNDS, CALLS = 7, 20
LONG = 0.3
"""Seconds: a call that takes longer is made once more only."""


@dataclass(frozen=True)
class Scaled:
    """A generator whose arrays have `factor` times as many elements; axes of up to 3 elements stay as they are."""

    generator: np.random.Generator
    factor: float

    def sizes(self, size: Any) -> Any:
        """The size of a larger array."""
        if size is None:
            return None
        if isinstance(size, tuple):
            each = max(2.0, self.factor ** (1 / max(1, len(size))))
            return tuple(int(axis * round(each)) if axis > 3 else axis for axis in size)
        return int(size * self.factor)

    def random(self, size: Any = None) -> Any:
        """As the generator's, and so are the others."""
        return self.generator.random(self.sizes(size))

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return self.generator.normal(loc, scale, self.sizes(size))

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        return self.generator.uniform(low, high, self.sizes(size))

    def integers(self, low: Any, high: Any = None, size: Any = None, **more: Any) -> Any:
        return self.generator.integers(low, high, self.sizes(size), **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.generator, name)


@dataclass
class Row:
    """One function: medians of seconds; None where it cannot be compiled, which `note` explains."""

    name: str
    loopwright: float | None = None
    numba: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as numba."""
        return self.numba / self.loopwright if self.numba and self.loopwright else None


def main(
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    only: Annotated[str, typer.Option(help="Functions whose names hold one of these words, with commas.")] = "",
    scale: Annotated[float, typer.Option(help="How many times as many elements arrays have.")] = 1.0,
) -> None:
    """Times of each function, and the geometric mean of the ratios."""
    import numba

    from breadth.cases import CASES

    for name in MODULES:
        importlib.import_module(f"breadth.{name}")  # registers its cases

    words = only.split(",")
    cases = [one for one in CASES if one.name.split(".")[0] in MODULES and any(word in one.name for word in words)]
    rows = []
    for case in cases:
        row = measured(case, numba, scale)
        if row is not None:
            rows.append(row)
            print(text_of(row), flush=True)
    ratios = sorted((row.ratio, row.name) for row in rows if row.ratio)
    mean = geometric_mean([ratio for ratio, _ in ratios])
    told = {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}", "cpu": cpu_name(), "numba": numba.__version__,
        "numpy": np.__version__, "scale": scale,
        "functions": len(rows), "loopwright runs": sum(bool(row.loopwright) for row in rows),
        "numba runs": sum(bool(row.numba) for row in rows),
        "compared": len(ratios), "geometric mean": mean,
        "below 0.9": sum(ratio < 0.9 for ratio, _ in ratios),
    }  # fmt: skip
    output.write_text(
        json.dumps(told | {"rows": [asdict(row) | {"ratio": row.ratio} for row in rows]}, indent=1) + "\n"
    )
    print(json.dumps(told, indent=1))


def measured(case: Any, numba: ModuleType, scale: float = 1.0) -> Row | None:
    """One function with both compilers; None where larger arguments do not go together."""
    row, runs = Row(case.name), dict[str, Callable[..., object]]()
    generator: Any = np.random.default_rng(zlib.crc32(case.name.encode()))
    try:
        arguments = case.make(generator if scale == 1.0 else Scaled(generator, scale))
    except ValueError:
        return None
    if scale != 1.0 and _raises(lw.kernel(case.function), arguments):
        return None  # numba would write beside its arrays
    for name, compiled in (("loopwright", lw.kernel), ("numba", lambda function: jitted(function, numba, {}))):
        try:
            runs[name] = compiled(case.function)
            with np.errstate(all="ignore"):
                runs[name](*copy.deepcopy(arguments))
        except Exception as error:
            if _raises(case.function, arguments):
                continue  # for these arguments, as in CPython
            del runs[name]
            row.note += f"{name}: {type(error).__name__}; "
    times: dict[str, list[float]] = {name: [] for name in runs}
    slowest = max((once(run, arguments, 1)[0] for run in runs.values()), default=0.0)
    for _ in range(ROUNDS if slowest < LONG else 1):
        for name, run in runs.items():
            times[name] += once(run, arguments, CALLS if scale == 1.0 else 3 if slowest < LONG else 1)
    for name, found in times.items():
        setattr(row, name, statistics.median(found))
    return row


def _raises(function: Callable[..., object], arguments: tuple[Any, ...]) -> bool:
    try:
        with np.errstate(all="ignore"):
            function(*copy.deepcopy(arguments))
    except Exception:
        return True
    return False


def once(run: Callable[..., object], arguments: tuple[Any, ...], calls: int) -> list[float]:
    """Seconds of some calls."""
    found = []
    for given in [copy.deepcopy(arguments) for _ in range(calls)]:
        begin = time.perf_counter()
        with contextlib.suppress(Exception):
            run(*given)
        found.append(time.perf_counter() - begin)
    return found


def jitted(function: FunctionType, numba: ModuleType, known: dict[FunctionType, Any], **options: bool) -> Any:
    """The function for numba, and with it the functions of its module that it calls."""
    if function not in known:
        space = dict(function.__globals__)
        made = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
        made.__kwdefaults__ = function.__kwdefaults__
        known[function] = numba.njit(made, **options)
        for name in function.__code__.co_names:
            called = space.get(name)
            if isinstance(called, FunctionType) and called.__module__ == function.__module__:
                space[name] = jitted(called, numba, known, **options)
    return known[function]


def text_of(row: Row) -> str:
    """One line."""
    ours, theirs = (f"{one * 1e6:.1f} us" if one else "-" for one in (row.loopwright, row.numba))
    ratio = f"  {row.ratio:.2f}" if row.ratio else ""
    return f"{row.name:36} {ours:>12} {theirs:>12}{ratio}  {row.note}"


if __name__ == "__main__":
    typer.run(main)
