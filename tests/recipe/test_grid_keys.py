"""Sums by key: how they are shared where rows are added, or scalars beside them, and what comes out on the emulated
device."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(5)
IN_ROWS = "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 32"


def class_sums(x, label, sums, counts):
    for i in range(x.shape[0]):
        counts[label[i]] += 1
        for j in range(x.shape[1]):
            sums[label[i], j] += x[i, j]


def gradient(x, label, sums, counts):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[label[i], j] += x[i, j]


def gradient_from_the_end(x, label, sums, counts):
    for i in range(x.shape[0] - 1, -1, -1):
        for j in range(x.shape[1]):
            sums[label[i], j] += x[i, j]


def in_rounds(x, label, sums, counts):
    for t in range(counts.shape[0]):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                sums[label[i], j] += x[i, j] * t
        counts[t] = int(sums[0, 0])


def nearest(x, label, sums, counts):
    for i in range(x.shape[0]):
        best = 1e30
        b = 0
        for q in range(sums.shape[0]):
            t = 0.0
            for j in range(x.shape[1]):
                t += abs(x[i, j] - q)
            if t < best:
                best = t
                b = q
        counts[b] += 1


def channels(x, label, sums, counts):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for c in range(3):
                sums[abs(int(x[i, j]) + c) % sums.shape[0], c % x.shape[1]] += 1.0


def pairs_from_the_end(x, label, sums, counts):
    for i in range(x.shape[0] - 1, -1, -1):
        for j in range(x.shape[1]):
            counts[(label[i] + label[j % len(label)]) % counts.shape[0]] += 1


def total_and_counts(x, label, sums, counts):
    t = 0.0
    for i in range(x.shape[0]):
        t += x[i, 0]
        counts[label[i]] += 1
    return t


def columns(x, label, sums, counts):
    """No data tells these: columns, each summed up by itself."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[0, j] += x[i, j]


