"""Cycles of the execution units, counted by hand: what is issued, what waits, what stays in registers, what threads
share. That good schedules beat bad ones is test_cpu.py's."""

from __future__ import annotations

import pytest

from loopwright.analysis.frequency import frequencies
from loopwright.cost.cpu_cycles import (
    ENTRY_CYCLES,
    ISSUED,
    LATENCY,
    OVERHEAD,
    SPECIAL,
    START_CYCLES,
    cycles,
    share_of,
)
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Assign, For
from loopwright.ir.text import parse_kernel
from loopwright.recipe.target import CpuTarget
from steps.kernels import known

TARGET = CpuTarget(vector_bytes=32, registers=16)
ADD = """
kernel add(a: float64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. n{run}:
        a[i] = {value}
"""
N = 1000


def counted(text: str, n: int = N, threads: int = 4, target: CpuTarget = TARGET) -> float:
    kernel, facts = known(text)
    scalar = next(param.argument for param in kernel.scalars if param.name == "n")
    return cycles(kernel.body, facts, target, threads, frequencies(kernel, {f"v{scalar}": n}))


def per_iteration(value: str, run: str = "", n: int = N) -> float:
    """Without what it costs to come to the loop."""
    return (counted(ADD.format(run=run, value=value), n) - ENTRY_CYCLES) / n


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("a[i - 1]", 4 / 4),  # a load, a store and the loop's own two instructions, of four a cycle
        ("a[i - 1] + 1.0", 5 / 4),
        ("a[i - 1] + b[i]", 6 / 4),
        ("(a[i - 1] + b[i]) * b[i]", 7 / 4),  # what is loaded twice is loaded once
        ("a[i - 1] + b[i] + b[i + 1] + b[i + 2] + b[i + 3] + b[i + 4]", 14 / 4),  # no unit of its own is busier
        ("a[i - 1] / 3.0", SPECIAL),
    ],
)
def test_instructions_of_an_iteration_that_follows_another(value: str, wanted: float) -> None:
    assert per_iteration(value) == pytest.approx(wanted)


def test_what_does_not_change_stays_in_a_register() -> None:
    assert per_iteration("a[i - 1] + b[7]") == pytest.approx(5 / 4, rel=0.01)
    few = CpuTarget(vector_bytes=32, registers=4)
    constants = " + ".join(f"b[{k}]" for k in range(4))
    wide, narrow = (counted(ADD.format(run="", value=f"a[i - 1] + {constants}"), target=one) for one in (TARGET, few))
    assert (narrow - wide) / N == pytest.approx(3 / 4, rel=0.01)  # three of four have none, and are loaded


def test_short_loops_inside_are_written_out() -> None:
    text = ADD.replace("a[i] = {value}", "for j in 0 .. {trips}:\n            a[i + 1] = a[i] + b[j]")
    short, long = (counted(text.format(run="", trips=trips)) / N for trips in (4, 65))
    # The one is part of the loop over i, the other is come to a thousand times.
    assert short < ENTRY_CYCLES < long
    most, beyond = (counted(text.format(run="", trips=trips)) / N for trips in (64, 65))
    assert beyond - most > 0.9 * ENTRY_CYCLES


def test_each_time_that_a_loop_is_come_to_costs() -> None:
    text = (
        "kernel k(a: float64[1] C, n: int64):\n    for i in 0 .. n:\n        for j in 0 .. n:\n            a[j] = {}\n"
    )
    for n in (0, 1, 10):
        wanted = n * (ENTRY_CYCLES + n * 4 / 4 + OVERHEAD / ISSUED)
        assert counted(text.format("a[j - 1]"), n) == pytest.approx(wanted)


