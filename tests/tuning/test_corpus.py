"""Every kernel that the tests have can be tuned: what it has to do is known or known to be unknown, its space is made,
its arguments are kept, its variants are tried, and calls give what CPython gives afterwards.

The forms that are easily forgotten and a sample of the rest in every run; everything with LOOPWRIGHT_FUZZ=n, and n
random programs.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import loopwright as lw
from examples_data import small
from loopwright.config import current
from loopwright.ir.signature import shape_of
from loopwright.kernel import LoopKernel
from loopwright.profile.journal import journal_of
from loopwright.profile.work_form import WorkForm
from loopwright.runtime.dispatch import Prepared
from loopwright.specialisation import Specialisation
from loopwright.tuning import trials
from loopwright.tuning import tune as tuning
from loopwright.tuning.arguments import restore, save
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import Members
from loopwright.tuning.recording import Recording
from loopwright.tuning.scaled import scaled
from loopwright.tuning.tune import Budget
from loopwright.tuning.tuned import Silent, Tuned
from loopwright.tuning.work import sequential_places, work_form
from loopwright.tuning.worker import Bench
from tuning import corpus
from tuning.corpus import Arguments, Case

FUZZ = int(os.environ.get("LOOPWRIGHT_FUZZ", "0"))
FORMS = list(corpus.forms())
RAISE = {"beyond_the_end", "divided_by_zero", "no_such_array"}
NOT_KEPT = {"arrays_that_overlap"}
SAMPLE = ("found_and_returned", "nothing_in_the_arrays", "records", "several_results", "beyond_the_end")

by_name = pytest.mark.parametrize("case", FORMS, ids=lambda case: case.name)
everything = pytest.mark.skipif(not FUZZ, reason="LOOPWRIGHT_FUZZ=n tunes everything, and n random programs")


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> Iterator[None]:
    with lw.options(store=tmp_path / "store.sqlite3", threads=2):
        yield


def sample() -> list[Case]:
    """Some of each part of the corpus, of which the analysis takes little time."""
    quick = {"atax", "jacobi-1d", "trisolv", "durbin", "floyd-warshall"}
    return [
        *(case for case in corpus.polybench() if case.name in quick),
        *(case for case in corpus.families(range(1)) if not case.name.startswith("product")),
        *corpus.analysed(range(2)),
        *corpus.random(range(4)),
    ]


def all_cases(folder: Path) -> Iterator[Case]:
    """The whole corpus."""
    yield from FORMS
    yield from corpus.polybench()
    yield from corpus.examples(small)
    yield from corpus.families(range(4))
    yield from corpus.analysed(range(20))
    yield from corpus.of_tour()
    for page in (corpus.ROOT / "README.md", *sorted((corpus.ROOT / "docs").glob("*.md"))):
        yield from corpus.of_page(page, folder)
    for script in sorted((corpus.ROOT / "examples").glob("*.py")):
        if script.stem not in ("__init__", "tour"):
            yield from corpus.of_script(script)
    first = SystemRandom().randrange(10**9)
    print("random programs from seed", first)
    yield from corpus.random([*range(20), *range(first, first + FUZZ)])


# ---- without running ------------------------------------------------------------------------------------------------


def prepared(case: Case) -> Prepared:
    """A call of it, analysed and not compiled."""
    with lw.options(device="interpreter"):
        return lw.kernel(case.function)._dispatch.prepare(case.arguments(), {})


def look(case: Case, members: int = 2) -> None:
    """All that tuning does with a call before it runs anything."""
    call = prepared(case)
    one = call.compiled
    assert isinstance(one, Specialisation)
    form, shape = work_form(one.analysed.written, one.analysed.facts, one.signature), shape_of(call.arguments)
    assert WorkForm.from_json(json.loads(json.dumps(form.as_json()))) == form
    assert all(math.isfinite(amount) and amount >= 0 for amount in astuple(form.at(shape)))
    deep = sequential_places(form, one.analysed.facts, one.signature)
    assert deep <= set(range(len(shape.sizes)))
    if not call.signature.overlap:
        saved = save(call.arguments)
        assert same(restore(saved).arguments, call.arguments)
        made = scaled(saved, 0.5, deep, 2.0)
        assert made is None or len(made[1].sizes) == len(shape.sizes)
    members_of_space = Members(one, "cpu", current(), judge_for(one, "cpu", current(), call.arguments))
    assert members_of_space.pruned(lambda: False, members, members).measure


@by_name
def test_a_form_is_understood(case: Case) -> None:
    look(case)


def test_some_of_every_kind_is_understood() -> None:
    each(look, sample())


@everything
def test_everything_is_understood(tmp_path: Path) -> None:
    each(look, all_cases(tmp_path))


def each(check: Callable[[Case], None], cases: Sequence[Case] | Iterator[Case]) -> None:
    """All of them, and then what failed."""
    failed: list[str] = []
    for case in cases:
        try:
            check(case)
        except lw.KernelError:  # it is outside the language: there is nothing to tune
            continue
        except Exception as error:
            failed.append(f"{case.name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


# ---- to the end -----------------------------------------------------------------------------------------------------


class Here:
    """In place of a process apart, which takes a second to start."""

    def __init__(self, setting: Setting) -> None:
        self._bench = Bench(setting)

    def tried(self, trial: Trial, limit_s: float) -> Tried:
        return self._bench.tried(replace(trial, budget_ns=100_000))

    def end(self) -> None:
        pass


class Trials(Silent):
    """Counts them."""

    made = 0

    def tried(self, *_: object) -> None:
        self.made += 1


def tuned(kernel: LoopKernel, arguments: Arguments, folder: Path, trials: int) -> Tuned:
    """Tune a call with a clock that moves on by one with every trial."""
    recording, counted = Recording(folder), Trials()
    call = kernel._dispatch.prepare(arguments, {})
    with recording.of(kernel._dispatch.parameters, sorted(kernel._dispatch.written), call):
        pass
    budget = Budget(trials, lambda: float(counted.made))
    (found,) = tuning.tune(recording.calls, journal_of(current()), budget, folder, counted)
    kernel._dispatch.learn_anew()
    return found


def same(one: object, other: object) -> bool:
    """Up to rounding."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or isinstance(one, str):
        return one == other
    left, right = np.asarray(one), np.asarray(other)
    if left.dtype.names:
        return all(same(left[name], right[name]) for name in left.dtype.names)
    with np.errstate(all="ignore"):
        a, b = left.astype(float), right.astype(float)
        return left.shape == right.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)


