"""Predictions of calls that were never made, on synthetic curves whose truth is known."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.model import Models, models_of, trees_of
from loopwright.predict.tree import features_of, one_leaf
from loopwright.profile.measurement import Measurement, Work

from .curves import DEVICES, PROBLEMS, Problem, measured, shapes

BY_NAME = {problem.name: problem for problem in PROBLEMS}
MVT = BY_NAME["mvt"]


def trained(problem: Problem, count: int, seed: int = 0) -> Models:
    return models_of(measured(problem, shapes(problem, count, seed), seed))


def missed(models: Models, problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At unseen sizes, of all variants: the error, what error was stated, and whether the size is a large one."""
    sizes = shapes(problem, 40, seed)
    middle = np.median([problem.work(each).iterations for each in sizes])
    wrong, stated, large = [], [], []
    for each in sizes:
        work = problem.work(each)
        for variant, found in zip(models.variants, models.predict(Shape(each), work), strict=True):
            wrong.append(abs(DEVICES[variant].time_ns(work, each) / found.time_ns - 1))
            stated.append(found.error)
            large.append(work.iterations >= middle)
    return np.array(wrong), np.array(stated), np.array(large)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_unseen_sizes(problem: Problem) -> None:
    wrong, stated, large = missed(trained(problem, 24), problem, 100)
    assert wrong[large].mean() <= 0.06 and wrong.mean() <= 0.10
    assert 0.75 <= (wrong <= stated).mean() <= 0.99


def test_the_stated_error_holds_for_four_calls_in_five() -> None:
    inside = []
    for seed in range(2):
        for problem in PROBLEMS:
            wrong, stated, _ = missed(trained(problem, 14, seed), problem, 50 + seed)
            inside.append((wrong <= stated).mean())
    assert 0.78 <= np.mean(inside) <= 0.93


def test_a_measured_shape_is_what_was_measured() -> None:
    measurements = list(measured(MVT, shapes(MVT, 10, 0), 0))
    models = models_of(measurements)
    for each in measurements:
        found = models.predict(each.shape, each.work)[models.variants.index(each.variant)]
        assert found.time_ns == each.time_ns and found.how == "measured" and found.error < 0.1


def test_between_and_outside() -> None:
    models = trained(MVT, 10)
    assert {each.how for each in models.predict(Shape((1001,)), MVT.work((1001,)))} == {"interpolated"}
    inside = models.predict(Shape((1001,)), MVT.work((1001,)))
    outside = models.predict(Shape((10**6,)), MVT.work((10**6,)))
    assert {each.how for each in outside} == {"extrapolated"}
    assert all(far.error > near.error for far, near in zip(outside, inside, strict=True))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_far_outside_time_grows_as_iterations_and_bytes_do(count: int) -> None:
    models = trained(MVT, count)
    last = [each.time_ns for each in models.predict(Shape((20000,)), MVT.work((20000,)))]
    far = [each.time_ns for each in models.predict(Shape((200000,)), MVT.work((200000,)))]
    assert all(60 < b / a < 160 for a, b in zip(last, far, strict=True))


def test_one_measurement_is_a_time_per_iteration() -> None:
    [one] = [each for each in measured(MVT, [(1000,)], 0) if each.variant == Variant("cpu", threads=1)]
    models = models_of([one])
    work = MVT.work((2000,))
    [found] = models.predict(Shape((2000,)), work)
    assert found.time_ns == pytest.approx(one.time_ns * work.iterations / one.work.iterations)
    assert found.error > 0.2 and math.isnan(models.left_out_errors[0])


def test_nothing_was_measured() -> None:
    models = models_of([])
    assert models.variants == () and models.predict(Shape((5,)), Work(5.0)) == ()


@pytest.mark.parametrize("work", [Work(), Work(0.0, 0.0, 0.0), Work(1e30, 1e15, 1e15, 1e30), Work(1.0, 1.0, 1.0, 8.0)])
def test_calls_of_any_size_have_a_time(work: Work) -> None:
    for each in trained(MVT, 8).predict(Shape((0,)), work):
        assert 0 < each.time_ns < math.inf and 0 < each.error < math.inf


def test_the_order_of_measurements_does_not_matter() -> None:
    measurements = list(measured(MVT, shapes(MVT, 8, 0), 0))
    shuffled = [measurements[i] for i in np.random.default_rng(1).permutation(len(measurements))]
    work = MVT.work((777,))
    assert models_of(measurements).predict(Shape((777,)), work) == models_of(shuffled).predict(Shape((777,)), work)


