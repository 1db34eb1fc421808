"""What is predicted of one variant for one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["measured", "interpolated", "extrapolated", "tree", "limits"]
"""This very shape was measured; between shapes that were; outside of them; from features of the data; from what the
device could do at best, without any measurement."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """time_ns: of the whole call, transfers included. error: the time is expected within this part of itself, so that
    0.1 means from 0.9 to 1.1 times time_ns."""

    time_ns: float
    error: float
    how: How
