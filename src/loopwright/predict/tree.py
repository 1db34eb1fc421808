"""A regression tree with linear leaves, for kernels whose time depends on more than sizes (G-ADAPT, Zhang thesis
section 5.2, which has least-mean-squares models in the leaves): from logarithms of sizes, their ratios, the work as far
as it is known and features of the data to the logarithm of the time.

A line through all comes first; scikit-learn's tree finds where its residuals differ; each leaf then has a line of its
own, of few features (forward selection by leave-one-out error). How many leaves there are is decided by the error of
what was left out of the whole fit. Training more than one leaf needs scikit-learn; predicting needs NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Work
from loopwright.profile.text import from_text, number, rows, to_text

Floats = NDArray[np.float64]

KIND = "regression tree"

ONE_LEAF = 8
"""Up to so many points there is one leaf."""

LEAVES = (1, 2, 4, 8)
FEWEST_IN_LEAF = 5
MOST_FOLDS = 40
"""Up to so many points each is left out alone; of more, every tenth together."""

MOST_TERMS = 6
SIMPLER = 0.9
"""More leaves are believed where they bring the error of what is left out down to this part."""

ONE_MORE = 0.97
"""One more feature in a line is believed where it brings the leave-one-out error down to this part."""

RIDGE = 1e-4
RATIO_SIZES = 6
"""Ratios are made of the first so many sizes."""

REACH = math.log(4.0)
"""So far outside of what was seen, lines are followed; from there on the time grows as the size that grows most."""


@dataclass(frozen=True, slots=True)
class Tree:
    """nodes: of each node the feature that it asks for and its limit, and where to go on: left up to the limit, right
    above it; a leaf has itself on both sides. lines: of each node the constant, and one factor for each feature (zeros
    where it is no leaf). low, high: of each feature, what was seen. sizes: how many of the features are logarithms of
    sizes; they come first. left_out: mean error, as part of the time, of what was left out. within: the error that 85 %
    of what was left out is within. All text forms parse back."""

    nodes: tuple[tuple[int, float, int, int], ...]
    lines: tuple[tuple[float, ...], ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sizes: int
    left_out: float
    within: float

    @property
    def leaves(self) -> int:
        """How many."""
        return sum(left == node for node, (_, _, left, _) in enumerate(self.nodes))

    def time_ns(self, features: Floats) -> float:
        """For features as `features_of` gives them."""
        return float(Forest([self]).ask(features)[0][0])

    def __str__(self) -> str:
        fields = {name: getattr(self, name) for name in ("nodes", "lines", "sizes", "left_out", "within")}
        return to_text(KIND, {**fields, "seen": [self.low, self.high]})

    @classmethod
    def parse(cls, text: str) -> Tree:
        """Raises ValueError where this is no tree's text."""
        fields = from_text(KIND, text)
        nodes = tuple((int(f), limit, int(a), int(b)) for f, limit, a, b in rows(fields.get("nodes"), 4))
        seen = fields.get("seen")
        if not isinstance(seen, list) or len(seen) != 2 or not isinstance(seen[0], list) or not nodes:
            raise ValueError("a tree has a node at least, and the least and the largest of each feature")
        low, high = rows(seen, width := len(seen[0]))
        lines = rows(fields.get("lines"), width + 1)
        good = all(
            0 <= f < max(width, 1) and at <= min(a, b) and max(a, b) < len(nodes)
            for at, (f, _, a, b) in enumerate(nodes)
        )
        if len(lines) != len(nodes) or not good:
            raise ValueError("a tree's nodes lead to nodes further on, or to themselves, and each has a line")
        rest = (int(number(fields.get("sizes"))), number(fields.get("left_out")), number(fields.get("within")))
        return cls(nodes, tuple(map(tuple, lines)), tuple(low), tuple(high), *rest)


def features_of(shape: Shape, work: Work) -> tuple[Floats, int]:
    """Logarithms of the sizes, of their ratios, of iterations and footprint, then of the data's features (what is no
    number counts as 0); and how many sizes there are."""
    count = len(shape.sizes)
    found = [float(max(size, 1)) for size in shape.sizes]
    found += [max(work.iterations, 1.0), max(work.footprint_bytes, 1.0)]
    found += [1.0 + max(value, 0.0) if math.isfinite(value) else 1.0 for value in shape.features]
    logs = np.log(np.array(found))
    first, second = _pairs(min(count, RATIO_SIZES))
    return np.concatenate([logs[:count], logs[first] - logs[second], logs[count:]]), count


