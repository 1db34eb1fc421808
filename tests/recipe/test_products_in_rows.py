from __future__ import annotations

from typing import Any

import numpy as np

import loopwright as lw


def attention(q, k, v, out):
    for i in range(q.shape[0]):
        s = np.zeros(k.shape[0])
        most = -1e300
        for j in range(k.shape[0]):
            t = 0.0
            for c in range(q.shape[1]):
                t += q[i, c] * k[j, c]
            s[j] = t * 0.125
            if s[j] > most:
                most = s[j]
        total = 0.0
        for j in range(k.shape[0]):
            s[j] = np.exp(s[j] - most)
            total += s[j]
        for c in range(v.shape[1]):
            t = 0.0
            for j in range(k.shape[0]):
                t += s[j] * v[j, c]
            out[i, c] = t / total


def scores_only(q, k, v, out):
    """The product comes last, and nothing else is multiplied with what all rows use."""
    for i in range(q.shape[0]):
        s = np.empty(k.shape[1] + v.shape[1])
        for c in range(q.shape[1]):
            s[c] = q[i, c] - q[i, 0]
        for j in range(out.shape[1]):
            t = 0.0
            for c in range(q.shape[1]):
                t += s[c] * k[j, c]
            out[i, j] = t


def _on_gpu(function: Any, n: int, m: int, d: int) -> str:
    draw = np.random.default_rng(n)
    q, k, v, out = draw.random((n, d)), draw.random((max(m, d), d)), draw.random((max(m, d), d)), np.zeros((n, d))
    wanted = out.copy()
    function(q, k, v, wanted)
    kernel: Any = lw.kernel(function)
    with lw.options(device="emulated"):
        kernel(q, k, v, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-12)
        assert not kernel.specialisations()[0].why_not_gpu
        return str(kernel.explain(q, k, v, out).schedule)


def test_products_of_all_rows_are_nests_of_their_own() -> None:
    schedule = _on_gpu(attention, 40, 33, 8)
    assert "expand most.1 i.1; fission i.1" in schedule and "expand total.1" in schedule
    assert "promote" in schedule  # in tiles


def test_a_product_at_the_end() -> None:
    assert "fission i.1 2" in _on_gpu(scores_only, 40, 33, 8)


def test_sizes_that_leave_nothing() -> None:
    for function in (attention, scores_only):
        for n, m, d in ((0, 3, 2), (1, 1, 1), (3, 70, 5)):
            _on_gpu(function, n, m, d)
