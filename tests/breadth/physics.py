"""Physics: time loops over grids, particles, waves, lattices."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case


@case(lambda rng: (rng.normal(size=(8, 9)), 0.1, 4), "slice read", "assignment to a slice", "swap of arrays")
def heat_plate(u, alpha, steps):
    new = u.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u, new = new, u
    return u


@case(lambda rng: (rng.normal(size=30), 0.4, 6), "slice read", "assignment to a slice", "swap of arrays")
def wave_string(u0, courant, steps):
    prev = u0.copy()
    cur = u0.copy()
    nxt = np.zeros_like(u0)
    for n in range(steps):
        nxt[1:-1] = 2 * cur[1:-1] - prev[1:-1] + courant**2 * (cur[2:] - 2 * cur[1:-1] + cur[:-2])
        nxt[0] = nxt[-1] = 0.0
        prev[:] = cur
        cur[:] = nxt
    return cur


@case(lambda rng: (rng.choice(np.array([-1, 1]), (6, 7)),))
def ising_energy(spins):
    rows, cols = spins.shape
    energy = 0
    for i in range(rows):
        for j in range(cols):
            s = spins[i, j]
            nb = spins[(i + 1) % rows, j] + spins[i, (j + 1) % cols]
            energy += -s * nb
    return energy


@case(lambda rng: (rng.choice(np.array([-1, 1]), (6, 6)), rng.integers(0, 6, (50, 2)), rng.uniform(size=50), 0.5))
def ising_sweep(spins, sites, draws, beta):
    n = spins.shape[0]
    accepted = 0
    for k in range(len(draws)):
        i, j = sites[k]
        total = spins[(i - 1) % n, j] + spins[(i + 1) % n, j] + spins[i, (j - 1) % n] + spins[i, (j + 1) % n]
        de = 2 * spins[i, j] * total
        if de <= 0 or draws[k] < np.exp(-beta * de):
            spins[i, j] *= -1
            accepted += 1
    return accepted


@case(lambda rng: (rng.uniform(0, 5, (8, 3)), 5.0, 2.0), "slice read", "tuple result")
def lennard_jones(pos, box, cutoff):
    n = pos.shape[0]
    forces = np.zeros((n, 3))
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            r = pos[i] - pos[j]
            r -= box * np.round(r / box)
            r2 = np.dot(r, r)
            if r2 < cutoff**2:
                inv6 = 1.0 / r2**3
                energy += 4 * inv6 * (inv6 - 1)
                f = 48 * inv6 * (inv6 - 0.5) / r2
                forces[i] += f * r
                forces[j] -= f * r
    return forces, energy


@case(
    lambda rng: (np.array([1.0, 1.0, 1.05]), 0.01, 20, 10.0, 28.0, 8.0 / 3.0),
    "functions as arguments",
    "np.array of items",
)
def lorenz_rk4(state, dt, steps, sigma, rho, beta):
    out = np.empty((steps + 1, 3))
    out[0] = state
    y = state.copy()
    for i in range(steps):
        k1 = lorenz_rate(y, sigma, rho, beta)
        k2 = lorenz_rate(y + 0.5 * dt * k1, sigma, rho, beta)
        k3 = lorenz_rate(y + 0.5 * dt * k2, sigma, rho, beta)
        k4 = lorenz_rate(y + dt * k3, sigma, rho, beta)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[i + 1] = y
    return out


def lorenz_rate(y, sigma, rho, beta):
    return np.array([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])


def pendulum_rate(t, y, out):
    out[0] = y[1]
    out[1] = -math.sin(y[0]) - 0.1 * y[1] + 0.5 * math.cos(0.7 * t)


@case(lambda rng: (pendulum_rate, np.array([0.3, 0.0]), 0.0, 0.05, 10), "functions as arguments")
def euler_steps(f, y0, t0, dt, n):
    y = y0.copy()
    dy = np.empty_like(y)
    t = t0
    for _ in range(n):
        f(t, y, dy)
        for k in range(y.size):
            y[k] += dt * dy[k]
        t += dt
    return y


@case(lambda rng: (rng.uniform(1, 2, 12), rng.uniform(-1, 0, 11), rng.uniform(-1, 0, 11), rng.normal(size=12)))
def thomas(diag, lower, upper, rhs):
    n = diag.size
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diag[0]
    d[0] = rhs[0] / diag[0]
    for i in range(1, n):
        m = diag[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / m
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / m
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


@case(lambda rng: (rng.uniform(0, 9, 20), rng.uniform(0, 9, 20), rng.uniform(size=20), 10))
def deposit_charge(x, y, q, n):
    rho = np.zeros((n, n))
    for p in range(x.shape[0]):
        i = int(np.floor(x[p]))
        j = int(np.floor(y[p]))
        fx = x[p] - i
        fy = y[p] - j
        i1, j1 = (i + 1) % n, (j + 1) % n
        rho[i, j] += q[p] * (1 - fx) * (1 - fy)
        rho[i1, j] += q[p] * fx * (1 - fy)
        rho[i, j1] += q[p] * (1 - fx) * fy
        rho[i1, j1] += q[p] * fx * fy
    return rho


@case(
    lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=3), 0.7), "np.array of items", "assignment to a row", "linalg"
)
def rodrigues(vectors, axis, angle):
    k = axis / np.sqrt((axis**2).sum())
    out = np.empty_like(vectors)
    for i, v in enumerate(vectors):
        cross = np.array([k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]])
        out[i, :] = v * math.cos(angle) + cross * math.sin(angle) + k * np.dot(k, v) * (1 - math.cos(angle))
    return out


@case(lambda rng: (40, -1.5, 0.5, 16), "complex")
def escape_times(n, lo, hi, limit):
    out = np.zeros((8, n // 4), dtype=np.int32)
    for i in range(8):
        for j in range(n // 4):
            c = complex(lo + (hi - lo) * j / (n // 4), -1.0 + 2.0 * i / 8)
            z = 0j
            for k in range(limit):
                z = z * z + c
                if z.real * z.real + z.imag * z.imag > 4.0:
                    out[i, j] = k
                    break
    return out


@case(lambda rng: (rng.normal(size=(6, 2)) @ np.array([1, 1j]), 0.3), "complex")
def damp_modes(amplitudes, rate):
    total = 0.0
    for k in range(amplitudes.size):
        amplitudes[k] *= np.exp(-rate * k**2)
        total += abs(amplitudes[k]) ** 2
    return total


@case(lambda rng: (rng.uniform(0.5, 1.5, (6, 8)), 0.05, 3), "slice read", "np.roll")
def advect_periodic(q, c, steps):
    for _ in range(steps):
        for i in range(q.shape[0]):
            q[i] = q[i] - c * (q[i] - np.roll(q[i], 1))
    return q.sum()


@case(lambda rng: (np.zeros((9, 9)), rng.normal(size=(9, 9)), 1e-3, 60), "while", "slice read")
def gauss_seidel(p, source, tol, limit):
    n, m = p.shape
    it = 0
    err = 2 * tol
    while err > tol and it < limit:
        err = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                old = p[i, j]
                p[i, j] = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - source[i, j])
                err = max(err, abs(p[i, j] - old))
        p[0, :] = p[1, :]
        p[-1, :] = p[-2, :]
        p[:, 0] = 0.0
        it += 1
    return it, err


@case(lambda rng: (rng.normal(size=(5, 6, 7)), 0.1), "slice read", "assignment to a slice", "a.flat")
def curl_z(field, h):
    out = np.zeros_like(field)
    out[1:-1, :, :] = (field[2:, :, :] - field[:-2, :, :]) / (2 * h)
    largest = 0.0
    for k in range(out.size):
        largest = max(largest, abs(out.flat[k]))
    return out, largest


@case(lambda rng: (rng.normal(size=(3, 3)),), "recursion", "slice read")
def legendre_table(x):
    out = np.empty((4,) + x.shape)
    for n in range(4):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[n, i, j] = legendre(n, x[i, j])
    return out


def legendre(n, x):
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return ((2 * n - 1) * x * legendre(n - 1, x) - (n - 1) * legendre(n - 2, x)) / n


@case(
    lambda rng: (
        rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)),
        np.array([1, 0, 0, 0], dtype=np.complex128),
        1,
    ),
    "complex",
    "reshape",
)
def apply_gate(gate, state, qubit):
    n = state.size
    out = np.zeros(n, dtype=np.complex128)
    stride = 1 << qubit
    for i in range(n):
        bit = (i >> qubit) & 1
        out[i] += gate[bit, bit] * state[i]
        out[i] += gate[bit, 1 - bit] * state[i ^ stride]
    return out


@case(lambda rng: (rng.uniform(0, 1, 20), np.linspace(0, 1, 6)), "np.where", "masks", "index arrays")
def maxwell_bins(speeds, edges):
    out = np.zeros(edges.size - 1)
    for b in range(edges.size - 1):
        inside = np.where((speeds >= edges[b]) & (speeds < edges[b + 1]))[0]
        if len(inside) > 0:
            out[b] = speeds[inside].mean()
    return out
