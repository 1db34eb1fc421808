"""Graphs: searches, ranks, trees, in compressed rows."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


def _graph(rng, n=8, m=24):
    rows = np.sort(rng.integers(0, n, m))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return indptr, rng.integers(0, n, m)


@case(lambda rng: (*_graph(rng), 0))
def breadth_first(indptr, indices, source):
    n = indptr.size - 1
    dist = np.full(n, -1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    head = 0
    tail = 1
    queue[0] = source
    dist[source] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1
    return dist


@case(lambda rng: (*_graph(rng), 0), "lists", "slice read", "loop over array")
def depth_first(indptr, indices, root):
    n = len(indptr) - 1
    seen = np.zeros(n, dtype=np.bool_)
    order = []
    stack = [root]
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in indices[indptr[u] : indptr[u + 1]]:
            if not seen[v]:
                stack.append(v)
    return np.array(order)


@case(lambda rng: (*_graph(rng), 0.85, 30, 1e-9), "assignment to a slice", "reductions", "swap of arrays")
def page_rank(indptr, indices, damping, limit, tol):
    n = indptr.shape[0] - 1
    rank = np.ones(n) / n
    new = np.empty(n)
    for it in range(limit):
        new[:] = (1 - damping) / n
        lost = 0.0
        for u in range(n):
            degree = indptr[u + 1] - indptr[u]
            if degree == 0:
                lost += rank[u]
                continue
            for e in range(indptr[u], indptr[u + 1]):
                new[indices[e]] += damping * rank[u] / degree
        new += damping * lost / n
        err = np.abs(new - rank).sum()
        rank, new = new, rank
        if err < tol:
            break
    return rank, it


@case(lambda rng: (*_graph(rng), rng.uniform(1, 5, 24), 0))
def bellman_ford(indptr, indices, weights, source):
    n = indptr.shape[0] - 1
    dist = np.full(n, np.inf)
    pred = np.full(n, -1)
    dist[source] = 0.0
    for _ in range(n - 1):
        changed = False
        for u in range(n):
            if dist[u] == np.inf:
                continue
            for e in range(indptr[u], indptr[u + 1]):
                d = dist[u] + weights[e]
                if d < dist[indices[e]]:
                    dist[indices[e]] = d
                    pred[indices[e]] = u
                    changed = True
        if not changed:
            break
    return dist, pred


@case(lambda rng: (rng.integers(0, 10, (9, 2)), 10), "helper function", "unpacking arrays")
def union_find(edges, n):
    parent = np.arange(n)
    count = n
    for a, b in edges:
        ra = find_root(parent, a)
        rb = find_root(parent, b)
        if ra != rb:
            parent[ra] = rb
            count -= 1
    return count, parent


def find_root(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@case(lambda rng: ((lambda a: a + a.T)(rng.uniform(1, 9, (7, 7))),), "np.argmin", "slice read", "masks")
def prim(weights):
    n = weights.shape[0]
    inside = np.zeros(n, dtype=np.bool_)
    key = np.full(n, np.inf)
    key[0] = 0.0
    parent = np.zeros(n, dtype=np.int64)
    total = 0.0
    for _ in range(n):
        u = np.argmin(np.where(inside, np.inf, key))
        inside[u] = True
        total += key[u]
        for v in range(n):
            if not inside[v] and weights[u, v] < key[v]:
                key[v] = weights[u, v]
                parent[v] = u
    return total, parent


@case(lambda rng: (rng.uniform(1, 20, (6, 6)),), "np.minimum", "whole-array arithmetic", "assignment to a slice")
def floyd_warshall(w):
    d = w.copy()
    n = d.shape[0]
    for k in range(n):
        d[:, :] = np.minimum(d, d[:, k].reshape(n, 1) + d[k, :].reshape(1, n))
    return d


@case(lambda rng: (*_graph(rng),), "sets")
def count_triangles(indptr, indices):
    total = 0
    n = len(indptr) - 1
    for u in range(n):
        neighbours = set(indices[indptr[u] : indptr[u + 1]])
        for v in neighbours:
            if v > u:
                for e in range(indptr[v], indptr[v + 1]):
                    if indices[e] > v and indices[e] in neighbours:
                        total += 1
    return total


@case(lambda rng: (*_graph(rng), rng.normal(size=24), rng.normal(size=8)))
def spmv(indptr, indices, data, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        s = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s
    return y


@case(lambda rng: (*_graph(rng),), "bincount", "loop over enumerate")
def in_out_degree(indptr, indices):
    n = indptr.size - 1
    out = indptr[1:] - indptr[:-1]
    inn = np.zeros(n, dtype=np.int64)
    for v in indices:
        inn[v] += 1
    return inn, out, np.bincount(out).argmax()


@case(lambda rng: (rng.integers(0, 3, 8), rng.integers(0, 2, (8, 8)).astype(np.float64)), "reductions", "@")
def modularity(labels, adj):
    m = adj.sum()
    k_out = adj.sum(axis=1)
    k_in = adj.sum(axis=0)
    q = 0.0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] == labels[j]:
                q += adj[i, j] - k_out[i] * k_in[j] / m
    return q / m


@case(lambda rng: (rng.uniform(0, 9, 12),), "lists", "while")
def heap_sort(values):
    heap = values.copy()
    n = heap.size
    for start in range(n // 2 - 1, -1, -1):
        sift(heap, start, n)
    for end in range(n - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        sift(heap, 0, end)
    return heap


def sift(heap, root, end):
    while True:
        child = 2 * root + 1
        if child >= end:
            return
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


@case(lambda rng: (*_graph(rng), rng.uniform(size=(5, 4))), "np.random", "index arrays")
def random_walks(indptr, indices, draws):
    walks = np.zeros((draws.shape[0], draws.shape[1] + 1), dtype=np.int64)
    for w in range(draws.shape[0]):
        node = w
        walks[w, 0] = node
        for s in range(draws.shape[1]):
            degree = indptr[node + 1] - indptr[node]
            if degree == 0:
                walks[w, s + 1 :] = -1
                break
            node = indices[indptr[node] + int(draws[w, s] * degree)]
            walks[w, s + 1] = node
    return walks


@case(lambda rng: (np.array([3, 1, 2, 0]), 4), "assert")
def is_permutation(perm, n):
    assert len(perm) == n, "wrong length"
    seen = np.zeros(n, dtype=np.bool_)
    for p in perm:
        assert 0 <= p < n
        if seen[p]:
            return False
        seen[p] = True
    return True
