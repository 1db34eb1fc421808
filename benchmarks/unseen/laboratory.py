"""Part of a sixteenth set, written without a look at the recipe: what laboratories and banks of kernels compute."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _aidw(n):
    return f8(n), f8(n)[::-1].copy(), f8(n) + 1, f8(n) * 0.9, f8(n)[::-1] * 0.9 + 0.05, zeros(n), 1.0 / n


@program("interpolated by distances, power adapted", _aidw, 150, 16_000)
def adaptive_idw(px, py, pv, qx, qy, out, area):
    n = px.size
    expected = 0.5 * math.sqrt(area)
    for q in range(qx.size):
        nearest = 1e300
        for k in range(n):
            dx = px[k] - qx[q]
            dy = py[k] - qy[q]
            d = dx * dx + dy * dy
            if d < nearest:
                nearest = d
        ratio = math.sqrt(nearest) / expected
        if ratio < 0.5:
            power = 1.0
        elif ratio < 1.5:
            power = 1.0 + 2.0 * (ratio - 0.5)
        else:
            power = 3.0
        top = 0.0
        bottom = 0.0
        for k in range(n):
            dx = px[k] - qx[q]
            dy = py[k] - qy[q]
            w = 1.0 / (dx * dx + dy * dy + 1e-12) ** (0.5 * power)
            top += w * pv[k]
            bottom += w
        out[q] = top / bottom


def _chi(n):
    return whole(3, n, 200).astype(np.uint8), whole(2, 200).astype(np.uint8), zeros(n)


@program("cases against controls, chi squared", _chi, 100, 400_000)
def chi_squared(genotype, case, out):
    sites, people = genotype.shape
    for s in range(sites):
        count = np.zeros((2, 3))
        for p in range(people):
            count[case[p], genotype[s, p]] += 1.0
        total = 0.0
        for a in range(2):
            row = count[a, 0] + count[a, 1] + count[a, 2]
            for b in range(3):
                column = count[0, b] + count[1, b]
                expected = row * column / people
                if expected > 0:
                    total += (count[a, b] - expected) ** 2 / expected
        out[s] = total


def _field(n):
    log = np.zeros(256, dtype=np.int32)
    exp = np.zeros(512, dtype=np.uint8)
    x = 1
    for i in range(255):
        exp[i] = x
        exp[i + 255] = x
        log[x] = i
        x <<= 1
        if x & 256:
            x ^= 0x11D
    return whole(256, 10, n).astype(np.uint8), whole(256, 4, 10).astype(np.uint8), log, exp, zeros((4, n), np.uint8)


@program("parity of blocks in a field of 256", _field, 800, 16_000_000)
def parity_blocks(data, matrix, log, exp, out):
    for r in range(matrix.shape[0]):
        for j in range(data.shape[1]):
            acc = 0
            for k in range(data.shape[0]):
                a = matrix[r, k]
                b = data[k, j]
                if a != 0 and b != 0:
                    acc ^= exp[log[a] + log[b]]
            out[r, j] = acc


def _sturm(n):
    return 2 + f8(n), 0.5 * f8(n), zeros(n)


@program("eigenvalues of a tridiagonal matrix by counts", _sturm, 24, 4_000)
def sturm_bisection(d, e, out):
    n = d.size
    low = 1e300
    high = -1e300
    for i in range(n):
        r = 0.0
        if i > 0:
            r += abs(e[i - 1])
        if i < n - 1:
            r += abs(e[i])
        low = min(low, d[i] - r)
        high = max(high, d[i] + r)
    for k in range(n):
        a = low
        b = high
        for _ in range(40):
            x = 0.5 * (a + b)
            count = 0
            q = d[0] - x
            if q < 0:
                count += 1
            for i in range(1, n):
                if abs(q) < 1e-300:
                    q = 1e-300
                q = d[i] - x - e[i - 1] * e[i - 1] / q
                if q < 0:
                    count += 1
            if count > k:
                b = x
            else:
                a = x
        out[k] = 0.5 * (a + b)


def _entropy(n):
    return whole(16, n, n).astype(np.uint8), zeros((n, n), np.float32)


@program("entropy of windows of 5 by 5", _entropy, 20, 2_000)
def window_entropy(image, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            count = [0] * 16
            total = 0
            for dy in range(-2, 3):
                for dx in range(-2, 3):
                    yy = y + dy
                    xx = x + dx
                    if 0 <= yy < h and 0 <= xx < w:
                        count[image[yy, xx]] += 1
                        total += 1
            s = 0.0
            for k in range(16):
                if count[k] > 0:
                    p = count[k] / total
                    s -= p * math.log2(p)
            out[y, x] = s


def _keogh(n):
    return f4(n) * 2, f4(256), 16, zeros(n - 255, np.float32)


@program("bounds of warped distances, Keogh", _keogh, 400, 1_000_000)
def keogh(series, query, reach, out):
    m = query.size
    upper = np.empty(m, dtype=np.float32)
    lower = np.empty(m, dtype=np.float32)
    for i in range(m):
        first = max(0, i - reach)
        last = min(m, i + reach + 1)
        upper[i] = query[first:last].max()
        lower[i] = query[first:last].min()
    for s in range(series.size - m + 1):
        total = 0.0
        for i in range(m):
            v = series[s + i]
            if v > upper[i]:
                total += (v - upper[i]) ** 2
            elif v < lower[i]:
                total += (v - lower[i]) ** 2
        out[s] = math.sqrt(total)


def _hausdorff(n):
    return f4(n, 3), f4(n, 3)[::-1] + np.float32(0.1)


@program("farthest of the nearest, Hausdorff", _hausdorff, 120, 32_000)
def hausdorff(a, b):
    worst = 0.0
    for i in range(a.shape[0]):
        best = math.inf
        for j in range(b.shape[0]):
            d = (a[i, 0] - b[j, 0]) ** 2 + (a[i, 1] - b[j, 1]) ** 2 + (a[i, 2] - b[j, 2]) ** 2
            if d < best:
                best = d
        worst = max(worst, best)
    for j in range(b.shape[0]):
        best = math.inf
        for i in range(a.shape[0]):
            d = (a[i, 0] - b[j, 0]) ** 2 + (a[i, 1] - b[j, 1]) ** 2 + (a[i, 2] - b[j, 2]) ** 2
            if d < best:
                best = d
        worst = max(worst, best)
    return math.sqrt(worst)


def _gabor(n):
    return f4(n, n), 8, 4, zeros((8, n - 16, n - 16), np.float32)


@program("a bank of Gabor filters", _gabor, 22, 1_000)
def gabor(image, angles, reach, out):
    taps = np.zeros((angles, 17, 17), dtype=np.float32)
    for a in range(angles):
        c = math.cos(math.pi * a / angles)
        s = math.sin(math.pi * a / angles)
        for y in range(17):
            for x in range(17):
                u = c * (x - 8) + s * (y - 8)
                v = -s * (x - 8) + c * (y - 8)
                taps[a, y, x] = math.exp(-(u * u + 0.25 * v * v) / (2 * reach * reach)) * math.cos(2 * math.pi * u / 8)
    for a in range(angles):
        for y in range(image.shape[0] - 16):
            for x in range(image.shape[1] - 16):
                total = np.float32(0)
                for dy in range(17):
                    for dx in range(17):
                        total += taps[a, dy, dx] * image[y + dy, x + dx]
                out[a, y, x] = total


def _arms(n):
    return f4(n) * 0.6 + 0.2, f4(n)[::-1] * 0.6 + 0.2, zeros((n, 3), np.float32)


@program("joints of an arm by turns, inverse kinematics", _arms, 60, 1_000_000)
def inverse_kinematics(tx, ty, out):
    for i in range(tx.size):
        angle = np.zeros(3)
        for _turn in range(25):
            for joint in range(2, -1, -1):
                ex = 0.0
                ey = 0.0
                px = 0.0
                py = 0.0
                total = 0.0
                for k in range(3):
                    if k == joint:
                        px = ex
                        py = ey
                    total += angle[k]
                    ex += 0.4 * math.cos(total)
                    ey += 0.4 * math.sin(total)
                to_end = math.atan2(ey - py, ex - px)
                to_target = math.atan2(ty[i] - py, tx[i] - px)
                angle[joint] += to_target - to_end
        for k in range(3):
            out[i, k] = angle[k]


def _matern(n):
    return f8(n, 3), 0.3, zeros((n, n))


@program("covariances after Matern", _matern, 60, 8_000)
def matern(x, scale, out):
    n, d = x.shape
    for i in range(n):
        for j in range(i + 1):
            r = 0.0
            for k in range(d):
                r += (x[i, k] - x[j, k]) ** 2
            r = math.sqrt(5.0 * r) / scale
            value = (1.0 + r + r * r / 3.0) * math.exp(-r)
            out[i, j] = value
            out[j, i] = value
        out[i, i] += 1e-6


def _swarm(n):
    x = f8(n, 16) * 10 - 5
    return x, zeros((n, 16)), x.copy(), np.full(n, 1e300), zeros(16), whole(1 << 30, n).astype(np.uint32), 30


@program("a swarm that looks for the least, Rastrigin", _swarm, 12, 100_000)
def particle_swarm(x, v, best, best_value, leader, seed, rounds):
    n, d = x.shape
    leader_value = 1e300
    for _round in range(rounds):
        for i in range(n):
            value = 10.0 * d
            for k in range(d):
                value += x[i, k] ** 2 - 10.0 * math.cos(2 * math.pi * x[i, k])
            if value < best_value[i]:
                best_value[i] = value
                for k in range(d):
                    best[i, k] = x[i, k]
        where = 0
        for i in range(n):
            if best_value[i] < best_value[where]:
                where = i
        if best_value[where] < leader_value:
            leader_value = best_value[where]
            for k in range(d):
                leader[k] = best[where, k]
        for i in range(n):
            s = seed[i]
            for k in range(d):
                s = np.uint32(s * np.uint32(1664525) + np.uint32(1013904223))
                r1 = (s >> np.uint32(8)) / 16777216.0
                s = np.uint32(s * np.uint32(1664525) + np.uint32(1013904223))
                r2 = (s >> np.uint32(8)) / 16777216.0
                v[i, k] = 0.7 * v[i, k] + 1.5 * r1 * (best[i, k] - x[i, k]) + 1.5 * r2 * (leader[k] - x[i, k])
                x[i, k] = min(5.12, max(-5.12, x[i, k] + v[i, k]))
            seed[i] = s
    return leader_value


def _lists(n):
    order = np.random.default_rng(4).permutation(n)
    following = np.empty(n, dtype=np.int64)
    following[order[:-1]] = order[1:]
    following[order[-1]] = order[-1]
    return following, zeros(n, np.int64)


@program("places in a linked list, pointers doubled", _lists, 200, 4_000_000)
def list_ranks(following, rank):
    n = following.size
    for i in range(n):
        rank[i] = 0 if following[i] == i else 1
    step = 1
    while step < n:
        new_rank = rank.copy()
        new_following = following.copy()
        for i in range(n):
            new_rank[i] = rank[i] + rank[following[i]]
            new_following[i] = following[following[i]]
        rank[:] = new_rank
        following[:] = new_following
        step *= 2


def _transposed(n):
    return f4(n, 8, n, 6, 10), zeros((10, n, 8, 6, n), np.float32)


@program("axes of five turned", _transposed, 5, 300)
def turned_axes(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                for m in range(a.shape[3]):
                    for p in range(a.shape[4]):
                        out[p, k, j, m, i] = a[i, j, k, m, p]


def _tones(n):
    return f4(n, n, 3) * 50, 0.18, zeros((n, n, 3), np.float32)


@program("a bright picture toned down, Reinhard", _tones, 24, 4_000)
def tone_mapping(image, key, out):
    h, w, _ = image.shape
    total = 0.0
    brightest = 0.0
    for y in range(h):
        for x in range(w):
            lum = 0.2126 * image[y, x, 0] + 0.7152 * image[y, x, 1] + 0.0722 * image[y, x, 2]
            total += math.log(1e-6 + lum)
            brightest = max(brightest, lum)
    mean = math.exp(total / (h * w))
    white = key / mean * brightest
    for y in range(h):
        for x in range(w):
            lum = 0.2126 * image[y, x, 0] + 0.7152 * image[y, x, 1] + 0.0722 * image[y, x, 2]
            scaled = key / mean * lum
            shown = scaled * (1.0 + scaled / (white * white)) / (1.0 + scaled)
            for c in range(3):
                value = (image[y, x, c] / (lum + 1e-6)) * shown
                out[y, x, c] = min(1.0, value) ** (1 / 2.2)


def _trotter(n):
    return f8(n, n), f8(n, n)[::-1].copy(), math.cos(0.1), math.sin(0.1), 10


@program("pairs of cells turned, Trotter and Suzuki", _trotter, 16, 3_000)
def trotter(re, im, c, s, steps):
    n, m = re.shape
    for _step in range(steps):
        for start in range(2):
            for y in range(n):
                for x in range(start, m - 1, 2):
                    a = re[y, x]
                    b = im[y, x]
                    p = re[y, x + 1]
                    q = im[y, x + 1]
                    re[y, x] = c * a - s * q
                    im[y, x] = c * b + s * p
                    re[y, x + 1] = c * p - s * b
                    im[y, x + 1] = c * q + s * a
        for start in range(2):
            for y in range(start, n - 1, 2):
                for x in range(m):
                    a = re[y, x]
                    b = im[y, x]
                    p = re[y + 1, x]
                    q = im[y + 1, x]
                    re[y, x] = c * a - s * q
                    im[y, x] = c * b + s * p
                    re[y + 1, x] = c * p - s * b
                    im[y + 1, x] = c * q + s * a


def _volumes(n):
    return f4(8, n, n, n), zeros((8 * 27, n * n * n), np.float32)


@program("a volume unfolded into columns", _volumes, 5, 100)
def unfolded_volume(data, columns):
    channels, depth, height, width = data.shape
    for c in range(channels * 27):
        dx = c % 3 - 1
        dy = (c // 3) % 3 - 1
        dz = (c // 9) % 3 - 1
        ch = c // 27
        for z in range(depth):
            for y in range(height):
                for x in range(width):
                    zz = z + dz
                    yy = y + dy
                    xx = x + dx
                    if 0 <= zz < depth and 0 <= yy < height and 0 <= xx < width:
                        columns[c, (z * height + y) * width + x] = data[ch, zz, yy, xx]
                    else:
                        columns[c, (z * height + y) * width + x] = 0.0


def _lookups(n):
    grid = np.sort(f8(60, 1000), axis=1)
    return f8(n), whole(60, n, 12), f8(n, 12), grid, f8(60, 1000, 5), zeros((n, 5))


@program("cross sections looked up, five at a time", _lookups, 40, 1_000_000)
def cross_sections(energy, nuclide, density, grid, table, out):
    for i in range(energy.size):
        total = np.zeros(5)
        for k in range(nuclide.shape[1]):
            m = nuclide[i, k]
            low = 0
            high = grid.shape[1] - 1
            while high - low > 1:
                mid = (low + high) // 2
                if grid[m, mid] > energy[i]:
                    high = mid
                else:
                    low = mid
            f = (grid[m, high] - energy[i]) / (grid[m, high] - grid[m, low])
            for r in range(5):
                total[r] += density[i, k] * (table[m, high, r] - f * (table[m, high, r] - table[m, low, r]))
        for r in range(5):
            out[i, r] = total[r]


def _perplexity(n):
    return f8(n, n) * 4, math.log(20.0), zeros((n, n))


@program("widths found for a perplexity", _perplexity, 24, 4_000)
def perplexity(distance, wanted, p):
    n = distance.shape[0]
    for i in range(n):
        low = 0.0
        high = math.inf
        beta = 1.0
        for _ in range(40):
            total = 0.0
            moment = 0.0
            for j in range(n):
                if j != i:
                    w = math.exp(-distance[i, j] * beta)
                    total += w
                    moment += w * distance[i, j]
            entropy = math.log(total) + beta * moment / total
            if abs(entropy - wanted) < 1e-6:
                break
            if entropy > wanted:
                low = beta
                beta = beta * 2 if high == math.inf else 0.5 * (beta + high)
            else:
                high = beta
                beta = 0.5 * (beta + low)
        total = 0.0
        for j in range(n):
            if j != i:
                p[i, j] = math.exp(-distance[i, j] * beta)
                total += p[i, j]
        for j in range(n):
            p[i, j] /= total


def _updates(n):
    return np.arange(1 << 20, dtype=np.uint64), whole(1 << 62, n).astype(np.uint64)


@program("a table changed at random places", _updates, 500, 8_000_000)
def random_access(table, stream):
    mask = np.uint64(table.size - 1)
    for i in range(stream.size):
        table[stream[i] & mask] ^= stream[i]


def _soils(n):
    return f8(n) * 4 - 4.0, zeros(n), zeros(n), zeros(n), 0.02, 0.45, 3.6, 1.56, 0.25


@program("water in soils, van Genuchten", _soils, 800, 8_000_000)
def van_genuchten(psi, theta, capacity, conductivity, residual, saturated, alpha, shape, top):
    lam = 1.0 - 1.0 / shape
    for i in range(psi.size):
        h = -100.0 * psi[i] if psi[i] < 0 else 0.0
        ah = (alpha * 0.01 * h) ** shape
        se = (1.0 + ah) ** (-lam)
        theta[i] = se * (saturated - residual) + residual
        t = (1.0 - (1.0 - se ** (1.0 / lam)) ** lam) if se < 1.0 else 1.0
        conductivity[i] = top * math.sqrt(se) * t * t
        if h > 0:
            capacity[i] = (saturated - residual) * shape * lam * ah / h * (1.0 + ah) ** (-lam - 1.0)
        else:
            capacity[i] = 0.0
