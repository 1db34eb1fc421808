"""A plugin of pytest that notes, in the file $MUTATION_NOTES, which test runs and which one fails: what is left to read
where the process ends in the middle of a test. Golden files are left out of it, see `run.py`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _note(text: str) -> None:
    with Path(os.environ["MUTATION_NOTES"]).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    _note(f"began {nodeid}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _note(f"failed {report.nodeid}")
