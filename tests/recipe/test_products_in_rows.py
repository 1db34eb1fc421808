from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

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


def normed(q, scale, k, out):
    """What is added up has a third factor, which all rows use."""
    for i in range(q.shape[0]):
        squares = 0.0
        for c in range(q.shape[1]):
            squares += q[i, c] * q[i, c]
        r = 1.0 / np.sqrt(squares + 1.0)
        for j in range(k.shape[1]):
            s = 0.0
            for c in range(q.shape[1]):
                s += q[i, c] * scale[c] * k[c, j]
            out[i, j] = r * s


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


@pytest.mark.parametrize(("n", "depth", "m"), [(40, 33, 30), (1, 1, 1), (3, 0, 2), (2, 70, 1), (0, 3, 3)])
def test_a_product_of_rows_beside_their_norm(n: int, depth: int, m: int) -> None:
    draw = np.random.default_rng(n)
    args = draw.random((n, depth)), draw.random(depth), draw.random((depth, m))
    args[0][: n // 8] = np.nan
    out, wanted = np.zeros((n, m)), np.zeros((n, m))
    normed(*args, wanted)
    with lw.options(device="emulated"):
        kernel: Any = lw.kernel(normed)
        kernel(*args, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-12)
        schedule = str(kernel.explain(*args, out).schedule)
    assert "expand r i" in schedule and "stage scale" in schedule


def mixture(duty, x, share, mean):
    """A sum for each kind, and one for each kind and column: the same rows are gone through for both."""
    for k in range(share.shape[0]):
        weight = 0.0
        for i in range(x.shape[0]):
            weight += duty[i, k]
        share[k] = weight
        for j in range(x.shape[1]):
            s = 0.0
            for i in range(x.shape[0]):
                s += duty[i, k] * x[i, j]
            mean[k, j] = (s + 1.0) / (weight + 2.0)


def scaled(q, k, out):
    """A product of rows, and their largest element, by which they are divided."""
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            for c in range(q.shape[1]):
                out[i, j] += q[i, c] * k[j, c]
        most = 1.0
        for j in range(k.shape[0]):
            most = max(most, abs(out[i, j]))
        for j in range(k.shape[0]):
            out[i, j] /= most


def heads(q, k, v, out):
    """Rows of several loops, each with an array of its own."""
    for w in range(q.shape[0]):
        for h in range(q.shape[1]):
            for i in range(q.shape[2]):
                score = np.zeros(k.shape[2])
                for j in range(k.shape[2]):
                    for c in range(q.shape[3]):
                        score[j] += q[w, h, i, c] * k[w, h, j, c]
                score = np.exp(score - score.max())
                score /= score.sum()
                for c in range(q.shape[3]):
                    s = 0.0
                    for j in range(k.shape[2]):
                        s += score[j] * v[w, h, j, c]
                    out[w, h, i, c] = s


def _ends_alike(function: Any, *args: Any) -> str:
    wanted = copy.deepcopy(args)
    function(*wanted)
    kernel: Any = lw.kernel(function, device="emulated")
    kernel(*args)
    for mine, theirs in zip(args, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert not kernel.specialisations()[0].why_not_gpu
    return str(kernel.explain(*args).schedule)


SIZES = [(40, 5, 33), (0, 3, 2), (1, 1, 1), (3, 2, 70), (300, 3, 4), (2, 0, 3)]


@pytest.mark.parametrize(("n", "kinds", "d"), SIZES)
@pytest.mark.parametrize("element", [np.float64, np.uint8])
def test_sums_of_each_kind_are_a_product(n: int, kinds: int, d: int, element: Any) -> None:
    draw = np.random.default_rng(n)
    x = draw.integers(0, 2, (n, d)).astype(element)
    schedule = _ends_alike(mixture, draw.random((n, kinds)), x, np.zeros(kinds), np.zeros((kinds, d)))
    assert "expand weight k; fission k 4" in schedule
    assert "stage x" in schedule  # in tiles


@pytest.mark.parametrize(("n", "m", "d"), SIZES)
def test_products_into_elements(n: int, m: int, d: int) -> None:
    draw = np.random.default_rng(m)
    assert "fission i 2" in _ends_alike(scaled, draw.random((n, d)), draw.random((m, d)), np.zeros((n, m)))


@pytest.mark.parametrize(
    "shape", [(3, 2, 9, 5), (1, 1, 1, 1), (0, 2, 3, 2), (2, 0, 3, 2), (2, 3, 5, 0), (2, 1, 70, 16)]
)
def test_copies_for_all_loops_around_a_row(shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(shape[0])
    q, k, v = (draw.random(shape) for _ in range(3))
    schedule = _ends_alike(heads, q, k, v, np.zeros(shape))
    assert "expand score.1 w.1 h.1 i.1" in schedule
    assert "bind w.1 block.z; bind h.1 block.z" in schedule  # products of all of them are one grid
