from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.bind import Bind
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same

FILL = """
kernel fill(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. 2 * n:
            a[i, j] = a[i, j] + 1.0
"""
TRIANGLE = FILL.replace("0 .. 2 * n", "i .. n")
SPARSE = """
kernel sparse(start: int64[1] C, y: float64[1] C, x: float64[1] C, n: int64):
    for i in 0 .. n:
        for k in start[i] .. start[i + 1]:
            x[i] = x[i] + y[k]
"""
ROWS_OF_DATA = """
kernel filled(at: int64[1] C, a: float64[2] C):
    for i in 0 .. at[0]:
        for j in 0 .. 8:
            a[i, j] = 1.0
"""
LEFT = """
kernel left(a: float64[1] C, b: float64[1] C, n: int64) -> python int64:
    for i in 0 .. n:
        if a[i] > 3.0:
            return i
        b[i] = a[i]
    return n
"""
BREAKS = LEFT.replace("return i", "break i")
SEARCHED = """
kernel searched(a: float64[2] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            if a[i, j] > 3.0:
                break j
            b[i] = a[i, j]
"""
WORK = """
kernel work(a: float64[2] C, n: int64):
    allocate t: float64[4] = 0.0
    for i in 0 .. n:
        for j in 0 .. 4:
            t[j] = a[i, j]
        for k in 0 .. 4:
            a[i, 3 - k] = t[k]
"""
OWN = """
kernel own(a: float64[2] C, n: int64):
    for i in 0 .. n:
        allocate t: float64[4] = 0.0
        for j in 0 .. 4:
            t[j] = a[i, j]
        for k in 0 .. 4:
            a[i, 3 - k] = t[k]
"""
LAST = """
kernel last(a: float64[1] C, n: int64) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = a[i]
        a[i] = s + 1.0
    return s
"""
TWO = """
kernel two(a: float64[2] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        b[i] = 2.0
        for j in 0 .. n:
            a[i, j] = 1.0
"""
KEYS = """
kernel keys(h: int64[1] C, b: int64[1] C, n: int64):
    for i in 0 .. n:
        h[min(max(b[i], 0), 3)] = h[min(max(b[i], 0), 3)] + 1
"""
MOST = """
kernel most(h: int64[1] C, b: int64[1] C, n: int64):
    for i in 0 .. n:
        if i > h[b[i]]:
            h[b[i]] = i
"""
ELEMENT = """
kernel element(h: int64[1] C, b: int64[1] C, n: int64):
    for i in 0 .. n:
        h[0] = h[0] + b[i]
"""
CUBE = """
kernel cube(a: float64[3] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            for k in 0 .. n:
                for l in 0 .. 8:
                    a[i, j, k] = a[i, j, k] + 1.0
"""
STEPS = """
kernel steps(a: float64[1] C, n: int64):
    for i in 0 .. 2000 step 2:
        a[i] = 1.0
    for j in n .. 0 step -3:
        a[j] = 2.0
"""


def test_the_picture() -> None:
    check_picture(Bind)


def test_only_the_named_loop_changes() -> None:
    kernel, facts = known(ROWS)
    after = Bind("i", "block.x").apply(kernel)
    assert {name: loop.run for name, loop in loops(after).items()} == {"i": "block.x", "j": "sequential"}  # type: ignore[union-attr]
    assert loops(after)["j"] is loops(kernel)["j"]
    assert Bind("i", "block.x").illegal(kernel, facts, strict=True) is None


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (FILL, "bind i block.x"),
        (FILL, "bind i thread.x 32"),
        (FILL, "bind i block.x; bind j thread.x 7"),
        (FILL, "bind j thread.x 7; bind i block.x"),
        (FILL, "split j 4; bind i block.y; bind j.o block.x; bind j thread.x"),
        (FILL, "tile i 2 j 4; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"),
        (FILL, "tile i 2 j 4; bind j thread.x; bind i thread.y; bind j.o block.x; bind i.o block.y"),
        (TRIANGLE, "bind i block.x; bind j thread.x 32"),
        (TRIANGLE, "guard j i; tile i 2 j 4; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"),
        (OWN, "bind i thread.x 3"),
        (OWN, "bind i block.x; bind j thread.x; bind k thread.x 2"),
        (SEARCHED, "bind i thread.x 3"),
        (KEYS, "bind i thread.x 32"),
        (KEYS, "split i 8; bind i.o block.x; bind i thread.x 4"),
        (MOST, "bind i thread.x 32"),
    ],
)
def test_what_is_bound_computes_the_same(text: str, schedule: str) -> None:
    changed = check_same(text, schedule)
    bound = {step.loop for step in parse_schedule(schedule) if isinstance(step, Bind)}
    assert bound == {
        name for name, loop in loops(changed).items() if isinstance(loop, For) and loop.run != "sequential"
    }


