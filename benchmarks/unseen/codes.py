"""A sixth set: bytes and keys. Texts read and written, codes, hashes, tables joined, graphs, searches."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


def octets(n, most=256):
    """Bytes below `most`."""
    return whole(most, n).astype(np.uint8)


def numbers_as_text(n):
    """Whole numbers in digits, each on a line, some negative."""
    text = "".join(f"{int(x) - 300}\n" for x in whole(100_000, n))
    return np.frombuffer(text.encode(), np.uint8).copy()


def words_as_text(n):
    """Text in which some letters take two or three bytes."""
    letters = np.array(list("abcdefgh äéß€"))
    return np.frombuffer("".join(letters[whole(len(letters), n)]).encode(), np.uint8).copy()


def back_references(n):
    """Literals and copies of what stands some bytes before: kinds, lengths or letters, distances."""
    kinds = whole(3, n).astype(np.uint8)
    return kinds, whole(12, n) + 3, whole(30, n) + 1


@program("numbers read from lines", lambda n: (numbers_as_text(n), zeros(n, np.int64)), 300, 10_000_000)
def read_numbers(text, o):
    k = 0
    value = 0
    sign = 1
    for i in range(len(text)):
        c = text[i]
        if c == 10:
            o[k] = sign * value
            k += 1
            value = 0
            sign = 1
        elif c == 45:
            sign = -1
        else:
            value = value * 10 + (int(c) - 48)
    return k


@program("letters of UTF-8 decoded", lambda n: (words_as_text(n), zeros(n, np.int32)), 600, 20_000_000)
def decode_utf8(text, o):
    i = 0
    k = 0
    n = len(text)
    while i < n:
        c = int(text[i])
        if c < 0x80:
            o[k] = c
            i += 1
        elif c < 0xE0:
            o[k] = ((c & 0x1F) << 6) | (int(text[i + 1]) & 0x3F)
            i += 2
        else:
            o[k] = ((c & 0x0F) << 12) | ((int(text[i + 1]) & 0x3F) << 6) | (int(text[i + 2]) & 0x3F)
            i += 3
        k += 1
    return k


@program("bytes written in base 64", lambda n: (octets(3 * n), octets(64), zeros(4 * n, np.uint8)), 150, 20_000_000)
def base64(a, letters, o):
    for i in range(len(a) // 3):
        word = (int(a[3 * i]) << 16) | (int(a[3 * i + 1]) << 8) | int(a[3 * i + 2])
        o[4 * i] = letters[word >> 18]
        o[4 * i + 1] = letters[(word >> 12) & 63]
        o[4 * i + 2] = letters[(word >> 6) & 63]
        o[4 * i + 3] = letters[word & 63]


@program(
    "small numbers packed into varints", lambda n: (np.cumsum(whole(500, n)), zeros(3 * n, np.uint8)), 300, 10_000_000
)
def varints(a, o):
    k = 0
    last = 0
    for i in range(len(a)):
        d = a[i] - last
        last = a[i]
        while d >= 128:
            o[k] = (d & 127) | 128
            k += 1
            d >>= 7
        o[k] = d
        k += 1
    return k


@program("runs written out", lambda n: (whole(9, n), octets(n), zeros(9 * n, np.uint8)), 150, 2_000_000)
def runs_out(lengths, values, o):
    k = 0
    for i in range(len(lengths)):
        for _ in range(lengths[i]):
            o[k] = values[i]
            k += 1
    return k


@program("copies of what stands before", lambda n: (*back_references(n), zeros(15 * n + 40, np.uint8)), 150, 4_000_000)
def unpack(kinds, lengths, distances, o):
    k = 40
    for i in range(len(kinds)):
        if kinds[i] == 0:
            o[k] = lengths[i]
            k += 1
        else:
            start = k - distances[i]
            for j in range(lengths[i]):
                o[k + j] = o[start + j]
            k += lengths[i]
    return k


@program("checksums of packets", lambda n: (octets(n * 64).reshape(n, 64), zeros(n, np.uint16)), 90, 2_000_000)
def packet_sums(a, o):
    for p in range(a.shape[0]):
        total = 0
        for i in range(0, a.shape[1], 2):
            total += (int(a[p, i]) << 8) + int(a[p, i + 1])
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        o[p] = 0xFFFF - total


@program("Adler's checksum", lambda n: (octets(n),), 300, 4_000_000)
def adler(a):
    low = 1
    high = 0
    for i in range(len(a)):
        low = (low + int(a[i])) % 65521
        high = (high + low) % 65521
    return (high << 16) | low


@program("keys hashed, FNV", lambda n: (octets(n * 12).reshape(n, 12), zeros(n, np.uint32)), 120, 8_000_000)
def fnv(keys, o):
    for i in range(keys.shape[0]):
        h = 2166136261
        for j in range(keys.shape[1]):
            h = ((h ^ int(keys[i, j])) * 16777619) & 0xFFFFFFFF
        o[i] = h


@program(
    "a Bloom filter", lambda n: (whole(10**9, n), whole(10**9, n)[::-1].copy(), zeros(4096, np.bool_)), 300, 10_000_000
)
def bloom(keys, asked, bits):
    m = len(bits)
    for i in range(len(keys) // 8):
        h = keys[i]
        for _ in range(4):
            h = (h * 1103515245 + 12345) & 0x7FFFFFFF
            bits[(h >> 8) % m] = True
    hits = 0
    for i in range(len(asked)):
        h = asked[i]
        found = True
        for _ in range(4):
            h = (h * 1103515245 + 12345) & 0x7FFFFFFF
            if not bits[(h >> 8) % m]:
                found = False
                break
        if found:
            hits += 1
    return hits


@program("brackets matched", lambda n: (octets(n, 6), zeros(n, np.int64), zeros(n, np.int64)), 300, 20_000_000)
def brackets(text, stack, partner):
    top = 0
    deepest = 0
    for i in range(len(text)):
        partner[i] = -1
        if text[i] < 2:
            stack[top] = i
            top += 1
            if top > deepest:
                deepest = top
        elif text[i] < 4 and top > 0:
            top -= 1
            partner[i] = stack[top]
            partner[stack[top]] = i
    return deepest


@program("complements read backwards", lambda n: (octets(n, 4), zeros(n, np.uint8)), 600, 32_000_000)
def complement(a, o):
    n = len(a)
    for i in range(n):
        o[n - 1 - i] = 3 - a[i]


@program("codons translated", lambda n: (octets(3 * n, 4), octets(64), zeros(n, np.uint8)), 180, 12_000_000)
def codons(a, table, o):
    for i in range(len(o)):
        o[i] = table[16 * a[3 * i] + 4 * a[3 * i + 1] + a[3 * i + 2]]


@program("least k-mers of windows", lambda n: (octets(n, 4), zeros(n, np.int64)), 120, 600_000)
def minimizers(a, o):
    k = 8
    w = 10
    count = 0
    last = -1
    for i in range(len(a) - k - w + 1):
        least = 1 << 40
        place = i
        for j in range(i, i + w):
            word = 0
            for q in range(k):
                word = word * 4 + int(a[j + q])
            word = (word * 0x9E3779B1) & 0xFFFFFFFF
            if word < least:
                least = word
                place = j
        if place != last:
            o[count] = place
            count += 1
            last = place
    return count


@program("reads trimmed by quality", lambda n: (octets(n * 100, 41).reshape(n, 100), zeros(n, np.int64)), 60, 1_000_000)
def trimmed(quality, o):
    for r in range(quality.shape[0]):
        best = 0
        total = 0
        cut = quality.shape[1]
        for j in range(quality.shape[1] - 1, -1, -1):
            total += 20 - int(quality[r, j])
            if total < 0:
                break
            if total > best:
                best = total
                cut = j
        o[r] = cut


@program(
    "two sorted lists merged",
    lambda n: (np.sort(whole(9 * n, n)), np.sort(f8(n) * 9 * n).astype(np.int64), zeros(2 * n, np.int64)),
    240,
    20_000_000,
)
def merged(a, b, o):
    i = 0
    j = 0
    for k in range(len(o)):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            o[k] = a[i]
            i += 1
        else:
            o[k] = b[j]
            j += 1


@program(
    "last quote before each trade", lambda n: (np.sort(f8(n)), f8(n), np.sort(f8(n) ** 2), zeros(n)), 240, 20_000_000
)
def as_of(quoted, price, traded, o):
    j = 0
    for i in range(len(traded)):
        while j < len(quoted) and quoted[j] <= traded[i]:
            j += 1
        o[i] = price[j - 1] if j > 0 else np.nan


@program(
    "sums, counts and extremes by key",
    lambda n: (whole(50, n), f8(n), zeros(50), zeros(50, np.int64), zeros(50) + 9, zeros(50)),
    300,
    12_000_000,
)
def by_key(key, value, total, count, low, high):
    for i in range(len(key)):
        k = key[i]
        total[k] += value[i]
        count[k] += 1
        low[k] = min(low[k], value[i])
        high[k] = max(high[k], value[i])


@program(
    "visits grouped into sessions",
    lambda n: (np.cumsum(whole(100, n)), whole(40, n), zeros(n, np.int64), zeros(40, np.int64) - 10**6),
    300,
    20_000_000,
)
def sessions(when, who, o, last):
    total = 0
    for i in range(len(when)):
        if when[i] - last[who[i]] > 2500:
            total += 1
        o[i] = total
        last[who[i]] = when[i]
    return total


@program("dates of days", lambda n: (whole(40_000, n) - 9000, zeros((n, 3), np.int32)), 60, 1_000_000)
def dates(days, o):
    for i in range(len(days)):
        z = days[i] + 719468
        era = z // 146097
        doe = z - era * 146097
        yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
        doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
        mp = (5 * doy + 2) // 153
        month = mp + 3 if mp < 10 else mp - 9
        o[i, 0] = yoe + era * 400 + (1 if month <= 2 else 0)
        o[i, 1] = month
        o[i, 2] = doy - (153 * mp + 2) // 5 + 1


@program("a knapsack", lambda n: (whole(60, n) + 1, whole(100, n), zeros(20 * n, np.int64)), 12, 1_500)
def knapsack(weight, worth, best):
    for i in range(len(weight)):
        for c in range(len(best) - 1, weight[i] - 1, -1):
            best[c] = max(best[c], best[c - weight[i]] + worth[i])
    return best[len(best) - 1]


@program("longest rising subsequence", lambda n: (whole(10**6, n), zeros(n, np.int64)), 100, 1_000_000)
def rising(a, tails):
    length = 0
    for i in range(len(a)):
        low = 0
        high = length
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < a[i]:
                low = middle + 1
            else:
                high = middle
        tails[low] = a[i]
        if low == length:
            length += 1
    return length


@program("least spanning tree, dense", lambda n: (f8(n, n), zeros(n) + 9, zeros(n, np.bool_)), 60, 20_000)
def spanning(cost, near, done):
    total = 0.0
    near[0] = 0.0
    for _ in range(len(near)):
        best = -1
        for i in range(len(near)):
            if not done[i] and (best < 0 or near[i] < near[best]):
                best = i
        done[best] = True
        total += near[best]
        for i in range(len(near)):
            if not done[i] and cost[best, i] < near[i]:
                near[i] = cost[best, i]
    return total


@program(
    "areas filled by a stack", lambda n: (octets(n * n, 3).reshape(n, n), zeros((n * n + 1, 2), np.int64)), 14, 1_500
)
def filled(picture, stack):
    areas = 0
    for y0 in range(picture.shape[0]):
        for x0 in range(picture.shape[1]):
            if picture[y0, x0] == 0:
                continue
            areas += 1
            top = 1
            stack[0, 0] = y0
            stack[0, 1] = x0
            picture[y0, x0] = 0
            while top > 0:
                top -= 1
                y = stack[top, 0]
                x = stack[top, 1]
                for d in range(4):
                    v = y + (d == 0) - (d == 1)
                    u = x + (d == 2) - (d == 3)
                    if 0 <= v < picture.shape[0] and 0 <= u < picture.shape[1] and picture[v, u] != 0:
                        picture[v, u] = 0
                        stack[top, 0] = v
                        stack[top, 1] = u
                        top += 1
    return areas
