from __future__ import annotations

from loopwright.steps.renumber import Renumber
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Renumber)
