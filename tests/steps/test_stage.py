from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.stage import Stage
from steps.before_after import check_same
from steps.kernels import MATMUL, known
from steps.pictures import check_picture
from steps.test_specialize import square_calls

TILED = (
    "reorder i j k; tile i 4 j 8 k 4; specialize i j full; reorder k.o k i j; promote c k.o whole; specialize k full"
)
PARTIAL = "reorder i j k; tile i 4 j 8 k 2; complete i j; reorder k.o k i j"
COLUMNS = MATMUL.replace("b: float64[2] C", "b: float64[2] F")


def staged(step: str, text: str = MATMUL) -> str:
    return print_kernel(apply_schedule(*known(text), parse_schedule(f"{TILED}; {step}"), strict=False)[0])


def test_the_picture() -> None:
    check_picture(Stage)


@pytest.mark.parametrize(
    "step",
    [
        "stage b k over 8 4",
        "stage b k over 4 2",
        "stage b k over 2",
        "stage b k over 3 5",
        "stage b k over 64",
        "stage a k over 4 4 pad 1",
        "stage a k over 2 2 transposed pad 2 wide 2",
        "stage b k over 4 4 wide 2 double",
        "stage a k over 2 3 pad 1 wide 2 double",
        "stage a k over 2 2; stage b k over 2 2 wide 2",
        "stage a k over 2 2 double; stage b k over 2 2 wide 2 double",
    ],
)
@pytest.mark.parametrize("text", [MATMUL, COLUMNS])
def test_the_copy_changes_nothing(step: str, text: str) -> None:
    check_same(text, f"{TILED}; {step}", square_calls((0, 1, 4, 9)))


@pytest.mark.parametrize(
    "step",
    [
        "stage b k over 8 4 fill",
        "stage a k over 4 4 pad 1 fill double",
        "stage b k over 3 5 fill",
        "stage a k over 2 2 transposed pad 2 wide 2 fill",
        "stage a k over 4 2 fill; stage b k over 4 4 wide 2 fill",
    ],
)
@pytest.mark.parametrize("before", [PARTIAL, f"{PARTIAL}; promote c k whole"])
@pytest.mark.parametrize("text", [MATMUL, COLUMNS])
def test_tiles_are_filled_up(step: str, before: str, text: str) -> None:
    check_same(text, f"{before}; {step}", square_calls((0, 3, 9)))


def test_what_fills_a_tile() -> None:
    """Only elements that the loops use are read; whole tiles are copied without tests."""
    kernel = apply_schedule(*known(MATMUL), parse_schedule(f"{PARTIAL}; stage b k over 4 4 wide 2 fill"), strict=True)[
        0
    ]
    text = print_kernel(kernel)
    assert "if j.o + 8 <= size(b, 1) and k.o + 2 <= size(a, 1):" in text
    whole, other = text.split("allocate b.p")[1].split("else:", 1)
    assert " else 0.0" not in whole and "vector" in whole
    other = other.partition("for k in")[0]
    assert "< size(b, 1)" in other and "< size(a, 1) else 0.0" in other and "vector" not in other


def test_neighbours_of_a_block_copy_neighbours_in_memory() -> None:
    """Whatever the order of the tile's axes is."""
    text = staged("stage a k over 4 2")
    assert "allocate a.p: float64[4, 4]" in text
    assert "a.p[k.o + (a.p.y * 4 + a.p.x) % 4 - k.o" in text or "% 4" in text
    assert "for i.p in i.o .. i.o + 4 step 2:" in text and "(a.p.y * 4 + a.p.x) // 4" in text
    assert "for k.p in k.o .. k.o + 4 step 2:" in staged(
        "stage a k over 4 2", MATMUL.replace("a: float64[2] C", "a: float64[2] F")
    )


def test_rows_that_do_not_go_evenly_into_the_threads() -> None:
    text = staged("stage b k over 3 2 wide 2")
    assert "for k.p in k.o .. k.o + 4 thread.y 2:" in text and "for j.p in j.o .. j.o + 8 step 2 thread.x 3:" in text
    assert "for j.p.v in j.p .. j.p + 2 vector:" in text


