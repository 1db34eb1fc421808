from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.verify import verify
from loopwright.steps.find import Find
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same, outcome
from steps.kernels import WHILE, known
from steps.pictures import check_picture

FIRST = """
kernel first(a: float64[1] C, b: float64[1] C, n: int64) -> int64:
    for i in {lower} .. {upper}:
        if a[i] > 1.0:
            return i
    return -1
"""
BREAK = """
kernel broken(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    var t: float64
    s = -1.0
    t = 0.0
    for i in 0 .. size(a, 0):
        t = a[i] * 2.0
        if a[i] < 0.0:
            continue i
        if t > 2.0:
            s = float64(i)
            break i
        t = t + 1.0
    b[0] = s
    b[1] = t
"""
NESTED = """
kernel nested(a: float64[2] C, b: float64[1] C, n: int64) -> tuple(int64, int64):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            if a[i, j] > 1.0:
                if a[i, j] > 2.0:
                    return i, j
                else:
                    break j
    return -1, -1
"""
ROWS = """
kernel rows(a: float64[2] C, b: float64[1] C, n: int64) -> int64:
    var same: bool
    for i in 0 .. size(a, 0):
        same = True
        for j in 0 .. size(a, 1):
            if a[i, j] != 0.0:
                same = False
                break j
        if same:
            return i
    return -1
"""
IN_STEPS = """
kernel steps(a: float64[1] C, b: float64[1] C, n: int64):
    for k in 0 .. size(b, 0):
        block `else`:
            for i in k .. size(a, 0):
                if a[i] > 1.0:
                    b[k] = float64(i)
                    leave `else`
            b[k] = -1.0
"""
STORES = FIRST.replace("            return i", "            b[i] = 1.0\n            return i")
COUNTS = """
kernel counts(a: float64[1] C, b: float64[1] C, n: int64):
    var k: int64
    k = 0
    for i in 0 .. size(a, 0):
        k = k + 1
        if a[i] > 1.0:
            break i
    b[0] = float64(k)
"""
AFTER = """
kernel after(a: float64[1] C, b: float64[1] C, n: int64) -> int64:
    block `else`:
        for i in 0 .. size(a, 0):
            if a[i] > 1.0:
                leave `else`
        return -1
    return i
"""
EARLIER = """
kernel earlier(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    s = -1.0
    for i in 0 .. size(a, 0):
        if a[i] > 1.0:
            break i
        s = float64(i)
    b[0] = s
"""
PLAIN = """
kernel plain(a: float64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. size(a, 0):
        b[i] = a[i]
"""


def first(lower: str = "0", upper: str = "size(a, 0)") -> str:
    return FIRST.format(lower=lower, upper=upper)


def arrays(size: int) -> list[np.ndarray]:
    """None, and one that is found, at every place."""
    return [
        np.zeros(size),
        *(np.where(np.arange(size) == k, 2.0, np.where(np.arange(size) > k, 3.0, 0.5)) for k in range(size)),
    ]


def test_the_picture() -> None:
    check_picture(Find)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9])
@pytest.mark.parametrize(
    "text", [first(), BREAK, COUNTS.replace("k = k + 1", "k = i")], ids=["return", "break", "last"]
)
def test_every_place_is_found(text: str, size: int, tmp_path: Path) -> None:
    calls: list[list[object]] = [[a * sign, np.zeros(2), size] for a in arrays(size) for sign in (1.0, -1.0)]
    check_same(text, "find i 4", calls, tmp_path)


@pytest.mark.parametrize("bounds", [("2", "size(a, 0)"), ("n", "size(a, 0)"), ("0", "n"), ("n - 3", "n + 2")])
def test_bounds_of_all_kinds(bounds: tuple[str, str], tmp_path: Path) -> None:
    calls: list[list[object]] = [[a, np.zeros(2), n] for a in arrays(9) for n in (3, 5, 7)]
    check_same(first(*bounds), "find i 4", calls, tmp_path)


