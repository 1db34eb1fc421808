from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from analysis.mesh_programs import arguments_of, mesh_program
from analysis.small import kernel as small
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.ir.interp import interpret
from loopwright.ir.linear import number
from loopwright.ir.nodes import Const, If, Kernel, Store
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.types import FLOAT64
from loopwright.ir.verify import verify
from loopwright.steps.renumber import Renumber
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.pictures import check_picture
from steps.same import refusal

SWEEPS = """
kernel sweeps(x: float64[1] C, y: float64[1] C, p: int64[2] C, m: int64):
    var s: float64
    for t in 0 .. m:
        for i in 0 .. size(x, 0):
            s = 0.0
            for k in 0 .. size(p, 1):
                s = s + x[p[i, k]]
            y[i] = s * 0.5 + float64(i)
        for i.1 in 0 .. size(x, 0):
            x[i.1] = y[i.1]
"""
PLANES = """
kernel planes(x: float64[2] C, y: float64[2] C, p: int32[1] C, m: int64):
    for t in 0 .. m:
        for i in 0 .. size(p, 0):
            for f in 0 .. size(x, 0):
                y[f, i] = y[f, i] + x[f, int64(p[i])]
"""
ORDERS = ("", " packed", " clusters", " beyond 1", " packed beyond 1 times 2", " clusters beyond 8")


def mesh_calls() -> list[tuple[object, ...]]:
    """Calls of `sweeps`: of all sizes, with numbers that are counted from the end, and with some that are none."""
    draw = np.random.default_rng(1)
    found: list[tuple[object, ...]] = []
    for n, degree, m in ((0, 3, 2), (1, 2, 3), (2, 0, 2), (7, 3, 0), (40, 4, 3), (300, 4, 2)):
        for least in (0, -n):
            p = draw.integers(least, max(n, 1), (n, degree))
            found.append((draw.integers(-9, 9, n).astype(float), np.zeros(n), p, m))
    for wrong in (50, -51):
        p = draw.integers(0, 50, (50, 2))
        p[3, 1] = wrong
        found.append((np.ones(50), np.zeros(50), p, 2))
    found.append((np.ones(5), np.zeros(9), draw.integers(0, 5, (8, 2)), 3))  # some arrays are longer
    return found


def test_the_picture() -> None:
    check_picture(Renumber)


@pytest.mark.parametrize("order", ORDERS)
def test_the_same_is_computed(order: str, tmp_path: Path) -> None:
    changed = check_same(SWEEPS, f"renumber p in t{order}", mesh_calls(), tmp_path)
    assert parse_kernel(print_kernel(changed)) == changed


