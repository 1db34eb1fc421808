"""The models of one kernel on several machines, a CPU and its GPUs, as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.estimates import Estimates, joined
from loopwright.predict.evidence import Transfers
from loopwright.predict.model import Models, models_of
from loopwright.predict.prediction import Prediction
from loopwright.predict.tree import Tree
from loopwright.profile.measurement import Measurement, Work


class Joined:
    """variants: those of all models, in the order of these."""

    def __init__(self, models: Sequence[Models]) -> None:
        self._models = tuple(models)
        self.variants: tuple[Variant, ...] = tuple(variant for one in self._models for variant in one.variants)

    def estimate(self, shape: Shape, work: Work) -> Estimates:
        """Of all variants for one call. Raises ValueError where trees were grown on shapes of another form."""
        return joined([one.estimate(shape, work) for one in self._models])

    def predict(self, shape: Shape, work: Work) -> tuple[Prediction, ...]:
        """One for each of `variants`."""
        return self.estimate(shape, work).predictions()


def joined_models(
    measurements: Iterable[Measurement],
    transfers: Mapping[str, Transfers] | None = None,
    trees: Mapping[Variant, Tree] | None = None,
) -> Joined:
    """Of one kernel, whatever the machines: a model for each, in the order in which they first appear. transfers: by
    device. Raises ValueError for measurements of several kernels."""
    by_machine: dict[str, list[Measurement]] = {}
    for each in measurements:
        by_machine.setdefault(each.machine, []).append(each)
    if len({each.kernel for found in by_machine.values() for each in found}) > 1:
        raise ValueError("models are of one kernel; these measurements are of several")
    return Joined([models_of(found, transfers, trees=trees) for found in by_machine.values()])
