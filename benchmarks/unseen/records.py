"""A quarter of a twenty-fourth set, written without a look at the recipe: purchases, bitmaps, graphs, hashes."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import numpy as np

from benchmarks.unseen.program import program, zeros


def shoppers(n):
    rng = np.random.default_rng(2401)
    offset = np.append(0, np.cumsum(rng.integers(0, 40 if n < 1000 else 160, n)))
    size = int(offset[-1])
    person = np.repeat(np.arange(n), np.diff(offset))
    when = rng.random(size) * 120.0
    when = when[np.lexsort((when, person))]
    channel = np.where(rng.random(size) < 0.1, -1, rng.integers(0, 12, size)).astype(np.int8)
    return offset, when, channel, np.round(5.0 + 90.0 * rng.random(size), 2), 30.0, 7.0, zeros(12), zeros(12, np.int64)


@program("purchases credited to the ads seen before them, less each week", shoppers, 60, 100_000)
def credited(offset, when, channel, amount, window, half, credit, touched):
    direct = 0.0
    for p in range(len(offset) - 1):
        for i in range(offset[p], offset[p + 1]):
            if channel[i] >= 0:
                continue
            total = 0.0
            j = i - 1
            while j >= offset[p] and when[i] - when[j] <= window:
                if channel[j] >= 0:
                    total += 0.5 ** ((when[i] - when[j]) / half)
                j -= 1
            if total == 0.0:
                direct += amount[i]
                continue
            for k in range(j + 1, i):
                if channel[k] >= 0:
                    credit[channel[k]] += amount[i] * 0.5 ** ((when[i] - when[k]) / half) / total
                    touched[channel[k]] += 1
    return direct


def accounts(n):
    rng = np.random.default_rng(2402)
    offset = np.append(0, np.cumsum(rng.integers(0, 60 if n < 1000 else 400, n)))
    size = int(offset[-1])
    day = rng.integers(0, 365, size)
    day = day[np.lexsort((day, np.repeat(np.arange(n), np.diff(offset))))].astype(np.int32)
    cents = np.exp(rng.normal(7.5, 0.8, size)).astype(np.int64)
    return offset, day, cents, 30, 3.0, zeros(size), zeros(size, np.int32), zeros(size, np.uint8), zeros(n, np.int32)


@program("payments beside the thirty days before them, accounts apart, the odd ones marked", accounts, 60, 100_000)
def odd_payments(offset, day, cents, days, far, mean, number, odd, marks):
    for a in range(len(offset) - 1):
        low = offset[a]
        total = 0
        squares = 0
        for i in range(offset[a], offset[a + 1]):
            while low < i and day[low] < day[i] - days:
                total -= cents[low]
                squares -= cents[low] * cents[low]
                low += 1
            n = i - low
            number[i] = n
            if n > 0:
                mean[i] = total / n
            if n >= 5:
                spread = ((squares - total * total / n) / (n - 1)) ** 0.5
                if cents[i] > mean[i] + far * spread:
                    odd[i] = 1
                    marks[a] += 1
            total += cents[i]
            squares += cents[i] * cents[i]


def bitmaps(n):
    rng = np.random.default_rng(2403)
    a, b, c = rng.integers(0, 256, (3, n)).astype(np.uint8)
    a &= np.where(rng.random(n) < 0.2, 255, 0).astype(np.uint8)
    b &= rng.integers(0, 256, n).astype(np.uint8)
    return a, b, c, rng.random(8 * n, dtype=np.float32) * np.float32(100.0), zeros(8 * n, np.int32), zeros(2)


@program("rows that two bitmaps have and a third has not, listed, and their prices", bitmaps, 3000, 16_000_000)
def listed_rows(a, b, c, price, row, totals):
    k = 0
    for i in range(len(a)):
        word = a[i] & b[i] & ~c[i]
        if word == 0:
            continue
        for bit in range(8):
            if (word >> bit) & 1:
                at = 8 * i + bit
                row[k] = at
                k += 1
                totals[0] += price[at]
                totals[1] += float(price[at]) ** 2
    return k


def network(n, degree, seed):
    """A symmetric graph in rows, some nodes with many neighbours; a weight for each edge, no two alike."""
    rng = np.random.default_rng(seed)
    m = n * degree // 2
    u = (rng.random(m) ** 1.3 * n).astype(np.int64)
    v = rng.integers(0, n, m)
    key = np.unique(np.minimum(u, v)[u != v] * n + np.maximum(u, v)[u != v])
    u, v, w = key // n, key % n, rng.permutation(len(key)) / len(key)
    ends, others, weight = np.append(u, v), np.append(v, u), np.append(w, w)
    order = np.lexsort((others, ends))
    offset = np.append(0, np.cumsum(np.bincount(ends, minlength=n)))
    return offset, others[order].astype(np.int32), weight[order]


@program(
    "squares at each node of a graph, ways of two steps counted",
    lambda n: (*network(n, 8 if n < 1000 else 16, 2404)[:2], zeros(n, np.int64)),
    120,
    100_000,
)
def squares_at(offset, neighbour, squares):
    nodes = len(offset) - 1
    ways = np.zeros(nodes, np.int32)
    for u in range(nodes):
        for i in range(offset[u], offset[u + 1]):
            v = neighbour[i]
            for j in range(offset[v], offset[v + 1]):
                w = neighbour[j]
                if w != u:
                    squares[u] += ways[w]
                    ways[w] += 1
        for i in range(offset[u], offset[u + 1]):
            v = neighbour[i]
            for j in range(offset[v], offset[v + 1]):
                ways[neighbour[j]] = 0


def sources(n):
    offset, neighbour, _ = network(n, 6 if n < 1000 else 10, 2405)
    return offset, neighbour, np.arange(4 if n < 1000 else 32) * (n // 40), zeros(n)


@program("nodes that lie between others, Brandes from some sources", sources, 160, 100_000)
def between(offset, neighbour, source, central):
    nodes = len(offset) - 1
    for s in range(len(source)):
        depth = np.full(nodes, -1, np.int32)
        ways = np.zeros(nodes)
        share = np.zeros(nodes)
        order = np.zeros(nodes, np.int32)
        depth[source[s]] = 0
        ways[source[s]] = 1.0
        order[0] = source[s]
        head = 0
        tail = 1
        while head < tail:
            u = order[head]
            head += 1
            for i in range(offset[u], offset[u + 1]):
                v = neighbour[i]
                if depth[v] < 0:
                    depth[v] = depth[u] + 1
                    order[tail] = v
                    tail += 1
                if depth[v] == depth[u] + 1:
                    ways[v] += ways[u]
        for k in range(tail - 1, 0, -1):
            v = order[k]
            for i in range(offset[v], offset[v + 1]):
                u = neighbour[i]
                if depth[u] == depth[v] - 1:
                    share[u] += ways[u] / ways[v] * (1.0 + share[v])
            central[v] += share[v]


@program(
    "nodes paired along their heaviest edges, rounds until none is left",
    lambda n: (*network(n, 8 if n < 1000 else 16, 2406), np.full(n, -1, np.int32)),
    200,
    500_000,
)
def heaviest_pairs(offset, neighbour, weight, mate):
    nodes = len(mate)
    choice = np.full(nodes, -1, np.int32)
    rounds = 0
    paired = 1
    while paired > 0:
        paired = 0
        for v in range(nodes):
            choice[v] = -1
            if mate[v] < 0:
                best = -1.0
                for i in range(offset[v], offset[v + 1]):
                    if mate[neighbour[i]] < 0 and weight[i] > best:
                        best = weight[i]
                        choice[v] = neighbour[i]
        for v in range(nodes):
            if choice[v] >= 0 and choice[choice[v]] == v:
                mate[v] = choice[v]
                paired += 1
        rounds += 1
    return rounds


def views(n):
    rng = np.random.default_rng(2407)
    pages = n // 400 + 5
    visitor = rng.integers(0, n // 3 + 1, n) * 7919 + 13
    return (rng.random(n) ** 2 * pages).astype(np.int32), visitor, zeros((pages, 64), np.uint8), zeros(pages)


@program("different visitors of each page, HyperLogLog of 64 registers", views, 1500, 16_000_000)
def visitors(page, visitor, register, estimate):
    for i in range(len(page)):
        h = visitor[i] & 0xFFFFFFFF
        h = ((h ^ (h >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
        h = ((h ^ (h >> 15)) * 0x46A7CA6B) & 0xFFFFFFFF
        h ^= h >> 16
        place = h & 63
        rest = h >> 6
        rank = 1
        while rank < 27 and rest & 1 == 0:
            rest >>= 1
            rank += 1
        if rank > register[page[i], place]:
            register[page[i], place] = rank
    for p in range(len(estimate)):
        total = 0.0
        empty = 0
        for r in range(64):
            total += 2.0 ** -float(register[p, r])
            if register[p, r] == 0:
                empty += 1
        e = 0.709 * 64 * 64 / total
        if e <= 160.0 and empty > 0:
            e = 64 * np.log(64 / empty)
        estimate[p] = e


def primes(n):
    found = [2]
    while len(found) < n:
        k = found[-1] + 1
        while any(k % p == 0 for p in found):
            k += 1
        found.append(k)
    return np.array(found)


def messages(n):
    rng = np.random.default_rng(2408)
    p = primes(64).astype(np.float64)
    cube = np.cbrt(p)
    constant = ((cube - np.floor(cube)) * 4294967296.0).astype(np.int64)
    root = np.sqrt(p[:8])
    begin = ((root - np.floor(root)) * 4294967296.0).astype(np.int64)
    message = rng.integers(0, 256, (n, 56)).astype(np.uint8)
    return message, rng.integers(0, 56, n), constant, begin, zeros((n, 8), np.uint32)


@program("digests of short messages, SHA-256", messages, 20, 1_000_000)
def digests(message, length, constant, begin, digest):
    mask = 0xFFFFFFFF
    for m in range(len(length)):
        w = np.zeros(64, np.int64)
        for i in range(length[m]):
            w[i >> 2] |= np.int64(message[m, i]) << (24 - 8 * (i & 3))
        w[length[m] >> 2] |= 0x80 << (24 - 8 * (length[m] & 3))
        w[15] = 8 * length[m]
        for i in range(16, 64):
            x = w[i - 15]
            y = w[i - 2]
            s0 = ((x >> 7) | (x << 25)) ^ ((x >> 18) | (x << 14)) ^ (x >> 3)
            s1 = ((y >> 17) | (y << 15)) ^ ((y >> 19) | (y << 13)) ^ (y >> 10)
            w[i] = (w[i - 16] + (s0 & mask) + w[i - 7] + (s1 & mask)) & mask
        a, b, c, d = begin[0], begin[1], begin[2], begin[3]
        e, f, g, h = begin[4], begin[5], begin[6], begin[7]
        for i in range(64):
            s1 = (((e >> 6) | (e << 26)) ^ ((e >> 11) | (e << 21)) ^ ((e >> 25) | (e << 7))) & mask
            t1 = h + s1 + ((e & f) ^ (~e & g)) + constant[i] + w[i]
            s0 = (((a >> 2) | (a << 30)) ^ ((a >> 13) | (a << 19)) ^ ((a >> 22) | (a << 10))) & mask
            t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
            h = g
            g = f
            f = e
            e = (d + t1) & mask
            d = c
            c = b
            b = a
            a = (t1 + t2) & mask
        digest[m, 0] = (begin[0] + a) & mask
        digest[m, 1] = (begin[1] + b) & mask
        digest[m, 2] = (begin[2] + c) & mask
        digest[m, 3] = (begin[3] + d) & mask
        digest[m, 4] = (begin[4] + e) & mask
        digest[m, 5] = (begin[5] + f) & mask
        digest[m, 6] = (begin[6] + g) & mask
        digest[m, 7] = (begin[7] + h) & mask


def files(n):
    rng = np.random.default_rng(2409)
    size, least, most, bits = (900, 40, 200, 6) if n < 100 else (65_536, 1024, 8192, 11)
    return (
        rng.integers(0, 256, (n, size)).astype(np.uint8),
        rng.integers(0, 1 << 32, 256),
        least,
        most,
        bits,
        zeros((n, size // least + 1), np.int32),
        zeros(n, np.int32),
    )


@program("files cut where a rolling hash says so, pieces neither small nor large", files, 4, 1024)
def pieces(data, gear, least, most, bits, cut, number):
    rows, size = data.shape
    for r in range(rows):
        h = 0
        start = 0
        k = 0
        for i in range(size):
            h = ((h << 1) + gear[data[r, i]]) & 0xFFFFFFFF
            long = i - start + 1
            if long >= most or (long >= least and h >> (32 - bits) == 0):
                cut[r, k] = i + 1
                k += 1
                start = i + 1
                h = 0
        if start < size:
            cut[r, k] = size
            k += 1
        number[r] = k


def descent(n):
    rng = np.random.default_rng(2410)
    parent = (np.arange(n) * rng.random(n) ** 0.2).astype(np.int32)
    levels = int(np.ceil(np.log2(n)))
    return (
        parent,
        rng.integers(0, n, (2 * n, 2)).astype(np.int32),
        zeros((levels, n), np.int32),
        zeros(n, np.int32),
        zeros((2 * n, 2), np.int32),
    )


@program("the nearest common ancestors of pairs, doubled jumps up a tree", descent, 400, 2_000_000)
def common_ancestors(parent, pair, up, depth, found):
    levels, nodes = up.shape
    for v in range(nodes):
        up[0, v] = parent[v]
        if v > 0:
            depth[v] = depth[parent[v]] + 1
    for k in range(1, levels):
        for v in range(nodes):
            up[k, v] = up[k - 1, up[k - 1, v]]
    for q in range(len(pair)):
        a = pair[q, 0]
        b = pair[q, 1]
        if depth[a] < depth[b]:
            a, b = b, a
        rise = depth[a] - depth[b]
        for k in range(levels):
            if (rise >> k) & 1:
                a = up[k, a]
        if a != b:
            for k in range(levels - 1, -1, -1):
                if up[k, a] != up[k, b]:
                    a = up[k, a]
                    b = up[k, b]
            a = parent[a]
        found[q, 0] = a
        found[q, 1] = depth[pair[q, 0]] + depth[pair[q, 1]] - 2 * depth[a]
