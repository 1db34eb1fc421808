from loopwright.steps.complete import Complete
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Complete)
