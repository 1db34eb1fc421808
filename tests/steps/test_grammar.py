from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from loopwright.steps.catalogue import STEPS
from loopwright.steps.grammar import From1, From2, MaybeNumber, NotZero, parsed, printed


@dataclass(frozen=True, slots=True)
class Knead:
    name: ClassVar[str] = "knead"
    grammar: ClassVar[str] = "DOUGH by HAND [TIMES] [slowly] [rest MINUTES], until it is smooth"
    dough: str
    hand: NotZero
    times: MaybeNumber = None
    slowly: bool = False
    minutes: From1 = 5


@dataclass(frozen=True, slots=True)
class Layer:
    name: ClassVar[str] = "layer"
    grammar: ClassVar[str] = "ON THING COUNT THING COUNT ..."
    on: str
    things: tuple[tuple[str, From2], ...]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("knead rye by -2", Knead("rye", -2)),
        ("knead rye by 2 -3", Knead("rye", 2, -3)),
        ("knead rye by 2 slowly", Knead("rye", 2, slowly=True)),
        ("knead slowly by 2 0 slowly rest 7", Knead("slowly", 2, 0, True, 7)),
        ("layer cake cream 2 jam 3", Layer("cake", (("cream", 2), ("jam", 3)))),
    ],
)
def test_fields_are_words_in_their_order(text: str, step: Knead | Layer) -> None:
    kind, words = type(step), tuple(text.split())
    assert printed(step) == text
    assert parsed(kind, words[1:]) == step


def test_what_is_the_default_is_not_said() -> None:
    assert printed(parsed(Knead, ("rye", "by", "2", "rest", "5"))) == "knead rye by 2"


@pytest.mark.parametrize(
    ("kind", "words", "why"),
    [
        (Knead, "", "knead DOUGH by HAND [TIMES] [slowly] [rest MINUTES], until it is smooth"),
        (Knead, "rye with 2", "knead DOUGH by HAND [TIMES] [slowly] [rest MINUTES], until it is smooth"),
        (Knead, "rye by 2 rest", "knead DOUGH by HAND [TIMES] [slowly] [rest MINUTES], until it is smooth"),
        (Knead, "rye by 2 rest 5 slowly", "knead DOUGH by HAND [TIMES] [slowly] [rest MINUTES], until it is smooth"),
        (Knead, "rye by 0", "HAND is a whole number other than 0, not '0'"),
        (Knead, "rye by 1 often", "TIMES is a whole number, not 'often'"),
        (Knead, "rye by 1 rest 0", "MINUTES is a whole number from 1 on, not '0'"),
        (Layer, "cake cream 2", "layer ON THING COUNT THING COUNT ..."),
        (Layer, "cake cream 2 jam 3 nuts", "layer ON THING COUNT THING COUNT ..."),
        (Layer, "cake cream 2 jam 1", "COUNT is a whole number from 2 on, not '1'"),
    ],
)
def test_faults_say_what_is_wanted(kind: type[Knead | Layer], words: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        parsed(kind, tuple(words.split()))
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text",
    [
        "align i 3", "balance i k 2048 128", "bind i thread.x 32", "bind i block.y", "complete i j",
        "carry o i", "cut i k+1", "demote s", "expand s i j", "fission i 2", "fission i 2 kept", "fuse i j -1",
        "guard j i", "normalize i", "overrun j", "predicate j", "collapse i j", "uncap s i",
        "pack d i transposed pad 4", "parallelize i",
        "promote b k whole", "promote b k whole filled", "promote b k seldom",
        "expand s in i j", "reduce i 64", "reduce i 64 chunks", "reorder j i",
        "reschedule smart tile 32 wavefront above 4194304 16", "resolve i", "reverse i", "find i 4096",
        "separate i j 256",
        "shift i -1", "skew i j 2", "specialize i j full", "specialize n % 8 in i", "specialize n 8",
        "split i 8", "stage d i over 4 2 transposed pad 1 wide 2 fill double", "tile i 8 j 4", "unroll i",
        "unroll i 4", "unroll_and_jam i 2", "vectorize i",
    ],
)  # fmt: skip
def test_every_step_reads_what_it_says(text: str) -> None:
    words = text.split()
    kind = next(step for step in STEPS if step.name == words[0])
    assert str(kind.parse(tuple(words[1:]))) == text
