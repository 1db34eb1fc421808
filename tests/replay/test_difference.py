"""Folders of texts: what counts as different, and how changes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.difference import Comparison, compare
from replay.run import report

Texts = dict[str, str]


@pytest.fixture
def compared(tmp_path: Path):  # type: ignore[no-untyped-def]
    def of(before: Texts, after: Texts) -> Comparison:
        for side, texts in (("before", before), ("after", after)):
            for name, text in texts.items():
                path = tmp_path / side / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
        return compare(tmp_path / "before", tmp_path / "after")

    return of


def test_equal_texts(compared) -> None:  # type: ignore[no-untyped-def]
    texts = {"g/f/avx2.c": "int x;\n", "g/f/avx2.schedule": "\n", "headers/a.h": ""}
    found = compared(texts, texts)
    assert found.is_equal and found.texts == {"c": 1, "schedule": 1, "h": 1} and not found.changes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n", "b\n"),
        ("a\n", "a"),
        ("a\n", "a\r\n"),
        ("a\n", "a \n"),
        ("a\n", "a\n\n"),
        ("a\n", "\n"),
        ("a\x0c\n", "a\n"),
    ],
)
def test_every_byte_counts(compared, old: str, new: str) -> None:  # type: ignore[no-untyped-def]
    found = compared({"g/f/v.c": old}, {"g/f/v.c": new})
    assert found.differing == ["g/f/v.c"] and not found.is_equal
    assert found.changes


@pytest.mark.parametrize("text", ["a\n", ""])
def test_a_text_of_one_side_only(compared, text: str) -> None:  # type: ignore[no-untyped-def]
    both = {"g/f/v.c": "a\n"}
    assert compared(both | {"g/f/v.cu": text}, both).differing == ["g/f/v.cu"]


def test_one_change_of_many_texts_is_told_once(compared) -> None:  # type: ignore[no-untyped-def]
    before = {f"g/f{number}/v.c": f"{number}\n-\n-\n-\n-\nold\n-\n" for number in range(9)}
    after = {name: text.replace("old", "new") for name, text in before.items()}
    after["g/f3/v.c"] += "more\n"
    found = compared(before, after)
    assert [len(change.names) for change in found.changes] == [9, 1]
    assert found.changes[0].picture == [" -", " -", "-old", "+new", " -", " "]
    assert found.changes[1].names == ["g/f3/v.c"]


def test_what_one_side_cannot_make_is_told_and_not_compared(compared) -> None:  # type: ignore[no-untyped-def]
    both = {"h/f/v.c": "a"}
    missing = {"missing/g.why": "ImportError: no x", "missing/w.why": "no option"}
    found = compared(both | missing, both | {"g/f/v.c": "a", "g/f/v.cu": "b", "h/f/w.c": "a"})
    assert found.alone == {"g": "before: ImportError: no x", "w": "before: no option"} and not found.differing
    assert not found.is_equal
    assert "not compared: g, before: ImportError: no x" in "\n".join(report(found, everything=False))


def test_a_long_report_is_cut_and_can_be_had_whole(compared) -> None:  # type: ignore[no-untyped-def]
    before = {f"g/f{number}/v.c": "" for number in range(30)}
    after = {f"g/f{number}/v.c": f"{number}\n" * 40 for number in range(30)}
    found = compared(before, after)
    short, whole = ("\n".join(report(found, everything)) for everything in (False, True))
    assert "c              30      0     30" in short
    assert "and 22 more" in short and "18 more changes" in short and "17 more lines" in short
    assert "more" not in whole and whole.count("+29") == 40
