"""Part of a fourteenth set, written without a look at the recipe: fluids, waves, particles, spins, prices."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _burgers(n):
    u = 1 + f8(n, n)
    v = 0.5 + f8(n, n)[::-1].copy()
    return u, v, 0.001, 0.2 / n, 1.0 / n, 20


@program("Burgers in two dimensions, upwind", _burgers, 24, 2_000)
def burgers(u, v, nu, dt, h, steps):
    n, m = u.shape
    un = u.copy()
    vn = v.copy()
    for _step in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                if u[i, j] > 0:
                    ux = (u[i, j] - u[i - 1, j]) / h
                    vx = (v[i, j] - v[i - 1, j]) / h
                else:
                    ux = (u[i + 1, j] - u[i, j]) / h
                    vx = (v[i + 1, j] - v[i, j]) / h
                if v[i, j] > 0:
                    uy = (u[i, j] - u[i, j - 1]) / h
                    vy = (v[i, j] - v[i, j - 1]) / h
                else:
                    uy = (u[i, j + 1] - u[i, j]) / h
                    vy = (v[i, j + 1] - v[i, j]) / h
                lu = (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]) / h**2
                lv = (v[i + 1, j] + v[i - 1, j] + v[i, j + 1] + v[i, j - 1] - 4 * v[i, j]) / h**2
                un[i, j] = u[i, j] + dt * (nu * lu - u[i, j] * ux - v[i, j] * uy)
                vn[i, j] = v[i, j] + dt * (nu * lv - u[i, j] * vx - v[i, j] * vy)
        u[:, :] = un
        v[:, :] = vn


def _cavity(n):
    return zeros((n, n)), zeros((n, n)), zeros((n, n)), zeros((n, n)), 1.0 / (n - 1), 0.1 / n, 0.1, 3, 20


@program("a lid that drives a cavity, pressure relaxed", _cavity, 16, 1_000)
def cavity(u, v, p, b, h, dt, nu, steps, sweeps):
    n = u.shape[0]
    for _step in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                dudx = (u[i, j + 1] - u[i, j - 1]) / (2 * h)
                dvdy = (v[i + 1, j] - v[i - 1, j]) / (2 * h)
                dudy = (u[i + 1, j] - u[i - 1, j]) / (2 * h)
                dvdx = (v[i, j + 1] - v[i, j - 1]) / (2 * h)
                b[i, j] = (dudx + dvdy) / dt - dudx**2 - 2 * dudy * dvdx - dvdy**2
        for _sweep in range(sweeps):
            pn = p.copy()
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    p[i, j] = 0.25 * (pn[i, j + 1] + pn[i, j - 1] + pn[i + 1, j] + pn[i - 1, j] - h * h * b[i, j])
            for i in range(n):
                p[i, n - 1] = p[i, n - 2]
                p[i, 0] = p[i, 1]
            for j in range(n):
                p[0, j] = p[1, j]
                p[n - 1, j] = 0.0
        un = u.copy()
        vn = v.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = (
                    un[i, j]
                    - un[i, j] * dt / h * (un[i, j] - un[i, j - 1])
                    - vn[i, j] * dt / h * (un[i, j] - un[i - 1, j])
                    - dt / (2 * h) * (p[i, j + 1] - p[i, j - 1])
                    + nu * dt / h**2 * (un[i, j + 1] + un[i, j - 1] + un[i + 1, j] + un[i - 1, j] - 4 * un[i, j])
                )
                v[i, j] = (
                    vn[i, j]
                    - un[i, j] * dt / h * (vn[i, j] - vn[i, j - 1])
                    - vn[i, j] * dt / h * (vn[i, j] - vn[i - 1, j])
                    - dt / (2 * h) * (p[i + 1, j] - p[i - 1, j])
                    + nu * dt / h**2 * (vn[i, j + 1] + vn[i, j - 1] + vn[i + 1, j] + vn[i - 1, j] - 4 * vn[i, j])
                )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, n - 1] = 0
        u[n - 1, :] = 1
        v[0, :] = 0
        v[n - 1, :] = 0
        v[:, 0] = 0
        v[:, n - 1] = 0


CX = np.array([0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0])
CY = np.array([0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1])
CZ = np.array([0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1])
OTHER = np.array([0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17])
W = np.array([1 / 3] + [1 / 18] * 6 + [1 / 36] * 12)


def _lattice(n):
    f = f4(19, n, n, n) * 0.02 + W[:, None, None, None].astype(np.float32)
    return f, np.zeros_like(f), f8(n, n, n) < 0.1, 0.8


@program("Boltzmann's lattice of 19, stones bounce", _lattice, 6, 160)
def lbm_d3q19(f, g, solid, tau):
    q, nx, ny, nz = f.shape
    for x in range(nx):
        for y in range(ny):
            for z in range(nz):
                if solid[x, y, z]:
                    for k in range(q):
                        g[k, (x + CX[k]) % nx, (y + CY[k]) % ny, (z + CZ[k]) % nz] = f[OTHER[k], x, y, z]
                    continue
                rho = ux = uy = uz = 0.0
                for k in range(q):
                    rho += f[k, x, y, z]
                    ux += CX[k] * f[k, x, y, z]
                    uy += CY[k] * f[k, x, y, z]
                    uz += CZ[k] * f[k, x, y, z]
                ux /= rho
                uy /= rho
                uz /= rho
                uu = 1.5 * (ux * ux + uy * uy + uz * uz)
                for k in range(q):
                    cu = 3 * (CX[k] * ux + CY[k] * uy + CZ[k] * uz)
                    feq = W[k] * rho * (1 + cu + 0.5 * cu * cu - uu)
                    out = f[k, x, y, z] - (f[k, x, y, z] - feq) / tau
                    g[k, (x + CX[k]) % nx, (y + CY[k]) % ny, (z + CZ[k]) % nz] = out


def _drude(n):
    metal = (f4(n, n) < 0.3).astype(np.int8)
    return zeros((n, n), np.float32), zeros((n, n), np.float32), f4(n, n), zeros((n, n), np.float32), metal, 20


@program("light in metals, Drude", _drude, 20, 3_000)
def drude(ex, ey, hz, current, metal, steps):
    n, m = hz.shape
    for t in range(steps):
        for i in range(n):
            for j in range(1, m):
                d = 0.5 * (hz[i, j] - hz[i, j - 1])
                if metal[i, j] == 1:
                    current[i, j] = 0.95 * current[i, j] + 0.02 * ex[i, j]
                    d -= current[i, j]
                ex[i, j] += d
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] += 0.5 * (ex[i, j + 1] - ex[i, j] - ey[i + 1, j] + ey[i, j])
        hz[n // 2, m // 2] += math.sin(0.1 * t)


def _verlet(n):
    box = (float(n) / 0.8) ** (1 / 3)
    x = f8(n, 3) * box
    width = 40
    near = (np.arange(n)[:, None] + 1 + np.arange(width)[None, :] * 7) % n
    many = whole(width, n)
    return x, near, many, box, zeros((n, 3)), zeros(n)


@program("Lennard-Jones over lists of neighbours", _verlet, 100, 500_000)
def lennard_jones(x, near, many, box, force, energy):
    n = x.shape[0]
    for i in range(n):
        f = np.zeros(3)
        e = 0.0
        for k in range(many[i]):
            j = near[i, k]
            d = x[i] - x[j]
            d -= box * np.round(d / box)
            r2 = np.dot(d, d)
            if r2 < 6.25 and r2 > 0.5:
                s6 = (1.0 / r2) ** 3
                e += 4 * (s6 * s6 - s6)
                f += 24 * (2 * s6 * s6 - s6) / r2 * d
        force[i] = f
        energy[i] = 0.5 * e
    return energy.sum()


def _grains(n):
    side = math.ceil(math.sqrt(n))
    place = np.stack([np.arange(n) % side, np.arange(n) // side], 1) + 0.3 * f8(n, 2)
    cell = np.full((side + 2, side + 2, 6), -1)
    full = np.zeros((side + 2, side + 2), np.int64)
    for i in range(n):
        a, b = int(place[i, 0]) + 1, int(place[i, 1]) + 1
        if full[a, b] < 6:
            cell[a, b, full[a, b]] = i
            full[a, b] += 1
    return place, f8(n, 2) - 0.5, 0.45 + 0.1 * f8(n), cell, full, zeros((n, 2))


@program("grains in contact, cells of six", _grains, 100, 1_000_000)
def grains(x, v, radius, cell, full, force):
    n = x.shape[0]
    for i in range(n):
        a = int(x[i, 0]) + 1
        b = int(x[i, 1]) + 1
        fx = 0.0
        fy = -9.81
        for da in range(-1, 2):
            for db in range(-1, 2):
                for s in range(full[a + da, b + db]):
                    j = cell[a + da, b + db, s]
                    if j == i:
                        continue
                    dx = x[i, 0] - x[j, 0]
                    dy = x[i, 1] - x[j, 1]
                    r = math.sqrt(dx * dx + dy * dy)
                    overlap = radius[i] + radius[j] - r
                    if overlap > 0 and r > 1e-12:
                        nx, ny = dx / r, dy / r
                        vn = (v[i, 0] - v[j, 0]) * nx + (v[i, 1] - v[j, 1]) * ny
                        push = 1000.0 * overlap**1.5 - 5.0 * vn
                        fx += push * nx
                        fy += push * ny
        force[i, 0] = fx
        force[i, 1] = fy


def _vortices(n):
    return f4(n), f4(n)[::-1].copy(), f4(n) - np.float32(0.5), zeros(n, np.float32), zeros(n, np.float32), 1e-3


@program("vortices that carry each other", _vortices, 60, 60_000)
def vortices(x, y, strength, u, v, delta):
    for i in range(len(x)):
        su = np.float32(0)
        sv = np.float32(0)
        for j in range(len(x)):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            k = strength[j] / (dx * dx + dy * dy + np.float32(delta))
            su -= k * dy
            sv += k * dx
        u[i] = su / np.float32(2 * math.pi)
        v[i] = sv / np.float32(2 * math.pi)


def _potts(n):
    return whole(5, n, n).astype(np.int8), f8(4, n, n), f8(4, n, n)[:, ::-1].copy(), np.exp(-0.9 * np.arange(-4, 5.0))


@program("Potts of five colours, chequered sweeps", _potts, 16, 3_000)
def potts(spin, accept, proposed, weight):
    n, m = spin.shape
    for sweep in range(accept.shape[0]):
        for colour in range(2):
            for i in range(n):
                for j in range(m):
                    if (i + j) % 2 == colour:
                        new = int(proposed[sweep, i, j] * 5)
                        before = after = 0
                        up, down = spin[(i - 1) % n, j], spin[(i + 1) % n, j]
                        left, right = spin[i, (j - 1) % m], spin[i, (j + 1) % m]
                        for other in (up, down, left, right):
                            if other == spin[i, j]:
                                before += 1
                            if other == new:
                                after += 1
                        if accept[sweep, i, j] < weight[before - after + 4]:
                            spin[i, j] = new
    counts = np.zeros(5, np.int64)
    for i in range(n):
        for j in range(m):
            counts[spin[i, j]] += 1
    return counts


def _heston(n):
    rng = np.random.default_rng(5)
    return rng.standard_normal((50, n)), rng.standard_normal((50, n)), 100.0, 0.04, 2.0, 0.04, 0.3, -0.7, 0.02, 0.02


@program("Heston's paths and their mirror images", _heston, 20, 500_000)
def heston(z1, z2, s0, v0, kappa, theta, xi, rho, r, dt):
    steps, paths = z1.shape
    total = 0.0
    squares = 0.0
    for p in range(paths):
        pair = 0.0
        for sign in (1.0, -1.0):
            s = s0
            v = v0
            for t in range(steps):
                w1 = sign * z1[t, p]
                w2 = rho * w1 + math.sqrt(1 - rho**2) * sign * z2[t, p]
                vp = max(v, 0.0)
                s *= math.exp((r - 0.5 * vp) * dt + math.sqrt(vp * dt) * w1)
                v += kappa * (theta - vp) * dt + xi * math.sqrt(vp * dt) * w2
            pair += 0.5 * max(s - 100.0, 0.0)
        total += pair
        squares += pair * pair
    mean = total / paths
    return mean, math.sqrt(max(squares / paths - mean * mean, 0.0) / paths)


def _libor(n):
    return np.random.default_rng(6).standard_normal((n, 20)), np.full(40, 0.05), np.full(40, 0.2), 0.25


@program("forward rates of Libor, swaptions", _libor, 10, 200_000)
def libor(z, start, sigma, delta):
    paths, steps = z.shape
    rates = start.shape[0]
    value = 0.0
    for p in range(paths):
        rate = start.copy()
        for t in range(steps):
            drift = 0.0
            for i in range(t, rates):
                lam = sigma[i - t]
                part = delta * lam / (1 + delta * rate[i])
                drift += part * rate[i]
                rate[i] *= math.exp(lam * (drift - 0.5 * lam * delta) + lam * math.sqrt(delta) * z[p, t])
        discount = 1.0
        annuity = 0.0
        for i in range(steps, rates):
            discount /= 1 + delta * rate[i]
            annuity += delta * discount
        payoff = 1 - discount - 0.045 * annuity
        if payoff > 0:
            value += 100 * payoff
    return value / paths


def _fog(n):
    return f4(64, 64, 64) * np.float32(3), f8(n, n), f8(n, n)[::-1].copy(), zeros((n, n))


@program("light through fog, marched", _fog, 10, 2_000)
def fog(density, start_x, start_y, image):
    n = density.shape[0]
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            x, y, z = start_x[i, j] * (n - 1), start_y[i, j] * (n - 1), 0.0
            dx, dy, dz = 0.3 * (start_y[i, j] - 0.5), 0.3 * (start_x[i, j] - 0.5), 0.5
            through = 1.0
            light = 0.0
            while 0 <= x < n - 1 and 0 <= y < n - 1 and z < n - 1 and through > 0.01:
                a, b, c = int(x), int(y), int(z)
                fx, fy, fz = x - a, y - b, z - c
                low = (density[a, b, c] * (1 - fx) + density[a + 1, b, c] * fx) * (1 - fy)
                low += (density[a, b + 1, c] * (1 - fx) + density[a + 1, b + 1, c] * fx) * fy
                high = (density[a, b, c + 1] * (1 - fx) + density[a + 1, b, c + 1] * fx) * (1 - fy)
                high += (density[a, b + 1, c + 1] * (1 - fx) + density[a + 1, b + 1, c + 1] * fx) * fy
                d = low * (1 - fz) + high * fz
                lost = 1 - math.exp(-0.1 * d)
                light += through * lost * (z / n)
                through *= 1 - lost
                x += dx
                y += dy
                z += dz
            image[i, j] = light


def _chains(n):
    rng = np.random.default_rng(7)
    data = rng.standard_normal(64) + 1.5
    return data, rng.standard_normal((100, n)), np.log(rng.random((100, n))), zeros((n, 2))


@program("many chains of Metropolis", _chains, 10, 100_000)
def chains(data, moves, dice, out):
    steps, n = moves.shape
    for c in range(n):
        mu = 0.0
        like = 0.0
        for d in data:
            like -= 0.5 * (d - mu) ** 2
        mean = 0.0
        m2 = 0.0
        for t in range(steps):
            new = mu + 0.3 * moves[t, c]
            trial = 0.0
            for d in data:
                trial -= 0.5 * (d - new) ** 2
            if dice[t, c] < trial - like:
                mu = new
                like = trial
            delta = mu - mean
            mean += delta / (t + 1)
            m2 += delta * (mu - mean)
        out[c, 0] = mean
        out[c, 1] = m2 / (steps - 1)


def _tearing(n):
    node = np.arange(n * n).reshape(n, n)
    bonds = np.concatenate(
        [np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], 1), np.stack([node[:-1].ravel(), node[1:].ravel()], 1)]
    )
    x = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 2) + 0.4 * f8(n * n, 2)
    return x, zeros((n * n, 2)), bonds, np.ones(len(bonds), np.bool_), zeros((n * n, 2)), 10


@program("a cloth of springs that tears", _tearing, 8, 1_000)
def cloth(x, v, bonds, whole_yet, force, steps):
    torn = 0
    for _step in range(steps):
        for i in range(len(x)):
            force[i, 0] = -0.01 * v[i, 0]
            force[i, 1] = -0.01 * v[i, 1] - 0.001
        for b in range(len(bonds)):
            if not whole_yet[b]:
                continue
            i, j = bonds[b]
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            length = (dx * dx + dy * dy) ** 0.5
            if length > 1.39:
                whole_yet[b] = False
                torn += 1
                continue
            pull = 2.0 * (length - 1.0) / length
            force[i, 0] += pull * dx
            force[i, 1] += pull * dy
            force[j, 0] -= pull * dx
            force[j, 1] -= pull * dy
        for i in range(len(x)):
            for k in range(2):
                v[i, k] += 0.05 * force[i, k]
                x[i, k] += 0.05 * v[i, k]
    return torn
