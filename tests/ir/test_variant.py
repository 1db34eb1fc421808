"""Variants: their texts, those that options ask for, and what code is compiled from."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from loopwright.config import Config, Tools
from loopwright.ir.signature import Signature
from loopwright.ir.variant import PLAIN, RECIPE, Compilation, Variant, compilation_of, default_variant

SIGNATURE = Signature(())
OPTIONS = Config(threads=2)


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


@pytest.mark.parametrize(
    ("options", "variant"),
    [
        ({}, Variant("cpu", RECIPE, 2)),
        ({"device": "cuda"}, Variant("cuda", RECIPE)),
        ({"device": "cuda", "remap": "redirect i"}, Variant("cuda", "redirect i; recipe")),
        ({"remap": "redirect i"}, Variant("cpu", RECIPE, 2)),
        ({"remap": "group i; abreast i.g"}, Variant("cpu", "group i; abreast i.g; recipe", 2)),
        ({"device": "cuda", "remap": "group i"}, Variant("cuda", RECIPE)),
        ({"layout": "relayout p soa"}, Variant("cpu", "relayout p soa; recipe", 2)),
        (
            {"device": "cuda", "layout": "relayout p soa", "remap": "redirect i"},
            Variant("cuda", "relayout p soa; redirect i; recipe"),
        ),
        ({"layout": "relayout p soa", "schedule": "tile i 4"}, Variant("cpu", "tile i 4", 2)),
        ({"device": "interpreter"}, Variant("interpreter", RECIPE)),
        ({"recipe": "plain"}, Variant("cpu", PLAIN, 2)),
        ({"recipe": "plain", "schedule": "tile i 4"}, Variant("cpu", "tile i 4", 2)),
        ({"variant": "emulated: bind i block.x", "schedule": "tile i 4"}, Variant("emulated", "bind i block.x")),
        ({"variant": "cpu: plain", "device": "cuda"}, Variant("cpu", PLAIN, 2)),
        ({"variant": "cpu 7: plain"}, Variant("cpu", PLAIN, 7)),
        ({"device": "emulated", "checks": "all"}, Variant("cpu", RECIPE, 2)),
    ],
)
def test_what_options_ask_for(options: dict[str, str], variant: Variant) -> None:
    assert default_variant(replace(OPTIONS, **options)) == variant  # type: ignore[arg-type]


MATTERS = {"remap": "off",
    "strict": True, "deterministic": True, "checks": "all", "narrowing": "raise", "device": "cuda", "recipe": "plain",
    "schedule": "tile i 4", "variant": "cpu: plain", "cache": Path("x"), "cache_size": None, "compiler": "gcc",
    "compiler_flags": ("-O0",), "compile_timeout_s": 1.0, "debug": frozenset({"times"}), "dump": Path("x"),
    "built": "off", "layout": "off",
}  # fmt: skip
INDIFFERENT = {"results": "device", "threads": 5, "explore": False,
               "store": "off", "tuned": "off", "devices": "cpu, cuda",
               "plan": "split", "goal": "energy", "watts": (("cpu", 9.0, 1.0),)}  # fmt: skip


def compiled(**options: object) -> Compilation:
    return compilation_of(SIGNATURE, replace(OPTIONS, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("option", [one.name for one in fields(Config)])
def test_each_option_is_known_to_matter_to_code_or_not_to(option: str) -> None:
    """A new option matters until somebody has thought about it."""
    if option in INDIFFERENT:
        assert compiled(**{option: INDIFFERENT[option]}) == compiled()
    else:
        assert compiled(**{option: MATTERS[option]}) != compiled()


def test_options_that_mean_the_same_are_one_compilation() -> None:
    assert compiled(device="cpu") == compiled(device="auto") == compiled(variant="cpu 3: recipe")
    assert compiled(strict=True) == compiled(strict=True, narrowing="raise") != compiled(strict=True, narrowing="wrap")
    assert type(compiled().tools) is Tools


def test_with_every_access_checked_the_cpu_runs_it() -> None:
    assert compiled(device="cuda").on_gpu and not compiled(device="cuda", checks="all").on_gpu
    assert [compiled(schedule=one).steps for one in ("", "tile i 4")] == ["", "tile i 4"]
    assert compiled(recipe="plain").steps == ""
