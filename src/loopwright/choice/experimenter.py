"""The protocols of what a chooser has done for it beside calls: experiments, and the search for more candidates. Both
need the compiler, so whoever makes a kernel hands them in (tuning/background_experiments.py); a choice among variants
that were measured before needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from loopwright.choice.base import Measured
from loopwright.choice.explore import Experiment, ExperimentResult
from loopwright.config import Config
from loopwright.ir.variant import Variant
from loopwright.profile.journal import Journal
from loopwright.profile.work_form import WorkForm


class CandidateSearch(Protocol):
    """For candidates, a little at a time. over: there is nothing more to look at."""

    over: bool

    def more(self, arguments: tuple[object, ...], budget_ns: int) -> tuple[Variant, ...]:
        """The most promising of all that were looked at, after looking for so long."""


class Experimenter(Protocol):
    """For one kernel, kind of call and options."""

    def work_form(self, journal: Journal) -> WorkForm:
        """What such calls have to do, by analysis; the store knows it from now on."""

    def evidence(
        self, experiment: Experiment, serving: Variant, form: WorkForm, arguments: tuple[object, ...]
    ) -> ExperimentResult | None:
        """Make an experiment within its limit, beside the variant that serves, with copies of these arguments. None
        where it cannot be made. Raises OSError, MemoryError."""

    def search(self, devices: Sequence[str]) -> CandidateSearch:
        """For more candidates of these devices."""


Experimenters = Callable[[Measured, Config], Experimenter]
"""Takes the default variant and the options of its calls."""
