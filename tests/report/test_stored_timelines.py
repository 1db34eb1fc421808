"""The last shared call in the store: what comes back is what was kept, it is small, and whatever else stands there is
left out."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.ir.signature import Shape
from loopwright.profile.exchange import exported, imported
from loopwright.profile.journal import Journal, journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.records import MOST_TIMELINES, TIMELINE, FittedTable, MachineName, Record
from loopwright.profile.store import ProfileStore, Unwanted
from loopwright.report.shared_report import SharedCallReport, SpanReport
from loopwright.report.stored_timelines import (
    MOST_KEPT_SPANS,
    StoredCall,
    call_in,
    content_of,
    fewer_spans,
    stored_calls,
)
from report.shared import LAST, MS
from report.stored import CPU, NOW, fill, timeline

TWO = "cpu, emulated"
HERE = MachineName(CPU.fingerprint, CPU)


@lw.kernel
def doubled(a, b, n):
    for i in range(n):
        b[i] = 2.0 * a[i]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "calls.sqlite3"
    doubled._dispatch.learn_anew()
    with lw.options(store=path, devices=TWO):
        yield path


def calls_in(path: Path) -> tuple[StoredCall, ...]:
    assert journal_of(current()).flush()
    with ProfileStore.open(path, readonly=True) as found:
        return stored_calls(found)


def run(size: int, times: int = 1) -> None:
    a, b = np.arange(float(size)), np.zeros(size)
    for _ in range(times):
        doubled(a, b, size)
    assert np.array_equal(b, 2 * a)


def parts_of(size: int) -> str:
    """By a plan, whether that is worth it or not."""
    return f"0:{size // 2} on cpu: recipe\n{size // 2}:{size} on emulated: recipe"


# ---- keeping ----------------------------------------------------------------------------------------------------


def test_the_last_call_of_each_shape_is_kept_and_is_what_explain_says(store: Path) -> None:
    with lw.options(plan=parts_of(90)):
        run(90)
    with lw.options(plan=parts_of(700)):
        run(700, 3)
        explained = doubled.explain(np.zeros(700), np.zeros(700), 700).devices
    found = {one.sizes: one for one in calls_in(store)}
    assert set(found) == {(700, 700, 700), (90, 90, 90)}
    one = found[700, 700, 700]
    assert explained is not None and one.call == explained.last
    assert one.call.calls == 3 and found[90, 90, 90].call.calls == 1
    assert (one.name, one.file, one.axes) == ("doubled", Path(__file__).name, (("a", 1), ("b", 1), ("n", 0)))
    assert one.types == "(float64[:], float64[:], int64)" and one.models == {"emulated": "emulated"}
    here = machine_of("cpu", current())
    assert one.machine.identity == here
    assert one.kernel == doubled.specialisations()[0].fingerprint
    assert {span.device for span in one.call.spans} == {"cpu", "emulated"}
    with lw.options(plan=parts_of(700)):
        run(700)
    assert {one.sizes: one.call.calls for one in calls_in(store)} == {(700, 700, 700): 4, (90, 90, 90): 1}


def test_a_race_and_parts_of_the_user_are_kept_too(store: Path) -> None:
    with lw.options(plan="race"):
        run(300)
    assert [one.call.kind for one in calls_in(store)] == ["race"]
    with lw.options(plan="0:200 on cpu: recipe\n200:300 on emulated: recipe"):
        run(300)
    [one] = calls_in(store)
    assert one.call.kind == "planned" and [member.iterations for member in one.call.members] == [200, 100]


def test_a_call_writes_nothing_itself(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(Journal, "put_last", lambda self, key, make: made.append((key, make)))
    run(500, 2)
    assert not store.exists() and len(made) == 2 and len({key for key, _ in made}) == 1  # type: ignore[misc]


def test_without_a_store_nothing_is_kept() -> None:
    doubled._dispatch.learn_anew()
    with lw.options(store="off", devices=TWO):
        run(400)
        assert journal_of(current())._last == {}


def test_one_device_leaves_nothing(store: Path) -> None:
    with lw.options(plan="single"):
        run(250, 2)
    journal_of(current()).flush()
    assert not store.exists() or not calls_in(store)


def test_a_process_leaves_its_last_call_when_it_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, loopwright as lw\n"
        "@lw.kernel\n"
        "def tripled(a, b):\n"
        "    for i in range(a.shape[0]):\n"
        "        b[i] = 3.0 * a[i]\n"
        "a, b = np.ones(100), np.zeros(100)\n"
        f"with lw.options(devices='cpu, emulated', plan={parts_of(100)!r}):\n"
        "    for _ in range(7):\n"
        "        tripled(a, b)\n"
    )
    path = tmp_path / "left.sqlite3"
    given = os.environ | {"LOOPWRIGHT_STORE": str(path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "error", script], check=True, env=given, timeout=120)
    with ProfileStore.open(path, readonly=True) as store:
        [one] = stored_calls(store)
        assert (one.name, one.call.calls, one.sizes) == ("tripled", 7, (100, 100))
        [kept] = store.tables(TIMELINE, one.machine.fingerprint)
    assert len(json.dumps(kept.content)) < 3000


# ---- content ----------------------------------------------------------------------------------------------------

BUSY = tuple(
    SpanReport("cuda", what, k * MS, k * MS + MS // 2, 0, k, 8, *places)
    for k in range(5000)
    for what, *places in (("computes", "", ""), ("copies", "cpu", "cuda"))
)


@pytest.mark.parametrize(
    "call",
    [
        LAST,
        replace(LAST, predicted_ns=None, kind="race", calls=7, ended_early=True),
        replace(LAST, spans=(), members=(), moved=()),
        replace(LAST, members=(replace(LAST.members[0], given=None, failed=True),)),
    ],
)
def test_what_is_kept_comes_back(call: SharedCallReport) -> None:
    told = timeline(call=json.loads(json.dumps(content_of(call), allow_nan=False)))
    found = call_in(told, HERE)
    assert found is not None and found.call == call
    assert (found.made_at, found.sizes, found.machine) == (NOW - 600, (1000, 1000, 7), HERE)


def test_of_many_spans_neighbours_become_one() -> None:
    few = fewer_spans(BUSY, 100)
    assert 50 < len(few) <= 102
    assert sum(one.times for one in few) == len(BUSY)
    assert sum(one.size_bytes for one in few) == sum(one.size_bytes for one in BUSY)
    assert (few[0].start_ns, max(one.end_ns for one in few)) == (0, BUSY[-1].end_ns)
    computes = [one for one in few if one.what == "computes"]
    assert all(one.end_ns <= other.start_ns for one, other in pairwise(computes))
    assert fewer_spans(LAST.spans, 100) == LAST.spans


def test_a_table_stays_small() -> None:
    text = json.dumps(content_of(replace(LAST, spans=BUSY)))
    assert len(text) < 64_000
    found = call_in(timeline(call=json.loads(text)), HERE)
    assert found is not None and len(found.call.spans) <= MOST_KEPT_SPANS + 2


def changed(**changes: object) -> dict[str, Any]:
    return content_of(LAST) | changes


SPAN = ["cpu", "computes", 0, 5, 0, 1, 0, "", "", 1]


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "timeline",
        {"call": None},
        timeline().content | {"kernel": 7},
        timeline().content | {"axes": [["a"]]},
        timeline().content | {"axes": [["a", -1]]},
        timeline().content | {"sizes": [1.5]},
        timeline().content | {"sizes": 3},
        timeline().content | {"models": []},
        timeline().content | {"models": {"cuda": None}},
        timeline().content | {"call": {}},
        timeline().content | {"call": changed(more=1)},
        timeline().content | {"call": changed(total_ns=-1)},
        timeline().content | {"call": changed(total_ns=True)},
        timeline().content | {"call": changed(kind=None)},
        timeline().content | {"call": changed(predicted_ns="soon")},
        timeline().content | {"call": changed(predicted_ns=math.nan)},
        timeline().content | {"call": changed(ended_early=1)},
        timeline().content | {"call": changed(spans=[SPAN[:-1]])},
        timeline().content | {"call": changed(spans=[["cpu", "computes", 9, 5, *SPAN[4:]]])},
        timeline().content | {"call": changed(spans=[["cpu", "computes", -9, 5, *SPAN[4:]]])},
        timeline().content | {"call": changed(spans=7)},
        timeline().content | {"call": changed(members=[{}])},
        timeline().content | {"call": changed(members=[None])},
        timeline().content | {"call": changed(moved=[{"source": "cpu"}])},
    ],
)
def test_what_is_no_call_is_left_out(content: object) -> None:
    assert call_in(timeline(), HERE) is not None
    assert call_in(replace(timeline(), content=content), HERE) is None


# ---- stores -----------------------------------------------------------------------------------------------------


def records(path: Path) -> list[Record]:
    with ProfileStore.open(path, readonly=True) as store, store.snapshot() as found:
        return list(found)


def test_it_is_exported_imported_merged_and_pruned(tmp_path: Path) -> None:
    path, other = fill(tmp_path / "one.sqlite3"), tmp_path / "other.sqlite3"
    lines = [line.encode() for line in exported(records(path))]
    with ProfileStore.open(other) as store:
        store.absorb(imported(lines, "one.jsonl"))
        [one] = stored_calls(store)
        assert one.call == LAST and one.machine == HERE
        store.absorb(imported(lines, "one.jsonl"))
        store.absorb([timeline(made_at=NOW - 900, call=changed(calls=1))])  # an older one of the same shape
        assert stored_calls(store) == (one,)
        assert store.prune(Unwanted(before=NOW - 700)).tables == 1  # what was judged without running
        assert stored_calls(store) == (one,)
        assert store.prune(Unwanted(before=NOW)).tables == 1
        assert stored_calls(store) == ()


def test_of_a_kernel_only_the_newest_are_kept(tmp_path: Path) -> None:
    many = [timeline(shape=Shape((k,)), made_at=NOW + k % 7 * 100 + k) for k in range(3 * MOST_TIMELINES)]
    strict = timeline("k strict", Shape((1,)), made_at=NOW - 5000)
    with ProfileStore.open(tmp_path / "one.sqlite3") as store, ProfileStore.open(tmp_path / "two.sqlite3") as other:
        store.absorb([strict, *many])
        other.absorb([*reversed(many), strict])
        newest = sorted(many, key=lambda one: -one.made_at)[:MOST_TIMELINES]
        kept = store.tables(TIMELINE, CPU.fingerprint)
        assert {one.name for one in kept} == {one.name for one in (*newest, strict)}
        assert kept == other.tables(TIMELINE, CPU.fingerprint)
        assert [one.made_at for one in stored_calls(store)] == sorted((one.made_at for one in kept), reverse=True)


def test_a_store_of_before_has_none(tmp_path: Path) -> None:
    with ProfileStore.open(tmp_path / "old.sqlite3") as store:
        store.put_table(FittedTable("tree", CPU.fingerprint, "x", {}, NOW))
        assert stored_calls(store) == ()
