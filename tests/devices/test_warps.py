"""GPUs with warps of 16 and of 64 threads: programs have the results of the interpreter on the emulated device, whose
shuffles and masks are then those of such a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.polybench import MODULES

import loopwright as lw
from codegen.on_gpu import agree
from ir.test_gpu_target import CALLS
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedGpu
from polybench.data import shaken, sizes
from polybench.test_verdicts import after
from polybench.test_verdicts import agree as agree_with_reference
from tuning import corpus

WARPS = (16, 64)


@pytest.fixture(params=WARPS)
def warp(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    found: int = request.param
    gpu = EmulatedGpu(warp=found)
    monkeypatch.setattr(gpus, "_emulated", lambda number: gpu)
    return found


def sums(a, b):
    for j in range(b.shape[0]):
        s = 0.0
        for i in range(a.shape[1]):
            s += a[j, i]
        b[j] = s


def least(a, b):
    for j in range(b.shape[0]):
        s = 9.0
        for i in range(a.shape[1]):
            s = min(s, a[j, i])
        b[j] = s


VALUES = np.random.default_rng(1).integers(-9, 10, (37, 100)).astype("float64")


@pytest.mark.parametrize("function", [sums, least])
@pytest.mark.parametrize(("rows", "lanes"), [(5, 8), (3, 16), (2, 64)])
def test_teams_of_lanes(warp: int, function: Any, rows: int, lanes: int) -> None:
    schedule = f"split j {rows}; bind j.o block.x; bind j thread.y; bind i thread.x {min(lanes, warp)}"
    agree(function, VALUES, np.zeros(37), schedule=schedule, strict=False)


@pytest.mark.parametrize("threads", [16, 48, 64, 128])
def test_sums_of_a_block(warp: int, threads: int) -> None:
    agree(sums, VALUES, np.zeros(37), schedule=f"bind j block.x; bind i thread.x {threads}", strict=False)


@pytest.mark.parametrize("name", CALLS)
def test_what_the_recipe_chooses(warp: int, name: str) -> None:
    function, arguments = CALLS[name]
    found = agree(function, *arguments, strict=False)
    assert found.facts.gpu.warp == warp


@pytest.mark.parametrize("name", ["atax", "covariance", "durbin", "gramschmidt"])
def test_polybench(warp: int, name: str) -> None:
    module = next(one for one in MODULES if name == one.NAME)
    given = shaken(module.initialise(**sizes(module)))
    with lw.options(device="emulated"):
        agree_with_reference(module, after(lw.kernel(module.kernel), given), module.reference(**given))


RANDOM = ("affine_program 0", "program 1", "affine_program 1", "product 0", "stencil 0", "histogram 0")
CASES = [case for case in (*corpus.analysed(range(2)), *corpus.families(range(1))) if case.name in RANDOM]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_random_programs(warp: int, case: corpus.Case) -> None:
    agree(case.function, *case.arguments(), strict=True)
