"""What suites for accelerators have: Rodinia (Che and others, 2009), Parboil, HeCBench; their loops, written anew."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _hotspot(r, big):
    s = 500 if big else 17
    g = (s, s)
    return (r.random(g), r.random(g), np.zeros(g), 20 if big else 3, 0.1, 0.2, 0.01, 80.0)


@program(_hotspot)
def hotspot(temp, power, out, steps, rx, ry, rz, amb):
    rows, cols = temp.shape
    for _ in range(steps):
        for r in range(rows):
            for c in range(cols):
                up = temp[r - 1, c] if r > 0 else temp[r, c]
                down = temp[r + 1, c] if r < rows - 1 else temp[r, c]
                left = temp[r, c - 1] if c > 0 else temp[r, c]
                right = temp[r, c + 1] if c < cols - 1 else temp[r, c]
                out[r, c] = temp[r, c] + 0.001 * (
                    power[r, c]
                    + (up + down - 2.0 * temp[r, c]) * ry
                    + (left + right - 2.0 * temp[r, c]) * rx
                    + (amb - temp[r, c]) * rz
                )
        for r in range(rows):
            for c in range(cols):
                temp[r, c] = out[r, c]


def _pathfinder(r, big):
    return (
        r.integers(0, 10, (100 if big else 9, 100000 if big else 40)),
        np.zeros(100000 if big else 40, np.int64),
        np.zeros(100000 if big else 40, np.int64),
    )


@program(_pathfinder)
def pathfinder(wall, src, dst):
    rows, cols = wall.shape
    for j in range(cols):
        src[j] = wall[0, j]
    for i in range(1, rows):
        for j in range(cols):
            best = src[j]
            if j > 0:
                best = min(best, src[j - 1])
            if j < cols - 1:
                best = min(best, src[j + 1])
            dst[j] = wall[i, j] + best
        for j in range(cols):
            src[j] = dst[j]


def _needleman(r, big):
    n = 1000 if big else 25
    return (
        r.integers(0, 20, n),
        r.integers(0, 20, n + 3),
        np.zeros((n + 1, n + 4), np.int64),
        4,
        r.integers(-4, 10, (20, 20)),
    )


@program(_needleman)
def needleman(a, b, score, penalty, sim):
    n, m = a.shape[0], b.shape[0]
    for i in range(n + 1):
        score[i, 0] = -i * penalty
    for j in range(m + 1):
        score[0, j] = -j * penalty
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            score[i, j] = max(
                score[i - 1, j - 1] + sim[a[i - 1], b[j - 1]], score[i - 1, j] - penalty, score[i, j - 1] - penalty
            )


def _srad(r, big):
    s = 500 if big else 17
    g = (s, s)
    return (r.random(g) + 0.5, *(np.zeros(g) for _ in range(5)), 0.5, 5 if big else 2)


@program(_srad)
def srad(img, dn, ds, dw, de, c, lam, steps):
    rows, cols = img.shape
    for _ in range(steps):
        total = 0.0
        total2 = 0.0
        for i in range(rows):
            for j in range(cols):
                total += img[i, j]
                total2 += img[i, j] * img[i, j]
        mean = total / (rows * cols)
        var = total2 / (rows * cols) - mean * mean
        q0 = var / (mean * mean)
        for i in range(rows):
            for j in range(cols):
                iN = max(i - 1, 0)
                iS = min(i + 1, rows - 1)
                jW = max(j - 1, 0)
                jE = min(j + 1, cols - 1)
                jc = img[i, j]
                dn[i, j] = img[iN, j] - jc
                ds[i, j] = img[iS, j] - jc
                dw[i, j] = img[i, jW] - jc
                de[i, j] = img[i, jE] - jc
                g2 = (dn[i, j] ** 2 + ds[i, j] ** 2 + dw[i, j] ** 2 + de[i, j] ** 2) / (jc * jc)
                lap = (dn[i, j] + ds[i, j] + dw[i, j] + de[i, j]) / jc
                num = 0.5 * g2 - (1.0 / 16.0) * (lap * lap)
                den = 1.0 + 0.25 * lap
                q = num / (den * den)
                den = (q - q0) / (q0 * (1.0 + q0))
                v = 1.0 / (1.0 + den)
                if v < 0.0:
                    v = 0.0
                elif v > 1.0:
                    v = 1.0
                c[i, j] = v
        for i in range(rows):
            for j in range(cols):
                cs = c[min(i + 1, rows - 1), j]
                ce = c[i, min(j + 1, cols - 1)]
                d = c[i, j] * dn[i, j] + cs * ds[i, j] + c[i, j] * dw[i, j] + ce * de[i, j]
                img[i, j] += 0.25 * lam * d


def _lud(r, big):
    m = 300 if big else 15
    return (r.random((m, m)) + np.eye(m) * m,)


@program(_lud)
def lud(a):
    n = a.shape[0]
    for k in range(n):
        for j in range(k, n):
            s = a[k, j]
            for p in range(k):
                s -= a[k, p] * a[p, j]
            a[k, j] = s
        for i in range(k + 1, n):
            s = a[i, k]
            for p in range(k):
                s -= a[i, p] * a[p, k]
            a[i, k] = s / a[k, k]


def _layer_forward(r, big):
    return (
        r.random(2000 if big else 20),
        r.random((2001 if big else 21, 1000 if big else 9)) * 0.01,
        np.zeros(1000 if big else 9),
    )


@program(_layer_forward)
def layer_forward(x, w, out):
    for j in range(out.shape[0]):
        s = w[0, j]
        for i in range(x.shape[0]):
            s += w[i + 1, j] * x[i]
        out[j] = 1.0 / (1.0 + math.exp(-s))


def _adjust_weights(r, big):
    return (
        r.random(1000 if big else 9),
        r.random(1000 if big else 12),
        r.random((1000 if big else 12, 1000 if big else 9)),
        r.random((1000 if big else 12, 1000 if big else 9)),
    )


@program(_adjust_weights)
def adjust_weights(delta, ly, w, oldw):
    for j in range(delta.shape[0]):
        for i in range(ly.shape[0]):
            d = 0.3 * delta[j] * ly[i] + 0.3 * oldw[i, j]
            w[i, j] += d
            oldw[i, j] = d


def _bfs(r, big):
    v = 200000 if big else 60
    st, ed = csr(r, v, 6)
    mask = np.zeros(v, bool)
    mask[0] = True
    vis = mask.copy()
    cost = np.full(v, -1)
    cost[0] = 0
    return (st, ed, cost, mask, np.zeros(v, bool), vis)


@program(_bfs)
def bfs(start, edges, cost, mask, updating, visited):
    again = True
    level = 0
    while again:
        again = False
        for v in range(mask.shape[0]):
            if mask[v]:
                mask[v] = False
                for e in range(start[v], start[v + 1]):
                    u = edges[e]
                    if not visited[u]:
                        cost[u] = cost[v] + 1
                        updating[u] = True
        for v in range(mask.shape[0]):
            if updating[v]:
                mask[v] = True
                visited[v] = True
                updating[v] = False
                again = True
        level += 1
    return level


def _gaussian(r, big):
    m = 300 if big else 15
    return (r.random((m, m)) + np.eye(m) * m, r.random(m), np.zeros(m))


@program(_gaussian)
def gaussian(a, b, x):
    n = b.shape[0]
    for t in range(n - 1):
        for i in range(t + 1, n):
            m = a[i, t] / a[t, t]
            for j in range(t, n):
                a[i, j] -= m * a[t, j]
            b[i] -= m * b[t]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]


def _particle_resample(r, big):
    p = 3000 if big else 30
    w = r.random(p)
    w /= w.sum()
    return (w, np.zeros(p), np.sort(r.random(p)), np.zeros(p, np.int64))


@program(_particle_resample)
def particle_resample(weights, cdf, u, index):
    n = weights.shape[0]
    cdf[0] = weights[0]
    for i in range(1, n):
        cdf[i] = cdf[i - 1] + weights[i]
    for j in range(n):
        k = -1
        for x in range(n):
            if cdf[x] >= u[j]:
                k = x
                break
        index[j] = k if k >= 0 else n - 1


def _lava(r, big):
    nb = 64 if big else 4
    per = 30 if big else 4
    return (
        r.random((nb * per, 3)),
        r.random(nb * per),
        np.arange(nb + 1) * per,
        r.integers(0, nb, (nb, 9)),
        np.zeros((nb * per, 4)),
        0.5,
    )


@program(_lava)
def lava(pos, charge, box_start, neighbours, force, a2):
    for b in range(neighbours.shape[0]):
        for q in range(neighbours.shape[1]):
            nb = neighbours[b, q]
            for i in range(box_start[b], box_start[b + 1]):
                for j in range(box_start[nb], box_start[nb + 1]):
                    dx = pos[i, 0] - pos[j, 0]
                    dy = pos[i, 1] - pos[j, 1]
                    dz = pos[i, 2] - pos[j, 2]
                    v = math.exp(-a2 * (dx * dx + dy * dy + dz * dz))
                    fs = 2.0 * v * charge[j]
                    force[i, 0] += v * charge[j]
                    force[i, 1] += fs * dx
                    force[i, 2] += fs * dy
                    force[i, 3] += fs * dz


def _pgain(r, big):
    pts = 100000 if big else 40
    return (r.random((pts, 16)), r.random(pts), np.zeros(pts, np.int64), r.random(pts) * 3, 5, np.zeros(pts, np.int64))


@program(_pgain)
def pgain(points, weight, assign, cost, x, switch):
    n, d = points.shape
    gain = 0.0
    for i in range(n):
        s = 0.0
        for k in range(d):
            t = points[i, k] - points[x, k]
            s += t * t
        c = s * weight[i]
        if c < cost[i]:
            switch[i] = 1
            gain += c - cost[i]
        else:
            switch[i] = 0
    return gain


def _euler_flux(r, big):
    pts = 100000 if big else 40
    return (r.integers(-2, pts, (pts, 4)), r.random((pts, 4, 2)), r.random((pts, 4)) + 0.5, np.zeros((pts, 2)))


@program(_euler_flux)
def euler_flux(neigh, normal, var, flux):
    for i in range(neigh.shape[0]):
        f0 = 0.0
        f1 = 0.0
        for k in range(4):
            nb = neigh[i, k]
            nx = normal[i, k, 0]
            ny = normal[i, k, 1]
            length = math.sqrt(nx * nx + ny * ny)
            if nb >= 0:
                p = 0.4 * (var[nb, 3] - 0.5 * (var[nb, 1] ** 2 + var[nb, 2] ** 2) / var[nb, 0])
                factor = -length * 0.2 * 0.5 * (math.sqrt(abs(p)) + var[nb, 0])
                f0 += factor * (var[i, 0] - var[nb, 0])
                f1 += factor * (var[i, 3] - var[nb, 3]) + 0.5 * nx * p
            elif nb == -1:
                f1 += nx * 0.4 * var[i, 3]
            else:
                f0 += 0.5 * nx * (1.0 + var[i, 1])
        flux[i, 0] = f0
        flux[i, 1] = f1


def _mri_q(r, big):
    k = 600 if big else 12
    return (*(r.random(k) for _ in range(7)), np.zeros(k), np.zeros(k))


@program(_mri_q)
def mri_q(x, y, z, kx, ky, kz, phi, qr, qi):
    for i in range(x.shape[0]):
        r = 0.0
        m = 0.0
        for k in range(kx.shape[0]):
            e = 6.2831853071795864769 * (kx[k] * x[i] + ky[k] * y[i] + kz[k] * z[i])
            r += phi[k] * math.cos(e)
            m += phi[k] * math.sin(e)
        qr[i] = r
        qi[i] = m


def _cutoff_potential(r, big):
    gz = 60 if big else 8
    return (r.random((500 if big else 6, 4)) * gz * 0.5, np.zeros((gz, gz, gz)), 0.5, 4.0)


@program(_cutoff_potential)
def cutoff_potential(atoms, grid, h, cut):
    nz, ny, nx = grid.shape
    for a in range(atoms.shape[0]):
        i0 = max(0, int((atoms[a, 0] - cut) / h))
        i1 = min(nx, int((atoms[a, 0] + cut) / h) + 1)
        j0 = max(0, int((atoms[a, 1] - cut) / h))
        j1 = min(ny, int((atoms[a, 1] + cut) / h) + 1)
        k0 = max(0, int((atoms[a, 2] - cut) / h))
        k1 = min(nz, int((atoms[a, 2] + cut) / h) + 1)
        for k in range(k0, k1):
            dz = k * h - atoms[a, 2]
            for j in range(j0, j1):
                dy = j * h - atoms[a, 1]
                for i in range(i0, i1):
                    dx = i * h - atoms[a, 0]
                    r2 = dx * dx + dy * dy + dz * dz
                    if r2 < cut * cut:
                        s = 1.0 - r2 / (cut * cut)
                        grid[k, j, i] += atoms[a, 3] / math.sqrt(r2 + 0.01) * s * s


def _tpacf(r, big):
    k = 600 if big else 12
    return (
        r.random(k * 2),
        r.random(k * 2),
        r.random(k * 2),
        np.sort(r.random(20) * 3)[::-1].copy(),
        np.zeros(20, np.int64),
    )


@program(_tpacf)
def tpacf(x, y, z, bins, hist):
    n = x.shape[0]
    nb = bins.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            dot = x[i] * x[j] + y[i] * y[j] + z[i] * z[j]
            lo = 0
            hi = nb
            while hi > lo + 1:
                k = (lo + hi) // 2
                if dot >= bins[k]:
                    hi = k
                else:
                    lo = k
            hist[lo] += 1


def _block_sad(r, big):
    b = 30 if big else 3
    return (
        r.integers(0, 255, (4 * b + 8, 4 * b + 8)).astype(np.uint8),
        r.integers(0, 255, (4 * b + 8, 4 * b + 8)).astype(np.uint8),
        np.zeros((b, b, 9, 9), np.int64),
        4,
    )


@program(_block_sad)
def block_sad(cur, ref, out, r):
    for by in range(out.shape[0]):
        for bx in range(out.shape[1]):
            for dy in range(2 * r + 1):
                for dx in range(2 * r + 1):
                    s = 0
                    for y in range(4):
                        for x in range(4):
                            s += abs(
                                int(cur[r + 4 * by + y, r + 4 * bx + x]) - int(ref[4 * by + y + dy, 4 * bx + x + dx])
                            )
                    out[by, bx, dy, dx] = s


def _seven_point(r, big):
    z = 120 if big else 9
    return (r.random((z, z, z)), np.zeros((z, z, z)), 0.5, 0.1)


@program(_seven_point)
def seven_point(a, out, c0, c1):
    for k in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for i in range(1, a.shape[2] - 1):
                out[k, j, i] = (
                    c1
                    * (
                        a[k - 1, j, i]
                        + a[k + 1, j, i]
                        + a[k, j - 1, i]
                        + a[k, j + 1, i]
                        + a[k, j, i - 1]
                        + a[k, j, i + 1]
                    )
                    - c0 * a[k, j, i]
                )


def _saturating_histogram(r, big):
    return (r.integers(0, 1024, (1000 if big else 20, 1000 if big else 20)), np.zeros(1024, np.uint8))


@program(_saturating_histogram)
def saturating_histogram(img, hist):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            if hist[img[i, j]] < 255:
                hist[img[i, j]] += 1


def _lattice_boltzmann(r, big):
    W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    opp = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    y = 300 if big else 10
    return (r.random((9, y, y)) + 0.5, np.zeros((9, y, y)), r.random((y, y)) < 0.1, 1.2, W, cx, cy, opp)


@program(_lattice_boltzmann)
def lattice_boltzmann(f, g, solid, omega, w, cx, cy, opp):
    ny, nx = solid.shape
    for y in range(ny):
        for x in range(nx):
            if solid[y, x]:
                for q in range(9):
                    g[opp[q], (y - cy[q]) % ny, (x - cx[q]) % nx] = f[q, y, x]
            else:
                rho = 0.0
                ux = 0.0
                uy = 0.0
                for q in range(9):
                    rho += f[q, y, x]
                    ux += cx[q] * f[q, y, x]
                    uy += cy[q] * f[q, y, x]
                ux /= rho
                uy /= rho
                for q in range(9):
                    cu = 3.0 * (cx[q] * ux + cy[q] * uy)
                    eq = w[q] * rho * (1.0 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
                    g[q, (y + cy[q]) % ny, (x + cx[q]) % nx] = f[q, y, x] + omega * (eq - f[q, y, x])


def _nearest(r, big):
    return (
        r.random((2000 if big else 30, 8)),
        r.random((300 if big else 6, 8)),
        np.zeros(300 if big else 6, np.int64),
        np.zeros(300 if big else 6),
    )


@program(_nearest)
def nearest(points, queries, index, distance):
    for q in range(queries.shape[0]):
        best = 1e30
        where = -1
        for i in range(points.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                d += (points[i, k] - queries[q, k]) ** 2
            if d < best:
                best = d
                where = i
        index[q] = where
        distance[q] = math.sqrt(best)


def _kmeans_update(r, big):
    return (
        r.random((30000 if big else 50, 8)),
        r.random((12, 8)),
        np.zeros((12, 8)),
        np.zeros(12, np.int64),
        np.zeros(30000 if big else 50, np.int64),
    )


@program(_kmeans_update)
def kmeans_update(points, centres, sums, counts, label):
    for c in range(sums.shape[0]):
        counts[c] = 0
        for k in range(sums.shape[1]):
            sums[c, k] = 0.0
    changed = 0
    for i in range(points.shape[0]):
        best = -1
        lowest = 1e300
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                t = points[i, k] - centres[c, k]
                d += t * t
            if d < lowest:
                lowest = d
                best = c
        if label[i] != best:
            changed += 1
        label[i] = best
        counts[best] += 1
        for k in range(points.shape[1]):
            sums[best, k] += points[i, k]
    return changed


def csr(r, n, deg):
    d = r.integers(0, 2 * deg, n)
    s = np.zeros(n + 1, np.int64)
    s[1:] = np.cumsum(d)
    return s, r.integers(0, n, s[-1])
