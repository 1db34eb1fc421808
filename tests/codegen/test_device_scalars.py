from __future__ import annotations

import importlib.util
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.codegen.device_scalars import device_scalars


def normalise(a: Any, b: Any) -> None:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    r = 1.0 / s
    for i in range(a.shape[0]):
        b[i] = a[i] * r


def returned(a: Any, b: Any) -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    for i in range(a.shape[0]):
        b[i] = s
    return s


def only_returned(a: Any, b: Any) -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    b[0] = 1.0
    return s


def carried(a: Any, b: Any) -> float:
    s = 0.0
    best = 0.0
    for t in range(3):
        for i in range(a.shape[0]):
            s += a[i]
        b[t] = s
        if t == 1:
            s = -1.0
        best = max(best, s)
    return best


def descent(a: Any, b: Any) -> int:
    rr = 0.0
    for i in range(a.shape[0]):
        rr += a[i] * a[i]
    steps = 0
    while rr > 1.0 and steps < 4:
        new = 0.0
        for i in range(a.shape[0]):
            new += a[i] * b[i]
        alpha = new * 0.5
        beta = alpha + 1.0
        for i in range(a.shape[0]):
            a[i] = b[i] + alpha - beta * 0.5
        rr = rr * 0.5
        steps += 1
    return steps


def counted_bound(a: Any, b: Any) -> None:
    k = 0
    for i in range(a.shape[0]):
        k += int(a[i]) % 2
    for i in range(b.shape[0]):
        s = 0
        for j in range(k):
            s += j * i
        b[i] = s


def computed_bound(a: Any, b: Any) -> None:
    k = int(a[0])
    m = k + 3
    for i in range(b.shape[0]):
        s = 0
        j = 0
        while j < m:
            s += j * i
            j += 1
        b[i] = s + k
    for i in range(b.shape[0]):
        for j in range(i % 4, m):
            b[i] += j


def set_in_one_branch(a: Any, b: Any) -> float:
    s = 1.0
    for i in range(a.shape[0]):
        b[i] = b[i] + s
    if a[0] > 0.0:
        for i in range(a.shape[0]):
            s += a[i]
        b[0] = s
    else:
        s = 2.0
    return s


def drawn_each_day(a: Any, b: Any) -> None:
    seed = 77
    for _ in range(3):
        for _i in range(a.shape[0]):
            seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
            if seed < 1500000000:
                a[seed % 7] = 3.0
        for i in range(b.shape[0]):
            b[i] += a[i]


def texts(function: Callable[..., object], *arguments: Any) -> str:
    """The host's text of a function that runs on the GPU as the recipe has it, with results that agree."""
    return agree(function, *arguments, strict=False).ready.program.text


def given() -> tuple[Any, Any]:
    """Numbers whose sums are exact in any order."""
    rng = np.random.default_rng(5)
    return rng.integers(1, 9, 700).astype(float), rng.integers(1, 9, 700).astype(float)


@pytest.mark.parametrize(("function", "fetches"), [(normalise, 0), (returned, 1), (only_returned, 1), (descent, 1)])
def test_the_host_waits_for_what_it_reads_only(function: Callable[..., object], fetches: int) -> None:
    assert texts(function, *given()).count("gpu->fetch(") == fetches


def test_what_the_host_reads_in_a_loop_is_brought_where_it_is_read() -> None:
    text = texts(carried, *given())
    assert len(re.findall(r"if \(lw_at_s_\) \{\s*if \(LW_RARE\(gpu->fetch", text)) == 1
    assert re.search(r"s_ = \(?-1\.0\)?;\s+lw_at_s_ = 0;", text)
    assert re.search(r"\(lw_at_s_ == lw_kept_scalars \+ \d+ \? 8 : 0\)", text)  # who writes there while others read


def test_arithmetic_that_only_serves_the_device_is_done_there() -> None:
    found = agree(descent, *given(), strict=False)
    kept = device_scalars(found.analysed.recipe.kernel)
    assert {"new", "alpha", "beta"} & kept.names == {"alpha", "beta", "new"} and "rr" not in kept.names
    assert len(kept.moved) == 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_branch_that_the_host_sets_a_scalar_in_says_nothing_about_the_other_one(sign: float) -> None:
    a, b = given()
    agree(set_in_one_branch, a * sign, b, strict=False)


