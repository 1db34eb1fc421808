"""Texts of variants."""

from __future__ import annotations

import pytest

from loopwright.ir.variant import Variant


@pytest.mark.parametrize(
    "variant",
    [
        Variant("cpu", threads=2),
        Variant("cuda", "bind i block.x; bind j thread.x 128"),
        Variant("simulated1", "plain"),
        Variant("cpu", "tile i 32 j 32; parallelize i.o", 16),
    ],
)
def test_a_variant_comes_back_from_its_text(variant: Variant) -> None:
    assert Variant.parse(str(variant)) == variant


@pytest.mark.parametrize("text", ["", "cpu", "cpu 2:", "cpu two: recipe", "cpu 0: recipe", ": recipe", "a b c: recipe"])
def test_what_is_no_variant(text: str) -> None:
    with pytest.raises(ValueError, match=r"variant reads|number of threads"):
        Variant.parse(text)


def test_the_default_is_what_the_recipe_does() -> None:
    assert Variant("cpu", threads=2).is_default and not Variant("cpu", "plain", 2).is_default
