"""Arrays of which each device keeps its part between calls."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import loopwright as lw

TWO, THREE = "emulated, emulated:1", "cpu, emulated, emulated:1"


@lw.kernel
def smoothed(u, v):
    for i in range(1, u.shape[0] - 1):
        v[i] = 0.25 * (u[i - 1] + 2.0 * u[i] + u[i + 1])


@lw.kernel
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def copied_bytes() -> int:
    (kind,) = smoothed._dispatch.sharing._kinds.values()
    (timeline,) = kind.timelines.values()
    return sum(event.size_bytes for event in timeline.events if event.what == "copies")


@pytest.fixture(autouse=True)
def _anew() -> None:
    smoothed._dispatch.learn_anew()


def test_only_halos_move_between_calls() -> None:
    start = np.random.default_rng(1).random(400)
    u, v = lw.distributed_array(start), lw.distributed_array(start)
    a, b = start.copy(), start.copy()
    with lw.options(devices=TWO, plan="1:200 on emulated: recipe\n200:399 on emulated1: recipe", strict=True):
        smoothed(u, v)
        first = copied_bytes()
        for _ in range(6):
            u, v = v, u
            smoothed(u, v)
            assert copied_bytes() <= 2 * 2 * 8  # an element from each neighbour, or the border
    assert first >= 2 * 200 * 8
    for _ in range(7):
        smoothed(a, b)
        a, b = b, a
    assert (v.numpy() == a).all()
    assert (u.numpy() == b).all()


def test_parts_say_who_has_what() -> None:
    a, b = lw.distributed_array(np.arange(10.0)), lw.distributed_array(np.zeros(10))
    assert a.parts() == {"cpu": ((range(10),),)}
    with lw.options(devices=TWO, plan="1:4 on emulated: recipe\n4:9 on emulated1: recipe"):
        smoothed(a, b)
    assert b.parts()["emulated"] == ((range(1, 4),),)
    assert b.parts()["emulated1"] == ((range(4, 9),),)
    assert a.parts()["emulated"] == ((range(5),),)
    assert repr(b) == "<lw.distributed_array (10,) of float64 on cpu, emulated, emulated1>"
    assert b.numpy().tolist() == [0, *range(1, 9), 0]
    assert len(b) == 10


@pytest.mark.parametrize("devices", ["", TWO, THREE, "cpu, emulated"])
def test_every_way_of_calling_sees_the_newest(devices: str) -> None:
    """One device, several, other ones in the next call, and loops that cannot be shared."""
    start = np.random.default_rng(2).random(90)
    u, v = lw.distributed_array(start), lw.distributed_array(np.zeros(90))
    expected = np.zeros(90)
    with lw.options(strict=True):
        smoothed(start, expected)
        for other in (devices, TWO, "", "emulated:1, cpu", devices):
            with lw.options(devices=other):
                for _ in range(3):
                    smoothed(u, v)
                assert total(v) == total(expected)
    assert (v.numpy() == expected).all()


def test_what_is_copied_from_the_host_is_the_newest() -> None:
    a, b = lw.distributed_array(np.ones(30)), lw.distributed_array(np.zeros(30))
    with lw.options(devices=TWO, plan="split"):
        smoothed(a, b)
        a.copy_from(np.full(30, 3.0))
        smoothed(a, b)
    assert b.numpy()[1:-1].tolist() == [3.0] * 28
    assert np.asarray(b, np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="does not fit"):
        a.copy_from(np.ones(29))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(a, copy=False)


def test_what_cannot_be_one() -> None:
    with pytest.raises(lw.ArgumentTypeError, match="dtype float16 is not supported"):
        lw.distributed_array(np.zeros(3, np.float16))


def test_memory_is_given_back() -> None:
    from loopwright.devices import gpus

    memory = gpus.gpu_of("emulated").memory  # type: ignore[union-attr]
    before = memory.used_bytes
    a, b = lw.distributed_array(np.ones(5000)), lw.distributed_array(np.zeros(5000))
    with lw.options(devices=TWO, plan="split"):
        smoothed(a, b)
    assert memory.used_bytes >= before + 2 * 5000 * 8
    del a, b
    assert memory.used_bytes < before + 5000 * 8


def test_threads_take_turns() -> None:
    start = np.random.default_rng(3).random(64)
    u, v = lw.distributed_array(start), lw.distributed_array(np.zeros(64))
    expected = np.zeros(64)
    smoothed(start, expected)
    wrong: list[object] = []

    def run() -> None:
        for _ in range(5):
            with lw.options(devices=TWO, plan="split"):
                smoothed(u, v)
            if not np.allclose(v.numpy(), expected):
                wrong.append(v.numpy())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@lw.kernel
def sweeps(steps, u, v):
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = 0.25 * (u[i - 1] + 2.0 * u[i] + u[i + 1])
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * (v[i - 1] + v[i + 1])


def test_gpus_go_from_region_to_region_without_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one needs of the other is copied between them, and nobody waits before the end of the call."""
    from loopwright.runtime.gpu_region import GpuRegion

    start = np.random.default_rng(5).random(300)
    u, v = lw.distributed_array(start), lw.distributed_array(np.zeros(300))
    a, b = start.copy(), np.zeros(300)
    waited = 0
    real = GpuRegion.check

    def check(region: GpuRegion) -> Exception | None:
        nonlocal waited
        waited += 1
        return real(region)

    monkeypatch.setattr(GpuRegion, "check", check)
    with lw.options(devices=TWO, plan="1:150 on emulated: recipe\n150:299 on emulated1: recipe", strict=True):
        for _ in range(3):
            waited = 0
            sweeps(20, u, v)
            with lw.options(devices=""):
                sweeps(20, a, b)
    assert waited <= 4  # two regions on two GPUs
    assert (u.numpy() == a).all()
    assert (v.numpy() == b).all()
