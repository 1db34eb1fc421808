"""Trees with linear leaves over features of sizes and data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from loopwright.ir.signature import Shape
from loopwright.predict import tree as tree_module
from loopwright.predict.tree import ONE_LEAF, Forest, Tree, features_of, fit, one_leaf
from loopwright.profile.measurement import Work

SIZES = 5


def rows_ns(rows: int, entries: int, mean: float, spread: float) -> float:
    """Of a kernel over rows: long rows run from caches, uneven ones wait for the longest."""
    return 4000 + entries * (0.05 if mean > 24 else 0.15) * (1 + 0.4 * spread) + rows * 0.2


def points(count: int, seed: int, noise: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    found, times = [], []
    for _ in range(count):
        rows, mean = int(np.exp(rng.uniform(7, 13))), float(np.exp(rng.uniform(0.7, 4.7)))
        spread = float(rng.uniform(0, 2.5))
        entries = int(rows * mean)
        shape = Shape((rows + 1, entries, entries, rows, rows), (mean, spread, 1 + 3 * spread))
        features, sizes = features_of(shape, Work(0, rows, 1, 12.0 * entries + 20.0 * rows))
        assert sizes == SIZES
        found.append(features)
        times.append(rows_ns(rows, entries, mean, spread) * float(np.exp(noise * rng.standard_normal())))
    return np.array(found), np.array(times)


def wrong(tree: Tree, features: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.abs(np.array([tree.time_ns(each) for each in features]) / times - 1)


GROWN = fit(*points(100, 0), SIZES)
UNSEEN = points(100, 1, 0.0)


def test_unseen_data() -> None:
    errors = wrong(GROWN, *UNSEEN)
    assert errors.mean() < 0.15 and GROWN.leaves > 1
    assert errors.mean() < 0.7 * wrong(one_leaf(*points(100, 0), SIZES), *UNSEEN).mean()
    assert 0.7 <= (errors <= GROWN.within).mean() <= 1.0
    assert errors.mean() / 3 < GROWN.left_out < errors.mean() * 3


def test_the_data_itself_matters() -> None:
    """Without its features the error is far larger."""
    features, times = points(100, 0)
    blind = fit(features[:, :-3], times, SIZES)
    unseen = UNSEEN[0][:, :-3]
    assert wrong(blind, unseen, UNSEEN[1]).mean() > 1.5 * wrong(GROWN, *UNSEEN).mean()


def test_it_comes_back_from_its_text() -> None:
    assert Tree.parse(str(GROWN)) == GROWN
    one = one_leaf(*points(3, 0), SIZES)
    assert Tree.parse(str(one)) == one


def broken(**changes: Any) -> str:
    fields = json.loads(str(GROWN))
    return json.dumps({**fields, **changes})


@pytest.mark.parametrize(
    "text",
    [
        "x",
        broken(kind="forest"),
        broken(version=2),
        broken(nodes=[]),
        broken(nodes=[[0, 0.0, 0, 0]]),
        broken(nodes=[[0, 0.0, 9, 9]] * len(GROWN.nodes)),
        broken(nodes=[[99, 0.0, i, i] for i in range(len(GROWN.nodes))]),
        broken(nodes=[[0, 0.0, 0, 0], *[[0, 0.0, 0, 0]] * (len(GROWN.nodes) - 1)]),
        broken(lines=[[1.0]]),
        broken(seen=[[1.0], [1.0, 2.0]]),
        broken(seen=3),
        broken(within="1"),
        broken(sizes=None),
    ],
)
def test_what_is_no_text_of_a_tree(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Tree.parse(text)


def test_the_same_points_give_the_same_tree() -> None:
    assert fit(*points(30, 5), SIZES) == fit(*points(30, 5), SIZES)


@pytest.mark.parametrize("count", [1, 2, 3, ONE_LEAF])
def test_few_points_are_one_leaf_without_scikit_learn(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "import_module", _missing)
    features, times = points(count, 2)
    tree = fit(features, times, SIZES)
    assert tree.leaves == 1 and 0 < tree.time_ns(features[0]) < np.inf
    if count == 1:
        assert tree.time_ns(features[0]) == pytest.approx(times[0])


def _missing(name: str) -> Any:
    raise ImportError(name)


def test_where_scikit_learn_is_missing_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "import_module", _missing)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "loopwright\[tune\]"'):
        fit(*points(20, 0), SIZES)


@pytest.mark.parametrize(("count", "factor"), [(0, 1.0), (5, -1.0), (5, 0.0), (5, np.nan)])
def test_what_no_tree_grows_on(count: int, factor: float) -> None:
    features, times = points(max(count, 1), 0)
    with pytest.raises(ValueError, match="times above 0"):
        fit(features[:count], times[:count] * factor, SIZES)


def test_equal_points_are_their_mean() -> None:
    features = np.ones((6, 4))
    assert one_leaf(features, np.full(6, 50.0), 2).time_ns(np.ones(4)) == pytest.approx(50.0)


def test_far_outside_time_grows_as_the_largest_size() -> None:
    shape = Shape((10**6 + 1, 10**8, 10**8, 10**6, 10**6), (100.0, 1.0, 4.0))

    def at(factor: int) -> float:
        larger = Shape(tuple(size * factor for size in shape.sizes), shape.features)
        return GROWN.time_ns(features_of(larger, Work(0, 10**6, 1, 1.2e9 * factor))[0])

    assert at(1000) / at(100) == pytest.approx(10.0)


def test_a_forest_says_what_each_tree_says() -> None:
    other = one_leaf(*points(9, 7), SIZES)
    shifted = replace(GROWN, low=tuple(value + 0.5 for value in GROWN.low))
    forest = Forest([GROWN, other, shifted])
    for features in UNSEEN[0][:20]:
        times, outside = forest.ask(features)
        alone = [Forest([tree]).ask(features) for tree in (GROWN, other, shifted)]
        assert times == pytest.approx([time[0] for time, _ in alone])
        assert outside == pytest.approx([away[0] for _, away in alone])
    assert not Forest([GROWN]).ask(points(100, 0)[0][3])[1].any()
    with pytest.raises(ValueError, match="features, not 3"):
        forest.ask(np.ones(3))


def test_limits_of_splits_are_asked_as_in_training() -> None:
    """Of each point of the training, the leaf is scikit-learn's: text, arrays and tree agree."""
    features, times = points(100, 0)
    nodes, lines = tree_module._grow(features, np.log(times), 4)
    assert sum(left == at for at, (_, _, left, _) in enumerate(nodes)) > 1
    grown = replace(GROWN, nodes=tuple(nodes), lines=tuple(tuple(line.tolist()) for line in lines))
    for each in features:
        assert grown.time_ns(each) == pytest.approx(np.exp(tree_module._at(nodes, lines, each)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -5.0])
def test_features_that_are_no_numbers(value: float) -> None:
    plain = features_of(Shape((3,), (0.0,)), Work())[0]
    assert features_of(Shape((3,), (value,)), Work())[0].tolist() == plain.tolist()
    assert np.isfinite(features_of(Shape((0, -4)), Work(0, 0, 0, 0))[0]).all()
