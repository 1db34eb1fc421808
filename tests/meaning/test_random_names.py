"""Random programs in which arrays have several names: the interpreter and compiled code agree with CPython on each that
is not refused, and share no memory between results and arguments that CPython keeps apart.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from loopwright.errors import KernelError

from .array_checks import check_interpreted, check_ways, outcomes_of
from .judge import Outcome, function_of, run
from .name_programs import name_program
from .programs import Program
from .reduce import reduced
from .running import failure
from .together import side_by_side
from .ways import UNSET, Way, interpreter, lowered

INTERPRETED = range(600, 620)
COMPILED = range(704, 714)
REFUSED_AT_MOST = 0.6
WAY = Way(3, False, "auto", (*UNSET, "-O1"))


def shared(outcome: Outcome) -> set[tuple[int, int]]:
    """Which of the arguments' buffers and the arrays that are returned share memory, by number."""
    returned = outcome.value if isinstance(outcome.value, tuple) else (outcome.value,)
    arrays = [*outcome.buffers, *(one for one in returned if isinstance(one, np.ndarray))]
    pairs = ((k, j) for j in range(len(outcome.buffers), len(arrays)) for k in range(j))
    return {(k, j) for k, j in pairs if np.may_share_memory(arrays[k], arrays[j])}


def check_names(one: Program) -> None:
    """The interpreter agrees. Raises KernelError for a refusal."""
    outcomes = outcomes_of(one)
    check_interpreted(one, outcomes)
    for call, right in zip(one.calls, outcomes, strict=True):
        if right.error is None:
            other = run(interpreter(lowered(function_of(one.source), call)[0]), call)
            assert shared(other) <= shared(right), "results share memory"


def agree(seeds: range) -> Counter[str]:
    """Every program passes, made small where it does not; how often each refusal came."""
    refused: Counter[str] = Counter()
    for seed in seeds:
        one = name_program(seed)
        try:
            check_names(one)
        except KernelError as error:
            refused[re.sub(r"'[^']*'|\d+", "_", str(error).split("\n")[0].split("KernelError: ")[-1])] += 1
        except Exception as error:
            kind = failure(check_names, one)
            small = reduced(one, lambda candidate, kind=kind: failure(check_names, candidate) == kind)  # type: ignore[misc]
            raise AssertionError(f"seed {seed}\n{small}\n{error}") from error
    return refused


def test_names_of_arrays_agree_with_cpython() -> None:
    refused = agree(INTERPRETED)
    assert refused.total() <= REFUSED_AT_MOST * len(INTERPRETED), refused


def test_compiled_names_of_arrays_agree_with_cpython(tmp_path: Path) -> None:
    programs = [replace(one, calls=one.calls[:1]) for one in map(name_program, COMPILED)]
    errors = side_by_side([partial(check_ways, one, tmp_path, [WAY]) for one in programs])
    wrong = [(one, error) for one, error in zip(programs, errors, strict=True) if error is not None]
    assert all(isinstance(error, KernelError) for _, error in wrong), wrong
    assert len(wrong) <= REFUSED_AT_MOST * len(programs)


def test_the_programs_are_the_same_in_every_run() -> None:
    assert name_program(7) == name_program(7)
    text = "".join(name_program(seed).source for seed in range(100))
    parts = ("while", "Pair(", ".fill(", ".sort(", "out=", "def f", " else ", ".append(", ".T", "zip(", "break")
    assert [part for part in parts if part not in text] == []


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs() -> None:
    first = random.SystemRandom().randrange(10**9)
    print(agree(range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]))))
