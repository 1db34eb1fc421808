"""Where data decides which elements are touched, and threads that each do a program of their own."""

from __future__ import annotations

import numpy as np

import loopwright as lw
from benchmarks.gpu.shapes.case import Case, Draw, z4, z8, zi


def histogram(x, h):
    for i in range(x.shape[0]):
        h[int(x[i] * h.shape[0])] += 1


def row_histograms(x, h):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            h[i, x[i, j]] += 1


def weighted(key, w, h):
    for i in range(key.shape[0]):
        h[key[i]] += w[i]


def sparse_rows(start, column, value, x, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


def deposit(p, q, rho):
    for n in range(p.shape[0]):
        i = int(p[n, 0])
        j = int(p[n, 1])
        k = int(p[n, 2])
        u = p[n, 0] - i
        v = p[n, 1] - j
        w = p[n, 2] - k
        rho[i, j, k] += q[n] * (1 - u) * (1 - v) * (1 - w)
        rho[i + 1, j, k] += q[n] * u * (1 - v) * (1 - w)
        rho[i, j + 1, k] += q[n] * (1 - u) * v * (1 - w)
        rho[i, j, k + 1] += q[n] * (1 - u) * (1 - v) * w
        rho[i + 1, j + 1, k] += q[n] * u * v * (1 - w)
        rho[i + 1, j, k + 1] += q[n] * u * (1 - v) * w
        rho[i, j + 1, k + 1] += q[n] * (1 - u) * v * w
        rho[i + 1, j + 1, k + 1] += q[n] * u * v * w


def bilinear(image, at, y):
    for n in range(y.shape[0]):
        i = int(at[n, 0])
        j = int(at[n, 1])
        u = at[n, 0] - i
        v = at[n, 1] - j
        y[n] = (1 - u) * ((1 - v) * image[i, j] + v * image[i, j + 1]) + u * (
            (1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]
        )


def gather_rows(table, key, y):
    for i in range(key.shape[0]):
        for j in range(table.shape[1]):
            y[i, j] = table[key[i], j]


def seen_values(x, seen, count):
    for k in range(seen.shape[0]):
        seen[k] = 0
    for i in range(x.shape[0]):
        seen[x[i]] = 1
    n = 0
    for k in range(seen.shape[0]):
        n += seen[k]
    count[0] = n


def counting_sort(key, start, out):
    for i in range(key.shape[0]):
        k = key[i]
        out[start[k]] = i
        start[k] += 1


def sparse_fill(row, column, value, begin, filled, columns, values):
    for e in range(row.shape[0]):
        r = row[e]
        d = begin[r] + filled[r]
        columns[d] = column[e]
        values[d] = value[e]
        filled[r] += 1


def cell_lists(x, count, members):
    for i in range(x.shape[0]):
        c = int(x[i])
        p = count[c]
        if p < members.shape[1]:
            members[c, p] = i
        count[c] = p + 1


def bitonic_step(x):
    for i in range(x.shape[0]):
        other = i ^ 1024
        if other > i:
            a = x[i]
            b = x[other]
            if (a > b) == ((i & 2048) == 0):
                x[i] = b
                x[other] = a


def edit_distance(a, b, out):
    for p in range(a.shape[0]):
        row = np.empty(33, np.int32)
        for j in range(33):
            row[j] = j
        for i in range(32):
            corner = row[0]
            row[0] = i + 1
            for j in range(32):
                cost = corner + (a[p, i] != b[p, j])
                corner = row[j + 1]
                row[j + 1] = min(cost, row[j] + 1, corner + 1)
        out[p] = row[32]


def mandelbrot(count):
    n = count.shape[0]
    for i in range(n):
        for j in range(n):
            cx = -2.0 + 3.0 * j / n
            cy = -1.5 + 3.0 * i / n
            x = 0.0
            y = 0.0
            k = 0
            while k < 200:
                if x * x + y * y > 4.0:
                    break
                t = x * x - y * y + cx
                y = 2.0 * x * y + cy
                x = t
                k += 1
            count[i, j] = k


def mandelbrot_complex(c, count):
    for i in range(c.shape[0]):
        z = 0j
        k = 0
        while k < 200 and abs(z) <= 2.0:
            z = z * z + c[i]
            k += 1
        count[i] = k


def walks(end):
    for i in range(end.shape[0]):
        x = 0.0
        for k in range(100):
            x += lw.random.uniform(3, i, k) - 0.5
        end[i] = x


def bodies(p, m, f):
    for i in range(p.shape[0]):
        fx = 0.0
        fy = 0.0
        fz = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r = dx * dx + dy * dy + dz * dz + 0.01
            s = m[j] / (r * np.sqrt(r))
            fx += s * dx
            fy += s * dy
            fz += s * dz
        f[i, 0] = fx
        f[i, 1] = fy
        f[i, 2] = fz


def lennard_jones(p, count, neighbour, f):
    for i in range(p.shape[0]):
        for a in range(3):
            f[i, a] = 0.0
        for n in range(count[i]):
            j = neighbour[i, n]
            r2 = 0.0
            for a in range(3):
                d = p[i, a] - p[j, a]
                r2 += d * d
            if r2 < 6.25:
                s = 1.0 / (r2 * r2 * r2)
                g = 24.0 * s * (2.0 * s - 1.0) / r2
                for a in range(3):
                    f[i, a] += g * (p[i, a] - p[j, a])


def grey(image, out):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            s = 0.299 * image[i, j, 0] + 0.587 * image[i, j, 1] + 0.114 * image[i, j, 2]
            out[i, j] = np.uint8(s + 0.5)


def quantise(x, q):
    for i in range(x.shape[0]):
        q[i] = np.int8(min(max(np.rint(x[i] * 127.0), -128.0), 127.0))


def doubled(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] * 2


def bytes_product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = np.int32(0)
            for k in range(a.shape[1]):
                s += np.int32(a[i, k]) * np.int32(b[k, j])
            c[i, j] = s


def butterfly(w, x):
    half = w.shape[0]
    for g in range(0, x.shape[0], 2 * half):
        for k in range(half):
            u = x[g + k]
            v = x[g + k + half] * w[k]
            x[g + k] = u + v
            x[g + k + half] = u - v


def butterfly_stage(x, w, y):
    for g in range(x.shape[0]):
        for k in range(x.shape[2]):
            v = x[g, 1, k] * w[k]
            y[g, 0, k] = x[g, 0, k] + v
            y[g, 1, k] = x[g, 0, k] - v


def _counts(key, w, h):
    return (np.bincount(key, w, len(h)),)


def _sorted_keys(r: Draw, n: int, m: int):
    return np.sort(r.whole(m, n)), r.f4(n), z4(m)


def _uneven(r: Draw, n: int):
    lengths = np.minimum(3 + (5.0 / (r.f8(n) + 1e-3)), n // 4).astype(np.int64)
    start = np.concatenate(([0], np.cumsum(lengths)))
    return start, r.whole(n, start[-1]), r.f4(start[-1]), r.f4(n), z4(n)


def _multiplied(start, column, value, x, y):
    return (np.add.reduceat(value * x[column], start[:-1]),)


def _sparse(torch, start, column, value, x, y):
    return torch.sparse_csr_tensor(start, column, value, (len(y), len(x)), check_invariants=False) @ x


def _index_add(torch, key, w, h):
    return h.index_add_(0, key, w)


def _deposited(p, q, rho):
    rho = np.zeros_like(rho)
    base = p.astype(int)
    u = p - base
    for d in np.ndindex(2, 2, 2):
        np.add.at(rho, tuple((base + d).T), q * np.prod(np.where(np.array(d), u, 1 - u), axis=1))
    return (rho,)


def _interpolated(image, at, y):
    (i, j), (u, v) = at.astype(int).T, (at % 1).T
    return ((1 - u) * ((1 - v) * image[i, j] + v * image[i, j + 1])
            + u * ((1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]),)  # fmt: skip


def _points(r: Draw, cells: int, *shape: int):
    return r.f4(*shape) * np.float32(cells - 1.01)


def _sort_start(r: Draw, n: int, m: int):
    key = r.whole(m, n)
    return key, np.concatenate(([0], np.cumsum(np.bincount(key, minlength=m))[:-1])), zi(n)


def _entries(r: Draw, n: int, m: int):
    row = r.whole(m, n, dtype="int32")
    begin = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=m))[:-1]))
    return row, r.whole(m, n, dtype="int32"), r.f8(n), begin, zi(m), zi(n, dtype="int32"), z8(n)


