"""The co-occurrence matrix of a photograph's grey levels: how often level a has level b at some steps to its right or
below it. It describes texture (Haralick, 1973). The kernel is a histogram: it scatters into a matrix, by the data."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_sample_image

import loopwright as lw

from .problem import Arguments, Problem


@lw.kernel
def cooccurrence(grey, counts, reach):
    """grey: rows x columns of levels 0..255. counts: 256 x 256, added to. reach: the largest distance, in pixels."""
    rows = grey.shape[0]
    columns = grey.shape[1]
    for i in range(rows):
        for j in range(columns):
            for right in range(1, min(reach + 1, columns - j)):
                counts[grey[i, j], grey[i, j + right]] += 1
            for down in range(1, min(reach + 1, rows - i)):
                counts[grey[i, j], grey[i + down, j]] += 1


def with_numpy(grey, counts, reach):
    """One distance after the other, pairs of levels counted as one number."""
    high = grey.astype(np.int64) * 256
    pairs = np.zeros(256 * 256, np.int64)
    for step in range(1, reach + 1):
        pairs += np.bincount((high[:, :-step] + grey[:, step:]).ravel(), minlength=256 * 256)
        pairs += np.bincount((high[:-step] + grey[step:]).ravel(), minlength=256 * 256)
    counts += pairs.reshape(256, 256)


def arguments() -> Arguments:
    """The photograph `china.jpg` that scikit-learn carries, in grey, with distances of 1 to 32 pixels."""
    grey = np.round(load_sample_image("china.jpg") @ [0.299, 0.587, 0.114]).astype(np.uint8)
    return {"grey": grey, "counts": np.zeros((256, 256), np.int64), "reach": 32}


def size(data: Arguments) -> str:
    """In words."""
    rows, columns = data["grey"].shape
    return f"{rows} x {columns} pixels, {2 * data['reach']} pairs each, {data['counts'].size:,} bins"


PROBLEM = Problem(
    "co-occurrence histogram of a photograph's grey levels", cooccurrence, with_numpy, arguments, size, ("counts",), 0.0
)
