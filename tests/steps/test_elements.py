"""What indices tell of iterations as they stand: where that is enough isl is not asked, and it would say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest

from loopwright.analysis.facts import NOTHING_PROVEN
from loopwright.analysis.order import broken_by
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops
from loopwright.steps import elements, fission, nest, reorder, tile
from loopwright.steps.fission import Fission
from loopwright.steps.reorder import Reorder
from loopwright.steps.schedule import parse_schedule
from loopwright.steps.step import Rejection
from loopwright.steps.tile import Tile
from steps.kernels import known

HEAD = "\nkernel parts(n: int64, m: int64, a: float64[1] C, b: float64[1] C, c: float64[2] C):\n    var s: float64\n"
CUT = f"""{HEAD}
    for i in 0 .. n:
        a[i] = b[i]
        s = 0.0
        for j in 0 .. m:
            c[i, j] = a[i] + a[0]
        b[i] = 3.0
"""
NEST = f"""{HEAD}
    for i in 0 .. n:
        for j in 0 .. m:
            for k in 0 .. m:
                c[i, j] = c[i, j] + b[k] * a[k]
"""
BLOCKS = f"""{HEAD}
    for i in 0 .. n:
        for j.o in 0 .. m step 8:
            for j in j.o .. min(j.o + 8, m):
                s = b[j] * a[i]
                c[i, j] = s