@pytest.mark.parametrize("order", ORDERS)
def test_things_may_be_counted_along_any_axis(order: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    calls = [
        (draw.integers(-9, 9, (3, n)).astype(float), np.zeros((3, n)), draw.integers(0, n, n).astype(np.int32), m)
        for n, m in ((1, 1), (30, 4), (64, 2))
    ]
    check_same(PLANES, f"renumber p in t{order}", calls, tmp_path)


@cache
def random_program(seed: int) -> tuple[Kernel, Facts, tuple[str, ...]]:
    """A random program, what is known of it, and which tables may be renumbered."""
    one = small(mesh_program(seed))
    facts = analyse(one)
    return one, facts, tuple(t for t in "pq" if Renumber.parse((t, "in", "t")).illegal(one, facts, True) is None)


@cache
def computed(seed: int, n: int) -> tuple[object, ...]:
    """The arguments of such a program after a call for so many things."""
    interpret(random_program(seed)[0], wanted := arguments_of(seed, n))
    return wanted


@pytest.mark.parametrize("order", ["", " packed", " clusters", " beyond 1"])
def test_random_programs_compute_the_same(order: str) -> None:
    """In one order, what is known of the programs afterwards is found out, too."""
    done = 0
    for seed in range(120):
        one, facts, tables = random_program(seed)
        for table in tables:
            (step,) = schedule = parse_schedule(f"renumber {table} in t{order}")
            assert step.illegal(one, facts, True) is None
            changed = step.apply(one) if order else apply_schedule(one, facts, schedule, True)[0]
            verify(changed)
            for n in (0, 1, 9):
                interpret(changed, got := arguments_of(seed, n))
                for mine, right in zip(got, computed(seed, n), strict=True):
                    np.testing.assert_array_equal(mine, right)
            done += 1
    assert done > 25


# ---- when -------------------------------------------------------------------------------------------------------


def is_renumbered(kernel: Kernel, arguments: tuple[object, ...]) -> bool:
    """Whether a call of a changed kernel takes the way of new numbers."""
    *before, last = kernel.body
    assert isinstance(last, If)
    marked = replace(last, then=(Store("y", (number(0),), Const(77.0, FLOAT64)),), otherwise=())
    one = replace(kernel, body=(*before, marked))
    interpret(one, list(arguments))
    return bool(np.any(np.asarray(arguments[1]) == 77.0))


def grid(m: int, shuffled: bool) -> np.ndarray:
    """The neighbours of a square grid's nodes, whose numbers may have nothing to do with that."""
    i = np.arange(m * m).reshape(m, m)
    regular = np.stack([np.roll(i, by, axis).ravel() for axis in (0, 1) for by in (1, -1)], axis=1)
    if not shuffled:
        return regular
    p = np.random.default_rng(0).permutation(m * m)
    found = np.empty_like(regular)
    found[p] = p[regular]
    return found


@pytest.mark.parametrize(
    ("table", "m", "wanted"),
    [
        (grid(64, shuffled=True), 8, True),
        (grid(64, shuffled=False), 8, False),  # neighbours have numbers near one another
        (np.random.default_rng(3).integers(0, 4096, (4096, 4)), 8, False),  # everything is near everything
        (grid(64, shuffled=True), 7, False),  # too few sweeps
        (grid(20, shuffled=True), 8, False),  # all of it is small
    ],
)
def test_it_is_done_where_it_pays(table: np.ndarray, m: int, wanted: bool) -> None:
    n = len(table)
    changed = after(SWEEPS, "renumber p in t beyond 16000 times 8")
    assert is_renumbered(changed, (np.ones(n), np.zeros(n), table, m)) == wanted


def test_without_a_condition_only_what_is_no_number_is_a_reason_not_to() -> None:
    changed = after(SWEEPS, "renumber p in t")
    table = grid(8, shuffled=False)
    assert is_renumbered(changed, (np.ones(64), np.zeros(64), table, 1))
    table[5, 2] = 64
    assert not is_renumbered(changed, (np.ones(64), np.zeros(64), table, 1))
    assert not is_renumbered(changed, (np.ones(64), np.zeros(65), grid(8, shuffled=False), 1))


# ---- legality ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        (SWEEPS, "renumber q in t", "there is no array 'q' (there are: x, y, p)"),
        (SWEEPS, "renumber p in j", "there is no loop 'j' (there are: t, i, k, i.1)"),
        (SWEEPS, "renumber x in t", "the elements of 'x' are no whole numbers"),
        (SWEEPS.replace("s + x[p[i, k]]", "s + x[i]"), "renumber p in t", "'p': its elements are no subscripts there"),
        (
            SWEEPS.replace("x[i.1] = y[i.1]", "x[i.1] = y[i.1]\n            p[i.1, 0] = 0"),
            "renumber p in t",
            "'p': 'p' is written there",
        ),
        (
            SWEEPS.replace("y[i] = s * 0.5", "x[i] = s * 0.5").replace("x[i.1] = y[i.1]", "x[i.1] = x[0]"),
            "renumber p in t",
            "'p': no loop goes over all that it counts in any order",
        ),
        (
            SWEEPS.replace("x[i.1] = y[i.1]", "x[i.1] = y[int64(y[i.1])]"),
            "renumber p in t",
            "whether index 0 of 'y' is there has to be tested while 't' runs",
        ),
    ],
)
def test_refusals(text: str, step: str, reason: str) -> None:
    assert refusal(text, step) == reason


# ---- whole calls ------------------------------------------------------------------------------------------------


def smooth(x, y, p, m):
    for t in range(m):  # noqa: B007 -- its name is asked for
        for i in range(x.shape[0]):
            for f in range(x.shape[1]):
                s = 0.0
                for k in range(p.shape[1]):
                    s += x[p[i, k], f]
                y[i, f] = 0.25 * s
        for i in range(x.shape[0]):
            for f in range(x.shape[1]):
                x[i, f] = y[i, f]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("order", ["", " clusters", " packed"])
def test_calls_agree_to_the_last_bit(device: str, order: str) -> None:
    draw = np.random.default_rng(5)
    table = grid(6, shuffled=True)
    x = draw.random((36, 3))
    wanted, got = [x.copy(), np.zeros_like(x)], [x.copy(), np.zeros_like(x)]
    smooth(*wanted, table, 3)
    one = lw.kernel(device=device, remap=f"renumber p in t{order}")(smooth)
    one(*got, table, 3)
    assert one.explain(*got, table, 3).schedule.startswith("renumber p in t")
    for mine, right in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(mine, right)


def test_a_wrong_number_is_reported_as_without_it() -> None:
    table = grid(6, shuffled=True)
    table[7, 2] = 36
    one = lw.kernel(device="cpu", remap="renumber p in t")(smooth)
    with pytest.raises(lw.BoundsError, match="index 36 is out of bounds for axis 0 of 'x' with size 36"):
        one(np.ones((36, 2)), np.ones((36, 2)), table, 3)


def wave(near, steps):
    n = near.shape[0]
    u, v = np.zeros(n), np.zeros(n)
    u[0] = 1.0
    for t in range(steps):  # noqa: B007
        for i in range(n):
            a = 0.0
            for k in range(near.shape[1]):
                j = near[i, k]
                if j >= 0:
                    a += u[j] - u[i]
            v[i] += 0.1 * a
        for i in range(n):
            u[i] += v[i]
    return u, v


@pytest.mark.parametrize("order", ["", " packed"])
def test_numbers_may_stand_for_no_neighbour(order: str) -> None:
    table = grid(6, shuffled=True)
    table[np.random.default_rng(1).random(table.shape) < 0.2] = -1
    found = lw.kernel(device="cpu", remap=f"renumber near in t{order}")(wave)(table, 4)
    for mine, right in zip(found, wave(table, 4), strict=True):
        np.testing.assert_array_equal(mine, right)
