"""Part of a fourteenth set, written without a look at the recipe: layers and their gradients, sparse rows, graphs."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _weights(n):
    return f4(8, 32, n, n), f4(8, 32, n - 2, n - 2), zeros((32, 32, 3, 3), np.float32)


@program("convolution, gradient of the weights", _weights, 6, 112)
def conv_weight_gradient(x, dy, dw):
    batch, cin, h, w = x.shape
    cout = dy.shape[1]
    for o in range(cout):
        for c in range(cin):
            for a in range(3):
                for b in range(3):
                    total = np.float32(0)
                    for n in range(batch):
                        for i in range(h - 2):
                            for j in range(w - 2):
                                total += dy[n, o, i, j] * x[n, c, i + a, j + b]
                    dw[o, c, a, b] = total


def _inputs(n):
    return f4(4, 32, n - 2, n - 2), f4(32, 32, 3, 3), zeros((4, 32, n, n), np.float32)


@program("convolution, gradient of the input", _inputs, 6, 128)
def conv_input_gradient(dy, weight, dx):
    batch, cout, h, w = dy.shape
    cin = weight.shape[1]
    for n in range(batch):
        for o in range(cout):
            for i in range(h):
                for j in range(w):
                    g = dy[n, o, i, j]
                    for c in range(cin):
                        for a in range(3):
                            for b in range(3):
                                dx[n, c, i + a, j + b] += g * weight[o, c, a, b]


def _dropped(n):
    return f4(n, 768), f4(n, 768)[::-1].copy(), f4(768), f4(768), 12345, 0.1, zeros((n, 768), np.float32)


@program("dropout, residual and layer norm", _dropped, 6, 16_384)
def dropout_norm(x, residual, gamma, beta, seed, p, out):
    rows, cols = x.shape
    keep = np.float32(1 / (1 - p))
    for i in range(rows):
        mean = 0.0
        for j in range(cols):
            h = (i * cols + j) ^ seed
            h = (h ^ (h >> 16)) * 0x45D9F3B & 0xFFFFFFFF
            h = (h ^ (h >> 16)) * 0x45D9F3B & 0xFFFFFFFF
            h = h ^ (h >> 16)
            value = residual[i, j]
            if h >= p * 4294967296.0:
                value += x[i, j] * keep
            out[i, j] = value
            mean += value
        mean /= cols
        var = 0.0
        for j in range(cols):
            var += (out[i, j] - mean) ** 2
        scale = 1 / math.sqrt(var / cols + 1e-5)
        for j in range(cols):
            out[i, j] = (out[i, j] - mean) * scale * gamma[j] + beta[j]


def _logits(n):
    return f4(n, 1000) * np.float32(8), whole(1000, n), zeros((n, 1000), np.float32)


@program("gradient of a softmax's cross entropy", _logits, 8, 32_768)
def softmax_gradient(logits, label, grad):
    n, classes = logits.shape
    for i in range(n):
        top = logits[i, 0]
        for c in range(1, classes):
            if logits[i, c] > top:
                top = logits[i, c]
        total = 0.0
        for c in range(classes):
            total += math.exp(logits[i, c] - top)
        for c in range(classes):
            p = math.exp(logits[i, c] - top) / total
            if c == label[i]:
                p -= 1.0
            grad[i, c] = p / n


def _words(n):
    return (
        f4(5_000, 64),
        f4(5_000, 64)[::-1].copy(),
        whole(5_000, n),
        whole(5_000, n, 6),
        zeros((5_000, 64)),
        zeros((5_000, 64)),
    )


@program("words by their company, negative samples", _words, 20, 100_000)
def word_vectors(inward, outward, centre, around, d_in, d_out):
    pairs, samples = around.shape
    width = inward.shape[1]
    loss = 0.0
    for p in range(pairs):
        w = centre[p]
        for s in range(samples):
            c = around[p, s]
            dot = 0.0
            for k in range(width):
                dot += inward[w, k] * outward[c, k]
            likely = 1.0 / (1.0 + math.exp(-dot / width))
            if s == 0:
                g = likely - 1.0
                loss -= math.log(likely)
            else:
                g = likely
                loss -= math.log(1.0 - likely)
            for k in range(width):
                d_in[w, k] += g * outward[c, k]
                d_out[c, k] += g * inward[w, k]
    return loss


def _heads(n):
    return f4(n, 64), f4(n, 64)[::-1].copy(), f4(n, 64), f4(n, 64), *(zeros((n, 64), np.float32) for _ in range(3))


@program("attention, gradients", _heads, 12, 2_048)
def attention_gradients(q, k, v, do, dq, dk, dv):
    n, width = q.shape
    scale = np.float32(1 / math.sqrt(width))
    p = np.empty((n, n), np.float32)
    for i in range(n):
        top = -np.inf
        for j in range(n):
            s = np.float32(0)
            for c in range(width):
                s += q[i, c] * k[j, c]
            p[i, j] = s * scale
            top = max(top, p[i, j])
        total = 0.0
        for j in range(n):
            p[i, j] = math.exp(p[i, j] - top)
            total += p[i, j]
        for j in range(n):
            p[i, j] /= total
    for j in range(n):
        for c in range(width):
            s = np.float32(0)
            for i in range(n):
                s += p[i, j] * do[i, c]
            dv[j, c] = s
    ds = np.empty((n, n), np.float32)
    for i in range(n):
        mean = np.float32(0)
        for j in range(n):
            s = np.float32(0)
            for c in range(width):
                s += do[i, c] * v[j, c]
            ds[i, j] = s
            mean += s * p[i, j]
        for j in range(n):
            ds[i, j] = p[i, j] * (ds[i, j] - mean) * scale
    for i in range(n):
        for c in range(width):
            s = np.float32(0)
            for j in range(n):
                s += ds[i, j] * k[j, c]
            dq[i, c] = s
    for j in range(n):
        for c in range(width):
            s = np.float32(0)
            for i in range(n):
                s += ds[i, j] * q[i, c]
            dk[j, c] = s


def _planes(n):
    return f4(16, 64, n, n), f4(64), f4(64), zeros((16, 64, n, n), np.float32)


@program("instance norm and leaky ReLU", _planes, 4, 112)
def instance_norm(x, gamma, beta, out):
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            mean = np.mean(x[n, c])
            var = np.var(x[n, c])
            inverse = 1 / np.sqrt(var + 1e-5)
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    y = (x[n, c, i, j] - mean) * inverse * gamma[c] + beta[c]
                    out[n, c, i, j] = y if y > 0 else 0.01 * y


def _enlarged(n):
    return f4(16, 32, 2 * n, 2 * n), zeros((16, 32, n, n), np.float32)


@program("enlarged twofold between pixels, backward", _enlarged, 4, 96)
def upsample_backward(dy, dx):
    batch, channels, h2, w2 = dy.shape
    h, w = dx.shape[2], dx.shape[3]
    for n in range(batch):
        for c in range(channels):
            for i in range(h2):
                y = max((i + 0.5) * 0.5 - 0.5, 0.0)
                y0 = int(y)
                y1 = min(y0 + 1, h - 1)
                fy = y - y0
                for j in range(w2):
                    x = max((j + 0.5) * 0.5 - 0.5, 0.0)
                    x0 = int(x)
                    x1 = min(x0 + 1, w - 1)
                    fx = x - x0
                    g = dy[n, c, i, j]
                    dx[n, c, y0, x0] += g * (1 - fy) * (1 - fx)
                    dx[n, c, y0, x1] += g * (1 - fy) * fx
                    dx[n, c, y1, x0] += g * fy * (1 - fx)
                    dx[n, c, y1, x1] += g * fy * fx


@program("triplets, the hardest of a batch", lambda n: (f4(n, 128), whole(20, n), 0.2), 30, 4_096)
def triplets(x, label, margin):
    n, width = x.shape
    loss = 0.0
    used = 0
    for i in range(n):
        far = -1.0
        near = math.inf
        for j in range(n):
            if i == j:
                continue
            d = np.float32(0)
            for k in range(width):
                d += (x[i, k] - x[j, k]) ** 2
            if label[i] == label[j]:
                far = max(far, d)
            else:
                near = min(near, d)
        if far >= 0 and near < math.inf:
            part = math.sqrt(far) - math.sqrt(near) + margin
            if part > 0:
                loss += part
                used += 1
    return loss / max(used, 1)


def _forest(n):
    return whole(64, n, 20).astype(np.uint8), f4(n) - np.float32(0.5), f4(n), whole(8, n), zeros((8, 20, 64, 2))


@program("histograms of gradients for eight leaves", _forest, 100, 2_000_000)
def leaf_histograms(binned, gradient, hessian, leaf, hist):
    for i in range(binned.shape[0]):
        for f in range(binned.shape[1]):
            hist[leaf[i], f, binned[i, f], 0] += gradient[i]
            hist[leaf[i], f, binned[i, f], 1] += hessian[i]
    best = np.zeros((hist.shape[0], 2), np.int64)
    for node in range(hist.shape[0]):
        gain = 0.0
        for f in range(hist.shape[1]):
            g_all = h_all = 0.0
            for b in range(hist.shape[2]):
                g_all += hist[node, f, b, 0]
                h_all += hist[node, f, b, 1]
            g = h = 0.0
            for b in range(hist.shape[2] - 1):
                g += hist[node, f, b, 0]
                h += hist[node, f, b, 1]
                now = g * g / (h + 1) + (g_all - g) ** 2 / (h_all - h + 1) - g_all * g_all / (h_all + 1)
                if now > gain:
                    gain = now
                    best[node, 0] = f
                    best[node, 1] = b
    return best


def _ell(n):
    columns = (np.arange(n)[:, None] + whole(64, n, 12) * 31) % n
    columns[whole(12, n, 12) > 8] = -1
    return f8(n, 12), columns, f8(n), zeros(n), 10


@program("rows of ELLPACK, relaxed ten times", _ell, 50, 1_000_000)
def ell_jacobi(values, columns, b, x, rounds):
    n, width = values.shape
    y = np.zeros(n)
    for _r in range(rounds):
        for i in range(n):
            total = 0.0
            for k in range(width):
                c = columns[i, k]
                if c >= 0 and c != i:
                    total += values[i, k] * x[c]
            y[i] = 0.7 * x[i] + 0.3 * (b[i] - 0.1 * total)
        x[:] = y
    return np.abs(x).max()


def _coo(n):
    return whole(n, 8 * n), whole(n, 8 * n)[::-1].copy(), f8(8 * n), n


@program("triples to compressed rows", _coo, 30, 1_000_000)
def coo_to_csr(row, col, value, n):
    start = np.zeros(n + 1, np.int64)
    for e in range(len(row)):
        start[row[e] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    place = start[:-1].copy()
    columns = np.empty(len(row), np.int64)
    values = np.empty(len(row))
    for e in range(len(row)):
        p = place[row[e]]
        columns[p] = col[e]
        values[p] = value[e]
        place[row[e]] += 1
    return start, columns, values


def _net(n):
    start = np.concatenate([[0], np.cumsum(whole(12, n))])
    other = whole(n, int(start[-1]))
    return start, other, np.random.default_rng(9).permutation(n)


@program("colours of a graph, Jones and Plassmann", _net, 40, 500_000)
def jones_plassmann(start, other, weight):
    n = len(start) - 1
    colour = np.full(n, -1)
    left = n
    rounds = 0
    while left > 0 and rounds < 200:
        chosen = np.zeros(n, np.bool_)
        for i in range(n):
            if colour[i] >= 0:
                continue
            top = True
            for e in range(start[i], start[i + 1]):
                j = other[e]
                if j != i and colour[j] < 0 and weight[j] > weight[i]:
                    top = False
            if top:
                chosen[i] = True
        for i in range(n):
            if chosen[i]:
                colour[i] = rounds
                left -= 1
        rounds += 1
    return colour, rounds


@program("hubs and authorities, ten rounds", lambda n: (_net(n)[0], _net(n)[1], 10), 40, 500_000)
def hits(start, other, rounds):
    n = len(start) - 1
    hub = np.ones(n)
    authority = np.ones(n)
    for _r in range(rounds):
        authority[:] = 0.0
        for i in range(n):
            for e in range(start[i], start[i + 1]):
                authority[other[e]] += hub[i]
        norm = 0.0
        for i in range(n):
            norm += authority[i] * authority[i]
        norm = math.sqrt(norm)
        for i in range(n):
            authority[i] /= norm
        norm = 0.0
        for i in range(n):
            hub[i] = 0.0
            for e in range(start[i], start[i + 1]):
                hub[i] += authority[other[e]]
            norm += hub[i] * hub[i]
        norm = math.sqrt(norm)
        for i in range(n):
            hub[i] /= norm
    return hub, authority


def _walks(n):
    start, other, _ = _net(n)
    return start, other, whole(1 << 30, n).astype(np.uint32), zeros((n, 20), np.int64)


@program("walks over a graph, own dice", _walks, 40, 500_000)
def graph_walks(start, other, seed, path):
    n, steps = path.shape
    for w in range(n):
        state = np.uint32(seed[w] + 1)
        node = w
        before = -1
        for s in range(steps):
            path[w, s] = node
            degree = start[node + 1] - start[node]
            if degree == 0:
                continue
            for _attempt in range(4):
                state ^= np.uint32(state << 13)
                state ^= np.uint32(state >> 17)
                state ^= np.uint32(state << 5)
                following = other[start[node] + state % degree]
                if following != before:
                    break
            before = node
            node = following
    return path[:, -1].max()


@program(
    "kernel of radial functions, times a vector", lambda n: (f4(n, 16), f4(n), 0.5, zeros(n, np.float32)), 40, 30_000
)
def rbf_times(x, a, gamma, y):
    for i in range(len(x)):
        s = 0.0
        for j in range(len(x)):
            d = np.sum((x[i] - x[j]) ** 2)
            s += a[j] * np.exp(-gamma * d)
        y[i] = s


@program(
    "sums of squares within groups, sorted keys", lambda n: (np.sort(whole(n // 50 + 1, n)), f8(n)), 200, 10_000_000
)
def sorted_groups(key, value):
    groups = key[-1] + 1
    total = np.zeros(groups)
    squares = np.zeros(groups)
    least = np.full(groups, np.inf)
    count = np.zeros(groups, np.int64)
    for i in range(len(key)):
        k = key[i]
        total[k] += value[i]
        squares[k] += value[i] ** 2
        count[k] += 1
        if value[i] < least[k]:
            least[k] = value[i]
    for k in range(groups):
        if count[k] > 0:
            squares[k] = squares[k] / count[k] - (total[k] / count[k]) ** 2
    return total, squares, least
