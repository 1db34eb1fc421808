"""Programs that are hard to analyse: no first call waits for more than some seconds of analysis, and results are
CPython's all the same.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n analyses n/10 more, others each time (`make fuzz`).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import loopwright as lw
from codegen.on_gpu import even_in_one_thread
from loopwright import compiler
from loopwright.config import Device, current
from loopwright.frontend.capture import capture
from loopwright.ir.variant import compilation_of
from loopwright.runtime.specialise import signature_of
from loopwright.steps.schedule import print_schedule

from .hard import Hard, hard
from .judge import difference, function_of, run

SECONDS = 9.0
"""Of this thread, for a machine three times as slow as the one where three seconds are wanted."""

PROGRAMS = 16

HEAD = "def kernel(a, b, c, g, p, n, m, s, t):\n"

OUTLIERS = {
    # Simplifying a condition, isl followed numbers of hundreds of digits.
    "remainder": """
    for k in range(n // 2):
        a[(1004 * (k % 1013) + k) % n] = 1.0
""",
    # A difference of sets, of the values for which two accesses meet.
    "difference": """
    for i in range(max(0, s - 1), min(n, s + 1)):
        for j in range(0, 6, 3):
            b[max(j // 1920, (i % t) % 31) % 60] = b[(1013 * max(j, i)) % 60] * 2.0
""",
    # The greatest value of a digit.
    "greatest": """
    for i in range(n):
        for j in range(m):
            a[(i * m + (j * 4095) % 1920) % 144] = b[(i * m + ((1004 * i + j) // 31) % 7) % 60]
""",
    # Quotients of quotients: no number of operations is few enough.
    "chain": "    for i in range(n):\n        k = i\n" + "".join(
        f"        k = (k * 3 + {j}) % {j + 50}\n" for j in range(40)) + "        a[k] = 1.0 * i\n",
    # Minima of minima: each may double the number of pieces.
    "minima": "    for i in range(n):\n        k = i\n" + "".join(
        f"        k = min(k + {j}, {200 - j} - i)\n" for j in range(60)) + "        a[k % 144] = 1.0\n",
}  # fmt: skip


def seconds(program: Hard, device: Device = "auto") -> tuple[float, str]:
    """How long all that comes before the C compiler takes, and the schedule that came of it."""
    source = capture(function_of(program.source))
    arguments = tuple(program.arguments())
    signature = signature_of(arguments, [0, 1, 2, 3], tuple(one.name for one in source.parameters))
    wanted = compilation_of(signature, replace(current(), device=device))
    started = time.thread_time()
    with even_in_one_thread():
        found = compiler.analysed(source, wanted)
        compiler.program_of(found, wanted)
    return time.thread_time() - started, print_schedule(found.recipe.schedule)


def agree(program: Hard) -> None:
    function = function_of(program.source)
    right = run(function, program.recipes)
    with lw.options(strict=right.inexact, threads=2):
        other = run(lw.kernel(function), program.recipes)
    assert not difference(right, other, strict=False, in_order=False), program.source


@pytest.mark.parametrize("device", ["auto", "emulated"])
@pytest.mark.parametrize("name", OUTLIERS)
def test_no_analysis_without_end(name: str, device: Device) -> None:
    taken, _ = seconds(Hard(HEAD + OUTLIERS[name]), device)
    assert taken < SECONDS


@pytest.mark.parametrize("name", OUTLIERS)
def test_results_where_little_is_proven(name: str, tmp_path: Path) -> None:
    with lw.options(cache=tmp_path):
        agree(Hard(HEAD + OUTLIERS[name]))


def test_what_was_too_hard_is_checked_and_explain_says_so() -> None:
    program = Hard(HEAD + OUTLIERS["chain"])
    with lw.options(device="interpreter"):
        report = lw.kernel(function_of(program.source)).explain(*program.arguments()).to_dict()
    (access,) = next(one["accesses"] for one in report["arrays"] if one["name"] == "a")
    assert access["bounds"] == "checked" and "too hard to prove within the budget" in access["reason"]
    (loop,) = report["loops"]
    assert loop["verdict"] == "undecided" and "too hard to tell within the budget" in loop["reason"]


def test_explain_ends() -> None:
    for name in ("remainder", "greatest"):
        program = Hard(HEAD + OUTLIERS[name])
        started = time.thread_time()
        with lw.options(device="interpreter"):
            lw.kernel(function_of(program.source)).explain(*program.arguments())
        assert time.thread_time() - started < 2 * SECONDS


def test_the_same_program_gets_the_same_code_whatever_came_before() -> None:
    seeds = range(200, 203)
    first = [seconds(hard(seed))[1] for seed in seeds]
    again = [seconds(hard(seed))[1] for seed in reversed(seeds)]
    assert first == again[::-1]


def test_the_order_of_hashes_does_not_matter() -> None:
    """Which parameters left a map first hung on the hashes of their names: in one process of ten that took 40 s."""
    code = (
        "from meaning.test_hard_programs import *\n"
        "for name in ('greatest', 'difference'):\n"
        "    taken, schedule = seconds(Hard(HEAD + OUTLIERS[name]), 'emulated')\n"
        "    assert taken < SECONDS, name\n"
        "    print(name, schedule)"
    )
    found = set()
    for seed in ("2", "5"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def check(seeds: range) -> None:
    """Analyse programs, and run some of them."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        program = hard(seed)
        taken, schedule = seconds(program, "emulated" if seed % 4 == 3 else "auto")
        assert taken < SECONDS, f"seed {seed}: {taken:.1f} s\n{program.source}"
        tally["some steps"] += bool(schedule)
        if seed % 8 == 0:
            agree(program)
            tally["run"] += 1
    assert tally["run"] >= len(seeds) // 8 and tally["some steps"] > len(seeds) // 4, tally


def test_random_programs(tmp_path: Path) -> None:
    with lw.options(cache=tmp_path):
        check(range(PROGRAMS))


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ", "").isdecimal(), reason="LOOPWRIGHT_FUZZ=n analyses n // 10")
def test_more_programs(tmp_path: Path) -> None:
    first = random.SystemRandom().randrange(10**9)
    seeds = range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"]) // 10)
    print(seeds)
    with lw.options(cache=tmp_path):
        check(seeds)


def test_most_programs_run_to_their_end() -> None:
    ended = sum(run(function_of(hard(seed).source), hard(seed).recipes).error is None for seed in range(100))
    assert ended > 90
    text = "".join(hard(seed).source for seed in range(100))
    assert all(
        part in text for part in ("% 1013", "1004", "2147483648", "1000000000000", "min(", "-1, -1)", "* m", "p[")
    )
