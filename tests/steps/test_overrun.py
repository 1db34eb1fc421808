from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Store
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import statements
from loopwright.steps.nest import the_loop
from loopwright.steps.overrun import Overrun
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import square_calls

TILES = "reorder i j k; tile i 4 j 8 k 3; complete i j; reorder k.o k i j; promote c k.o whole"
STAGED = f"{TILES}; stage a k over 2 2 fill; stage b k over 4 2 wide 2 fill"

FRAME = """
kernel some(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    s = 0.0
    for i.o in 0 .. n step 4:
        allocate t: float64[SIZE]
        for z in 0 .. SIZE:
            t[z] = 0.0
        for i in i.o .. i.o + 4:
            if i < n:
                BODY
        for k in i.o .. END:
            b[k] = t[k - i.o] + s
"""


def some(body: str, end: str = "min(i.o + 4, n)", size: int = 4) -> str:
    return FRAME.replace("BODY", body).replace("END", end).replace("SIZE", str(size))


def test_the_picture() -> None:
    check_picture(Overrun)


def test_a_product_up_to_its_edges() -> None:
    kernel = check_same(MATMUL, f"{STAGED}; overrun j", square_calls((0, 1, 2, 4, 9)))
    assert "c.r[i - i.o, j - j.o] = c.r[i - i.o, j - j.o] + a.p" in print_kernel(kernel)
    assert print_kernel(kernel).count("if i < ") == 0


def test_what_is_beyond_is_never_added() -> None:
    """Neither 0 * inf nor anything else reaches an element that is kept."""
    random = np.random.default_rng(1)
    a, b = random.integers(-9, 9, (5, 4)).astype(float), random.integers(-9, 9, (4, 9)).astype(float)
    a[2, 3], a[4, 0], b[0, 8], b[3, 1] = np.nan, np.inf, -np.inf, np.nan
    kernel = after(MATMUL, f"{STAGED}; overrun j")
    for values in (a, np.zeros_like(a)):
        c = np.zeros((5, 9))
        with np.errstate(invalid="ignore"):
            interpret(kernel, [values, b, c])
            wanted = sum(values[:, k, None] * b[None, k, :] for k in range(4))
        np.testing.assert_array_equal(c, wanted)


def test_accesses_are_proven_anew() -> None:
    """What was proven where the condition held says nothing of the other iterations."""
    before, known_before = apply_schedule(*known(MATMUL), parse_schedule(STAGED), strict=True)
    step = Overrun("j")
    (store,) = (stmt for stmt in statements(the_loop(step.apply(before), "j").body) if isinstance(stmt, Store))
    assert (store.key, store.array) not in known_before.known
    _, facts = apply_schedule(before, known_before, (step,), strict=True)
    assert all(bounds.kind == "proven" for found in facts.bounds.values() for bounds in found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (some("t[i - i.o] = 1.0"), None),
        (some("t[i - i.o] = t[i - i.o] + 1.0"), None),
        (some("t[i - i.o + 1] = 1.0", size=5), None),
        (some("t[i - i.o] = 1.0", end="i.o + 4"), "'t' that an additional iteration would write is read elsewhere"),
        (some("t[0] = 1.0"), "'t' that an additional iteration would write is read elsewhere"),
        (some("t[i.o + 3 - i] = 1.0"), "'t' that an additional iteration would write is read elsewhere"),
        (some("t[i - n + 3] = 1.0", size=4), "an element of 't' that does not exist"),
        (some("t[i - i.o] = a[i]"), "an element of 'a' that does not exist"),
        (some("t[i - i.o] = a[i.o]"), None),  # which the usual iterations read too
        (some("t[i - i.o] = a[n - 1]"), None),
        (some("a[i] = 1.0"), "'a' is no local array"),
        (some("s = 1.0"), "the value of 's' is needed after the iteration"),
        (some("t[i - i.o] = 1.0").replace("if i < n", "if a[i] < 1.0"), "data decides what 'i' does"),
        (some("for q in 0 .. 2:\n                    t[i - i.o] = 1.0"), "holds a statement of another kind: For"),
        (some("t[i - i.o] = 1.0").replace("if i < n:", "if i >= 0 and i < n:"), None),
    ],
)
def test_refusals_say_why(text: str, word: str | None) -> None:
    rejection = Overrun("i").illegal(*known(text), strict=True)
    if word is None:
        assert rejection is None, rejection
    else:
        assert rejection is not None and word in rejection.reason, rejection


def test_a_read_in_the_next_iteration_is_of_another_array() -> None:
    """Each iteration of the outer loop makes `t` anew; made before all of them, a later one reads what one has left."""
    outside = some("t[i - i.o] = 1.0").replace("        allocate t: float64[4]\n", "")
    outside = outside.replace("    for i.o in", "    allocate t: float64[4]\n    for i.o in", 1)
    assert Overrun("i").illegal(*known(some("t[i - i.o] = 1.0")), strict=True) is None
    rejection = Overrun("i").illegal(*known(outside), strict=True)
    assert rejection is not None and "read elsewhere" in rejection.reason


@pytest.mark.parametrize(
    ("text", "before", "step", "word"),
    [
        (WHILE, "", "overrun w", "while"),
        (ROWS, "", "overrun k", "no loop 'k'"),
        (ROWS, "", "overrun j", "does not hold one condition and nothing else"),
        (ROWS, "split j 4; complete j", "overrun j", "'b' is no local array"),
        (MATMUL, TILES, "overrun j", "an element of 'a' that does not exist"),
        (ROWS, "split j 4; complete j; parallelize j", "overrun j", "marked parallel"),
    ],
)
def test_refusals_of_kernels(text: str, before: str, step: str, word: str) -> None:
    kernel, facts = apply_schedule(*known(text), parse_schedule(before), strict=False)
    rejection = parse_schedule(step)[0].illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason, rejection


def test_instances() -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(STAGED), strict=True)
    assert Overrun.instances(kernel, facts, strict=True) == (Overrun("j"),)


def test_text() -> None:
    assert str(Overrun.parse(("j",))) == "overrun j"
    with pytest.raises(ValueError, match="overrun LOOP"):
        Overrun.parse(("i", "j"))
