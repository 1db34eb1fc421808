"""Astronomy: orbits, light curves, spectra, images of the sky."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case

GRAVITY = 6.674e-11
SOFTENING = np.array([0.01, 0.02, 0.05])


def _times(rng, n=40):
    return np.sort(rng.uniform(0.0, 20.0, n))


@case(lambda rng: (rng.uniform(0, 6.2, 15), rng.uniform(0, 0.8, 15)))
def eccentric_anomaly(mean, ecc):
    out = np.empty(mean.shape[0])
    for i in range(mean.shape[0]):
        m = mean[i] % (2 * np.pi)
        e = ecc[i]
        guess = m + e * math.sin(m)
        for _ in range(50):
            step = (guess - e * math.sin(guess) - m) / (1.0 - e * math.cos(guess))
            guess -= step
            if abs(step) < 1e-12:
                break
        out[i] = guess
    return out


@case(lambda rng: (rng.normal(size=(6, 3)), rng.uniform(1, 2, 6)), "slice read", "assignment to a row")
def accelerations(pos, mass):
    n = pos.shape[0]
    acc = np.zeros_like(pos)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            d = pos[j] - pos[i]
            r2 = np.sum(d**2) + SOFTENING[0] ** 2
            acc[i] += mass[j] * d / r2**1.5
    return acc


@case(
    lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.uniform(1, 2, 4), 0.01, 5),
    "whole-array arithmetic",
    "assignment to a row",
)
def leapfrog(pos, vel, mass, dt, steps):
    acc = accelerations(pos, mass)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = accelerations(pos, mass)
        vel += 0.5 * dt * acc
    return pos, vel


@case(
    lambda rng: (_times(rng), rng.normal(size=40), np.linspace(0.1, 2.0, 12)),
    "whole-array arithmetic",
    "reductions",
    "loop over array",
)
def lomb_scargle(t, y, freqs):
    power = np.zeros(len(freqs))
    y0 = y - y.mean()
    for k, f in enumerate(freqs):
        w = 2.0 * np.pi * f
        tau = np.arctan2(np.sum(np.sin(2 * w * t)), np.sum(np.cos(2 * w * t))) / (2 * w)
        c = np.cos(w * (t - tau))
        s = np.sin(w * (t - tau))
        power[k] = 0.5 * (np.sum(y0 * c) ** 2 / np.sum(c**2) + np.sum(y0 * s) ** 2 / np.sum(s**2))
    return power


@case(lambda rng: (_times(rng), rng.normal(10, 1, 40), 3.3, 8))
def phase_dispersion(t, mag, period, nbins):
    total = np.zeros(nbins)
    square = np.zeros(nbins)
    count = np.zeros(nbins, dtype=np.int64)
    for i in range(t.size):
        phase = (t[i] / period) % 1.0
        b = int(phase * nbins)
        total[b] += mag[i]
        square[b] += mag[i] * mag[i]
        count[b] += 1
    s = 0.0
    dof = 0
    for b in range(nbins):
        if count[b] > 1:
            s += square[b] - total[b] ** 2 / count[b]
            dof += count[b] - 1
    return s / dof if dof > 0 else np.nan


@case(
    lambda rng: (_times(rng), rng.normal(1, 0.1, 40), rng.uniform(0.05, 0.1, 40), 4.0, 0.5, np.linspace(0, 4, 9)),
    "whole-array arithmetic",
    "reductions",
    "masks",
)
def box_least_squares(t, flux, err, period, duration, starts):
    weights = 1.0 / err**2
    weights /= weights.sum()
    base = flux - np.sum(weights * flux)
    phase = t % period
    best, best_start = -np.inf, 0.0
    for start in starts:
        inside = (phase >= start) & (phase < start + duration)
        r = np.sum(weights[inside])
        if r <= 0.0 or r >= 1.0:
            continue
        s = np.sum(weights[inside] * base[inside])
        power = s * s / (r * (1.0 - r))
        if power > best:
            best, best_start = power, start
    return best, best_start


@case(lambda rng: (np.cumsum(rng.uniform(0.5, 1.5, 30)), rng.normal(5, 1, 30), np.linspace(3, 24, 11)))
def rebin_spectrum(wave, flux, edges):
    n = edges.size - 1
    out = np.zeros(n)
    j = 0
    for i in range(n):
        lo, hi = edges[i], edges[i + 1]
        while j > 0 and wave[j] > lo:
            j -= 1
        while j < wave.size - 2 and wave[j + 1] < lo:
            j += 1
        k = j
        norm = 0.0
        while k < wave.size - 1 and wave[k] < hi:
            a = max(wave[k], lo)
            b = min(wave[k + 1], hi)
            if b > a:
                out[i] += flux[k] * (b - a)
                norm += b - a
            k += 1
        if norm > 0:
            out[i] /= norm
    return out


@case(lambda rng: (rng.normal(100, 5, (12, 14)), 3, 2.5), "slice read", "reductions", ".copy()")
def cosmic_rays(image, half, threshold):
    cleaned = image.copy()
    hits = 0
    ny, nx = image.shape
    for y in range(half, ny - half):
        for x in range(half, nx - half):
            box = image[y - half : y + half + 1, x - half : x + half + 1]
            med = np.median(box)
            sigma = np.std(box)
            if abs(image[y, x] - med) > threshold * sigma:
                cleaned[y, x] = med
                hits += 1
    return cleaned, hits


@case(lambda rng: (rng.uniform(0, 10, (20, 20)), 9.3, 10.1, 4.0))
def aperture_photometry(image, x0, y0, radius):
    total = 0.0
    area = 0
    for y in range(max(0, int(y0 - radius)), min(image.shape[0], int(y0 + radius) + 2)):
        for x in range(max(0, int(x0 - radius)), min(image.shape[1], int(x0 + radius) + 2)):
            if (x - x0) ** 2 + (y - y0) ** 2 <= radius**2:
                total += image[y, x]
                area += 1
    return total, area


@case(
    lambda rng: (np.radians(rng.uniform(0, 360, 9)), np.radians(rng.uniform(-80, 80, 9)), 0.4, 0.2),
    "whole-array arithmetic",
)
def angular_distance(ra, dec, ra0, dec0):
    h = np.sin((dec - dec0) / 2) ** 2 + np.cos(dec) * np.cos(dec0) * np.sin((ra - ra0) / 2) ** 2
    return np.degrees(2 * np.arcsin(np.sqrt(np.minimum(h, 1.0))))


@case(lambda rng: (rng.uniform(0.1, 1.0, 8), 0.3, 0.7, 70.0), "helper function")
def luminosity_distance(z, om, ol, h0):
    def inverse_e(x):
        return 1.0 / np.sqrt(om * (1 + x) ** 3 + (1 - om - ol) * (1 + x) ** 2 + ol)

    out = np.empty_like(z)
    for i in range(z.size):
        n = 64
        h = z[i] / n
        s = inverse_e(0.0) + inverse_e(z[i])
        for k in range(1, n):
            s += (4 if k % 2 else 2) * inverse_e(k * h)
        out[i] = (1 + z[i]) * 299792.458 / h0 * s * h / 3
    return out


@case(lambda rng: (rng.uniform(0, 1, (30, 2)), 0.2), "lists", "tuple")
def friends_of_friends(xy, link):
    n = len(xy)
    group = np.full(n, -1, dtype=np.int32)
    current = 0
    for seed in range(n):
        if group[seed] >= 0:
            continue
        stack = [seed]
        group[seed] = current
        while len(stack) > 0:
            i = stack.pop()
            for j in range(n):
                if group[j] < 0:
                    d2 = (xy[i, 0] - xy[j, 0]) ** 2 + (xy[i, 1] - xy[j, 1]) ** 2
                    if d2 < link * link:
                        group[j] = current
                        stack.append(j)
        current += 1
    return group, current


@case(lambda rng: (np.linspace(0.0, 1.2, 10), 0.1, 0.3, 0.2))
def transit_depth(z, k, u1, u2):
    flux = np.ones(z.size)
    for i in range(z.size):
        d = z[i]
        if d >= 1 + k:
            continue
        if d <= 1 - k:
            mu = math.sqrt(1 - d * d)
            intensity = 1 - u1 * (1 - mu) - u2 * (1 - mu) ** 2
            flux[i] -= k**2 * intensity / (1 - u1 / 3 - u2 / 6)
        else:
            a0 = math.acos((k * k + d * d - 1) / (2 * k * d))
            a1 = math.acos((1 - k * k + d * d) / (2 * d))
            area = k * k * a0 + a1 - 0.5 * math.sqrt(max(4 * d * d - (1 + d * d - k * k) ** 2, 0.0))
            flux[i] -= area / math.pi
    return flux


@case(
    lambda rng: (rng.normal(size=(5, 6)) + 1j * rng.normal(size=(5, 6)), np.exp(1j * rng.uniform(0, 6, 5))), "complex"
)
def apply_gains(vis, gains):
    out = np.zeros_like(vis)
    for a in range(vis.shape[0]):
        for f in range(vis.shape[1]):
            out[a, f] = vis[a, f] * np.conj(gains[a])
    return out


@case(lambda rng: (rng.normal(size=3), 0.3, 0.4, 0.5), "np.array of items", "dot")
def rotate_to_orbit(vec, node, incl, peri):
    ca, sa = np.cos(node), np.sin(node)
    ci, si = np.cos(incl), np.sin(incl)
    cp, sp = np.cos(peri), np.sin(peri)
    rz = np.array([[ca, -sa, 0.0], [sa, ca, 0.0], [0.0, 0.0, 1.0]])
    rx = np.array([[1.0, 0.0, 0.0], [0.0, ci, -si], [0.0, si, ci]])
    rp = np.array([[cp, -sp, 0.0], [sp, cp, 0.0], [0.0, 0.0, 1.0]])
    return rz @ rx @ rp @ vec
