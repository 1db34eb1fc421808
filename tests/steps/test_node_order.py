from __future__ import annotations

import numpy as np

from steps.orders import mean_distance, order_of, shows_order
from steps.test_renumber import grid


def test_a_search_comes_to_neighbours_first() -> None:
    shown = shows_order("renumber p in t")
    table = np.array([[3, 3], [4, 0], [2, 2], [1, 5], [1, 1], [3, 0]])
    assert order_of(shown, table).tolist() == [0, 3, 1, 5, 4, 2]  # nobody leads to 2
    assert order_of(shown, table - 6 * (table > 3)).tolist() == [0, 3, 1, 5, 4, 2]  # counted from the end


def test_packed_is_the_order_of_the_table() -> None:
    shown = shows_order("renumber p in t packed")
    table = np.array([[3, 3], [4, 0], [4, 1], [3, 3], [0, 0]])
    assert order_of(shown, table).tolist() == [3, 4, 0, 1, 2]  # what is not there comes last


def test_neighbours_of_a_shuffled_grid_come_close_together() -> None:
    table = grid(24, shuffled=True)
    order = order_of(shows_order("renumber p in t"), table)
    assert sorted(order) == list(range(len(table)))
    assert mean_distance(table, order) < 0.3 * mean_distance(table, np.arange(len(table)))