@pytest.mark.parametrize("shape", [(1, 1), (7, 40), (300, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (
            class_sums,
            "fission i 2; split i 32768; split i.1 8; bind i.o block.x; bind i thread.x 512; bind i.1.o block.x; "
            "bind i.1 thread.y; bind j thread.x 32",
        ),
        (gradient, IN_ROWS),
        (gradient_from_the_end, IN_ROWS.replace("thread.y", "thread.y 8")),
        (in_rounds, IN_ROWS),
        (
            nearest,
            "fission i 4 kept; specialize x.0 >= 65536 in i; split i 32; specialize sums.0 >= 2048 in i.2; "
            "reduce q.1 512; specialize sums.0 >= 128 in i.2.1; reduce q.1.1 64; "
            "specialize sums.0 >= 6 in i.2.1.1; split i.2.1.1 32; reduce q.1.1.1 8; split i.2.1.1.1 256; "
            "split i.1 32768; bind i.o block.x; bind i thread.x 32; bind i.2 block.x; bind q.1.l thread.x 512; "
            "bind q.1.m thread.x 512; bind i.2.1 block.x; bind q.1.1.l thread.x 64; bind q.1.1.m thread.x 64; "
            "bind i.2.1.1.o block.x; bind i.2.1.1 thread.y; bind q.1.1.1.l thread.x 8; "
            "bind q.1.1.1.m thread.x 8; bind i.2.1.1.1.o block.x; bind i.2.1.1.1 thread.x; bind i.1.o block.x; "
            "bind i.1 thread.x 512",
        ),
        (channels, "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 64"),
        (pairs_from_the_end, "split i 8; bind i.o block.x; bind i thread.y 8; bind j thread.x 64"),
        (
            columns,
            "reorder j i; specialize x.1 >= 2048 in j; specialize x.1 >= 256 in j.1; reduce i.1 512; "
            "expand sums.e.x j.1; fission j.1 2; reduce i.1.1 8192; expand sums.e.x j.1.1; fission j.1.1 2; "
            "promote sums i; specialize x.0 >= 128 in j; split j 16; split j.2 256; reorder i.1.l j.1; "
            "tile i.1.l 8 j.1 32; promote sums i.1.m; reorder i.1.1.l j.1.1; specialize x.1 >= 16 in i.1.1.l; "
            "tile i.1.1.l 8 j.1.1 32; tile i.1.1.l.1 32 j.1.1.2 8; "
            "promote sums i.1.1.m; bind j.o block.x; bind j thread.x; bind i thread.y 32; "
            "bind j.2.o block.x; bind j.2 thread.x; bind i.1.l.o block.y; bind j.1.o block.x; bind i.1.l thread.y; "
            "bind j.1 thread.x; bind j.1.1.1 block.x; bind i.1.m thread.x 64; bind i.1.1.l.o block.y; "
            "bind j.1.1.o block.x; bind i.1.1.l thread.y; bind j.1.1 thread.x; bind i.1.1.l.1.o block.y; "
            "bind j.1.1.2.o block.x; bind i.1.1.l.1 thread.y; bind j.1.1.2 thread.x; bind j.1.1.1.1 block.x; "
            "bind i.1.1.m thread.x 512",
        ),
    ],
)
def test_who_adds_what(kernel: Any, wanted: str, shape: tuple[int, int]) -> None:
    found = run(kernel, shape, strict=False)
    assert "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions) == wanted


@pytest.mark.parametrize("shape", [(1, 1), (300, 3), (0, 3)])
def test_sums_in_scalars_are_apart(shape: tuple[int, int]) -> None:
    found = run(total_and_counts, shape, strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[:2] == ["fission i 2", "reduce i 262144"] and "bind i.1 thread.x 512" in steps


@pytest.mark.parametrize(("kernel", "loop"), [(class_sums, "i.1"), (gradient, "i")])
def test_strict_keeps_the_order_of_sums(kernel: Any, loop: str) -> None:
    found = run(kernel, (30, 7), strict=True)
    assert f"bind {loop} " not in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


def run(kernel: Any, shape: tuple[int, int], strict: bool) -> Any:
    x = RANDOM.integers(-9, 9, shape).astype(float)
    label = RANDOM.integers(0, 4, shape[0])
    return agree(kernel, x, label, np.zeros((4, max(shape[1], 1))), np.zeros(4, np.int64), strict=strict)


@lw.kernel
def counts_of_rows(a, h):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[i, a[i, j]] += 1


@lw.kernel
def sums_of_planes(a, x, h):
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(a.shape[2]):
                h[k, i, a[k, i, j]] += x[j]


@lw.kernel
def least_of_rows(a, x, h):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[2 * i + 1, a[i, j]] = min(h[2 * i + 1, a[i, j]], x[i, j])


@lw.kernel
def two_targets_of_rows(a, h, g):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[i, a[i, j]] += 1
            g[a[i, j]] += 2


@pytest.mark.parametrize("length", [0, 5, 4095, 4096, 33_000])
@pytest.mark.parametrize("bins", [3, 256, 40_000])
def test_rows_that_add_by_key(length: int, bins: int) -> None:
    """Short ones, and long ones whose blocks have copies of one row, or of none where it is too large."""
    random = np.random.default_rng(length + bins)
    a = random.integers(0, min(bins, 300), (3, length))
    h = random.integers(0, 9, (3, bins))
    expected = h + np.stack([np.bincount(row, minlength=bins) for row in a])
    with lw.options(device="emulated"):
        counts_of_rows(a, h)
    assert (h == expected).all()


def test_rows_of_other_kinds() -> None:
    random = np.random.default_rng(7)
    planes = random.integers(0, 7, (2, 3, 5000))
    x = random.integers(0, 5, 5000) * 1.0
    a, least = planes[0], random.random((3, 5000))
    for kernel, given in (
        (sums_of_planes, (planes, x, np.zeros((2, 3, 7)))),
        (least_of_rows, (a, least, np.full((7, 9), np.inf))),
        (two_targets_of_rows, (a, np.zeros((3, 8), np.int32), np.zeros(9, np.int64))),
    ):
        mine, theirs = copy.deepcopy(given), copy.deepcopy(given)
        with lw.options(device="emulated"):
            kernel(*mine)
        kernel.py_func(*theirs)
        for one, other in zip(mine, theirs, strict=True):
            assert (one == other).all()


def test_blocks_share_long_rows_and_have_copies_of_them() -> None:
    keys, counts = np.zeros((3, 5000), np.uint8), np.zeros((3, 256), np.int64)
    found = agree(counts_of_rows.py_func, keys, counts)
    told = [text for one in found.program.device.functions for text in one.lowered]
    assert any("copies of a row of 'h' in shared memory" in text for text in told)
    with lw.options(device="emulated"):
        text = str(counts_of_rows.explain(keys, counts))
    assert "bind i block.x; bind j.o block.y; bind j thread.x 512" in text


def triples(x, label, sums, counts):
    for i in range(x.shape[0]):
        for j in range(3):
            sums[label[i], j] += x[i, j]
        counts[label[i]] += 1


def test_short_rows_are_added_in_copies_of_a_block() -> None:
    found = run(triples, (300, 3), strict=False)
    assert "fission i 2" in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)
    lowered = [text for one in found.program.device.functions for text in one.lowered]
    assert sum(text.startswith("privatised updates") for text in lowered) == 2


def convolved(x, h, o):
    for i in range(len(x)):
        for j in range(len(h)):
            o[i + j] += x[i] * h[j]


@pytest.mark.parametrize("n", [0, 1, 40, 20000])
def test_overlapping_rows_are_added_by_a_thread_each_where_there_are_many(n: int) -> None:
    x, h = np.arange(float(n)) % 7, np.arange(5.0)
    own, kernel = np.ones(n + 4), lw.kernel(convolved)
    with lw.options(device="emulated"):
        kernel(x, h, own)
        steps = str(kernel.explain(x, h, own).to_dict()["schedule"])
    np.testing.assert_array_equal(own, 1.0 + (np.convolve(x, h) if n else np.zeros(4)))
    assert steps.startswith("specialize x.0 >= 16384 in i; split i 1024; reorder j.1 i.1")


def all_greatest(label, near, found, new):
    for i in range(near.shape[0]):
        mine = label[i]
        if found[mine] < 0:
            best = -1
            for k in range(near.shape[1]):
                best = max(best, label[near[i, k]])
            if best >= 0:
                new[mine] = max(new[mine], best)


def test_maxima_by_key_whose_iterations_hold_loops_under_a_condition_are_shared() -> None:
    label, near = RANDOM.integers(0, 40, 300), RANDOM.integers(0, 300, (300, 4))
    found = np.where(RANDOM.random(40) < 0.5, -1, 7)
    wanted, got = np.full(40, -1), np.full(40, -1)
    all_greatest(label, near, found, wanted)
    one = lw.kernel(device="emulated")(all_greatest)
    one(label, near, found, got)
    assert np.array_equal(got, wanted)
    schedule = str(one.explain(label, near, found, got).schedule)
    assert "bind i thread.x" in schedule and "reduce k" not in schedule  # no launch for each iteration of i


def of_a_layer(x, dy, dx, dg):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        for j in range(x.shape[1]):
            if x[i, j] != 3.0:
                dg[j] += dy[i, j] * (x[i, j] - s)
        for j in range(x.shape[1]):
            dx[i, j] = dy[i, j] - s


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (40, 5), (7, 130)])
def test_rows_of_several_loops_may_add_to_what_they_have_in_common(shape: tuple[int, int]) -> None:
    x = np.arange(float(shape[0] * shape[1])).reshape(shape) % 7
    found = agree(of_a_layer, x, x + 1, np.zeros(shape), np.zeros(shape[1]), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert {"fuse j.2 j.3", "bind i block.x", "bind j thread.x 512", "bind j.2 thread.x 512"} <= set(steps)


def enlarged_backward(dy, dx):
    for n in range(dy.shape[0]):
        for i in range(dy.shape[1]):
            y = max((i + 0.5) * 0.5 - 0.5, 0.0)
            y0 = int(y)
            y1 = min(y0 + 1, dx.shape[1] - 1)
            for j in range(dy.shape[2]):
                x = max((j + 0.5) * 0.5 - 0.5, 0.0)
                x0 = int(x)
                x1 = min(x0 + 1, dx.shape[2] - 1)
                dx[n, y0, x0] += dy[n, i, j]
                dx[n, y1, x1] += 2 * dy[n, i, j]


def spread_by_filters(dy, w, dx):
    for n in range(dy.shape[0]):
        for o in range(dy.shape[1]):
            for i in range(dy.shape[2]):
                g = dy[n, o, i]
                for c in range(w.shape[1]):
                    for a in range(3):
                        dx[n, c, i + a] += g * w[o, c, a]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_things_that_are_added_to_at_overlapping_places(n: int) -> None:
    dy = RANDOM.integers(-9, 9, (n, 10, 38)).astype(float)
    found = agree(enlarged_backward, dy, np.zeros((n, 5, 19)), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[0] == "specialize dy.0 >= 16384 in n" and {"bind i.1 thread.y 8", "bind j.1 thread.x 32"} <= set(steps)
    w = RANDOM.integers(-9, 9, (10, 2, 3)).astype(float)
    found = agree(spread_by_filters, dy, w, np.zeros((n, 2, 40)), strict=False)
    assert "bind o.1 thread.y 8" in {str(decision.step) for decision in found.analysed.recipe.decisions}


def test_additions_that_have_to_keep_their_order_have_a_thread_for_each() -> None:
    dy = RANDOM.integers(-9, 9, (2, 10, 38)).astype(float)
    found = agree(enlarged_backward, dy, np.zeros((2, 5, 19)))
    assert not any(str(decision.step).startswith("specialize") for decision in found.analysed.recipe.decisions)


def bias_gradient(dy, db):
    for b in range(dy.shape[0]):
        for i in range(dy.shape[1]):
            for j in range(dy.shape[2]):
                for c in range(dy.shape[3]):
                    db[c] += dy[b, i, j, c]


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (1, 1, 1, 1), (2, 3, 70, 5), (3, 2, 65, 40), (1, 1, 2, 2100)])
def test_sums_over_several_loops_around_columns(shape: tuple[int, ...]) -> None:
    dy = RANDOM.integers(-9, 9, shape).astype(float)
    found = agree(bias_gradient, dy, np.ones(shape[3]), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[0] == "specialize dy.3 >= 2048 in b"
    assert {"bind b.1 block.z", "bind i.1 block.y", "bind j.1 thread.y 8", "bind c.1 thread.x 32"} <= set(steps)


def test_such_sums_in_their_order_are_columns() -> None:
    dy = RANDOM.integers(-9, 9, (2, 3, 4, 5)).astype(float)
    found = agree(bias_gradient, dy, np.ones(5))
    assert not any("block.z" in str(decision.step) for decision in found.analysed.recipe.decisions)


def spread(a, r, o, p):
    for i in range(a.shape[0]):
        o[(i + r) % a.shape[0]] = a[i]
        p[i] = 2.0


@pytest.mark.parametrize("size", [1, 7, 300])
def test_places_that_are_kept_for_what_else_an_iteration_writes_are_known(size: int) -> None:
    agree(spread, RANDOM.random(size), 3, np.zeros(size), np.zeros(size))


def counts_and_totals_of_rows(keys, h):
    last = h.shape[1] - 1
    for r in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            h[r, keys[r, i]] += 1
            h[r, last] += 1


def test_rows_with_an_element_that_no_iteration_moves_are_shared_by_blocks() -> None:
    for rows, columns in ((3, 0), (0, 3), (3, 5000), (40, 7)):
        keys = np.random.default_rng(rows).integers(0, 9, (rows, columns))
        agree(counts_and_totals_of_rows, keys, np.full((rows, 10), 2), strict=False)
        kernel = lw.kernel(counts_and_totals_of_rows)
        with lw.options(device="emulated"):
            kernel(keys, np.full((rows, 10), 2))
            schedule = str(kernel.explain(keys, np.full((rows, 10), 2)).schedule)
        assert "bind r block.x; bind i.o block.y; bind i thread.x 512" in schedule


def rules(source, target, start, feature, weight, out):
    for k in range(len(start) - 1):
        for r in range(start[k], start[k + 1]):
            for a in range(feature.shape[1]):
                for c in range(feature.shape[1]):
                    out[target[r], c] += feature[source[r], a] * weight[k, a, c]


def one_rule(source, target, start, feature, weight, out):
    for r in range(len(source)):
        for a in range(feature.shape[1]):
            for c in range(feature.shape[1]):
                out[target[r], c] += feature[source[r], a] * weight[0, a, c]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (rules, "reorder c a; reorder c.1 a.1; bind k block.x; bind r thread.y 16; bind c thread.x 32"),
        (one_rule, "reorder c a; split r 8; bind r.o block.x; bind r thread.y; bind c thread.x 32"),
    ],
)
@pytest.mark.parametrize("channels", [0, 1, 9])
def test_rows_of_sums_are_added_at_once(kernel: Any, wanted: str, channels: int) -> None:
    draw = np.random.default_rng(channels)
    source, target = draw.integers(0, 12, 30), draw.integers(0, 12, 30)
    feature, weight = (draw.integers(-4, 5, shape).astype(float) for shape in ((12, channels), (2, channels, channels)))
    found = agree(kernel, source, target, np.array([0, 3, 30]), feature, weight, np.ones((12, channels)), strict=False)
    assert set(wanted.split("; ")) <= {str(one.step) for one in found.analysed.recipe.decisions}
    updates = [line for line in found.ready.program.device.text.splitlines() if "lw_value" in line]
    assert updates and all("lw_value = vlw_sum" in line for line in updates), "once for each sum"


