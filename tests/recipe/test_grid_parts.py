"""Few long sums: which nests get a version for them, and what comes out, on the emulated device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.recipe import grid_parts, grid_totals

RANDOM = np.random.default_rng(11)


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 10, shape).astype(float)


def gram(a, c):
    for i in range(a.shape[1]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[k, i] * a[k, j]
            c[i, j] = s


def moments(a, c):
    for j in range(a.shape[1]):
        s = 0.0
        q = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
            q += a[i, j] * a[i, j]
        c[0, j] = s
        c[1, j] = q


def added(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[0, j] += a[i, j]


def extremes(a, c):
    for j in range(a.shape[1]):
        least = np.inf
        for i in range(a.shape[0]):
            least = min(least, a[i, j])
        c[0, j] = least


def running(a, c):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            c[i, j] = s


def running_down(a, c):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = c[i - 1, j] + a[i, j]


def three(a, c):
    for j in range(3):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        c[0, j] = s


def a_thousand(a, c):
    for j in range(1000):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j % 3]
        c[0, j % 3] = s


def steps_of(kernel: Any, *arguments: Any, strict: bool = False) -> list[str]:
    found = agree(kernel, *arguments, strict=strict)
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


COLUMNS = ["specialize a.1 >= 2048 in j", "specialize a.1 >= 256 in j.1", "reduce i.1 512", "reduce i.1.1 8192"]


@pytest.mark.parametrize(("rows", "columns"), [(300, 5), (5, 300), (1, 1), (0, 3), (3, 0), (700, 64), (30, 257)])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (moments, [*COLUMNS, "expand s.1.1.x j.1.1", "expand q.1.1.x j.1.1"]),
        (added, [*COLUMNS, "expand c.e.x j.1.1"]),
        (extremes, [*COLUMNS, "expand least.1.1.x j.1.1"]),
        (running, ["specialize a.0 >= 256 in i", "scan j.1 512"]),
    ],
)
def test_few_sums_are_made_of_partial_ones(kernel: Any, wanted: list[str], rows: int, columns: int) -> None:
    steps = steps_of(kernel, whole(rows, columns), whole(max(2, rows), columns))
    assert [step for step in steps if step in wanted] == wanted


@pytest.mark.parametrize("columns", [0, 1, 3, 63, 64, 70])
def test_products_have_versions_for_how_many_sums_there_are(columns: int) -> None:
    steps = steps_of(gram, whole(40, columns), np.zeros((columns, columns)))
    assert [step for step in steps if step.startswith(("specialize a", "reduce"))] == [
        "specialize a.1 >= 512 in i",
        "specialize a.1*a.1 >= 256 in i.1",
        "reduce k.1.1 8192",
        f"reduce k.1 {grid_parts.CHUNK} chunks",
    ]
    tiles = [step.split()[2::2] for step in steps if step.startswith("tile i") and len(step.split()) == 7]
    assert tiles == [["64", "64", "16"], ["64", "64", "16"]]


@pytest.mark.parametrize("rows", [0, 1, grid_parts.CHUNK, grid_parts.CHUNK + 1, 2 * grid_parts.CHUNK - 1])
def test_each_chunk_of_a_long_sum_has_a_product_of_its_own(rows: int) -> None:
    steps_of(gram, whole(rows, 17), np.zeros((17, 17)))


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def test_a_tall_product_has_tiles_enough_without_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_parts, "TALL", 600)
    steps = steps_of(product, whole(50, 6), whole(6, 13), np.zeros((50, 13)))
    assert [step for step in steps if step.startswith("specialize c")] == [
        "specialize c.0 c.1 >= 512 in i",
        "specialize c.0*c.1 >= 256 in i.1",
        "specialize c.0*c.1 >= 600 in i.1",
    ]
    assert sum(step.startswith("stage a") for step in steps) == 3


def batched(a, b, c):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                s = 0.0
                for k in range(a.shape[2]):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


@pytest.mark.parametrize("side", [3, 16, 33, 64])
def test_many_small_products_have_tiles_of_their_size(side: int) -> None:
    a = np.arange(3.0 * side * side).reshape(3, side, side) % 7
    steps = steps_of(batched, a, a + 1, np.zeros_like(a))
    assert [step for step in steps if step.startswith("specialize a")] == [
        "specialize a.1 b.2 >= 96 in n",
        "specialize a.1 b.2 >= 16 in n.1",
    ]
    assert [step.split()[2::2] for step in steps if step.startswith("tile i") and len(step.split()) == 7] == [
        ["64", "64", "16"],
        ["32", "32", "16"],
    ]


def test_a_known_number_of_sums_needs_no_version() -> None:
    a = whole(40, 3)
    few = steps_of(three, a, np.zeros((1, 3)))
    assert "reduce i 8192" in few and not any(step.startswith("specialize") for step in few)


def test_many_sums_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_totals, "LANES", replace(grid_totals.LANES, default=1 << 9))  # a thousand times
    steps = steps_of(a_thousand, whole(40, 3), np.zeros((1, 3)))
    assert not any(step.startswith("reduce i") and step.endswith("8192") for step in steps)


def test_strict_adds_in_order() -> None:
    assert not any(
        step.startswith(("reduce", "scan")) for step in steps_of(moments, whole(9, 4), whole(2, 4), strict=True)
    )


def test_a_running_sum_down_columns_is_one_grid() -> None:
    steps = steps_of(running_down, whole(30, 40), whole(30, 40))
    assert "reorder j i" in steps and "bind j.o block.x" in steps


def two_products(a, b, c, d):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(c.shape[0]):
        for j in range(b.shape[1]):
            for k in range(c.shape[1]):
                d[i, j] += c[i, k] * b[k, j]


def test_several_products_are_in_tiles_all_the_same() -> None:
    found = agree(two_products, *(whole(20, 20) for _ in range(4)), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert sum(step.startswith("stage") for step in steps) == 4


def least_of_rows(a, v, w):
    for i in range(a.shape[0]):
        best = np.inf
        where = -1
        for j in range(a.shape[1]):
            if a[i, j] < best:
                best = a[i, j]
                where = j
        v[i] = best
        w[i] = where


def test_few_rows_of_which_the_least_element_is_looked_for() -> None:
    """Before, one thread went through each row."""
    a = whole(4, 300)
    a[1, 17] = a[1, 40] = -99.0
    steps = steps_of(least_of_rows, a, np.zeros(4), np.zeros(4, np.int64), strict=True)
    assert "specialize a.0 >= 256 in i" in steps and "reduce j.1 8192" in steps


def distances(x, y, d):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - y[j, k]) * (x[i, k] - y[j, k])
            d[i, j] = np.sqrt(s)


def test_what_follows_a_product_is_a_grid_too() -> None:
    """The nest that fills the target is left out there: its loops are not asked any more whether they need an order."""
    steps = steps_of(distances, whole(40, 3), whole(30, 3), np.zeros((40, 30)))
    assert any(step.startswith("promote s.x k.o whole filled") for step in steps)
    kernel = lw.kernel(distances)
    with lw.options(device="emulated"):
        text = kernel.specialise(whole(40, 3), whole(30, 3), np.zeros((40, 30))).c_text
    assert text is not None and "lw_single" not in text


def gates(f, a, b):
    for c in range(a.shape[1]):
        s = 0.0
        for t in range(a.shape[0]):
            s = f[t, c] * s + a[t, c]
            b[t, c] = s


def drawdowns(f, a, b):
    for c in range(a.shape[1]):
        value, most = 1.0, 1.0
        for t in range(a.shape[0]):
            value *= 0.9 + 0.2 * f[t, c]
            most = max(most, value)
            b[t, c] = value / most - 1.0


@pytest.mark.parametrize("function", [gates, drawdowns])
def test_few_long_recurrences_are_made_in_chunks(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_parts, "LONG", 64)
    monkeypatch.setattr(grid_parts, "CHUNKS", 16)
    kernel = lw.kernel(function)
    for shape in ((50, 3), (300, 3), (300, 2)):
        f, a, b = RANDOM.random(shape), RANDOM.random(shape), np.zeros(shape)
        if shape == (300, 2):
            f[150, 1] = np.nan
            f[100:110, 0] = 1e80  # the maps of a chunk are infinite
            a[90:110, 0] = 0.0
            f[95, 0] = 0.0
        wanted = np.zeros(shape)
        with np.errstate(all="ignore"), lw.options(device="emulated", compiler_flags=("-O0",)):
            kernel(f, a, b)
            function(f, a, wanted)
        np.testing.assert_allclose(b, wanted, rtol=1e-9, atol=1e-12)
    steps = [str(one.step) for one in kernel._dispatch.compiled()[0].analysed.recipe.decisions]
    assert "scan t.1 16" in steps and not kernel._dispatch.compiled()[0].why_not_gpu


def standardised(a, b):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        mean = s / a.shape[0]
        q = 0.0
        for i in range(a.shape[0]):
            d = a[i, j] - mean
            q += d * d
        width = np.sqrt(q / a.shape[0])
        for i in range(a.shape[0]):
            b[i, j] = (a[i, j] - mean) / width


def normal(a, b):
    for j in range(a.shape[1]):
        q = 0.0
        for i in range(a.shape[0]):
            q += a[i, j] * a[i, j]
        if q > 0.0:
            for i in range(a.shape[0]):
                b[i, j] = a[i, j] / q


def test_few_columns_of_several_loops_have_a_nest_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_parts, "LONG_COLUMN", 64)
    monkeypatch.setattr(grid_parts, "LANES", 16)
    kernel = lw.kernel(standardised)
    for shape in ((300, 3), (40, 3), (0, 3), (70, 300)):
        a, b, wanted = RANDOM.random(shape), np.zeros(shape), np.zeros(shape)
        with np.errstate(all="ignore"), lw.options(device="emulated", compiler_flags=("-O0",)):
            kernel(a, b)
            if a.size:
                standardised(a, wanted)
        np.testing.assert_allclose(b, wanted, rtol=1e-9, atol=1e-12)
    steps = [str(one.step) for one in kernel._dispatch.compiled()[0].analysed.recipe.decisions]
    assert steps[:2] == ["specialize a.1 >= 256 in j", "specialize a.0 >= 64 in j.1"]
    assert [step for step in steps if step.startswith("reduce")] == ["reduce i.1 16", "reduce i.2.1 16"]
    for function, strict in ((standardised, True), (normal, False)):
        other, columns = lw.kernel(function, strict=strict), np.ones((9, 9))
        with lw.options(device="emulated"):
            found = other.specialise(columns, columns).analysed.recipe.decisions
        assert not any("a.1 >= 256" in str(one.step) for one in found)


def channels(x, o):
    for k in range(x.shape[1]):
        s = 0.0
        for a in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    s += x[a, k, i, j]
        s /= x.shape[0]
        for a in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    o[a, k, i, j] = x[a, k, i, j] - s


def test_few_planes_of_several_nests_have_a_nest_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_parts, "LONG_COLUMN", 64)
    monkeypatch.setattr(grid_parts, "PLANES", 4)
    kernel = lw.kernel(channels)
    for shape in ((9, 2, 3, 4), (2, 2, 3, 4), (3, 0, 5, 7), (0, 2, 3, 3)):
        x, o, wanted = RANDOM.random(shape), np.zeros(shape), np.zeros(shape)
        with np.errstate(all="ignore"), lw.options(device="emulated", compiler_flags=("-O0",)):
            kernel(x, o)
            if x.size:
                channels(x, wanted)
        np.testing.assert_allclose(o, wanted, rtol=1e-9, atol=1e-12)
    steps = [str(one.step) for one in kernel._dispatch.compiled()[0].analysed.recipe.decisions]
    assert steps[:2] == ["specialize x.1 >= 256 in k", "specialize x.0*x.2*x.3 >= 64 in k.1"]
    assert [step for step in steps if step.startswith("reduce")] == ["reduce a.1 4"]


def batch_statistics(x, mean, var):
    count = max(1, x.shape[0] * x.shape[1] * x.shape[2])
    for c in range(x.shape[3]):
        total = 0.0
        for n in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    total += x[n, i, j, c]
        mean[c] = total // count
        square = 0.0
        for n in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    square += (x[n, i, j, c] - mean[c]) ** 2
        var[c] = square


def means_of_columns(x, mean):
    for c in range(x.shape[2]):
        total = 0.0
        for n in range(x.shape[0]):
            for i in range(x.shape[1]):
                total += x[n, i, c]
        mean[c] = total


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (1, 1, 1, 1), (2, 70, 65, 3), (3, 2, 65, 40)])
def test_columns_through_several_loops(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-9, 9, shape).astype(float)
    found = agree(batch_statistics, x, np.zeros(shape[3]), np.zeros(shape[3]), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[:2] == ["specialize x.3 >= 2048 in c", "specialize x.0*x.1*x.2 >= 8192 in c.1"]
    assert {"bind n.1 block.z", "bind i.1 block.y", "bind n.2.1 block.z", "bind j.1 thread.y 8"} <= set(steps)
    found = agree(means_of_columns, x[0] if shape[0] else x[:, 0], np.zeros(shape[3]), strict=False)
    assert "bind n.1 block.y" in {str(decision.step) for decision in found.analysed.recipe.decisions}


def gathered_rows(x, at, out):
    for i in range(at.shape[0]):
        s = 0.0
        for j in range(at.shape[1]):
            s += x[at[i, j]]
        out[i] = s


def test_rows_whose_accesses_are_tested_have_no_versions() -> None:
    """Each access would be tested for a partial result: a step in a loop over time became twice as many launches."""
    x, at, mine, wanted = np.arange(50.0), np.arange(600).reshape(3, 200) % 50, np.zeros(3), np.zeros(3)
    kernel = lw.kernel(gathered_rows)
    with lw.options(device="emulated"):
        kernel(x, at, mine)
        assert "expand" not in str(kernel.explain(x, at, mine).schedule)
    gathered_rows(x, at, wanted)
    np.testing.assert_array_equal(mine, wanted)


def shrunk_by_norms(w, g, scale):
    for k in range(w.shape[0]):
        wn = 0.0
        gn = 0.0
        for i in range(w.shape[1]):
            g[k, i] = g[k, i] * 0.5 + w[k, i]
            wn += w[k, i] * w[k, i]
            gn += g[k, i] * g[k, i]
        scale[k] = 1.0 if gn == 0.0 else wn / gn
        for i in range(w.shape[1]):
            w[k, i] -= 0.1 * scale[k] * g[k, i]


@pytest.mark.parametrize("shape", [(3, 70000), (3, 40), (70, 30)])
def test_few_long_rows_with_several_loops_have_all_blocks_for_each_of_these(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(shape[0])
    wanted = [random.random(shape), random.random(shape), np.zeros(shape[0])]
    given = [one.copy() for one in wanted]
    kernel = lw.kernel(device="emulated")(shrunk_by_norms)
    kernel(*given)
    shrunk_by_norms_of_rows(*wanted)
    assert all(np.allclose(one, other) for one, other in zip(wanted, given, strict=True))
    schedule = str(kernel.explain(*given).schedule)
    assert "specialize w.1 >= 65536 in k; specialize w.0 >= 64 in k" in schedule.replace("\n", "; ")


def shrunk_by_norms_of_rows(w, g, scale):
    """The same, row by row."""
    g[:] = g * 0.5 + w
    scale[:] = (w * w).sum(1) / (g * g).sum(1)
    w -= 0.1 * scale[:, None] * g
