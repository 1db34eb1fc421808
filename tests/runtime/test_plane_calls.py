"""Calls whose arrays stay on a GPU and are in planes there between calls, from end to end on the emulated device, with
times that the tests say. What they do is judged by CPython's own run of the same function."""

from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice import array_layouts
from loopwright.choice.array_layouts import ArrayUses, CallKind
from loopwright.memory.planes import Planes
from loopwright.runtime import plane_calls
from loopwright.runtime.plane_calls import PlaneCalls

MS = 1_000_000.0
RECORD = np.dtype([("x", "f8"), ("v", "f8", 2), ("k", "i4"), ("rest", "f8", 9)], align=True)
N = 70


class Times:
    """What calls take, by kernel: as records, and in planes; and a conversion."""

    def __init__(self) -> None:
        self.by_name: dict[str, tuple[float, float]] = {}
        self.usual = (4 * MS, MS)
        self.conversion = 5 * MS


@pytest.fixture(autouse=True)
def times(monkeypatch: pytest.MonkeyPatch) -> Iterator[Times]:
    found, note = Times(), PlaneCalls._note

    def noted(self: PlaneCalls, kind: CallKind, args: Any, in_planes: bool, time_ns: float | None) -> None:
        name = self._as_it_is.__self__.name  # type: ignore[attr-defined]
        told = found.by_name.get(name, found.usual)[in_planes]
        note(self, kind, args, in_planes, None if time_ns is None else told)

    monkeypatch.setattr(PlaneCalls, "_note", noted)
    monkeypatch.setattr(plane_calls, "_timed", lambda gpu, make: (make(), 0.0))
    monkeypatch.setattr(plane_calls, "_spent_ns", lambda gpu, make: (make(), found.conversion)[1])
    monkeypatch.setattr(array_layouts, "FRESH_NS", 0.0)
    monkeypatch.setattr(array_layouts, "BET_SHARE", 1e9)
    monkeypatch.setattr(array_layouts, "LOOK_NS", 1.0)
    monkeypatch.setattr(array_layouts, "MAKING_NS", 1.0)
    with lw.options(device="emulated", store="off"):
        yield found


def records(n: int = N, seed: int = 1) -> np.ndarray:
    draw, made = np.random.default_rng(seed), np.zeros(n, RECORD)
    for name in ("x", "v"):
        made[name] = draw.integers(-9, 9, made[name].shape)
    made["k"] = draw.integers(0, n, n)
    return made


def drift(p, by):
    for i in range(len(p)):
        p[i]["x"] += by * p[i]["v"][0]


def count(p, by):
    for i in range(len(p)):
        p[i]["k"] += by


def gather(p, out):
    for i in range(len(out)):
        out[i] = p[p[i]["k"] % len(p)]["x"] + p[p[i]["k"] % len(p)]["v"][1]


def scale(p, by):
    for i in range(len(p)):
        for j in range(2):
            p[i]["v"][j] *= by


def checked(p, places):
    for i in range(len(places)):
        p[i]["x"] += places[i]
        p[i]["v"][places[i]] = 1.0


def same(first: np.ndarray, second: np.ndarray) -> bool:
    return all(first[name].tobytes() == second[name].tobytes() for name in RECORD.names or ())


def beside(array: Any) -> Planes:
    assert isinstance(array.beside, Planes)
    return array.beside


def kind_of(kernel: Any) -> CallKind:
    (kind,) = kernel._dispatch._known_planes._kinds.values()
    return kind


def learned(function: Any = drift) -> Any:
    """A kernel whose calls are known to gain from planes."""
    kernel, there = lw.kernel(function), lw.device_array(records())
    for _ in range(20):
        kernel(there, 1.0 if function is not count else 1)
    assert kind_of(kernel).phase == "known", kind_of(kernel)
    return kernel


def test_calls_go_over_to_planes_and_give_what_python_gives() -> None:
    kernel, host = lw.kernel(drift), records()
    there = lw.device_array(host)
    for turn in range(30):
        kernel(there, turn * 0.5)
        drift(host, turn * 0.5)
    planes = beside(there)
    assert planes.ahead == {"x"} and there.account.in_planes
    assert planes.filled == 2 and planes.written_back == 2  # the first time to make the code, the second one timed
    assert same(there.numpy(), host)
    assert planes.written_back == 3


