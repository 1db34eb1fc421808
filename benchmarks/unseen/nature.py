"""Part of a twelfth set, written without a look at the recipe: atoms, waves, meshes, columns, genes, graphs, tables."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _ions(n):
    box = float(n) ** (1 / 3)
    charge = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return f8(n, 3) * box, charge, box, 0.9, min(3.5, box / 2), zeros((n, 3))


@program("Ewald, sum in real space", _ions, 60, 20_000)
def ewald_real(x, q, box, alpha, cut, f):
    n = x.shape[0]
    energy = 0.0
    for i in range(n):
        fx = fy = fz = 0.0
        for j in range(n):
            if i == j:
                continue
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            dz = x[i, 2] - x[j, 2]
            dx -= box * round(dx / box)
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 > cut * cut:
                continue
            r = math.sqrt(r2)
            e = q[i] * q[j] * math.erfc(alpha * r) / r
            g = (e + q[i] * q[j] * 2 * alpha / math.sqrt(math.pi) * math.exp(-((alpha * r) ** 2))) / r2
            energy += 0.5 * e
            fx += g * dx
            fy += g * dy
            fz += g * dz
        f[i, 0] = fx
        f[i, 1] = fy
        f[i, 2] = fz
    return energy


def _liquid(n):
    box = float(n) ** (1 / 3)
    return (f4(n, 3) * np.float32(box)), whole(3, n).astype(np.int8), box, zeros((3, 3, 200))


@program("structure of a liquid of three kinds", _liquid, 100, 30_000)
def partial_rdf(x, kind, box, g):
    n, bins = x.shape[0], g.shape[2]
    width = 0.5 * box / bins
    count = np.zeros(3, np.int64)
    pairs = np.zeros((3, 3, bins), np.int64)
    for i in range(n):
        count[kind[i]] += 1
        for j in range(i):
            r2 = 0.0
            for d in range(3):
                s = abs(x[i, d] - x[j, d])
                if s > box / 2:
                    s = box - s
                r2 += s * s
            b = int(math.sqrt(r2) / width)
            if b < bins:
                pairs[kind[i], kind[j], b] += 1
    for a in range(3):
        for c in range(3):
            for b in range(bins):
                shell = 4 / 3 * math.pi * width**3 * ((b + 1) ** 3 - b**3)
                both = pairs[a, c, b] + pairs[c, a, b]
                g[a, c, b] = both * box**3 / (shell * count[a] * count[c])


def _melt(n):
    phi = zeros((n, n))
    phi[n // 2 - 2 : n // 2 + 3, n // 2 - 2 : n // 2 + 3] = 1.0
    return phi + 0.01 * f8(n, n), zeros((n, n)), 10


@program("a dendrite, phase and heat", _melt, 24, 1500)
def dendrite(phi, heat, steps):
    n, m = phi.shape
    dx, dt, kappa = 0.03, 1e-4, 1.6
    eps = np.empty((n, m))
    turn = np.empty((n, m))
    gx = np.empty((n, m))
    gy = np.empty((n, m))
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                gx[i, j] = (phi[(i + 1) % n, j] - phi[i - 1, j]) / (2 * dx)
                gy[i, j] = (phi[i, (j + 1) % m] - phi[i, j - 1]) / (2 * dx)
                angle = 6 * math.atan2(gy[i, j], gx[i, j])
                eps[i, j] = 0.01 * (1 + 0.04 * math.cos(angle))
                turn[i, j] = -0.01 * 0.04 * 6 * math.sin(angle)
        new = np.empty((n, m))
        warm = np.empty((n, m))
        for i in range(n):
            down, up = (i + 1) % n, (i - 1) % n
            for j in range(m):
                right, left = (j + 1) % m, (j - 1) % m
                lap = (phi[down, j] + phi[up, j] + phi[i, right] + phi[i, left] - 4 * phi[i, j]) / dx**2
                hot = (heat[down, j] + heat[up, j] + heat[i, right] + heat[i, left] - 4 * heat[i, j]) / dx**2
                a = (eps[i, right] * turn[i, right] * gx[i, right] - eps[i, left] * turn[i, left] * gx[i, left]) / (
                    2 * dx
                )
                b = (eps[down, j] * turn[down, j] * gy[down, j] - eps[up, j] * turn[up, j] * gy[up, j]) / (2 * dx)
                drive = 0.9 / math.pi * math.atan(10 * (1 - heat[i, j]))
                p = phi[i, j]
                change = dt / 3e-4 * (a - b + eps[i, j] ** 2 * lap + p * (1 - p) * (p - 0.5 + drive))
                new[i, j] = p + change
                warm[i, j] = heat[i, j] + dt * hot + kappa * change
        phi[:] = new
        heat[:] = warm


def _valley(n):
    y, x = np.mgrid[0:n, 0:n] / n
    bed = 0.5 * (x - 0.5) ** 2 + 0.2 * np.sin(9 * x) * np.sin(7 * y)
    return (
        np.maximum(np.where(x + y > 1.1, 0.2, 0.1) - bed, 0.0),
        zeros((n, n)),
        zeros((n, n)),
        bed,
        0.1 / n,
        1.0 / n,
        5,
    )


def _face(hl, ul, vl, hr, ur, vr):
    """Rusanov's flux across a face, along the first velocity."""
    c = max(abs(ul) + math.sqrt(9.81 * hl), abs(ur) + math.sqrt(9.81 * hr))
    mass = 0.5 * (hl * ul + hr * ur) - 0.5 * c * (hr - hl)
    along = 0.5 * (hl * ul**2 + hr * ur**2 + 4.905 * (hl**2 + hr**2)) - 0.5 * c * (hr * ur - hl * ul)
    across = 0.5 * (hl * ul * vl + hr * ur * vr) - 0.5 * c * (hr * vr - hl * vl)
    return mass, along, across