"""


def told(text: str, schedule: str) -> bool:
    """Whether indices tell that a step is legal."""
    (step,) = parse_schedule(schedule)
    kernel, facts = known(text)
    if isinstance(step, Fission):
        loop = nest.the_loop(kernel, step.loop)
        return elements.meet_in_one_iteration(
            kernel, facts, loop, loop.body[: step.place - 1], loop.body[step.place - 1 :]
        )
    assert isinstance(step, Reorder | Tile)
    order = step.order if isinstance(step, Reorder) else ()
    band = nest.band_of(kernel, order or [name for name, _ in step.sizes])  # type: ignore[union-attr]
    assert not isinstance(band, Rejection)
    return elements.keeps_elements_in_order(kernel, facts, band, order)


def isl_says(text: str, schedule: str) -> str | None:
    (step,) = parse_schedule(schedule)
    kernel, facts = known(text)
    return broken_by(kernel, step._draft(kernel), True, facts.known)  # type: ignore[attr-defined]


TOLD = [
    (CUT.replace(" + a[0]", ""), "fission i 2"),
    (CUT.replace("a[0]", "1.0"), "fission i 4"),
    (CUT.replace("a[i]", "a[n - 1 + i]").replace(" + a[0]", ""), "fission i 3"),
    (NEST, "reorder i k j"),
    (NEST, "reorder k j i"),
    (NEST, "tile i 4 j 4 k 4"),
    (NEST.replace("c[i, j]", "c[i, m - 1]"), "reorder j i k"),
    (BLOCKS, "reorder j.o i j"),
    (BLOCKS.replace("step 8", "step 9"), "reorder j.o i j"),
    (BLOCKS.replace("c[i, j]", "c[i, j - j.o]"), "reorder j.o i j"),
    (BLOCKS.replace("c[i, j]", "c[0, i * 8 + (j - j.o)]"), "reorder j.o i j"),
]
"""Legal, as indices tell."""

LEFT = [
    (CUT, "fission i 2"),
    (CUT.replace("a[0]", "a[i - 1]"), "fission i 2"),
    (CUT.replace("a[0]", "a[i + 1]"), "fission i 2"),
    (CUT.replace("c[i, j] = a[i] + a[0]", "c[i, j] = a[j]"), "fission i 2"),
    (CUT.replace("a[i]", "a[i - n]").replace(" + a[0]", ""), "fission i 2"),
    (CUT.replace("a[i]", "a[i // 2]").replace(" + a[0]", ""), "fission i 2"),
    (CUT.replace("s = 0.0", "s = s + b[i]").replace("a[0]", "s"), "fission i 3"),
    (CUT.replace("b[i] = 3.0", "b[i] = s").replace("s = 0.0", "s = s + 1.0"), "fission i 4"),
    (CUT.replace("b[i] = 3.0", "if b[i] > 3.0:\n            break i"), "fission i 2"),
    (NEST.replace("c[i, j] =", "c[i, 0] ="), "reorder i k j"),
    (NEST.replace("c[i, j]", "c[i, 0]"), "reorder i k j"),
    (NEST.replace("c[i, j]", "c[i, 0]"), "tile i 4 j 4 k 4"),
    (NEST.replace("c[i, j]", "c[i + j, 0]"), "reorder j i k"),
    (NEST.replace("c[i, j]", "c[i, j - m]"), "reorder i k j"),
    (NEST.replace("c[i, j] = ", "s = s + "), "reorder j i k"),
    (BLOCKS.replace("c[i, j]", "c[0, i * 7 + (j - j.o)]"), "reorder j.o i j"),
    (BLOCKS.replace("step 8", "step 7").replace("c[i, j]", "c[0, i * 8 + j]"), "reorder j.o j i"),
    (BLOCKS + "    b[0] = s\n", "reorder j.o i j"),
]
"""What they do not tell; some are legal."""


def test_where_indices_tell_isl_says_the_same() -> None:
    for text, step in TOLD:
        assert told(text, step), (text, step)
        assert isl_says(text, step) is None, (text, step)


def test_all_else_is_left_to_isl() -> None:
    for text, step in LEFT:
        assert not told(text, step), (text, step)
    refused = [step for text, step in LEFT if isl_says(text, step) is not None]
    assert len(refused) > 8, "most would be wrong"


@pytest.mark.parametrize("step", ["fission i 2", "reorder i k j", "tile i 4 j 4 k 4"])
def test_a_step_that_is_told_does_not_ask(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = NEST if "fission" not in step else TOLD[0][0]
    (one,) = parse_schedule(step)
    kernel, facts = known(text)
    for module in (fission, reorder, tile):
        monkeypatch.setattr(module, "reordering", lambda *_: pytest.fail("asked"))
    assert one.illegal(kernel, facts, strict=True) is None
    for module in (fission, reorder, tile):
        monkeypatch.setattr(module, "reordering", lambda *_: Rejection("asked"))
    rejection = one.illegal(replace(kernel, overlap=True), facts, strict=True)
    assert rejection is not None and rejection.reason == "asked"


@pytest.mark.parametrize("step", ["reorder j i k", "tile i 4 j 4 k 4"])
def test_whether_just_the_same_iterations_run_in_a_triangle_is_isls_to_say(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = NEST.replace("for j in 0 .. m", "for j in 0 .. i")
    (one,) = parse_schedule(step)
    assert told(text, step)
    for module in (reorder, tile):
        monkeypatch.setattr(module, "reordering", lambda *_: Rejection("asked"))
    rejection = one.illegal(*known(text), strict=True)
    assert rejection is not None and rejection.reason == "asked"


def test_digits_are_different_in_each_iteration() -> None:
    """Nests of blocks with random sizes: where loops are digits of an index, no two of their iterations have one."""
    random, found = Random(7), 0
    for _ in range(150):
        step, inner, times, more = (
            random.choice((1, 2, 3)),
            random.choice((1, 2, 4)),
            random.choice((1, 2)),
            random.randrange(3),
        )
        ends = [random.choice(("i", "0", "2 * i")), random.choice(("i", "0")), random.choice((2, 4, 6))]
        index = random.choice(("k", "j + k", f"{times} * k + {more}", "i + k", "4 * j + k"))
        text = f"""{HEAD}
    for i in 0 .. 12 step {random.choice((1, 2, 4, 6))}:
        for j in {ends[0]} .. {ends[1]} + {ends[2]} step {step}:
            for k in {random.choice(("j", "0", "i + j"))} .. {random.choice(("j", "i + j", "0"))} + {inner}:
                c[0, {index}] = 1.0
"""
        kernel = parse_kernel(text)
        band = [one for one in loops(kernel).values() if isinstance(one, For)]
        (store,) = elements._accesses(band[-1], {"c"})["c"]
        digits = elements._told_by([store], band, NOTHING_PROVEN)
        found += bool(digits)
        places: dict[int, tuple[int, ...]] = {}
        for values in _points(band, {}):
            own = tuple(values[name] for name in sorted(digits))
            assert places.setdefault(_value(store.index[1], values), own) == own, text
    assert found > 30


def _points(band: Sequence[For], outer: dict[str, int]) -> Iterator[dict[str, int]]:
    if not band:
        yield outer
        return
    loop = band[0]
    for at in range(*(_value(end, outer) for end in (loop.lower, loop.upper, loop.step))):
        yield from _points(band[1:], {**outer, loop.name: at})


def _value(expr, values: dict[str, int]) -> int:  # type: ignore[no-untyped-def]
    form = elements.linear(expr)
    return form.constant + sum(count * values[term.name] for term, count in form.terms)
