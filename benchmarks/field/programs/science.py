"""Particles, graphs, Monte Carlo, sparse matrices, grids and differential equations."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _nbody(r, big):
    n = 700 if big else 9
    return (r.random((n, 3)), np.zeros((n, 3)), r.random(n), 0.01, 0.01)


@program(_nbody)
def nbody(pos, vel, mass, dt, eps):
    n = pos.shape[0]
    for i in range(n):
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(n):
            if i != j:
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                inv = (dx * dx + dy * dy + dz * dz + eps) ** -1.5
                ax += mass[j] * dx * inv
                ay += mass[j] * dy * inv
                az += mass[j] * dz * inv
        vel[i, 0] += dt * ax
        vel[i, 1] += dt * ay
        vel[i, 2] += dt * az
    for i in range(n):
        for k in range(3):
            pos[i, k] += dt * vel[i, k]


def _lj_half_pairs(r, big):
    n = 700 if big else 9
    return (r.random((n, 3)) * 10, np.zeros((n, 3)), 10.0, 6.25)


@program(_lj_half_pairs)
def lj_half_pairs(pos, force, box, cut2):
    n = pos.shape[0]
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            dz = pos[i, 2] - pos[j, 2]
            dx -= box * round(dx / box)
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cut2:
                i6 = 1.0 / (r2 * r2 * r2)
                f = 48.0 * i6 * (i6 - 0.5) / r2
                force[i, 0] += f * dx
                force[i, 1] += f * dy
                force[i, 2] += f * dz
                force[j, 0] -= f * dx
                force[j, 1] -= f * dy
                force[j, 2] -= f * dz
                energy += 4.0 * i6 * (i6 - 1.0)
    return energy


def _cell_list(r, big):
    m = 300000 if big else 60
    return (r.random((m, 2)), np.zeros(m, np.int64), np.zeros(50 * 50, np.int64), np.zeros(m, np.int64), 50)


@program(_cell_list)
def cell_list(pos, cell_of, head, nxt, ncell):
    for c in range(head.shape[0]):
        head[c] = -1
    for i in range(pos.shape[0]):
        c = int(pos[i, 0] * ncell) * ncell + int(pos[i, 1] * ncell)
        cell_of[i] = c
        nxt[i] = head[c]
        head[c] = i


def _verlet(r, big):
    m = 300000 if big else 60
    return (r.random((m, 3)), r.normal(size=(m, 3)), r.normal(size=(m, 3)), 0.01, 1.0)


@program(_verlet)
def verlet(x, v, f, dt, box):
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            v[i, k] += 0.5 * dt * f[i, k]
            x[i, k] += dt * v[i, k]
            if x[i, k] < 0.0:
                x[i, k] += box
            elif x[i, k] >= box:
                x[i, k] -= box


def _pagerank(r, big):
    v = 60000 if big else 40
    st, ed = csr(r, v, 8)
    return (st, ed, np.maximum(np.bincount(ed, minlength=v), 1), np.full(v, 1 / v), np.zeros(v), 10 if big else 3)


@program(_pagerank)
def pagerank(start, edges, degree, rank, new, sweeps):
    n = rank.shape[0]
    for _ in range(sweeps):
        for v in range(n):
            s = 0.0
            for e in range(start[v], start[v + 1]):
                u = edges[e]
                s += rank[u] / degree[u]
            new[v] = 0.15 / n + 0.85 * s
        diff = 0.0
        for v in range(n):
            diff += abs(new[v] - rank[v])
            rank[v] = new[v]
        if diff < 1e-12:
            break


def _bellman_ford(r, big):
    v = 60000 if big else 40
    dist = np.full(v, 1e18)
    dist[0] = 0
    return (r.integers(0, v, 8 * v), r.integers(0, v, 8 * v), r.random(8 * v), dist, 8)


@program(_bellman_ford)
def bellman_ford(src, dst, w, dist, rounds):
    for _ in range(rounds):
        changed = False
        for e in range(src.shape[0]):
            d = dist[src[e]] + w[e]
            if d < dist[dst[e]]:
                dist[dst[e]] = d
                changed = True
        if not changed:
            break


def _triangles(r, big):
    v = 60000 if big else 40
    st, ed = csr(r, v, 8)
    return (st, ed)


@program(_triangles)
def triangles(start, edges):
    total = 0
    for u in range(start.shape[0] - 1):
        for a in range(start[u], start[u + 1]):
            v = edges[a]
            if v > u:
                i = start[u]
                j = start[v]
                while i < start[u + 1] and j < start[v + 1]:
                    if edges[i] < edges[j]:
                        i += 1
                    elif edges[i] > edges[j]:
                        j += 1
                    else:
                        if edges[i] > v:
                            total += 1
                        i += 1
                        j += 1
    return total


def _label_propagation(r, big):
    v = 60000 if big else 40
    st, ed = csr(r, v, 8)
    return (st, ed, r.permutation(v), np.zeros(v, np.int64))


@program(_label_propagation)
def label_propagation(start, edges, label, new):
    changed = 0
    for v in range(label.shape[0]):
        m = label[v]
        for e in range(start[v], start[v + 1]):
            if label[edges[e]] < m:
                m = label[edges[e]]
        new[v] = m
        if m != label[v]:
            changed += 1
    return changed


def _in_degrees(r, big):
    v = 60000 if big else 40
    _, ed = csr(r, v, 8)
    return (ed, np.zeros(v, np.int64))


@program(_in_degrees)
def in_degrees(edges, deg):
    for e in range(edges.shape[0]):
        deg[edges[e]] += 1


def _ising(r, big):
    s = 600 if big else 12
    return (r.choice(np.array([-1.0, 1.0]), (s, s)), r.random((s, s)), 0.4)


@program(_ising)
def ising(spin, rnd, beta):
    n, m = spin.shape
    for colour in range(2):
        for i in range(n):
            for j in range(m):
                if (i + j) % 2 == colour:
                    s = spin[(i + 1) % n, j] + spin[(i - 1) % n, j] + spin[i, (j + 1) % m] + spin[i, (j - 1) % m]
                    de = 2.0 * spin[i, j] * s
                    if de <= 0.0 or rnd[i, j] < math.exp(-beta * de):
                        spin[i, j] = -spin[i, j]


def _option_paths(r, big):
    return (r.normal(size=(10000 if big else 8, 50)), 100.0, 105.0, 0.03, 0.2, 0.02)


@program(_option_paths)
def option_paths(z, s0, strike, rate, sigma, dt):
    total = 0.0
    for p in range(z.shape[0]):
        s = s0
        for t in range(z.shape[1]):
            s *= math.exp((rate - 0.5 * sigma * sigma) * dt + sigma * math.sqrt(dt) * z[p, t])
        total += max(s - strike, 0.0)
    return total / z.shape[0]


def _random_walks(r, big):
    return (r.integers(0, 4, (2000 if big else 5, 200 if big else 10)), np.zeros((40, 40), np.int64))


@program(_random_walks)
def random_walks(steps, visits):
    for w in range(steps.shape[0]):
        x = visits.shape[0] // 2
        y = visits.shape[1] // 2
        for t in range(steps.shape[1]):
            d = steps[w, t]
            if d == 0:
                x += 1
            elif d == 1:
                x -= 1
            elif d == 2:
                y += 1
            else:
                y -= 1
            x = min(max(x, 0), visits.shape[0] - 1)
            y = min(max(y, 0), visits.shape[1] - 1)
            visits[x, y] += 1


def _bootstrap(r, big):
    return (
        r.random(1000 if big else 20),
        r.integers(0, 1000 if big else 20, (1000 if big else 6, 1000 if big else 20)),
        np.zeros(1000 if big else 6),
    )


@program(_bootstrap)
def bootstrap(data, index, means):
    for b in range(index.shape[0]):
        s = 0.0
        for i in range(index.shape[1]):
            s += data[index[b, i]]
        means[b] = s / index.shape[1]


def _kernel_density(r, big):
    return (np.linspace(0, 1, 500 if big else 7), r.random(5000 if big else 20), 0.1, np.zeros(500 if big else 7))


@program(_kernel_density)
def kernel_density(x, data, h, out):
    norm = 1.0 / (data.shape[0] * h * math.sqrt(2.0 * math.pi))
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(data.shape[0]):
            u = (x[i] - data[j]) / h
            s += math.exp(-0.5 * u * u)
        out[i] = s * norm


def _pairwise(r, big):
    return (r.random((700 if big else 9, 3)), np.zeros((700 if big else 9, 700 if big else 9)))


@program(_pairwise)
def pairwise(x, d):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                s += t * t
            d[i, j] = math.sqrt(s)


def _correlation_matrix(r, big):
    return (r.random((2000 if big else 20, 100 if big else 6)), np.zeros((100 if big else 6, 100 if big else 6)))


@program(_correlation_matrix)
def correlation_matrix(x, c):
    n, m = x.shape
    mean = np.zeros(m)
    std = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += x[i, j]
        mean[j] /= n
        for i in range(n):
            std[j] += (x[i, j] - mean[j]) ** 2
        std[j] = math.sqrt(std[j])
    for a in range(m):
        for b in range(a, m):
            s = 0.0
            for i in range(n):
                s += (x[i, a] - mean[a]) * (x[i, b] - mean[b])
            c[a, b] = s / (std[a] * std[b])
            c[b, a] = c[a, b]


def _spmv_csr(r, big):
    v = 60000 if big else 40
    st, ed = csr(r, v, 8)
    return (r.random(len(ed)), ed, st, r.random(v), np.zeros(v))


@program(_spmv_csr)
def spmv_csr(data, indices, indptr, x, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s


def _spmv_transposed(r, big):
    v = 60000 if big else 40
    st, ed = csr(r, v, 8)
    return (r.random(len(ed)), ed, st, r.random(v), np.zeros(v))


@program(_spmv_transposed)
def spmv_transposed(data, indices, indptr, x, y):
    for i in range(x.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            y[indices[k]] += data[k] * x[i]


def _coo_accumulate(r, big):
    v = 60000 if big else 40
    return (r.integers(0, v, 6 * v), r.integers(0, v, 6 * v), r.random(6 * v), r.random(v), np.zeros(v))


@program(_coo_accumulate)
def coo_accumulate(rows, cols, vals, x, y):
    for e in range(rows.shape[0]):
        y[rows[e]] += vals[e] * x[cols[e]]


def _sieve(r, big):
    return (np.zeros(2000000 if big else 200, bool),)


@program(_sieve)
def sieve(is_prime):
    n = is_prime.shape[0]
    for i in range(n):
        is_prime[i] = i >= 2
    i = 2
    while i * i < n:
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
        i += 1


def _game_of_life(r, big):
    s = 600 if big else 12
    return (r.integers(0, 2, (s, s)), np.zeros((s, s), np.int64))


@program(_game_of_life)
def game_of_life(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            s = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    if p != 0 or q != 0:
                        s += a[(i + p) % n, (j + q) % m]
            b[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0


def _rk4_lorenz(r, big):
    return (r.random((2000 if big else 4, 3)), 100, 0.01)


@program(_rk4_lorenz)
def rk4_lorenz(y, steps, dt):
    for p in range(y.shape[0]):
        x0 = y[p, 0]
        x1 = y[p, 1]
        x2 = y[p, 2]
        for _ in range(steps):
            a0 = 10.0 * (x1 - x0)
            a1 = x0 * (28.0 - x2) - x1
            a2 = x0 * x1 - 8.0 / 3.0 * x2
            b0 = 10.0 * ((x1 + 0.5 * dt * a1) - (x0 + 0.5 * dt * a0))
            b1 = (x0 + 0.5 * dt * a0) * (28.0 - (x2 + 0.5 * dt * a2)) - (x1 + 0.5 * dt * a1)
            b2 = (x0 + 0.5 * dt * a0) * (x1 + 0.5 * dt * a1) - 8.0 / 3.0 * (x2 + 0.5 * dt * a2)
            x0 += dt * b0
            x1 += dt * b1
            x2 += dt * b2
        y[p, 0] = x0
        y[p, 1] = x1
        y[p, 2] = x2


def _thomas(r, big):
    q = (2000 if big else 5, 200 if big else 9)
    return (r.random(q), r.random(q) + 3, r.random(q), r.random(q), np.zeros(q), np.zeros(q), np.zeros(q))


@program(_thomas)
def thomas(a, b, c, d, x, cp, dp):
    n, m = b.shape
    for r in range(n):
        cp[r, 0] = c[r, 0] / b[r, 0]
        dp[r, 0] = d[r, 0] / b[r, 0]
        for i in range(1, m):
            k = b[r, i] - a[r, i] * cp[r, i - 1]
            cp[r, i] = c[r, i] / k
            dp[r, i] = (d[r, i] - a[r, i] * dp[r, i - 1]) / k
        x[r, m - 1] = dp[r, m - 1]
        for i in range(m - 2, -1, -1):
            x[r, i] = dp[r, i] - cp[r, i] * x[r, i + 1]


def _interpolate(r, big):
    return (
        np.sort(r.random(1000 if big else 12)),
        r.random(1000 if big else 12),
        r.random(200000 if big else 20),
        np.zeros(200000 if big else 20),
    )


@program(_interpolate)
def interpolate(xp, fp, x, out):
    for i in range(x.shape[0]):
        lo = 0
        hi = xp.shape[0] - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if xp[mid] <= x[i]:
                lo = mid
            else:
                hi = mid
        out[i] = fp[lo] + (fp[hi] - fp[lo]) * (x[i] - xp[lo]) / (xp[hi] - xp[lo])


def _float_histogram(r, big):
    x = r.random(1000000 if big else 90)
    return (x, 0.1, 0.9, np.zeros(100, np.int64))


@program(_float_histogram)
def float_histogram(x, lo, hi, counts):
    nb = counts.shape[0]
    for i in range(x.shape[0]):
        if x[i] >= lo and x[i] < hi:
            counts[int((x[i] - lo) / (hi - lo) * nb)] += 1


def _great_circle(r, big):
    return (r.random(400 if big else 8), r.random(400 if big else 8), np.zeros((400 if big else 8, 400 if big else 8)))


@program(_great_circle)
def great_circle(lat, lon, d):
    for i in range(lat.shape[0]):
        for j in range(lat.shape[0]):
            a = (
                math.sin((lat[j] - lat[i]) / 2) ** 2
                + math.cos(lat[i]) * math.cos(lat[j]) * math.sin((lon[j] - lon[i]) / 2) ** 2
            )
            d[i, j] = 2 * 6371.0 * math.asin(math.sqrt(a))


def csr(r, n, deg):
    d = r.integers(0, 2 * deg, n)
    s = np.zeros(n + 1, np.int64)
    s[1:] = np.cumsum(d)
    e = r.integers(0, n, s[-1])
    for i in range(n):
        e[s[i] : s[i + 1]].sort()
    return s, e