def _speed(h, q):
    return q / h if h > 1e-5 else 0.0


@program("a flood that wets and dries", _valley, 14, 1500)
def flood(h, hu, hv, bed, dt, dx, steps):
    n, m = h.shape
    for _ in range(steps):
        dh, du, dv = np.zeros((n, m)), np.zeros((n, m)), np.zeros((n, m))
        for i in range(n):
            for j in range(m - 1):
                top = max(bed[i, j], bed[i, j + 1])
                hl = max(0.0, h[i, j] + bed[i, j] - top)
                hr = max(0.0, h[i, j + 1] + bed[i, j + 1] - top)
                ul, ur = _speed(h[i, j], hu[i, j]), _speed(h[i, j + 1], hu[i, j + 1])
                vl, vr = _speed(h[i, j], hv[i, j]), _speed(h[i, j + 1], hv[i, j + 1])
                a, b, c = _face(hl, ul, vl, hr, ur, vr)
                dh[i, j] -= a
                dh[i, j + 1] += a
                du[i, j] -= b + 4.905 * (h[i, j] ** 2 - hl**2)
                du[i, j + 1] += b + 4.905 * (h[i, j + 1] ** 2 - hr**2)
                dv[i, j] -= c
                dv[i, j + 1] += c
        for i in range(n - 1):
            for j in range(m):
                top = max(bed[i, j], bed[i + 1, j])
                hl = max(0.0, h[i, j] + bed[i, j] - top)
                hr = max(0.0, h[i + 1, j] + bed[i + 1, j] - top)
                ul, ur = _speed(h[i, j], hu[i, j]), _speed(h[i + 1, j], hu[i + 1, j])
                vl, vr = _speed(h[i, j], hv[i, j]), _speed(h[i + 1, j], hv[i + 1, j])
                a, b, c = _face(hl, vl, ul, hr, vr, ur)
                dh[i, j] -= a
                dh[i + 1, j] += a
                dv[i, j] -= b + 4.905 * (h[i, j] ** 2 - hl**2)
                dv[i + 1, j] += b + 4.905 * (h[i + 1, j] ** 2 - hr**2)
                du[i, j] -= c
                du[i + 1, j] += c
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                h[i, j] = max(0.0, h[i, j] + dt / dx * dh[i, j])
                wet = h[i, j] > 1e-5
                hu[i, j] = hu[i, j] + dt / dx * du[i, j] if wet else 0.0
                hv[i, j] = hv[i, j] + dt / dx * dv[i, j] if wet else 0.0
    return h.sum()


