from __future__ import annotations

import copy
import json
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks import triangles


@pytest.mark.parametrize("name", ["gemm", "syrk", "syr2k", "trmm", "symm", "trsm"])
def test_blas_computes_what_the_loops_say(name: str) -> None:
    function, given, letters = triangles.cases(9, np.float64)[name]
    other = tuple(copy.deepcopy(given))
    function(*given)
    triangles.routine(letters, np.float64, other)()
    for mine, its in zip(given, other, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12)


def test_a_table(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with (
        patch.object(triangles, "cases", lambda n, kind: {"trsm": cases(n, kind)["trsm"]}),
        patch("sys.argv", ["triangles", str(out), "--size", "20"]),
    ):
        triangles.main()
    rows = json.loads(out.read_text())["rows"]
    assert [(row["case"], row["type"]) for row in rows] == [("trsm", "float64"), ("trsm", "float32")]
    assert all(row["of OpenBLAS"] > 0.0 for row in rows)


cases = triangles.cases
