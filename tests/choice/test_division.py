"""The division of a loop learned from calls, on devices in virtual time: balanced soon, never worse than one device,
and every iteration exactly once whatever happens."""

from __future__ import annotations

import math
import random
import sys
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from dividing import Devices, Served

from loopwright.choice.division import AGAIN, Assignment, Division
from loopwright.devices.simulated import Curve, Noise, drifting, linear, sawtooth, slowed
from loopwright.errors import DeviceError

SIZE = 10_000
CALLS = 50
LEARNED = 5
MS = 10**6
CPU, GPU = linear(1000), linear(300, 500_000)

AFFINE: dict[str, Sequence[Curve]] = {
    "two": (CPU, GPU),
    "equals": (CPU, CPU),
    "three": (CPU, GPU, linear(350, 200_000)),
    "four": (CPU, GPU, GPU, linear(600)),
    "slower GPU": (CPU, linear(2500, 100_000)),
    "a large fixed time": (CPU, linear(200, 4 * MS)),
}


def triangle(part: range) -> float:
    return float(sum(part))


def served(devices: Devices, size: int = SIZE, calls: int = CALLS, plan: str = "auto") -> list[Served]:
    names = [f"device {k}" for k in range(len(devices.curves))]
    division = Division(names, range(size), count=devices.count, plan=plan)  # type: ignore[arg-type]
    for _ in range(calls):
        devices.serve(division)
    return devices.calls


def over_the_best(devices: Devices, size: int = SIZE) -> float:
    """What the decisions of all calls after the first few cost, without the noise, over the best device alone."""
    names = [f"device {k}" for k in range(len(devices.curves))]
    division, alone = Division(names, range(size), count=devices.count), []
    for _ in range(CALLS):
        alone.append(devices.best_alone(range(size)))
        devices.serve(division)
    return sum(one.exact_ns for one in devices.calls[LEARNED:]) / sum(alone[LEARNED:])


# ---- balance ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("tell_chunks", [True, False])
def test_affine_devices_are_balanced_after_five_calls(name: str, tell_chunks: bool) -> None:
    if name == "a large fixed time" and not tell_chunks:
        pytest.skip("that the time is a fixed one shows in the chunks only")
    calls = served(Devices(AFFINE[name], tell_chunks=tell_chunks))
    assert calls[0].assignment.kind == "guided"
    for one in calls[LEARNED:]:
        assert one.assignment.kind == "split" and one.imbalance <= 0.05
        assert one.assignment.predicted_ns == pytest.approx(one.total_ns, rel=0.05)


def test_a_triangle_is_balanced_by_its_work() -> None:
    calls = served(Devices((linear(10), linear(4, 2 * MS)), count=triangle), size=3000)
    assert all(one.assignment.kind == "split" and one.imbalance <= 0.05 for one in calls[LEARNED:])
    first, _ = calls[-1].assignment.parts
    assert triangle(first) / triangle(range(3000)) < 0.5 < len(first) / 3000


def test_parts_begin_at_multiples() -> None:
    devices = Devices((CPU, GPU))
    division = Division(["cpu", "cuda"], range(5, 5 + SIZE), multiple=64)
    for _ in range(10):
        parts = devices.serve(division).assignment.parts
    assert (parts[1].start - 5) % 64 == 0 and parts[1]


def test_what_a_chunk_costs_is_told_apart() -> None:
    """The first division is good already where chunks are told, because fixed times are then known."""
    calls = served(Devices((linear(1000), linear(300, 100_000))), calls=3)
    assert calls[1].imbalance < 0.5 and calls[2].imbalance < 0.05


# ---- never worse than one device ----------------------------------------------------------------------------------

