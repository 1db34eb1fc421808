"""Graphs: travel times from one place over a network of roads, by Dijkstra's algorithm with a heap.

Lists, tuples and `heapq` in a kernel: code that runs in order, and some fifty times as fast as Python."""

import heapq

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

import loopwright as lw


@lw.kernel
def travel_times(starts, ends, times, source):
    best = np.full(len(starts) - 1, np.inf)
    best[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        now, place = heapq.heappop(heap)
        if now > best[place]:
            continue
        for k in range(starts[place], starts[place + 1]):
            later = now + times[k]
            if later < best[ends[k]]:
                best[ends[k]] = later
                heapq.heappush(heap, (later, int(ends[k])))
    return best


def roads(size):
    """Crossings on a grid, a lake without any, and some fast roads: a matrix of times from crossing to crossing."""
    random = np.random.default_rng(8)
    y, x = np.mgrid[:size, :size]
    land = ((x / size - 0.6) ** 2 + (y / size - 0.5) ** 2) > 0.04
    number = np.arange(size * size).reshape(size, size)
    fast = (x % max(size // 6, 3) == 0) | (y % max(size // 5, 3) == 0)
    rows, columns, values = [], [], []
    for a, b in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[1:, :], np.s_[:-1, :])):
        there = land[a] & land[b]
        time = np.where(fast[a] & fast[b], 0.3, random.uniform(0.7, 1.6, there.shape))[there]
        rows += [number[a][there], number[b][there]]
        columns += [number[b][there], number[a][there]]
        values += [time, time]
    shape = (size * size, size * size)
    return scipy.sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape)


def compute(size=150):
    graph = roads(size)
    return travel_times(graph.indptr, graph.indices, graph.data, 0).reshape(size, size)


def check(size=20):
    expected = scipy.sparse.csgraph.dijkstra(roads(size), indices=0)
    np.testing.assert_allclose(compute(size).reshape(-1), expected, rtol=1e-12)


def picture(axes, result):
    result = np.where(np.isinf(result), np.nan, result)
    axes.set_facecolor("#4f7fae")
    axes.imshow(result, cmap="YlOrRd", origin="lower")
    axes.contour(result, levels=10, colors="black", linewidths=0.4)


if __name__ == "__main__":
    check()
    times = compute()
    print(f"the farthest crossing is {np.max(times[np.isfinite(times)]):.1f} minutes away")
