"""Prefix sums and compactions on the emulated GPU, as the default recipe has them there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.ir.nodes import For
from loopwright.ir.verify import verify
from loopwright.recipe import grid_running, grid_scans
from loopwright.recipe.gpu import WAY, gpu_recipe
from loopwright.recipe.grid_scans import ALONE, CHUNKS, THREADS, WORTH_IT
from loopwright.recipe.tunable import Choices
from loopwright.steps.extent import trip_of
from steps.kernels import known
from steps.test_scan import KEPT

MANY = 1 << 12
SIZES = (0, 1, 7, MANY - 1, MANY, MANY + 1, 20_001)
"""Fewer iterations than chunks, as many, one more, and several for each."""


@pytest.fixture(autouse=True)
def fewer_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated GPU takes a second for as many as the default is."""
    monkeypatch.setattr(grid_scans, "CHUNKS", replace(CHUNKS, default=MANY))
    monkeypatch.setattr(grid_running, "CHUNKS", 64)


def sums_so_far(a, b):
    s = 3
    for i in range(a.shape[0]):
        b[i] = s
        s += a[i]
    return s


def kept(a, b):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            b[n] = a[i]
            n += 1
    return n


def kept_of_one(a, b):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 1:
            b[n] = a[i]
            n += 1
    return n


def extremes_so_far(a, b, c):
    most, least = a[0], a[0]
    for i in range(a.shape[0]):
        most = np.maximum(most, a[i])
        if a[i] < least:
            least = a[i]
        b[i] = most
        c[i] = least
    return most, least


def sums_and_places(a, b, c):
    total, n = 0, 0
    for i in range(a.shape[0]):
        if a[i] % 3 == 0:
            continue
        total += a[i]
        b[n] = i
        c[n] = total
        n += 1
    return total, n


def sums_with_this_one(a, b):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s


def shifted(a):
    s = 0
    for i in range(a.shape[0] - 1):
        s += a[i]
        a[i + 1] = s


def rows_so_far(a, b):
    for i in range(a.shape[0]):
        s = 0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s


def sums_of_rows_so_far(a, b):
    s = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
        b[i] = s


def sums_of_pairs_so_far(a, b):
    s = 0
    for i in range(a.shape[0]):
        for j in range(2):
            s += a[i, j]
            b[i, j] = s


