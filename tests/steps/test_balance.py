from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.balance import Balance
from loopwright.steps.schedule import apply_schedule, as_run, parse_schedule
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import check_same, refusal

CSR = """
kernel rows(n: int64, a: float64[1] C, p: int64[1] C, v: float64[1] C, x: float64[1] C, c: int64[1] C, m: int64):
    var s: float64
    var t: float64
    var e: int64
    for i in 0 .. size(p, 0) - 1:
        s = 0.0
        for k in p[i] .. p[i + 1]:
            s = s + v[k] * x[c[k]]
        a[i] = s
"""
WHOLE = CSR.replace("float64", "int64").replace("0.0", "0").replace("x[c[k]]", "x[k]")
IN_TIME = """
kernel repeated(n: int64, p: int64[1] C, v: int64[1] C, a: int64[1] C):
    var s: int64
    for t in 0 .. n:
        for i in 0 .. size(p, 0) - 1:
            s = t
            for k in p[i] .. p[i + 1]:
                s = s + v[k]
            a[i] = a[i] + s
"""
HEAD = "s = 0.0"
SIZES = (1, 2, 3, 8)  # arrays of at least ten elements: no entry is outside of them


def test_the_picture() -> None:
    check_picture(Balance)


@pytest.mark.parametrize("text", [WHOLE, WHOLE.replace("0 ..", "n - n .."), IN_TIME])
def test_what_is_balanced_computes_the_same(text: str) -> None:
    changed = check_same(text, "balance i k 64 32", scalars=SIZES)
    found = loops(changed)
    row, entry = found["i"], found["k"]
    assert isinstance(row, For) and isinstance(entry, For)
    assert (row.run, row.threads, entry.run, entry.threads) == ("balanced", 32, "entries", 64)
    assert "1 balanced 32:" in print_kernel(changed) and "p[i + 1] entries 64:" in print_kernel(changed)
    assert parse_kernel(print_kernel(changed)) == changed


def test_bounds_may_go_through_scalars_and_conversions() -> None:
    check_same(WHOLE.replace("p[i] ..", "e ..").replace("s = 0", "s = 0\n        e = p[i]"), "balance i k 64 32", SIZES)
    check_same(
        WHOLE.replace("p: int64", "p: int32").replace("p[i]", "int64(p[i])").replace("p[i + 1]", "int64(p[i + 1])"),
        "balance i k 64 32",
        SIZES,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # what the loops are
        (CSR.replace("p[i + 1]", "p[i + 2]"), "do not begin where those of the row before end"),
        (CSR.replace("p[i + 1]", "c[i + 1]"), "do not begin where those of the row before end"),
        (CSR.replace("p[i] .. p[i + 1]", "p[2 * i] .. p[2 * i + 1]"), "do not begin where"),
        (CSR.replace("p[i] .. p[i + 1]", "i .. i + 1"), "do not begin where those of the row before end"),
        (CSR.replace("p[i] ..", "e ..").replace(HEAD, f"{HEAD}\n        e = p[i]\n        e = e + 1"), "do not begin"),
        (CSR.replace("a[i] = s", "p[i] = 3"), "do not begin where"),
        (CSR.replace("- 1:", "- 1 step 2:"), "the step of 'i' is not 1"),
        (CSR.replace("p[i + 1]:", "p[i + 1] step 2:"), "the step of 'k' is not 1"),
        (CSR.replace("0 .. size(p, 0) - 1", "0 .. c[0]"), "the bounds of 'i' are read from an array"),
        # what stands in them
        (CSR.replace(HEAD, f"{HEAD}\n        x[i] = 1.0"), "before the loop over the entries writes to an array"),
        (CSR.replace("a[i] = s", "for j in 0 .. n:\n            a[i] = s"), "after the loop over the entries holds"),
        (CSR.replace("s = s + v", "for j in 0 .. n:\n                s = s + v"), "inside 'k' holds another loop"),
        (CSR.replace("x[c[k]]", "x[i]"), "what is done for an entry depends on its row, through 'i'"),
        (CSR.replace("x[c[k]]", "t").replace(HEAD, f"{HEAD}\n        t = x[i]"), "depends on its row, through 't'"),
        (CSR.replace("v[k] * x[c[k]]", "x[0]"), "no array that is read has an element for each 'k'"),
        (CSR.replace("a[i] = s", "a[i] = s\n        if s > 3.0:\n            break i"), "an array or a jump"),
        # whose order counts
        (CSR.replace("a[i] = s", "a[0] = a[0] + s"), "the iterations of 'i' all add to 'a'"),
        (CSR.replace("a[i] = s", "a[i] = a[i - 1]"), "iteration"),
        (CSR.replace("s = s + v[k] * x[c[k]]", "s = v[k]"), "'k' is no reduction into scalars"),
        (CSR.replace("s = s + v[k]", "s = 2.0 * s + v[k]"), "'k' is no reduction into scalars"),
    ],
)
def test_refusals_say_why(text: str, words: str) -> None:
    assert words in refusal(text, "balance i k 2048", strict=False)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("balance i j 2048", "there is no loop 'j'"),
        ("balance k i 2048", "'i' does not stand directly in 'k'"),
        ("balance i i 2048", "'i' is named twice"),
        ("balance i k 2048 100", "whole warps of 32 threads, 1024 threads at most: not 100"),
        ("balance i k 4096 2048", "1024 threads at most: not 2048"),
        ("balance i k 1000 256", "1000 entries are no multiple of the 256 threads of a block"),
        ("balance i k 5120 256", "56416 bytes of shared memory for 5120 entries: 49152 are the most"),
    ],
)
def test_numbers_that_do_not_fit(step: str, words: str) -> None:
    assert words in refusal(CSR, step, strict=False)