def test_a_trial_without_gain_leaves_records(times: Times) -> None:
    times.usual = (4 * MS, 4 * MS)
    kernel, host = lw.kernel(drift), records()
    there = lw.device_array(host)
    for _ in range(30):
        kernel(there, 1.0)
        drift(host, 1.0)
    assert not beside(there).ahead and "no gain" in kind_of(kernel).why
    assert same(there.numpy(), host)


def test_a_new_array_is_converted_when_records_have_cost_as_much_as_that() -> None:
    kernel = learned()
    kind_of(kernel).won_ns = 0.0
    there = lw.device_array(records())
    for _ in range(3):
        kernel(there, 1.0)
    assert not there.account.in_planes  # 9 ms lost, and 10 ms would be the price, there and back
    kernel(there, 1.0)
    assert there.account.in_planes


def confident(kernel: Any) -> Any:
    """The same kernel after some arrays that were used often."""
    kind = kind_of(kernel)
    kind.won_ns, kind._accounts = 100 * MS, [ArrayUses(uses=50) for _ in range(5)]
    return kernel


def test_a_new_array_is_converted_at_once_where_others_were_used_often() -> None:
    kernel = confident(learned())
    there, host = lw.device_array(records()), records()
    kernel(there, 1.0)
    drift(host, 1.0)
    assert beside(there).ahead == {"x"} and same(there.numpy(), host)


def test_a_new_array_stays_as_it_is_where_others_were_used_once() -> None:
    kernel = learned()
    kind_of(kernel).won_ns, kind_of(kernel)._accounts = 100 * MS, [ArrayUses(uses=1) for _ in range(5)]
    for _ in range(5):
        kernel(there := lw.device_array(records()), 1.0)
        assert there.beside is None


def test_kernels_share_planes_of_an_array() -> None:
    first, second, there, host = learned(), learned(scale), lw.device_array(records()), records()
    for turn in range(9):
        first(there, 1.0)
        second(there, -1.0 if turn % 2 else 2.0)
        drift(host, 1.0)
        scale(host, -1.0 if turn % 2 else 2.0)
    planes = beside(there)
    assert planes.ahead == {"x", "v"} and planes.written_back == 0
    assert same(there.numpy(), host)


def test_a_kernel_that_data_leads_through_records_finds_them_up_to_date() -> None:
    kernel, other, there, host = learned(), lw.kernel(gather), lw.device_array(records()), records()
    out, told = lw.device_array(np.zeros(N)), np.zeros(N)
    confident(kernel)
    for _ in range(5):
        kernel(there, 1.0)
        drift(host, 1.0)
    other(there, out)
    gather(host, told)
    assert (out.numpy() == told).all() and not beside(there).ahead


def test_kernels_that_gain_together_are_no_looks_for_one_another(times: Times) -> None:
    times.conversion = 8 * MS  # no kernel would pay that alone, if the other one wrote to records
    first, second, there, host = learned(), learned(scale), lw.device_array(records()), records()
    for _ in range(9):
        first(there, 1.0)
        second(there, -1.0)
        drift(host, 1.0)
        scale(host, -1.0)
    assert beside(there).ahead == {"x", "v"} and same(there.numpy(), host)


def all_of_it(p):
    for i in range(len(p)):
        p[i]["x"] += p[i]["v"][0] + p[i]["v"][1]
        p[i]["k"] += 1


def test_a_kernel_that_gains_nothing_follows_those_that_do(times: Times) -> None:
    times.by_name["all_of_it"] = (MS, MS)
    kernel, follower, there, host = confident(learned()), lw.kernel(all_of_it), lw.device_array(records()), records()
    for _ in range(80):
        kernel(there, 1.0)
        follower(there)
        drift(host, 1.0)
        all_of_it(host)
    planes = beside(there)
    assert "k" in planes.ahead and there.account.in_planes
    before = planes.written_back
    kernel(there, 0.0)
    follower(there)
    all_of_it(host)
    assert planes.written_back == before and same(there.numpy(), host)
    assert "are kept on the GPU between calls; measured to give no gain" in str(follower.explain(there))


