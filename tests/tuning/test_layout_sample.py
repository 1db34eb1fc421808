from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loopwright.ir.data_layout import DataLayout
from loopwright.ir.text import parse_kernel
from loopwright.tuning.layout_sample import LayoutSample, layout_sample

TEXT = """
kernel work(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 8, b: int64[1] C argument 1,
            c: float64[1] C argument 2, t: int64 argument 3):
    for k in 0 .. t:
        for i in 0 .. size(b, 0):
            c[i] = {}
"""
SIXTEEN = np.dtype([("x", "f8"), ("v", "f8"), ("rest", "f8", 14)])
N = 20_000


def sample(statement: str, order: np.ndarray[Any, Any] | None = None, n: int = N) -> LayoutSample:
    b = np.arange(n) if order is None else order
    p = np.zeros(n, SIXTEEN)
    p["x"] = np.arange(n)
    arguments = (p, b, np.zeros(len(b)), 9)
    before = p.tobytes()
    found = layout_sample(parse_kernel(TEXT.format(statement)), "k", arguments, {0: 128})
    assert p.tobytes() == before and not arguments[2].any(), "the call's arguments are left alone"
    return found


def efficiency(found: LayoutSample, array: str = "p", layout: str = "") -> float:
    layouts = {array: DataLayout.parse(layout.split())} if layout else None
    return round(found.uses(layouts)[array].efficiency, 2)


def test_what_the_text_tells_is_what_is_counted() -> None:
    found = sample("p.x[i] + p.v[i]")
    assert efficiency(found) == 0.25 and efficiency(found, layout="soa") >= 0.98
    assert efficiency(found, "c") >= 0.98 and "b" not in found.uses()


def test_neighbours_and_strangers() -> None:
    """Where an order that data decides keeps neighbours together, planes are as good as without it; where it does not,
    a record in one place is better than two fields in two."""
    draw = np.random.default_rng(0)
    near = np.arange(N) ^ 1
    far = draw.permutation(N)
    assert efficiency(sample("p.x[b[i]] + p.v[b[i]]", near), layout="soa") >= 0.98
    found = sample("p.x[b[i]] + p.v[b[i]]", far)
    moved = {layout: found.uses({"p": DataLayout(layout)})["p"].moved for layout in ("soa", "aos")}
    assert moved["aos"] < 0.7 * moved["soa"]
    assert efficiency(found) == 0.25 and efficiency(found, layout="soa") < 0.3


def test_how_much_is_used_follows_what_data_selects() -> None:
    """As with the join of Leo's SkyServer: of records that do not match only the key is read."""
    few, many = (np.where(np.random.default_rng(1).random(N) < part, 1, 0) for part in (0.01, 0.99))
    statement = "p.v[i] if b[i] == 1 else c[i]"
    used = [sample(statement, b).uses().get("p") for b in (few, many)]
    assert used[0] is not None and used[1] is not None and used[0].moved < 0.1 * used[1].moved


def test_what_fits_into_the_cache_comes_once() -> None:
    small, large = (sample("p.x[i]", n=n).uses()["p"] for n in (200, N))
    assert small.moved == 200 * 64 and large.moved > 1.9 * 64 * 1000


@pytest.mark.parametrize("statement", ["p.x[b[i]]", "p.x[i] / 0.0"])
def test_a_call_that_fails_tells_what_it_did_until_then(statement: str) -> None:
    order = np.arange(N)
    order[N // 2 + 5] = 10**9
    assert sample(statement, order).touches


def test_tiles() -> None:
    found = sample("p.x[i] + p.v[i]")
    assert efficiency(found, layout="aosoa 8") >= 0.95 and efficiency(found, layout="aos pad 2") <= 0.51
