"""PageRank of a scale-free graph: how often one who follows links at random comes by each page (Brin and Page, 1998).
The graph is in compressed rows: the links into page v come from sources[starts[v]] to sources[starts[v + 1] - 1]."""

from __future__ import annotations

import numpy as np

import loopwright as lw

from .problem import Arguments, Problem


@lw.kernel
def pagerank(starts, sources, links, rank, share, damping, sweeps):
    """starts: pages + 1. sources: one per link. links: how many go out of each page. rank: the result, summing to 1.
    share: what each page hands to every page it links to. A page without links hands its rank to all."""
    pages = rank.shape[0]
    for _ in range(sweeps):
        lost = 0.0
        for v in range(pages):
            if links[v] > 0:
                share[v] = rank[v] / links[v]
            else:
                share[v] = 0.0
                lost += rank[v]
        for v in range(pages):
            received = 0.0
            for e in range(starts[v], starts[v + 1]):
                received += share[sources[e]]
            rank[v] = (1.0 - damping) / pages + damping * (received + lost / pages)


def with_numpy(starts, sources, links, rank, share, damping, sweeps):
    """Gather along all links at once, then sum by counting with weights."""
    pages = len(rank)
    targets = np.repeat(np.arange(pages), np.diff(starts))
    linked = links > 0
    for _ in range(sweeps):
        share[...] = 0.0
        share[linked] = rank[linked] / links[linked]
        received = np.bincount(targets, weights=share[sources], minlength=pages)
        rank[...] = (1.0 - damping) / pages + damping * (received + rank[~linked].sum() / pages)


def scale_free(pages: int, links: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """starts, sources and links out of each page, for a random graph whose in-degrees follow a power law.

    The page of popularity rank r is linked to in proportion to r**-0.6, so that the number of pages with at least d
    links into them falls like d**(-1 / 0.6). Out-degrees are skewed too, more mildly; some pages have none.
    """
    random = np.random.default_rng(seed)
    shuffled = random.permutation(pages)
    targets = shuffled[(pages * random.random(links) ** 2.5).astype(np.int64)]
    sources = random.permutation(pages)[(pages * random.random(links) ** 1.5).astype(np.int64)]
    starts = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=pages))))
    by_target = sources[np.argsort(targets, kind="stable")].astype(np.int32)
    return starts, by_target, np.bincount(sources, minlength=pages)


def arguments() -> Arguments:
    """300,000 pages and 3,000,000 links; always the same graph."""
    pages = 300_000
    starts, sources, links = scale_free(pages, 3_000_000, seed=20)
    return {
        "starts": starts,
        "sources": sources,
        "links": links,
        "rank": np.full(pages, 1.0 / pages),
        "share": np.zeros(pages),
        "damping": 0.85,
        "sweeps": 15,
    }


def size(data: Arguments) -> str:
    """In words."""
    links, most = len(data["sources"]), int(np.diff(data["starts"]).max())
    return f"{len(data['rank']):,} pages, {links:,} links (up to {most:,} into one), {data['sweeps']} sweeps"


PROBLEM = Problem("PageRank of a scale-free graph", pagerank, with_numpy, arguments, size, ("rank", "share"), 1e-12)
