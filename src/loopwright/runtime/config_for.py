"""The Config of a call by what its arguments are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.config import Config
from loopwright.ir.variant import Variant
from loopwright.memory.arrays import refusal
from loopwright.memory.on_device import OnDevice


def config_for(arguments: Sequence[object], config: Config, names: Sequence[str]) -> Config:
    """The Config for a call: arrays in a GPU's memory are used there. Raises ArgumentTypeError where they cannot be."""
    asked = Variant.parse(config.variant).device if config.variant else config.device
    device = asked
    for name, value in zip(names, arguments, strict=True):
        if isinstance(value, OnDevice) and device != value.where:
            if asked != "auto":
                raise refusal(name, f"the array is in a GPU's memory, and device={asked!r}", "device='auto'")
            if device != "auto":
                what = f"the array is in the memory of {value.where}, and others are in that of {device}"
                raise refusal(name, what, "arrays of one GPU, or lw.options(devices=...)")
            device = value.where
            config = replace(config, device=device)
    return config
