from __future__ import annotations

import pytest

from loopwright.analysis.disjoint_ranges import DisjointRanges, disjoint_ranges
from loopwright.ir.nodes import For
from loopwright.ir.printing import print_expr
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

FRAME = """
kernel rows(out: float64[2] C, p: int64[1] C, q: int32[1] C, x: float64[1] C, n: int64):
    var lo: int64
    var s: float64
    for i in 0 .. n:
        {body}
"""


def found(body: str) -> DisjointRanges | None:
    kernel = parse_kernel(FRAME.format(body=body))
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    answer = disjoint_ranges(kernel, loop)
    assert disjoint_ranges(kernel, loop) is answer  # it is asked again when the step is applied
    return answer


@pytest.mark.parametrize(
    ("body", "ends", "is_whole"),
    [
        ("for k in p[i] .. p[i + 1]:\n            out[k, 0] = x[k]", ("p[i]", "p[i + 1]"), True),
        ("for k in p[i + 1] .. p[i + 2]:\n            out[3, k] = 1.0", ("p[i + 1]", "p[i + 2]"), True),
        (
            "for k in int64(q[i]) .. int64(q[i + 1]):\n            out[k, i] = out[k, 0]",
            ("int64(q[i])", "int64(q[i + 1])"),
            True,
        ),
        ("lo = p[i]\n        for k in lo .. lo + 3:\n            out[k, 1] = 0.0", ("p[i]", "p[i] + 3"), False),
    ],
)
def test_ranges(body: str, ends: tuple[str, str], is_whole: bool) -> None:
    answer = found(body)
    assert answer is not None and (print_expr(answer.lower), print_expr(answer.upper)) == ends
    assert answer.is_whole == is_whole and answer.arrays == {"out"} and answer.loops == {"k"}


@pytest.mark.parametrize(
    "body",
    [
        "for k in 0 .. n:\n            out[k, 0] = x[k]",  # of which there is one for all
        "for k in p[i] .. p[i + 1]:\n            out[k, 0] = out[0, k]",  # along two axes
        "for k in p[i] .. p[i + 1]:\n            out[k, 0] = s\n            s = x[k]",  # hands on a scalar
        "lo = p[i]\n        lo = lo + 1\n        for k in lo .. p[i + 1]:\n            out[k, 0] = 1.0",
        "if i > 0:\n            for k in p[i - 1] .. p[i]:\n                out[k, 0] = 1.0",  # there is no p[-1]
        "if i < 1:\n            continue i\n        for k in p[i - 1] .. p[i]:\n            out[k, 0] = 1.0",
        "for j in 0 .. n:\n            for k in p[i] .. p[i + 1]:\n                out[k, j] = 2.0",  # perhaps never
        "for k in p[0] .. p[1]:\n            out[k, 0] = 1.0",
        "for k in p[i] .. p[i + 1]:\n            out[k, 0] = 1.0\n            p[i] = k",
    ],
)
def test_what_is_none(body: str) -> None:
    assert found(body) is None
