"""What every test may use: golden files. `pytest --update-golden` (`make golden`) rewrites them. And how often Python
looks for garbage while tests run."""

from __future__ import annotations

import gc
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
