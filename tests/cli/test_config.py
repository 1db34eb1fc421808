"""`loopwright config`."""

from __future__ import annotations

import io
import re
from dataclasses import fields
from pathlib import Path

import pytest
from rich.console import Console

from loopwright.cli.config import config_table, shown, size_limit, variable_of
from loopwright.config import Config, from_environment, parse_size

VALUES = {
    "device": "interpreter", "threads": "3", "strict": "1", "deterministic": "1", "checks": "all", "cache": "/tmp/x",
    "cache_size": "20MB", "compiler": "clang",
    "narrowing": "raise",
    "compiler_flags": "-g -O1", "compile_timeout_s": "7", "debug": "times", "dump": "/tmp/y",
    "recipe": "plain", "schedule": "parallelize i", "variant": "cpu 2: recipe", "explore": "0",
    "store": "off", "tuned": "off", "built": "/tmp/z", "remap": "off",
    "devices": "cpu, cuda:1", "plan": "split", "goal": "edp", "watts": "cpu 9/1",
    "layout": "off", "results": "device",
}  # fmt: skip


def rows(config: Config, environment: dict[str, str]) -> dict[str, list[str]]:
    out = io.StringIO()
    Console(file=out, width=200).print(config_table(config, environment))
    lines = [re.split(r"\s{2,}", line.strip()) for line in out.getvalue().splitlines()[1:]]
    return {line[0]: line[1:] for line in lines}


def test_every_option_has_a_row() -> None:
    found = rows(Config(), {})
    assert list(found) == [field.name for field in fields(Config)]
    assert found["device"] == ["auto", "default (LOOPWRIGHT_DEVICE)"]


@pytest.mark.parametrize("option", [field.name for field in fields(Config)])
def test_each_variable_named_is_the_one_that_sets_it(option: str) -> None:
    environment = {variable_of(option): VALUES[option]}
    changed = from_environment(environment)
    assert getattr(changed, option) != getattr(from_environment({}), option)
    assert rows(changed, environment)[option][1] == variable_of(option)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "-"),
        ("", "-"),
        ((), "-"),
        (("-g", "-O1"), "-g -O1"),
        (3, "3"),
        (1.5, "1.5"),
    ],
)
def test_values_are_short(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(frozenset({"times", "source"})) == "source times"
    assert shown(Path("/x")) == "/x"


def test_a_size_is_shown_as_people_write_it() -> None:
    for size in (500_000_000, 2_000_000_000, 1500, 12345, 0, None):
        assert parse_size("x", size_limit(size)) == size