def test_what_only_its_own_next_run_reads_is_kept() -> None:
    assert "lw_kept_seed_" in texts(drawn_each_day, *given())


@pytest.mark.parametrize("function", [counted_bound, computed_bound])
def test_bounds_of_loops_inside_kernels_tell_the_host_how_much_there_is_to_do(function: Callable[..., object]) -> None:
    text = texts(function, *given())
    assert "gpu->fetch(" in text


def body(rng: random.Random, depth: int, count: int) -> Iterator[str]:
    """Lines of statements about four scalars and two arrays; sums of whole numbers, so that no order matters."""

    def scalar() -> str:
        return f"s{rng.randrange(4)}"

    for _ in range(count):
        kind = rng.randrange(13 if depth else 10)
        one, number = scalar(), rng.randrange(1, 9)
        if kind == 0:
            yield f"{one} = {number}"
        elif kind == 1:
            yield f"{one} = {scalar()} {rng.choice('+-')} {scalar()} % {number}"
        elif kind == 2:
            yield from (f"for i in range({rng.choice(('n', 'n // 2'))}):", f"    {one} += x[i]")
        elif kind == 3:
            yield from ("for i in range(n):", f"    y[i] = y[i] + {one} % {number}")
        elif kind == 4:
            yield f"z[{rng.randrange(4)}] = {one}"
        elif kind == 5:
            yield f"{one} = z[{rng.randrange(4)}]"
        elif kind == 6:
            yield f"{one} = max({scalar()}, {number})"
        elif kind == 7:
            yield from ("for i in range(n):", f"    {one} = max({one}, x[i] - {scalar()})")
        elif kind == 8:
            yield from ("for i in range(n // 8):", f"    for j in range({one} % {number}):", "        y[i] = y[i] + j")
        elif kind == 9:  # what nobody else reads
            own = f"r{rng.randrange(2)}"
            yield from ("for i in range(n // 8):", f"    {own} = ({own} * 5 + x[i]) % 97", f"    z[{own} % 4] += {own}")
        elif kind == 10:
            yield f"if {one} % {number + 1} > {number // 2}:"
            yield from (f"    {line}" for line in body(rng, depth - 1, 3))
            yield "else:"
            yield from (f"    {line}" for line in body(rng, depth - 1, 2))
        elif kind == 11:
            yield f"for t{depth} in range({rng.randrange(4)}):"
            yield from (f"    {line}" for line in body(rng, depth - 1, 4))
        else:
            yield f"w = {rng.randrange(3)}"
            yield f"while w < 3 and {one} < 1000000:"
            yield "    w += 1"
            yield from (f"    {line}" for line in body(rng, depth - 1, 4))
            if rng.random() < 0.5:
                yield from (f"    if {scalar()} > {50 * number}:", f"        {rng.choice(('break', 'continue'))}")


def program(seed: int, folder: Path) -> Callable[..., object]:
    """A function with such a body."""
    rng = random.Random(seed)
    lines = ["def f(x, y, z, n):", *(f"    s{k} = {k}" for k in range(4)), "    r0 = 1", "    r1 = 2"]
    lines += (f"    {line}" for line in body(rng, 2, 12))
    lines.append("    return s0, s1 + s2" if rng.random() < 0.7 else "    return s3")
    path = folder / f"program{seed}.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_about_scalars(seed: int, tmp_path: Path) -> None:
    function = program(seed, tmp_path)
    kernel = lw.kernel(function)
    for n in (0, 1, 700):
        x = np.random.default_rng(seed).integers(-9, 9, 800)
        expected, mine = ([x.copy(), np.arange(800), np.arange(4), n] for _ in range(2))
        wanted = function(*expected)
        with lw.options(device="emulated"):
            found = kernel(*mine)
        assert np.array_equal(found, wanted), path_of(function)
        for one, other in zip(mine[:3], expected[:3], strict=True):
            np.testing.assert_array_equal(one, other)


def path_of(function: Callable[..., object]) -> str:
    """The text of a program, for who has to find out what is wrong."""
    return Path(function.__code__.co_filename).read_text()
