from __future__ import annotations

from dataclasses import replace

from loopwright.ir.linear import number, plus, variable
from loopwright.ir.nodes import Assign, For, Kernel, Load
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions
from loopwright.steps.draft import finished, fresh, names_of, substituted, with_statement
from loopwright.steps.split import Split

TEXT = """
kernel f(a: float64[1] C, n: int64):
    for i in 0 .. n:
        allocate t: float64[i + 1] = 0.0
        for j in 0 .. size(t, 0):
            if a[j] > 0.0:
                continue j
            t[j] = a[i]
"""


def _loop(kernel: Kernel) -> For:
    loop = kernel.body[0]
    assert isinstance(loop, For)
    return loop


def test_fresh_names() -> None:
    kernel = parse_kernel(TEXT)
    assert names_of(kernel) == {"a", "n", "i", "t", "j"}
    assert fresh("k", names_of(kernel)) == "k"
    assert fresh("i", {"i", "i.1"}) == "i.2"


def test_elements_that_a_variable_stands_for_are_read_in_one_place_each() -> None:
    kernel = parse_kernel("""
kernel f(a: float64[1] C, b: float64[1] C, p: int64[1] C):
    for i in 0 .. 9:
        a[i] = b[i]
""")
    loop = _loop(kernel)
    (load,) = expressions(parse_kernel("kernel g(p: int64[1] C) -> python int64:\n    return p[0]\n").body, Load)
    body = (Assign("i", plus(load, variable("k"))), *loop.body)
    done = finished(with_statement(kernel, loop, (replace(loop, name="k", body=body),)), kernel)
    verify(done)
    assert "a[p[0] + k] = b[p[0] + k]" in print_kernel(done)


def test_a_draft_that_is_the_kernel_is_the_kernel() -> None:
    kernel = parse_kernel(TEXT)
    assert finished(kernel, kernel) is kernel


def test_a_value_for_a_loop_and_copies_with_names_of_their_own() -> None:
    kernel = parse_kernel(TEXT)
    loop = _loop(kernel)
    two = (Assign("i", number(0)), *loop.body, Assign("i", number(1)), *loop.body)
    after = finished(with_statement(kernel, loop, two), kernel)
    verify(after)
    assert after == parse_kernel("""
kernel f(a: float64[1] C, n: int64):
    allocate t: float64[1] = 0.0
    for j in 0 .. size(t, 0):
        if a[j] > 0.0:
            continue j
        t[j] = a[0]
    allocate t.1: float64[2] = 0.0
    for j.1 in 0 .. size(t.1, 0):
        if a[j.1] > 0.0:
            continue j.1
        t.1[j.1] = a[1]
"""), print_kernel(after)
    nodes = [id(e) for e in expressions(after.body) if hasattr(e, "index")]
    assert len(nodes) == len(set(nodes))


def test_a_value_ends_where_a_loop_of_that_name_begins() -> None:
    kernel = parse_kernel(TEXT)
    loop = _loop(kernel)
    draft = replace(kernel, body=(Assign("i", number(7)), loop))
    assert finished(draft, kernel).body[0] == loop


def test_substituted() -> None:
    kernel = parse_kernel("kernel f(a: float64[1] C, n: int64):\n    a[n] = 1.0\n")
    changed = replace(kernel, body=substituted(kernel.body, {"n": number(3)}))
    assert "a[3]" in print_kernel(changed)


def test_what_stays_keeps_its_nodes() -> None:
    text = "kernel two(a: float64[1] C, n: int64):\n"
    for loop in "ij":
        text += f"    for {loop} in 0 .. n:\n        a[{loop}] = a[{loop}] + 1.0\n"
    kernel = parse_kernel(text)
    after = Split("j", 32).apply(kernel)
    assert after.body[0] is kernel.body[0] and after.body[1] is not kernel.body[1]
