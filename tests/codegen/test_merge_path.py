"""Rows whose entries blocks share equally, on the emulated device: row lengths of every kind, sums of every kind,
pointers that are wrong. Whole numbers as data: every order gives the same sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, outcome

RANDOM = np.random.default_rng(11)
SMALL = "balance row k 32 32"
USUAL = "balance row k 512 128"


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 9, shape).astype(float)


def spmv(pointer, column, value, x, y):
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += value[k] * x[column[k]]
        y[row] = s


def csr(lengths: Any, columns: int = 50) -> tuple[Any, ...]:
    pointer = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = int(pointer[-1])
    return pointer, RANDOM.integers(0, columns, entries), whole(entries), whole(columns), whole(len(lengths))


LENGTHS: dict[str, list[int]] = {
    "no row": [],
    "one empty row": [0],
    "one row": [7],
    "empty rows": [0] * 100,
    "empty rows at both ends": [0] * 40 + [3, 70, 0, 1] + [0] * 70,
    "one giant row": [2000],
    "giant rows": [300, 0, 700, 1, 1, 400],
    "ends at a block": [31, 31, 31, 63, 32, 0, 31],
    "ones": [1] * 200,
    "power law": [1, 2, 1, 3, 1, 250, 2, 1, 1, 9, 40, 1, 0, 2, 1, 120, 1, 1],
    "even": [24] * 33,
}


@pytest.mark.parametrize("schedule", [SMALL, "balance row k 96 32", USUAL])
@pytest.mark.parametrize("kind", LENGTHS)
def test_rows_of_every_length(kind: str, schedule: str) -> None:
    found = agree(spmv, *csr(LENGTHS[kind]), schedule=schedule, strict=False)
    assert "lw_parts_row" in device_text(found)


@pytest.mark.parametrize("threads", [768, 1024])
def test_blocks_of_many_threads(threads: int) -> None:
    """What the first kernel notes of its rows has to fit into the shared memory of a block."""
    agree(spmv, *csr(LENGTHS["power law"] * 150), schedule=f"balance row k {2 * threads} {threads}", strict=False)


@pytest.mark.parametrize("schedule", [SMALL, "balance row k 64 64", USUAL])
def test_random_rows(schedule: str) -> None:
    """One program, called for many matrices."""
    random = np.random.default_rng(12)
    kernel, interpreted = lw.kernel(spmv), lw.kernel(spmv)
    for number in range(200):
        rows = int(random.integers(0, 60))
        lengths = random.integers(0, int(random.choice([1, 2, 5, 40, 200])) + 1, rows)
        lengths[random.random(rows) < random.choice([0.0, 0.3, 0.9])] = 0
        if rows and random.random() < 0.3:
            lengths[random.integers(rows)] = random.integers(1000)
        matrix = csr(lengths)
        first = int(random.integers(3))  # the first rows, and some elements, are nobody's
        pointer, column, value = (one[(first if k == 0 and rows > 2 else 0) :] for k, one in enumerate(matrix[:3]))
        y = np.zeros(len(pointer) - 1)
        wanted = np.zeros(len(pointer) - 1)
        with lw.options(device="emulated", schedule=schedule):
            kernel(pointer, column, value, matrix[3], y)
        with lw.options(device="interpreter"):
            interpreted(pointer, column, value, matrix[3], wanted)
        np.testing.assert_array_equal(y, wanted, str((number, lengths)))
    assert device_text(kernel._dispatch.compiled()[0])  # type: ignore[attr-defined]


# ---- pointers that are not as they should be -------------------------------------------------------------------


POINTERS: dict[str, list[int]] = {
    "climbs": [3, 9, 9, 40, 99, 300],
    "falls once": [0, 60, 50, 90, 100, 100],
    "falls at the end": [0, 60, 61, 90, 100, 99],
    "falls": [300, 200, 100, 50, 2, 0],
    "falls below its first": [50, 60, 40, 80, 90, 300],
    "there and back": [0, 300, 0, 300, 0, 300],
    "from negative": [-300, -200, -200, -1, 0, 5],
    "a negative one": [0, 10, -10, 20, 30, 300],
}


def plain(pointer, value, y):
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += value[k]
        y[row] += 2.0 * s


@pytest.mark.parametrize("schedule", [SMALL, "balance row k 128 64"])
@pytest.mark.parametrize("kind", POINTERS)
def test_pointers_that_fall_or_are_negative(kind: str, schedule: str) -> None:
    pointer = np.array(POINTERS[kind])
    agree(plain, pointer, whole(300), whole(len(pointer) - 1), schedule=schedule, strict=False)


def test_a_pointer_that_falls_runs_no_row_twice() -> None:
    """As above, with many rows before and after the one that falls."""
    pointer = np.repeat(np.arange(0, 300, 3), 2)
    for place in (0, 1, 100, 198, 199):
        wrong = pointer.copy()
        wrong[place] = 0 if place else 299
        agree(plain, wrong, whole(300), whole(199), schedule=SMALL, strict=False)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_pointers_of_any_integer_type(dtype: Any) -> None:
    agree(plain, np.array([0, 5, 5, 90, 100], dtype), whole(100), whole(4), schedule=SMALL, strict=False)


def test_pointers_with_steps() -> None:
    lengths = RANDOM.integers(0, 9, 50)
    pointer = np.concatenate([[0], np.cumsum(lengths)])
    for there in (np.repeat(pointer, 3)[::3], pointer[::-1].copy()[::-1]):
        agree(plain, lambda there=there: there, whole(int(pointer[-1])), whole(50), schedule=SMALL, strict=False)


# ---- what is wrong is said -------------------------------------------------------------------------------------


def failure(function: Any, *arguments: Any) -> tuple[str, list[Any]]:
    with lw.options(device="emulated", schedule=SMALL):
        there, _, error = outcome(lw.kernel(function), list(arguments))
    assert isinstance(error, lw.BoundsError), error
    return str(error), there


@pytest.mark.parametrize("place", [0, 40, 399])
def test_a_wrong_column(place: int) -> None:
    pointer, column, value, x, y = csr([20] * 20)
    column[place] = 50
    assert "index 50 is out of bounds for axis 0 of 'x' with size 50" in failure(spmv, pointer, column, value, x, y)[0]


@pytest.mark.parametrize("place", [0, 40, 250, 399])
def test_no_row_gets_a_part_of_its_sum(place: int) -> None:
    pointer, column, value, x, _ = csr([20] * 20)
    right = np.array([value[at : at + 20] @ x[column[at : at + 20]] for at in range(0, 400, 20)])
    column[place] = 50
    _, (*_, y) = failure(spmv, pointer, column, value, x, np.full(20, 0.5))
    assert y[place // 20] == 0.5
    assert all(got in (0.5, wanted) for got, wanted in zip(y, right, strict=True)), y


def test_too_few_entries() -> None:
    pointer, column, value, x, y = csr([20] * 20)
    assert "index 399 is out of bounds for axis 0" in failure(spmv, pointer, column[:-1], value, x, y)[0]
    far = pointer.copy()
    far[-1] = 2**62
    assert "is out of bounds for axis 0 of 'v" in failure(spmv, far, column, value, x, y)[0]


def test_too_few_rows() -> None:
    def through(pointer, value, at, y):
        for row in range(y.shape[0]):
            s = 0.0
            for k in range(pointer[row + at], pointer[row + at + 1]):
                s += value[k]
            y[row] = s

    pointer, _, value, _, y = csr([3] * 200)
    agree(through, pointer, value, 5, y[:-5], schedule=SMALL, strict=False)
    for at in (1, 100, 1000):
        with pytest.raises((IndexError, AssertionError)):
            through(pointer, value, at, y.copy())
        with lw.options(device="emulated", schedule=SMALL), pytest.raises(lw.BoundsError, match="of 'pointer'"):
            lw.kernel(through)(pointer, value, at, y.copy())


def test_an_index_that_is_wrong_after_the_entries() -> None:
    def ranked(pointer, value, place, y):
        for row in lw.prange(pointer.shape[0] - 1):
            s = 0.0
            for k in range(pointer[row], pointer[row + 1]):
                s += value[k]
            y[place[row]] = s

    pointer, _, value, _, y = csr([300, 2, 2, 40])
    for wrong in range(4):
        place = np.arange(4)
        place[wrong] = 9
        assert "index 9 is out of bounds for axis 0 of 'y' with size 4" in failure(ranked, pointer, value, place, y)[0]
        place[wrong] = wrong
        agree(ranked, pointer, value, place, y, schedule=SMALL, strict=False)


@pytest.mark.parametrize("pointer", [[0, -(2**62), 2**62, 3], [0, 5, -(2**63), 2**63 - 1], [-(2**63), 0, 3, 2**63 - 1]])
def test_pointers_far_away(pointer: list[int]) -> None:
    assert (
        "is out of bounds for axis 0 of 'value' with size 9"
        in failure(plain, np.array(pointer), whole(9), np.zeros(3))[0]
    )


def why_not(function: Any, *arguments: Any) -> str:
    with pytest.raises(lw.ScheduleError) as found:
        lw.kernel(function)(*arguments)
    return str(found.value)


# ---- what stands in a row --------------------------------------------------------------------------------------


def several(pointer, value, weight, least, most, total, a):
    for row in range(pointer.shape[0] - 1):
        s = weight[row]
        low = 1000
        high = -1000.0
        begin = pointer[row]
        end = pointer[row + 1]
        for k in range(begin, end):
            v = value[k]
            s += v * v
            low = min(low, int(v))
            if v > high:
                high = v
        total[row] = s if end > begin else -1.0
        if low < 1000:
            least[row] = low + a[row, 1]
            most[row] = high
        else:
            most[row] = a[row, 0] + high


@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_several_sums_and_what_is_done_with_them(kind: str, dtype: Any) -> None:
    pointer, _, value, _, y = csr(LENGTHS[kind])
    rows = len(y)
    arrays = [y.astype(dtype), np.zeros(rows, np.int64), y.astype(dtype), np.zeros(rows, dtype)]
    agree(several, pointer, value.astype(dtype), *arrays, whole(rows, 2), schedule="balance row k 64 32", strict=False)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_integers_of_every_width(dtype: Any) -> None:
    def narrow(pointer, value, first, second, third, fourth):
        for row in range(first.shape[0]):
            s = first[row]
            p = second[row]
            b = third[row]
            g = fourth[row]
            for k in range(pointer[row], pointer[row + 1]):
                s += value[k]
                p *= value[k]
                b ^= value[k]
                g = max(g, value[k])
            first[row] = s
            second[row] = p
            third[row] = b
            fourth[row] = g

    pointer, _, value, _, y = csr(LENGTHS["power law"] + LENGTHS["giant rows"])
    rows = [y.astype(dtype) for _ in range(4)]
    agree(
        narrow, pointer, value.astype(dtype), *rows, schedule="balance row k 64 64"
    )  # exact, so that strict allows it


def test_truths() -> None:
    def some(pointer, value, found):
        for row in range(found.shape[0]):
            any_ = False
            for k in range(pointer[row], pointer[row + 1]):
                any_ |= value[k]
            found[row] = any_

    pointer, _, value, _, y = csr(LENGTHS["power law"] + LENGTHS["giant rows"])
    agree(some, pointer, value > 7, y > 0, schedule="balance row k 64 64")


@pytest.mark.parametrize("values", [[0.0, -0.0], [1.5, -2.5, np.inf], [np.nan, 1.0, 2.0], [3.0, 1.0, np.nan]])
def test_floats_that_are_no_numbers(values: list[float]) -> None:
    def extremes(pointer, value, a, b, c, d):
        for row in range(a.shape[0]):
            s = 3.0
            t = 3.0
            u = value[0]
            v = value[0]
            for k in range(pointer[row], pointer[row + 1]):
                s = min(s, value[k])
                t = max(t, value[k])
                u = np.fmax(u, value[k])
                v = np.maximum(v, value[k])
            a[row] = s
            b[row] = t
            c[row] = u
            d[row] = v

    pointer, _, value, _, y = csr([0, 1, 2, 3, 4, 100, 50, 3])
    value = np.resize(np.array(values), value.shape)
    arguments = [pointer, value, *(y.copy() for _ in range(4))]
    wanted = outcome(extremes, [one.copy() for one in arguments])[0]
    with lw.options(device="emulated", schedule=SMALL):
        got = outcome(lw.kernel(extremes), arguments)
    assert got[2] is None
    for mine, right in zip(got[0], wanted, strict=True):
        np.testing.assert_array_equal(mine, right)  # which of 0.0 and -0.0 is open


def test_terms_with_conditions() -> None:
    def picked(pointer, column, value, x, y):
        for row in range(y.shape[0]):
            s = 0.0
            count = 0
            for k in range(pointer[row], pointer[row + 1]):
                c = column[k]
                if c < x.shape[0]:
                    v = x[c] * value[k]
                    if v > 0:
                        s += v
                    else:
                        s -= v / 2
                    count += 1
                elif value[k] > 0 and x[c - 50] > 0:
                    s += 1.0
            y[row] = s / count if count else 0.0

    pointer, column, value, _, y = csr(LENGTHS["power law"], columns=100)
    agree(picked, pointer, column, value, whole(50) * 2, y, schedule=SMALL, strict=False)


def test_elements_of_elements() -> None:
    """Three reads in a row, through scalars that are set on the way."""

    def chained(pointer, first, second, third, y):
        for row in range(y.shape[0]):
            s = 0.0
            for k in range(pointer[row], pointer[row + 1]):
                a = first[k]
                b = second[a + 1]
                b = b + second[a]
                c = third[second[a]] + b
                s += c if c > 0 else third[a]
            y[row] = s

    pointer, column, _, _, y = csr(LENGTHS["giant rows"])
    second = RANDOM.integers(0, 51, 51)
    for schedule in (SMALL, "balance row k 256 32"):
        agree(chained, pointer, column, second, whole(51), y, schedule=schedule, strict=False)


# ---- where it stands -------------------------------------------------------------------------------------------


def test_rows_within_a_loop_on_the_host() -> None:
    def ranks(pointer, column, rank, following, count):
        for _ in range(count):
            for row in range(rank.shape[0]):
                s = 0.0
                for k in range(pointer[row], pointer[row + 1]):
                    s += rank[column[k]]
                following[row] = 2.0 + s
            for i in range(rank.shape[0]):
                rank[i] = following[i] % 64.0

    pointer, column, _, _, y = csr(LENGTHS["power law"], columns=18)
    agree(ranks, pointer, column, whole(18), y, 4, strict=False,
          schedule="balance row k 64 32; bind i block.x")  # fmt: skip


def test_rows_from_another_number_on() -> None:
    def middle(pointer, value, y, low, high):
        for row in range(low, high):
            s = 0.0
            for k in range(pointer[row - low], pointer[row - low + 1]):
                s += value[k]
            y[row] = s

    pointer, _, value, _, y = csr(LENGTHS["even"])
    for low, high in ((0, 33), (5, 33), (10, 11), (10, 10), (12, 3)):
        agree(middle, pointer, value, y, low, high, schedule=SMALL, strict=False)


def test_what_rows_do_twice_the_same_bits() -> None:
    pointer, column, value, x, y = csr(LENGTHS["power law"] * 4)
    value, x = RANDOM.random(len(value)), RANDOM.random(len(x))
    results = set()
    with lw.options(device="emulated", schedule=SMALL):
        kernel = lw.kernel(spmv)
        for _ in range(5):
            kernel(pointer, column, value, x, y)
            results.add(y.tobytes())
    assert len(results) == 1


def test_the_report_says_how_rows_are_shared() -> None:
    arguments = csr(LENGTHS["even"])
    with lw.options(device="emulated", schedule=USUAL):
        kernel = lw.kernel(spmv)
        kernel(*arguments)
        text = str(kernel.explain(*arguments))
    assert "in blocks that take equal parts of its iterations and of their entries together" in text
    assert "shared out among the threads of a block, whatever the iterations around it" in text


def test_two_such_loops_in_one_kernel() -> None:
    def both(pointer, value, count, y, z):
        for row in range(y.shape[0]):
            s = 0.0
            for k in range(pointer[row], pointer[row + 1]):
                s += value[k, 0]
            y[row] = s
        for line in range(z.shape[0]):
            n = z[line]
            most = z[line]
            for e in range(pointer[line], pointer[line + 1]):
                n += count[e]
                most = max(most, count[e])
            z[line] = n + most

    pointer, column, _, _, y = csr(LENGTHS["power law"])
    given = pointer, whole(len(column), 3), column.astype(np.int32), y, np.arange(len(y), dtype=np.int32)
    agree(both, *given, schedule="balance row k 32 32; balance line e 64 64", strict=False)


def test_entries_that_lie_apart() -> None:
    """Arrays that go backwards, by steps, and along columns."""

    def apart(pointer, value, weight, y):
        for row in range(y.shape[0]):
            s = 0.0
            for k in range(pointer[row], pointer[row + 1]):
                s += value[k] * weight[1, -k - 1]
            y[row] = s

    pointer, _, value, _, y = csr(LENGTHS["giant rows"])
    backwards, turned = np.repeat(value, 2)[::-2], np.asfortranarray(whole(2, len(value)))
    agree(apart, pointer, lambda: backwards, turned, lambda: np.repeat(y, 3)[::3].copy(), schedule=SMALL, strict=False)


def test_arrays_that_may_only_be_read() -> None:
    given = csr(LENGTHS["power law"])
    for array in given[:4]:
        array.flags.writeable = False
    agree(spmv, *(lambda array=array: array for array in given[:4]), given[4], schedule=SMALL, strict=False)


def test_arguments_that_share_memory_are_refused() -> None:
    pointer, column, value, x, _ = csr([3] * 50, columns=60)
    with lw.options(device="emulated", schedule=SMALL):
        assert "arguments overlap in memory" in why_not(spmv, pointer, column, value, x, x[5:55])
        assert "x[row] and x[column[k]]" in why_not(spmv, pointer, column, value, x[:50], x[:50])
