"""What becomes of loops that stand around those which many threads share, on the emulated device: over time, over a few
months, over a recurrence of scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(15)


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 10, shape).astype(float)


def steps_of(kernel: Any, *arguments: Any) -> str:
    found = agree(kernel, *arguments, strict=False)
    return "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


def by_time(x, out):
    out[0] = x[0]
    for t in range(1, x.shape[0]):
        out[t] = 0.5 * x[t] + (1 - 0.5) * out[t - 1]


def neighbours_by_time(x, out):
    for t in range(1, x.shape[0]):
        for i in range(1, x.shape[1]):
            out[t, i] = 0.5 * x[t, i] + out[t - 1, i - 1]


def eliminated(x, out):
    c = np.zeros(x.shape[0])
    for t in range(1, x.shape[0]):
        m = 4.0 - c[t - 1]
        c[t] = 1.0 - 0.5 * m
        for i in range(x.shape[1]):
            out[t, i] = m * x[t, i] + out[t - 1, i]


def months(x, out):
    for m in range(4):
        mean = np.zeros(x.shape[1])
        for t in range(m, x.shape[0], 4):
            mean += x[t]
        for t in range(m, x.shape[0], 4):
            out[t] = x[t] - mean


def summed_each_time(x, out):
    for t in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            s += x[t, i] + out[0, i]
            out[1, i] = s
        for i in range(x.shape[1]):
            out[0, i] = out[1, i] - t


@pytest.mark.parametrize("shape", [(5, 2), (5, 0), (6, 40), (40, 3)])
def test_over_time_elements_that_only_depend_on_themselves_are_one_grid(shape: tuple[int, int]) -> None:
    assert "sink i.2; reorder i.2 t" in steps_of(by_time, whole(*shape), whole(*shape))


@pytest.mark.parametrize("shape", [(1, 1), (0, 3), (6, 40)])
def test_others_are_not(shape: tuple[int, int]) -> None:
    assert "reorder i t" not in steps_of(neighbours_by_time, whole(*shape), whole(*shape))


@pytest.mark.parametrize("shape", [(1, 1), (0, 3), (6, 40), (40, 3)])
def test_a_recurrence_of_scalars_is_apart(shape: tuple[int, int]) -> None:
    assert "fission t 3 kept; reorder i t.1" in steps_of(eliminated, whole(*shape), whole(*shape))


@pytest.mark.parametrize("shape", [(0, 3), (3, 5), (13, 70)])
def test_a_few_months_are_no_threads(shape: tuple[int, int]) -> None:
    steps = steps_of(months, whole(*shape), whole(*shape))
    assert "bind m" not in steps and "split m" not in steps and "thread.x" in steps


@pytest.mark.parametrize("shape", [(2, 0), (3, 5), (2, 1500)])
def test_a_running_sum_in_a_loop_over_time_is_shared(shape: tuple[int, int]) -> None:
    assert "scan i 1024" in steps_of(summed_each_time, whole(*shape), whole(2, shape[1]))


def framed(x, out):
    for f in range(out.shape[0]):
        part = np.zeros(40)
        for i in range(40):
            part[i] = x[20 * f + i] * (i % 3)
        for k in range(out.shape[1]):
            s = 0.0
            for i in range(40):
                s += part[i] * (k + i)
            out[f, k] = s


def dilated(x, w, o):
    for c in range(w.shape[0]):
        for i in range(x.shape[1]):
            s = 0.0
            for d in range(x.shape[0]):
                for q in range(w.shape[2]):
                    if i >= 4 * q:
                        s += w[c, d, q] * x[d, i - 4 * q]
            o[c, i] = s


def within(d, u, out):
    for e in range(u.shape[0]):
        for i in range(20):
            for f in range(5):
                s = 0.0
                for j in range(20):
                    s += d[i, j] * u[e, j, f]
                out[e, i, f] = s


def angles(r, pairs, f):
    energy = 0.0
    for t in range(pairs.shape[0]):
        a, b = pairs[t]
        if a != b:
            s = 0.0
            for d in range(3):
                s += r[a, d] * r[b, d]
            energy += s
            for d in range(3):
                f[a, d] += s * r[b, d]
    return energy


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_row_with_an_array_of_its_own_has_a_block(n: int) -> None:
    assert "bind f block.x; bind i thread.x" in steps_of(framed, whole(20 * n + 40), whole(n, 30))


def test_windows_are_shared_only_where_there_are_few_sums() -> None:
    assert "specialize w.0*x.1 >= 65536" in steps_of(dilated, whole(3, 40), whole(2, 3, 3), whole(2, 40))


@pytest.mark.parametrize("n", [0, 1, 9])
def test_small_products_have_a_thread_for_each_sum_and_blocks_of_their_shape(n: int) -> None:
    assert "tile i 32 f 8" in steps_of(within, whole(20, 20), whole(n, 20, 5), whole(n, 20, 5))


@pytest.mark.parametrize("n", [0, 1, 300])
def test_totals_and_sums_by_key_under_a_condition_are_shared(n: int) -> None:
    pairs = RANDOM.integers(0, 20, (n, 2))
    assert "reduce t 262144" in steps_of(angles, whole(20, 3), pairs, np.zeros((20, 3)))


def places(x, out):
    k = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.0:
                out[k, 0] = i
                out[k, 1] = j
                k += 1
    return k


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (30, 20)])
def test_rows_that_all_count_on_are_chunks_together(shape: tuple[int, int]) -> None:
    assert steps_of(places, whole(*shape), np.zeros((600, 2))).startswith("scan i 65536")


def priced(s, out):
    for i in range(s.shape[0]):
        v = np.zeros(20)
        for j in range(20):
            v[j] = s[i] + j
        for t in range(19, 0, -1):
            for j in range(t):
                v[j] = 0.5 * v[j + 1] + v[j]
        out[i] = v[0]


def test_a_row_that_is_mostly_gone_through_in_order_has_a_thread() -> None:
    assert "bind i block.x" not in steps_of(priced, whole(9), whole(9))
