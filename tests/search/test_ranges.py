from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.search.ranges import Ranges, space_of_ranges, tunable
from loopwright.search.space import Member, Refused
from steps.kernels import ROWS, known

TEXT = "tile i {16,32} j {16..64 by 16}; parallelize i.o"


def test_every_choice_is_a_point() -> None:
    ranges = tunable(TEXT)
    assert [(one.name, one.among, one.default) for one in ranges.tunables] == [
        ("tile i", (16, 32), 16),
        ("tile j", (16, 32, 48, 64), 16),
    ]
    assert ranges.schedule({"tile i": 32, "tile j": 48}) == "tile i 32 j 48; parallelize i.o"
    space = space_of_ranges(ranges, *known(ROWS), strict=True)
    schedules = [member.schedule for member in space.members()]
    assert len(space) == 8 == len(set(schedules))
    assert schedules[0] == "tile i 16 j 16; parallelize i.o" and schedules[-1] == "tile i 32 j 64; parallelize i.o"


def test_numbers_of_one_name_are_told_apart() -> None:
    ranges = Ranges("split i {2,4}; split i {8, 16}; bind i thread.x { 32 }")
    assert [one.name for one in ranges.tunables] == ["split i", "split i #2", "bind thread.x"]
    assert ranges.schedule({"split i": 4, "split i #2": 8, "bind thread.x": 32}).endswith(
        "split i 8; bind i thread.x 32"
    )
    assert Ranges("unroll i {4,4,2..3}").tunables[0].among == (4, 2, 3)


def test_what_is_not_legal_is_refused_with_the_reason() -> None:
    space = space_of_ranges(Ranges("split j {4,8}; unroll j {2,30000}"), *known(ROWS), strict=True)
    found = [space.variant(point) for point in space]
    assert [isinstance(one, Member) for one in found] == [True, False, True, False]
    assert isinstance(found[1], Refused)
    assert "'unroll j 30000' is not legal: the code would grow" in found[1].reason and "  ^" in found[1].reason


@pytest.mark.parametrize(
    ("text", "what", "position"),
    [
        ("tile i 16 j 16", "there is nothing to choose", 0),
        ("", "there is nothing to choose", 0),
        ("split i {}", "'' is no number to choose", 8),
        ("split i {4,x}", "'x' is no number to choose", 8),
        ("split i {-4}", "'-4' is no number to choose", 8),
        ("split i {8..4}", "'{8..4}' holds no number", 8),
        ("split i {2..9 by 0}", "'{2..9 by 0}' holds no number", 8),
        ("split i {2..400} j {2..400}", "159201 schedules; the limit is 1000", 0),
        ("twist i {2,3}", "no step 'twist'", 0),
        ("split i {2,3", "there is nothing to choose", 0),
        ("split i {2} j 3}", "does not parse", 0),
    ],
)
def test_what_does_not_parse_is_refused_at_once(text: str, what: str, position: int) -> None:
    with pytest.raises(lw.ScheduleError) as error:
        tunable(text)
    assert what in str(error.value) and error.value.position == position


@lw.kernel(schedule=tunable(TEXT))
def doubled(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2.0 * a[i, j]


def test_a_kernel_is_given_what_to_choose_from() -> None:
    a, b = np.ones((5, 7)), np.zeros((5, 7))
    doubled(a, b)
    assert (b == 2.0).all()  # runs as without it
    assert len(doubled.space(a, b)) == 8
    with lw.options(schedule="split i {2,4,8}"):
        assert len(doubled.space(a, b=b)) == 3
    with pytest.raises(TypeError, match=r"schedule is lw\.tunable\(\.\.\.\), not 'tile i 2 j 2'"):
        lw.kernel(schedule="tile i 2 j 2")  # type: ignore[call-overload]


def test_a_call_needs_one_number() -> None:
    with lw.options(schedule="split i {2,4,8}"), pytest.raises(lw.ScheduleError) as error:
        doubled(np.ones((5, 7)), np.zeros((5, 7)))
    assert str(error.value) == (
        "this schedule leaves numbers open\n  split i {2,4,8}\n          ^\n"
        "  try: one of them; or tune, which tries them all"
    )


def test_the_space_of_calls() -> None:
    @lw.kernel
    def plain(a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = 2.0 * a[i, j]

    a, b = np.ones((5, 7)), np.zeros((5, 7))
    on_cpu, on_gpu = plain.space(a, b), plain.space(a, b, device="cuda", most=30)
    assert len(on_cpu) > 30 >= len(on_gpu)
    found = on_gpu.variant(on_gpu.default)
    assert isinstance(found, Member) and "bind" in found.schedule
    assert not plain.specialisations()  # nothing is compiled
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        plain.space(a)
