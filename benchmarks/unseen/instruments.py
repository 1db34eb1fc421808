"""Half of a fifteenth set: catalogues of stars, transits, kinetics, catchments, interfaces, crystals, polygons,
spectra, trees of species, tides, moist air, intervals."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, zeros


def _sky(n):
    rng = np.random.default_rng(5)
    dec = np.sort(rng.random(n) * 20 - 10)
    ra = rng.random(n) * 20
    order = np.argsort(dec + rng.normal(0, 1e-4, n))
    return ra, dec, ra[order] + 1e-5, np.sort(dec[order] + 1e-5), 0.02, zeros(n, np.int64) - 1, zeros(n)


@program("stars of two catalogues matched, sorted by declination", _sky, 60, 1_000_000)
def cross_matched(ra1, dec1, ra2, dec2, radius, match, separation):
    low = 0
    n2 = len(ra2)
    for i in range(len(ra1)):
        while low < n2 and dec2[low] < dec1[i] - radius:
            low += 1
        best = radius
        j = low
        scale = math.cos(math.radians(dec1[i]))
        while j < n2 and dec2[j] <= dec1[i] + radius:
            dx = (ra2[j] - ra1[i]) * scale
            if abs(dx) < best:
                dy = dec2[j] - dec1[i]
                d = math.sqrt(dx * dx + dy * dy)
                if d < best:
                    best = d
                    match[i] = j
            j += 1
        separation[i] = best


@program("transits, least squares of boxes", lambda n: (f8(n), np.arange(n) * 0.0200137, 40, zeros(30)), 60, 200_000)
def box_least_squares(flux, time, bins, power):
    total = np.zeros(bins)
    number = np.zeros(bins, np.int64)
    mean = flux.mean()
    for p in range(len(power)):
        period = 1.0 + 0.1 * p
        total[:] = 0.0
        number[:] = 0
        for i in range(len(flux)):
            phase = (time[i] / period) % 1.0
            b = int(phase * bins)
            if b >= bins:
                b = bins - 1
            total[b] += flux[i] - mean
            number[b] += 1
        best = 0.0
        for first in range(bins):
            s = 0.0
            r = 0
            for width in range(1, bins // 4):
                k = (first + width - 1) % bins
                s += total[k]
                r += number[k]
                if 0 < r < len(flux):
                    share = r / len(flux)
                    q = s * s / (share * (1 - share))
                    if q > best:
                        best = q
        power[p] = math.sqrt(best)


@program("Robertson's reactions in cells, Rosenbrock", lambda n: (f8(n, 3), 20, 1e-3), 10, 30_000)
def rosenbrock(c, steps, h):
    gamma = 1.0 + 1.0 / math.sqrt(2.0)
    a = np.zeros((3, 3))
    k1 = np.zeros(3)
    k2 = np.zeros(3)
    for cell in range(c.shape[0]):
        for _ in range(steps):
            x, y, z = c[cell, 0], c[cell, 1], c[cell, 2]
            j = np.zeros((3, 3))
            j[0, 0], j[0, 1], j[0, 2] = -0.04, 1e4 * z, 1e4 * y
            j[1, 0], j[1, 1], j[1, 2] = 0.04, -1e4 * z - 6e7 * y, -1e4 * y
            j[2, 1] = 6e7 * y
            for r in range(3):
                for s in range(3):
                    a[r, s] = -gamma * h * j[r, s]
                a[r, r] += 1.0
            for p in range(3):
                for r in range(p + 1, 3):
                    a[r, p] /= a[p, p]
                    for s in range(p + 1, 3):
                        a[r, s] -= a[r, p] * a[p, s]
            for stage in range(2):
                if stage == 1:
                    x, y, z = x + h * k1[0], y + h * k1[1], z + h * k1[2]
                k2[0] = -0.04 * x + 1e4 * y * z
                k2[2] = 3e7 * y * y
                k2[1] = -k2[0] - k2[2]
                if stage == 1:
                    for r in range(3):
                        k2[r] -= 2 * k1[r]
                for r in range(3):
                    for s in range(r):
                        k2[r] -= a[r, s] * k2[s]
                for r in range(2, -1, -1):
                    for s in range(r + 1, 3):
                        k2[r] -= a[r, s] * k2[s]
                    k2[r] /= a[r, r]
                if stage == 0:
                    for r in range(3):
                        k1[r] = k2[r]
            for r in range(3):
                c[cell, r] += h * (1.5 * k1[r] + 0.5 * k2[r])


@program("catchments with snow, soil and two stores", lambda n: (f8(n, 120) * 9, f8(n, 120) * 20 - 5, f8(n, 5),
    zeros((n, 120))), 5, 20_000)  # fmt: skip
def catchments(rain, temperature, parameters, flow):
    for c in range(rain.shape[0]):
        threshold, melt = parameters[c, 0] * 3 - 1, 1 + 3 * parameters[c, 1]
        capacity, beta = 50 + 200 * parameters[c, 2], 1 + 3 * parameters[c, 3]
        k = 0.05 + 0.3 * parameters[c, 4]
        snow = 0.0
        soil = 30.0
        upper = 5.0
        lower = 20.0
        for t in range(rain.shape[1]):
            p = rain[c, t]
            if temperature[c, t] < threshold:
                snow += p
                p = 0.0
            else:
                m = min(snow, melt * (temperature[c, t] - threshold))
                snow -= m
                p += m
            r = p * (soil / capacity) ** beta
            soil += p - r
            if soil > capacity:
                r += soil - capacity
                soil = capacity
            loss = max(0.0, 0.1 * temperature[c, t]) * min(1.0, soil / (0.7 * capacity))
            soil = max(soil - loss, 0.0)
            upper += r
            down = min(upper, 1.5)
            upper -= down
            lower += down
            fast = k * max(upper - 10, 0.0) + 0.1 * upper
            upper -= fast
            slow = 0.02 * lower
            lower -= slow
            flow[c, t] = fast + slow


@program(
    "rain into soils, Green and Ampt", lambda n: (f8(n) * 8, f8(n) * 2 + 0.1, f8(n) * 20 + 1, zeros(n)), 40, 500_000
)
def infiltrated(hours, conductivity, suction, depth):
    for i in range(len(hours)):
        kt = conductivity[i] * hours[i]
        f = max(kt, 0.1)
        for _ in range(30):
            g = f - suction[i] * math.log(1 + f / suction[i]) - kt
            slope = f / (suction[i] + f)
            new = f - g / slope
            if abs(new - f) < 1e-9:
                f = new
                break
            f = max(new, 1e-6)
        depth[i] = f


@program("an interface in cells, normals and lines", lambda n: (np.clip(f8(n, n) * 3 - 1, 0, 1), zeros((n, n)),
    zeros((n, n)), zeros((n, n))), 8, 2000)  # fmt: skip
def interface(c, nx, ny, offset):
    n, m = c.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            if c[i, j] <= 0.0 or c[i, j] >= 1.0:
                continue
            gx = (
                c[i + 1, j - 1]
                + 2 * c[i + 1, j]
                + c[i + 1, j + 1]
                - c[i - 1, j - 1]
                - 2 * c[i - 1, j]
                - c[i - 1, j + 1]
            )
            gy = (
                c[i - 1, j + 1]
                + 2 * c[i, j + 1]
                + c[i + 1, j + 1]
                - c[i - 1, j - 1]
                - 2 * c[i, j - 1]
                - c[i + 1, j - 1]
            )
            size = abs(gx) + abs(gy)
            if size == 0:
                continue
            a, b = gx / size, gy / size
            nx[i, j] = a
            ny[i, j] = b
            m1 = min(abs(a), abs(b))
            m2 = 1 - m1
            v = min(c[i, j], 1 - c[i, j])
            if v < m1 / (2 * m2):
                alpha = math.sqrt(2 * m1 * m2 * v)
            else:
                alpha = v * m2 + m1 / 2
            offset[i, j] = alpha if c[i, j] < 0.5 else 1 - alpha


def _reflections(n):
    rng = np.random.default_rng(6)
    operators = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
                          [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
                          [[0, 1, 0], [1, 0, 0], [0, 0, -1]], [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
                          [[-1, 0, 0], [0, 1, 0], [0, 0, -1]], [[0, -1, 0], [-1, 0, 0], [0, 0, -1]]])  # fmt: skip
    return rng.integers(-9, 10, (n, 3)), rng.random(n), operators, zeros((19, 19, 19)), zeros((19, 19, 19), np.int64)


@program("reflections merged by a crystal's symmetry", _reflections, 40, 1_000_000)
def reflections(hkl, intensity, operators, mean, count):
    for r in range(hkl.shape[0]):
        best = -1
        for o in range(operators.shape[0]):
            h = operators[o, 0, 0] * hkl[r, 0] + operators[o, 0, 1] * hkl[r, 1] + operators[o, 0, 2] * hkl[r, 2]
            k = operators[o, 1, 0] * hkl[r, 0] + operators[o, 1, 1] * hkl[r, 1] + operators[o, 1, 2] * hkl[r, 2]
            m = operators[o, 2, 0] * hkl[r, 0] + operators[o, 2, 1] * hkl[r, 1] + operators[o, 2, 2] * hkl[r, 2]
            for sign in (1, -1):
                code = ((sign * h + 9) * 19 + sign * k + 9) * 19 + sign * m + 9
                best = max(best, code)
        h, k, m = best // 361, best // 19 % 19, best % 19
        count[h, k, m] += 1
        mean[h, k, m] += (intensity[r] - mean[h, k, m]) / count[h, k, m]


@program("quadrangles clipped by a convex window", lambda n: (f8(n, 4, 2) * 2 - 0.5, np.array([[0.0, 0.1], [0.9, 0.0],
    [1.0, 0.8], [0.4, 1.1], [0.0, 0.9]]), zeros(n)), 20, 200_000)  # fmt: skip
def clipped(shapes, window, areas):
    sides = len(window)
    px = np.zeros(16)
    py = np.zeros(16)
    qx = np.zeros(16)
    qy = np.zeros(16)
    for s in range(shapes.shape[0]):
        n = shapes.shape[1]
        for i in range(n):
            px[i] = shapes[s, i, 0]
            py[i] = shapes[s, i, 1]
        for e in range(sides):
            ax, ay = window[e, 0], window[e, 1]
            bx, by = window[(e + 1) % sides, 0], window[(e + 1) % sides, 1]
            m = 0
            for i in range(n):
                k = i - 1 if i > 0 else n - 1
                here = (bx - ax) * (py[i] - ay) - (by - ay) * (px[i] - ax)
                before = (bx - ax) * (py[k] - ay) - (by - ay) * (px[k] - ax)
                if (here >= 0) != (before >= 0):
                    t = before / (before - here)
                    qx[m] = px[k] + t * (px[i] - px[k])
                    qy[m] = py[k] + t * (py[i] - py[k])
                    m += 1
                if here >= 0:
                    qx[m] = px[i]
                    qy[m] = py[i]
                    m += 1
            n = m
            for i in range(n):
                px[i] = qx[i]
                py[i] = qy[i]
        area = 0.0
        for i in range(n):
            k = i + 1 if i + 1 < n else 0
            area += px[i] * py[k] - px[k] * py[i]
        areas[s] = abs(area) / 2


@program("circles around groups of points, the smallest", lambda n: (f8(n, 12, 2), zeros((n, 3))), 20, 100_000)
def circles(points, circle):
    for g in range(points.shape[0]):
        x, y, r = points[g, 0, 0], points[g, 0, 1], 0.0
        for i in range(1, points.shape[1]):
            if math.hypot(points[g, i, 0] - x, points[g, i, 1] - y) > r + 1e-12:
                x, y, r = points[g, i, 0], points[g, i, 1], 0.0
                for j in range(i):
                    if math.hypot(points[g, j, 0] - x, points[g, j, 1] - y) > r + 1e-12:
                        x = (points[g, i, 0] + points[g, j, 0]) / 2
                        y = (points[g, i, 1] + points[g, j, 1]) / 2
                        r = math.hypot(points[g, i, 0] - x, points[g, i, 1] - y)
                        for k in range(j):
                            if math.hypot(points[g, k, 0] - x, points[g, k, 1] - y) > r + 1e-12:
                                ax, ay = points[g, j, 0] - points[g, i, 0], points[g, j, 1] - points[g, i, 1]
                                bx, by = points[g, k, 0] - points[g, i, 0], points[g, k, 1] - points[g, i, 1]
                                d = 2 * (ax * by - ay * bx)
                                a, b = ax * ax + ay * ay, bx * bx + by * by
                                ux, uy = (by * a - ay * b) / d, (ax * b - bx * a) / d
                                x, y = points[g, i, 0] + ux, points[g, i, 1] + uy
                                r = math.hypot(ux, uy)
        circle[g, 0] = x
        circle[g, 1] = y
        circle[g, 2] = r


def _spectra(n):
    return np.sort(f8(n, 60) * 1000, axis=1), f8(n, 60), np.sort(f8(60) * 1000), f8(60), 0.5, zeros(n)


@program("spectra beside a library, peaks within a tolerance", _spectra, 10, 50_000)
def spectra(mass, height, query, query_height, tolerance, score):
    norm = 0.0
    for j in range(len(query)):
        norm += query_height[j] ** 2
    for s in range(mass.shape[0]):
        dot = 0.0
        own = 0.0
        i = 0
        j = 0
        while i < mass.shape[1] and j < len(query):
            d = mass[s, i] - query[j]
            if d < -tolerance:
                i += 1
            elif d > tolerance:
                j += 1
            else:
                dot += height[s, i] * query_height[j]
                i += 1
                j += 1
        for i in range(mass.shape[1]):
            own += height[s, i] ** 2
        score[s] = dot / math.sqrt(own * norm)


def _species(n):
    rng = np.random.default_rng(7)
    leaves = 24
    children = np.zeros((leaves - 1, 2), np.int64)
    free = list(range(leaves))
    for k in range(leaves - 1):
        a, b = rng.choice(len(free), 2, replace=False)
        children[k] = free[a], free[b]
        free = [f for i, f in enumerate(free) if i not in (a, b)] + [leaves + k]
    return 1 << rng.integers(0, 4, (leaves, n)).astype(np.uint8), children, zeros(n, np.int64)


@program("a tree's changes at each site, Fitch", _species, 40, 500_000)
def fitch(states, children, changes):
    leaves, sites = states.shape
    sets = np.zeros(2 * leaves - 1, np.uint8)
    for s in range(sites):
        for leaf in range(leaves):
            sets[leaf] = states[leaf, s]
        count = 0
        for k in range(children.shape[0]):
            left = sets[children[k, 0]]
            right = sets[children[k, 1]]
            both = left & right
            if both == 0:
                both = left | right
                count += 1
            sets[leaves + k] = both
        changes[s] = count


@program("tides of many harmonics, high waters", lambda n: (f8(12) * 2, f8(12) * 6, f8(12) * 0.5 + 0.2, zeros(n),
    zeros(n, np.int64)), 50, 300_000)  # fmt: skip
def tides(amplitude, phase, speed, level, highs):
    for t in range(len(level)):
        h = 0.0
        for k in range(len(amplitude)):
            h += amplitude[k] * math.cos(speed[k] * t * 0.25 - phase[k])
        level[t] = h
    count = 0
    for t in range(1, len(level) - 1):
        if level[t] > level[t - 1] and level[t] >= level[t + 1]:
            highs[count] = t
            count += 1
    return count


@program("wet bulbs by halving", lambda n: (f8(n) * 30, f8(n) * 0.9 + 0.05, zeros(n)), 40, 300_000)
def wet_bulbs(temperature, humidity, wet):
    for i in range(len(temperature)):
        t = temperature[i]
        vapour = humidity[i] * 6.112 * math.exp(17.67 * t / (t + 243.5))
        low = -20.0
        high = t
        while high - low > 1e-6:
            middle = (low + high) / 2
            e = 6.112 * math.exp(17.67 * middle / (middle + 243.5)) - 0.000665 * 1013.0 * (t - middle)
            if e > vapour:
                high = middle
            else:
                low = middle
        wet[i] = (low + high) / 2


@program("patches that go out and are settled again", lambda n: (
    f8(n) * 50, f8(n) * 50, f8(n) + 0.2, np.ones(n, np.int64),
    11, 13), 20, 1500)  # fmt: skip
def patches(x, y, area, occupied, years, seed):
    n = len(x)
    state = seed
    changed = np.zeros(n, np.int64)
    for _ in range(years):
        for i in range(n):
            state = (state * 6364136223846793 + 1442695040888963) % 9007199254740992
            u = state / 9007199254740992.0
            if occupied[i]:
                changed[i] = 0 if u < min(1.0, 0.15 / area[i]) else 1
            else:
                s = 0.0
                for j in range(n):
                    if occupied[j] and j != i:
                        dx, dy = x[i] - x[j], y[i] - y[j]
                        s += area[j] * math.exp(-0.7 * math.sqrt(dx * dx + dy * dy))
                changed[i] = 1 if u < s * s / (s * s + 4) else 0
        for i in range(n):
            occupied[i] = changed[i]
    return occupied.sum()


@program("vibrations of two states, overlaps by recurrence", lambda n: (f8(n) * 2, f8(n) * 0.5 + 0.8,
    zeros((n, 12, 12))),
    10, 20_000)  # fmt: skip
def overlaps(shift, ratio, table):
    for m in range(len(shift)):
        r = ratio[m]
        d = shift[m]
        s = math.sqrt(2 * r / (1 + r * r))
        a = (1 - r * r) / (1 + r * r)
        table[m, 0, 0] = math.sqrt(s * s) * math.exp(-0.5 * d * d / (1 + r * r))
        for v in range(1, 12):
            x = -d * r * math.sqrt(2.0) / (1 + r * r) * table[m, v - 1, 0] / math.sqrt(v)
            if v > 1:
                x -= a * math.sqrt((v - 1) / v) * table[m, v - 2, 0]
            table[m, v, 0] = x
        for w in range(1, 12):
            for v in range(12):
                x = d * math.sqrt(2.0) / (1 + r * r) * table[m, v, w - 1] / math.sqrt(w)
                if w > 1:
                    x += a * math.sqrt((w - 1) / w) * table[m, v, w - 2]
                if v > 0:
                    x += 2 * r / (1 + r * r) * math.sqrt(v / w) * table[m, v - 1, w - 1]
                table[m, v, w] = x


@program("polynomials over intervals, Horner", lambda n: (f8(12) - 0.5, f8(n) * 2 - 1, f8(n) * 0.1, zeros(n), zeros(n)),
    40, 500_000)  # fmt: skip
def interval_horner(coefficients, low, width, least, most):
    for i in range(len(low)):
        a = low[i]
        b = low[i] + width[i]
        g = 0.0
        h = 0.0
        for k in range(len(coefficients)):
            p, q, r, s = g * a, g * b, h * a, h * b
            g = min(p, q, r, s) + coefficients[k]
            h = max(p, q, r, s) + coefficients[k]
        least[i] = g
        most[i] = h


@program("boxes halved where a curve may pass", lambda n: (n, zeros((100_000, 4))), 6, 60_000)
def boxes_halved(depth, kept):
    stack = np.zeros((4000, 4))
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = -1.6, 1.6, -1.6, 1.6
    top = 1
    count = 0
    size = 3.0 / depth
    while top > 0:
        top -= 1
        x0, x1, y0, y1 = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        xl = 0.0 if x0 < 0 < x1 else min(x0 * x0, x1 * x1)
        xh = max(x0 * x0, x1 * x1)
        yl = 0.0 if y0 < 0 < y1 else min(y0 * y0, y1 * y1)
        yh = max(y0 * y0, y1 * y1)
        low = xl * xl + yl * yl - 1.1 * xh - 0.2
        high = xh * xh + yh * yh - 1.1 * xl - 0.2
        if low > 0 or high < 0:
            continue
        if x1 - x0 < size:
            if count < kept.shape[0]:
                kept[count, 0], kept[count, 1], kept[count, 2], kept[count, 3] = x0, x1, y0, y1
                count += 1
            continue
        xm, ym = (x0 + x1) / 2, (y0 + y1) / 2
        for q in range(4):
            stack[top, 0] = x0 if q & 1 else xm
            stack[top, 1] = xm if q & 1 else x1
            stack[top, 2] = y0 if q & 2 else ym
            stack[top, 3] = ym if q & 2 else y1
            top += 1
    return count