def _sponge(i, n, width):
    inside = min(i, n - 1 - i)
    return 1.0 if inside >= width else math.exp(-((0.05 * (width - inside)) ** 2))


def _rock(n):
    return zeros((n, n, n), np.float32), zeros((n, n, n), np.float32), 1 + f4(n, n, n), 2 + f4(n, n, n), 8


@program("a shot in rock, sponge at the borders", _rock, 12, 320)
def shot(p, before, stiff, light, steps):
    n = p.shape[0]
    damp = np.ones(n, np.float32)
    for i in range(n):
        damp[i] = _sponge(i, n, n // 4)
    trace = np.zeros((steps, n), np.float32)
    for s in range(steps):
        p[n // 2, n // 2, n // 2] += (1 - 0.5 * s) * math.exp(-0.25 * s)
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    here, q = light[i, j, k], p[i, j, k]
                    flow = (light[i + 1, j, k] + here) * (p[i + 1, j, k] - q) + (light[i - 1, j, k] + here) * (
                        p[i - 1, j, k] - q
                    )
                    flow += (light[i, j + 1, k] + here) * (p[i, j + 1, k] - q) + (light[i, j - 1, k] + here) * (
                        p[i, j - 1, k] - q
                    )
                    flow += (light[i, j, k + 1] + here) * (p[i, j, k + 1] - q) + (light[i, j, k - 1] + here) * (
                        p[i, j, k - 1] - q
                    )
                    d = damp[i] * damp[j] * damp[k]
                    before[i, j, k] = d * (2 * q - d * before[i, j, k] + 0.01 * stiff[i, j, k] * flow)
        p, before = before, p
        trace[s] = p[n // 2, n // 2 - 2]
    return trace


def _faces(n):
    owner = np.concatenate([np.arange(n), np.arange(n)]).astype(np.int32)
    other = np.concatenate([(np.arange(n) + 1) % n, whole(n, n)]).astype(np.int32)
    return f8(n), owner, other, f8(2 * n, 2) - 0.5, f8(2 * n, 2) - 0.3, 1 + f8(n), zeros((n, 2))


@program("gradients of cells, limited, faces scattered", _faces, 200, 1_000_000)
def limited_gradients(u, owner, other, normal, arm, volume, grad):
    n = u.shape[0]
    least, most = u.copy(), u.copy()
    for f in range(owner.shape[0]):
        a, b = owner[f], other[f]
        middle = 0.5 * (u[a] + u[b])
        for d in range(2):
            grad[a, d] += middle * normal[f, d]
            grad[b, d] -= middle * normal[f, d]
        least[a] = min(least[a], u[b])
        most[a] = max(most[a], u[b])
        least[b] = min(least[b], u[a])
        most[b] = max(most[b], u[a])
    limit = np.ones(n)
    for c in range(n):
        grad[c, 0] /= volume[c]
        grad[c, 1] /= volume[c]
    for f in range(owner.shape[0]):
        for side in range(2):
            c = owner[f] if side == 0 else other[f]
            step = grad[c, 0] * arm[f, 0] + grad[c, 1] * arm[f, 1]
            if step > 1e-12:
                limit[c] = min(limit[c], (most[c] - u[c]) / step)
            elif step < -1e-12:
                limit[c] = min(limit[c], (least[c] - u[c]) / step)
    for c in range(n):
        for d in range(2):
            grad[c, d] *= limit[c]


def _bricks(n):
    m = n + 1
    grid = np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.2 * f8(m**3, 3)
    i, j, k = (axis.ravel() for axis in np.meshgrid(*[np.arange(n)] * 3, indexing="ij"))
    corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    nodes = np.stack([((i + a) * m + j + b) * m + k + c for a, b, c in corner], 1).astype(np.int32)
    return grid, nodes, 1 + f8(n**3), zeros((n**3, 8, 8)), zeros(m**3)


@program("bricks of heat, 8 x 8 each, and the diagonal", _bricks, 2, 44)
def bricks(x, nodes, conductivity, ke, diagonal):
    sign = np.array(
        [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]
    )
    at = 1 / math.sqrt(3.0)
    for e in range(nodes.shape[0]):
        for g in range(8):
            local = np.empty((8, 3))
            jac = np.zeros((3, 3))
            for a in range(8):
                s0 = 1 + sign[a, 0] * sign[g, 0] * at
                s1 = 1 + sign[a, 1] * sign[g, 1] * at
                s2 = 1 + sign[a, 2] * sign[g, 2] * at
                local[a, 0] = 0.125 * sign[a, 0] * s1 * s2
                local[a, 1] = 0.125 * sign[a, 1] * s0 * s2
                local[a, 2] = 0.125 * sign[a, 2] * s0 * s1
                for p in range(3):
                    for q in range(3):
                        jac[p, q] += local[a, p] * x[nodes[e, a], q]
            inv = np.empty((3, 3))
            for p in range(3):
                for q in range(3):
                    r, s, t, u = (q + 1) % 3, (q + 2) % 3, (p + 1) % 3, (p + 2) % 3
                    inv[p, q] = jac[r, t] * jac[s, u] - jac[r, u] * jac[s, t]
            det = jac[0, 0] * inv[0, 0] + jac[0, 1] * inv[1, 0] + jac[0, 2] * inv[2, 0]
            slope = np.zeros((8, 3))
            for a in range(8):
                for p in range(3):
                    for q in range(3):
                        slope[a, p] += inv[p, q] * local[a, q] / det
            for a in range(8):
                for b in range(8):
                    dot = slope[a, 0] * slope[b, 0] + slope[a, 1] * slope[b, 1] + slope[a, 2] * slope[b, 2]
                    ke[e, a, b] += conductivity[e] * dot * det
        for a in range(8):
            diagonal[nodes[e, a]] += ke[e, a, a]


def _spins(n):
    return (2 * whole(2, n, n, n) - 1).astype(np.int8), f4(2, n, n, n), 0.2


@program("Ising in 3-D, both colours, energy", _spins, 8, 320)
def ising_3d(s, chance, beta):
    n = s.shape[0]
    weight = np.zeros(13)
    for k in range(13):
        weight[k] = math.exp(-2 * beta * (k - 6))
    for colour in range(2):
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    if (i + j + k) % 2 != colour:
                        continue
                    around = s[i - 1, j, k] + s[(i + 1) % n, j, k] + s[i, j - 1, k]
                    around += s[i, (j + 1) % n, k] + s[i, j, k - 1] + s[i, j, (k + 1) % n]
                    if chance[colour, i, j, k] < weight[s[i, j, k] * around + 6]:
                        s[i, j, k] = -s[i, j, k]
    energy = 0
    magnet = 0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                here = int(s[i, j, k])
                magnet += here
                energy -= here * (int(s[(i + 1) % n, j, k]) + int(s[i, (j + 1) % n, k]) + int(s[i, j, (k + 1) % n]))
    return energy, magnet


def _drops(n):
    x = f8(8 * n**3, 3) * n
    cell = (x[:, 0].astype(int) * n + x[:, 1].astype(int)) * n + x[:, 2].astype(int)
    x = x[np.argsort(cell, kind="stable")]
    start = np.searchsorted(np.sort(cell), np.arange(n**3 + 1)).astype(np.int32)
    return x, 1 + f8(8 * n**3), f8(8 * n**3), start, n, zeros((8 * n**3, 3))


def _spiky(r):
    """The slope of Mueller's kernel over r, radius 1."""
    return -45 / math.pi * (1 - r) ** 2 / r if 1e-9 < r < 1 else 0.0


@program("pressure between drops, 27 cells", _drops, 3, 40)
def sph_pressure(x, rho, p, start, n, acc):
    for cx in range(n):
        for cy in range(n):
            for cz in range(n):
                c = (cx * n + cy) * n + cz
                for i in range(start[c], start[c + 1]):
                    ax = ay = az = 0.0
                    for ox in range(max(cx - 1, 0), min(cx + 2, n)):
                        for oy in range(max(cy - 1, 0), min(cy + 2, n)):
                            for oz in range(max(cz - 1, 0), min(cz + 2, n)):
                                o = (ox * n + oy) * n + oz
                                for j in range(start[o], start[o + 1]):
                                    dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                                    r = math.sqrt(dx * dx + dy * dy + dz * dz)
                                    push = (p[i] / rho[i] ** 2 + p[j] / rho[j] ** 2) * _spiky(r)
                                    ax -= push * dx
                                    ay -= push * dy
                                    az -= push * dz
                    acc[i, 0] = ax
                    acc[i, 1] = ay
                    acc[i, 2] = az


def _sky(n):
    return f4(6, 40, n), 0.9 * f4(6, 40, n), 0.2 + 0.8 * f8(n), zeros((41, n), np.float32), zeros((41, n), np.float32)


@program("sunlight in columns, layers added", _sky, 6, 50_000)
def two_streams(tau, scattered, sun, down, up):
    bands, layers, n = tau.shape
    for c in range(n):
        for b in range(bands):
            mirror = np.empty(layers)
            through = np.empty(layers)
            for k in range(layers):
                g = 0.5 * scattered[b, k, c]
                loss = math.sqrt((1 - g) ** 2 - g**2)
                e = math.exp(-2 * loss * tau[b, k, c])
                below = (1 - g + loss) ** 2 - g**2 * e
                mirror[k] = g * (1 - g + loss) * (1 - e) / below
                through[k] = ((1 - g + loss) ** 2 - g**2) * math.sqrt(e) / below
            ground = np.empty(layers + 1)
            ground[layers] = 0.3
            for k in range(layers - 1, -1, -1):
                ground[k] = mirror[k] + through[k] ** 2 * ground[k + 1] / (1 - mirror[k] * ground[k + 1])
            flux = sun[c] / bands
            for k in range(layers + 1):
                down[k, c] += flux
                up[k, c] += flux * ground[k]
                if k < layers:
                    flux *= through[k] / (1 - mirror[k] * ground[k + 1])


@program("percolation in 3-D, clusters", lambda n: (f4(n, n, n) < 0.45, zeros((n, n, n), np.int32)), 8, 160)
def percolation(is_open, label):
    n = is_open.shape[0]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                label[i, j, k] = (i * n + j) * n + k + 1 if is_open[i, j, k] else 0
    rounds = 0
    changed = True
    while changed:
        changed = False
        rounds += 1
        new = label.copy()
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    if not is_open[i, j, k]:
                        continue
                    best = label[i, j, k]
                    for d in (-1, 1):
                        if 0 <= i + d < n:
                            best = max(best, label[i + d, j, k])
                        if 0 <= j + d < n:
                            best = max(best, label[i, j + d, k])
                        if 0 <= k + d < n:
                            best = max(best, label[i, j, k + d])
                    if best != label[i, j, k]:
                        new[i, j, k] = best
                        changed = True
        label[:] = new
    size = np.zeros(n * n * n + 1, np.int32)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if label[i, j, k] > 0:
                    size[label[i, j, k]] += 1
    return rounds, size.max()


def _orbits(n):
    c = (f8(37, 37) - 0.5) + 1j * (f8(37, 37).T - 0.5)
    places = np.stack([1.05 + 0.2 * f8(n), 3 * f8(n)[::-1] - 1.5, 6.28 * np.sqrt(f8(n))], 1)
    return c, places, zeros(n)


@program("gravity at satellites, harmonics to 36", _orbits, 20, 200_000)
def gravity(c, places, out):
    top = c.shape[0] - 1
    for i in range(places.shape[0]):
        r, lat, lon = places[i]
        s, w = math.sin(lat), math.cos(lat)
        step = complex(math.cos(lon), math.sin(lon))
        turn = 1 + 0j
        total = 0.0
        first = 1.0
        for m in range(top + 1):
            if m > 0:
                first *= w * math.sqrt((2 * m + 1) / (2 * m)) if m > 1 else w * math.sqrt(3.0)
                turn *= step
            before, p = 0.0, first
            for k in range(m, top + 1):
                if k > m:
                    a = math.sqrt((2 * k - 1) * (2 * k + 1) / ((k - m) * (k + m)))
                    b = (
                        math.sqrt((2 * k + 1) * (k + m - 1) * (k - m - 1) / ((k - m) * (k + m) * (2 * k - 3)))
                        if k > m + 1
                        else 0.0
                    )
                    before, p = p, a * s * p - b * before
                total += (c[k, m] * turn).real * p / r ** (k + 1)
        out[i] = total


def _people(n):
    return np.asfortranarray(whole(4, n, 2 * n) - 1).astype(np.int8, order="F"), zeros((n, n), np.float32)


@program("relatedness of people, some genes unknown", _people, 20, 2000)
def relatedness(g, out):
    n, sites = g.shape
    rate = np.zeros(sites)
    for s in range(sites):
        known = 0
        total = 0
        for i in range(n):
            if g[i, s] >= 0:
                known += 1
                total += g[i, s]
        rate[s] = total / (2 * known) if known > 0 else 0.0
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            known = 0
            for s in range(sites):
                x, y = g[a, s], g[b, s]
                spread = 2 * rate[s] * (1 - rate[s])
                if x < 0 or y < 0 or spread <= 0:
                    continue
                total += (x - 2 * rate[s]) * (y - 2 * rate[s]) / spread
                known += 1
            out[a, b] = out[b, a] = total / max(known, 1)


def _poses(n):
    return 3 * f4(40, 3) + 2 * f4(n, 40, 3), zeros((n, n), np.float32)


@program("poses of a molecule, best superposed", _poses, 12, 3000)
def superposed(x, out):
    n, atoms, _ = x.shape
    own = np.zeros(n)
    for i in range(n):
        centre = np.zeros(3)
        for k in range(atoms):
            centre += x[i, k]
        centre /= atoms
        for k in range(atoms):
            for d in range(3):
                x[i, k, d] -= centre[d]
                own[i] += x[i, k, d] ** 2
    for i in range(n):
        for j in range(i):
            m = np.zeros((3, 3))
            for k in range(atoms):
                for p in range(3):
                    for q in range(3):
                        m[p, q] += x[i, k, p] * x[j, k, q]
            squares = 0.0
            for p in range(3):
                for q in range(3):
                    squares += m[p, q] ** 2
            minor = np.empty((3, 3))
            for p in range(3):
                for q in range(3):
                    a, b, c, d = (p + 1) % 3, (p + 2) % 3, (q + 1) % 3, (q + 2) % 3
                    minor[p, q] = m[a, c] * m[b, d] - m[a, d] * m[b, c]
            det = m[0, 0] * minor[0, 0] + m[0, 1] * minor[0, 1] + m[0, 2] * minor[0, 2]
            minors = np.sum(minor * minor)
            c2, c1, c0 = -2 * squares, -8 * det, squares * squares - 4 * minors
            root = 0.5 * (own[i] + own[j])
            for _ in range(50):
                value = ((root * root + c2) * root + c1) * root + c0
                slope = (4 * root * root + 2 * c2) * root + c1
                step = value / slope
                root -= step
                if abs(step) < 1e-11 * abs(root):
                    break
            out[i, j] = out[j, i] = math.sqrt(max(own[i] + own[j] - 2 * root, 0.0) / atoms)
