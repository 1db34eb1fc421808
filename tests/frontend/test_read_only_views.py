"""Views that cannot be written, against CPython: what is written to their array shows in them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from frontend.judge import define, refusal, same

VIEWS = [
    "np.diag(m)", "np.diag(m, 1)", "np.diag(m, k=-1)", "np.diag(m, n)", "np.diag(m, -n)", "m.diagonal()",
    "np.diag(m.T)",
    "np.diagonal(m, offset=1)", "np.diag(m[:, ::-1])", "np.diag(m[1:, n:])", "np.diag(m)[::-1]", "np.diag(m, 9)",
    "np.broadcast_to(v, (n, 3))", "np.broadcast_to(v[:, None], (3, 4))", "np.broadcast_to(m, (2, *m.shape))",
    "np.broadcast_to(m[:1], (n, m.shape[1]))", "np.broadcast_to(v, (3,))", "np.broadcast_to(2.5, (n, n))",
    "sliding_window_view(v, 2)", "sliding_window_view(v, n)", "sliding_window_view(v[::-1], 1)",
    "sliding_window_view(m, 2, axis=0)", "sliding_window_view(m, n, 1)", "sliding_window_view(m, (2, 3))",
    "sliding_window_view(v, window_shape=3)", "sliding_window_view(v, 9)", "sliding_window_view(v, 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_what_is_written_to_the_array_shows(text):
    function = define(f"""
        def f(m, v, n):
            x = {text}
            m[0, 0] = m[1, 1] = 50.0
            v[1] = 60.0
            m[:, 2] += x.sum()
            v += x.size
            return x.sum(axis=0), x.shape, x.copy(), x
        """, sliding_window_view=sliding_window_view)  # fmt: skip
    for n in (1, 2, 3):
        same(function, np.arange(12.0).reshape(3, 4) + 1.0, np.arange(3.0), n)


@pytest.mark.parametrize("text", ["np.diag(m)", "np.broadcast_to(m, (2, 3, 3))", "sliding_window_view(m, 2, 0)"])
@pytest.mark.parametrize("write", ["x[0] = 1.0", "x += 1.0", "x[1:] *= 2.0", "y = x[0:1]\n    y[:] = 3.0"])
def test_they_are_not_written(text, write):
    function = define(f"def f(m):\n    x = {text}\n    {write}\n    return x.sum()\n",
                      sliding_window_view=sliding_window_view)  # fmt: skip
    assert "a view of this kind cannot be written" in refusal(function, np.ones((3, 3)))


def test_moving_sums():
    def f(x, w, out):
        windows = sliding_window_view(x, w)
        for i in range(len(windows)):
            out[i] = windows[i].sum() + windows[i, 0]
        return windows.max(axis=1) - windows.min(axis=1), np.diag(np.diag(x))

    for size, w in ((5, 2), (5, 5), (1, 1)):
        same(f, np.arange(float(size)) ** 2, w, np.zeros(5))
