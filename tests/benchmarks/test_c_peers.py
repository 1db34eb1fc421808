"""The C loops beside us compute what the Python kernels do: a rival that is wrong, or slow by a wrong type, is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from examples.programs import PROBLEMS
from examples.programs.problem import Problem, agrees, fresh, largest_difference

from benchmarks import agreement, c_peers, polybench, sparse
from polybench.data import shaken

C_TYPES = {"float64": "double", "float32": "float", "int64": "int64_t", "int32": "int32_t", "int8": "int8_t"}
C_TYPES |= {"uint8": "uint8_t", "int": "int64_t", "float": "double"}
TILED = [module for module in polybench.MODULES if c_peers.has_pluto(module.NAME)]
OPENMP = [module for module in polybench.MODULES if c_peers.has_openmp(module.NAME)]
SHORT = {"radius": 2, "rounds": 2, "sweeps": 3, "reach": 2}


def parameters(name: str, sources: Path = c_peers.FOLDER) -> list[tuple[str, str]]:
    """(type, name) of each parameter of `run` in <name>.c."""
    text = (sources / f"{name}.c").read_text()
    found = re.search(r"void run\(([^)]*)\)", text)
    assert found, f"{name}.c has no run"
    pairs = []
    for parameter in found.group(1).split(","):
        declared = re.match(r"(?:const )?(\w+) (\w+)", " ".join(parameter.split()))
        assert declared, parameter
        pairs.append((declared.group(1), declared.group(2)))
    return pairs


def c_type(value: Any) -> str:
    """The C type that holds one element of an argument, or a scalar argument."""
    return C_TYPES[value.dtype.name if isinstance(value, np.ndarray) else type(value).__name__]


@pytest.mark.parametrize("module", polybench.MODULES, ids=lambda module: module.NAME)
def test_a_polybench_loop_in_c_agrees(module: ModuleType, tmp_path: Path) -> None:
    data: Mapping[str, Any] = module.initialise(**module.SIZES["SMALL"])
    assert parameters(module.NAME) == [(c_type(value), name) for name, value in data.items()]
    expected = module.reference(**data)
    c_peers.binder(module.NAME, tmp_path, shapes=False)(*data.values())()
    assert agreement.same({name: data[name] for name in module.OUTPUTS}, expected, getattr(module, "TOLERANCE", 1e-8))


def odd_sizes(module: ModuleType, steps: int, size: int) -> dict[str, int]:
    """A data set whose sizes differ from each other, and are no multiples of a tile."""
    names = list(module.SIZES["MINI"])
    return {name: steps if name in ("tsteps", "tmax") else size + 7 * at for at, name in enumerate(names)}


# Fewer time steps than a tile has, or several tiles of them; grids smaller than a tile, and of many tiles.
@pytest.mark.parametrize(("steps", "size"), [(1, 3), (5, 70), (33, 33), (70, 9), (100, 41), (65, 20), (32, 19)])
@pytest.mark.parametrize("module", TILED, ids=lambda module: module.NAME)
def test_a_tiled_loop_agrees(module: ModuleType, steps: int, size: int, tmp_path: Path) -> None:
    data: Mapping[str, Any] = shaken(module.initialise(**odd_sizes(module, steps, size)))
    assert parameters(module.NAME, c_peers.PLUTO) == [(c_type(value), name) for name, value in data.items()]
    expected = module.reference(**data)
    c_peers.binder(module.NAME, tmp_path, False, threads=3, sources=c_peers.PLUTO)(*data.values())()
    assert agreement.same({name: data[name] for name in module.OUTPUTS}, expected, getattr(module, "TOLERANCE", 1e-8))


def test_every_tiled_loop_has_a_kernel() -> None:
    names = {path.stem for path in c_peers.PLUTO.glob("*.c")}
    assert names == {module.NAME for module in TILED}
    assert names >= {"gemm", "jacobi-2d", "heat-3d", "lu", "floyd-warshall"}


@pytest.mark.parametrize("module", OPENMP, ids=lambda module: module.NAME)
def test_the_same_loop_on_three_threads_agrees(module: ModuleType, tmp_path: Path) -> None:
    data: Mapping[str, Any] = module.initialise(**module.SIZES["SMALL"])
    expected = module.reference(**data)
    c_peers.binder(module.NAME, tmp_path, shapes=False, threads=3)(*data.values())()
    assert agreement.same({name: data[name] for name in module.OUTPUTS}, expected, 1e-8)


@pytest.mark.parametrize("threads", [None, 3])
def test_the_sparse_product_in_c_agrees(threads: int | None, tmp_path: Path) -> None:
    data: Mapping[str, Any] = sparse.spmv_arguments("MINI")
    declared = [pair for pair in parameters("spmv") if pair[1] in data]
    assert declared == [(c_type(value), name) for name, value in data.items()]
    c_peers.binder("spmv", tmp_path, shapes=True, threads=threads)(*data.values())()
    assert agreement.same({"y": data["y"]}, sparse.spmv_reference(**data), 1e-12)


def test_openmp_uses_the_threads_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_peers, "FOLDER", tmp_path)
    text = "#include <stdint.h>\n#include <omp.h>\nvoid run(int64_t *a) {\n#pragma omp parallel\n"
    (tmp_path / "team.c").write_text(text + "#pragma omp single\na[0] = omp_get_num_threads(); }\n")
    for threads in (3, 1):
        seen = np.zeros(1, np.int64)
        c_peers.binder("team", tmp_path, shapes=False, threads=threads)(seen)()
        assert seen.tolist() == [threads]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kernel.__name__)
def test_a_program_of_the_tour_in_c_agrees(problem: Problem, tmp_path: Path) -> None:
    data = problem.arguments()
    data |= {name: value for name, value in SHORT.items() if name in data}
    declared = [pair for pair in parameters(problem.kernel.__name__) if pair[1] in data]
    assert declared == [(c_type(value), name) for name, value in data.items()]
    in_numpy, in_c = fresh(problem, data), fresh(problem, data)
    problem.with_numpy(**in_numpy)
    c_peers.binder(problem.kernel.__name__, tmp_path, shapes=True)(*in_c.values())()
    assert agrees(problem, largest_difference(problem, in_c, in_numpy))


def test_an_argument_that_c_cannot_take_is_refused() -> None:
    with pytest.raises(TypeError, match="contiguous"):
        c_peers.converted(np.zeros((4, 4))[:, ::2], shapes=False)
    with pytest.raises(TypeError, match="str"):
        c_peers.converted("text", shapes=False)


def test_the_words_of_the_compiler_come_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_peers, "FOLDER", tmp_path)
    (tmp_path / "broken.c").write_text("void run(int64_t n) {}\n")
    with pytest.raises(RuntimeError, match="int64_t"):
        c_peers.build("broken", tmp_path)
