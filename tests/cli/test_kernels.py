"""Finding kernels."""

from __future__ import annotations

import gc
from pathlib import Path

from cli.fakes import fake
from loopwright.cli.kernels import named, recording, where
from loopwright.kernel import WATCHERS, kernel


def test_recording_keeps_what_is_made_inside_in_source_order() -> None:
    def make() -> None:
        @kernel
        def first(a):  # type: ignore[no-untyped-def]
            a[0] = 1

        @kernel
        def second(a):  # type: ignore[no-untyped-def]
            a[0] = 2

        del first, second

    with recording() as kernels:
        make()
        gc.collect()
        kernels.reverse()
    assert [one.name for one in kernels] == ["first", "second"]
    assert WATCHERS == []


def test_named(tmp_path: Path) -> None:
    one, two = fake(tmp_path, "one"), fake(tmp_path, "two")
    assert named([one, two], "two") == [two]
    assert named([one, two], "") == [one, two]
    assert named([one, two], "three") == []


def test_where(tmp_path: Path) -> None:
    assert where(fake(tmp_path, "f", 12)) == "f (script.py:12)"
