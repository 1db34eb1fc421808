"""An eleventh set, written without a look at the recipe: boards, codes, keys, joins, graphs, strings, machines."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import numpy as np

from benchmarks.unseen.program import program, whole, zeros


def _words(count, seed=5):
    return np.random.default_rng(seed).integers(0, 2**63, count).astype(np.uint64)


@program(
    "rooks on boards of bits, squares attacked", lambda n: (_words(n), _words(n, 6), zeros(n, np.int64)), 20, 2_000_000
)
def rook_mobility(pieces, rooks, mobility):
    for b in range(len(pieces)):
        occupied = pieces[b] | rooks[b]
        count = 0
        for square in range(64):
            if (rooks[b] >> np.uint64(square)) & np.uint64(1):
                row = square // 8
                column = square % 8
                for direction in range(4):
                    dr = 0
                    dc = 0
                    if direction == 0:
                        dr = 1
                    elif direction == 1:
                        dr = -1
                    elif direction == 2:
                        dc = 1
                    else:
                        dc = -1
                    r = row + dr
                    c = column + dc
                    while 0 <= r < 8 and 0 <= c < 8:
                        count += 1
                        if (occupied >> np.uint64(8 * r + c)) & np.uint64(1):
                            break
                        r += dr
                        c += dc
        mobility[b] = count


def _text(n, letters=4):
    return whole(letters, n).astype(np.uint8)


@program("suffixes sorted by doubling", lambda n: (_text(n), zeros(n, np.int64)), 200, 5_000_000)
def suffix_array(text, sa):
    n = len(text)
    rank = np.zeros(n, np.int64)
    new_rank = np.zeros(n, np.int64)
    second = np.zeros(n, np.int64)
    count = np.zeros(max(256, n) + 1, np.int64)
    classes = 256
    for i in range(n):
        rank[i] = text[i]
        count[rank[i] + 1] += 1
    for c in range(classes):
        count[c + 1] += count[c]
    for i in range(n):
        sa[count[rank[i]]] = i
        count[rank[i]] += 1
    k = 1
    while k < n:
        p = 0
        for i in range(n - k, n):
            second[p] = i
            p += 1
        for i in range(n):
            if sa[i] >= k:
                second[p] = sa[i] - k
                p += 1
        for c in range(classes + 1):
            count[c] = 0
        for i in range(n):
            count[rank[i] + 1] += 1
        for c in range(classes):
            count[c + 1] += count[c]
        for i in range(n):
            s = second[i]
            sa[count[rank[s]]] = s
            count[rank[s]] += 1
        new_rank[sa[0]] = 0
        classes = 1
        for i in range(1, n):
            a, b = sa[i - 1], sa[i]
            ra = rank[a + k] if a + k < n else -1
            rb = rank[b + k] if b + k < n else -1
            if rank[a] != rank[b] or ra != rb:
                classes += 1
            new_rank[b] = classes - 1
        for i in range(n):
            rank[i] = new_rank[i]
        if classes == n:
            break
        k *= 2


@program(
    "longest matches before, chains of hashes",
    lambda n: (_text(n), zeros(n, np.int32), zeros(n, np.int32)),
    1000,
    40_000_000,
)
def lz_matches(data, lengths, distances):
    n = len(data)
    head = np.full(4096, -1, np.int64)
    chain = np.full(n, -1, np.int64)
    i = 0
    tokens = 0
    while i < n:
        best = 0
        best_distance = 0
        if i + 4 <= n:
            h = (int(data[i]) * 2654435 + int(data[i + 1]) * 40503 + int(data[i + 2]) * 1013 + int(data[i + 3])) & 4095
            candidate = head[h]
            tries = 0
            while candidate >= 0 and tries < 16 and i - candidate < 32768:
                length = 0
                while i + length < n and length < 258 and data[candidate + length] == data[i + length]:
                    length += 1
                if length > best:
                    best = length
                    best_distance = i - candidate
                candidate = chain[candidate]
                tries += 1
            chain[i] = head[h]
            head[h] = i
        if best >= 4:
            lengths[tokens] = best
            distances[tokens] = best_distance
            i += best
        else:
            lengths[tokens] = 1
            distances[tokens] = 0
            i += 1
        tokens += 1
    return tokens


def _huffman(n):
    left, right, symbol = np.full(31, -1, np.int16), np.full(31, -1, np.int16), np.full(31, -1, np.int16)
    generator, leaves, used = np.random.default_rng(8), [0], 1
    while len(leaves) < 16:
        node = leaves.pop(int(generator.integers(0, len(leaves))))
        left[node], right[node] = used, used + 1
        leaves += [used, used + 1]
        used += 2
    for k, node in enumerate(leaves):
        symbol[node] = k
    return generator.integers(0, 256, n).astype(np.uint8), left, right, symbol, zeros(8 * n, np.uint8)


@program("codes of Huffman decoded", _huffman, 200, 20_000_000)
def huffman_decode(packed, left, right, symbol, out):
    node = 0
    written = 0
    for byte in packed:
        for bit in range(7, -1, -1):
            if (byte >> bit) & 1:
                node = right[node]
            else:
                node = left[node]
            if symbol[node] >= 0:
                out[written] = symbol[node]
                written += 1
                node = 0
    return written


@program("two tables joined by a key", lambda n: (whole(n, n), whole(n, 2 * n), np.arange(2.0 * n)), 200, 20_000_000)
def hash_join(left_keys, right_keys, values):
    n = len(left_keys)
    buckets = 1
    while buckets < n:
        buckets *= 2
    head = np.full(buckets, -1, np.int64)
    following = np.full(n, -1, np.int64)
    for i in range(n):
        h = (left_keys[i] * 40503) & (buckets - 1)
        following[i] = head[h]
        head[h] = i
    matches = 0
    total = 0.0
    for j in range(len(right_keys)):
        key = right_keys[j]
        i = head[(key * 40503) & (buckets - 1)]
        while i != -1:
            if left_keys[i] == key:
                matches += 1
                total += values[j]
            i = following[i]
    return matches, total


@program(
    "sets united, paths halved", lambda n: (whole(n, n), whole(n, n)[::-1].copy(), zeros(n, np.int64)), 300, 20_000_000
)
def union_find(a, b, label):
    n = len(label)
    parent = np.arange(n)
    size = np.ones(n, np.int64)
    merged = 0
    for e in range(len(a)):
        x = a[e]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[e]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            if size[x] < size[y]:
                x, y = y, x
            parent[y] = x
            size[x] += size[y]
            merged += 1
    for i in range(n):
        x = i
        while parent[x] != x:
            x = parent[x]
        label[i] = x
    return n - merged


@program(
    "assignment of least cost, Hungarian",
    lambda n: (np.random.default_rng(4).random((n, n)), zeros(n, np.int64)),
    12,
    5000,
)
def hungarian(cost, assigned):
    n = cost.shape[0]
    u = np.zeros(n + 1)
    v = np.zeros(n + 1)
    p = np.zeros(n + 1, np.int64)
    way = np.zeros(n + 1, np.int64)
    for i in range(1, n + 1):
        p[0] = i
        j0 = 0
        minv = np.full(n + 1, np.inf)
        used = np.zeros(n + 1, np.bool_)
        while True:
            used[j0] = True
            i0 = p[j0]
            delta = np.inf
            j1 = 0
            for j in range(1, n + 1):
                if not used[j]:
                    current = cost[i0 - 1, j - 1] - u[i0] - v[j]
                    if current < minv[j]:
                        minv[j] = current
                        way[j] = j0
                    if minv[j] < delta:
                        delta = minv[j]
                        j1 = j
            for j in range(n + 1):
                if used[j]:
                    u[p[j]] += delta
                    v[j] -= delta
                else:
                    minv[j] -= delta
            j0 = j1
            if p[j0] == 0:
                break
        while j0 != 0:
            j1 = way[j0]
            p[j0] = p[j1]
            j0 = j1
    for j in range(1, n + 1):
        assigned[p[j] - 1] = j - 1
    return -v[0]


def _strings(n):
    return whole(26, n, 12).astype(np.uint8), whole(26, 12).astype(np.uint8), zeros(n, np.int64)


@program("words that are nearly alike, letters exchanged", _strings, 40, 2_000_000)
def damerau(words, target, distance):
    m = target.shape[0]
    length = words.shape[1]
    before = np.zeros(m + 1, np.int64)
    previous = np.zeros(m + 1, np.int64)
    current = np.zeros(m + 1, np.int64)
    for w in range(words.shape[0]):
        for j in range(m + 1):
            previous[j] = j
        for i in range(1, length + 1):
            current[0] = i
            for j in range(1, m + 1):
                cost = 0 if words[w, i - 1] == target[j - 1] else 1
                best = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
                if i > 1 and j > 1 and words[w, i - 1] == target[j - 2] and words[w, i - 2] == target[j - 1]:
                    best = min(best, before[j - 2] + 1)
                current[j] = best
            for j in range(m + 1):
                before[j] = previous[j]
                previous[j] = current[j]
        distance[w] = previous[m]


MODULUS = 998244353


def _ntt(n):
    size = 1
    while size < n:
        size *= 2
    return whole(MODULUS, size), pow(3, (MODULUS - 1) // size, MODULUS)


@program("polynomials modulo a prime, transformed", _ntt, 128, 8_000_000)
def number_transform(a, root):
    n = len(a)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    length = 2
    while length <= n:
        w = 1
        step = root
        k = length
        while k < n:
            step = step * step % 998244353
            k *= 2
        for start in range(0, n, length):
            w = 1
            for i in range(start, start + length // 2):
                u = a[i]
                v = a[i + length // 2] * w % 998244353
                a[i] = u + v if u + v < 998244353 else u + v - 998244353
                a[i + length // 2] = u - v if u >= v else u - v + 998244353
                w = w * step % 998244353
        length *= 2


@program(
    "primes among large numbers, Miller and Rabin",
    lambda n: (whole(2**31 - 5, n) | 1, zeros(n, np.bool_)),
    100,
    1_000_000,
)
def miller_rabin(numbers, prime):
    for i in range(numbers.shape[0]):
        n = numbers[i]
        if n < 9:
            prime[i] = n == 3 or n == 5 or n == 7
            continue
        d = n - 1
        s = 0
        while d % 2 == 0:
            d //= 2
            s += 1
        is_prime = True
        for base in (2, 3, 5, 7):
            x = 1
            power = base % n
            e = d
            while e > 0:
                if e & 1:
                    x = x * power % n
                power = power * power % n
                e >>= 1
            if x == 1 or x == n - 1:
                continue
            composite = True
            for _ in range(s - 1):
                x = x * x % n
                if x == n - 1:
                    composite = False
                    break
            if composite:
                is_prime = False
                break
        prime[i] = is_prime


@program(
    "frames checked, CRC bit by bit", lambda n: (whole(256, n, 32).astype(np.uint8), zeros(n, np.uint16)), 40, 2_000_000
)
def crc_bits(frames, checks):
    for f in range(frames.shape[0]):
        crc = 0xFFFF
        for k in range(frames.shape[1]):
            crc ^= int(frames[f, k]) << 8
            for _ in range(8):
                if crc & 0x8000:
                    crc = ((crc << 1) ^ 0x1021) & 0xFFFF
                else:
                    crc = (crc << 1) & 0xFFFF
        checks[f] = crc


NETWORK = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [1, 2], [5, 6], [0, 4], [3, 7],
                    [1, 5], [2, 6], [1, 4], [3, 6], [2, 4], [3, 5], [3, 4]])  # fmt: skip


@program("eight keys, a network that sorts", lambda n: (whole(1000, n, 8).astype(np.int32), NETWORK), 50, 10_000_000)
def sorting_network(keys, network):
    for i in range(keys.shape[0]):
        for k in range(network.shape[0]):
            a = network[k, 0]
            b = network[k, 1]
            if keys[i, a] > keys[i, b]:
                t = keys[i, a]
                keys[i, a] = keys[i, b]
                keys[i, b] = t


@program(
    "a cache of sets and ways, least recently used", lambda n: (whole(1 << 20, n) // 64 * 8, 64, 4), 60, 40_000_000
)
def cache_misses(addresses, sets, ways):
    tags = np.full((sets, ways), -1, np.int64)
    last = np.zeros((sets, ways), np.int64)
    misses = 0
    for t in range(addresses.shape[0]):
        line = addresses[t] >> 6
        s = line % sets
        tag = line // sets
        found = -1
        for w in range(ways):
            if tags[s, w] == tag:
                found = w
                break
        if found < 0:
            misses += 1
            found = 0
            for w in range(1, ways):
                if last[s, w] < last[s, found]:
                    found = w
            tags[s, found] = tag
        last[s, found] = t + 1
    return misses


def _machine(n):
    # r0 counts down from n; r1, r2 go on; an inner part depends on the last bit of r2
    code = [(0, 1, 0, 7), (0, 2, 0, 11), (0, 3, 0, 1), (5, 2, 2, 13), (4, 2, 2, 0), (6, 2, 0, 8), (1, 1, 1, 2),
            (7, 0, 0, 9), (2, 1, 1, 3), (3, 0, 0, 3), (8, 0, 0, 3), (9, 0, 0, 0)]  # fmt: skip
    return np.array(code, np.int64), np.array([n, 0, 0, 0], np.int64)


@program("bytes of code interpreted", _machine, 400, 10_000_000)
def virtual_machine(code, registers):
    pc = 0
    executed = 0
    while True:
        op = code[pc, 0]
        a = code[pc, 1]
        b = code[pc, 2]
        c = code[pc, 3]
        executed += 1
        pc += 1
        if op == 0:
            registers[a] = c
        elif op == 1:
            registers[a] = registers[b] + registers[c]
        elif op == 2:
            registers[a] = registers[b] - registers[c]
        elif op == 3:
            registers[a] = registers[b] - 1
        elif op == 4:
            registers[a] = registers[b] & 0xFFFFF
        elif op == 5:
            registers[a] = registers[b] * c + 7
        elif op == 6:
            if registers[a] & 1:
                pc = c
        elif op == 7:
            pc = c
        elif op == 8:
            if registers[a] > 0:
                pc = c
        else:
            break
    return executed


@program(
    "distances of words by bits, Myers", lambda n: (whole(20, n, 40).astype(np.uint8), whole(20, 50)), 50, 2_000_000
)
def myers(words, pattern):
    m = len(pattern)
    peq = np.zeros(20, np.int64)
    for j in range(m):
        peq[pattern[j]] |= 1 << j
    nearest = m
    top = 1 << (m - 1)
    mask = (1 << m) - 1
    for w in range(words.shape[0]):
        pv = mask
        mv = 0
        score = m
        for k in range(words.shape[1]):
            eq = peq[words[w, k]]
            xv = eq | mv
            xh = (((eq & pv) + pv) ^ pv) | eq
            ph = mv | (~(xh | pv) & mask)
            mh = pv & xh
            if ph & top:
                score += 1
            elif mh & top:
                score -= 1
            ph = ((ph << 1) | 1) & mask
            mh = (mh << 1) & mask
            pv = mh | (~(xv | ph) & mask)
            mv = ph & xv
        if score < nearest:
            nearest = score
    return nearest
