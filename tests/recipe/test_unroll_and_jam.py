"""Rows side by side: where neighbouring iterations share what the inner loop goes along, and where they do not."""

from __future__ import annotations

import pytest

from loopwright.recipe.unroll_and_jam import rows_side_by_side
from recipe.planning import check_same, planned, reasons, steps

HEAD = "kernel k(a: float64[2] C, x: float64[1] C, y: float64[1] C, z: int64[1] C):\n"
NEST = "    for i in 0 .. size(a, 0):\n        for j in 0 .. size(a, 1):\n            "
MATVEC = HEAD + NEST + "y[i] = y[i] + a[i, j] * x[j]\n"
VECMAT = HEAD + NEST + "x[j] = x[j] + y[i] * a[i, j]\n"
COLUMN_SUMS = HEAD + NEST + "x[j] = x[j] + a[i, j]\n"
BOTH = HEAD + NEST + "x[j] = x[j] + y[i] * a[i, j]\n            z[i] = z[i] + int64(a[i, j])\n"
IN_A_SCALAR = (
    HEAD
    + """    var s: float64
    for i in 0 .. size(a, 0):
        s = 0.0
        for j in 0 .. size(a, 1):
            s = s + a[i, j] * x[j]
        y[i] = s
"""
)
SHAPES = {"a": "nm", "x": "m", "y": "n", "z": "n"}
JAMMED = "promote y j; unroll_and_jam i 4"
JOINED = {
    "matrix times vector": (MATVEC, JAMMED),
    "vector times matrix": (VECMAT, "unroll_and_jam i 4"),
    "sums of columns": (COLUMN_SUMS, "unroll_and_jam i 4"),
    "a sum of both kinds": (BOTH, "promote z j; unroll_and_jam i 4"),
    "a value that goes along": (HEAD + NEST + "x[j] = x[j] + y[i] * a[i, j]\n            y[i] = x[j]\n", JAMMED),
    "a sum in a scalar": (IN_A_SCALAR, "unroll_and_jam i 4"),
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("strict", [False, True])
def test_rows_share_a_vector(name: str, strict: bool) -> None:
    text, wanted = JOINED[name]
    partial = planned(rows_side_by_side, text, strict)
    assert steps(partial) == wanted
    assert set(reasons(partial)) == {"4 iterations of 'i' go along 'j' together: they share loads"}
    check_same(partial.written, partial.kernel, SHAPES)


ALONE = {
    "nothing is summed": NEST + "a[i, j] = a[i, j] - x[j]\n",
    "nothing is shared": NEST + "y[i] = y[i] + a[i, j]\n",
    "rows are written": NEST + "x[j] = x[j] + a[i, j]\n            a[i, j] = 0.0\n",
    "columns": NEST + "y[i] = y[i] + a[j, i] * x[j]\n",
    "data decides": NEST + "y[i] = y[i] + a[i, j] * x[z[j]]\n",
    "a function": NEST + "y[i] = y[i] + exp(a[i, j] * x[j])\n",
    "a condition": NEST + "if a[i, j] > 0.0:\n                y[i] = y[i] + a[i, j] * x[j]\n",
    "a triangle": NEST.replace("size(a, 1)", "i") + "y[i] = y[i] + a[i, j] * x[j]\n",
    "another row of the same array": NEST + "x[size(a, 1) * i + j] = a[i, j]\n",
    "few of them": NEST.replace("size(a, 1)", "8") + "y[i] = y[i] + a[i, j] * x[j]\n",
}


@pytest.mark.parametrize("name", ALONE)
def test_other_rows_stay_alone(name: str) -> None:
    assert steps(planned(rows_side_by_side, HEAD + ALONE[name])) == ""
