from __future__ import annotations

from itertools import product

import pytest

from loopwright.ir.data_layout import DataLayout
from loopwright.ir.linear import number
from loopwright.ir.nodes import Const

TEXTS = ("aos", "soa", "aosoa 2", "aosoa 8", "order 0 1", "order 1 0", "soa pad 3", "aosoa 4 pad 2", "aos pad 1")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reads_back(text: str) -> None:
    assert str(DataLayout.parse(text.split())) == text


@pytest.mark.parametrize("text", ["", "rows", "aosoa", "aosoa 1", "aosoa x", "order", "order 0 2", "order 1 1",
                                  "soa pad", "soa pad 0", "soa 1", "aos pad -1"])  # fmt: skip
def test_what_is_no_text(text: str) -> None:
    with pytest.raises(ValueError):
        DataLayout.parse(text.split())


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("sizes", [(7, 3), (8, 2), (1, 1)])
def test_each_element_has_a_place_of_its_own(text: str, sizes: tuple[int, int]) -> None:
    layout = DataLayout.parse(text.split())
    places = {layout.place(index, sizes) for index in product(*map(range, sizes))}
    room = 1
    for size in layout.shape(sizes):
        room *= size
    assert len(places) == sizes[0] * sizes[1] and max(places) < room


def test_where_elements_lie() -> None:
    sizes = (8, 3)
    assert [DataLayout("aos").place((i, 1), sizes) for i in range(3)] == [1, 4, 7]
    assert [DataLayout("soa").place((i, 1), sizes) for i in range(3)] == [8, 9, 10]
    assert [DataLayout("aosoa", (4,)).place((i, 1), sizes) for i in range(3, 6)] == [7, 16, 17]
    assert [DataLayout("soa", pad=2).place((0, c), sizes) for c in range(3)] == [0, 10, 20]
    assert DataLayout("order", (2, 0, 1)).place((1, 2, 3), (2, 3, 4)) == 3 * 6 + 1 * 3 + 2


def test_expressions_and_numbers_agree() -> None:
    for text in TEXTS:
        layout = DataLayout.parse(text.split())
        sizes = layout.sizes_of([number(9), number(3)])
        assert [int(one.value) for one in sizes if isinstance(one, Const)] == list(layout.shape((9, 3)))
        index = layout.index_of([number(5), number(2)])
        place = 0
        for at, size in zip(index, layout.shape((9, 3)), strict=True):
            assert isinstance(at, Const)
            place = place * size + int(at.value)
        assert place == layout.place((5, 2), (9, 3))


def test_which_arrays_cannot_have_it() -> None:
    assert "names 2 axes, and there are 3" in DataLayout("order", (1, 0)).unfit(3)
    assert "no records" in DataLayout("soa").unfit(1)
    assert not DataLayout("aos").unfit(1) and DataLayout("aos").unfit(0)


def test_axes_that_are_kept() -> None:
    assert [DataLayout("aosoa", (4,)).keeps(2, axis) for axis in (0, 1)] == [False, True]
    assert [DataLayout("soa", pad=2).keeps(2, axis) for axis in (0, 1)] == [False, True]
    assert [DataLayout("order", (1, 0)).keeps(2, axis) for axis in (0, 1)] == [True, True]