def test_a_loop_in_two_dimensions() -> None:
    text = print_kernel(
        check_same(FILL, "tile i 2 j 4; bind i.o block.y; bind j.o block.x; bind i thread.y 3; bind j thread.x")
    )
    assert "for i.o in 0 .. n step 2 block.y:" in text and "for j.o in 0 .. 2 * n step 4 block.x:" in text
    assert "for i in i.o .. min(i.o + 2, n) thread.y 3:" in text
    assert "for j in j.o .. min(j.o + 4, 2 * n) thread.x:" in text


@pytest.mark.parametrize(
    ("text", "schedule", "step", "word"),
    [
        (WHILE, "", "bind w block.x", "'w' is a while loop"),
        (ROWS, "", "bind k block.x", "no loop 'k'"),
        (ROWS, "parallelize i", "bind i block.x", "'i' is marked to run parallel already"),
        (ROWS, "bind i block.x", "bind i thread.x 8", "'i' is marked to run block.x already"),
        (LEFT, "", "bind i block.x", "'i' can be left in the middle"),
        (SEARCHED, "", "bind j thread.x 4", "j"),
        # whose order counts
        (PREFIX, "", "bind i block.x", "a[i - 1]"),
        (TOTAL, "", "bind i block.x", "its iterations all add to 's'"),
        (COUNT.replace("int64", "int8"), "", "bind i thread.x 32", "to 'h', and a GPU has no atomic 'add' of int8"),
        (COUNT.replace("+ 1", "* 3"), "", "bind i thread.x 32", "to 'h', and a GPU has no atomic 'mul' of int64"),
        (ELEMENT, "", "bind i thread.x 32", "to 'h': `promote` keeps an element in a scalar"),
        (TOTAL, "", "bind i block.x", "its iterations all add to 's': `reduce` makes partial results"),
        (LAST, "", "bind i block.x", "the value of 's' after its last iteration is needed"),
        (WORK, "", "bind i block.x", "each iteration would need an array 't' of its own"),
        # where it stands
        (FILL, "bind j thread.x 8", "bind i thread.x 8", "'j' is bound to thread.x already"),
        (FILL, "parallelize i", "bind j thread.x 8", "'i' is marked to run parallel already"),
        (FILL, "vectorize j", "bind j thread.x", "'j' is marked to run vector already"),
        (FILL, "bind i thread.x 8", "bind j block.x", "it stands inside 'i', which threads of a block share"),
        (FILL, "bind j block.x", "bind i thread.x 8", "'j' inside it is bound to block.x already"),
        # what the host must know
        (TWO, "bind i block.y", "bind j block.x", "other statements stand between 'i' and 'j'"),
        (TWO, "bind i block.x", "bind j block.x", "other statements stand between 'i' and 'j'"),
        (TWO, "bind j block.x", "bind i block.y", "other statements stand between 'i' and 'j'"),
        (CUBE, "bind i block.y", "bind k block.x", "other statements stand between 'i' and 'k'"),
        (CUBE, "bind k block.x", "bind i block.y", "other statements stand between 'i' and 'k'"),
        (TRIANGLE, "bind i block.y", "bind j block.x", "its bounds depend on 'i': blocks of both would start at once"),
        (TRIANGLE, "bind j block.x", "bind i block.y", "the bounds of 'j' depend on 'i'"),
        (TRIANGLE, "bind j block.x", "bind i block.x", "the bounds of 'j' depend on 'i'"),
        (ROWS_OF_DATA, "", "bind i block.x", "its bounds are read from an array: the host does not know them"),
        # how many threads
        (FILL, "", "bind j thread.x", "'j' has no constant number of iterations: name a number of threads for it"),
        (STEPS, "", "bind j thread.x", "'j' has no constant number of iterations"),
        (FILL, "", "bind j thread.x 1025", "a block has at most 1024 threads along x"),
        (FILL, "", "bind j thread.z 65", "a block has at most 64 threads along z"),
        (FILL, "split j 2048", "bind j thread.y", "a block has at most 1024 threads along y"),
    ],
)  # fmt: skip
def test_refusals_say_why(text: str, schedule: str, step: str, word: str) -> None:
    kernel, facts = apply_schedule(*known(text), parse_schedule(schedule), strict=False)
    rejection = parse_schedule(step)[0].illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason, rejection


