"""One kernel that is called again and again on a simulated device, in virtual time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loopwright.choice.adapt import Adaptive, Decision
from loopwright.choice.explore import Experiment, ExperimentResult
from loopwright.devices.simulated import Curve, Fault, Noise, Simulated
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.predict.prediction import How, Prediction
from loopwright.profile.measurement import Measurement, Work

DEFAULT = Variant("simulated", RECIPE, 2)
MACHINES = {"simulated": "one", "simulated1": "two"}
NOISE = Noise(spread=0.03, outliers=0.01)
SHAPE = Shape((1000,))


def variant(name: int | str, device: str = "simulated") -> Variant:
    return Variant(device, f"tile i {name}")


def work(shape: Shape) -> Work:
    return Work(iterations=math.prod(shape.sizes), footprint_bytes=8 * math.prod(shape.sizes))


def exactly(curves: Mapping[Hashable, Curve], error: float = 0.05, how: How = "interpolated", off: float = 1.0) -> Any:
    """Predictions from the curves as they are at time 0, all of them wrong by a factor."""

    def predict(shape: Shape, _: Work) -> Sequence[Prediction]:
        return tuple(Prediction(off * curve(shape.sizes, 0), error, how) for curve in curves.values())

    return predict


@dataclass
class Serving:
    """Calls of a kernel with the variants that `curves` are of."""

    curves: Mapping[Hashable, Curve]
    noise: Noise = NOISE
    seed: int = 0
    faults: Mapping[Hashable, Fault] = field(default_factory=dict)
    predict: Callable[[Shape, Work], Sequence[Prediction]] | None = None
    proven: Sequence[Variant] = ()
    compile_ns: int = 0
    share: float = 0.05
    history: Sequence[Measurement] = ()
    rows: list[Measurement] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    experiments: list[tuple[Experiment, ExperimentResult]] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    best_ns: float = 0.0
    took_ns: float = 0.0

    def __post_init__(self) -> None:
        self.device = Simulated(self.curves, self.noise, self.seed, self.faults, self.compile_ns)
        self.adaptive = Adaptive(
            "kernel",
            MACHINES,
            list(self.curves),  # type: ignore[arg-type]
            self.predict or exactly(self.curves),
            now=self.device.clock.seconds,
            sink=self.rows.extend,
            share=self.share,
            make_ns=self.compile_ns,
            history=self.history,
        )
        for one in self.proven:
            self.adaptive.prove(one, "ok")

    def call(self, shape: Shape = SHAPE, times: int = 1) -> None:
        """So many calls. What is wrong at once in any of them: a variant without evidence serves, or too much was
        spent on experiments."""
        for _ in range(times):
            decision = self.adaptive.choose(shape, work(shape))
            assert decision.proven
            may = self.adaptive.candidates.serving(work(shape))
            self.best_ns += min(self.device.exact_ns(list(self.curves)[one], shape.sizes) for one in may)
            self.took_ns += self.device.exact_ns(decision.variant, shape.sizes)
            took = self.device.run(decision.variant, shape.sizes)
            self.decisions.append(decision)
            if self.adaptive.observe(decision, (took,)):
                self.opened.append(len(self.decisions))
            self.experiment(shape)

    def experiment(self, shape: Shape) -> None:
        experiment = self.adaptive.explore(shape)
        if experiment is None:
            return
        attempt = self.device.attempt(experiment.variant, shape.sizes, experiment.limit_ns)
        assert attempt.spent_ns <= experiment.limit_ns
        evidence = ExperimentResult(attempt.outcome, attempt.times_ns, attempt.spent_ns)
        self.experiments.append((experiment, evidence))
        self.adaptive.finish(experiment, evidence)
        assert self.adaptive.account.spent_ns <= self.share * self.adaptive.account.total_ns

    @property
    def alarms(self) -> int:
        return self.adaptive.knowledge.alarms

    @property
    def serving(self) -> Variant:
        return self.decisions[-1].variant
