"""What is predicted of one variant for one call."""

from __future__ import annotations

from typing import Literal, NamedTuple

How = Literal["measured", "interpolated", "extrapolated", "tree", "limits"]
"""This very shape was measured; between shapes that were; outside of them; from features of the data; from what the
device could do at best, without any measurement."""


class Prediction(NamedTuple):
    """time_ns: of the whole call, transfers included. error: the time is expected within this part of itself, so that
    0.1 means from 0.9 to 1.1 times time_ns. A tuple, as a hundred of them are made for a call of a new shape."""

    time_ns: float
    error: float
    how: How