def decimated(a, r, b):
    """Two integrators, and two combs of every r-th of what they give."""
    s, t = 0, 0
    old_t, old_d = 0, 0
    for i in range(a.shape[0]):
        s += a[i]
        t += s
        if i % r == r - 1:
            d = t - old_t
            b[i // r] = d - old_d
            old_t, old_d = t, d
    return old_d


def a_few(a, b):
    s = 0
    for i in range(100):
        s += a[i]
        b[i] = s


def corrected_average(x, y):
    m, p = 0.0, 1.0
    for i in range(x.shape[0]):
        m = 0.9 * m + 0.1 * x[i]
        p *= 0.9
        y[i] = m / (1.0 - p)
    return m


def two_sections(x, y):
    u, v = 0.0, 0.0
    for i in range(x.shape[0]):
        u = 0.9 * u + 0.1 * x[i]
        v = -0.5 * v + 1.5 * u
        y[i] = v


def back_substitution(x, y):
    for i in range(y.shape[0] - 2, -1, -1):
        y[i] = x[i] - 0.3 * x[i + 1] * y[i + 1]


def drawdown(x, y):
    value, most = 1.0, 1.0
    for i in range(x.shape[0]):
        value *= 1.0 + 0.01 * x[i]
        most = max(most, value)
        y[i] = value / most - 1.0
    return most


def discounted(x, y):
    s = 0.0
    for i in range(x.shape[0] - 1, -1, -1):
        if x[i] > 0.9:
            s = 0.0
        s = x[i] + 0.97 * s
        y[i] = s


def grows(x, y):
    s = 1.0
    for i in range(x.shape[0]):
        s = 2.0 * s - 1.0
        y[i] = s + x[i]
    return s


def streaks(x, y):
    n = 0
    for i in range(x.shape[0]):
        n = n + 1 if x[i] > 0.3 else 0
        y[i] = n


def hashes(x, y):
    h = 5381
    for i in range(x.shape[0]):
        h = 33 * h + x[i]
        y[i] = h
    return h


def scans(found: Any) -> bool:
    """Whether the schedule of a Specialisation has a scan."""
    return any(str(decision.step).startswith("scan ") for decision in found.analysed.recipe.decisions)


def whole(size: int) -> Any:
    return np.random.default_rng(size).integers(-9, 10, size)


@pytest.mark.parametrize("size", SIZES)
def test_they_give_the_same_for_any_size(size: int) -> None:
    for kernel in (sums_so_far, kept):
        assert scans(agree(kernel, whole(size), np.zeros(size, int)))
    assert scans(agree(sums_and_places, whole(size), np.zeros(size, int), np.zeros(size, int)))


def test_the_default_is_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pairs = whole(66_000).reshape(33_000, 2)
    found = agree(sums_of_pairs_so_far, pairs, np.zeros_like(pairs))
    assert any(str(decision.step) == f"scan i {CHUNKS.default}" for decision in found.analysed.recipe.decisions)
    found = agree(kept_of_one, whole(66_000), np.zeros(66_000, int))
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[:3] == [f"scan i {grid_running.CHUNKS}", "split i 512", f"scan i {grid_running.THREADS.default}"]


def test_nothing_and_everything_is_kept() -> None:
    for value in (0, 1):
        agree(kept, np.full(9_000, value), np.zeros(9_000 * value, int))


def test_too_little_room_for_what_is_kept_is_an_error_of_that_line() -> None:
    a = np.ones(9_000, int)
    with lw.options(device="emulated"), pytest.raises(lw.BoundsError, match="8999") as error:
        lw.kernel(kept)(a, np.zeros(8_999, int))
    assert "b[n] = a[i]" in str(error.value)


def test_a_nan_is_carried_or_dropped_as_before() -> None:
    a = np.random.default_rng(1).integers(-99, 99, 9_000).astype(float)
    agree(extremes_so_far, a, np.zeros(9_000), np.zeros(9_000))
    a[4_000] = np.nan
    agree(extremes_so_far, a, np.zeros(9_000), np.zeros(9_000))
    a[0] = np.nan
    assert scans(agree(extremes_so_far, a, np.zeros(9_000), np.zeros(9_000)))


def test_sums_of_integers_wrap() -> None:
    a = np.full(9_000, 2**62 - 12345)
    assert scans(agree(sums_so_far, a, np.zeros(9_000, int)))


def test_sums_of_floats_are_found_in_chunks_unless_their_order_is_kept() -> None:
    a = np.random.default_rng(1).integers(-9, 10, 9_000).astype(float)
    assert scans(agree(sums_so_far, a, np.zeros(9_000), strict=False))
    why = "one thread would run 'i', whose iterations need their order"
    assert not scans(agree(sums_so_far, a, np.zeros(9_000), why_not=why))


@pytest.mark.parametrize(("kernel", "in_chunks"), [(sums_with_this_one, True), (sums_so_far, False)])
def test_sums_may_take_the_place_of_what_was_added_already(kernel: Any, in_chunks: bool) -> None:
    a = whole(9_000)
    b = a.copy()
    compiled = lw.kernel(kernel)
    with np.errstate(over="ignore"), lw.options(device="emulated"):
        compiled(a, a)
        kernel(b, b)
    np.testing.assert_array_equal(a, b)
    assert scans(compiled._dispatch.compiled()[0]) is in_chunks


def test_sums_of_what_was_written_before_keep_their_order() -> None:
    assert not scans(agree(shifted, whole(60)))


def test_arrays_that_overlap_keep_their_order() -> None:
    a = whole(41)
    b = a.copy()
    with lw.options(device="emulated"):
        lw.kernel(sums_so_far)(a[:-1], a[1:])
    sums_so_far(b[:-1], b[1:])
    np.testing.assert_array_equal(a, b)


def test_loops_inside_that_make_grids_themselves_are_not_given_to_one_thread_of_a_chunk() -> None:
    a = whole(600).reshape(20, 30)
    found = agree(rows_so_far, a, np.zeros_like(a))
    scanned = [str(one.step) for one in found.analysed.recipe.decisions if "scan" in str(one.step)]
    assert scanned == ["scan j.1 512", "scan j 256", "scan j.1 256", "scan j.1.1 256"]
    assert not scans(agree(sums_of_rows_so_far, a, np.zeros(20, int)))
    pairs = whole(9_000).reshape(4_500, 2)
    assert scans(agree(sums_of_pairs_so_far, pairs, np.zeros_like(pairs)))


def test_what_one_thread_has_done_at_once_is_left_to_it() -> None:
    assert WORTH_IT > 100
    assert not scans(agree(a_few, whole(100), np.zeros(100, int)))


@pytest.fixture
def few_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_scans, "CHUNKS", replace(CHUNKS, default=128))


