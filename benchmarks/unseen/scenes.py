"""A quarter of a twentieth set, written without a look at the recipe: rays, waves, filters and cohorts."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def rays(n):
    g = 16 if n < 1000 else 128
    rng = np.random.default_rng(11)
    solid = (rng.random((g, g, g)) < 0.02).astype(np.uint8)
    d = rng.normal(size=(n, 3))
    d[::17, 1] = 0.0
    return solid, rng.random((n, 3)) * g, d / np.sqrt((d * d).sum(1, keepdims=True)), zeros(n), zeros(n, np.int32)


@program("rays walk from voxel to voxel, the first that is solid", rays, 300, 1_000_000)
def voxel_walk(solid, origin, direction, depth, face):
    g = solid.shape[0]
    for r in range(origin.shape[0]):
        cell = np.zeros(3, np.int64)
        step = np.zeros(3, np.int64)
        side = np.zeros(3)
        delta = np.zeros(3)
        for k in range(3):
            cell[k] = int(origin[r, k])
            if direction[r, k] > 0.0:
                step[k] = 1
                side[k] = (cell[k] + 1 - origin[r, k]) / direction[r, k]
                delta[k] = 1.0 / direction[r, k]
            elif direction[r, k] < 0.0:
                step[k] = -1
                side[k] = (cell[k] - origin[r, k]) / direction[r, k]
                delta[k] = -1.0 / direction[r, k]
            else:
                side[k] = np.inf
        depth[r] = -1.0
        face[r] = -1
        t = 0.0
        axis = -1
        while True:
            if solid[cell[0], cell[1], cell[2]]:
                depth[r] = t
                face[r] = axis
                break
            axis = 0
            if side[1] < side[axis]:
                axis = 1
            if side[2] < side[axis]:
                axis = 2
            t = side[axis]
            side[axis] += delta[axis]
            cell[axis] += step[axis]
            if cell[axis] < 0 or cell[axis] >= g:
                break


def balls(n):
    rng = np.random.default_rng(12)
    centre = rng.random((24, 3)) * np.array([8.0, 8.0, 6.0]) + np.array([-4.0, -4.0, 4.0])
    return centre, 0.4 + rng.random(24) * 0.8, rng.random(24), np.array([-5.0, 6.0, -3.0]), zeros((n, n))


@program("balls seen through a pinhole, nearest hit and shadow", balls, 24, 1536)
def balls_seen(centre, radius, colour, light, image):
    n, m = image.shape
    for i in range(n):
        for j in range(m):
            dx = (j + 0.5) / m - 0.5
            dy = 0.5 - (i + 0.5) / n
            dz = 0.8
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            dx /= length
            dy /= length
            dz /= length
            nearest = 1e30
            hit = -1
            for s in range(len(radius)):
                b = dx * centre[s, 0] + dy * centre[s, 1] + dz * centre[s, 2]
                c = centre[s, 0] ** 2 + centre[s, 1] ** 2 + centre[s, 2] ** 2 - radius[s] ** 2
                under = b * b - c
                if under < 0.0:
                    continue
                t = b - math.sqrt(under)
                if t > 1e-6 and t < nearest:
                    nearest = t
                    hit = s
            if hit < 0:
                image[i, j] = 0.1
                continue
            px, py, pz = dx * nearest, dy * nearest, dz * nearest
            nx = (px - centre[hit, 0]) / radius[hit]
            ny = (py - centre[hit, 1]) / radius[hit]
            nz = (pz - centre[hit, 2]) / radius[hit]
            lx, ly, lz = light[0] - px, light[1] - py, light[2] - pz
            far = math.sqrt(lx * lx + ly * ly + lz * lz)
            lx, ly, lz = lx / far, ly / far, lz / far
            shade = nx * lx + ny * ly + nz * lz
            if shade <= 0.0:
                image[i, j] = 0.05 * colour[hit]
                continue
            dark = False
            for s in range(len(radius)):
                if s == hit:
                    continue
                ox, oy, oz = px - centre[s, 0], py - centre[s, 1], pz - centre[s, 2]
                b = lx * ox + ly * oy + lz * oz
                c = ox * ox + oy * oy + oz * oz - radius[s] * radius[s]
                under = b * b - c
                if under > 0.0 and -b + math.sqrt(under) > 0.0:
                    dark = True
                    break
            image[i, j] = colour[hit] * (0.05 if dark else 0.05 + 0.95 * shade)


def creature(n):
    y, x = np.mgrid[-5:6, -5:6]
    r = np.sqrt(x * x + y * y) / 5.0
    k = np.where((r > 0) & (r < 1), np.exp(4.0 - 1.0 / np.maximum(r * (1 - r), 1e-6)), 0.0)
    return f4(n, n), (k / k.sum()).astype(np.float32), 0.15, 0.05, 0.1, 2


@program("soft life, a ring of neighbours and growth, two steps", creature, 16, 2048)
def soft_life(world, kernel, mean, width, dt, steps):
    n, m = world.shape
    r = kernel.shape[0] // 2
    for _ in range(steps):
        potential = np.zeros((n, m), np.float32)
        for i in range(n):
            for j in range(m):
                total = 0.0
                for a in range(-r, r + 1):
                    for b in range(-r, r + 1):
                        total += kernel[a + r, b + r] * world[(i + a) % n, (j + b) % m]
                potential[i, j] = total
        for i in range(n):
            for j in range(m):
                z = (potential[i, j] - mean) / width
                grown = world[i, j] + dt * (2.0 * math.exp(-z * z / 2.0) - 1.0)
                if grown < 0.0:
                    grown = 0.0
                elif grown > 1.0:
                    grown = 1.0
                world[i, j] = grown


@program(
    "steep waves on rings, WENO of fifth order, three stages",
    lambda b: (f8(b, 16 if b < 100 else 256), 0.4, 2),
    3,
    4096,
)
def weno_rings(u, c, steps):
    b, n = u.shape
    for s in range(b):
        v = np.zeros(n)
        old = np.zeros(n)
        flux = np.zeros(n)
        for i in range(n):
            v[i] = u[s, i]
        for _ in range(steps):
            for i in range(n):
                old[i] = v[i]
            for stage in range(3):
                for i in range(n):
                    p, q, w, x, y = v[(i - 2) % n], v[(i - 1) % n], v[i], v[(i + 1) % n], v[(i + 2) % n]
                    b0 = 13.0 / 12.0 * (p - 2.0 * q + w) ** 2 + 0.25 * (p - 4.0 * q + 3.0 * w) ** 2
                    b1 = 13.0 / 12.0 * (q - 2.0 * w + x) ** 2 + 0.25 * (q - x) ** 2
                    b2 = 13.0 / 12.0 * (w - 2.0 * x + y) ** 2 + 0.25 * (3.0 * w - 4.0 * x + y) ** 2
                    a0 = 0.1 / (1e-6 + b0) ** 2
                    a1 = 0.6 / (1e-6 + b1) ** 2
                    a2 = 0.3 / (1e-6 + b2) ** 2
                    f0 = (2.0 * p - 7.0 * q + 11.0 * w) / 6.0
                    f1 = (-q + 5.0 * w + 2.0 * x) / 6.0
                    f2 = (2.0 * w + 5.0 * x - y) / 6.0
                    flux[i] = (a0 * f0 + a1 * f1 + a2 * f2) / (a0 + a1 + a2)
                for i in range(n - 1, -1, -1):
                    new = v[i] - c * (flux[i] - flux[i - 1])
                    if stage == 0:
                        v[i] = new
                    elif stage == 1:
                        v[i] = 0.75 * old[i] + 0.25 * new
                    else:
                        v[i] = old[i] / 3.0 + 2.0 / 3.0 * new
        for i in range(n):
            u[s, i] = v[i]


def hilbert(c):
    n = 128 if c < 10 else 8192
    k = np.arange(63) - 31
    h = np.where(k % 2 != 0, 2.0 / (np.pi * np.where(k == 0, 1, k)), 0.0) * np.hamming(63)
    return f4(c, n) - np.float32(0.5), h.astype(np.float32), zeros((c, n // 4), np.float32)


@program("envelopes by a Hilbert filter, every fourth, in decibels", hilbert, 4, 1024)
def envelopes(x, h, out):
    c, n = x.shape
    taps = len(h)
    half = taps // 2
    quadrature = np.zeros((c, n), np.float32)
    for k in range(taps):
        if h[k] == 0.0:
            continue
        for ch in range(c):
            for t in range(n):
                s = t - (k - half)
                if s >= 0 and s < n:
                    quadrature[ch, t] += h[k] * x[ch, s]
    for ch in range(c):
        for t in range(n // 4):
            power = 0.0
            for d in range(4):
                power += x[ch, 4 * t + d] ** 2 + quadrature[ch, 4 * t + d] ** 2
            out[ch, t] = 10.0 * math.log10(power / 4.0 + 1e-9)


def echo(c):
    n = 60 if c < 100 else 512
    x = f8(c, n) - 0.5
    d = 0.7 * x + 0.3 * np.roll(x, 1, 1) - 0.2 * np.roll(x, 5, 1)
    return x, d, 0.5, zeros((c, n)), zeros((c, 16))


@program("echoes cancelled, filters that adapt, NLMS", echo, 6, 8192)
def nlms(x, d, mu, error, weights):
    channels, n = x.shape
    taps = weights.shape[1]
    for c in range(channels):
        w = np.zeros(taps)
        for t in range(n):
            y = 0.0
            power = 1e-3
            for k in range(min(taps, t + 1)):
                y += w[k] * x[c, t - k]
                power += x[c, t - k] * x[c, t - k]
            e = d[c, t] - y
            error[c, t] = e
            for k in range(min(taps, t + 1)):
                w[k] += mu * e * x[c, t - k] / power
        for k in range(taps):
            weights[c, k] = w[k]


def radar(n):
    rng = np.random.default_rng(13)
    x = rng.normal(size=n) + 1j * rng.normal(size=n)
    lags = 8 if n < 100 else 128
    return x, np.roll(x, 3) + 0.1 * rng.normal(size=n), zeros((lags, lags // 2))


@program("delay and Doppler of an echo, ambiguity", radar, 48, 2048)
def ambiguity(x, y, out):
    n = len(x)
    for shift in range(out.shape[1]):
        for lag in range(out.shape[0]):
            total = 0j
            for t in range(n - lag):
                total += np.conj(x[t]) * y[t + lag] * np.exp(-2j * np.pi * shift * t / n)
            out[lag, shift] = abs(total) ** 2


def patients(n):
    rng = np.random.default_rng(14)
    group = rng.integers(0, 6, n)
    months = np.minimum(rng.standard_exponential(n, np.float32) * (30 + 5 * group), 119).astype(np.int64)
    return months, rng.random(n) < 0.7, group, zeros((6, 120)), zeros(6), zeros(6)


@program("survival of groups, Kaplan and Meier, log-rank", patients, 3000, 10_000_000)
def survival(months, died, group, curve, observed, expected):
    groups, span = curve.shape
    deaths = np.zeros((groups, span), np.int64)
    left = np.zeros((groups, span), np.int64)
    for i in range(len(months)):
        left[group[i], months[i]] += 1
        if died[i]:
            deaths[group[i], months[i]] += 1
    risk = np.zeros((groups, span), np.int64)
    for g in range(groups):
        remaining = 0
        for t in range(span - 1, -1, -1):
            remaining += left[g, t]
            risk[g, t] = remaining
    for g in range(groups):
        s = 1.0
        for t in range(span):
            if risk[g, t] > 0:
                s *= 1.0 - deaths[g, t] / risk[g, t]
            curve[g, t] = s
    for t in range(span):
        d = 0
        r = 0
        for g in range(groups):
            d += deaths[g, t]
            r += risk[g, t]
        if r == 0:
            continue
        for g in range(groups):
            observed[g] += deaths[g, t]
            expected[g] += d * risk[g, t] / r
    chi = 0.0
    for g in range(groups):
        if expected[g] > 0.0:
            chi += (observed[g] - expected[g]) ** 2 / expected[g]
    return chi


@program(
    "hazards in proportion, Cox's gradient",
    lambda n: (f8(n, 12) - 0.5, whole(3, n) > 0, np.linspace(-1.0, 1.0, 12), zeros(12)),
    1500,
    2_000_000,
)
def cox(x, died, beta, gradient):
    n, p = x.shape
    s0 = 0.0
    s1 = np.zeros(p)
    likelihood = 0.0
    for i in range(n):
        eta = 0.0
        for k in range(p):
            eta += beta[k] * x[i, k]
        theta = math.exp(eta)
        s0 += theta
        for k in range(p):
            s1[k] += theta * x[i, k]
        if died[i]:
            likelihood += eta - math.log(s0)
            for k in range(p):
                gradient[k] += x[i, k] - s1[k] / s0
    return likelihood


@program(
    "covariance drawn to a sphere, Ledoit and Wolf",
    lambda n: (f8(n, 8 if n < 100 else 96), zeros((8 if n < 100 else 96,) * 2)),
    60,
    8192,
)
def shrunk(x, cov):
    n, p = x.shape
    mean = np.zeros(p)
    for j in range(p):
        for i in range(n):
            mean[j] += x[i, j]
        mean[j] /= n
    for j in range(p):
        for k in range(p):
            total = 0.0
            for i in range(n):
                total += (x[i, j] - mean[j]) * (x[i, k] - mean[k])
            cov[j, k] = total / n
    mu = 0.0
    for j in range(p):
        mu += cov[j, j]
    mu /= p
    d2 = 0.0
    for j in range(p):
        for k in range(p):
            d2 += (cov[j, k] - (mu if j == k else 0.0)) ** 2
    b2 = 0.0
    for i in range(n):
        for j in range(p):
            for k in range(p):
                b2 += ((x[i, j] - mean[j]) * (x[i, k] - mean[k]) - cov[j, k]) ** 2
    b2 = min(b2 / (n * n), d2)
    shrinkage = b2 / d2
    for j in range(p):
        for k in range(p):
            cov[j, k] *= 1.0 - shrinkage
        cov[j, j] += shrinkage * mu
    return shrinkage
