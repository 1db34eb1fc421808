"""Random programs of array code: CPython, the interpreter and compiled code agree on every one.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from loopwright.errors import KernelError

from .anew_programs import anew_program
from .array_checks import check_interpreted, check_ways, outcomes_of
from .array_programs import Writer, program
from .chosen_programs import ChoosingWriter
from .complex_programs import ComplexWriter
from .container_programs import container_program
from .programs import Program
from .reduce import reduced
from .running import failure
from .together import side_by_side
from .ways import UNSET, Way, drawn

INTERPRETED = range(20_000, 20_060)
COMPILED = range(2000, 2024)
EMULATED = (7000, 7003)
COMPLEX = range(110, 145)
COMPLEX_COMPILED, COMPLEX_EMULATED = range(110, 122), (201, 203)
CHOOSING, CHOOSING_COMPILED = range(400, 440), range(440, 446)
CONTAINERS, CONTAINERS_COMPILED = range(184, 208), range(190, 198)
REFUSED_AT_MOST = 0.25
WAYS = [
    Way(threads, strict, checks, (*UNSET, "-O1"))
    for threads in (3, 1) for strict in (False, True) for checks in ("auto", "all")
]  # fmt: skip


def agree(check: Callable[[Program], None], seeds: Sequence[int], make: Callable[[int], Program] = program) -> None:
    """Every program passes the check, made small where it does not; few are refused."""
    programs = [make(seed) for seed in seeds]
    errors = side_by_side([partial(check, one) for one in programs])
    refused = [error for error in errors if isinstance(error, KernelError)]
    for seed, one, error in zip(seeds, programs, errors, strict=True):
        if error is not None and not isinstance(error, KernelError):
            kind = failure(check, one)
            small = reduced(one, lambda candidate, kind=kind: failure(check, candidate) == kind)  # type: ignore[misc]
            raise AssertionError(f"seed {seed}\n{small}\n{error}") from error
    assert len(refused) <= REFUSED_AT_MOST * len(programs), "\n".join(str(error) for error in refused)


def complex_program(seed: int) -> Program:
    return program(seed, ComplexWriter)


def choosing_program(seed: int) -> Program:
    return program(seed, ChoosingWriter)


def test_the_interpreter_agrees_with_cpython() -> None:
    agree(check_interpreted, INTERPRETED)


def test_compiled_code_agrees_with_cpython(tmp_path: Path) -> None:
    agree(lambda one: check_ways(one, tmp_path, [WAYS[drawn(one) % len(WAYS)]]), COMPILED)


def test_the_interpreter_agrees_with_cpython_on_complex_numbers() -> None:
    agree(check_interpreted, COMPLEX, complex_program)


def test_compiled_code_agrees_with_cpython_on_complex_numbers(tmp_path: Path) -> None:
    agree(lambda one: check_ways(one, tmp_path, [WAYS[drawn(one) % len(WAYS)]]), COMPLEX_COMPILED, complex_program)


def test_arrays_that_are_chosen_agree_with_cpython(tmp_path: Path) -> None:
    agree(check_interpreted, CHOOSING, choosing_program)
    agree(lambda one: check_ways(one, tmp_path, [WAYS[drawn(one) % len(WAYS)]]), CHOOSING_COMPILED, choosing_program)


@pytest.mark.parametrize(
    ("seed", "made_by"), [*((one, Writer) for one in EMULATED), *((one, ComplexWriter) for one in COMPLEX_EMULATED)]
)
def test_the_emulated_gpu_agrees_with_cpython(seed: int, made_by: type[Writer], tmp_path: Path) -> None:
    one = program(seed, made_by)
    check_ways(one, tmp_path, [Way(1, True, "auto", device="emulated")], outcomes_of(one))


def test_lists_sets_and_dicts_agree_with_cpython(tmp_path: Path) -> None:
    agree(check_interpreted, CONTAINERS, container_program)
    agree(lambda one: check_ways(one, tmp_path, [WAYS[drawn(one) % len(WAYS)]]), CONTAINERS_COMPILED, container_program)


def test_sets_and_dicts_that_begin_anew_and_texts_agree_with_cpython() -> None:
    agree(check_interpreted, [0, 3, 4, 13, 21, 33, 37], anew_program)


def test_the_programs_are_the_same_in_every_run() -> None:
    assert program(7) == program(7)
    assert container_program(7) == container_program(7)
    assert len({program(seed).source for seed in range(20)}) == 20


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs() -> None:
    first = random.SystemRandom().randrange(10**9)
    agree(check_interpreted, range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"])))
    agree(check_interpreted, range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]) // 2), complex_program)
    agree(check_interpreted, range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]) // 2), container_program)
    agree(check_interpreted, range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]) // 2), choosing_program)
