"""What is said of rows, columns and images as plain loops: softmax, normalisation, means and variances, sums by class,
convolutions over channels; and what needs the order of its iterations: sums so far, and the elements that a condition
keeps. Beside PyTorch; `a thread each` is Loopwright with one thread for each iteration of the outermost loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial


def softmax(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(x.shape[1]):
            m = max(m, x[i, j])
        s = np.float32(0.0)
        for j in range(x.shape[1]):
            s += np.exp(x[i, j] - m)
        for j in range(x.shape[1]):
            y[i, j] = np.exp(x[i, j] - m) / s


def normalise(x, y):
    for i in range(x.shape[0]):
        s = np.float32(0.0)
        for j in range(x.shape[1]):
            s += x[i, j]
        mean = s / np.float32(x.shape[1])
        t = np.float32(0.0)
        for j in range(x.shape[1]):
            d = x[i, j] - mean
            t += d * d
        scale = np.float32(1.0) / np.sqrt(t / np.float32(x.shape[1]) + np.float32(1e-5))
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale


def columns(x, mean, var):
    for j in range(x.shape[1]):
        s = np.float32(0.0)
        for i in range(x.shape[0]):
            s += x[i, j]
        mean[j] = s / np.float32(x.shape[0])
        t = np.float32(0.0)
        for i in range(x.shape[0]):
            d = x[i, j] - mean[j]
            t += d * d
        var[j] = t / np.float32(x.shape[0])


def convolve(x, w, y):
    for n in range(y.shape[0]):
        for o in range(y.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    s = np.float32(0.0)
                    for c in range(x.shape[1]):
                        for p in range(w.shape[2]):
                            for q in range(w.shape[3]):
                                s += x[n, c, i + p, j + q] * w[o, c, p, q]
                    y[n, o, i, j] = s


def so_far(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        y[i] = s


def kept(x, y):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            y[n] = x[i]
            n += 1
    return n


def total(x, out):
    s = np.float32(0.0)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j]
    out[0] = s


def by_class(x, label, sums):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[label[i], j] += x[i, j]


Shape = tuple[int, ...]
ROWS: dict[str, Shape] = {"tiny": (7, 40), "small": (1024, 1000), "full": (16384, 4096)}
SHORT: dict[str, Shape] = {"tiny": (40, 7), "small": (1 << 16, 10), "full": (1 << 23, 8)}
LONG: dict[str, Shape] = {"tiny": (2, 2100), "small": (64, 4096), "full": (256, 1 << 18)}
CLASSES: dict[str, Shape] = {"tiny": (50, 7), "small": (1 << 12, 64), "full": (1 << 20, 64)}
WIDE: dict[str, Shape] = {"tiny": (50, 7), "small": (1 << 12, 512), "full": (1 << 17, 512)}
FLAT: dict[str, Shape] = {"tiny": (1 << 10,), "small": (1 << 18,), "full": (1 << 26,)}
IMAGES: dict[str, Shape] = {"tiny": (1, 2, 9, 9), "small": (8, 16, 34, 34), "full": (32, 64, 58, 58)}
"""Examples, channels, rows and columns of images, the border of two included; as many channels come out."""

CASES: dict[str, tuple[Callable[..., object], dict[str, Shape], str]] = {
    "softmax": (softmax, ROWS, "i"),
    "softmax, short rows": (softmax, SHORT, "i"),
    "softmax, long rows": (softmax, LONG, "i"),
    "normalisation": (normalise, ROWS, "i"),
    "mean and variance of columns": (columns, ROWS, "j"),
    "total of a matrix": (total, ROWS, ""),
    "sums of 100 classes": (by_class, CLASSES, "j"),
    "sums of 50,000 classes": (by_class, WIDE, "j"),
    "convolution 3x3, channels": (convolve, IMAGES, "n"),
    "sums so far": (so_far, FLAT, ""),
    "kept by a condition": (kept, FLAT, ""),
}


WHOLE = ("softmax", "norm")
"""Cases whose results are as large as what they read."""


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case: its arrays in float32, in float64 where order counts."""
    function, sizes, outermost = CASES[case]
    shape = sizes[size]
    x = bench.random(shape, "float64" if len(shape) == 1 else "float32")
    arrays = (x, *_others(bench, case, shape))
    kernel, plain = lw.kernel(function), lw.kernel(function)
    runs: dict[str, Any] = {"loopwright": lambda: kernel(*arrays)}
    schedule = f"split {outermost} 32; bind {outermost}.o block.x; bind {outermost} thread.x 32"

    def a_thread_each() -> None:
        with lw.options(schedule=schedule):
            plain(*arrays)

    # The convolution takes a thousand times as long so.
    if outermost and len(shape) != 4 and bench.torch is not None:
        runs["a thread each"] = a_thread_each
    if (torch := bench.torch) is not None:
        torch.backends.cudnn.allow_tf32 = False
        runs["torch"] = _theirs(torch, case, arrays)

    def agrees() -> bool:
        return _is_right(case, [bench.host(array) for array in arrays])

    unit = "op" if len(shape) == 4 else "B"
    return Trial(" x ".join(map(str, shape)), _work(case, shape), unit, runs, agrees, "torch", kernel=kernel)


