from __future__ import annotations

import copy
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.linear import number
from loopwright.ir.nodes import Assign, Body, For, Kernel, Stmt
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops, rewrite_body
from loopwright.steps.scan import MOST, Scan
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same, outcome
from steps.kernels import COUNT, PREFIX, ROWS, WHILE, known
from steps.pictures import check_picture

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 40)
"""With four chunks: none, less than a chunk each, whole chunks, one more, and many."""

SUM = """
kernel sums(a: float64[1] C, b: float64[1] C, c: float64[1] C) -> float64:
    var s: float64
    s = 1.0
    for i in 0 .. size(a, 0):
        c[i] = s
        s = s + a[i]
        b[i] = 2.0 * s
    return s
"""
KEPT = """
kernel kept(a: float64[1] C, b: float64[1] C, c: float64[1] C) -> int64:
    var k: int64
    k = 0
    for i in 0 .. size(a, 0):
        if a[i] > 0.0:
            b[k] = a[i]
            k = k + 1
    return k
"""
OPERATIONS = """
kernel all(a: float64[1] C, b: float64[1] C, c: float64[1] C) -> tuple(float64, float64, float64, int64, bool):
    var least: float64
    var most: float64
    var top: float64
    var product: int64
    var seen: bool
    least = 3.0
    most = 0.0
    top = -2.0
    product = 1
    seen = False
    for i in 0 .. size(a, 0):
        least = min(least, a[i])
        most = maximum(most, a[i])
        if a[i] > top:
            top = a[i]
        product = product * (2 * i + 3037000499)
        seen = seen or a[i] > 2.0
        b[i] = least + most
        c[i] = top if seen else float64(product)
    return least, most, top, product, seen
"""
HEAD = "kernel one(a: float64[1] C, b: float64[1] C, c: float64[1] C, p: int64[1] C) -> tuple(float64, int64):\n"
VARS = "    var s: float64\n    var k: int64\n    var v: float64\n    s = 0.0\n    k = 0\n"


def body(*lines: str, counts: str = "0 .. size(a, 0)") -> str:
    """A kernel whose loop has these lines."""
    inside = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}{VARS}    for i in {counts}:\n{inside}    return s, k\n"


def calls(size: int, seed: int = 0, room: int = 4) -> list[object]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-4, 5, size).astype(float), np.zeros(size + room), np.zeros(size + room)]


def backwards(kernel: Kernel, names: tuple[str, ...]) -> Kernel:
    """The kernel in which loops over chunks begin with the last chunk."""

    def turn(stmt: Stmt) -> Body:
        if not isinstance(stmt, For) or stmt.name not in names:
            return (stmt,)
        last = replace(stmt.upper, value=stmt.upper.value - 1)  # type: ignore[union-attr, operator, arg-type, type-var, call-arg]
        return (replace(stmt, lower=last, upper=number(-1), step=number(-1)),)

    return replace(kernel, body=rewrite_body(kernel.body, stmt=turn))


def test_the_picture() -> None:
    check_picture(Scan)


@pytest.mark.parametrize("text", [SUM, KEPT, OPERATIONS])
@pytest.mark.parametrize("schedule", ["scan i 4", "scan i 4; scan i.m 2", "scan i 4; parallelize i.a; parallelize i.c"])
def test_it_gives_the_same_for_any_size(text: str, schedule: str, tmp_path: Path) -> None:
    changed = check_same(text, schedule, [calls(size) for size in SIZES], tmp_path)
    for size in SIZES:
        turned = backwards(changed, ("i.a", "i.c"))
        assert outcome(lambda own, one=turned: interpret(one, own), calls(size)) == outcome(
            lambda own: interpret(known(text)[0], own), calls(size)
        )


def test_nothing_and_everything_is_kept(tmp_path: Path) -> None:
    for value in (0.0, 1.0):
        given = [[np.full(size, value), np.zeros(size), np.zeros(1)] for size in SIZES]
        check_same(KEPT, "scan i 4; parallelize i.a; parallelize i.c", given, tmp_path)


