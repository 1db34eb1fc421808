"""One prediction for all machines: each machine's own model, side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.joined import Joined, joined_models
from loopwright.predict.model import models_of
from loopwright.profile.measurement import Measurement

from .curves import PROBLEMS, measured, shapes

MVT = next(problem for problem in PROBLEMS if problem.name == "mvt")


def elsewhere(found: list[Measurement]) -> list[Measurement]:
    """The variants of a GPU are of a machine of their own."""
    return [one if one.variant.device == "cpu" else replace(one, machine="gpu") for one in found]


def test_each_machine_has_its_own_model() -> None:
    rows = elsewhere(list(measured(MVT, shapes(MVT, 12, 0), 0)))
    joined = joined_models(rows)
    machines = dict.fromkeys(one.machine for one in rows)
    assert len(machines) == 2
    alone = [models_of([one for one in rows if one.machine == machine]) for machine in machines]
    assert joined.variants == tuple(variant for one in alone for variant in one.variants)
    assert {variant.device for variant in joined.variants} == {"cpu", "cuda"}
    shape = (3000,)
    found = joined.predict(Shape(shape), MVT.work(shape))
    assert found == tuple(each for one in alone for each in one.predict(Shape(shape), MVT.work(shape)))


def test_one_machine_is_its_model() -> None:
    rows = [one for one in measured(MVT, shapes(MVT, 12, 0), 0) if one.variant.device == "cpu"]
    shape = (700,)
    assert joined_models(rows).predict(Shape(shape), MVT.work(shape)) == models_of(rows).predict(
        Shape(shape), MVT.work(shape)
    )


def test_nothing_is_known() -> None:
    assert Joined(()).predict(Shape((3,)), MVT.work((3,))) == ()


def test_of_several_kernels() -> None:
    first, *_ = measured(MVT, shapes(MVT, 2, 0), 0)
    with pytest.raises(ValueError, match="models are of one kernel"):
        joined_models([first, replace(first, kernel="another"), replace(first, variant=Variant("cpu", "", 3))])
