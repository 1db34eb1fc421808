"""Why a variant serves, and the others do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.choice.adapt import Adaptive
from loopwright.config import Config
from loopwright.cost.front import JudgedCandidates, Point
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.model import models_of
from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Measurement, Work
from loopwright.report.choice import NOTHING_KNOWN, Known, chosen, pinned, why_no_choice
from loopwright.report.choice_layout import choice_lines
from loopwright.report.explanation import CandidateReport, ChoiceReport, Explanation
from report.stored import (
    CPU,
    CRASHED,
    DEFAULT,
    GPU,
    KERNEL,
    NOW,
    ON_GPU,
    ONE_THREAD,
    TILED,
    WRONG,
    front,
    row,
    rows,
    work_of,
)

UNTRIED = Variant("cpu", "vectorize j", 2)


def reported(
    n: int,
    known: Sequence[Measurement],
    fronts: dict[str, JudgedCandidates] | None = None,
    dropped: Sequence[Variant] = (),
) -> ChoiceReport:
    """Of a call that an Adaptive decides which has read these. WRONG is no candidate of its, nor are those dropped."""
    models = [models_of([one for one in known if one.machine == machine.fingerprint]) for machine in (CPU, GPU)]
    measured = [variant for one in models for variant in one.variants if variant not in (DEFAULT, *dropped)]
    variants = (DEFAULT, *measured, CRASHED, UNTRIED)
    limits = Prediction(1e6, 1.0, "limits")

    def predict(shape: Shape, work: Work) -> list[Prediction]:
        told: dict[Variant, Prediction] = {}
        for one in models:
            told |= dict(zip(one.variants, one.predict(shape, work), strict=True))
        return [told.get(one, limits) for one in variants]

    machines = {"cpu": CPU.fingerprint, "cuda": GPU.fingerprint}
    adaptive = Adaptive(KERNEL, machines, variants, predict, now=lambda: NOW, history=known)
    decision = adaptive.choose(Shape((n, n)), work_of(n))
    return chosen(decision, adaptive.standings(decision.shape), Known(known, fronts or {}, work_of(n), NOW))


def one_of(report: ChoiceReport, variant: Variant) -> CandidateReport:
    return next(one for one in report.candidates if one.variant == str(variant))


def text(report: ChoiceReport) -> str:
    return "\n".join(choice_lines(report))


def test_a_shape_that_was_measured(golden: Callable[[str, str], None]) -> None:
    golden("report/choice_measured.txt", text(reported(256, rows(), {"cpu": front()})))


def test_a_shape_that_was_not(golden: Callable[[str, str], None]) -> None:
    golden("report/choice_predicted.txt", text(reported(2048, rows(), {"cpu": front()})))


def test_each_candidate_says_why_it_does_not_serve() -> None:
    report = reported(256, rows(), {"cpu": front()})
    assert report.serves == str(TILED)
    assert {one.variant: one.status for one in report.candidates} == {
        str(TILED): "serves",
        str(DEFAULT): "slower",
        str(ONE_THREAD): "slower",
        str(ON_GPU): "slower",
        "cpu 2: plain": "slower",
        str(UNTRIED): "untried",
        str(WRONG): "wrong",
        str(CRASHED): "crashed",
        "cpu: tile i 8 j 8": "pruned",
        "cpu: tile i 2 j 2": "pruned",
    }
    assert (
        crashed := one_of(report, CRASHED)
    ).age_s == 3 * 86400 and crashed.why == "its process died: an illegal address in <kernel>"
    slower = one_of(report, ONE_THREAD)
    assert (slower.measured_ns, slower.tuned_runs, slower.called_runs) == (256.0**3, 12, 0)
    assert slower.age_s == 3 * 86400 and slower.elsewhere == 4
    called = one_of(report, DEFAULT)
    assert (called.called_runs, called.tuned_runs, called.age_s) == (400, 12, 300)


def test_predictions_of_a_measured_shape_come_from_the_other_shapes() -> None:
    known = rows()
    report = reported(256, known)
    told = one_of(report, ONE_THREAD)
    assert told.measured_ns == 256.0**3
    assert told.predicted_ns == pytest.approx(256.0**3, rel=0.2) and told.how == "interpolated"
    alone = one_of(reported(256, [one for one in known if one.shape.sizes == (256, 256)]), ONE_THREAD)
    assert (alone.predicted_ns, alone.how) == (None, "")


def test_what_was_measured_and_is_no_candidate_any_more_is_told() -> None:
    found = one_of(reported(256, rows(), dropped=(ONE_THREAD,)), ONE_THREAD)
    assert (found.status, found.why, found.measured_ns) == ("slower", "measured 91 % slower", 256.0**3)
    found = one_of(reported(2048, rows(), dropped=(ONE_THREAD,)), ONE_THREAD)
    assert found.why == "measured at other sizes alone" and found.elsewhere == 5


def test_a_call_too_large_for_what_is_known_has_no_infinity() -> None:
    known = [*rows(), row(TILED, 4096, 0.0, outcome="timeout", runs=0)]
    report = reported(8192, known)
    json.dumps(Explanation("f", "", 0, "f()", (), (), "", "", choices=(report,)).to_dict(), allow_nan=False)


def test_the_same_facts_give_the_same_words() -> None:
    assert text(reported(512, rows())) == text(reported(512, rows()))


def test_what_is_pinned_is_shown_beside_what_was_measured(golden: Callable[[str, str], None]) -> None:
    why, option = why_no_choice(Config(variant=str(ONE_THREAD)), True)
    report = pinned(ONE_THREAD, Shape((512, 512)), why, option, Known(rows(), {}, work_of(512), NOW))
    assert (report.serves, report.pinned) == (str(ONE_THREAD), "variant")
    golden("report/choice_pinned.txt", text(report))


def test_a_pinned_variant_without_measurements() -> None:
    report = pinned(UNTRIED, Shape((512, 512)), "pinned", "variant", Known(rows(), {}, work_of(512), NOW))
    assert one_of(report, UNTRIED).measured_ns is None
    assert one_of(report, DEFAULT).why == "measured; the one that serves was not"
    bare = pinned(UNTRIED, Shape((3, 3)), "pinned", "variant", Known((), {}, Work(), NOW))
    assert [one.status for one in bare.candidates] == ["serves"]


@pytest.mark.parametrize(
    ("config", "compiled", "words", "option"),
    [
        (Config(), True, NOTHING_KNOWN, ""),
        (Config(), False, "no code could be made: the interpreter runs it", ""),
        (Config(variant="cpu 1: plain"), True, "pinned by the option variant='cpu 1: plain'", "variant"),
        (Config(schedule="vectorize j"), True, "the option schedule='vectorize j' decides", "schedule"),
        (Config(recipe="plain"), True, "the option recipe='plain' decides", "recipe"),
        (Config(device="interpreter"), False, "the option device='interpreter' decides", "device"),
    ],
)
def test_why_there_is_no_choice(config: Config, compiled: bool, words: str, option: str) -> None:
    assert why_no_choice(config, compiled) == (words, option)
    assert text(ChoiceReport(words, pinned=option)) == words


def test_many_candidates_are_counted_and_not_listed() -> None:
    many = [row(Variant("cpu", f"split i {n}", 2), 256, 1e8 + n) for n in range(100, 158)]
    lines = text(reported(256, [*rows(), *many])).splitlines()
    assert lines[-1] == "  and 51 more, slower"
    assert len(lines) < 25


def test_a_long_schedule_is_cut_in_the_text_alone() -> None:
    long = Variant("cpu", "; ".join(f"split i{n} 4" for n in range(30)), 2)
    report = reported(256, [*rows(), row(long, 256, 1e6)])
    assert report.serves == str(long)
    widest = max(len(line) for line in text(replace(report, serves="")).splitlines())
    assert widest < 250 and one_of(report, long).variant == str(long)


def test_what_is_worth_measuring_and_was_not_says_so() -> None:
    told = JudgedCandidates(
        ("a", "b"), (Point("tile i 16", (3.0, 3.0), True, ""), Point(TILED.schedule, (1.0, 1.0), False, "slow"))
    )
    report = reported(256, rows(), {"cpu": told})
    statuses = {one.variant: one.status for one in report.candidates if one.variant.startswith("cpu:")}
    assert statuses == {"cpu: tile i 16": "untried"}  # the other one was run after all


def test_the_page_on_tuning_shows_what_is_printed() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    page = (root / "docs" / "tuning.md").read_text(encoding="utf-8")
    sample = page.split("that part reads")[1].split("```")[1].removeprefix("text\n").splitlines()
    printed = text(reported(256, rows(), {"cpu": front()})).splitlines()
    shown = [line.removeprefix("choice").strip() for line in sample]
    assert len(shown) > 6
    assert [line for line in shown if line not in [one.strip() for one in printed]] == []
