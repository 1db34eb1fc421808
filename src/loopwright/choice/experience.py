"""What is known of one kernel, for its calls: whether the store has anything to choose from. Where it has, or where a
kernel has run for so long that looking for something pays off, chooser.py chooses; nothing of it is loaded for the
others.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.choice.base import Chooser, Measured
from loopwright.config import Config
from loopwright.deferred import deferred
from loopwright.errors import is_of_a_handler, warn_once
from loopwright.ir.variant import default_variant

if TYPE_CHECKING:
    from loopwright.choice import chooser, remap
    from loopwright.choice.experimenter import Experimenters
    from loopwright.choice.remap import Remapping
    from loopwright.devices import gpus
    from loopwright.profile import journal, machine, records, tuned_file
    from loopwright.profile.work_form import WorkForm
else:
    gpus = deferred("loopwright.devices.gpus")
    journal = deferred("loopwright.profile.journal")
    machine = deferred("loopwright.profile.machine")
    chooser = deferred("loopwright.choice.chooser")
    remap = deferred("loopwright.choice.remap")
    records = deferred("loopwright.profile.records")
    tuned_file = deferred("loopwright.profile.tuned_file")


TUNED_SUFFIX = ".tuned.jsonl"
"""Of the file beside a source file that has tuned results for its kernels: `heat.tuned.jsonl` for `heat.py`."""


class KernelExperience:
    """See choice.base.Experience. experimenters: for the experiments of each chooser. name, file: the function's own,
    and where it stands: tuned results may lie beside that. remapping: what is asked about loops whose iterations data
    decides about, None for a kernel that has none."""

    def __init__(
        self,
        experimenters: Experimenters,
        name: str = "",
        file: str = "",
        remapping: Callable[[Measured], Remapping | None] = lambda default: None,
    ) -> None:
        self._experimenters, self._name, self._file, self._remapping = experimenters, name, file, remapping

    def chooser(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        """None where options decide, where nothing but the default was measured, and where nothing can be."""
        if _is_decided(config) or compiled.executable is None:
            return None
        found = self._of_measured(compiled, config, served_ns, resident)
        return self._of_orders(compiled, config) if found is None and resident else found

    def work_form(self, compiled: Measured, config: Config) -> WorkForm | None:
        """See Experience."""
        if compiled.executable is None:
            return None
        try:
            return chooser.form_of(compiled, journal.journal_of(config), partial(self._experimenters, compiled, config))
        except Exception as error:  # whatever a store may hold
            if is_of_a_handler(error):
                raise
            warn_once("experience", f"how much '{compiled.fingerprint[:8]}' has to do is not known: {error!r}")
            return None

    def orders(self, compiled: Measured, config: Config) -> Chooser | None:
        """See Experience."""
        is_open = not _is_decided(config) and compiled.executable is not None
        return self._of_orders(compiled, config) if is_open else None

    def _of_measured(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        tuned = tuned_path(config, self._file)
        if tuned is None and (config.store_path is None or not (served_ns or config.store_path.exists())):
            return None
        try:
            return self._chooser(compiled, config, served_ns, resident, tuned)
        except Exception as error:  # whatever a store may hold: the default serves, as if nothing were known
            if is_of_a_handler(error):
                raise
            warn_once("experience", f"what is known of '{compiled.fingerprint[:8]}' is of no use: {error!r}")
            return None

    def _of_orders(self, compiled: Measured, config: Config) -> Chooser | None:
        """Who chooses whether iterations are put in order; None where none are."""
        default = default_variant(config)
        if config.remap != "auto" or (remapping := self._remapping(compiled)) is None:
            return None
        try:
            store = journal.journal_of(config)
            here = machine.machine_of(default.device, config)
            known = None if here is None else store.table(records.REMAP, here.fingerprint, compiled.fingerprint)
            factor = 1.0 if known is None else float(known.content["factor"])
        except Exception as error:  # whatever a store may hold
            if is_of_a_handler(error):
                raise
            warn_once("experience", f"what is known of '{compiled.fingerprint[:8]}' is of no use: {error!r}")
            return None

        def learned(factor: float) -> None:
            if here is not None and here.fingerprint:
                content = {"factor": factor}
                about = (records.REMAP, here.fingerprint, compiled.fingerprint)
                store.put(records.FittedTable(*about, content, time.time()))

        # Half of it, as a power: one bad time must not rule out another order of iterations for good.
        return remap.RemapChooser(default, remapping, math.sqrt(min(10.0, max(0.1, factor))), learned)

    def _chooser(
        self, compiled: Measured, config: Config, served_ns: int, resident: bool, tuned: Path | None
    ) -> Chooser | None:
        store = journal.journal_of(config)
        lent = None if tuned is None else tuned_file.lend(tuned, store)
        if not served_ns and not store.has_kernel(compiled.fingerprint):  # before anybody looks for a GPU
            if tuned is not None and lent is not None:
                tuned_file.say_unused(tuned, lent.why_unused(compiled.fingerprint, self._name, ()))
            return None
        found = {device: machine.machine_of(device, config) for device in gpus.devices_for(config)}
        here = {device: one for device, one in found.items() if one is not None and one.fingerprint}
        if tuned is not None and lent is not None:
            tuned_file.say_unused(tuned, lent.why_unused(compiled.fingerprint, self._name, here.values()))
        machines = {device: one.fingerprint for device, one in here.items()}
        for one in here.values():
            if served_ns and config.store_path is not None:
                store.put_machine(one)
        rows = [row for one in machines.values() for row in store.measurements(compiled.fingerprint, one)]
        default = default_variant(config)
        usable = (row for row in rows if row.outcome == "ok" and row.variant.threads <= config.threads)
        serves = any(row.variant != default for row in usable)
        if default.device not in machines or not (served_ns or serves):
            return None
        experimenter = partial(self._experimenters, compiled, config)
        look_ns = None if serves else served_ns
        return chooser.chooser_of(compiled, config, store, machines, rows, resident, experimenter, look_ns)


def _is_decided(config: Config) -> bool:
    """Whether options leave nothing to choose."""
    decided = config.variant or config.schedule or config.recipe != "auto" or config.checks == "all"
    first = default_variant(config).first  # the options `remap` and `layout` name steps
    return bool(decided or first or config.device == "interpreter")


def tuned_path(config: Config, file: str) -> Path | None:
    """The file of tuned results for kernels of a source file: the one that the option names, else the one beside it;
    None where there is none."""
    if config.tuned == "off" or not (file or config.tuned):
        return None
    path = config.tuned if isinstance(config.tuned, Path) else Path(file).with_suffix(TUNED_SUFFIX)
    return path if os.path.isfile(path) else None
