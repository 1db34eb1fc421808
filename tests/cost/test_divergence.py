"""What irregular loops cost warps: the worked examples of Zhang's thesis, and small cases against brute force."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from loopwright.cost.divergence import (
    IDLE,
    branch_cost,
    divergence_ratio,
    least_loop_cost,
    least_transactions,
    loop_cost,
    transactions,
)

STRIDED = np.arange(0, 32, 4)
MIXED = np.array([0, 1, 2, 5, 2, 5, 6, 7])
SHARED = np.array([0, 5, 0, 0, 2, 0, 1, 4])


def swapped(places: np.ndarray) -> int:
    """The fewest transactions of two warps of 4 threads, whichever threads do whichever jobs."""
    jobs = set(range(8))
    mappings = ([*one, *sorted(jobs - set(one))] for one in combinations(sorted(jobs), 4))
    return min(transactions(places[mapping], 1, 4, 4) for mapping in mappings)


def relaid(places: np.ndarray) -> int:
    """The fewest, whichever of two segments of 4 elements each of eight elements lies in."""
    elements = range(8)
    best = 99
    for one in combinations(elements, 4):
        layout = np.array([0 if element in one else 4 for element in elements])
        best = min(best, transactions(layout[places], 1, 4, 4))
    return best


@pytest.mark.parametrize(
    ("places", "found", "best_swap", "duplicated"),
    [(STRIDED, 8, 8, 2), (MIXED, 4, 2, 2), (SHARED, 4, 3, 2)],
)
def test_the_examples_of_the_thesis(places: np.ndarray, found: int, best_swap: int, duplicated: int) -> None:
    assert transactions(places, 1, 4, 4) == found
    assert swapped(places) == best_swap
    assert least_transactions(places, 1, 4, 4) == duplicated


@pytest.mark.parametrize(("places", "best"), [(MIXED, 3), (SHARED, 3)])
def test_the_best_layouts_of_the_examples(places: np.ndarray, best: int) -> None:
    assert relaid(places) == best


def brute_transactions(addresses: list[int], width: int, warp: int, segment: int) -> int:
    total = 0
    for start in range(0, len(addresses), warp):
        threads = [a for a in addresses[start : start + warp] if a != IDLE]
        total += len({byte // segment for a in threads for byte in range(a, a + width)})
    return total


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 33, 64])
def test_transactions_against_brute_force(width: int) -> None:
    draw = np.random.default_rng(width)
    for threads in (0, 1, 31, 32, 33, 200):
        for spread in (1, 7, 400):
            addresses = draw.integers(0, 9 + spread * max(threads, 1), threads)
            addresses[draw.random(threads) < 0.2] = IDLE
            wanted = brute_transactions(addresses.tolist(), width, 32, 32)
            assert transactions(addresses, width) == wanted, (threads, spread)


def test_coalesced_and_scattered_warps() -> None:
    threads = np.arange(64)
    assert transactions(8 * threads, 8) == least_transactions(8 * threads, 8) == 16
    assert transactions(0 * threads, 8) == 2
    assert transactions(32 * threads, 8) == 64
    assert transactions(8 * threads + 4, 8) == 18  # the last element of each warp lies in one sector more


@pytest.mark.parametrize("threads", [0, 1, 31, 32, 33, 257])
def test_divergence_and_cost_against_brute_force(threads: int) -> None:
    draw = np.random.default_rng(threads)
    for values in (1, 2, 50):
        paths = draw.integers(0, values, (threads, 2))
        warps = [paths[k : k + 32].tolist() for k in range(0, threads, 32)]
        diverging = sum(len({tuple(row) for row in warp}) > 1 for warp in warps)
        assert divergence_ratio(paths) == (diverging / len(warps) if warps else 0.0)
        assert divergence_ratio(paths[:, 0]) <= divergence_ratio(paths)
        assert loop_cost(paths[:, 1]) == sum(max(row[1] for row in warp) for warp in warps)


def test_one_odd_value_in_each_warp() -> None:
    """Section 2.1 of the thesis: 1024 threads, one in 32 goes another way: all 32 warps diverge, and none has to."""
    paths = (np.arange(1024) % 32 == 7).astype(np.int64)
    assert divergence_ratio(paths) == 1.0
    assert divergence_ratio(np.sort(paths)) == 0.0
    assert loop_cost(paths * 99 + 1) == 3200
    assert loop_cost(np.sort(paths)[::-1] * 99 + 1) == least_loop_cost(paths * 99 + 1) == 131


def test_no_mapping_costs_less_than_the_sorted_one() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        trips = draw.integers(0, 9, 7)
        costs = [loop_cost(np.array(one), 3) for one in permutations(trips.tolist())]
        assert min(costs) == least_loop_cost(trips, 3)


def test_a_warp_goes_through_each_side_of_a_branch_once_that_one_of_its_threads_takes() -> None:
    taken = np.array([1, 1, 0, 0, 1, 0, 0, 0], bool)
    reached = np.array([1, 1, 1, 1, 1, 0, 0, 0], bool)
    assert branch_cost(taken, reached, 10.0, 3.0, warp=4) == 10.0 + 3.0 + 10.0
    assert branch_cost(taken, reached, 10.0, 3.0, warp=2) == 10.0 + 3.0 + 10.0
    assert branch_cost(taken[:0], reached[:0], 10.0, 3.0) == 0.0
