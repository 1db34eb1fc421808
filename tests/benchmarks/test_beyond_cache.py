"""Grids that leave the last-level cache, whatever machine it is."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import beyond_cache

CACHE = 1 << 20


@pytest.mark.parametrize("size", ["MEDIUM", "LARGE", "EXTRALARGE"])
@pytest.mark.parametrize("module", beyond_cache.MODULES, ids=lambda module: module.NAME)
def test_every_array_is_twice_the_cache(module: ModuleType, size: str) -> None:
    made = module.initialise(**beyond_cache.sizes(module, size, CACHE))
    grids = [value for value in made.values() if isinstance(value, np.ndarray) and value.ndim > 1]
    assert grids and all(2 * CACHE <= grid.nbytes < 3 * CACHE for grid in grids)


def test_the_small_sizes_are_polybench_s_own() -> None:
    for module in beyond_cache.MODULES:
        assert beyond_cache.sizes(module, "MINI") == module.SIZES["MINI"]


def test_the_largest_cache_counts(tmp_path: Path) -> None:
    for index, size in enumerate(("32K", "1024K", "3M")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert beyond_cache.last_level_cache(tmp_path) == 3 << 20


def test_a_system_that_does_not_say_gets_a_guess(tmp_path: Path) -> None:
    assert beyond_cache.last_level_cache(tmp_path) == beyond_cache.UNKNOWN_CACHE


@pytest.mark.parametrize("module", beyond_cache.MODULES, ids=lambda module: module.NAME)
def test_untiled_loops_pass_over_the_arrays_in_every_step(module: ModuleType) -> None:
    sizes = beyond_cache.sizes(module, "SMALL")
    steps = next(iter(sizes.values()))
    grid = next(value for value in module.initialise(**sizes).values() if isinstance(value, np.ndarray))
    moved = beyond_cache.untiled_bytes(module, "SMALL")
    assert moved == beyond_cache.PASSES[module.NAME] * steps * grid.nbytes
