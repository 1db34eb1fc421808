"""Products, distances and factorisations."""

from __future__ import annotations

import numpy as np

from benchmarks.gpu.shapes.case import Case, Draw, z4, z8, zi


def batched(a, b, c):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                s = 0.0
                for k in range(a.shape[2]):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


def eliminate(a, b, x):
    for m in range(a.shape[0]):
        t = np.empty((6, 7))
        for i in range(6):
            for j in range(6):
                t[i, j] = a[m, i, j]
            t[i, 6] = b[m, i]
        for k in range(6):
            for i in range(k + 1, 6):
                f = t[i, k] / t[k, k]
                for j in range(k, 7):
                    t[i, j] -= f * t[k, j]
        for i in range(5, -1, -1):
            s = t[i, 6]
            for j in range(i + 1, 6):
                s -= t[i, j] * t[j, 6]
            t[i, 6] = s / t[i, i]
            x[m, i] = t[i, 6]


def outer(x, y, c):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            c[i, j] = x[i] * y[j]


def gram(x, c):
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[0]):
                s += x[k, i] * x[k, j]
            c[i, j] = s


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def times_vector(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] = s


def transposed_times_vector(a, x, y):
    for j in range(a.shape[1]):
        y[j] = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j] * x[i]


def vector_expression(a, x, y):
    y[:] = a.T @ x


def bilinear_form(x, a, y, out):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += x[i] * a[i, j] * y[j]
    out[0] = s


def distances(x, y, d):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - y[j, k]
                s += t * t
            d[i, j] = np.sqrt(s)


def nearest(x, y, where):
    for i in range(x.shape[0]):
        best = np.inf
        place = 0
        for j in range(y.shape[0]):
            d = (x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2 + (x[i, 2] - y[j, 2]) ** 2
            if d < best:
                best = d
                place = j
        where[i] = place


def shortest_paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def cholesky(a):
    n = a.shape[0]
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        a[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= a[i, k] * a[j, k]
            a[i, j] = t / a[j, j]


def solve_triangle(l, b):  # noqa: E741
    n = b.shape[0]
    for i in range(n):
        for j in range(i):
            b[i] -= l[i, j] * b[j]
        b[i] /= l[i, i]


def solve_triangle_for_many(l, b):  # noqa: E741
    for i in range(l.shape[0]):
        for j in range(i):
            for c in range(b.shape[1]):
                b[i, c] -= l[i, j] * b[j, c]
        for c in range(b.shape[1]):
            b[i, c] /= l[i, i]


def tridiagonal_columns(a, b, c, w, x):
    n = x.shape[0]
    for j in range(x.shape[1]):
        w[0, j] = c[0, j] / b[0, j]
        x[0, j] = x[0, j] / b[0, j]
        for i in range(1, n):
            m = b[i, j] - a[i, j] * w[i - 1, j]
            w[i, j] = c[i, j] / m
            x[i, j] = (x[i, j] - a[i, j] * x[i - 1, j]) / m
        for i in range(n - 2, -1, -1):
            x[i, j] -= w[i, j] * x[i + 1, j]


def tridiagonal_rows(a, b, c, w, x):
    n = x.shape[1]
    for j in range(x.shape[0]):
        w[j, 0] = c[j, 0] / b[j, 0]
        x[j, 0] = x[j, 0] / b[j, 0]
        for i in range(1, n):
            m = b[j, i] - a[j, i] * w[j, i - 1]
            w[j, i] = c[j, i] / m
            x[j, i] = (x[j, i] - a[j, i] * x[j, i - 1]) / m
        for i in range(n - 2, -1, -1):
            x[j, i] -= w[j, i] * x[j, i + 1]


def pairs_below(x, c):
    for i in range(x.shape[0]):
        for j in range(i):
            c[i, j] = np.exp(-abs(x[i] - x[j]))


def _shortest(torch, d):
    for k in range(d.shape[0]):
        torch.minimum(d, d[:, k : k + 1] + d[k], out=d)


def _shortest_paths(d):
    d = d.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k])
    return (d,)


def _lu(a):
    a = a.copy()
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return (a,)


