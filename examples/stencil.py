"""A five-point stencil: each inner point becomes the mean of its neighbours. The place to start."""

import numpy as np

import loopwright as lw


@lw.kernel
def smooth(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


a = np.random.default_rng(1).random((1000, 1000))
b = np.zeros_like(a)
smooth(a, b)  # the first call with arguments of these types compiles; the next ones only run

expected = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
np.testing.assert_allclose(b[1:-1, 1:-1], expected, rtol=1e-14)
print(smooth.explain(a, b))
