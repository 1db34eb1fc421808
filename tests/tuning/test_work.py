"""What a call has to do, from analysis: against counts by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.signature import Shape
from loopwright.profile.work_form import WorkForm
from loopwright.tuning.work import places_of, sequential_places, work_form


@lw.kernel
def product(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@lw.kernel
def triangle(c, n):
    for i in range(n):
        for j in range(i):
            c[i, j] = 1.0


@lw.kernel
def rows(y, p, v):
    for i in range(len(y)):
        for k in range(p[i], p[i + 1]):
            y[i] += v[k]


def form(kernel: lw.LoopKernel, *arguments: object) -> WorkForm:
    one = kernel.specialise(*arguments)
    return work_form(one.analysed.written, one.analysed.facts, one.signature)


def test_a_product() -> None:
    c, a, b = np.zeros((20, 30), np.float32), np.zeros((20, 40), np.float32), np.zeros((40, 30), np.float32)
    found = form(product, c, a, b).at(Shape((20, 30, 20, 40, 40, 30)))
    assert (found.iterations, found.units, found.depth) == (24000, 600, 40)
    assert found.footprint_bytes == found.inputs_bytes == 4 * (600 + 800 + 1200)
    assert found.outputs_bytes == 4 * 600


def test_a_triangle_and_a_number_of_the_caller() -> None:
    found = form(triangle, np.zeros((50, 50)), 50).at(Shape((50, 50, 12)))
    assert (found.iterations, found.units) == (66, 66)
    assert found.outputs_bytes == 8 * 66 and found.inputs_bytes == 0


def test_what_data_decides_is_not_known() -> None:
    made = form(rows, np.zeros(9), np.zeros(10, np.int64), np.zeros(5))
    assert made.iterations is None and made.row_pointers == (1,)
    assert made.at(Shape((9, 10, 5))).iterations == 0
    assert made.at(Shape((9, 10, 5))).units == 9


def test_it_comes_back_from_json() -> None:
    for made in (
        form(product, *(np.zeros((2, 2)),) * 3),
        form(rows, np.zeros(9), np.zeros(10, np.int64), np.zeros(5)),
    ):
        assert WorkForm.from_json(json.loads(json.dumps(made.as_json()))) == made


def test_a_form_that_somebody_made_up_is_refused_or_tells_nothing() -> None:
    told = form(product, *(np.zeros((2, 2)),) * 3).as_json()
    for factor in ((-1, 1), (0, 400), (0, -1)):
        with pytest.raises(ValueError, match="no form has"):
            WorkForm.from_json({**told, "units": [[1.0, [factor]]]})
    made = WorkForm.from_json({**told, "iterations": [[1.0, [[99, 1]]]], "units": [[1.0, [[0, 15]]]]})
    assert made.at(Shape((2**63,) * 6)).iterations == 0 and made.at(Shape((2**63,) * 6)).units == 2.0**945


def test_places_are_those_of_sizes_and_integers() -> None:
    one = triangle.specialise(np.zeros((3, 4)), 5)
    assert places_of(one.signature) == {"s0_0": 0, "s0_1": 1, "v1": 2}


def apart(kernel: lw.LoopKernel, *arguments: object) -> frozenset[int]:
    one = kernel.specialise(*arguments)
    return sequential_places(form(kernel, *arguments), one.analysed.facts, one.signature)


def test_the_depth_of_a_product_is_apart_with_all_that_is_compared_with_it() -> None:
    """Though all sizes are equal: the lengths of a's rows and of b's columns."""
    assert apart(product, *(np.zeros((20, 20)) for _ in range(3))) == {3, 4}


def test_where_all_is_parallel_or_tied_nothing_is_apart() -> None:
    @lw.kernel
    def square(y, a):
        for i in range(len(y)):
            for j in range(len(y)):
                y[i] += a[i, j]

    @lw.kernel
    def every(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = 1.0

    assert apart(square, np.zeros(9), np.zeros((9, 9))) == apart(every, np.zeros((9, 9))) == set()
    assert apart(triangle, np.zeros((50, 50)), 50) == set()


def test_where_accesses_are_checked_one_by_one_nobody_knows_what_has_to_grow_along() -> None:
    @lw.kernel
    def looked_up(y, a, b):
        for i in range(len(y)):
            for j in range(a.shape[1]):
                y[i] += b[int(a[i, j])]

    assert apart(looked_up, np.zeros(9), np.zeros((9, 9)), np.zeros(9)) == set()
    assert apart(rows, np.zeros(9), np.zeros(10, np.int64), np.zeros(5)) == set()


def test_numbers_of_the_caller_count_as_sizes() -> None:
    @lw.kernel
    def dots(y, a, n, m):
        for i in range(n):
            for j in range(m):
                y[i] += a[i, j]

    assert apart(dots, np.zeros(9), np.zeros((9, 9)), 9, 9) == {2, 4}
