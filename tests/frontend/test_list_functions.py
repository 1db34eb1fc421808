"""What lists do, written in the language: the functions are Python, and kernels are made of them."""

from __future__ import annotations

import pytest

from frontend.judge import same
from loopwright.frontend import list_functions


def best_of(n):
    best, least = (0, 0.0), (9, 9.0)
    for k in range(n):
        best, least = max(best, (k % 3, k * 1.0)), min((k % 3, k + 0.5), least, (2, 2.0))
    return best, least


def test_the_larger_of_two_tuples():
    same(best_of, 7)
    same(best_of, 0)


@pytest.mark.parametrize("x", [[(1, 2.0)], [(2, 1.0), (1, 9.0), (1, 3.0), (2, 7.0)], [(0, 0), (0, 0)]])
def test_the_extremes_are_pythons(x):
    assert list_functions.smallest(x) == min(x) and list_functions.largest(x) == max(x)


def test_there_is_none_of_an_empty_list():
    for function, name in ((list_functions.smallest, "min"), (list_functions.largest, "max")):
        with pytest.raises(ValueError, match=name):
            function([])


@pytest.mark.parametrize(("n", "index"), [(3, 0), (3, 2), (3, 9), (3, -1), (3, -9), (0, 4)])
def test_where_an_element_is_inserted(n, index):
    x = list(range(n))
    x.insert(index, "new")
    assert list_functions.place_to_insert(n, index) == x.index("new")
