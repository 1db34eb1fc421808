from __future__ import annotations

import random
from types import ModuleType

import numpy as np
import pytest
from benchmarks.polybench import MODULES

from conftest import Golden
from loopwright.analysis import isl_schedule, reschedule
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.isl_schedule import Wanted
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.runtime.specialise import signature_of
from loopwright.steps.reschedule import Reschedule
from loopwright.steps.schedule import apply_schedule, parse_schedule
from polybench.data import shaken, sizes
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.test_reorder import LAST, OWN, TRIANGLE, WAVE

FRAME = "kernel k(a: float64[2] C, b: float64[2] C, n: int64, m: int64):\n"
BREAK = (
    FRAME
    + """
    for j in 0 .. m:
        if a[0, j] > 0.0:
            break j
        a[0, j] = a[0, j] + 1.0
"""
)
BACKWARD = (
    FRAME
    + """
    for i in n - 1 .. 0 step -1:
        for j in 1 .. m:
            a[i, j] = a[i + 1, j] + a[i, j - 1]
"""
)
STRIDES = (
    FRAME
    + """
    for i in 1 .. n step 3:
        for j in i .. m step 2:
            a[i, j] = a[i - 1, j] + 1.0
            b[j, i] = a[i, j]
"""
)
LOCAL = (
    FRAME
    + """
    for i in 0 .. n:
        allocate t: float64[m]
        for j in 0 .. m:
            t[j] = a[i, j]
        for j.2 in 0 .. m:
            b[i, j.2] = t[m - 1 - j.2]
"""
)
HALF = (
    FRAME
    + """
    for i in 1 .. n // 2:
        for j in 1 .. min(m, i):
            a[i, j] = a[i - 1, j] + a[i, j - 1]
"""
)
TAKEN = (
    FRAME
    + """
    for i.w in 1 .. n:
        for i in 1 .. m:
            a[i.w, i] = a[i.w - 1, i] + a[i.w, i - 1]
"""
)
SHAPES = {
    "rows": ROWS, "prefix": PREFIX, "matmul": MATMUL, "wave": WAVE, "triangle": TRIANGLE, "own": OWN, "last": LAST,
    "total": TOTAL, "backward": BACKWARD, "strides": STRIDES, "half": HALF, "taken": TAKEN, "local": LOCAL,
}  # fmt: skip
SCHEDULES = (
    "reschedule min", "reschedule smart tile 3 4 wavefront", "reschedule max tile 2", "reschedule wavefront",
    "reschedule smart inner", "reschedule min inner",
)  # fmt: skip


def polybench(name: str) -> tuple[ModuleType, Kernel, Facts]:
    """A kernel of the suite, as the schedule sees it."""
    module = next(module for module in MODULES if name == module.NAME)
    source = capture(module.kernel)
    arguments = list(module.initialise(**sizes(module)).values())
    written = {at for at, parameter in enumerate(source.parameters) if parameter.name in source.written}
    kernel = simplify(lower(source, signature_of(arguments, written)).kernel)
    return module, kernel, analyse(kernel)


def same(before: Kernel, after: Kernel, shapes: tuple[tuple[int, int], ...] = ((0, 0), (1, 1), (2, 9), (9, 7))) -> None:
    """Both kernels do the same to whole numbers, bit for bit."""
    for n, m in shapes:
        outcomes = []
        for kernel in (before, after):
            numbers = np.random.default_rng(n)
            arrays = [numbers.integers(-9, 9, (12,) * array.rank).astype(array.element.name) for array in kernel.arrays]
            result = interpret(kernel, [*arrays, *(n, m)[: len(kernel.scalars)]])
            outcomes.append((result, *(array.tobytes() for array in arrays)))
        assert outcomes[0] == outcomes[1], (n, m, print_kernel(after))


def test_the_picture() -> None:
    check_picture(Reschedule)