CASES: dict[str, tuple[Sequence[Curve], Noise, float]] = {
    "GPU only": ((CPU, linear(20, 50_000)), Noise(), 1.0),
    "CPU only": ((CPU, linear(20_000, 50_000)), Noise(), 1.0),
    "a fixed time too large": ((CPU, linear(20, 20 * MS)), Noise(), 1.0),
    "saw": ((CPU, sawtooth(250_000, 1000, 20_000)), Noise(), 0.82),
    "coarse saw": ((CPU, sawtooth(900_000, 3000, 20_000)), Noise(), 0.77),
    "saw with a slow CPU": ((linear(6000), sawtooth(500_000, 1000, 20_000)), Noise(), 1.0),
    "two saws": ((sawtooth(800_000, 700), sawtooth(300_000, 1024, 20_000)), Noise(), 0.87),
    "noisy": ((CPU, GPU), Noise(0.05), 0.85),
    "loud": ((CPU, GPU), Noise(0.1), 0.88),
    "outliers": ((CPU, GPU), Noise(0.02, outliers=0.02), 1.0),
    "bimodal": ((CPU, GPU), Noise(0.02, slow_mode=0.1), 0.9),
    "noisy saw": ((CPU, sawtooth(250_000, 1000, 20_000)), Noise(0.05), 0.92),
    "noisy, GPU only": ((CPU, linear(30, 50_000)), Noise(0.05), 1.0),
    "noisy, hardly worth it": ((CPU, linear(110, 50_000)), Noise(0.05), 1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_never_worse_than_the_best_device(name: str) -> None:
    curves, noise, at_most = CASES[name]
    for seed in range(4 if noise != Noise() else 1):
        found = over_the_best(Devices(curves, noise, seed, cold=3.0 if noise != Noise() else 1.0))
        assert found <= at_most + 0.02, seed


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("factor", [2.0, 0.5])
@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_drift_is_followed(device: int, factor: float, spread: float) -> None:
    curves = [CPU, GPU]
    curves[device] = drifting(curves[device], factor, 30 * MS, 120 * MS)
    assert over_the_best(Devices(curves, Noise(spread), 1)) <= 0.92


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_a_leap_is_learned_within_a_few_calls(device: int, factor: float) -> None:
    curves = [CPU, GPU]
    curves[device] = slowed(curves[device], factor, 30 * MS)
    devices = Devices(curves)
    assert over_the_best(devices) <= 1.0
    assert sum(one.imbalance > 0.1 for one in devices.calls[LEARNED:]) <= 8
    assert devices.calls[-1].imbalance <= 0.05 or devices.calls[-1].assignment.kind == "single"


def test_a_saw_does_not_go_back_and_forth() -> None:
    calls = served(Devices((CPU, sawtooth(250_000, 1000, 20_000)), Noise(0.01)))
    parts = [one.assignment.parts for one in calls[20:]]
    changes = sum(one != other for one, other in pairwise(parts))
    assert changes <= 6


def test_a_device_that_is_free_again_is_found() -> None:
    devices = Devices((slowed(CPU, 100.0, 0, 40 * MS), linear(500)))
    calls = served(devices, calls=10 * AGAIN)
    assert calls[20].assignment.kind == "single"
    assert calls[-1].assignment.kind == "split" and calls[-1].total_ns < 3.6 * MS
    assert sum(one.assignment.kind == "guided" for one in calls) <= 4


# ---- one device by itself -----------------------------------------------------------------------------------------


def test_a_device_that_may_be_as_fast_by_itself_is_tried_once() -> None:
    """The CPU slows the GPU's part down: what the parts tell of the GPU alone is too much, and only a call tells."""
    alone = linear(95, 50_000)
    devices = Devices((CPU, lambda sizes, now: alone(sizes, now) * (1.0 if sizes[0] == SIZE else 1.14)))
    calls = served(devices)
    singles = [one.assignment.parts[1] for one in calls if one.assignment.kind == "single"]
    assert singles and len(singles[0]) == SIZE
    assert calls[-1].assignment.kind == "single"


def test_what_was_tried_and_was_worse_is_not_tried_again() -> None:
    devices = Devices((CPU, lambda sizes, now: GPU(sizes, now) * (3.0 if sizes[0] == SIZE else 1.0)))
    calls = served(devices)
    assert sum(one.assignment.kind == "single" for one in calls) <= 1
    assert calls[-1].assignment.kind == "split"


@pytest.mark.parametrize("plan", ["single", "race"])
def test_plans_of_one_device(plan: str) -> None:
    calls = served(Devices((CPU, GPU), Noise(0.02)), plan=plan)
    kinds = [one.assignment.kind for one in calls]
    assert set(kinds[2:]) == {"single"}
    assert calls[-1].assignment.devices == (1,)
    assert kinds[0] == ("race" if plan == "race" else "single")
    assert kinds.count("race") == (plan == "race")


def test_a_winner_that_becomes_slow_races_again() -> None:
    calls = served(Devices((CPU, slowed(GPU, 5.0, 30 * MS))), plan="race")
    kinds = [one.assignment.kind for one in calls]
    assert kinds[0] == "race" and kinds.count("race") == 2
    assert calls[-1].assignment.devices == (0,)


def test_a_split_that_is_asked_for_uses_several_devices() -> None:
    calls = served(Devices((CPU, linear(20, 50_000))), plan="split")
    assert all(one.assignment.kind == "split" for one in calls[2:])


# ---- predictions --------------------------------------------------------------------------------------------------


def test_a_call_that_is_predicted_is_divided_at_once() -> None:
    predicted = [lambda part: 1000.0 * len(part), lambda part: 300.0 * len(part) + 500_000]
    devices = Devices((CPU, GPU))
    division = Division(["cpu", "cuda"], range(SIZE), predicted=predicted)
    first = devices.serve(division)
    assert first.assignment.kind == "split" and first.imbalance < 0.01
    assert first.assignment.predicted_ns == pytest.approx(first.total_ns, rel=0.01)


def test_a_prediction_that_is_wrong_is_corrected() -> None:
    predicted = [lambda part: 1000.0 * len(part), lambda part: 900.0 * len(part) + 500_000]
    devices = Devices((CPU, GPU))
    division = Division(["cpu", "cuda"], range(SIZE), predicted=predicted)
    calls = [devices.serve(division) for _ in range(6)]
    assert calls[0].imbalance > 0.3 and calls[-1].imbalance <= 0.05


# ---- exactly once -------------------------------------------------------------------------------------------------


PLANS = st.sampled_from(["auto", "split", "single", "race"])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 200), st.integers(1, 5), st.integers(0, 1000), st.sampled_from(["auto", "split", "single", "race"])
)
def test_every_iteration_exactly_once(size: int, count: int, seed: int, plan: str) -> None:
    draw = random.Random(seed)
    curves = [linear(draw.uniform(1, 1e4), draw.uniform(0, 1e5)) for _ in range(count)]
    dies = (draw.randrange(count), draw.randrange(8)) if count > 1 and draw.random() < 0.5 else None
    devices = Devices(curves, Noise(0.1), seed, dies=dies if plan != "race" else None)
    for one in served(devices, size, 8, plan):
        assert one.iterations == list(range(size))


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_fewer_iterations_than_devices(size: int) -> None:
    calls = served(Devices((linear(4000), linear(1000), linear(3000), linear(1000))), size=size, calls=12)
    assert calls[-1].total_ns <= {0: 0, 1: 1000, 2: 1000, 3: 2000}[size]


