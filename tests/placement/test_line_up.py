"""Who takes part in a race, and when."""

from __future__ import annotations

import math

import pytest

from loopwright.placement.line_up import CLEARLY, DELAY, OVERDUE, SHORT_NS, TimeBounds, line_up

MS = 1e6


def between(low: float, expected: float, high: float) -> TimeBounds:
    """Milliseconds."""
    return TimeBounds(low * MS, high * MS, expected * MS)


def took(ms: float) -> TimeBounds:
    return TimeBounds(ms * MS, ms * MS, ms * MS)


def test_who_takes_longer_at_least_than_another_at_most_has_no_part() -> None:
    found = line_up([between(1, 2, 4), between(5, 6, 9)], [0.0, 0.0], ["cpu", "cuda"])
    assert found.starts_ns == (0.0, None) and found.entrants == (0,)
    assert found.why == "no other device can be as fast as cpu"


def test_the_favourite_begins_and_the_others_a_part_of_their_least_time_later() -> None:
    found = line_up([between(1, 6, 40), between(2, 3, 30)], [0.0, 0.0], ["cpu", "cuda"])
    assert found.starts_ns == (DELAY * 1 * MS, 0.0) and found.entrants == (1, 0)
    unknown = line_up([TimeBounds(), TimeBounds()], [0.0, 0.0])
    assert unknown.starts_ns == (0.0, 1.0)


def test_who_is_expected_to_take_much_longer_begins_when_the_favourite_is_overdue() -> None:
    found = line_up([between(1, 6 * CLEARLY, 900), between(2, 5, 30)], [0.0, 0.0])
    assert found.starts_ns == (OVERDUE * 5 * MS, 0.0)


def test_nobody_waits_long_for_copies_to_others() -> None:
    cpu, gpu = between(1, 5, 40), between(1, 6, 40)
    assert line_up([cpu, gpu], [0.0, 0.05 * MS]).entrants == (0, 1)
    found = line_up([cpu, gpu], [0.0, 0.5 * MS], ["cpu", "cuda"])
    assert found.entrants == (0,) and "cuda would have to read first what cpu writes" in found.why
    assert line_up([gpu, cpu], [0.0, 0.5 * MS]).entrants == (1, 0)  # a GPU that is the favourite reads first anyway
    late = between(1, 6 * CLEARLY, 40)
    assert line_up([cpu, late], [0.0, 0.05 * MS]).entrants == (0,)  # it could not read any more when it begins


def test_short_calls_are_made_by_one() -> None:
    short = 0.9 * SHORT_NS / MS
    found = line_up([between(0.01, short, 9), between(0.1, 2 * short, 9)], [0.0, 0.0], ["cpu", "cuda"])
    assert found.entrants == (0,) and "cpu is expected to be the fastest" in found.why
    clear = line_up([between(0.01, 2 * short, 9), between(0.1, 20 * short, 9)], [0.0, 0.0])
    assert clear.entrants == (0,)
    tried = line_up([took(short), between(0.1, 2 * short, 9)], [0.0, 0.0], ["cpu", "cuda"])
    assert tried.entrants == (1,) and "cuda makes one by itself" in tried.why


def test_devices_that_were_measured_do_not_race() -> None:
    assert line_up([took(3), took(2)], [0.0, 0.0]).entrants == (1,)
    assert not TimeBounds().is_known and took(1).is_known


def test_bad_input() -> None:
    for bounds, held in (([], []), ([TimeBounds()], []), ([TimeBounds()], [0.0, math.inf])):
        with pytest.raises(ValueError, match="one each"):
            line_up(bounds, held)
