"""What the store knows of how long copies to a GPU and back take on a machine: tables that tuning measured once."""

from __future__ import annotations

from loopwright.profile.bandwidth import BandwidthTable, Bus
from loopwright.profile.journal import Journal

BANDWIDTH = "bandwidth"


def known_copies(journal: Journal, machine: str) -> Bus | None:
    """None where it does not know both directions."""
    found = [journal.table(BANDWIDTH, machine, name) for name in ("to device", "to host")]
    try:
        there, back = (BandwidthTable.parse(str(table.content)) for table in found if table is not None)
        return Bus(there, back)
    except ValueError:  # one is missing, or damaged
        return None
