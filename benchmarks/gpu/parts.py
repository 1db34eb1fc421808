"""All parts, in the order of the table."""

from __future__ import annotations

from benchmarks.gpu import calls, counts, images, irregular, layers, polybench, products, sparse, streams, sums
from benchmarks.gpu.trial import Part

PARTS: tuple[Part, ...] = (
    streams.PART,
    products.PART,
    sums.PART,
    counts.PART,
    sparse.PART,
    images.PART,
    layers.PART,
    irregular.PART,
    calls.HOST,
    calls.CALLS,
    polybench.PART,
)
