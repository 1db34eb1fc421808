from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from loopwright.compiler import analysed
from loopwright.config import current
from loopwright.frontend.capture import capture
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import compilation_of
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.recipe import Recipe, recipe
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.search.space import Device, Member, Point, Refused, Space, space_of
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule
from search.five import CASES, TARGET, known, result, space
from steps.kernels import PREFIX, WHILE
from steps.kernels import known as analysed_text

DEVICES: tuple[Device, ...] = ("cpu", "cuda")
every_case = pytest.mark.parametrize("name", CASES)
every_device = pytest.mark.parametrize("device", DEVICES)


def drawn(name: str, device: Device, count: int, seed: int = 0) -> list[Member]:
    """Members of a space, at random."""
    random = Random(f"{name} {device} {seed}")
    found = (space(name, device).variant(space(name, device).draw(random)) for _ in range(count))
    return [one for one in found if isinstance(one, Member)]


def default(name: str, device: Device) -> Recipe:
    """What the recipe does without any choices."""
    found = known(name)
    if device == "cuda":
        return gpu_recipe(found.written, found.facts, False)
    return recipe(found.written, found.facts, False, TARGET)


@every_device
@every_case
def test_there_are_hundreds_of_points(name: str, device: Device) -> None:
    found = space(name, device)
    assert 100 <= len(found) <= 1000
    assert len(set(found.points)) == len(found)


@every_device
@pytest.mark.parametrize("name", ["gemm", "differences", "waves"])
def test_the_default_is_what_the_recipe_does_by_itself(name: str, device: Device) -> None:
    found = space(name, device)
    assert found.default == found.points[0]
    usual = print_schedule(default(name, device).schedule)
    assert found.variant(found.default) == Member(found.default, usual)


@pytest.mark.parametrize("name", CASES)
@every_device
def test_members_agree_with_the_interpreter(name: str, device: Device) -> None:
    size = 35 if name in ("gemm", "waves") else 11
    expected = reference(name, size)
    members = drawn(name, device, 1)
    assert members
    for member in members:
        options = {"device": "emulated" if device == "cuda" else "cpu", "schedule": member.schedule}
        for mine, right in zip(result(name, size, compiler_flags=("-O1",), **options), expected, strict=True):
            np.testing.assert_allclose(mine, right, rtol=1e-12, err_msg=member.schedule)


@cache
def reference(name: str, size: int) -> list[Any]:
    """What Python makes of it, by the interpreter."""
    return result(name, size, device="interpreter")


@every_device
def test_nearly_all_points_are_members_and_no_two_are_the_same(device: Device) -> None:
    members = drawn("waves", device, 12)
    assert len(members) == 12
    assert len({one.schedule for one in members}) == len({one.point for one in members})


def test_a_space_is_the_same_each_time() -> None:
    found = known("waves")
    one, other = (space_of(found.written, found.facts, False, "cuda") for _ in range(2))
    assert one == other and one.points == other.points
    assert [one.variant(p) for p in one.points[:5]] == [other.variant(p) for p in one.points[:5]]
    assert one.draw(Random(7)) == other.draw(Random(7))


def test_members_are_made_when_they_are_asked_for_and_once() -> None:
    found = space("waves", "cuda")
    first = found.variant(found.points[3])
    assert found.variant(found.points[3]) is first


RECORDS = """
kernel looked_up(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 64,
                 b: int64[1] C argument 1, c: float64[1] C argument 2, d: float64[1] C argument 3,
                 t: int64 argument 4):
    for k in 0 .. t:
        for i in 0 .. size(p.x, 0):
            c[b[i]] = c[b[i]] * d[b[i]] + p.x[i]
"""


def test_records_may_be_in_another_layout_where_the_recipe_is_in_doubt() -> None:
    kernel, facts = analysed_text(RECORDS)
    found = space_of(kernel, facts, False, "cpu", TARGET, records={0: 128})
    taken = {one.schedule for one in found.members() if "; relayout p in k soa" in one.schedule}
    assert "specialize t >= 3 in k; relayout p in k soa; parallelize p.in0" in taken
    default = found.variant(found.default)
    assert isinstance(default, Member) and default.schedule not in taken
    assert not any("relayout" in one.schedule for one in space_of(kernel, facts, False, "cpu", TARGET).members())


def differences(one: Point, other: Point) -> int:
    return sum(dict(one).get(name) != value for name, value in other)


@every_device
def test_neighbours_differ_in_one_number(device: Device) -> None:
    found = space("jacobi", device)
    near = found.neighbours(found.default)
    assert near and set(near) <= set(found.points)
    others = {family.default for family in found.families[1:]}
    assert all(differences(found.default, point) == 1 for point in near if point not in others)
    assert others <= set(near)


def test_less_is_wanted() -> None:
    found = known("waves")
    small = space_of(found.written, found.facts, False, "cuda", most=50)
    assert 20 <= len(small) <= 50 and "threads of a block" in small.left_out
    assert small.default == space("waves", "cuda").default
    one = space_of(found.written, found.facts, False, "cpu", TARGET, most=1)
    assert one.points == (one.default,)
    with pytest.raises(ValueError, match="at least 1 point, not 0"):
        space_of(found.written, found.facts, False, "cpu", most=0)


def test_a_number_that_has_no_effect_is_refused() -> None:
    found = space("jacobi", "cpu")
    point = tuple((name, 99 if name == "sweeps of a time tile" else value) for name, value in found.default)
    refused = Space(found.families, (*found.points, point), found.make).variant(point)
    assert isinstance(refused, Refused) and "sweeps of a time tile is one of 4, 8, 16, 32, not 99" in refused.reason


@every_device
@pytest.mark.parametrize("text", [PREFIX, WHILE])
def test_a_kernel_with_nothing_to_choose_has_one_member(text: str, device: Device) -> None:
    found = space_of(*analysed_text(text), False, device)
    assert len(list(found.members())) >= 1
    assert isinstance(found.variant(found.default), Member)


@every_device
def test_arguments_that_overlap_leave_nothing_to_choose(device: Device) -> None:
    text = (
        "kernel k(a: float64[1] C, b: float64[1] C):\n    overlap\n    for i in 0 .. size(a, 0):\n        a[i] = b[i]\n"
    )
    kernel, facts = analysed_text(text)
    assert kernel == parse_kernel(text) and kernel.overlap
    assert [one.schedule for one in space_of(kernel, facts, False, device).members()] == [""]


def test_strict_sums_keep_their_order() -> None:
    found = known("waves")
    strict = space_of(found.written, found.facts, True, "cpu", TARGET, most=5)
    for member in strict.members():
        apply_schedule(found.written, found.facts, parse_schedule(member.schedule), strict=True)


def sparse_product(starts, columns, values, x, y):
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            for j in range(x.shape[1]):
                y[i, j] += values[k] * x[columns[k], j]


def test_rows_between_two_entries_have_a_space() -> None:
    """One way keeps their ends in an array that was not there when the kernel was analysed."""
    ints, floats = np.zeros(2, np.int64), np.zeros((2, 2))
    arguments = as_arguments((ints, ints, floats[0], floats, floats.copy()))
    found = analysed(capture(sparse_product), compilation_of(signature_of(arguments, [4]), current()))
    assert len(space_of(found.written, found.facts, False, "cuda").families) > 2