@pytest.mark.parametrize("call", [0, 1, 6])
def test_a_device_that_dies_in_the_middle(call: int) -> None:
    devices = Devices((CPU, GPU, GPU), dies=(1, call))
    calls = served(devices)
    assert all(one.iterations == list(range(SIZE)) for one in calls)
    assert not any(one.assignment.parts[1] for one in calls[call + 1 :])
    assert calls[-1].imbalance <= 0.05 and calls[-1].assignment.devices == (0, 2)


def test_a_failed_device_comes_back_when_all_is_forgotten() -> None:
    division = Division(["cpu", "cuda:0"], range(100))
    division.failed(1, "out of memory")
    assert division.decide() == Assignment("single", (range(100), range(100, 100)), "cpu: the only device")
    assert division.lines() == ["cpu: not measured", "cuda:0: failed, out of memory"]
    division.failed(0, "gone")
    with pytest.raises(DeviceError, match="cuda:0: out of memory; cpu: gone"):
        division.decide()
    division.forget()
    assert division.decide().kind == "guided"


# ---- the rest -----------------------------------------------------------------------------------------------------


def test_explain_is_told_what_is_known() -> None:
    devices = Devices((CPU, GPU))
    division = Division(["cpu", "cuda:0"], range(SIZE))
    for _ in range(6):
        devices.serve(division)
    cpu, gpu = division.lines()
    assert cpu.startswith("cpu: ") and gpu.startswith("cuda:0: ")
    fixed_us, each_ns = float(gpu.split()[1]), float(gpu.split()[4])
    assert (fixed_us, each_ns) == (pytest.approx(500, rel=0.05), pytest.approx(300, rel=0.05))


def test_calls_of_several_threads() -> None:
    division, faults = Division(["cpu", "cuda"], range(SIZE)), []

    def work(seed: int) -> None:
        devices = Devices((CPU, GPU), Noise(0.05), seed)
        try:
            for _ in range(20):
                devices.serve(division)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not faults and division.decide().kind == "split"


@pytest.mark.parametrize("time_ns", [0.0, math.nan, math.inf, -1.0])
def test_times_that_are_none_teach_nothing(time_ns: float) -> None:
    division = Division(["cpu", "cuda"], range(100))
    division.measured(division.decide(), [time_ns, time_ns], [50, 50], time_ns)
    assert division.lines() == ["cpu: not measured", "cuda: not measured"]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="one each"):
        Division([], range(10))
    with pytest.raises(ValueError, match="one each"):
        Division(["cpu"], range(10), predicted=[None, None])
    division = Division(["cpu", "cuda"], range(10))
    with pytest.raises(ValueError, match="as many numbers"):
        division.measured(division.decide(), [1.0], [10, 0], 1.0)


# ---- what is told of it -------------------------------------------------------------------------------------------


def test_what_is_foreseen_is_decided_and_asking_changes_nothing() -> None:
    devices, asked = Devices(AFFINE["three"], seed=3), Devices(AFFINE["three"], seed=3)
    quiet, loud = (Division(["a", "b", "c"], range(SIZE)) for _ in range(2))
    for _ in range(20):
        foreseen = [loud.foreseen() for _ in range(3)]
        loud.alternatives()
        devices.serve(quiet)
        asked.serve(loud)
        assert asked.calls[-1].assignment == foreseen[0] == foreseen[2] == devices.calls[-1].assignment


