"""Dollinger's worked example on a GPU (2015, section 4.5, Tables 4.1 and 4.2): the same rows and bandwidths, as a store
holds them, give what serves calls the printed times, and with them the choice."""

from __future__ import annotations

import pytest

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.placement.single import choose
from loopwright.predict.model import Models, models_of
from loopwright.profile.bandwidth import BandwidthTable, Bus
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.stride import interpolated

N = 1024
ARRAY = 8 * N * N
TO_DEVICE, TO_HOST = 3326162.0, 3324061.0
"""Nanoseconds that a copy of an array of 8 MB takes."""

COPIES = 2 * TO_DEVICE + TO_HOST

ROWS = {
    16 * 32: ((1248, 0.037797), (1681, 0.037609), (2303, 0.037665), (3068, 0.037559)),
    32 * 32: ((567, 0.038413), (841, 0.038183), (1147, 0.038076), (1681, 0.038060)),
}
"""By the threads of a block, blocks of the grid and nanoseconds per iteration."""

PRINTED = {16 * 32: 50433645, 32 * 32: 50946320}
BUS = Bus(
    BandwidthTable("to device", "pageable", ((1, 10000.0), (ARRAY, TO_DEVICE), (2 * ARRAY, 2 * TO_DEVICE))),
    BandwidthTable("to host", "pageable", ((1, 10000.0), (ARRAY, TO_HOST))),
)


def work(units: int) -> Work:
    """Of so many elements of the product, a thread for each; their sums have N terms, and are set to 0 before."""
    return Work(units * (N + 1.0), units, N + 1.0, 3 * 8.0 * units, 2 * 8.0 * units, 8.0 * units)


def stored() -> list[Measurement]:
    """The tables as rows of a store: times of whole calls, copies and all."""
    found = []
    for block, rows in ROWS.items():
        for blocks, ns in rows:
            todo = work(blocks * block)
            time_ns = ns * todo.iterations + BUS.time_ns(todo.inputs_bytes, todo.outputs_bytes)
            shape = Shape((blocks * block,))
            found.append(
                Measurement("gemm", "gpu", Variant("cuda", f"block {block}"), shape, todo, "ok", time_ns, 0, 9)
            )
    return found


@pytest.fixture
def models() -> Models:
    return models_of(stored(), {"cuda": BUS})


def test_the_copies_are_those_of_the_example() -> None:
    assert BUS.time_ns(2 * ARRAY, ARRAY) == COPIES == 9976385


@pytest.mark.parametrize(("block", "per_iteration"), [(16 * 32, 0.037642), (32 * 32, 0.038119)])
def test_by_straight_lines_it_is_the_printed_numbers(block: int, per_iteration: float) -> None:
    """The tables with copies from the bus: what calls are served by has to agree with this."""
    assert round(interpolated(ROWS[block], N * N / block), 6) == per_iteration
    # The thesis rounds the time per iteration to six digits before it goes on.
    assert int(per_iteration * work(N * N).iterations) + int(BUS.time_ns(2 * ARRAY, ARRAY)) == PRINTED[block]


def test_what_serves_calls_predicts_the_printed_times(models: Models) -> None:
    """To 1 in 1000: it smooths rows by what they miss each other by, where the thesis takes them as they are."""
    assert models.variants == tuple(Variant("cuda", f"block {block}") for block in (32 * 32, 16 * 32))
    for found, block in zip(models.predict(Shape((N * N,)), work(N * N)), (32 * 32, 16 * 32), strict=True):
        assert found.time_ns == pytest.approx(PRINTED[block], rel=1e-3) and found.how == "interpolated"
        assert abs(PRINTED[block] / found.time_ns - 1) <= found.error


def test_the_first_version_is_chosen(models: Models) -> None:
    choice = choose(models.variants, models.estimate(Shape((N * N,)), work(N * N)))
    assert models.variants[choice.index] == Variant("cuda", f"block {16 * 32}")
    assert choice.margin == pytest.approx(PRINTED[32 * 32] / PRINTED[16 * 32] - 1, abs=1e-3)
