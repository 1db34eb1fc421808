"""Calls whose arrays may be in planes, once more with the same arrays."""

from __future__ import annotations

import gc
import weakref

import pytest

import loopwright as lw
from runtime.test_plane_calls import beside, drift, records, times  # noqa: F401


def test_what_a_call_means_for_the_next_is_thought_about_once_the_gpu_is_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, there = lw.kernel(drift), lw.device_array(records())
    for turn in range(30):
        kernel(there, turn * 0.5)
    calls, events = kernel._dispatch.planes, []
    assert calls is not None and there.account.in_planes
    for name in ("_wants", "_on"):
        plain = getattr(calls, name)
        noted = lambda *args, name=name, plain=plain: (events.append(name), plain(*args))[1]  # noqa: E731
        monkeypatch.setattr(calls, name, noted)
    assert calls._last is not None and calls._last.in_planes
    kernel(there, 1.0)
    assert events == ["_wants"]  # after what started the kernel, which asks nothing
    there.numpy()  # somebody looks: the next call thinks first
    kernel(there, 1.0)
    assert events == ["_wants", "_wants", "_on"]


def test_a_call_that_may_come_again_keeps_no_array_and_no_planes_alive() -> None:
    kernel, there = lw.kernel(drift), lw.device_array(records())
    for turn in range(30):
        kernel(there, turn * 0.5)
    array, planes = weakref.ref(there), weakref.ref(beside(there))
    assert kernel._dispatch.planes is not None and kernel._dispatch.planes._last is not None
    del there
    gc.collect()
    assert array() is None and planes() is None
