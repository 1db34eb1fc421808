"""The cases: all of PolyBench and of the tour, with arguments in the order of the parameters."""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest
from benchmarks.cases import WARM_UP, Case, all_cases, bytes_of
from examples.programs import PROBLEMS

from benchmarks import c_peers

CASES = all_cases()


def test_everything_takes_part_once() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    suites = Counter(case.suite for case in CASES)
    assert suites == {"polybench": 30, "beyond cache": 3, "sparse": 2, "tour": len(PROBLEMS)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_complete(case: Case) -> None:
    arguments = case.arguments(WARM_UP)
    assert list(arguments) == list(inspect.signature(case.kernel).parameters)
    assert list(arguments) == list(inspect.signature(case.prange).parameters)
    assert all(isinstance(arguments[name], np.ndarray) for name in case.outputs)
    assert (c_peers.FOLDER / f"{case.source}.c").exists()
    assert case.streamed is None or case.streamed(WARM_UP) >= case.bytes_min(WARM_UP) / 2
    assert case.bytes_min(WARM_UP) > 0 and case.flops(WARM_UP) >= 0
    assert inspect.isfunction(case.kernel), "the plain function, which numba compiles too"


def test_bytes_of_counts_arrays_only() -> None:
    assert bytes_of({"a": np.zeros((3, 4)), "n": 7, "b": np.zeros(2, np.int8)}) == 98
