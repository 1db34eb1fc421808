"""The option `deterministic`: the same bits for any number of threads, and for a team smaller than asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw

N = 40_000
THREADS = (1, 2, 3, 5, 8)


@lw.kernel
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@lw.kernel
def several(a):
    s = np.float32(0.0)
    p = 1.0
    n = 0
    for i in range(len(a)):
        s += np.float32(a[i])
        p *= 1.0 + a[i] * 1e-9
        n += 1
    return s, p, n


@lw.kernel
def nested(a):
    s = 0.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j]
        s += row * row
    return s


@lw.kernel
def best(a):
    top = a[0]
    where = 0
    s = 0.0
    for i in range(1, len(a)):
        s += a[i]
        if a[i] > top:
            top = a[i]
            where = i
    return top, where, s


@lw.kernel
def columns(a, y):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j]
        for j in range(a.shape[1]):
            y[j] += a[i, j] * t
    return y


@lw.kernel
def histogram(index, weights, h):
    for i in range(len(index)):
        h[index[i]] += weights[i]
    return h


@lw.kernel
def rows(start, values):
    s = 0.0
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            s += values[k]
    return s


def data() -> dict[str, Callable[[], object]]:
    """A call for each kernel, with values whose sums depend on the order."""
    random = np.random.default_rng(3)

    def floats(*shape: int) -> np.ndarray:
        return random.standard_normal(shape) * 10.0 ** random.integers(-6, 7, shape)

    a, b, m, index = floats(N), floats(N), floats(400, 100), random.integers(0, 500, N)
    start = np.concatenate([[0], np.cumsum(random.integers(0, 40, 1500))])
    values = floats(int(start[-1]))
    return {
        "dot": lambda: dot(a, b),
        "several": lambda: several(a),
        "nested": lambda: nested(m),
        "best": lambda: best(a),
        "columns": lambda: columns(m, np.zeros(100)),
        "histogram": lambda: histogram(index, a, np.zeros(500)),
        "rows": lambda: rows(start, values),
    }


def bits(threads: int, cache: Path, deterministic: bool = True) -> dict[str, tuple[bytes, ...]]:
    with lw.options(
        threads=threads, deterministic=deterministic, cache=cache, store="off", compiler_flags=("-O1",), explore=False
    ):
        found = {name: call() for name, call in data().items()}
    return {
        name: tuple(np.asarray(one).tobytes() for one in (value if isinstance(value, tuple) else (value,)))
        for name, value in found.items()
    }


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deterministic")


def test_the_same_bits_for_any_number_of_threads(cache: Path) -> None:
    first = bits(1, cache)
    for threads in THREADS[1:]:
        assert bits(threads, cache) == first


def test_without_the_option_sums_depend_on_it(cache: Path) -> None:
    """Else the test above could not fail."""
    found = [bits(threads, cache, deterministic=False) for threads in THREADS]
    differing = {name for name in found[0] if len({one[name] for one in found}) > 1}
    assert {"dot", "several", "nested", "best", "columns", "histogram", "rows"} <= differing


def test_a_team_smaller_than_asked_for(cache: Path) -> None:
    code = "import sys; from pathlib import Path; from codegen.test_deterministic import bits; "
    code += "print(bits(3, Path(sys.argv[1])))"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, "-c", code, str(cache)],
        env={**os.environ, "PYTHONPATH": path, "OMP_THREAD_LIMIT": "2"},
        text=True,
        capture_output=True,
        check=True,
    )
    assert found.stdout.strip() == str(bits(1, cache))


def test_owners_have_the_bits_of_one_thread(cache: Path) -> None:
    random = np.random.default_rng(4)
    index, weights = random.integers(0, 4_000_000, 300_000), random.standard_normal(300_000)
    found = []
    for threads in (1, 3):
        with lw.options(threads=threads, deterministic=True, cache=cache, store="off", compiler_flags=("-O1",)):
            found.append(histogram(index % 4_000_000, weights, np.zeros(4_000_000)))
    assert (found[0] == found[1]).all()


def test_results_are_right(cache: Path) -> None:
    whole = np.arange(N, dtype=float) % 7
    with lw.options(threads=3, deterministic=True, cache=cache, store="off", compiler_flags=("-O1",)):
        assert dot(whole, whole) == float(whole @ whole)
        assert best(whole) == (6.0, 6, float(whole[1:].sum()))
        assert (histogram(whole.astype(int), whole, np.ones(7)) == 1 + np.bincount(whole.astype(int), whole)).all()
        assert (columns(whole.reshape(400, 100), np.ones(100)) == 1 + _columns(whole.reshape(400, 100))).all()


def _columns(a: np.ndarray) -> np.ndarray:
    return (a * a.sum(axis=1, keepdims=True)).sum(axis=0)


def test_there_is_nothing_to_tune() -> None:
    with lw.options(deterministic=True), pytest.raises(ValueError, match="nothing to tune"):
        dot.tune(np.ones(9), np.ones(9))
