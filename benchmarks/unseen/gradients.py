"""A quarter of a twenty-first set, written without a look at the recipe: layers, their gradients, pictures, signals."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, zeros


def quantiles(b):
    n, m = (7, 9) if b < 100 else (51, 51)
    rng = np.random.default_rng(47)
    return (
        rng.normal(size=(b, n)).astype(np.float32),
        (1.5 * rng.normal(size=(b, m))).astype(np.float32),
        1.0,
        zeros((b, n), np.float32),
    )


@program("quantiles drawn to sampled returns, Huber's loss and its gradient", quantiles, 40, 8192)
def quantile_huber(theta, target, kappa, gradient):
    batch, n = theta.shape
    m = target.shape[1]
    loss = 0.0
    for b in range(batch):
        for i in range(n):
            tau = (i + 0.5) / n
            slope = 0.0
            part = 0.0
            for j in range(m):
                d = target[b, j] - theta[b, i]
                side = tau if d >= 0.0 else 1.0 - tau
                if abs(d) <= kappa:
                    part += side * 0.5 * d * d / kappa
                    slope -= side * d / kappa
                else:
                    part += side * (abs(d) - 0.5 * kappa)
                    slope -= side if d > 0.0 else -side
            gradient[b, i] = slope / (m * batch)
            loss += part / m
    return loss / batch


def recurrent(b):
    t, d, h = (4, 3, 5) if b < 100 else (20, 19, 37)
    rng = np.random.default_rng(48)

    def make(*shape):
        return (rng.normal(size=shape) * 0.3).astype(np.float32)

    return (
        make(t, b, d),
        make(d, h),
        make(h, h),
        make(h),
        make(t, b, h),
        zeros((t, b, h), np.float32),
        zeros((t, b, d), np.float32),
        zeros((d, h), np.float32),
        zeros((h, h), np.float32),
        zeros(h, np.float32),
    )


@program("a plain recurrent net and the way back through time", recurrent, 12, 1024)
def back_through_time(x, w, v, bias, dy, h, dx, dw, dv, dbias):
    steps, batch, inputs = x.shape
    size = w.shape[1]
    for t in range(steps):
        for b in range(batch):
            for j in range(size):
                z = bias[j]
                for k in range(inputs):
                    z += x[t, b, k] * w[k, j]
                if t > 0:
                    for k in range(size):
                        z += h[t - 1, b, k] * v[k, j]
                h[t, b, j] = math.tanh(z)
    carried = np.zeros((batch, size), np.float32)
    dz = np.zeros((batch, size), np.float32)
    for t in range(steps - 1, -1, -1):
        for b in range(batch):
            for j in range(size):
                dz[b, j] = (dy[t, b, j] + carried[b, j]) * (1.0 - h[t, b, j] * h[t, b, j])
        for b in range(batch):
            for k in range(inputs):
                s = 0.0
                for j in range(size):
                    s += dz[b, j] * w[k, j]
                dx[t, b, k] = s
            for k in range(size):
                s = 0.0
                for j in range(size):
                    s += dz[b, j] * v[k, j]
                carried[b, k] = s
        for j in range(size):
            for b in range(batch):
                dbias[j] += dz[b, j]
                for k in range(inputs):
                    dw[k, j] += x[t, b, k] * dz[b, j]
                if t > 0:
                    for k in range(size):
                        dv[k, j] += h[t - 1, b, k] * dz[b, j]


def gated(b):
    c, o, t = (3, 2, 15) if b < 64 else (24, 20, 301)
    rng = np.random.default_rng(49)
    out = (t - 5) // 2 + 1
    return (
        rng.normal(size=(b, c, t)).astype(np.float32),
        (rng.normal(size=(2 * o, c, 5)) * 0.2).astype(np.float32),
        rng.normal(size=(b, o, out)).astype(np.float32),
        zeros((b, o, out), np.float32),
        zeros((b, c, t), np.float32),
        zeros((2 * o, c, 5), np.float32),
    )


@program("a gated convolution of series, every second, and its gradients", gated, 4, 256)
def gated_convolution(x, w, dy, y, dx, dw):
    batch, channels, _ = x.shape
    both, _, taps = w.shape
    outputs = both // 2
    for b in range(batch):
        for o in range(outputs):
            for t in range(y.shape[2]):
                a = 0.0
                g = 0.0
                for c in range(channels):
                    for k in range(taps):
                        a += w[o, c, k] * x[b, c, 2 * t + k]
                        g += w[o + outputs, c, k] * x[b, c, 2 * t + k]
                gate = 1.0 / (1.0 + math.exp(-g))
                y[b, o, t] = a * gate
                da = dy[b, o, t] * gate
                dg = dy[b, o, t] * a * gate * (1.0 - gate)
                for c in range(channels):
                    for k in range(taps):
                        dw[o, c, k] += da * x[b, c, 2 * t + k]
                        dw[o + outputs, c, k] += dg * x[b, c, 2 * t + k]
                        dx[b, c, 2 * t + k] += da * w[o, c, k] + dg * w[o + outputs, c, k]


def mixtures(b):
    k, d = 7, 5
    rng = np.random.default_rng(50)
    return (
        rng.normal(size=(b, k)).astype(np.float32),
        rng.normal(size=(b, k, d)).astype(np.float32),
        (0.3 * rng.normal(size=(b, k))).astype(np.float32),
        rng.normal(size=(b, d)).astype(np.float32),
        zeros((b, k), np.float32),
        zeros((b, k, d), np.float32),
        zeros((b, k), np.float32),
    )


@program("densities of mixtures that a net predicts, loss and gradients", mixtures, 60, 200_000)
def mixture_density(logits, mean, logscale, y, dlogits, dmean, dlogscale):
    batch, parts, d = mean.shape
    loss = 0.0
    for b in range(batch):
        most = -np.inf
        for k in range(parts):
            most = max(most, logits[b, k])
        norm = 0.0
        for k in range(parts):
            norm += math.exp(logits[b, k] - most)
        log_norm = most + math.log(norm)
        joint = np.zeros(parts)
        square = np.zeros(parts)
        highest = -np.inf
        for k in range(parts):
            for i in range(d):
                square[k] += (y[b, i] - mean[b, k, i]) ** 2
            square[k] *= math.exp(-2.0 * logscale[b, k])
            joint[k] = logits[b, k] - log_norm - 0.5 * square[k] - d * (logscale[b, k] + 0.5 * math.log(2.0 * math.pi))
            highest = max(highest, joint[k])
        total = 0.0
        for k in range(parts):
            total += math.exp(joint[k] - highest)
        loss -= highest + math.log(total)
        for k in range(parts):
            share = math.exp(joint[k] - highest) / total
            dlogits[b, k] = (math.exp(logits[b, k] - log_norm) - share) / batch
            dlogscale[b, k] = share * (d - square[k]) / batch
            for i in range(d):
                dmean[b, k, i] = share * (mean[b, k, i] - y[b, i]) * math.exp(-2.0 * logscale[b, k]) / batch
    return loss / batch


def clouds(b):
    p, h = (11, 6) if b < 64 else (777, 48)
    rng = np.random.default_rng(51)
    return (
        rng.normal(size=(b, p, 3)),
        rng.normal(size=(3, h)),
        0.1 * rng.normal(size=h) - 0.2,
        rng.normal(size=(b, h)),
        zeros((b, h)),
        zeros((b, h), np.int32),
        zeros((b, p, 3)),
        zeros((3, h)),
        zeros(h),
    )


@program("greatest feature over a cloud of points, and back", clouds, 10, 128)
def cloud_features(x, w, bias, dy, y, place, dx, dw, dbias):
    batch, points, _ = x.shape
    for b in range(batch):
        for h in range(w.shape[1]):
            best = 0.0
            at = -1
            for p in range(points):
                z = bias[h]
                for k in range(3):
                    z += x[b, p, k] * w[k, h]
                if z > best:
                    best = z
                    at = p
            y[b, h] = best
            place[b, h] = at
    for b in range(batch):
        for h in range(w.shape[1]):
            if place[b, h] < 0:
                continue
            dbias[h] += dy[b, h]
            for k in range(3):
                dw[k, h] += dy[b, h] * x[b, place[b, h], k]
                dx[b, place[b, h], k] += dy[b, h] * w[k, h]


def heatmaps(b):
    shape = (b, 2, 7, 9) if b < 64 else (b, 17, 33, 47)
    return (
        f4(*shape) * np.float32(4.0),
        f4(b, shape[1], 2),
        zeros((b, shape[1], 2), np.float32),
        zeros((b, shape[1]), np.float32),
        zeros(shape, np.float32),
    )


@program("joints of a body as soft centres of maps, loss and gradient", heatmaps, 5, 256)
def soft_centres(maps, wanted, centre, spread, gradient):
    batch, joints, h, w = maps.shape
    loss = 0.0
    for b in range(batch):
        for k in range(joints):
            most = maps[b, k, 0, 0]
            for i in range(h):
                for j in range(w):
                    if maps[b, k, i, j] > most:
                        most = maps[b, k, i, j]
            total = 0.0
            sy = 0.0
            sx = 0.0
            square = 0.0
            for i in range(h):
                for j in range(w):
                    e = math.exp(maps[b, k, i, j] - most)
                    py = (i + 0.5) / h
                    px = (j + 0.5) / w
                    total += e
                    sy += e * py
                    sx += e * px
                    square += e * (py * py + px * px)
            sy /= total
            sx /= total
            centre[b, k, 0] = sy
            centre[b, k, 1] = sx
            spread[b, k] = square / total - sy * sy - sx * sx
            gy = sy - wanted[b, k, 0]
            gx = sx - wanted[b, k, 1]
            loss += 0.5 * (gy * gy + gx * gx)
            for i in range(h):
                for j in range(w):
                    p = math.exp(maps[b, k, i, j] - most) / total
                    away = gy * ((i + 0.5) / h - sy) + gx * ((j + 0.5) / w - sx)
                    gradient[b, k, i, j] = p * away / (batch * joints)
    return loss / (batch * joints)


def film(n):
    t = 14 if n < 100 else 48
    rng = np.random.default_rng(52)
    frames = (rng.random((1, n, n)) * 150 + 30 + 6.0 * rng.normal(size=(t, n, n))).clip(0, 255)
    for k in range(t):
        frames[k, (3 * k) % n : (3 * k) % n + n // 4, n // 3 : n // 2] = 220
    frames[3:, : n // 5, : n // 5] = 30 + 150 - frames[3:, : n // 5, : n // 5] * 0.5
    return frames.clip(0, 255).astype(np.uint8), 4, zeros((t, n, n), np.uint8), zeros(t, np.int64)


@program("what moves in a film, a mean and a variance for each pixel", film, 24, 720)
def moving(frames, shift, mask, count):
    times, h, w = frames.shape
    mean = np.zeros((h, w), np.int32)
    variance = np.zeros((h, w), np.int32)
    still = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            mean[i, j] = int(frames[0, i, j]) * 16
            variance[i, j] = 49 * 256
    for t in range(1, times):
        for i in range(h):
            for j in range(w):
                d = int(frames[t, i, j]) * 16 - mean[i, j]
                if 4 * d * d > 25 * variance[i, j]:
                    mask[t, i, j] = 255
                    count[t] += 1
                    still[i, j] += 1
                    if still[i, j] > 8:
                        mean[i, j] += d
                        variance[i, j] = 100 * 256
                        still[i, j] = 0
                else:
                    still[i, j] = 0
                    mean[i, j] += d >> shift
                    variance[i, j] += (d * d - variance[i, j]) >> shift
                    if variance[i, j] < 1024:
                        variance[i, j] = 1024


@program(
    "tubes in a volume, eigenvalues of second derivatives",
    lambda n: (f8(n, n + 1, n + 2), 0.5, 0.5, 0.3, zeros((n, n + 1, n + 2))),
    12,
    144,
)
def tubes(v, alpha, beta, scale, out):
    d, h, w = v.shape
    found = 0
    for z in range(1, d - 1):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                c = 2.0 * v[z, y, x]
                zz = v[z + 1, y, x] - c + v[z - 1, y, x]
                yy = v[z, y + 1, x] - c + v[z, y - 1, x]
                xx = v[z, y, x + 1] - c + v[z, y, x - 1]
                zy = 0.25 * (v[z + 1, y + 1, x] - v[z + 1, y - 1, x] - v[z - 1, y + 1, x] + v[z - 1, y - 1, x])
                zx = 0.25 * (v[z + 1, y, x + 1] - v[z + 1, y, x - 1] - v[z - 1, y, x + 1] + v[z - 1, y, x - 1])
                yx = 0.25 * (v[z, y + 1, x + 1] - v[z, y + 1, x - 1] - v[z, y - 1, x + 1] + v[z, y - 1, x - 1])
                third = (zz + yy + xx) / 3.0
                a, b, e = zz - third, yy - third, xx - third
                p = math.sqrt((a * a + b * b + e * e + 2.0 * (zy * zy + zx * zx + yx * yx)) / 6.0) + 1e-12
                half = 0.5 * (a * (b * e - yx * yx) - zy * (zy * e - yx * zx) + zx * (zy * yx - b * zx)) / (p * p * p)
                half = min(1.0, max(-1.0, half))
                phi = math.acos(half) / 3.0
                l1 = third + 2.0 * p * math.cos(phi)
                l3 = third + 2.0 * p * math.cos(phi + 2.0 * math.pi / 3.0)
                l2 = 3.0 * third - l1 - l3
                if abs(l1) > abs(l2):
                    l1, l2 = l2, l1
                if abs(l2) > abs(l3):
                    l2, l3 = l3, l2
                if abs(l1) > abs(l2):
                    l1, l2 = l2, l1
                if l2 >= 0.0 or l3 >= 0.0:
                    continue
                plate = l2 * l2 / (l3 * l3)
                blob = l1 * l1 / abs(l2 * l3)
                size = l1 * l1 + l2 * l2 + l3 * l3
                out[z, y, x] = (
                    (1.0 - math.exp(-plate / (2.0 * alpha * alpha)))
                    * math.exp(-blob / (2.0 * beta * beta))
                    * (1.0 - math.exp(-size / (2.0 * scale * scale)))
                )
                found += 1
    return found


def torn(n):
    rng = np.random.default_rng(53)
    mask = rng.random((n, n)) < 0.15
    mask[n // 3 : n // 3 + 5, n // 4 : n // 2] = True
    return np.where(mask[..., None], np.float32(0.0), f4(n, n, 3)), mask, 0.002, 60


@program("holes of a picture filled from their borders until it settles", torn, 16, 1024)
def inpainted(picture, mask, least, most_rounds):
    h, w, colours = picture.shape
    new = np.zeros((h, w, colours), np.float32)
    rounds = 0
    change = 1.0
    while change > least and rounds < most_rounds:
        change = 0.0
        for i in range(h):
            for j in range(w):
                if not mask[i, j]:
                    continue
                for c in range(colours):
                    s = 0.0
                    count = 0
                    if i > 0:
                        s += picture[i - 1, j, c]
                        count += 1
                    if i < h - 1:
                        s += picture[i + 1, j, c]
                        count += 1
                    if j > 0:
                        s += picture[i, j - 1, c]
                        count += 1
                    if j < w - 1:
                        s += picture[i, j + 1, c]
                        count += 1
                    new[i, j, c] = s / count
                    change = max(change, abs(new[i, j, c] - picture[i, j, c]))
        for i in range(h):
            for j in range(w):
                if mask[i, j]:
                    for c in range(colours):
                        picture[i, j, c] = new[i, j, c]
        rounds += 1
    return rounds


def shaken(n):
    y, x = np.mgrid[-3:4, -4:5]
    k = np.exp(-((x - 0.6 * y) ** 2) / 6.0 - y * y / 3.0)
    return f4(n, n + 3) + np.float32(0.1), (k / k.sum()).astype(np.float32), 3, zeros((n, n + 3), np.float32)


@program("a shaken picture made sharp, Richardson and Lucy", shaken, 12, 1536)
def sharpened(seen, kernel, rounds, guess):
    h, w = seen.shape
    kh, kw = kernel.shape
    ratio = np.zeros((h, w), np.float32)
    for i in range(h):
        for j in range(w):
            guess[i, j] = seen[i, j]
    for _ in range(rounds):
        for i in range(h):
            for j in range(w):
                s = 0.0
                for a in range(kh):
                    for b in range(kw):
                        p = min(max(i + a - kh // 2, 0), h - 1)
                        q = min(max(j + b - kw // 2, 0), w - 1)
                        s += kernel[a, b] * guess[p, q]
                ratio[i, j] = seen[i, j] / max(s, 1e-6)
        for i in range(h):
            for j in range(w):
                s = 0.0
                for a in range(kh):
                    for b in range(kw):
                        p = min(max(i - a + kh // 2, 0), h - 1)
                        q = min(max(j - b + kw // 2, 0), w - 1)
                        s += kernel[a, b] * ratio[p, q]
                guess[i, j] *= s


def carriers(c):
    t = 60 if c < 1000 else 200
    rng = np.random.default_rng(54)
    bits = rng.integers(0, 2, (c, t)) * 2 - 1
    turn = rng.random((c, 1)) * 2.0 + (0.08 + 0.04 * rng.random((c, 1))) * np.arange(t)
    return (
        bits * np.cos(turn) + 0.15 * rng.normal(size=(c, t)),
        bits * np.sin(turn) + 0.15 * rng.normal(size=(c, t)),
        0.15,
        0.01,
        zeros((c, t), np.uint8),
        zeros(c),
        zeros(c, np.int32),
    )


@program("carriers followed by loops of Costas, bits read", carriers, 30, 32_768)
def costas(real, imag, alpha, beta, bits, frequency, slips):
    channels, n = real.shape
    for c in range(channels):
        phase = 0.0
        step = 0.1
        before = 1.0
        for t in range(n):
            co = math.cos(phase)
            si = math.sin(phase)
            i = real[c, t] * co + imag[c, t] * si
            q = imag[c, t] * co - real[c, t] * si
            e = q if i > 0.0 else -q
            if e > 1.0:
                e = 1.0
            elif e < -1.0:
                e = -1.0
            bits[c, t] = 1 if i > 0.0 else 0
            if i * before < 0.0:
                slips[c] += 1
            before = i
            step += beta * e
            phase += step + alpha * e
            while phase > math.pi:
                phase -= 2.0 * math.pi
            while phase < -math.pi:
                phase += 2.0 * math.pi
        frequency[c] = step
