"""Each kernel compiled: the right results under every option, and for each loop the verdict that is true of it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.polybench import MODULES

import loopwright as lw
from conftest import Golden
from polybench.data import shaken, sizes
from polybench.loops import loop_lines

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "strict-threads": {"strict": True, "threads": 2},
    "strict-checks": {"strict": True, "checks": "all"},
    "checks-threads": {"checks": "all", "threads": 2},
}
"""All pairs of three options, each given or not. `make fuzz` asks for all eight."""
SINGLE: dict[str, Any] = {"strict": True, "checks": "all", "threads": 2}
if os.environ.get("LOOPWRIGHT_FUZZ"):
    OPTIONS |= {
        "-".join(some): {one: SINGLE[one] for one in some} for n in (1, 2, 3) for some in combinations(SINGLE, n)
    }

every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)


def after(function: Callable[..., object], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the function leaves them; `given` is not changed."""
    arguments = copy.deepcopy(given)
    assert function(*arguments.values()) is None
    return arguments


def agree(module: ModuleType, actual: dict[str, Any], expected: dict[str, Any]) -> None:
    for name in module.OUTPUTS:
        assert actual[name].dtype == expected[name].dtype
        single = expected[name].dtype == np.float32
        np.testing.assert_allclose(
            actual[name], expected[name], rtol=1e-4 if single else 1e-8, atol=1e-6 if single else 1e-9, err_msg=name
        )


@every_module
@pytest.mark.parametrize("chosen", OPTIONS)
def test_results(module: ModuleType, chosen: str) -> None:
    given = shaken(module.initialise(**sizes(module)))
    expected = module.reference(**given)
    with lw.options(**OPTIONS[chosen]):
        agree(module, after(lw.kernel(module.kernel), given), expected)


@every_module
def test_strict_results_are_those_of_python_to_the_last_bit(module: ModuleType) -> None:
    for chosen in ((11, 9, 7, 13, 5), (2, 2, 2, 2, 2)):
        given = shaken(module.initialise(**sizes(module, chosen)))
        expected = after(module.kernel, given)
        with lw.options(strict=True, threads=2):
            actual = after(lw.kernel(module.kernel), given)
        for name, value in expected.items():
            np.testing.assert_array_equal(actual[name], value, err_msg=name)


@every_module
@pytest.mark.parametrize("strict", [False, True], ids=["free", "strict"])
def test_results_where_threads_are_worth_starting(module: ModuleType, strict: bool) -> None:
    given = module.initialise(**module.SIZES["SMALL"])
    expected = module.reference(**given)
    with lw.options(threads=2, strict=strict):
        agree(module, after(lw.kernel(module.kernel), given), expected)


@every_module
def test_verdicts(module: ModuleType, golden: Golden) -> None:
    arguments = module.initialise(**sizes(module)).values()
    loops = lw.kernel(module.kernel).explain(*arguments).to_dict()["loops"]
    golden(f"polybench/{module.NAME}.txt", "\n".join(map(described, loops)))
    found = {loop["line"]: loop["verdict"] for loop in loops}
    assert {name: found[line] for name, line in loop_lines(module).items()} == module.PARALLEL


def described(loop: dict[str, Any]) -> str:
    parts = [f"{'  ' * loop['depth']}{loop['source']} {loop['verdict']}: {loop['reason']}"]
    if loop["private"]:
        parts.append(f"private {', '.join(loop['private'])}")
    if loop["conflict"]:
        parts.append("{kind} {first} -> {second}, distance {distance}".format(**loop["conflict"]))
    return "; ".join(parts)
