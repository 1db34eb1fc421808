from __future__ import annotations

import pytest

from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.tunable import Choices, Constraint, StepMemo, Tunable, UnfitError
from loopwright.steps.split import Split
from steps.kernels import ROWS, known

SIZE = Tunable("size", 4, (2, 4, 8), "large or small")
KIND = Tunable("kind", 1, (0, 1), "one or the other", words=("no", "yes"))


def plan_with(choices: Choices | None) -> PartialSchedule:
    kernel, facts = known(ROWS)
    return PartialSchedule(kernel, facts, False, kernel, choices=choices)


def test_values() -> None:
    assert Tunable("size", 6, (2, 4, 8), "").among == (2, 4, 6, 8)
    assert (SIZE.text(8), KIND.text(1)) == ("8", "yes")
    with pytest.raises(ValueError, match="'kind': values are distinct"):
        Tunable("kind", 1, (0, 1), "", words=("no",))
    with pytest.raises(ValueError, match="values are distinct"):
        Tunable("size", 1, (1, 1), "")


def test_without_choices_a_number_is_its_default() -> None:
    assert plan_with(None).number(SIZE) == 4
    plan_with(None).require(Constraint("never", lambda numbers: False))  # defaults are known to fit


def test_what_is_wanted_is_given_and_what_was_asked_is_kept() -> None:
    choices = Choices({"size": 8, "other": 3})
    partial = plan_with(choices)
    assert (partial.number(SIZE), partial.number(KIND)) == (8, 1)
    assert choices.numbers() == {"size": 8, "kind": 1} and not choices.is_usual
    with pytest.raises(UnfitError, match="size is one of 2, 4, 8, not 5"):
        plan_with(Choices({"size": 5})).number(SIZE)


def test_another_default_of_the_same_number() -> None:
    other = Tunable("size", 2, (2, 4, 8), "")
    for wanted in ({}, {"size": 4}):  # the first one's default asks for each one's own
        choices = Choices(wanted)
        assert (choices.number(SIZE), choices.number(other)) == (4, 2)
    choices = Choices({"size": 8})
    assert (choices.number(SIZE), choices.number(other)) == (8, 8)


def test_what_has_to_hold() -> None:
    small = Constraint("size is small", lambda numbers: numbers["size"] < 8)
    choices = Choices({"size": 8})
    partial = plan_with(choices)
    partial.number(SIZE)
    with pytest.raises(UnfitError, match="size is small, which does not hold here"):
        partial.require(small)
    assert choices.constraints == {"size is small": small}


def test_what_was_asked_in_a_group_that_is_not_taken_is_forgotten() -> None:
    choices = Choices({})
    partial = plan_with(choices)
    partial.number(KIND)
    with partial.together():
        partial.number(SIZE)
        raise NotTaken
    assert list(choices.asked) == ["kind"]


def test_the_deepest_nest_counts() -> None:
    choices = Choices({})
    partial = plan_with(choices)
    (chain,) = partial.chains()
    with partial.in_nest(chain[:1]):
        partial.number(SIZE)
        partial.number(KIND)
    with partial.in_nest(chain):
        partial.number(SIZE)
    assert {name: one.depth for name, one in choices.asked.items()} == {"size": 2, "kind": 1}


def test_defaults_for_a_while() -> None:
    choices = Choices({"size": 8})
    partial = plan_with(choices)
    with partial.by_default():
        assert partial.number(SIZE) == 4
    assert partial.number(SIZE) == 8


def test_runs_share_what_steps_made() -> None:
    memory = StepMemo()
    kernel, facts = known(ROWS)
    plans = [PartialSchedule(kernel, facts, False, kernel, choices=Choices({}, memory)) for _ in range(2)]
    for partial in plans:
        partial.take(Split("i", 4), "")
    assert plans[0].kernel is plans[1].kernel is not kernel
    plans[0].take(Split("j", 4), "")
    plans[1].take(Split("j", 8), "")
    assert plans[0].kernel is not plans[1].kernel
    for partial in plans:
        with pytest.raises(NotTaken):
            partial.take(Split("none", 4), "")


def test_memory_keeps_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.recipe.tunable.KEPT", 2)
    memory, made = StepMemo(), []
    one, other = object(), object()
    for thing, what in ((one, "a"), (other, "a"), (one, "a"), (one, "b"), (other, "a")):
        memory.get((thing,), what, lambda thing=thing, what=what: made.append((thing, what)))
    assert made == [(one, "a"), (other, "a"), (one, "b"), (other, "a")]