@pytest.mark.usefixtures("few_chunks")
@pytest.mark.parametrize(
    "function", [corrected_average, two_sections, back_substitution, drawdown, discounted, grows, streaks]
)
def test_linear_recurrences_in_chunks(function: Any) -> None:
    """Each beside CPython, for few elements and many; with a NaN in the middle, from which on all are NaN or none."""
    kernel = lw.kernel(function)
    for size, hole in ((0, -1), (1, -1), (100, -1), (5000, -1), (5000, 3000)):
        x, y = np.random.default_rng(size).random(size), np.ones(size)
        if hole >= 0:
            x[hole] = np.nan
        wanted = y.copy()
        with lw.options(device="emulated", compiler_flags=("-O0",)):
            last, right = kernel(x, y), function(x, wanted)
        np.testing.assert_allclose(y, wanted, rtol=1e-9)
        assert last is right or last == pytest.approx(right, rel=1e-9, nan_ok=True)
    found = kernel._dispatch.compiled()[0]
    assert not found.why_not_gpu and scans(found)


@pytest.mark.usefixtures("few_chunks")
@pytest.mark.parametrize("rate", [1, 16, -3, 9000])
def test_what_keeps_one_of_so_many_sums(rate: int) -> None:
    for size in (0, 1, 4097, 8000):
        a = np.random.default_rng(size).integers(-(2**62), 2**62, size)
        found = agree(decimated, a, rate, np.zeros(size // abs(rate) + 1, int))
        assert scans(found) and not found.why_not_gpu


@pytest.mark.usefixtures("few_chunks")
def test_linear_recurrences_of_floats_keep_their_order_where_that_is_asked_for() -> None:
    x = np.ones(50)
    why = "one thread would run 'i', whose iterations need their order"
    assert not scans(agree(corrected_average, x, x, why_not=why))
    assert scans(agree(hashes, whole(3000), whole(3000)))


@pytest.mark.parametrize("chunks", CHUNKS.among)
@pytest.mark.parametrize("threads", [THREADS.among[0], THREADS.among[-1]])
def test_every_number_of_chunks_and_threads_gives_grids(chunks: int, threads: int) -> None:
    kernel, facts = known(KEPT)
    choices = Choices({WAY.name: 1, CHUNKS.name: chunks, THREADS.name: threads})
    found = gpu_recipe(kernel, facts, True, choices)
    verify(found.kernel)
    assert not found.not_on_gpu and not found.alone and choices.numbers()[CHUNKS.name] == chunks
    alone = [loop for loop in found.kernel.body if isinstance(loop, For) and loop.run == "sequential"]
    assert len(alone) == 1 and 1 < (trip_of(alone[0]) or 0) <= ALONE


def restarted(a, begins, b):
    s = 0.0
    for i in range(a.shape[0]):
        if begins[i]:
            s = 0.0
        s = a[i] + 0.9 * s
        b[i] = s


def two_filters(a, begins, b):
    u = 0.0
    v = 0.0
    for i in range(a.shape[0] - 1, -1, -1):
        u = 0.9 * u + a[i]
        v = u - 0.5 * v
        b[i] = v


def cancelling(a, begins, b):
    x = 1.0
    for i in range(a.shape[0]):
        x = 2.0 * x - 1.0
        b[i] = x + a[i]


@pytest.mark.parametrize("function", [restarted, two_filters, cancelling])
def test_threads_share_chunks_of_long_recurrences(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    """Also where the maps of all chunks are not to be trusted, so that one thread goes through them in order."""
    monkeypatch.setattr(grid_scans, "LONG", 3000)
    monkeypatch.setattr(grid_scans, "CHUNKS", replace(CHUNKS, default=8))
    kernel = lw.kernel(function)
    for n in (0, 5, 2999, 3000, 4097):
        a, begins = np.linspace(0.0, 1.0, n), np.arange(n) % 700 == 699
        wanted, found = np.zeros(n), np.zeros(n)
        function(a, begins, wanted)
        with lw.options(device="emulated"):
            kernel(a, begins, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    with lw.options(device="emulated"):
        schedule = next(line for line in str(kernel.explain(a, begins, found)).splitlines() if "schedule" in line)
    assert "specialize a.0 >= 3000 in i; scan i 8;" in schedule and "split i 256; scan i 32;" in schedule
    assert "bind i.c block.x;" in schedule and "bind i.1.c.o block.x;" in schedule


def smoothed(x, o):
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            o[i, j] = 0.1 * x[i, j] + 0.9 * o[i - 1, j]


def test_columns_of_recurrences_are_taken_one_by_one() -> None:
    x = np.random.default_rng(3).random((70, 5))
    wanted, found = x.copy(), x.copy()
    smoothed(x, wanted)
    kernel = lw.kernel(smoothed)
    with lw.options(device="emulated"):
        kernel(x, found)
        assert "reorder j i; carry o i" in str(kernel.explain(x, found).schedule)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---- kept in an array, an element for each column -------------------------------------------------------------------


def running(x, o):
    s = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        for k in range(x.shape[1]):
            s[k] += x[t, k]
            o[t, k] = s[k]


def with_what_each_row_tells(x, o):
    s = x[0].copy()
    for t in range(x.shape[0]):
        w = t * 0.5
        p = int(w)
        for k in range(x.shape[1]):
            o[t, k] = s[k] + x[p, k]
            s[k] += x[p, k] * (w - p)


def decays(x, o):
    s = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        for k in range(x.shape[1]):
            s[k] = 0.5 * s[k] + x[t, k]
            o[t, k] = s[k]


def given_back(x, o):
    s = np.full(x.shape[1], -9.0)
    for t in range(x.shape[0]):
        for k in range(x.shape[1]):
            s[k] = max(s[k], x[t, k])
            o[t, k] = s[k] * 2
    return s


@pytest.mark.parametrize("function", [running, with_what_each_row_tells, decays, given_back])
def test_few_columns_whose_running_values_are_in_an_array_have_chunks(function: Callable[..., Any]) -> None:
    kernel: Any = lw.kernel(function)
    for n, m in ((1, 1), (40, 5), (5, 0), (2100, 3), (1025, 33)):
        x = np.random.default_rng(n).integers(-5, 9, (n, m)).astype(float)
        x[n // 2 : n // 2 + 1, 2:3] = np.nan
        mine, right = np.zeros((n, m)), np.zeros((n, m))
        given = function(x, right)
        with lw.options(device="emulated", strict=False):
            found = kernel(x, mine)
            schedule = str(kernel.explain(x, mine).schedule)
        np.testing.assert_allclose(mine, right, rtol=1e-12)
        if given is not None:
            np.testing.assert_array_equal(found, given)
    assert "reorder k t" in schedule and "promote s t" in schedule and "scan t" in schedule


def test_an_error_in_the_middle_of_columns_is_the_same() -> None:
    x, o = np.ones((3000, 4)), np.ones((3000, 4))
    with lw.options(device="emulated", strict=False), pytest.raises(IndexError):
        lw.kernel(with_what_each_row_is_told)(x, np.arange(3000), o)


def with_what_each_row_is_told(x, at, o):
    s = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        p = at[t] + 1
        for k in range(x.shape[1]):
            s[k] += x[p, k]
            o[t, k] = s[k]


def of_elements_that_may_not_be_there(x, s, o):
    """Where there are no rows, `s` may be shorter than a row."""
    for t in range(o.shape[0]):
        for k in range(o.shape[1]):
            s[k] += x[t, k]
            o[t, k] = s[k]


def test_elements_that_empty_columns_would_not_have() -> None:
    kernel: Any = lw.kernel(of_elements_that_may_not_be_there)
    for n, m, length in ((0, 5, 2), (0, 5, 5), (1, 5, 5), (2000, 5, 9), (3000, 1, 1)):
        x = np.random.default_rng(n).integers(-5, 9, (n, m)).astype(float)
        mine, right = (np.ones(length), np.zeros((n, m))), (np.ones(length), np.zeros((n, m)))
        of_elements_that_may_not_be_there(x, *right)
        with lw.options(device="emulated", strict=False):
            kernel(x, *mine)
            schedule = str(kernel.explain(x, *mine).schedule)
        for one, other in zip(mine, right, strict=True):
            np.testing.assert_array_equal(one, other)
    assert "specialize o.0 >= 1 in k; promote s t" in schedule and "scan t" in schedule
