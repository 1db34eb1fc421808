from __future__ import annotations

import numpy as np
import pytest

from steps.orders import mean_distance, order_of, shows_order
from steps.test_renumber import grid


@pytest.mark.parametrize("n", [0, 1, 2, 17, 300])
def test_each_thing_stands_in_it_once(n: int) -> None:
    table = np.random.default_rng(n).integers(0, max(n, 1), (n, 3))
    assert sorted(order_of(shows_order("renumber p in t clusters"), table)) == list(range(n))


def test_neighbours_of_a_shuffled_grid_come_close_together() -> None:
    table = grid(24, shuffled=True)
    order = order_of(shows_order("renumber p in t clusters"), table)
    assert mean_distance(table, order) < 0.3 * mean_distance(table, np.arange(len(table)))


def test_what_nothing_leads_to_stays_alone() -> None:
    table = np.arange(40)[:, None]  # each is its own neighbour
    assert sorted(order_of(shows_order("renumber p in t clusters"), table)) == list(range(40))
