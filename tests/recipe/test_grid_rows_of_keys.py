"""Rows of which each adds to elements that data selects, with loops inside: what blocks share, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe import grid_rows_of_keys
from loopwright.recipe.gpu import gpu_recipe


@pytest.fixture(autouse=True)
def short() -> Iterator[None]:
    """Short rows are long here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid_rows_of_keys, "LONG", 16)
        yield


def overlaps(scores, label, sums, hits):
    for b in range(scores.shape[0]):
        for i in range(scores.shape[2]):
            most = scores[b, 0, i]
            for c in range(scores.shape[1]):
                most = max(most, scores[b, c, i])
            for c in range(scores.shape[1]):
                scores[b, c, i] = most - scores[b, c, i]
                sums[b, c] += scores[b, c, i]
            hits[b, label[b, i]] += scores[b, label[b, i], i]


def channels_last(scores, label, sums, hits):
    for b in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            for c in range(scores.shape[2]):
                sums[b, c] += scores[b, i, c]
            hits[b, label[b, i]] += 1.0


def steps_of(found: Any) -> str:
    return "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


@pytest.mark.parametrize("places", [0, 1, 15, 16, 40])
def test_neighbouring_places_have_neighbouring_threads(places: int) -> None:
    draw = np.random.default_rng(places)
    scores = draw.integers(-9, 9, (2, 3, places)).astype(float)
    given = scores, draw.integers(0, 3, (2, places)), np.zeros((2, 3)), np.zeros((2, 3))
    steps = steps_of(agree(overlaps, *given, strict=False))
    assert "specialize scores.2 >= 16 in b; split i 4096;" in steps
    assert "bind b block.x; bind i.o block.y; bind i thread.x 512" in steps


@pytest.mark.parametrize(("function", "strict"), [(channels_last, False), (overlaps, True)])
def test_other_rows_are_shared_as_before(function: Callable[..., object], strict: bool) -> None:
    draw = np.random.default_rng(7)
    scores = draw.integers(-9, 9, (2, 20, 20)).astype(float)
    given = scores, draw.integers(0, 20, (2, 20)), np.zeros((2, 20)), np.zeros((2, 20))
    assert "split i 4096" not in steps_of(agree(function, *given, strict=strict))


MADE_BY_STEPS = """
kernel by_key(k: int64[1] C, w: float64[1] C, sums: float64[2] C):
    for c in 0 .. size(sums, 1):
        for a in 0 .. size(k, 0):
            for b in 0 .. size(w, 0):
                sums[k[a], c] = sums[k[a], c] + w[b]
"""


def test_versions_of_loops_that_steps_have_made_are_shared_too() -> None:
    """These loops stand in no line of the user's, so that their copies are not known to be the same."""
    kernel = parse_kernel(MADE_BY_STEPS)
    found = "; ".join(str(step) for step in gpu_recipe(kernel, analyse(kernel), strict=False).schedule)
    assert "specialize k.0 >= 16 in c;" in found and "bind c.1 thread.x 32" in found
