"""PolyBench adi: heat flow in two dimensions, implicit along the columns and along the rows in turn."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "adi"
SIZES = {
    "MINI": {"tsteps": 20, "n": 20},
    "SMALL": {"tsteps": 40, "n": 60},
    "MEDIUM": {"tsteps": 100, "n": 200},
    "LARGE": {"tsteps": 500, "n": 1000},
    "EXTRALARGE": {"tsteps": 1000, "n": 2000},
}
OUTPUTS = ("u",)
PARALLEL = {
    "t": "sequential",  # each step starts from the u of the one before
    "i": "parallel",  # a column of v and a row of p and q each
    "j": "sequential",  # p[i, j] needs p[i, j - 1]
    "j_2": "sequential",  # v[j, i] needs v[j + 1, i]
    "i_2": "parallel",  # a row of u, p and q each
    "j_3": "sequential",
    "j_4": "sequential",
}


def initialise(tsteps: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    return {
        "tsteps": tsteps,
        "n": n,
        "u": (i + n - j) / n,
        "v": np.zeros((n, n)),
        "p": np.zeros((n, n)),
        "q": np.zeros((n, n)),
    }


def kernel(tsteps, n, u, v, p, q):
    mul1 = 2.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    mul2 = 1.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for _t in range(1, tsteps + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]) / (
                    a * p[i, j - 1] + b
                )
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]) / (
                    d * p[i, j - 1] + e
                )
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def kernel_prange(tsteps, n, u, v, p, q):
    mul1 = 2.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    mul2 = 1.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for _t in range(1, tsteps + 1):
        for i in prange(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]) / (
                    a * p[i, j - 1] + b
                )
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in prange(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]) / (
                    d * p[i, j - 1] + e
                )
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def reference(tsteps, n, u, v, p, q):
    """Each half step as one dense solve, with 1 on both ends of every line."""
    along, across = 2.0 * n * n / tsteps, 1.0 * n * n / tsteps
    u, inner = u.copy(), slice(1, n - 1)
    lines = np.ones((n, n))
    for _ in range(tsteps):
        # lines[i, :]: column i of v, implicit with weight `along`, explicit with weight `across`
        lines[inner] = _solve_lines(along, _explicit(across, u.T))
        across_rows = lines.T.copy()
        u[inner] = _solve_lines(across, _explicit(along, across_rows))
    return {"u": u}


def _explicit(weight, field):
    """Field plus weight/2 times its second difference over axis 0, for the inner rows."""
    return field[1:-1] + weight / 2.0 * (field[:-2] - 2.0 * field[1:-1] + field[2:])


def _solve_lines(weight, right):
    n = right.shape[1]
    matrix = np.eye(n)
    for j in range(1, n - 1):
        matrix[j, j - 1 : j + 2] = [-weight / 2.0, 1.0 + weight, -weight / 2.0]
    right = right.copy()
    right[:, [0, -1]] = 1.0
    return np.linalg.solve(matrix, right.T).T


def flops(tsteps: int, n: int) -> int:
    return 30 * tsteps * (n - 2) * (n - 2)


def bytes_min(tsteps: int, n: int) -> int:
    return 8 * (3 * n * (n - 2) + 2 * (n - 1) * (n - 2))