def test_too_little_room_for_what_is_kept_is_an_error(tmp_path: Path) -> None:
    given = [[np.ones(9), np.zeros(8), np.zeros(1)]]
    kernel, _ = known(KEPT)
    changed, _ = apply_schedule(*known(KEPT), parse_schedule("scan i 4"), False)
    for one in (kernel, changed):
        with pytest.raises(IndexError, match="index 8"):
            interpret(one, copy.deepcopy(given[0]))
    check_same(KEPT, "scan i 4; parallelize i.a; parallelize i.c", given, tmp_path)


def test_a_nan_is_carried_or_dropped_as_before() -> None:
    changed, _ = apply_schedule(*known(OPERATIONS), parse_schedule("scan i 4"), True)
    for start in range(9):
        a = np.arange(9.0) - 4.0
        a[start] = np.nan
        given = [[a.copy(), np.zeros(9), np.zeros(9)] for _ in range(2)]
        wanted = str(interpret(known(OPERATIONS)[0], given[0]))
        assert str(interpret(changed, given[1])) == wanted
        np.testing.assert_array_equal(given[0], given[1])


LEGAL = [
    body("s = s + a[i]", "a[i] = s"),  # in place
    body("if a[i] > 0.0:", "    b[k] = s", "    k = k + 1", "s = s + a[i]"),
    body("b[k] = a[i]", "b[k + 1] = s", "k = k + 2", "c[i] = float64(k)", counts="0 .. size(a, 0) // 2"),
    body("if a[i] > 0.0:", "    k = k + 1", "    b[k - 1] = a[i]"),
    body("if a[i] > 0.0:", "    b[k] = a[i]", "    k = k + 1", "else:", "    b[k] = 0.5", "    k = k + 1"),
    body("v = a[i] * 2.0", "s = s + v", "b[i] = s", counts="size(a, 0) - 1 .. -1 step -2"),
    body("for j in 0 .. 3:", "    s = s + a[i]", "    c[i] = s", counts="1 .. size(a, 0) step 3"),
    body("if a[i] < 0.0:", "    continue i", "b[k] = a[i]", "k = k + 1"),
    body("for j in 0 .. 3:", "    if a[i] < float64(j):", "        break j", "    s = s + 1.0", "b[i] = s"),
    body("if a[i] > 0.0:", "    s = s - a[i]", "else:", "    s = s + 1.0", "b[i] = s"),
    body("s = 0.5 * s + a[i]", "b[i] = s"),
    body("s = s + 0.5 * (a[i] - s)", "a[i] = s", counts="size(a, 0) - 1 .. -1 step -1"),
    body("s = s + s - a[i]", "b[i] = s", counts="1 .. size(a, 0) step 3"),
    body("s = a[i] / 2.0 if a[i] > 0.0 else a[i] - s / 2.0", "b[i] = s", "k = 3 * k - i"),
    body("if a[i] == 0.0:", "    s = 0.0", "    k = 0", "k = k + 1", "s = s + a[i]", "b[i] = s", "c[i] = float64(k)"),
    body("s = (s + 1.0) * a[i]", "b[i] = s", "if a[i] < 0.0:", "    continue i", "k = (k << 3) - k + i"),
    body("k = k + 1", "s = s + a[i] * float64(k)", "v = maximum(v, s)", "b[i] = v - s").replace(  # three levels
        "    k = 0\n", "    k = 0\n    v = 0.0\n"
    ),
    body("s = 0.5 * s + a[i]", "v = 0.5 * v + s", "b[i] = v").replace("    k = 0\n", "    k = 0\n    v = 1.0\n"),
]


@pytest.mark.parametrize("text", LEGAL)
def test_it_takes_many_forms(text: str) -> None:
    kernel, facts = known(text)
    assert Scan("i", 4).illegal(kernel, facts, strict=False) is None
    given = [[*calls(size), np.arange(3)] for size in SIZES]
    changed = check_same(text, "scan i 4", given)
    for one in given:
        turned = backwards(changed, ("i.a", "i.c"))
        wanted = outcome(lambda own: interpret(kernel, own), one)
        assert outcome(lambda own, turned=turned: interpret(turned, own), one) == wanted