def test_lanes_do_several_iterations_at_once() -> None:
    alone, lanes = per_iteration("a[i - 1] + 1.0"), per_iteration("b[i] + 1.0")
    assert lanes == pytest.approx(5 / 4 / 4)  # four lanes of eight bytes
    assert alone == pytest.approx(5 / 4)
    assert per_iteration("a[i - 1] + 1.0", " vector") == pytest.approx(lanes)  # as it is marked
    assert per_iteration("b[i] + 1.0", n=3) == pytest.approx(5 / 4)  # no lanes are filled
    assert per_iteration("b[n - i] + 1.0") == pytest.approx(lanes)
    assert per_iteration("a[i] + 1.0") == pytest.approx(lanes)  # an update that waits for no other one
    singles = ADD.replace("float64", "float32").format(run="", value="b[i] + 1.0f32")
    assert (counted(singles) - ENTRY_CYCLES) / N == pytest.approx(lanes / 2)
    assert per_iteration("b[i * 2] + 1.0") == pytest.approx(8 / 4 / 4)  # each lane loads for itself


def test_a_sum_waits_for_itself() -> None:
    text = "kernel s(b: float64[1] C, n: int64) -> python float64:\n    var s: float64\n    s = 0.0\n"
    text += "    for i in 0 .. n:\n        s = s + b[i]\n    return s\n"
    assert counted(text) / N == pytest.approx(LATENCY, rel=0.05)
    wider = CpuTarget(vector_bytes=64, registers=16)
    assert counted(text, target=wider) == pytest.approx(counted(text))


def test_nothing_to_do() -> None:
    assert counted(ADD.format(run="", value="1.0"), 0) == ENTRY_CYCLES
    assert counted(ADD.format(run=" parallel", value="1.0"), 0, 4) == START_CYCLES + ENTRY_CYCLES
    assert counted("kernel k(n: int64):\n    pass\n") == 0


@pytest.mark.parametrize(
    ("n", "threads", "share"), [(0, 4, 1.0), (1, 4, 1.0), (8, 4, 0.25), (9, 4, 1 / 3), (9, 1, 1.0)]
)
def test_the_thread_with_the_most_iterations(n: int, threads: int, share: float) -> None:
    kernel, facts = known(ADD.format(run=" parallel", value="1.0"))
    [loop] = kernel.body
    found = frequencies(kernel, {"v2": n})
    assert share_of(loop, facts, threads, found) == pytest.approx(share)  # type: ignore[arg-type]


def test_threads_share_what_is_in_few_iterations_too() -> None:
    kernel, facts = known(
        "kernel k(a: float64[3] C):\n    for c in 0 .. 3 parallel:\n        for i in 0 .. size(a, 1):\n"
        "            for j in 0 .. size(a, 2):\n                a[c, i, j] = 1.0\n"
    )
    [loop] = kernel.body
    assert isinstance(loop, For)
    found = frequencies(kernel, {"s0_0": 3, "s0_1": 40, "s0_2": 5})
    assert share_of(loop, facts, 8, found) == pytest.approx(15 / 120)


def test_threads_share_iterations_and_cost_a_start() -> None:
    text = ADD.format(run=" parallel", value="b[i]")
    one, four = counted(text, 100_000, 1), counted(text, 100_000, 4)
    assert one - four == pytest.approx(0.75 * (one - ENTRY_CYCLES), rel=0.1, abs=START_CYCLES)
    assert counted(text, 1, 4) >= START_CYCLES > counted(text, 1, 1)


@pytest.mark.parametrize(
    ("text", "grows"),
    [
        ("i", 1),
        ("j", 0),
        ("7", 0),
        ("i + j", 1),
        ("j - i", -1),
        ("3 * i + i", 4),
        ("i * -2", -2),
        ("(i + 1) * 5", 5),
        ("int64(i)", 1),
        ("checked(i, True, index)", 1),
        ("i * j", None),
        ("i // 2", None),
        ("j // 2", 0),
        ("min(i, 3)", None),
        ("i // 2 - i // 2", 0),
    ],
)
def test_how_an_index_grows(text: str, grows: int | None) -> None:
    [stmt] = parse_kernel(f"kernel k(i: int64, j: int64):\n    x = {text}\n").body
    assert isinstance(stmt, Assign)
    assert coefficient(stmt.value, "i", converted=True) == grows
