"""Which accesses meet in different iterations, in which order and how far apart."""

from __future__ import annotations

import random

import pytest
from pytest import MonkeyPatch

from analysis.programs import affine_program, program
from analysis.small import kernel
from loopwright.analysis import dependence
from loopwright.analysis.bounds import prove
from loopwright.analysis.dependence import Elements, Meeting, apart, carried, meetings
from loopwright.analysis.effort import together
from loopwright.analysis.trace import Access, LoopNote, trace
from loopwright.ir.nodes import For

HEAD = (
    'def f(a: "float64[1]", b: "float64[2]", x: "int64[1]", y: "int32[1]", n: "int64", m: "int64", k: "int64"):\n'
)  # fmt: skip


Asked = tuple[Elements, LoopNote, list[Access]]


def asked(text: str, array: str = "a", loop: str = "i") -> Asked:
    found = kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n")))
    notes = trace(found)
    accesses = [access for access in notes.accesses if access.array == array and loop in access.stack]
    return Elements(prove(found, notes)), notes.loops[loop], accesses


def meet(text: str, array: str = "a", loop: str = "i") -> list[Meeting]:
    elements, note, accesses = asked(text, array, loop)
    result = list(meetings(elements, note, accesses))
    assert carried(elements, note, accesses) == bool(result)
    return result


MEETINGS = {
    "for i in range(1, n):\n    a[i] = a[i - 1]": ("RAW", 1, True),
    "for i in range(n - 1):\n    a[i] = a[i + 1]": ("WAR", 1, True),
    "for i in range(n, 0, -1):\n    a[i] = a[i - 1]": ("WAR", 1, True),
    "for i in range(n - 2, -1, -1):\n    a[i] = a[i + 1]": ("RAW", 1, True),
    "for i in range(0, n, 2):\n    a[i + 4] = a[i]": ("RAW", 2, True),
    "for i in range(n):\n    a[m] = 1.0": ("WAW", None, True),
    "for i in range(n):\n    a[i % 4] = 1.0": ("WAW", None, True),
    "for i in range(n):\n    a[x[i]] = 1.0": ("WAW", None, False),
    "for i in range(n):\n    if x[i] > 0:\n        a[0] = 1.0": ("WAW", None, False),
    "for i in range(n):\n    if x[i] > 0:\n        continue\n    a[0] = 1.0": ("WAW", None, False),
    "for i in range(n):\n    a[i * m] = a[i * k]": ("RAW", None, False),
    "for i in range(n):\n    if x[i] > 0:\n        a[0] = 1.0\n    b[i, 0] = a[0]": ("RAW", None, False),
    "for i in range(n):\n    a[i // 2] = 1.0": ("WAW", 1, True),
    "for i in range(5, n):\n    a[i] = a[i - 5]": ("RAW", 5, True),
}


@pytest.mark.parametrize("text", MEETINGS)
def test_first_meeting(text: str) -> None:
    first = meet(text)[0]
    assert (first.kind, first.distance, first.certain) == MEETINGS[text]


NONE = [
    "for i in range(n):\n    a[i] = a[i] + 1.0",
    "for i in range(n):\n    a[2 * i] = a[2 * i + 1]",
    "for i in range(0, n, 2):\n    a[i] = a[i + 1]",
    "for i in range(n):\n    a[i] = a[i + n]",
    "for i in range(n):\n    for j in range(m):\n        a[i * m + j] = a[i * m + j] + 1.0",
    "for i in range(5):\n    a[i] = a[i + 5]",
    "for i in range(n):\n    if i == 3:\n        a[0] = 1.0",
]


@pytest.mark.parametrize("text", NONE)
def test_no_meeting(text: str) -> None:
    assert meet(text) == []


def test_the_inner_loop_may_carry_what_the_outer_does_not() -> None:
    text = "for i in range(n):\n    for j in range(1, m):\n        b[i, j] = b[i, j - 1]"
    assert meet(text, "b", "i") == []
    (only,) = meet(text, "b", "j")
    assert (only.kind, only.distance) == ("RAW", 1)


def test_an_index_from_the_end_meets_one_from_the_start() -> None:
    (first, *_) = meet("for i in range(n):\n    a[i] = a[-1]")
    assert first.certain
    (first, *_) = meet("for i in range(n):\n    a[i] = a[i - 1]")
    assert {meeting.distance for meeting in meet("for i in range(n):\n    a[i] = a[i - 1]")} >= {1}


def test_least_distance() -> None:
    assert [meeting.least for meeting in meet("for i in range(n):\n    a[i % 4] = 1.0")] == [4]


def test_a_chance_meeting_is_not_certain() -> None:
    text = "for j in range(n):\n    s = y[j]\n    for i in range(m):\n        a[i] = a[i + int64(s)]"
    assert not meet(text)[0].certain
    text = "for j in range(n):\n    s = x[j]\n    for i in range(m):\n        a[s] = 1.0"
    assert meet(text)[0].certain
    text = "for j in range(n):\n    for i in range(x[j], x[j + 1]):\n        a[i] = a[i + 1]"
    assert meet(text)[0].certain


