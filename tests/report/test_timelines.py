"""Calls that several devices shared, on the page: a row for each in the table at the top, and each as a table and a
picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.ir.signature import Shape
from loopwright.profile.records import FittedTable, MachineName
from loopwright.profile.store import ProfileStore
from loopwright.report.element import html
from loopwright.report.page import page
from loopwright.report.shared_report import SharedCallReport
from loopwright.report.stored_timelines import StoredCall, call_in, content_of
from loopwright.report.subjects import MOST_SUBJECTS, contents
from loopwright.report.timelines import MOST_OF_KERNEL, MOST_ROWS, shared_overview, timeline
from report.pages import Page, read
from report.shared import LAST, MS
from report.stored import CPU, KERNEL, NOW, fill
from report.stored import timeline as table_of

OTHER = "o" * 32


def stored(call: SharedCallReport = LAST, **changes: object) -> StoredCall:
    found = call_in(table_of(call=content_of(call), **changes), MachineName(CPU.fingerprint, CPU))
    assert found is not None
    return found


def words(one: StoredCall) -> str:
    found = read(f"<main>{html(timeline(one, NOW)).removeprefix('<!DOCTYPE html>')}</main>")
    assert found.faults == []
    return " ".join(found.text)


def made(path: Path, kernel: str = "") -> Page:
    with ProfileStore.open(path, readonly=True) as store:
        found = read(page(store, contents(store, kernel), NOW))
    assert found.faults == []
    return found


# ---- one call ---------------------------------------------------------------------------------------------------


def test_a_call_in_words_a_table_and_a_picture() -> None:
    found = words(stored())
    assert found.startswith(
        "The last call that several devices shared at c 1000 x 1000, n = 7 3 calls of these sizes were shared; "
    )
    assert "took 10 ms, predicted 8 ms (25 % slower); imbalance 25 %" in found
    assert "It was made 10 minutes ago. Why so: balanced by what calls took." in found
    assert "cuda (Some GPU) 400 6 ms 3 ms 4 ms 3 ms 60 %" in found
    assert "Copied: cpu to cuda 3 MiB in 2 copies; cuda to cpu 1 MiB in 1 copy." in found
    assert "cpu computes iterations 0:600, 8 ms" in found and "cuda waits" in found
    picture = next(timeline(stored(), NOW).iter("figure"))
    [svg] = (one for one in picture.iter("svg") if one.get("role") == "img")
    assert "cuda computed for 3 ms, copied for 4 ms and waited for 3 ms" in svg.get("aria-label", "")


def test_a_race_has_no_imbalance_and_a_failure_is_told() -> None:
    failed = replace(LAST.members[1], failed=True, iterations=100)
    found = words(stored(replace(LAST, kind="race", predicted_ns=None, members=(LAST.members[0], failed))))
    assert "the last one, a race, took 10 ms." in found and "imbalance" not in found
    assert "cuda (Some GPU), failed 100 of 400" in found


def test_without_sizes_and_without_spans() -> None:
    found = stored(replace(LAST, spans=(), total_ns=0), sizes=[])
    assert words(found).startswith("The last call that several devices shared 3 calls")
    assert list(timeline(found, NOW).iter("figure")) == []


def test_what_others_write_is_text() -> None:
    evil = "<script>alert(1)</script>"
    call = replace(LAST, why=evil, kind=evil, members=(replace(LAST.members[0], name=evil),))
    found = read(html(timeline(stored(call, name=evil, types=evil), NOW)))
    assert "script" not in found.tags and evil in " ".join(found.text)


# ---- the page ---------------------------------------------------------------------------------------------------


def absorb(path: Path, *tables: FittedTable) -> Path:
    with ProfileStore.open(path) as store:
        store.put_machine(CPU)
        store.absorb(tables)
    return path


def test_it_stands_with_its_kernel_and_is_linked_from_the_top(tmp_path: Path) -> None:
    found = made(fill(tmp_path / "store.sqlite3"))
    text = " ".join(found.text)
    top = text.index("Calls that several devices shared kernel took predicted")
    assert top < text.index("CPU against GPU") < text.index("Several devices The last call")
    assert "#shared1" in found.links and "shared1" in found.ids


def test_a_kernel_that_was_never_tuned_has_a_section_of_its_own(tmp_path: Path) -> None:
    found = made(absorb(tmp_path / "store.sqlite3", table_of(OTHER, name="swept", file="sweep.py")))
    text = " ".join(found.text)
    assert "0 measurements" in text and "swept 10 ms 8 ms 25 % slower 25 % a part for each cpu, cuda" in text
    assert "sweep.py: (float64[:, :], int64) The last call that several devices shared" in text
    assert "what to do next kernel gain" not in text  # nothing is known of gains


def test_only_the_kernel_that_is_asked_for(tmp_path: Path) -> None:
    path = absorb(fill(tmp_path / "store.sqlite3"), table_of(OTHER, name="swept"))
    assert "swept" in made(path).text and "gemm" in made(path).text
    for kernel in ("swept", OTHER[:8]):
        assert "swept" in made(path, kernel).text and "gemm" not in made(path, kernel).text
    assert "swept" not in made(path, "gemm").text


def test_of_many_some_are_drawn_and_the_others_counted(tmp_path: Path) -> None:
    shapes = [table_of(OTHER, Shape((k, k, 1)), NOW - k, name="swept") for k in range(1, MOST_OF_KERNEL + 4)]
    others = [table_of(f"{k:032}", name=f"kernel{k}", made_at=NOW - 100 - k) for k in range(MOST_SUBJECTS + 5)]
    found = made(absorb(tmp_path / "store.sqlite3", *shapes, *others))
    text = " ".join(found.text)
    assert text.count("several devices shared at c 1 x 1, n = 1") == 1
    assert f"shared at c {MOST_OF_KERNEL} x" in text and f"shared at c {MOST_OF_KERNEL + 1} x" not in text
    assert "and 3 other shapes: see the table at the top" in text
    assert f"and {len(shapes) + len(others) - MOST_ROWS} more" in text
    assert len([one for one in found.ids if one.startswith("shared")]) == MOST_SUBJECTS


@pytest.mark.parametrize("times", [(0, 0), (MS, 2 * MS), (MS, MS)])
def test_a_row_is_sorted_by_numbers(times: tuple[int, int]) -> None:
    one = stored(replace(LAST, total_ns=times[0], predicted_ns=float(times[1])))
    row = list(shared_overview([one], {KERNEL: "shared1"}, NOW).iter("tr"))[1]
    keys = [cell.find(".//*[@data-key]") for cell in row]
    assert [None if key is None else float(key.get("data-key", "")) for key in keys] == [
        None,
        times[0],
        times[1] or None,
        times[0] / times[1] if times[1] else None,
        0.25,
        None,
        None,
        None,
        None,
        600.0,
    ]
