"""The other half of the fifteenth set: cards, games, queues, economies, heuristics, codes, texts, series."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


def _hands(n):
    return np.argsort(f8(n, 52), axis=1)[:, :7].copy(), zeros(n, np.int64)


@program("hands of seven cards ranked", _hands, 40, 300_000)
def hands_ranked(cards, rank):
    ranks = np.zeros(13, np.int64)
    suits = np.zeros(4, np.int64)
    for h in range(cards.shape[0]):
        ranks[:] = 0
        suits[:] = 0
        mask = 0
        for c in range(cards.shape[1]):
            ranks[cards[h, c] // 4] += 1
            suits[cards[h, c] % 4] += 1
            mask |= 1 << (cards[h, c] // 4)
        pairs = 0
        threes = 0
        fours = 0
        best = -1
        for r in range(13):
            if ranks[r] == 4:
                fours += 1
                best = max(best, r + 26)
            elif ranks[r] == 3:
                threes += 1
                best = max(best, r + 13)
            elif ranks[r] == 2:
                pairs += 1
                best = max(best, r)
        flush = False
        for s in range(4):
            if suits[s] >= 5:
                flush = True
        straight = False
        for low in range(9):
            if (mask >> low) & 31 == 31:
                straight = True
        if straight and flush:
            kind = 8
        elif fours > 0:
            kind = 7
        elif threes > 1 or (threes == 1 and pairs > 0):
            kind = 6
        elif flush:
            kind = 5
        elif straight:
            kind = 4
        elif threes > 0:
            kind = 3
        else:
            kind = min(pairs, 2)
        rank[h] = kind * 64 + best + 1


@program("nimbers of a game of rows of pins", lambda n: (zeros(n, np.int64),), 30, 8000)
def nimbers(grundy):
    seen = np.zeros(64, np.int64)
    for n in range(1, len(grundy)):
        for taken in range(1, 3):
            for left in range((n - taken) // 2 + 1):
                if n - taken >= 0:
                    seen[grundy[left] ^ grundy[n - taken - left]] = n
        g = 0
        while seen[g] == n:
            g += 1
        grundy[n] = g


@program("stones captured on boards of Go", lambda n: (whole(3, n, 9, 9).astype(np.int8), zeros((n, 9, 9), np.int8)),
    4, 20_000)  # fmt: skip
def captured(boards, dead):
    size = boards.shape[1]
    stack = np.zeros((81, 2), np.int64)
    seen = np.zeros((size, size), np.int64)
    total = 0
    for b in range(boards.shape[0]):
        seen[:, :] = -1
        group = 0
        for i in range(size):
            for j in range(size):
                if boards[b, i, j] == 0 or seen[i, j] >= 0:
                    continue
                colour = boards[b, i, j]
                top = 1
                count = 0
                stack[0, 0] = i
                stack[0, 1] = j
                seen[i, j] = group
                free = False
                while count < top:
                    r, c = stack[count, 0], stack[count, 1]
                    count += 1
                    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                        y, x = r + dr, c + dc
                        if y < 0 or y >= size or x < 0 or x >= size:
                            continue
                        if boards[b, y, x] == 0:
                            free = True
                        elif boards[b, y, x] == colour and seen[y, x] < 0:
                            seen[y, x] = group
                            stack[top, 0] = y
                            stack[top, 1] = x
                            top += 1
                group += 1
                if not free:
                    total += top
                    for k in range(top):
                        dead[b, stack[k, 0], stack[k, 1]] = 1
    return total


@program("numbers set in squares, backtracking by masks", lambda n: (whole(9, n, 12), zeros((n, 81), np.int64)), 1, 400)
def number_squares(given, solved):
    rows = np.zeros(9, np.int64)
    columns = np.zeros(9, np.int64)
    boxes = np.zeros(9, np.int64)
    tried = np.zeros(81, np.int64)
    steps = 0
    for p in range(given.shape[0]):
        rows[:] = 0
        columns[:] = 0
        boxes[:] = 0
        tried[:] = 0
        at = 0
        while 0 <= at < 81 and steps < 100_000 * (p + 1):
            steps += 1
            r, c = at // 9, at % 9
            box = r // 3 * 3 + c // 3
            old = tried[at]
            if old > 0:
                bit = 1 << (old - 1)
                rows[r] &= ~bit
                columns[c] &= ~bit
                boxes[box] &= ~bit
            used = rows[r] | columns[c] | boxes[box]
            value = old + 1
            while value <= 9 and used & (1 << ((value - 1 + given[p, at % 12]) % 9)):
                value += 1
            tried[at] = value
            if value > 9:
                tried[at] = 0
                at -= 1
                continue
            real = (value - 1 + given[p, at % 12]) % 9
            tried[at] = value
            solved[p, at] = real + 1
            rows[r] |= 1 << real
            columns[c] |= 1 << real
            boxes[box] |= 1 << real
            at += 1
    return steps


@program(
    "robust covariances of regressors, Newey and West", lambda n: (f8(n, 5), f8(n) - 0.5, 8, zeros((5, 5))), 30, 300_000
)
def newey_west(x, residual, lags, s):
    n, k = x.shape
    for lag in range(lags + 1):
        weight = 1 - lag / (lags + 1)
        for t in range(lag, n):
            u = residual[t] * residual[t - lag]
            for i in range(k):
                for j in range(k):
                    g = u * x[t, i] * x[t - lag, j]
                    if lag == 0:
                        s[i, j] += g
                    else:
                        s[i, j] += weight * g
                        s[j, i] += weight * g


@program(
    "two regimes of an economy, likelihoods of a grid",
    lambda n: (f8(n) - 0.5, f8(16), f8(16), zeros((16, 16))),
    30,
    20_000,
)
def regimes(growth, stay0, stay1, likelihood):
    for a in range(len(stay0)):
        for b in range(len(stay1)):
            p0, p1 = 0.5 + stay0[a] / 2.2, 0.5 + stay1[b] / 2.2
            q = 0.5
            total = 0.0
            for t in range(len(growth)):
                prior = q * p0 + (1 - q) * (1 - p1)
                d0 = growth[t] - 0.2
                d1 = growth[t] + 0.3
                f0 = math.exp(-2 * d0 * d0) * 0.8
                f1 = math.exp(-0.9 * d1 * d1) * 0.54
                f = prior * f0 + (1 - prior) * f1
                q = prior * f0 / f
                total += math.log(f)
            likelihood[a, b] = total


@program("trends of series, Mann and Kendall, and Sen's slope", lambda n: (f8(n, 30), zeros(n), zeros(n)), 4, 10_000)
def trends(series, score, slope):
    m = series.shape[1]
    slopes = np.zeros(m * (m - 1) // 2)
    for g in range(series.shape[0]):
        s = 0
        k = 0
        for i in range(m):
            for j in range(i + 1, m):
                d = series[g, j] - series[g, i]
                if d > 0:
                    s += 1
                elif d < 0:
                    s -= 1
                slopes[k] = d / (j - i)
                k += 1
        score[g] = s / math.sqrt(m * (m - 1) * (2 * m + 5) / 18)
        slope[g] = np.median(slopes)


@program("a trend and a cycle, Hodrick and Prescott", lambda n: (f8(20, n), 1600.0, zeros((20, n))), 10, 50_000)
def trend_and_cycle(series, smooth, trend):
    n = series.shape[1]
    d = np.zeros(n)
    e = np.zeros(n)
    f = np.zeros(n)
    z = np.zeros(n)
    for s in range(series.shape[0]):
        for i in range(n):
            a = 1 + smooth * (1 if i == 0 or i == n - 1 else 5 if i == 1 or i == n - 2 else 6)
            b = -smooth * (2 if i == 0 or i == n - 2 else 4)
            z[i] = series[s, i]
            if i > 0:
                a -= d[i - 1] * e[i - 1] ** 2
                b -= d[i - 1] * e[i - 1] * f[i - 1]
                z[i] -= e[i - 1] * z[i - 1]
            if i > 1:
                a -= d[i - 2] * f[i - 2] ** 2
                z[i] -= f[i - 2] * z[i - 2]
            d[i] = a
            e[i] = b / a
            f[i] = smooth / a
        for i in range(n - 1, -1, -1):
            t = z[i] / d[i]
            if i < n - 1:
                t -= e[i] * trend[s, i + 1]
            if i < n - 2:
                t -= f[i] * trend[s, i + 2]
            trend[s, i] = t


@program("stations in a row with small waiting rooms", lambda n: (f8(n, 6), 3, zeros((n, 6))), 20, 200_000)
def tandem(service, room, leaves):
    n, stations = service.shape
    for i in range(n):
        for s in range(stations):
            start = 0.0
            if i > 0:
                start = leaves[i - 1, s]
            if s > 0:
                start = max(start, leaves[i, s - 1])
            done = start + service[i, s]
            if s + 1 < stations and i > room:
                done = max(done, leaves[i - room - 1, s + 1])
            leaves[i, s] = done


@program("differences of vectors that evolve", lambda n: (f8(40, 10) * 10 - 5, zeros(40), n, 17), 3, 3000)
def evolved(x, cost, generations, seed):
    n, d = x.shape
    state = seed
    trial = np.zeros(d)
    for i in range(n):
        c = 10.0 * d
        for k in range(d):
            c += x[i, k] * x[i, k] - 10 * math.cos(2 * math.pi * x[i, k])
        cost[i] = c
    for _ in range(generations):
        for i in range(n):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            a = (state >> 10) % n
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            b = (state >> 10) % n
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            c = (state >> 10) % n
            c_new = 10.0 * d
            for k in range(d):
                state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
                if state < 3_000_000_000 or k == a % d:
                    trial[k] = x[a, k] + 0.7 * (x[b, k] - x[c, k])
                else:
                    trial[k] = x[i, k]
                c_new += trial[k] * trial[k] - 10 * math.cos(2 * math.pi * trial[k])
            if c_new < cost[i]:
                cost[i] = c_new
                for k in range(d):
                    x[i, k] = trial[k]


@program("ants that lay trails between towns", lambda n: (f8(30, 2), np.ones((30, 30)), n, 5), 2, 500)
def ants(towns, trail, rounds, seed):
    n = len(towns)
    near = np.zeros((n, n))
    tour = np.zeros(n, np.int64)
    best = 1e30
    state = seed
    for i in range(n):
        for j in range(n):
            if i != j:
                near[i, j] = 1 / ((towns[i, 0] - towns[j, 0]) ** 2 + (towns[i, 1] - towns[j, 1]) ** 2)
    for _ in range(rounds):
        visited = np.zeros(n, np.bool_)
        here = 0
        visited[0] = True
        length = 0.0
        for step in range(1, n):
            total = 0.0
            for j in range(n):
                if not visited[j]:
                    total += trail[here, j] * near[here, j]
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            left = state / 2147483648.0 * total
            chosen = -1
            for j in range(n):
                if not visited[j]:
                    chosen = j
                    left -= trail[here, j] * near[here, j]
                    if left <= 0:
                        break
            length += 1 / math.sqrt(near[here, chosen])
            visited[chosen] = True
            tour[step] = chosen
            here = chosen
        length += 1 / math.sqrt(near[here, 0])
        best = min(best, length)
        for i in range(n):
            for j in range(n):
                trail[i, j] *= 0.98
        for k in range(n):
            a, b = tour[k], tour[(k + 1) % n]
            trail[a, b] += 1 / length
            trail[b, a] += 1 / length
    return best


@program("text in codes of a growing book", lambda n: (whole(6, n).astype(np.uint8), zeros(n, np.int64)), 60, 2_000_000)
def growing_book(text, codes):
    size = 8192
    keys = np.full(size, -1, np.int64)
    values = np.zeros(size, np.int64)
    following = 256
    current = np.int64(text[0])
    count = 0
    for i in range(1, len(text)):
        symbol = np.int64(text[i])
        key = current * 256 + symbol
        slot = (key * 40503) % size
        while keys[slot] != -1 and keys[slot] != key:
            slot = (slot + 1) % size
        if keys[slot] == key:
            current = values[slot]
        else:
            codes[count] = current
            count += 1
            if following < 4096:
                keys[slot] = key
                values[slot] = following
                following += 1
            current = symbol
    codes[count] = current
    return count + 1


def _last_column(n):
    text = np.append(whole(4, n - 1) + 1, 0).astype(np.uint8)
    rotated = np.array([text[(i + np.arange(64)) % n] for i in range(n)])
    order = np.lexsort(rotated.T[::-1])
    return text[order - 1], zeros(n, np.uint8), zeros(n, np.uint8)


@program("a transform of Burrows and Wheeler undone, moves to front", _last_column, 40, 50_000)
def moved_to_front(last, text, moved):
    n = len(last)
    count = np.zeros(257, np.int64)
    before = np.zeros(n, np.int64)
    for i in range(n):
        before[i] = count[last[i] + 1]
        count[last[i] + 1] += 1
    for c in range(256):
        count[c + 1] += count[c]
    at = 0
    for k in range(n - 1, -1, -1):
        text[k] = last[at]
        at = count[last[at]] + before[at]
    table = np.arange(256)
    for i in range(n):
        c = last[i]
        j = 0
        while table[j] != c:
            j += 1
        moved[i] = j
        while j > 0:
            table[j] = table[j - 1]
            j -= 1
        table[0] = c


@program(
    "bits into a range that adapts", lambda n: ((f8(n) > 0.8).astype(np.uint8), zeros(n + 16, np.uint8)), 100, 1_000_000
)
def adaptive_range(bits, out):
    chance = np.full(256, 2048, np.int64)
    context = 1
    low = 0
    width = 0xFFFFFFFF
    count = 0
    for i in range(len(bits)):
        bound = (width >> 12) * chance[context]
        if bits[i] == 0:
            width = bound
            chance[context] += (4096 - chance[context]) >> 5
        else:
            low += bound
            width -= bound
            chance[context] -= chance[context] >> 5
        context = ((context << 1) | bits[i]) & 255
        while width < 16777216:
            if low >= 4294967296:
                k = count - 1
                while k >= 0 and out[k] == 255:
                    out[k] = 0
                    k -= 1
                if k >= 0:
                    out[k] += 1
                low -= 4294967296
            out[count] = (low >> 24) & 255
            count += 1
            low = (low & 0xFFFFFF) << 8
            width <<= 8
    return count


@program("sound predicted, remainders in Rice's code", lambda n: ((np.sin(np.arange(n) * 0.05) * 9000).astype(np.int64)
    + whole(40, n), zeros(4 * n + 64, np.uint8)), 300, 1_000_000)  # fmt: skip
def rice_coded(sound, out):
    block = 256
    at = 0
    for first in range(2, len(sound) - block, block):
        total = 0
        for i in range(first, first + block):
            r = sound[i] - 2 * sound[i - 1] + sound[i - 2]
            total += abs(r)
        k = 0
        while (block << k) < total:
            k += 1
        for i in range(first, first + block):
            r = sound[i] - 2 * sound[i - 1] + sound[i - 2]
            u = 2 * r if r >= 0 else -2 * r - 1
            for _ in range(u >> k):
                out[at >> 3] |= 1 << (at & 7)
                at += 1
            at += 1
            for b in range(k):
                if (u >> b) & 1:
                    out[at >> 3] |= 1 << (at & 7)
                at += 1
    return at


def _words(n):
    return whole(4, n).astype(np.uint8), whole(4, 12, 6).astype(np.uint8), zeros(12, np.int64)


@program("words found at once, an automaton", _words, 100, 3_000_000)
def words_at_once(text, words, found):
    states = words.shape[0] * words.shape[1] + 1
    go = np.full((states, 4), -1, np.int64)
    ends = np.full(states, -1, np.int64)
    fail = np.zeros(states, np.int64)
    count = 1
    for w in range(words.shape[0]):
        s = 0
        for k in range(words.shape[1]):
            c = words[w, k]
            if go[s, c] < 0:
                go[s, c] = count
                count += 1
            s = go[s, c]
        ends[s] = w
    queue = np.zeros(states, np.int64)
    head = 0
    tail = 0
    for c in range(4):
        if go[0, c] < 0:
            go[0, c] = 0
        else:
            queue[tail] = go[0, c]
            tail += 1
    while head < tail:
        s = queue[head]
        head += 1
        for c in range(4):
            t = go[s, c]
            if t < 0:
                go[s, c] = go[fail[s], c]
            else:
                fail[t] = go[fail[s], c]
                queue[tail] = t
                tail += 1
    s = 0
    for i in range(len(text)):
        s = go[s, text[i]]
        if ends[s] >= 0:
            found[ends[s]] += 1


def _weights(n):
    return f8(n), whole(1 << 30, n), f8(n), zeros(n, np.int64)


@program("draws by aliases", _weights, 60, 1_000_000)
def aliases(weights, places, chances, drawn):
    n = len(weights)
    total = 0.0
    for i in range(n):
        total += weights[i]
    share = np.zeros(n)
    alias = np.zeros(n, np.int64)
    small = np.zeros(n, np.int64)
    large = np.zeros(n, np.int64)
    few = 0
    many = 0
    for i in range(n):
        share[i] = weights[i] * n / total
        if share[i] < 1:
            small[few] = i
            few += 1
        else:
            large[many] = i
            many += 1
    while few > 0 and many > 0:
        few -= 1
        many -= 1
        s, g = small[few], large[many]
        alias[s] = g
        share[g] = share[g] + share[s] - 1
        if share[g] < 1:
            small[few] = g
            few += 1
        else:
            large[many] = g
            many += 1
    for k in range(many):
        share[large[k]] = 1.0
    for k in range(few):
        share[small[k]] = 1.0
    for i in range(n):
        p = places[i] % n
        drawn[i] = p if chances[i] < share[p] else alias[p]
