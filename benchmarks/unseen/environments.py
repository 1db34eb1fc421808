"""Half of a nineteenth set, written without a look at the recipe: air, ground, waves, nerves, markets, populations."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _lines(n):
    rng = np.random.default_rng(1)
    lines = n // 5
    return np.sort(rng.random(lines) * n * 0.01), rng.random(lines), 0.02 + 0.1 * f8(lines), 0.05, 0.01, 2.0, zeros(n)


@program("absorption of a gas, line by line", _lines, 700, 1_000_000)
def line_by_line(centre, strength, lorentz, doppler, spacing, cut, spectrum):
    for k in range(centre.size):
        ratio = lorentz[k] / (lorentz[k] + doppler)
        eta = 1.36603 * ratio - 0.47719 * ratio**2 + 0.11116 * ratio**3
        width = math.sqrt(lorentz[k] ** 2 + doppler**2)
        first = max(0, math.ceil((centre[k] - cut) / spacing))
        last = min(spectrum.size - 1, math.floor((centre[k] + cut) / spacing))
        for i in range(first, last + 1):
            d = (i * spacing - centre[k]) / width
            bell = math.exp(-0.693147 * d * d) * 0.469719
            wings = 0.318310 / (1.0 + d * d)
            spectrum[i] += strength[k] / width * (eta * wings + (1.0 - eta) * bell)


def _bores(n):
    place = 100 * np.random.default_rng(2).random((2, n))
    return place[0], place[1], np.sin(place[0] / 10) + f8(n), 2.5, zeros((4, 20)), zeros((4, 20), np.int64)


@program("variograms in four directions", _bores, 260, 20_000)
def directed_variograms(x, y, value, lag, gamma, count):
    n = x.size
    for i in range(n):
        for j in range(i + 1, n):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            h = math.sqrt(dx * dx + dy * dy)
            b = int(h / lag)
            if b >= gamma.shape[1]:
                continue
            angle = math.atan2(dy, dx)
            if angle < 0:
                angle += math.pi
            sector = int(angle / (math.pi / 4) + 0.5) % 4
            gamma[sector, b] += 0.5 * (value[i] - value[j]) ** 2
            count[sector, b] += 1
    for s in range(4):
        for b in range(gamma.shape[1]):
            if count[s, b] > 0:
                gamma[s, b] /= count[s, b]


def _spectra(n):
    rng = np.random.default_rng(3)
    sound = rng.normal(size=(n, 6, 12)) + 1j * rng.normal(size=(n, 6, 12))
    return sound @ sound.conj().transpose(0, 2, 1) / 12, np.linspace(200.0, 4_000.0, n), 0.04, zeros((n, 36))


@program("beams of least power, Capon, six sensors", _spectra, 6, 65_536)
def capon(covariance, frequency, gap, power):
    bins, sensors, _ = covariance.shape
    directions = power.shape[1]
    for f in range(bins):
        a = covariance[f].copy()
        inverse = np.eye(sensors, dtype=np.complex128)
        for p in range(sensors):
            scale = 1.0 / a[p, p]
            for c in range(sensors):
                a[p, c] *= scale
                inverse[p, c] *= scale
            for r in range(sensors):
                if r == p:
                    continue
                factor = a[r, p]
                for c in range(sensors):
                    a[r, c] -= factor * a[p, c]
                    inverse[r, c] -= factor * inverse[p, c]
        for k in range(directions):
            theta = math.pi * (k + 0.5) / directions - math.pi / 2
            turn = 2 * math.pi * frequency[f] * gap * math.sin(theta) / 343.0
            steer = np.zeros(sensors, dtype=np.complex128)
            for s in range(sensors):
                steer[s] = complex(math.cos(s * turn), -math.sin(s * turn))
            total = 0.0
            for r in range(sensors):
                for c in range(sensors):
                    total += (steer[r].conjugate() * inverse[r, c] * steer[c]).real
            power[f, k] = 1.0 / total


def _synapses(n):
    return 2.0 / n * f8(n, n), 30.0 * f8(40, n), 0.25 / n, zeros(n), zeros(n), zeros(n), zeros((40, n), np.int8)


@program("synapses that learn from the order of spikes", _synapses, 26, 2_048)
def learning_synapses(weight, current, rate, v, before, after, fired):
    n = v.size
    for t in range(current.shape[0]):
        given = np.zeros(n)
        if t > 0:
            for i in range(n):
                for j in range(n):
                    if fired[t - 1, j]:
                        given[i] += 20.0 * weight[i, j]
        for i in range(n):
            v[i] += 0.1 * (current[t, i] - v[i]) + given[i]
            before[i] *= 0.95
            after[i] *= 0.95
            if v[i] > 10.0:
                v[i] = 0.0
                fired[t, i] = 1
                before[i] += 1.0
                after[i] += 1.0
        for i in range(n):
            for j in range(n):
                if fired[t, i]:
                    weight[i, j] = min(1.0, weight[i, j] + rate * before[j])
                if fired[t, j]:
                    weight[i, j] = max(0.0, weight[i, j] - 1.2 * rate * after[i])


def _doses(n):
    packed = whole(256, max(4, n // 4), n).astype(np.uint8)
    sites = packed.shape[0]
    rng = np.random.default_rng(4)
    return packed, rng.normal(size=(sites, 4)), 2 * rng.random(sites), zeros((4 * n, 4)), zeros(4 * n, np.int32)


@program("scores of people, doses of genes in two bits", _doses, 110, 16_384)
def genetic_scores(packed, effect, mean, score, missing):
    sites = packed.shape[0]
    people, traits = score.shape
    for i in range(people):
        for s in range(sites):
            code = (packed[s, i // 4] >> (2 * (i % 4))) & 3
            if code == 1:
                dose = mean[s]
                missing[i] += 1
            elif code == 0:
                dose = 2.0
            elif code == 2:
                dose = 1.0
            else:
                continue
            for t in range(traits):
                score[i, t] += dose * effect[s, t]


def _light(n):
    edge = np.clip(np.abs(np.arange(n + 5) - (n + 4) / 2) - n * 0.4, 0, None) * 0.02
    fields = (zeros((n, n + 5), np.float32) for _ in range(3))
    return *fields, 0.3 + 0.2 * f4(n, n + 5), edge[:n].astype(np.float32), edge.astype(np.float32), 12, 20


@program("light in two dimensions, walls that swallow it", _light, 18, 2_500)
def absorbed_light(ez, hx, hy, speed, loss_y, loss_x, period, steps):
    h, w = ez.shape
    for t in range(steps):
        for y in range(h - 1):
            keep = (1 - loss_y[y]) / (1 + loss_y[y])
            for x in range(w):
                hx[y, x] = keep * hx[y, x] - np.float32(0.5) * (ez[y + 1, x] - ez[y, x])
        for y in range(h):
            for x in range(w - 1):
                keep = (1 - loss_x[x]) / (1 + loss_x[x])
                hy[y, x] = keep * hy[y, x] + np.float32(0.5) * (ez[y, x + 1] - ez[y, x])
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                loss = loss_y[y] + loss_x[x]
                curl = hy[y, x] - hy[y, x - 1] - hx[y, x] + hx[y - 1, x]
                ez[y, x] = ((1 - loss) * ez[y, x] + speed[y, x] * curl) / (1 + loss)
        ez[h // 2, w // 2] += math.sin(2 * math.pi * t / period)


def _residual(n):
    fine = 2 * n + 1
    return f8(fine, fine, fine), f8(fine, fine, fine)[::-1].copy(), 1.0 / (2 * n), zeros((n + 1, n + 1, n + 1))


@program("a residual on a coarser grid, full weights", _residual, 6, 160)
def restricted_residual(u, f, h, coarse):
    n = u.shape[0]
    r = np.zeros_like(u)
    total = 0.0
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            for k in range(1, n - 1):
                s = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]
                r[i, j, k] = f[i, j, k] + (s - 6 * u[i, j, k]) / (h * h)
                total += r[i, j, k] ** 2
    for i in range(1, coarse.shape[0] - 1):
        for j in range(1, coarse.shape[1] - 1):
            for k in range(1, coarse.shape[2] - 1):
                s = 0.0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        for dk in range(-1, 2):
                            w = 1.0 / (1 << (abs(di) + abs(dj) + abs(dk)))
                            s += w * r[2 * i + di, 2 * j + dj, 2 * k + dk]
                coarse[i, j, k] = s / 8
    return math.sqrt(total)


def _returns(n):
    common = np.random.default_rng(5).normal(size=(n, 1))
    return common + np.random.default_rng(6).normal(size=(n, 24)), 64, zeros((24 * 23 // 2, n))


@program("rolling correlations of every pair", _returns, 200, 65_536)
def rolling_correlations(x, window, out):
    n, series = x.shape
    pair = 0
    for a in range(series):
        for b in range(a + 1, series):
            sa = sb = saa = sbb = sab = 0.0
            for t in range(n):
                p = x[t, a]
                q = x[t, b]
                sa += p
                sb += q
                saa += p * p
                sbb += q * q
                sab += p * q
                if t >= window:
                    p = x[t - window, a]
                    q = x[t - window, b]
                    sa -= p
                    sb -= q
                    saa -= p * p
                    sbb -= q * q
                    sab -= p * q
                if t >= window - 1:
                    both = window * sab - sa * sb
                    out[pair, t] = both / math.sqrt((window * saa - sa * sa) * (window * sbb - sb * sb))
            pair += 1


def _debtors(n):
    rng = np.random.default_rng(7)
    return (
        rng.normal(size=n),
        -1.0 - 1.5 * rng.random(150),
        0.1 + 0.3 * f8(150),
        rng.random(150),
        zeros(n),
        zeros(40, int),
    )


@program("losses of a portfolio, one factor", _debtors, 40, 262_144)
def portfolio_losses(factor, threshold, link, exposure, loss, histogram):
    whole_exposure = exposure.sum()
    expected = 0.0
    for s in range(factor.size):
        state = (s * 2654435 + 12345) % 2147483648
        lost = 0.0
        for k in range(threshold.size):
            state = (state * 1103515245 + 12345) % 2147483648
            z = (threshold[k] - math.sqrt(link[k]) * factor[s]) / math.sqrt(1 - link[k])
            chance = 0.5 * math.erfc(-z / math.sqrt(2.0))
            if state / 2147483648.0 < chance:
                lost += exposure[k]
        loss[s] = lost
        expected += lost
        histogram[min(int(40 * lost / whole_exposure), 39)] += 1
    return expected / factor.size


def _strikes(n):
    return 80 + 40 * f8(n), 0.1 + 0.4 * f8(n)[::-1].copy(), 0.03, 1.0, 30, zeros((n, 96))


@program("options on a grid, Crank and Nicolson, many strikes", _strikes, 2, 16_384)
def crank_nicolson(strike, volatility, rate, years, steps, value):
    options, points = value.shape
    dt = years / steps
    ds = 300.0 / (points - 1)
    for o in range(options):
        v = np.zeros(points)
        for i in range(points):
            v[i] = max(strike[o] - i * ds, 0.0)
        ratio = np.zeros(points)
        right = np.zeros(points)
        for step in range(steps):
            ratio[0] = 0.0
            right[0] = strike[o] * math.exp(-rate * dt * (step + 1))
            for i in range(1, points - 1):
                a = 0.25 * dt * (volatility[o] ** 2 * i * i - rate * i)
                b = -0.5 * dt * (volatility[o] ** 2 * i * i + rate)
                c = 0.25 * dt * (volatility[o] ** 2 * i * i + rate * i)
                d = a * v[i - 1] + (1.0 + b) * v[i] + c * v[i + 1]
                pivot = 1.0 - b + a * ratio[i - 1]
                ratio[i] = -c / pivot
                right[i] = (d + a * right[i - 1]) / pivot
            v[points - 1] = 0.0
            for i in range(points - 2, -1, -1):
                v[i] = right[i] - ratio[i] * v[i + 1]
        value[o] = v


def _towns(n):
    travel = f8(n, n) ** 8
    people = 1_000 + 9_000 * f8(n)
    state = np.stack([people - 5, people * 0, people * 0 + 5, people * 0])
    return travel / travel.sum(1, keepdims=True), people, state, 0.4, 0.2, 0.1, zeros((30, n))


@program("an epidemic of towns, commuters", _towns, 40, 4_096)
def commuters(travel, people, state, beta, sigma, gamma, new):
    days, n = new.shape
    for day in range(days):
        pressure = np.zeros(n)
        for i in range(n):
            for j in range(n):
                pressure[i] += travel[i, j] * state[2, j] / people[j]
        for i in range(n):
            caught = state[0, i] * (1 - math.exp(-beta * pressure[i]))
            ill = sigma * state[1, i]
            well = gamma * state[2, i]
            state[0, i] -= caught
            state[1, i] += caught - ill
            state[2, i] += ill - well
            state[3, i] += well
            new[day, i] = caught


def _spins(n):
    return 2 * math.pi * f8(2 * n, 2 * n), 6


@program("spins in a plane, over-relaxed", _spins, 14, 1_500)
def over_relaxed(theta, sweeps):
    h, w = theta.shape
    for _sweep in range(sweeps):
        for colour in range(2):
            for y in range(h):
                for x in range((y + colour) % 2, w, 2):
                    up = theta[(y - 1) % h, x]
                    down = theta[(y + 1) % h, x]
                    left = theta[y, (x - 1) % w]
                    right = theta[y, (x + 1) % w]
                    across = math.cos(up) + math.cos(down) + math.cos(left) + math.cos(right)
                    along = math.sin(up) + math.sin(down) + math.sin(left) + math.sin(right)
                    theta[y, x] = 2 * math.atan2(along, across) - theta[y, x]
    energy = 0.0
    for y in range(h):
        for x in range(w):
            energy -= math.cos(theta[y, x] - theta[y, (x + 1) % w]) + math.cos(theta[y, x] - theta[(y + 1) % h, x])
    return energy / (h * w)


def _triangles(n):
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij"))
    a = i * n + j
    corner = np.concatenate([np.stack([a, a + 1, a + n], 1), np.stack([a + 1, a + n + 1, a + n], 1)])
    corner = corner[np.random.default_rng(8).permutation(len(corner))]
    i, j = (k.reshape(-1, 1) for k in np.divmod(np.arange(n * n), n))
    near_i = i + np.array([-1, -1, 0, 0, 0, 1, 1])
    near_j = j + np.array([0, 1, -1, 0, 1, -1, 0])
    inside = (near_i >= 0) & (near_i < n) & (near_j >= 0) & (near_j < n)
    start = np.concatenate([[0], np.cumsum(inside.sum(1))])
    column = (near_i * n + near_j)[inside]
    x, y = np.divmod(np.arange(n * n), n) + 0.3 * f8(2, n * n)
    return corner, x, y, start, column, zeros(column.size), zeros(n * n)


@program("triangles assembled into sorted rows", _triangles, 18, 800)
def assembled_rows(corner, x, y, start, column, value, load):
    for e in range(corner.shape[0]):
        bx = np.zeros(3)
        by = np.zeros(3)
        for a in range(3):
            after = corner[e, (a + 1) % 3]
            before = corner[e, (a + 2) % 3]
            bx[a] = y[after] - y[before]
            by[a] = x[before] - x[after]
        area = 0.5 * abs(bx[0] * by[1] - bx[1] * by[0])
        for a in range(3):
            row = corner[e, a]
            load[row] += area / 3
            for b in range(3):
                stiff = (bx[a] * bx[b] + by[a] * by[b]) / (4 * area)
                mass = area / 6 if a == b else area / 12
                p = start[row]
                while column[p] != corner[e, b]:
                    p += 1
                value[p] += stiff + mass


def _hills(n):
    return 40 * f4(n, n + 2), 30.0, 24, zeros((n, n + 2), np.float32)


@program("open sky over hills, horizons in eight directions", _hills, 16, 1_400)
def open_sky(height, cell, reach, out):
    h, w = height.shape
    steps = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
    for y in range(h):
        for x in range(w):
            sky = 0.0
            for dy, dx in steps:
                length = cell * math.sqrt(dy * dy + dx * dx)
                slope = 0.0
                for k in range(1, reach + 1):
                    yy = y + k * dy
                    xx = x + k * dx
                    if not (0 <= yy < h and 0 <= xx < w):
                        break
                    slope = max(slope, (height[yy, xx] - height[y, x]) / (k * length))
                sky += 1.0 - slope / math.sqrt(1.0 + slope * slope)
            out[y, x] = sky / 8


def _slices(n):
    move = np.array([[0.98, 0.05, 1.3], [-0.04, 1.02, -0.7]])
    return 255 * f4(n, n), 255 * np.sqrt(f4(n, n)), move, zeros((32, 32), np.int64)


@program("pictures registered, information they share", _slices, 50, 4_000)
def shared_information(fixed, moving, move, joint):
    h, w = fixed.shape
    bins = joint.shape[0]
    for y in range(h):
        for x in range(w):
            v = move[0, 0] * y + move[0, 1] * x + move[0, 2]
            u = move[1, 0] * y + move[1, 1] * x + move[1, 2]
            y0 = math.floor(v)
            x0 = math.floor(u)
            if y0 < 0 or x0 < 0 or y0 + 1 >= h or x0 + 1 >= w:
                continue
            fy = v - y0
            fx = u - x0
            top = (1 - fx) * moving[y0, x0] + fx * moving[y0, x0 + 1]
            low = (1 - fx) * moving[y0 + 1, x0] + fx * moving[y0 + 1, x0 + 1]
            m = (1 - fy) * top + fy * low
            joint[int(fixed[y, x] * bins / 256), int(m * bins / 256)] += 1
    n = joint.sum()
    rows = joint.sum(axis=1)
    columns = joint.sum(axis=0)
    shared = 0.0
    for a in range(bins):
        for b in range(bins):
            if joint[a, b] > 0:
                shared += joint[a, b] / n * math.log(joint[a, b] * n / (rows[a] * columns[b]))
    return shared


def _frames(n):
    phase = 2 * math.pi * f8(n, 513)
    return f8(n, 513)[::-1].copy(), phase, 0.8, 256, zeros((int((n - 1) / 0.8), 513, 2))


@program("sound stretched, phases carried on, vocoder", _frames, 12, 6_000)
def phase_vocoder(size, phase, rate, hop, out):
    frames, bins, _ = out.shape
    carried = phase[0].copy()
    for t in range(frames):
        place = t * rate
        low = int(place)
        part = place - low
        for k in range(bins):
            m = (1 - part) * size[low, k] + part * size[low + 1, k]
            out[t, k, 0] = m * math.cos(carried[k])
            out[t, k, 1] = m * math.sin(carried[k])
            due = math.pi * hop * k / (bins - 1)
            off = phase[low + 1, k] - phase[low, k] - due
            off -= 2 * math.pi * math.floor(off / (2 * math.pi) + 0.5)
            carried[k] += due + off


def _dense(n):
    point = np.random.default_rng(9).normal(size=(n, 3)).astype(np.float32)
    point[: n // 2] += 2
    return point, 0.7, 3, zeros((n, 3), np.float32)


@program("points that move where they are dense, mean shift", _dense, 110, 20_000)
def mean_shift(point, width, rounds, moved):
    n = point.shape[0]
    for _round in range(rounds):
        for i in range(n):
            weight = 0.0
            sums = np.zeros(3)
            for j in range(n):
                d = 0.0
                for a in range(3):
                    d += (point[j, a] - point[i, a]) ** 2
                if d > 9 * width * width:
                    continue
                w = math.exp(-0.5 * d / (width * width))
                weight += w
                for a in range(3):
                    sums[a] += w * point[j, a]
            for a in range(3):
                moved[i, a] = sums[a] / weight
        point[:] = moved


def _ensemble(n):
    place = (np.arange(12) * n / 12).astype(np.int64)
    return np.random.default_rng(10).normal(size=(n, 20)), place, 2 * f8(12) - 1, 0.3, n / 20


@program("an ensemble drawn to observations, one by one", _ensemble, 240, 500_000)
def ensemble_filter(state, place, observed, variance, reach):
    n, members = state.shape
    for o in range(place.size):
        here = state[place[o]].copy()
        mean = here.mean()
        spread = ((here - mean) ** 2).sum() / (members - 1)
        shrink = 1.0 / (1.0 + math.sqrt(variance / (spread + variance)))
        for i in range(n):
            far = abs(i - place[o]) / reach
            if far > 3:
                continue
            middle = 0.0
            for m in range(members):
                middle += state[i, m]
            middle /= members
            both = 0.0
            for m in range(members):
                both += (state[i, m] - middle) * (here[m] - mean)
            gain = math.exp(-0.5 * far * far) * both / (members - 1) / (spread + variance)
            for m in range(members):
                state[i, m] += gain * (observed[o] - mean) - shrink * gain * (here[m] - mean)


def _pulses(n):
    late = (np.linspace(1.4, 1.2, 96) ** -2.0 - 1.4**-2.0) * np.arange(48)[:, None] * 12
    late = late.astype(np.int32)
    return whole(256, 96, n).astype(np.uint8), late, zeros((48, n - int(late.max())), np.int32)


@program("pulses freed of their delay, many measures", _pulses, 190, 262_144)
def dedispersed(power, late, out):
    channels = power.shape[0]
    for d in range(out.shape[0]):
        for t in range(out.shape[1]):
            s = 0
            for c in range(channels):
                s += int(power[c, t + late[d, c]])
            out[d, t] = s


def _clouds(n):
    vapour = 0.004 + 0.008 * f8(40, n)
    cloud = 0.002 * np.random.default_rng(11).random((40, n))
    rain = 0.001 * np.random.default_rng(12).random((40, n))
    warm = 270 + 20 * np.random.default_rng(13).random((40, n))
    return vapour, cloud, rain, warm, np.exp(-np.arange(40) / 25), 200.0, 10.0, zeros(n)


@program("rain made in clouds and falling, Kessler", _clouds, 40, 100_000)
def kessler(vapour, cloud, rain, warm, density, depth, dt, fallen):
    levels, columns = vapour.shape
    for c in range(columns):
        above = 0.0
        for z in range(levels - 1, -1, -1):
            made = max(0.0, 0.001 * (cloud[z, c] - 0.0005))
            swept = 2.2 * cloud[z, c] * rain[z, c] ** 0.875
            gone = min(cloud[z, c], dt * (made + swept))
            cloud[z, c] -= gone
            rain[z, c] += gone
            full = 0.0038 / density[z] * math.exp(17.27 * (warm[z, c] - 273.15) / (warm[z, c] - 36.0))
            if vapour[z, c] > full or cloud[z, c] > 0:
                slope = 1 + full * 2.5e6 * 17.27 * 237.3 / (1004.0 * (warm[z, c] - 36.0) ** 2)
                made = max((vapour[z, c] - full) / slope, -cloud[z, c])
                vapour[z, c] -= made
                cloud[z, c] += made
                warm[z, c] += made * 2500
            if vapour[z, c] < full and rain[z, c] > 0:
                dried = min(rain[z, c], dt * 0.002 * (1 - vapour[z, c] / full) * math.sqrt(rain[z, c]))
                rain[z, c] -= dried
                vapour[z, c] += dried
                warm[z, c] -= dried * 2500
            speed = 36.34 * (density[z] * rain[z, c]) ** 0.1364
            flux = min(density[z] * rain[z, c] * speed, density[z] * rain[z, c] * depth / dt)
            rain[z, c] += dt * (above - flux) / (density[z] * depth)
            above = flux
        fallen[c] += above * dt
