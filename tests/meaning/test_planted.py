"""Mutation check of the analysis: a dependence is planted in a loop, in every way there is, and the loop must not be
called parallel, nor a reduction; and what three threads compute must be what CPython computes.

Each plant has a harmless twin somewhere below: an analysis that calls everything sequential would fail there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loopwright as lw

from .judge import function_of, same_values
from .ways import eagerly

SIZE = 60
DTYPES = ("float64", "int64", "int32", "float32", "uint8", "int16")


@dataclass(frozen=True)
class Plant:
    """`text` is the body of a kernel(a, b, at, n, s): 1-D a and b, indices at, n = len(a), s = the distance; D stands
    for the distance as a constant. The loop over i carries the dependence."""

    name: str
    text: str


PLANTS = (
    Plant("RAW", "for i in range(D, n):\n    a[i] = a[i - D] + b[i]"),
    Plant("RAW, other loop bounds", "for i in range(n - D):\n    a[i + D] = a[i] + b[i]"),
    Plant("WAR", "for i in range(n - D):\n    a[i] = a[i + D] + b[i]"),
    Plant("WAW", "for i in range(n - D):\n    a[i] = b[i]\n    a[i + D] = b[i] + b[0]"),
    Plant("RAW, symbolic distance", "for i in range(s, n):\n    a[i] = a[i - s] + b[i]"),
    Plant("WAR, symbolic distance", "for i in range(n - s):\n    a[i] = a[i + s] + b[i]"),
    Plant("WAW, symbolic distance", "for i in range(n - s):\n    a[i] = b[i]\n    a[i + s] = b[0]"),
    Plant("RAW, step -1", "for i in range(n - 1, D - 1, -1):\n    a[i - D] = a[i] + b[i]"),
    Plant("WAR, step -1", "for i in range(n - 1, D - 1, -1):\n    a[i] = a[i - D] + b[i]"),
    Plant("RAW, step D", "for i in range(D, n, D):\n    a[i] = a[i - D] + b[i]"),
    Plant("RAW, step s", "for i in range(s, n, s):\n    a[i] = a[i - s] + b[i]"),
    Plant("RAW under a condition", "for i in range(D, n):\n    if b[i] > 3:\n        a[i] = a[i - D]"),
    Plant("RAW in the condition", "for i in range(D, n):\n    if a[i - D] > 3:\n        a[i] = b[i]"),
    Plant("RAW in an index", "for i in range(D, n):\n    a[i] = b[int(a[i - D]) % n]"),
    Plant("RAW in a bound", "for i in range(D, n):\n    for j in range(int(a[i - D]) % 3):\n        a[i] = b[j]"),
    Plant("RAW from the end", "for i in range(n - D):\n    a[i - n + D] = a[i] + b[i]"),
    Plant("RAW, mirrored", "for i in range(n):\n    a[i] = a[n - 1 - i] + b[i]"),
    Plant("RAW, scaled", "for i in range(n // 2):\n    a[2 * i] = a[i] + b[i]"),
    Plant("RAW, one element", "for i in range(D, n):\n    a[0] = a[0] * b[1] + b[i]"),
    Plant("RAW, one element read", "for i in range(n):\n    a[i] = a[D] + b[i]"),
    Plant("WAW, one element", "for i in range(n):\n    a[D] = b[i]"),
    Plant("WAW, modulo", "for i in range(n):\n    a[i % 7] = b[i]"),
    Plant("WAW, divided", "for i in range(n):\n    a[i // 2] = b[i]"),
    Plant("RAW through one index", "for i in range(n):\n    a[i] = a[at[i]] + b[i]"),
    Plant("WAW through one index", "for i in range(n):\n    a[at[i]] = b[i]"),
    Plant("RAW and WAR through one index", "for i in range(n):\n    a[at[i]] = a[at[i]] * b[1] + b[i]"),
    Plant("WAR through two indices", "for i in range(n - 1):\n    a[at[i]] = a[at[i + 1]] + b[i]"),
    Plant("sum that reads another element", "for i in range(n - 1):\n    a[at[i]] += a[at[i + 1]]"),
    Plant("sum that is read", "for i in range(n):\n    a[at[i]] += b[i]\n    b[i] = a[D]"),
    Plant("two operators", "for i in range(n):\n    a[at[i]] += b[i]\n    a[at[i]] *= b[1]"),
    Plant("RAW through a scalar", "v = b[0]\nfor i in range(n):\n    a[i] = v\n    v = b[i] - a[i]"),
    Plant("recurrence of a scalar", "v = b[0]\nfor i in range(n):\n    v = v * b[1] + b[i]\na[0] = v"),
    Plant("running sum", "v = b[0]\nfor i in range(n):\n    v += b[i]\n    a[i] = v"),
    Plant("running maximum", "v = b[0]\nfor i in range(n):\n    v = max(v, b[i])\n    a[i] = v"),
    Plant("alternating sum", "v = b[0]\nfor i in range(n):\n    v = b[i] - v\na[0] = v"),
    Plant("scalar under a condition", "v = b[0]\nfor i in range(n):\n    if b[i] > 3:\n        v = b[i]\n    a[i] = v"),
    Plant("local array", "t = np.zeros(D + 1)\nfor i in range(n):\n    a[i] = t[D]\n    t[D] = b[i]"),
    Plant("local array, shifted", "t = np.zeros(n + D)\nfor i in range(n):\n    t[i + D] = t[i] + b[i]\na[0] = t[n]"),
    Plant("outer loop", "for i in range(D, n):\n    for j in range(3):\n        a[i] += a[i - D]"),
    Plant("outer loop, every element", "for i in range(3):\n    for j in range(n):\n        a[j] = a[j] * b[1] + b[i]"),
    Plant("inner loop", "for j in range(2):\n    for i in range(D, n):\n        a[i] = a[i - D] + b[j]"),
    Plant("break", "for i in range(n):\n    if b[i] > 7:\n        break\n    a[i] = b[i]"),
    Plant("early return", "for i in range(n):\n    if b[i] > 7:\n        return\n    a[i] = b[i]"),
    Plant("through a function", "for i in range(D, n):\n    put(a, i, get(a, i - D))"),
    Plant("through another name", "c = a\nfor i in range(D, n):\n    c[i] = a[i - D] + b[i]"),
    Plant(
        "while inside", "for i in range(D, n):\n    k = 2\n    while k > 0:\n        k -= 1\n        a[i] += a[i - D]"
    ),
    Plant(
        "sum in a while", "for i in range(D, n):\n    k = 2\n    while k > 0:\n        k -= 1\n        a[i - k] = b[i]"
    ),
)
HARMLESS = (
    Plant("RAW without distance", "for i in range(n):\n    a[i] = a[i] + b[i]"),
    Plant("odd and even", "for i in range(n // 2):\n    a[2 * i] = a[2 * i + 1] + b[i]"),
    Plant("halves", "for i in range(n // 2):\n    a[i] = a[n // 2 + i] + b[i]"),
    Plant("step -1", "for i in range(n - 1, -1, -1):\n    a[i] = a[i] + b[i]"),
    Plant("another array", "for i in range(D, n):\n    a[i] = b[i - D]"),
    Plant("gather", "for i in range(n):\n    a[i] = b[at[i]]"),
    Plant("scalar of each iteration", "for i in range(n):\n    v = b[i]\n    a[i] = v + v"),
    Plant(
        "local array of each iteration", "for i in range(n):\n    t = np.zeros(D + 1)\n    t[D] = b[i]\n    a[i] = t[D]"
    ),
    Plant("through a function", "for i in range(n):\n    put(a, i, get(b, i))"),
    Plant("inner loop", "for i in range(n):\n    for j in range(D):\n        a[i] = a[i] + b[j]"),
)


def source_of(plant: Plant, distance: int) -> str:
    body = "\n".join("    " + line for line in plant.text.replace("D", str(distance)).splitlines())
    return (
        "import numpy as np\n\n\ndef put(x, i, v):\n    x[i] = v\n\n\ndef get(x, i):\n    return x[i]\n\n\n"
        f"def kernel(a, b, at, n, s):\n{body}\n"
    )


def arguments_of(dtype: str, distance: int, seed: int = 5) -> list[Any]:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 9, SIZE).astype(dtype), random.integers(0, 9, SIZE)
    b[1] = -1  # the factor of recurrences: whole numbers stay small, and the order still matters
    b = b.astype(dtype)
    return [a, b, random.integers(0, SIZE, SIZE), SIZE, distance]


def compiled(function: Any, cache: Path, arguments: list[Any]) -> tuple[Any, dict[str, Any]]:
    """Run it in three threads; the report on the loop over i is returned with the value."""
    kernel = lw.kernel(function)
    with eagerly(), lw.options(threads=3, cache=cache, compiler_flags=("-O1",)):
        value = kernel(*arguments)
        report = kernel.explain(*arguments).to_dict()
    [loop] = [loop for loop in report["loops"] if loop["source_name"] == "i"]
    return value, loop


def check_same(plant: Plant, distance: int, dtype: str, cache: Path) -> dict[str, Any]:
    """Compare with CPython; the report on the loop over i is returned."""
    function = function_of(source_of(plant, distance))
    wanted, got = arguments_of(dtype, distance), arguments_of(dtype, distance)
    with np.errstate(all="ignore"):
        expected = function(*wanted)
    value, loop = compiled(function, cache, got)
    assert value is expected is None
    for right, other in zip(wanted[:3], got[:3], strict=True):
        assert same_values(right, other, strict=True), (plant, distance, dtype, right, other)
    return loop


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_dependence_is_never_called_parallel(plant: Plant, cache: Path) -> None:
    loop = check_same(plant, 2, "int64", cache)
    assert loop["verdict"] in ("sequential", "undecided") and loop["run"] == "sequential", loop


@pytest.mark.parametrize("plant", HARMLESS, ids=lambda plant: plant.name)
def test_its_harmless_twin_is(plant: Plant, cache: Path) -> None:
    assert check_same(plant, 2, "int64", cache)["verdict"] == "parallel"


@settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLANTS), st.integers(1, 9), st.sampled_from(DTYPES))
def test_at_any_distance_and_type(cache: Path, plant: Plant, distance: int, dtype: str) -> None:
    loop = check_same(plant, distance, dtype, cache)
    assert loop["verdict"] in ("sequential", "undecided") and loop["run"] == "sequential", loop


# ---- two axes: which of the two loops carries it ------------------------------------------------------------------

GRID = (
    ("a[i, j] = a[i - D, j] + b[i, j]", {"i"}),
    ("a[i, j] = a[i, j - D] + b[i, j]", {"j"}),
    ("a[i, j] = a[i - D, j - D] + b[i, j]", {"i"}),
    ("a[i, j] = a[i - D, (j + D) % 12] + b[i, j]", {"i"}),
    ("a[i, j] = a[i - D, j] + a[i, j - D]", {"i", "j"}),
    ("a[j, i] = a[i, j] + b[i, j]", {"i"}),
    ("a[i, 0] = b[i, j]", {"j"}),
    ("a[0, j] = b[i, j]", {"i"}),
    ("a[i + j - D, 0] = b[i, j]", {"i"}),
    ("a[i][j] = a[i - D][j]", {"i"}),
)


@pytest.mark.parametrize(("text", "carriers"), GRID, ids=[text for text, _ in GRID])
@pytest.mark.parametrize("distance", [1, 3])
def test_the_loop_that_carries_it_is_found(text: str, carriers: set[str], distance: int, cache: Path) -> None:
    function = function_of(
        "def kernel(a, b):\n    for i in range(D, 12):\n        for j in range(D, 12):\n            TEXT\n".replace(
            "TEXT", text
        ).replace("D", str(distance))
    )
    random = np.random.default_rng(1)
    a, b = random.integers(0, 9, (30, 12)), random.integers(0, 9, (30, 12))
    if "j, i" in text:
        a = a[:12].copy()
    wanted = a.copy()
    function(wanted, b)
    kernel = lw.kernel(function)
    with eagerly(), lw.options(threads=3, cache=cache):
        kernel(a, b)
        loops = kernel.explain(a, b).to_dict()["loops"]
    assert np.array_equal(a, wanted)
    parallel = {loop["source_name"] for loop in loops if loop["verdict"] in ("parallel", "reduction")}
    assert not parallel & carriers, loops


# ---- through arguments that share memory --------------------------------------------------------------------------

SHARED = {
    "the same array twice": lambda x: (x, x),
    "one element ahead": lambda x: (x[1:], x[:-1]),
    "one element behind": lambda x: (x[:-1], x[1:]),
    "far ahead": lambda x: (x[7:], x[:-7]),
    "mirrored": lambda x: (x, x[::-1]),
    "every other": lambda x: (x[: len(x) // 2], x[::2]),
    "part of it": lambda x: (x, x[3:]),
    "rows of a column": lambda x: (x.reshape(-1, 2)[:, 0], x[: len(x) // 2]),
}
BODIES = {
    "RAW or WAR": "a[i] = b[i] + 1",
    "RAW, shifted": "a[i] = b[i - 1] + 1",
    "WAW": "a[i] = i\n        b[i] = i + 1",
    "sum": "a[i] += b[i]",
    "condition": "if b[i] > 4:\n            a[i] = 0",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("share", SHARED.values(), ids=SHARED.keys())
def test_shared_memory_is_read_in_order(body: str, share: Any, cache: Path) -> None:
    function = shared_kernel("range(min(len(a), len(b)))", body)
    data = np.random.default_rng(2).integers(0, 9, 400)
    wanted, got = data.copy(), data.copy()
    function(*share(wanted))
    arguments = list(share(got))
    _, loop = compiled(function, cache, arguments)
    assert np.array_equal(wanted, got)
    backwards = data.copy()
    shared_kernel("range(min(len(a), len(b)) - 1, -1, -1)", body)(*share(backwards))
    if not np.array_equal(wanted, backwards):  # the order matters
        assert loop["verdict"] in ("sequential", "undecided") and loop["run"] == "sequential", loop


def shared_kernel(order: str, body: str) -> Any:
    return function_of(f"def kernel(a, b):\n    for i in {order}:\n        {body}\n")


def test_arrays_apart_run_in_parallel_again(cache: Path) -> None:
    """The verdict belongs to the call: the same kernel, first with shared memory and then without."""
    function = function_of("def kernel(a, b):\n    for i in range(len(a)):\n        a[i] = b[i] + 1\n")
    x = np.arange(100)
    assert compiled(function, cache, [x[1:], x[:-1]])[1]["verdict"] != "parallel"
    assert compiled(function, cache, [np.zeros(9, np.int64), np.arange(9)])[1]["verdict"] == "parallel"