@lru_cache(maxsize=64)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(count, 1)


class Forest:
    """Trees over the same features side by side, so that all are asked in one go. Their nodes are in one row; trees
    that have seen the same range of features share it."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        nodes: list[tuple[int, float, int, int]] = []
        roots = []
        for tree in trees:
            roots.append(first := len(nodes))
            nodes += [(feature, limit, left + first, right + first) for feature, limit, left, right in tree.nodes]
        self._roots = np.array(roots, np.intp)
        self._feature = np.array([node[0] for node in nodes], np.intp)
        self._limit = np.array([node[1] for node in nodes])
        self._left = np.array([node[2] for node in nodes], np.intp)
        self._right = np.array([node[3] for node in nodes], np.intp)
        lines = np.array([line for tree in trees for line in tree.lines])
        self._constant, self._factors = lines[:, 0].copy(), lines[:, 1:].copy()
        self._steps = max(_depth(tree) for tree in trees)
        ranges = {each: row for row, each in enumerate(dict.fromkeys((tree.low, tree.high) for tree in trees))}
        self._range = np.array([ranges[tree.low, tree.high] for tree in trees], np.intp)
        self._low, self._high = (np.array([each[side] for each in ranges]) for side in (0, 1))
        self._sizes = trees[0].sizes
        self.within = np.array([tree.within for tree in trees])

    def ask(self, features: Floats) -> tuple[Floats, Floats]:
        """Of each tree, the time in ns, and how far outside of what it has seen this is (0: inside; 1: e times). Raises
        ValueError for another number of features than the trees have."""
        if features.size != self._low.shape[1]:
            raise ValueError(f"these trees ask for {self._low.shape[1]} features, not {features.size}")
        inside = np.minimum(np.maximum(features, self._low), self._high)
        outside = features - inside
        near = inside + np.minimum(np.maximum(outside, -REACH), REACH)
        grown = (features - near)[:, : self._sizes]
        beyond = np.maximum(grown.max(axis=1, initial=0.0), 0.0) + grown.min(axis=1, initial=0.0)
        node = self._roots
        for _ in range(self._steps):
            right = near[self._range, self._feature[node]] > self._limit[node]
            node = np.where(right, self._right[node], self._left[node])
        if len(near) == 1:
            logs = self._factors[node] @ near[0] + beyond[0]
        else:
            logs = (self._factors[node] * near[self._range]).sum(axis=1) + beyond[self._range]
        times = np.exp(np.minimum(np.maximum(logs + self._constant[node], 0.0), 100.0))
        return times, np.abs(outside).max(axis=1, initial=0.0)[self._range]


def _depth(tree: Tree) -> int:
    deep = [0] * len(tree.nodes)
    for node, (_, _, left, right) in enumerate(tree.nodes):
        for after in {left, right} - {node}:
            deep[after] = deep[node] + 1
    return max(deep)


def one_leaf(features: Floats, times: Floats, sizes: int) -> Tree:
    """A tree that is one line, without scikit-learn. features: (points, features). Raises ValueError without points."""
    return _best(features, times, sizes, (1,))


def fit(features: Floats, times: Floats, sizes: int) -> Tree:
    """The tree whose error of what was left out is least. features: (points, features), as from `features_of`; times:
    in ns, above 0. Raises ModuleNotFoundError where scikit-learn is missing and there are more points than for one
    leaf, and ValueError without points. The same points in the same order give the same tree."""
    return _best(features, times, sizes, LEAVES if times.size > ONE_LEAF else (1,))


Grown = tuple[list[tuple[int, float, int, int]], list[Floats]]


def _best(features: Floats, times: Floats, sizes: int, leaves: Sequence[int]) -> Tree:
    count = times.size
    if count == 0 or features.shape[0] != count or not (times > 0).all():
        raise ValueError(f"a tree needs points with times above 0, not {features.shape[0]} and {count} times")
    logs = np.log(times)
    fold = np.arange(count) if count <= MOST_FOLDS else np.arange(count) % 10
    found: tuple[int, Floats] | None = None
    for most in leaves:
        if most > 1 and count < most * FEWEST_IN_LEAF:
            break
        missed = np.zeros(count)
        for group in np.unique(fold) if count > 1 else ():
            rest = fold != group
            nodes, lines = _grow(features[rest], logs[rest], most)
            for point in np.flatnonzero(~rest):
                missed[point] = abs(logs[point] - _at(nodes, lines, features[point]))
        if found is None or missed.mean() < SIMPLER * found[1].mean():
            found = most, missed
    assert found is not None
    nodes, lines = _grow(features, logs, found[0])
    errors = np.expm1(np.minimum(found[1], 5.0))
    low, high = features.min(axis=0), features.max(axis=0)
    mean, within = (float(errors.mean()), float(np.quantile(errors, 0.85))) if count > 1 else (1.0, 1.0)
    return Tree(
        tuple(nodes), tuple(tuple(line.tolist()) for line in lines), tuple(low.tolist()), tuple(high.tolist()),
        sizes, mean, within,
    )  # fmt: skip


def _grow(features: Floats, logs: Floats, leaves: int) -> Grown:
    """Nodes and lines of a tree with so many leaves at most."""
    line = _line(features, logs)
    if leaves == 1 or logs.size < 2 * FEWEST_IN_LEAF:
        return [(0, 0.0, 0, 0)], [line]
    regressor = _regressor()(max_leaf_nodes=leaves, min_samples_leaf=FEWEST_IN_LEAF, random_state=0)
    regressor.fit(features, logs - line[0] - features @ line[1:])
    tree = regressor.tree_
    # scikit-learn asks in single precision; limits are halfway between points, so that no point changes sides.
    where = regressor.apply(features)
    nodes, lines = [], []
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            nodes.append((0, 0.0, node, node))
            lines.append(_line(features[where == node], logs[where == node]))
        else:
            nodes.append((int(tree.feature[node]), float(tree.threshold[node]), left, right))
            lines.append(np.zeros(features.shape[1] + 1))
    return nodes, lines


def _regressor() -> Callable[..., Any]:
    try:
        trees = import_module("sklearn.tree")
    except ImportError as error:
        raise ModuleNotFoundError(
            "times of irregular kernels are learned with scikit-learn, which is not installed: "
            'pip install "loopwright[tune]"'
        ) from error
    regressor: Callable[..., Any] = trees.DecisionTreeRegressor
    return regressor


def _at(nodes: list[tuple[int, float, int, int]], lines: list[Floats], features: Floats) -> float:
    node = 0
    while True:
        feature, limit, left, right = nodes[node]
        after = right if features[feature] > limit else left
        if after == node:
            return float(lines[node][0] + lines[node][1:] @ features)
        node = after


def _line(features: Floats, logs: Floats) -> Floats:
    """A constant and one factor for each feature, most of them 0: the features that bring the leave-one-out error down
    most, one after another. Where nothing does, it is the mean."""
    count, width = features.shape
    spread = features.std(axis=0)
    middle = features.mean(axis=0)
    scaled = (features - middle) / np.where(spread > 1e-9, spread, 1.0)
    chosen: list[int] = []
    best, factors = _left_out(scaled[:, []], logs)
    while len(chosen) < min(MOST_TERMS, count // 3) or (not chosen and count > 1):
        free = [column for column in range(width) if spread[column] > 1e-9 and column not in chosen]
        if not free:
            break
        trials = [(*_left_out(scaled[:, [*chosen, column]], logs), column) for column in free]
        error, fitted, column = min(trials, key=lambda trial: trial[0])
        if error >= ONE_MORE * best:
            break
        best, factors = error, fitted
        chosen.append(column)
    line = np.zeros(width + 1)
    line[[column + 1 for column in chosen]] = factors / spread[chosen]
    line[0] = logs.mean() - line[1:] @ middle
    return line


def _left_out(columns: Floats, logs: Floats) -> tuple[float, Floats]:
    """The leave-one-out error of a line of centred columns with a constant, and its factors."""
    count = logs.size
    inverse = np.linalg.inv(columns.T @ columns + RIDGE * count * np.eye(columns.shape[1]))
    factors = inverse @ (columns.T @ (logs - logs.mean()))
    own = ((columns @ inverse) * columns).sum(axis=1) + 1.0 / count
    missed = (logs - logs.mean() - columns @ factors) / np.maximum(1.0 - own, 0.01)
    return float(np.sqrt((missed * missed).mean())), factors
