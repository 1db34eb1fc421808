"""Maps: codes of places, lines, polygons, terrain."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case
from loopwright import prange

BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz"


@case(lambda rng: (rng.uniform(-90, 90, 9), rng.uniform(-180, 180, 9), 6))
def geohash(lat, lon, precision):
    out = np.empty((len(lat), precision), dtype=np.uint8)
    for i in range(len(lat)):
        lo = [-90.0, -180.0]
        hi = [90.0, 180.0]
        even = True
        for c in range(precision):
            ch = 0
            for bit in range(5):
                k = 1 if even else 0
                v = lon[i] if even else lat[i]
                mid = (lo[k] + hi[k]) / 2
                if v >= mid:
                    ch |= 1 << (4 - bit)
                    lo[k] = mid
                else:
                    hi[k] = mid
                even = not even
            out[i, c] = ord(BASE32[ch])
    return out



@case(lambda rng: (51.5, -0.1, 48.8, 2.3, 9))
def vincenty(lat1, lon1, lat2, lon2, limit=100):
    if lat1 == lat2 and lon1 == lon2:
        return 0.0
    a, f = 6378137.0, 1 / 298.257223563
    b = (1 - f) * a
    u1 = math.atan((1 - f) * math.tan(math.radians(lat1)))
    u2 = math.atan((1 - f) * math.tan(math.radians(lat2)))
    L = math.radians(lon2 - lon1)
    lam = L
    su1, cu1, su2, cu2 = math.sin(u1), math.cos(u1), math.sin(u2), math.cos(u2)
    for _ in range(limit):
        ss = math.sqrt((cu2 * math.sin(lam)) ** 2 + (cu1 * su2 - su1 * cu2 * math.cos(lam)) ** 2)
        if ss == 0:
            return 0.0
        cs = su1 * su2 + cu1 * cu2 * math.cos(lam)
        sigma = math.atan2(ss, cs)
        sa = cu1 * cu2 * math.sin(lam) / ss
        c2a = 1 - sa**2
        try:
            c2m = cs - 2 * su1 * su2 / c2a
        except ZeroDivisionError:
            c2m = 0
        C = f / 16 * c2a * (4 + f * (4 - 3 * c2a))
        prev = lam
        lam = L + (1 - C) * f * sa * (sigma + C * ss * (c2m + C * cs * (-1 + 2 * c2m**2)))
        if abs(lam - prev) < 1e-12:
            break
    else:
        return None
    uu = c2a * (a**2 - b**2) / b**2
    A = 1 + uu / 16384 * (4096 + uu * (-768 + uu * (320 - 175 * uu)))
    return b * A * sigma



@case(lambda rng: (np.cumsum(rng.normal(size=(9, 2)), axis=0), 0.8))
def douglas_peucker(pts, eps):
    n = len(pts)
    keep = np.zeros(n, dtype=np.bool_)
    if n == 0:
        return keep, pts[keep]
    keep[0] = keep[n - 1] = True
    stack = [(0, n - 1)]
    while stack:
        a, b = stack.pop()
        ax, ay = pts[a]
        dx, dy = pts[b] - pts[a]
        norm = math.hypot(dx, dy)
        worst, where = eps, -1
        for i in range(a + 1, b):
            px, py = pts[i, 0] - ax, pts[i, 1] - ay
            d = abs(dx * py - dy * px) / norm if norm > 0 else math.hypot(px, py)
            if d > worst:
                worst, where = d, i
        if where >= 0:
            keep[where] = True
            stack.append((a, where))
            stack.append((where, b))
    return keep, pts[keep]



def _inside(p, a, b):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) >= 0



def _cross_point(a, b, p, q):
    a1, b1 = b[1] - a[1], a[0] - b[0]
    c1 = a1 * a[0] + b1 * a[1]
    a2, b2 = q[1] - p[1], p[0] - q[0]
    c2 = a2 * p[0] + b2 * p[1]
    det = a1 * b2 - a2 * b1
    return (b2 * c1 - b1 * c2) / det, (a1 * c2 - a2 * c1) / det



@case(lambda rng: (np.array([[0.0, 0], [4, 0], [4, 4], [0, 4]]) + rng.normal(size=2), np.array([[1.0, 1], [6, 2], [3, 6]])))
def clip_polygon(subject, clip):
    output = [(p[0], p[1]) for p in subject]
    m = len(clip)
    for i in range(m):
        a, b = clip[i], clip[(i + 1) % m]
        points = output
        output = [(0.0, 0.0) for _ in range(0)]
        if len(points) == 0:
            break
        s = points[-1]
        for e in points:
            if _inside(e, a, b):
                if not _inside(s, a, b):
                    output.append(_cross_point(s, e, a, b))
                output.append(e)
            elif _inside(s, a, b):
                output.append(_cross_point(s, e, a, b))
            s = e
    area = 0.0
    for k in range(len(output)):
        x0, y0 = output[k - 1]
        x1, y1 = output[k]
        area += x0 * y1 - x1 * y0
    return output, abs(area) / 2



@case(lambda rng: (rng.integers(0, 2 ** 16, 9), rng.integers(0, 2 ** 16, 9)))
def morton_and_hilbert(x, y):
    z = np.empty(len(x), dtype=np.uint32)
    h = np.empty(len(x), dtype=np.int64)
    for i in range(len(x)):
        a, b = np.uint32(x[i]), np.uint32(y[i])
        code = np.uint32(0)
        for s in range(16):
            code |= ((a >> s) & 1) << (2 * s) | ((b >> s) & 1) << (2 * s + 1)
        z[i] = code
        xx, yy = x[i], y[i]
        d = 0
        s = 1 << 15
        while s > 0:
            rx = 1 if xx & s else 0
            ry = 1 if yy & s else 0
            d += s * s * ((3 * rx) ^ ry)
            if ry == 0:
                if rx == 1:
                    xx, yy = s - 1 - xx, s - 1 - yy
                xx, yy = yy, xx
            s //= 2
        h[i] = d
    return z, h



@case(lambda rng: (rng.random((9, 9)), 0.5))
def marching_squares(z, level):
    rows, cols = z.shape
    segs = np.empty((max(0, rows - 1) * max(0, cols - 1) * 2, 4))
    count = 0
    for i in range(rows - 1):
        for j in range(cols - 1):
            a, b, c, d = z[i, j], z[i, j + 1], z[i + 1, j + 1], z[i + 1, j]
            k = (a > level) | (b > level) << 1 | (c > level) << 2 | (d > level) << 3
            if k == 0 or k == 15:
                continue
            top = (i, j + (level - a) / (b - a)) if a != b else (i, j + 0.5)
            right = (i + (level - b) / (c - b), j + 1) if b != c else (i + 0.5, j + 1)
            bottom = (i + 1, j + (level - d) / (c - d)) if c != d else (i + 1, j + 0.5)
            left = (i + (level - a) / (d - a), j) if a != d else (i + 0.5, j)
            if k in (1, 14):
                segs[count] = left[0], left[1], top[0], top[1]
            elif k in (2, 13):
                segs[count] = top[0], top[1], right[0], right[1]
            elif k == 3 or k == 12:
                segs[count] = left[0], left[1], right[0], right[1]
            elif k in (4, 11):
                segs[count] = right[0], right[1], bottom[0], bottom[1]
            elif k in (6, 9):
                segs[count] = top[0], top[1], bottom[0], bottom[1]
            else:
                segs[count] = left[0], left[1], bottom[0], bottom[1]
            count += 1
    return segs[:count]



@case(lambda rng: (rng.random((9 + 2, 9 + 2)) * 100, 315.0, 45.0))
def hillshade(dem, azimuth=315.0, altitude=45.0, cell=30.0):
    az = math.radians(360.0 - azimuth + 90.0)
    alt = math.radians(altitude)
    out = np.full(dem.shape, 0, dtype=np.uint8)
    for i in prange(1, dem.shape[0] - 1):
        for j in range(1, dem.shape[1] - 1):
            w = dem[i - 1 : i + 2, j - 1 : j + 2]
            dx = ((w[0, 2] + 2 * w[1, 2] + w[2, 2]) - (w[0, 0] + 2 * w[1, 0] + w[2, 0])) / (8 * cell)
            dy = ((w[2, 0] + 2 * w[2, 1] + w[2, 2]) - (w[0, 0] + 2 * w[0, 1] + w[0, 2])) / (8 * cell)
            slope = math.atan(math.hypot(dx, dy))
            aspect = math.atan2(dy, -dx)
            v = 255 * (math.sin(alt) * math.cos(slope) + math.cos(alt) * math.sin(slope) * math.cos(az - aspect))
            if not math.isnan(v):
                out[i, j] = int(max(0.0, v))
    return out



@case(lambda rng: (0, 0, 9, 9 // 2 - 3))
def bresenham(x0, y0, x1, y1):
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx = 1 if x0 < x1 else -1
    sy = 1 if y0 < y1 else -1
    err = dx + dy
    cells = []
    while True:
        cells.append((x0, y0))
        if x0 == x1 and y0 == y1:
            break
        e2 = 2 * err
        if e2 >= dy:
            err += dy
            x0 += sx
        if e2 <= dx:
            err += dx
            y0 += sy
    return cells
