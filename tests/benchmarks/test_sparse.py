"""The sparse loops: right, and on a graph as uneven as their module's text says."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.cases import bytes_of

from benchmarks import agreement, sparse


def test_the_product_and_its_annotated_twin_agree_with_numpy() -> None:
    for kernel in (sparse.spmv, sparse.spmv_prange):
        data: dict[str, Any] = sparse.spmv_arguments("MINI")
        kernel(**data)
        assert agreement.same({"y": data["y"]}, sparse.spmv_reference(**data), 1e-12)


def test_the_rows_lengths_follow_a_power_law() -> None:
    data: dict[str, Any] = sparse.spmv_arguments("MEDIUM")
    lengths = np.sort(np.diff(data["starts"]))[::-1]
    assert lengths.sum() == len(data["values"]) == len(data["columns"]) == 1_000_000
    ranks = np.array([10, 100, 1_000, 10_000])
    slope = np.polyfit(np.log(ranks), np.log(lengths[ranks]), 1)[0]
    assert abs(slope + 0.6) < 0.05
    assert data["columns"].min() >= 0 and data["columns"].max() < len(data["x"])


def test_the_data_are_the_same_every_time() -> None:
    one, other = (sparse.spmv_arguments("MINI") for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_bytes_are_those_of_the_arrays() -> None:
    assert sparse.spmv_bytes("MINI") == bytes_of(sparse.spmv_arguments("MINI"))
    arguments: dict[str, Any] = sparse.pagerank_arguments("MINI")
    assert sparse.pagerank_bytes_min("MINI") == bytes_of(arguments) + arguments["rank"].nbytes
    assert sparse.pagerank_bytes("MINI") < sparse.SWEEPS * 1.5 * sparse.pagerank_bytes_min("MINI")
