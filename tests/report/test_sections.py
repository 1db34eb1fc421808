"""Sections of the page: which variants they tell, in which order, and what of too much or of nothing is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest

from loopwright.cost.front import JudgedCandidates, Point
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.profile.history import Batch, Cell
from loopwright.profile.measurement import Measurement
from loopwright.profile.records import ChoiceRecord, KernelName, MachineName
from loopwright.report import sections
from loopwright.report.choice import OUTCOME_WORDS
from loopwright.report.section_view import view_of
from loopwright.report.sections import beside, section
from loopwright.report.subjects import Subject
from loopwright.report.variant_table import MOST_ROWS
from report.stored import (
    CPU,
    DEFAULT,
    GPU,
    KERNEL,
    LOOPS,
    NOW,
    ON_GPU,
    ONE_THREAD,
    SIZES,
    TILED,
    WRONG,
    front,
    row,
    rows,
)  # fmt: skip


def subject(
    *found: Measurement, fronts: tuple[JudgedCandidates, ...] = (), choices: tuple[ChoiceRecord, ...] = ()
) -> Subject:
    return Subject(KernelName(KERNEL, "gemm"), MachineName(CPU.fingerprint, CPU), found, fronts, choices)


def told(one: Subject, now: float) -> Element:
    return section(view_of(one), now)


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


def names(found: list[list[str]]) -> list[str]:
    """Of the variants in a table, without their steps."""
    return [line[0].partition(" cpu ")[0] for line in found[1:]]


def test_the_one_that_is_chosen_comes_first_then_by_time() -> None:
    made = told(subject(*CPU_ROWS), NOW)
    found = cells(made, "prediction off by")
    assert "Variants at 1024 x 1024" in text(made)
    assert names(found)[:4] == [
        "V1 blocks, 2 threads",
        "default 2 threads",
        "default, 1 thread",
        "as written, 2 threads",
    ]
    assert names(found)[4:] == ["V2 pieces, 2 threads"] and str(WRONG) in found[5][0]  # it never ran, so it comes last


def test_table_and_picture_tell_one_story() -> None:
    """What the picture says is chosen for the size of the table is what the table says serves it, by the same name."""
    made = told(subject(*CPU_ROWS), NOW)
    [serves] = [line for line in cells(made, "prediction off by") if line[1] == "serves"]
    last = cells(made, "chosen variant")[-1]
    assert last[0].endswith("1024") and serves[0].startswith(f"{last[2]} ")
    legend = [text(one) for one in made.iter("li") if one.find("svg") is not None]
    assert {"V1", "default", "default, 1 thread", "as written, 2 threads"} <= set(legend)


def test_what_a_row_tells() -> None:
    found = cells(told(subject(*CPU_ROWS), NOW), "prediction off by")
    [default] = [line for line in found if line[0].startswith("default 2 threads")]
    assert (default[1], default[3], default[5]) == ("ok", "1", "2 %")
    assert default[7:] == ["60 runs and 400 calls, 5 shapes", "5 minutes ago"]
    [first] = [line for line in found if line[0].startswith("V1")]
    assert float(first[3]) == pytest.approx((400_000 + 1024**3 * 0.55) / (380_000 + 1024**3 * 0.50), rel=0.01)
    assert first[4] == "0.0468 GB/s"
    [wrong] = [line for line in found if line[0].startswith("V2")]
    assert wrong[2] == "" and "c[0, 3] is 4.0 and not 5.0" in wrong[1] and wrong[7] == "1 failure"


def test_a_variant_that_ran_at_other_sizes_alone_says_so() -> None:
    found = cells(told(subject(*CPU_ROWS, row(Variant("cpu", "split i 9", 2), 100, 1e9)), NOW), "prediction off by")
    (line,) = (line for line in found if "split i 9" in line[0])
    assert line[1:3] == ["ok at other sizes", ""]


def test_rates_where_operations_were_counted() -> None:
    made = told(replace(subject(*CPU_ROWS), flop_per_iteration=2.0), NOW)
    [first] = [line for line in cells(made, "prediction off by") if line[0].startswith("V1")]
    assert first[4] == "4 GFlop/s, 0.0468 GB/s"


def test_a_schedule_is_folded_away_and_told_in_words() -> None:
    made = told(subject(*CPU_ROWS), NOW)
    [folded] = [one for one in made.iter("details") if text(one).startswith("V1")]
    assert text(folded).startswith("V1 blocks, 2 threads")
    assert "cpu 2: tile i 32 j 32; parallelize i.o" in text(folded)
    steps = [text(one) for one in folded.iter("li")]
    assert steps == ["goes through i and j in blocks of 32 x 32 iterations", "shares i.o among threads"]
    assert folded.get("open") is None


def test_the_reference_size_is_the_one_most_variants_ran_at() -> None:
    few = [row(DEFAULT, 64, 10.0), row(TILED, 64, 20.0), row(TILED, 512, 30.0), row(LOOPS, 512, 1.0)]
    few.append(row(ONE_THREAD, 64, 90.0))
    made = told(subject(*few), NOW)
    assert "Variants at 64 x 64" in text(made)
    assert [one.split()[0] for one in names(cells(made, "prediction off by"))] == ["as", "default", "V1", "default,"]
    assert "At 64 x 64, as written, 2 threads serves calls, and was not measured there" in text(made)


def test_sizes_at_which_a_variant_failed_are_counted() -> None:
    ones = [row(TILED, 64, 10.0), *(row(TILED, n, 0.0, outcome="timeout", runs=0) for n in (128, 256))]
    [first] = [line for line in cells(told(subject(*ones), NOW), "prediction off by") if line[0].startswith("V1")]
    assert first[1].startswith("serves, ") and first[1].endswith("at 2 sizes")


def test_nothing_ran() -> None:
    made = told(subject(row(TILED, 64, 0.0, outcome="crashed", runs=0)), NOW)
    found = cells(made, "prediction off by")
    assert found[1][2] == "" and found[1][1] == OUTCOME_WORDS["crashed"]
    assert list(made.iter("figure")) == [] and "Nothing has run to its end yet." in text(made)


def test_no_measurement_at_all() -> None:
    assert len(cells(told(subject(), NOW), "prediction off by")) == 1  # the heads


@pytest.mark.parametrize(("more", "words"), [(0, None), (1, "and 1 variant more"), (5, "and 5 variants more")])
def test_of_many_variants_some_are_told_and_the_others_counted(more: int, words: str | None) -> None:
    count = MOST_ROWS + more
    ones = [row(Variant("cpu", f"split i {k + 2}", 2), 64, 100.0 + k) for k in range(count)]
    made = told(subject(*ones), NOW)
    assert len(cells(made, "prediction off by")) == 1 + MOST_ROWS
    assert [text(one) for one in made.iter("p") if text(one).startswith("and")] == ([words] if words else [])


# ---- in short -----------------------------------------------------------------------------------------------------


def test_what_was_gained_in_a_sentence() -> None:
    words = text(told(subject(*CPU_ROWS), NOW))
    assert "At 1024 x 1024, the default takes 591 ms, and V1, which serves calls, 537 ms: 1.10 times as fast." in words
    alone = [row(DEFAULT, 64, 1e6), row(LOOPS, 64, 1.9e6)]
    words = text(told(subject(*alone), NOW))
    assert "At 64 x 64, the default takes 1 ms and serves calls; as written, 2 threads was 90 % slower." in words


def test_times_of_calls_show_whether_the_machine_has_changed() -> None:
    batches = tuple(Batch(NOW - 3600 * (9 - k), "ok", 1e6 * (1 + (k > 4)), 0.01, 5, "") for k in range(8))
    one = row(DEFAULT, 1024, 1e6)
    cell = Cell(KERNEL, CPU.fingerprint, DEFAULT, one.shape, "warm", "call", one.work, batches)
    made = told(replace(subject(*CPU_ROWS), cells=(cell,)), NOW)
    words = text(made)
    assert "Times of real calls at 1024 x 1024, one after the other: is the machine as fast as it was?" in words
    assert "hours after the first of them, which was 9 hours ago" in words
    few = replace(cell, batches=batches[:2])
    assert "Times of real calls" not in text(told(replace(subject(*CPU_ROWS), cells=(few,)), NOW))


@pytest.mark.parametrize(
    ("step_s", "unit"), [(0.5, "seconds"), (90.0, "minutes"), (3600.0, "hours"), (2 * 86400.0, "days")]
)
def test_drift_is_told_of_the_size_that_calls_have(step_s: float, unit: str) -> None:
    """Most of the tuning may have been at another one."""

    def cell(variant: Variant, n: int, many: int) -> Cell:
        batches = tuple(Batch(NOW - step_s * (many - k), "ok", 1e6 + k, 0.01, 5, "") for k in range(many))
        return Cell(KERNEL, CPU.fingerprint, variant, Shape((n, n)), "warm", "call", row(DEFAULT, n, 1e6).work, batches)

    cells = (cell(DEFAULT, 100, 3), cell(DEFAULT, 200, 7), cell(TILED, 200, 4), cell(DEFAULT, 1024, 2))
    words = text(told(replace(subject(*CPU_ROWS), cells=cells), NOW))
    assert "Times of real calls at 200 x 200" in words and f"{unit} after the first of them, which was " in words
    assert "calls at 100 x 100" not in words and "calls at 1024" not in words


# ---- times over sizes ---------------------------------------------------------------------------------------------


def test_one_size_makes_no_chart() -> None:
    ones = [row(one, 64, 10.0) for one in (DEFAULT, TILED)]
    assert list(told(subject(*ones), NOW).iter("figure")) == []


def test_who_is_chosen_where() -> None:
    made = told(subject(*CPU_ROWS), NOW)
    assert "of 4 variants, 2 are chosen, each for its sizes (the strip above)" in text(made)
    found = cells(made, "chosen variant")
    assert [line[-1] for line in found[1:]] == ["default, 1 thread", "V1"]
    assert found[1][0].startswith("64") and found[2][0].endswith("1024")


def test_what_was_far_from_the_fastest_wherever_it_ran_is_chosen_nowhere() -> None:
    """As calls choose: one that ran at the largest size alone is predicted to take next to nothing at small ones."""
    default = [one for one in CPU_ROWS if one.variant == DEFAULT]
    slow = row(LOOPS, 1024, 2 * default[4].time_ns)
    assert default[4].shape == slow.shape
    view = view_of(subject(*default, slow))
    assert [region.variant for region in view.regions] == [DEFAULT]
    near = view_of(subject(*default, replace(slow, time_ns=1.2 * default[4].time_ns)))
    assert near.regions[0].variant == LOOPS  # near enough to be a candidate
    found = cells(told(near.subject, NOW), "chosen variant")
    assert found[1][1].endswith("(predicted)") and found[-1][1].endswith(" ms")


def test_one_that_is_always_the_fastest() -> None:
    ones = [one for one in CPU_ROWS if one.variant in (TILED, LOOPS)]
    assert "of 2 variants, one is chosen at all measured sizes, V1" in text(told(subject(*ones), NOW))


# ---- choices, errors, fronts ----------------------------------------------------------------------------------------


def choice(n: int, **changes: object) -> ChoiceRecord:
    given = ChoiceRecord(KERNEL, CPU.fingerprint, row(TILED, n, 1.0).shape, TILED, "measured", 2e6, 0.05, NOW - 90)
    return replace(given, **changes)


def test_the_last_choices_come_first() -> None:
    ones = [choice(n, made_at=NOW - n) for n in range(1, sections.MOST_CHOICES + 3)]
    made = told(subject(*CPU_ROWS, choices=tuple(ones[::-1])), NOW)
    found = cells(made, "what serves them")
    assert [line[1] for line in found[1:]] == [f"{n} x {n}" for n in range(1, sections.MOST_CHOICES + 1)]
    assert "and 2 shapes more" in text(made)


def test_a_choice_without_a_time() -> None:
    found = cells(told(subject(*CPU_ROWS, choices=(choice(8, time_ns=0.0),)), NOW), "what serves them")
    assert found[1][2] == ""


def test_errors_of_predictions() -> None:
    made = told(subject(*CPU_ROWS), NOW)
    assert "How good predictions are: leave one measured size out" in text(made)
    alone = [one for one in CPU_ROWS if one.shape.sizes == (64, 64)]
    assert "How good predictions are" not in text(told(subject(*alone), NOW))


def test_what_was_judged_without_running() -> None:
    words = text(told(subject(*CPU_ROWS, fronts=(front(),)), NOW))
    ran = "Which variants were worth running, at 512 x 512: 2 of 4 variants ran"
    assert f"{ran}; by static metrics, one of these dominates each" in words
    assert "the fastest of these: V1" in words


def test_the_winner_is_among_those_that_were_worth_measuring() -> None:
    """Also where the search has found it after pruning had left it out: what ran was measured."""
    dropped = tuple(replace(one, kept=one.schedule == RECIPE) for one in front().points)
    words = text(told(subject(*CPU_ROWS, fronts=(replace(front(), points=dropped),)), NOW))
    assert "2 of 4 variants ran" in words and "the fastest of these: V1" in words


def test_a_front_of_one_metric_or_of_no_numbers_is_no_chart() -> None:
    figures = len(list(told(subject(*CPU_ROWS), NOW).iter("figure")))
    for one in (
        JudgedCandidates(("a",), (Point("x", (1.0,), True, ""),)),
        JudgedCandidates((), ()),
        JudgedCandidates(("a", "b"), ()),
    ):
        assert len(list(told(subject(*CPU_ROWS, fronts=(one,)), NOW).iter("figure"))) == figures
    nothing = JudgedCandidates(("a", "b"), (Point("x", (math.nan, math.nan), True, ""),))
    told(subject(*CPU_ROWS, fronts=(nothing,)), NOW)


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
