from loopwright.steps.overrun import Overrun
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Overrun)