def _filled(row, column, value, begin, filled, columns, values):
    order = np.argsort(row, kind="stable")
    return np.bincount(row, minlength=len(begin)), column[order], value[order]


def _fill(torch, row, column, value, begin, filled, columns, values):
    order = torch.argsort(row, stable=True)
    return torch.index_select(column, 0, order), torch.index_select(value, 0, order)


def _members(x, count, members):
    cell = x.astype(int)
    order, counts = np.argsort(cell, kind="stable"), np.bincount(cell, minlength=len(count))
    place = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    found, fits = members.copy(), place < members.shape[1]
    found[cell[order][fits], place[fits]] = order[fits]
    return counts, found


def _exchanged(x):
    x = x.copy()
    i = np.arange(len(x))
    i = i[(i ^ 1024) > i]
    a, b = x[i], x[i ^ 1024]
    swap = (a > b) == ((i & 2048) == 0)
    x[i], x[i ^ 1024] = np.where(swap, b, a), np.where(swap, a, b)
    return (x,)


def _edits(a, b, out):
    row = np.tile(np.arange(33), (len(a), 1))
    for i in range(32):
        new = np.empty_like(row)
        new[:, 0] = i + 1
        for j in range(32):
            new[:, j + 1] = np.minimum(np.minimum(row[:, j] + (a[:, i] != b[:, j]), row[:, j + 1] + 1), new[:, j] + 1)
        row = new
    return (row[:, 32],)


