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
        table.add_row(field.name, shown(getattr(config, field.name)), variable if is_set else f"default ({variable})")
    return table


def variable_of(option: str) -> str:
    """The environment variable of an option."""
    return _VARIABLES.get(option, "LOOPWRIGHT_" + option.removesuffix("_s").upper())


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