def test_the_order_is_kept_where_it_is_asked_for() -> None:
    given = np.zeros(3, np.int64), np.zeros(3, np.int64), np.array([0, 3]), np.ones((2, 9)), np.ones((1, 9, 9))
    found = agree(rules, *given, np.ones((2, 9)), strict=True)
    assert "bind r" not in "; ".join(str(one.step) for one in found.analysed.recipe.decisions)


def transposed_product(starts, columns, values, x, y):
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[columns[k]] += values[k] * x[i]


def corners(cells, mass, y):
    for e in range(cells.shape[0]):
        part = mass[e] * 0.125
        y[cells[e, 0]] += part
        y[cells[e, 1]] += part
        y[cells[e, 2]] += part
        y[cells[e, 3]] += part
        y[cells[e, 4]] += part
        y[cells[e, 5]] += part
        y[cells[e, 6]] += part
        y[cells[e, 7]] += part


def test_rows_that_data_end_have_a_warp_each_and_many_additions_few_iterations() -> None:
    starts, columns = np.array([0, 2, 2, 5]), np.array([1, 0, 3, 1, 1])
    found = agree(transposed_product, starts, columns, np.arange(5.0), np.arange(3.0), np.zeros(4), strict=False)
    steps = [str(one.step) for one in found.analysed.recipe.decisions]
    assert steps[:3] == ["specialize starts.0 >= 4096 in i", "flatten i.1 k.1", "split i 16"]
    assert {"bind i.o block.x", "bind i thread.y", "bind k thread.x 32", "bind i.1.k.1 thread.x 512"} <= set(steps)
    cells = RANDOM.integers(0, 9, (5, 8))
    found = agree(corners, cells, np.arange(0.0, 40.0, 8.0), np.zeros(9), strict=False)
    assert "split e 8192;" in "; ".join(str(one.step) for one in found.analysed.recipe.decisions)


