"""An edge-preserving (bilateral) filter of a photograph: each pixel becomes the mean of its neighbours, weighted by how
near they are and how alike in colour, so that noise goes and edges stay (Tomasi and Manduchi, ICCV 1998)."""

from __future__ import annotations

import math

import numpy as np
from sklearn.datasets import load_sample_image

import loopwright as lw

from .problem import Arguments, Problem


@lw.kernel
def bilateral(image, out, radius, nearness, likeness):
    """image, out: rows x columns x 3, colours in 0..1. nearness, likeness: 1 / (2 sigma^2) in space and in colour."""
    rows = image.shape[0]
    columns = image.shape[1]
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            red = 0.0
            green = 0.0
            blue = 0.0
            for y in range(max(0, i - radius), min(rows, i + radius + 1)):
                for x in range(max(0, j - radius), min(columns, j + radius + 1)):
                    r = image[y, x, 0] - image[i, j, 0]
                    g = image[y, x, 1] - image[i, j, 1]
                    b = image[y, x, 2] - image[i, j, 2]
                    distance = (y - i) * (y - i) + (x - j) * (x - j)
                    weight = math.exp(-nearness * distance - likeness * (r * r + g * g + b * b))
                    total += weight
                    red += weight * image[y, x, 0]
                    green += weight * image[y, x, 1]
                    blue += weight * image[y, x, 2]
            out[i, j, 0] = red / total
            out[i, j, 1] = green / total
            out[i, j, 2] = blue / total


def with_numpy(image, out, radius, nearness, likeness):
    """The whole picture at once, one shift of it after the other."""
    rows, columns, _ = image.shape
    total = np.zeros((rows, columns, 1))
    colours = np.zeros_like(image)
    for down in range(-radius, radius + 1):
        for right in range(-radius, radius + 1):
            here = np.s_[max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)]
            there = np.s_[max(0, down) : rows - max(0, -down), max(0, right) : columns - max(0, -right)]
            unlike = np.square(image[there] - image[here]).sum(axis=2, keepdims=True)
            weight = np.exp(-nearness * (down * down + right * right) - likeness * unlike)
            total[here] += weight
            colours[here] += weight * image[there]
    out[...] = colours / total


def arguments() -> Arguments:
    """The photograph `china.jpg` that scikit-learn carries, 427 x 640 pixels, with sigmas of 3 pixels and 0.1."""
    image = load_sample_image("china.jpg") / 255.0
    return {
        "image": image,
        "out": np.zeros_like(image),
        "radius": 5,
        "nearness": 1 / (2 * 3.0**2),
        "likeness": 1 / (2 * 0.1**2),
    }


def size(data: Arguments) -> str:
    """In words."""
    rows, columns, _ = data["image"].shape
    side = 2 * data["radius"] + 1
    return f"{rows} x {columns} pixels, {side} x {side} neighbours"


PROBLEM = Problem("edge-preserving filter of a photograph", bilateral, with_numpy, arguments, size, ("out",), 1e-12)
