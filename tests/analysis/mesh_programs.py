"""Random programs over things that index arrays count, such as the nodes of a mesh, as Python text that
`analysis.small` reads: sweeps in a loop over time, some of which need their order."""

from __future__ import annotations

import random

import numpy as np

HEAD = (
    'def f(x: "float64[1]", y: "float64[1]", z: "float64[2]", w: "float64[2]", p: "int64[1]", q: "int64[2]", '
    'n: "int64", m: "int64"):\n'
)
FIELDS = 3
DEGREE = 4


def mesh_program(seed: int) -> str:
    """The text of a function with one loop over `t`, in which `x`, `y`, `z` and `w` are written."""
    maker = _Maker(random.Random(seed))
    sweeps = "".join(maker.sweep(count) for count in range(maker.source.randint(1, 4)))
    return HEAD + f"    for t in range(m):\n{sweeps}"


def arguments_of(seed: int, n: int, m: int = 3) -> tuple[object, ...]:
    """Arguments with which no access leaves its array: small whole numbers, and indices from both ends."""
    draw = np.random.default_rng(seed)
    x, y = (draw.integers(-4, 5, n).astype(float) for _ in range(2))
    z = draw.integers(-4, 5, (n, FIELDS)).astype(float)
    w = draw.integers(-4, 5, (FIELDS, n)).astype(float)
    least = -n if seed % 3 == 0 else 0
    p, q = draw.integers(least, max(n, 1), n), draw.integers(least, max(n, 1), (n, DEGREE))
    return x, y, z, w, p, q, n, m


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source

    def choose(self, *among: str) -> str:
        """One of them."""
        return self.source.choice(among)

    def sweep(self, count: int) -> str:
        """A loop over all things."""
        i, k, f = f"i{count}", f"k{count}", f"f{count}"
        kind = self.source.randrange(8)
        pad = " " * 8
        line = f"{pad}for {i} in range({self.choose('n', 'n', 'x.shape[0]', 'z.shape[0]')}):\n"
        match kind:
            case 0 | 1:
                inner = self.choose(f"x[q[{i}, {k}]]", f"z[q[{i}, {k}], 1]", f"w[0, q[{i}, {k}]]", f"x[p[q[{i}, {k}]]]")
                value = self.choose("s", "0.5 * s", f"s + {i}", f"s + y[{i}]")
                return (
                    f"{line}{pad}    s = 0.0\n{pad}    for {k} in range(4):\n{pad}        s = s + {inner}\n"
                    f"{pad}    y[{i}] = {value}\n"
                )
            case 2:
                return f"{line}{pad}    x[{i}] = {self.choose(f'y[{i}]', f'y[{i}] - x[{i}]', f'y[p[{i}]]')}\n"
            case 3:
                body = self.choose(
                    f"z[{i}, {f}] = w[{f}, p[{i}]]", f"w[{f}, {i}] = z[{i}, {f}] + 1.0", f"z[{i}, {f}] = x[{i}] + {f}"
                )
                return f"{line}{pad}    for {f} in range(3):\n{pad}        {body}\n"
            case 4:
                condition = self.choose(f"j > {i}", f"p[{i}] >= 0", f"x[{i}] > 0.0")
                return (
                    f"{line}{pad}    j = p[{i}]\n{pad}    if {condition}:\n"
                    f"{pad}        y[{i}] = {self.choose('x[j] + 1.0', f'z[j, 2] - y[{i}]', 'j + 0.0')}\n"
                )
            case 5:  # in order
                return f"{line}{pad}    x[p[{i}]] = x[p[{i}]] * 0.5 + {self.choose(f'y[{i}]', f'{i}', '1.0')}\n"
            case 6:  # in order, and not over all
                return (
                    f"{pad}for {i} in range(1, n):\n{pad}    x[{i}] = x[{i} - 1] + {self.choose(f'x[p[{i}]]', '1.0')}\n"
                )
            case _:
                return f"{pad}for {i} in range(n):\n{pad}    if {i} == 0:\n{pad}        x[{i}] = y[{i}]\n"
