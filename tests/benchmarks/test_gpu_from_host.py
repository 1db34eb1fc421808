"""What the bus could do, from what it does."""

from __future__ import annotations

import pytest
from benchmarks.gpu_from_host import Bus


def test_limits() -> None:
    bus = Bus(up=10.0, down=20.0, up_of_both=8.0, down_of_both=16.0)
    assert bus.one_by_one(20, 20) == 3.0
    assert bus.at_once(16, 32) == 2.0
    assert bus.at_once(26, 32) == pytest.approx(2.0 + 1.0), "what is left goes alone, as fast as it does alone"
    assert bus.at_once(16, 52) == pytest.approx(2.0 + 1.0)
    assert bus.at_once(0, 40) == 2.0
