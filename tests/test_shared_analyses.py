"""What tests share of the passes' results, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
import shared_analyses
from frontend.judge import define
from loopwright import compiler
from loopwright.codegen import loops
from loopwright.codegen.gpu import WRITERS
from loopwright.compiler import analysed, analysed_further, read
from loopwright.config import current
from loopwright.frontend.capture import capture
from loopwright.ir.variant import Compilation, compilation_of
from loopwright.recipe import marks
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.runtime.specialise import signature_of
from loopwright.steps.split import Split

TEXT = "def f(a, b):\n    for i in range(a.shape[0]):\n        b[i] = 2 * a[i]\n"


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known yet, and what other tests know is left alone."""
    found: Any = compiler._analysed
    other = shared_analyses.SharedAnalyses(found.__self__._find, found.__self__._generate)
    monkeypatch.setattr(compiler, "_analysed", other.analysed)
    monkeypatch.setattr(compiler, "program_of", other.program_of)


def wanted(**options: Any) -> Compilation:
    with lw.options(**options):
        return compilation_of(signature_of((np.ones(4), np.ones(4)), [1], ["a", "b"]), current())


def recipe_of(text: str = TEXT, **options: Any) -> Any:
    return analysed(capture(define(text)), wanted(**options)).recipe


def test_the_same_kernel_is_analysed_once() -> None:
    assert recipe_of() is recipe_of()
    assert recipe_of(device="emulated") is recipe_of(device="emulated1") is not recipe_of()


def test_another_kernel_or_other_options_are_others() -> None:
    first = recipe_of(strict=False)
    assert recipe_of(strict=True) is not first and recipe_of(recipe="plain", strict=False) is not first
    assert recipe_of(schedule="vectorize i", strict=False) is not first
    assert recipe_of("\n" + TEXT.replace("2 *", "3 *"), strict=False) is not first
    assert recipe_of(TEXT.replace("):\n        ", "):\n\n        "), strict=False) is not first, "it stands elsewhere"


def test_where_a_pass_is_another_one_nothing_is_shared_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = recipe_of()
    with monkeypatch.context() as replaced:
        replaced.setattr(marks, "LANES", replace(marks.LANES, why="the same in other words"))
        second = recipe_of()
        assert second is not first and recipe_of() is second
    with monkeypatch.context() as replaced:
        replaced.setattr(Split, "illegal", lambda *_: "never")
        assert recipe_of() not in (first, second)
    with monkeypatch.context() as replaced:
        replaced.setattr(PartialSchedule, "new", 1, raising=False)
        assert recipe_of() not in (first, second)
    for key in ("sorted", "another"):
        with monkeypatch.context() as replaced:
            replaced.setitem(WRITERS, key, lambda *_: None)
            assert recipe_of() not in (first, second)
    assert recipe_of() is first


def test_what_was_read_already_keeps_its_own_nodes() -> None:
    source, asked = capture(define(TEXT)), wanted()
    first = analysed(source, asked)
    reading = read(source, asked)
    further = analysed_further(source, reading, asked)
    assert further.written is reading.written is not first.written
    assert analysed(source, asked).written is first.written


def test_what_prints_or_writes_is_done_each_time(tmp_path: Any) -> None:
    for number in (1, 2):
        recipe_of(dump=tmp_path / str(number))
    assert [len(list((tmp_path / name).iterdir())) > 0 for name in "12"] == [True, True]


def test_the_same_code_is_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first, again, asked = analysed(capture(define(TEXT)), wanted()), analysed(capture(define(TEXT)), wanted()), wanted()
    program = compiler.program_of(first, asked)
    assert compiler.program_of(again, asked) is program
    strict = asked._replace(semantics=asked.semantics._replace(strict=not asked.semantics.strict))
    assert compiler.program_of(first, strict).flags != program.flags
    with monkeypatch.context() as replaced:
        replaced.setattr(loops, "FEWEST", loops.FEWEST + 1000)
        assert compiler.program_of(first, asked) is not program
    assert compiler.program_of(replace(first, recipe=replace(first.recipe)), asked) is not program
    assert compiler.program_of(first, asked) is program


def test_there_is_one_for_all_tests() -> None:
    first: Any = compiler._analysed
    shared_analyses.install()
    assert compiler._analysed is first and not isinstance(
        getattr(first.__self__._find, "__self__", None), shared_analyses.SharedAnalyses
    )
