"""Loops that look for something on a GPU: in chunks, whose iterations are tested in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


@lw.kernel
def first(a, v):
    for i in range(len(a)):
        if a[i] == v:
            return i
    return -1


@lw.kernel
def all_positive(a):
    found = True
    for i in range(len(a)):
        if a[i] <= 0:
            found = False
            break
    return found


@lw.kernel
def from_both_ends(a, v):
    last = -1
    for i in range(len(a) // 2):
        if a[i] == v or a[len(a) - 1 - i] == v:
            last = i
            break
    return last + len(a)


@lw.kernel
def first_row(a, b):
    for i in range(a.shape[0]):
        same = True
        for j in range(a.shape[1]):
            if a[i, j] != b[j]:
                same = False
                break
        if same:
            return i
    return -1


@lw.kernel
def first_element(a, v):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == v:
                return i, j
    return -1, -1


@lw.kernel
def in_each_row(a, found):
    for i in range(a.shape[0]):
        found[i] = -1
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                found[i] = j
                break


def decisions(kernel: Any, *arguments: object) -> str:
    """The schedule in words, on the emulated GPU."""
    with lw.options(device="emulated"):
        text = str(kernel.explain(*arguments))
    assert "not on a GPU" not in text
    return next(line for line in text.splitlines() if line.startswith("schedule"))


def test_they_are_searched_where_no_loop_around_them_is_shared() -> None:
    a = np.zeros((40, 30))
    assert "find i 4194304; reduce i" in decisions(first, a[0], 1.0)
    assert "find i 65536; reduce i" in decisions(first_row, a, np.ones(30))
    assert "find i 65536; find j.1 4194304" in decisions(first_element, a, 1.0)
    assert "find " not in decisions(in_each_row, a, np.zeros(40, np.int64))


@pytest.mark.parametrize("size", [0, 1, 2, 3000])
@pytest.mark.parametrize("kernel", [first, all_positive, from_both_ends], ids=lambda one: one.name)
def test_what_is_found_is_what_python_finds(kernel: Any, size: int) -> None:
    for place in [None, *sorted({0, size // 3, size - 1})]:
        a = np.ones(size)
        if place is not None and 0 <= place < size:
            a[place:] = -1.0
        given = (a,) if kernel is all_positive else (a, -1.0)
        with lw.options(device="emulated"):
            assert kernel(*given) == kernel.py_func(*given)


@pytest.mark.parametrize("kernel", [first_row, first_element], ids=lambda one: one.name)
def test_rows_and_elements(kernel: Any) -> None:
    random = np.random.default_rng(5)
    for _ in range(6):
        a = random.integers(0, 3, (60, 2)) * 1.0
        for wanted in (np.array([2.0, 2.0]), np.array([7.0, 1.0])):
            given = (a, wanted) if kernel is first_row else (a, wanted[0])
            with lw.options(device="emulated"):
                assert kernel(*given) == kernel.py_func(*given)


def test_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those after the one in which it is found are not looked at."""
    from loopwright.recipe import loop_search
    from loopwright.recipe.tunable import Tunable

    small = Tunable("iterations of a chunk that is searched", 1 << 16, (1 << 16,), "for a test")
    monkeypatch.setattr(loop_search, "CHUNK", small)

    @lw.kernel
    def again(a, v):
        for i in range(len(a)):
            if a[i] == v:
                return i
        return -1

    for place in (0, 65535, 65536, 150_000, 199_999, None):
        a = np.zeros(200_000, np.int8)
        if place is not None:
            a[place:] = 1
        with lw.options(device="emulated"):
            assert again(a, 1) == (-1 if place is None else place)
