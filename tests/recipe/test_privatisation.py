from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.nodes import For
from loopwright.ir.walk import loops
from loopwright.recipe import privatisation
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.privatisation import in_copies
from recipe.planning import JACOBI, MATMUL_BY_ELEMENTS, check_same, plan_of, reasons, steps
from steps.kernels import known

ROWS = """
kernel rows(n: int64, m: int64, l: int64, a: float64[3] C, c: float64[2] C):
    allocate t: float64[l]
    for r in 0 .. n:
        for q in 0 .. m:
            for p in 0 .. l:
                t[p] = 0.0
                for s in 0 .. l:
                    t[p] = t[p] + a[r, q, s] * c[s, p]
            for p.2 in 0 .. l:
                a[r, q, p.2] = t[p.2]
"""
SHAPES = {"a": "nml", "c": "ll"}
INSIDE = ROWS.replace("    allocate t: float64[l]\n", "")
AS_ARGUMENT = INSIDE.replace("c: float64[2] C", "c: float64[2] C, t: float64[1] C")
ANEW = INSIDE.replace("0 .. l", "0 .. size(c, 0)")
ANEW = ANEW.replace("            for p in", "            allocate t: float64[size(c, 0)]\n            for p in")
BETWEEN = ROWS.replace("        for q in", "        c[0, 0] = 2.0\n        for q in").replace("* c[s, p]", "* 3.0")
SMALL_RESULT = ROWS.replace("for p.2 in 0 .. l", "for p.2 in 0 .. min(3, l)").replace("a[r, q, s] *", "a[r, s, s] *")
CARRIED = ROWS.replace("t[p] = 0.0", "t[p] = t[p] + 1.0")


@pytest.mark.parametrize(
    ("text", "shapes", "schedule"),
    [
        (ROWS, SHAPES, "expand t r q"),
        (AS_ARGUMENT, {**SHAPES, "t": "l"}, "expand t r q"),
        (ANEW, SHAPES, "expand t r q"),
        (BETWEEN, SHAPES, "expand t q"),
    ],
)
def test_rows_get_copies(text: str, shapes: dict[str, str], schedule: str) -> None:
    partial = plan_of(text)
    kernel = partial.kernel
    in_copies(partial)
    assert steps(partial) == schedule and all("fills 't' anew" in why for why in reasons(partial))
    assert partial.written is partial.kernel  # what other parts of the recipe look at next
    check_same(kernel, partial.kernel, shapes, ((0, 0, 0), (1, 1, 1), (0, 3, 2), (2, 5, 3), (3, 2, 4)))


@pytest.mark.parametrize("text", [SMALL_RESULT, CARRIED, JACOBI, MATMUL_BY_ELEMENTS])
def test_what_gains_nothing_or_takes_much_memory_stays(text: str) -> None:
    """Where no array of the call has an element for each element of each copy, the copies could be of any size."""
    partial = plan_of(text)
    in_copies(partial)
    assert partial.decisions == []


