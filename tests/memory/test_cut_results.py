"""Which rows of results come back from a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.devices import base
from loopwright.devices.by_ctypes import Slot
from loopwright.memory.cut_results import cuts_of, seen_box
from loopwright.memory.placing import Placed

SIZE = base.PYTHON_SCALAR + [one.name for one in base.ALL].index("int64")
A, B = (base.FRESH, 0), (base.FRESH, 1)
ONE, TWO = (SIZE, 0), (SIZE, 1)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((A, ONE, (base.CUT, 1), (base.LIST, 0)), {0: (ONE,)}),
        ((A, ONE, (base.CUT, 1), B, TWO, (base.CUT, 1), (base.ZIP, 2)), {0: (ONE,), 1: (TWO,)}),
        ((A, ONE, TWO, (base.CUT, 2)), {0: (ONE,)}),
        ((A, ONE, (base.CUT, 1), A, TWO, (base.CUT, 1), (base.TUPLE, 2)), {0: (ONE, TWO)}),
        ((A, ONE, (base.CUT, 1), A, (base.TUPLE, 2)), {}),
        ((A,), {}),
        ((A, ONE, (base.CUT, 1), B, TWO, (base.CUT, 1), (base.DICT, 0), ONE, (base.MAYBE, 0)), {0: (ONE,), 1: (TWO,)}),
        ((A, (base.SET, 0), B, ONE, (base.CUT, 1), (base.TUPLE, 2)), {1: (ONE,)}),
    ],
)
def test_results_that_are_only_returned_cut(values, wanted):
    assert cuts_of(values) == wanted


def test_rows_that_are_kept_come_back():
    placed = Placed(0, (24, 8), np.zeros((10, 3)))
    returned = (Slot * 2)()
    returned[0].i, returned[1].i = 4, 2
    box = (range(1, 10), range(3))
    assert seen_box(box, placed, (ONE,), returned) == (range(1, 4), range(3))
    assert seen_box(box, placed, (TWO, ONE), returned) == (range(1, 4), range(3))
    returned[0].i = 0
    assert seen_box(box, placed, (ONE,), returned) is None
    placed.rows = np.zeros((3, 10)).T
    assert seen_box(box, placed, (ONE,), returned) == box
