"""Stencil: heat spreads through a plate with a hole, whose upper edge is kept hot.

Two loops over the plate inside of one over time. The plate is swept in tiles that stay in the cache."""

import numpy as np

import loopwright as lw


@lw.kernel
def spread(u, v, solid, steps):
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i, j]
                if solid[i, j]:
                    v[i, j] += 0.2 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = v[i, j]


def plate(size):
    """Temperatures, and where there is metal."""
    y, x = np.mgrid[:size, :size] / size
    solid = (x - 0.5) ** 2 + (y - 0.45) ** 2 > 0.04
    u = np.zeros((size, size))
    u[0] = 100.0 * np.sin(np.pi * x[0])
    return u, solid


def compute(size=160):
    u, solid = plate(size)
    spread(u, u.copy(), solid, 40 * size)
    return np.where(solid, u, np.nan)


def check(size=40):
    u, solid = plate(size)
    for _ in range(40 * size):
        moved = 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
        u[1:-1, 1:-1] += np.where(solid[1:-1, 1:-1], moved, 0.0)
    np.testing.assert_allclose(compute(size), np.where(solid, u, np.nan), rtol=1e-12, atol=1e-12)


def picture(axes, result):
    axes.imshow(result, cmap="inferno")
    axes.contour(np.nan_to_num(result), levels=[2, 5, 10, 20, 40, 80], colors="white", linewidths=0.5)


if __name__ == "__main__":
    check()
    print(f"the middle of the lower half has {np.nanmean(compute()[120, 70:90]):.2f} degrees")