def smoothed_by_key(key, x, state, out):
    for i in range(len(key)):
        c = key[i]
        if x[i] > 7:
            continue
        s = state[c] // 2 + x[i]
        state[c] = s
        out[i] = s


@pytest.mark.parametrize("keys", [400, 2])
def test_states_of_keys_are_shared_out_unless_one_has_most_of_the_work(keys: int) -> None:
    """With two keys, each has more than 1024 iterations and more than one in 512: the GPU leaves the call to the CPU,
    also where it is repeated."""
    n = 5000
    random = np.random.default_rng(keys)
    key, x = random.integers(0, keys, n), random.integers(0, 10, n)
    kernel = lw.kernel(smoothed_by_key)
    given = [key, x, np.zeros(keys, np.int64), np.zeros(n, np.int64)]
    with lw.options(device="emulated"):
        there = [lw.device_array(one) for one in given]
        assert "bucket i" in str(kernel.explain(*there).schedule)
        for _ in range(3):
            kernel(*there)
            kernel.py_func(*given)
            assert all(np.array_equal(one, other) for one, other in zip(there, given, strict=True))
        kernel(*given)
    wanted = [key, x, *(np.asarray(one).copy() for one in there[2:])]
    kernel.py_func(*wanted)
    assert all(np.array_equal(one, other) for one, other in zip(wanted, given, strict=True))


