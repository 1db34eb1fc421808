"""What a machine's memory moves: it is measured, and once."""

from __future__ import annotations

from loopwright.profile import memory_rate
from loopwright.profile.memory_rate import last_cache, measured_rate


def test_a_rate_is_measured_with_any_number_of_threads(monkeypatch) -> None:
    monkeypatch.setattr(memory_rate, "LEAST_BYTES", 1 << 16)
    for threads in (1, 3):
        assert 1e6 < measured_rate(threads, 0) < 1e14


def test_the_last_cache_of_a_machine() -> None:
    assert last_cache((("L1 bytes", 32), ("L3 bytes", 4096), ("cores", 99999), ("model", 7))) == 4096
    assert last_cache(()) == 0