@pytest.mark.parametrize("text", SCHEDULES)
@pytest.mark.parametrize("name", SHAPES)
def test_results_stay_to_the_last_bit(name: str, text: str) -> None:
    kernel, facts = known(SHAPES[name])
    schedule = parse_schedule(text)
    rejection = schedule[0].illegal(kernel, facts, strict=True)
    if rejection is None:
        same(kernel, apply_schedule(kernel, facts, schedule, strict=True)[0])
    assert rejection is None or name in ("local", "last")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (WHILE, "no loop has bounds"),
        (BREAK, "no loop has bounds"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    rejection = Reschedule(Wanted("smart")).illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_overlapping_arguments_are_refused() -> None:
    kernel, facts = known(ROWS.replace("C):", "C):\n    overlap", 1))
    rejection = Reschedule(Wanted("smart")).illegal(kernel, facts, strict=False)
    assert rejection is not None and "overlap" in rejection.reason


def test_loops_that_are_marked_already_are_refused() -> None:
    kernel, facts = known(ROWS)
    after, facts = apply_schedule(kernel, facts, parse_schedule("parallelize i"), strict=False)
    rejection = Reschedule(Wanted("smart")).illegal(after, facts, strict=False)
    assert rejection is not None and "decided already" in rejection.reason


def test_a_loop_over_data_dependent_places_stays_as_it_is() -> None:
    kernel, facts = known(COUNT)
    after, _ = apply_schedule(kernel, facts, parse_schedule("reschedule"), strict=True)
    assert after.body == kernel.body


@pytest.mark.parametrize(
    ("name", "text", "parallel"),
    [
        ("jacobi-1d", "reschedule smart tile 16 32 wavefront", "i.o"),
        ("jacobi-2d", "reschedule smart tile 16 32 wavefront", "i.o"),
        ("seidel-2d", "reschedule smart tile 8 32 wavefront", "i.o"),
        ("fdtd-2d", "reschedule smart tile 16 64 wavefront", "i.o"),
        ("heat-3d", "reschedule smart tile 4 8 wavefront", "i.o"),
        ("lu", "reschedule smart", "i"),
        ("lu", "reschedule smart inner", "j.2"),
        ("cholesky", "reschedule smart inner", "j"),
        ("trisolv", "reschedule smart inner", "i.s"),
        ("seidel-2d", "reschedule smart inner", "_t"),
        ("bicg", "reschedule smart inner", "j.s"),
    ],
)
def test_polybench(name: str, text: str, parallel: str, golden: Golden) -> None:
    module, kernel, facts = polybench(name)
    after, found = apply_schedule(kernel, facts, parse_schedule(text), strict=True)
    golden(f"steps/reschedule-{name}{'-inner' if 'inner' in text else ''}.txt", f"{text}\n{print_kernel(after)}")
    assert found.loops[parallel].verdict == "parallel"
    for chosen in ((2, 2, 2), (14, 9, 7)):
        given = shaken(module.initialise(**sizes(module, chosen)))
        expected, actual = ({k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()} for _ in "ab")
        interpret(kernel, list(expected.values()))
        interpret(after, list(actual.values()))
        for output in module.OUTPUTS:
            np.testing.assert_array_equal(actual[output], expected[output])


def test_random_kernels() -> None:
    legal = 0
    for seed in range(12):
        numbers = random.Random(seed)
        kernel = parse_kernel(made(numbers))
        facts = analyse(kernel)
        schedule = parse_schedule(numbers.choice(SCHEDULES))
        if schedule[0].illegal(kernel, facts, strict=True) is None:
            same(kernel, apply_schedule(kernel, facts, schedule, strict=True)[0], ((0, 0), (3, 6), (7, 5)))
            legal += 1
    assert legal > 8


def made(numbers: random.Random) -> str:
    """One or two nests of two loops over `a` and `b` around which one more may run, with sums of loops as indices."""

    def index(i: str, j: str) -> str:
        return ", ".join(numbers.choice([f"{x} + {numbers.randrange(3)}", x]) for x in numbers.sample([i, j], 2))

    lines = [FRAME]
    pad = "    "
    if numbers.random() < 0.5:
        lines.append("    for t in 0 .. 3:\n")
        pad = "        "
    for nest in range(numbers.choice([1, 2, 2])):
        i, j = f"i.{nest}" if nest else "i", f"j.{nest}" if nest else "j"
        lower = numbers.choice(["0", "0", i])
        lines.append(f"{pad}for {i} in 0 .. n:\n{pad}    for {j} in {lower} .. m:\n")
        for _ in range(numbers.choice([1, 1, 2])):
            left, right = numbers.choice("ab"), numbers.choice("ab")
            lines.append(f"{pad}        {left}[{index(i, j)}] = {right}[{index(i, j)}] + 1.0\n")
    return "".join(lines)


def test_instances() -> None:
    found = Reschedule.instances(*known(WAVE), strict=True)
    assert Reschedule(Wanted("smart", (16, 32), wavefront=True)) in found
    assert Reschedule.instances(*known(ROWS), strict=True) == ()


def test_text() -> None:
    texts = ("smart", "min tile 32", "max tile 8 16 wavefront", "min inner", "smart inner above 4096", "min above 1 9")
    for text in (f"reschedule {words}" for words in texts):
        (step,) = parse_schedule(text)
        assert str(step) == text
    assert str(Reschedule.parse(())) == "reschedule smart"
    for words in (("tile",), ("tile", "1"), ("large",), ("wavefront", "tile", "4"), ("tile", "8", "inner")):
        with pytest.raises(ValueError, match=r"SIZE|wavefront"):
            Reschedule.parse(words)
    for words in (("above",), ("above", "0"), ("above", "8", "many"), ("above", "8", "9", "10"), ("above", "8", "min")):
        with pytest.raises(ValueError, match=r"BYTES|TIMES"):
            Reschedule.parse(words)


@pytest.mark.parametrize(
    "text", [BACKWARD, WAVE + "    for x in 0 .. n:\n        a[0, x] = 1.0\n"], ids=["down", "two"]
)
def test_only_the_iterations_of_one_loop_that_counts_up_are_compared(text: str) -> None:
    (step,) = parse_schedule("reschedule above 8 2")
    rejection = step.illegal(*known(text), strict=True)
    assert rejection is not None and "not just one outermost loop" in rejection.reason


def test_too_many_dependences_are_refused_before_isl_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nest 810, unrolled by 4, kept the scheduler busy for a quarter of an hour."""
    monkeypatch.setattr(isl_schedule, "MOST", 0)
    for text in ("reschedule", "reschedule min tile 32"):
        rejection = parse_schedule(text)[0].illegal(*known(PREFIX), strict=True)
        assert rejection is not None and rejection.reason == isl_schedule.TOO_MANY


def test_fewer_dependences_are_enough_to_refuse_fronts_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_schedule, "MOST_FOR_FRONTS", 0)
    kernel, facts = known(WAVE)
    rejection = parse_schedule("reschedule inner")[0].illegal(kernel, facts, strict=True)
    assert rejection is not None and "fronts" in rejection.reason
    assert parse_schedule("reschedule smart")[0].illegal(kernel, facts, strict=True) is None


def test_what_is_too_hard_in_tiles_may_be_found_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, facts = known(MATMUL)
    with monkeypatch.context() as patched:
        patched.setattr(reschedule, "LIMIT", 1)
        rejection = Reschedule(Wanted("smart", (32,))).illegal(kernel, facts, strict=True)
        assert rejection is not None and rejection.reason == isl_schedule.TOO_HARD
    assert Reschedule(Wanted("smart")).illegal(kernel, facts, strict=True) is None


BESIDE = (
    FRAME
    + """
    var s: float64
    allocate c: float64[n, m] = 0.0
    s = a[0, 0]
    for k in 0 .. n:
        c[k, 0] = s
    for i in 1 .. n:
        for j in 1 .. m:
            c[i, j] = c[i - 1, j] + s * c[i, j - 1]
    for i.1 in 0 .. n:
        b[i.1, 0] = c[i.1, m - 1]
"""
)


def test_one_nest_of_several_gets_a_new_order() -> None:
    """Arrays and scalars that are made before it are as good as arguments."""
    kernel = parse_kernel(BESIDE)
    facts = analyse(kernel)
    (step,) = parse_schedule("reschedule smart tile 4 wavefront in i")
    assert str(step) == "reschedule smart tile 4 wavefront in i"
    assert step.illegal(kernel, facts, True) is None
    after = step.apply(kernel)
    assert len(after.body) == len(kernel.body) and after.body[:3] == kernel.body[:3]
    for n, m in ((1, 1), (2, 9), (11, 7)):
        a, right, found = np.full((n, m), 0.5), np.zeros((n, m)), np.zeros((n, m))
        interpret(kernel, [a, right, n, m])
        interpret(after, [a, found, n, m])
        assert (found == right).all()


def test_what_no_nest_can_be_taken_out_for() -> None:
    kernel = parse_kernel(BESIDE)
    (step,) = parse_schedule("reschedule smart tile 4 wavefront in j")
    refused = step.illegal(kernel, analyse(kernel), True)
    assert refused is not None and refused.reason == "'j' is no outermost loop"
    read_later = parse_kernel(
        FRAME
        + """
    var t: float64
    for i in 1 .. n:
        t = a[i, 0]
        a[i, 1] = a[i - 1, 1] + t
    b[0, 0] = t
"""
    )
    (step,) = parse_schedule("reschedule in i")
    refused = step.illegal(read_later, analyse(read_later), True)
    assert refused is not None and refused.reason == "'t' is read after the loop"
