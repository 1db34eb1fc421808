"""What the store has to say about a choice, fetched for a report: nothing of it is needed by a call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from loopwright.config import Config
from loopwright.cost.front import PARETO, front_of
from loopwright.devices.gpus import devices_for
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement
from loopwright.report.choice import Known, chosen, pinned, why_no_choice
from loopwright.report.explanation import ChoiceReport
from loopwright.runtime.considered import Considered
from loopwright.specialisation import Specialisation
from loopwright.tuning.work import work_form

MOST_SHAPES = 8
"""Choices that are told of one specialisation: those that came last."""

FAILED_GUARD = "nothing is chosen for sizes that the code of every variant turns away"
ELSEWHERE = "calls are served by the variants that were chosen for their sizes"


Rows = list[Measurement]


def choice_of(considered: Considered, now: float, read: dict[Hashable, Rows] | None = None) -> ChoiceReport:
    """Of one call. now: seconds since 1970. read: what was read from stores before, for more of them at once."""
    read = {} if read is None else read
    if considered.failed is not None:
        return ChoiceReport(FAILED_GUARD)
    if considered.decision is not None:
        devices = devices_for(considered.config)
        known = _known(considered.default, considered.shape, devices, considered.config, now, read)
        return chosen(considered.decision, considered.standings, known)
    config = considered.config
    why, option = why_no_choice(config, considered.compiled.executable is not None)
    if option != "variant":
        return ChoiceReport(why, pinned=option)
    variant = Variant.parse(config.variant)
    devices = tuple(dict.fromkeys((variant.device, *devices_for(replace(config, device="auto")))))
    known = _known(considered.compiled, considered.shape, devices, config, now, read)
    return pinned(variant, considered.shape, why, option, known)


def choices_of(
    one: Specialisation, served: Sequence[Considered], config: Config, now: float
) -> tuple[ChoiceReport, ...]:
    """Of the shapes that a specialisation has served, the last ones; where there was no choice, why. served: what
    Dispatch.served says."""
    mine = [considered for considered in served if considered.compiled is one]
    if mine:
        read: dict[Hashable, Rows] = {}
        return tuple(choice_of(considered, now, read) for considered in mine[-MOST_SHAPES:])
    if any(considered.default is one for considered in served):
        return (ChoiceReport(ELSEWHERE),)
    why, option = why_no_choice(config, one.executable is not None)
    return (ChoiceReport(why, pinned=option),)


def _known(
    compiled: object, shape: Shape, devices: Sequence[str], config: Config, now: float, read: dict[Hashable, Rows]
) -> Known:
    """What the store has of a kernel on these devices of this machine."""
    assert isinstance(compiled, Specialisation)
    journal, kernel = journal_of(config), compiled.fingerprint
    machines = _machines(devices, config)
    key = journal, kernel, tuple(machines.values())
    if key not in read:
        rows = (row for one in machines.values() for row in journal.measurements(kernel, one))
        read[key] = [row for row in rows if row.variant.threads <= config.threads]
    form = work_form(compiled.analysed.written, compiled.analysed.facts, compiled.signature)
    tables = {device: journal.table(PARETO, machine, kernel) for device, machine in machines.items()}
    fronts = {device: front for device, table in tables.items() if table and (front := front_of(table)) is not None}
    return Known(read[key], fronts, form.at(shape), now)


def _machines(devices: Sequence[str], config: Config) -> dict[str, str]:
    """By device, the fingerprints of those whose measurements are kept."""
    found = {device: machine_of(device, config) for device in devices}
    return {device: machine.fingerprint for device, machine in found.items() if machine and machine.fingerprint}
