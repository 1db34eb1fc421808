"""What the page says first: gains, and what to do next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import KernelName, MachineName
from loopwright.report.overview import gain_text, next_step, overview
from loopwright.report.rates import rate_text
from loopwright.report.section_view import SectionView, gain_of, view_of
from loopwright.report.shapes import axes_in, sizes_words, types_in
from loopwright.report.subjects import Subject
from loopwright.report.variant_names import variant_names
from report.stored import CPU, DEFAULT, GPU, KERNEL, LOOPS, ON_GPU, ONE_THREAD, TILED, row, work_of

MORE = tuple(Variant("cpu", f"split i {k}", 2) for k in (3, 4, 5))


def view(*found: Measurement, name: str = "gemm", fingerprint: str = KERNEL) -> SectionView:
    kernel = KernelName(fingerprint, name, "/home/me/gemm.py", "")
    return view_of(Subject(kernel, MachineName(CPU.fingerprint, CPU), found, (), ()))


def of(default: float, tiled: float, spread: float = 0.02, others: float = 9e6) -> SectionView:
    """The default and a rival take so long, and others too."""
    ones = [row(DEFAULT, 512, default, spread=spread), row(TILED, 512, tiled, spread=spread)]
    return view(*ones, *(row(one, 512, others, spread=spread) for one in MORE))


@pytest.mark.parametrize(
    ("found", "gain", "step"),
    [
        (
            of(2e6, 1e6),
            "2.00 times, \N{PLUS-MINUS SIGN}3 %",
            "nothing, calls use it; to share it: loopwright db",
        ),
        (of(1e6, 2e6), "none", "nothing: the default is as fast as anything that was measured"),
        (of(2e6, 1e6, spread=0.3), "2.00 times", "times vary much: loopwright tune gemm.py again while the machine"),
        (view(row(DEFAULT, 512, 1e6)), "none", "hardly anything but the default was measured: loopwright tune gemm.py"),
        (view(), "", "the default and what serves were not measured at one size: loopwright tune gemm.py"),
    ],
)
def test_what_to_do_next(found: SectionView, gain: str, step: str) -> None:
    known = gain_of(found)
    assert next_step(found, known).startswith(step)
    assert ("" if known is None else gain_text(known)).startswith(gain)
    assert "/home" not in next_step(found, known)


def test_a_gain_within_the_errors_is_none_to_rely_on() -> None:
    found = of(1.1e6, 1e6, spread=0.09)
    known = gain_of(found)
    assert known is not None and known.variant == TILED and "within the errors" in next_step(found, known)


def test_the_largest_gain_comes_first() -> None:
    small, large = of(1.3e6, 1e6), of(5e6, 1e6)
    large = replace(large, subject=replace(large.subject, kernel=KernelName("other", "smooth")))
    anchors = {(KERNEL, CPU.fingerprint): "a", ("other", CPU.fingerprint): "b"}
    made = overview([small, large], anchors)
    assert [one.text for one in made.iter("a")] == ["smooth", "gemm"]


def test_rates() -> None:
    work = work_of(1000)
    cpu = replace(CPU, limits=(("L2 bytes", 1 << 20), ("L3 bytes", 1 << 23), ("cores", 2)))
    known = Subject(KernelName(KERNEL), MachineName("m", cpu), (), (), (), (), 2.0, 48e6)
    assert rate_text(work, 1e9, known) == "2 GFlop/s, 0.024 GB/s (50 % of a copy)"
    assert rate_text(work, 1e9, replace(known, copy_bytes_per_s=0.0)) == "2 GFlop/s, 0.024 GB/s"
    peak = replace(known, peak_flop_per_s=8e9, peak_float32_per_s=16e9)
    assert rate_text(work, 1e9, peak) == "2 GFlop/s (25 % of the peak), 0.024 GB/s (50 % of a copy)"
    assert rate_text(work, 1e9, replace(peak, float32_share=1.0)).startswith("2 GFlop/s (12 % of the peak)")
    cached = replace(work, footprint_bytes=4e6)  # no matter for the memory
    assert rate_text(cached, 1e9, known) == "2 GFlop/s, 0.004 GB/s"
    assert rate_text(work, 0.0, known) == ""
    assert rate_text(replace(work, footprint_bytes=0.0), 1e9, replace(known, flop_per_iteration=0.0)) == ""


def test_rates_of_a_gpu() -> None:
    """As of an H100: 64 MiB of arrays are more than its cache holds."""
    gpu = replace(GPU, limits=(("l2_bytes", 50 << 20), ("multiprocessors", 132)))
    known = Subject(KernelName(KERNEL), MachineName("m", gpu), (), (), (), (), 2.0, 3.35e12, 0.0, 33.5e12, 66.9e12)
    work = Work(8e9, 1e6, 1e3, 64 << 20, 0.0, 0.0)
    assert rate_text(work, 1e6, known) == "16 TFlop/s (48 % of the peak), 67.1 GB/s (2 % of the peak)"
    assert rate_text(work, 1e6, replace(known, float32_share=1.0)).startswith("16 TFlop/s (24 % of the peak)")
    assert rate_text(replace(work, footprint_bytes=float(40 << 20)), 1e6, known).endswith(" 41.9 GB/s")


def test_variants_have_names_that_a_table_and_a_picture_share() -> None:
    names = variant_names((TILED, DEFAULT, ONE_THREAD, LOOPS, MORE[0]), (MORE[1],))
    assert list(names.values()) == ["V1", "default", "default, 1 thread", "as written, 2 threads", "V2", "V3"]
    assert variant_names((ON_GPU,)) == {ON_GPU: "default"}
    assert list(variant_names((DEFAULT, ON_GPU)).values()) == ["default", "default on cuda"]


@pytest.mark.parametrize(
    ("sizes", "axes", "words"),
    [
        ((300, 300, 300, 300, 300, 300), (("c", 2), ("a", 2), ("b", 2)), "c, a and b 300 x 300"),
        ((4, 5, 7), (("a", 2), ("n", 0)), "a 4 x 5, n = 7"),
        ((300, 300, 300), (), "3 times 300"),
        ((300, 300, 4), (("a", 1),), "300 x 300, 4"),  # axes of another kernel
        ((), (("a", 1),), "no sizes"),
    ],
)
def test_sizes_in_words(sizes: tuple[int, ...], axes: tuple[tuple[str, int], ...], words: str) -> None:
    assert sizes_words(sizes, axes) == words


def test_a_signature_reads_as_python_does() -> None:
    @lw.kernel
    def smooth(a, n):
        for i in range(n):
            a[i, i] = 1.0

    text = print_kernel(replace(smooth.specialise(np.ones((4, 4)), 3).analysed.written, body=()))
    assert types_in(text) == "smooth(a: float64[:, :], n: int64)" and axes_in(text) == (("a", 2), ("n", 0))
    assert types_in("<b>") == "<b>" and axes_in("<b>") == ()
