from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.steps.relayout import Relayout
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Relayout)
