"""PolyBench fdtd-2d: Maxwell's equations in two dimensions, by finite differences in the time domain."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "fdtd-2d"
SIZES = {
    "MINI": {"tmax": 20, "nx": 20, "ny": 30},
    "SMALL": {"tmax": 40, "nx": 60, "ny": 80},
    "MEDIUM": {"tmax": 100, "nx": 200, "ny": 240},
    "LARGE": {"tmax": 500, "nx": 1000, "ny": 1200},
    "EXTRALARGE": {"tmax": 1000, "nx": 2000, "ny": 2600},
}
OUTPUTS = ("ex", "ey", "hz")
PARALLEL = {
    "t": "sequential",  # each step starts from the fields of the one before
    "j": "parallel",
    "i": "parallel",
    "j_2": "parallel",
    "i_2": "parallel",
    "j_3": "parallel",
    "i_3": "parallel",
    "j_4": "parallel",
}


def initialise(tmax: int, nx: int, ny: int) -> dict[str, object]:
    i, j = np.ogrid[:nx, :ny]
    return {
        "tmax": tmax,
        "nx": nx,
        "ny": ny,
        "ex": i * (j + 1) / nx,
        "ey": i * (j + 2) / ny,
        "hz": i * (j + 3) / nx,
        "fict": np.arange(tmax, dtype=np.float64),
    }


def kernel(tmax, nx, ny, ex, ey, hz, fict):
    for t in range(tmax):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def kernel_prange(tmax, nx, ny, ex, ey, hz, fict):
    for t in range(tmax):
        # One row: too little work to be worth starting threads for.
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in prange(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def reference(tmax, nx, ny, ex, ey, hz, fict):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for source in fict:
        ey[0] = source
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def flops(tmax: int, nx: int, ny: int) -> int:
    return tmax * (3 * (nx - 1) * ny + 3 * nx * (ny - 1) + 5 * (nx - 1) * (ny - 1))


def bytes_min(tmax: int, nx: int, ny: int) -> int:
    ex = 2 * nx * (ny - 1) + nx - 1
    ey = (nx - 1) * ny + nx * ny
    hz = nx * ny + (nx - 1) * (ny - 1)
    return 8 * (ex + ey + hz + tmax)
