"""What is a region, what the host does between them, and which kernels cannot be cut into regions."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from loopwright.analysis.analyse import analyse
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.nodes import For
from loopwright.ir.simplify import simplify
from loopwright.ir.verify import verify
from loopwright.recipe.parallel_regions import FIRST, LAST, MOST, ParallelRegions, parallel_regions
from loopwright.runtime.specialise import as_arguments, signature_of


def cut(function: Any, *given: object, strict: bool = True) -> ParallelRegions | None:
    arguments = as_arguments(given)
    kernel = simplify(lower(capture(function), signature_of(arguments, range(len(arguments)))).kernel)
    verify(kernel)
    found = parallel_regions(kernel, analyse(kernel), strict)
    if found is not None:
        for region in found.regions.values():
            verify(region.kernel)
    return found


def loops(found: ParallelRegions | None) -> list[str]:
    """The loops that are cut, `alone` for statements that nobody shares."""
    assert found is not None
    return [region.loop.name if region.loop is not None else "alone" for region in found.regions.values()]


A = np.ones(8)
B = np.ones((8, 8))


def two(a, b):
    for i in range(len(a)):
        b[i] = a[i]
    for k in range(len(a)):
        a[k] = b[len(a) - 1 - k]


def steps(count, a, b):
    for t in range(count):
        scale = 1.0 / (t + 1)
        for i in range(1, len(a) - 1):
            b[i] = (a[i - 1] + a[i + 1]) * scale
        for k in range(1, len(a) - 1):
            a[k] = b[k]


def borders(a, b):
    b[0] = a[0]
    for i in range(1, len(a)):
        b[i] = a[i]


def rows_in_order(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += a[i - 1, j]


def with_results(a):
    twice = np.empty(len(a))
    found = np.zeros(len(a))
    for i in range(len(a)):
        twice[i] = 2 * a[i]
    for k in range(len(a)):
        found[k] = twice[k] + 1
    return found


def test_each_outermost_parallel_loop_is_a_region() -> None:
    found = cut(two, A, A.copy())
    assert loops(found) == ["i", "k"]
    assert found is not None
    assert found.numbers == ()
    for region in found.regions.values():
        assert [param.name for param in region.kernel.params][-2:] == [FIRST, LAST]
        (loop,) = region.kernel.body
        assert isinstance(loop, For)
        assert loop is not region.loop


def test_loops_inside_of_one_that_needs_its_order_are_regions_too() -> None:
    found = cut(steps, 3, A, A.copy())
    assert loops(found) == ["i", "k"]
    assert found is not None
    assert found.numbers == ("scale",)
    assert loops(cut(rows_in_order, B)) == ["j"]


def test_elements_outside_of_loops_are_the_hosts() -> None:
    assert loops(cut(borders, A, A.copy())) == ["alone", "i"]
    assert loops(cut(reads_what_is_written, A, A.copy())) == ["i", "alone"]


def test_arrays_that_the_call_makes_follow_the_numbers() -> None:
    found = cut(with_results, A)
    assert found is not None
    assert found.made[0].startswith("found")
    assert [name.split(".")[0] for name in found.made] == ["found", "twice"]
    positions = {param.name: param.argument for region in found.regions.values() for param in region.kernel.arrays}
    assert positions == {"a": 0, found.made[0]: 3, found.made[1]: 4}


def summed(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


def searched(a):
    for i in range(len(a)):
        if a[i] > 2:
            return i
    return -1


def reads_what_is_written(a, b):
    for i in range(len(a)):
        b[i] = a[i]
    if b[0] > 1:
        for k in range(len(a)):
            a[k] = b[k]


def last_value(a, b):
    x = 0.0
    for i in range(len(a)):
        x = a[i]
        b[i] = x
    b[0] = x


def until(a, b):
    while a[0] < 3:
        for i in range(len(a)):
            a[i] += b[i]


@pytest.mark.parametrize("function", [summed, searched, last_value, until])
def test_what_cannot_be_cut(function: Any) -> None:
    given = (A, A.copy()) if function.__code__.co_argcount == 2 else (A,)
    assert cut(function, *given) is None


def test_a_sum_is_cut_where_its_order_may_change() -> None:
    found = cut(summed, A, strict=False)
    assert loops(found) == ["i"]
    assert found is not None
    (region,) = found.regions.values()
    assert region.totals is not None
    assert found.made == tuple(region.totals.arrays)
    assert region.kernel.arrays[-1].name == found.made[-1]


def of_columns(a, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j]


def test_elements_that_all_parts_update_are_told() -> None:
    found = cut(of_columns, B, A.copy(), strict=False)
    assert loops(found) == ["i"]
    assert found is not None
    assert [region.added for region in found.regions.values()] == [{"s": "add"}]
    assert loops(cut(of_columns, B, A.copy())) == ["j"]


def backwards(a, b):
    for i in range(len(a) - 1, -1, -2):
        b[i] = a[i]


def test_a_loop_that_counts_down_is_cut_by_its_iterations() -> None:
    found = cut(backwards, A, A.copy())
    assert loops(found) == ["i"]
    assert found is not None
    (region,) = found.regions.values()
    (loop,) = region.kernel.body
    assert isinstance(loop, For)
    assert loop.step == region.loop.step  # type: ignore[union-attr]


def test_arrays_that_share_memory_are_not_cut() -> None:
    assert cut(two, A, A[:]) is None or loops(cut(two, A, A.copy())) == ["i", "k"]


def test_there_is_an_end_to_regions(tmp_path: Any) -> None:
    """Each is compiled for each device."""
    loop = "    for i{k} in range(len(a)):\n        a[i{k}] += 1.0\n"
    text = "def many(a):\n" + "".join(loop.format(k=k) for k in range(MOST + 1))
    path = tmp_path / "many.py"
    path.write_text(textwrap.dedent(text))
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    assert cut(names["many"], A) is None
