"""A third of an eighteenth set: codes, texts, schedules, people, genes, lives, ratings, auctions, postings."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


def _convolved(n):
    taps = np.zeros((64, 2), np.int64)
    for state in range(64):
        for bit in range(2):
            word = (bit << 6) | state
            taps[state, bit] = 2 * (bin(word & 0o171).count("1") % 2) + bin(word & 0o133).count("1") % 2
    return f8(n, 2) * 2 - 1, taps, zeros(n, np.uint8), zeros((n, 64), np.uint8)


@program("bits behind noise, Viterbi over 64 states", _convolved, 25, 60_000)
def convolved(received, taps, bits, chosen):
    n = received.shape[0]
    metric = np.zeros(64)
    following = np.zeros(64)
    for s in range(1, 64):
        metric[s] = -1e9
    for t in range(n):
        for s in range(64):
            bit = s >> 5
            best = -1e18
            which = 0
            for low in range(2):
                before = ((s << 1) & 63) | low
                out = taps[before, bit]
                m = metric[before]
                m += received[t, 0] if out & 2 else -received[t, 0]
                m += received[t, 1] if out & 1 else -received[t, 1]
                if m > best:
                    best = m
                    which = low
            following[s] = best
            chosen[t, s] = which
        for s in range(64):
            metric[s] = following[s]
    state = 0
    for s in range(64):
        if metric[s] > metric[state]:
            state = s
    for t in range(n - 1, -1, -1):
        bits[t] = state >> 5
        state = ((state << 1) & 63) | chosen[t, state]


def _powers():
    exponents = np.zeros(512, np.int64)
    logarithms = np.zeros(256, np.int64)
    x = 1
    for i in range(255):
        exponents[i] = exponents[i + 255] = x
        logarithms[x] = i
        x = x << 1
        if x & 256:
            x ^= 0x11D
    return exponents, logarithms


@program(
    "words mended, Reed and Solomon",
    lambda n: (*_powers(), (whole(256, n, 255) * (whole(60, n, 255) == 0)).astype(np.uint8), zeros(n, np.int64)),
    3,
    3000,
)
def reed_solomon(exponents, logarithms, words, faults):
    syndromes = np.zeros(16, np.int64)
    locator = np.zeros(18, np.int64)
    older = np.zeros(18, np.int64)
    kept = np.zeros(18, np.int64)
    for w in range(words.shape[0]):
        wrong = False
        for k in range(16):
            s = 0
            for i in range(255):
                if s != 0:
                    s = exponents[logarithms[s] + k]
                s ^= words[w, i]
            syndromes[k] = s
            wrong = wrong or s != 0
        faults[w] = 0
        if not wrong:
            continue
        for k in range(18):
            locator[k] = 0
            older[k] = 0
        locator[0] = 1
        older[0] = 1
        length = 0
        shift = 1
        scale = 1
        for k in range(16):
            d = syndromes[k]
            for i in range(1, length + 1):
                if locator[i] != 0 and syndromes[k - i] != 0:
                    d ^= exponents[logarithms[locator[i]] + logarithms[syndromes[k - i]]]
            if d == 0:
                shift += 1
                continue
            for i in range(18):
                kept[i] = locator[i]
            f = logarithms[d] + 255 - logarithms[scale]
            if f >= 255:
                f -= 255
            for i in range(18 - shift):
                if older[i] != 0:
                    locator[i + shift] ^= exponents[f + logarithms[older[i]]]
            if 2 * length <= k:
                length = k + 1 - length
                for i in range(18):
                    older[i] = kept[i]
                scale = d
                shift = 1
            else:
                shift += 1
        found = 0
        for x in range(255):
            v = 0
            for i in range(length + 1):
                if locator[i] != 0:
                    v ^= exponents[(logarithms[locator[i]] + i * x) % 255]
            if v == 0:
                found += 1
        faults[w] = found if found == length else -1


@program(
    "numbers packed to the width of their block",
    lambda n: (whole(1 << 20, n) >> whole(18, n), zeros(n + n // 64 + 2, np.uint64), zeros(n // 64 + 1, np.int64)),
    640,
    4_000_000,
)
def packed(values, words, widths):
    at = 0
    for block in range(values.shape[0] // 64):
        largest = 0
        for k in range(64):
            largest |= values[64 * block + k]
        width = 0
        while largest >> width:
            width += 1
        widths[block] = width
        for k in range(64):
            bit = k * width
            word = at + (bit >> 6)
            offset = bit & 63
            value = np.uint64(values[64 * block + k])
            words[word] |= value << np.uint64(offset)
            if offset + width > 64:
                words[word + 1] |= value >> np.uint64(64 - offset)
        at += width
    return at


def _pairs(n):
    ranks = np.full((300, 300), 1 << 30, np.int32)
    rng = np.random.default_rng(5)
    for r in range(280):
        ranks[rng.integers(0, 12 + r // 4 + 1), rng.integers(0, 12 + r // 4 + 1)] = r
    return whole(12, n, 24).astype(np.int32), whole(20, n) + 5, ranks, zeros((n, 24), np.int32), zeros(n, np.int64)


@program("words cut into tokens, byte pairs merged", _pairs, 30, 200_000)
def merged_pairs(words, lengths, ranks, tokens, counts):
    for w in range(words.shape[0]):
        length = lengths[w]
        for i in range(length):
            tokens[w, i] = words[w, i]
        while length > 1:
            best = 1 << 30
            at = -1
            for i in range(length - 1):
                rank = ranks[tokens[w, i], tokens[w, i + 1]]
                if rank < best:
                    best = rank
                    at = i
            if at < 0:
                break
            tokens[w, at] = 12 + best
            for i in range(at + 1, length - 1):
                tokens[w, i] = tokens[w, i + 1]
            length -= 1
        counts[w] = length


def _json(n):
    piece = b'{"id": 17, "name": "a \\"b\\" [c]", "tags": ["x", "yy", {"deep": [1, 2.5e3, null]}], "ok": true}, '
    return np.frombuffer((piece * (n // len(piece) + 1))[:n], np.uint8).copy(), zeros(256, np.int64)


@program("a text of records scanned, JSON", _json, 900, 3_000_000)
def scanned(text, kinds):
    depth = 0
    deepest = 0
    in_string = False
    escaped = False
    strings = 0
    numbers = 0
    in_number = False
    for i in range(text.shape[0]):
        c = text[i]
        if in_string:
            if escaped:
                escaped = False
            elif c == 92:
                escaped = True
            elif c == 34:
                in_string = False
            continue
        if c == 34:
            in_string = True
            strings += 1
            in_number = False
        elif c == 123 or c == 91:
            depth += 1
            deepest = max(deepest, depth)
            kinds[c] += 1
            in_number = False
        elif c == 125 or c == 93:
            depth -= 1
            kinds[c] += 1
            in_number = False
        elif (c >= 48 and c <= 57) or c == 45:
            if not in_number:
                numbers += 1
            in_number = True
        elif c == 44 or c == 58 or c <= 32:
            in_number = False
            kinds[c] += 1
    return deepest, strings, numbers, depth


@program(
    "two texts compared, least edits after Myers",
    lambda n: (whole(9, n), np.delete(whole(9, n), np.arange(3, n, 9)), zeros(2 * n + 3, np.int64)),
    60,
    30_000,
)
def edits(a, b, furthest):
    n, m = a.shape[0], b.shape[0]
    middle = n + 1
    for d in range(n + 1):
        for k in range(-d, d + 1, 2):
            if k == -d or (k != d and furthest[middle + k - 1] < furthest[middle + k + 1]):
                x = furthest[middle + k + 1]
            else:
                x = furthest[middle + k - 1] + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x += 1
                y += 1
            furthest[middle + k] = x
            if x >= n and y >= m:
                return d
    return n + 1


@program("jobs through machines in a row, NEH", lambda n: (1 + whole(99, n, 10), zeros(n, np.int64)), 6, 120)
def flow_shop(times, order):
    jobs, machines = times.shape
    total = np.zeros(jobs, np.int64)
    for j in range(jobs):
        for m in range(machines):
            total[j] += times[j, m]
    by_length = np.argsort(-total, kind="mergesort")
    head = np.zeros((jobs + 2, machines + 1), np.int64)
    tail = np.zeros((jobs + 2, machines + 2), np.int64)
    shortest = 0
    for k in range(jobs):
        job = by_length[k]
        for p in range(1, k + 1):
            for m in range(machines):
                head[p, m + 1] = max(head[p, m], head[p - 1, m + 1]) + times[order[p - 1], m]
        for m in range(machines):
            tail[k + 1, m + 1] = 0
        for p in range(k, 0, -1):
            for m in range(machines, 0, -1):
                tail[p, m] = max(tail[p, m + 1], tail[p + 1, m]) + times[order[p - 1], m - 1]
        shortest = 1 << 60
        at = 0
        for p in range(k + 1):
            finished = 0
            longest = 0
            for m in range(machines):
                finished = max(finished, head[p, m + 1]) + times[job, m]
                longest = max(longest, finished + tail[p + 1, m + 1])
            if longest < shortest:
                shortest = longest
                at = p
        for p in range(k, at, -1):
            order[p] = order[p - 1]
        order[at] = job
    return shortest


def _project(n):
    rng = np.random.default_rng(8)
    degree = rng.integers(0, 5, n)
    degree[0] = 0
    starts = np.concatenate([[0], np.cumsum(degree)])
    before = np.concatenate([rng.integers(0, max(i, 1), degree[i]) for i in range(n)]).astype(np.int32)
    return starts, before, f8(n), zeros(n), zeros(n)


@program("slack of a project's tasks", _project, 60, 300_000)
def slack(starts, before, duration, earliest, latest):
    n = duration.shape[0]
    end = 0.0
    for i in range(n):
        begin = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = before[k]
            begin = max(begin, earliest[j] + duration[j])
        earliest[i] = begin
        end = max(end, begin + duration[i])
    for i in range(n):
        latest[i] = end - duration[i]
    for i in range(n - 1, -1, -1):
        for k in range(starts[i], starts[i + 1]):
            j = before[k]
            latest[j] = min(latest[j], latest[i] - duration[j])
    critical = 0
    for i in range(n):
        if latest[i] - earliest[i] < 1e-9:
            critical += 1
    return critical


@program(
    "stretches that pairs of people share",
    lambda n: ((whole(5, 24, n) == 0).astype(np.int8), np.cumsum(f8(n)) * 0.05, 0.4, zeros((24, 24), np.int64)),
    100,
    40_000,
)
def shared(alleles, position, least, count):
    people, sites = alleles.shape
    for a in range(people):
        for b in range(a + 1, people):
            begun = 0
            found = 0
            for s in range(sites):
                if alleles[a, s] != alleles[b, s]:
                    if s > begun and position[s - 1] - position[begun] >= least:
                        found += 1
                    begun = s + 1
            if sites > begun and position[sites - 1] - position[begun] >= least:
                found += 1
            count[a, b] = found


@program(
    "a person's copies from a panel, Li and Stephens",
    lambda n: (whole(2, n, 60).astype(np.int8), whole(2, n).astype(np.int8), 0.02 * f8(n), 0.01, zeros((n, 60))),
    20,
    40_000,
)
def copied(panel, target, distance, error, forward):
    sites, people = panel.shape
    log_likelihood = 0.0
    for h in range(people):
        forward[0, h] = (1 - error if panel[0, h] == target[0] else error) / people
    for s in range(1, sites):
        switch = 1 - math.exp(-distance[s])
        total = 0.0
        for h in range(people):
            total += forward[s - 1, h]
        log_likelihood += math.log(total)
        for h in range(people):
            stay = (1 - switch) * forward[s - 1, h] / total + switch / people
            forward[s, h] = stay * (1 - error if panel[s, h] == target[s] else error)
    return log_likelihood


@program(
    "pensions of couples, month by month",
    lambda n: (0.0004 * np.exp(0.09 * np.arange(120.0)), 30 + whole(50, n), 30 + whole(40, n)[::-1], 0.03, zeros(n)),
    10,
    60_000,
)
def pensions(mortality, first_age, second_age, interest, value):
    monthly = (1 + interest) ** (1 / 12)
    for c in range(first_age.shape[0]):
        first = 1.0
        second = 1.0
        discount = 1.0
        total = 0.0
        month = 0
        while first + second > 1e-6:
            year = month // 12
            a = min(first_age[c] + year, 119)
            b = min(second_age[c] + year, 119)
            total += discount * (first + 0.6 * (1 - first) * second)
            first *= 1 - min(mortality[a], 1.0) / 12
            second *= 1 - min(0.8 * mortality[b], 1.0) / 12
            discount /= monthly
            month += 1
            if month > 1080:
                break
        value[c] = total


def _contacts(n):
    rng = np.random.default_rng(14)
    degree = rng.integers(1, 12, n)
    starts = np.concatenate([[0], np.cumsum(degree)])
    return starts, rng.integers(0, n, starts[-1]).astype(np.int32), zeros(n, np.int8), 12, 77


@program("an infection among contacts, day by day", _contacts, 60, 100_000)
def infection(starts, contacts, state, days, seed):
    n = state.shape[0]
    left = np.zeros(n, np.int32)
    state[0] = 1
    left[0] = 5
    state[n // 2] = 1
    left[n // 2] = 5
    caught = 2
    for _ in range(days):
        for i in range(n):
            if state[i] == 1:
                for k in range(starts[i], starts[i + 1]):
                    j = contacts[k]
                    if state[j] == 0:
                        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
                        if seed < 1500000000:
                            state[j] = 3
                            caught += 1
        for i in range(n):
            if state[i] == 3:
                state[i] = 1
                left[i] = 5
            elif state[i] == 1:
                left[i] -= 1
                if left[i] == 0:
                    state[i] = 2
    return caught


@program("strengths of teams, Bradley and Terry", lambda n: (whole(4, n, n), np.ones(n)), 10, 400)
def strengths(wins, strength):
    n = strength.shape[0]
    fresh = np.zeros(n)
    for rounds in range(30):
        total = 0.0
        for i in range(n):
            won = 0
            games = 0.0
            for j in range(n):
                if i != j:
                    won += wins[i, j]
                    games += (wins[i, j] + wins[j, i]) / (strength[i] + strength[j])
            fresh[i] = won / games
            total += fresh[i]
        change = 0.0
        for i in range(n):
            fresh[i] *= n / total
            change = max(change, abs(fresh[i] - strength[i]))
            strength[i] = fresh[i]
        if change < 1e-8:
            return rounds
    return -1


@program(
    "bidders for goods, an auction by rounds",
    lambda n: (f8(n) + 0.2 * f8(n, n), zeros(n), np.full(n, -1), np.full(n, -1), 0.01),
    8,
    300,
)
def auction(worth, price, owner, good, step):
    n = price.shape[0]
    rounds = 0
    unassigned = n
    while unassigned > 0:
        for bidder in range(n):
            if good[bidder] >= 0:
                continue
            best = -1e30
            second = -1e30
            at = -1
            for j in range(n):
                gain = worth[bidder, j] - price[j]
                if gain > best:
                    second = best
                    best = gain
                    at = j
                elif gain > second:
                    second = gain
            price[at] += best - second + step
            if owner[at] >= 0:
                good[owner[at]] = -1
            else:
                unassigned -= 1
            owner[at] = bidder
            good[bidder] = at
            rounds += 1
    return rounds


def _postings(n):
    rng = np.random.default_rng(6)
    lengths = rng.integers(n // 40 + 1, n // 4 + 2, 6)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    documents = np.concatenate([np.sort(rng.choice(n, k, replace=False)) for k in lengths]).astype(np.int32)
    return starts, documents, rng.integers(1, 9, starts[-1]).astype(np.uint8), 50 + whole(400, n), zeros(10, np.int64)


@program("documents by their words, ten best of BM25", _postings, 100, 1_000_000)
def ranked(starts, documents, times, length, top):
    n = length.shape[0]
    score = np.zeros(n, np.float32)
    mean = 0.0
    for d in range(n):
        mean += length[d]
    mean /= n
    for term in range(starts.shape[0] - 1):
        holding = starts[term + 1] - starts[term]
        idf = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
        for k in range(starts[term], starts[term + 1]):
            d = documents[k]
            tf = times[k]
            score[d] += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length[d] / mean))
    for r in range(top.shape[0]):
        best = -1.0
        at = -1
        for d in range(n):
            if score[d] > best:
                best = score[d]
                at = d
        top[r] = at
        score[at] = -1.0


@program(
    "sketches of sets, least hashes",
    lambda n: (
        np.random.default_rng(2).integers(0, 2**63, (n, 50)).astype(np.uint64),
        10 + whole(41, n),
        np.random.default_rng(4).integers(0, 2**63, (2, 32)).astype(np.uint64),
        zeros((n, 32), np.uint64),
    ),
    5,
    40_000,
)
def sketches(items, sizes, factors, out):
    for s in range(items.shape[0]):
        for h in range(out.shape[1]):
            out[s, h] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(sizes[s]):
            x = items[s, k]
            for h in range(out.shape[1]):
                v = factors[0, h] * x + factors[1, h]
                v ^= v >> np.uint64(31)
                if v < out[s, h]:
                    out[s, h] = v


@program(
    "numbers of accounts checked",
    lambda n: (whole(36, n, 22).astype(np.uint8), zeros(n, np.bool_)),
    40,
    1_000_000,
)
def accounts(symbols, valid):
    n, m = symbols.shape
    for r in range(n):
        rest = 0
        for k in range(m):
            c = int(symbols[r, (k + 4) % m])
            if c < 10:
                rest = (rest * 10 + c) % 97
            else:
                rest = (rest * 100 + c) % 97
        valid[r] = rest == 1