@pytest.mark.parametrize(
    ("before", "step", "words"),
    [
        (TILED, "stage c.r k over 4", "writes to 'c.r'"),
        (TILED, "stage a k over 1025", "at most 1024 threads along x"),
        (TILED, "stage a k over 64 32", "at most 1024 threads in all, not 64 x 32"),
        (TILED, "stage a k over 4 wide 3", "3 elements of 8 bytes are not copied at once"),
        (TILED, "stage a k over 4 wide 4", "4 elements of 8 bytes are not copied at once"),
        (
            "reorder i j k; tile i 4 j 8 k 3",
            "stage a k over 4 wide 2",
            "'k' does not run over a constant multiple of 2 neighbours",
        ),
        (
            "reorder i j k; tile i 4 j 8 k 4",
            "stage a i over 4 wide 2",
            "'k' does not run over a constant multiple of 2 neighbours",
        ),
        (TILED + "; bind i.o thread.x 4", "stage a k over 4", "stands inside 'i.o', which is marked to run thread.x"),
        (TILED + "; bind j thread.x 4", "stage a k over 4", "'j' is marked thread.x already"),
        ("", "stage a k over 4 double", "no constant number"),
        ("reorder j i k", "stage a j over 4 double", "no constant number"),
    ],
)
def test_refusals(before: str, step: str, words: str) -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(before), strict=False)
    (one,) = parse_schedule(step)
    rejection = one.illegal(kernel, facts, False)
    assert rejection is not None and words in rejection.reason, rejection


FRAME = "kernel some(a: float64[2] C, b: float64[2] C, n: int64):\n"
AROUND = {
    "'i' is inside no loop": """
    for i in 0 .. 8:
        b[0, i] = b[0, i] + a[0, i]
""",
    "'k' writes to 'a', of which the next tile would come too early": """
    for k in 0 .. n:
        for i in 0 .. 8:
            b[k, i] = a[k, i] + a[k, i]
        a[k + 1, 0] = 1.0
""",
    "'m' changes in 'k': the next tile is not known before": """
    var m: int64
    m = 0
    for k in 0 .. n:
        if m < 3:
            for i in 0 .. 8:
                b[k, i] = a[k, i]
            m = m + 1
""",
    "the tile of 'a' is not the first thing in 'k'": """
    for k in 0 .. n:
        b[k, 0] = 1.0
        for i in 0 .. 8:
            b[k, i] = b[k, i] + a[k, i]
""",
    "data decides whether 'k' uses the tile": """
    for k in 0 .. n:
        if b[0, k] > 1.0:
            for i in 0 .. 8:
                b[k, i] = a[k, i]
""",
    "'k' does not count up in constant steps": """
    for k in n .. 0 step -1:
        for i in 0 .. 8:
            b[k, i] = a[k, i]
""",
}


@pytest.mark.parametrize("words", AROUND)
def test_where_the_next_tile_cannot_come_early(words: str) -> None:
    kernel = known(FRAME + AROUND[words].lstrip("\n"))
    rejection = Stage("a", "i", 4, double=True).illegal(*kernel, strict=True)
    assert rejection is not None and words in rejection.reason, rejection
    assert Stage("a", "i", 4).illegal(*kernel, strict=True) is None


def test_instances() -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(TILED), strict=False)
    found = {str(step) for step in Stage.instances(kernel, facts, False)}
    assert {"stage a k over 32 8", "stage a k over 32 8 double", "stage b i over 32 8"} <= found


def test_text() -> None:
    full = "a i over 4 2 transposed pad 4 wide 4 fill double"
    for text in ("a i over 4", "a i over 4 2", full, "a i over 4 double", "a i over 4 fill"):
        assert str(Stage.parse(tuple(text.split()))) == f"stage {text}"
    for text in ("a i", "a i over", "a i over 4 pad", "a i over 4 2 3", "a i over x", "a i over 4 double pad 4"):
        with pytest.raises(ValueError, match=r"ARRAY LOOP over X|is a whole number"):
            Stage.parse(tuple(text.split()))