def test_a_variant_measured_at_its_own_shapes_is_predicted_from_those() -> None:
    measurements = list(measured(MVT, shapes(MVT, 16, 0), 0))
    some = [each for i, each in enumerate(measurements) if i % 3 != 0]
    models = models_of(some)
    for position, variant in enumerate(models.variants):
        alone = models_of(each for each in some if each.variant == variant)
        work = MVT.work((1500,))
        both, single = models.predict(Shape((1500,)), work)[position], alone.predict(Shape((1500,)), work)[0]
        assert both.time_ns == pytest.approx(single.time_ns, rel=1e-6)


def test_calls_with_the_same_work_and_other_sizes_count_together() -> None:
    once = list(measured(MVT, shapes(MVT, 8, 0), 0))
    twice = [replace(each, shape=Shape((*each.shape.sizes, number))) for each in once for number in (1, 2)]
    for size in (300, 1000, 3000, 6000):
        work = MVT.work((size,))
        ours, theirs = (models_of(each).estimate(Shape((size, 3)), work) for each in (twice, once))
        assert ours.times_ns == pytest.approx(theirs.times_ns, rel=0.02)
        assert ours.errors == pytest.approx(theirs.errors, rel=0.1)


def test_the_error_goes_by_a_variant_s_own_sites() -> None:
    near, far = Variant("cpu", "plain", 8), Variant("cpu", "recipe", 8)
    seen = measured(MVT, shapes(MVT, 16, 0), 0)
    models = models_of(
        each for each in seen if each.variant == near or (each.variant == far and each.shape.sizes[0] < 500)
    )
    found = dict(zip(models.variants, models.predict(Shape((9000,)), MVT.work((9000,))), strict=True))
    assert found[far].how == "extrapolated" and found[far].error > 2 * found[near].error


def test_waves_of_blocks_are_followed() -> None:
    """A grid of few blocks: without the sawtooth the error is above 10 %."""
    gemm, variant = BY_NAME["gemm"], Variant("cuda", "recipe")
    models = models_of(each for each in measured(gemm, shapes(gemm, 24, 3), 3) if each.variant == variant)
    sizes = shapes(gemm, 60, 70, 150, 1200)
    wrong = [
        abs(DEVICES[variant].time_ns(gemm.work(s), s) / models.predict(Shape(s), gemm.work(s))[0].time_ns - 1)
        for s in sizes
    ]
    assert np.mean(wrong) < 0.05


def test_what_failed_is_no_candidate() -> None:
    measurements = list(measured(MVT, shapes(MVT, 6, 0), 0))
    wrong, slow = Variant("cuda", "plain"), Variant("cpu", "plain", 8)
    bad = replace(measurements[0], variant=wrong, outcome="wrong", time_ns=0.0)
    late = replace(measurements[0], variant=slow, outcome="timeout", time_ns=0.0, work=MVT.work((20000,)))
    models = models_of([*measurements, bad, late])
    assert wrong not in models.variants
    position = models.variants.index(slow)
    assert models.predict(Shape((19999,)), MVT.work((19999,)))[position].time_ns < math.inf
    assert models.predict(Shape((20001,)), MVT.work((20001,)))[position].time_ns == math.inf
    assert min(each.time_ns for each in models.predict(Shape((20001,)), MVT.work((20001,)))) < math.inf


class Bus:
    """10 us for each copy, 16 bytes per ns."""

    def time_ns(self, to_device_bytes: float, to_host_bytes: float) -> float:
        return sum(1e4 + size / 16 for size in (to_device_bytes, to_host_bytes) if size)


def on_the_gpu(sizes: list[tuple[int, ...]], bus: bool) -> list[Measurement]:
    found = []
    for each in sizes:
        work = MVT.work(each)
        if not bus:
            work = replace(work, inputs_bytes=0.0, outputs_bytes=0.0)
        time_ns = 8000 + work.iterations * 0.003 + Bus().time_ns(work.inputs_bytes, work.outputs_bytes)
        found.append(Measurement("mvt", "m", Variant("cuda"), Shape(each), work, "ok", time_ns, 0.01, 9))
    return found


RESIDENT = replace(MVT.work((6000,)), inputs_bytes=0.0, outputs_bytes=0.0)


@pytest.mark.parametrize("tables", [False, True])
def test_data_that_is_on_the_device_already_is_not_copied(tables: bool) -> None:
    """Without tables of copies, calls of both kinds must have been seen."""
    sizes = shapes(MVT, 12, 0)
    seen = on_the_gpu(sizes, True) + ([] if tables else on_the_gpu(sizes, False))
    models = models_of(seen, {"cuda": Bus()} if tables else None)
    work = MVT.work((6000,))
    [copied], [resident] = models.predict(Shape((6000,)), work), models.predict(Shape((6000,)), RESIDENT)
    alone = 8000 + work.iterations * 0.003
    assert copied.time_ns == pytest.approx(alone + Bus().time_ns(work.inputs_bytes, work.outputs_bytes), rel=0.05)
    assert resident.time_ns == pytest.approx(alone, rel=0.15)


