"""The hand-placed `prange` versions of the tour compute what the kernels do. Here they run as plain Python."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from examples.programs import PROBLEMS
from examples.programs.pagerank import scale_free
from examples.programs.problem import Problem, agrees, fresh, largest_difference

from benchmarks import tour_prange


def small(problem: Problem) -> dict[str, Any]:
    """A few dozen elements of the problem's kind."""
    random = np.random.default_rng(5)
    starts, sources, links = scale_free(30, 90, seed=1)
    image, points = random.random((6, 7, 3)), random.random((40, 3))
    grey = random.integers(0, 8, (9, 8)).astype(np.uint8)
    made: dict[str, dict[str, Any]] = {
        "bilateral": dict(image=image, out=np.zeros_like(image), radius=2, nearness=0.1, likeness=3.0),
        "cluster": dict(points=points, centres=random.random((4, 3)), labels=np.zeros(40, np.int64), rounds=3),
        "pagerank": dict(starts=starts, sources=sources, links=links)
        | dict(rank=np.full(30, 1 / 30), share=np.zeros(30), damping=0.85, sweeps=4),
        "cooccurrence": dict(grey=grey, counts=np.zeros((8, 8), np.int64), reach=3),
    }
    return made[problem.kernel.__name__]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kernel.__name__)
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_annotated_version_computes_the_same(problem: Problem, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour_prange, "PARTS", parts)
    name = problem.kernel.__name__
    data = small(problem)
    annotated, plain = fresh(problem, data), fresh(problem, data)
    with np.errstate(all="raise"):
        getattr(tour_prange, name)(**annotated)
        inspect.unwrap(problem.kernel)(**plain)
    assert agrees(problem, largest_difference(problem, annotated, plain))
