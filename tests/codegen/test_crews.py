"""Who does what a team is to do: all of its threads, or one where the team took longer; the results are the same."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.codegen.openmp import HEADER
from loopwright.config import Config
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule
from loopwright.toolchain.cc import build

MS = 1_000_000
HARNESS = """
int64_t crew(lw_pace *pace, int64_t threads, int64_t work) {
  lw_run run;
  return lw_crew_for(&run, pace, threads, (double)work);
}
int64_t learn(lw_pace *pace, int64_t crew, int64_t spent, int64_t took) {
  const int64_t now = lw_now();
  const lw_run run = {pace, crew, now - took, spent, 1000};
  lw_learn(&run);
  return now;
}
"""


class Pace(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int64) for name in ("credit", "until", "losses", "work"))


@dataclass
class Loop:
    """A loop, and what is known of it."""

    library: ctypes.CDLL
    pace: Pace

    def ran(self, spent: float, took: float, crew: int = 2) -> float:
        """All threads together spent so many milliseconds, and it took so many; how many one thread does it now."""
        times = (ctypes.c_int64(int(spent * MS)), ctypes.c_int64(int(took * MS)))
        now = self.library.learn(ctypes.byref(self.pace), ctypes.c_int64(crew), *times)
        return max(0.0, (self.pace.until - int(now)) / MS)

    def crew(self, work: int = 1000) -> int:
        return int(self.library.crew(ctypes.byref(self.pace), ctypes.c_int64(4), ctypes.c_int64(work)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ctypes.CDLL]:
    cache = tmp_path_factory.mktemp("cache")
    found = ctypes.CDLL(str(build(f"{HEADER}\n{HARNESS}", (), Config(cache=cache)).path))
    found.crew.restype = found.learn.restype = ctypes.c_int64
    yield found


@pytest.fixture
def loop(library: ctypes.CDLL) -> Loop:
    return Loop(library, Pace())


def test_a_loop_that_nothing_is_known_of_has_the_team(loop: Loop) -> None:
    assert loop.crew() == 4
    assert loop.ran(spent=4, took=3) == 0
    assert loop.crew() == 4


def test_what_a_team_lost_is_how_long_one_thread_does_the_loop(loop: Loop) -> None:
    assert loop.ran(spent=4, took=8) == pytest.approx(4, rel=0.02)
    assert loop.crew() == 1
    loop.pace.until = 1
    assert loop.crew() == 4


def test_much_more_work_has_the_team(loop: Loop) -> None:
    loop.ran(spent=4, took=8)  # 1000 units
    assert [loop.crew(work) for work in (1, 1000, 1900, 2500, 10**9)] == [1, 1, 1, 4, 4]


def test_each_further_loss_counts_twice(loop: Loop) -> None:
    assert [round(loop.ran(4, 5)) for _ in range(9)] == [1, 2, 4, 8, 16, 32, 64, 64, 64]


def test_teams_that_gained_may_lose_as_much(loop: Loop) -> None:
    assert [loop.ran(4, 1), loop.ran(1, 3)] == [0, 0]
    assert loop.ran(1, 3) == pytest.approx(1, rel=0.05)


def test_gains_of_long_ago_count_for_milliseconds(loop: Loop) -> None:
    loop.ran(4000, 1000)
    assert loop.ran(1, 7) == pytest.approx(1, rel=0.05)


def test_a_loss_is_forgotten_when_teams_gain_again(loop: Loop) -> None:
    loop.ran(4, 5), loop.ran(4, 5)
    loop.ran(4, 3.5)
    assert loop.pace.losses == 2
    loop.ran(4, 3)
    assert loop.pace.losses == 0


def test_one_thread_alone_is_no_loss(loop: Loop) -> None:
    assert loop.ran(2, 50, crew=1) == 0 and loop.pace.credit == 0


SUMS = """
kernel sums(a: float32[1] C, b: int64[1] C, h: float64[1] C) -> tuple(float32, float32):
    var s: float32
    var top: float32
    s = 0.0f32
    top = a[0]
    for i in 0 .. size(a, 0):
        s = s + a[i]
        top = max(top, a[i])
        h[b[i]] = h[b[i]] + 0.1
    return s, top
"""


@pytest.mark.parametrize("deterministic", [False, True])
def test_one_thread_gives_the_bits_of_all_of_them(deterministic: bool, tmp_path: Path) -> None:
    kernel = parse_kernel(SUMS)
    facts = analyse(kernel)
    kernel, facts = apply_schedule(kernel, facts, marks(kernel, facts, False), False)
    n = 200_000
    a, b = np.random.default_rng(1).random(n, np.float32), np.random.default_rng(2).integers(0, 9, n)
    found = []
    for flags in ((), ("-DLW_ALONE=1",), ("-DLW_ALONE=-1",)):
        h = np.zeros(9)
        run = compiled(kernel, tmp_path, facts, False, False, 4, deterministic, flags)
        results = [run.run((a, b, h)) for _ in range(3)]
        found.append((results, h.tobytes()))
    assert found[0] == found[1] == found[2]
