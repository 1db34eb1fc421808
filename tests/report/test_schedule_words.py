"""Schedules in words: every step there is has some, and a store's text is no trouble."""

from __future__ import annotations

import pytest

from loopwright.ir.variant import PLAIN, RECIPE, Variant
from loopwright.report.schedule_words import PHRASES, SHORT, schedule_words, variant_words
from loopwright.steps.catalogue import STEPS


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_every_step_has_words(step: type) -> None:
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in step.__name__).lstrip("_")
    assert name in PHRASES and set(SHORT) <= set(PHRASES)
    words = ["i", "block.x"] if name == "bind" else ["i", "4", "j", "8"] if name == "tile" else ["i", "j", "4"]
    assert len(PHRASES[name](words)) > len(name) and schedule_words(" ".join((name, *words))) == [PHRASES[name](words)]


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("tile i 32 j 64", ["goes through i and j in blocks of 32 x 64 iterations"]),
        ("relayout p in t aosoa 8", ["keeps p as 'aosoa 8' in memory while t runs"]),
        ("relayout p soa", ["keeps p as 'soa' in memory while it is used"]),
        ("split i 8", ["goes through i in pieces of 8 iterations"]),
        ("reorder i k j", ["nests the loops i around k around j"]),
        ("bind i block.x", ["runs i on blocks of the GPU, along x"]),
        ("tile i; strange <b> x;;", ["tile i", "strange <b> x"]),
        (RECIPE, ["the default: what the facts about the kernel promise a gain from"]),
        (PLAIN, ["the loops as they are written, on all threads where they may"]),
        ("", []),
    ],
)  # fmt: skip
def test_in_words(schedule: str, words: list[str]) -> None:
    assert schedule_words(schedule) == words


def test_equal_steps_are_told_once() -> None:
    assert len(schedule_words("reschedule; reschedule; split i 2")) == 2


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant("cpu", "tile i 32 j 32; parallelize i.o", 2), "blocks, 2 threads"),
        (Variant("cpu", "vectorize i", 1), "other order, 1 thread"),
        (Variant("cuda"), "default, cuda"),
        (Variant("cpu", PLAIN, 2), "as written, 2 threads"),
    ],
)
def test_a_variant_in_a_line(variant: Variant, words: str) -> None:
    assert variant_words(variant) == words
