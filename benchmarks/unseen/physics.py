"""Part of a seventh set, written without a look at the recipe: particles, fields, meshes, waves."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("structure factors", lambda n: (f8(n, 3), f8(n), f8(n // 4 + 1, 3) * 6, zeros(n // 4 + 1)), 40, 16_000)
def structure_factors(r, q, k, out):
    for m in range(k.shape[0]):
        c = 0.0
        s = 0.0
        for i in range(r.shape[0]):
            phase = k[m, 0] * r[i, 0] + k[m, 1] * r[i, 1] + k[m, 2] * r[i, 2]
            c += q[i] * math.cos(phase)
            s += q[i] * math.sin(phase)
        out[m] = c * c + s * s


def _angles(n):
    return f8(n, 3), whole(n, 2 * n, 3), zeros((n, 3))


@program("bond angles, forces", _angles, 60, 1_000_000)
def bond_angles(r, triples, f):
    energy = 0.0
    for t in range(triples.shape[0]):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        if a in (b, c) or b == c:
            continue
        u = r[a] - r[b]
        v = r[c] - r[b]
        uu = np.sqrt(np.sum(u * u))
        vv = np.sqrt(np.sum(v * v))
        cosine = np.sum(u * v) / (uu * vv)
        energy += (cosine - 0.5) ** 2
        g = 2 * (cosine - 0.5)
        for d in range(3):
            fa = -g * (v[d] / (uu * vv) - cosine * u[d] / (uu * uu))
            fc = -g * (u[d] / (uu * vv) - cosine * v[d] / (vv * vv))
            f[a, d] += fa
            f[c, d] += fc
            f[b, d] -= fa + fc
    return energy


@program("semi-Lagrangian advection", lambda n: (f8(n, n), f8(n, n) - 0.5, f8(n, n) - 0.5, zeros((n, n))), 20, 3000)
def semi_lagrangian(q, u, v, out):
    n, m = q.shape
    dt = 3.0
    for i in range(n):
        for j in range(m):
            x = min(max(i - dt * u[i, j], 0.0), n - 1.001)
            y = min(max(j - dt * v[i, j], 0.0), m - 1.001)
            a, b = int(x), int(y)
            s, t = x - a, y - b
            out[i, j] = (1 - s) * ((1 - t) * q[a, b] + t * q[a, b + 1]) + s * (
                (1 - t) * q[a + 1, b] + t * q[a + 1, b + 1]
            )


@program("level set kept a distance", lambda n: (f8(n, n) - 0.5, zeros((n, n))), 16, 3000)
def level_set(phi, out):
    for i in range(1, phi.shape[0] - 1):
        for j in range(1, phi.shape[1] - 1):
            a = phi[i, j] - phi[i - 1, j]
            b = phi[i + 1, j] - phi[i, j]
            c = phi[i, j] - phi[i, j - 1]
            d = phi[i, j + 1] - phi[i, j]
            s = phi[i, j] / math.sqrt(phi[i, j] ** 2 + 1e-4)
            if s > 0:
                g = math.sqrt(max(max(a, 0) ** 2, min(b, 0) ** 2) + max(max(c, 0) ** 2, min(d, 0) ** 2))
            else:
                g = math.sqrt(max(min(a, 0) ** 2, max(b, 0) ** 2) + max(min(c, 0) ** 2, max(d, 0) ** 2))
            out[i, j] = phi[i, j] - 0.3 * s * (g - 1.0)


@program(
    "acoustic wave, order 8",
    lambda n: (f4(n, n, n), f4(n, n, n), f4(n, n, n), np.float32([-2.847, 1.6, -0.2, 0.0254, -0.00179])),
    12,
    320,
)
def acoustic(p, q, c2, w):
    nz, ny, nx = p.shape
    for k in range(4, nz - 4):
        for j in range(4, ny - 4):
            for i in range(4, nx - 4):
                s = 3 * w[0] * p[k, j, i]
                for r in range(1, 5):
                    s += w[r] * (
                        p[k - r, j, i]
                        + p[k + r, j, i]
                        + p[k, j - r, i]
                        + p[k, j + r, i]
                        + p[k, j, i - r]
                        + p[k, j, i + r]
                    )
                q[k, j, i] = 2 * p[k, j, i] - q[k, j, i] + c2[k, j, i] * s


def _links(n):
    g = np.random.default_rng(4)
    return g.random((n, 4, 3, 3)) + 1j * g.random((n, 4, 3, 3)), g.random((n, 3)) + 1j * g.random((n, 3)), g.integers(
        0, n, (n, 4)
    ), np.zeros((n, 3), np.complex128)  # fmt: skip


@program("links of a lattice times a field", _links, 20, 500_000)
def links(u, psi, neighbour, out):
    for s in range(u.shape[0]):
        for mu in range(4):
            t = neighbour[s, mu]
            for a in range(3):
                z = 0j
                for b in range(3):
                    z += u[s, mu, a, b] * psi[t, b]
                out[s, a] += z


@program(
    "wave function turned by a potential",
    lambda n: (f8(n, n) + 1j * f8(n, n), f8(n, n), 0.01),
    12,
    3000,
)
def phases(psi, v, dt):
    psi *= np.exp(-1j * dt * v)
    return np.sum(np.abs(psi) ** 2)


@program("Julia set, complex", lambda n: (n, -0.8 + 0.156j, zeros((n, n), np.int32)), 16, 2000)
def julia(n, c, out):
    for i in range(n):
        for j in range(n):
            z = complex(3.0 * j / n - 1.5, 3.0 * i / n - 1.5)
            k = 0
            while abs(z) <= 2.0 and k < 200:
                z = z * z + c
                k += 1
            out[i, j] = k


@program("bodies, positions in rows", lambda n: (f4(n, 3), f4(n), zeros((n, 3), np.float32)), 30, 16_000)
def bodies(p, m, a):
    for i in range(p.shape[0]):
        for j in range(p.shape[0]):
            d2 = np.float32(1e-3)
            for d in range(3):
                d2 += (p[j, d] - p[i, d]) * (p[j, d] - p[i, d])
            w = m[j] / (d2 * math.sqrt(d2))
            for d in range(3):
                a[i, d] += w * (p[j, d] - p[i, d])


@program("particles to a grid, 8 corners", lambda n: (f8(n, 3) * 30, f8(n), zeros((32, 32, 32))), 200, 2_000_000)
def deposit(x, q, rho):
    for p in range(x.shape[0]):
        i, j, k = int(x[p, 0]), int(x[p, 1]), int(x[p, 2])
        a, b, c = x[p, 0] - i, x[p, 1] - j, x[p, 2] - k
        for di in range(2):
            wi = a if di else 1 - a
            for dj in range(2):
                wj = b if dj else 1 - b
                for dk in range(2):
                    wk = c if dk else 1 - c
                    rho[i + di, j + dj, k + dk] += q[p] * wi * wj * wk


@program("light absorbed in columns", lambda n: (f8(n, 64), f8(n), zeros((n, 65)), zeros((n, 64))), 20, 200_000)
def columns_of_light(tau, top, flux, heat):
    for c in range(tau.shape[0]):
        flux[c, 0] = top[c]
        for k in range(tau.shape[1]):
            flux[c, k + 1] = flux[c, k] * math.exp(-tau[c, k])
        for k in range(tau.shape[1]):
            heat[c, k] = flux[c, k] - flux[c, k + 1]


@program("diffusion in columns, implicit", lambda n: (f8(40, n), f8(40, n) + 0.1, 0.5), 20, 100_000)
def implicit_columns(t, k, r):
    nz, n = t.shape
    for c in range(n):
        cp = np.zeros(nz)
        dp = np.zeros(nz)
        b = 1 + r * k[0, c]
        cp[0] = -r * k[0, c] / b
        dp[0] = t[0, c] / b
        for z in range(1, nz):
            lo = -r * k[z - 1, c]
            up = -r * k[z, c] if z < nz - 1 else 0.0
            b = 1 - lo - up
            m = b - lo * cp[z - 1]
            cp[z] = up / m
            dp[z] = (t[z, c] - lo * dp[z - 1]) / m
        t[nz - 1, c] = dp[nz - 1]
        for z in range(nz - 2, -1, -1):
            t[z, c] = dp[z] - cp[z] * t[z + 1, c]


def _quads(n):
    return f8(n * 4, 2), whole(4 * n, n, 4), f8(4, 4, 2), zeros((n, 8, 8))


@program("stiffness of quadrilaterals", _quads, 10, 100_000)
def stiffness(xy, conn, dn, ke):
    for e in range(conn.shape[0]):
        for q in range(4):
            j00 = 0.0
            j01 = 0.0
            j10 = 0.0
            j11 = 0.0
            for a in range(4):
                x, y = xy[conn[e, a], 0], xy[conn[e, a], 1]
                j00 += dn[q, a, 0] * x
                j01 += dn[q, a, 0] * y
                j10 += dn[q, a, 1] * x
                j11 += dn[q, a, 1] * y
            det = j00 * j11 - j01 * j10 + 2.0
            for a in range(4):
                ax = (j11 * dn[q, a, 0] - j01 * dn[q, a, 1]) / det
                ay = (j00 * dn[q, a, 1] - j10 * dn[q, a, 0]) / det
                for b in range(4):
                    bx = (j11 * dn[q, b, 0] - j01 * dn[q, b, 1]) / det
                    by = (j00 * dn[q, b, 1] - j10 * dn[q, b, 0]) / det
                    ke[e, 2 * a, 2 * b] += (1.3 * ax * bx + 0.4 * ay * by) * det
                    ke[e, 2 * a, 2 * b + 1] += (0.5 * ax * by + 0.4 * ay * bx) * det
                    ke[e, 2 * a + 1, 2 * b] += (0.5 * ay * bx + 0.4 * ax * by) * det
                    ke[e, 2 * a + 1, 2 * b + 1] += (1.3 * ay * by + 0.4 * ax * bx) * det


def _hexes(n):
    return f8(8, 8), whole(2 * n, n, 8), f8(2 * n), zeros(2 * n)


@program("elements applied, without a matrix", _hexes, 20, 1_000_000)
def matrix_free(ke, conn, x, y):
    for e in range(conn.shape[0]):
        for a in range(8):
            s = 0.0
            for b in range(8):
                s += ke[a, b] * x[conn[e, b]]
            y[conn[e, a]] += s


@program("derivatives within elements", lambda n: (f8(20, 20), f8(n, 20, 5), zeros((n, 20, 5))), 10, 100_000)
def within_elements(d, u, out):
    for e in range(u.shape[0]):
        for i in range(20):
            for f in range(5):
                s = 0.0
                for j in range(20):
                    s += d[i, j] * u[e, j, f]
                out[e, i, f] = s


@program("Legendre functions", lambda n: (f8(n) * 2 - 1, f8(64), zeros(n)), 30, 2_000_000)
def legendre(x, c, out):
    for i in range(x.shape[0]):
        p0 = 1.0
        p1 = x[i]
        s = c[0] + c[1] * x[i]
        for d in range(2, c.shape[0]):
            p2 = ((2 * d - 1) * x[i] * p1 - (d - 1) * p0) / d
            s += c[d] * p2
            p0 = p1
            p1 = p2
        out[i] = s


def _neurons(n):
    return f8(n) * 20 - 70, f8(n), f8(n), f8(n), whole(n, n, 20), f8(n, 20), zeros(n, np.int64)


@program("neurons that spike", _neurons, 30, 200_000)
def neurons(v, m, h, nn, source, weight, spikes):
    n = v.shape[0]
    new = np.empty(n)
    for i in range(n):
        drive = 0.0
        for k in range(source.shape[1]):
            if v[source[i, k]] > -60.0:
                drive += weight[i, k]
        am = 0.1 * (v[i] + 40.0) / (1.0 - math.exp(-(v[i] + 40.0) / 10.0) + 1e-9)
        bm = 4.0 * math.exp(-(v[i] + 65.0) / 18.0)
        ah = 0.07 * math.exp(-(v[i] + 65.0) / 20.0)
        bh = 1.0 / (1.0 + math.exp(-(v[i] + 35.0) / 10.0))
        an = 0.01 * (v[i] + 55.0) / (1.0 - math.exp(-(v[i] + 55.0) / 10.0) + 1e-9)
        bn = 0.125 * math.exp(-(v[i] + 65.0) / 80.0)
        m[i] += 0.01 * (am * (1 - m[i]) - bm * m[i])
        h[i] += 0.01 * (ah * (1 - h[i]) - bh * h[i])
        nn[i] += 0.01 * (an * (1 - nn[i]) - bn * nn[i])
        current = 120.0 * m[i] ** 3 * h[i] * (v[i] - 50.0) + 36.0 * nn[i] ** 4 * (v[i] + 77.0) + 0.3 * (v[i] + 54.0)
        new[i] = v[i] + 0.01 * (10.0 * drive - current)
        if new[i] > -55.0 and v[i] <= -55.0:
            spikes[i] += 1
    v[:] = new


@program("pictures behind an object, rays back", lambda n: (f4(180, n), f4(180), zeros((n, n), np.float32)), 24, 1024)
def back_projection(sinogram, angle, image):
    n = image.shape[0]
    for i in range(n):
        for j in range(n):
            s = np.float32(0)
            for a in range(angle.shape[0]):
                t = (i - n / 2) * math.cos(angle[a]) + (j - n / 2) * math.sin(angle[a]) + n / 2
                k = math.floor(t)
                if 0 <= k < n - 1:
                    f = np.float32(t - k)
                    s += (1 - f) * sinogram[a, k] + f * sinogram[a, k + 1]
            image[i, j] = s


def _beams(n):
    return f4(64, 2048), f4(64), f4(n), f4(n), zeros((n, n), np.float32)


@program("echoes delayed and summed", _beams, 16, 1024)
def beamform(signal, place, xs, zs, image):
    for i in range(zs.shape[0]):
        for j in range(xs.shape[0]):
            s = 0.0
            for c in range(place.shape[0]):
                d = zs[i] + math.sqrt(zs[i] ** 2 + (xs[j] - place[c]) ** 2)
                t = d * 800.0
                k = int(t)
                s += signal[c, k] + (t - k) * (signal[c, k + 1] - signal[c, k])
            image[i, j] = s
