"""What is asked about a kernel before its arrays are kept in planes: the fields that it uses, and what that saves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.array_layouts import PlaneUse
from loopwright.kernel import kernel_with
from loopwright.memory.planes import WHOLE, Planes
from loopwright.tuning.in_planes import plane_compiler, plane_uses

SIXTEEN = np.dtype([(f"f{k}", "f8") for k in range(16)])


@pytest.fixture(autouse=True)
def on_the_emulated_gpu() -> Iterator[None]:
    with lw.options(device="emulated", store="off"):
        yield


def found(function: Callable[..., object], *arguments: Any) -> dict[int, PlaneUse]:
    given = [lw.device_array(one) if isinstance(one, np.ndarray) else one for one in arguments]
    arrays = {k: one.argument() for k, one in enumerate(given) if getattr(one, "may_be_turned", False)}
    return {use.position: use for use in plane_uses(lw.kernel(function).specialise(*given), arrays)}


def hot(p):
    for i in range(len(p)):
        p[i]["f3"] += p[i]["f4"] * 2.0


def test_fields_that_are_used_and_written_and_what_is_saved() -> None:
    use = found(hot, np.zeros(500, SIXTEEN))[0]
    assert (use.fields, use.written) == (("f3", "f4"), ("f3",))
    assert use.saved == 0.75  # f3 ends one sector, f4 begins another: 16 bytes of 64


def test_fields_in_one_sector_are_moved_once() -> None:
    def pair(p):
        for i in range(len(p)):
            p[i]["f0"] += p[i]["f1"] + p[i]["f2"] + p[i]["f3"]

    assert found(pair, np.zeros(500, SIXTEEN))[0].saved == 0.0


def test_records_that_share_sectors_are_counted_over_several() -> None:
    def last(p):
        for i in range(len(p)):
            p[i]["c"] += 1.0

    use = found(last, np.zeros(500, [("a", "f4"), ("b", "f4"), ("c", "f4")]))[0]
    assert use.saved == pytest.approx(1 - 8 / 24)  # 8 records of 12 bytes are 3 sectors


def test_the_length_of_an_array_is_no_use_of_a_field() -> None:
    def length(p, out):
        for i in range(len(p)):
            out[i] = i

    assert found(length, np.zeros(500, SIXTEEN), np.zeros(500)) == {}


def test_what_data_decides_about_saves_nothing() -> None:
    def gathered(p, order, out):
        for i in range(len(order)):
            out[i] = p[order[i]]["f3"]

    assert found(gathered, np.zeros(500, SIXTEEN), np.arange(500), np.zeros(500))[0].saved == 0.0


def test_rows_that_threads_go_along_are_wide() -> None:
    def nearest(points, out):
        for i in range(points.shape[0]):
            best = 1e9
            for d in range(32):
                if points[i, d] < best:
                    best = points[i, d] * 0.5
            out[i] = best

    use = found(nearest, np.zeros((500, 32)), np.zeros(500))[0]
    assert use == PlaneUse(0, ("",), (), 0.5)


def test_columns_with_constant_numbers_are_fields() -> None:
    def second(a, out):
        for i in range(a.shape[0]):
            out[i] = a[i, 1]

    assert found(second, np.zeros((500, 16)), np.zeros(500))[0].saved == 0.75


def test_what_is_coalesced_saves_nothing() -> None:
    def scaled(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] *= 2.0

    assert found(scaled, np.zeros((60, 70)))[0].saved == 0.0


def test_what_all_threads_read_at_once_is_left_alone() -> None:
    def scaled(a, by):
        for i in range(len(a)):
            a[i] *= by[0, 1]

    assert not found(scaled, np.zeros(500), np.zeros((4, 4)))[1].fits


def test_short_rows_may_be_shared_by_few_threads() -> None:
    def scaled(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] *= 2.0

    assert found(scaled, np.zeros((3000, 19)))[0].saved == 0.25
    assert not found(scaled, np.zeros((300, 190)))[0].fits


def test_a_call_for_the_cpu_has_nothing_to_ask() -> None:
    def rising(p, out):
        s = 0.0
        for i in range(len(p)):
            s = 0.5 * s + p[i]["f3"]
            out[i] = s if s < 1e300 else p[int(s) % 7]["f3"]

    kernel = lw.kernel(rising)
    arguments = lw.device_array(np.zeros(50, SIXTEEN)), lw.device_array(np.zeros(50))
    compiler = plane_compiler(kernel.specialise, kernel_with)
    uses = compiler.uses(arguments, {0: arguments[0]})
    assert kernel.specialise(*arguments).takes_device_arrays or uses == ()


def totals(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


def of_nineteen(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(19):
            s += a[i, j]
        out[i] = s


def whole(p, out):
    s = 0.0
    for i in range(len(p)):
        s += p[i]["f3"]
    out[0] = s


def why_not(function: Callable[..., object], array: np.ndarray, fields: tuple[str, ...], **options: Any) -> str:
    """Of a function that is given the array, and what it writes to."""
    with lw.options(**options):
        kernel, there, out = lw.kernel(function), lw.device_array(array), lw.device_array(np.zeros(len(array)))
        compiler = plane_compiler(kernel.specialise, kernel_with)
        planes = Planes(there, compiler.convert)
        planes.bring(there, fields)
        return compiler.why_not((there, out), (planes.view(there, fields), out))


def test_sums_may_be_added_up_as_they_are_written() -> None:
    assert why_not(of_nineteen, np.zeros((3000, 19)), (WHOLE,)) == ""  # with rows, several threads share each


def test_sums_in_another_order_are_a_reason_against_planes() -> None:
    assert why_not(whole, np.zeros(5000, SIXTEEN), ("f3",)) == ""  # the same threads have the same parts
    assert "another order" in why_not(totals, np.zeros((300, 200)), (WHOLE,))
    assert why_not(totals, np.zeros((300, 200)), (WHOLE,), strict=True) == ""  # nothing is reordered then


def test_conversions_are_no_kernels_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(sys.modules["loopwright.kernel"], "WATCHERS", [made.append])
    compiler = plane_compiler(lw.kernel(hot).specialise, kernel_with)
    source, target = lw.device_array(np.arange(5.0)), lw.device_array(np.zeros(5))
    with lw.options(recipe="plain", strict=True, layout="off"):  # not for them
        compiler.convert((source,), (target,))
    assert (target.numpy() == np.arange(5.0)).all()
    assert [one.name for one in made] == ["hot"]
