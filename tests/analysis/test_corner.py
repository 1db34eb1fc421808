"""Indices that are sums of products are proven by the corner in which they are greatest, for exactly the calls that
stay inside."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts

HEAD = 'def f(a: "float64[1]", b: "float64[1]", n: "int64", m: "int64", l: "int64", w: "int64", x: "int64[1]"):\n'
NESTS = "for i in range(n):\n    for j in range(w):\n        for k in range(l):\n"


def facts_of(text: str) -> Facts:
    return analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n"))))


def kinds(text: str) -> set[str]:
    return {axis.kind for bounds in facts_of(text).bounds.values() for axis in bounds}


PROVEN = {
    NESTS + "            b[i * w + j + k] = 1.0": "w * (n - 1) + l + w - 2 < len(b)",
    NESTS + "            b[2 * i * w + 3 * j + k + 1] = 1.0": "2 * w * (n - 1) + l + 3 * w - 3 < len(b)",
    "for i in range(n):\n    for j in range(m):\n        b[i * j] = 1.0": "(n - 1) * (m - 1) < len(b)",
    "for i in range(n):\n    for j in range(m):\n        b[i * w + j * l] = 1.0": "l >= 0 and w >= 0",
    "for i in range(n):\n    for j in range(i, n):\n        b[i * j] = 1.0": "(n - 1) * (n - 1) < len(b)",
}


@pytest.mark.parametrize("text", PROVEN)
def test_proven(text: str) -> None:
    facts = facts_of(text)
    assert {axis.kind for bounds in facts.bounds.values() for axis in bounds} == {"proven"}
    assert PROVEN[text] in facts.guard.text


CHECKED = {
    "it grows where a factor falls": NESTS + "            b[i * w + j - k] = 1.0",
    "a factor may be negative": "for i in range(n):\n    for j in range(m):\n        b[i * x[0] + j + w] = 1.0",
    "a stride of any sign": "for i in range(n):\n    for j in range(m):\n        b[i * (w - l) + j * l] = 1.0",
    "never greatest at once": "for i in range(n):\n    for j in range(n - i):\n        b[i * j] = 1.0",
    "only where data says so": NESTS + "            if a[k] > 0.0:\n                b[i * w + j + k] = 1.0",
}


@pytest.mark.parametrize("why", CHECKED)
def test_checked(why: str) -> None:
    assert "checked" in kinds(CHECKED[why])


@lw.kernel
def windows(out, a, block):
    for b in range(out.shape[0]):
        for d in range(out.shape[1]):
            for i in range(block):
                out[b, d] += a[b * block + i + d]


@pytest.mark.parametrize(("blocks", "shifts", "block"), [(3, 4, 5), (1, 1, 1), (7, 2, 1), (2, 9, 3)])
def test_up_to_the_last_element(blocks: int, shifts: int, block: int) -> None:
    """The guard lets through what just fits; one element less is the error that Python has."""
    a = np.arange(float(blocks * block + shifts - 1))
    out = np.zeros((blocks, shifts))
    windows(out, a, block)
    wanted = [[a[b * block + d : b * block + d + block].sum() for d in range(shifts)] for b in range(blocks)]
    np.testing.assert_array_equal(out, wanted)
    with pytest.raises(lw.BoundsError):
        windows(out, a[:-1], block)


@pytest.mark.parametrize(("blocks", "shifts", "block"), [(0, 4, 5), (3, 0, 5), (3, 4, 0), (3, 4, -2)])
def test_nothing_is_asked_of_loops_that_do_not_run(blocks: int, shifts: int, block: int) -> None:
    out = np.zeros((blocks, shifts))
    windows(out, np.zeros(0), block)
    assert not out.any()


def test_sizes_whose_products_do_not_fit() -> None:
    """2**62 blocks of 2**62: the index of an element that is not reached would wrap."""
    out = np.zeros((1, 1))
    with pytest.raises(lw.BoundsError):
        windows(out, np.ones(3), 2**62)
    assert out[0, 0] == 3.0 or out[0, 0] == 0.0


@lw.kernel
def energies(signal, window, hop, out):
    for t in range(out.shape[0]):
        for k in range(window.shape[0]):
            out[t] += window[k] * signal[t * hop + k] ** 2


@lw.kernel
def pooled(image, size, stride, out):
    for i in range((image.shape[0] - size) // stride + 1):
        for j in range((image.shape[1] - size) // stride + 1):
            for u in range(size):
                for v in range(size):
                    out[i, j] = max(out[i, j], image[i * stride + u, j * stride + v])


@pytest.mark.parametrize("hop", [5, 2, 1, 0, -1])
def test_windows_of_what_is_only_read_may_overlap(hop: int) -> None:
    signal, window = np.arange(20.0), np.ones(5)
    mine, right = np.zeros(4), np.zeros(4)
    energies(signal, window, hop, mine)
    energies.py_func(signal, window, hop, right)
    np.testing.assert_array_equal(mine, right)
    is_careful = "the sizes of this call fail" in str(energies.explain(signal, window, hop, mine))
    assert is_careful == (hop < 0)
    with pytest.raises(IndexError):
        energies(signal, window, 6, mine)


@pytest.mark.parametrize(("size", "stride"), [(3, 2), (2, 2), (3, 1), (1, 4), (12, 1), (13, 1), (0, 1)])
def test_as_many_windows_as_fit(size: int, stride: int) -> None:
    image = np.arange(132.0).reshape(12, 11)
    mine, right = np.zeros((13, 12)), np.zeros((13, 12))
    pooled(image, size, stride, mine)
    pooled.py_func(image, size, stride, right)
    np.testing.assert_array_equal(mine, right)
    assert "fail the condition" not in str(pooled.explain(image, size, stride, mine))


@lw.kernel
def grouped(x, out):
    group = out.shape[0] // x.shape[0]
    for h in range(out.shape[0]):
        out[h] = x[h // group] + 1.0


@pytest.mark.parametrize(("keys", "heads"), [(1, 1), (1, 5), (4, 4), (4, 8), (4, 10), (4, 11), (3, 12), (4, 3), (2, 0)])
def test_what_lies_in_as_many_parts_as_another_array_has(keys: int, heads: int) -> None:
    x, mine, pythons = np.arange(float(keys)), np.zeros(heads), np.zeros(heads)
    errors: list[type[Exception] | None] = []
    for run, out in ((grouped, mine), (grouped.py_func, pythons)):
        try:
            run(x, out)
            errors.append(None)
        except (IndexError, ZeroDivisionError) as error:
            errors.append(IndexError if isinstance(error, IndexError) else ZeroDivisionError)
    assert errors[0] == errors[1]
    if errors[0] is None:
        assert np.array_equal(mine, pythons)
    assert "((len(out) - 1) // (len(out) // len(x))) < len(x)" in str(grouped.explain(x, np.zeros(8)))


@lw.kernel
def shares(x, out, threads):
    for t in range(threads):
        size = (x.shape[0] + threads - 1) // threads
        for i in range(t * size, min((t + 1) * size, x.shape[0])):
            out[i] = x[i // size + size - 1]


@pytest.mark.parametrize("threads", [1, 2, 4, 5])
def test_what_no_call_tells_is_asked_of_none(threads: int) -> None:
    x, mine, pythons = np.arange(8.0), np.zeros(8), np.zeros(8)
    if threads == 1:
        with pytest.raises(IndexError):
            shares(np.arange(7.0), np.zeros(6), threads)
    shares(x, mine, threads)
    shares.py_func(x, pythons, threads)
    assert np.array_equal(mine, pythons)


def attended(q, keys, length, out):
    heads = q.shape[0]
    share = heads // keys.shape[0]
    for h in range(heads):
        s = 0.0
        for t in range(length[h]):
            for k in range(q.shape[1]):
                s += q[h, k] * keys[h // share, t, k]
        out[h] = s


def test_a_quotient_behind_a_range_that_data_tells() -> None:
    """Heads share keys in groups; isl alone would ask for as many groups as there are heads."""
    kernel = lw.kernel(attended)
    rng = np.random.default_rng(3)
    q, keys, length, out = rng.random((8, 3)), rng.random((2, 6, 3)), np.array([6, 0, 2, 3, 1, 6, 5, 4]), np.zeros(8)
    kernel(q, keys, length, out)
    share = np.array([q[h] @ keys[h // 4, : length[h]].sum(0) for h in range(8)])
    np.testing.assert_allclose(out, share)
    text = str(kernel.explain(q, keys, length, out))
    assert "((q.shape[0] - 1) // (q.shape[0] // keys.shape[0])) < keys.shape[0]" in text
    assert "1 of 4 accesses checked" in text  # 't'
    with pytest.raises(IndexError):  # 8 // 3 is 2: the last heads are of a group that is not there
        kernel(q, rng.random((3, 6, 3)), length, out)
