"""Whether there is anything to choose from, and what is asked for where there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import loopwright as lw
from loopwright.choice.base import Chooser
from loopwright.choice.experience import KernelExperience
from loopwright.choice.explore import ExperimentResult
from loopwright.config import Config, current
from loopwright.ir.signature import ArrayArgument, Shape, Signature
from loopwright.ir.types import FLOAT64
from loopwright.ir.variant import PLAIN, Variant
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import ANY, WORK, FittedTable
from loopwright.profile.work_form import WorkForm

SHAPE, DEFAULT, OTHER = Shape((1000,)), Variant("cpu", threads=1), Variant("cpu", PLAIN, 1)
FORM = WorkForm(((1.0, ((0, 1),)),), None, ((8.0, ((0, 1),)),), None, None)
LONG_NS = 10**12
VECTOR = Signature((ArrayArgument(FLOAT64, 1, "C", True),))
MADE: Any = object()


@dataclass
class Code:
    """What a choice has to know of compiled code."""

    fingerprint: str = "kernel"
    executable: Any = MADE
    signature: Signature = VECTOR


@dataclass
class Scripted:
    """An Experimenter, its own search, and what it was asked for."""

    found: ExperimentResult | Exception | None = None
    more_found: tuple[Variant, ...] = ()
    over: bool = False
    asked: list[str] = field(default_factory=list)

    def __call__(self, default: object, config: Config) -> Scripted:
        return self

    def work_form(self, journal: object) -> WorkForm:
        self.asked.append("form")
        return FORM

    def search(self, devices: object) -> Scripted:
        self.asked.append("search")
        return self

    def more(self, arguments: object, budget_ns: int) -> tuple[Variant, ...]:
        self.over = True
        return self.more_found

    def evidence(
        self, experiment: object, serving: Variant, form: WorkForm, arguments: object
    ) -> ExperimentResult | None:
        self.asked.append(f"evidence beside {serving}")
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Config]:
    with lw.options(store=tmp_path / "store.sqlite3", threads=1, device="cpu"):
        yield current()


def measured(config: Config, *variants: Variant, time_ns: float = 1e6) -> None:
    machine = machine_of("cpu", config)
    assert machine is not None
    rows = [
        Measurement("kernel", machine.fingerprint, one, SHAPE, Work(1e3), "ok", time_ns, 0.01, 9) for one in variants
    ]
    journal_of(config).add(*rows)
    assert journal_of(config).flush()


def asked(config: Config, scripted: Scripted, served_ns: int = 0, code: Code | None = None) -> Any:
    found: Chooser | None = KernelExperience(scripted).chooser(code or Code(), config, served_ns, False)
    return found


def test_where_nothing_but_the_default_was_measured_nobody_chooses(config: Config) -> None:
    scripted = Scripted()
    assert asked(config, scripted) is None  # there is no store
    measured(config, DEFAULT)
    assert asked(config, scripted) is None
    measured(config, replace(OTHER, threads=9))
    assert asked(config, scripted) is None  # calls have fewer threads
    assert scripted.asked == []


@pytest.mark.parametrize(
    "decided",
    [
        {"variant": "cpu 1: plain"},
        {"schedule": "parallelize i"},
        {"recipe": "plain"},
        {"checks": "all"},
        {"device": "interpreter"},
    ],
    ids=lambda decided: next(iter(decided)),
)
def test_where_options_decide_nobody_chooses(config: Config, decided: dict[str, Any]) -> None:
    measured(config, DEFAULT, OTHER)
    assert asked(config, Scripted()) is not None
    assert asked(replace(config, **decided), Scripted(), LONG_NS) is None
    assert asked(config, Scripted(), LONG_NS, Code(executable=None)) is None


def test_a_choice_among_what_was_measured_asks_for_no_experiment(config: Config) -> None:
    measured(config, DEFAULT)
    measured(config, OTHER, time_ns=1e5)
    journal_of(config).put(FittedTable(WORK, ANY, "kernel", FORM.as_json(), 0.0))
    scripted = Scripted()
    assert asked(config, scripted).choose(SHAPE) == OTHER
    assert scripted.asked == []


def test_what_was_served_for_long_is_searched_for(config: Config) -> None:
    scripted = Scripted(more_found=(OTHER,))
    chooser = asked(config, scripted, LONG_NS)
    assert scripted.asked == ["form", "search"]
    assert chooser.choose(SHAPE) == DEFAULT and chooser.due(SHAPE)
    chooser.experiment(SHAPE, ())
    assert [one.variant for one in chooser.standings(SHAPE)[1]] == [DEFAULT, OTHER]


@pytest.mark.parametrize("found", [None, OSError("no process"), MemoryError()])
def test_an_experiment_that_cannot_be_made_concludes_nothing(config: Config, found: Exception | None) -> None:
    scripted = Scripted(found, (OTHER,))
    chooser = asked(config, scripted, LONG_NS)
    chooser.choose(SHAPE)
    assert chooser.due(SHAPE)
    chooser.experiment(SHAPE, ())
    chooser.choose(SHAPE)
    chooser.served(SHAPE, DEFAULT, [10**9] * 20, 20)
    assert chooser.due(SHAPE)
    chooser.experiment(SHAPE, ())
    assert scripted.asked[-1] == f"evidence beside {DEFAULT}"
    assert [one.state for one in chooser.standings(SHAPE)[1]] == ["proven", "untried"]
    assert chooser.adaptive.account.reserved_ns == 0


def test_evidence_opens_the_choice(config: Config) -> None:
    scripted = Scripted(ExperimentResult("ok", (1000, 1000, 1000), 0, (10**9,) * 3), (OTHER,))
    chooser = asked(config, scripted, LONG_NS)
    chooser.choose(SHAPE)
    assert chooser.due(SHAPE)
    chooser.experiment(SHAPE, ())
    chooser.choose(SHAPE)
    chooser.served(SHAPE, DEFAULT, [10**9] * 20, 20)
    assert chooser.due(SHAPE)
    chooser.experiment(SHAPE, ())
    assert chooser.choose(SHAPE) == OTHER
    assert chooser.adaptive.account.spent_ns > 0