def test_strict_keeps_the_order_of_float_sums() -> None:
    assert "strict keeps the order" in refusal(CSR, "balance i k 2048", strict=True)
    assert Balance("i", "k", 2048).illegal(*known(WHOLE), strict=True) is None


def test_overlapping_arguments_keep_their_order() -> None:
    kernel, facts = known(WHOLE)
    rejection = Balance("i", "k", 2048).illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "arguments overlap in memory" in rejection.reason


@pytest.mark.parametrize(
    ("schedule", "step", "words"),
    [
        ("parallelize i", "balance i k 64 32", "'i' is marked parallel already"),
        ("vectorize k", "balance i k 64 32", "'k' is marked vector already"),
        ("balance i k 64 32", "balance i k 64 32", "'i' is marked balanced already"),
        ("balance i k 64 32", "bind i block.x", "'i' is marked to run balanced already"),
        ("balance i k 64 32", "bind k thread.x 32", "'k' is marked to run entries already"),
        ("balance i k 64 32", "parallelize i", "'i' is marked balanced already"),
        ("balance i k 64 32", "vectorize k", "'k' is marked entries already"),
        ("balance i k 64 32", "cut k n", "'k' is marked entries already"),
        ("balance i k 64 32", "split k 4", "'k' is marked entries already"),
    ],
)
def test_a_loop_has_one_mark(schedule: str, step: str, words: str) -> None:
    kernel, facts = apply_schedule(*known(WHOLE), parse_schedule(schedule), strict=False)
    rejection = parse_schedule(step)[0].illegal(kernel, facts, strict=False)
    assert rejection is not None and words in rejection.reason, rejection


def test_loops_around_it_stay_on_the_host() -> None:
    marked = IN_TIME.replace("for t in 0 .. n:", "for t in 0 .. n block.x:")
    assert "'t' around it is marked block.x already" in refusal(marked, "balance i k 64 32")


def test_reports_know_how_the_loops_run() -> None:
    written, facts = known(WHOLE)
    changed, _ = apply_schedule(written, facts, parse_schedule("balance i k 64 32"), strict=False)
    runs = {name: loop.run for name, loop in loops(as_run(written, changed)).items() if isinstance(loop, For)}
    assert runs == {"i": "balanced", "k": "entries"}


def test_instances() -> None:
    assert [str(step) for step in Balance.instances(*known(WHOLE), strict=True)] == ["balance i k 2048"]
    assert Balance.instances(*known(CSR), strict=True) == ()


def test_text() -> None:
    for text in ("row k 2048", "i.o k.1 1024 512"):
        step = Balance.parse(tuple(text.split()))
        assert str(step) == f"balance {text}" and Balance.parse(tuple(str(step).split()[1:])) == step
    assert str(Balance.parse(("i", "k", "2048", "256"))) == "balance i k 2048"
    for words in (("i",), ("i", "k"), ("i", "k", "64", "32", "1")):
        with pytest.raises(ValueError, match=r"balance LOOP INNER ENTRIES \[THREADS\]"):
            Balance.parse(words)
    with pytest.raises(ValueError, match="ENTRIES is a whole number from 1 on"):
        Balance.parse(("i", "k", "0"))
