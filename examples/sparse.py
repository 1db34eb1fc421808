"""A sparse matrix in compressed rows times a vector: loop bounds and subscripts that come out of arrays."""

import numpy as np

import loopwright as lw


@lw.kernel
def multiply(starts, columns, values, x, y):
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


rows, entries = 100_000, 1_000_000
random = np.random.default_rng(4)
row = np.sort(random.integers(0, rows, entries))
starts = np.searchsorted(row, np.arange(rows + 1))
columns = random.integers(0, rows, entries)
values = random.random(entries)
x, y = random.random(rows), np.zeros(rows)
multiply(starts, columns, values, x, y)

np.testing.assert_allclose(y, np.bincount(row, weights=values * x[columns], minlength=rows), rtol=1e-12)
print(multiply.explain(starts, columns, values, x, y))

columns[7] = rows  # one past the end: refused, where C would read what is not its own
try:
    multiply(starts, columns, values, x, y)
except IndexError as error:
    print(f"\n{error}")
else:
    raise SystemExit("a subscript outside the array went unnoticed")
