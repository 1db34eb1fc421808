"""What is found out about the paths of iterations on a CPU, and whole calls under `remap="auto"` there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from benchmarks.gpu.irregular import by_trips

import loopwright as lw
from loopwright.choice import remap
from loopwright.choice.remap import Inspected, RemapChooser
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.predict.grouped import GroupMeasures
from loopwright.runtime import dispatch
from loopwright.tuning.group_inspection import GroupInspection
from loopwright.tuning.remap_inspection import remapping_of


def regular(t, x, out):
    for i in range(out.shape[0]):
        for k in range(3):
            out[i] += x[i] * t[k]


def reads(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        for k in range(t[i]):
            s += x[k]
        out[i] = s


def either(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        if t[i] < 2:
            for _k in range(60):
                s = s * 0.5 + x[i]
        else:
            for _k in range(60):
                s = s * 0.25 + x[i]
        out[i] = s


def call(n: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(n)
    return draw.integers(0, most, n), draw.random(n), np.zeros(n)


def inspection(function: Callable[..., object], n: int, most: int) -> tuple[str, GroupMeasures | None]:
    arguments = call(n, most)
    with lw.options(device="cpu", threads=2):
        one = remapping_of(lw.kernel(function).specialise(*arguments))
        if one is None:
            return "", None
        assert isinstance(one, GroupInspection)
        found = one.inspect(arguments) if one.steps else None
    measures = None if found is None else found.measures
    assert measures is None or isinstance(measures, GroupMeasures)
    return one.steps, measures


def test_which_steps_and_how_much_lanes_would_share() -> None:
    assert inspection(regular, 100, 3) == ("", None)
    assert inspection(reads, 100, 9) == ("", None)  # each lane would read elsewhere
    steps, trips = inspection(by_trips, 40_000, 200)
    assert steps == "group i; abreast i.g" and trips is not None
    assert trips.iterations == 40_000 and trips.threads == 2 and 0.9 < trips.together / trips.work < 1.0
    steps, few = inspection(by_trips, 100, 200)  # iterations side by side are not alike
    assert few is not None and few.together / few.work < 0.95
    steps, branches = inspection(either, 5000, 4)
    assert steps == "group i; abreast i.g; abreast i.g.1"
    assert branches is not None and branches.together / branches.work > 0.8


@dataclass
class Told:
    """A Remapping on whose word lanes share nearly everything."""

    steps: str = "group i"

    def inspect(self, arguments: tuple[object, ...]) -> Inspected:
        return Inspected(GroupMeasures(1 << 16, 100.0, 99.0, 2), None)


@pytest.mark.parametrize(("grouped_ns", "serves", "at_least"), [(2e7, True, 100), (6e7, False, 0)])
def test_a_gain_stays_and_a_loss_is_noticed_within_three_calls(grouped_ns: float, serves: bool, at_least: int) -> None:
    """In virtual time, as `runtime/dispatch.py` makes calls on a CPU: 50 ms as iterations stand."""
    plain, shape = Variant("cpu", RECIPE, 2), Shape((1 << 16,))
    chooser, grouped, calls, times = RemapChooser(plain, Told()), 0, 0, list[int]()
    for _ in range(250):
        if not calls and chooser.due(shape):
            chooser.experiment(shape, ())
        serving, calls = chooser.choose(shape), calls + 1
        assert serving in (plain, Variant("cpu", "group i; recipe", 2))
        grouped += serving != plain
        times.append(int(grouped_ns if serving != plain else 5e7))
        if len(times) >= chooser.patience(shape, serving)[0]:
            calls = 0 if chooser.served(shape, serving, times, calls) else calls
            times = []
    assert grouped >= at_least if serves else grouped == 3
    assert (chooser.choose(shape) != plain) == serves
    assert "lanes would share 99 % of the work" in chooser.standings(shape)[0].why or not serves


def test_whole_calls_change_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every prediction is that it pays."""
    for name, value in {"INSPECT_NS": 0, "MAKING_NS": -(10**10), "LEAST_GAIN": -1000.0}.items():
        monkeypatch.setattr(remap, name, value)
    monkeypatch.setattr(dispatch, "ORDERS_NS", 0)
    t, x, out = call(20_000, 200)  # long enough that a gain is predicted
    kernel = lw.kernel(by_trips)
    with lw.options(device="cpu", threads=1, store=None, strict=True):
        for _ in range(60):
            out[:] = 0.0
            kernel(t, x, out)
            np.testing.assert_allclose(out, x * (1.0 - 0.5**t) / 0.5, rtol=1e-14)
        runs = {run.compilation.schedule: run.calls for run in kernel._dispatch.runs()}
        assert runs["group i; abreast i.g; recipe"] > 10
        assert "each step of an inner loop waits for the one before" in str(kernel.explain(t, x, out))
        kernel._dispatch.forget()
        for options in ({"remap": "off"}, {"deterministic": True}):
            with lw.options(**options):
                kernel(t, x, out)
        assert not any("group" in run.compilation.schedule for run in kernel._dispatch.runs())
