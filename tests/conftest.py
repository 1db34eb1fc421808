"""What every test may use: golden files. `pytest --update-golden` (`make golden`) rewrites them. And what
Python does not do while tests run: look for garbage often, and wait for the disk."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Protocol

import pytest

GOLDEN = Path(__file__).parent / "golden"

gc.disable()  # until all tests are collected: a third of that would be looking for garbage, and there is none


class Golden(Protocol):
    """Compare text with the file `tests/golden/<name>`, or write the file when asked to."""

    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the tests see now")


def pytest_collection_finish() -> None:
    """From here on there is garbage. Modules and tests are none, and the trees of a compiler are mostly gone before
    anybody looks for them: to look less often saves a twelfth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def _not_flushed(descriptor: int) -> None:
    """In place of `os.fsync`: what a test leaves need not outlive a power cut, and to wait until each compiled library
    is on the disk takes a tenth of the time in which it is compiled. (Processes that tests start do wait.)"""


os.fsync = _not_flushed


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden("errors/rank.txt", text)` fails where the text differs from the file, showing how."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        now = text.rstrip("\n") + "\n"
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now, encoding="utf-8")
            return
        assert path.exists(), f"tests/golden/{name} is missing: look at the text, then `make golden`\n{now}"
        assert now == path.read_text(encoding="utf-8"), f"differs from tests/golden/{name}: `make golden` accepts it"

    return compare
