"""BLAS computes what the kernels do, in place, on as many threads as everybody else."""

from __future__ import annotations

import copy
import inspect
from types import ModuleType

import numpy as np
import pytest

from benchmarks import agreement, openblas, polybench
from polybench.data import shaken

MODULES = [module for module in polybench.MODULES if module.NAME in openblas.ROUTINES]


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)
def test_a_routine_agrees(module: ModuleType, size: str) -> None:
    data = shaken(module.initialise(**module.SIZES[size]))
    routine = openblas.ROUTINES[module.NAME]
    assert list(inspect.signature(routine).parameters) == list(data)
    expected = module.reference(**copy.deepcopy(data))
    routine(*data.values())
    assert agreement.same({name: data[name] for name in module.OUTPUTS}, expected, 1e-8)


def test_every_routine_has_a_kernel() -> None:
    assert {module.NAME for module in MODULES} == set(openblas.ROUTINES) == {"gemm", "2mm", "3mm", "syrk", "trmm"}


def test_what_blas_would_copy_is_refused() -> None:
    wide = np.zeros((4, 8))
    with pytest.raises(ValueError, match="contiguous"):
        openblas.gemm(4, 4, 4, 1.0, 1.0, wide[:, ::2], np.ones((4, 4)), np.ones((4, 4)))


def test_the_threads_are_limited_in_the_block_only() -> None:
    before = openblas.threads_used()
    with openblas.limited(1):
        assert openblas.threads_used() == 1
    assert openblas.threads_used() == before


def test_too_many_threads_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openblas, "threads_used", lambda: 2)
    with pytest.raises(RuntimeError, match="OPENBLAS_NUM_THREADS=1"), openblas.limited(1):
        pass


def test_its_version_is_known() -> None:
    assert all(name and version for name, version in openblas.versions().items())
