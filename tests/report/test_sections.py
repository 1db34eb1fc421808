"""Sections of the page: which variants they tell, in which order, and what of too much or of nothing is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest

from loopwright.cost.front import JudgedCandidates, Point
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement
from loopwright.profile.records import ChoiceRecord, KernelName, MachineName
from loopwright.report import sections
from loopwright.report.sections import beside, section
from loopwright.report.subjects import Subject
from report.stored import CPU, DEFAULT, GPU, KERNEL, LOOPS, NOW, ON_GPU, ONE_THREAD, SIZES, TILED, front, row, rows


def subject(
    *found: Measurement, fronts: tuple[JudgedCandidates, ...] = (), choices: tuple[ChoiceRecord, ...] = ()
) -> Subject:
    return Subject(KernelName(KERNEL, "gemm"), MachineName(CPU.fingerprint, CPU), found, fronts, choices)


def text(made: Element) -> str:
    """All that is read, parts apart by blanks."""
    return " ".join(" ".join(made.itertext()).split())


def cells(made: Element, title: str) -> list[list[str]]:
    """The rows of the table that has this word among its heads."""
    for one in made.iter("table"):
        if title in text(one):
            return [[text(cell) for cell in line if cell.tag in ("td", "th")] for line in one.iter("tr")]
    raise LookupError(title)


CPU_ROWS = [one for one in rows() if one.variant.device == "cpu"]


# ---- variants -----------------------------------------------------------------------------------------------------


def test_the_fastest_at_the_reference_size_come_first() -> None:
    found = cells(section(subject(*CPU_ROWS), NOW), "left-out error")
    assert found[0][0] == "time at 1024 x 1024"
    names = [line[-1] for line in found[1:]]
    assert names[:4] == [str(TILED), str(DEFAULT), str(ONE_THREAD), str(LOOPS)]
    assert names[4:] == ["cpu 2: split i 7"]  # it never ran, so it comes last


def test_what_a_row_tells() -> None:
    found = cells(section(subject(*CPU_ROWS), NOW), "left-out error")
    [default] = [line for line in found if line[-1] == str(DEFAULT)]
    assert default[1:5] == ["2 %", "ok", "60 runs and 400 calls, 5 shapes", "5 minutes ago"]
    [wrong] = [line for line in found if line[-1] == "cpu 2: split i 7"]
    assert wrong[0] == "" and "c[0, 3] is 4.0 and not 5.0" in wrong[2] and wrong[3] == "1 failure"


def test_the_reference_size_is_the_one_most_variants_ran_at() -> None:
    few = [row(DEFAULT, 64, 10.0), row(TILED, 64, 20.0), row(TILED, 512, 30.0), row(LOOPS, 512, 1.0)]
    few.append(row(ONE_THREAD, 64, 90.0))
    found = cells(section(subject(*few), NOW), "left-out error")
    assert found[0][0] == "time at 64 x 64" and [line[-1] for line in found[1:]] == [
        str(one) for one in (DEFAULT, TILED, ONE_THREAD, LOOPS)
    ]


def test_sizes_at_which_a_variant_failed_are_counted() -> None:
    ones = [row(TILED, 64, 10.0), *(row(TILED, n, 0.0, outcome="timeout", runs=0) for n in (128, 256))]
    [told] = [line for line in cells(section(subject(*ones), NOW), "left-out error") if line[-1] == str(TILED)]
    assert told[2].startswith("ok, ") and told[2].endswith("at 2 sizes")


def test_nothing_ran() -> None:
    made = section(subject(row(TILED, 64, 0.0, outcome="crashed", runs=0)), NOW)
    found = cells(made, "left-out error")
    assert found[0][0] == "time" and found[1][0] == "" and found[1][2] == sections.OUTCOME_WORDS["crashed"]
    assert list(made.iter("figure")) == []


def test_no_measurement_at_all() -> None:
    assert len(cells(section(subject(), NOW), "left-out error")) == 1  # the heads


@pytest.mark.parametrize(("more", "told"), [(0, None), (1, "and 1 variant more"), (5, "and 5 variants more")])
def test_of_many_variants_some_are_told_and_the_others_counted(more: int, told: str | None) -> None:
    count = sections.MOST_ROWS + more
    ones = [row(Variant("cpu", f"split i {k + 2}", 2), 64, 100.0 + k) for k in range(count)]
    made = section(subject(*ones), NOW)
    assert len(cells(made, "left-out error")) == 1 + sections.MOST_ROWS
    assert [text(one) for one in made.iter("p") if text(one).startswith("and")] == ([told] if told else [])


# ---- times over sizes ---------------------------------------------------------------------------------------------


def test_one_size_makes_no_chart() -> None:
    ones = [row(one, 64, 10.0) for one in (DEFAULT, TILED)]
    assert list(section(subject(*ones), NOW).iter("figure")) == []


def test_who_is_chosen_where() -> None:
    made = section(subject(*CPU_ROWS), NOW)
    assert "Of 4 variants, 2 are chosen, each for its sizes (the strip above)" in text(made)
    found = cells(made, "chosen variant")
    assert [line[-1] for line in found[1:]] == [str(ONE_THREAD), str(TILED)]
    assert found[1][0].startswith("64") and found[2][0].endswith("1024")


def test_one_that_is_always_the_fastest() -> None:
    ones = [one for one in CPU_ROWS if one.variant in (TILED, LOOPS)]
    assert f"Of 2 variants, one is chosen at all measured sizes: {TILED}" in text(section(subject(*ones), NOW))


# ---- choices, errors, fronts ----------------------------------------------------------------------------------------


def choice(n: int, **changes: object) -> ChoiceRecord:
    given = ChoiceRecord(KERNEL, CPU.fingerprint, row(TILED, n, 1.0).shape, TILED, "measured", 2e6, 0.05, NOW - 90)
    return replace(given, **changes)


def test_the_last_choices_come_first() -> None:
    ones = [choice(n, made_at=NOW - n) for n in range(1, sections.MOST_CHOICES + 3)]
    made = section(subject(*CPU_ROWS, choices=tuple(ones[::-1])), NOW)
    found = cells(made, "what serves them")
    assert [line[0] for line in found[1:]] == [f"{n} {n}" for n in range(1, sections.MOST_CHOICES + 1)]
    assert "and 2 shapes more" in text(made)


def test_a_choice_without_a_time() -> None:
    found = cells(section(subject(*CPU_ROWS, choices=(choice(8, time_ns=0.0),)), NOW), "what serves them")
    assert found[1][1] == ""


def test_errors_of_predictions() -> None:
    made = section(subject(*CPU_ROWS), NOW)
    assert "Predictions miss a measured time that is left out by" in text(made)
    alone = [one for one in CPU_ROWS if one.shape.sizes == (64, 64)]
    assert "Predictions miss" not in text(section(subject(*alone), NOW))


def test_what_was_judged_without_running() -> None:
    made = section(subject(*CPU_ROWS, fronts=(front(),)), NOW)
    assert "2 variants of 4 measured: nothing surpasses them without running, at the sizes 512 512" in text(made)
    assert f"the fastest of them: {TILED.schedule}" in text(made)


def test_a_front_of_one_metric_or_of_no_numbers_is_no_chart() -> None:
    figures = len(list(section(subject(*CPU_ROWS), NOW).iter("figure")))
    for one in (
        JudgedCandidates(("a",), (Point("x", (1.0,), True, ""),)),
        JudgedCandidates((), ()),
        JudgedCandidates(("a", "b"), ()),
    ):
        assert len(list(section(subject(*CPU_ROWS, fronts=(one,)), NOW).iter("figure"))) == figures
    nothing = JudgedCandidates(("a", "b"), (Point("x", (math.nan, math.nan), True, ""),))
    section(subject(*CPU_ROWS, fronts=(nothing,)), NOW)


# ---- CPU and GPU --------------------------------------------------------------------------------------------------


def on_gpu(*found: Measurement) -> Subject:
    return replace(subject(*found), machine=MachineName(GPU.fingerprint, GPU))


@pytest.mark.parametrize(
    ("cpu", "gpu", "title"),
    [
        ({64: 1.0, 128: 9.0}, {64: 3.0, 128: 3.0}, "The GPU is faster from n = "),
        ({64: 3.0, 128: 3.0}, {64: 1.0, 128: 9.0}, "The CPU is faster from n = "),
        ({64: 1.0, 128: 1.0}, {64: 2.0, 128: 2.0}, "The CPU is faster at all sizes that both were measured at"),
        ({64: 2.0, 128: 2.0}, {64: 1.0, 128: 1.0}, "The GPU is faster at all sizes that both were measured at"),
        ({64: 1.0}, {128: 1.0}, "CPU and GPU were not measured at the same sizes"),
        ({}, {128: 1.0}, "CPU and GPU were not measured at the same sizes"),
    ],
)
def test_where_the_devices_meet(cpu: dict[int, float], gpu: dict[int, float], title: str) -> None:
    ours = subject(*(row(DEFAULT, n, time * 1e6) for n, time in cpu.items()))
    theirs = on_gpu(*(row(ON_GPU, n, time * 1e6) for n, time in gpu.items()))
    assert title in text(beside(ours, theirs))


def test_sizes_of_the_store_meet_where_the_page_says() -> None:
    theirs = on_gpu(*(one for one in rows() if one.variant.device == "cuda"))
    assert "The GPU is faster from n = 397 on" in text(beside(subject(*CPU_ROWS), theirs))
    assert SIZES[0] < 397 < SIZES[-1]