def coded_and_smoothed(x, code, state, most):
    used = 0
    for i in range(len(x)):
        z = 0
        for bit in range(6):
            if x[i] >> bit & 1 == bit % 2:
                z = 2 * z + 1
        code[i] = z
        if state[z] == 0:
            used += 1
        state[z] = state[z] // 2 + x[i]
        if x[i] > most[z]:
            most[z] = x[i]
    return used


def test_a_key_that_a_loop_finds_is_found_before() -> None:
    x = np.random.default_rng(0).integers(0, 1 << 20, 3000)
    wanted = [x, np.zeros(3000, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int64)]
    given = [one.copy() for one in wanted]
    kernel = lw.kernel(device="emulated")(coded_and_smoothed)
    assert kernel(*given) == coded_and_smoothed(*wanted)
    assert all(np.array_equal(one, other) for one, other in zip(wanted, given, strict=True))
    assert "bucket i.1" in str(kernel.explain(*given).schedule)


def greatest_of_rows_and_columns(start, column, value, row_most, column_most):
    for i in range(row_most.shape[0]):
        for e in range(start[i], start[i + 1]):
            j = column[e]
            if value[e] > row_most[i]:
                row_most[i] = value[e]
            if value[e] > column_most[j]:
                column_most[j] = value[e]


