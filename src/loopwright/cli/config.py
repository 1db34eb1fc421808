"""`loopwright config`: every option, its value here, and the environment variable that sets it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from rich.table import Table

from loopwright.config import Config

_VARIABLES = {"compiler": "LOOPWRIGHT_CC", "compiler_flags": "LOOPWRIGHT_CFLAGS"}


def config_table(config: Config, environment: Mapping[str, str] = os.environ) -> Table:
    """One row for each field of Config."""
    table = Table("option", "value", "set by", box=None)
    for field in fields(Config):
        variable = variable_of(field.name)
        is_set = bool(environment.get(variable, "").strip())
        value = getattr(config, field.name)
        text = size_limit(value) if field.name == "cache_size" else shown(value)
        table.add_row(field.name, text, variable if is_set else f"default ({variable})")
    return table


def variable_of(option: str) -> str:
    """The environment variable of an option."""
    return _VARIABLES.get(option, "LOOPWRIGHT_" + option.removesuffix("_s").upper())


def size_limit(size_bytes: int | None) -> str:
    """`1 GB`, as the option cache_size reads it."""
    if size_bytes is None:
        return "off"
    units = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
    step, unit = next(((step, unit) for step, unit in units if size_bytes >= step), (1, "bytes"))
    return f"{size_bytes / step:.6g} {unit}"


def shown(value: object) -> str:
    """A value of a Config in a few characters; nothing is a dash."""
    match value:
        case bool():
            return "yes" if value else "no"
        case frozenset() | tuple():
            return " ".join(map(str, sorted(value) if isinstance(value, frozenset) else value)) or "-"
        case None | "":
            return "-"
        case Path() | int() | float() | str():
            return str(value)
    return repr(value)