def _tridiagonal(a, b, c, w, x):
    w, x, n = w.copy(), x.copy(), len(x)
    w[0], x[0] = c[0] / b[0], x[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * w[i - 1]
        w[i], x[i] = c[i] / m, (x[i] - a[i] * x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] -= w[i] * x[i + 1]
    return w, x


def _tridiagonal_rows(*arrays):
    w, x = _tridiagonal(*(one.T for one in arrays))
    return w.T, x.T


def _bands(r: Draw, *shape: int):
    return r.f8(*shape), r.f8(*shape) + 3.0, r.f8(*shape), z8(*shape), r.f8(*shape)


def _definite(r: Draw, n: int):
    a = r.f8(n, n)
    return (a + a.T + 2.0 * n * np.eye(n),)


def _lower(r: Draw, n: int) -> np.ndarray:
    return np.tril(r.f8(n, n)) + n * np.eye(n)


def _system(r: Draw, m: int):
    return r.f8(m, 6, 6) + 6.0 * np.eye(6), r.f8(m, 6), z8(m, 6)


def _thomas(at: str, systems: int) -> str:
    """The text of a peer whose element i of system j is at a place, and the number of which is size `systems`."""
    m, n = ("p1", "p0") if systems else ("p0", "p1")
    return f"""
#define AT(i) ({at})
extern "C" __global__ void peer(const double *a, const double *b, const double *c, double *w, double *x,
                                long long p0, long long p1) {{
  long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= {m}) return;
  w[AT(0)] = c[AT(0)] / b[AT(0)];
  x[AT(0)] = x[AT(0)] / b[AT(0)];
  for (long long i = 1; i < {n}; i++) {{
    double m = b[AT(i)] - a[AT(i)] * w[AT(i - 1)];
    w[AT(i)] = c[AT(i)] / m;
    x[AT(i)] = (x[AT(i)] - a[AT(i)] * x[AT(i - 1)]) / m;
  }}
  for (long long i = {n} - 2; i >= 0; i--) x[AT(i)] -= w[AT(i)] * x[AT(i + 1)];
}}"""


def _matmul(torch, a, b, c):
    return torch.matmul(a, b, out=c)


def _transposed(torch, a, x, y):
    return torch.mv(a.T, x, out=y)


def _batched(name: str, side: int, tiny: int, full: int) -> Case:
    return Case(
        name, batched, lambda r, m: (r.f4(m, side, side), r.f4(m, side, side), z4(m, side, side)), (tiny,), (full,),
        lambda a, b, c: (a @ b,), _matmul, ops=lambda m: 2.0 * m * side**3,
    )  # fmt: skip


def _vector(name: str, function, full: tuple[int, int], transposed: bool) -> Case:
    def arrays(r: Draw, n: int, m: int):
        return r.f4(n, m), r.f4(n if transposed else m), z4(m if transposed else n)

    tiny = (300, 16) if full[0] > full[1] else (16, 300)
    if transposed:
        return Case(name, function, arrays, tiny, full, lambda a, x, y: (a.T @ x,), _transposed)
    return Case(name, function, arrays, tiny, full, lambda a, x, y: (a @ x,),
                lambda torch, a, x, y: torch.mv(a, x, out=y))  # fmt: skip


def _apart(x, y, d):
    return (np.sqrt(((x[:, None] - y) ** 2).sum(-1)),)


def _cdist(torch, x, y, d):
    return torch.cdist(x, y)


CASES = (
    _batched("batched 32x32", 32, 5, 20_000),
    _batched("batched 8x8", 8, 40, 400_000),
    _batched("batched 3x3", 3, 300, 2_000_000),
    _batched("batched 100x100", 100, 3, 1000),
    Case("batched elimination 6x6", eliminate, _system, (200,), (200_000,),
         lambda a, b, x: (np.linalg.solve(a, b[..., None])[..., 0],),
         lambda torch, a, b, x: torch.linalg.solve(a, b)),
    Case("outer product", outer, lambda r, n, m: (r.f4(n), r.f4(m), z4(n, m)), (70, 90), (8000, 9000),
         lambda x, y, c: (np.outer(x, y),), lambda torch, x, y, c: torch.outer(x, y, out=c)),
    Case("A^T A, 200000x64", gram, lambda r, n, m: (r.f4(n, m), z4(m, m)), (500, 20), (200_000, 64),
         lambda x, c: (x.T @ x,), lambda torch, x, c: torch.matmul(x.T, x, out=c), ops=lambda n, m: 2.0 * n * m * m),
    Case("A^T A, 2000000x4", gram, lambda r, n, m: (r.f4(n, m), z4(m, m)), (500, 4), (2_000_000, 4),
         lambda x, c: (x.T @ x,), lambda torch, x, c: torch.matmul(x.T, x, out=c)),
    Case("tall product 10^6x16x16", product, lambda r, n, m: (r.f4(n, m), r.f4(m, m), z4(n, m)), (500, 16),
         (1_000_000, 16), lambda a, b, c: (a @ b,), _matmul),
    Case("long sums 64x10^6x64", product, lambda r, n, m: (r.f4(n, m), r.f4(m, n), z4(n, n)), (16, 500),
         (64, 300_000), lambda a, b, c: (a @ b,), _matmul, ops=lambda n, m: 2.0 * n * n * m),
    _vector("matrix-vector, tall", times_vector, (2_000_000, 16), False),
    _vector("matrix-vector, wide", times_vector, (16, 2_000_000), False),
    _vector("A^T x, tall", transposed_times_vector, (2_000_000, 16), True),
    _vector("A^T x, wide", transposed_times_vector, (16, 2_000_000), True),
    _vector("A^T @ x, tall, expression", vector_expression, (2_000_000, 16), True),
    Case("bilinear form", bilinear_form, lambda r, n: (r.f4(n), r.f4(n, n), r.f4(n), z4(1)), (100,), (8000,),
         lambda x, a, y, out: ([x @ a @ y],), lambda torch, x, a, y, out: torch.dot(x, torch.mv(a, y))),
    Case("distances, d = 3", distances, lambda r, n: (r.f4(n, 3), r.f4(n, 3), z4(n, n)), (90,), (8000,), _apart,
         _cdist),
    Case("distances, d = 64", distances, lambda r, n: (r.f4(n, 64), r.f4(n, 64), z4(n, n)), (50,), (4000,), _apart,
         _cdist, ops=lambda n: 3.0 * 64 * n * n),
    Case("nearest neighbour", nearest, lambda r, n, m: (r.f4(n, 3), r.f4(m, 3), zi(n)), (90, 110), (20_000, 8000),
         lambda x, y, where: (((x[:, None] - y) ** 2).sum(-1).argmin(1),),
         lambda torch, x, y, where: torch.cdist(x, y).argmin(1), ops=lambda n, m: 8.0 * n * m),
    Case("Floyd-Warshall 1024", shortest_paths, lambda r, n: (r.f4(n, n),), (50,), (1024,), _shortest_paths, _shortest,
         ops=lambda n: 2.0 * n**3),
    Case("LU 1024", lu, _definite, (40,), (1024,), _lu, lambda torch, a: torch.linalg.lu_factor_ex(a, pivot=False),
         ops=lambda n: n**3 / 1.5, restore=True),
    Case("Cholesky 1024", cholesky, _definite, (40,), (1024,),
         lambda a: (np.linalg.cholesky(a) + np.triu(a, 1),), lambda torch, a: torch.linalg.cholesky(a),
         ops=lambda n: n**3 / 3.0, restore=True),
    Case("triangular solve 2048", solve_triangle, lambda r, n: (_lower(r, n), r.f8(n)), (60,), (2048,),
         lambda a, b: (np.linalg.solve(a, b),),
         lambda torch, a, b: torch.linalg.solve_triangular(a, b[:, None], upper=False), restore=True),
    Case("triangular solve 1024, 512 columns", solve_triangle_for_many,
         lambda r, n, m: (_lower(r, n), r.f8(n, m)), (40, 30), (1024, 512), lambda a, b: (np.linalg.solve(a, b),),
         lambda torch, a, b: torch.linalg.solve_triangular(a, b, upper=False), restore=True),
    Case("tridiagonal, axis 0", tridiagonal_columns, _bands, (20, 70), (256, 16_384), _tridiagonal,
         cuda=_thomas("(i) * p1 + j", 1), threads=lambda n, m: m, restore=True),
    Case("tridiagonal, axis 1", tridiagonal_rows, _bands, (70, 20), (16_384, 256), _tridiagonal_rows,
         cuda=_thomas("j * p1 + (i)", 0), threads=lambda n, m: n, restore=True),
    Case("pairs below the diagonal", pairs_below, lambda r, n: (r.f4(n), z4(n, n)), (80,), (8000,),
         lambda x, c: (np.tril(np.exp(-abs(x[:, None] - x)), -1),),
         lambda torch, x, c: torch.tril(torch.exp(-torch.abs(x[:, None] - x)), -1), moved=lambda n: 2.0 * n * n),
)  # fmt: skip
