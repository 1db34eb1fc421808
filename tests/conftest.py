"""What every test may use: golden files. `pytest --update-golden` (`make golden`) rewrites them. And what is not done
while tests run: Python does not look for garbage often, nor wait for the disk, and where a test asks what code means
and not how fast it is, the compiler does not optimise it much."""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

import shared_analyses
import shared_builds
from loopwright.devices import emulated_build
from loopwright.recipe import grid_totals
from loopwright.report import grids
from loopwright.toolchain import cc

GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("a shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("a shared machine")  # which may stand still for a second at any place

gc.disable()  # until all tests are collected: a third of that would be looking for garbage, and there is none


class Golden(Protocol):
    """Compare text with the file `tests/golden/<name>`, or write the file when asked to."""

    def __call__(self, name: str, text: str) -> None: ...


FULLY_OPTIMISED = frozenset({"codegen", "docs", "examples", "field", "meaning", "polybench", "toolchain"})
"""Folders whose tests are compiled as users' calls are: those about compilers and generated code, and enough programs
to see where the optimiser makes something else of a program. So are the files in no folder."""
AS_FOR_USERS = cc.BASE_FLAGS
QUICKLY = tuple("-O0" if flag == "-O3" else flag for flag in AS_FOR_USERS)
emulated_build.FLAGS = tuple("-Og" if flag == "-O1" else flag for flag in emulated_build.FLAGS)
"""No optimiser of a GPU is tested where C++ stands in for it."""
shared_builds.install()
shared_analyses.install()


IN_FEW_LANES = frozenset({"benchmarks", "choice", "devices", "faults", "frontend", "memory", "runtime", "tuning"})
"""Folders whose tests ask what totals on a GPU are, and not how they are made: 16 blocks make them there. As many as
a large GPU has take the emulated one a tenth of a second for each call, however few elements there are."""
LANES = grid_totals.LANES, grid_totals.ROWS
FEW_LANES = replace(grid_totals.LANES, default=16 * 256), replace(grid_totals.ROWS, default=16)


ABOUT_REGISTERS = frozenset({"cli", "codegen", "cost", "devices", "docs", "examples", "field", "report", "toolchain"})
"""Folders with tests that read how many registers a kernel of a GPU needs. Elsewhere an explanation is asked for steps
and loops, and says of registers what it says where there is no NVRTC: that compiler takes up to seven seconds for the
code of one program, for numbers that no test there looks at. So do the files in no folder."""
FIND_NVRTC = grids.find_nvrtc


def _no_nvrtc() -> None:
    """In place of `find_nvrtc`."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """How far this test's kernels are optimised, those of its fixtures too, and whether NVRTC is asked about them. gcc
    takes a third of the time with -O0 that it takes with -O3, and a test of what a kernel means runs it once, over few
    elements."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    is_general = folder.endswith(".py")
    cc.BASE_FLAGS = AS_FOR_USERS if folder in FULLY_OPTIMISED or is_general else QUICKLY
    grid_totals.LANES, grid_totals.ROWS = FEW_LANES if folder in IN_FEW_LANES else LANES
    grids.find_nvrtc = FIND_NVRTC if folder in ABOUT_REGISTERS or is_general else _no_nvrtc


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the tests see now")


def pytest_collection_finish() -> None:
    """From here on there is garbage. Modules and tests are none, and the trees of a compiler are mostly gone before
    anybody looks for them: to look less often saves a twelfth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(400_000, 20, 50)
    gc.enable()


def _not_flushed(descriptor: int) -> None:
    """In place of `os.fsync`: what a test leaves need not outlive a power cut, and to wait until each compiled library
    is on the disk takes a tenth of the time in which it is compiled. (Processes that tests start do wait.)"""


os.fsync = _not_flushed


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden("errors/rank.txt", text)` fails where the text differs from the file, showing how."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        now = text.rstrip("\n") + "\n"
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now, encoding="utf-8")
            return
        assert path.exists(), f"tests/golden/{name} is missing: look at the text, then `make golden`\n{now}"
        assert now == path.read_text(encoding="utf-8"), f"differs from tests/golden/{name}: `make golden` accepts it"

    return compare
