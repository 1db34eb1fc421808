"""What is known of one kernel, for its calls: whether the store has anything to choose from. Where it has, or where a
kernel has run for so long that looking for something pays off, chooser.py chooses; nothing of it is loaded for the
others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from loopwright.choice.base import Chooser, Measured
from loopwright.config import Config
from loopwright.deferred import deferred
from loopwright.errors import warn_once
from loopwright.ir.variant import default_variant

if TYPE_CHECKING:
    from loopwright.choice import chooser
    from loopwright.choice.experimenter import Experimenters
    from loopwright.devices import gpus
    from loopwright.profile import journal, machine
else:
    gpus = deferred("loopwright.devices.gpus")
    journal = deferred("loopwright.profile.journal")
    machine = deferred("loopwright.profile.machine")
    chooser = deferred("loopwright.choice.chooser")


class KernelExperience:
    """See choice.base.Experience. experimenters: for the experiments of each chooser."""

    def __init__(self, experimenters: Experimenters) -> None:
        self._experimenters = experimenters

    def chooser(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        """None where options decide, where nothing but the default was measured, and where nothing can be."""
        decided = config.variant or config.schedule or config.recipe != "auto" or config.checks == "all"
        if decided or config.device == "interpreter" or compiled.executable is None or config.store_path is None:
            return None
        if not served_ns and not config.store_path.exists():
            return None
        try:
            return self._chooser(compiled, config, served_ns, resident)
        except Exception as error:  # whatever a store may hold: the default serves, as if nothing were known
            warn_once("experience", f"what is known of '{compiled.fingerprint[:8]}' is of no use: {error!r}")
            return None

    def _chooser(self, compiled: Measured, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        store = journal.journal_of(config)
        if not served_ns and not store.has_kernel(compiled.fingerprint):  # before anybody looks for a GPU
            return None
        machines: dict[str, str] = {}
        for device in gpus.devices_for(config):
            found = machine.machine_of(device, config)
            if found is not None and found.fingerprint:
                machines[device] = found.fingerprint
                if served_ns:
                    store.put_machine(found)
        rows = [row for one in machines.values() for row in store.measurements(compiled.fingerprint, one)]
        default = default_variant(config)
        usable = (row for row in rows if row.outcome == "ok" and row.variant.threads <= config.threads)
        serves = any(row.variant != default for row in usable)
        if default.device not in machines or not (served_ns or serves):
            return None
        experimenter = partial(self._experimenters, compiled, config)
        look_ns = None if serves else served_ns
        return chooser.chooser_of(compiled, config, store, machines, rows, resident, experimenter, look_ns)