def test_as_many_threads_as_a_loop_with_a_step_has_iterations() -> None:
    check_same(STEPS.replace("2000", "6"), "bind i thread.x")
    kernel, facts = known(STEPS)
    assert Bind("i", "thread.x").illegal(kernel, facts, strict=True) is None  # 1000, and not 2000


def test_overlapping_arguments_keep_their_order() -> None:
    kernel, facts = known(ROWS)
    rejection = Bind("i", "block.x").illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "arguments overlap in memory" in rejection.reason


def test_a_users_word_decides_what_is_undecided() -> None:
    scatter = COUNT.replace("h[a[i]] + 1", "i")
    assert Bind("i", "block.x").illegal(*known(scatter), strict=False) is not None
    asserted = scatter.replace("size(a, 0):", "size(a, 0) asserted:")
    assert Bind("i", "block.x").illegal(*known(asserted), strict=False) is None


def test_rows_of_data_may_be_bound_by_their_threads() -> None:
    kernel, facts = known(ROWS_OF_DATA)
    assert Bind("j", "thread.x").illegal(kernel, facts, strict=True) is None
    assert Bind("j", "block.x").illegal(kernel, facts, strict=True) is None  # the loop around it stays on the host
    assert Bind("i", "thread.x", 32).illegal(kernel, facts, strict=True) is None
    assert Bind("i", "block.x").illegal(*known(SPARSE), strict=True) is None


def test_instances() -> None:
    blocks, threads = ("block.x", "block.y", "block.z"), ("thread.x", "thread.y", "thread.z")
    found = {str(step) for step in Bind.instances(*known(ROWS), strict=True)}
    assert found == {f"bind {loop} {axis}" for loop in "ij" for axis in blocks}
    found = {str(step) for step in Bind.instances(*known(OWN), strict=True)}
    assert found == {f"bind i {axis}" for axis in blocks} | {
        f"bind {loop} {axis}" for loop in "jk" for axis in (*blocks, *threads)
    }
    assert Bind.instances(*known(PREFIX), strict=True) == ()


def test_text() -> None:
    for text in ("i block.x", "i.o block.z", "i thread.y", "i thread.x 32"):
        step = Bind.parse(tuple(text.split()))
        assert str(step) == f"bind {text}" and Bind.parse(tuple(str(step).split()[1:])) == step
    for words in (("i",), ("i", "warp"), ("i", "parallel"), ("i", "block.x", "8"), ("i", "thread.x", "8", "8"), ()):
        with pytest.raises(ValueError, match=r"bind LOOP block\.x"):
            Bind.parse(words)
    with pytest.raises(ValueError, match="THREADS is a whole number from 1 on"):
        Bind.parse(("i", "thread.x", "0"))


def test_several_loops_along_an_axis() -> None:
    check_same(FILL, "bind i block.x; bind j block.x")
