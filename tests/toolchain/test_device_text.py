"""What of a CUDA text is compiled, and when."""

from __future__ import annotations

from devices.handmade import device_text
from loopwright.toolchain.device_text import MANY, compiled_first, compiled_with, likely, of_width, only

ENTRY = 'extern "C" __global__ void __launch_bounds__(32, 2) {}(int n) {{ }}'
TEXT = device_text(ENTRY, "p_32", "p_64", "q_32", "q_64", "q_even", "r_32", "r_64")


def test_either_of_two_is_compiled_when_it_is_needed() -> None:
    assert compiled_first(TEXT) == ("p_32", "r_32") == compiled_with(TEXT, "r_32")
    assert compiled_with(TEXT, "q_even") == ("q_even",)
    assert compiled_with(TEXT, "q_32") == ("q_32",)
    assert compiled_with(TEXT, "p_64") == ("p_64", "q_64", "r_64")


def test_of_many_each_is_compiled_when_it_is_needed() -> None:
    names = [f"p{number}_{bits}" for number in range(MANY + 1) for bits in (32, 64)]
    many, fewer = device_text(ENTRY, *names), device_text(ENTRY, *names[2:])
    assert compiled_first(many) == () and likely(many) == tuple(names[::2])
    assert compiled_with(many, "p1_32") == ("p1_32",) and compiled_with(many, "p1_64") == ("p1_64",)
    assert compiled_first(fewer) == likely(fewer) == compiled_with(fewer, "p1_32") == tuple(names[2::2])


def test_lines_stay_where_they_are() -> None:
    lines = only(TEXT, ["q_even", "r_32"]).text.split("\n")
    assert [number for number, line in enumerate(lines) if line] == [4, 5]
    assert of_width(TEXT, 32).kernels == ("p_32", "q_32", "r_32")
