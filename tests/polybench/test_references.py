"""CPython's own run of each kernel, of its annotated twin and the independent reference agree: no compiler needed."""

from __future__ import annotations

import copy
import inspect
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.polybench import MODULES

from polybench.data import SIZES, shaken, sizes
from polybench.loops import loop_lines

DATA_SETS = ["MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE"]
VERDICTS = {"parallel", "reduction", "sequential"}

every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)


def tolerance(array: np.ndarray) -> float:
    return 1e-4 if array.dtype == np.float32 else 1e-9


def agree(module: ModuleType, given: dict[str, Any], function_name: str = "kernel") -> None:
    expected = module.reference(**given)
    actual = copy.deepcopy(given)
    assert getattr(module, function_name)(**actual) is None
    assert set(expected) == set(module.OUTPUTS)
    for name in module.OUTPUTS:
        assert actual[name].dtype == given[name].dtype
        np.testing.assert_allclose(actual[name], expected[name], rtol=tolerance(given[name]), atol=1e-9, err_msg=name)


def other_proportions(module: ModuleType) -> tuple[int, ...]:
    return (6, 6) if module.NAME == "gramschmidt" else (5, 8, 12, 6, 9)  # needs no fewer rows than columns


@every_module
@pytest.mark.parametrize("function_name", ["kernel", "kernel_prange"])
def test_reference(module: ModuleType, function_name: str) -> None:
    agree(module, module.initialise(**sizes(module)), function_name)


@every_module
@pytest.mark.parametrize("function_name", ["kernel", "kernel_prange"])
def test_reference_without_symmetry(module: ModuleType, function_name: str) -> None:
    for chosen in (SIZES, other_proportions(module)):
        agree(module, shaken(module.initialise(**sizes(module, chosen))), function_name)


@every_module
def test_reference_at_the_least_sizes(module: ModuleType) -> None:
    agree(module, module.initialise(**sizes(module, (2, 2, 2, 2, 2))))


@every_module
def test_reference_at_other_proportions(module: ModuleType) -> None:
    agree(module, module.initialise(**sizes(module, other_proportions(module))))


@every_module
def test_the_reference_changes_nothing_and_the_kernel_changes_its_outputs(module: ModuleType) -> None:
    given = module.initialise(**sizes(module))
    before = copy.deepcopy(given)
    expected = module.reference(**given)
    for name, value in given.items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    for name in module.OUTPUTS:
        assert not np.allclose(expected[name], before[name]), name
        assert np.isfinite(expected[name]).all(), name


@every_module
def test_the_parts_fit_together(module: ModuleType) -> None:
    parameters = list(inspect.signature(module.kernel).parameters)
    given = module.initialise(**sizes(module))
    assert parameters == list(inspect.signature(module.kernel_prange).parameters) == list(given)
    assert parameters == list(inspect.signature(module.reference).parameters)
    assert list(module.SIZES) == DATA_SETS
    for function in (module.initialise, module.flops, module.bytes_min):
        assert set(inspect.signature(function).parameters) == set(module.SIZES["MINI"])
        assert all(set(data_set) == set(module.SIZES["MINI"]) for data_set in module.SIZES.values())
    assert all(isinstance(value, int | float | np.ndarray) for value in given.values())
    assert all(value.flags.c_contiguous for value in given.values() if isinstance(value, np.ndarray))
    assert list(module.PARALLEL) == list(loop_lines(module))
    assert set(module.PARALLEL.values()) <= VERDICTS
    assert module.__name__.rpartition(".")[2].lstrip("k").replace("_", "-") == module.NAME


def test_there_are_thirty() -> None:
    assert len({module.NAME for module in MODULES}) == 30


def test_correlation_of_a_column_that_does_not_vary() -> None:
    module = next(module for module in MODULES if module.NAME == "correlation")
    given = module.initialise(m=5, n=6)
    given["data"][:, 2] = 7.0
    agree(module, given)
