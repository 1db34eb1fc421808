"""Calls that devices share, made again with the same arrays and numbers, are made as they were, and others are not."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.runtime.sharing import Sharing

TWO = "emulated, emulated:1"
FACTOR = 2.0


@lw.kernel
def scaled(a, b, count, by):
    for i in range(count):
        b[i] = a[i] * by * FACTOR


@lw.kernel
def added(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Calls of which it had to be found out what they are."""
    found: list[object] = []
    call = Sharing.call

    def counted(self: Sharing, *given: Any) -> object:
        found.append(given)
        return call(self, *given)

    monkeypatch.setattr(Sharing, "call", counted)
    scaled._dispatch.learn_anew()
    added._dispatch.learn_anew()
    return found


def pieces(size: int = 40) -> tuple[Any, Any, np.ndarray]:
    given = np.random.default_rng(size).integers(-9, 9, size).astype(float)
    return lw.distributed_array(given), lw.distributed_array(np.zeros(size)), given


def test_the_same_arrays_and_numbers(asked: list[object]) -> None:
    a, b, given = pieces()
    with lw.options(devices=TWO, plan="split"):
        for k in range(6):
            scaled(a, b, 40, 3.0)
            assert np.array_equal(b.numpy(), given * 3.0 * FACTOR) and len(asked) == 1
            a.copy_from(given := given + k)


def test_other_numbers_arrays_and_types_are_other_calls(asked: list[object]) -> None:
    a, b, given = pieces()
    other, out, more = pieces(50)
    with lw.options(devices=TWO, plan="split"):
        for _ in range(2):
            b.copy_from(np.zeros(40))
            for count, by in ((40, 3.0), (30, 3.0), (40, 2.5), (40, 3)):
                scaled(a, b, count, by)
                assert np.array_equal(b.numpy()[:count], given[:count] * by * FACTOR)
            scaled(other, out, 50, 3.0)
            assert np.array_equal(out.numpy(), more * 3.0 * FACTOR)
    assert len(asked) == 5


def test_another_constant_is_heeded(asked: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, given = pieces()
    with lw.options(devices=TWO, plan="split"):
        for factor in (2.0, 5.0, 2.0):
            monkeypatch.setitem(scaled.py_func.__globals__, "FACTOR", factor)
            for _ in range(2):
                scaled(a, b, 40, 3.0)
                assert np.array_equal(b.numpy(), given * 3.0 * factor)


def test_other_options_are_heeded(asked: list[object]) -> None:
    a, b, given = pieces()
    for options in ({"plan": "split"}, {"plan": "single"}, {"plan": "split", "strict": True}):
        for _ in range(3):
            with lw.options(devices=TWO, **options):  # type: ignore[arg-type]
                scaled(a, b, 40, 3.0)
                assert np.array_equal(b.numpy(), given * 3.0 * FACTOR)
    assert len(asked) >= 3
    scaled(a, b, 40, 1.0)
    assert np.array_equal(b.numpy(), given * FACTOR), "without devices"


def test_what_was_forgotten_is_found_out_anew(asked: list[object]) -> None:
    a, b, given = pieces()
    with lw.options(devices=TWO, plan="split"):
        scaled(a, b, 40, 3.0)
        scaled._dispatch.sharing.forget()
        scaled(a, b, 40, 3.0)
        assert np.array_equal(b.numpy(), given * 3.0 * FACTOR) and len(asked) == 2


def test_totals_are_those_of_the_present_elements(asked: list[object]) -> None:
    a, _, given = pieces()
    with lw.options(devices=TWO, plan="split"):
        for k in range(5):
            assert added(a) == given.sum()
            a.copy_from(given := given * (k + 2))
    assert len(asked) == 1


def test_arrays_of_the_host_are_told_apart_by_more_than_a_look(asked: list[object]) -> None:
    given, out = np.arange(40.0), np.zeros(40)
    with lw.options(devices=TWO, plan="split"):
        for _ in range(3):
            scaled(given, out, 40, 3.0)
    assert len(asked) == 3 and np.array_equal(out, given * 3.0 * FACTOR)


def test_arrays_that_are_gone_are_not_kept() -> None:
    a, b, _ = pieces()
    there = weakref.ref(a)
    with lw.options(devices=TWO, plan="split"):
        scaled(a, b, 40, 3.0)
        scaled(a, b, 40, 3.0)
    del a
    gc.collect()
    assert there() is None