@pytest.mark.parametrize("text", [NESTED, ROWS], ids=["nested", "rows"])
def test_iterations_that_hold_loops(text: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    calls: list[list[object]] = [[random.integers(0, 4, (9, 3)) * 1.0, np.zeros(2), 9] for _ in range(20)]
    calls += [[random.integers(0, 2, (9, 3)) * 1.0, np.zeros(2), 9] for _ in range(20)]
    changed = check_same(text, "find i 4", calls, tmp_path)
    assert changed is not None


def test_the_iterations_of_a_chunk_need_no_order() -> None:
    _, facts = apply_schedule(*known(first()), parse_schedule("find i 4"), strict=True)
    assert facts.loops["i"].verdict == "reduction"
    _, facts = apply_schedule(*known(ROWS), parse_schedule("find i 4"), strict=True)
    assert facts.loops["i"].verdict == "reduction"


def test_a_loop_inside_of_another_one(tmp_path: Path) -> None:
    calls: list[list[object]] = [[a, np.zeros(5), 5] for a in arrays(9)]
    with pytest.raises(Exception, match="do more than look"):
        check_same(IN_STEPS, "find i 4", calls, tmp_path)
    inside = IN_STEPS.replace("b[k] = float64(i)\n                    ", "")
    check_same(inside, "find i 4", calls, tmp_path)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (first(), "find j 4", "no loop 'j'"),
        (WHILE, "find w 4", "while loop"),
        (STORES.format(lower="0", upper="size(a, 0)"), "find i 4", "do more than look whether one leaves it"),
        (COUNTS, "find i 4", "need 'k' of those before"),
        (first().replace("a[i] > 1.0", "a[int64(b[i])] > 1.0"), "find i 4", "may fail in an iteration"),
        (PLAIN, "find i 4", "nothing leaves"),
        (EARLIER, "find i 4", "not every iteration of 'i' sets 's', which is needed after the loop"),
        (AFTER, "find i 4", "the value of 'i' is needed after the loop"),
        (first("0", "n step 2"), "find i 4", "does not count by ones"),
    ],
)  # fmt: skip
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    kernel, facts = known(text)
    (wanted,) = parse_schedule(step)
    rejection = wanted.illegal(kernel, facts, strict=True)
    assert rejection is not None
    assert word in str(rejection)


# ---- random loops that are left in all kinds of ways ----------------------------------------------------------------

CONDITIONS = (
    "a[i] > 1.0",
    "a[i] < 0.5",
    "t > 1.5",
    "i % 3 == 1",
    "u",
    "a[i] > 2.0 or t < 0.2",
    "i > 4 and a[i - 1] > 1.0",
)
SETS = ("t = a[i] * 2.0", "t = t + 1.0", "u = a[i] > 1.0", "s = float64(i)", "s = 5.0")
LEAVES = ("return i", "return i + 100", "break i", "leave done", "continue i")
LOOP = """
kernel f(a: float64[1] C, b: float64[1] C, n: int64) -> int64:
    var s: float64
    var t: float64
    var u: bool
    s = -1.0
    t = 0.0
    u = False
    block done:
        for i in {lower} .. size(a, 0):
            t = a[i] + 0.25
            u = False
{body}
        b[0] = t
    b[1] = s
    return -1
"""


def some_statements(made: random.Random, depth: int = 0) -> list[str]:
    found: list[str] = []
    for _ in range(made.randint(1, 3)):
        what, indent = made.random(), "    " * (3 + depth)
        if what < 0.3:
            found.append(indent + made.choice(SETS))
        elif what < 0.8 and depth < 3:
            found += [f"{indent}if {made.choice(CONDITIONS)}:", *some_statements(made, depth + 1)]
            if made.random() < 0.3:
                found += [f"{indent}else:", *some_statements(made, depth + 1)]
        else:
            found.append(indent + made.choice(LEAVES))
            break
    return found


@pytest.mark.parametrize("seed", range(4))
def test_random_loops(seed: int) -> None:
    """What the first iteration that leaves does, and what earlier ones have left behind, is as before."""
    made, taken = random.Random(seed), 0
    (step,) = parse_schedule("find i 4")
    for _ in range(200):
        text = LOOP.format(lower=made.choice(("0", "2", "n")), body="\n".join(some_statements(made)))
        kernel, facts = known(text)
        if step.illegal(kernel, facts, True) is not None:
            continue
        taken += 1
        changed = step.apply(kernel)
        verify(changed)
        for _ in range(6):
            values = [made.choice((0.1, 0.4, 0.6, 1.2, 2.5)) for _ in range(made.choice((0, 1, 3, 4, 5, 9)))]
            given = [np.array(values), np.zeros(2), made.choice((0, 1, 3))]
            wanted = outcome(lambda own, run=kernel: interpret(run, own), given)
            assert outcome(lambda own, run=changed: interpret(run, own), given) == wanted, text
    assert taken > 50