def medians(x, out):
    for i in range(x.shape[0]):
        t = np.empty(x.shape[1])
        for j in range(x.shape[1]):
            t[j] = x[i, j]
        for a in range(1, x.shape[1]):
            key = t[a]
            b = a - 1
            while b >= 0 and t[b] > key:
                t[b + 1] = t[b]
                b -= 1
            t[b + 1] = key
        out[i] = t[x.shape[1] // 2]


def distances(x, out):
    """Between each row and the same row backwards."""
    for i in range(x.shape[0]):
        row = np.zeros(x.shape[1] + 1)
        for j in range(x.shape[1]):
            before = row[0]
            row[0] = j
            for k in range(x.shape[1]):
                above = row[k + 1]
                row[k + 1] = min(above, row[k]) + 1.0 if x[i, j] > x[i, x.shape[1] - 1 - k] else before
                before = above
        out[i] = row[x.shape[1]]


def histogram_of_each(x, out):
    for i in range(x.shape[0]):
        count = np.zeros(out.shape[0], np.int64)
        for j in range(x.shape[1]):
            count[int(x[i, j] * 3.0)] += 1
        best = 0
        for c in range(out.shape[0]):
            best = max(best, count[c])
        out[i] = best


def centred(x, out):
    """Rows of loops that threads can share."""
    for i in range(x.shape[0]):
        t = np.empty(x.shape[1])
        s = 0.0
        for j in range(x.shape[1]):
            t[j] = np.sqrt(x[i, j])
            s += t[j]
        u = 0.0
        for j in range(x.shape[1]):
            t[j] = t[j] - s / x.shape[1]
            u += t[j] * t[j]
        out[i] = u


def two_rows(x, out):
    for i in range(x.shape[0]):
        t = np.zeros(x.shape[1])
        u = np.ones(x.shape[1])
        for j in range(1, x.shape[1]):
            t[j] = t[j - 1] + x[i, j]
            u[j] = u[j - 1] * 0.5 + t[j]
        out[i] = u[x.shape[1] - 1] + t[0]


OWN = [medians, distances, histogram_of_each, centred, two_rows]


@pytest.mark.parametrize("limit", ["few", "many", "many short ones"])
@pytest.mark.parametrize("function", OWN)
def test_arrays_that_no_thread_has_room_for_are_in_memory(
    function: Callable[..., object], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy for each iteration, or for some of them, which the next ones use again."""
    if limit != "few":
        monkeypatch.setattr(privatisation, "MOST_ELEMENTS", 1)
        monkeypatch.setattr(privatisation, "AT_ONCE", 8)
        monkeypatch.setattr(privatisation, "SHORT", 10 if limit == "many short ones" else 1)
        monkeypatch.setattr(privatisation, "SHORT_AT_ONCE", 16)
    kernel: Any = lw.kernel(function)
    for n, m in ((21, 13), (0, 4), (1, 1), (8, 3), (40, 1)):
        x = np.random.default_rng(n).random((n, m))
        got, wanted = np.zeros(max(n, 3)), np.zeros(max(n, 3))
        function(x, wanted)
        with lw.options(device="emulated"):
            kernel(x, got)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert not kernel.specialisations()[0].why_not_gpu


def test_errors_name_the_array_of_the_iteration() -> None:
    x = np.full((5, 4), 0.5)
    x[3, 2] = 7.0
    with lw.options(device="emulated"), pytest.raises(lw.BoundsError) as raised:
        lw.kernel(histogram_of_each)(x, np.zeros(5))
    assert (raised.value.array, raised.value.axis, raised.value.index, raised.value.size) == ("count", 0, 21, 5)


def medians_of_windows(x, o):
    w = np.zeros(5)
    for i in range(2, x.shape[0] - 2):
        for k in range(5):
            w[k] = x[i - 2 + k]
        for k in range(1, 5):
            v = w[k]
            m = k - 1
            while m >= 0 and w[m] > v:
                w[m + 1] = w[m]
                m -= 1
            w[m + 1] = v
        o[i] = w[2]


def test_an_array_made_before_the_loop_is_each_threads_own() -> None:
    x, wanted, found = np.random.default_rng(5).random(75), np.zeros(75), np.zeros(75)
    medians_of_windows(x, wanted)
    kernel: Any = lw.kernel(medians_of_windows)
    with lw.options(device="emulated"):
        kernel(x, found)
        assert "privatize w i; split i 32; bind i.o block.x" in str(kernel.explain(x, found))
    assert np.array_equal(wanted, found)


@lw.kernel
def relaxed(x, rounds, o):
    w = np.empty(x.shape[1])
    z = np.empty(x.shape[1])
    for p in range(x.shape[0]):
        for k in range(x.shape[1]):
            w[k] = x[p, k]
        for _ in range(rounds):
            for k in range(x.shape[1]):
                z[k] = w[k] * 0.5 + x[p, k]
            for k in range(1, x.shape[1]):
                w[k] = z[k] + w[k - 1]
        o[p] = w[x.shape[1] - 1]


def test_arrays_whose_size_only_a_call_tells_are_each_iterations_own() -> None:
    for rows, columns in ((40, 5), (1, 1), (0, 3), (7, 33)):
        x = np.arange(float(rows * columns)).reshape(rows, columns)
        mine, right = np.zeros(rows), np.zeros(rows)
        with lw.options(device="emulated"):
            relaxed(x, 3, mine)
            schedule = str(relaxed.explain(x, 3, mine).schedule)
        relaxed.py_func(x, 3, right)
        np.testing.assert_allclose(mine, right, rtol=1e-13)
        assert "privatize w p; privatize z p" in schedule and "bind p" in schedule


@lw.kernel
def mean_of_rates(z, start):
    total = 0.0
    for p in range(z.shape[0]):
        rate = start.copy()
        for t in range(z.shape[1]):
            drift = 0.0
            for i in range(t, start.shape[0]):
                drift += rate[i]
                rate[i] = rate[i] * 0.5 + 0.25 * drift + z[p, t]
        total += rate[start.shape[0] - 1]
    return total / z.shape[0]


@pytest.mark.parametrize("paths", [1, 40, 300])
def test_totals_of_iterations_that_have_long_arrays_of_their_own(paths: int) -> None:
    z, start = np.random.default_rng(paths).random((paths, 4)), np.arange(7.0)
    with lw.options(device="emulated"):
        mine, explained = mean_of_rates(z, start), mean_of_rates.explain(z, start)
    np.testing.assert_allclose(mine, mean_of_rates.py_func(z, start), rtol=1e-12)
    assert "specialize p*start.0 >= 134217728 in p; expand rate.1 in p.1" in str(explained.schedule)
    assert "not on a GPU" not in str(explained)
    with pytest.MonkeyPatch.context() as patch:  # as in calls with many more paths, of which some take turns
        patch.setattr(privatisation, "MOST_ELEMENTS", 50)
        with lw.options(device="emulated"):
            again = lw.kernel(mean_of_rates.py_func)(z, start)
    np.testing.assert_allclose(again, mean_of_rates.py_func(z, start), rtol=1e-12)


@lw.kernel
def chains_of_states(x, kind, size, o):
    for b in range(x.shape[0]):
        now = np.empty(size)
        for s in range(size):
            now[s] = x[b, 0]
        for t in range(1, x.shape[1]):
            new = np.zeros(size)
            for s in range(size):
                for r in range(s + 1):
                    new[s] = max(new[s], now[r] * 0.5 + x[b, t])
            now = new
            o[b] += new[kind[b, t]]


@pytest.mark.parametrize("size", [1, 3, 40])
def test_arrays_that_a_loop_inside_makes_anew(size: int) -> None:
    random = np.random.default_rng(size)
    x, kind, right = random.random((37, 5)), random.integers(0, size, (37, 5)), np.zeros(37)
    chains_of_states.py_func(x, kind, size, right)
    mine = np.zeros(37)
    with lw.options(device="emulated"):
        chains_of_states(x, kind, size, mine)
        np.testing.assert_allclose(mine, right, rtol=1e-12)
        explained = chains_of_states.explain(x, kind, size, mine)
        kind[3, 2] = size
        with pytest.raises(IndexError):
            chains_of_states(x, kind, size, mine)
        with pytest.raises(ValueError, match="negative"):
            chains_of_states(x, kind, -1, mine)
        chains_of_states(x[:0], kind, -1, mine)  # nothing is made
    assert "lift new b" in str(explained.schedule) and "not on a GPU" not in str(explained)


CHAIN_AND_ROWS = """
kernel both(n: int64, m: int64, x: float64[2] C, o: float64[2] C):
    for b in 0 .. n:
        for t in 0 .. m:
            allocate new: float64[m]
            for s in 0 .. m:
                new[s] = x[b, t] + float64(s)
            x[b, t + 1] = x[b, t] + new[m - 1]
            for r in 0 .. m:
                allocate mine: float64[m]
                mine[0] = x[b, r]
                for k in 1 .. m:
                    mine[k] = mine[k - 1] * 0.5
                o[b, r] = mine[m - 1] + float64(t)
"""


def test_an_array_of_a_loop_that_needs_no_order_stays_in_it() -> None:
    """Also behind another one that is lifted."""
    kernel, facts = known(CHAIN_AND_ROWS)
    partial = PartialSchedule(kernel, facts, False, kernel)
    loop = loops(kernel)["b"]
    assert isinstance(loop, For)
    privatisation._lifted(partial, loop)
    assert [str(one.step) for one in partial.decisions] == ["lift new b"]


def beams(c, o):
    """An array of each iteration, and one of each iteration inside it."""
    n = c.shape[1]
    for f in range(c.shape[0]):
        a = np.empty(n)
        for i in range(n):
            a[i] = c[f, i] if i == 0 else a[i - 1] * 0.5 + c[f, i]
        for k in range(o.shape[1]):
            s = np.zeros(n)
            for i in range(k, n):
                s[i] = a[i] * k
            t = 0.0
            for i in range(n):
                t += s[i] * a[n - 1 - i]
            o[f, k] = t


def two_levels_inside(c, o):
    n = c.shape[1]
    for f in range(c.shape[0]):
        a = c[f].copy()
        for k in range(o.shape[1]):
            s = np.zeros(n)
            for i in range(1, n):
                s[i] = s[i - 1] + a[i] * k
            for m in range(3):
                u = np.zeros(n)
                for i in range(1, n):
                    u[i] = u[i - 1] * m + s[i]
                o[f, k] += u[n - 1]


def several_inside(c, o):
    n = c.shape[1]
    for f in range(c.shape[0]):
        a = c[f].copy()
        for k in range(o.shape[1]):
            s = np.zeros(n)
            for i in range(1, n):
                s[i] = s[i - 1] + a[i] * k
            o[f, k] = s[n - 1]
        for k in range(o.shape[1]):
            s = np.ones(n)
            for i in range(1, n):
                s[i] += s[i - 1] - a[i]
            o[f, k] += s[n - 1]


def in_rounds_inside(c, o):
    n = c.shape[1]
    for f in range(c.shape[0]):
        a = c[f].copy()
        for t in range(3):
            for k in range(o.shape[1]):
                s = np.zeros(n)
                for i in range(t, n):
                    s[i] += a[i] * k + t
                best = 0.0
                for i in range(n):
                    best = max(best, s[i])
                o[f, k] += best
            for i in range(1, n):
                a[i] = a[i - 1] * 0.5 + a[i]


def spectra(c, o):
    n = c.shape[1]
    for f in range(c.shape[0]):
        a = np.zeros(n, np.complex128)
        for i in range(n):
            a[i] = complex(c[f, i], i)
        for k in range(o.shape[1]):
            s = np.zeros(n, np.complex128)
            for i in range(n):
                s[i] = a[i] * complex(k, 1)
            t = 0.0
            for i in range(n):
                t += (s[i].conjugate() * a[i]).real
            o[f, k] = t


@pytest.mark.parametrize("limit", ["few", "many"])
@pytest.mark.parametrize("function", [beams, two_levels_inside, several_inside, in_rounds_inside, spectra])
def test_arrays_of_iterations_within_iterations_that_have_their_own(
    function: Callable[..., object], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit == "many":
        monkeypatch.setattr(privatisation, "MOST_ELEMENTS", 1)
        monkeypatch.setattr(privatisation, "AT_ONCE", 8)
    kernel: Any = lw.kernel(function)
    for f, n, d in ((0, 3, 2), (1, 1, 1), (40, 5, 7), (21, 33, 3), (3, 5, 0)):
        c = np.random.default_rng(f).integers(-5, 9, (f, n)).astype(float)
        c[-1:, 2:3] = np.nan
        got, wanted = np.zeros((f, d)), np.zeros((f, d))
        function(c, wanted)
        with lw.options(device="emulated"):
            kernel(c, got)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert not kernel.specialisations()[0].why_not_gpu


def median_slopes(x, o):
    """A triangle of pairs in a row, which each row fills anew."""
    m = x.shape[1]
    t = np.zeros(m * (m - 1) // 2)
    for g in range(x.shape[0]):
        k = 0
        for i in range(m):
            for j in range(i + 1, m):
                t[k] = (x[g, j] - x[g, i]) / (j - i)
                k += 1
        s = 0.0
        for k in range(1, len(t)):
            t[k] += 0.5 * t[k - 1]
            s = max(s, t[k])
        o[g] = s


def test_pairs_of_each_row_have_places_in_memory() -> None:
    """As many as pairs: calls with few rows, each of which has many of them, may have more than one with many rows."""
    kernel: Any = lw.kernel(median_slopes)
    for rows, columns in ((41, 7), (3, 1), (2, 0), (0, 4)):
        x = np.random.default_rng(columns).random((rows, columns))
        mine, right = np.zeros(rows), np.zeros(rows)
        median_slopes(x, right)
        with lw.options(device="emulated"):
            kernel(x, mine)
            schedule = str(kernel.explain(x, mine).schedule)
        np.testing.assert_allclose(mine, right, rtol=1e-12)
        assert "privatize t g; specialize g*x.1*x.1 >= 134217728 in g; expand t.1 in g.1" in schedule


def paths(root, strike, count):
    total = np.zeros(strike.shape[0])
    for p in range(count):
        z = np.zeros(root.shape[0])
        for a in range(root.shape[0]):
            z[a] = float((p * 7 + a * 3) % 5)
        up = 0.0
        for a in range(root.shape[0]):
            for b in range(a + 1):
                up += root[a, b] * z[b]
        for k in range(strike.shape[0]):
            total[k] += max(up - strike[k], 0.0)
    return total


def rows_with_sums(start, column, value, table):
    added = np.zeros(table.shape)
    for i in range(start.shape[0] - 1):
        both = np.zeros(table.shape[1])
        for e in range(start[i], start[i + 1]):
            for f in range(table.shape[1]):
                both[f] += value[e] * table[column[e], f]
        for e in range(start[i], start[i + 1]):
            for f in range(table.shape[1]):
                added[column[e], f] += both[f]
    return added


PATHS = np.arange(9.0).reshape(3, 3), np.arange(4.0) * 9.0, 50
ENTRIES = np.array([0, 2, 2, 7]), np.array([1, 0, 2, 2, 1, 0, 3]), np.arange(7.0), np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(("function", "given"), [(paths, PATHS), (rows_with_sums, ENTRIES)])
def test_what_adds_to_shared_elements_is_apart_from_arrays_of_an_iteration(function: Any, given: Any) -> None:
    kernel = lw.kernel(function, device="emulated")
    np.testing.assert_array_equal(kernel(*given), function(*given))
    assert not kernel.specialisations()[0].why_not_gpu
    (step,) = [one for one in str(kernel.explain(*given).schedule).split("; ") if one.startswith("fission")][:1]
    assert step.endswith("kept")
