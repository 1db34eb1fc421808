"""A third of an eighteenth set: optics, rooms, strings, robots, feeders, echoes, gases, reactions."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import cmath
import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _lens(n):
    surfaces = np.array(
        [
            [0.0, 50.0, 1.0, 1.62, 12.0],
            [6.0, -60.0, 1.62, 1.51, 12.0],
            [8.0, 220.0, 1.51, 1.0, 12.0],
            [20.0, -35.0, 1.0, 1.6, 9.0],
            [22.0, 45.0, 1.6, 1.0, 9.0],
        ]
    )
    rays = np.concatenate([24 * f8(n, 2) - 12, np.full((n, 1), -5.0), 0.2 * f8(n, 2)[::-1] - 0.1], 1)
    return surfaces, rays, 60.0, zeros((n, 2)), zeros(n, np.bool_)


@program("rays through a lens of five surfaces", _lens, 40, 1_000_000)
def lens(surfaces, rays, sensor, hits, lost):
    for r in range(rays.shape[0]):
        x, y, z = rays[r, 0], rays[r, 1], rays[r, 2]
        dx, dy = rays[r, 3], rays[r, 4]
        dz = math.sqrt(1 - dx * dx - dy * dy)
        blocked = False
        for s in range(surfaces.shape[0]):
            radius = surfaces[s, 1]
            centre = surfaces[s, 0] + radius
            ratio = surfaces[s, 2] / surfaces[s, 3]
            b = x * dx + y * dy + (z - centre) * dz
            c = x * x + y * y + (z - centre) ** 2 - radius * radius
            under = b * b - c
            if under < 0:
                blocked = True
                break
            t = -b - math.sqrt(under) if radius > 0 else -b + math.sqrt(under)
            x += t * dx
            y += t * dy
            z += t * dz
            if x * x + y * y > surfaces[s, 4] ** 2:
                blocked = True
                break
            nx, ny, nz = x / radius, y / radius, (z - centre) / radius
            cos_in = -(nx * dx + ny * dy + nz * dz)
            if cos_in < 0:
                nx, ny, nz, cos_in = -nx, -ny, -nz, -cos_in
            rest = 1 - ratio * ratio * (1 - cos_in * cos_in)
            if rest < 0:
                blocked = True
                break
            k = ratio * cos_in - math.sqrt(rest)
            dx = ratio * dx + k * nx
            dy = ratio * dy + k * ny
            dz = ratio * dz + k * nz
        lost[r] = blocked
        if not blocked:
            t = (sensor - z) / dz
            hits[r, 0] = x + t * dx
            hits[r, 1] = y + t * dy


@program(
    "light off thin films, matrices of layers",
    lambda n: (1.4 + f8(9) + 0.01j * f8(9), 80 + 60 * f8(9), 380 + 400 * f8(n), zeros(n)),
    30,
    400_000,
)
def thin_films(index, thickness, wavelength, reflected):
    for w in range(wavelength.shape[0]):
        m00 = 1.0 + 0.0j
        m01 = 0.0 + 0.0j
        m10 = 0.0 + 0.0j
        m11 = 1.0 + 0.0j
        for k in range(index.shape[0]):
            phase = 2 * math.pi * index[k] * thickness[k] / wavelength[w]
            c = cmath.cos(phase)
            s = cmath.sin(phase)
            p = 1j * s / index[k]
            q = 1j * s * index[k]
            m00, m01 = m00 * c + m01 * q, m00 * p + m01 * c
            m10, m11 = m10 * c + m11 * q, m10 * p + m11 * c
        b = m00 + 1.52 * m01
        c = m10 + 1.52 * m11
        r = (b - c) / (b + c)
        reflected[w] = r.real * r.real + r.imag * r.imag


@program(
    "echoes of a room, mirrored sources",
    lambda n: (n, np.array([6.0, 4.0, 3.0]), np.array([1.0, 1.5, 1.2]), np.array([4.2, 2.5, 1.7]), 0.8, zeros(16000)),
    1,
    40,
)
def room(order, size, source, ear, wall, response):
    for i in range(-order, order + 1):
        for j in range(-order, order + 1):
            for k in range(-order, order + 1):
                for u in range(8):
                    sx, sy, sz = u & 1, (u >> 1) & 1, u >> 2
                    x = (1 - 2 * sx) * source[0] + 2 * i * size[0] - ear[0]
                    y = (1 - 2 * sy) * source[1] + 2 * j * size[1] - ear[1]
                    z = (1 - 2 * sz) * source[2] + 2 * k * size[2] - ear[2]
                    distance = math.sqrt(x * x + y * y + z * z)
                    bounces = abs(i - sx) + abs(i) + abs(j - sy) + abs(j) + abs(k - sz) + abs(k)
                    at = int(distance / 343.0 * 44100.0)
                    if at < response.shape[0]:
                        response[at] += wall**bounces / (4 * math.pi * distance)


@program(
    "strings plucked, Karplus and Strong",
    lambda n: (f4(6, 400) - 0.5, 100 + whole(290, 6), np.float32(0.996), zeros(n, np.float32)),
    500,
    1_000_000,
)
def strings(noise, period, damping, out):
    line = np.zeros(400, np.float32)
    for voice in range(noise.shape[0]):
        length = period[voice]
        for k in range(length):
            line[k] = noise[voice, k]
        at = 0
        for t in range(voice * 37, out.shape[0]):
            following = at + 1 if at + 1 < length else 0
            value = line[at]
            line[at] = damping * np.float32(0.5) * (value + line[following])
            out[t] += value
            at = following


@program(
    "forces in a robot's joints, Newton and Euler",
    lambda n: (f8(n, 6) * 6, f8(n, 6)[::-1] - 0.5, f8(6, n).T * 2 - 1, 0.2 + f8(6, 3), zeros((n, 6))),
    10,
    60_000,
)
def joints(q, qd, qdd, links, torque):
    w = np.zeros((7, 3))
    dw = np.zeros((7, 3))
    acc = np.zeros((7, 3))
    force = np.zeros((6, 3))
    for t in range(q.shape[0]):
        acc[0, 2] = 9.81
        for i in range(6):
            c, s = math.cos(q[t, i]), math.sin(q[t, i])
            if i % 2 == 1:
                wx = c * w[i, 0] + s * w[i, 2]
                wy = w[i, 1] + qd[t, i]
                wz = -s * w[i, 0] + c * w[i, 2]
                ax = c * dw[i, 0] + s * dw[i, 2]
                ay = dw[i, 1] + qdd[t, i]
                az = -s * dw[i, 0] + c * dw[i, 2]
            else:
                wx = c * w[i, 0] + s * w[i, 1]
                wy = -s * w[i, 0] + c * w[i, 1]
                wz = w[i, 2] + qd[t, i]
                ax = c * dw[i, 0] + s * dw[i, 1]
                ay = -s * dw[i, 0] + c * dw[i, 1]
                az = dw[i, 2] + qdd[t, i]
            w[i + 1, 0], w[i + 1, 1], w[i + 1, 2] = wx, wy, wz
            dw[i + 1, 0], dw[i + 1, 1], dw[i + 1, 2] = ax, ay, az
            arm = links[i, 0]
            acc[i + 1, 0] = acc[i, 0] - arm * (wy * wy + wz * wz)
            acc[i + 1, 1] = acc[i, 1] + arm * (az + wx * wy)
            acc[i + 1, 2] = acc[i, 2] + arm * (wx * wz - ay)
            for k in range(3):
                force[i, k] = links[i, 1] * acc[i + 1, k]
        fx, fy, fz = 0.0, 0.0, 0.0
        nx, ny, nz = 0.0, 0.0, 0.0
        for i in range(5, -1, -1):
            c, s = math.cos(q[t, i]), math.sin(q[t, i])
            fx += force[i, 0]
            fy += force[i, 1]
            fz += force[i, 2]
            ny -= links[i, 0] * fz
            nz += links[i, 0] * fy
            nx += links[i, 2] * dw[i + 1, 0]
            ny += links[i, 2] * dw[i + 1, 1]
            nz += links[i, 2] * dw[i + 1, 2]
            torque[t, i] = ny if i % 2 == 1 else nz
            if i % 2 == 1:
                fx, fz = c * fx - s * fz, s * fx + c * fz
                nx, nz = c * nx - s * nz, s * nx + c * nz
            else:
                fx, fy = c * fx - s * fy, s * fx + c * fy
                nx, ny = c * nx - s * ny, s * nx + c * ny


def _feeder(n):
    rng = np.random.default_rng(11)
    parent = np.array([0] + [rng.integers(max(0, i - 5), i) for i in range(1, n)], np.int32)
    return parent, f8(n, 2) * 0.1 / n, f8(n, 2)[::-1] * 0.4, np.ones(n), zeros(n)


@program("load flow of a feeder, backward and forward", _feeder, 20, 300_000)
def load_flow(parent, line, load, v_re, v_im):
    n = len(parent)
    i_re = np.zeros(n)
    i_im = np.zeros(n)
    for rounds in range(20):
        for b in range(n):
            square = v_re[b] * v_re[b] + v_im[b] * v_im[b]
            i_re[b] = (load[b, 0] * v_re[b] + load[b, 1] * v_im[b]) / square
            i_im[b] = (load[b, 0] * v_im[b] - load[b, 1] * v_re[b]) / square
        for b in range(n - 1, 0, -1):
            i_re[parent[b]] += i_re[b]
            i_im[parent[b]] += i_im[b]
        change = 0.0
        for b in range(1, n):
            p = parent[b]
            re = v_re[p] - line[b, 0] * i_re[b] + line[b, 1] * i_im[b]
            im = v_im[p] - line[b, 0] * i_im[b] - line[b, 1] * i_re[b]
            change = max(change, abs(re - v_re[b]) + abs(im - v_im[b]))
            v_re[b] = re
            v_im[b] = im
        if change < 1e-9:
            return rounds
    return -1


@program(
    "a gas on a lattice, four bits each",
    lambda n: (whole(16, n, n).astype(np.uint8), whole(11, n, n) == 0, 6),
    10,
    1500,
)
def lattice_gas(cells, wall, rounds):
    n, m = cells.shape
    moved = np.zeros_like(cells)
    for _ in range(rounds):
        for i in range(n):
            for j in range(m):
                c = cells[i, j]
                if wall[i, j]:
                    c = ((c << 2) | (c >> 2)) & 15
                elif c == 5:
                    c = 10
                elif c == 10:
                    c = 5
                cells[i, j] = c
        for i in range(n):
            up = i - 1 if i > 0 else n - 1
            down = i + 1 if i < n - 1 else 0
            for j in range(m):
                left = j - 1 if j > 0 else m - 1
                right = j + 1 if j < m - 1 else 0
                moved[i, j] = (cells[down, j] & 1) | (cells[i, left] & 2) | (cells[up, j] & 4) | (cells[i, right] & 8)
        for i in range(n):
            for j in range(m):
                cells[i, j] = moved[i, j]


@program(
    "an echo cancelled by a filter that adapts",
    lambda n: (f8(n) - 0.5, f8(n)[::-1] - 0.5, 0.4, zeros(64), zeros(n)),
    150,
    200_000,
)
def cancelled(far, microphone, step, weights, out):
    taps = weights.shape[0]
    for t in range(taps, far.shape[0]):
        estimate = 0.0
        power = 1e-6
        for k in range(taps):
            estimate += weights[k] * far[t - k]
            power += far[t - k] * far[t - k]
        error = microphone[t] - estimate
        out[t] = error
        for k in range(taps):
            weights[k] += step * error * far[t - k] / power


@program(
    "reactions of twelve species in cells, Arrhenius",
    lambda n: (
        whole(12, 24, 4).astype(np.int32),
        f8(24, 3) * [5, 1, 3000],
        0.1 + f8(n, 12),
        800 + 900 * f8(n),
        zeros((n, 12)),
    ),
    10,
    80_000,
)
def arrhenius(reactions, constants, concentration, temperature, made):
    for c in range(concentration.shape[0]):
        t = temperature[c]
        for s in range(made.shape[1]):
            made[c, s] = 0.0
        for r in range(reactions.shape[0]):
            a, b, x, y = reactions[r, 0], reactions[r, 1], reactions[r, 2], reactions[r, 3]
            k = constants[r, 0] * t ** constants[r, 1] * math.exp(-constants[r, 2] / t)
            back = 0.01 * k
            rate = k * concentration[c, a] * concentration[c, b] - back * concentration[c, x] * concentration[c, y]
            made[c, a] -= rate
            made[c, b] -= rate
            made[c, x] += rate
            made[c, y] += rate
