"""The list of promises in docs/safety.md names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_promise_names_tests_that_there_are() -> None:
    _, _, promises = (ROOT / "docs" / "safety.md").read_text().partition("## What is promised, and what would notice")
    rows = [line for line in promises.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)`", row)
        assert named, row
        assert [name for name in named if not (ROOT / name).is_file()] == []