def test_alternatives_are_each_device_alone_and_parts_for_all() -> None:
    division, devices = Division(["a", "b"], range(SIZE)), Devices((CPU, GPU))
    assert [(one.why, one.predicted_ns) for one in division.alternatives()] == [("a alone", None), ("b alone", None)]
    for _ in range(8):
        devices.serve(division)
    one, other, both = division.alternatives()
    assert [len(part) for part in one.parts] == [SIZE, 0]
    assert both.kind == "split"
    assert both.predicted_ns is not None and one.predicted_ns is not None and other.predicted_ns is not None
    assert both.predicted_ns < min(one.predicted_ns, other.predicted_ns)
    division.failed(1, "it is lost")
    assert [found.why for found in division.alternatives()] == ["a alone"]


def test_what_is_foreseen_where_all_have_failed() -> None:
    division = Division(["a"], range(9))
    division.failed(0, "it is lost")
    with pytest.raises(DeviceError, match="no device is left"):
        division.foreseen()
    assert division.alternatives() == []


def alike(curves: Sequence[Curve], calls: int, seed: int, plan: str = "split", each_ns: float = 0.0) -> list[Served]:
    devices = Devices(curves, Noise(0.03), seed=seed, cold=3.0, each_ns=each_ns)
    names = [f"gpu {k}" for k in range(len(curves))]
    division = Division(names, range(SIZE), plan=plan, models=["a GPU"] * len(curves))  # type: ignore[arg-type]
    for _ in range(calls):
        devices.serve(division)
    return devices.calls


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("curve", [linear(1000), sawtooth(700_000, 700), linear(0.1, 5 * MS)])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_devices_that_are_alike_get_equal_parts(count: int, curve: Curve, seed: int) -> None:
    """Also where all take the same time whatever they get, as when each iteration has a GPU for itself."""
    for call in alike([curve] * count, 20, seed)[2:]:
        sizes = [len(part) for part in call.assignment.parts]
        assert call.assignment.kind == "split" and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_one_that_is_slower_than_those_it_is_like_gets_less(seed: int) -> None:
    calls = alike([linear(1000), linear(1500), linear(1000), linear(1000)], 30, seed)
    assert all(call.imbalance < 0.2 for call in calls[-10:])
    assert all(len(call.assignment.parts[1]) < len(call.assignment.parts[0]) for call in calls[-10:])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("each_ns", "used"), [(0.01 * MS, 8), (0.5 * MS, 4), (1.5 * MS, 2), (40 * MS, 1)])
def test_as_many_of_those_that_are_alike_as_the_host_can_keep_busy(each_ns: float, used: int, seed: int) -> None:
    """Alone 10 ms: what the host takes for each of eight makes two, or four, the fastest."""
    calls = alike([linear(1000)] * 8, 40, seed, "auto", each_ns)
    last = [call.assignment for call in calls[-8:] if call.assignment.kind != "guided"]
    assert {len(one.devices) for one in last} == {used}
    assert all(max(map(len, one.parts)) - min(len(part) for part in one.parts if part) <= 1 for one in last)
    forced = alike([linear(1000)] * 8, 40, seed, "split", each_ns)
    assert all(len(call.assignment.devices) == 8 for call in forced[2:])


def test_parts_of_those_that_are_alike_begin_at_multiples() -> None:
    division = Division(["a", "b", "c"], range(1000), multiple=128, plan="split", models=["x"] * 3)
    for _ in range(3):
        decided = division.decide()
        division.measured(
            decided,
            [1000.0] * 3,
            [len(part) // 3 if decided.kind == "guided" else len(part) for part in decided.parts],
            1000.0,
        )
    assert [part.start for part in division.decide().parts] == [0, 256, 512]


def test_unlike_devices_are_not_taken_for_equals() -> None:
    devices = Devices([linear(1000), linear(300)], Noise(0.01))
    division = Division(["cpu", "gpu"], range(SIZE), models=["cpu", "a GPU"])
    for _ in range(10):
        devices.serve(division)
    one, other = (len(part) for part in devices.calls[-1].assignment.parts)
    assert other > 2 * one


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 4, 8])
def test_devices_that_are_alike_get_as_much_work_of_a_triangle(count: int, seed: int) -> None:
    devices = Devices([linear(1)] * count, Noise(0.03), seed=seed, count=triangle)
    division = Division(
        [f"gpu {k}" for k in range(count)], range(SIZE), plan="split", models=["a GPU"] * count, count=triangle
    )
    for _ in range(20):
        devices.serve(division)
    for call in devices.calls[2:]:
        work = [triangle(part) for part in call.assignment.parts]
        assert min(work) >= 0.99 * max(work) and sum(work) == triangle(range(SIZE))