def _escaped(c):
    z, k = np.zeros_like(c), np.zeros(c.shape, int)
    with np.errstate(all="ignore"):
        for _ in range(200):
            inside = abs(z) <= 2.0
            z, k = np.where(inside, z * z + c, z), k + inside
    return k


def _plane(n: int) -> np.ndarray:
    i, j = np.mgrid[:n, :n]
    return -2.0 + 3.0 * j / n + 1j * (-1.5 + 3.0 * i / n)


def _forces(p, m, f):
    d = p[None] - p[:, None]
    r = (d * d).sum(-1) + 0.01
    return ((m[None, :, None] * d / (r * np.sqrt(r))[..., None]).sum(1),)


def _bodies(torch, p, m, f):
    d = p[None] - p[:, None]
    r = (d * d).sum(-1) + 0.01
    return ((m / (r * torch.sqrt(r)))[..., None] * d).sum(1)


def _fluid(r: Draw, side: int):
    at = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    p = (at * 1.1 + 0.1 * r.f8(side**3, 3)).astype(np.float32)
    steps = np.array([d for d in np.ndindex(5, 5, 5) if d != (2, 2, 2)]) - 2
    near = at[:, None] + steps
    inside = ((near >= 0) & (near < side)).all(-1)
    order = np.argsort(~inside, axis=1, kind="stable")
    number = np.take_along_axis((near * np.array([side * side, side, 1])).sum(-1) * inside, order, 1)
    return p, inside.sum(1), number, z4(side**3, 3)


def _attracted(p, count, neighbour, f):
    d = p[:, None] - p[neighbour]
    r = (d * d).sum(-1)
    r[np.arange(neighbour.shape[1]) >= count[:, None]] = 99.0
    s = 1.0 / r**3
    return (((24 * s * (2 * s - 1) / r * (r < 6.25))[..., None] * d).sum(1),)


def _complex(r: Draw, *shape: int) -> np.ndarray:
    return (r.f4(*shape) + 1j * r.f4(*shape)).astype(np.complex64)


def _stage(x, w, y):
    v = x[:, 1] * w
    return (np.stack([x[:, 0] + v, x[:, 0] - v], 1),)


def _stages(torch, x, w, y):
    v = x[:, 1] * w
    torch.add(x[:, 0], v, out=y[:, 0])
    return torch.sub(x[:, 0], v, out=y[:, 1])


