"""A third of an eighteenth set: bores, quakes, waves in the ground, orbits, maps, sights, regions, trends."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


@program("ground between bores, kriging from eight", lambda n: (f8(200, 3), f8(n, 2)[::-1] * 1.0, zeros(n)), 8, 8_000)
def kriging(bores, places, out):
    near = np.zeros(8, np.int64)
    gap = np.zeros(8)
    a = np.zeros((9, 10))
    for p in range(places.shape[0]):
        for k in range(8):
            gap[k] = 1e30
        for b in range(bores.shape[0]):
            dx = bores[b, 0] - places[p, 0]
            dy = bores[b, 1] - places[p, 1]
            d = dx * dx + dy * dy
            if d < gap[7]:
                k = 7
                while k > 0 and gap[k - 1] > d:
                    gap[k] = gap[k - 1]
                    near[k] = near[k - 1]
                    k -= 1
                gap[k] = d
                near[k] = b
        for i in range(8):
            for j in range(8):
                dx = bores[near[i], 0] - bores[near[j], 0]
                dy = bores[near[i], 1] - bores[near[j], 1]
                h = math.sqrt(dx * dx + dy * dy) / 0.5
                a[i, j] = 1.5 * h - 0.5 * h**3 if h < 1 else 1.0
            h = math.sqrt(gap[i]) / 0.5
            a[i, 9] = 1.5 * h - 0.5 * h**3 if h < 1 else 1.0
            a[i, 8] = 1.0
            a[8, i] = 1.0
        a[8, 8] = 0.0
        a[8, 9] = 1.0
        for c in range(9):
            best = c
            for r in range(c + 1, 9):
                if abs(a[r, c]) > abs(a[best, c]):
                    best = r
            if best != c:
                for k in range(c, 10):
                    a[c, k], a[best, k] = a[best, k], a[c, k]
            for r in range(c + 1, 9):
                f = a[r, c] / a[c, c]
                for k in range(c, 10):
                    a[r, k] -= f * a[c, k]
        for c in range(8, -1, -1):
            for k in range(c + 1, 9):
                a[c, 9] -= a[c, k] * a[k, 9]
            a[c, 9] /= a[c, c]
        s = 0.0
        for k in range(8):
            s += a[k, 9] * bores[near[k], 2]
        out[p] = s


@program(
    "onsets of quakes, short over long averages",
    lambda n: ((f8(n) - 0.5) * (1 + 20 * (np.arange(n) % 700 > 640)), 10, 200, zeros((n // 50 + 1, 2), np.int64)),
    900,
    1_000_000,
)
def onsets(trace, short, long, found):
    sta = 0.0
    lta = 1e-3
    active = False
    count = 0
    begun = 0
    for i in range(trace.shape[0]):
        energy = trace[i] * trace[i]
        sta += (energy - sta) / short
        if not active:
            lta += (energy - lta) / long
        ratio = sta / lta
        if not active and ratio > 4.0 and i > long:
            active = True
            begun = i
        elif active and ratio < 1.5:
            active = False
            if count < found.shape[0]:
                found[count, 0] = begun
                found[count, 1] = i
                count += 1
    return count


@program(
    "travel times of waves, swept from four corners",
    lambda n: (1 + f8(n, n), n // 3, n // 2, np.full((n, n), 1e10), 0.1),
    12,
    1200,
)
def eikonal(slowness, x0, y0, time, h):
    n, m = time.shape
    time[x0, y0] = 0.0
    for sweep in range(4):
        for a in range(n):
            i = a if sweep < 2 else n - 1 - a
            for b in range(m):
                j = b if sweep % 2 == 0 else m - 1 - b
                if i == 0:
                    tx = time[1, j]
                elif i == n - 1:
                    tx = time[n - 2, j]
                else:
                    tx = min(time[i - 1, j], time[i + 1, j])
                if j == 0:
                    ty = time[i, 1]
                elif j == m - 1:
                    ty = time[i, m - 2]
                else:
                    ty = min(time[i, j - 1], time[i, j + 1])
                s = slowness[i, j] * h
                if abs(tx - ty) >= s:
                    t = min(tx, ty) + s
                else:
                    t = 0.5 * (tx + ty + math.sqrt(2 * s * s - (tx - ty) ** 2))
                if t < time[i, j]:
                    time[i, j] = t


@program(
    "passes of satellites over a station",
    lambda n: (f8(n, 6), 0.9, 0.2, 40, zeros(n, np.int64), zeros(n)),
    8,
    40_000,
)
def passes(elements, latitude, longitude, steps, seen, highest):
    for s in range(elements.shape[0]):
        a = 7000 + 1500 * elements[s, 0]
        e = 0.05 * elements[s, 1]
        inclination = 1.7 * elements[s, 2]
        rate = math.sqrt(398600.4418 / a**3)
        j2 = 1.5 * 1.08263e-3 * (6378.137 / (a * (1 - e * e))) ** 2 * rate
        count = 0
        best = -1.6
        was_up = False
        for k in range(steps):
            t = 120.0 * k
            node = 6.28 * elements[s, 3] - j2 * math.cos(inclination) * t
            perigee = 6.28 * elements[s, 4] + j2 * (2 - 2.5 * math.sin(inclination) ** 2) * t
            mean = 6.28 * elements[s, 5] + rate * t
            anomaly = mean
            for _ in range(8):
                step = (anomaly - e * math.sin(anomaly) - mean) / (1 - e * math.cos(anomaly))
                anomaly -= step
                if abs(step) < 1e-10:
                    break
            xo = a * (math.cos(anomaly) - e)
            yo = a * math.sqrt(1 - e * e) * math.sin(anomaly)
            u = math.atan2(yo, xo) + perigee
            r = math.sqrt(xo * xo + yo * yo)
            x = r * (math.cos(node) * math.cos(u) - math.sin(node) * math.sin(u) * math.cos(inclination))
            y = r * (math.sin(node) * math.cos(u) + math.cos(node) * math.sin(u) * math.cos(inclination))
            z = r * math.sin(u) * math.sin(inclination)
            turned = longitude + 7.292115e-5 * t
            up_x = math.cos(latitude) * math.cos(turned)
            up_y = math.cos(latitude) * math.sin(turned)
            up_z = math.sin(latitude)
            dx = x - 6378.137 * up_x
            dy = y - 6378.137 * up_y
            dz = z - 6378.137 * up_z
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
            elevation = math.asin((dx * up_x + dy * up_y + dz * up_z) / distance)
            best = max(best, elevation)
            is_up = elevation > 0.17
            if is_up and not was_up:
                count += 1
            was_up = is_up
        seen[s] = count
        highest[s] = best


@program(
    "transfers between orbits, Lambert's problem",
    lambda n: (f8(n, 3) + 0.3, f8(n, 3)[::-1] - 1.6, 1 + f8(n), zeros(n)),
    20,
    200_000,
)
def lambert(start, end, time, speed):
    for p in range(start.shape[0]):
        r1 = math.sqrt(start[p, 0] ** 2 + start[p, 1] ** 2 + start[p, 2] ** 2)
        r2 = math.sqrt(end[p, 0] ** 2 + end[p, 1] ** 2 + end[p, 2] ** 2)
        cosine = (start[p, 0] * end[p, 0] + start[p, 1] * end[p, 1] + start[p, 2] * end[p, 2]) / (r1 * r2)
        a = math.sqrt(max(r1 * r2 * (1 + cosine), 1e-9))
        low = -4 * math.pi**2
        high = 4 * math.pi**2
        y = 1.0
        for _ in range(40):
            z = 0.5 * (low + high)
            if z > 1e-6:
                r = math.sqrt(z)
                c, s = (1 - math.cos(r)) / z, (r - math.sin(r)) / r**3
            elif z < -1e-6:
                r = math.sqrt(-z)
                c, s = (math.cosh(r) - 1) / -z, (math.sinh(r) - r) / r**3
            else:
                c, s = 0.5, 1 / 6
            y = r1 + r2 + a * (z * s - 1) / math.sqrt(c)
            if y < 0:
                low = z
                continue
            x = math.sqrt(y / c)
            if x**3 * s + a * math.sqrt(y) <= time[p]:
                low = z
            else:
                high = z
        y = max(y, 1e-12)
        f = 1 - y / r1
        g = a * math.sqrt(y)
        v = 0.0
        for k in range(3):
            v += ((end[p, k] - f * start[p, k]) / g) ** 2
        speed[p] = math.sqrt(v)


@program(
    "coordinates of a map, transverse Mercator",
    lambda n: (f8(n) * 1.2, f8(n)[::-1] * 0.1, zeros((n, 2))),
    50,
    1_000_000,
)
def mercator(latitude, longitude, out):
    n = 1 / 298.257223563 / (2 - 1 / 298.257223563)
    radius = 6378137 / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    alpha = np.array([n / 2 - 2 / 3 * n**2 + 5 / 16 * n**3, 13 / 48 * n**2 - 3 / 5 * n**3, 61 / 240 * n**3])
    e = 2 * math.sqrt(n) / (1 + n)
    for p in range(latitude.shape[0]):
        s = math.sin(latitude[p])
        t = math.sinh(math.atanh(s) - e * math.atanh(e * s))
        xi = math.atan2(t, math.cos(longitude[p]))
        eta = math.atanh(math.sin(longitude[p]) / math.sqrt(1 + t * t))
        east = eta
        north = xi
        for j in range(3):
            east += alpha[j] * math.cos(2 * (j + 1) * xi) * math.sinh(2 * (j + 1) * eta)
            north += alpha[j] * math.sin(2 * (j + 1) * xi) * math.cosh(2 * (j + 1) * eta)
        out[p, 0] = 500000 + 0.9996 * radius * east
        out[p, 1] = 0.9996 * radius * north


@program(
    "what a tower sees, lines of sight",
    lambda n: (f8(n, n) * 30, n // 2, n // 3, 40.0, zeros((n, n), np.bool_)),
    12,
    700,
)
def viewshed(height, row, column, tower, visible):
    n, m = height.shape
    eye = height[row, column] + tower
    visible[row, column] = True
    for side in range(4):
        for b in range(n if side < 2 else m):
            if side == 0:
                end_r, end_c = b, 0
            elif side == 1:
                end_r, end_c = b, m - 1
            elif side == 2:
                end_r, end_c = 0, b
            else:
                end_r, end_c = n - 1, b
            steps = max(abs(end_r - row), abs(end_c - column))
            steepest = -1e30
            for k in range(1, steps + 1):
                r = row + round((end_r - row) * k / steps)
                c = column + round((end_c - column) * k / steps)
                distance = math.hypot(r - row, c - column)
                slope = (height[r, c] - eye) / distance
                if slope >= steepest:
                    steepest = slope
                    visible[r, c] = True


@program(
    "a picture freed of its lens's distortion",
    lambda n: (whole(256, n, n, 3).astype(np.uint8), -0.2, 0.05, zeros((n, n, 3), np.uint8)),
    12,
    1400,
)
def undistorted(picture, k1, k2, out):
    h, w, _ = picture.shape
    for i in range(h):
        for j in range(w):
            y = (i - 0.5 * h) / (0.5 * h)
            x = (j - 0.5 * w) / (0.5 * w)
            r2 = x * x + y * y
            f = 1 + k1 * r2 + k2 * r2 * r2
            u = 0.5 * h + y * f * 0.5 * h
            v = 0.5 * w + x * f * 0.5 * w
            r, c = int(u), int(v)
            if r < 0 or c < 0 or r >= h - 1 or c >= w - 1:
                for k in range(3):
                    out[i, j, k] = 0
            else:
                a, b = u - r, v - c
                for k in range(3):
                    top = (1 - b) * picture[r, c, k] + b * picture[r, c + 1, k]
                    bottom = (1 - b) * picture[r + 1, c, k] + b * picture[r + 1, c + 1, k]
                    out[i, j, k] = int((1 - a) * top + a * bottom + 0.5)


@program(
    "regions around seeds, flooded by jumps",
    lambda n: (whole(n, 40, 2), zeros((n, n), np.int32), zeros((n, n), np.int32)),
    12,
    1200,
)
def flooded(seeds, owner, following):
    n, m = owner.shape
    for i in range(n):
        for j in range(m):
            owner[i, j] = -1
    for s in range(seeds.shape[0]):
        owner[seeds[s, 0], seeds[s, 1]] = s
    jump = n // 2
    while jump > 0:
        for i in range(n):
            for j in range(m):
                best = -1
                least = 1 << 60
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        r, c = i + di * jump, j + dj * jump
                        if r >= 0 and r < n and c >= 0 and c < m and owner[r, c] >= 0:
                            s = owner[r, c]
                            d = (seeds[s, 0] - i) ** 2 + (seeds[s, 1] - j) ** 2
                            if d < least:
                                least = d
                                best = s
                following[i, j] = best
        for i in range(n):
            for j in range(m):
                owner[i, j] = following[i, j]
        jump //= 2


@program("trends drawn by local lines, LOWESS", lambda n: (np.sort(f8(n)), f8(n)[::-1] * 1.0, zeros(n)), 30, 8000)
def lowess(x, y, out):
    n = x.shape[0]
    k = n // 4
    left = 0
    for i in range(n):
        while left + k < n and x[left + k] - x[i] < x[i] - x[left]:
            left += 1
        reach = max(x[i] - x[left], x[min(left + k, n) - 1] - x[i]) + 1e-12
        sw, sx, sy, sxx, sxy = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(left, min(left + k, n)):
            d = abs(x[j] - x[i]) / reach
            if d < 1:
                w = (1 - d**3) ** 3
                sw += w
                sx += w * x[j]
                sy += w * y[j]
                sxx += w * x[j] * x[j]
                sxy += w * x[j] * y[j]
        det = sw * sxx - sx * sx
        if abs(det) < 1e-14:
            out[i] = sy / sw
        else:
            slope = (sw * sxy - sx * sy) / det
            out[i] = (sy - slope * sx) / sw + slope * x[i]


@program("breaks of a series, best partition", lambda n: (f8(n) + np.arange(n) // 40 % 3, 2.0, zeros(n + 1)), 60, 6000)
def partition(series, penalty, cost):
    n = series.shape[0]
    sums = np.zeros(n + 1)
    squares = np.zeros(n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + series[i]
        squares[i + 1] = squares[i] + series[i] * series[i]
    last = np.zeros(n + 1, np.int64)
    cost[0] = -penalty
    for t in range(1, n + 1):
        best = 1e300
        at = 0
        for s in range(t):
            d = sums[t] - sums[s]
            c = cost[s] + squares[t] - squares[s] - d * d / (t - s) + penalty
            if c < best:
                best = c
                at = s
        cost[t] = best
        last[t] = at
    pieces = 0
    t = n
    while t > 0:
        pieces += 1
        t = last[t]
    return pieces
