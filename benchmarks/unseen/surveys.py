"""Part of a seventh set, written without a look at the recipe: images, terrain, graphs, genomes, signals."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("steepest way down", lambda n: (f8(n, n), zeros((n, n), np.int8)), 12, 4000)
def steepest(z, direction):
    di = np.array([0, 1, 1, 1, 0, -1, -1, -1])
    dj = np.array([1, 1, 0, -1, -1, -1, 0, 1])
    n, m = z.shape
    for i in range(n):
        for j in range(m):
            best = 0.0
            where = -1
            for k in range(8):
                a = i + di[k]
                b = j + dj[k]
                if a < 0 or a >= n or b < 0 or b >= m:
                    continue
                length = math.sqrt(2.0) if k % 2 == 1 else 1.0
                slope = (z[i, j] - z[a, b]) / length
                if slope > best:
                    best = slope
                    where = k
            direction[i, j] = where


@program("hills shaded", lambda n: (f4(n, n), zeros((n, n), np.float32)), 12, 6000)
def hillshade(z, out):
    for i in range(1, z.shape[0] - 1):
        for j in range(1, z.shape[1] - 1):
            dx = (
                (z[i - 1, j + 1] + 2 * z[i, j + 1] + z[i + 1, j + 1])
                - (z[i - 1, j - 1] + 2 * z[i, j - 1] + z[i + 1, j - 1])
            ) / 8
            dy = (
                (z[i + 1, j - 1] + 2 * z[i + 1, j] + z[i + 1, j + 1])
                - (z[i - 1, j - 1] + 2 * z[i - 1, j] + z[i - 1, j + 1])
            ) / 8
            slope = math.atan(math.sqrt(dx * dx + dy * dy))
            aspect = math.atan2(dy, -dx)
            out[i, j] = max(
                0.0, math.cos(0.78) * math.cos(slope) + math.sin(0.78) * math.sin(slope) * math.cos(2.3 - aspect)
            )


def _clouds(n):
    x = f4(12, n, n)
    x[x > 0.8] = np.nan
    return x, zeros((n, n), np.float32)


@program("median over time, gaps left out", _clouds, 8, 1500)
def composite(x, out):
    nt, h, w = x.shape
    values = np.empty(nt, np.float32)
    for i in range(h):
        for j in range(w):
            n = 0
            for t in range(nt):
                if not np.isnan(x[t, i, j]):
                    v = x[t, i, j]
                    k = n
                    while k > 0 and values[k - 1] > v:
                        values[k] = values[k - 1]
                        k -= 1
                    values[k] = v
                    n += 1
            if n == 0:
                out[i, j] = np.nan
            elif n % 2 == 1:
                out[i, j] = values[n // 2]
            else:
                out[i, j] = 0.5 * (values[n // 2 - 1] + values[n // 2])


@program("spectra to classes by angle", lambda n: (f4(n, 60), f4(12, 60), zeros(n, np.int32)), 30, 500_000)
def spectral_angle(x, reference, label):
    for p in range(x.shape[0]):
        best = 10.0
        for c in range(reference.shape[0]):
            dot = 0.0
            a = 0.0
            b = 0.0
            for k in range(x.shape[1]):
                dot += x[p, k] * reference[c, k]
                a += x[p, k] ** 2
                b += reference[c, k] ** 2
            angle = math.acos(min(1.0, dot / math.sqrt(a * b)))
            if angle < best:
                best = angle
                label[p] = c


@program("rain between stations", lambda n: (f8(200), f8(200), f8(200), zeros((n, n))), 10, 1500)
def idw(sx, sy, value, grid):
    n = grid.shape[0]
    for i in range(n):
        for j in range(n):
            num = 0.0
            den = 0.0
            exact = -1
            for s in range(sx.shape[0]):
                d2 = (sx[s] - j / n) ** 2 + (sy[s] - i / n) ** 2
                if d2 < 1e-12:
                    exact = s
                    break
                w = 1 / d2
                num += w * value[s]
                den += w
            grid[i, j] = value[exact] if exact >= 0 else num / den


@program(
    "snow by degrees and days",
    lambda n: (f8(200, n) * 10, f8(200, n) * 30 - 10, zeros((200, n)), zeros((200, n))),
    10,
    100_000,
)
def snow(rain, temperature, pack, melt):
    nt, n = rain.shape
    for p in range(n):
        store = 0.0
        for t in range(nt):
            if temperature[t, p] < 0:
                store += rain[t, p]
                m = 0.0
            else:
                m = min(store, 3.0 * temperature[t, p])
                store -= m
            pack[t, p] = store
            melt[t, p] = m


@program("patches alike, averaged", lambda n: (f4(n, n), zeros((n, n), np.float32)), 16, 500)
def non_local_means(x, out):
    n, m = x.shape
    for i in range(6, n - 6):
        for j in range(6, m - 6):
            total = 0.0
            weights = 0.0
            for a in range(-4, 5):
                for b in range(-4, 5):
                    d = 0.0
                    for p in range(-2, 3):
                        for q in range(-2, 3):
                            e = x[i + p, j + q] - x[i + a + p, j + b + q]
                            d += e * e
                    w = math.exp(-d / 0.5)
                    total += w * x[i + a, j + b]
                    weights += w
            out[i, j] = total / weights


@program("motion by Lucas and Kanade", lambda n: (f4(n, n), f4(n, n), zeros((n, n)), zeros((n, n))), 16, 1200)
def lucas_kanade(a, b, u, v):
    n, m = a.shape
    ix = np.zeros((n, m))
    iy = np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            ix[i, j] = 0.5 * (a[i, j + 1] - a[i, j - 1])
            iy[i, j] = 0.5 * (a[i + 1, j] - a[i - 1, j])
    it = b - a
    for i in range(4, n - 4):
        for j in range(4, m - 4):
            gx = ix[i - 3 : i + 4, j - 3 : j + 4]
            gy = iy[i - 3 : i + 4, j - 3 : j + 4]
            gt = it[i - 3 : i + 4, j - 3 : j + 4]
            xx = np.sum(gx * gx)
            xy = np.sum(gx * gy)
            yy = np.sum(gy * gy)
            xt = np.sum(gx * gt)
            yt = np.sum(gy * gt)
            det = xx * yy - xy * xy
            if det > 1e-6:
                u[i, j] = (-yy * xt + xy * yt) / det
                v[i, j] = (xy * xt - xx * yt) / det


@program("gradients by direction, cells", lambda n: (f4(n, n), zeros((n // 8, n // 8, 9))), 24, 3000)
def hog(x, hist):
    n, m = x.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            gx = x[i, j + 1] - x[i, j - 1]
            gy = x[i + 1, j] - x[i - 1, j]
            size = math.sqrt(gx * gx + gy * gy)
            angle = math.atan2(gy, gx)
            if angle < 0:
                angle += math.pi
            k = min(int(angle / math.pi * 9), 8)
            if i // 8 < hist.shape[0] and j // 8 < hist.shape[1]:
                hist[i // 8, j // 8, k] += size


@program("blurred, edges mirrored", lambda n: (f4(n, n), f4(11), zeros((n, n), np.float32)), 16, 3000)
def blurred(x, k, out):
    h, w = x.shape
    r = len(k) // 2
    temp = np.zeros_like(x)
    for i in range(h):
        for j in range(w):
            s = np.float32(0)
            for q in range(-r, r + 1):
                jj = abs(j + q)
                if jj >= w:
                    jj = 2 * w - 2 - jj
                s += k[q + r] * x[i, jj]
            temp[i, j] = s
    for i in range(h):
        for j in range(w):
            s = np.float32(0)
            for q in range(-r, r + 1):
                ii = abs(i + q)
                if ii >= h:
                    ii = 2 * h - 2 - ii
                s += k[q + r] * temp[ii, j]
            out[i, j] = s


def _sampled(n):
    return f4(n, 16, 40, 40), f4(n, 40, 40, 2) * 2 - 1, zeros((n, 16, 40, 40), np.float32)


@program("features sampled at a flow", _sampled, 1, 128)
def grid_sample(x, flow, o):
    n, ch, h, w = x.shape
    for b in range(n):
        for c in range(ch):
            for i in range(h):
                for j in range(w):
                    px = (flow[b, i, j, 0] + 1) * 0.5 * (w - 1)
                    py = (flow[b, i, j, 1] + 1) * 0.5 * (h - 1)
                    x0, y0 = int(np.floor(px)), int(np.floor(py))
                    s = 0.0
                    for dy in range(2):
                        for dx in range(2):
                            xx, yy = x0 + dx, y0 + dy
                            if 0 <= xx < w and 0 <= yy < h:
                                s += x[b, c, yy, xx] * (1 - abs(px - xx)) * (1 - abs(py - yy))
                    o[b, c, i, j] = s


def _sites(n):
    parents = np.array([[0, 1], [2, 3], [4, 5], [8, 9], [10, 6], [12, 11], [13, 7]])
    return f8(n, 8, 4), parents, f8(15, 4, 4), zeros(n)


@program("likelihood of a tree, sites", _sites, 20, 500_000)
def pruning(tips, children, p, out):
    n = tips.shape[0]
    for site in range(n):
        partial = np.zeros((15, 4))
        partial[:8] = tips[site]
        for k in range(7):
            a, b = children[k]
            for s in range(4):
                left = 0.0
                right = 0.0
                for t in range(4):
                    left += p[a, s, t] * partial[a, t]
                    right += p[b, s, t] * partial[b, t]
                partial[8 + k, s] = left * right
        out[site] = math.log(0.25 * partial[14].sum())


@program("linkage of pairs of sites", lambda n: (whole(3, n, 400).astype(np.int8), zeros((n, n))), 10, 1500)
def linkage(g, r2):
    m, n = g.shape
    for a in range(m):
        for b in range(a):
            sa = 0
            sb = 0
            saa = 0
            sbb = 0
            sab = 0
            for s in range(n):
                x = g[a, s]
                y = g[b, s]
                sa += x
                sb += y
                saa += x * x
                sbb += y * y
                sab += x * y
            va = saa / n - (sa / n) ** 2
            vb = sbb / n - (sb / n) ** 2
            c = sab / n - sa / n * sb / n
            r2[a, b] = c * c / (va * vb + 1e-12)


@program("ways of least length, min plus", lambda n: (f8(n, n), f8(n, n), zeros((n, n))), 16, 1200)
def min_plus(a, b, c):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            best = np.inf
            for k in range(n):
                t = a[i, k] + b[k, j]
                if t < best:
                    best = t
            c[i, j] = best


@program(
    "reachable, product of booleans", lambda n: (f8(n, n) > 0.98, f8(n, n).T > 0.98, zeros((n, n), np.bool_)), 16, 1500
)
def reachable(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                if a[i, k] and b[k, j]:
                    c[i, j] = True
                    break


def _labels(n):
    return np.arange(0, 16 * n + 1, 16), whole(n, 16 * n), whole(6, n), zeros(n, np.int64)


@program("labels by majority", _labels, 30, 1_000_000)
def majority(start, neighbour, label, out):
    for v in range(out.shape[0]):
        votes = np.zeros(6, np.int64)
        for p in range(start[v], start[v + 1]):
            votes[label[neighbour[p]]] += 1
        out[v] = np.argmax(votes)


def _hypotheses(n):
    return f8(2000, 2), whole(2000, n, 2), zeros(n, np.int64)


@program("lines by consensus", _hypotheses, 10, 50_000)
def consensus(p, pick, inliers):
    best = 0
    for h in range(pick.shape[0]):
        a = p[pick[h, 0]]
        b = p[pick[h, 1]]
        dx = b[0] - a[0]
        dy = b[1] - a[1]
        length = np.hypot(dx, dy) + 1e-12
        count = 0
        for i in range(p.shape[0]):
            if abs(dx * (p[i, 1] - a[1]) - dy * (p[i, 0] - a[0])) / length < 0.02:
                count += 1
        inliers[h] = count
        best = max(best, count)
    return best


@program("nearest points and their covariance", lambda n: (f8(n, 3), f8(n, 3), zeros((3, 3))), 40, 20_000)
def nearest_covariance(a, b, c):
    for i in range(a.shape[0]):
        best = 1e30
        at = 0
        for j in range(b.shape[0]):
            d = (a[i, 0] - b[j, 0]) ** 2 + (a[i, 1] - b[j, 1]) ** 2 + (a[i, 2] - b[j, 2]) ** 2
            if d < best:
                best = d
                at = j
        for p in range(3):
            for q in range(3):
                c[p, q] += a[i, p] * b[at, q]


def _boxes(n):
    lo = f8(n, 3)
    return lo, lo + 0.02, zeros((8 * n, 2), np.int64)


@program("boxes that touch, pairs listed", _boxes, 50, 10_000)
def touching(lo, hi, out):
    n = lo.shape[0]
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            if (
                lo[i, 0] <= hi[j, 0]
                and lo[j, 0] <= hi[i, 0]
                and lo[i, 1] <= hi[j, 1]
                and lo[j, 1] <= hi[i, 1]
                and lo[i, 2] <= hi[j, 2]
                and lo[j, 2] <= hi[i, 2]
            ):
                if count < out.shape[0]:
                    out[count, 0] = i
                    out[count, 1] = j
                count += 1
    return count


@program("resampled by a ratio", lambda n: (f4(n), f4(480), zeros(n * 3 // 2, np.float32)), 200, 8_000_000)
def polyphase(x, h, out):
    up, down = 3, 2
    for i in range(out.shape[0]):
        first = i * down // up
        phase = i * down % up
        s = np.float32(0)
        for k in range(h.shape[0] // up):
            if 0 <= first - k < x.shape[0]:
                s += h[phase + k * up] * x[first - k]
        out[i] = s


@program("spectra of frames", lambda n: (f8(n * 64 + 192), zeros((n, 129))), 4, 8000)
def frames(x, out):
    size, hop = 256, 64
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    for f in range(out.shape[0]):
        part = x[f * hop : f * hop + size] * window
        for k in range(size // 2 + 1):
            re = 0.0
            im = 0.0
            for t in range(size):
                angle = 2 * np.pi * ((k * t) % size) / size
                re += part[t] * np.cos(angle)
                im -= part[t] * np.sin(angle)
            out[f, k] = np.sqrt(re * re + im * im)


def _seeds(n):
    return f4(n, n, 3), f8(n // 10 + 1, n // 10 + 1, 5), zeros((n, n), np.int64)


@program("superpixels, nearest seeds", _seeds, 20, 2000)
def superpixels(image, seeds, label):
    h, w, _ = image.shape
    for i in range(h):
        for j in range(w):
            best = np.inf
            for a in range(max(0, i // 10 - 1), min(seeds.shape[0], i // 10 + 2)):
                for b in range(max(0, j // 10 - 1), min(seeds.shape[1], j // 10 + 2)):
                    d = 0.0
                    for c in range(3):
                        d += (image[i, j, c] - seeds[a, b, c]) ** 2
                    d += ((i / 10 - a - seeds[a, b, 3]) ** 2 + (j / 10 - b - seeds[a, b, 4]) ** 2) * 0.1
                    if d < best:
                        best = d
                        label[i, j] = a * seeds.shape[1] + b
