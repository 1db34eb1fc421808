"""Sizes of results: the launcher's programs give what the interpreter gives, or leave it to Python."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.by_ctypes import Entry
from loopwright.ir.size_programs import CODES, results_of
from loopwright.ir.text import parse_kernel
from loopwright.runtime import in_use


def results(size: str, fill: str = "") -> Any:
    text = f"kernel k(a: float64[2] C, n: int64) -> array r:\n    result r: float32[{size}]{fill}\n    return\n"
    return results_of(parse_kernel(text))


def test_programs_in_postfix_order() -> None:
    ((dtype, fill, sizes),) = results("size(a, 1), n + 2 * size(a, 0)", " = 0.0f32")
    assert (dtype, repr(fill)) == (np.dtype(np.float32), "0")
    assert sizes == (
        (CODES["dim"], 0, 1),
        (
            *(CODES["argument"], 1, CODES["number"], 2, CODES["dim"], 0, 0),
            *(CODES["mul int64"], CODES["add int64"]),
        ),
    )


@pytest.mark.parametrize(
    ("text", "fill"), [("", "None"), (" = 1.0f32", "1.0"), (" = -0.0f32", "-0.0"), (" = 0.0f32", "0")]
)
def test_what_fills_them(text: str, fill: str) -> None:
    assert repr(results("n", text)[0][1]) == fill


@pytest.mark.parametrize(("size", "fill"), [("n ^ 1", ""), (" + ".join("n" * 40), "")])
def test_what_the_launcher_has_no_words_for(size: str, fill: str) -> None:
    assert results(size, fill) is None


@lw.kernel
def sized(a: Any, n: Any, m: Any) -> Any:
    first = np.zeros((n // 3 + 1, a.shape[1] - 1))
    third, fourth = np.full(a.shape, np.inf), np.full(len(a), -1, np.int32)
    fifth, sixth = np.ones(a.shape[1], np.bool_), np.full(a.shape[1], -0.0)
    second = np.empty(max(n, m) * min(a.shape[0], 2), np.int16)
    for i in range(second.shape[0]):
        second[i] = i
    return first, second, third, fourth, fifth, sixth


ARGUMENTS = [
    (np.ones((3, 4)), 7, 2), (np.ones((0, 1)), 0, 0), (np.ones((5, 1)), -2, 1), (np.ones((2, 3)), np.int64(5), 3),
    (np.ones((2, 3)), np.int32(5), 3), (np.ones((4, 9))[::2, ::-1], 2, 11),
]  # fmt: skip


@pytest.mark.parametrize("given", ARGUMENTS)
def test_arrays_are_those_of_cpython(given: tuple[Any, ...]) -> None:
    for _ in range(2):  # the second call is the launcher's
        for mine, pythons in zip(sized(*given), sized.__wrapped__(*given), strict=True):
            assert (mine.shape, mine.dtype, mine.tobytes()) == (pythons.shape, pythons.dtype, pythons.tobytes())
            assert mine.flags.owndata and mine.flags.writeable and mine.flags.c_contiguous


@lw.kernel
def computed(x: Any, n: Any, m: Any, ratio: Any) -> Any:
    frames = np.zeros(1 + (len(x) - n) // m)
    scaled = np.zeros(int(len(x) / ratio))
    powers = np.zeros(4**n if n < 5 else n % 7, np.uint8)
    rounded = np.zeros((math.ceil(len(x) * ratio), int(np.sqrt(len(x) * 1.0)), round(ratio)))
    shifted = np.zeros((1 << n) + (len(x) >> 1), np.int8)
    chosen = np.zeros(n if ratio >= 1.0 and n != m else m)
    least = np.zeros(int(min(ratio, 2.5) * 2 + max(ratio, 0.5) - 0.25))
    return frames, scaled, powers, rounded, shifted, chosen, least


@pytest.mark.parametrize("n", [0, 1, 4, 7])
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.5, 3.7])
def test_computed_sizes_are_those_of_cpython(n: int, m: int, ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(19)
    computed(x, n, m, ratio)
    monkeypatch.setattr(in_use, "allocated", None)  # what makes them where the launcher does not
    found = [one.shape for one in computed(x, n, m, ratio)]
    assert found == [one.shape for one in computed.py_func(x, n, m, ratio)]


@lw.kernel
def of_functions(x: Any, n: Any, ratio: Any) -> Any:
    bins = np.zeros(1 + int(math.log(len(x)) / math.log(ratio)))
    levels = np.zeros((int(math.log2(len(x))), math.ceil(math.log10(len(x)))))
    around = np.zeros(n + 1 - -n)
    far = np.zeros(abs(n - 9) + int(abs(ratio - 9.5)) + int(-(ratio - 20.0)))
    grown = np.zeros((int(math.exp(ratio)), int(ratio**2.5)))
    return bins, levels, around, far, grown


@pytest.mark.parametrize("n", [0, 4, 12])
@pytest.mark.parametrize("ratio", [1.1, 2.0, 3.7])
def test_sizes_of_functions_are_those_of_cpython(n: int, ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(19)
    of_functions(x, n, ratio)
    monkeypatch.setattr(in_use, "allocated", None)
    found = [one.shape for one in of_functions(x, n, ratio)]
    assert found == [one.shape for one in of_functions.py_func(x, n, ratio)]


def test_the_least_integer_is_left_to_python() -> None:
    @lw.kernel
    def apart(n: Any) -> Any:
        return np.zeros(max(-n, abs(n), 3))

    assert len(apart(2)) == 3
    with pytest.raises((MemoryError, ValueError)):
        apart(-(2**63) + 1)
    assert len(apart(-(2**63))) == 3  # whole numbers wrap at 64 bits


@pytest.mark.parametrize("given", [(0, 0, 1.0), (70, 1, 1.0), (1, 1, math.inf), (1, 1, math.nan), (30, 1, -2.0)])
def test_sizes_that_are_none_are_pythons_errors(given: Any) -> None:
    x = np.zeros(19)
    computed(x, 1, 1, 1.0)
    with pytest.raises(Exception) as wanted:
        computed.py_func(x, *given)
    with pytest.raises(Exception) as found:
        computed(x, *given)
    assert isinstance(found.value, type(wanted.value)) or (type(found.value), type(wanted.value)) == (
        ValueError, MemoryError,
    )  # fmt: skip


def test_errors_are_those_of_python() -> None:
    sized(np.ones((3, 4)), 7, 2)
    with pytest.raises(ValueError, match="negative"):
        sized(np.ones((3, 0)), 7, 2)
    with pytest.raises((MemoryError, ValueError)):
        sized(np.ones((3, 4)), 2**61, 2)
    assert sized(np.ones((3, 4)), 7, 2)[1].tolist() == list(range(14))


def test_the_launcher_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    @lw.kernel
    def doubled(a: Any) -> Any:
        return a * 2

    doubled(np.ones(3))
    monkeypatch.setattr(np, "empty", None)  # what makes them where the launcher does not
    assert doubled(np.ones(3)).tolist() == [2, 2, 2]


def test_without_the_extension_python_makes_them() -> None:
    assert not hasattr(Entry, "results")
    with lw.options(device="interpreter"):
        assert sized(*ARGUMENTS[0])[0].shape == (3, 3)


@lw.kernel
def gathered(n: Any, m: Any) -> Any:
    first, second = [], []
    for i in range(n):
        first.append(i)
        if i % 2 == 0:
            second.append((i, -i))
    if m < 0:
        raise ValueError("m")
    return np.array(first), second


def test_room_is_kept_for_the_next_call_and_no_result_is_in_it() -> None:
    held = [gathered(n, 0) for n in (3, 10, 0, 3)]
    for n in (400_000, 2, 200_000):  # more than a spare keeps
        held.append(gathered(n, 0))
    with pytest.raises(ValueError, match="m"):
        gathered(5, -1)
    held.append(gathered(7, 0))
    for (numbers, pairs), n in zip(held, (3, 10, 0, 3, 400_000, 2, 200_000, 7), strict=True):
        assert numbers.tolist() == list(range(n))
        assert pairs == [(i, -i) for i in range(0, n, 2)]
    kept = [numbers for numbers, _ in held if numbers.size]
    assert not any(np.shares_memory(one, other) for k, one in enumerate(kept) for other in kept[:k])


@lw.kernel
def sums_by_class(labels: Any, data: Any) -> Any:
    sums = np.zeros((labels.max() + 1, data.shape[1]))
    for i in range(len(labels)):
        sums[labels[i]] += data[i]
    return sums


def test_room_is_kept_for_calls_that_need_as_much() -> None:
    held = []
    for classes, fields in ((2, 3), (3, 3), (2, 1), (3, 1), (200_000, 1), (2, 1), (2, 3)):
        labels, data = np.arange(classes), np.full((classes, fields), len(held) + 1.0)
        held.append((sums_by_class(labels, data), data))
    for found, data in held:
        np.testing.assert_array_equal(found, data)


def test_large_arrays_that_are_returned_whole_are_the_callers() -> None:
    @lw.kernel
    def whole(x: Any) -> Any:
        out = np.empty(2**23)
        out[0] = x
        return out

    whole(0.0)
    first, second = whole(1.0), whole(2.0)
    assert (first[0], second[0]) == (1.0, 2.0)
    assert not np.shares_memory(first, second)


def test_threads_have_room_of_their_own() -> None:
    gathered(1, 0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: gathered(n, 0), [5000, 3, 7000, 1] * 20))
    assert [numbers.tolist() for numbers, _ in found] == [list(range(n)) for n in [5000, 3, 7000, 1] * 20]