def outcome(function: Callable[..., object], arguments: Arguments) -> tuple[object, Arguments, type | None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*arguments), arguments, None
        except Exception as error:
            return None, (), IndexError if isinstance(error, IndexError) else type(error)


def tune_and_call(case: Case, folder: Path, trials: int = 4) -> Tuned:
    """Tune it; arguments stay as they are, and calls are CPython's."""
    kernel, arguments = lw.kernel(case.function), case.arguments()
    with TemporaryDirectory(dir=folder) as own:
        found = tuned(kernel, arguments, Path(own), trials)
    assert same(arguments, case.arguments()), "tuning changed the arguments"
    assert set(found.counts) <= {"ok", "refused", "crashed"}, found.counts
    right, ours = outcome(case.function, case.arguments()), outcome(kernel, arguments)
    assert (right[2] is None) == (ours[2] is None), (right[2], ours[2])
    assert same(right[:2], ours[:2])
    if right[2] is None:
        assert "crashed" not in found.counts and (found.best is not None or found.why_not)
    return found


@pytest.mark.parametrize("name", SAMPLE)
def test_a_form_is_tuned_to_the_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "Isolated", Here)
    (case,) = (case for case in FORMS if case.name == name)
    found = tune_and_call(case, tmp_path)
    assert (found.best is None) == (name in RAISE)
    assert ("out of bounds" in found.why_not) == (name in RAISE)


def test_a_while_loop_in_a_kernel_that_is_tuned() -> None:
    """In a process apart, as users do it."""
    (case,) = (case for case in FORMS if case.name == "halved_in_a_while_loop")
    kernel, arguments = lw.kernel(case.function), case.arguments()
    found = kernel.tune(*arguments, budget=0)
    assert found.best is not None and found.counts == {"ok": 1}
    kernel(*arguments)
    assert not arguments[0].any()


@everything
def test_everything_is_tuned_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "Isolated", Here)

    def check(case: Case) -> None:
        found = tune_and_call(case, tmp_path)
        assert (case.name in NOT_KEPT) <= ("sharing memory" in found.why_not)

    each(check, all_cases(tmp_path))
