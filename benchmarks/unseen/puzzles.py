"""The other half of the eighth set: games, automata, shapes, texts, bits, queues, tours, series that are matched."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "a mask opened by a cross", lambda n: ((whole(5, n, n) > 0).astype(np.uint8), zeros((n, n), np.uint8)), 12, 4000
)
def opened(mask, o):
    n, m = mask.shape
    worn = np.zeros((n, m), np.uint8)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            if mask[i, j] and mask[i - 1, j] and mask[i + 1, j] and mask[i, j - 1] and mask[i, j + 1]:
                worn[i, j] = 1
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            if worn[i, j] or worn[i - 1, j] or worn[i + 1, j] or worn[i, j - 1] or worn[i, j + 1]:
                o[i, j] = 1


@program(
    "a figure thinned, Zhang-Suen", lambda n: ((f8(n, n) > 0.2).astype(np.uint8), zeros((n, n), np.uint8)), 10, 1500
)
def thinned(a, gone):
    n, m = a.shape
    changed = 1
    rounds = 0
    while changed > 0 and rounds < 20:
        changed = 0
        for phase in range(2):
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    gone[i, j] = 0
                    if a[i, j] == 0:
                        continue
                    p2 = a[i - 1, j]
                    p3 = a[i - 1, j + 1]
                    p4 = a[i, j + 1]
                    p5 = a[i + 1, j + 1]
                    p6 = a[i + 1, j]
                    p7 = a[i + 1, j - 1]
                    p8 = a[i, j - 1]
                    p9 = a[i - 1, j - 1]
                    b = p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9
                    if b < 2 or b > 6:
                        continue
                    t = 0
                    for one, two in ((p2, p3), (p3, p4), (p4, p5), (p5, p6), (p6, p7), (p7, p8), (p8, p9), (p9, p2)):
                        if one == 0 and two == 1:
                            t += 1
                    if t != 1:
                        continue
                    if phase == 0:
                        if p2 * p4 * p6 == 0 and p4 * p6 * p8 == 0:
                            gone[i, j] = 1
                    elif p2 * p4 * p8 == 0 and p2 * p6 * p8 == 0:
                        gone[i, j] = 1
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    if gone[i, j]:
                        a[i, j] = 0
                        changed += 1
        rounds += 1
    return rounds


@program("matrix profile of a series", lambda n: (np.cumsum(f8(n) - 0.5), 8, zeros(n), zeros(n, np.int64)), 40, 8000)
def profile(x, w, best, where):
    n = len(x) - w + 1
    mean = np.zeros(n)
    spread = np.zeros(n)
    for i in range(n):
        s = 0.0
        q = 0.0
        for k in range(w):
            s += x[i + k]
            q += x[i + k] * x[i + k]
        mean[i] = s / w
        spread[i] = math.sqrt(max(q / w - mean[i] * mean[i], 1e-12))
    for i in range(n):
        best[i] = 1e300
    for d in range(w // 2, n):
        dot = 0.0
        for k in range(w):
            dot += x[k] * x[d + k]
        for i in range(n - d):
            j = i + d
            if i > 0:
                dot += x[i + w - 1] * x[j + w - 1] - x[i - 1] * x[j - 1]
            c = (dot / w - mean[i] * mean[j]) / (spread[i] * spread[j])
            r = 2 * w * (1 - c)
            if r < best[i]:
                best[i] = r
                where[i] = j
            if r < best[j]:
                best[j] = r
                where[j] = i


@program(
    "series as words, SAX", lambda n: (f8(n, 128), np.array([-0.67, 0.0, 0.67]), zeros((n, 8), np.uint8)), 10, 60_000
)
def sax(x, cuts, o):
    for r in range(x.shape[0]):
        s = 0.0
        for i in range(128):
            s += x[r, i]
        mean = s / 128
        v = 0.0
        for i in range(128):
            v += (x[r, i] - mean) ** 2
        std = math.sqrt(v / 128)
        for k in range(8):
            part = 0.0
            for i in range(16 * k, 16 * k + 16):
                part += x[r, i]
            z = (part / 16 - mean) / std
            c = 0
            while c < len(cuts) and z > cuts[c]:
                c += 1
            o[r, k] = 97 + c


@program("one queue, six servers", lambda n: (np.cumsum(f8(n)), 5 * f8(n), zeros(n)), 200, 2_000_000)
def servers(arrives, takes, waits):
    free = np.zeros(6)
    busiest = 0.0
    for i in range(len(arrives)):
        k = 0
        for s in range(1, 6):
            if free[s] < free[k]:
                k = s
        start = max(arrives[i], free[k])
        waits[i] = start - arrives[i]
        free[k] = start + takes[i]
        busiest = max(busiest, waits[i])
    return busiest


@program("a line at a counter, its length", lambda n: (n, 0.9, zeros(64, np.int64)), 300, 5_000_000)
def counter(n, load, lengths):
    state = np.uint64(88172645463325252)
    t_in = 0.0
    t_out = 1e300
    waiting = 0
    for _ in range(n):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        u = (float(state >> np.uint64(11)) + 1.0) / 9007199254740993.0
        if t_in < t_out:
            now = t_in
            waiting += 1
            t_in = now - math.log(u) / load
            if waiting == 1:
                t_out = now - math.log(1.0 - 0.999 * u)
        else:
            now = t_out
            waiting -= 1
            t_out = now - math.log(u) if waiting > 0 else 1e300
        lengths[min(waiting, 63)] += 1
    return waiting


@program("a tour shortened, 2-opt", lambda n: (f8(n), np.roll(f8(n), 7)[::-1].copy(), np.arange(n)), 12, 400)
def two_opt(x, y, tour):
    n = len(tour)
    rounds = 0
    better = True
    while better and rounds < 50:
        better = False
        rounds += 1
        for i in range(n - 2):
            a = tour[i]
            b = tour[i + 1]
            ab = math.sqrt((x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2)
            for j in range(i + 2, n - 1):
                c = tour[j]
                d = tour[j + 1]
                cd = math.sqrt((x[c] - x[d]) ** 2 + (y[c] - y[d]) ** 2)
                ac = math.sqrt((x[a] - x[c]) ** 2 + (y[a] - y[c]) ** 2)
                bd = math.sqrt((x[b] - x[d]) ** 2 + (y[b] - y[d]) ** 2)
                if ac + bd < ab + cd - 1e-12:
                    low = i + 1
                    high = j
                    while low < high:
                        t = tour[low]
                        tour[low] = tour[high]
                        tour[high] = t
                        low += 1
                        high -= 1
                    b = tour[i + 1]
                    ab = math.sqrt((x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2)
                    better = True
    return rounds


@program(
    "moves of 2048",
    lambda n: (np.where(whole(3, n, 4, 4) == 0, 0, 1 + whole(4, n, 4, 4)), zeros(n, np.int64)),
    30,
    300_000,
)
def merged_tiles(boards, score):
    for b in range(boards.shape[0]):
        for r in range(4):
            at = 0
            last = 0
            for c in range(4):
                v = boards[b, r, c]
                if v == 0:
                    continue
                boards[b, r, c] = 0
                if v == last:
                    boards[b, r, at - 1] = v + 1
                    score[b] += 1 << (v + 1)
                    last = 0
                else:
                    boards[b, r, at] = v
                    at += 1
                    last = v


@program(
    "rows of four on boards of bits",
    lambda n: (whole(1 << 49, n), whole(1 << 49, n), zeros(n, np.int8)),
    100,
    5_000_000,
)
def four(mine, theirs, o):
    for i in range(len(mine)):
        b = mine[i] & ~theirs[i]
        won = 0
        for shift in (1, 6, 7, 8):
            m = b & (b >> shift)
            if m & (m >> (2 * shift)):
                won = 1
                break
        o[i] = won


@program("reversi, discs that turn", lambda n: (whole(3, n, 8, 8).astype(np.int8), zeros((n, 8, 8), np.int64)), 2, 8000)
def reversi(boards, o):
    for g in range(boards.shape[0]):
        for y in range(8):
            for x in range(8):
                if boards[g, y, x] != 0:
                    continue
                turned = 0
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        if dy == 0 and dx == 0:
                            continue
                        r = y + dy
                        c = x + dx
                        k = 0
                        while 0 <= r < 8 and 0 <= c < 8 and boards[g, r, c] == 2:
                            r += dy
                            c += dx
                            k += 1
                        if 0 <= r < 8 and 0 <= c < 8 and boards[g, r, c] == 1:
                            turned += k
                o[g, y, x] = turned


@program("an automaton of one row, 200 rounds", lambda n: (whole(2, n).astype(np.uint8), 110), 20, 20_000)
def automaton(cells, rule):
    n = len(cells)
    new = np.zeros(n, np.uint8)
    for _ in range(200):
        for i in range(n):
            left = cells[i - 1] if i > 0 else cells[n - 1]
            right = cells[i + 1] if i < n - 1 else cells[0]
            new[i] = (rule >> (left * 4 + cells[i] * 2 + right)) & 1
        for i in range(n):
            cells[i] = new[i]


@program("a forest burns", lambda n: (whole(3, n, n).astype(np.int8), f4(10, n, n)), 8, 800)
def fire(forest, chance):
    n, m = forest.shape
    burnt = 0
    for t in range(chance.shape[0]):
        old = forest.copy()
        for i in range(n):
            for j in range(m):
                if old[i, j] == 2:
                    forest[i, j] = 0
                    burnt += 1
                elif old[i, j] == 1:
                    near = False
                    for y in range(max(i - 1, 0), min(i + 2, n)):
                        for x in range(max(j - 1, 0), min(j + 2, m)):
                            if old[y, x] == 2:
                                near = True
                    if near or chance[t, i, j] < 0.001:
                        forest[i, j] = 2
                elif chance[t, i, j] < 0.05:
                    forest[i, j] = 1
    return burnt


@program(
    "a line simplified, own stack",
    lambda n: (np.cumsum(f8(n) - 0.5), zeros(n, np.bool_), zeros((n, 2), np.int64)),
    40,
    400_000,
)
def simplified(y, kept, stack):
    n = len(y)
    kept[0] = True
    kept[n - 1] = True
    stack[0, 0] = 0
    stack[0, 1] = n - 1
    top = 1
    while top > 0:
        top -= 1
        a = stack[top, 0]
        b = stack[top, 1]
        far = 0.0
        at = -1
        length = math.sqrt((b - a) ** 2 + (y[b] - y[a]) ** 2)
        for i in range(a + 1, b):
            d = abs((y[b] - y[a]) * (i - a) - (b - a) * (y[i] - y[a])) / length
            if d > far:
                far = d
                at = i
        if far > 0.5:
            kept[at] = True
            stack[top, 0] = a
            stack[top, 1] = at
            stack[top + 1, 0] = at
            stack[top + 1, 1] = b
            top += 2


@program(
    "triangles drawn with depths",
    lambda n: (np.float32(60) * f4(n, 3, 2), f4(n, 3), np.full((64, 64), 9, np.float32), np.full((64, 64), -1)),
    4,
    3000,
)
def drawn(corner, depth, z, which):
    for t in range(corner.shape[0]):
        x0, y0 = corner[t, 0, 0], corner[t, 0, 1]
        x1, y1 = corner[t, 1, 0], corner[t, 1, 1]
        x2, y2 = corner[t, 2, 0], corner[t, 2, 1]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area == 0:
            continue
        for y in range(int(min(y0, y1, y2)), int(max(y0, y1, y2)) + 1):
            for x in range(int(min(x0, x1, x2)), int(max(x0, x1, x2)) + 1):
                px = np.float32(x) + np.float32(0.5)
                py = np.float32(y) + np.float32(0.5)
                a = ((x1 - px) * (y2 - py) - (x2 - px) * (y1 - py)) / area
                b = ((x2 - px) * (y0 - py) - (x0 - px) * (y2 - py)) / area
                c = np.float32(1) - a - b
                if a < 0 or b < 0 or c < 0:
                    continue
                d = a * depth[t, 0] + b * depth[t, 1] + c * depth[t, 2]
                if d < z[y, x]:
                    z[y, x] = d
                    which[y, x] = t


@program(
    "rays through cells",
    lambda n: (f8(n, 2), 6.28 * f8(n), (f8(64, 64) > 0.97).astype(np.uint8), zeros(n)),
    20,
    200_000,
)
def rays(start, angle, solid, o):
    h, w = solid.shape
    for i in range(len(angle)):
        dx = math.cos(angle[i])
        dy = math.sin(angle[i])
        px = start[i, 0] * w
        py = start[i, 1] * h
        x = int(px)
        y = int(py)
        sx = 1 if dx > 0 else -1
        sy = 1 if dy > 0 else -1
        ix = abs(1 / dx) if dx != 0 else 1e30
        iy = abs(1 / dy) if dy != 0 else 1e30
        tx = (x + 1 - px) * ix if dx > 0 else (px - x) * ix
        ty = (y + 1 - py) * iy if dy > 0 else (py - y) * iy
        t = 0.0
        while 0 <= x < w and 0 <= y < h:
            if solid[y, x]:
                break
            if tx < ty:
                t = tx
                tx += ix
                x += sx
            else:
                t = ty
                ty += iy
                y += sy
        o[i] = t


@program(
    "a word found with up to two errors",
    lambda n: (97 + whole(4, n).astype(np.uint8), 97 + whole(4, 12).astype(np.uint8), zeros(n, np.int64)),
    200,
    3_000_000,
)
def fuzzy(text, word, places):
    found = 0
    for i in range(len(text) - len(word) + 1):
        errors = 0
        for k in range(len(word)):
            if text[i + k] != word[k]:
                errors += 1
                if errors > 2:
                    break
        if errors <= 2:
            places[found] = i
            found += 1
    return found


def _csv(n):
    letters = np.frombuffer(b'abcdefgh,12.3,"x\n', np.uint8)
    return letters[whole(len(letters), n)], zeros(n, np.int32), zeros(n, np.int32)


@program("fields of a table in text", _csv, 200, 5_000_000)
def fields(text, starts, lengths):
    quoted = False
    begin = 0
    count = 0
    lines = 0
    for i in range(len(text)):
        c = text[i]
        if c == 34:
            quoted = not quoted
        elif not quoted and (c == 44 or c == 10):
            starts[count] = begin
            lengths[count] = i - begin
            count += 1
            begin = i + 1
            if c == 10:
                lines += 1
    return count, lines


@program(
    "words in lower case, hashed",
    lambda n: (np.where(whole(6, n) == 0, 32, 65 + whole(26, n)).astype(np.uint8), zeros(4096, np.int64)),
    200,
    4_000_000,
)
def hashed(text, counts):
    h = 5381
    inside = False
    for i in range(len(text)):
        c = int(text[i])
        if 65 <= c <= 90:
            c += 32
        if 97 <= c <= 122:
            h = (h * 33 + c) & 0xFFFFFFFF
            inside = True
        elif inside:
            counts[h % 4096] += 1
            h = 5381
            inside = False


@program(
    "ratings of players, Elo", lambda n: (whole(500, n), whole(500, n), f8(n), np.full(500, 1500.0)), 200, 1_000_000
)
def elo(white, black, result, rating):
    for g in range(len(white)):
        a = white[g]
        b = black[g]
        expected = 1.0 / (1.0 + 10.0 ** ((rating[b] - rating[a]) / 400.0))
        won = 1.0 if result[g] < 0.4 else (0.5 if result[g] < 0.6 else 0.0)
        change = 20.0 * (won - expected)
        rating[a] += change
        rating[b] -= change


@program(
    "order of a chain of products",
    lambda n: (5 + whole(50, n), zeros((n, n), np.int64), zeros((n, n), np.int64)),
    12,
    800,
)
def chain(size, cost, cut):
    n = len(size) - 1
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 1 << 60
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + size[i] * size[k + 1] * size[j + 1]
                if c < cost[i, j]:
                    cost[i, j] = c
                    cut[i, j] = k
    return cost[0, n - 1]
