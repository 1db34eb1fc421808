"""One small kernel for a freshly installed wheel: it must come from there, compile, run in parallel and be right."""

import sys
from pathlib import Path

import numpy as np

import loopwright as lw


@lw.kernel
def smooth(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def main() -> None:
    assert Path(lw.__file__).is_relative_to(sys.prefix), f"not the installed wheel: {lw.__file__}"
    a = np.random.default_rng(1).random((300, 400))
    b = np.zeros_like(a)
    smooth(a, b)
    expected = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    np.testing.assert_allclose(b[1:-1, 1:-1], expected)
    try:
        smooth(a, np.zeros((3, 3)))
    except lw.BoundsError as error:
        print(error)
    else:
        raise AssertionError("a write outside an array went unnoticed")
    seen = smooth.explain(a, b).to_dict()
    assert seen["loops"][0]["verdict"] == "parallel", seen
    print("smoke: the installed wheel works")


main()
