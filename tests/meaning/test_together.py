"""Programs that are checked side by side: one run of the C compiler for all of one kind, and each gets its own code."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.toolchain import cc

from .together import side_by_side


def doubled(n):
    found = []
    for i in range(n):
        if i % 3:
            found.append(2 * i)
    return sum(found)


def lists(n):
    found, others = [], []
    for i in range(n):
        found.append(i)
        if i % 2:
            others.append(i)
    return len(found) - len(others)


def plain(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_programs_with_lists_and_others_are_compiled_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    build = cc.build

    def noted(text, flags, config):
        runs.append(text)
        return build(text, flags, config)

    monkeypatch.setattr(cc, "build", noted)

    def check(function, n):
        with lw.options(cache=tmp_path, threads=1, strict=True, device="cpu", compiler_flags=("-O0",)):
            assert lw.kernel(function)(n) == function(n)

    errors = side_by_side([partial(check, function, 20) for function in (doubled, plain, lists)])
    assert errors == [None] * 3 and len(runs) == 1
