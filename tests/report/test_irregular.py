"""What is told of the data that decides about iterations: numbers against brute force, and the text of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import loopwright as lw
from loopwright.report.irregular import IrregularLoop


@lw.kernel
def work(t, x, index, out):
    for i in range(out.shape[0]):
        s = 0.0
        if x[index[i]] > 0.5:
            for _k in range(t[i]):
                s = s * 0.5 + x[i]
        out[i] = s


@lw.kernel
def prepared(t, n, out):
    for i in range(out.shape[0]):
        t[i] = t[i] * 2
    for i in range(n - 1, -1, -2):
        for _k in range(t[i]):
            out[i] += 1.0


@lw.kernel
def in_time(t, out):
    for _step in range(3):
        for i in range(out.shape[0]):
            for _k in range(t[i]):
                out[i] = 0.5 * out[i] + 1.0


@lw.kernel
def plain(a, b):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


def call(n: int) -> tuple[np.ndarray, ...]:
    """Arguments of `work`."""
    draw = np.random.default_rng(5)
    return draw.integers(0, 90, n), draw.random(n), draw.permutation(n), np.zeros(n)


def only(loops: tuple[IrregularLoop, ...]) -> IrregularLoop:
    """The loop that there is."""
    (loop,) = loops
    return loop


def warps(n: int, order: np.ndarray) -> list[np.ndarray]:
    """The iterations of each warp."""
    return [order[k : k + 32] for k in range(0, n, 32)]


@pytest.mark.parametrize("n", [0, 1, 31, 33, 1000])
def test_the_numbers_are_exact(n: int) -> None:
    t, x, index, out = call(n)
    report = work.irregular(t, x, index, out)
    assert not out.any()
    loop = only(report.loops)
    taken = x[index] > 0.5
    trips = np.where(taken, t, 0)
    keys = np.where(taken, 128, 0) + 127 - np.floor(4 * np.log2(trips + 1)).astype(int)
    order, as_it_stands = np.argsort(keys, kind="stable"), np.arange(n)
    branch, inner = loop.entries
    assert loop.iterations == n
    assert branch.mean == (taken.mean() if n else 0.0)
    assert inner.cost is not None and loop.diverging is not None
    for each, found, diverging in (
        (as_it_stands, inner.cost.found, loop.diverging.found),
        (order, inner.cost.sorted, loop.diverging.sorted),
    ):
        assert found == sum(trips[warp].max() for warp in warps(n, each))
        paths = [len({(taken[i], trips[i]) for i in warp}) > 1 for warp in warps(n, each)]
        assert diverging == (np.mean(paths) if n else 0.0)
    places = {one.text: one.sectors for one in loop.references}
    assert places["out[i]"] is not None and places["x[index[i]]"] is not None
    assert places["out[i]"].sorted == sum(len(set(warp // 4)) for warp in warps(n, order))
    assert places["x[index[i]]"].found == sum(len(set(index[warp] // 4)) for warp in warps(n, as_it_stands))


def test_the_text() -> None:
    _, x, index, out = call(1000)
    text = str(work.irregular(np.full(1000, 3), x, index, out))
    lines = text.split("\n")
    assert lines[0] == "loop i (line 17): 1000 iterations"
    assert lines[1].startswith("  warps that diverge: 100 %; sorted 3 %; at least 3 %")
    assert "  line 19  branch  x[index[i]] > 0.5: taken by " in text
    assert "  line 20  loop  range(t[i]): " in text and " 3 at most; 96 for all warps; sorted " in text
    assert "  line 22  writes  out[i]: 250 sectors; sorted " in text
    assert "sectors, which index decides; sorted " in text
    assert lines[-1] == "  its paths depend on arrays, at version: index unknown, t unknown, x unknown"


def test_what_stands_before_the_loop_is_done_on_copies() -> None:
    t, out = np.arange(1, 8), np.zeros(7)
    first, second = prepared.irregular(t, 7, out).loops
    assert first.reason == "its iterations do not depend on data"
    assert second.iterations == 4 and second.entries[0].most == 14
    assert second.entries[0].mean == 8.0
    assert list(t) == [1, 2, 3, 4, 5, 6, 7] and not out.any()


def test_reasons_for_saying_nothing() -> None:
    inside = only(in_time.irregular(np.arange(4), np.zeros(4)).loops)
    assert inside.reason == "'i' stands inside of others, which decide as well"
    assert str(plain.irregular(np.zeros(4), np.zeros(4))) == ("loop i (line 44): its iterations do not depend on data")
    assert work.irregular(*call(0)).loops[0].iterations == 0


@contextmanager
def emulated() -> Iterator[None]:
    with lw.options(device="emulated"):
        yield


def test_device_arrays_say_whether_paths_may_have_changed() -> None:
    with emulated():
        t, x, index, out = (lw.device_array(one) for one in call(40))
        before = only(work.irregular(t, x, index, out).loops)
        assert dict(before.versions) == {"t": str(t.version), "x": str(x.version), "index": str(index.version)}
        work(t, x, index, out)
        assert only(work.irregular(t, x, index, out).loops) == before  # a call writes only to `out`
        t.copy_from(np.zeros(40, np.int64))
        after = only(work.irregular(t, x, index, out).loops)
    assert after.versions != before.versions
    assert after.entries[1].most == 0


def test_without_a_compiler_the_interpreter_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = work.irregular(*call(50))
    monkeypatch.setattr("loopwright.tuning.path_inspection.find_compiler", lambda tools: None)
    assert work.irregular(*call(50)) == expected


def test_strided_and_reversed_arrays() -> None:
    t, x, index, out = call(64)
    wide = np.repeat(x, 8)[::8]
    loop = only(work.irregular(t[::-1].copy()[::-1], wide, index, out[::-1]).loops)
    places = {one.text: one.sectors for one in loop.references}
    assert places["x[index[i]]"] is not None and places["x[index[i]]"].found == 64
    assert places["out[i]"] is not None and places["out[i]"].found == 16
