"""What a GPU's recipe makes of random rows of several parts, on the emulated device, against CPython: the default
schedule, and versions of it for large calls (see test_random_versions.py).

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import loopwright as lw

from .judge import function_of
from .row_programs import NAME, PARTS, row_arguments, row_program
from .test_random_versions import versions

SEEDS = (3, 11, 27)
CALLS = 3


def check(seed: int) -> None:
    """Raises where a call ends otherwise than in CPython."""
    text = row_program(seed)
    function, draw = function_of(text, NAME), random.Random(seed)
    kernel = lw.kernel(function)

    def agrees(schedule: str) -> None:
        for number in range(CALLS):
            right, mine = row_arguments(seed + number), row_arguments(seed + number)
            function(*right)
            with lw.options(device="emulated", schedule=schedule):
                kernel(*mine)
            told = f"seed {seed}, call {number}, {schedule or 'default'}\n{text}"
            for one, other in zip(mine, right, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=told)

    agrees("")
    with lw.options(device="emulated"):
        found = str(kernel.explain(*row_arguments(seed)).schedule)
    for schedule in versions(found, draw)[:1] if "bind " in found else ():
        agrees(schedule)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_several_parts(seed: int) -> None:
    check(seed)


def test_every_part_is_drawn() -> None:
    texts = "".join(row_program(seed) for seed in range(200))
    assert all(part.split("\n")[-1] in texts for part in PARTS.values())


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs() -> None:
    first = random.SystemRandom().randrange(10**9)
    for seed in range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"])):
        check(seed)