def test_what_others_look_at_after_each_call_goes_back_to_records(times: Times) -> None:
    kernel, there = learned(), lw.device_array(records())
    confident(kernel)
    for _ in range(12):
        kernel(there, 1.0)
        there.numpy()
    assert not there.account.in_planes  # a gain of 3 ms is lost by writing back, for 3.75 ms


def test_new_elements_for_each_call_are_worth_no_conversion() -> None:
    kernel, there, host = learned(), lw.device_array(records()), records()
    for _ in range(12):
        kernel(there, 1.0)
        there.copy_from(host)
    assert not there.account.in_planes
    drift(host, 1.0)
    kernel(there, 1.0)
    assert same(there.numpy(), host)


def test_the_option_off_and_named_steps_leave_arrays_alone() -> None:
    for change in ({"layout": "off"}, {"recipe": "plain"}, {"deterministic": True}, {"schedule": "split i 7"}):
        kernel, there = lw.kernel(drift), lw.device_array(records())
        with lw.options(**change):
            for _ in range(20):
                kernel(there, 1.0)
        assert there.beside is None


def test_an_array_in_planes_serves_calls_under_other_options() -> None:
    kernel, there, host = learned(), lw.device_array(records()), records()
    confident(kernel)
    for layout in ("auto", "off", "auto"):
        with lw.options(layout=layout):
            kernel(there, 1.0)
            drift(host, 1.0)
    assert same(there.numpy(), host)


def pair(p, q):
    for i in range(len(p)):
        p[i]["x"] += q[i]["x"]


def test_one_array_twice_is_left_alone() -> None:
    kernel, there, host = lw.kernel(pair), lw.device_array(records()), records()
    for _ in range(20):
        kernel(there, there)
        pair(host, host)
        if host["x"].max() > 1e200:
            break
    assert there.beside is None and same(there.numpy(), host)


def test_two_arrays_are_tried_together() -> None:
    kernel, first, second, host, other = (
        lw.kernel(pair), lw.device_array(records()), lw.device_array(records(seed=2)), records(), records(seed=2),
    )  # fmt: skip
    for _ in range(20):
        kernel(first, second)
        pair(host, other)
    assert beside(first).ahead == {"x"} and not beside(second).ahead and second.account.in_planes
    assert same(first.numpy(), host) and same(second.numpy(), other)


def test_arguments_by_name_find_the_array_up_to_date() -> None:
    kernel, there, host = learned(), lw.device_array(records()), records()
    confident(kernel)
    for _ in range(3):
        kernel(there, 1.0)
        kernel(p=there, by=2.0)
        drift(host, 1.0)
        drift(host, 2.0)
    assert same(there.numpy(), host)


def test_another_thread_finds_the_array_up_to_date() -> None:
    kernel, there, host = learned(), lw.device_array(records()), records()
    confident(kernel)
    for _ in range(3):
        kernel(there, 1.0)
        drift(host, 1.0)
    options = {"device": "emulated", "store": "off"}

    def other() -> None:
        with lw.options(**options):
            for _ in range(3):
                kernel(there, 1.0)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    kernel(there, 1.0)
    for _ in range(4):
        drift(host, 1.0)
    assert not beside(there).ahead and same(there.numpy(), host)


def test_an_index_outside_ends_a_call_in_planes_as_it_does_elsewhere() -> None:
    kernel, there, host = lw.kernel(checked), lw.device_array(records()), records()
    good, bad = np.zeros(N, np.int64), np.arange(N)
    places = lw.device_array(good)
    for _ in range(20):
        kernel(there, places)
        checked(host, good)
    assert same(there.numpy(), host)
    places.copy_from(bad)
    with pytest.raises(lw.BoundsError):
        kernel(there, places)
        there.numpy()
    there.copy_from(host)
    places.copy_from(good)
    kernel(there, places)
    checked(host, good)
    assert same(there.numpy(), host)


def test_a_later_process_starts_from_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lw.options(store=tmp_path / "store.sqlite3"):
        first, there, host = lw.kernel(drift), lw.device_array(records()), records()
        for _ in range(20):
            first(there, 1.0)
        monkeypatch.setattr(array_layouts, "LOADING_NS", 12 * MS)
        later, again = lw.kernel(drift), lw.device_array(records())
        for turn in range(14):
            later(again, 1.0)
            drift(host, 1.0)
            assert turn == 0 or kind_of(later).phase == ("recalled" if turn < 4 else "known")
        assert beside(again).filled == 1 and beside(again).ahead == {"x"}  # no trial
        assert "by an earlier process" in str(later.explain(again, 1.0))
        assert same(again.numpy(), host)
        monkeypatch.setattr("loopwright.memory.planes.ROOM", 1 << 60)
        last, full = lw.kernel(drift), lw.device_array(records())
        for _ in range(14):
            last(full, 1.0)
        assert full.beside is None and "little room" in kind_of(last).why