def _transformed(w, x):
    return (_stage(x.reshape(-1, 2, len(w)), w, None)[0].ravel(),)


def _transform(torch, w, x):
    pairs = x.view(-1, 2, len(w))
    u, v = pairs[:, 0].clone(), pairs[:, 1] * w
    torch.add(u, v, out=pairs[:, 0])
    return torch.sub(u, v, out=pairs[:, 1])


def _walked(end):
    return (np.array([sum(lw.random.uniform(3, i, k) - 0.5 for k in range(100)) for i in range(len(end))]),)


_BODY = """
extern "C" __global__ void peer(%s) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= %s) return;
  %s
}"""
_EDITS = _BODY % ("const unsigned char *a, const unsigned char *b, int *out, long long n", "n", """
  int row[33];
  for (int j = 0; j < 33; j++) row[j] = j;
  for (int k = 0; k < 32; k++) {
    int corner = row[0];
    row[0] = k + 1;
    for (int j = 0; j < 32; j++) {
      int cost = corner + (a[i * 32 + k] != b[i * 32 + j]);
      corner = row[j + 1];
      row[j + 1] = min(cost, min(row[j], corner) + 1);
    }
  }
  out[i] = row[32];""")  # fmt: skip
_MANDELBROT = _BODY % ("long long *count, long long n", "n * n", """
  double cx = -2.0 + 3.0 * (i % n) / n, cy = -1.5 + 3.0 * (i / n) / n, x = 0, y = 0;
  long long k = 0;
  while (k < 200) {
    if (x * x + y * y > 4.0) break;
    double t = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = t;
    k++;
  }
  count[i] = k;""")  # fmt: skip
_ESCAPES = _BODY % ("const double *c, long long *count, long long n", "n * n", """
  double x = 0, y = 0;
  long long k = 0;
  while (k < 200 && hypot(x, y) <= 2.0) {
    double t = x * x - y * y + c[2 * i];
    y = 2.0 * x * y + c[2 * i + 1];
    x = t;
    k++;
  }
  count[i] = k;""")  # fmt: skip
_JONES = _BODY % ("const float *p, const long long *count, const long long *neighbour, float *f, long long side",
                  "side * side * side", """
  float g[3] = {0, 0, 0};
  for (long long n = 0; n < count[i]; n++) {
    long long j = neighbour[i * 124 + n];
    float d[3], r = 0;
    for (int a = 0; a < 3; a++) { d[a] = p[3 * i + a] - p[3 * j + a]; r += d[a] * d[a]; }
    if (r < 6.25f) {
      float s = 1 / (r * r * r), h = 24 * s * (2 * s - 1) / r;
      for (int a = 0; a < 3; a++) g[a] += h * d[a];
    }
  }
  for (int a = 0; a < 3; a++) f[3 * i + a] = g[a];""")  # fmt: skip
_DEPOSIT = _BODY % ("const float *p, const float *q, float *rho, long long n, long long c", "n", """
  long long a[3];
  float u[3], w[3];
  for (int d = 0; d < 3; d++) { a[d] = (long long)p[3 * i + d]; u[d] = p[3 * i + d] - a[d]; w[d] = 1 - u[d]; }
  for (int d = 0; d < 8; d++)
    atomicAdd(rho + ((a[0] + (d & 1)) * c + a[1] + (d >> 1 & 1)) * c + a[2] + (d >> 2),
              q[i] * (d & 1 ? u : w)[0] * (d & 2 ? u : w)[1] * (d & 4 ? u : w)[2]);""")  # fmt: skip
_BILINEAR = _BODY % ("const float *m, const float *at, float *y, long long n, long long c", "n", """
  long long a = (long long)at[2 * i], b = (long long)at[2 * i + 1];
  float u = at[2 * i] - a, v = at[2 * i + 1] - b;
  const float *q = m + a * c + b;
  y[i] = (1 - u) * ((1 - v) * q[0] + v * q[1]) + u * ((1 - v) * q[c] + v * q[c + 1]);""")  # fmt: skip

_BITONIC = _BODY % ("float *x, long long n", "n", """
  long long other = i ^ 1024;
  if (other > i) {
    float a = x[i], b = x[other];
    if ((a > b) == ((i & 2048) == 0)) { x[i] = b; x[other] = a; }
  }""")  # fmt: skip