def test_a_shape_measured_with_copies_is_not_measured_without() -> None:
    models = models_of(on_the_gpu([(6000,)], True), {"cuda": Bus()})
    [copied], [resident] = models.predict(Shape((6000,)), MVT.work((6000,))), models.predict(Shape((6000,)), RESIDENT)
    assert copied.how == "measured" and resident.how != "measured" and resident.time_ns < copied.time_ns / 10


def irregular(count: int, seed: int) -> list[Measurement]:
    """Time depends on how uneven rows are, which only the features say."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        rows, spread = int(np.exp(rng.uniform(5, 11))), float(rng.uniform(0, 2))
        work = Work(0.0, rows, 1.0, 100.0 * rows)
        for variant, slope in ((Variant("cpu", "plain", 8), 2.0), (Variant("cpu", "recipe", 8), 0.1)):
            time_ns = rows * 3.0 * (1 + slope * spread) * (1.0 if slope > 1 else 1.5)
            shape = Shape((rows, 8 * rows), (8.0, spread))
            found.append(Measurement("spmv", "m", variant, shape, work, "ok", time_ns, 0.005, 9))
    return found


def test_the_spread_of_rows_decides_between_variants() -> None:
    seen = irregular(40, 0)
    models = models_of(seen, trees=trees_of(seen))
    right = 0
    for plain, recipe in zip(*[iter(irregular(60, 1))] * 2, strict=True):
        found = models.predict(plain.shape, plain.work)
        assert {each.how for each in found} == {"tree"}
        right += (found[0].time_ns < found[1].time_ns) == (plain.time_ns < recipe.time_ns)
    assert right >= 54 and max(models.left_out_errors) < 0.3


def test_trees_that_are_given_are_asked() -> None:
    seen = irregular(6, 0)
    given = replace(one_leaf(*tree_points(5000.0), 2), left_out=0.125)
    models = models_of(seen, trees={Variant("cpu", "plain", 8): given})
    assert models.left_out_errors[0] == 0.125
    assert models.predict(Shape((900, 7200), (8.0, 0.5)), seen[0].work)[0].time_ns == pytest.approx(5000.0)


def tree_points(time_ns: float) -> tuple[np.ndarray, np.ndarray]:
    """The same time everywhere."""
    found = [features_of(each.shape, each.work)[0] for each in irregular(6, 3)]
    return np.array(found), np.full(len(found), time_ns)


def test_trees_and_work_side_by_side() -> None:
    seen = irregular(12, 0)
    known = [
        replace(
            each, variant=Variant("cuda"), shape=Shape(each.shape.sizes), work=replace(each.work, iterations=8.0 * n)
        )
        for each in seen
        for n in each.shape.sizes[:1]
    ]
    models = models_of([*seen, *known])
    assert [str(each) for each in models.variants] == ["cpu 8: plain", "cpu 8: recipe", "cuda: recipe"]
    found = models.predict(Shape((1000, 8000), (8.0, 0.5)), Work(8000.0, 1000.0, 1.0, 1e5))
    assert [each.how for each in found] == ["tree", "tree", "interpolated"]
    assert found[2] == models_of(known).predict(Shape((1000, 8000)), Work(8000.0, 1000.0, 1.0, 1e5))[0]


def test_measurements_of_two_kernels_are_not_mixed() -> None:
    seen = irregular(2, 0)
    with pytest.raises(ValueError, match="of several"):
        models_of([seen[0], replace(seen[1], kernel="other")])


def test_predicting_needs_no_scikit_learn() -> None:
    """In a process of its own, as other tests load it."""
    program = (
        "import sys\nfrom loopwright.predict.model import models_of\n"
        "from loopwright.ir.variant import Variant\n"
        "from loopwright.ir.signature import Shape\n"
        "from loopwright.profile.measurement import Measurement, Work\n"
        "one = Variant('cpu', threads=1)\n"
        "def seen(n): return Measurement('k', 'm', one, Shape((n,)), Work(), 'ok', 9.0 * n, 0.0, 1)\n"
        "models_of([seen(n) for n in range(1, 30)]).predict(Shape((77,)), Work())\n"
        "print(any(name.startswith('sklearn') for name in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