REFUSED = [
    (PREFIX, "no scalar"),
    (ROWS, "no scalar"),
    (COUNT, "no scalar"),
    (WHILE.replace("named w", "named i"), "while loop"),
    (body("s = s + a[i]", "b[i + 1] = s", "c[i] = b[i]"), "b[i"),
    (body("s = s + b[i]", "b[i + 1] = s"), "b[i"),
    (body("b[i] = s", "s = s + b[i]"), "what the loop writes to 'b'"),
    (body("s = s * s", "b[i] = s"), "more than once"),
    (body("s = 1.0 / (s + a[i])", "b[i] = s"), "order matters"),
    (body("s = s + a[i] * v", "v = v + s", "b[i] = s"), "depends on 's'"),
    (body("if s < 10.0:", "    s = s + a[i]", "b[i] = s"), "depends on 's'"),
    (body("v = s", "s = s + v * a[i]", "b[i] = s"), "depends on 's'"),
    (body("s = s + a[i]", "if s > 9.0:", "    break i", "b[i] = s"), "left in the middle"),
    (body("if a[i] > 0.0:", "    b[k] = a[i]", "k = k + 1", "b[k] = 0.0"), "b[k]"),
    (body("b[k] = a[i]", "if a[i] > 0.0:", "    k = k + 1"), "b[k]"),
    (body("b[k + 1] = a[i]", "k = k + 1"), "b[k + 1]"),
    (body("b[k] = a[i]", "if a[i] > 0.0:", "    continue i", "k = k + 1"), "b[k]"),
    (body("b[k] = a[i]", "k = k + 1", "k = k - 1"), "b[k]"),
    (body("b[k] = a[i]", "k = k + p[0]"), "b[k]"),
    (body("b[k] = a[i]", "k = k + 1").replace("    k = 0\n", "    k = -2\n"), "b[k]"),
    (body("b[k] = a[i]", "k = k + 1", "c[i] = b[0]"), "b["),
    (body("s = s + a[i]", "v = a[i]", "b[i] = s").replace("return s", "return v"), "after its last iteration"),
    (body("s = s + a[i]", "b[i] = s", "c[0] = c[0] + a[i]"), "also adds to 'c'"),
    (body("s = s + a[i]", "b[i] = s", "c[p[i]] = a[i]"), "c[p[i]]"),
]


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_refusals_say_why(text: str, word: str) -> None:
    rejection = Scan("i", 4).illegal(*known(text.replace("var v: float64\n", "var v: float64\n    v = 0.0\n")), False)
    assert rejection is not None and word in rejection.reason


def test_further_refusals() -> None:
    kernel, facts = known(SUM)
    for step, word in ((Scan("j", 4), "no loop"), (Scan("i", MOST + 1), "limit")):
        rejection = step.illegal(kernel, facts, strict=False)
        assert rejection is not None and word in rejection.reason
    rejection = Scan("i", 4).illegal(kernel, facts, strict=True)
    assert rejection is not None and "strict keeps the order" in rejection.reason
    assert Scan("i", 4).illegal(*known(KEPT), strict=True) is None
    rejection = Scan("i", 4).illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "overlap" in rejection.reason


UPDATES = (
    "s = s + a[i]", "s = s - v", "k = k + 1", "k = k + 2", "k = k + p[0]", "s = s + float64(k)", "v = a[i] + 1.0",
    "v = s", "s = a[i]", "s = s + b[i]", "s = a[i] - s", "s = 0.5 * s + a[i]", "v = 2.0 * v - s", "k = 3 * k - i",
    "k = 0",
)  # fmt: skip
STORES = (
    "b[i] = s", "c[i] = v + s", "b[k] = a[i]", "b[k + 1] = v", "b[k - 1] = v", "c[k] = s", "a[i] = s", "b[i + 1] = v",
    "c[i] = b[i]", "c[i] = b[k]", "b[0] = s", "c[i] = float64(k)",
)  # fmt: skip


