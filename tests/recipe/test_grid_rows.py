"""Rows of several loops: how threads share them, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(3)
SHAPES = [(300, 5), (5, 6), (37, 70), (1, 1), (3, 127), (3, 128), (2, 2047), (2, 2048), (3, 2500), (0, 5), (5, 0)]

LENGTHS = "specialize {0} >= 2048 in i; specialize {0} >= 128 in i.1; specialize {0} >= 6 in i.1.1; "
BESIDE_LONG_ONES = "specialize {0} >= 2048 in i.1; specialize {0} >= 128 in i.1.1; specialize {0} >= 6 in i.1.1.1; "


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 9, shape).astype(float)


def shifted(a, b, y):
    """The elements of b are written by one loop and read by the next, by other threads."""
    for i in range(a.shape[0]):
        m = -1000.0
        for j in range(a.shape[1]):
            m = max(m, a[i, j])
        s = 0.0
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] - m
            s += b[i, j]
        for j in range(a.shape[1]):
            b[i, j] = b[i, j] + s
        y[i] = s


def least_and_count(a, b, y):
    for i in range(a.shape[0]):
        least = 1000.0
        for j in range(a.shape[1]):
            if a[i, j] < least:
                least = a[i, j]
        n = 0
        for j in range(a.shape[1]):
            if a[i, j] == least:
                n += 1
        y[i] = least * 1000 + n


def places(a, b, y):
    for i in range(a.shape[0]):
        best = -1000.0
        k = 0
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
                k = j
        n = 0
        for j in range(a.shape[1]):
            if a[i, j] == best:
                n += 1
        y[i] = k * 1000 + n


def mean_and_spread(a, b, y):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        t = 0.0
        for i in range(a.shape[0]):
            t += (a[i, j] * a.shape[0] - s) ** 2
            b[i, j] = s
        y[j] = t


def batches(a, b, y):
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            s = 0.0
            for j in range(a.shape[2]):
                s += a[k, i, j]
            for j in range(a.shape[2]):
                b[k, i, j] = a[k, i, j] - s


def of_length(a, b, y, n):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(n):
            s += a[i, j]
        for j in range(n):
            b[i, j] = a[i, j] - s


def masked(a, b, y):
    for i in range(a.shape[0]):
        if a[i, 0] > 0:
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j]
            if s > 3:
                for j in range(a.shape[1]):
                    b[i, j] = a[i, j] - s


def cleared(a, b, y):
    for i in range(a.shape[0]):
        if y[i] > 0:
            for j in range(a.shape[1]):
                b[i, j] = 0.0


def columns_under_a_condition(a, b, y):
    for j in range(a.shape[1]):
        if a[0, j] > 0:
            for i in range(a.shape[0]):
                b[i, j] = a[i, j] + j


def planes_under_a_condition(a, b, y):
    """Each element has a sum, of which the condition is a part."""
    for k in range(a.shape[0]):
        if y[k] > 0:
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    b[i, j] += a[i, j] * k


def beside_a_short_loop(a, b, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        t = s
        for k in range(3):
            t = t * 0.5 + k
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] - t


def with_prefix(a, b, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s
        for j in range(a.shape[1]):
            b[i, j] -= s


def greatest_of_columns(a, b, y):
    y[:] = np.argmax(a, axis=0)


def least_of_rows(a, b, y):
    y[:] = np.argmin(a, axis=1)


def greatest_of_all(a, b, y):
    return np.argmax(a)


def last_of_the_greatest(a, b, y):
    for i in range(a.shape[0]):
        best = -1000.0
        k = 0
        for j in range(a.shape[1]):
            if a[i, j] >= best:
                best = a[i, j]
                k = 2 * j
        y[i] = k


def triples(a, b, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(3):
            s += a[i, j]
        for j in range(3):
            b[i, j] = a[i, j] - s


def schedule_of(found: Any) -> str:
    return "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", [shifted, least_and_count, beside_a_short_loop])
def test_as_many_threads_for_each_row_as_it_is_long(kernel: Any, shape: tuple[int, int]) -> None:
    found = agree(kernel, whole(*shape), whole(*shape), whole(shape[0]), strict=False)
    text = schedule_of(found)
    deeper = ".1" if text.startswith("specialize a.1 >= 65536 in i; ") else ""  # few rows are apart
    assert (LENGTHS if not deeper else BESIDE_LONG_ONES).format("a.1") in text
    bound = ("i{} block.x", "j{} thread.x 512", "i{}.1 block.x", "j{}.1 thread.x 64", "i{}.1.1 thread.y")
    for one in (*bound, "j{}.1.1 thread.x 8"):
        assert f"bind {one.format(deeper)};" in text
    assert text.endswith(f"bind i{deeper}.1.1.1.o block.x; bind i{deeper}.1.1.1 thread.x")


@pytest.mark.parametrize("shape", [(37, 70), (1, 1), (170, 3), (130, 70), (0, 5), (5, 0)])
def test_long_columns_are_shared_too(shape: tuple[int, int]) -> None:
    found = agree(mean_and_spread, whole(*shape), whole(*shape), whole(shape[1]), strict=False)
    text = schedule_of(found)
    for longer, shorter in (("j", "j.2"), ("j.1.1", "j.1.1.3")):  # many columns, and few that are not very long
        assert f"specialize a.0 >= 128 in {longer}; split {longer} 16; split {shorter} 256;" in text
        assert f"bind {longer}.o block.x; bind {longer} thread.x; bind i" in text
    assert text.endswith("bind j.1.1.3.o block.x; bind j.1.1.3 thread.x") and "bind i.2 thread.y 32" in text


@pytest.mark.parametrize("shape", [(3, 5, 40), (2, 3, 2050), (2, 3, 4), (1, 1, 1)])
def test_loops_around_rows_are_blocks(shape: tuple[int, int, int]) -> None:
    found = agree(batches, whole(*shape), whole(*shape), whole(2), strict=False)
    text = schedule_of(found)
    assert "bind k block.y; bind i block.x" in text and "bind k.1.1 block.y; bind i.1.1.o block.x" in text


@pytest.mark.parametrize("n", [0, 3, 12, 2100])
def test_the_length_of_a_row_may_be_an_argument(n: int) -> None:
    found = agree(of_length, whole(3, 2100), whole(3, 2100), whole(3), n, strict=False)
    assert BESIDE_LONG_ONES.format("n") in schedule_of(found)


def test_an_index_outside_is_told_of_the_users_line() -> None:
    with lw.options(device="emulated"), pytest.raises(lw.BoundsError, match=r"(?s)axis 1 of 'a' with size 20.*s \+= a"):
        lw.kernel(of_length)(whole(3, 20), whole(3, 20), whole(3), 21)


def test_nothing_is_shared_where_order_counts() -> None:
    found = agree(shifted, whole(9, 30), whole(9, 30), whole(9), strict=True)
    assert "bind i thread.x 32" in schedule_of(found) and "bind j thread" not in schedule_of(found)


EXTREMES = [(300, 7), (7, 300), (37, 130), (1, 1), (130, 1), (3, 2048)]


def with_nan(shape: tuple[int, int], share: float) -> Any:
    found = whole(*shape)
    found[RANDOM.random(shape) < share] = np.nan
    return found


@pytest.mark.parametrize("shape", EXTREMES)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_threads_look_for_the_place_of_an_extreme(shape: tuple[int, int], share: float) -> None:
    rows, columns = shape
    text = schedule_of(agree(least_of_rows, with_nan(shape, share), whole(2), whole(rows)))
    other = schedule_of(agree(greatest_of_columns, with_nan(shape, share), whole(2), whole(columns)))
    agree(greatest_of_all, with_nan(shape, share), whole(2), whole(2))
    if 1 not in shape:  # there is nothing to look for along an axis of one
        assert all(one in text for one in ("reduce i.2 512;", "reduce i.2.1 64;", "bind i.2.m thread.x 512;"))
        assert "thread.y 32" in other


@pytest.mark.parametrize("kernel", [places, last_of_the_greatest])
@pytest.mark.parametrize("shape", SHAPES)
def test_threads_keep_the_place_of_their_own_extreme(kernel: Any, shape: tuple[int, int]) -> None:
    text = schedule_of(agree(kernel, whole(*shape), whole(*shape), whole(shape[0])))
    assert "reduce j 512;" in text and "bind j.l thread.x 512; bind j.m thread.x 512;" in text


@pytest.mark.parametrize("kernel", [with_prefix, triples])
def test_rows_that_one_thread_has(kernel: Any) -> None:
    found = agree(kernel, whole(9, 30), whole(9, 30), whole(9), strict=False)
    # Of more threads where iterations hold no loops to speak of.
    line = "split i 512; bind i.o block.x; bind i thread.x 256"
    wanted = line if kernel is triples else "split i 32; bind i.o block.x; bind i thread.x 32"
    assert set(wanted.split("; ")) <= set(schedule_of(found).split("; ")) and "bind j thread" not in schedule_of(found)


@pytest.mark.parametrize("shape", [(25, 33), (3, 2100), (40, 5), (1, 1)])
@pytest.mark.parametrize("kernel", [masked, cleared])
def test_rows_under_a_condition_are_one_grid(kernel: Any, shape: tuple[int, int]) -> None:
    found = agree(kernel, whole(*shape), whole(*shape), whole(shape[0]), strict=False)
    text = schedule_of(found)
    assert text.startswith(LENGTHS.format("a.1")) and "bind i block.x; bind j thread.x 512" in text


@pytest.mark.parametrize("shape", [(25, 33), (1, 1)])
def test_columns_under_a_condition_are_one_grid(shape: tuple[int, int]) -> None:
    found = agree(columns_under_a_condition, whole(*shape), whole(*shape), whole(shape[0]), strict=False)
    assert "bind j.o block.x; bind j thread.x" in schedule_of(found)


def test_planes_under_a_condition_are_sums_of_elements() -> None:
    for shape in ((9, 7), (1, 1), (0, 3), (40, 33)):
        found = agree(planes_under_a_condition, whole(*shape), whole(*shape), whole(shape[0]), strict=False)
        assert schedule_of(found).startswith("predicate i; reorder i j k") and "block.x" in schedule_of(found)


def channels(x, o):
    for k in range(x.shape[1]):
        s = 0.0
        for a in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    s += x[a, k, i, j]
        s /= x.shape[0] * x.shape[2] * x.shape[3]
        for a in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    o[a, k, i, j] = x[a, k, i, j] - s


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (1, 1, 1, 1), (3, 2, 40, 33), (2, 0, 3, 8), (1, 2, 9, 5)])
def test_the_threads_of_a_block_share_rows_of_rows(shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape) % 11
    own, right, kernel = np.zeros(shape), np.zeros(shape), lw.kernel(channels)
    with lw.options(device="emulated"):
        kernel(x, own)
        steps = str(kernel.explain(x, own).to_dict()["schedule"])
    channels(x, right)
    np.testing.assert_allclose(own, right, rtol=1e-12, atol=1e-12)
    assert "specialize x.3 >= 32 in k; specialize x.1 >= 65536 in k.2; split k.2 256" in steps
    assert "bind i thread.y 16; bind j thread.x 32; bind i.2 thread.y 16; bind j.2 thread.x 32" in steps


def greatest_near(x, o):
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            m = x[i, j]
            for a in range(7):
                for b in range(7):
                    m = max(m, x[i + a, j + b])
            o[i, j] = m


def test_windows_that_overlap_are_no_planes() -> None:
    found = agree(greatest_near, whole(16, 15), np.zeros((10, 9)))
    assert schedule_of(found).startswith("tile i 8 j 32; bind i.o block.y")


def quadratic_forms(x, m, o):
    for q in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                s += x[q, i] * m[i, j] * x[q, j]
        o[q] = s


def test_many_small_planes_have_a_thread_each() -> None:
    found = agree(quadratic_forms, whole(70, 9), whole(9, 9), whole(70), strict=False)
    assert "specialize x.0 >= 65536 in q.1; split q.1 256; bind q block.x" in schedule_of(found)


def blocks(x, out):
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            block = x[16 * a : 16 * a + 16, 12 * b : 12 * b + 12]
            m = block.min()
            out[a, b] = ((block - m) ** 2).sum() + block.max()


@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (3, 5)])
def test_a_warp_has_a_small_plane(shape: tuple[int, int]) -> None:
    x = RANDOM.integers(-9, 9, (16 * shape[0] + 3, 12 * shape[1])).astype(float)
    found = agree(blocks, x, np.zeros(shape), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert "bind i thread.y 2" in steps
    assert "bind j thread.x 16" in steps


def gradient_of_weights(x, dy, dw):
    for o in range(dw.shape[0]):
        for c in range(dw.shape[1]):
            for a in range(3):
                for b in range(3):
                    total = 0.0
                    for n in range(x.shape[0]):
                        for i in range(dy.shape[2]):
                            for j in range(dy.shape[3]):
                                total += dy[n, o, i, j] * x[n, c, i + a, j + b]
                    dw[o, c, a, b] = total


@pytest.mark.parametrize("side", [1, 40])
def test_sums_of_planes_for_each_of_four_loops(side: int) -> None:
    numbers = np.random.default_rng(side)
    x, dy = numbers.integers(-9, 9, (2, 2, side + 2, side + 2)), numbers.integers(-9, 9, (2, 3, side, side))
    found = agree(gradient_of_weights, x.astype(float), dy.astype(float), np.zeros((3, 2, 3, 3)), strict=False)
    steps = {str(decision.step) for decision in found.analysed.recipe.decisions}
    assert {"bind o block.y", "bind c block.x", "bind i thread.y 16", "bind j thread.x 32"} <= steps


def group_norm(x, w, y):
    per = x.shape[1] // 8
    for n in range(x.shape[0]):
        for g in range(8):
            s = 0.0
            for c in range(g * per, (g + 1) * per):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        s += x[n, c, i, j]
            for c in range(g * per, (g + 1) * per):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        y[n, c, i, j] = x[n, c, i, j] * w[c] - s


@pytest.mark.parametrize("shape", [(0, 8, 3, 3), (1, 8, 1, 1), (2, 16, 5, 33)])
def test_planes_of_chunks_of_channels(shape: tuple[int, ...]) -> None:
    x, w = np.random.default_rng(1).integers(-9, 9, shape).astype(float), np.arange(float(shape[1]))
    found = agree(group_norm, x, w, np.zeros(shape), strict=False)
    steps = {str(decision.step) for decision in found.analysed.recipe.decisions}
    assert {"bind n block.y", "bind g block.x", "bind i thread.y 16", "bind j thread.x 32"} <= steps


def farthest(points, chosen):
    for b in range(points.shape[0]):
        distance = np.full(points.shape[1], 1e30)
        last = 0
        for s in range(chosen.shape[1]):
            chosen[b, s] = last
            far = -1.0
            following = 0
            for i in range(points.shape[1]):
                d = 0.0
                for k in range(3):
                    d += (points[b, i, k] - points[b, last, k]) ** 2
                if d < distance[i]:
                    distance[i] = d
                if distance[i] > far:
                    far = distance[i]
                    following = i
            last = following


@pytest.mark.parametrize("shape", [(2, 300), (3, 5), (1, 130), (40, 7), (1, 1), (2, 2100)])
def test_rows_that_are_gone_through_again_and_again(shape: tuple[int, int]) -> None:
    found = agree(farthest, whole(*shape, 3), np.zeros((shape[0], 4), np.int64), strict=False)
    assert "bind b block.x; bind i.l thread.x 512; bind i.m thread.x 512" in schedule_of(found)


def width(x, wanted, o):
    for i in range(x.shape[0]):
        beta = 1.0
        for _ in range(12):
            total = 0.0
            for j in range(x.shape[1]):
                total += abs(x[i, j]) * beta
            if abs(total - wanted) < 0.5:
                break
            if total > wanted:
                beta *= 0.5
            else:
                beta *= 1.25
        o[i] = beta


@pytest.mark.parametrize("shape", [(5, 300), (3, 5), (40, 7), (1, 1), (2, 2100), (3, 0)])
def test_rounds_that_end_early_around_a_loop_along_rows(shape: tuple[int, int]) -> None:
    found = agree(width, whole(*shape), 100.0, np.zeros(shape[0]), strict=False)
    assert "bind i block.x; bind j thread.x 512" in schedule_of(found)


def filtered(x, taps, o):
    for a in range(o.shape[0]):
        for i in range(o.shape[1]):
            for j in range(o.shape[2]):
                s = 0.0
                for p in range(9):
                    for q in range(9):
                        s += taps[a, p, q] * x[i + p, j + q]
                o[a, i, j] = s


def test_windows_that_slide_along_rows_have_a_thread_each() -> None:
    found = agree(filtered, whole(14, 45), whole(3, 9, 9), np.zeros((3, 6, 37)), strict=False)
    assert "thread.x 32; bind p" not in schedule_of(found) and "bind q" not in schedule_of(found)


def weighed(x, w, o):
    for b in range(x.shape[0]):
        hidden = np.zeros(8)
        for m in range(8):
            for k in range(x.shape[1]):
                hidden[m] += x[b, k, 0] * w[k, m]
        for k in range(x.shape[1]):
            gate = 0.0
            for m in range(8):
                gate += hidden[m] * w[k, m]
            for j in range(x.shape[2]):
                o[b, k, j] = x[b, k, j] * gate


@pytest.mark.parametrize("shape", [(3, 300, 5), (2, 5, 70), (1, 1, 1), (40, 7, 3), (2, 0, 3), (2, 2100, 1)])
def test_stages_with_an_array_between_them_are_the_work_of_a_block(shape: tuple[int, int, int]) -> None:
    found = agree(weighed, whole(*shape), whole(shape[1], 8), np.zeros(shape), strict=False)
    assert "bind b block.x" in schedule_of(found) and "bind k.2 thread.x" in schedule_of(found)


def halved(x, a, o):
    for i in range(x.shape[0]):
        low, high = 0.0, 1.0
        while high - low > 0.01:
            middle = 0.5 * (low + high)
            total = 0.0
            for k in range(a.shape[0]):
                total += a[k] * middle
            if total < x[i]:
                low = middle
            else:
                high = middle
        o[i] = low


def test_a_sum_in_a_while_of_a_thread_is_that_threads() -> None:
    for rows, terms in ((40, 5), (3, 300), (1, 0), (0, 4)):
        found = agree(halved, abs(whole(rows)), abs(whole(terms)), np.zeros(rows), strict=False)
        assert "split i 32" in schedule_of(found) and "bind i thread.x 32" in schedule_of(found)  # many of them


def remembered(q, k, v, out):
    """Linear attention: a state of each head and column that every round goes through."""
    for h in range(k.shape[0]):
        state = np.zeros((k.shape[2], v.shape[2]))
        for t in range(k.shape[1]):
            for i in range(k.shape[2]):
                for j in range(v.shape[2]):
                    state[i, j] += k[h, t, i] * v[h, t, j]
            for j in range(v.shape[2]):
                s = 0.0
                for i in range(k.shape[2]):
                    s += q[h, t, i] * state[i, j]
                out[h, t, j] = s


@pytest.mark.parametrize("shape", [(2, 5, 3), (1, 0, 4), (0, 2, 2), (3, 4, 0), (1, 6, 33), (2, 3, 70)])
def test_columns_that_are_gone_through_in_rounds_are_shared_by_warps_where_there_are_few(
    shape: tuple[int, int, int],
) -> None:
    heads, steps, width = shape
    q, k, v = whole(*shape), whole(*shape), whole(heads, steps, 9)
    k[:, 1:2] = np.nan if width == 33 else 1.0
    found = agree(remembered, q, k, v, np.zeros((heads, steps, 9)), strict=False)
    taken = "; ".join(str(one.step) for one in found.analysed.recipe.decisions)
    assert ">= 8192 in h" in taken and "thread.y; bind i" in taken and "thread.x 32" in taken


def chosen_rows(first, x, out):
    for b in range(out.shape[0]):
        for h in range(out.shape[1]):
            most = 0.0
            for t in range(first[b], first[b + 1]):
                most = max(most, x[h, t])
            s = 0.0
            for t in range(first[b], first[b + 1]):
                s += x[h, t] - most
            out[b, h] = s


@pytest.mark.parametrize("rows", [1, 3])
def test_few_rows_whose_length_data_tells_have_a_block_each(rows: int) -> None:
    first = np.array([0, 2, 2, 40])[: rows + 1]
    x, wanted, found = whole(3, 40), whole(rows, 3), whole(rows, 3)
    chosen_rows(first, x, wanted)
    kernel = lw.kernel(device="emulated")(chosen_rows)
    kernel(first, x, found)
    assert np.array_equal(wanted, found)
    schedule = str(kernel.explain(first, x, found).schedule)
    assert "specialize out.0*out.1 >= 4096 in b" in schedule
    assert "bind t thread.x 32" in schedule and "bind h.1 block.x; bind t.1 thread.x 256" in schedule


def places_in_windows(x, window, out, low):
    for s in range(x.shape[0]):
        for t in range(x.shape[1]):
            if t < window:
                out[s, t] = -1.0
                continue
            less = 0
            for k in range(t - window, t):
                if x[s, k] < x[s, t]:
                    less += 1
            out[s, t] = less
            if less > 1:
                low[s] += 1


def test_rounds_of_rows_have_a_warp_each() -> None:
    x, wanted, found = whole(3, 20), [np.zeros((3, 20)), np.zeros(3)], [np.zeros((3, 20)), np.zeros(3)]
    places_in_windows(x, 4, *wanted)
    kernel = lw.kernel(device="emulated")(places_in_windows)
    kernel(x, 4, *found)
    assert np.array_equal(wanted[0], found[0]) and np.array_equal(wanted[1], found[1])
    schedule = str(kernel.explain(x, 4, *found).schedule)
    assert "bind k thread.x 32" in schedule and "256" not in schedule
