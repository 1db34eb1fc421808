"""Ragged nests on the emulated GPU, beside CPython."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.ir.nodes import For
from loopwright.ir.queries import arrays_stored
from loopwright.ir.walk import statements

DRAW = np.random.default_rng(12)


def scaled(start, x, scale, y):
    for g in range(len(start) - 1):
        for r in range(start[g], start[g + 1]):
            y[r] = x[r] * scale[g]


def layers(start, x, w, y):
    for g in range(len(start) - 1):
        own = w[g, 0, 0]
        for r in range(start[g], start[g + 1]):
            for c in range(w.shape[2]):
                t = own
                for k in range(x.shape[1]):
                    t += x[r, k] * w[g, k, c]
                y[r, c] = t


def pooled(start, x, w, y):
    for g in range(len(start) - 1):
        for r in range(start[g], start[g + 1]):
            for c in range(x.shape[1]):
                y[g, c] += x[r, c]


def gradients(start, x, w, y, dx, dw):
    for g in range(len(start) - 1):
        for r in range(start[g], start[g + 1]):
            for c in range(w.shape[2]):
                z = 0.0
                for k in range(x.shape[1]):
                    z += x[r, k] * w[g, k, c]
                y[r, c] = z
                for k in range(x.shape[1]):
                    dx[r, k] += z * w[g, k, c]
                    dw[g, k, c] += z * x[r, k]


def boxes(low, high, image):
    for b in range(len(low)):
        for i in range(low[b, 0], high[b, 0]):
            for j in range(low[b, 1], high[b, 1]):
                image[i, j] += 1.0


def histograms(start, x, h):
    for g in range(len(start) - 1):
        for r in range(start[g], start[g + 1]):
            h[g, int(x[r])] += 1


def keyed(start, key, x, h):
    for g in range(len(start) - 1):
        part = key[key[g]]
        for r in range(start[g], start[g + 1]):
            h[g, int(x[r])] += part


def steps_of(found: Any) -> list[str]:
    return [str(one.step) for one in found.analysed.recipe.decisions]


def starts(kind: str, n: int) -> Any:
    few = [0, n // 3, n // 3, n]
    return np.array({"few": few, "none": [0], "one": [0, n], "backwards": [n // 2, 0, n // 2, n // 4]}[kind])


@pytest.mark.parametrize("kind", ["few", "none", "one", "backwards"])
@pytest.mark.parametrize("kernel", [scaled, layers, pooled])
def test_ranges_are_shared_out_together(kernel: Any, kind: str) -> None:
    start = starts(kind, 30)
    x = DRAW.integers(-3, 4, 30 if kernel is scaled else (30, 4)).astype(float)
    groups = len(start) - 1
    w = DRAW.integers(-3, 4, groups if kernel is scaled else (groups, 4, 4)).astype(float)
    y = np.zeros(30 if kernel is scaled else (groups, 4) if kernel is pooled else (30, 4))
    steps = steps_of(agree(kernel, start, x, w, y, strict=False))
    assert any(step.startswith("flatten g") for step in steps)


@pytest.mark.parametrize("most", [5, 1 << 28])
def test_histograms_of_few_rows(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of more entries than are counted together: then a block has a copy of each row."""
    monkeypatch.setattr("loopwright.steps.flatten.MOST", most)
    x = DRAW.integers(0, 9, 3000).astype(float)
    found = agree(histograms, np.array([0, 1000, 1000, 3000]), x, np.zeros((3, 9), np.int64), strict=False)
    assert {"flatten g.1 r.1", "bind g.1 block.x", "bind r.1 thread.x 256"} <= set(steps_of(found))


def test_what_may_fail_before_an_empty_range_stays_there() -> None:
    start, x = np.array([0, 3, 3, 9]), DRAW.integers(0, 9, 9).astype(float)
    found = agree(keyed, start, np.array([1, 2, 0]), x, np.zeros((3, 9), np.int64), strict=False)
    assert not any(step.startswith("flatten") for step in steps_of(found))
    with lw.options(device="emulated"), pytest.raises(IndexError):
        lw.kernel(keyed)(start, np.array([1, 7, 0]), x, np.zeros((3, 9), np.int64))


def test_boxes_are_flattened_twice() -> None:
    low = DRAW.integers(0, 9, (5, 2))
    steps = steps_of(agree(boxes, low, low + DRAW.integers(-2, 7, (5, 2)), np.zeros((20, 20)), strict=False))
    assert {"flatten b i", "flatten b.i j"} <= set(steps)


@pytest.mark.parametrize("kind", ["few", "none", "one", "backwards"])
@pytest.mark.parametrize("strict", [False, True])
def test_gradients_of_groups_are_flattened_though_each_group_has_its_sums(kind: str, strict: bool) -> None:
    """Ranges that do not meet are found out when the call begins; what is left are additions, which are atomic."""
    start = starts(kind, 20)
    x, w = DRAW.integers(-3, 4, (20, 3)).astype(float), DRAW.integers(-3, 4, (len(start) - 1, 3, 5)).astype(float)
    given = start, x, w, np.zeros((20, 5)), np.zeros((20, 3)), np.zeros(w.shape)
    steps = steps_of(agree(gradients, *given, strict=strict))
    if not strict:
        assert "flatten g.2 r.2" in steps and any(one.endswith("block.x") and "r.2" in one for one in steps)


def covered(low, high, count):
    for b in lw.prange(len(low)):
        for r in range(max(low[b], 0), high[b]):
            count[r] += 1.0


def test_additions_of_a_prange_over_ranges_that_overlap_are_not_lost() -> None:
    """The user says that iterations need no order, not that none adds to what another one adds to."""
    low = DRAW.integers(0, 9, 12)
    found = agree(covered, low, low + DRAW.integers(-2, 9, 12), np.zeros(20), strict=False)
    assert any(step.startswith("flatten b") for step in steps_of(found))
    flat = [one for one in statements(found.analysed.recipe.kernel.body, For) if one.asserted]
    assert not any(one.asserted == "independent" and arrays_stored(one.body) & {"count"} for one in flat)
