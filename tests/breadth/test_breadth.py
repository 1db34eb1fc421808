"""What numba's users write, run by CPython and by Loopwright: the same results, errors and changes of arguments.

A function that is refused is in `REFUSED` with the construct that blocks it; taking it off the table is done by hand.
"""

from __future__ import annotations

import copy
import zlib

import numpy as np
import pytest

import loopwright as lw
from breadth import (  # noqa: F401
    algorithms,
    arguments_and_types,
    astronomy,
    audio,
    boards,
    control,
    crystals,
    ecology,
    finance,
    genetics,
    graphs,
    hydrology,
    images,
    maps,
    markets,
    networks,
    neurons,
    numpy_meaning,
    numpy_shapes,
    particles,
    physics,
    pixels,
    plain_loops,
    populations,
    sequences,
    signals,
    statistics,
    views_and_names,
)
from breadth.cases import CASES, Case, differences, outcome, same_error

REFUSED: dict[str, str] = {}
"""By function: the construct that blocks it."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_as_cpython(case: Case) -> None:
    arguments = case.make(np.random.default_rng(zlib.crc32(case.name.encode())))
    expected = outcome(case.function, copy.deepcopy(arguments))
    if case.name in REFUSED:
        with pytest.raises((lw.KernelError, lw.ArgumentTypeError)):
            lw.kernel(case.function)(*copy.deepcopy(arguments))
        return
    actual = outcome(lw.kernel(case.function), copy.deepcopy(arguments))
    assert same_error(expected.error, actual.error)
    found = differences(expected.result, actual.result)
    found += differences(expected.arguments, actual.arguments, "argument")
    assert found == []


def test_the_table_names_cases() -> None:
    assert set(REFUSED) <= {case.name for case in CASES}
