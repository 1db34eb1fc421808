"""What a GPU's recipe makes of random nests, on the emulated device, against CPython: the default schedule, and each of
its versions for large calls, which small calls never reach. For that, the number of every `specialize` is replaced: by
2, so that large ones are what the first version is for, or by a number that no call has.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw

from .judge import function_of
from .total_programs import NAME, total_program

SEEDS = (14, 24, 43)
"""The first and the last one found that threads lost rows of a total with statements between its loops."""
NEVER = 10**9


def arguments(sizes: tuple[int, int, int]) -> list[Any]:
    rows, others, columns = sizes
    draw = np.random.default_rng(5)
    given = [draw.random(shape) for shape in ((rows, columns), (others, columns), rows, columns, others)]
    return [*given, np.zeros(rows), np.zeros((rows, others)), np.zeros((rows, columns))]


def versions(schedule: str, draw: random.Random) -> list[str]:
    """The schedule with other numbers in its conditions."""
    if "specialize" not in schedule:
        return []
    ways: list[Callable[[], int]] = [lambda: 2, lambda: draw.choice((2, NEVER))]
    return [re.sub(r"(specialize [^;]*?>= )\d+", lambda m, way=way: f"{m[1]}{way()}", schedule) for way in ways]


def check(seed: int) -> int:
    """How many versions agree: all of them, or it raises."""
    text, sizes = total_program(seed)
    function = function_of(text, NAME)
    right = arguments(sizes)
    wanted = function(*right)
    kernel = lw.kernel(function)

    def agrees(schedule: str) -> None:
        mine = arguments(sizes)
        with lw.options(device="emulated", schedule=schedule):
            found = kernel(*mine)
        told = f"seed {seed}, sizes {sizes}, {schedule or 'default'}\n{text}"
        np.testing.assert_allclose(found, wanted, rtol=1e-9, err_msg=told)
        for one, other in zip(mine, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, err_msg=told)

    agrees("")
    with lw.options(device="emulated"):
        others = versions(str(kernel.explain(*arguments(sizes)).schedule), random.Random(seed))
    for one in others:
        agrees(one)
    return 1 + len(others)


def test_every_version_agrees_with_cpython() -> None:
    assert sum(map(check, SEEDS)) > len(SEEDS)


def test_the_programs_are_the_same_in_every_run() -> None:
    assert total_program(7) == total_program(7)
    texts = "".join(total_program(seed)[0] for seed in range(60))
    parts = ("max(", "min(", "if w[j]", "o[i] = ", "z[i, j] = ", "g[i, c] = ", f"def {NAME}(")
    assert [part for part in parts if part not in texts] == []


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more programs")
def test_more_programs() -> None:
    first = random.SystemRandom().randrange(10**9)
    print(sum(map(check, range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"])))))