def some_lines(rng: random.Random, depth: int = 0) -> list[str]:
    """Random statements of a loop's body."""
    lines: list[str] = []
    for _ in range(rng.randint(1, 4 - depth)):
        kind = rng.random()
        if kind < 0.2 and depth < 2:
            lines.append(f"if {rng.choice(['a[i] > 0.0', 'v < 2.0', 'i < 6', 's < 3.0', 'k < 4'])}:")
            lines += [f"    {line}" for line in some_lines(rng, depth + 1)]
            if rng.random() < 0.4:
                lines += ["else:", *(f"    {line}" for line in some_lines(rng, depth + 1))]
        elif kind < 0.26:
            lines += ["if a[i] < -2.0:", "    continue i"]
        else:
            lines.append(rng.choice(UPDATES if kind < 0.62 else STORES))
    return lines


def test_random_loops_give_the_same_in_any_order_of_chunks() -> None:
    rng = random.Random(7)
    taken = 0
    for _ in range(250):
        text = body(*some_lines(rng)).replace("    s = 0.0\n", "    s = 0.0\n    v = 0.0\n")
        kernel, facts = known(text)
        if Scan("i", 4).illegal(kernel, facts, strict=False) is not None:
            continue
        taken += 1
        changed, _ = apply_schedule(kernel, facts, parse_schedule("scan i 4"), strict=False)
        verify(changed)
        turned = backwards(changed, ("i.a", "i.c"))
        for size in (0, 1, 3, 4, 5, 13):
            given = [*calls(size, size, room=2 * size + 2), np.array([1])]
            wanted = outcome(lambda own, one=kernel: interpret(one, own), given)
            if isinstance(wanted[-1], type):
                continue
            assert outcome(lambda own, one=changed: interpret(one, own), given) == wanted, text
            assert outcome(lambda own, one=turned: interpret(one, own), given) == wanted, text
    assert taken > 60


def test_a_name_is_new_even_where_a_loop_is_scanned_twice() -> None:
    kernel, facts = known(SUM)
    changed, _ = apply_schedule(kernel, facts, parse_schedule("scan i 8; scan i.m 3; scan i.m.m 2"), strict=False)
    verify(changed)
    assert {"i.m.m.a", "i.m.m.m", "i.m.m.c", "i.m.c", "i.c"} <= set(loops(changed))


def test_parse_reads_what_str_writes() -> None:
    assert Scan.parse(("i", "64")) == Scan("i", 64) and str(Scan("i", 64)) == "scan i 64"
    with pytest.raises(ValueError, match="scan LOOP CHUNKS"):
        Scan.parse(("i",))
    with pytest.raises(ValueError, match="CHUNKS"):
        Scan.parse(("i", "1"))


@pytest.mark.parametrize("step", ["parallelize i.m", "bind i.m thread.y", "vectorize i.m", "reduce i.m 2"])
def test_the_loop_that_puts_chunks_together_needs_its_order(step: str) -> None:
    kernel, facts = known(SUM)
    scanned, after = apply_schedule(kernel, facts, parse_schedule("scan i 4"), False)
    assert after.loops["i.m"].verdict == "sequential"
    (wanted,) = parse_schedule(step)
    assert wanted.illegal(scanned, after, False) is not None


def test_its_length_is_found_once_where_all_rows_have_the_same() -> None:
    kernel, facts = known(
        """
kernel rows(a: float64[2] C, b: int64[1] C):
    var s: float64
    for i in 0 .. size(a, 0):
        s = 0.0
        for j in 0 .. size(a, 1):
            s = s + a[i, j]
            a[i, j] = s
        s = 0.0
        for k in 0 .. b[i]:
            s = s + a[i, k]
            a[i, k] = s
"""
    )
    scanned, _ = apply_schedule(kernel, facts, parse_schedule("scan j 4"), False)
    assert [stmt.name for stmt in scanned.body if isinstance(stmt, Assign)] == ["j.n"]