@pytest.mark.parametrize(
    "content",
    [None, 7, {}, {"uses": [[0, ["nothing"], [], 0.5]], "prices": [[1.0, 1.0]], "records_ns": 9.0, "planes_ns": 1.0},
     {"uses": [[5, ["x"], [], 0.5]], "prices": [[1.0, 1.0]], "records_ns": 9.0, "planes_ns": 1.0},
     {"uses": [[0, ["x"], ["v"], 0.5]], "prices": [[1.0, 1.0]], "records_ns": 9.0, "planes_ns": 1.0},
     {"uses": [], "prices": [], "records_ns": float("nan"), "planes_ns": 1.0}],
)  # fmt: skip
def test_whatever_a_store_may_hold_does_no_harm(content: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, there, host = lw.kernel(drift), lw.device_array(records()), records()
    kernel(there, 1.0)
    compiler = kernel._dispatch.planes._compiler
    monkeypatch.setattr(
        kernel._dispatch.planes, "_compiler", dataclasses.replace(compiler, recall=lambda args, name: content)
    )
    for _ in range(8):
        kernel(there, 1.0)
        assert kind_of(kernel).phase not in ("recalled", "known")
    for _ in range(9):
        drift(host, 1.0)
    assert same(there.numpy(), host)


def rows(a, out):
    for i in range(a.shape[0]):
        last = 0.0
        for j in range(a.shape[1]):
            last = a[i, j] / (1.0 + last)  # no linear recurrence, which would run in chunks
        out[i] = last


def test_a_plain_array_whose_rows_threads_go_along_has_its_axes_turned() -> None:
    kernel, host = lw.kernel(rows), np.random.default_rng(1).random((90, 33))
    there, out, told = lw.device_array(host), lw.device_array(np.zeros(90)), np.zeros(90)
    for _ in range(20):
        kernel(there, out)
    rows(host, told)
    assert there.account.in_planes and beside(there).ahead == set()
    assert (out.numpy() == told).all() and (there.numpy() == host).all()


def totals(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


def test_sums_are_added_up_as_before() -> None:
    kernel, host = lw.kernel(totals), np.random.default_rng(1).random((90, 33))
    there, out = lw.device_array(host), lw.device_array(np.zeros(90))
    seen = set()
    for _ in range(20):
        kernel(there, out)
        seen.add(out.numpy().tobytes())
    assert len(seen) == 1


def given_back(a, by):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += by * a[i, j - 1]
    return a


def test_an_array_that_is_returned_is_the_callers() -> None:
    kernel, there = lw.kernel(given_back), lw.device_array(np.ones((50, 40)))
    assert all(kernel(there, 0.5) is there for _ in range(20))
    assert there.beside is None


@pytest.mark.parametrize("n", [1, 2, 257])
def test_sizes(n: int) -> None:
    kernel, there, host = lw.kernel(drift), lw.device_array(records(n)), records(n)
    for _ in range(20):
        kernel(there, 1.0)
        drift(host, 1.0)
    assert same(there.numpy(), host)


def named(p):
    for i in range(len(p)):
        p[i]["parts"] += p[i]["dtype"]


def test_fields_may_have_any_name() -> None:
    host = np.zeros(N, [("dtype", "f8"), ("parts", "f8"), ("shape", "f8", 9)])
    host["dtype"] = np.arange(N)
    kernel, there = lw.kernel(named), lw.device_array(host)
    for _ in range(20):
        kernel(there)
        named(host)
    assert beside(there).ahead == {"parts"} and there.numpy().tobytes() == host.tobytes()


def by_complex(p, by):
    for i in range(len(p)):
        p[i]["x"] += by.real


def test_complex_numbers_beside_it() -> None:
    kernel, there, host = lw.kernel(by_complex), lw.device_array(records()), records()
    for by in (1.0 + 2.0j, np.complex128(2.0 + 1.0j)) * 10:
        kernel(there, by)
        by_complex(host, by)
    assert same(there.numpy(), host)


def test_an_empty_array_is_none() -> None:
    kernel, there = lw.kernel(drift), lw.device_array(records(0))
    for _ in range(9):
        kernel(there, 1.0)
    assert there.beside is None and len(there.numpy()) == 0


def test_nothing_keeps_an_array_that_nobody_has() -> None:
    kernel, there = learned(), lw.device_array(records())
    for _ in range(5):
        kernel(there, 1.0)
    gone = weakref.ref(there)
    gc.collect()
    gc.disable()
    try:
        del there
        assert gone() is None
    finally:
        gc.enable()


def test_explain_tells_what_is_kept_and_why() -> None:
    kernel, there = lw.kernel(drift), lw.device_array(records())
    for _ in range(30):
        kernel(there, 1.0)
    told = str(kernel.explain(there, 1.0))
    assert "note: planes of v, x of 'p' are kept on the GPU between calls; measured 1 ms in planes, 4 ms" in told
    assert "filled 2 times" in told and "coalesced" in told
    assert beside(there).ahead == {"x"}  # nothing was converted for it


def test_without_room_for_planes_records_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, there, host = lw.kernel(drift), lw.device_array(records()), records()
    monkeypatch.setattr("loopwright.memory.planes.ROOM", 1 << 60)
    for _ in range(20):
        kernel(there, 1.0)
        drift(host, 1.0)
    assert there.beside is None and "little room" in kind_of(kernel).why
    assert same(there.numpy(), host)


def test_a_kind_that_gains_nothing_does_not_keep_others_from_it(times: Times) -> None:
    times.usual = (1_000.0, 1_000.0)
    kernel, small = lw.kernel(drift), lw.device_array(records(3))
    for _ in range(20):
        kernel(small, 1.0)
    assert not isinstance(small.beside, Planes)
    times.usual = (4 * MS, MS)
    large = lw.device_array(records())
    for _ in range(20):
        kernel(large, 1.0)
    assert beside(large).ahead == {"x"}


def swap(p, q):
    for i in range(len(p)):
        last = p[i]["x"]
        p[i]["x"] = q[i]["v"][1]
        q[i]["v"][1] = last


def _one_of(draw: np.random.Generator, kernels: Any, there: list[Any], host: list[Any]) -> None:
    """Something that a user may do with two arrays, on the GPU and with NumPy."""
    k = int(draw.integers(2))
    match int(draw.integers(12)):
        case 0:
            assert same(there[k].numpy(), host[k])
        case 1:
            host[k][...] = records(seed=int(draw.integers(99)))
            there[k].copy_from(host[k])
        case 2:
            there[k] = lw.device_array(host[k])
        case 3:
            with lw.options(layout="off"):
                kernels[drift](there[k], 2.0)
            drift(host[k], 2.0)
        case 4 | 5:
            kernels[swap](there[k], there[1 - k])
            swap(host[k], host[1 - k])
        case 6:
            kernels[gather](there[k], out := lw.device_array(np.zeros(N)))
            gather(host[k], told := np.zeros(N))
            assert (out.numpy() == told).all()
        case 7 if draw.random() < 0.5:
            kernels[all_of_it](there[k])
            all_of_it(host[k])
        case 7:
            kernels[count](there[k], 3)
            count(host[k], 3)
        case 8 | 9:
            kernels[scale](there[k], -1.0)
            scale(host[k], -1.0)
        case _:
            for _ in range(int(draw.integers(1, 5))):
                kernels[drift](there[k], 1.0)
                drift(host[k], 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_users_do_in_whatever_order(seed: int, times: Times) -> None:
    draw = np.random.default_rng(seed)
    times.conversion = float(draw.choice([0.1, 1.0, 4.0])) * MS
    kernels = {function: lw.kernel(function) for function in (drift, count, gather, scale, swap, all_of_it)}
    host = [records(), records(seed=2)]
    there = [lw.device_array(one) for one in host]
    for _ in range(150):
        times.usual = (4 * MS, float(draw.choice([1.0, 1.0, 3.0, 6.0])) * MS)
        _one_of(draw, kernels, there, host)
    assert all(same(one.numpy(), other) for one, other in zip(there, host, strict=True))
