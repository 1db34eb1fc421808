"""Calls whose tables have no place for all that an index of few bits may be: what data say is tested, the rest proven,
and results and errors are Python's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel

RANDOM = np.random.default_rng(8)


def class_sums(x: Any, label: Any, sums: Any, counts: Any) -> None:
    for i in range(x.shape[0]):
        counts[label[i]] += 1
        for j in range(x.shape[1]):
            sums[label[i], j] += x[i, j]


def aligned(a: Any, b: Any, score: Any, gap: int, best: Any) -> int:
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            found = best[i - 1, j - 1] + score[a[i - 1], b[j - 1]]
            if best[i - 1, j] - gap > found:
                found = best[i - 1, j] - gap
            if best[i, j - 1] - gap > found:
                found = best[i, j - 1] - gap
            best[i, j] = found
    return int(best[len(a), len(b)])


def looked_up(code: Any, shift: int, table: Any, out: Any) -> None:
    for i in range(len(code)):
        out[i] = table[int(code[i]) + shift]


def bytes_below(most: int, *shape: int, dtype: type = np.uint8) -> Any:
    return RANDOM.integers(0, most, shape).astype(dtype)


def calls() -> list[tuple[Any, list[Any], str]]:
    labels, x = bytes_below(10, 300), RANDOM.integers(-9, 9, (300, 4)) * 1.0
    bases = [bytes_below(4, size) for size in (60, 50)]
    score, best = RANDOM.integers(-3, 4, (4, 4)), np.zeros((61, 51), np.int64)
    signed = RANDOM.integers(-5, 5, 200).astype(np.int8)
    return [
        (class_sums, [x, labels, np.zeros((10, 4)), np.zeros(10, np.int64)], "careful"),
        (class_sums, [x, labels, np.zeros((256, 4)), np.zeros(256, np.int64)], "compiled"),
        (
            class_sums,
            [x, bytes_below(11, 300) % 11 + 1, np.zeros((10, 4)), np.zeros(10, np.int64)],
            "careful",
        ),  # raises
        (class_sums, [x, labels, np.zeros((10, 3)), np.zeros(10, np.int64)], ""),  # raises, whatever data say
        (aligned, [*bases, score, 2, best], "careful"),
        (looked_up, [bytes_below(8, 200), 0, RANDOM.random(8), np.zeros(200)], "careful"),
        (looked_up, [bytes_below(8, 200), -3, RANDOM.random(8), np.zeros(200)], "careful"),  # from the end
        (looked_up, [bytes_below(8, 200), -30, RANDOM.random(8), np.zeros(200)], "careful"),  # raises
        (looked_up, [signed, 0, RANDOM.random(5), np.zeros(200)], "careful"),
        (looked_up, [signed, 5, RANDOM.random(10), np.zeros(200)], "careful"),
        (looked_up, [signed, 128, RANDOM.random(256), np.zeros(200)], "compiled"),
    ]


def outcome(function: Any, arguments: list[Any]) -> tuple[Any, list[Any]]:
    own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    try:
        return function(*own), own
    except IndexError:
        return "IndexError", []


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", range(len(calls())))
def test_as_python(number: int, threads: int) -> None:
    function, arguments, how = calls()[number]
    kernel = lw.kernel(function)
    with lw.options(threads=threads):
        for _ in range(2):
            (mine, left), (pythons, expected) = outcome(kernel, arguments), outcome(function, arguments)
            assert mine == pythons
            for one, other in zip(left, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    ran = {code.how for code in kernel._dispatch.codes.runs() if code.calls}
    assert ran <= ({how} if how else set())


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("number", range(len(calls())))
def test_a_gpu_runs_them_too(number: int, resident: bool) -> None:
    function, arguments, how = calls()[number]
    kernel = lw.kernel(function)

    def there(*given: Any) -> Any:
        moved = [lw.device_array(one) if resident and isinstance(one, np.ndarray) else one for one in given]
        result = kernel(*moved)
        for one, other in zip(given, moved, strict=True):
            if isinstance(one, np.ndarray):
                one[...] = np.array(other)
        return result

    with lw.options(device="emulated"):
        (mine, left), (pythons, expected) = outcome(there, arguments), outcome(function, arguments)
    assert mine == pythons
    for one, other in zip(left, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    ran = {(code.how, code.compilation.device) for code in kernel._dispatch.codes.runs() if code.calls}
    assert ran <= ({(how, "emulated")} if how else set())


def picked(table: Any, code: Any, out: Any) -> None:
    for i in range(len(code)):
        out[i] += table[code[i]]


def chosen(a: Any, mask: Any, out: Any) -> None:
    for i in range(len(out)):
        if mask[i]:
            out[i] += a[i]


def spoilt(code: Any) -> None:
    for i in range(7, 8):
        code[i] = 200


@pytest.mark.parametrize("large", [1, 3000])
@pytest.mark.parametrize("function", [picked, chosen])
def test_repeated_calls_with_the_same_arrays_on_a_gpu_rely_on_no_more(function: Any, large: int) -> None:
    code, table = bytes_below(9, 40 * large), RANDOM.random(9)
    if function is chosen:
        code, table = (np.arange(40 * large) < 25 * large).astype(np.uint8), RANDOM.random(30 * large)
    given = (table, code, np.zeros(40 * large))
    with lw.options(device="emulated"):
        kernel, there = lw.kernel(function), [lw.device_array(one) for one in given]
        for _ in range(4):
            kernel(*there)
            function(*given)
            np.testing.assert_array_equal(there[-1].numpy(), given[-1])
        assert {code.how for code in kernel._dispatch.codes.runs() if code.calls} <= {"careful", "checked"}
        if function is picked:
            lw.kernel(spoilt)(there[1])
            with pytest.raises(lw.BoundsError, match="index 200 is out of bounds for axis 0 of 'table' with size 9"):
                kernel(*there)


def test_one_kernel_for_small_tables_and_large_ones() -> None:
    kernel = lw.kernel(looked_up)
    for size in (8, 256, 8, 300):
        code, table = bytes_below(8, 99), RANDOM.random(size)
        mine, pythons = np.zeros((2, 99))
        kernel(code, 0, table, mine)
        looked_up(code, 0, table, pythons)
        np.testing.assert_array_equal(mine, pythons)
    with pytest.raises(lw.BoundsError):
        kernel(code + np.uint8(90), 0, RANDOM.random(9), mine)


def test_loops_stay_parallel() -> None:
    x, labels = RANDOM.random((300, 4)), bytes_below(10, 300)
    found = lw.kernel(class_sums).explain(x, labels, np.zeros((10, 4)), np.zeros(10, np.int64))
    assert found.loops[0].verdict == "reduction"
    assert "in order, as every access is checked" not in str(found)
    assert "checks what data say" in str(found.notes)


def test_what_is_tested() -> None:
    kernel = parse_kernel("""
kernel f(u: uint8[1] C, t: float64[1] C, out: float64[1] C, n: int64):
    for i in 0 .. n:
        out[i] = t[int64(u[i])]
""")
    trusting, careful = analyse(kernel), analyse(replace(kernel, guard="sizes"))
    assert (trusting.guard.on_data, careful.guard.on_data) == (True, False)
    assert "256" in trusting.guard.text and "256" not in careful.guard.text and careful.guard.text
