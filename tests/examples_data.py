"""The tour's programs on data so small that CPython gets through it."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.programs import bilateral, clustering, cooccurrence, pagerank
from examples.programs.problem import Problem


def small(problem: Problem) -> dict[str, Any]:
    """A corner of the real data, so small that CPython gets through it."""
    data = problem.arguments()
    match problem:
        case bilateral.PROBLEM:
            image = data["image"][100:109, 200:212].copy()
            return data | {"image": image, "out": np.zeros_like(image), "radius": 2}
        case clustering.PROBLEM:
            points = data["points"][::2000].copy()
            return data | {"points": points, "labels": np.zeros(len(points), np.int64), "rounds": 3}
        case pagerank.PROBLEM:
            starts, sources, links = pagerank.scale_free(200, 700, seed=3)
            graph = {"starts": starts, "sources": sources, "links": links}
            return data | graph | {"rank": np.full(200, 1 / 200), "share": np.zeros(200), "sweeps": 5}
        case cooccurrence.PROBLEM:
            return data | {"grey": data["grey"][50:70, 80:95].copy(), "reach": 4}
    raise ValueError(problem.title)
