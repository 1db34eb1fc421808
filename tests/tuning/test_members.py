"""Members are looked at a few at a time, and each once."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.cost.metrics import Metrics
from loopwright.devices.limits import Limits
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.variant import RECIPE
from loopwright.recipe.recipe import Recipe
from loopwright.tuning.members import LOOK, Members


@lw.kernel
def multiplied(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.fixture
def judged() -> list[int]:
    return []


@pytest.fixture
def members(judged: list[int]) -> Members:
    def judge(made: Recipe) -> Metrics:
        judged.append(len(judged))
        return Metrics((float(len(judged)),), ("how late",))

    one = multiplied.specialise(*(np.zeros((40, 40), np.float32) for _ in range(3)))
    return Members(one, "cpu", current(), judge)


def never() -> bool:
    return False


def test_a_second_look_goes_on_where_the_first_one_stopped(members: Members, judged: list[int]) -> None:
    first = members.pruned(never, 3, 4)
    assert len(judged) == len(members.judged) == 4 and RECIPE in members.judged
    assert len(first.measure) == 3 and first.measure[0] == list(members.judged)[-1]
    again = members.pruned(never, 3, 4)
    assert again.measure == first.measure and len(judged) == 4
    later = members.pruned(never, 3, 9)
    assert len(judged) == len(members.judged) == 9 and later.measure[0] not in first.measure


def test_no_look_is_taken_when_time_is_spent(members: Members, judged: list[int]) -> None:
    assert members.pruned(lambda: True, 3, 8).measure == () and judged == []


def test_looks_grow_and_end_before_the_whole_space(members: Members) -> None:
    looks = members.looks()
    assert looks[0] == LOOK and all(after == 2 * before for before, after in itertools.pairwise(looks))
    assert looks[-1] < len(members._space.points) <= 2 * looks[-1]


def test_the_space_for_a_gpu_is_that_of_the_gpu_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [np.zeros((40, 40), np.float32) for _ in range(3)]
    monkeypatch.setattr(Limits, "target", replace(CUDA, threads=64))
    one = multiplied.specialise(*arguments)
    members = Members(one, "emulated", current())
    with lw.options(device="emulated"):
        asked = multiplied.space(*arguments)
    for space in members.downhill(None).space, asked:
        texts = {constraint.text for family in space.families for constraint in family.constraints}
        assert "a block has whole warps of threads, at most 64" in texts
        assert not any("1024" in text for text in texts)