def _others(bench: Bench, case: str, shape: Shape) -> tuple[Any, ...]:
    if len(shape) == 4:
        n, channels, rows, columns = shape
        weights = bench.random((channels, channels, 3, 3), "float32")
        return weights, bench.zeros((n, channels, rows - 2, columns - 2), "float32")
    if case.startswith("mean"):
        return bench.zeros(shape[1], "float32"), bench.zeros(shape[1], "float32")
    if case.startswith("total"):
        return (bench.zeros(1, "float32"),)
    if classes := _classes(case):
        return bench.whole(classes, shape[0], "int64"), bench.zeros((classes, shape[1]), "float32")
    return (bench.zeros(shape, "float64" if len(shape) == 1 else "float32"),)


def _classes(case: str) -> int:
    """How many classes a case has, 0 where it has none."""
    return int(case.split()[2].replace(",", "")) if case.endswith("classes") else 0


def _work(case: str, shape: Shape) -> float:
    """Operations of a convolution; bytes that have to be read and written of all else."""
    if len(shape) == 4:
        n, channels, rows, columns = shape
        return 2.0 * 9 * n * channels**2 * (rows - 2) * (columns - 2)
    return math.prod(shape) * (16.0 if len(shape) == 1 else 8.0 if case.startswith(WHOLE) else 4.0)


def _theirs(torch: Any, case: str, arrays: tuple[Any, ...]) -> Callable[[], object]:
    x = arrays[0]
    if case.startswith("softmax"):
        return lambda: torch.softmax(x, dim=1)
    if case.startswith("normal"):
        return lambda: torch.nn.functional.layer_norm(x, (x.shape[1],))
    if case.startswith("mean"):
        return lambda: torch.var_mean(x, dim=0, correction=0)
    if case.startswith("total"):
        return lambda: torch.sum(x)
    if case.endswith("classes"):
        return lambda: arrays[2].index_add_(0, arrays[1], x)
    if case.startswith("conv"):
        return lambda: torch.nn.functional.conv2d(x, arrays[1])
    if case.startswith("sums so"):
        return lambda: torch.cumsum(x, dim=0)
    return lambda: x[x > 0.5]


def _is_right(case: str, arrays: list[np.ndarray]) -> bool:
    """Whether the result is right, on some rows of it where it is large."""
    x, *others = (array.astype(np.float64) for array in arrays)
    result = others[-1]
    if case.startswith("mean"):
        return bool(np.allclose(others[0], x.mean(axis=0), rtol=1e-3) and np.allclose(result, x.var(axis=0), rtol=1e-3))
    if case.startswith("conv"):
        pieces = np.lib.stride_tricks.sliding_window_view(x[:1], (3, 3), (2, 3))
        return bool(np.allclose(result[:1], np.einsum("ncijpq,ocpq->noij", pieces, others[0]), rtol=1e-3))
    if case.startswith("total"):
        return bool(np.isclose(result[0], x.sum(), rtol=1e-3))
    if case.endswith("classes"):  # added to in each run: any number of times the sums
        wanted = np.zeros_like(result)
        np.add.at(wanted, arrays[1], x)
        return bool(np.allclose(result / result.sum(), wanted / wanted.sum(), rtol=1e-2))
    if case.startswith("sums so"):
        return bool(np.allclose(result, np.cumsum(x)))
    if case.startswith("kept"):
        wanted = x[x > 0.5]
        return bool(np.array_equal(result[: wanted.size], wanted))
    x, result = x[:100], result[:100]
    if case.startswith("softmax"):
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return bool(np.allclose(result, powers / powers.sum(axis=1, keepdims=True), rtol=1e-3))
    middle, spread = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return bool(np.allclose(result, (x - middle) / np.sqrt(spread + 1e-5), rtol=1e-2, atol=1e-4))


PART = Part("layers", tuple(CASES), ("tiny", "small", "full"), make)
