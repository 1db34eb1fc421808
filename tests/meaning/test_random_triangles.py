"""Random loops over pairs against CPython, on the CPU and on the emulated GPU: whatever two pairs share, what is left
in the arrays, and what is raised, is as in CPython.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time.
"""

from __future__ import annotations

import os
import random
import re

import numpy as np
import pytest

import loopwright as lw

from .judge import function_of
from .triangle_programs import INNER, NAME, OUTER, PLACES, triangle_arguments, triangle_program

SEEDS = range(16)
CALLS = 4


def check(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> None:
    """Raises where a call ends otherwise than in CPython."""
    text = triangle_program(seed)
    function = function_of(text, NAME)
    for device in devices:
        kernel = lw.kernel(function)
        for number in range(CALLS):
            right, mine = triangle_arguments(7 * seed + number), triangle_arguments(7 * seed + number)
            told = f"seed {seed}, call {number} on {device}\n{text}"
            wanted = ended(function, right)
            with lw.options(device=device):
                assert ended(kernel, mine) == wanted, told
            if wanted is IndexError:  # how far it came depends on who went first
                continue
            for one, other in zip(mine, right, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=told)


def ended(function: object, arguments: tuple[object, ...]) -> object:
    """What a call gives, or the kind of error it raises."""
    assert callable(function)
    try:
        return function(*arguments)
    except IndexError:
        return IndexError


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs(seed: int) -> None:
    check(seed, ("cpu", "emulated") if seed % 4 == 0 else ("cpu",))


def test_every_part_is_drawn() -> None:
    texts = "".join(triangle_program(seed) for seed in range(300))
    assert all(f"range({part})" in texts for part in (*OUTER, *INNER))
    assert all(part in texts for part in PLACES) and re.search(r"\bk \+ 1\]", texts)


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs() -> None:
    first = random.SystemRandom().randrange(10**9)
    for seed in range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"])):
        check(seed)
