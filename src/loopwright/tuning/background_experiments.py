"""Experiments beside the calls of a kernel that serves: in a process apart, on copies of the arguments. What is worth
one is decided in choice/.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from loopwright.choice.explore import Experiment, ExperimentResult
from loopwright.ir.variant import Variant, default_variant
from loopwright.memory.on_device import is_on_device
from loopwright.profile.journal import Journal
from loopwright.profile.work_form import WorkForm
from loopwright.tuning.arguments import save, write
from loopwright.tuning.background_search import BackgroundSearch
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.scratch import working_folder
from loopwright.tuning.trials import setting_of
from loopwright.tuning.tune import put_kernel
from loopwright.tuning.work import work_form

MOST_BYTES = 1 << 30
"""Arguments larger than this are not copied for experiments."""


class BackgroundExperiments:
    """See choice.experimenter.Experimenter. call: its shape and its arguments are those of each experiment."""

    def __init__(self, call: RecordedCall) -> None:
        self._call = call

    def work_form(self, journal: Journal) -> WorkForm:
        """See Experimenter."""
        one = self._call.one
        form = work_form(one.analysed.written, one.analysed.facts, one.signature)
        put_kernel(journal, self._call, form)
        return form

    def evidence(
        self, experiment: Experiment, serving: Variant, form: WorkForm, arguments: tuple[object, ...]
    ) -> ExperimentResult | None:
        """See Experimenter."""
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        if any(map(is_on_device, arrays)) or sum(one.nbytes for one in arrays) > MOST_BYTES:
            return None
        end = time.monotonic() + experiment.limit_ns / 1e9
        with working_folder() as folder:
            saved = folder / "arguments"
            write(save(arguments), saved)
            with Isolated(self._setting(experiment, form, saved)) as process:
                budget_ns = max(1_000_000, experiment.expected_ns // 4)
                beside = process.tried(Trial(serving, budget_ns), end - time.monotonic())
                if beside.outcome != "ok":  # nothing to compare with; where time ran out, it gets more the next time
                    return ExperimentResult("timeout", reason=beside.reason) if beside.outcome == "timeout" else None
                tried = process.tried(Trial(experiment.variant, budget_ns), end - time.monotonic())
        return ExperimentResult(tried.outcome, _times(tried), 0, _times(beside), tried.reason)

    def search(self, devices: Sequence[str]) -> BackgroundSearch:
        """See Experimenter."""
        return BackgroundSearch(self._call.one, devices, self._call.config)

    def _setting(self, experiment: Experiment, form: WorkForm, saved: Path) -> Setting:
        call = replace(self._call, shape=experiment.shape, saved=saved)
        return replace(setting_of(call, form), reference=default_variant(call.config))


def _times(tried: Tried) -> tuple[int, ...]:
    half = tried.time_ns * tried.spread
    return tuple(int(tried.time_ns + half * side) for side in (-1, 0, 1)) if tried.outcome == "ok" else ()
