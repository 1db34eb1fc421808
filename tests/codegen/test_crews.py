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
UNITS = 1000.0
HARNESS = """
int64_t crew(lw_pace *pace, int64_t threads) { lw_run run; return lw_crew_for(&run, pace, threads, 1e3); }
int64_t learn(lw_pace *pace, int64_t crew, int64_t own, int64_t more) {
  const int64_t now = lw_now();
  const lw_run run = {pace, 1e3, crew, now - own - more, now - own, now};
  lw_learn(&run);
  return now;
}
"""


class Pace(ctypes.Structure):
    _fields_ = (("unit", ctypes.c_int64), ("until", ctypes.c_int64), ("losses", ctypes.c_int64))


@dataclass
class Loop:
    """A loop of 1000 units, and what is known of it."""

    library: ctypes.CDLL
    pace: Pace

    def ran(self, own: int, more: int, crew: int = 2) -> int:
        """Its first thread took so many nanoseconds, and all of it so many more; how long one thread does it now."""
        now = self.library.learn(
            ctypes.byref(self.pace), ctypes.c_int64(crew), ctypes.c_int64(own), ctypes.c_int64(more)
        )
        return max(0, self.pace.until - int(now))

    def crew(self) -> int:
        return int(self.library.crew(ctypes.byref(self.pace), ctypes.c_int64(4)))


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
    assert loop.ran(2 * MS, 1 * MS) == 0  # one thread would have taken 4 ms
    assert loop.crew() == 4


def test_what_a_team_lost_is_how_long_one_thread_does_the_loop(loop: Loop) -> None:
    assert loop.ran(2 * MS, 6 * MS) == pytest.approx(4 * MS, rel=0.02)
    assert loop.crew() == 1
    loop.pace.until = 1
    assert loop.crew() == 4


def test_each_further_loss_counts_twice_and_a_gain_half(loop: Loop) -> None:
    assert [round(loop.ran(2 * MS, 3 * MS) / MS) for _ in range(9)] == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    loop.pace.until = 0
    assert loop.ran(2 * MS, 0) == 0 and loop.pace.losses == 3


def test_one_thread_alone_is_no_loss(loop: Loop) -> None:
    assert loop.ran(2 * MS, 50 * MS, crew=1) == 0 and loop.pace.unit == pytest.approx(2 * MS, rel=0.02)


def test_a_shorter_time_is_taken_over_at_once_and_a_longer_one_by_and_by(loop: Loop) -> None:
    def unit(own: int) -> int:
        loop.ran(own, 0, crew=1)
        return int(loop.pace.unit)

    assert unit(8 * MS) == pytest.approx(8 * MS, rel=0.02)
    assert unit(4 * MS) == pytest.approx(4 * MS, rel=0.02)
    assert unit(6 * MS) == pytest.approx(4.25 * MS, rel=0.02)
    assert unit(900 * MS) == pytest.approx(4.25 * 1.125 * MS, rel=0.02)


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
