"""A thirteenth set, written without a look at the recipe: quakes, species, epidemics, lenses, claims, sound, rivers."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "response spectra of a quake, Newmark",
    lambda n: (f8(n) - 0.5, np.linspace(0.05, 4.0, 60), zeros(60), zeros(60)),
    30,
    1_000_000,
)
def newmark(acceleration, periods, displacement, velocity):
    dt, zeta = 0.01, 0.05
    beta, gamma = 0.25, 0.5
    for p in range(len(periods)):
        w = 2 * math.pi / periods[p]
        k = w * w
        c = 2 * zeta * w
        u = v = 0.0
        a = -acceleration[0]
        umax = vmax = 0.0
        keff = k + gamma / (beta * dt) * c + 1 / (beta * dt * dt)
        for i in range(1, len(acceleration)):
            load = (
                -acceleration[i]
                + (u / (beta * dt * dt) + v / (beta * dt) + (1 / (2 * beta) - 1) * a)
                + c * (gamma / (beta * dt) * u + (gamma / beta - 1) * v + dt * (gamma / (2 * beta) - 1) * a)
            )
            un = load / keff
            vn = gamma / (beta * dt) * (un - u) + (1 - gamma / beta) * v + dt * (1 - gamma / (2 * beta)) * a
            a = (un - u) / (beta * dt * dt) - v / (beta * dt) - (1 / (2 * beta) - 1) * a
            u, v = un, vn
            umax = max(umax, abs(u))
            vmax = max(vmax, abs(v))
        displacement[p] = umax
        velocity[p] = vmax


@program(
    "arrivals picked, short over long averages",
    lambda n: (f4(8, n) - np.float32(0.5), np.full((8, 100), -1, np.int32), zeros(8, np.int32)),
    300,
    3_000_000,
)
def sta_lta(traces, picks, counts):
    short, long = 20, 200
    for ch in range(traces.shape[0]):
        sta = 0.0
        lta = 1e-9
        armed = True
        n = 0
        for t in range(traces.shape[1]):
            energy = traces[ch, t] * traces[ch, t]
            sta += (energy - sta) / short
            if armed:
                lta += (energy - lta) / long
            ratio = sta / lta
            if t > long:
                if armed and ratio > 1.6:
                    armed = False
                    if n < picks.shape[1]:
                        picks[ch, n] = t
                        n += 1
                elif not armed and ratio < 1.0:
                    armed = True
        counts[ch] = n


@program(
    "travel times through layers by shooting",
    lambda n: (f8(n) * 200, np.linspace(3.0, 8.0, 12), np.full(12, 3.0), zeros(n), zeros(n)),
    20,
    2_000_000,
)
def shot_rays(offsets, speed, thickness, times, parameters):
    fastest = 0.0
    for k in range(len(speed)):
        if speed[k] > fastest:
            fastest = speed[k]
    for i in range(len(offsets)):
        lo, hi = 0.0, 1.0 / fastest * (1 - 1e-12)
        while hi - lo > 1e-10:
            p = 0.5 * (lo + hi)
            x = 0.0
            for k in range(len(speed)):
                s = p * speed[k]
                x += 2 * thickness[k] * s / math.sqrt(1 - s * s)
            if x < offsets[i]:
                lo = p
            else:
                hi = p
        t = 0.0
        for k in range(len(speed)):
            s = lo * speed[k]
            t += 2 * thickness[k] / (speed[k] * math.sqrt(1 - s * s))
        times[i] = t
        parameters[i] = lo


@program(
    "species expected in samples, rarefaction",
    lambda n: (whole(40, n, 50), np.arange(10, 200, 10), zeros((n, 19))),
    3,
    100_000,
)
def rarefied(counts, sizes, expected):
    for site in range(counts.shape[0]):
        total = 0
        for s in range(counts.shape[1]):
            total += counts[site, s]
        for m in range(len(sizes)):
            size = sizes[m]
            if size > total:
                expected[site, m] = np.nan
                continue
            value = 0.0
            for s in range(counts.shape[1]):
                c = counts[site, s]
                if c == 0:
                    continue
                if total - c < size:
                    value += 1.0
                else:
                    logs = (
                        math.lgamma(total - c + 1)
                        - math.lgamma(total - c - size + 1)
                        - math.lgamma(total + 1)
                        + math.lgamma(total - size + 1)
                    )
                    value += 1.0 - math.exp(logs)
            expected[site, m] = value


def _contacts(n):
    degree = whole(12, n)
    starts = np.zeros(n + 1, np.int32)
    starts[1:] = np.cumsum(degree)
    neighbours = np.random.default_rng(4).integers(0, n, int(starts[-1])).astype(np.int32)
    state = np.zeros(n, np.int8)
    state[:: max(1, n // 10)] = 1
    return starts, neighbours, state, zeros(n, np.int32), zeros((30, 3), np.int64), 2024


@program("an epidemic person by person", _contacts, 100, 1_000_000)
def outbreak(starts, neighbours, state, since, history, seed):
    n = len(state)
    following = state.copy()
    rng = seed
    for day in range(history.shape[0]):
        for i in range(n):
            if state[i] == 0:
                for k in range(starts[i], starts[i + 1]):
                    if state[neighbours[k]] == 1:
                        rng = (rng * 1103515245 + 12345) & 0x7FFFFFFF
                        if rng < 0.08 * 2147483648:
                            following[i] = 1
                            since[i] = day
                            break
            elif state[i] == 1 and day - since[i] >= 6:
                following[i] = 2
        for i in range(n):
            state[i] = following[i]
            history[day, state[i]] += 1


@program(
    "rays through a table of lenses",
    lambda n: (
        f8(n, 2) * 16 - 8,
        np.array([[50.0, 6, 1.62], [-60, 2, 1.0], [-45, 3, 1.7], [80, 9, 1.0], [120, 5, 1.55], [-90, 40, 1.0]]),
        zeros((n, 3)),
        zeros(n, np.bool_),
    ),
    50,
    3_000_000,
)
def lenses(starts, surfaces, landed, lost):
    for r in range(starts.shape[0]):
        x, y, z = starts[r, 0], starts[r, 1], -10.0
        dx, dy, dz = 0.02, 0.0, 1.0
        norm = math.sqrt(dx * dx + dy * dy + dz * dz)
        dx /= norm
        dy /= norm
        dz /= norm
        index = 1.0
        vertex = 0.0
        failed = False
        for s in range(surfaces.shape[0]):
            radius = surfaces[s, 0]
            cz = vertex + radius
            ox, oy, oz = x, y, z - cz
            b = ox * dx + oy * dy + oz * dz
            c = ox * ox + oy * oy + oz * oz - radius * radius
            disc = b * b - c
            if disc < 0:
                failed = True
                break
            root = math.sqrt(disc)
            t = -b - root if radius > 0 else -b + root
            x += t * dx
            y += t * dy
            z += t * dz
            if x * x + y * y > 400.0:
                failed = True
                break
            nx, ny, nz = x / radius, y / radius, (z - cz) / radius
            cosi = -(nx * dx + ny * dy + nz * dz)
            ratio = index / surfaces[s, 2]
            k = 1 - ratio * ratio * (1 - cosi * cosi)
            if k < 0:
                failed = True
                break
            q = ratio * cosi - math.sqrt(k)
            dx = ratio * dx + q * nx
            dy = ratio * dy + q * ny
            dz = ratio * dz + q * nz
            index = surfaces[s, 2]
            vertex += surfaces[s, 1]
        lost[r] = failed
        if not failed:
            t = (vertex - z) / dz
            landed[r, 0] = x + t * dx
            landed[r, 1] = y + t * dy
            landed[r, 2] = t


@program(
    "path lengths through a grid, Siddon", lambda n: (f4(64, 64), f8(n, 4) * 64, zeros(n, np.float32)), 30, 600_000
)
def siddon(image, rays, out):
    ny, nx = image.shape
    for r in range(rays.shape[0]):
        x0, y0, x1, y1 = rays[r, 0], rays[r, 1], rays[r, 2], rays[r, 3]
        dx, dy = x1 - x0, y1 - y0
        length = math.sqrt(dx * dx + dy * dy)
        ix, iy = int(x0), int(y0)
        sx = 1 if dx > 0 else -1
        sy = 1 if dy > 0 else -1
        tx = ((ix + (sx > 0)) - x0) / dx if dx != 0 else 1e30
        ty = ((iy + (sy > 0)) - y0) / dy if dy != 0 else 1e30
        stepx = abs(1 / dx) if dx != 0 else 1e30
        stepy = abs(1 / dy) if dy != 0 else 1e30
        t = 0.0
        total = 0.0
        while t < 1.0 and 0 <= ix < nx and 0 <= iy < ny:
            nearest = min(tx, ty, 1.0)
            total += (nearest - t) * length * image[iy, ix]
            t = nearest
            if tx <= ty:
                ix += sx
                tx += stepx
            else:
                iy += sy
                ty += stepy
        out[r] = total


@program("reserves of claims, chain ladder", lambda n: (f8(n, 10, 10) * 100 + 10, zeros((n, 9)), zeros(n)), 5, 500_000)
def chain_ladder(paid, factors, reserves):
    for book in range(paid.shape[0]):
        years = paid.shape[1]
        for i in range(years):
            for j in range(1, years - i):
                paid[book, i, j] += paid[book, i, j - 1]
        for j in range(years - 1):
            above = 0.0
            below = 0.0
            for i in range(years - 1 - j):
                above += paid[book, i, j + 1]
                below += paid[book, i, j]
            factors[book, j] = above / below
        total = 0.0
        for i in range(1, years):
            latest = paid[book, i, years - 1 - i]
            ultimate = latest
            for j in range(years - 1 - i, years - 1):
                ultimate *= factors[book, j]
            total += ultimate - latest
        reserves[book] = total


@program(
    "degrees to metres, transverse Mercator",
    lambda n: (f8(n) * 160 - 80, f8(n)[::-1] * 6 - 3, zeros((n, 2)), zeros(n)),
    60,
    3_000_000,
)
def mercator(latitudes, longitudes, out, convergence):
    a, f, k0 = 6378137.0, 1 / 298.257223563, 0.9996
    n = f / (2 - f)
    A = a / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    alpha = np.zeros(3)
    alpha[0] = n / 2 - 2 * n**2 / 3 + 5 * n**3 / 16
    alpha[1] = 13 * n**2 / 48 - 3 * n**3 / 5
    alpha[2] = 61 * n**3 / 240
    e = 2 * math.sqrt(n) / (1 + n)
    for i in range(len(latitudes)):
        phi = math.radians(latitudes[i])
        lam = math.radians(longitudes[i])
        s = math.sin(phi)
        t = math.sinh(math.atanh(s) - e * math.atanh(e * s))
        xi = math.atan2(t, math.cos(lam))
        eta = math.atanh(math.sin(lam) / math.sqrt(1 + t * t))
        east = eta
        north = xi
        for j in range(1, 4):
            east += alpha[j - 1] * math.cos(2 * j * xi) * math.sinh(2 * j * eta)
            north += alpha[j - 1] * math.sin(2 * j * xi) * math.cosh(2 * j * eta)
        out[i, 0] = 500000 + k0 * A * east
        out[i, 1] = k0 * A * north
        convergence[i] = math.atan2(t * math.tan(lam), math.sqrt(1 + t * t))


@program("an echo of combs and all-passes", lambda n: (f4(n) - np.float32(0.5), zeros(n, np.float32)), 2000, 4_000_000)
def reverb(dry, wet):
    combs = np.array([1116, 1188, 1277, 1356])
    passes = np.array([556, 441])
    comb_lines = np.zeros((4, 1400), np.float32)
    pass_lines = np.zeros((2, 600), np.float32)
    comb_at = np.zeros(4, np.int64)
    pass_at = np.zeros(2, np.int64)
    low = np.zeros(4, np.float32)
    for i in range(len(dry)):
        total = 0.0
        for c in range(4):
            y = comb_lines[c, comb_at[c]]
            low[c] = y * 0.8 + low[c] * 0.2
            comb_lines[c, comb_at[c]] = dry[i] * 0.015 + low[c] * 0.84
            comb_at[c] += 1
            if comb_at[c] >= combs[c]:
                comb_at[c] = 0
            total += y
        for a in range(2):
            held = pass_lines[a, pass_at[a]]
            pass_lines[a, pass_at[a]] = total + held * 0.5
            total = held - total
            pass_at[a] = (pass_at[a] + 1) % passes[a]
        wet[i] = total


@program(
    "sound made even, a compressor", lambda n: (f4(2, n) * 2 - 1, zeros((2, n), np.float32), zeros(n)), 1000, 4_000_000
)
def compressor(sound, out, gain_db):
    attack = math.exp(-1 / (44100 * 0.005))
    release = math.exp(-1 / (44100 * 0.1))
    threshold, ratio, knee = -20.0, 4.0, 6.0
    envelope = 0.0
    for t in range(sound.shape[1]):
        level = max(abs(sound[0, t]), abs(sound[1, t]))
        if level > envelope:
            envelope = attack * envelope + (1 - attack) * level
        else:
            envelope = release * envelope + (1 - release) * level
        db = 20 * math.log10(envelope + 1e-9)
        over = db - threshold
        if 2 * over < -knee:
            reduce = 0.0
        elif 2 * abs(over) <= knee:
            reduce = (1 / ratio - 1) * (over + knee / 2) ** 2 / (2 * knee)
        else:
            reduce = (1 / ratio - 1) * over
        gain = 10 ** (reduce / 20)
        gain_db[t] = reduce
        out[0, t] = sound[0, t] * gain
        out[1, t] = sound[1, t] * gain


@program("sample entropy of a series", lambda n: (f8(n), 3, 0.2), 100, 60_000)
def sample_entropy(x, m, r):
    n = len(x)
    same = 0
    longer = 0
    for i in range(n - m):
        for j in range(i + 1, n - m):
            close = True
            for k in range(m):
                if abs(x[i + k] - x[j + k]) > r:
                    close = False
                    break
            if close:
                same += 1
                if abs(x[i + m] - x[j + m]) <= r:
                    longer += 1
    if same == 0 or longer == 0:
        return np.inf
    return -math.log(longer / same)


@program("targets above clutter, CFAR", lambda n: (f4(n, n) ** 4, zeros((n, n), np.uint8)), 24, 3_000)
def cfar(power, hits):
    guard, train = 2, 6
    reach = guard + train
    count = 0
    for r in range(reach, power.shape[0] - reach):
        for d in range(reach, power.shape[1] - reach):
            noise = 0.0
            cells = 0
            for i in range(r - reach, r + reach + 1):
                for j in range(d - reach, d + reach + 1):
                    if abs(i - r) > guard or abs(j - d) > guard:
                        noise += power[i, j]
                        cells += 1
            if power[r, d] > 3.5 * noise / cells:
                hits[r, d] = 1
                count += 1
    return count


def _patches(n):
    normals = f8(n, 3) - 0.5
    normals /= np.sqrt((normals**2).sum(1))[:, None]
    return f8(n, 3)[::-1] * 4, normals, f8(n) * 0.01, whole(2, n).astype(np.float64), f8(n) * 0.7, zeros(n)


@program("light between patches, radiosity", _patches, 20, 10_000)
def radiosity(centres, normals, areas, emitted, reflected, light):
    n = centres.shape[0]
    form = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            dx = centres[j, 0] - centres[i, 0]
            dy = centres[j, 1] - centres[i, 1]
            dz = centres[j, 2] - centres[i, 2]
            d2 = dx * dx + dy * dy + dz * dz
            ci = normals[i, 0] * dx + normals[i, 1] * dy + normals[i, 2] * dz
            cj = -(normals[j, 0] * dx + normals[j, 1] * dy + normals[j, 2] * dz)
            if ci > 0 and cj > 0:
                form[i, j] = ci * cj * areas[j] / (math.pi * d2 * d2 + areas[j] * d2)
    for i in range(n):
        light[i] = emitted[i]
    for _ in range(8):
        change = 0.0
        for i in range(n):
            gathered = 0.0
            for j in range(n):
                gathered += form[i, j] * light[j]
            new = emitted[i] + reflected[i] * gathered
            change = max(change, abs(new - light[i]))
            light[i] = new
        if change < 1e-9:
            break


def _rivers(n):
    down = np.array([i + 1 + (i * 7919) % max(1, min(40, n - i - 1)) for i in range(n)])
    down[n - 1] = -1
    return np.minimum(down, n - 1) * (down >= 0) - (down < 0), f8(n) * 2 + 0.2, f8(n) * 0.3, f8(48, n), zeros((48, n))


@program("floods down a tree of rivers, Muskingum", _rivers, 30, 300_000)
def muskingum(down, k, x, runoff, flow):
    dt = 1.0
    hours, n = runoff.shape
    inflow = np.zeros(n)
    previous_in = np.zeros(n)
    for t in range(1, hours):
        for i in range(n):
            inflow[i] = runoff[t, i]
        for i in range(n):
            denominator = 2 * k[i] * (1 - x[i]) + dt
            c0 = (dt - 2 * k[i] * x[i]) / denominator
            c1 = (dt + 2 * k[i] * x[i]) / denominator
            c2 = (2 * k[i] * (1 - x[i]) - dt) / denominator
            q = c0 * inflow[i] + c1 * previous_in[i] + c2 * flow[t - 1, i]
            if q < 0:
                q = 0.0
            flow[t, i] = q
            if down[i] >= 0:
                inflow[down[i]] += q
            previous_in[i] = inflow[i]


def _stencil_matrix(n):
    rows, columns, values = [0], [], []
    side = n
    for i in range(side * side):
        for o in (-side, -1, 0, 1, side):
            j = i + o
            if 0 <= j < side * side and not (abs(o) == 1 and i // side != j // side):
                columns.append(j)
                values.append(4.5 if o == 0 else -1.0)
        rows.append(len(columns))
    return np.array(rows, np.int32), np.array(columns, np.int32), np.array(values), zeros(side * side, np.int32)


@program("a sparse matrix factored in its pattern, ILU", _stencil_matrix, 6, 2_000)
def ilu(rows, columns, values, diagonal):
    n = len(rows) - 1
    where = np.full(n, -1, np.int32)
    for i in range(n):
        for p in range(rows[i], rows[i + 1]):
            where[columns[p]] = p
            if columns[p] == i:
                diagonal[i] = p
        for p in range(rows[i], rows[i + 1]):
            k = columns[p]
            if k >= i:
                break
            values[p] /= values[diagonal[k]]
            for q in range(diagonal[k] + 1, rows[k + 1]):
                w = where[columns[q]]
                if w >= 0:
                    values[w] -= values[p] * values[q]
        for p in range(rows[i], rows[i + 1]):
            where[columns[p]] = -1


@program(
    "domes and basins, grey reconstruction",
    lambda n: (f4(n, n) * np.float32(0.6), f4(n, n)),
    20,
    20_000,
)
def reconstructed(marker, mask):
    h, w = mask.shape
    for y in range(h):
        for x in range(w):
            marker[y, x] = min(marker[y, x], mask[y, x])
    rounds = 0
    changed = True
    while changed and rounds < 6:
        changed = False
        rounds += 1
        for y in range(h):
            for x in range(w):
                v = marker[y, x]
                if y > 0:
                    v = max(v, marker[y - 1, x])
                if x > 0:
                    v = max(v, marker[y, x - 1])
                v = min(v, mask[y, x])
                if v != marker[y, x]:
                    marker[y, x] = v
                    changed = True
        for y in range(h - 1, -1, -1):
            for x in range(w - 1, -1, -1):
                v = marker[y, x]
                if y < h - 1:
                    v = max(v, marker[y + 1, x])
                if x < w - 1:
                    v = max(v, marker[y, x + 1])
                v = min(v, mask[y, x])
                if v != marker[y, x]:
                    marker[y, x] = v
                    changed = True
    return rounds