def test_groups_apart() -> None:
    found = kernel(HEAD + "    for i in range(n):\n        for j in range(i):\n            b[i, i] = b[i, j]\n")
    notes = trace(found)
    elements = Elements(prove(found, notes))
    read, write = notes.accesses
    assert apart(elements, notes.loops["j"], [write], [read])
    assert not apart(elements, notes.loops["j"], [write], [write])


def test_the_nearest_meeting_comes_first() -> None:
    found = meet("for i in range(9, n):\n    for j in range(4, i):\n        a[i] = a[j - 3] + a[j]")
    assert [meeting.least for meeting in found if meeting.kind == "RAW"][:2] == [1, 4]


PLAINLY_APART = [
    ("for i in range(n):\n    a[i] = a[i] * 2.0", "a"),
    ("for i in range(n):\n    b[x[i], i + m] = b[x[i + 1], i + m]", "b"),
    ("for j in range(m):\n    for i in range(n, 0, -2):\n        a[3 * i - j] = a[3 * i - j] + 1.0", "a"),
]


@pytest.mark.parametrize(("text", "array"), PLAINLY_APART)
def test_isl_is_not_asked_about_one_place_in_each_iteration(text: str, array: str, monkeypatch: MonkeyPatch) -> None:
    elements, note, accesses = asked(text, array)
    monkeypatch.setattr(dependence, "_meet", None)
    monkeypatch.setattr(dependence, "build", None)
    assert not carried(elements, note, accesses)


NOT_PLAINLY = [
    "for i in range(6):\n    a[i - 3] = 1.0",  # in an array of three elements the first and the last three
    "for i in range(n):\n    a[i + x[i]] = 1.0",
    "for i in range(n):\n    for j in range(n):\n        a[i + j] = 1.0",
    "for i in range(n):\n    a[i] = a[i + 1]",
    "for i in range(n):\n    a[m] = a[m] + 1.0",
    "for i in range(n):\n    m = m - 1\n    a[i + m] = 1.0",
]


@pytest.mark.parametrize("text", NOT_PLAINLY)
def test_what_is_not_one_place_in_each_iteration_may_meet(text: str) -> None:
    assert meet(text)


def test_the_first_meeting_is_found_without_the_others(monkeypatch: MonkeyPatch) -> None:
    text = "for i in range(4, n):\n    a[i] = a[i - 1] + a[i - 2] + a[i - 3] + a[i - 4]"
    elements, note, accesses = asked(text)
    count, real = [0], dependence._meet

    def counted(*given: object, **more: object) -> object:
        count[0] += 1
        return real(*given, **more)

    monkeypatch.setattr(dependence, "_meet", counted)
    first = next(meetings(elements, note, accesses))
    assert (first.kind, first.distance, count[0]) == ("RAW", 1, 1)
    assert len(list(meetings(elements, note, accesses))) == 4


def test_accesses_of_the_same_elements_are_compared_once(monkeypatch: MonkeyPatch) -> None:
    """Also where another kernel with the same nest is asked about."""
    text = "for i in range(n):\n    a[m] = a[m] + a[m] * a[m]"
    real, pairs = dependence._meet, set()

    def counted(note: LoopNote, multiples: object, here: object, there: object, later: bool = False) -> object:
        assert (id(here), id(there)) not in pairs
        pairs.add((id(here), id(there)))
        return real(note, multiples, here, there, later)

    monkeypatch.setattr(dependence, "_meet", counted)
    with together():
        elements, note, accesses = asked(text)
        assert len(list(meetings(elements, note, accesses))) == 7 and len(pairs) == 1
        assert carried(elements, note, accesses) and len(pairs) == 1
        again, note, accesses = asked(text)
        assert carried(again, note, accesses) and len(list(meetings(again, note, accesses))) == 7 and len(pairs) == 1
        assert not carried(*asked("for i in range(n):\n    a[2 * i + 1] = a[2 * k]")) and len(pairs) == 3


@pytest.mark.parametrize("seed", range(40))
def test_what_is_asked_of_each_write_is_what_all_of_them_together_tell(seed: int) -> None:
    chance = random.Random(seed)
    found = kernel((affine_program if seed % 2 else program)(chance))
    notes = trace(found)
    elements = Elements(prove(found, notes))
    for note in notes.loops.values():
        if not isinstance(note.loop, For):
            continue
        for array in {access.array for access in notes.accesses if note.loop.name in access.stack}:
            accesses = [one for one in notes.accesses if one.array == array and note.loop.name in one.stack]
            if any(one.is_write for one in accesses):
                assert carried(elements, note, accesses) == together_carried(elements, note, accesses)


def together_carried(elements: Elements, note: LoopNote, accesses: list[Access]) -> bool:
    """The same in one question, about all writes and all accesses at once."""
    layout = elements.layout(accesses)
    sets = [(access.is_write, elements.of(access, note, layout)) for access in accesses]
    writes, everything = [one for is_write, one in sets if is_write], [one for _, one in sets]
    multiples = elements.multiples_of(note)
    union = dependence._union
    return not dependence._meet(note, multiples, union(writes), union(everything)).is_empty()
