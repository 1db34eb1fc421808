"""The other half of the eleventh set: the earth, populations, instruments, samplers, equations step by step."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("distances on an ellipsoid, Vincenty", lambda n: (f8(n, 4) * 2 - 1, zeros(n)), 60, 2_000_000)
def vincenty(pairs, out):
    a = 6378137.0
    f = 1 / 298.257223563
    b = (1 - f) * a
    for i in range(pairs.shape[0]):
        u1 = math.atan((1 - f) * math.tan(pairs[i, 0]))
        u2 = math.atan((1 - f) * math.tan(pairs[i, 1]))
        L = pairs[i, 3] - pairs[i, 2]
        su1, cu1, su2, cu2 = math.sin(u1), math.cos(u1), math.sin(u2), math.cos(u2)
        lam = L
        cos2a = 0.0
        sin_s = cos_s = sigma = c2m = 0.0
        for _ in range(100):
            sl, cl = math.sin(lam), math.cos(lam)
            sin_s = math.sqrt((cu2 * sl) ** 2 + (cu1 * su2 - su1 * cu2 * cl) ** 2)
            if sin_s == 0.0:
                break
            cos_s = su1 * su2 + cu1 * cu2 * cl
            sigma = math.atan2(sin_s, cos_s)
            sina = cu1 * cu2 * sl / sin_s
            cos2a = 1 - sina * sina
            c2m = cos_s - 2 * su1 * su2 / cos2a if cos2a != 0 else 0.0
            C = f / 16 * cos2a * (4 + f * (4 - 3 * cos2a))
            last = lam
            lam = L + (1 - C) * f * sina * (sigma + C * sin_s * (c2m + C * cos_s * (-1 + 2 * c2m * c2m)))
            if abs(lam - last) < 1e-12:
                break
        u_sq = cos2a * (a * a - b * b) / (b * b)
        A = 1 + u_sq / 16384 * (4096 + u_sq * (-768 + u_sq * (320 - 175 * u_sq)))
        B = u_sq / 1024 * (256 + u_sq * (-128 + u_sq * (74 - 47 * u_sq)))
        d = B * sin_s * (c2m + B / 4 * (cos_s * (-1 + 2 * c2m**2)
                         - B / 6 * c2m * (-3 + 4 * sin_s**2) * (-3 + 4 * c2m**2)))  # fmt: skip
        out[i] = b * A * (sigma - d)


def _ages(n):
    k = 8
    s = np.full(k, 1000.0)
    return f8(k, k) * 0.3, s, np.full(k, 5.0), np.full(k, 1.0), zeros(k), zeros((n, k)), 0.05


@program("an epidemic in age groups", _ages, 200, 2_000_000)
def seir(contacts, s, e, i, r, history, dt):
    groups = s.shape[0]
    force = np.zeros(groups)
    for t in range(history.shape[0]):
        for a in range(groups):
            force[a] = 0.0
            for b in range(groups):
                population = s[b] + e[b] + i[b] + r[b]
                force[a] += contacts[a, b] * i[b] / population
        for a in range(groups):
            new_e = force[a] * s[a] * dt
            new_i = e[a] / 5.2 * dt
            new_r = i[a] / 7.0 * dt
            s[a] -= new_e
            e[a] += new_e - new_i
            i[a] += new_i - new_r
            r[a] += new_r
            history[t, a] = i[a]


@program(
    "premiums from a table of lives",
    lambda n: (f8(121) * 0.02, whole(60, n), whole(30, n) + 1, zeros(n)),
    100,
    10_000_000,
)
def premiums(q, ages, terms, out):
    v = 1 / 1.02
    for p in range(len(ages)):
        alive = 1.0
        benefit = 0.0
        annuity = 0.0
        discount = 1.0
        for t in range(terms[p]):
            x = min(ages[p] + t, 120)
            annuity += alive * discount
            discount *= v
            benefit += alive * q[x] * discount
            alive *= 1 - q[x]
        out[p] = (benefit + alive * discount) / annuity if annuity > 0 else 0.0


@program("a line's posterior, Metropolis", lambda n: (f8(40), f8(40) * 2 + 1, zeros((n, 3)), 12345), 20, 7_000_000)
def metropolis(x, y, chain, seed):
    a, b, log_s = 0.0, 0.0, 0.0
    state = seed
    accepted = 0
    current = -1e300
    for t in range(chain.shape[0]):
        state = (state * 1103515245 + 12345) % 2147483648
        na = a + 0.2 * (state / 2147483648 - 0.5)
        state = (state * 1103515245 + 12345) % 2147483648
        nb = b + 0.2 * (state / 2147483648 - 0.5)
        state = (state * 1103515245 + 12345) % 2147483648
        ns = log_s + 0.2 * (state / 2147483648 - 0.5)
        inv = math.exp(-2 * ns)
        proposed = -len(x) * ns - 0.5 * (na * na + nb * nb) / 100
        for k in range(len(x)):
            residual = y[k] - na - nb * x[k]
            proposed -= 0.5 * residual * residual * inv
        state = (state * 1103515245 + 12345) % 2147483648
        if math.log((state + 1) / 2147483649) < proposed - current:
            a, b, log_s = na, nb, ns
            current = proposed
            accepted += 1
        chain[t, 0] = a
        chain[t, 1] = b
        chain[t, 2] = log_s
    return accepted


def _visibilities(n):
    return f8(n, 2) * 100 + 10, (f8(n) + 1j * f8(n)[::-1]), f8(7, 101), zeros((128, 128), np.complex128)


@program("visibilities put on a grid by a kernel", _visibilities, 100, 2_000_000)
def gridding(uv, vis, kernel, grid):
    for k in range(uv.shape[0]):
        u0 = int(np.floor(uv[k, 0]))
        v0 = int(np.floor(uv[k, 1]))
        fu = int((uv[k, 0] - u0) * 100)
        fv = int((uv[k, 1] - v0) * 100)
        for i in range(7):
            for j in range(7):
                w = kernel[i, fu] * kernel[j, fv]
                grid[u0 + i - 3, v0 + j - 3] += w * vis[k]


@program("powder pattern of a crystal", lambda n: (f8(12, 3), f8(12) * 10, zeros(300), n), 3, 80)
def powder(atoms, scattering, pattern, most):
    a = 5.43
    for h in range(-most, most + 1):
        for k in range(-most, most + 1):
            for m in range(most + 1):
                hkl2 = h * h + k * k + m * m
                if hkl2 == 0:
                    continue
                s = math.sqrt(hkl2) / (2 * a) * 0.3
                if s >= 1.0:
                    continue
                re = 0.0
                im = 0.0
                for j in range(atoms.shape[0]):
                    phase = 2 * math.pi * (h * atoms[j, 0] + k * atoms[j, 1] + m * atoms[j, 2])
                    re += scattering[j] * math.cos(phase)
                    im += scattering[j] * math.sin(phase)
                theta = math.asin(s)
                b = int(theta * 180 / math.pi / 90 * pattern.shape[0])
                pattern[b] += (re * re + im * im) * (1 + math.cos(2 * theta) ** 2)


@program("oscillators of van der Pol, Dormand and Prince", lambda n: (f8(n) * 4 + 0.5, zeros((n, 2)), 5.0), 8, 10_000)
def dormand_prince(mu, out, end):
    steps = 0
    for s in range(mu.shape[0]):
        m = mu[s]
        t, h = 0.0, 0.01
        x, y = 2.0, 0.0
        while t < end:
            h = min(h, end - t)
            k1x, k1y = y, m * (1 - x * x) * y - x
            x2, y2 = x + h * k1x / 5, y + h * k1y / 5
            k2x, k2y = y2, m * (1 - x2 * x2) * y2 - x2
            x3, y3 = x + h * (3 * k1x + 9 * k2x) / 40, y + h * (3 * k1y + 9 * k2y) / 40
            k3x, k3y = y3, m * (1 - x3 * x3) * y3 - x3
            x4 = x + h * (44 / 45 * k1x - 56 / 15 * k2x + 32 / 9 * k3x)
            y4 = y + h * (44 / 45 * k1y - 56 / 15 * k2y + 32 / 9 * k3y)
            k4x, k4y = y4, m * (1 - x4 * x4) * y4 - x4
            xn = x + h * (k1x + 3 * k2x + 4 * k4x) / 8
            yn = y + h * (k1y + 3 * k2y + 4 * k4y) / 8
            error = h * max(abs(k1x - 2 * k2x + k4x), abs(k1y - 2 * k2y + k4y)) / 8
            if error < 1e-4:
                t += h
                x, y = xn, yn
                steps += 1
            h *= min(2.0, max(0.3, 0.9 * (1e-4 / (error + 1e-16)) ** 0.25))
        out[s, 0] = x
        out[s, 1] = y
    return steps


@program(
    "volatilities implied, secants and halves", lambda n: (f8(n) * 20 + 1, f8(n)[::-1] * 40 + 80, zeros(n)), 50, 500_000
)
def implied(prices, strikes, out):
    for k in range(len(prices)):
        lo, hi = 0.01, 3.0
        price, strike = prices[k], strikes[k]
        vol = 0.5
        for _ in range(60):
            d1 = (math.log(100.0 / strike) + 0.5 * vol * vol) / vol
            d2 = d1 - vol
            n1 = 0.5 * (1 + math.erf(d1 / math.sqrt(2.0)))
            n2 = 0.5 * (1 + math.erf(d2 / math.sqrt(2.0)))
            diff = 100.0 * n1 - strike * n2 - price
            if abs(diff) < 1e-8:
                break
            if diff > 0:
                hi = vol
            else:
                lo = vol
            vega = 100.0 * math.exp(-0.5 * d1 * d1) / math.sqrt(2 * math.pi)
            newton = vol - diff / vega if vega > 1e-10 else lo - 1
            vol = newton if lo < newton < hi else 0.5 * (lo + hi)
        out[k] = vol


@program("integrals by halving, Simpson with a stack", lambda n: (f8(n) * 50 + 1, zeros(n)), 8, 10_000)
def adaptive_simpson(frequencies, out):
    left = np.zeros(64)
    right = np.zeros(64)
    whole_part = np.zeros(64)
    for k in range(frequencies.shape[0]):
        w = frequencies[k]
        top = 0
        left[0] = 0.0
        right[0] = 1.0
        whole_part[0] = (1.0 + 4 * math.cos(w * 0.25) / 1.5 + math.cos(w) / 2) / 6
        total = 0.0
        while top >= 0:
            a, b, s = left[top], right[top], whole_part[top]
            top -= 1
            m = 0.5 * (a + b)
            p, q = 0.5 * (a + m), 0.5 * (m + b)
            h = (b - a) / 12
            fa, fl = math.cos(w * a * a) / (1 + a), math.cos(w * p * p) / (1 + p)
            fm, fr = math.cos(w * m * m) / (1 + m), math.cos(w * q * q) / (1 + q)
            fb = math.cos(w * b * b) / (1 + b)
            s1 = h * (fa + 4 * fl + fm)
            s2 = h * (fm + 4 * fr + fb)
            if abs(s1 + s2 - s) < 1e-7 * (b - a) or top > 60:
                total += s1 + s2 + (s1 + s2 - s) / 15
            else:
                top += 1
                left[top], right[top], whole_part[top] = a, m, s1
                top += 1
                left[top], right[top], whole_part[top] = m, b, s2
        out[k] = total


@program("shadows of a body from many sides", lambda n: (f8(n, n), zeros((n, n)), n), 12, 1000)
def sinogram(image, out, angles):
    n = image.shape[0]
    c = 0.5 * (n - 1)
    for a in range(angles):
        theta = math.pi * a / angles
        cos, sin = math.cos(theta), math.sin(theta)
        for d in range(n):
            total = 0.0
            for t in range(n):
                x = (d - c) * cos - (t - c) * sin + c
                y = (d - c) * sin + (t - c) * cos + c
                if x < 0 or y < 0 or x >= n - 1 or y >= n - 1:
                    continue
                i, j = int(x), int(y)
                fx, fy = x - i, y - j
                total += (image[i, j] * (1 - fx) * (1 - fy) + image[i + 1, j] * fx * (1 - fy)
                          + image[i, j + 1] * (1 - fx) * fy + image[i + 1, j + 1] * fx * fy)  # fmt: skip
            out[a, d] = total


@program("natural splines through many curves", lambda n: (f8(n, 24), f8(n, 50) * 23, zeros((n, 50))), 25, 1_000_000)
def splines(values, queries, out):
    knots = values.shape[1]
    second = np.zeros(knots)
    u = np.zeros(knots)
    for c in range(values.shape[0]):
        second[0] = 0.0
        u[0] = 0.0
        for i in range(1, knots - 1):
            p = 0.5 * second[i - 1] + 2.0
            second[i] = -0.5 / p
            bend = values[c, i + 1] - 2 * values[c, i] + values[c, i - 1]
            u[i] = (3 * bend - 0.5 * u[i - 1]) / p
        second[knots - 1] = 0.0
        for i in range(knots - 2, -1, -1):
            second[i] = second[i] * second[i + 1] + u[i]
        for q in range(queries.shape[1]):
            k = min(int(queries[c, q]), knots - 2)
            b = queries[c, q] - k
            a = 1 - b
            out[c, q] = (a * values[c, k] + b * values[c, k + 1]
                         + ((a**3 - a) * second[k] + (b**3 - b) * second[k + 1]) / 6)  # fmt: skip


def _register(n):
    qubits = max(3, int(np.log2(n)))
    state = np.zeros(1 << qubits, np.complex128)
    state[0] = 1.0
    return state, f8(qubits) * 3, qubits


@program("qubits turned and entangled", _register, 32, 30_000_000)
def circuit(state, angles, qubits):
    n = len(state)
    for layer in range(3):
        for q in range(qubits):
            c = math.cos(angles[q] / 2 + layer)
            s = math.sin(angles[q] / 2 + layer)
            step = 1 << q
            for start in range(0, n, 2 * step):
                for i in range(start, start + step):
                    a = state[i]
                    b = state[i + step]
                    state[i] = c * a - 1j * s * b
                    state[i + step] = -1j * s * a + c * b
        for q in range(qubits - 1):
            control = 1 << q
            target = 1 << (q + 1)
            for i in range(n):
                if i & control and not i & target:
                    state[i], state[i | target] = state[i | target], state[i]


@program("loads counted by rainflow", lambda n: (f4(n, 200), zeros(n), 3.0), 8, 100_000)
def rainflow(loads, damage, slope):
    stack = np.zeros(loads.shape[1])
    for s in range(loads.shape[0]):
        top = 0
        total = 0.0
        for t in range(loads.shape[1]):
            x = loads[s, t]
            inner = 0 < t < loads.shape[1] - 1
            if inner and (x - loads[s, t - 1]) * (loads[s, t + 1] - x) > 0:
                continue
            stack[top] = x
            top += 1
            while top >= 3:
                last = abs(stack[top - 1] - stack[top - 2])
                before = abs(stack[top - 2] - stack[top - 3])
                if last < before:
                    break
                if top == 3:
                    total += 0.5 * before**slope
                    stack[0] = stack[1]
                    stack[1] = stack[2]
                    top = 2
                else:
                    total += before**slope
                    stack[top - 3] = stack[top - 1]
                    top -= 2
        damage[s] = total


def _birds(n):
    return f8(n, 2) * 50, f8(n, 2) - 0.5, zeros((n, 2)), 3


@program("birds that flock", _birds, 20, 20_000)
def boids(position, velocity, change, steps):
    n = position.shape[0]
    for _ in range(steps):
        for i in range(n):
            count = 0
            cx = cy = vx = vy = ax = ay = 0.0
            for j in range(n):
                if i == j:
                    continue
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                d2 = dx * dx + dy * dy
                if d2 < 25.0:
                    count += 1
                    cx += dx
                    cy += dy
                    vx += velocity[j, 0]
                    vy += velocity[j, 1]
                    if d2 < 1.0:
                        ax -= dx
                        ay -= dy
            change[i, 0] = 0.1 * ax
            change[i, 1] = 0.1 * ay
            if count > 0:
                change[i, 0] += 0.01 * cx / count + 0.05 * (vx / count - velocity[i, 0])
                change[i, 1] += 0.01 * cy / count + 0.05 * (vy / count - velocity[i, 1])
        for i in range(n):
            for d in range(2):
                velocity[i, d] += change[i, d]
                velocity[i, d] = max(-1.0, min(1.0, velocity[i, d]))
                position[i, d] = (position[i, d] + velocity[i, d]) % 50.0


@program("contours of a height, marching squares", lambda n: (f8(n, n), 0.5, zeros((2 * n * n, 4))), 20, 8000)
def contours(z, level, segments):
    count = 0
    for i in range(z.shape[0] - 1):
        for j in range(z.shape[1] - 1):
            a, b, c, d = z[i, j], z[i, j + 1], z[i + 1, j + 1], z[i + 1, j]
            case = 0
            if a > level:
                case |= 1
            if b > level:
                case |= 2
            if c > level:
                case |= 4
            if d > level:
                case |= 8
            if case == 0 or case == 15:
                continue
            tx = j + (level - a) / (b - a) if a != b else j + 0.5
            ry = i + (level - b) / (c - b) if b != c else i + 0.5
            bx = j + (level - d) / (c - d) if c != d else j + 0.5
            ly = i + (level - a) / (d - a) if a != d else i + 0.5
            if case == 1 or case == 14:
                x0, y0, x1, y1 = tx, float(i), float(j), ly
            elif case == 2 or case == 13:
                x0, y0, x1, y1 = tx, float(i), j + 1.0, ry
            elif case == 4 or case == 11:
                x0, y0, x1, y1 = j + 1.0, ry, bx, i + 1.0
            elif case == 8 or case == 7:
                x0, y0, x1, y1 = float(j), ly, bx, i + 1.0
            elif case == 3 or case == 12:
                x0, y0, x1, y1 = float(j), ly, j + 1.0, ry
            elif case == 6 or case == 9:
                x0, y0, x1, y1 = tx, float(i), bx, i + 1.0
            else:
                x0, y0, x1, y1 = tx, float(i), j + 1.0, ry
            segments[count, 0] = x0
            segments[count, 1] = y0
            segments[count, 2] = x1
            segments[count, 3] = y1
            count += 1
    return count
