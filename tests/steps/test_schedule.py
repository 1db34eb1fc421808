from __future__ import annotations

import pytest

from loopwright.errors import ScheduleError
from loopwright.ir.walk import loops
from loopwright.steps.catalogue import STEPS
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule
from loopwright.steps.vectorize import Vectorize
from steps.kernels import PREFIX, ROWS, known


def test_the_text_parses_back() -> None:
    schedule = (Parallelize("i"), Vectorize("j.i"))
    assert print_schedule(schedule) == "parallelize i; vectorize j.i"
    assert parse_schedule(print_schedule(schedule)) == schedule
    assert parse_schedule("") == parse_schedule(" ; ") == ()


@pytest.mark.parametrize(
    ("text", "position", "word"),
    [
        ("parallelize i; vectorise j", 15, "no step 'vectorise'"),
        ("parallelize", 0, "does not parse"),
        ("vectorize i;   parallelize i j", 15, "does not parse"),
    ],
)
def test_faults_are_shown_where_they_are(text: str, position: int, word: str) -> None:
    with pytest.raises(ScheduleError, match=word) as caught:
        parse_schedule(text)
    assert caught.value.position == position
    assert str(caught.value).splitlines()[2].index("^") == position + 2


def test_steps_are_applied_in_order_and_illegal_ones_refused() -> None:
    kernel, facts = known(ROWS)
    after, _ = apply_schedule(kernel, facts, parse_schedule("parallelize i; vectorize j"), strict=False)
    assert [loop.run for loop in loops(after).values()] == ["parallel", "vector"]  # type: ignore[union-attr]
    with pytest.raises(ScheduleError, match=r"'parallelize i' is not legal: .*a\[i - 1\]"):
        apply_schedule(*known(PREFIX), parse_schedule("parallelize i"), strict=False)


def test_every_step_of_the_catalogue_has_a_name_of_its_own() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
