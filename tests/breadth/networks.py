"""Networks and combinatorial optimisation."""

from __future__ import annotations

import numpy as np

from breadth.cases import case



def _csr(r, n):
    deg = r.integers(0, 4, n)
    indptr = np.concatenate([[0], np.cumsum(deg)]).astype(np.int32)
    m = int(indptr[-1])
    return indptr, r.integers(0, max(n, 1), m).astype(np.int32), r.uniform(0.1, 2, m)



@case(lambda rng: _csr(rng, 9))
def strong_components(indptr, indices, data):
    n = indptr.size - 1
    index = np.full(n, -1, np.int64)
    low = np.zeros(n, np.int64)
    on = np.zeros(n, np.bool_)
    comp = np.full(n, -1, np.int64)
    stack = []
    count = ncomp = 0
    for root in range(n):
        if index[root] >= 0:
            continue
        work = [(root, indptr[root])]
        index[root] = low[root] = count
        count += 1
        stack.append(root)
        on[root] = True
        while work:
            v, k = work[-1]
            if k < indptr[v + 1]:
                work[-1] = (v, k + 1)
                w = indices[k]
                if index[w] < 0:
                    index[w] = low[w] = count
                    count += 1
                    stack.append(w)
                    on[w] = True
                    work.append((w, indptr[w]))
                elif on[w]:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    p = work[-1][0]
                    low[p] = min(low[p], low[v])
                if low[v] == index[v]:
                    while True:
                        w = stack.pop()
                        on[w] = False
                        comp[w] = ncomp
                        if w == v:
                            break
                    ncomp += 1
    return comp, ncomp



@case(lambda rng: (rng.uniform(0, 10, (9, 9)),))
def hungarian(cost):
    n, m = cost.shape
    u = np.zeros(n + 1)
    v = np.zeros(m + 1)
    p = np.zeros(m + 1, dtype=np.int64)
    way = np.zeros(m + 1, dtype=np.int64)
    for i in range(1, n + 1):
        p[0] = i
        j0 = 0
        minv = np.full(m + 1, np.inf)
        used = np.zeros(m + 1, dtype=np.bool_)
        while True:
            used[j0] = True
            i0, delta, j1 = p[j0], np.inf, 0
            for j in range(1, m + 1):
                if not used[j]:
                    cur = cost[i0 - 1, j - 1] - u[i0] - v[j]
                    if cur < minv[j]:
                        minv[j] = cur
                        way[j] = j0
                    if minv[j] < delta:
                        delta = minv[j]
                        j1 = j
            for j in range(m + 1):
                if used[j]:
                    u[p[j]] += delta
                    v[j] -= delta
                else:
                    minv[j] -= delta
            j0 = j1
            if p[j0] == 0 or j1 == 0:
                break
        while j0 != 0:
            j1 = way[j0]
            p[j0] = p[j1]
            j0 = j1
    return p[1:] - 1, -v[0]



@case(lambda rng: (rng.integers(0, 2, (9, 9)).astype(np.bool_),))
def bipartite_matching(adj):
    def augment(u, seen, match, adj):
        for v in range(adj.shape[1]):
            if adj[u, v] and not seen[v]:
                seen[v] = True
                if match[v] < 0 or augment(match[v], seen, match, adj):
                    match[v] = u
                    return True
        return False

    match = np.full(adj.shape[1], -1, dtype=np.int64)
    size = 0
    for u in range(adj.shape[0]):
        seen = np.zeros(adj.shape[1], dtype=np.bool_)
        if augment(u, seen, match, adj):
            size += 1
    return size, match



def _augment(u, seen, match, adj):
    for v in range(adj.shape[1]):
        if adj[u, v] and not seen[v]:
            seen[v] = True
            if match[v] < 0 or _augment(match[v], seen, match, adj):
                match[v] = u
                return True
    return False



@case(lambda rng: (rng.integers(0, 2, (9, 9)).astype(np.bool_),))
def kuhn(adj):
    match = np.full(adj.shape[1], -1, dtype=np.int64)
    size = 0
    for u in range(adj.shape[0]):
        seen = np.zeros(adj.shape[1], dtype=np.bool_)
        if _augment(u, seen, match, adj):
            size += 1
    return size, match



@case(lambda rng: (rng.integers(0, 20, 9), rng.integers(1, 10, 9), 30))
def knapsack(values, weights, capacity):
    n = len(values)
    best = np.zeros((n + 1, capacity + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            best[i, c] = best[i - 1, c]
            if weights[i - 1] <= c:
                best[i, c] = max(best[i, c], best[i - 1, c - weights[i - 1]] + values[i - 1])
    chosen = []
    c = capacity
    for i in range(n, 0, -1):
        if best[i, c] != best[i - 1, c]:
            chosen.append(i - 1)
            c -= weights[i - 1]
    chosen.reverse()
    return best[n, capacity], chosen



@case(lambda rng: (rng.random((9, 2)), 30))
def two_opt(xy, rounds):
    n = len(xy)
    tour = np.arange(n)
    dist = np.sqrt(((xy.reshape(n, 1, 2) - xy.reshape(1, n, 2)) ** 2).sum(axis=2))
    improved = True
    count = 0
    while improved and count < rounds:
        improved = False
        count += 1
        for i in range(1, n - 2):
            for j in range(i + 1, n - 1):
                a, b, c, d = tour[i - 1], tour[i], tour[j], tour[j + 1]
                if dist[a, c] + dist[b, d] < dist[a, b] + dist[c, d] - 1e-12:
                    tour[i : j + 1] = tour[i : j + 1][::-1].copy()
                    improved = True
    length = 0.0
    for k in range(n):
        length += dist[tour[k], tour[(k + 1) % n]]
    return tour, length
