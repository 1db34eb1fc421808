"""Who does what a team is to do: all of its threads, or one where threads come late; the results are the same."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
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
int64_t crew(int64_t unit, int64_t threads, double work, int64_t late, int64_t ago) {
  lw_run run;
  lw_pace pace = {unit};
  lw_late = late;
  lw_late_since = lw_now() - ago;
  return lw_crew_for(&run, &pace, threads, work);
}
void learn(int64_t *unit, int64_t *late, int64_t crew, double work, int64_t own, int64_t more) {
  lw_pace pace = {*unit};
  const int64_t now = lw_now();
  lw_late = *late;
  lw_late_since = now;
  const lw_run run = {&pace, work, 2, crew, now - own - more, now - own, now};
  lw_learn(&run);
  *unit = pace.unit;
  *late = lw_late;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ctypes.CDLL]:
    cache = tmp_path_factory.mktemp("cache")
    found = ctypes.CDLL(str(build(f"{HEADER}\n{HARNESS}", (), Config(cache=cache)).path))
    found.crew.restype = ctypes.c_int64
    found.crew.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64]
    yield found


def learned(
    library: ctypes.CDLL, own: int, more: int, crew: int = 2, unit: int = 1000, late: int = 2000
) -> tuple[int, int]:
    """Picoseconds of a unit, and lateness, after a region of 1000 units whose own share took so many nanoseconds, and
    all of it so many more."""
    units, lates = ctypes.c_int64(unit), ctypes.c_int64(late)
    library.learn(
        ctypes.byref(units), ctypes.byref(lates), ctypes.c_int64(crew), ctypes.c_double(1000.0), ctypes.c_int64(own),
        ctypes.c_int64(more),
    )  # fmt: skip
    return units.value, lates.value


def test_a_loop_that_takes_longer_than_a_team_is_late_has_the_team(library: ctypes.CDLL) -> None:
    assert library.crew(1000, 4, 1e6, 4 * MS, 0) == 1  # saves 0.75 ms
    assert library.crew(1000, 4, 1e6, 700_000, 0) == 4
    assert library.crew(1000, 2, 3000.0, 0, 0) == 1 and library.crew(1000, 2, 5000.0, 0, 0) == 2  # 2 us are the least


def test_lateness_is_forgotten(library: ctypes.CDLL) -> None:
    assert library.crew(1000, 2, 1e6, 4 * MS, 40 * MS) == 1
    assert library.crew(1000, 2, 1e6, 4 * MS, 90 * MS) == 2
    assert library.crew(1000, 2, 1e4, 2**62, 10**15) == 2


def test_what_is_not_known_yet_is_taken_for_vector_code(library: ctypes.CDLL) -> None:
    assert library.crew(0, 2, 10_000.0, 0, 0) == 1 and library.crew(0, 2, 20_000.0, 0, 0) == 2


def test_a_shorter_time_is_taken_over_at_once_and_a_longer_one_by_and_by(library: ctypes.CDLL) -> None:
    assert learned(library, 300, 0)[0] == pytest.approx(600, abs=60)
    assert learned(library, 600, 0)[0] == pytest.approx(1025, abs=20)
    assert learned(library, 900 * MS, 0)[0] == 1125
    assert learned(library, 700, 0, crew=1)[0] == pytest.approx(700, abs=60)
    assert learned(library, 5000, 0, unit=0)[0] == pytest.approx(10_000, abs=100)


def test_an_eighth_of_how_late_a_team_was_counts(library: ctypes.CDLL) -> None:
    assert learned(library, 500, 8 * MS)[1] == pytest.approx(MS, rel=0.01)
    assert learned(library, 500, 0, late=800_000)[1] == pytest.approx(700_000, rel=0.01)
    assert learned(library, 500, 8 * MS, crew=1)[1] == 2000


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
    for flags in ((), ("-DLW_SOON=0",), ("-DLW_SOON=INT64_C(1)<<60",)):
        h = np.zeros(9)
        run = compiled(kernel, tmp_path, facts, False, False, 4, deterministic, flags)
        results = [run.run((a, b, h)) for _ in range(3)]
        found.append((results, h.tobytes()))
    assert found[0] == found[1] == found[2]
