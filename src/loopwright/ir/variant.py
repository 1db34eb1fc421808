"""`Variant`: one way to run a kernel. `Compilation`: all that compiling one depends on, the key of compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from string import digits
from typing import NamedTuple

from loopwright.config import Config, Semantics, Tools
from loopwright.ir.signature import Signature

RECIPE = "recipe"
"""In place of a schedule: the steps that the default recipe takes by itself. The default variant of a device."""

GPUS = ("cuda", "emulated")
"""Kinds of GPUs; of each the first one has this name, and the others numbers behind it: `cuda1` is the second."""


THEN_RECIPE = f"; {RECIPE}"
"""At the end of a schedule: what the recipe takes after the steps before it."""

PLAIN = "plain"
"""In place of a schedule: loops as they are written, only marked for how they run."""

ON_CPU, ON_GPU = ("group", "abreast"), ("redirect",)
"""Steps of the option `remap` that only the one takes, or the other."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a kernel. device: `cpu`, `cuda`, `emulated`, or another GPU of that kind by its number, such as
    `cuda1`, or, in tests, `simulated`. schedule: its steps as text, or RECIPE or PLAIN; steps and then
    THEN_RECIPE are some that the recipe begins with. threads: of a CPU; 0 on a GPU.

    Its text is `cpu 2: tile i 32 j 32; parallelize i.o`, without the number on a GPU; `parse` reads it back.

    Examples:
        >>> import loopwright as lw
        >>> lw.Variant.parse("cpu 2: tile i 32 j 32; parallelize i.o").schedule
        'tile i 32 j 32; parallelize i.o'
        >>> str(lw.Variant("cuda"))
        'cuda: recipe'
    """

    device: str
    schedule: str = RECIPE
    threads: int = 0

    @property
    def is_default(self) -> bool:
        return self.schedule == RECIPE

    @property
    def on_gpu(self) -> bool:
        return is_gpu(self.device)

    @property
    def first(self) -> str:
        """The steps that the recipe begins with, '' where it does not."""
        return self.schedule.removesuffix(THEN_RECIPE) if self.schedule.endswith(THEN_RECIPE) else ""

    def __str__(self) -> str:
        return f"{self.device} {self.threads}: {self.schedule}" if self.threads else f"{self.device}: {self.schedule}"

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Raises ValueError where this is no variant's text."""
        where, colon, schedule = text.partition(":")
        words = where.split()
        if not colon or not schedule.strip() or len(words) not in (1, 2) or not all(w.isalnum() for w in words):
            raise ValueError(f"a variant reads 'cpu 2: steps' or 'cuda: steps', not {text!r}")
        if len(words) == 2 and not (words[1].isdecimal() and int(words[1])):
            raise ValueError(f"the number of threads is a whole number from 1 on, not {words[1]!r}")
        return cls(words[0], schedule.strip(), int(words[1]) if len(words) == 2 else 0)


def kind_of(device: str) -> str:
    """The kind of a device: `cuda` of `cuda1`."""
    return device.rstrip(digits)


def number_of(device: str) -> int:
    """Which of its kind it is: 1 of `cuda1`, 0 of `cuda`."""
    return int(device.removeprefix(kind_of(device)) or 0)


def is_gpu(device: str) -> bool:
    """Whether a device of this name is a GPU, or the emulated one."""
    return kind_of(device) in GPUS


def default_variant(config: Config) -> Variant:
    """What the options ask for, and what serves where nothing else is known: on the CPU where they leave that open, and
    where every access is to be tested. Raises ValueError where the option `variant` is no variant's text."""
    found = Variant.parse(config.variant) if config.variant else None
    device = config.device if found is None else found.device
    schedule = config.schedule or (PLAIN if config.recipe == "plain" else RECIPE)
    others = ON_CPU if is_gpu(device) else ON_GPU
    first = [config.layout, *(one for one in config.remap.split("; ") if one.partition(" ")[0] not in others)]
    if schedule == RECIPE and (steps := [one for one in first if one not in ("auto", "off")]):
        schedule = "; ".join(steps) + THEN_RECIPE
    if device == "auto" or (is_gpu(device) and config.checks == "all"):
        device = "cpu"
    threads = config.threads if found is None else found.threads or config.threads
    return Variant(device, schedule if found is None else found.schedule, threads if device == "cpu" else 0)


class Compilation(NamedTuple):
    """All that compiled code depends on, so that it is the key of it. device, schedule: of the Variant. How many
    threads run it does not belong to it: that is told to the code at each call."""

    signature: Signature
    device: str
    schedule: str
    semantics: Semantics
    tools: Tools

    @property
    def on_gpu(self) -> bool:
        """Whether code is made for a GPU. With every access checked, as small calls are whose guard fails, the CPU runs
        it."""
        return is_gpu(self.device) and self.semantics.checks != "all"

    @property
    def steps(self) -> str:
        """The schedule that is asked for, '' where a recipe finds one."""
        return "" if self.schedule in (RECIPE, PLAIN) or self.first else self.schedule

    @property
    def first(self) -> str:
        """The steps that the recipe begins with, '' where it does not."""
        return Variant(self.device, self.schedule).first


def compilation_of(signature: Signature, config: Config, variant: Variant | None = None) -> Compilation:
    """Of a variant under some options; by default of the one that they ask for."""
    variant = variant or default_variant(config)
    return Compilation(signature, variant.device, variant.schedule, config.semantics, config.tools)
