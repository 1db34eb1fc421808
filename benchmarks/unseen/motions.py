"""A quarter of a twenty-first set, written without a look at the recipe: waves, particles, rays and graphs."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


@program(
    "colours that are eaten by the next, a cyclic automaton",
    lambda n: (whole(14, n, n).astype(np.uint8), 14, 1, 3),
    40,
    4096,
)
def eaten(state, colours, least, steps):
    n, m = state.shape
    new = np.zeros((n, m), np.uint8)
    changed = 0
    for _ in range(steps):
        changed = 0
        for i in range(n):
            for j in range(m):
                after = state[i, j] + 1
                if after == colours:
                    after = 0
                count = 0
                for a in (-1, 0, 1):
                    for b in (-1, 0, 1):
                        if a == 0 and b == 0:
                            continue
                        if state[(i + a) % n, (j + b) % m] == after:
                            count += 1
                if count >= least:
                    new[i, j] = after
                    changed += 1
                else:
                    new[i, j] = state[i, j]
        for i in range(n):
            for j in range(m):
                state[i, j] = new[i, j]
    return changed


def solitons(b):
    n = 24 if b < 100 else 500
    x = np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
    return np.cos(x) * (0.5 + f8(b, 1)), 0.03, 0.05, 12, zeros(b)


@program("solitons on rings, Korteweg and de Vries", solitons, 30, 4096)
def kdv(u, c1, c2, steps, energy):
    rows, n = u.shape
    before = np.zeros((rows, n))
    after = np.zeros((rows, n))
    for r in range(rows):
        for i in range(n):
            before[r, i] = u[r, i]
    for step in range(steps):
        factor = 0.5 if step == 0 else 1.0
        for r in range(rows):
            for i in range(n):
                west, east = u[r, (i - 1) % n], u[r, (i + 1) % n]
                steep = (east + u[r, i] + west) * (east - west)
                third = u[r, (i + 2) % n] - 2.0 * east + 2.0 * west - u[r, (i - 2) % n]
                after[r, i] = before[r, i] - factor * (c1 * steep + c2 * third)
        for r in range(rows):
            for i in range(n):
                before[r, i] = u[r, i]
                u[r, i] = after[r, i]
    for r in range(rows):
        for i in range(n):
            energy[r] += u[r, i] * u[r, i] / n


def hair(s):
    rng = np.random.default_rng(41)
    root = rng.normal(size=(s, 1, 3))
    root /= np.sqrt((root * root).sum(2, keepdims=True))
    x = root * (1.0 + 0.05 * np.arange(24)[None, :, None]) + 0.01 * rng.normal(size=(s, 24, 3))
    return x, x - 0.01 * rng.normal(size=x.shape), 0.05, 0.02, 0.98, 3


@program("strands of hair, each link held to its length, outside of the head", hair, 60, 60_000)
def strands(x, old, rest, dt, damping, steps):
    for s in range(x.shape[0]):
        for _ in range(steps):
            for p in range(1, x.shape[1]):
                for k in range(3):
                    here = x[s, p, k]
                    x[s, p, k] += damping * (here - old[s, p, k])
                    if k == 2:
                        x[s, p, k] -= 9.81 * dt * dt
                    old[s, p, k] = here
            for p in range(1, x.shape[1]):
                dx = x[s, p, 0] - x[s, p - 1, 0]
                dy = x[s, p, 1] - x[s, p - 1, 1]
                dz = x[s, p, 2] - x[s, p - 1, 2]
                f = rest / math.sqrt(dx * dx + dy * dy + dz * dz)
                qx = x[s, p - 1, 0] + f * dx
                qy = x[s, p - 1, 1] + f * dy
                qz = x[s, p - 1, 2] + f * dz
                r = math.sqrt(qx * qx + qy * qy + qz * qz)
                if r < 1.0:
                    qx /= r
                    qy /= r
                    qz /= r
                x[s, p, 0] = qx
                x[s, p, 1] = qy
                x[s, p, 2] = qz


def polymer(r):
    length = 16 if r < 1000 else 40
    return 77, zeros((r, length), np.int16), zeros((r, length), np.int16), zeros(r)


@program("polymers grown on a lattice that avoid themselves, Rosenbluth's weights", polymer, 120, 200_000)
def rosenbluth(seed, px, py, logweight):
    walks, length = px.shape
    trapped = 0
    weights = 0.0
    spread = 0.0
    for w in range(walks):
        x = 0
        y = 0
        total = 0.0
        caught = False
        for step in range(1, length):
            open_ways = 0
            mask = 0
            for d in range(4):
                nx = x + (1 if d == 0 else -1 if d == 1 else 0)
                ny = y + (1 if d == 2 else -1 if d == 3 else 0)
                taken = False
                for k in range(step):
                    if px[w, k] == nx and py[w, k] == ny:
                        taken = True
                        break
                if not taken:
                    open_ways += 1
                    mask |= 1 << d
            if open_ways == 0:
                caught = True
                break
            z = (w * 2654435761 + step * 40503 + seed) & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            z = (z ^ (z >> 16)) % open_ways
            d = 0
            while True:
                if (mask >> d) & 1 == 1:
                    if z == 0:
                        break
                    z -= 1
                d += 1
            if d < 2:
                x += 1 - 2 * d
            else:
                y += 5 - 2 * d
            px[w, step] = x
            py[w, step] = y
            total += math.log(open_ways / 3.0)
        if caught:
            trapped += 1
            logweight[w] = 1.0
        else:
            logweight[w] = total
            weights += math.exp(total)
            spread += math.exp(total) * (x * x + y * y)
    return spread / weights, trapped


def spirals(n):
    a = 0.1 * (f8(n, n) - 0.5) + 0.1j * (f8(n, n).T - 0.5)
    return a, 2.0, -0.5, 0.05, 3


@program("spirals of Ginzburg and Landau, complex, three steps", spirals, 40, 2048)
def ginzburg(a, alpha, beta, dt, steps):
    n, m = a.shape
    lap = np.zeros((n, m), np.complex128)
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                lap[i, j] = a[i - 1, j] + a[(i + 1) % n, j] + a[i, j - 1] + a[i, (j + 1) % m] - 4.0 * a[i, j]
        for i in range(n):
            for j in range(m):
                z = a[i, j]
                size = z.real * z.real + z.imag * z.imag
                a[i, j] = z + dt * (z - (1.0 + beta * 1j) * size * z + (1.0 + alpha * 1j) * lap[i, j])
    turned = 0
    for i in range(n):
        for j in range(m):
            if a[i, j].real > 0.0 and a[i, j].imag < 0.0:
                turned += 1
    return turned


def slabs(b):
    c = 12 if b < 100 else 48
    mu, w = np.polynomial.legendre.leggauss(8)
    rng = np.random.default_rng(42)
    total = 0.5 + 4.0 * rng.random((b, c))
    return (
        total,
        total * (0.2 + 0.6 * rng.random((b, c))),
        rng.random((b, c)),
        mu,
        w,
        0.3,
        3,
        zeros((b, c)),
        zeros((b, 2)),
    )


@program("neutrons in slabs, ordinates swept both ways, sources renewed", slabs, 12, 8192)
def ordinates(sigma, scatter, source, mu, weight, dx, rounds, flux, leak):
    rows, cells = sigma.shape
    for s in range(rows):
        for _ in range(rounds):
            new = np.zeros(cells)
            leak[s, 0] = 0.0
            leak[s, 1] = 0.0
            for m in range(len(mu)):
                speed = 2.0 * abs(mu[m])
                psi = 0.0
                for k in range(cells):
                    c = k if mu[m] > 0.0 else cells - 1 - k
                    q = 0.5 * (source[s, c] + scatter[s, c] * flux[s, c])
                    middle = (q * dx + speed * psi) / (sigma[s, c] * dx + speed)
                    out = 2.0 * middle - psi
                    if out < 0.0:
                        out = 0.0
                        middle = (q * dx + 0.5 * speed * psi) / (sigma[s, c] * dx)
                    new[c] += weight[m] * middle
                    psi = out
                if mu[m] > 0.0:
                    leak[s, 1] += weight[m] * mu[m] * psi
                else:
                    leak[s, 0] -= weight[m] * mu[m] * psi
            for c in range(cells):
                flux[s, c] = new[c]


def random_graph(n, degree):
    rng = np.random.default_rng(43)
    u, v = rng.integers(0, n, (2, n * degree // 2))
    u, v = u[u != v], v[u != v]
    u, v = np.concatenate([u, v]), np.concatenate([v, u])
    key = np.unique(u * n + v)
    u, v = key // n, key % n
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(u, minlength=n), out=start[1:])
    return start, v


@program(
    "hops from sixty sources at once, a bit for each",
    lambda n: (*random_graph(n, 8), (np.arange(60) * 7919) % n, zeros(60, np.int64), zeros(60, np.int64)),
    200,
    100_000,
)
def many_hops(start, neighbour, source, reached, hops):
    n = len(start) - 1
    seen = np.zeros(n, np.int64)
    front = np.zeros(n, np.int64)
    after = np.zeros(n, np.int64)
    for s in range(len(source)):
        seen[source[s]] |= 1 << s
        front[source[s]] |= 1 << s
    level = 0
    while True:
        level += 1
        found = False
        for u in range(n):
            bits = 0
            for e in range(start[u], start[u + 1]):
                bits |= front[neighbour[e]]
            after[u] = bits & ~seen[u]
        for u in range(n):
            front[u] = after[u]
            if after[u] != 0:
                found = True
                seen[u] |= after[u]
                for s in range(len(source)):
                    if (after[u] >> s) & 1 == 1:
                        reached[s] += 1
                        hops[s] += level
        if not found:
            break
    return level


def lopsided(n):
    rng = np.random.default_rng(44)
    count = rng.integers(3, 9, n)
    start = np.zeros(n + 1, np.int32)
    start[1:] = np.cumsum(count)
    row = np.repeat(np.arange(n), count)
    column = (row + rng.integers(-60, 61, len(row))) % n
    first = start[:-1]
    column[first] = np.arange(n)
    value = rng.random(len(row)) - 0.6
    value[first] = 4.0 + rng.random(n)
    return start, column.astype(np.int32), value, rng.random(n), 5, zeros(n)


@program("a lopsided sparse system, BiCGSTAB, five rounds", lopsided, 400, 500_000)
def bicgstab(start, column, value, b, rounds, x):
    n = len(b)
    r = np.zeros(n)
    p = np.zeros(n)
    v = np.zeros(n)
    t = np.zeros(n)
    rho = 0.0
    for i in range(n):
        r[i] = b[i]
        p[i] = b[i]
        rho += b[i] * b[i]
    for _ in range(rounds):
        along = 0.0
        for i in range(n):
            s = 0.0
            for e in range(start[i], start[i + 1]):
                s += value[e] * p[column[e]]
            v[i] = s
            along += b[i] * s
        alpha = rho / along
        for i in range(n):
            r[i] -= alpha * v[i]
        ts = 0.0
        tt = 0.0
        for i in range(n):
            s = 0.0
            for e in range(start[i], start[i + 1]):
                s += value[e] * r[column[e]]
            t[i] = s
            ts += s * r[i]
            tt += s * s
        omega = ts / tt
        new = 0.0
        for i in range(n):
            x[i] += alpha * p[i] + omega * r[i]
            r[i] -= omega * t[i]
            new += b[i] * r[i]
        beta = new / rho * alpha / omega
        rho = new
        for i in range(n):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
    left = 0.0
    for i in range(n):
        left += r[i] * r[i]
    return math.sqrt(left)


def roads(n):
    rng = np.random.default_rng(45)
    u = rng.integers(0, n, 4 * n)
    v = np.where(rng.random(4 * n) < 0.8, (u + rng.integers(1, 30, 4 * n)) % n, rng.integers(0, n, 4 * n))
    return u, v, rng.integers(1, 1000, 4 * n), zeros(n, np.int64), zeros(4 * n, np.uint8)


@program("a least forest, Boruvka's rounds", roads, 200, 200_000)
def boruvka(u, v, w, label, taken):
    n = len(label)
    m = len(u)
    huge = 1 << 60
    best = np.zeros(n, np.int64)
    parent = np.zeros(n, np.int64)
    for i in range(n):
        label[i] = i
    total = 0
    rounds = 0
    while True:
        for i in range(n):
            best[i] = huge
        for e in range(m):
            a = label[u[e]]
            b = label[v[e]]
            if a != b:
                key = w[e] * m + e
                if key < best[a]:
                    best[a] = key
                if key < best[b]:
                    best[b] = key
        joined = 0
        for i in range(n):
            parent[i] = i
            if best[i] < huge:
                e = best[i] % m
                other = label[u[e]] + label[v[e]] - i
                if best[other] == best[i] and i < other:
                    continue
                parent[i] = other
                taken[e] = 1
                total += w[e]
                joined += 1
        if joined == 0:
            break
        for i in range(n):
            root = i
            while parent[root] != root:
                root = parent[root]
            best[i] = root
        for i in range(n):
            label[i] = best[label[i]]
        rounds += 1
    return total, rounds


def towns(n):
    start, neighbour = random_graph(n, 10)
    row = np.repeat(np.arange(n), np.diff(start))
    near = (row + (neighbour - row) % 40 - 20) % n
    rng = np.random.default_rng(46)
    use = rng.random(len(row)) < 0.7
    neighbour = np.where(use, near, neighbour)
    neighbour = np.where(neighbour == row, (row + 1) % n, neighbour)
    return start, neighbour, rng.random(len(row)) + 0.1, np.arange(n) // 8, zeros(n, np.int64), zeros(n)


@program("nodes that would move to another community, Louvain's gain", towns, 300, 100_000)
def louvain(start, neighbour, weight, community, target, gain):
    n = len(community)
    strength = np.zeros(n)
    size = np.zeros(n)
    m2 = 0.0
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            strength[u] += weight[e]
        size[community[u]] += strength[u]
        m2 += strength[u]
    moved = 0
    for u in range(n):
        own = community[u]
        stay = 0.0
        for e in range(start[u], start[u + 1]):
            if community[neighbour[e]] == own:
                stay += weight[e]
        stay -= strength[u] * (size[own] - strength[u]) / m2
        best = stay
        target[u] = own
        for e in range(start[u], start[u + 1]):
            c = community[neighbour[e]]
            if c == own:
                continue
            links = 0.0
            for f in range(start[u], start[u + 1]):
                if community[neighbour[f]] == c:
                    if f < e:
                        break
                    links += weight[f]
            g = links - strength[u] * size[c] / m2
            if links > 0.0 and g > best:
                best = g
                target[u] = c
        gain[u] = best - stay
        if target[u] != own:
            moved += 1
    return moved
