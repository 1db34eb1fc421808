from __future__ import annotations

import pytest

from loopwright.predict.grouped import GAIN, GROUP_NS, GroupMeasures


def test_what_lanes_share_is_faster_and_finding_paths_takes_time() -> None:
    half = GroupMeasures(1000, 100.0, 50.0, 2).predicted(1e6)
    assert half.kept_ns == pytest.approx(1e6 * (0.5 + 0.5 / GAIN)) and half.plain_ns == 1e6
    assert half.mean_ns(1.0) - half.kept_ns == pytest.approx(1000 * GROUP_NS / 2)
    assert GroupMeasures(1000, 100.0, 0.0, 1).predicted(1e6).kept_ns == 1e6
    assert GroupMeasures(0, 0.0, 0.0, 1).predicted(1e6, 2.0).kept_ns == 2e6
    assert "50 %" in GroupMeasures(1000, 100.0, 50.0, 2).told()