def test_rows_with_a_maximum_of_their_own_beside_those_of_columns() -> None:
    random = np.random.default_rng(3)
    start = np.concatenate([[0], np.cumsum(random.integers(0, 9, 40))])
    column, value = random.integers(0, 7, start[-1]), random.random(start[-1])
    wanted, given = ([start, column, value, np.zeros(40), np.zeros(7)] for _ in range(2))
    greatest_of_rows_and_columns(*wanted)
    kernel = lw.kernel(device="emulated")(greatest_of_rows_and_columns)
    kernel(*given)
    assert all(np.array_equal(one, other) for one, other in zip(wanted, given, strict=True))
    assert "bind i thread.x" in str(kernel.explain(*given).schedule)


def spread_over_pixels(box, grad, out):
    for r in range(box.shape[0]):
        size = box[r, 1] / grad.shape[1]
        for i in range(grad.shape[1]):
            y = min(max(box[r, 0] + i * size, 0.0), out.shape[1] - 2.0)
            y0 = int(y)
            for c in range(grad.shape[2]):
                out[c, y0] += grad[r, i, c] * (1.0 - (y - y0))
                out[c, y0 + 1] += grad[r, i, c] * (y - y0)


def test_few_things_with_nests_that_add_where_data_tells_have_threads_for_all_of_these() -> None:
    random = np.random.default_rng(4)
    wanted, given = ([random_box(6), np.ones((6, 5, 3)), np.zeros((3, 12))] for _ in range(2))
    wanted[1][:] = given[1][:] = random.random((6, 5, 3))
    spread_over_pixels(*wanted)
    kernel = lw.kernel(device="emulated")(spread_over_pixels)
    kernel(*given)
    assert np.allclose(wanted[2], given[2])
    schedule = str(kernel.explain(*given).schedule)
    assert "collapse" in schedule or "bind i.1 thread.y 16" in schedule


def random_box(n: int) -> Any:
    return np.random.default_rng(n).random((n, 2)) * 8.0
