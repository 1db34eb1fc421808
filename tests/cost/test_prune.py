"""What is measured, what stands for what, and the words for what is dropped."""

from __future__ import annotations

import math

import pytest

from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import prune

NAMES = ("efficiency", "utilisation")


def of(*values: float, names: tuple[str, ...] = NAMES) -> Metrics:
    return Metrics(values, names)


def test_reasons_are_in_words() -> None:
    found = prune({"a": of(1.3, 5.0), "b": of(1.0, 5.0), "c": of(0.5, 2.5), "d": of(0.1, 9.0)})
    assert set(found.measure) == {"a", "d"}
    assert found.dropped == {
        "b": "dominated by 'a': 1.3 times its efficiency at the same utilisation",
        "c": "dominated by 'a': 2.6 times its efficiency and 2 times its utilisation",
    }


def test_every_candidate_is_somewhere() -> None:
    candidates = {f"v{k}": of(1 + k % 17, 1 + (k * 7) % 13) for k in range(200)}
    found = prune(candidates, default="v3", most=4)
    others = [name for names in found.alternates.values() for name in names]
    assert sorted([*found.measure, *others, *found.dropped]) == sorted(candidates)


def test_the_default_stays_whatever_it_is_worth() -> None:
    found = prune({"recipe": of(0.1, 0.1), "a": of(1.0, 1.0)}, default="recipe")
    assert found.measure == ("a", "recipe")
    assert not found.dropped


def test_the_default_stands_for_its_cluster() -> None:
    found = prune({"a": of(1.0, 1.0), "recipe": of(1.0, 1.0), "b": of(0.5, 0.5)}, default="recipe")
    assert found.measure == ("recipe",)
    assert found.alternates == {"recipe": ("a",)}
    assert "recipe" in found.dropped["b"] or "'a'" in found.dropped["b"]


def test_no_more_than_asked_for() -> None:
    line = {f"v{k}": of(float(1 + k), float(20 - k)) for k in range(20)}
    found = prune(line, default="v0", most=5)
    assert len(found.measure) == 5
    assert "v0" in found.measure
    assert all("beyond the 5 most promising" in words for words in found.dropped.values())
    # Neither end of the line: what is good in both respects comes first.
    assert found.measure[0] in ("v9", "v10")


@pytest.mark.parametrize("most", [1, 2])
def test_few(most: int) -> None:
    line = {f"v{k}": of(float(1 + k), float(9 - k)) for k in range(9)}
    assert len(prune(line, most=most).measure) == most
    # The default and one other, as a default alone is no choice.
    assert len(prune({**line, "d": of(0.1, 0.1)}, default="d", most=most).measure) == 2
    assert len(prune(line, default="v4", most=most).measure) == 2


def test_what_cannot_be_judged_comes_last() -> None:
    found = prune({"x": of(math.nan, 1.0), "a": of(1.0, 1.0), "b": of(0.5, 2.0)})
    assert found.measure[-1] == "x"


def test_nothing_and_one() -> None:
    assert prune({}).measure == ()
    assert prune({"a": of(0.0, 0.0)}, default="a").measure == ("a",)


def test_zero_and_infinity() -> None:
    found = prune({"a": of(math.inf, 1.0), "b": of(1.0, 0.0), "c": of(0.0, 5.0)})
    assert set(found.measure) == {"a", "c"}
    assert "without bound" in found.dropped["b"]


def test_misuse() -> None:
    with pytest.raises(ValueError, match="'z' is none of the 1 candidates"):
        prune({"a": of(1.0, 1.0)}, default="z")
    with pytest.raises(ValueError, match="same metrics"):
        prune({"a": of(1.0, 1.0), "b": of(1.0, 1.0, names=("x", "y"))})
    with pytest.raises(ValueError, match="at least one"):
        prune({"a": of(1.0, 1.0)}, most=0)
    with pytest.raises(ValueError, match="2 values for 1 names"):
        of(1.0, 2.0, names=("x",))


def test_where_few_are_left_the_most_promising_of_the_others_stay() -> None:
    candidates = {"best": of(4, 4), "second": of(3, 3), "third": of(2, 2), "last": of(1, 1)}
    assert prune(candidates, least=3).measure == ("best", "second", "third")
    assert set(prune(candidates, least=3).dropped) == {"last"}
    assert prune(candidates, "last", least=3).measure == ("best", "second", "last")
    assert prune(candidates, least=9, most=2).measure == ("best", "second")


def test_those_that_differ_are_measured_before_more_of_the_same() -> None:
    candidates = {"first": of(4, 4), "same": of(4, 4), "worse": of(3, 3)}
    found = prune(candidates, least=2)
    assert found.measure == ("first", "worse") and found.alternates == {"first": ("same",)} and not found.dropped
    assert prune(candidates, least=3).measure == ("first", "worse", "same")