CASES = (
    Case("histogram, 16 bins of floats", histogram, lambda r, n, m: (r.f4(n), zi(m)), (3000, 16), (20_000_000, 16),
         lambda x, h: (np.bincount((x * len(h)).astype(int), minlength=len(h)),),
         lambda torch, x, h: torch.histc(x, len(h), 0, 1), restore=True),
    Case("histogram, 10^5 bins of floats", histogram, lambda r, n, m: (r.f4(n), zi(m)), (3000, 1000),
         (20_000_000, 100_000), lambda x, h: (np.bincount((x * len(h)).astype(int), minlength=len(h)),),
         lambda torch, x, h: torch.histc(x, len(h), 0, 1), restore=True),
    Case("histograms of rows", row_histograms,
         lambda r, n, m: (r.whole(256, n * m).astype(np.uint8).reshape(n, m), zi(n, 256)), (20, 5000), (2000, 200_000),
         lambda x, h: (np.stack([np.bincount(row, minlength=256) for row in x]),),
         lambda torch, x, h: h.scatter_add_(1, x.long(), torch.ones_like(x, dtype=h.dtype)), restore=True),
    Case("weighted histogram, 16 bins", weighted, lambda r, n, m: (r.whole(m, n), r.f4(n), z4(m)), (3000, 16),
         (10_000_000, 16), _counts, _index_add, restore=True),
    Case("weighted histogram, 10^5 bins", weighted, lambda r, n, m: (r.whole(m, n), r.f4(n), z4(m)), (3000, 1000),
         (10_000_000, 100_000), _counts, _index_add, restore=True),
    Case("sums by sorted key", weighted, _sorted_keys, (3000, 100), (10_000_000, 1_000_000), _counts, _index_add,
         restore=True),
    Case("sums by sorted key, 20 keys", weighted, _sorted_keys, (3000, 20), (10_000_000, 20), _counts, _index_add,
         restore=True),
    Case("weights of 3 keys among 10^6", weighted, lambda r, n, m: (r.whole(3, n) * (m // 4), r.f4(n), z4(m)),
         (3000, 400), (10_000_000, 1_000_000), _counts, _index_add, restore=True),
    Case("sparse, uneven rows", sparse_rows, _uneven, (400,), (500_000,), _multiplied, _sparse),
    Case("charges to a 3-D grid", deposit, lambda r, n, c: (_points(r, c, n, 3), r.f4(n), z4(c, c, c)), (500, 8),
         (4_000_000, 128), _deposited, cuda=_DEPOSIT, threads=lambda n, c: n, restore=True),
    Case("bilinear interpolation", bilinear, lambda r, n, c: (r.f4(c, c), _points(r, c, n, 2), z4(n)), (700, 30),
         (8_000_000, 2048), _interpolated, cuda=_BILINEAR, threads=lambda n, c: n),
    Case("rows of a table", gather_rows, lambda r, n, m: (r.f4(m, 64), r.whole(m, n), z4(n, 64)), (200, 50),
         (500_000, 20_000), lambda t, k, y: (t[k],), lambda torch, t, k, y: torch.index_select(t, 0, k, out=y)),
    Case("which values occur", seen_values, lambda r, n, m: (r.whole(m, n, dtype="int32"), zi(m), zi(1)), (50, 200),
         (20_000_000, 1000), lambda x, s, c: (np.bincount(x, minlength=len(s)) > 0, [len(np.unique(x))]),
         lambda torch, x, s, c: s.zero_().index_fill_(0, x.long(), 1).sum()),
    Case("counting sort, places", counting_sort, _sort_start, (500, 20), (1_000_000, 256),
         lambda key, s, out: (np.argsort(key, kind="stable"),), lambda torch, k, s, o: torch.argsort(k, stable=True),
         restore=True),
    Case("rows of a sparse matrix, filled", sparse_fill, _entries, (700, 50), (10_000_000, 1_000_000), _filled, _fill,
         restore=True),
    Case("cells of particles", cell_lists, lambda r, n, m: (r.f8(n) * m, zi(m), zi(m, 32)), (700, 50),
         (4_000_000, 300_000), _members, lambda torch, x, c, m: torch.argsort(x.long(), stable=True), restore=True),
    Case("bitonic exchange", bitonic_step, lambda r, n: (r.f4(n),), (1 << 13,), (1 << 24,), _exchanged, cuda=_BITONIC,
         threads=lambda n: n, moved=lambda n: 8.0 * n, restore=True),
    Case("edit distance of pairs of 32", edit_distance,
         lambda r, n: (r.whole(4, n, 32, dtype="uint8"), r.whole(4, n, 32, dtype="uint8"), zi(n, dtype="int32")),
         (200,), (500_000,), _edits, cuda=_EDITS, threads=lambda n: n),
    Case("Mandelbrot, while and break", mandelbrot, lambda r, n: (zi(n, n),), (64,), (2048,),
         lambda count: (_escaped(_plane(len(count))),), cuda=_MANDELBROT, threads=lambda n: n * n),
    Case("Mandelbrot, complex", mandelbrot_complex, lambda r, n: (_plane(n).ravel(), zi(n * n)), (64,), (2048,),
         lambda c, count: (_escaped(c),), cuda=_ESCAPES, threads=lambda n: n * n),
    Case("random walks", walks, lambda r, n: (z8(n),), (50,), (200_000,), _walked,
         lambda torch, end: torch.rand(len(end), 100, device="cuda", dtype=torch.float64).sub_(0.5).sum(1)),
    Case("bodies, 16384", bodies, lambda r, n: (r.f4(n, 3), r.f4(n), z4(n, 3)), (60,), (16_384,), _forces, _bodies,
         ops=lambda n: 20.0 * n * n),
    Case("Lennard-Jones, neighbour lists", lennard_jones, _fluid, (5,), (50,), _attracted, cuda=_JONES,
         threads=lambda n: n**3),
    Case("grey of RGB, uint8", grey,
         lambda r, n, m: (r.whole(255, n, m, 3, dtype="uint8"), zi(n, m, dtype="uint8")), (50, 60), (6000, 8000),
         lambda im, out: (np.floor(im @ np.array([0.299, 0.587, 0.114]) + 0.5),),
         lambda torch, im, out: (im[..., 0] * 0.299 + im[..., 1] * 0.587 + im[..., 2] * 0.114 + 0.5).to(torch.uint8)),
    Case("float32 to int8", quantise, lambda r, n: (r.f4(n) * 2 - 1, zi(n, dtype="int8")), (3000,), (50_000_000,),
         lambda x, q: (np.rint(x.astype(np.float32) * np.float32(127)),),
         lambda torch, x, q: torch.round(x * 127.0).clamp_(-128, 127).to(torch.int8)),
    Case("float16", doubled, lambda r, n: (r.f4(n).astype("float16"), zi(n, dtype="float16")), (3000,), (50_000_000,),
         lambda x, y: (x * 2,), lambda torch, x, y: torch.mul(x, 2, out=y)),
    Case("int8, doubled", doubled, lambda r, n: (r.whole(60, n, dtype="int8"), zi(n, dtype="int8")), (3000,),
         (100_000_000,), lambda x, y: (x * 2,), lambda torch, x, y: torch.mul(x, 2, out=y)),
    Case("int8 product", bytes_product,
         lambda r, n: (r.whole(100, n, n, dtype="int8"), r.whole(100, n, n, dtype="int8"), zi(n, n, dtype="int32")),
         (60,), (2048,), lambda a, b, c: (a @ b,), lambda torch, a, b, c: torch._int_mm(a, b),
         ops=lambda n: 2.0 * n**3),
    Case("butterflies in place", butterfly, lambda r, n, h: (_complex(r, h), _complex(r, n)), (1 << 10, 64),
         (1 << 23, 512), _transformed, _transform, moved=lambda n, h: 16.0 * n, restore=True),
    Case("butterflies", butterfly_stage,
         lambda r, n, h: (_complex(r, n, 2, h), _complex(r, h), np.zeros((n, 2, h), np.complex64)), (20, 64),
         (1 << 13, 512), _stage, _stages),
)  # fmt: skip
