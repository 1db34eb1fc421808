"""A thousand random programs of the whole language: CPython, the interpreter and compiled code agree on every one.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time (`make fuzz`).
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopwright.errors import KernelError

from .arguments import Cells, Recipe
from .judge import function_of, run
from .programs import Program, program
from .refusals import may_be_refused
from .running import each_program
from .ways import check_program, drawn

SHARDS = 10
PROGRAMS = 100  # of each shard
RARELY = 31  # of so many programs, one runs on the emulated GPU too: that takes seconds to compile
REFUSED_AT_MOST = 0.1


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


class Check:
    """Checks programs and counts those that the front end refused, with a reason that is on the list."""

    def __init__(self, cache: Path) -> None:
        self.cache, self.refused = cache, 0

    def __call__(self, program: Program) -> None:
        try:
            check_program(program, self.cache, interpret_it=drawn(program) % 3 == 0, rarely=RARELY)
        except KernelError as error:
            if not may_be_refused(error):
                raise
            self.refused += 1


def test_there_are_a_thousand_programs_and_they_are_the_same_in_every_run() -> None:
    assert SHARDS * PROGRAMS >= 1000
    text = "".join(program(seed).source for seed in range(20))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "dbe9ba49e570f1ff"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_way_to_run_agrees_with_cpython(shard: int, cache: Path) -> None:
    check = Check(cache)
    each_program(check, range(shard * PROGRAMS, (shard + 1) * PROGRAMS))
    assert check.refused <= REFUSED_AT_MOST * PROGRAMS


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs(cache: Path) -> None:
    first = random.SystemRandom().randrange(10**9)
    seeds = range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]))
    print(seeds)
    each_program(Check(cache), seeds)


OFTEN = (
    "for", "while", "if", "elif", "else", "comparison", "logic", "chained comparison", "conditional expression", "min",
    "max", "break", "continue", "helper call", "module function", "nested function", "closure", "array helper call",
    "local array", "tuple assignment", "elements swapped", "records", "sparse matrix", "index array", "index indirect",
    "index plain", "index shifted", "index scaled", "index reversed", "index divided", "index modulo",
    "index modulo size", "index wraps around", "index negative constant", "index from the end", "index of two loops",
    "range full", "range interior", "range down", "range by two", "range triangle", "range window", "range data",
    "data-dependent bounds", "loop depth 1", "loop depth 2", "loop depth 3", "row of an array", "shape",
    "another name for an array", "minimum or maximum of an element", "truth of a value", "logic value", "not",
    "operator +", "operator -", "operator *", "operator /", "operator //", "operator %", "operator **", "operator &",
    "operator |", "operator ^", "operator <<", "operator >>", "unary -", "unary ~", "unary abs", "np.minimum",
    "every variable returned", "variable of a loop with a value before it", "globals that change",
    "loop variable with a value before the loop", "sizes 0, 1 and 2",
    "np.maximum", "np.fmin", "np.fmax", "np.abs", "math.fabs", "data special", "data extreme", "layout F",
    "layout strided", "layout reversed", "layout unaligned", "layout inner", "helper with several returns",
    "returns 0 scalars", "returns 1 scalars", "returns 2 scalars", "local of a branch",
    "accumulator starts as a Python number", "shared memory same", "reduction read in its loop",
    "loop variable assigned", "loop variable after the loop",
    "parameter option", "parameter mode", "parameter pair", "parameter that nobody reads", "parameters in any order",
)  # fmt: skip
SOMETIMES = (
    "scatter", "prange", "early return", "perhaps unassigned", "step from an argument", "name used again",
    "division by zero", "weak int may overflow", "index out of range", "sub-array field", "variable of a loop after it",
    "local array returned", "argument returned", "shared memory shift", "shared memory reversed", "np.empty filled",
    "augmented local", "local assigned again", "name bound to another kind", "weak accumulator", "layout broadcast",
    "np.sqrt", "np.floor", "np.ceil", "np.rint", "np.trunc", "np.isnan", "np.isinf", "np.isfinite", "np.signbit",
    "math.floor", "math.ceil", "math.trunc", "math.sqrt", "math.copysign", "math.fmod", "range half", "range constant",
    "range step", "range down by two", "zeros_like",
    *(f"reduction {operator}" for operator in ("+", "-", "*", "min", "max", "&", "|", "^", "np.maximum", "or", "and")),
    *(f"augmented {operator}=" for operator in ("+", "-", "*", "//", "%", "/", "&", "|", "^")),
)  # fmt: skip
TYPES = ("float64", "float32", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _is_small(call: tuple[Recipe, ...]) -> bool:
    """Whether the sizes that differ between calls are 0, 1 or 2 here: axes have up to two elements more."""
    return all(max(one.shape) <= 4 for one in call if isinstance(one, Cells))


def test_the_generator_covers_the_language() -> None:
    """Each feature occurs; most programs run to their end; few floats are rounded where the writer avoided it."""
    features: Counter[str] = Counter()
    seen: Counter[str] = Counter()

    def tally(program: Program) -> None:
        features.update(program.features)
        seen[program.source] += 1
        function = function_of(program.source)
        outcome = run(function, program.calls[0])
        small = [call for call in program.calls if _is_small(call)]
        seen["calls"] += len(program.calls)
        seen["small calls"] += len(small)
        seen["small calls end well"] += sum(run(function, call).error is None for call in small)
        seen["first call ends well"] += outcome.error is None
        seen["exact"] += program.exact
        seen["exact and not rounded"] += program.exact and not outcome.inexact

    count = SHARDS * PROGRAMS
    each_program(tally, range(count))
    rare = [name for name in OFTEN if features[name] < 25] + [name for name in SOMETIMES if features[name] < 3]
    for element in TYPES:
        rare += [f"{use} {element}" for use in ("load", "store", "local") if features[f"{use} {element}"] < 8]
    assert not rare, {name: features[name] for name in rare}
    assert len(seen) > 0.9 * count
    assert seen["first call ends well"] > 0.85 * count
    assert seen["small calls"] >= seen["calls"] / 3
    assert seen["small calls end well"] > 0.6 * seen["small calls"]
    assert seen["exact and not rounded"] > 0.6 * seen["exact"] > 0.3 * count
