"""From a Variant to the options that make it, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from loopwright.config import Config, Device
from loopwright.profile.measurement import PLAIN, RECIPE, Variant


def config_for(variant: Variant, config: Config) -> Config:
    """The options in force, with those that a variant decides."""
    return replace(
        config,
        device=cast(Device, variant.device),
        threads=variant.threads or config.threads,
        schedule="" if variant.schedule in (RECIPE, PLAIN) else variant.schedule,
        recipe="plain" if variant.schedule == PLAIN else "auto",
    )


def default_variant(config: Config) -> Variant:
    """What serves where nothing else is known: on the device of the options, or on the CPU where they leave it open."""
    device = "cpu" if config.device in ("auto", "interpreter") else config.device
    return Variant(device, threads=config.threads if device == "cpu" else 0)
