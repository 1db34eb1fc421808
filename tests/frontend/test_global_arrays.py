"""Arrays from outside the function: each call sees what stands there then."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.frontend import lower as lowering

WEIGHTS = np.array([0.25, 0.5, 0.25])
TABLE = np.arange(12.0).reshape(4, 3)
COUNT = np.zeros(3, np.int64)
FIXED = np.array([3.0, 4.0])
FIXED.flags.writeable = False
PLACE = types.ModuleType("place")
PLACE.rows = np.arange(4)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True, params=["cpu", "interpreter", "emulated"])
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    with lw.options(device=request.param):
        yield


def halved(x: Any) -> Any:
    return x * WEIGHTS[1]


def smoothed(a: Any) -> Any:
    out = np.zeros(a.shape[0])
    for i in range(1, a.shape[0] - 1):
        for k in range(3):
            out[i] += WEIGHTS[k] * a[i + k - 1]
    return out + TABLE[0].sum(), halved(a[0]), (WEIGHTS * 2).sum()


def test_globals_of_the_function_and_of_its_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, a = lw.kernel(smoothed), np.arange(6.0)
    for change in (None, "in place", "another"):
        if change == "in place":
            monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS.copy())
            WEIGHTS[1] = 9.0
        if change == "another":
            monkeypatch.setitem(globals(), "WEIGHTS", np.array([1, 2, 3]))
        for mine, pythons in zip(kernel(a), smoothed(a), strict=True):
            np.testing.assert_allclose(mine, pythons)


def test_calls_that_are_answered_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the launcher leaves out is as before: defaults, keywords, options of the kernel, an array that is gone."""
    offset = np.array([1.0, 2.0])

    def weighted(a: Any, by: Any = 2.0) -> Any:
        return a[0] * by * WEIGHTS[1] + offset[0]

    kernel, own = lw.kernel(weighted), lw.kernel(weighted, strict=True)
    for _ in range(3):
        assert kernel(np.ones(2), 3.0) == own(np.ones(2), 3.0) == 2.5
        assert kernel(np.ones(2)) == kernel(by=2.0, a=np.ones(2)) == 2.0
    with pytest.raises(TypeError):
        kernel(np.ones(2), 3.0, 4.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([0, 4, 0]))
    offset = np.array([0.5])
    assert kernel(np.ones(2), 3.0) == weighted(np.ones(2), 3.0) == 12.5
    monkeypatch.delitem(globals(), "WEIGHTS")
    with pytest.raises((NameError, lw.LoopwrightError)):
        kernel(np.ones(2), 3.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([0.0, 1.0]))
    assert kernel(np.ones(2), 3.0) == 3.5


def test_what_is_written_is_seen_outside() -> None:
    @lw.kernel
    def counted(k: Any) -> Any:
        COUNT[k] += 1
        return COUNT[k]

    before = COUNT[2]
    assert [counted(2), counted(2)] == [before + 1, before + 2] and COUNT[2] == before + 2


def test_a_read_only_array_is_read_and_not_written() -> None:
    assert lw.kernel(lambda_of_fixed)(2.0) == 8.0

    @lw.kernel
    def written(x: Any) -> None:
        FIXED[0] = x

    with pytest.raises((lw.KernelError, ValueError)):
        written(1.0)
    assert FIXED[0] == 3.0


def lambda_of_fixed(x: Any) -> Any:
    return x * FIXED[1]


def test_a_closure_has_arrays_of_its_own() -> None:
    def scaled_by(by: Any) -> Any:
        @lw.kernel
        def scaled(x: Any) -> Any:
            return x * by[0]

        return scaled

    two, three = scaled_by(np.array([2.0])), scaled_by(np.array([3.0]))
    assert [two(5.0), three(5.0), two(5.0)] == [10.0, 15.0, 10.0]


def test_an_array_of_a_module() -> None:
    @lw.kernel
    def row(k: Any) -> Any:
        return PLACE.rows[k] + 1

    assert row(2) == 3


def test_the_same_array_as_an_argument() -> None:
    @lw.kernel
    def moved(a: Any) -> None:
        for i in range(1, a.shape[0]):
            a[i] = WEIGHTS[i - 1] + 1.0

    before = WEIGHTS.copy()
    try:
        moved(WEIGHTS)
        assert WEIGHTS.tolist() == [0.25, 1.25, 2.25]
    finally:
        WEIGHTS[:] = before


def test_the_arrays_of_a_function_and_its_helpers_are_asked_for_at_once() -> None:
    kernel = lw.kernel(smoothed)
    kernel(np.arange(6.0))
    assert kernel._wider is not None
    made, more = kernel._wider
    assert {name.split(".")[-1] for name in more.names} == {"WEIGHTS", "TABLE"} and made._wider is None


def test_explain_and_sizes() -> None:
    kernel = lw.kernel(smoothed)
    assert "WEIGHTS" in str(kernel.explain(np.arange(6.0)))


def total_of_fixed(a: Any) -> Any:
    total = 0
    for i in range(len(FIXED)):
        total = total + FIXED[i] * a[i]
    return total


def test_what_is_needed_is_asked_for_in_the_first_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is read again with its arrays before the types of a first reading are settled."""
    rounds: list[int] = []
    real = lowering._round

    def counted(session: Any) -> Any:
        rounds.append(len(session.source.parameters))
        return real(session)

    monkeypatch.setattr(lowering, "_round", counted)
    with lw.options(device="interpreter"):
        assert lw.kernel(total_of_fixed)(np.ones(2)) == 7.0
    assert rounds.count(1) == 1 and rounds.count(2) > 1
