"""A quarter of a twenty-third set, written without a look at the recipe: tables, tries, lists, samples, packed rows."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


def visits(n):
    rng = np.random.default_rng(2301)
    people, slots = n // 50 + 3, 64
    while slots < 3 * n:
        slots *= 2
    return rng.integers(0, people, n), rng.integers(0, 60, n), slots, zeros(n, np.uint8), zeros(people, np.int64)


@program("first visits of pages by people, a table of both keys", visits, 2000, 2_000_000)
def first_visits(person, page, slots, first, pages):
    table = np.full(slots, -1, np.int64)
    for i in range(len(person)):
        key = person[i] * 4096 + page[i]
        slot = ((key * 2654435761) >> 9) & (slots - 1)
        while table[slot] != -1 and table[slot] != key:
            slot = (slot + 1) & (slots - 1)
        if table[slot] == -1:
            table[slot] = key
            first[i] = 1
            pages[person[i]] += 1


def tickets(n):
    places = n // 8 + 5
    return np.random.default_rng(2302).integers(0, 90, places), 77, zeros(n, np.int64), zeros(places, np.int64)


@program("tickets drawn by their weight, sums and a search", tickets, 2000, 8_000_000)
def drawn(weight, seed, pick, count):
    n = len(weight)
    upto = np.zeros(n, np.int64)
    total = 0
    for i in range(n):
        total += weight[i]
        upto[i] = total
    for d in range(len(pick)):
        z = (d * 2654435761 + seed) & 0xFFFFFFFF
        z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
        z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
        wanted = ((z ^ (z >> 16)) * total) >> 32
        low = 0
        high = n - 1
        while low < high:
            middle = (low + high) // 2
            if upto[middle] > wanted:
                high = middle
            else:
                low = middle + 1
        pick[d] = low
        count[low] += 1


def routes(n):
    rng = np.random.default_rng(2303)
    child, hop = [[0] * 16], [[-1] * 16]
    for route in range(40 if n < 10_000 else 3000):
        node, depth, address = 0, int(rng.integers(1, 7)), int(rng.integers(0, 1 << 28))
        if route % 3:
            address &= 0xFFFFFF
        for level in range(depth):
            digit = address >> (28 - 4 * level - 4) & 15
            if level == depth - 1:
                hop[node][digit] = route % 200
            else:
                if not child[node][digit]:
                    child[node][digit] = len(child)
                    child.append([0] * 16)
                    hop.append([-1] * 16)
                node = child[node][digit]
    address = rng.integers(0, 1 << 28, n)
    address[::2] &= 0xFFFFFF
    return np.array(child, np.int32), np.array(hop, np.int16), address, zeros(n, np.int16), zeros(n, np.uint8)


@program("routes of packets, the longest prefix in a trie of half bytes", routes, 4000, 16_000_000)
def longest_prefix(child, hop, address, way, depth):
    lost = 0
    for p in range(len(address)):
        node = 0
        best = -1
        at = 0
        for level in range(7):
            digit = (address[p] >> (24 - 4 * level)) & 15
            if hop[node, digit] >= 0:
                best = hop[node, digit]
                at = level + 1
            node = child[node, digit]
            if node == 0:
                break
        way[p] = best
        depth[p] = at
        if best < 0:
            lost += 1
    return lost


def towers(n):
    rng = np.random.default_rng(2304)
    size = n // 4 + 6
    key = np.sort(rng.integers(0, 50 * size, size))
    height = np.minimum(1 + rng.geometric(0.5, size), 12)
    place = rng.permutation(size)
    after = np.full((12, size + 1), -1, np.int32)
    for level in range(12):
        there = place[height > level]
        after[level, size if not len(there) else np.append(size, there[:-1])] = there if len(there) else -1
    keys = np.zeros(size, np.int64)
    keys[place] = key
    return keys, after, f8(size), rng.integers(-5, 50 * size, n), zeros(n, np.int32), zeros(n)


@program("a list with towers searched, the last key that is not greater", towers, 3000, 4_000_000)
def skip_search(key, after, value, asked, found, worth):
    levels = after.shape[0]
    head = after.shape[1] - 1
    for q in range(len(asked)):
        node = head
        for level in range(levels - 1, -1, -1):
            ahead = after[level, node]
            while ahead >= 0 and key[ahead] <= asked[q]:
                node = ahead
                ahead = after[level, node]
        if node == head:
            found[q] = -1
        else:
            found[q] = node
            worth[q] = value[node]


def bookings(n):
    rng = np.random.default_rng(2305)
    length = rng.integers(0, 120, n)
    offset = np.append(0, np.cumsum(length))
    room = np.repeat(np.arange(n), length)
    start = rng.integers(0, 2000, len(room))
    start = start[np.lexsort((start, room))]
    end = start + rng.integers(1, 40, len(room))
    return offset, start, end, zeros(len(room), np.int64), zeros(len(room), np.int64), zeros(n, np.int32), zeros(n)


@program("bookings of rooms that touch made one, what is taken", bookings, 40, 100_000)
def united_bookings(offset, start, end, begins, ends, number, taken):
    for r in range(len(number)):
        k = 0
        busy = 0
        for i in range(offset[r], offset[r + 1]):
            if k > 0 and start[i] <= ends[offset[r] + k - 1]:
                if end[i] > ends[offset[r] + k - 1]:
                    ends[offset[r] + k - 1] = end[i]
            else:
                begins[offset[r] + k] = start[i]
                ends[offset[r] + k] = end[i]
                k += 1
        for i in range(k):
            busy += ends[offset[r] + i] - begins[offset[r] + i]
        number[r] = k
        taken[r] = busy / 2040.0


def slices(n):
    rng = np.random.default_rng(2306)
    rows = 32 * n
    length = np.minimum(1 + (rng.pareto(1.5, rows) * 6).astype(np.int64), 90)
    order = np.argsort(-length.reshape(-1, 128) if rows % 128 == 0 else -length.reshape(1, -1), 1, kind="stable")
    order = (order + np.arange(len(order))[:, None] * order.shape[1]).ravel().astype(np.int32)
    width = length[order].reshape(n, 32).max(1)
    pointer = np.append(0, np.cumsum(32 * width))
    size = int(pointer[-1])
    inside = np.arange(size) - np.repeat(pointer[:-1], 32 * width)
    used = inside // 32 < length[order][np.repeat(np.arange(n), 32 * width) * 32 + inside % 32]
    column = np.where(used, rng.integers(0, rows, size), 0).astype(np.int32)
    return pointer, column, np.where(used, rng.random(size), 0.0), order, f8(rows), zeros(rows)


@program("slices of 32 sorted rows times a vector", slices, 8, 32_768)
def sliced_product(pointer, column, value, order, x, y):
    for s in range(len(pointer) - 1):
        width = (pointer[s + 1] - pointer[s]) // 32
        for lane in range(32):
            total = 0.0
            for k in range(width):
                at = pointer[s] + k * 32 + lane
                total += value[at] * x[column[at]]
            y[order[s * 32 + lane]] = total


def streams(n):
    rng = np.random.default_rng(2307)
    keys = n // 100 + 4
    stream = (rng.random(n) ** 1.5 * keys).astype(np.int32)
    return stream, rng.random(n), zeros(keys, np.int64), np.full((keys, 8), np.nan), 91


@program("eight kept at random of each stream, all alike likely", streams, 3000, 4_000_000)
def reservoirs(stream, value, seen, kept, seed):
    places = kept.shape[1]
    for i in range(len(stream)):
        k = stream[i]
        seen[k] += 1
        if seen[k] <= places:
            kept[k, seen[k] - 1] = value[i]
        else:
            z = (i * 2654435761 + seed) & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            at = (z ^ (z >> 16)) % seen[k]
            if at < places:
                kept[k, at] = value[i]


def quotes(n):
    rng = np.random.default_rng(2308)
    names = n // 120 + 4
    price = 100.0 + np.cumsum(rng.normal(size=n) * 0.01)
    price[rng.random(n) < 0.1] = np.nan
    when = np.cumsum(rng.integers(0, 5, n))
    return rng.integers(0, names, n).astype(np.int32), when, price, 0.1, names, zeros(n), zeros(n), zeros(n, np.int64)


@program("quotes as they come, each name's change, its mean that fades and its gap", quotes, 3000, 3_000_000)
def streaming_quotes(name, when, price, share, names, change, mean, gap):
    last = np.zeros(names)
    faded = np.zeros(names)
    at = np.zeros(names, np.int64)
    known = np.zeros(names, np.bool_)
    for i in range(len(name)):
        k = name[i]
        p = price[i]
        if p != p:
            if known[k]:
                mean[i] = faded[k]
                gap[i] = when[i] - at[k]
            else:
                gap[i] = -1
            continue
        if known[k]:
            change[i] = p / last[k] - 1.0
            faded[k] += share * (p - faded[k])
            gap[i] = when[i] - at[k]
        else:
            known[k] = True
            faded[k] = p
            gap[i] = -1
        last[k] = p
        at[k] = when[i]
        mean[i] = faded[k]


def masks(n):
    size = 300 if n < 20 else 4096
    rng = np.random.default_rng(2309)
    walk = np.cumsum(rng.normal(size=(n, size)), 1)
    return (walk > 0.0).astype(np.uint8), zeros((n, size + 1), np.int32), zeros(n, np.int32), zeros(n, np.int32)


@program("masks as lengths of runs, the zeros first, and how far they go", masks, 10, 30_000)
def mask_runs(mask, length, number, longest):
    for m in range(mask.shape[0]):
        now = 0
        k = 0
        run = 0
        most = 0
        for i in range(mask.shape[1]):
            if mask[m, i] != now:
                length[m, k] = run
                if now == 1 and run > most:
                    most = run
                k += 1
                run = 0
                now = mask[m, i]
            run += 1
        length[m, k] = run
        if now == 1 and run > most:
            most = run
        number[m] = k + 1
        longest[m] = most


def columns(n):
    rng = np.random.default_rng(2310)
    blocks = n // 128
    return (
        np.cumsum(rng.integers(0, 90, blocks)) * 60,
        rng.integers(0, 120, (blocks, 128)).astype(np.uint8),
        whole(250, blocks, 128).astype(np.uint8),
        np.round(rng.random(250) * 100.0, 2),
        rng.integers(0, 24, (blocks, 128)).astype(np.uint8),
        60 * 20 * (blocks // 4),
        60 * 60 * (blocks // 2 + 4),
        zeros(24),
        zeros(24, np.int64),
        np.full(24, -1, np.int64),
    )


@program("times kept as differences, prices as codes, read and totalled by class", columns, 2560, 25_600_000)
def read_columns(base, step, code, book, kind, since, until, total, count, last):
    for b in range(len(base)):
        time = base[b]
        for i in range(128):
            time += int(step[b, i])
            if time >= since and time < until:
                g = kind[b, i]
                total[g] += book[code[b, i]]
                count[g] += 1
                if time > last[g]:
                    last[g] = time
