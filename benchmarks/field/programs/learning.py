"""Machine learning and image processing."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _softmax_rows(r, big):
    x = r.normal(size=(2000 if big else 7, 500 if big else 13))
    return (x, np.zeros_like(x))


@program(_softmax_rows)
def softmax_rows(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > m:
                m = x[i, j]
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - m)
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= s


def _layer_norm(r, big):
    x = r.normal(size=(2000 if big else 7, 500 if big else 13))
    return (x, r.random(x.shape[1]), r.random(x.shape[1]), np.zeros_like(x), 1e-05)


@program(_layer_norm)
def layer_norm(x, gamma, beta, y, eps):
    for i in range(x.shape[0]):
        mean = 0.0
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= x.shape[1]
        var = 0.0
        for j in range(x.shape[1]):
            var += (x[i, j] - mean) ** 2
        var /= x.shape[1]
        inv = 1.0 / math.sqrt(var + eps)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * inv * gamma[j] + beta[j]


def _batch_stats(r, big):
    return (
        r.random((16 if big else 2, 32 if big else 3, 40 if big else 5, 40 if big else 4)),
        np.zeros(32 if big else 3),
        np.zeros(32 if big else 3),
    )


@program(_batch_stats)
def batch_stats(x, mean, var):
    n, c, h, w = x.shape
    for k in range(c):
        s = 0.0
        s2 = 0.0
        for i in range(n):
            for y in range(h):
                for z in range(w):
                    s += x[i, k, y, z]
                    s2 += x[i, k, y, z] * x[i, k, y, z]
        mean[k] = s / (n * h * w)
        var[k] = s2 / (n * h * w) - mean[k] * mean[k]


def _conv2d(r, big):
    return (
        r.random((2, 8 if big else 2, 50 if big else 7, 50 if big else 8)),
        r.random((16 if big else 3, 8 if big else 2, 3, 3)),
        np.zeros((2, 16 if big else 3, 48 if big else 5, 48 if big else 6)),
    )


@program(_conv2d)
def conv2d(x, w, y):
    n, c, h, wd = x.shape
    o, _, kh, kw = w.shape
    for b in range(n):
        for f in range(o):
            for i in range(h - kh + 1):
                for j in range(wd - kw + 1):
                    s = 0.0
                    for ch in range(c):
                        for p in range(kh):
                            for q in range(kw):
                                s += x[b, ch, i + p, j + q] * w[f, ch, p, q]
                    y[b, f, i, j] = s


def _depthwise(r, big):
    return (
        r.random((2, 50 if big else 6, 50 if big else 7, 64 if big else 5)),
        r.random((3, 3, 64 if big else 5)),
        np.zeros((2, 48 if big else 4, 48 if big else 5, 64 if big else 5)),
    )


@program(_depthwise)
def depthwise(x, w, y):
    for b in range(x.shape[0]):
        for c in range(x.shape[3]):
            for i in range(y.shape[1]):
                for j in range(y.shape[2]):
                    s = 0.0
                    for p in range(3):
                        for q in range(3):
                            s += x[b, i + p, j + q, c] * w[p, q, c]
                    y[b, i, j, c] = s


def _max_pool(r, big):
    return (
        r.random((32 if big else 2, 200 if big else 8, 200 if big else 6)),
        np.zeros((32 if big else 2, 100 if big else 4, 100 if big else 3)),
    )


@program(_max_pool)
def max_pool(x, y):
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                m = -1e30
                for p in range(2):
                    for q in range(2):
                        v = x[c, 2 * i + p, 2 * j + q]
                        if v > m:
                            m = v
                y[c, i, j] = m


def _embedding_sum(r, big):
    bags = 5000 if big else 6
    off = np.zeros(bags + 1, np.int64)
    off[1:] = np.cumsum(r.integers(0, 20, bags))
    return (
        r.random((10000 if big else 20, 32 if big else 4)),
        r.integers(0, 10000 if big else 20, off[-1]),
        off,
        np.zeros((bags, 32 if big else 4)),
    )


@program(_embedding_sum)
def embedding_sum(table, index, offset, out):
    for b in range(out.shape[0]):
        for d in range(out.shape[1]):
            out[b, d] = 0.0
        for t in range(offset[b], offset[b + 1]):
            for d in range(out.shape[1]):
                out[b, d] += table[index[t], d]


def _cross_entropy(r, big):
    x = r.normal(size=(2000 if big else 7, 500 if big else 13))
    return (x, r.integers(0, x.shape[1], x.shape[0]))


@program(_cross_entropy)
def cross_entropy(logits, target):
    loss = 0.0
    for i in range(logits.shape[0]):
        m = logits[i].max()
        s = 0.0
        for j in range(logits.shape[1]):
            s += math.exp(logits[i, j] - m)
        loss -= logits[i, target[i]] - m - math.log(s)
    return loss / logits.shape[0]


def _attention(r, big):
    n, d = (600 if big else 9, 64 if big else 5)
    return (r.random((n, d)), r.random((n, d)), r.random((n, d)), np.zeros((n, d)), np.zeros(n))


@program(_attention)
def attention(q, k, v, out, scores):
    n, d = q.shape
    for i in range(n):
        m = -1e30
        for j in range(i + 1):
            s = 0.0
            for t in range(d):
                s += q[i, t] * k[j, t]
            scores[j] = s / math.sqrt(d)
            m = max(m, scores[j])
        total = 0.0
        for j in range(i + 1):
            scores[j] = math.exp(scores[j] - m)
            total += scores[j]
        for t in range(d):
            out[i, t] = 0.0
        for j in range(i + 1):
            for t in range(d):
                out[i, t] += scores[j] / total * v[j, t]


def _gelu(r, big):
    f = r.normal(size=500000 if big else 50)
    return (f, np.zeros_like(f))


@program(_gelu)
def gelu(x, y):
    for i in range(x.shape[0]):
        y[i] = 0.5 * x[i] * (1.0 + math.tanh(0.7978845608 * (x[i] + 0.044715 * x[i] ** 3)))


def _adam(r, big):
    f = r.normal(size=500000 if big else 50)
    return (f.copy(), r.normal(size=f.shape), np.zeros_like(f), np.zeros_like(f), 3, 0.01)


@program(_adam)
def adam(p, g, m, v, t, lr):
    for i in range(p.shape[0]):
        m[i] = 0.9 * m[i] + 0.1 * g[i]
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i]
        mh = m[i] / (1.0 - 0.9**t)
        vh = v[i] / (1.0 - 0.999**t)
        p[i] -= lr * mh / (math.sqrt(vh) + 1e-8)


def _sobel(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    return (r.random(g), np.zeros(g))


@program(_sobel)
def sobel(img, out):
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            gx = (
                img[i - 1, j + 1]
                + 2.0 * img[i, j + 1]
                + img[i + 1, j + 1]
                - img[i - 1, j - 1]
                - 2.0 * img[i, j - 1]
                - img[i + 1, j - 1]
            )
            gy = (
                img[i + 1, j - 1]
                + 2.0 * img[i + 1, j]
                + img[i + 1, j + 1]
                - img[i - 1, j - 1]
                - 2.0 * img[i - 1, j]
                - img[i - 1, j + 1]
            )
            out[i, j] = math.sqrt(gx * gx + gy * gy)


def _median3(r, big):
    return (r.random((300 if big else 9, 300 if big else 9)), np.zeros((300 if big else 9, 300 if big else 9)))


@program(_median3)
def median3(img, out):
    win = np.empty(9, dtype=img.dtype)
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            n = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    v = img[i + p, j + q]
                    k = n
                    while k > 0 and win[k - 1] > v:
                        win[k] = win[k - 1]
                        k -= 1
                    win[k] = v
                    n += 1
            out[i, j] = win[4]


def _integral_box(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    return (r.random(g), np.zeros((s + 1, s + 4)), np.zeros(g), 5)


@program(_integral_box)
def integral_box(img, integral, out, r):
    h, w = img.shape
    for i in range(h):
        row = 0.0
        for j in range(w):
            row += img[i, j]
            integral[i + 1, j + 1] = integral[i, j + 1] + row
    for i in range(h):
        y0 = max(i - r, 0)
        y1 = min(i + r + 1, h)
        for j in range(w):
            x0 = max(j - r, 0)
            x1 = min(j + r + 1, w)
            out[i, j] = (integral[y1, x1] - integral[y0, x1] - integral[y1, x0] + integral[y0, x0]) / (
                (y1 - y0) * (x1 - x0)
            )


def _equalise(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    return (u8, np.zeros(g, np.uint8), np.zeros(256, np.int64), np.zeros(256, np.int64))


@program(_equalise)
def equalise(img, out, hist, cdf):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            hist[img[i, j]] += 1
    total = 0
    for k in range(256):
        total += hist[k]
        cdf[k] = total
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = (cdf[img[i, j]] * 255) // total


def _distance_transform(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    return (r.random(g) < 0.02, np.zeros(g))


@program(_distance_transform)
def distance_transform(mask, d):
    h, w = mask.shape
    for i in range(h):
        for j in range(w):
            if mask[i, j]:
                d[i, j] = 0.0
            else:
                d[i, j] = 1e9
                if i > 0:
                    d[i, j] = min(d[i, j], d[i - 1, j] + 1.0)
                if j > 0:
                    d[i, j] = min(d[i, j], d[i, j - 1] + 1.0)
    for i in range(h - 1, -1, -1):
        for j in range(w - 1, -1, -1):
            if i < h - 1:
                d[i, j] = min(d[i, j], d[i + 1, j] + 1.0)
            if j < w - 1:
                d[i, j] = min(d[i, j], d[i, j + 1] + 1.0)


def _dilate(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    return (u8, np.zeros(g, np.uint8), 3)


@program(_dilate)
def dilate(img, out, r):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            m = img[i, j]
            for p in range(max(0, i - r), min(h, i + r + 1)):
                for q in range(max(0, j - r), min(w, j + r + 1)):
                    if img[p, q] > m:
                        m = img[p, q]
            out[i, j] = m


def _floyd_steinberg(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    return (r.random(g) * 255,)


@program(_floyd_steinberg)
def floyd_steinberg(img):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            old = img[y, x]
            new = 255.0 if old > 127.0 else 0.0
            img[y, x] = new
            e = old - new
            if x + 1 < w:
                img[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    img[y + 1, x - 1] += e * 3 / 16
                img[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    img[y + 1, x + 1] += e * 1 / 16


def _hough(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    th = np.linspace(0, np.pi, 90)
    return (r.random(g) < 0.05, np.sin(th), np.cos(th), np.zeros((90, 4 * s + 20), np.int64))


@program(_hough)
def hough(edges, sin, cos, acc):
    h, w = edges.shape
    off = acc.shape[1] // 2
    for y in range(h):
        for x in range(w):
            if edges[y, x]:
                for t in range(sin.shape[0]):
                    rho = round(x * cos[t] + y * sin[t]) + off
                    acc[t, rho] += 1


def _bilinear(r, big):
    s = 700 if big else 15
    return (r.random((s // 2, s // 2, 3)), np.zeros((s, s, 3)))


@program(_bilinear)
def bilinear(img, out):
    sy = (img.shape[0] - 1) / (out.shape[0] - 1)
    sx = (img.shape[1] - 1) / (out.shape[1] - 1)
    for i in range(out.shape[0]):
        fy = i * sy
        y0 = min(int(fy), img.shape[0] - 2)
        wy = fy - y0
        for j in range(out.shape[1]):
            fx = j * sx
            x0 = min(int(fx), img.shape[1] - 2)
            wx = fx - x0
            for c in range(img.shape[2]):
                out[i, j, c] = (1 - wy) * ((1 - wx) * img[y0, x0, c] + wx * img[y0, x0 + 1, c]) + wy * (
                    (1 - wx) * img[y0 + 1, x0, c] + wx * img[y0 + 1, x0 + 1, c]
                )


def _rgb_to_hsv(r, big):
    s = 700 if big else 15
    return (r.random((s, s, 3)), np.zeros((s, s, 3)))


@program(_rgb_to_hsv)
def rgb_to_hsv(rgb, hsv):
    for i in range(rgb.shape[0]):
        for j in range(rgb.shape[1]):
            r = rgb[i, j, 0]
            g = rgb[i, j, 1]
            b = rgb[i, j, 2]
            mx = max(r, g, b)
            mn = min(r, g, b)
            d = mx - mn
            if d == 0.0:
                h = 0.0
            elif mx == r:
                h = ((g - b) / d) % 6.0
            elif mx == g:
                h = (b - r) / d + 2.0
            else:
                h = (r - g) / d + 4.0
            hsv[i, j, 0] = h * 60.0
            hsv[i, j, 1] = 0.0 if mx == 0.0 else d / mx
            hsv[i, j, 2] = mx


def _mandelbrot(r, big):
    return (np.zeros((200 if big else 12, 200 if big else 12), np.int64), 100)


@program(_mandelbrot)
def mandelbrot(out, limit):
    h, w = out.shape
    for i in range(h):
        for j in range(w):
            c = complex(-2.0 + 3.0 * j / w, -1.0 + 2.0 * i / h)
            z = 0j
            n = 0
            while abs(z) <= 2.0 and n < limit:
                z = z * z + c
                n += 1
            out[i, j] = n


def _label_components(r, big):
    s = 700 if big else 15
    g = (s, s + 3)
    return (r.random(g) < 0.6, np.zeros(g, np.int64))


@program(_label_components)
def label_components(mask, label):
    h, w = mask.shape
    for i in range(h):
        for j in range(w):
            label[i, j] = i * w + j + 1 if mask[i, j] else 0
    changed = True
    rounds = 0
    while changed and rounds < 10:
        changed = False
        rounds += 1
        for i in range(h):
            for j in range(w):
                if label[i, j] > 0:
                    m = label[i, j]
                    if i > 0 and label[i - 1, j] > m:
                        m = label[i - 1, j]
                    if j > 0 and label[i, j - 1] > m:
                        m = label[i, j - 1]
                    if m != label[i, j]:
                        label[i, j] = m
                        changed = True
    return rounds
