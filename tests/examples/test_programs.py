"""The tour's programs on small data: our kernels, CPython's run of the same loops, and NumPy agree."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from examples.programs import PROBLEMS, bilateral, pagerank
from examples.programs.problem import Problem, agrees, fresh, largest_difference

from examples_data import small


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kernel.__name__)
def test_kernel_python_and_numpy_agree(problem: Problem) -> None:
    data = small(problem)
    ours, python, numpy = fresh(problem, data), fresh(problem, data), fresh(problem, data)
    problem.kernel(*ours.values())
    inspect.unwrap(problem.kernel)(**python)
    problem.with_numpy(**numpy)
    assert agrees(problem, largest_difference(problem, python, numpy))
    assert agrees(problem, largest_difference(problem, ours, python))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kernel.__name__)
def test_a_result_that_is_off_is_noticed(problem: Problem) -> None:
    data = small(problem)
    right, off = fresh(problem, data), fresh(problem, data)
    problem.with_numpy(**right)
    problem.with_numpy(**off)
    assert agrees(problem, largest_difference(problem, off, right))
    name = problem.outputs[0]
    off[name].flat[3] += off[name].dtype.type(1)
    assert not agrees(problem, largest_difference(problem, off, right))
    if off[name].dtype.kind == "f":
        off[name].flat[3] = np.nan
        assert not agrees(problem, largest_difference(problem, off, right))


def test_fresh_copies_what_is_written_and_shares_what_is_read() -> None:
    problem = bilateral.PROBLEM
    data = small(problem)
    copy = fresh(problem, data)
    assert copy["out"] is not data["out"] and copy["image"] is data["image"]


def test_the_graph_is_what_it_says() -> None:
    starts, sources, links = pagerank.scale_free(1000, 20_000, seed=4)
    assert (starts[0], starts[-1], len(starts)) == (0, 20_000, 1001)
    assert (np.diff(starts) >= 0).all() and sources.min() >= 0 and sources.max() < 1000
    np.testing.assert_array_equal(links, np.bincount(sources, minlength=1000))
    again = pagerank.scale_free(1000, 20_000, seed=4)
    assert all(np.array_equal(one, other) for one, other in zip((starts, sources, links), again, strict=True))


def test_in_degrees_follow_a_power_law() -> None:
    starts, _, _ = pagerank.scale_free(20_000, 400_000, seed=4)
    degrees = np.sort(np.diff(starts))[::-1]
    ranks = np.array([30, 100, 300, 1000, 3000])
    slope, _ = np.polyfit(np.log(ranks), np.log(degrees[ranks]), 1)
    assert slope == pytest.approx(-0.6, abs=0.05)


def test_ranks_sum_to_one() -> None:
    data = small(pagerank.PROBLEM)
    pagerank.with_numpy(**data)
    assert data["rank"].sum() == pytest.approx(1.0)
    assert data["links"].min() == 0, "a page without links is part of the test"
