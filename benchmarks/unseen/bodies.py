"""Half of a seventeenth set, written without a look at the recipe: pictures, volumes, meshes, particles, atoms."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _kuwahara(n):
    return f4(n, n - 3), zeros((n, n - 3), np.float32)


@program("smoothed where it varies least, Kuwahara", _kuwahara, 19, 4_001)
def kuwahara(image, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            least = np.float32(1e30)
            for q in range(4):
                top = y - 2 if q < 2 else y
                left = x - 2 if q % 2 == 0 else x
                s = np.float32(0)
                s2 = np.float32(0)
                for dy in range(3):
                    yy = min(h - 1, max(0, top + dy))
                    for dx in range(3):
                        xx = min(w - 1, max(0, left + dx))
                        v = image[yy, xx]
                        s += v
                        s2 += v * v
                mean = s / 9
                spread = s2 / 9 - mean * mean
                if spread < least:
                    least = spread
                    out[y, x] = mean


def _guided(n):
    return f8(n, n + 5), f8(n, n + 5)[::-1].copy(), 4, 0.01, zeros((n, n + 5)), zeros((n, n + 5)), zeros((n, n + 5))


@program("smoothed as a guide says, windows of 9", _guided, 14, 2_047)
def guided_filter(guide, image, reach, eps, a, b, out):
    h, w = guide.shape
    for y in range(h):
        for x in range(w):
            n = 0
            s_guide = 0.0
            s_image = 0.0
            s_square = 0.0
            s_both = 0.0
            for yy in range(max(0, y - reach), min(h, y + reach + 1)):
                for xx in range(max(0, x - reach), min(w, x + reach + 1)):
                    g = guide[yy, xx]
                    p = image[yy, xx]
                    s_guide += g
                    s_image += p
                    s_square += g * g
                    s_both += g * p
                    n += 1
            mean = s_guide / n
            a[y, x] = (s_both / n - mean * s_image / n) / (s_square / n - mean * mean + eps)
            b[y, x] = s_image / n - a[y, x] * mean
    for y in range(h):
        for x in range(w):
            n = 0
            slope = 0.0
            shift = 0.0
            for yy in range(max(0, y - reach), min(h, y + reach + 1)):
                for xx in range(max(0, x - reach), min(w, x + reach + 1)):
                    slope += a[yy, xx]
                    shift += b[yy, xx]
                    n += 1
            out[y, x] = (slope * guide[y, x] + shift) / n


def _blurred(n):
    taps = np.exp(-0.5 * np.arange(-3, 4) ** 2 / 2.0)
    shape = (n, n + 1, n + 2)
    return f4(*shape), (taps / taps.sum()).astype(np.float32), *(zeros(shape, np.float32) for _ in range(3))


@program("a volume blurred along its axes, one by one", _blurred, 10, 301)
def blurred_volume(volume, taps, first, second, out):
    d, h, w = volume.shape
    r = taps.size // 2
    for z in range(d):
        for y in range(h):
            for x in range(w):
                s = np.float32(0)
                for k in range(-r, r + 1):
                    s += taps[k + r] * volume[z, y, min(max(x + k, 0), w - 1)]
                first[z, y, x] = s
    for z in range(d):
        for y in range(h):
            for x in range(w):
                s = np.float32(0)
                for k in range(-r, r + 1):
                    s += taps[k + r] * first[z, min(max(y + k, 0), h - 1), x]
                second[z, y, x] = s
    for z in range(d):
        for y in range(h):
            for x in range(w):
                s = np.float32(0)
                for k in range(-r, r + 1):
                    s += taps[k + r] * second[min(max(z + k, 0), d - 1), y, x]
                out[z, y, x] = s


def _halved(n):
    half = (n + 1) // 2
    return f4(n, n, n), zeros((half, half, half), np.float32)


@program("a volume of odd size halved", _halved, 17, 401)
def halved_volume(volume, out):
    d, h, w = volume.shape
    for z in range(out.shape[0]):
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                total = 0.0
                count = 0
                for k in range(8):
                    zz = 2 * z + k // 4
                    yy = 2 * y + k // 2 % 2
                    xx = 2 * x + k % 2
                    if zz < d and yy < h and xx < w:
                        total += volume[zz, yy, xx]
                        count += 1
                out[z, y, x] = total / count


def _doubled(n):
    return f4(n, n, n), zeros((2 * n, 2 * n, 2 * n), np.float32)


@program("a volume doubled, between eight voxels", _doubled, 7, 192)
def doubled_volume(coarse, fine):
    d, h, w = coarse.shape
    for z in range(2 * d):
        gz = max(0.0, 0.5 * z - 0.25)
        z0 = int(gz)
        z1 = min(z0 + 1, d - 1)
        fz = gz - z0
        for y in range(2 * h):
            gy = max(0.0, 0.5 * y - 0.25)
            y0 = int(gy)
            y1 = min(y0 + 1, h - 1)
            fy = gy - y0
            for x in range(2 * w):
                gx = max(0.0, 0.5 * x - 0.25)
                x0 = int(gx)
                x1 = min(x0 + 1, w - 1)
                fx = gx - x0
                low = (1 - fy) * ((1 - fx) * coarse[z0, y0, x0] + fx * coarse[z0, y0, x1])
                low += fy * ((1 - fx) * coarse[z0, y1, x0] + fx * coarse[z0, y1, x1])
                high = (1 - fy) * ((1 - fx) * coarse[z1, y0, x0] + fx * coarse[z1, y0, x1])
                high += fy * ((1 - fx) * coarse[z1, y1, x0] + fx * coarse[z1, y1, x1])
                fine[z, y, x] = (1 - fz) * low + fz * high


def _patterns(n):
    cells = (n + 15) // 16
    return whole(256, n, n).astype(np.uint8), zeros((cells, cells, 256), np.int32)


@program("textures by patterns of eight neighbours, cells", _patterns, 37, 5_000)
def binary_patterns(image, count):
    h, w = image.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            c = image[y, x]
            code = 0
            if image[y - 1, x - 1] >= c:
                code |= 1
            if image[y - 1, x] >= c:
                code |= 2
            if image[y - 1, x + 1] >= c:
                code |= 4
            if image[y, x + 1] >= c:
                code |= 8
            if image[y + 1, x + 1] >= c:
                code |= 16
            if image[y + 1, x] >= c:
                code |= 32
            if image[y + 1, x - 1] >= c:
                code |= 64
            if image[y, x - 1] >= c:
                code |= 128
            count[y // 16, x // 16, code] += 1


def _peaks(n):
    return f4(n, n, n), np.float32(0.9), zeros((n * n * n // 16, 3), np.int32)


@program("peaks of a volume listed", _peaks, 13, 300)
def volume_peaks(volume, level, places):
    d, h, w = volume.shape
    count = 0
    for z in range(d):
        for y in range(h):
            for x in range(w):
                v = volume[z, y, x]
                if v < level:
                    continue
                is_peak = True
                for zz in range(max(0, z - 1), min(d, z + 2)):
                    for yy in range(max(0, y - 1), min(h, y + 2)):
                        for xx in range(max(0, x - 1), min(w, x + 2)):
                            if volume[zz, yy, xx] > v:
                                is_peak = False
                if is_peak and count < places.shape[0]:
                    places[count, 0] = z
                    places[count, 1] = y
                    places[count, 2] = x
                    count += 1
    return count


def _shallow(n):
    shape = (n, n + 3)
    return f8(*shape) * 0.1, f8(*shape)[::-1] * 0.1, 1 + f8(*shape) * 0.1, *(zeros(shape) for _ in range(4)), 0.01, 10


@program("shallow water, staggered, vorticity kept", _shallow, 11, 2_000)
def shallow_water(u, v, h, flux_u, flux_v, vorticity, energy, dt, steps):
    rows, columns = h.shape
    for _step in range(steps):
        for i in range(rows):
            im = (i - 1) % rows
            ip = (i + 1) % rows
            for j in range(columns):
                jm = (j - 1) % columns
                jp = (j + 1) % columns
                flux_u[i, j] = 0.5 * (h[i, j] + h[i, jm]) * u[i, j]
                flux_v[i, j] = 0.5 * (h[i, j] + h[im, j]) * v[i, j]
                turn = 1.0 + v[i, j] - v[i, jm] - u[i, j] + u[im, j]
                vorticity[i, j] = turn / (0.25 * (h[i, j] + h[i, jm] + h[im, j] + h[im, jm]))
                squares = u[i, j] ** 2 + u[i, jp] ** 2 + v[i, j] ** 2 + v[ip, j] ** 2
                energy[i, j] = h[i, j] + 0.25 * squares
        for i in range(rows):
            im = (i - 1) % rows
            ip = (i + 1) % rows
            for j in range(columns):
                jm = (j - 1) % columns
                jp = (j + 1) % columns
                across = flux_v[i, j] + flux_v[i, jm] + flux_v[ip, j] + flux_v[ip, jm]
                along = flux_u[i, j] + flux_u[i, jp] + flux_u[im, j] + flux_u[im, jp]
                mean_u = 0.125 * (vorticity[i, j] + vorticity[ip, j]) * across
                mean_v = 0.125 * (vorticity[i, j] + vorticity[i, jp]) * along
                u[i, j] += dt * (mean_u - energy[i, j] + energy[i, jm])
                v[i, j] -= dt * (mean_v + energy[i, j] - energy[im, j])
                h[i, j] -= dt * (flux_u[i, jp] - flux_u[i, j] + flux_v[ip, j] - flux_v[i, j])


def _hexagons(n):
    table = np.tile(np.arange(64, dtype=np.uint8), (2, 1))
    for which, pairs in enumerate(((1, 2, 0), (2, 0, 1))):
        for k in range(3):
            table[which, 9 << k] = 9 << pairs[k]
        table[which, 21], table[which, 42] = 42, 21
    return whole(64, n, n + 2).astype(np.uint8), zeros((n, n + 2), np.uint8), table, 20


@program("a gas on a lattice of hexagons", _hexagons, 10, 4_096)
def hexagonal_gas(state, after, table, steps):
    h, w = state.shape
    for t in range(steps):
        for y in range(h):
            for x in range(w):
                after[y, x] = table[(x + y + t) % 2, state[y, x]]
        for y in range(h):
            up = (y - 1) % h
            down = (y + 1) % h
            shift = y % 2
            for x in range(w):
                west = (x - 1 + shift) % w
                east = (x + shift) % w
                bits = after[y, (x - 1) % w] & 1
                bits |= after[down, west] & 2
                bits |= after[down, east] & 4
                bits |= after[y, (x + 1) % w] & 8
                bits |= after[up, east] & 16
                bits |= after[up, west] & 32
                state[y, x] = bits


def _transposed(n):
    return f4(4, 16, n, n) - np.float32(0.5), f4(16, 8, 4, 4) - np.float32(0.5), zeros((4, 8, 2 * n, 2 * n), np.float32)


@program("convolution transposed, each pixel spread", _transposed, 4, 256)
def transposed_convolution(x, w, out):
    batch, inputs, height, width = x.shape
    outputs = w.shape[1]
    for b in range(batch):
        for k in range(inputs):
            for i in range(height):
                for j in range(width):
                    for o in range(outputs):
                        for di in range(4):
                            for dj in range(4):
                                y = 2 * i + di - 1
                                z = 2 * j + dj - 1
                                if 0 <= y < 2 * height and 0 <= z < 2 * width:
                                    out[b, o, y, z] += x[b, k, i, j] * w[k, o, di, dj]


def rows_of(degree, n):
    start = np.concatenate([[0], np.cumsum(degree)])
    return start, whole(n, int(start[-1]))


def _graph(n):
    start, other = rows_of(1 + whole(15, n), n)
    return start, other, f4(n), f4(n)[::-1] - np.float32(0.5), f4(n, 32), zeros((n, 32), np.float32)


@program("neighbours attended to, on a graph", _graph, 150, 300_000)
def graph_attention(start, other, here, there, feature, out):
    n, width = feature.shape
    for i in range(n):
        top = -math.inf
        for p in range(start[i], start[i + 1]):
            s = here[i] + there[other[p]]
            if s < 0:
                s *= np.float32(0.2)
            top = max(top, s)
        total = 0.0
        for p in range(start[i], start[i + 1]):
            s = here[i] + there[other[p]]
            if s < 0:
                s *= np.float32(0.2)
            w = math.exp(s - top)
            total += w
            for k in range(width):
                out[i, k] += w * feature[other[p], k]
        for k in range(width):
            out[i, k] /= total


def _blocks(n):
    start, column = rows_of(whole(8, n), n)
    return start, column, f8(column.size, 8, 8), f8(n * 8), zeros(n * 8)


@program("a sparse matrix of blocks of 8 times a vector", _blocks, 30, 65_536)
def block_sparse(start, column, block, x, y):
    for i in range(start.size - 1):
        for p in range(start[i], start[i + 1]):
            c = 8 * column[p]
            for r in range(8):
                s = 0.0
                for k in range(8):
                    s += block[p, r, k] * x[c + k]
                y[8 * i + r] += s


def _upper(n):
    start, column = rows_of(whole(16, n), n)
    row = np.repeat(np.arange(n), np.diff(start))
    return start, np.maximum(row, column), f8(column.size), f8(n), zeros(n)


@program("a symmetric sparse matrix, its upper half kept", _upper, 400, 1_000_000)
def symmetric_half(start, column, value, x, y):
    for i in range(x.size):
        for p in range(start[i], start[i + 1]):
            j = column[p]
            y[i] += value[p] * x[j]
            if j != i:
                y[j] += value[p] * x[i]


def _rubber(n):
    nodes = n // 5 + 4
    rest = np.eye(3) + 0.2 * f8(n, 3, 3)
    return f8(nodes, 3), whole(nodes, n, 4), rest, f8(n), 1.0, 2.0, zeros((nodes, 3))


@program("rubber of tetrahedra, forces on corners", _rubber, 60, 1_000_000)
def rubber_forces(x, corner, rest, volume, mu, lam, force):
    for e in range(corner.shape[0]):
        edges = np.zeros((3, 3))
        for k in range(3):
            for a in range(3):
                edges[a, k] = x[corner[e, k + 1], a] - x[corner[e, 0], a]
        f = np.zeros((3, 3))
        for a in range(3):
            for b in range(3):
                for k in range(3):
                    f[a, b] += edges[a, k] * rest[e, k, b]
        strain = np.zeros((3, 3))
        trace = 0.0
        for a in range(3):
            for b in range(3):
                for k in range(3):
                    strain[a, b] += 0.5 * f[k, a] * f[k, b]
            strain[a, a] -= 0.5
            trace += strain[a, a]
        for a in range(3):
            for b in range(3):
                strain[a, b] *= 2 * mu
            strain[a, a] += lam * trace
        stress = np.zeros((3, 3))
        for a in range(3):
            for b in range(3):
                for k in range(3):
                    stress[a, b] += f[a, k] * strain[k, b]
        for k in range(3):
            for a in range(3):
                h = 0.0
                for b in range(3):
                    h -= volume[e] * stress[a, b] * rest[e, k, b]
                force[corner[e, k + 1], a] += h
                force[corner[e, 0], a] -= h


def _surface(n):
    return f8(n // 2 + 3, 3), whole(n // 2 + 1, n, 1) + np.array([0, 1, 2]), zeros(n // 2 + 3), zeros((n // 2 + 3, 3))


@program("curvature of a surface, cotangents of triangles", _surface, 120, 2_000_000)
def surface_curvature(x, corner, area, bend):
    for f in range(corner.shape[0]):
        for k in range(3):
            o, i, j = corner[f, k], corner[f, (k + 1) % 3], corner[f, (k + 2) % 3]
            u = x[i] - x[o]
            v = x[j] - x[o]
            normal = np.cross(u, v)
            size = math.sqrt(np.dot(normal, normal))
            weight = 0.5 * np.dot(u, v) / size
            for a in range(3):
                bend[i, a] += weight * (x[j, a] - x[i, a])
                bend[j, a] += weight * (x[i, a] - x[j, a])
            area[o] += size / 6
    for p in range(area.size):
        if area[p] > 0:
            for a in range(3):
                bend[p, a] /= 2 * area[p]


def _boris(n):
    return f8(n, 3) * 24, f8(n, 3) - 0.5, f8(24, 24, 24, 3) - 0.5, f8(24, 24, 24, 3)[::-1].copy(), 0.1, 4


@program("charges turned in fields, Boris", _boris, 25, 1_000_000)
def boris_push(x, v, electric, magnetic, dt, steps):
    g = electric.shape[0]
    for p in range(x.shape[0]):
        for _step in range(steps):
            e = np.zeros(3)
            b = np.zeros(3)
            i = int(x[p, 0])
            j = int(x[p, 1])
            k = int(x[p, 2])
            for c in range(8):
                di = c & 1
                dj = (c >> 1) & 1
                dk = c >> 2
                wi = x[p, 0] - i if di else 1 - (x[p, 0] - i)
                wj = x[p, 1] - j if dj else 1 - (x[p, 1] - j)
                wk = x[p, 2] - k if dk else 1 - (x[p, 2] - k)
                for a in range(3):
                    e[a] += wi * wj * wk * electric[(i + di) % g, (j + dj) % g, (k + dk) % g, a]
                    b[a] += wi * wj * wk * magnetic[(i + di) % g, (j + dj) % g, (k + dk) % g, a]
            t = np.empty(3)
            minus = np.empty(3)
            for a in range(3):
                t[a] = 0.5 * dt * b[a]
                minus[a] = v[p, a] + 0.5 * dt * e[a]
            s = 2.0 / (1.0 + t[0] ** 2 + t[1] ** 2 + t[2] ** 2)
            prime = np.empty(3)
            for a in range(3):
                prime[a] = minus[a] + minus[(a + 1) % 3] * t[(a + 2) % 3] - minus[(a + 2) % 3] * t[(a + 1) % 3]
            for a in range(3):
                turned = minus[a] + s * (prime[(a + 1) % 3] * t[(a + 2) % 3] - prime[(a + 2) % 3] * t[(a + 1) % 3])
                v[p, a] = turned + 0.5 * dt * e[a]
                x[p, a] = (x[p, a] + dt * v[p, a]) % g


def _beliefs(n):
    ends = whole(n, 4 * n)
    source = np.stack([ends[: 2 * n], ends[2 * n :]], 1).ravel()
    target = np.stack([ends[2 * n :], ends[: 2 * n]], 1).ravel()
    return source, target, f8(n, 4), f8(4, 4), zeros((4 * n, 4)), zeros((n, 4)), 10


@program("beliefs passed along edges, ten rounds", _beliefs, 12, 250_000)
def belief_propagation(source, target, prior, pair, message, belief, rounds):
    edges, states = message.shape
    for _round in range(rounds):
        belief[:] = prior
        for e in range(edges):
            for s in range(states):
                belief[target[e], s] += message[e, s]
        new = np.empty_like(message)
        for e in range(edges):
            back = e ^ 1
            highest = -1e300
            for t in range(states):
                best = -1e300
                for s in range(states):
                    best = max(best, belief[source[e], s] - message[back, s] + pair[s, t])
                new[e, t] = best
                highest = max(highest, best)
            for t in range(states):
                new[e, t] -= highest
        message[:] = new


def _products(n):
    a = rows_of(whole(min(n, 128), n), n)
    b = rows_of(whole(min(n, 128), n)[::-1], n)
    return *a, f8(a[1].size), *b, f8(b[1].size), zeros((n, n))


@program("two sparse matrices multiplied, rows kept full", _products, 32, 4_096)
def sparse_product(a_start, a_column, a_value, b_start, b_column, b_value, out):
    for i in range(a_start.size - 1):
        for p in range(a_start[i], a_start[i + 1]):
            k = a_column[p]
            for q in range(b_start[k], b_start[k + 1]):
                out[i, b_column[q]] += a_value[p] * b_value[q]


def _pairs(n):
    return f8(n, 4 * n, n, 4 * n), -1 - f8(n), 1 + f8(4 * n)


@program("energy of pairs of electrons, second order", _pairs, 3, 32)
def pair_energy(integral, occupied, empty):
    energy = 0.0
    for i in range(occupied.size):
        for a in range(empty.size):
            for j in range(occupied.size):
                for b in range(empty.size):
                    direct = integral[i, a, j, b]
                    gap = occupied[i] + occupied[j] - empty[a] - empty[b]
                    energy += direct * (2 * direct - integral[i, b, j, a]) / gap
    return energy


def _chains(n):
    diagonal = 4 * np.eye(3) + f8(n, 64, 3, 3)
    return f8(n, 64, 3, 3) * 0.5, diagonal, f8(n, 64, 3, 3)[::-1] * 0.5, f8(n, 64, 3)


@program("chains of blocks of 3 solved, many", _chains, 3, 32_768)
def block_tridiagonal(lower, diagonal, upper, x):
    n, length = x.shape[:2]
    for s in range(n):
        for i in range(length):
            if i > 0:
                for a in range(3):
                    for k in range(3):
                        for b in range(3):
                            diagonal[s, i, a, b] -= lower[s, i, a, k] * upper[s, i - 1, k, b]
                        x[s, i, a] -= lower[s, i, a, k] * x[s, i - 1, k]
            for p in range(3):
                scale = 1.0 / diagonal[s, i, p, p]
                for r in range(3):
                    if r != p:
                        factor = diagonal[s, i, r, p] * scale
                        for c in range(p, 3):
                            diagonal[s, i, r, c] -= factor * diagonal[s, i, p, c]
                        for c in range(3):
                            upper[s, i, r, c] -= factor * upper[s, i, p, c]
                        x[s, i, r] -= factor * x[s, i, p]
                for c in range(p, 3):
                    diagonal[s, i, p, c] *= scale
                for c in range(3):
                    upper[s, i, p, c] *= scale
                x[s, i, p] *= scale
        for i in range(length - 2, -1, -1):
            for a in range(3):
                for k in range(3):
                    x[s, i, a] -= upper[s, i, a, k] * x[s, i + 1, k]
