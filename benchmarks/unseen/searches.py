"""The other half of the thirteenth set: hidden states, particles, lattices, trees, sketches, ciphers, codes, boards."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _chains(n):
    k, m = 6, 12
    a, b = f8(k, k) + 0.1, f8(k, m) + 0.1
    return a / a.sum(1)[:, None], b / b.sum(1)[:, None], np.full(k, 1 / k), whole(m, n), zeros((k, k)), zeros((k, m))


@program("a hidden chain's expectations, forward and backward", _chains, 40, 1_000_000)
def baum_welch(a, b, start, seen, transitions, emissions):
    n, k = len(seen), a.shape[0]
    alpha = np.zeros((n, k))
    scale = np.zeros(n)
    for j in range(k):
        alpha[0, j] = start[j] * b[j, seen[0]]
        scale[0] += alpha[0, j]
    for j in range(k):
        alpha[0, j] /= scale[0]
    for t in range(1, n):
        for j in range(k):
            s = 0.0
            for i in range(k):
                s += alpha[t - 1, i] * a[i, j]
            alpha[t, j] = s * b[j, seen[t]]
            scale[t] += alpha[t, j]
        for j in range(k):
            alpha[t, j] /= scale[t]
    beta = np.ones(k)
    older = np.ones(k)
    for j in range(k):
        emissions[j, seen[n - 1]] += alpha[n - 1, j]
    for t in range(n - 2, -1, -1):
        for i in range(k):
            older[i] = beta[i]
        for i in range(k):
            s = 0.0
            for j in range(k):
                part = a[i, j] * b[j, seen[t + 1]] * older[j] / scale[t + 1]
                transitions[i, j] += alpha[t, i] * part
                s += part
            beta[i] = s
            emissions[i, seen[t]] += alpha[t, i] * s
    total = 0.0
    for t in range(n):
        total += math.log(scale[t])
    return total


@program("a particle filter that resamples", lambda n: (f8(40) * 4, n, zeros((40, 2)), 99), 50, 100_000)
def particles(measured, count, estimates, seed):
    x = np.zeros(count)
    moved = np.zeros(count)
    w = np.zeros(count)
    state = seed
    for t in range(len(measured)):
        total = 0.0
        for i in range(count):
            state = (state * 1664525 + 1013904223) % 4294967296
            u1 = (state + 1.0) / 4294967297.0
            state = (state * 1664525 + 1013904223) % 4294967296
            u2 = state / 4294967296.0
            g = math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)
            x[i] = 0.5 * x[i] + 25 * x[i] / (1 + x[i] * x[i]) + 8 * math.cos(1.2 * t) + g
            d = measured[t] - x[i] * x[i] / 20
            w[i] = math.exp(-0.5 * d * d) + 1e-300
            total += w[i]
        mean = 0.0
        squares = 0.0
        for i in range(count):
            w[i] /= total
            mean += w[i] * x[i]
            squares += w[i] * w[i]
        estimates[t, 0] = mean
        estimates[t, 1] = 1 / squares
        if 1 / squares < 0.5 * count:
            state = (state * 1664525 + 1013904223) % 4294967296
            u = state / 4294967296.0 / count
            c = w[0]
            j = 0
            for i in range(count):
                while u > c and j < count - 1:
                    j += 1
                    c += w[j]
                moved[i] = x[j]
                u += 1.0 / count
            for i in range(count):
                x[i] = moved[i]


@program(
    "assignments annealed, quadratic",
    lambda n: (whole(20, 30, 30), whole(9, 30, 30), np.arange(30), n, 7),
    60,
    1_500_000,
)
def annealed(flow, distance, places, steps, seed):
    n = len(places)
    cost = 0
    for i in range(n):
        for j in range(n):
            cost += flow[i, j] * distance[places[i], places[j]]
    best = cost
    temperature = 100.0
    state = seed
    for _ in range(steps):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        a = (state >> 8) % n
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        b = (state >> 8) % n
        if a == b:
            continue
        pa, pb = places[a], places[b]
        delta = (flow[a, a] - flow[b, b]) * (distance[pb, pb] - distance[pa, pa])
        delta += (flow[a, b] - flow[b, a]) * (distance[pb, pa] - distance[pa, pb])
        for k in range(n):
            if k != a and k != b:
                pk = places[k]
                delta += (flow[k, a] - flow[k, b]) * (distance[pk, pb] - distance[pk, pa])
                delta += (flow[a, k] - flow[b, k]) * (distance[pb, pk] - distance[pa, pk])
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        if delta <= 0 or state / 2147483648 < math.exp(-delta / temperature):
            places[a], places[b] = pb, pa
            cost += delta
            if cost < best:
                best = cost
        temperature *= 0.9999
    return best


def _lattice(n):
    basis = np.eye(n, dtype=np.int64)
    basis[:, 0] = whole(9000, n) + 1
    return (basis, zeros(n))


@program("a lattice's basis reduced, LLL", _lattice, 5, 90)
def lll(basis, lengths):
    n = basis.shape[0]
    star = np.zeros((n, n))
    mu = np.zeros((n, n))
    norm = np.zeros(n)
    k = 1
    rounds = 0
    fresh = 0
    while k < n and rounds < 4000:
        rounds += 1
        for i in range(fresh, k + 1):
            for c in range(n):
                star[i, c] = basis[i, c]
            for j in range(i):
                dot = 0.0
                for c in range(n):
                    dot += basis[i, c] * star[j, c]
                mu[i, j] = dot / norm[j]
                for c in range(n):
                    star[i, c] -= mu[i, j] * star[j, c]
            norm[i] = 0.0
            for c in range(n):
                norm[i] += star[i, c] * star[i, c]
        for j in range(k - 1, -1, -1):
            q = round(mu[k, j])
            if q != 0:
                for c in range(n):
                    basis[k, c] -= int(q) * basis[j, c]
                for i in range(j):
                    mu[k, i] -= q * mu[j, i]
                mu[k, j] -= q
        if norm[k] >= (0.75 - mu[k, k - 1] ** 2) * norm[k - 1]:
            k += 1
            fresh = k
        else:
            for c in range(n):
                held = basis[k, c]
                basis[k, c] = basis[k - 1, c]
                basis[k - 1, c] = held
            fresh = k - 1
            k = max(k - 1, 1)
            if fresh > k:
                fresh = k
    for i in range(n):
        s = 0.0
        for c in range(n):
            s += float(basis[i, c]) * basis[i, c]
        lengths[i] = math.sqrt(s)
    return rounds


def _tree(n):
    points = f8(n, 3)
    order, axes = np.arange(n), np.zeros(n, np.int8)

    def split(lo, hi, depth):
        if hi - lo < 1:
            return
        mid, axis = (lo + hi) // 2, depth % 3
        part = order[lo:hi]
        order[lo:hi] = part[np.argsort(points[part, axis], kind="stable")]
        axes[mid] = axis
        split(lo, mid, depth + 1)
        split(mid + 1, hi, depth + 1)

    split(0, n, 0)
    return points[order], axes, f8(n, 3)[::-1] + 0.01, zeros(n, np.int64), zeros(n)


@program("nearest points by a k-d tree", _tree, 100, 400_000)
def kd_nearest(tree, axes, queries, nearest, distances):
    stack_lo = np.zeros(64, np.int64)
    stack_hi = np.zeros(64, np.int64)
    stack_gap = np.zeros(64)
    for q in range(queries.shape[0]):
        best = 1e300
        at = -1
        top = 0
        stack_lo[0] = 0
        stack_hi[0] = tree.shape[0]
        stack_gap[0] = 0.0
        top = 1
        while top > 0:
            top -= 1
            if stack_gap[top] >= best:
                continue
            lo = stack_lo[top]
            hi = stack_hi[top]
            while hi > lo:
                mid = (lo + hi) // 2
                d = 0.0
                for c in range(3):
                    d += (tree[mid, c] - queries[q, c]) ** 2
                if d < best:
                    best = d
                    at = mid
                gap = queries[q, axes[mid]] - tree[mid, axes[mid]]
                if gap < 0:
                    stack_lo[top] = mid + 1
                    stack_hi[top] = hi
                    hi = mid
                else:
                    stack_lo[top] = lo
                    stack_hi[top] = mid
                    lo = mid + 1
                stack_gap[top] = gap * gap
                top += 1
        nearest[q] = at
        distances[q] = math.sqrt(best)


def _sets(n):
    rng = np.random.default_rng(12)
    sizes = rng.integers(10, 400, (2, n))
    starts = np.zeros((2, n + 1), np.int64)
    starts[:, 1:] = np.cumsum(sizes, 1)
    values = [
        np.concatenate([np.sort(rng.choice(4096, s, replace=False)) for s in sizes[k]]).astype(np.uint16)
        for k in range(2)
    ]
    return values[0], starts[0], values[1], starts[1], zeros(int(starts[0, -1]), np.uint16), zeros(n, np.int64)


@program("sorted sets of shorts met", _sets, 5, 100_000)
def met(a, a_starts, b, b_starts, out, counts):
    written = 0
    for s in range(len(counts)):
        i, j = a_starts[s], b_starts[s]
        first = written
        while i < a_starts[s + 1] and j < b_starts[s + 1]:
            if a[i] < b[j]:
                i += 1
            elif a[i] > b[j]:
                j += 1
            else:
                out[written] = a[i]
                written += 1
                i += 1
                j += 1
        counts[s] = written - first
    return written


def _names(n):
    rng = np.random.default_rng(9)
    text = rng.integers(97, 103, (2, n, 16)).astype(np.uint8)
    return text[0], rng.integers(4, 17, n), text[1], rng.integers(4, 17, n), zeros(n)


@program("names alike, Jaro and Winkler", _names, 30, 1_000_000)
def jaro_winkler(a, a_length, b, b_length, out):
    for p in range(a.shape[0]):
        n, m = a_length[p], b_length[p]
        window = max(n, m) // 2 - 1
        used_a = np.zeros(16, np.bool_)
        used_b = np.zeros(16, np.bool_)
        matches = 0
        for i in range(n):
            for j in range(max(0, i - window), min(m, i + window + 1)):
                if not used_b[j] and a[p, i] == b[p, j]:
                    used_a[i] = True
                    used_b[j] = True
                    matches += 1
                    break
        if matches == 0:
            out[p] = 0.0
            continue
        swapped = 0
        k = 0
        for i in range(n):
            if used_a[i]:
                while not used_b[k]:
                    k += 1
                if a[p, i] != b[p, k]:
                    swapped += 1
                k += 1
        jaro = (matches / n + matches / m + (matches - swapped / 2) / matches) / 3
        prefix = 0
        while prefix < 4 and prefix < n and prefix < m and a[p, prefix] == b[p, prefix]:
            prefix += 1
        out[p] = jaro + prefix * 0.1 * (1 - jaro)


@program(
    "keys hashed, SipHash",
    lambda n: (np.random.default_rng(3).integers(0, 2**63, (n, 3)).astype(np.uint64), zeros(n, np.uint64)),
    50,
    4_000_000,
)
def siphash(keys, out):
    for r in range(keys.shape[0]):
        v0 = np.uint64(0x736F6D6570736575)
        v1 = np.uint64(0x646F72616E646F6D)
        v2 = np.uint64(0x6C7967656E657261)
        v3 = np.uint64(0x7465646279746573)
        for w in range(4):
            m = np.uint64(24 << 56) if w == 3 else keys[r, w]
            v3 ^= m
            for _ in range(2):
                v0 += v1
                v1 = (v1 << np.uint64(13)) | (v1 >> np.uint64(51))
                v1 ^= v0
                v0 = (v0 << np.uint64(32)) | (v0 >> np.uint64(32))
                v2 += v3
                v3 = (v3 << np.uint64(16)) | (v3 >> np.uint64(48))
                v3 ^= v2
                v0 += v3
                v3 = (v3 << np.uint64(21)) | (v3 >> np.uint64(43))
                v3 ^= v0
                v2 += v1
                v1 = (v1 << np.uint64(17)) | (v1 >> np.uint64(47))
                v1 ^= v2
                v2 = (v2 << np.uint64(32)) | (v2 >> np.uint64(32))
            v0 ^= m
        out[r] = v0 ^ v1 ^ v2 ^ v3


def _quarters():
    return np.array(
        [
            [0, 4, 8, 12],
            [1, 5, 9, 13],
            [2, 6, 10, 14],
            [3, 7, 11, 15],
            [0, 5, 10, 15],
            [1, 6, 11, 12],
            [2, 7, 8, 13],
            [3, 4, 9, 14],
        ]
    )


@program(
    "a key stream, ChaCha",
    lambda n: (
        whole(2**32, 8).astype(np.uint32),
        whole(2**32, 3).astype(np.uint32),
        _quarters(),
        zeros((n, 16), np.uint32),
    ),
    10,
    600_000,
)
def chacha(key, nonce, quarters, out):
    x = np.zeros(16, np.uint32)
    first = np.zeros(16, np.uint32)
    for block in range(out.shape[0]):
        first[0] = 0x61707865
        first[1] = 0x3320646E
        first[2] = 0x79622D32
        first[3] = 0x6B206574
        for i in range(8):
            first[4 + i] = key[i]
        first[12] = block
        for i in range(3):
            first[13 + i] = nonce[i]
        for i in range(16):
            x[i] = first[i]
        for _ in range(10):
            for q in range(8):
                a, b, c, d = quarters[q, 0], quarters[q, 1], quarters[q, 2], quarters[q, 3]
                x[a] += x[b]
                x[d] ^= x[a]
                x[d] = (x[d] << 16) | (x[d] >> 16)
                x[c] += x[d]
                x[b] ^= x[c]
                x[b] = (x[b] << 12) | (x[b] >> 20)
                x[a] += x[b]
                x[d] ^= x[a]
                x[d] = (x[d] << 8) | (x[d] >> 24)
                x[c] += x[d]
                x[b] ^= x[c]
                x[b] = (x[b] << 7) | (x[b] >> 25)
        for i in range(16):
            out[block, i] = x[i] + first[i]


def _range_coded(n):
    rng = np.random.default_rng(21)
    counts = np.ones(64, np.int64) * 30
    counts[:16] += 136
    starts = np.concatenate([[0], np.cumsum(counts)])
    counts[63] += 4096 - starts[-1]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
    return rng.integers(0, 256, 2 * n + 16).astype(np.uint8), starts, zeros(4096, np.uint8), zeros(n, np.uint8)


@program("symbols from a range, rANS", _range_coded, 200, 4_000_000)
def rans(stream, starts, slots, out):
    for s in range(len(starts) - 1):
        for k in range(starts[s], starts[s + 1]):
            slots[k] = s
    at = 4
    x = 0
    for i in range(4):
        x = (x << 8) | int(stream[i])
    for i in range(len(out)):
        low = x & 4095
        s = slots[low]
        out[i] = s
        x = int(starts[s + 1] - starts[s]) * (x >> 12) + low - int(starts[s])
        while x < 8388608 and at < len(stream):
            x = (x << 8) | int(stream[at])
            at += 1
    return at


@program(
    "queens' reach by filled shifts",
    lambda n: (np.random.default_rng(5).integers(0, 2**63, (n, 2)).astype(np.uint64), zeros(n, np.int32)),
    20,
    2_000_000,
)
def queens_reach(boards, reach):
    not_a = np.uint64(0xFEFEFEFEFEFEFEFE)
    not_h = np.uint64(0x7F7F7F7F7F7F7F7F)
    for b in range(boards.shape[0]):
        queens = boards[b, 0] & boards[b, 1]
        empty = ~boards[b, 0]
        attacked = np.uint64(0)
        for direction in range(8):
            flood = queens
            spread = queens
            for _ in range(7):
                if direction == 0:
                    spread = spread << np.uint64(8)
                elif direction == 1:
                    spread = spread >> np.uint64(8)
                elif direction == 2:
                    spread = (spread << np.uint64(1)) & not_a
                elif direction == 3:
                    spread = (spread >> np.uint64(1)) & not_h
                elif direction == 4:
                    spread = (spread << np.uint64(9)) & not_a
                elif direction == 5:
                    spread = (spread << np.uint64(7)) & not_h
                elif direction == 6:
                    spread = (spread >> np.uint64(7)) & not_a
                else:
                    spread = (spread >> np.uint64(9)) & not_h
                attacked |= spread
                spread &= empty
                flood |= spread
        count = 0
        while attacked:
            attacked &= attacked - np.uint64(1)
            count += 1
        reach[b] = count


def _parities(n):
    rng = np.random.default_rng(17)
    return (
        np.stack([rng.permutation(2 * n).reshape(n, 2)[:, 0] for _ in range(6)], 1).astype(np.int32),
        f4(2 * n) * 4 - 1,
        zeros(2 * n, np.int8),
    )


@program("noisy bits corrected, min-sum", _parities, 12, 40_000)
def min_sum(checks, channel, bits):
    m, degree = checks.shape
    messages = np.zeros((m, degree), np.float32)
    belief = channel.copy()
    for _ in range(10):
        failed = 0
        for c in range(m):
            least = np.float32(1e30)
            second = np.float32(1e30)
            which = -1
            sign = 1
            parity = 0
            for k in range(degree):
                q = belief[checks[c, k]] - messages[c, k]
                if q < 0:
                    sign = -sign
                if belief[checks[c, k]] < 0:
                    parity ^= 1
                size = abs(q)
                if size < least:
                    second = least
                    least = size
                    which = k
                elif size < second:
                    second = size
            failed += parity
            for k in range(degree):
                v = checks[c, k]
                q = belief[v] - messages[c, k]
                size = second if k == which else least
                r = np.float32(0.75) * size
                if (q < 0) != (sign < 0):
                    r = -r
                messages[c, k] = r
                belief[v] = q + r
        if failed == 0:
            break
    for v in range(len(bits)):
        bits[v] = belief[v] < 0


@program("pairs out of order, a Fenwick tree", lambda n: (whole(1_000_000_000, n), zeros(n, np.int64)), 100, 2_000_000)
def inversions(values, before):
    n = len(values)
    order = np.argsort(values)
    rank = np.zeros(n, np.int64)
    for i in range(n):
        rank[order[i]] = i + 1
    tree = np.zeros(n + 1, np.int64)
    total = 0
    for i in range(n):
        larger = i
        k = rank[i]
        while k > 0:
            larger -= tree[k]
            k -= k & -k
        before[i] = larger
        total += larger
        k = rank[i]
        while k <= n:
            tree[k] += 1
            k += k & -k
    return total
